"""Laws of start-up in a host's transaction: its receipt lives and dies with it."""

from __future__ import annotations

from contextlib import closing

import attrs
import pytest
from tests.session.conftest import NOW
from tests.session.starting import AGENT, ID, advanced, dimension, installed
from tests.session.test_starts import ORDER, fresh

from uaix_core import ConsentPlace, StartupError
from uaix_core.session.schema import SCHEMA


@pytest.fixture
def session(mine):
    """A session in the host's transactions."""
    with closing(mine.join(SCHEMA)) as store:
        yield attrs.evolve(fresh(), store=store)


def receipts(session):
    return [(one.operation, one.outcome) for one in session.packages.receipts()]


def test_the_receipt_of_a_start_is_staged(mine, session):
    """A start in a host's transaction reads what is staged, and stages a receipt."""
    mine.begin()
    installed(session, advanced(voice=b"Pace (private): slow\n"))
    mine.commit()
    mine.begin()
    before = receipts(session)
    place = ConsentPlace(dimension("voice"))
    consent = session.consents.grant(ID, "human:alice", [place], until_at=NOW + 1)
    assembly = session.start(ID, agent_id=AGENT)
    assert ORDER == list(assembly.files)
    assert (True, True) == (assembly.is_staged, consent.is_staged)
    assert b"slow" in assembly.files[dimension("voice")]
    assert session.consents.revoke(consent.consent_id).is_staged
    assert session.consents.revoke(consent.consent_id).is_staged
    mine.rollback()

    mine.begin()
    assert before == receipts(session)
    assert [] == list(session.consents.list(ID))
    assert b"slow" not in session.start(ID, agent_id=AGENT).files[dimension("voice")]
    mine.commit()
    mine.begin()
    assert [*before, ("start", "accepted")] == receipts(session)
    mine.rollback()


def test_a_refused_start_stages_a_receipt_and_nothing_else(mine, session):
    """The host's transaction goes on, with its row and the receipt of the refusal."""
    mine.begin()
    session.packages.install(advanced().folder())
    mine.commit()
    mine.begin()
    mine.write("a")
    with pytest.raises(StartupError):
        session.start(ID, agent_id=AGENT)
    mine.commit()

    mine.begin()
    assert ["a"] == mine.words()
    assert [("install", "accepted"), ("start", "refused")] == receipts(session)
    mine.rollback()
