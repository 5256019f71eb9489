"""The law of secrets at a shell: what was typed by mistake is repeated nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from uaix_surfaces.cli.program import VERBS, main

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A secret that has the form of an id, and is one wherever it stands.
SECRET = "ghp_" + "a1B2" * 9
DIGEST = "sha256:" + "a" * 64

#: A good value for the arguments and options that a verb needs; "x" for others.
GOOD = {
    "agent_id": "ada",
    "based_on": "1",
    "conversation": "c-1",
    "decision": "keep",
    "digest": DIGEST,
    "dialect": "sqlite",
    "expected": "none",
    "file": "note.txt",
    "folder": "ada",
    "key_file": "ada.key",
    "kind": "legal",
    "locator": "wiki:x",
    "outcome": "passed",
    "package_id": "ada",
    "path": ".uai/world-context.uai",
    "places": ".uai/persona.uai",
    "reader": "agent:ada",
    "role": "user",
    "scope": "acme/personal/main",
    "seq": "1",
    "source_url": "sqlite:store.db",
    "sources": "turn:x",
    "target_url": "memory:",
    "until_at": "2099-01-01T00:00:00Z",
    "url": "sqlite:store.db",
    "verdict": "reviewed",
}
#: Where a name means another thing.
OWN = {
    ("decide", "verdict"): "accept",
    ("new", "kind"): "persona",
    ("tier erase", "kind"): "turn",
}
#: Names of files there.
FILES = {"archive": "ada.uaix", "package": "ada.uaix", "paths": "ada", "path": "ada"}


def commands() -> Iterator[tuple[list[str], click.Command]]:
    """Every verb and the verbs in it, with the words that call it."""
    context = click.Context(main)
    for name in VERBS:
        command = main.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for inner, verb in command.commands.items():
                yield [name, inner], verb
        else:
            yield [name], command


def parameters() -> Iterator[tuple[str, str]]:
    """Each argument and option that takes a text, with the verb that has it."""
    for words, command in commands():
        for one in command.params:
            if not getattr(one, "is_flag", False):
                yield " ".join(words), str(one.name)


def line_of(verb: str, bent: str, wrong: str) -> list[str]:
    """The words of a call with this in the place of one of its parameters."""
    words, command = next(c for c in commands() if " ".join(c[0]) == verb)
    options, arguments = [], []
    for one in command.params:
        name = str(one.name)
        good = OWN.get((verb, name), GOOD.get(name, "x"))
        if isinstance(one.type, click.Path) and name in FILES:
            good = FILES[name]
        value = wrong if name == bent else good
        if isinstance(one, click.Argument):
            arguments += [value]
        elif one.required or name == bent:
            options += [max(one.opts, key=len), value]
    return [*words, *options, "--", *arguments]


@pytest.fixture
def place(run, archive, folder, tmp_path):
    """A folder with a store, a package and what else verbs read."""
    run("install", archive, "--store", "sqlite:store.db", "--scope", GOOD["scope"])
    (tmp_path / "note.txt").write_text("A note.\n")
    run("keygen", "-o", "ada.key", "--public", "ada.pub")


@pytest.mark.parametrize("verb", sorted({verb for verb, _name in parameters()}))
@pytest.mark.usefixtures("place")
def test_no_verb_repeats_a_secret(run, verb, caplog):
    """A secret in any argument or option is in no output, no error and no log."""
    caplog.set_level("DEBUG")
    leaks = []
    for name in [name for at, name in parameters() if at == verb]:
        ran = run(*line_of(verb, name, SECRET))
        if SECRET in ran.out + ran.err + caplog.text:
            leaks.append((name, ran.code, ran.out, ran.err))

    assert [] == leaks


@pytest.mark.parametrize("verb", ["status", "adopt", "refresh"])
@pytest.mark.usefixtures("place")
def test_a_name_in_a_folder_is_told_nowhere(run, folder, verb):
    """A file that is named by a secret is refused by its place, and never named."""
    (folder / ".uai" / f"{SECRET}.uai").write_text("Found on a desk.\n")
    line = (verb, "ada", folder, "--store", "sqlite:store.db", "--scope", GOOD["scope"])

    ran = run(*line)

    assert (1, True) == (ran.code, ran.err.startswith("text.secret: "))
    assert SECRET not in ran.out + ran.err
    assert SECRET not in run(*line, "--json").out
