"""A machine of agents who record and propose, and a reviewer, against a plain model.

Whatever they do in whatever order: nothing is in long-term memory that no review let
in, what is open or declined changes nothing, and what was erased is gone.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.session.package_kit import ID, NOTE, acting_as
from tests.session.tiering import at_work, files, pointer, revision

from uaix_backends.memory import MemoryStore
from uaix_core import CallerError, ConflictError, FileDraft, Session, TierRef

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS = st.sampled_from(["ada", "bob"])
KINDS = st.sampled_from(["state", "turn", "variance", "note"])
CONTENTS = st.sampled_from([b"a\n", b"b\n", b"c\n"])
#: Memory gets a part of the examples, and the backends that wait for a disk a half.
SHARE = 4
_numbers = itertools.count()


@attrs.define
class Recorded:
    """What stands in a tier; notes are nobody's own."""

    kind: str
    agent: str | None
    text: str | None


@attrs.define
class Proposed:
    """A proposal as it should stand; a pointer's has a title, a file's a content."""

    sources: list[str]
    title: str | None
    content: bytes | None = None
    expected: str = ""
    state: str = "open"
    is_erased: bool = False


class Tiers(RuleBasedStateMachine):
    """One package, two agents, a reviewer, and what should stand."""

    session_of: Callable[[str], Session]

    def __init__(self) -> None:
        super().__init__()
        self.session = type(self).session_of(f"tiers/project/p{next(_numbers)}")
        self.recorded: dict[str, Recorded] = {}
        self.latest: dict[str, str] = {}
        self.proposed: dict[str, Proposed] = {}
        #: Pointer -> title, and the proposal that it came of.
        self.ledger: dict[str, tuple[str | None, str]] = {}
        self.note = b""

    @initialize()
    def install(self) -> None:
        """The package comes in."""
        at_work(self.session)
        self.note = files(self.session)[NOTE]

    def of(self, agent: str) -> Session:
        """The session of an agent."""
        return acting_as(self.session, f"agent:{agent}")

    # Agents

    @rule(agent=AGENTS, kind=KINDS)
    def record(self, agent: str, kind: str) -> None:
        """An agent records something."""
        tiers, text = self.of(agent).tiers, f"text {next(_numbers)}"
        if kind == "state":
            made = tiers.short_term.put(ID, agent, text)
            self.latest[agent] = made.id
        elif kind == "turn":
            made = tiers.conversations.add(ID, agent, "talk", "user", text)
        elif kind == "variance":
            made = tiers.variance.record(ID, agent, NOTE, what=text, why="policy")
        else:
            made = tiers.notes.add(ID, kind="safety", title="limit", text=text)
        owner = None if kind == "note" else agent
        self.recorded[made.id] = Recorded(kind, owner, text)

    @precondition(lambda self: self.recorded)
    @rule(agent=AGENTS, data=st.data(), content=st.none() | CONTENTS)
    def propose(self, agent: str, data: Any, content: bytes | None) -> None:
        """An agent proposes a pointer, or a change of the file."""
        names = st.lists(
            st.sampled_from(list(self.recorded)), min_size=1, max_size=2, unique=True
        )
        sources = data.draw(names)
        title = f"title {next(_numbers)}" if content is None else None
        seen = revision(self.session)
        draft = pointer(title) if title else FileDraft(NOTE, content or b"", seen)
        refs = [TierRef(self.recorded[name].kind, name) for name in sources]
        rows = [self.recorded[name] for name in sources]
        may = all(r.text is not None and r.agent in (None, agent) for r in rows)
        may = may and (content is None or content != self.note)
        try:
            made = self.of(agent).proposals.propose(ID, draft, sources=refs)
        except CallerError:
            assert not may
            return
        assert may
        self.proposed[made.id] = Proposed(sources, title, content, seen)

    @precondition(lambda self: self.proposed)
    @rule(agent=AGENTS, data=st.data(), accepts=st.booleans())
    def presume(self, agent: str, data: Any, accepts: bool) -> None:
        """An agent tries to decide, and nothing comes of it."""
        name = data.draw(st.sampled_from(list(self.proposed)))
        proposals = self.of(agent).proposals
        with pytest.raises((CallerError, ConflictError)):
            (proposals.accept if accepts else proposals.decline)(name)

    # The reviewer

    @precondition(lambda self: self.proposed)
    @rule(data=st.data(), accepts=st.booleans())
    def decide(self, data: Any, accepts: bool) -> None:
        """A person decides an open proposal, or one that isn't open any more."""
        name = data.draw(st.sampled_from(list(self.proposed)))
        one = self.proposed[name]
        may = one.state == "open"
        if accepts:
            may = may and not one.is_erased
            is_stale = one.expected != revision(self.session)
            may = may and (one.content is None or not is_stale)
        proposals = self.session.proposals
        try:
            answer = (proposals.accept if accepts else proposals.decline)(name)
        except (CallerError, ConflictError):
            assert not may
            return
        assert may
        one.state = "accepted" if accepts else "declined"
        if accepts and one.content is not None:
            self.note = one.content
            assert answer.revision == revision(self.session)
        elif accepts:
            self.ledger[answer.pointer or ""] = (one.title, name)

    @rule(content=CONTENTS)
    def revise(self, content: bytes) -> None:
        """A person changes the file without any proposal."""
        seen = revision(self.session)
        self.session.packages.revise(ID, NOTE, content, expected_revision=seen)
        self.note = content

    # Erasures

    @precondition(lambda self: self.recorded)
    @rule(data=st.data())
    def erase(self, data: Any) -> None:
        """A person erases something that was recorded, and what was made from it."""
        name = data.draw(st.sampled_from(list(self.recorded)))
        one, tiers = self.recorded[name], self.session.tiers
        if one.kind == "state":
            tiers.short_term.erase(ID, one.agent or "")
            gone = [
                key
                for key, other in self.recorded.items()
                if (other.kind, other.agent) == ("state", one.agent)
            ]
        else:
            verbs = {"turn": tiers.conversations, "variance": tiers.variance}
            answer = verbs.get(one.kind, tiers.notes).erase(ID, [name])
            assert answer.count == (one.text is not None)
            gone = [name]
        for key in gone:
            self.recorded[key].text = None
        for proposal in self.proposed.values():
            proposal.is_erased |= bool(set(gone) & set(proposal.sources))

    @precondition(lambda self: self.ledger)
    @rule(data=st.data())
    def erase_pointer(self, data: Any) -> None:
        """A person erases a pointer."""
        name = data.draw(st.sampled_from(list(self.ledger)))
        self.session.tiers.pointers.erase(ID, [name])
        self.ledger[name] = None, self.ledger[name][1]

    # What always holds

    @invariant()
    def what_stands_was_let_in(self) -> None:
        """The ledger and the file are what accepted proposals and persons made."""
        views = self.session.tiers.pointers.list(ID, limit=1_000)
        assert self.ledger == {
            one.pointer.pointer_id: (one.pointer.title, one.pointer.proposal_id)
            for one in views
        }
        accepted = {
            review.proposal_id
            for review in self.session.review.history(ID)
            if review.verdict == "accepted" and review.actor_kind == "human"
        }
        assert accepted >= {proposal for _title, proposal in self.ledger.values()}
        assert self.note == files(self.session)[NOTE]

    @invariant()
    def proposals_stand_where_they_should(self) -> None:
        """Each is open or decided, and has its texts or not."""
        for state in ("open", "accepted", "declined"):
            listed = self.session.proposals.list(ID, state, limit=1_000)
            assert {one.proposal_id: one.is_erased for one in listed} == {
                name: one.is_erased
                for name, one in self.proposed.items()
                if one.state == state
            }
        for name, one in self.proposed.items():
            view = self.session.proposals.get(name)
            assert one.is_erased == (view.reason is None)
            assert view.title == (None if one.is_erased else one.title)

    @invariant()
    def what_was_recorded_stands(self) -> None:
        """Every tier says what was recorded in it, and nothing of the others."""
        tiers = self.session.tiers
        for agent in ("ada", "bob"):
            state = tiers.short_term.get(ID, agent)
            name = self.latest.get(agent)
            expected = self.recorded[name].text if name else None
            assert expected == (None if state is None else state.text)
            turns = tiers.conversations.turns(ID, agent, "talk", limit=1_000)
            assert self.texts("turn", agent) == [turn.text for turn in turns]
        report = tiers.variance.report(ID).variances
        assert self.named("variance") == {v.variance_id: v.what for v in report}
        notes = tiers.notes.list(ID, limit=1_000)
        assert self.named("note") == {note.note_id: note.text for note in notes}

    def texts(self, kind: str, agent: str) -> list[str | None]:
        """The texts of an agent in their order."""
        rows = self.recorded.values()
        return [row.text for row in rows if (row.kind, row.agent) == (kind, agent)]

    def named(self, kind: str) -> dict[str, str | None]:
        """The texts of a tier by id."""
        return {n: row.text for n, row in self.recorded.items() if row.kind == kind}


@pytest.mark.every_backend
@pytest.mark.timeout(300)
def test_tiers_live_as_the_model_does(session_of: Any, store: Any) -> None:
    """Two agents and a reviewer keep the laws of the tiers."""
    share = SHARE if isinstance(store, MemoryStore) else 2 * SHARE
    machine = type("Tiers", (Tiers,), {"session_of": staticmethod(session_of)})

    run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=hypothesis.settings().max_examples // share,
            stateful_step_count=14,
            deadline=None,
        ),
    )
