"""Laws of replay, sign-revisions and verify-revisions on the command line."""

from __future__ import annotations

import json

import pytest

from uaix_core import QueuedChange, write_outbox

CONTEXT = ".uai/world-context.uai"


@pytest.fixture
def seen(run, archive, at):
    """The revision of a file of a stored package."""
    run("install", archive, *at)
    files = run("show", "ada", *at[:4], "--json").line["files"]
    return next(f["revision_id"] for f in files if f["path"] == CONTEXT)


def test_a_box_is_replayed(run, persona, at, tmp_path, seen):
    """The exit code says whether everything stands; again it writes nothing."""
    text = persona[CONTEXT] + b"MARKED-BODY\n"
    good = QueuedChange("1", "ada", CONTEXT, text, expected_revision=seen)
    late = QueuedChange("2", "ada", CONTEXT, b"Late.\n", expected_revision=seen)
    (tmp_path / "good.jsonl").write_bytes(write_outbox([good]))
    (tmp_path / "late.jsonl").write_bytes(write_outbox([good, late]))

    for outcome in ("applied", "already"):
        ran = run("replay", "good.jsonl", *at, "--json")
        assert (0, outcome) == (ran.code, ran.line["outcome"])
        assert "MARKED-BODY" not in ran.out
    ran = run("replay", "late.jsonl", *at)
    assert 1 == ran.code
    assert "1 of 2 changes stand" in ran.out
    assert "revision.conflict" in ran.out
    (tmp_path / "none.jsonl").write_text("{}")
    broken = run("replay", "none.jsonl", *at)
    assert (2, True) == (broken.code, broken.err.startswith("outbox.format: "))
    assert 2 == run("replay", "absent.jsonl", *at).code


def test_who_replays_authorises(run, at, tmp_path, seen):
    """A protected file waits for --authorise, whatever the box says of itself."""
    files = run("show", "ada", *at[:4], "--json").line["files"]
    persona = ".uai/persona.uai"
    stands = next(f["revision_id"] for f in files if f["path"] == persona)
    line = {"id": "1", "package": "ada", "path": persona, "expected": stands}
    line |= {"text": "Name: Eve\n", "authorise": [f"{persona}:replace"]}
    lines = [{"format": "uaix.outbox.v1"}, line]
    (tmp_path / "box.jsonl").write_text("\n".join(map(json.dumps, lines)))
    wanted = f"--authorise {persona}:replace"

    ran = run("replay", "box.jsonl", *at, "--json")

    assert (1, "unauthorised") == (ran.code, ran.line["outcome"])
    assert {"path": persona, "operation": "replace"} == ran.line["needs"]
    assert "1 change of the file name authorisations of their own" in ran.err
    shown = run("replay", "box.jsonl", *at)
    assert (1, True) == (shown.code, wanted in " ".join(shown.out.split()))
    allowed = run("replay", "box.jsonl", *at, *wanted.split(), "--json")
    assert "unauthorised" != allowed.line["outcome"]


@pytest.mark.usefixtures("seen")
def test_revisions_are_signed_and_verified(run, at):
    """A trusted key stands behind everything that it signed, and nothing else."""
    run("keygen", "-o", "maren.key", "--public", "maren.pub")
    trust = ("--trust", "maren.pub")
    assert 1 == run("verify-revisions", "ada", *trust, *at[:4]).code

    signed = run("sign-revisions", "ada", "--key-file", "maren.key", *at, "--json")

    assert (0, True) == (signed.code, signed.line["revisions"] > 1)
    report = run("verify-revisions", "ada", *trust, *at[:4], "--json")
    assert (0, True, True) == (
        report.code,
        report.line["sound"],
        report.line["signed"],
    )
    again = run("sign-revisions", "ada", "--key-file", "maren.key", *at)
    assert "nothing to do" in again.out
    assert 1 == run("verify-revisions", "ada", *at[:4]).code
    assert "signed" in run("verify-revisions", "ada", *trust, *at[:4]).out
