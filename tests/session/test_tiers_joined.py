"""Laws of the tiers in a host's transaction: staged, and gone with a rollback."""

from __future__ import annotations

from contextlib import closing

import attrs
import pytest
from tests.session.package_kit import ID, NOTE, acting_as, position
from tests.session.test_starts import fresh
from tests.session.tiering import (
    AGENT,
    TALK,
    at_work,
    files,
    ledger,
    pointer,
    proposed,
    revision,
    said,
)

from uaix_core import ConflictError, FileDraft
from uaix_core.session.schema import SCHEMA


@pytest.fixture
def session(mine):
    """A person's session in the host's transactions."""
    with closing(mine.join(SCHEMA)) as store:
        yield attrs.evolve(fresh(), store=store)


def test_everything_is_staged(mine, session):
    """Records, proposals, decisions and erasures are gone when the host rolls back."""
    mine.begin()
    at_work(session)
    agent = acting_as(session, f"agent:{AGENT}")
    kept = said(agent)
    before = position(session), files(session)
    mine.commit()

    mine.begin()
    mine.write("a")
    answers = [
        agent.tiers.short_term.put(ID, AGENT, "state"),
        agent.tiers.conversations.add(ID, AGENT, TALK, "user", "more"),
        agent.tiers.variance.record(ID, AGENT, NOTE, what="x", why="y"),
        agent.tiers.notes.add(ID, kind="legal", title="x", text="y"),
    ]
    agent.tiers.indexes.mark("text", ID, position(session))
    assert agent.start(
        ID, agent_id=AGENT, indexes=[agent.tiers.indexes.watermark("text")]
    ).records
    answers.append(session.proposals.accept(proposed(agent, kept)))
    change = FileDraft(NOTE, b"Changed.\n", revision(session))
    answers.append(session.proposals.accept(proposed(agent, kept, change)))
    answers.append(session.proposals.decline(proposed(agent, kept)))
    answers.append(agent.tiers.conversations.erase(ID, [kept]))
    assert all(answer.is_staged for answer in answers)
    assert ["a"] == mine.words()
    assert [pointer().title] == ledger(session)
    mine.rollback()

    mine.begin()
    assert before == (position(session), files(session))
    assert [] == ledger(session)
    assert [] == mine.words()
    assert session.tiers.short_term.get(ID, AGENT) is None
    turns = session.tiers.conversations.turns(ID, AGENT, TALK)
    assert ["Remember the launch."] == [turn.text for turn in turns]
    assert [] == list(session.proposals.list(ID))
    assert [] == list(session.tiers.indexes.list("text"))
    mine.rollback()


def test_a_refused_decision_leaves_the_transaction_open(mine, session):
    """The host goes on after a refusal, with its row and the decision before it."""
    mine.begin()
    agent = at_work(session)
    made = proposed(agent, said(agent))
    session.proposals.accept(made)
    mine.write("a")
    with pytest.raises(ConflictError):
        session.proposals.decline(made)
    mine.commit()

    mine.begin()
    assert ["a"] == mine.words()
    assert [pointer().title] == ledger(session)
    mine.rollback()
