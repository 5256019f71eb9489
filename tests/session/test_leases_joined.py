"""Laws of leases in a host's transaction: a rollback leaves none, and none by name."""

from __future__ import annotations

from contextlib import closing

import attrs
import pytest
from tests.session.conftest import NOW
from tests.session.leasing import (
    LIFE,
    NEXT,
    RUN,
    refused,
    says,
    stored,
    take,
    turns,
)
from tests.session.package_kit import ID, position
from tests.session.test_starts import fresh

from uaix_core.session.schema import SCHEMA


@pytest.fixture
def session(mine):
    """A session in the host's transactions, with a package."""
    with closing(mine.join(SCHEMA)) as store:
        session = attrs.evolve(fresh(), store=store)
        mine.begin()
        stored(session)
        mine.commit()
        yield session


def test_a_rollback_leaves_no_lease(mine, session):
    """What was acquired, renewed or released is as before, and its seq fences none."""
    mine.begin()
    before = position(session)
    gone = take(session)
    assert gone.is_staged
    assert 1 == says(session, gone)
    mine.rollback()

    mine.begin()
    assert (before, []) == (position(session), session.leases.list())
    held = take(session, NEXT)
    assert gone.fence == held.fence
    refused("lease.lost", says, session, gone)
    refused("lease.lost", session.leases.renew, gone, life=LIFE)
    mine.commit()

    mine.begin()
    assert "released" == session.leases.release(held).outcome
    mine.rollback()
    mine.begin()
    assert session.leases.renew(held, life=2 * LIFE).is_staged
    mine.rollback()
    mine.begin()
    assert NOW + LIFE == session.leases.holder(ID).until_at
    assert [] == turns(session)
    mine.rollback()


def test_a_lost_lease_leaves_the_transaction_open(mine, session):
    """The host goes on after the refusal, and commits what it wrote itself."""
    mine.begin()
    lost = take(session)
    session.clock.at = NOW + LIFE
    held = take(session, NEXT)
    mine.write("a")
    refused("lease.lost", says, session, lost)
    refused("lease.package-busy", take, session, RUN)
    assert 1 == says(session, held)
    mine.commit()

    mine.begin()
    assert (["a"], ["x"]) == (mine.words(), turns(session))
    mine.rollback()
