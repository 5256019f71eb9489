"""Laws of the tiers and of proposals on the command line."""

from __future__ import annotations

import pytest
from tests.surfaces.conftest import SCOPE

from uaix_backends import open_session

PERSONA = ".uai/persona.uai"
WORLD = ".uai/world-context.uai"
DIGEST = "sha256:" + "ab" * 32
AS_AGENT = ("--actor", "agent:ada-1")
TALK = ("--agent", "ada-1", "--conversation", "c-1")
POINTER = ("--title", "Launch", "--locator", "wiki:Apollo", "--digest", DIGEST)


@pytest.fixture
def stored(run, archive, at):
    """A package in a store."""
    assert 0 == run("install", archive.name, *at).code
    return "ada"


@pytest.fixture
def texts(tmp_path):
    """A file of text, and one that is none."""
    (tmp_path / "f.txt").write_bytes(b"x")
    (tmp_path / "bad.txt").write_bytes(b"\xff")


def say(run, at, text="Remember the launch."):
    """The id of a new turn."""
    said = ("--role", "user", "--text", text)
    ran = run("tier", "say", "ada", *TALK, *said, *at, *AS_AGENT, "--json")
    assert 0 == ran.code
    return ran.line["id"]


def propose(run, at, turn):
    """The id of a new proposal of a pointer."""
    source = ("--from", f"turn:{turn}")
    ran = run("propose", "pointer", "ada", *source, *POINTER, *at, *AS_AGENT, "--json")
    assert 0 == ran.code
    return ran.line["id"]


def head(url, path=WORLD):
    """The revision that stands."""
    with open_session(url, scope=SCOPE, principal="human:eva") as session:
        return session.packages.record("ada", path).revision.revision_id


def test_a_state_is_put_and_shown(run, at, stored, tmp_path):
    """The working state is replaced by a text or a file, and erased."""
    state = ("tier", "state", "ada", "--agent", "ada-1", *at)
    assert "no state" in run(*state).err
    assert 1 == run(*state, "--text", "first", "--json").line["number"]
    (tmp_path / "s.txt").write_text("second")
    assert "state 2" in run(*state, "--file", "s.txt", "--seen", "1").out

    line = run(*state, "--json").line
    assert ("second", 2, "operator", "local") == (
        line["text"],
        line["number"],
        line["actor_kind"],
        line["actor_id"],
    )
    assert "second" in run(*state).out
    stale = run(*state, "--text", "x", "--seen", "1", "--json")
    assert (1, "short-term.stale") == (stale.code, stale.line["error"]["code"])
    erase = ("tier", "erase", "ada", "state", "--agent", "ada-1", *at)
    assert 1 == run(*erase, "--only-replaced", "--json").line["count"]
    assert 0 == run(*erase).code
    assert "no state" in run(*state).err


def test_turns_are_said_shown_and_erased(run, at, stored):
    """Turns stand in their order; erased by id or all together, they stay as places."""
    ids = [say(run, at, text) for text in ("one", "two", "three")]
    said_at = ("--at", "2026-01-02T03:04:05Z", "--role", "assistant", "--text", "four")
    assert "turn 4" in run("tier", "say", "ada", *TALK, *said_at, *at).out

    turns = ("tier", "turns", "ada", *TALK, *at)
    lines = run(*turns, "--json").lines
    assert ["one", "two", "three", "four"] == [line["text"] for line in lines]
    assert "2026-01-02T03:04:05.000000Z" == lines[-1]["said_at"]
    assert "three" in run(*turns).out
    listed = run("tier", "turns", "ada", "--agent", "ada-1", *at, "--json").line
    assert ("c-1", 4) == (listed["conversation_id"], listed["turn_count"])
    one = run("tier", "erase", "ada", "turn", ids[0], *at, *AS_AGENT, "--json")
    assert 1 == one.line["count"]
    rest = run("tier", "erase", "ada", "turn", *TALK, *at, "--json")
    assert 3 == rest.line["count"]
    assert [None] * 4 == [line["text"] for line in run(*turns, "--json").lines]


def test_variance_and_notes_are_kept_beside_the_package(run, at, stored):
    """Both are recorded and shown, over a range of time."""
    said = ("--what", "flat", "--why", "no emphasis", "--cause", "platform")
    one = ("tier", "diverge", "ada", "--agent", "ada-1", "--path", PERSONA, *said)
    assert 0 == run(*one, "--at", "2026-01-02T00:00:00Z", *at).code
    assert 0 == run(*one, *at, "--json").code
    variance = ("tier", "variance", "ada", *at[:4])
    assert 2 == len(run(*variance, "--json").lines)
    upto = run(*variance, "--to", "2026-01-03T00:00:00Z", "--json").line
    assert (PERSONA, "flat", "platform") == (upto["path"], upto["what"], upto["cause"])
    since = run(*variance, "--from", "2999-01-01T00:00:00Z")
    assert (0, "no variance") == (since.code, since.err.strip())
    assert "platform" in run(*variance).out

    note = ("--kind", "legal", "--title", "Medicine", "--text", "No advice.")
    made = run("tier", "note", "ada", *note, *at, "--json").line
    line = run("tier", "notes", "ada", *at[:4], "--json").line
    assert (made["id"], made["receipt"], "legal", "Medicine", "No advice.") == (
        line["note_id"],
        line["receipt_id"],
        line["kind"],
        line["title"],
        line["text"],
    )
    for kind, name in (("note", made["id"]), ("variance", upto["variance_id"])):
        assert 1 == run("tier", "erase", "ada", kind, name, *at, "--json").line["count"]


def test_a_test_set_is_kept(run, at, stored):
    """Cases and their results are put and shown."""
    case = ("--prompt", "Hello", "--must", "it greets", "--must-not", "it shouts")
    put = run("tier", "case", "ada", "hello", *case, "--path", PERSONA, *at)
    assert 0 == put.code
    line = run("tier", "cases", "ada", *at[:4], "--json").line
    assert ("hello", "Hello", ["it greets"], ["it shouts"], [PERSONA]) == (
        line["name"],
        line["prompt"],
        line["must"],
        line["must_not"],
        line["paths"],
    )
    run_ = ("--run", "r-1")
    result = ("tier", "result", "ada", "hello", "failed", *run_, "--note", "it shouted")
    assert 0 == run(*result, *at).code
    line = run("tier", "results", "ada", *run_, *at[:4], "--json").line
    assert ("failed", "it shouted") == (line["outcome"], line["note"])
    assert 2 == run("tier", "case", "ada", "x", "--prompt", "y", *at).code


def test_an_index_is_marked(run, at, stored):
    """A mark is told back; one ahead of the store is refused."""
    assert "up to 1" in run("tier", "mark", "ada", "text", "1", *at).out
    assert 0 == run("tier", "mark", "ada", "text", "0", *at, "--json").line["seq"]
    line = run("tier", "marks", "text", *at[:4], "--json").line
    assert ("ada", 0) == (line["package_id"], line["seq"])
    ahead = run("tier", "mark", "ada", "text", "99", *at, "--json")
    assert (1, "index.seq") == (ahead.code, ahead.line["error"]["code"])


def test_a_pointer_comes_of_a_decision(run, at, stored):
    """Proposed it waits; accepted it stands with its sources; it is decided once."""
    turn = say(run, at)
    name = propose(run, at, turn)
    assert "no pointers" in run("tier", "pointers", "ada", *at[:4]).err
    waiting = run("waiting", "ada", *at[:4], "--json").line["proposals"]
    assert [{"proposal_id": name, "kind": "pointer", "actor": "agent:ada-1"}] == waiting
    assert name in run("waiting", "ada", *at[:4]).out
    line = run("proposals", "ada", *at[:4], "--json").line
    assert ("open", "Launch", [f"turn:{turn}"]) == (
        line["state"],
        line["title"],
        line["sources"],
    )
    source = ("--from", f"turn:{turn}", "--key", "k", *at, "--json")
    keyed = [run("propose", "pointer", "ada", *POINTER, *source).line for _ in "ab"]
    assert [True, False] == [one["is_first"] for one in keyed]
    assert 0 == run("decide", keyed[0]["id"], "decline", *at).code
    refused = run("decide", name, "accept", *at, *AS_AGENT, "--json")
    assert (1, "review.reviewer") == (refused.code, refused.line["error"]["code"])
    decided = run("decide", name, "accept", "--note", "seen", *at, "--json").line

    line = run("tier", "pointers", "ada", *at[:4], "--json").line
    assert (decided["pointer"], "Launch", "wiki:Apollo", DIGEST, [f"turn:{turn}"]) == (
        line["pointer_id"],
        line["title"],
        line["locator"],
        line["digest"],
        line["sources"],
    )
    assert "Launch" in run("tier", "pointers", "ada", *at[:4]).out
    again = run("decide", name, "decline", *at, "--json")
    assert (1, "proposal.decided") == (again.code, again.line["error"]["code"])
    assert "no open proposals" in run("proposals", "ada", *at[:4]).err
    erased = run("tier", "erase", "ada", "turn", turn, *at, "--json").line
    assert [decided["pointer"]] == erased["pointers"]


def test_a_change_of_a_file_comes_of_a_decision(run, at, stored, tmp_path):
    """Accepted it is the next revision, and refused it changes nothing."""
    turn = say(run, at)
    (tmp_path / "w.uai").write_bytes(b"# World\n\nAnother one.\n")
    (tmp_path / "t.uai").write_bytes(b"# Totem\n\nAnother one.\n")
    propose_file = ("propose", "file", "ada")
    source = ("--from", f"turn:{turn}", *at, *AS_AGENT, "--json")
    before = head(at[1])
    made = run(*propose_file, WORLD, "w.uai", "--expect", before, *source).line["id"]
    assert before == head(at[1])
    line = run("proposals", "ada", *at[:4], "--json").line
    assert "# World\n\nAnother one.\n" == line["content"]
    decided = run("decide", made, "accept", *at)
    assert (0, True) == (decided.code, "accepted" in decided.out)
    assert before != head(at[1])

    totem = ".uai/totem.uai"
    seen = head(at[1], totem)
    made = run(*propose_file, totem, "t.uai", "--expect", seen, *source).line["id"]
    assert 1 == run("decide", made, "accept", *at).code
    assert seen == head(at[1], totem)
    allowed = ("--authorise", f"{totem}:replace")
    assert 2 == run("decide", made, "decline", *allowed, *at).code
    assert 0 == run("decide", made, "accept", *allowed, *at).code
    assert seen != head(at[1], totem)

    new = ".uai/notes.uai"
    entry = '{"role": "unregistered", "scope": "universal", "mediaType": "text/uaix", '
    entry += '"requiredStatus": "configuration_specific_required", "source": "tests"}'
    added = ("--expect", "none", "--entry", entry)
    made = run(*propose_file, new, "w.uai", *added, *source).line["id"]
    declined = run("decide", made, "decline", "--note", "no", *at, "--json").line
    assert ("declined", None) == (declined["verdict"], declined["revision"])
    assert [made] == [
        one["proposal_id"]
        for one in run(
            "proposals", "ada", "--state", "declined", *at[:4], "--json"
        ).lines
    ]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("tier",), None),
        (("propose",), None),
        (("tier", "say", "ada", *TALK, "--role", "user"), "usage"),
        (
            ("tier", "state", "ada", "--agent", "a", "--text", "x", "--file", "f.txt"),
            "usage.text",
        ),
        (("tier", "state", "ada", "--agent", "a", "--file", "bad.txt"), "usage.text"),
        (("tier", "state", "ada", "--agent", "a", "--file", "no.txt"), "files.missing"),
        (("tier", "variance", "ada", "--from", "yesterday"), None),
        (("tier", "erase", "ada", "turn"), "usage"),
        (("tier", "erase", "ada", "turn", "x", "--agent", "a"), "usage"),
        (("tier", "erase", "ada", "state", "x"), "usage"),
        (("tier", "erase", "ada", "note", "--agent", "a"), "usage"),
        (("propose", "pointer", "ada", "--from", "turn", *POINTER), "id.syntax"),
        (("propose", "pointer", "ada", "--from", "x:y", *POINTER), "tier.word"),
        (
            (
                "propose",
                "pointer",
                "ada",
                "--from",
                "turn:y",
                *POINTER[:4],
                "--digest",
                "x",
            ),
            "pointer.digest",
        ),
        (
            (
                "propose",
                "file",
                "ada",
                "x",
                "f.txt",
                "--from",
                "turn:y",
                "--expect",
                "none",
                "--entry",
                "[]",
            ),
            "usage.entry",
        ),
        (
            (
                "propose",
                "file",
                "ada",
                "x",
                "f.txt",
                "--from",
                "turn:y",
                "--expect",
                "none",
                "--entry",
                "{",
            ),
            "usage.entry",
        ),
        (("decide", "no id", "accept"), "id.syntax"),
    ],
)
@pytest.mark.usefixtures("stored", "texts")
def test_what_can_not_be_meant_is_wrong_usage(run, at, args, code):
    """Values that can't be are exit code 2."""
    ran = run(*args, *(at if len(args) > 1 else ()), "--json")

    assert 2 == ran.code
    if code is not None:
        assert code == ran.line["error"]["code"]


def test_long_texts_are_cut_in_tables_alone(run, at, stored):
    """A table shows the beginning of a text, JSON all of it."""
    text = "x" * 100
    say(run, at, text)
    turns = ("tier", "turns", "ada", *TALK, *at)
    assert text not in run(*turns).out
    assert text == run(*turns, "--json").line["text"]
