"""Laws of files-first work on the command line: status, adopt, diff."""

from __future__ import annotations

import json
import os

import pytest

from uaix_backends import open_session, read_package, write_package
from uaix_core import CallerError, EditedFiles
from uaix_surfaces.cli.places import write_refresh

CONTEXT = ".uai/world-context.uai"
PERSONA = ".uai/persona.uai"


@pytest.fixture
def work(run, archive, at, tmp_path):
    """An exported folder of a stored package, about to be edited."""
    run("install", archive, *at)
    assert 0 == run("export", "ada", *at, "-o", "work").code
    return tmp_path / "work"


def add(work, path=CONTEXT, text="MARKED-BODY comes in.\n"):
    """Add a line to a file of the folder."""
    file = work / path
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_an_edit_is_shown_compared_and_adopted(run, work, at):
    """An edited folder goes through status, diff and adopt, and is clean then."""
    assert "nothing was edited" in run("status", "ada", work, *at[:4]).out
    assert 0 == run("diff", work, *at[:4]).code
    add(work)

    status = run("status", "ada", work, *at[:4], "--json")
    assert 0 == status.code
    assert [CONTEXT] == [
        f["path"] for f in status.line["files"] if f["state"] != "untouched"
    ]
    assert "MARKED-BODY" not in status.out + status.err
    compared = run("diff", work, *at[:4], "--json")
    assert (1, [CONTEXT]) == (
        compared.code,
        [c["path"] for c in compared.line["changed"]],
    )
    adopted = run("adopt", "ada", work, *at, "--json")
    assert (0, [(CONTEXT, 2)]) == (
        adopted.code,
        [(r["path"], r["number"]) for r in adopted.line["revisions"]],
    )
    assert "MARKED-BODY" not in adopted.out + adopted.err
    assert adopted.line["refreshed"]
    again = run("adopt", "ada", work, *at)
    assert "nothing to do" in again.out
    add(work, text="Once more.\n")
    more = run("adopt", "ada", work, *at, "--json")
    assert [3] == [r["number"] for r in more.line["revisions"]]


def test_a_file_that_is_gone_is_asked_for_first(run, work, at):
    """Where it has moved on as well, no tombstone waits that nobody has asked for."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, text="Theirs.\n")
    run("adopt", "ada", other, *at)
    (work / CONTEXT).unlink()

    refused = run("adopt", "ada", work, *at)

    assert (1, True) == (refused.code, refused.err.startswith("adopt.removed: "))
    assert [] == run("waiting", "ada", *at[:4], "--json").line["conflicts"]
    asked = run("adopt", "ada", work, "--remove", *at)
    assert (1, True) == (asked.code, asked.err.startswith("revision.conflict: "))
    assert 1 == len(run("waiting", "ada", *at[:4], "--json").line["conflicts"])


def test_a_folder_is_refreshed(run, work, at, tmp_path):
    """What others changed comes into a folder, and its edits stay."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, text="Theirs.\n")
    run("adopt", "ada", other, *at)
    taboo = work / ".uai/taboo.uai"
    taboo.chmod(0o640)
    add(work, ".uai/taboo.uai")

    ran = run("refresh", "ada", work, *at[:4], "--json")

    assert [".uai/manifest.uaix.json", CONTEXT] == ran.line["changed"]
    assert (work / CONTEXT).read_bytes() == (other / CONTEXT).read_bytes()
    assert "MARKED-BODY" in taboo.read_text(encoding="utf-8")
    assert "nothing changed" in run("refresh", "ada", work, *at[:4]).out
    add(work)
    add(other, text="Theirs again.\n")
    run("adopt", "ada", other, *at)
    stuck = run("refresh", "ada", work, *at[:4])
    assert (1, True) == (stuck.code, stuck.err.startswith("adopt.conflict: "))
    assert "Theirs again" not in (work / CONTEXT).read_text(encoding="utf-8")


def test_what_an_editor_did_is_told(run, work, at):
    """Other line ends are no edit, and a backup file is none either."""
    file = work / CONTEXT
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    (work / ".uai/persona.uai~").write_text("MARKED-BODY", encoding="utf-8")

    ran = run("status", "ada", work, *at[:4])

    assert "nothing was edited" in ran.out
    assert "other line ends" in ran.out
    assert "left by an editor" in ran.out
    assert 0 == run("diff", work, *at[:4]).code
    assert [] == run("adopt", "ada", work, *at, "--json").line["revisions"]


def test_a_persona_needs_a_word(run, work, at):
    """The status says what to authorise, and with that the persona changes."""
    add(work, PERSONA)
    word = ("--authorise", f"{PERSONA}:replace")

    assert " ".join(word) in run("status", "ada", work, *at[:4]).out
    refused = run("adopt", "ada", work, *at, "--json")
    assert 1 == refused.code
    assert "persona.mutation" in refused.out
    assert 0 == run("adopt", "ada", work, *at, *word).code


def test_files_that_come_and_go(run, work, at):
    """A new file is named with --new, one that is gone with --remove."""
    new = ".uai/notes/more.uai"
    (work / new).parent.mkdir()
    (work / new).write_text("More.\n", encoding="utf-8")

    refused = run("adopt", "ada", work, *at)
    assert (1, True) == (refused.code, refused.err.startswith("adopt.unlisted: "))
    assert 0 == run("adopt", "ada", work, *at, "--new", new).code
    run("export", "ada", *at, "-o", "again")
    again = work.with_name("again")
    (again / new).unlink()
    gone = run("adopt", "ada", again, *at)
    assert (1, True) == (gone.code, gone.err.startswith("adopt.removed: "))
    removed = run("adopt", "ada", again, *at, "--remove", "--json")
    assert ["tombstone"] == [r["change"] for r in removed.line["revisions"]]


@pytest.mark.parametrize("spelling", ["--remove", "--remove-all"])
def test_files_that_are_gone_are_named_one_by_one(run, work, at, spelling):
    """--remove takes paths; without one, and as --remove-all, it means all of them."""
    names = [f".uai/notes/{name}.uai" for name in "abcd"]
    (work / ".uai/notes").mkdir()
    for name in names:
        (work / name).write_text(f"{name}\n", encoding="utf-8")
    new = [word for name in names for word in ("--new", name)]
    assert 0 == run("adopt", "ada", work, *new, *at).code
    for name in names[:3]:
        (work / name).unlink()

    def removed(*words):
        ran = run("adopt", "ada", work, *words, *at, "--json")
        return ran.code, [r["path"] for r in ran.line.get("revisions", ())]

    assert "adopt with --remove PATH" in run("status", "ada", work, *at[:4]).out
    refused = run("adopt", "ada", work, "--remove", names[0], *at)
    assert refused.err.startswith("adopt.removed: ")
    there = run("adopt", "ada", work, "--remove", names[3], *at)
    assert (1, True) == (there.code, there.err.startswith("adopt.there: "))
    nowhere = run("adopt", "ada", work, "--remove", "none", *at)
    assert (1, True) == (nowhere.code, nowhere.err.startswith("adopt.path: "))
    one = ("--only", names[0], "--remove", names[0])
    assert (0, [names[0]]) == removed(*one)
    two = [word for name in names[1:3] for word in ("--remove", name)]
    assert (0, names[1:3]) == removed(*two)
    (work / names[3]).unlink()
    assert (0, [names[3]]) == removed(spelling)


def test_a_stale_edit_waits_and_is_decided(run, work, at):
    """What lost shows in the queue, and a person keeps or takes."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, text="Theirs.\n")
    run("adopt", "ada", other, *at)
    add(work)

    assert "in conflict" in run("status", "ada", work, *at[:4]).out
    lost = run("adopt", "ada", work, *at)
    assert (1, True) == (lost.code, lost.err.startswith("revision.conflict: "))
    waiting = run("waiting", "ada", *at[:4], "--json")
    (conflict,) = waiting.line["conflicts"]
    assert (CONTEXT, "replace") == (conflict["path"], conflict["change"])
    assert conflict["conflict_id"] in run("waiting", "ada", *at[:4]).out
    name = conflict["conflict_id"]
    assert name in lost.err
    shown = run("conflict", name, "-o", "candidate.uai", *at[:4], "--json")
    assert (0, CONTEXT, "candidate.uai") == (
        shown.code,
        shown.line["path"],
        shown.line["written"],
    )
    assert "MARKED-BODY" not in shown.out
    written = work.with_name("candidate.uai").read_bytes()
    assert (work / CONTEXT).read_bytes() == written
    again = run("conflict", name, "-o", "candidate.uai", *at[:4])
    assert (1, True) == (again.code, again.err.startswith("files.exists: "))
    assert CONTEXT in run("conflict", name, *at[:4]).out
    needs = run("resolve", name, "take", *at)
    assert 2 == needs.code
    taken = run(
        "resolve", name, "take", "--expect", conflict["head_revision"], *at, "--json"
    )
    assert (0, 3) == (taken.code, taken.line["number"])
    assert b"MARKED-BODY" in work.joinpath(CONTEXT).read_bytes()
    assert [] == run("waiting", "ada", *at[:4], "--json").line["conflicts"]
    closed = run("resolve", name, "keep", *at)
    assert (1, True) == (closed.code, closed.err.startswith("conflict.not-open: "))


def test_a_conflict_may_be_kept(run, work, at):
    """Keeping closes a conflict and changes nothing."""
    run("export", "ada", *at, "-o", "other")
    add(work.with_name("other"), text="Theirs.\n")
    run("adopt", "ada", work.with_name("other"), *at)
    add(work)
    run("adopt", "ada", work, *at)
    (conflict,) = run("waiting", "ada", *at[:4], "--json").line["conflicts"]

    name = conflict["conflict_id"]
    for decision, more in (
        ("keep", ("--id", "ada-2")),
        ("keep", ("--authorise", f"{PERSONA}:replace")),
        ("take", ("--expect", "x", "--id", "ada-2")),
        ("branch", ("--expect", "x")),
    ):
        assert 2 == run("resolve", name, decision, *more, *at).code
    stale = run("resolve", name, "keep", "--expect", "older", *at)
    assert (1, True) == (stale.code, stale.err.startswith("revision.stale: "))
    expect = ("--expect", conflict["head_revision"])
    ran = run("resolve", name, "keep", *expect, "--note", "no", *at, "--json")

    assert (0, "kept") == (ran.code, ran.line["verdict"])
    assert 2 == run("show", "ada", *at[:4], "--json").line["number"]


def test_records_are_revised_retired_and_brought_back(run, work, at, tmp_path):
    """revise, tombstone, revive and revert continue the chain of one record."""
    path = ".uai/notes/more.uai"
    (work / path).parent.mkdir()
    (work / path).write_text("One.\n", encoding="utf-8")
    made = run("adopt", "ada", work, *at, "--new", path, "--json").line["revisions"][0]
    (tmp_path / "two.uai").write_text("Two.\n", encoding="utf-8")

    def revision(*args):
        ran = run(*args, *at, "--json")
        assert 0 == ran.code, ran.err
        return ran.line

    seen = ("--expect", made["revision_id"])
    two = revision("revise", "ada", path, "two.uai", *seen)
    assert 2 == two["number"]
    assert (
        two["revision_id"]
        == revision("revise", "ada", path, "two.uai", *seen)["revision_id"]
    )
    gone = revision(
        "tombstone", "ada", path, "--expect", two["revision_id"], "--reason", "old"
    )
    assert "tombstone" == gone["change"]
    back = revision("revive", "ada", path, "--expect", gone["revision_id"])
    assert ("restore", 4) == (back["change"], back["number"])
    first = revision(
        "revert",
        "ada",
        path,
        "--to",
        made["revision_id"],
        "--expect",
        back["revision_id"],
    )
    assert 5 == first["number"]
    missing = run("revise", "ada", path, "none.uai", *seen, *at)
    assert (2, True) == (missing.code, missing.err.startswith("files.missing: "))
    told = run("revise", "ada", path, "two.uai", *seen, *at)
    assert "nothing to do" in told.out


def test_a_package_is_reviewed_into_use(run, work, at):
    """Records first, then the package; blockers and wrong words are refused."""
    early = run("review", "ada", "active", "--expect", "1", *at)
    assert (1, True) == (early.code, early.err.startswith("review.incomplete: "))
    all_of_it = ("--all-records", "--expect", "1")
    ran = run("review", "ada", "reviewed", *all_of_it, *at, "--json")
    assert (0, "reviewed") == (ran.code, ran.line["verdict"])
    files = run("show", "ada", *at[:4], "--json").line["files"]
    seen = next(f["revision_id"] for f in files if f["path"] == CONTEXT)
    assert seen in run("show", "ada", *at[:4]).out
    record = ("--record", f"{CONTEXT}={seen}")
    one = run("review", "ada", "approved", *record, "--note", "read", *at)
    assert 0 == one.code
    last = ("--expect", run("waiting", "ada", *at[:4], "--json").line["checkpoint_id"])
    blocked = run("review", "ada", "active", *last, "--blocker", "no consent", *at)
    assert (1, True) == (blocked.code, blocked.err.startswith("review.blocked: "))
    wrong = run("review", "ada", "active", *last, "--agreed", "ada", *at)
    assert 2 == wrong.code
    agreed = run("review", "ada", "active", *last, "--agreed", "ada=all of it", *at)
    assert 0 == agreed.code
    assert "active" in run("waiting", "ada", *at[:4]).out
    agent = run("review", "ada", "rejected", *last, *at, "--actor", "agent:bot")
    assert (1, True) == (agent.code, agent.err.startswith("review.reviewer: "))
    stale = run("review", "ada", "rejected", "--record", f"{CONTEXT}=older", *at)
    assert (1, True) == (stale.code, stale.err.startswith("revision.stale: "))


@pytest.mark.parametrize(
    "call",
    [
        ("active",),
        ("reviewed", "--all-records"),
        ("reviewed", "--all-records", "--record", f"{CONTEXT}=x"),
        ("reviewed", "--record", CONTEXT),
    ],
)
def test_a_review_says_what_was_looked_at(run, work, at, call):
    """Without its name nothing is approved; what stands now is named to look at."""
    stands = run("waiting", "ada", *at[:4], "--json").line
    revision = {r["path"]: r["revision_id"] for r in stands["records"]}[CONTEXT]

    ran = run("review", "ada", *call, *at)

    assert (2, True) == (ran.code, ran.err.startswith("review.expect: "))
    named = f"{CONTEXT}={revision}" if call[-1] == CONTEXT else stands["checkpoint_id"]
    assert named in ran.err
    assert stands == run("waiting", "ada", *at[:4], "--json").line


@pytest.mark.parametrize("call", [("active",), ("reviewed", "--all-records")])
def test_what_moved_on_is_not_approved(run, work, at, call):
    """A checkpoint that no longer stands approves nothing, by its id or number."""
    seen = run("waiting", "ada", *at[:4], "--json").line
    add(work)
    run("adopt", "ada", work, *at)
    for name in (seen["checkpoint_id"], seen["number"]):
        ran = run("review", "ada", *call, "--expect", name, *at)

        assert (1, True) == (ran.code, ran.err.startswith("package.stale: "))
    waits = run("waiting", "ada", *at[:4], "--json").line
    assert (2, len(seen["records"])) == (waits["number"], len(waits["records"]))


def test_stored_states_are_compared(run, work, at):
    """A package and a checkpoint of it stand for their files."""
    add(work)
    run("adopt", "ada", work, *at)

    ran = run("diff", "ada@1", "ada", *at[:4], "--json")

    assert (1, [CONTEXT]) == (ran.code, [c["path"] for c in ran.line["changed"]])
    assert 0 == run("diff", "ada@2", "ada", *at[:4]).code
    assert 1 == run("diff", "ada@1", work, *at[:4]).code
    for args in (("ada@9", "ada"), ("none", "ada")):
        missing = run("diff", *args, *at[:4])
        assert 2 == missing.code
        assert "not-found" in missing.err
    for args in (("work",), ("work", "work", "--store", at[1])):
        assert 2 == run("diff", *args).code


def test_answers_are_json(run, work, at):
    """Every answer for programs is JSON without content."""
    add(work)
    for args in (
        ("status", "ada", work, *at[:4]),
        ("adopt", "ada", work, *at),
        ("waiting", "ada", *at[:4]),
    ):
        ran = run(*args, "--json")
        assert json.loads(ran.out)
        assert "MARKED-BODY" not in ran.out


def test_a_file_that_is_saved_meanwhile_keeps_its_base(run, work, at):
    """A refresh that meets a file being edited leaves the folder as it was based."""
    run("export", "ada", *at, "-o", "other")
    add(work.with_name("other"), text="Theirs.\n")
    run("adopt", "ada", work.with_name("other"), *at)
    seen = read_package(work).files
    url, scope = at[1], at[3]
    with open_session(url, scope=scope, principal="human:ada") as session:
        refresh = session.packages.refresh("ada", EditedFiles(seen))
    add(work)

    with pytest.raises(CallerError) as caught:
        write_refresh(work, seen, refresh)

    assert ("files.changed", CONTEXT) == (caught.value.code, caught.value.path)
    assert "in conflict" in run("status", "ada", work, *at[:4]).out
    lost = run("adopt", "ada", work, *at)
    assert lost.err.startswith("revision.conflict: ")


def test_an_archive_may_be_adopted(run, work, at, persona, tmp_path):
    """An edited archive is read as a folder is."""
    files = {**persona, CONTEXT: persona[CONTEXT] + b"MARKED-BODY\n"}
    write_package(tmp_path / "edited.uaix", files)
    base = ("--based-on", "1")

    ran = run("adopt", "ada", "edited.uaix", *base, *at, "--json")

    assert (0, False) == (ran.code, ran.line["refreshed"])
    assert [CONTEXT] == [r["path"] for r in ran.line["revisions"]]


def test_only_plain_files_of_a_size_are_read(run, work, at, tmp_path):
    """A folder, a pipe or an endless device is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "work", "/dev/zero"):
        ran = run("revise", "ada", CONTEXT, name, "--expect", "x", *at)
        assert (2, True) == (ran.code, ran.err.startswith("files.special: "))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(300 * 2**20)
    large = run("replay", "sparse", *at)
    assert (2, True) == (large.code, large.err.startswith("files.limit: "))
