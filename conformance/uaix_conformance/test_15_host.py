"""Group 15: a store that works inside a transaction which the host owns.

The harness's ``host(path, schema)`` gives a `Host`: a database with the store's tables
in it and one table of the host's own.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from uaix_conformance.comparison import contents, place_of, rows
from uaix_conformance.examples import SCOPE, commit, expect, fact, job, note
from uaix_conformance.oracle import Oracle
from uaix_conformance.schema import KIT
from uaix_core.store.port import Capability
from uaix_core.values import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_conformance.harness import Harness, Host, HostConnection

pytestmark = pytest.mark.requires(Capability.JOINS)

T = TypeVar("T")


@pytest.fixture
def host(harness: Harness, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A fresh host application."""
    made: Any = harness
    opened: Host = made.host(tmp_path_factory.mktemp("host"), KIT)
    return opened


@pytest.fixture
def mine(host: Host) -> Iterator[HostConnection]:
    """The connection that the store joins."""
    connection = host.connect()
    yield connection
    connection.close()


@pytest.fixture
def theirs(host: Host) -> Iterator[HostConnection]:
    """Another connection of the host, which looks on."""
    connection = host.connect()
    yield connection
    connection.close()


def _shown(connection: HostConnection, read: Callable[[], T]) -> T:
    """What is read, in a transaction where a store refuses to read without one."""
    try:
        return read()
    except errors.NoTransactionError:
        connection.begin()
        found = read()
        connection.rollback()
        return found


def _seen(connection: HostConnection) -> tuple[int, list[str]]:
    """How many notes and which host rows a connection sees."""
    store = connection.join(KIT)
    try:
        found = _shown(connection, lambda: rows(store, SCOPE, "note"))
        return len(found), connection.words()
    finally:
        store.close()


@pytest.mark.clause("15.1")
def test_an_append_needs_the_host_s_transaction(mine: HostConnection) -> None:
    """Outside one it is refused, and neither it nor a read has begun one."""
    store = mine.join(KIT)
    for made in (commit(note(0)), commit(puts=[job(0)])):
        with pytest.raises(errors.UaixError) as raised:
            store.append(made)
        assert "NoTransactionError" == type(raised.value).__name__
        assert not mine.in_transaction()
    with suppress(errors.NoTransactionError):
        assert [] == rows(store, SCOPE, "note")
        assert [] == list(store.scopes(limit=1))
    assert not mine.in_transaction()
    mine.begin()
    assert 1 == store.append(commit(note(0))).seq
    mine.rollback()


@pytest.mark.clause("15.2")
def test_rows_become_visible_with_the_host_s(
    mine: HostConnection, theirs: HostConnection
) -> None:
    """Others see the store's and the host's rows together, after the commit."""
    store = mine.join(KIT)
    mine.begin()
    mine.write("a")
    store.append(commit(note(0)))
    assert (0, []) == _seen(theirs)
    mine.commit()

    assert (1, ["a"]) == _seen(theirs)


@pytest.mark.clause("15.3")
def test_a_rollback_takes_everything_back(mine: HostConnection) -> None:
    """Neither rows are there, and the next append takes the same place."""
    store = mine.join(KIT)
    mine.begin()
    mine.write("a")
    first = store.append(commit(note(0), puts=[job(0)]))
    mine.rollback()
    assert (0, []) == _seen(mine)
    mine.begin()
    second = store.append(commit(note(0), puts=[job(0)]))
    mine.commit()

    assert place_of(first) == place_of(second)
    found = _shown(mine, lambda: rows(store, SCOPE, "job"))
    assert [1] == [row.version for row in found]


@pytest.mark.clause("15.4")
@pytest.mark.parametrize("wrong", ["expect", "key", "row"])
def test_a_refusal_leaves_the_transaction_as_it_was(
    mine: HostConnection, wrong: str
) -> None:
    """What was in it stays in it, and the host may go on and commit."""
    store = mine.join(KIT)
    mine.begin()
    mine.write("a")
    store.append(commit(note(0)))
    before = contents(store, SCOPE)
    refused = {
        "expect": commit(note(1), expects=[expect("note", ("t0", 0), 9)]),
        "key": commit(note(1), note(0)),
        "row": commit(note(1), puts=[job(0, kind="unheard-of")]),
    }[wrong]
    with pytest.raises(errors.UaixError):
        store.append(refused)
    assert mine.in_transaction()
    assert before == contents(store, SCOPE)
    mine.write("b")
    store.append(commit(note(1)))
    mine.commit()

    assert (2, ["a", "b"]) == _seen(mine)


@pytest.mark.clause("15.5")
def test_a_joined_snapshot_moves_with_the_transaction(mine: HostConnection) -> None:
    """It shows uncommitted rows as they come, and loses them on rollback."""
    store = mine.join(KIT)
    mine.begin()
    with store.snapshot(SCOPE) as snapshot:
        assert 0 == snapshot.position
        store.append(commit(note(0)))
        assert 1 == snapshot.position
        assert snapshot.get("note", ("t0", 0)) is not None
    mine.rollback()
    assert 0 == len(_shown(mine, lambda: rows(store, SCOPE, "note")))
    mine.begin()
    with store.snapshot(SCOPE) as snapshot:
        assert 0 == snapshot.position
    mine.rollback()


@pytest.mark.clause("15.6")
@pytest.mark.parametrize("within", [False, True], ids=["outside", "inside"])
def test_closing_leaves_the_connection(mine: HostConnection, within: bool) -> None:
    """Open, in the transaction it was in, with the settings it had."""
    before = dict(mine.settings())
    store = mine.join(KIT)
    mine.begin()
    mine.write("a")
    store.append(commit(note(0)))
    if not within:
        mine.commit()
    store.close()

    assert within == mine.in_transaction()
    assert before == dict(mine.settings())
    assert ["a"] == mine.words()
    if within:
        mine.commit()
    assert (1, ["a"]) == _seen(mine)


@pytest.mark.clause("15.7")
def test_joined_commits_have_the_same_digests(mine: HostConnection) -> None:
    """Digest by digest those of the model, hence of every opened store."""
    store, oracle = mine.join(KIT), Oracle(KIT)
    for number in range(3):
        mine.begin()
        for made in (
            commit(note(number, text="a"), fact(number), at=number),
            commit(puts=[job(number)]),
            commit(fact(number, "s1")),
        ):
            assert place_of(oracle.append(made)) == place_of(store.append(made))
        mine.commit()


@pytest.mark.clause("15.8")
def test_a_joined_store_promises_no_durability(mine: HostConnection) -> None:
    """It says JOINS and not DURABLE, so whoever asks it knows what is staged."""
    store = mine.join(KIT)
    assert Capability.JOINS in store.capabilities
    assert Capability.DURABLE not in store.capabilities
    store.close()
