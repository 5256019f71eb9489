"""Laws of proposals: nothing moves between tiers but by one that a person accepted."""

from __future__ import annotations

import attrs
import pytest
from tests.session.package_kit import ENTRY, ID, NOTE, OTHER, acting_as, position
from tests.session.tiering import (
    AGENT,
    CANARY,
    DIGEST,
    LOCATOR,
    at_work,
    files,
    ledger,
    pointer,
    proposed,
    revision,
    said,
)

from uaix_core import (
    Authorisation,
    CallerError,
    ConflictError,
    FileDraft,
    NotFoundError,
    PackageRefusedError,
    PointerDraft,
    ReviewNote,
    TierRef,
)
from uaix_core.schema.commits import Commit
from uaix_core.tiers.deciding import decide_pointer
from uaix_core.tiers.proposing import Proposing, decide_proposal
from uaix_core.tiers.relations import TURN

SECRET = "ghp_" + "a1B2" * 9
TOTEM = ".uai/totem.uai"


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


def note_change(session, content=b"A second note.\n"):
    """A change of the note over what stands."""
    return FileDraft(NOTE, content, revision(session))


# Proposing


def test_a_proposal_changes_nothing(session, agent):
    """An open one stands in the list of what waits, with a receipt, and that is all."""
    before = files(session)
    turn = said(agent)
    one = agent.proposals.propose(
        ID, pointer(), sources=[TierRef("turn", turn)], reason="asked for"
    )
    two = proposed(agent, turn, note_change(agent))

    assert before == files(session)
    assert [] == ledger(session)
    assert 2 == receipts(session, "propose")
    waiting = session.review.waiting(ID).proposals
    assert {one.id, two} == {entry.proposal_id for entry in waiting}
    assert list(waiting) == list(session.proposals.list(ID))
    assert [] == list(session.proposals.list(ID, "accepted"))
    view = session.proposals.get(one.id)
    assert ("pointer", "open", None, "agent", AGENT) == (
        view.entry.kind,
        view.entry.state,
        view.entry.decided_at,
        view.entry.actor_kind,
        view.entry.actor_id,
    )
    assert (
        "asked for",
        pointer().title,
        LOCATOR,
        DIGEST,
        (TierRef("turn", turn),),
    ) == (
        view.reason,
        view.title,
        view.locator,
        view.digest,
        view.sources,
    )
    assert (None, None, None, None) == (
        view.path,
        view.content,
        view.expected_revision,
        view.manifest_entry,
    )
    change = session.proposals.get(two)
    assert (NOTE, b"A second note.\n", revision(session), None) == (
        change.path,
        change.content,
        change.expected_revision,
        change.title,
    )


@pytest.mark.every_backend
def test_a_retry_under_a_key_proposes_once(session, agent, clock):
    """The same call under its key answers as the first, also when it was erased."""
    turn = said(agent)
    refs = [TierRef("turn", turn), TierRef("turn", said(agent))]
    propose = agent.proposals.propose
    first = propose(ID, pointer(), sources=refs, reason="r", key="k")
    before = position(agent)
    again = propose(ID, pointer(), sources=refs[::-1], reason="r", key="k")
    assert attrs.evolve(first, is_first=False) == again

    file = note_change(agent)
    for draft, named in (
        (pointer("Another"), {"sources": refs, "reason": "r"}),
        (pointer(), {"sources": refs[:1], "reason": "r"}),
        (pointer(), {"sources": refs, "reason": "s"}),
        (file, {"sources": refs, "reason": "r"}),
    ):
        refused("idempotency.reused", propose, ID, draft, **named, key="k")
    refused("idempotency.key", propose, ID, file, sources=refs, key="")
    assert before == position(agent)
    agent.tiers.conversations.erase(ID, [turn])
    assert again == propose(ID, pointer(), sources=refs, reason="r", key="k")
    change = propose(ID, file, sources=refs[1:], key="f")
    other = attrs.evolve(file, content=b"Other.\n")
    refused("idempotency.reused", propose, ID, other, sources=refs[1:], key="f")
    assert change.id == propose(ID, file, sources=refs[1:], key="f").id


@pytest.mark.every_backend
def test_proposals_are_listed_page_by_page(session, agent, clock):
    """They are listed by time, each once."""
    turn = said(agent)
    made = []
    for _number in range(3):
        clock.at += 1
        made.append(proposed(agent, turn))
    first = session.proposals.list(ID, limit=2)
    last = (first[-1].opened_at, first[-1].proposal_id)
    then = session.proposals.list(ID, after=last)

    assert made == [one.proposal_id for one in (*first, *then)]
    refused("tier.word", session.proposals.list, ID, "new")


@pytest.mark.every_backend
def test_every_tier_can_be_a_source(session, agent):
    """A proposal names states, turns, variance and notes by their ids."""
    tiers = agent.tiers
    sources = [
        TierRef("state", tiers.short_term.put(ID, AGENT, "state").id),
        TierRef("turn", said(agent)),
        TierRef(
            "variance", tiers.variance.record(ID, AGENT, NOTE, what="x", why="y").id
        ),
        TierRef("note", tiers.notes.add(ID, kind="legal", title="x", text="y").id),
    ]
    made = agent.proposals.propose(ID, pointer(), sources=sources)

    assert tuple(sorted(sources)) == agent.proposals.get(made.id).sources
    session.proposals.accept(made.id)
    assert tuple(sorted(sources)) == session.tiers.pointers.list(ID)[0].sources


def test_sources_are_there_and_ones_own(session, agent):
    """A source that is absent, another agent's or erased makes no proposal."""
    turn = said(agent)
    before = position(agent)
    propose = agent.proposals.propose
    other = acting_as(session, "agent:bob").proposals.propose
    for call, ref in (
        (propose, TierRef("turn", "absent")),
        (propose, TierRef("state", turn)),
        (other, TierRef("turn", turn)),
    ):
        refused("proposal.source", call, ID, pointer(), sources=[ref])
    refs = [TierRef("turn", turn)]
    for bad in ([], refs * 2, [TierRef("turn", f"x{n}") for n in range(101)]):
        refused("proposal.sources", propose, ID, pointer(), sources=bad)
    most = [TierRef("turn", f"x{n}") for n in range(100)]
    refused("proposal.source", propose, ID, pointer(), sources=most)
    refused("tier.word", TierRef, "file", turn)
    refused("id.syntax", TierRef, "turn", "no id")
    assert before == position(agent)
    agent.tiers.conversations.erase(ID, [turn])
    refused("proposal.source-erased", propose, ID, pointer(), sources=refs)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("title", "", "tier.line"),
        ("title", "x" * 201, "tier.line"),
        ("title", "user: hi\nassistant: hello", "tier.line"),
        ("locator", "", "pointer.locator"),
        ("locator", "x" * 1_001, "pointer.locator"),
        ("locator", "see what they said", "pointer.locator"),
        ("locator", "DATA:text/plain,they-said", "pointer.locator"),
        ("locator", None, "pointer.locator"),
        ("digest", "sha256:" + "AB" * 32, "pointer.digest"),
        ("digest", "ab" * 32, "pointer.digest"),
        ("digest", None, "pointer.digest"),
    ],
)
def test_a_pointer_holds_no_chat(field, value, code):
    """A pointer is one short line, an address and a digest, and never what was said."""
    PointerDraft("x" * 200, "x" * 1_000, DIGEST)
    fields = {"title": "x", "locator": LOCATOR, "digest": DIGEST, field: value}
    refused(code, PointerDraft, **fields)


def test_a_title_is_not_what_was_said(agent):
    """A title that repeats a source whole is refused, however it is spaced."""
    turn = said(agent, "The launch  is\non Monday")
    quoted = pointer("The launch is on Monday")
    refused("proposal.quote", proposed, agent, turn, quoted)
    named = {"what": "flat", "why": "no emphasis"}
    made = agent.tiers.variance.record(ID, AGENT, NOTE, **named).id
    for title in ("flat", "no  emphasis"):
        sources = [TierRef("turn", turn), TierRef("variance", made)]
        propose = agent.proposals.propose
        refused("proposal.quote", propose, ID, pointer(title), sources=sources)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": b"\xff"}, "proposal.content"),
        ({"content": b"\0"}, "proposal.content"),
        ({"content": b"x" * (2**20 + 1)}, "proposal.content"),
        ({"content": "text"}, "proposal.content"),
        ({"path": ""}, "tier.line"),
        ({"path": "x" * 1_025}, "tier.line"),
        ({"expected_revision": "no id"}, "id.syntax"),
    ],
)
def test_a_proposed_file_is_text(fields, code):
    """A file is proposed as bounded UTF-8 text at a path."""
    FileDraft(NOTE, b"x" * 2**20)
    refused(code, FileDraft, **{"path": NOTE, "content": b"x", **fields})


def test_what_already_is_so_is_not_proposed(session, agent):
    """A change to what stands is none."""
    turn, same = said(agent), note_change(agent, files(session)[NOTE])
    refused("proposal.unchanged", proposed, agent, turn, same)


def test_no_secret_is_proposed(session, agent):
    """Titles, locators, reasons, paths, contents and notes are judged first."""
    turn, before = said(agent), position(agent)
    for draft in (
        pointer(SECRET),
        PointerDraft("x", f"https://x/{SECRET}", DIGEST),
        FileDraft(SECRET, b"x"),
        FileDraft(OTHER, SECRET.encode()),
        FileDraft(OTHER, b"x", SECRET),
        FileDraft(OTHER, b"x", None, {**ENTRY, "source": SECRET}),
    ):
        refused("text.secret", proposed, agent, turn, draft)
    sources = [TierRef("turn", turn)]
    propose = agent.proposals.propose
    refused("text.secret", propose, ID, pointer(), sources=sources, reason=SECRET)
    refused("tier.text", propose, ID, pointer(), sources=sources, reason="x" * 2_001)
    assert before == position(agent)
    made = proposed(agent, turn)
    note = ReviewNote(SECRET)
    refused("text.secret", session.proposals.accept, made, note=note)
    refused("text.secret", session.proposals.decline, made, note=note)


# Deciding


@pytest.mark.every_backend
def test_an_accepted_pointer_stands_in_the_ledger(session, agent):
    """One commit holds the review, the pointer and the receipt."""
    turn = said(agent)
    made, before = proposed(agent, turn), position(agent)
    decided = session.proposals.accept(made, note=ReviewNote("checked"))

    assert ("accepted", made, before + 1, None) == (
        decided.verdict,
        decided.proposal_id,
        decided.seq,
        decided.revision,
    )
    assert before + 1 == position(session)
    view = session.tiers.pointers.get(decided.pointer)
    assert (pointer().title, LOCATOR, DIGEST, made, decided.receipt) == (
        view.pointer.title,
        view.pointer.locator,
        view.pointer.digest,
        view.pointer.proposal_id,
        view.pointer.receipt_id,
    )
    assert ("human", "alice", (TierRef("turn", turn),)) == (
        view.pointer.actor_kind,
        view.pointer.actor_id,
        view.sources,
    )
    review = session.review.history(ID)[-1]
    assert ("proposal", "accepted", made, "checked", decided.receipt) == (
        review.subject,
        review.verdict,
        review.proposal_id,
        review.note,
        review.receipt_id,
    )
    assert 1 == receipts(session, "decide")
    assert [] == list(session.review.waiting(ID).proposals)
    assert [made] == [one.proposal_id for one in session.proposals.list(ID, "accepted")]


def test_a_declined_proposal_changes_nothing(session, agent):
    """What was declined is told and stays declined."""
    before = files(session)
    turn = said(agent)
    made = [proposed(agent, turn), proposed(agent, turn, note_change(agent))]
    for one in made:
        decided = session.proposals.decline(one, note=ReviewNote("no"))
        assert ("declined", None, None) == (
            decided.verdict,
            decided.pointer,
            decided.revision,
        )

    assert before == files(session)
    assert [] == ledger(session)
    assert 2 == receipts(session, "decide")
    assert set(made) == {
        one.proposal_id for one in session.proposals.list(ID, "declined")
    }


def test_only_a_person_decides(session, agent):
    """An agent, an import or the system neither accepts nor declines."""
    turn = said(agent)
    made = [proposed(agent, turn), proposed(agent, turn, note_change(agent))]
    before = position(session)
    for principal in (f"agent:{AGENT}", "import:x", "system:x"):
        other = acting_as(session, principal).proposals
        for one in made:
            refused("review.reviewer", other.accept, one)
            refused("review.reviewer", other.decline, one)
    assert before == position(session)
    assert acting_as(session, "operator:ops").proposals.accept(made[0]).pointer


def test_a_second_decision_is_refused(session, agent):
    """The first decision stands, whatever the second would be."""
    turn = said(agent)
    accepted, declined = proposed(agent, turn), proposed(agent, turn)
    changed = proposed(agent, turn, note_change(agent))
    session.proposals.accept(accepted)
    session.proposals.decline(declined)
    session.proposals.accept(changed)
    before = position(session), ledger(session), files(session)

    for one in (accepted, declined, changed):
        for call in (session.proposals.accept, session.proposals.decline):
            error = refused("proposal.decided", call, one)
            assert error.current.proposal_id == one
    assert before == (position(session), ledger(session), files(session))
    refused("proposal.not-found", session.proposals.accept, "absent")
    refused("proposal.not-found", session.proposals.decline, "absent")
    refused("proposal.not-found", session.proposals.get, "absent")
    refused("pointer.not-found", session.tiers.pointers.get, "absent")


def test_an_accepted_change_is_the_next_revision(session, agent):
    """The revision, the review and the receipt are one commit, back in quarantine."""
    made = proposed(agent, said(agent), note_change(agent))
    before = position(session)
    decided = session.proposals.accept(made)

    assert (before + 1, None) == (decided.seq, decided.pointer)
    assert b"A second note.\n" == files(session)[NOTE]
    shown = session.packages.record(ID, NOTE).revision
    assert (decided.revision, "human", "alice") == (
        shown.revision_id,
        shown.actor_kind,
        shown.actor_id,
    )
    review = session.review.history(ID)[-1]
    assert (made, decided.receipt, decided.seq) == (
        review.proposal_id,
        review.receipt_id,
        review.version,
    )
    assert "quarantined" == session.packages.show(ID).package.state


def test_a_new_file_is_proposed_with_its_entry(session, agent):
    """A file that isn't there comes with what its manifest entry says."""
    made = proposed(agent, said(agent), FileDraft(OTHER, b"New.\n", None, ENTRY))
    session.proposals.accept(made)
    assert b"New.\n" == files(session)[OTHER]


def test_a_change_over_what_moved_on_is_stale(session, agent):
    """Where another revision stands by then nothing is written, conflicts neither."""
    turn = said(agent)
    stale = proposed(agent, turn, note_change(agent))
    new = proposed(agent, turn, FileDraft(OTHER, b"New.\n", None, ENTRY))
    revise = session.packages.revise
    revise(ID, NOTE, b"Other.\n", expected_revision=revision(session))
    revise(ID, OTHER, b"Other.\n", expected_revision=None, entry=ENTRY)
    before = position(session)

    for one in (stale, new):
        refused("proposal.stale", session.proposals.accept, one)
    assert before == position(session)
    assert [] == list(session.packages.conflicts(ID))
    assert 2 == len(session.review.waiting(ID).proposals)
    session.proposals.decline(stale)


def test_a_protected_file_asks_for_an_authorisation(session, agent):
    """Accepting a change of an anchor doesn't authorise it."""
    draft = FileDraft(TOTEM, b"Another.\n", revision(session, TOTEM))
    made = proposed(agent, said(agent), draft)
    before = files(session)
    with pytest.raises(PackageRefusedError):
        session.proposals.accept(made)
    assert before == files(session)
    assert "open" == session.proposals.get(made).entry.state

    allowed = [Authorisation(TOTEM, "replace")]
    session.proposals.accept(made, authorisations=allowed)
    assert b"Another.\n" == files(session)[TOTEM]
    plain = proposed(agent, said(agent))
    accept = session.proposals.accept
    refused("proposal.authorisation", accept, plain, authorisations=allowed)


def test_a_change_that_does_not_pass_is_not_made(session, agent):
    """The package as it would become is judged; the proposal stays open."""
    draft = FileDraft(OTHER, b"x\n", None, {**ENTRY, "requiredStatus": "whatever"})
    made = proposed(agent, said(agent), draft)
    before = files(session)
    with pytest.raises(PackageRefusedError):
        session.proposals.accept(made)
    assert before == files(session)
    assert "open" == session.proposals.get(made).entry.state


# Erasures


@pytest.mark.every_backend
def test_what_was_proposed_goes_with_its_source(session, agent):
    """A proposal whose source was erased has no text left and can only be declined."""
    turn, other = said(agent), said(agent)
    made = proposed(agent, turn)
    change = proposed(agent, turn, note_change(agent, b"They said so.\n"))
    stays = proposed(agent, other)
    answer = agent.tiers.conversations.erase(ID, [turn])

    assert {made, change} == set(answer.proposals)
    for one in (made, change):
        view = session.proposals.get(one)
        assert (True, None, None, None) == (
            view.entry.is_erased,
            view.reason,
            view.title,
            view.content,
        )
        assert (TierRef("turn", turn),) == view.sources
        refused("proposal.source-erased", session.proposals.accept, one)
        session.proposals.decline(one)
    assert [] == ledger(session)
    assert session.proposals.accept(stays).pointer


@pytest.mark.every_backend
def test_a_source_erased_behind_its_back_counts_too(session, agent):
    """Also where only the source's text went, nothing is made of it."""
    turn = said(agent)
    made = [proposed(agent, turn), proposed(agent, turn, note_change(agent))]
    gone = [(TURN.name, (turn,))]
    session.store.append(Commit(session.scope, 0, erases=gone))

    for one in made:
        refused("proposal.source-erased", session.proposals.accept, one)
        session.proposals.decline(one)


@pytest.mark.every_backend
def test_an_accepted_pointer_outlives_its_source(session, agent):
    """The erasure names the pointers that stay; a person erases them as well."""
    turn = said(agent)
    decided = session.proposals.accept(proposed(agent, turn))
    answer = agent.tiers.conversations.erase(ID, [turn])

    assert (decided.pointer,) == answer.pointers
    assert [pointer().title] == ledger(session)
    refused("erase.person", agent.tiers.pointers.erase, ID, [decided.pointer])
    assert 1 == session.tiers.pointers.erase(ID, [decided.pointer]).count
    assert [None] == ledger(session)
    assert () == session.tiers.conversations.erase(ID, [turn]).pointers


@pytest.mark.every_backend
def test_a_proposal_is_erased_by_a_person(session, agent):
    """An open proposal that was erased itself can only be declined, too."""
    made = proposed(agent, said(agent))
    refused("erase.person", agent.proposals.erase, ID, [made])
    assert 1 == session.proposals.erase(ID, [made]).count
    refused("proposal.source-erased", session.proposals.accept, made)
    session.proposals.decline(made)


@pytest.mark.every_backend
def test_nothing_is_decided_over_an_erasure(session, agent):
    """What was decided before an erasure isn't written after it."""
    turn, other = said(agent), said(agent)
    made = proposed(agent, other)
    writing = session.writing()
    proposing = Proposing(ID, pointer(), [TierRef("turn", turn)])
    with session.snapshot() as snapshot:
        late = [
            decide_proposal(snapshot, writing, proposing),
            decide_pointer(snapshot, writing, made, ReviewNote()),
        ]
    agent.tiers.conversations.erase(ID, [turn])

    for commit in late:
        with pytest.raises(ConflictError):
            session.store.append(commit)
    assert [] == ledger(session)


@pytest.mark.every_backend
def test_a_race_for_a_decision_is_won_once(session, agent):
    """Of two decisions over the same state one is written."""
    made = proposed(agent, said(agent))
    with session.snapshot() as snapshot:
        late = decide_pointer(snapshot, session.writing(), made, ReviewNote())
    session.proposals.decline(made)

    with pytest.raises(ConflictError):
        session.store.append(late)
    assert [] == ledger(session)


def test_a_file_changed_between_reading_and_writing_is_stale(session, agent):
    """Where the very change was made meanwhile, the decision isn't told as written."""
    made = proposed(agent, said(agent), note_change(agent))

    class Slow:
        """What applies changes, after somebody else made the same one."""

        def apply(self, wanted, checks, receipt_id):
            change = wanted.changes[0]
            seen = change.expected_revision
            session.packages.revise(ID, NOTE, change.content, expected_revision=seen)
            return session.packages.apply(wanted, checks, receipt_id)

    proposals = type(session.proposals)(session, Slow())
    refused("proposal.stale", proposals.accept, made)
    assert "open" == session.proposals.get(made).entry.state


@pytest.mark.every_backend
def test_scopes_share_no_tier(session, session_of, agent):
    """What is in one scope isn't found in another."""
    made = proposed(agent, said(agent, CANARY))
    elsewhere = session_of("acme/project/other")
    with pytest.raises(NotFoundError):
        elsewhere.proposals.get(made)
    other = attrs.evolve(elsewhere)
    at_work(other)
    assert [] == list(other.proposals.list(ID))
    assert [] == list(other.tiers.conversations.list(ID, AGENT))
