"""A host's connection to SQLite, of whichever library, as joined stores use it.

Two libraries in one process must not work on one file, because each drops the locks
of the other; so the host's own library is used, and nothing of its connection is set:
no pragma, no factory, no trace.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import apsw

from uaix_backends.hosting import closed, no_transaction, refused, unwrapped
from uaix_backends.sqlite.binding import check_adapters, past_adapters
from uaix_backends.sqlite.driver import translated_result
from uaix_backends.sqlite.libraries import Use, claim
from uaix_backends.sqlite.lives import in_use, is_open, life_of
from uaix_core.values.errors import (
    CallerError,
    HostTransactionLostError,
    IntegrityError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_backends.hosting import Joined

_SAVEPOINT: Final = "uaix_stage"
#: How the statements begin that change one row each, and those that leave none.
_ONE_ROW: Final = ("INSERT", "UPDATE")
_GONE: Final = "DELETE"
#: How often, and after which pauses, a stage is taken back while others are in the way.
_TRIES: Final = 200
_PAUSE_S: Final = 0.005


class Statements(Protocol):
    """What reading and writing ask of a connection; apsw's own has it."""

    def execute(self, text: str, values: Sequence[Any] = (), /) -> Any:
        """Run a statement; gives what has `fetchone` and `fetchall`."""
        ...

    def executemany(self, text: str, values: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement for each of many values."""
        ...

    def last_insert_rowid(self) -> int:
        """The rowid of the last row that was inserted."""
        ...


class Host:
    """A host's connection. `staged` keeps all of a block in its transaction, or none.

    Raises:
        CallerError: as `check`; ``host.encoding``.

    """

    #: The library that has the file open.
    library: str
    #: Its errors.
    error: type[Exception]

    def __init__(self, joined: Joined) -> None:
        self._joined = joined
        self._raw: Any = joined.connection
        self._life = life_of(self._raw)
        self._is_staging = False
        self._variables = 0
        self.place = ":memory:"
        self.check()
        with self.reported():
            self.place = self._file() or self.place
            self._check_encoding()

    def _file(self) -> str:
        found = self.execute("PRAGMA database_list").fetchall()
        return next((str(file) for _, name, file in found if name == "main"), "")

    def _check_encoding(self) -> None:
        (found,) = self.execute("PRAGMA encoding").fetchone()
        if found != "UTF-8":
            # UTF-16 sorts by code units, and has no room for some code points.
            raise CallerError(
                f"the database keeps texts in {found}, and not in UTF-8",
                code="host.encoding",
                path=self.place,
                hint="set PRAGMA encoding = 'UTF-8' before the first table is made",
            )

    def needs(self, variables: int) -> None:
        """Say how many variables a statement may have; `check` looks for room."""
        self._variables = variables

    def claim(self) -> None:
        """Keep other libraries from the file for as long as the connection is open.

        Raises:
            CallerError: ``host.second-library``.

        """
        claim(self._raw, self.place, Use(self.library, self._life.lasts))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is really open."""
        return self._joined.says_open() and bool(self._raw.in_transaction)

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
        cursor = self._cursor()
        if not self._is_staging:
            return cursor.execute(text, self._bound(values))
        self._check_open(None)
        self._stage(cursor, text, values)
        return cursor

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> Any:
        """Run a statement for each of many values; raises as `execute`."""
        self._check_open(None)
        cursor = self._cursor()
        for each in values:
            self._stage(cursor, text, each)
        return cursor

    def touch(self, text: str, values: Sequence[Any]) -> None:
        """Run a statement for the lock that it takes, whatever it changes."""
        self._cursor().execute(text, self._bound(values))

    def _stage(self, cursor: Any, text: str, values: Sequence[Any]) -> None:
        """Run a statement, and look whether it did what it says.

        Raises:
            IntegrityError: ``storage.rows``; a trigger of the host's can make a
                statement do nothing.

        """
        bound = self._bound(values)
        cursor.execute(text, bound)
        if text.startswith(_ONE_ROW):
            is_done = self._changed(cursor) == 1
        elif text.startswith(_GONE):
            left = f"SELECT 1{text.removeprefix(_GONE)} LIMIT 1"
            is_done = self._cursor().execute(left, bound).fetchone() is None
        else:
            return
        if not is_done:
            raise IntegrityError(
                "the database didn't change a row as it was told",
                code="storage.rows",
                path=self.place,
                hint="look for a trigger on the tables of this library",
            )

    def _changed(self, cursor: Any) -> int:
        """How many rows the last statement of a cursor has changed by itself."""
        raise NotImplementedError

    def last_insert_rowid(self) -> int:
        """The rowid of the last row that was inserted."""
        rowid: int = self.execute("SELECT last_insert_rowid()").fetchone()[0]
        return rowid

    def commits_of_others(self) -> int:
        """A number that changes with what other connections commit to the file."""
        number: int = self.execute("PRAGMA data_version").fetchone()[0]
        return number

    def check(self) -> None:
        """Refuse a connection that is of no use now, or changes what is stored.

        Raises:
            CallerError: ``host.closed``, ``host.connection``, ``host.thread``,
                ``host.text-factory``, ``host.adapters``, ``host.variables``.

        """
        self._joined.check()
        if not is_open(self._raw):
            raise closed()
        with self._life.used():
            self._check_driver()
            self._check_variables()

    def _check_variables(self) -> None:
        if self._most_variables() < self._variables:
            raise CallerError(
                "the connection allows too few variables in a statement",
                code="host.variables",
                path=self.place,
                hint="leave its SQLITE_LIMIT_VARIABLE_NUMBER at "
                f"{self._variables} or more",
            )

    def _check_driver(self) -> None:
        """What of the library's own may stand in the way."""

    def _most_variables(self) -> int:
        """How many variables a statement may have."""
        raise NotImplementedError

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the errors of the host's library into ours, for one thread alone.

        Raises:
            CallerError: ``host.thread`` when another thread uses the connection.

        """
        with self._life.used():
            try:
                yield
            except self.error as error:
                result = result_of(error)
                if not result:
                    # It isn't SQLite's own: perhaps it was closed meanwhile.
                    self.check()
                raise translated_result(result, self.place) from error

    @contextmanager
    def staged(self) -> Iterator[None]:
        """A savepoint in the host's transaction: all of the block stays, or nothing.

        Raises:
            NoTransactionError: the host has none open; nothing was done.
            HostTransactionLostError: it ended before the block did.
            StorageError: as the library reports; the transaction is as it was.

        """
        with self.reported():
            self.check()
            if not self.in_transaction:
                raise no_transaction()
            self.execute(f"SAVEPOINT {_SAVEPOINT}")
            self._is_staging = True
            try:
                yield
                self.execute(f"RELEASE {_SAVEPOINT}")
            except HostTransactionLostError:
                raise
            except BaseException as error:
                self._take_back(error)
                raise
            finally:
                self._is_staging = False

    def _take_back(self, error: BaseException) -> None:
        # What is executed outside of it would be kept at once.
        self._check_open(error)
        self.execute(f"ROLLBACK TO {_SAVEPOINT}")
        self.execute(f"RELEASE {_SAVEPOINT}")

    def _check_open(self, error: BaseException | None) -> None:
        if not (is_open(self._raw) and self._raw.in_transaction):
            raise HostTransactionLostError(
                "the host's transaction ended while something was staged in it",
                path=self.place,
            ) from error


class ApswHost(Host):
    """A connection of apsw."""

    library = "apsw"
    error = apsw.Error

    @contextmanager
    def reported(self) -> Iterator[None]:
        """As any host's; apsw also tells when two threads use the connection."""
        with super().reported():
            try:
                yield
            except apsw.ThreadingViolationError as error:
                raise in_use() from error

    def _check_driver(self) -> None:
        try:
            # Asking for a limit would wait for ever for a thread that runs a statement.
            self._raw.in_transaction  # noqa: B018 - raises
        except apsw.ThreadingViolationError as error:
            raise in_use() from error

    def _changed(self, cursor: Any) -> int:  # noqa: ARG002 - the connection knows it
        return int(self._raw.changes())

    def _take_back(self, error: BaseException) -> None:
        """As any host's, but the host's own threads may be in the way."""
        for _ in range(_TRIES):
            try:
                super()._take_back(error)
            except apsw.ThreadingViolationError:
                time.sleep(_PAUSE_S)
            else:
                return
        raise HostTransactionLostError(
            "another thread keeps what was staged from being taken back",
            path=self.place,
            hint="roll back, and use the connection in one thread at a time",
        ) from error

    def _most_variables(self) -> int:
        return int(self._raw.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER))

    def _cursor(self) -> apsw.Cursor:
        cursor = apsw.Cursor(self._raw)
        cursor.row_trace = lambda _cursor, row: row
        cursor.exec_trace = lambda _cursor, _text, _values: True
        return cursor


class StdlibHost(Host):
    """A connection of the standard library's sqlite3."""

    library = "sqlite3"
    error = sqlite3.Error

    def _check_driver(self) -> None:
        try:
            self._cursor()
        except sqlite3.ProgrammingError as error:
            raise _wrong_thread() from error
        check_adapters()
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

    def _changed(self, cursor: Any) -> int:
        return int(cursor.rowcount)

    def _bound(self, values: Sequence[Any]) -> Sequence[Any]:
        return past_adapters(values)

    def _most_variables(self) -> int:
        return int(self._raw.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER))


def _wrong_thread() -> CallerError:
    return CallerError(
        "the connection belongs to another thread",
        code="host.thread",
        hint="join it, and use what joined it, in the thread that made it",
    )


def result_of(error: Exception) -> int:
    """The extended result code of an error of either library; 0 when it has none."""
    if isinstance(error, apsw.Error):
        return int(getattr(error, "extendedresult", 0))
    return int(getattr(error, "sqlite_errorcode", 0))


def host_of(connection: Any) -> Host:
    """The host's connection, or the one behind a SQLAlchemy `Connection`.

    Raises:
        CallerError: ``host.connection`` for anything else; as `Host`.

    """
    joined = unwrapped(connection)
    if isinstance(joined.connection, apsw.Connection):
        return ApswHost(joined)
    if isinstance(joined.connection, sqlite3.Connection):
        return StdlibHost(joined)
    raise refused(connection)
