"""Laws of registrations in a host's transaction: they live and die with it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import attrs
import pytest
from tests.authority.granting import SCOPE, document, granting, session_over
from tests.backends import host_variants
from tests.backends.postgres_server import fresh_namespace

from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.sqlite.testing import Host as SqliteHost
from uaix_core import CallerError
from uaix_core.session.schema import SCHEMA
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import NoTransactionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ONE, TWO = document(1), document(2)


@pytest.fixture(params=["apsw", "manual", "psycopg", "alchemy_postgres"])
def mine(request, tmp_path) -> Iterator[Any]:
    """A connection of a host application whose database has the product's tables."""
    if request.param == "apsw":
        host = SqliteHost(tmp_path / "host.sqlite", SCHEMA)
    elif request.param == "psycopg":
        host = PostgresHost(fresh_namespace(), SCHEMA)
    else:
        host = getattr(host_variants, request.param).host(tmp_path, SCHEMA)
    with closing(host.connect()) as connection:
        yield connection


@pytest.fixture
def session(mine):
    """A session in the host's transactions."""
    with closing(mine.join(SCHEMA)) as store:
        yield session_over(store)


def register(session, asked):
    return session.registrations.register(asked, granting(asked))


def position(session):
    with session.store.snapshot(SCOPE) as snapshot:
        return snapshot.position


def test_after_the_hosts_rollback_nothing_is_there(mine, session):
    """A registration that was staged goes with the host's row; a new one inserts."""
    with pytest.raises(NoTransactionError) as caught:
        register(session, ONE)
    assert () == caught.value.decisions
    mine.begin()
    mine.write("a")
    staged = register(session, ONE)
    assert ("insert", 1) == (staged.outcome, len(staged.decisions))
    assert staged.is_staged
    assert ONE == session.registrations.get("travel").value()
    assert "unchanged" == register(session, ONE).outcome
    mine.rollback()

    mine.begin()
    assert [] == mine.words()
    assert [] == list(session.registrations.list())
    assert [] == list(session.packages.receipts())
    assert 0 == position(session)
    assert "insert" == register(session, ONE).outcome
    mine.commit()


def test_after_the_hosts_commit_exactly_one_is_there(mine, session):
    """One row and one receipt stand with the host's row; a second run adds nothing."""
    for expected in ("insert", "unchanged"):
        mine.begin()
        if expected == "insert":
            mine.write("a")
        answer = register(session, ONE)
        mine.commit()
        assert expected == answer.outcome

    mine.begin()
    assert ["a"] == mine.words()
    assert [1] == [r.document_version for r in session.registrations.history("travel")]
    assert [answer.receipt] == [e.receipt_id for e in session.packages.receipts()]
    assert 1 == position(session)
    assert verify_scope(session.store, SCOPE).is_sound
    mine.rollback()


def test_a_refusal_leaves_the_hosts_transaction_open(mine, session):
    """After a refusal the host's own rows are as they were, and go on."""
    mine.begin()
    mine.write("a")
    for asked, granted in ((ONE, TWO), (document(1, "x"), ONE)):
        with pytest.raises(CallerError) as caught:
            session.registrations.register(asked, granting(granted))
        assert caught.value.decisions[0].is_denied
    assert mine.in_transaction()
    assert "insert" == register(session, TWO).outcome
    mine.commit()

    mine.begin()
    assert ["a"] == mine.words()
    assert [2] == [r.document_version for r in session.registrations.history("travel")]
    mine.rollback()


def test_what_is_decided_without_the_store_needs_no_transaction(mine, session):
    """Who has no grant is told before anything is locked, read or written."""
    for asked, granted, code in (
        (ONE, TWO, "registration.not-granted"),
        (document(1, "x"), ONE, "registration.digest"),
        ({}, ONE, "registration.document"),
    ):
        with pytest.raises(CallerError) as caught:
            session.registrations.register(asked, granting(granted))
        assert code == caught.value.code
        assert caught.value.decisions[0].is_denied
    assert not mine.in_transaction()


def test_an_unchanged_registration_stages_nothing(mine, session):
    """With the same content the host's transaction stays empty of ours."""
    mine.begin()
    first = register(session, ONE)
    mine.commit()
    mine.begin()
    before = position(session)
    again = register(session, ONE)

    assert attrs.evolve(first, outcome="unchanged", decisions=()) == again
    assert before == position(session) == 1
    mine.rollback()
