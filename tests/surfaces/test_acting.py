"""Laws of who acts: the host's word or a token, said once, and never by mistake."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import pytest
from tests.session.starting import AGENT, ID, advanced

from uaix_backends import write_package
from uaix_core import write_outbox
from uaix_surfaces.cli.program import VERBS, main

if TYPE_CHECKING:
    from collections.abc import Iterator

#: No store is looked into before it is known who acts.
HERE = ("--store", "memory:", "--scope", "acme/project/apollo")
#: A token that nobody issued.
NOBODYS = f"uaix_{'0' * 32}_{'A' * 43}"
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture
def token(keys, tmp_path):
    """The file of a token that nobody issued, beside a key ring."""
    del keys
    path = tmp_path / "its.token"
    path.write_text(NOBODYS)
    path.chmod(0o600)
    return path.name


def leaves(
    group: click.Group, names: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Each verb by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*names, name))
        elif command is not None:
            yield (*names, name), command


#: What stands for each argument and option that a verb requires, by its name.
GIVEN = {
    "package_id": ID,
    "path": ".uai/persona.uai",
    "file": "signing.key",
    "folder": "folder",
    "origin": ID,
    "before": ID,
    "after": ID,
    "over": "other",
    "target": "exported",
    "key_file": "signing.key",
    "principal": "human:carol",
    "reader": "agent:x",
    "agent_id": AGENT,
    "places": ".uai/persona.uai",
    "until_at": "2099-01-01T00:00:00Z",
    "expected": "none",
    "sources": "turn:some",
    "digest": "sha256:" + "0" * 64,
    "locator": "https://example.org/a",
    "seq": "1",
    "seconds": "60",
}
#: Verbs whose path is that of an archive, and whose is that of an outbox.
OF_ARCHIVES = {"install", "restore", "update", "branch", "authority enrol"}
#: What some verbs need besides.
MORE = {
    "diff": (ID,),
    "review": ("--all-records", "--expect", "1"),
    "tier case": ("--must", "x"),
    "tier erase": ("--agent", AGENT),
    "tier note": ("--text", "x"),
    "tier say": ("--text", "x"),
    "authority enrol": ("--trust", "0" * 64),
}


def filled(name: str, command: click.Command) -> list[str]:
    """The words that stand for all that a verb requires."""
    words = []
    for param in command.params:
        if not param.required or param.name in ("url", "scope"):
            continue
        choices = getattr(param.type, "choices", None)
        word = choices[0] if choices else GIVEN.get(param.name or "", "some")
        if param.name == "path" and name in OF_ARCHIVES:
            word = "ada.uaix"
        if name == "replay":
            word = "outbox.jsonl"
        is_option = isinstance(param, click.Option)
        words += [param.opts[0], word] if is_option else [word]
    return [*words, *MORE.get(name, ())]


def of_stores() -> Iterator[tuple[str, click.Command]]:
    """Each verb that opens a store that is named."""
    for names, command in leaves(main):
        options = {text for param in command.params for text in param.opts}
        if "--store" in options or names == ("store", "copy"):
            yield " ".join(names), command


WHOLE = {"backup", "verify", "doctor", "store copy"}


def test_every_verb_of_a_scope_takes_a_token():
    """Whatever opens a store takes a token, or is for whole stores and says so."""
    without = {
        name
        for name, command in of_stores()
        if not {"credential_file", "keys_file"} <= {p.name for p in command.params}
    }

    assert WHOLE == without
    assert set(VERBS) >= {name.split()[0] for name, _ in of_stores()}


@pytest.mark.parametrize("how", ["file", "environment", "empty"])
@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_store_is_the_hosts(run, monkeypatch, name, how):
    """A verb on whole stores is refused to whoever shows a token, right or wrong."""
    words = {
        "backup": ("backup", *HERE[:2], "-o", "it.backup"),
        "store copy": ("store", "copy", "sqlite:a.db", "dir:b"),
    }.get(name, (name, *HERE[:2]))
    if how == "file":
        words = (*words, "--credential", "its.token")
    else:
        monkeypatch.setenv("UAIX_CREDENTIAL", "uaix_x" if how == "environment" else "")

    refused = run(*words)

    assert (2, "") == (refused.code, refused.out)
    assert "takes no token" in refused.err


@pytest.mark.parametrize(
    ("given", "code", "word"),
    [
        (("--actor", "human:x", "--credential", "its.token"), 2, "usage"),
        (("--keys", "host.keys"), 2, "usage"),
        (("--credential", "nowhere"), 2, "files.missing"),
        (("--credential", "its.token", "--keys", "nowhere"), 2, "files.missing"),
        (("--credential", "its.token", "--keys", "its.token"), 2, "keys.value"),
        (("--credential", "host.keys"), 1, "credential.invalid"),
        (("--credential", "."), 2, "credential.file"),
    ],
)
def test_who_acts_is_said_once(run, token, given, code, word):
    """Neither both nor half of it is taken, and nobody becomes the host by mistake."""
    del token
    refused = run("whoami", *given, *HERE)

    assert (code, "") == (refused.code, refused.out)
    assert refused.err.startswith(word + ":")


def test_a_token_without_keys_is_refused(run, token, monkeypatch):
    """A token needs the host's keys, and a variable that is empty is a token."""
    monkeypatch.delenv("UAIX_KEYS")
    assert 2 == run("whoami", "--credential", token, *HERE).code
    monkeypatch.setenv("UAIX_CREDENTIAL", "")
    named = run("whoami", "--keys", "host.keys", *HERE)
    assert (1, True) == (named.code, "credential.invalid" in named.err)


@POSIX
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601])
def test_a_file_that_others_may_touch_keeps_no_secret(run, token, tmp_path, mode):
    """Keys and tokens are read from files of their owner's alone."""
    for name, code in (
        ("host.keys", "keys.readable"),
        (token, "credential.readable"),
    ):
        (tmp_path / name).chmod(mode)
        refused = run("whoami", "--credential", token, *HERE, "--json")
        (tmp_path / name).chmod(0o600)
        error = refused.line["error"]
        assert (2, code) == (refused.code, error["code"])
        assert "chmod 600" in error["hint"]


def test_no_verb_falls_back_to_the_hosts_word(run, keys, tmp_path, monkeypatch):
    """With a token that stands for nobody every verb of a scope is refused for it."""
    del keys
    monkeypatch.setenv("UAIX_CREDENTIAL", "uaix_nobody")
    (tmp_path / "outbox.jsonl").write_bytes(write_outbox([]))
    (tmp_path / "signing.key").write_bytes(b"\5" * 32)
    (tmp_path / "signing.key").chmod(0o600)
    for name in ("folder", "ada.uaix"):
        write_package(tmp_path / name, advanced().folder().files)
    answers = {}
    for name, command in of_stores():
        if name in WHOLE:
            continue
        ended = run(*name.split(), *filled(name, command), *HERE)
        if "credential.invalid" not in ended.err + ended.out:
            answers[name] = ended
    assert {} == answers
