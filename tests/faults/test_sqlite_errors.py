"""Interrupts, errors and full disks cost a SQLite store no commit."""

from __future__ import annotations

import linecache
import sys
from contextlib import closing

import apsw
import pytest
from tests.backends.pages import (
    SCOPE,
    SMALL,
    add,
    page,
    run,
    titles,
)

from uaix_backends.sqlite import SqliteStore, migrating
from uaix_backends.sqlite.driver import translated, translated_result
from uaix_core.values.errors import (
    BusyError,
    IntegrityError,
    OutcomeUnknownError,
    StorageError,
)

_ROOMS = ("uaix_backends/sqlite", "uaix_backends/tabular")


def interrupted(call, step):
    """Whether an interrupt at the n-th line of the backend came before the end."""
    steps = iter(range(step))

    def trace(frame, event, _argument):
        name = frame.f_code.co_filename
        if not any(room in name for room in _ROOMS):
            return None
        # No interrupt comes between a lock that is taken and the block under it.
        line = linecache.getline(name, frame.f_lineno)
        locks = line.lstrip().startswith("with self._lock")
        if event == "line" and not locks and next(steps, None) is None:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


class FailingDriver:
    """A connection on which one kind of statement fails."""

    def __init__(self, connection, statement, error, *, after=False):
        self._connection = connection
        self._statement = statement
        self._error = error
        self._after = after

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, text, *values):
        if not text.startswith(self._statement):
            return self._connection.execute(text, *values)
        if self._after:
            self._connection.execute(text, *values)
        raise self._error


def fail(store, statement, error, **options):
    """Let the writer of a store fail at a statement."""
    with store._connections.writer() as writer:
        store._connections._writer = FailingDriver(writer, statement, error, **options)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("statement", ["INSERT INTO uaix_commit", "COMMIT", "BEGIN"])
def test_an_interrupt_leaves_nothing(store, statement, error):
    """An interrupt in the middle of a commit rolls back, and the store goes on."""
    store.append(add(page(1)))
    fail(store, statement, error())

    with pytest.raises(error):
        store.append(add(page(2)))
    assert [1] == titles(store)

    store._connections._writer = store._connections._writer._connection
    assert 2 == store.append(add(page(2))).seq


def test_an_interrupt_anywhere_leaves_all_or_nothing(store):
    """Wherever an interrupt strikes, the commit is whole or absent; work goes on."""
    step, seen = 0, [[]]
    while interrupted(lambda step=step: store.append(add(page(step))), step):
        seen.append(titles(store))
        assert seen[-1] in (seen[-2], [*seen[-2], step])
        step += 1

    assert step > 100
    with store.snapshot(SCOPE) as snapshot:
        assert snapshot.position == len(list(snapshot.commits()))


@pytest.mark.parametrize("after", [False, True])
def test_a_failing_commit_has_an_unknown_outcome(store, after):
    """When making it durable fails the caller is told so, and the next one works."""
    fail(store, "COMMIT", apsw.IOError("fsync"), after=after)

    with pytest.raises(OutcomeUnknownError):
        store.append(add(page(1)))

    assert ([1] if after else []) == titles(store)
    assert (2 if after else 1) == store.append(add(page(2))).seq


def test_a_full_disk_is_told_as_such(store):
    """A reader, a new store and a commit say that the disk is full, with a hint."""
    no_room = apsw.IOError()
    no_room.extendedresult = apsw.SQLITE_IOERR_SHMSIZE
    for error in (translated(no_room, "x"), translated_result(4874, "x")):
        assert ("storage.full", True) == (error.code, "make room" in error.hint)
    assert translated(apsw.CantOpenError(), "x").hint

    fail(store, "COMMIT", apsw.FullError())
    with pytest.raises(OutcomeUnknownError) as caught:
        store.append(add(page(1)))
    assert caught.value.hint.startswith("make room, then")

    for error, code, hint in (
        (apsw.FullError(), "storage.full", "make room"),
        (apsw.IOError(), "storage.outcome-unknown", "open the store again"),
    ):
        fail(store, "COMMIT", error)
        with pytest.raises(StorageError) as caught, migrating._told("x"):
            store.append(add(page(1)))
        assert (code, True) == (caught.value.code, hint in caught.value.hint)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (apsw.BusyError, BusyError, "storage.busy"),
        (apsw.FullError, StorageError, "storage.full"),
        (apsw.IOError, StorageError, "storage.io"),
        (apsw.ReadOnlyError, StorageError, "storage.readonly"),
        (apsw.CantOpenError, StorageError, "storage.cant-open"),
        (apsw.CorruptError, IntegrityError, "storage.corrupt"),
        (apsw.ConstraintError, IntegrityError, "storage.rows"),
        (apsw.MisuseError, StorageError, "storage.failed"),
    ],
)
def test_errors_of_the_driver_are_translated(store, error, kind, code):
    """What the driver raises arrives as our error; nothing was written."""
    fail(store, "INSERT INTO uaix_commit", error("content"))

    with pytest.raises(kind) as caught:
        store.append(add(page(1)))
    assert code == caught.value.code
    assert "content" not in str(caught.value)

    # After an error of the medium the connection is another one.
    writer = store._connections._writer
    store._connections._writer = getattr(writer, "_connection", None)
    assert 1 == store.append(add(page(1))).seq


def test_a_full_disk_is_told_and_survived(path):
    """When the disk is full a commit is refused whole, and later ones go on."""
    done = run(
        """
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = SqliteStore.open(path, create=True, schema=SMALL)
        store.append(add(page(1)))
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            store.append(add(page(2, data=bytes(1_000_000))))
            sys.exit("no error")
        except StorageError as error:
            print(error.code)
        assert [1] == titles(store)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert 2 == store.append(add(page(2, data=bytes(1_000_000)))).seq
        store.close()
        """,
        path,
    )

    assert 0 == done.returncode, done.stderr
    assert done.stdout.strip() in (
        "storage.io",
        "storage.full",
        "storage.outcome-unknown",
    )
    with closing(SqliteStore.open(path, schema=SMALL)) as store:
        assert [1, 2] == titles(store)
