"""A host's connection to SQLite, of whichever library, as joined stores use it.

Two libraries in one process must not work on one file, because each drops the locks
of the other; so the host's own library is used, and nothing of its connection is set:
no pragma, no factory, no trace.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import apsw

from uaix_backends.hosting import no_transaction, refused, unwrapped
from uaix_backends.sqlite.driver import translated_result
from uaix_core.values.errors import CallerError, HostTransactionLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_SAVEPOINT: Final = "uaix_stage"


class Statements(Protocol):
    """What reading and writing ask of a connection; apsw's own has it."""

    def execute(self, text: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; gives what has `fetchone` and `fetchall`."""
        ...

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> Any:
        """Run a statement for each of many values."""
        ...

    def last_insert_rowid(self) -> int:
        """The rowid of the last row that was inserted."""
        ...


class Host:
    """A host's connection. `staged` keeps all of a block in its transaction, or none.

    Args:
        raw: the driver's connection.
        says_open: as in `uaix_backends.hosting.Joined`.

    """

    #: The library that has the file open.
    library: str
    #: Its errors.
    error: type[Exception]

    def __init__(self, raw: Any, says_open: Callable[[], bool] | None) -> None:
        self._raw = raw
        self._says_open = says_open
        self._is_staging = False
        self.place = self._file() or ":memory:"

    def _file(self) -> str:
        found = self.execute("PRAGMA database_list").fetchall()
        return next((str(file) for _, name, file in found if name == "main"), "")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is really open."""
        if self._says_open is not None and not self._says_open():
            return False
        return bool(self._raw.in_transaction)

    def _cursor(self) -> Any:
        """A cursor past the host's own factories and traces."""
        raise NotImplementedError

    def _bound(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values as they are bound."""
        return values

    def execute(self, text: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; gives what has `fetchone` and `fetchall`.

        Raises:
            HostTransactionLostError: the transaction in which it belongs is gone.

        """
        if self._is_staging:
            self._check_open(None)
        return self._cursor().execute(text, self._bound(values))

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> Any:
        """Run a statement for each of many values; raises as `execute`."""
        if self._is_staging:
            self._check_open(None)
        return self._cursor().executemany(text, map(self._bound, values))

    def last_insert_rowid(self) -> int:
        """The rowid of the last row that was inserted."""
        rowid: int = self.execute("SELECT last_insert_rowid()").fetchone()[0]
        return rowid

    def check(self) -> None:
        """Refuse a connection that would give back something else than was stored."""

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the errors of the host's library into ours."""
        try:
            yield
        except self.error as error:
            raise translated_result(result_of(error), self.place) from error

    @contextmanager
    def staged(self) -> Iterator[None]:
        """A savepoint in the host's transaction: all of the block stays, or nothing.

        Raises:
            NoTransactionError: the host has none open; nothing was done.
            HostTransactionLostError: it ended before the block did.
            StorageError: as the library reports; the transaction is as it was.

        """
        self.check()
        if not self.in_transaction:
            raise no_transaction()
        with self.reported():
            self.execute(f"SAVEPOINT {_SAVEPOINT}")
            self._is_staging = True
            try:
                yield
                self.execute(f"RELEASE {_SAVEPOINT}")
            except HostTransactionLostError:
                raise
            except BaseException as error:
                # What is executed outside of it would be kept at once.
                self._check_open(error)
                self.execute(f"ROLLBACK TO {_SAVEPOINT}")
                self.execute(f"RELEASE {_SAVEPOINT}")
                raise
            finally:
                self._is_staging = False

    def _check_open(self, error: BaseException | None) -> None:
        if not self._raw.in_transaction:
            raise HostTransactionLostError(
                "the host's transaction ended while something was staged in it",
                path=self.place,
            ) from error


class ApswHost(Host):
    """A connection of apsw."""

    library = "apsw"
    error = apsw.Error

    def _cursor(self) -> apsw.Cursor:
        cursor = apsw.Cursor(self._raw)
        cursor.row_trace = lambda _cursor, row: row
        cursor.exec_trace = lambda _cursor, _text, _values: True
        return cursor


class StdlibHost(Host):
    """A connection of the standard library's sqlite3."""

    library = "sqlite3"
    error = sqlite3.Error

    def check(self) -> None:
        """Refuse a connection whose texts come back as something else."""
        if self._raw.text_factory is not str:
            raise CallerError(
                "the connection gives texts as something else than str",
                code="host.text-factory",
                hint="leave its text_factory alone, or hand in another connection",
            )

    def _cursor(self) -> sqlite3.Cursor:
        cursor = sqlite3.Cursor(self._raw)
        cursor.row_factory = None
        return cursor

    def _bound(self, values: Sequence[Any]) -> Sequence[Any]:
        # A host may have an adapter for truth values.
        return tuple(int(v) if type(v) is bool else v for v in values)


def result_of(error: Exception) -> int:
    """The extended result code of an error of either library; 0 when it has none."""
    if isinstance(error, apsw.Error):
        return int(getattr(error, "extendedresult", 0))
    return int(getattr(error, "sqlite_errorcode", 0))


def host_of(connection: Any) -> Host:
    """The host's connection, or the one behind a SQLAlchemy `Connection`.

    Raises:
        CallerError: ``host.connection`` for anything else.

    """
    joined = unwrapped(connection)
    if isinstance(joined.connection, apsw.Connection):
        return ApswHost(*joined)
    if isinstance(joined.connection, sqlite3.Connection):
        return StdlibHost(*joined)
    raise refused(connection)
