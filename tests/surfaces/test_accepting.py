"""Laws of acceptance policies on the command line."""

from __future__ import annotations

import pytest

POLICY = {"scope", "issuers", "scopes", "key_ids", "require_signature_from", "receipt"}


@pytest.fixture
def keys(run):
    """The lines that told of two new keys."""
    return [
        run("keygen", "-o", f"{n}.key", "--public", f"{n}.pub", "--json").line
        for n in "ab"
    ]


def fields(line):
    """What a line of JSON says that is asked for."""
    rest = POLICY - {"scope", "receipt"}
    return {name: line[name] for name in rest if line[name] is not None}


def test_a_policy_is_shown_as_it_was_set(run, keys, at):
    """What was set is in force, and a new policy takes the place of the old one."""
    ids = sorted(key["key_id"] for key in keys)

    first = run("policy", *at, "--issuer", "tests", "--accept-scope", "b", "--json")
    assert 0 == first.code
    assert POLICY == set(first.line)
    assert {"issuers": ["tests"], "scopes": ["b"]} == fields(first.line)
    assert first.line["receipt"]

    second = run("policy", *at, "--key-id", ids[0], "--key", ids[1].upper(), "--json")
    assert {"key_ids": ids} == fields(second.line)
    shown = run("policy", *at, "--json").line
    assert {**second.line, "receipt": None} == shown
    assert ids[0] in run("policy", *at).out


@pytest.mark.parametrize("named", ["an id", "a file"])
def test_a_key_file_stands_for_its_id(run, keys, at, named):
    """A file with a public key is turned into the id of the key."""
    key = "a.pub" if named == "a file" else keys[0]["key_id"]

    ran = run("policy", *at, "--key", key, "--require-signature-from", key, "--json")

    ids = [keys[0]["key_id"]]
    assert {"key_ids": ids, "require_signature_from": ids} == fields(ran.line)


def test_a_policy_holds_until_it_is_cleared(run, archive, folder, keys, at):
    """A package that doesn't meet it is refused, and told which key to name."""
    run("policy", *at, "--require-signature-from", "a.pub")
    assert 1 == run("install", archive, *at).code
    run("sign", folder, "--key-file", "a.key")

    unnamed = run("install", folder, *at, "--json")

    assert 1 == unnamed.code
    (message,) = [
        finding["message"]
        for finding in unnamed.lines[0]["findings"]
        if finding["code"] == "signature.missing"
    ]
    assert "--trust" in message
    other = run("install", archive, *at, "--trust", "a.pub", "--json").lines[0]
    assert not any("--trust" in finding["message"] for finding in other["findings"])
    assert 0 == run("install", folder, *at, "--trust", "a.pub").code

    cleared = run("policy", *at, "--clear", "--json")
    assert (0, {}) == (cleared.code, fields(cleared.line))
    assert 0 == run("clone", archive, "--id", "eve", *at).code


def test_showing_and_clearing_make_no_store(run, at, tmp_path):
    """Only who sets a policy may begin a store with it."""
    assert 2 == run("policy", *at).code
    assert 2 == run("policy", *at, "--clear").code
    assert [] == list(tmp_path.iterdir())

    assert 0 == run("policy", *at, "--issuer", "tests").code
    assert "asked for" in run("policy", *at[:3], "acme/personal/other").out


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--clear", "--issuer", "x"), "usage"),
        (("--issuer", ""), "policy.value"),
        (("--accept-scope", "Not A Word"), "policy.value"),
        (("--key", "none.pub"), "files.missing"),
        (("--key", "a.key"), "key.private"),
        (("--key-id", "0" * 64, "--require-signature-from", "a.pub"), "policy.value"),
    ],
)
def test_what_is_no_policy_is_wrong_usage(run, keys, at, tmp_path, *, args, code):
    """A policy that can't be is exit code 2, before any store is made."""
    before = {path.name for path in tmp_path.iterdir()}

    ran = run("policy", *at, *args, "--json")

    assert (2, code) == (ran.code, ran.line["error"]["code"])
    assert before == {path.name for path in tmp_path.iterdir()}
