"""Laws of the tiers that record: each is written and read by itself."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.session.conftest import NOW
from tests.session.package_kit import ID, NOTE, acting_as, position
from tests.session.tiering import AGENT, CANARY, TALK, at_work, files, said

from uaix_backends.memory import MemoryStore
from uaix_core import CallerError, CaseDraft, ConflictError, NotFoundError, StartupError
from uaix_core.store.copying import copy_scope
from uaix_core.values.instants import EARLIEST

#: Text that the gate refuses.
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def agent(session):
    """The session of the agent of a package that is active."""
    return at_work(session)


def refused(code, call, *args, **named):
    """The call is refused with this code."""
    with pytest.raises((CallerError, ConflictError)) as caught:
        call(*args, **named)
    assert code == caught.value.code
    return caught.value


def receipts(session, operation):
    """How many receipts of an operation there are."""
    every = session.packages.receipts(limit=1_000)
    return sum(one.operation == operation for one in every)


# Short-term memory


def test_short_term_memory_is_replaced_and_read_back(agent, clock):
    """The last state stands, under the next number, and nothing else changes."""
    memory, before = agent.tiers.short_term, files(agent)
    assert memory.get(ID, AGENT) is None
    first = memory.put(ID, AGENT, "Newest decision: none")
    clock.at += 1
    second = memory.put(ID, AGENT, "")

    state = memory.get(ID, AGENT)
    assert (2, "", second.id) == (state.number, state.text, state.state_id)
    assert (1, 2) == (first.number, second.number)
    assert first.receipt is None
    assert before == files(agent)


def test_a_state_is_replaced_by_who_has_seen_it(agent):
    """Whoever names a number replaces that state or none."""
    memory = agent.tiers.short_term
    memory.put(ID, AGENT, "a", seen=0)
    memory.put(ID, AGENT, "b", seen=1)

    for seen in (0, 1, 3):
        error = refused("short-term.stale", memory.put, ID, AGENT, "c", seen=seen)
        assert 2 == error.current.number
    assert "b" == memory.get(ID, AGENT).text


@pytest.mark.every_backend
def test_short_term_memory_is_erased(agent):
    """All states go, or all but the one that stands; numbers go on."""
    memory = agent.tiers.short_term
    ids = [memory.put(ID, AGENT, text).id for text in "abc"]
    assert 2 == memory.erase(ID, AGENT, only_replaced=True).count
    assert "c" == memory.get(ID, AGENT).text
    assert 0 == memory.erase(ID, AGENT, only_replaced=True).count
    whole = memory.erase(ID, AGENT)

    assert (1, True) == (whole.count, whole.receipt is not None)
    assert memory.get(ID, AGENT) is None
    again = memory.erase(ID, AGENT)
    assert (0, None, 0) == (again.count, again.receipt, again.seq)
    assert 2 == receipts(agent, "erase")
    assert len(ids) + 1 == memory.put(ID, AGENT, "d").number


@pytest.mark.every_backend
def test_an_agent_keeps_its_own(session, agent):
    """No agent reads, writes or erases what is another's; a person may."""
    other = acting_as(session, "agent:bob")
    turn = said(agent)
    agent.tiers.short_term.put(ID, AGENT, "mine")
    tiers = other.tiers

    for call, args in (
        (tiers.short_term.put, (ID, AGENT, "x")),
        (tiers.short_term.get, (ID, AGENT)),
        (tiers.short_term.erase, (ID, AGENT)),
        (tiers.conversations.add, (ID, AGENT, TALK, "user", "x")),
        (tiers.conversations.turns, (ID, AGENT, TALK)),
        (tiers.conversations.list, (ID, AGENT)),
        (tiers.conversations.erase_all, (ID, AGENT, TALK)),
    ):
        refused("tier.agent", call, *args)
    refused("tier.agent", tiers.variance.record, ID, AGENT, NOTE, what="x", why="x")
    refused("tier.not-found", tiers.conversations.erase, ID, [turn])
    assert tiers.short_term.get(ID, "bob") is None
    assert "mine" == session.tiers.short_term.get(ID, AGENT).text
    assert 1 == session.tiers.short_term.erase(ID, AGENT).count


# Conversations


@pytest.mark.every_backend
def test_turns_are_appended_and_read_page_by_page(agent, clock):
    """Each turn is there once, in its order, as it was said; none leaves a receipt."""
    talks, before = agent.tiers.conversations, receipts(agent, "erase")
    roles = ("user", "assistant", "system", "tool")
    for number, role in enumerate(roles, 1):
        clock.at += 1
        made = talks.add(ID, AGENT, TALK, role, f"{number}", said_at=NOW - number)
        assert (number, None) == (made.number, made.receipt)
    talks.add(ID, AGENT, "talk-0", "user", "elsewhere")

    first = talks.turns(ID, AGENT, TALK, limit=3)
    then = talks.turns(ID, AGENT, TALK, after=first[-1].number)
    assert [
        (number, role, NOW - number, f"{number}")
        for number, role in enumerate(roles, 1)
    ] == [(t.number, t.role, t.said_at, t.text) for t in (*first, *then)]
    listed = talks.list(ID, AGENT)
    assert [("talk-0", 1), (TALK, 4)] == [
        (one.conversation_id, one.turn_count) for one in listed
    ]
    assert (NOW + 1, NOW + 4) == (listed[1].begun_at, listed[1].modified_at)
    assert [TALK] == [
        one.conversation_id for one in talks.list(ID, AGENT, after="talk-0")
    ]
    assert before == receipts(agent, "erase")


def test_a_turn_follows_the_one_that_was_seen(agent):
    """Whoever names a number adds right after that turn or not at all."""
    talks = agent.tiers.conversations
    talks.add(ID, AGENT, TALK, "user", "a", seen=0)
    talks.add(ID, AGENT, TALK, "assistant", "b", seen=1)

    for seen in (0, 1, 3):
        error = refused(
            "conversation.stale", talks.add, ID, AGENT, TALK, "user", "c", seen=seen
        )
        assert 2 == error.current.turn_count
    assert ["a", "b"] == [turn.text for turn in talks.turns(ID, AGENT, TALK)]


@pytest.mark.every_backend
def test_turns_of_several_writers_are_dense(session, agent):
    """Whoever else adds at the same time, each turn gets the next number."""
    talks = agent.tiers.conversations

    def talk(name):
        for number in range(8):
            talks.add(ID, AGENT, TALK, "user", f"{name} {number}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(talk, "ab"))

    turns = talks.turns(ID, AGENT, TALK)
    assert list(range(1, 17)) == [turn.number for turn in turns]
    for name in "ab":
        said_ = [turn.text for turn in turns if turn.text.startswith(name)]
        assert [f"{name} {number}" for number in range(8)] == said_


@pytest.mark.every_backend
def test_turns_are_erased_one_by_one_and_together(agent):
    """An erased turn keeps its place and loses its text; numbers go on."""
    talks = agent.tiers.conversations
    ids = [said(agent, text) for text in "abcd"]
    one = talks.erase(ID, ids[1:2])
    assert ["a", None, "c", "d"] == [t.text for t in talks.turns(ID, AGENT, TALK)]
    rest = talks.erase_all(ID, AGENT, TALK)

    assert (1, 3) == (one.count, rest.count)
    assert [None] * 4 == [t.text for t in talks.turns(ID, AGENT, TALK)]
    assert 4 == talks.list(ID, AGENT)[0].turn_count
    assert 0 == talks.erase_all(ID, AGENT, "never").count
    assert 5 == talks.add(ID, AGENT, TALK, "user", "e").number


@pytest.mark.every_backend
def test_an_erasure_is_whole(agent):
    """Where one id isn't there, or stands twice, nothing is erased."""
    talks = agent.tiers.conversations
    one = said(agent, "a")
    before = position(agent)

    refused("tier.not-found", talks.erase, ID, [one, "absent"])
    for ids in ([], [one, one], [f"x{n}" for n in range(1_001)]):
        refused("erase.ids", talks.erase, ID, ids)
    refused("tier.not-found", talks.erase, ID, [f"x{n}" for n in range(1_000)])
    assert before == position(agent)
    assert "a" == talks.turns(ID, AGENT, TALK)[0].text


# Variance


@pytest.mark.every_backend
def test_variance_is_reported_over_a_range_of_time(session, agent):
    """A report begins at an instant, ends before another, and counts."""
    variance, before = agent.tiers.variance, files(agent)
    for at, cause in ((NOW, "policy"), (NOW + 1, "platform"), (NOW + 2, "policy")):
        variance.record(
            ID, AGENT, NOTE, what="flat", why="filtered", cause=cause, occurred_at=at
        )

    whole = session.tiers.variance.report(ID)
    assert {"platform": 1, "policy": 2} == whole.by_cause
    assert {NOTE: 3} == whole.by_path
    assert whole.next_after is None
    part = variance.report(ID, from_at=NOW + 1, to_at=NOW + 2)
    assert [("platform", NOTE, "flat", "filtered")] == [
        (one.cause, one.path, one.what, one.why) for one in part.variances
    ]
    assert () == variance.report(ID, from_at=NOW, to_at=NOW).variances
    assert 3 == len(variance.report(ID, from_at=EARLIEST).variances)
    assert before == files(agent)
    refused("variance.range", variance.report, ID, from_at=1, to_at=0)


@pytest.mark.every_backend
def test_a_report_goes_on_page_by_page(agent):
    """Each variance of a range is in one page, also of the same instant."""
    variance = agent.tiers.variance
    ids = {variance.record(ID, AGENT, NOTE, what=w, why="x").id for w in "abcde"}
    found, after = [], None
    while True:
        report = variance.report(ID, after=after, limit=2)
        found += [one.variance_id for one in report.variances]
        after = report.next_after
        if after is None:
            break

    assert (5, ids) == (len(found), set(found))


@pytest.mark.every_backend
def test_variance_names_a_file_and_a_cause(session, agent):
    """It is about a file of the package, and its texts are bounded; a person erases."""
    variance = agent.tiers.variance
    said_ = {"what": "x", "why": "y"}
    refused("record.not-found", variance.record, ID, AGENT, ".uai/no.uai", **said_)
    refused("tier.word", variance.record, ID, AGENT, NOTE, **said_, cause="mood")
    for name in ("what", "why"):
        for text in ("", "x" * 2_001, 1):
            bent = {**said_, name: text}
            refused("tier.text", variance.record, ID, AGENT, NOTE, **bent)
    one = variance.record(ID, AGENT, NOTE, **said_).id
    refused("erase.person", variance.erase, ID, [one])
    assert 1 == session.tiers.variance.erase(ID, [one]).count
    erased = variance.report(ID)
    assert ([None], {}) == ([v.path for v in erased.variances], erased.by_path)


# Platform notes


@pytest.mark.every_backend
def test_platform_notes_are_kept_outside_of_the_package(session, agent):
    """A note leaves a receipt, and not a byte of the package changes."""
    before, checkpoint = files(session), session.packages.show(ID).package.version
    notes = agent.tiers.notes
    made = [notes.add(ID, kind=k, title=k, text="No tobacco.") for k in KINDS]

    assert before == files(session)
    assert checkpoint == session.packages.show(ID).package.version
    listed = notes.list(ID)
    assert set(KINDS) == {one.kind for one in listed}
    assert {one.receipt for one in made} == {one.receipt_id for one in listed}
    assert listed[1:] == notes.list(ID, after=listed[0].note_id)
    assert 3 == receipts(session, "note")
    refused("erase.person", notes.erase, ID, [made[0].id])
    assert 1 == session.tiers.notes.erase(ID, [made[0].id]).count
    assert [None] == [one.title for one in notes.list(ID) if one.note_id == made[0].id]


KINDS = ("platform", "legal", "safety")


def test_the_longest_texts_are_kept(agent):
    """A text of just the longest length is kept whole, in every tier."""
    tiers, line, body = agent.tiers, "x" * 200, "x" * 10_000
    tiers.short_term.put(ID, AGENT, "x" * 100_000)
    tiers.conversations.add(ID, AGENT, TALK, "user", "x" * 100_000)
    tiers.notes.add(ID, kind="legal", title=line, text=body)
    said = "x" * 2_000
    tiers.variance.record(ID, AGENT, NOTE, what=said, why=said)
    tiers.fidelity.put(ID, CaseDraft("long", body, must=[said] * 100))
    tiers.fidelity.record(ID, "run", "long", "passed", note=said)

    state = tiers.short_term.get(ID, AGENT)
    assert 100_000 == len(state.text or "")
    (note,) = tiers.notes.list(ID)
    assert (line, body) == (note.title, note.text)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("kind", "taste", "tier.word"),
        ("title", "", "tier.line"),
        ("title", "x" * 201, "tier.line"),
        ("title", "two\nlines", "text.line"),
        ("title", 1, "tier.line"),
        ("text", "", "tier.text"),
        ("text", "x" * 10_001, "tier.text"),
        ("text", "nul \0", "text.hidden"),
    ],
)
def test_a_note_is_bounded(agent, field, value, code):
    """A note has one of three kinds, a title of one line and a bounded text."""
    note = {"kind": "legal", "title": "x" * 200, "text": "x" * 10_000, field: value}
    refused(code, agent.tiers.notes.add, ID, **note)
    assert [] == list(agent.tiers.notes.list(ID))


# Fidelity


def case(name="greeting", **fields):
    """A case of a test set."""
    known = {"prompt": "Hello?", "must": ["it greets"], "paths": [NOTE]}
    return CaseDraft(name, **{**known, **fields})


@pytest.mark.every_backend
def test_a_test_set_is_written_and_read(session):
    """A case stands under its name until another takes its place."""
    at_work(session)
    fidelity = session.tiers.fidelity
    fidelity.put(ID, case("b", must=(), must_not=["it shouts"]))
    fidelity.put(ID, case("a"))
    made = fidelity.put(ID, case("b", prompt="Hi"))

    assert ["a", "b"] == [one.name for one in fidelity.list(ID)]
    assert ["b"] == [one.name for one in fidelity.list(ID, after="a")]
    stands = fidelity.get(ID, "b")
    assert (made.id, "Hi", ["it greets"], [], [NOTE]) == (
        stands.case_id,
        stands.prompt,
        *(json.loads(x) for x in (stands.must, stands.must_not, stands.paths)),
    )
    assert 3 == receipts(session, "fidelity")
    assert 1 == fidelity.erase(ID, [made.id]).count
    assert fidelity.get(ID, "b").prompt is None


@pytest.mark.every_backend
def test_results_name_the_case_and_the_checkpoint(session):
    """A result is about the case and the checkpoint that stood when it came out."""
    at_work(session)
    fidelity = session.tiers.fidelity
    made = fidelity.put(ID, case())
    outcomes = ("passed", "failed", "skipped")
    for outcome in outcomes:
        fidelity.record(ID, "run-1", "greeting", outcome, note="as seen")
    fidelity.record(ID, "run-2", "greeting", "passed")

    results = fidelity.results(ID, "run-1")
    assert sorted(outcomes) == sorted(one.outcome for one in results)
    checkpoint = session.packages.show(ID).package.checkpoint_id
    assert {(made.id, checkpoint, "as seen")} == {
        (one.case_id, one.checkpoint_id, one.note) for one in results
    }
    assert results[1:] == fidelity.results(ID, "run-1", after=results[0].result_id)
    refused("fidelity.not-found", fidelity.record, ID, "r", "absent", "passed")
    refused("tier.word", fidelity.record, ID, "r", "greeting", "fine")
    refused("tier.text", fidelity.record, ID, "r", "greeting", "passed", note=1)
    refused("fidelity.not-found", fidelity.get, ID, "absent")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "no name"}, "id.syntax"),
        ({"prompt": ""}, "tier.text"),
        ({"must": ()}, "fidelity.case"),
        ({"must": "one text"}, "input.list"),
        ({"must": ["x"] * 101}, "tier.list"),
        ({"must_not": [""]}, "tier.text"),
        ({"paths": ["x" * 2_001]}, "tier.text"),
    ],
)
def test_a_case_is_bounded(fields, code):
    """A case has a name, a prompt, and says what must hold or what mustn't."""
    refused(code, case, **fields)


def test_a_case_tests_files_that_stand(session):
    """A case names files of the package."""
    at_work(session)
    put = session.tiers.fidelity.put
    refused("record.not-found", put, ID, case(paths=[".uai/no.uai"]))
    refused("text.line", put, ID, case(paths=["a\nb"]))


# Indexes


def test_a_start_waits_for_an_index(agent):
    """A package starts once the stored watermark has come to its last change."""
    index = agent.tiers.indexes.watermark("text")

    def start():
        return agent.start(ID, agent_id=AGENT, indexes=[index])

    with pytest.raises(StartupError) as caught:
        start()
    assert [("startup.index", "text")] == [
        (one.code, one.path) for one in caught.value.checks
    ]
    agent.tiers.indexes.mark("text", ID, position(agent))
    assert start().records
    agent.tiers.indexes.mark("text", ID, 1)
    with pytest.raises(StartupError):
        start()


@pytest.mark.every_backend
def test_marks_are_local(session, agent):
    """A mark takes no seq, may go back, never ahead, and no copy takes it along."""
    indexes, before = agent.tiers.indexes, position(agent)
    indexes.mark("text", ID, before)
    indexes.mark("text", ID, 0)
    refused("index.seq", indexes.mark, "text", ID, before + 1)
    refused("index.seq", indexes.mark, "text", ID, -1)
    refused("index.seq", indexes.mark, "text", ID, True)
    indexes.mark("text", ID, 2)

    assert before == position(agent)
    assert [(ID, 2)] == [(one.package_id, one.seq) for one in indexes.list("text")]
    assert 2 == indexes.watermark("text").covered(agent.scope, ID)
    copy = MemoryStore()
    copy_scope(session.store, copy, session.scope)
    with copy.snapshot(session.scope) as snapshot:
        assert snapshot.get("index_mark", ("text", ID)) is None


# All of them


def test_no_secret_enters_a_tier(session, agent):
    """Every text and every id that is written is judged first."""
    tiers, before = agent.tiers, position(agent)
    fidelity = session.tiers.fidelity
    note = {"kind": "legal", "title": "x", "text": "x"}
    said_ = {"what": "x", "why": "x"}
    for call, args, named in (
        (tiers.short_term.put, (ID, AGENT, SECRET), {}),
        (tiers.short_term.put, (ID, SECRET, "x"), {}),
        (tiers.conversations.add, (ID, AGENT, TALK, "user", SECRET), {}),
        (tiers.conversations.add, (ID, AGENT, SECRET, "user", "x"), {}),
        (tiers.variance.record, (ID, AGENT, SECRET), said_),
        (tiers.variance.record, (ID, AGENT, NOTE), {**said_, "what": SECRET}),
        (tiers.variance.record, (ID, AGENT, NOTE), {**said_, "why": SECRET}),
        (tiers.notes.add, (ID,), {**note, "title": SECRET}),
        (tiers.notes.add, (ID,), {**note, "text": SECRET}),
        (tiers.indexes.mark, (SECRET, ID, 0), {}),
        (fidelity.put, (ID, case(SECRET)), {}),
        (fidelity.put, (ID, case(prompt=SECRET)), {}),
        (fidelity.put, (ID, case(must=[SECRET])), {}),
        (fidelity.put, (ID, case(must_not=[SECRET])), {}),
        (fidelity.put, (ID, case(paths=[SECRET])), {}),
        (fidelity.record, (ID, SECRET, "x", "passed"), {}),
        (fidelity.record, (ID, "r", "x", "passed"), {"note": SECRET}),
    ):
        assert SECRET not in str(refused("text.secret", call, *args, **named))
    assert before == position(agent)


def test_every_tier_is_of_a_package(session, agent):
    """What is about a package that isn't there is neither written nor read."""
    tiers, no = agent.tiers, "absent"
    note = {"kind": "legal", "title": "x", "text": "x"}
    for call, args, named in (
        (tiers.short_term.put, (no, AGENT, "x"), {}),
        (tiers.short_term.get, (no, AGENT), {}),
        (tiers.short_term.erase, (no, AGENT), {}),
        (tiers.conversations.add, (no, AGENT, TALK, "user", "x"), {}),
        (tiers.conversations.turns, (no, AGENT, TALK), {}),
        (tiers.conversations.list, (no, AGENT), {}),
        (tiers.conversations.erase_all, (no, AGENT, TALK), {}),
        (tiers.variance.record, (no, AGENT, NOTE), {"what": "x", "why": "x"}),
        (tiers.variance.report, (no,), {}),
        (tiers.notes.add, (no,), note),
        (tiers.notes.list, (no,), {}),
        (tiers.pointers.list, (no,), {}),
        (tiers.fidelity.put, (no, case()), {}),
        (tiers.fidelity.list, (no,), {}),
        (tiers.fidelity.record, (no, "r", "x", "passed"), {}),
        (tiers.fidelity.results, (no, "r"), {}),
        (tiers.indexes.mark, ("text", no, 0), {}),
        (agent.proposals.list, (no,), {}),
    ):
        with pytest.raises(NotFoundError) as caught:
            call(*args, **named)
        assert "package.not-found" == caught.value.code


@pytest.mark.parametrize(
    ("role", "text", "code"),
    [("me", "x", "tier.word"), ("user", 1, "tier.text"), ("user", "\0", "tier.text")],
)
def test_a_turn_is_what_a_store_can_hold(agent, role, text, code):
    """A turn has one of four roles and a text without what no backend keeps."""
    refused(code, agent.tiers.conversations.add, ID, AGENT, TALK, role, text)
    refused(
        "tier.text",
        agent.tiers.conversations.add,
        ID,
        AGENT,
        TALK,
        "user",
        "x" * 100_001,
    )
    refused("tier.text", agent.tiers.short_term.put, ID, AGENT, "x" * 100_001)
    refused("id.syntax", agent.tiers.conversations.turns, ID, AGENT, "no id")


def test_a_repr_shows_no_text(agent):
    """What was said stands in no repr."""
    said(agent, CANARY)
    assert CANARY not in repr(agent.tiers.conversations.turns(ID, AGENT, TALK))
    agent.tiers.short_term.put(ID, AGENT, CANARY)
    assert CANARY not in repr(agent.tiers.short_term.get(ID, AGENT))
