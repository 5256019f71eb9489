"""Staging in the transaction of a host's connection to SQLite, of whichever library.

Two libraries in one process must not work on one file, because each drops the locks
of the other; so the host's own library is used, and nothing of its connection stays
set: no pragma, no factory, no trace.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import apsw

from uaix_backends.hosting import closed, no_transaction
from uaix_backends.sqlite.driver import translated_result
from uaix_backends.sqlite.layout import APPLICATION_NUMBER
from uaix_backends.sqlite.libraries import Use, claim
from uaix_backends.sqlite.lives import is_open, life_of
from uaix_core.values.errors import (
    CallerError,
    HostTransactionLostError,
    IntegrityError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_backends.hosting import Joined

_SAVEPOINT: Final = "uaix_stage"
_numbers: Final = itertools.count()
_OVERWRITES: Final = "main.secure_delete"
#: How the statements begin that change one row each, and those that leave none.
_ONE_ROW: Final = ("INSERT", "UPDATE")
_GONE: Final = "DELETE"


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


class Host(ABC):
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

    @abstractmethod
    def _cursor(self) -> Any:
        """A cursor past the host's own factories and traces."""

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

    def touch(self, text: str, values: Sequence[Any] = ()) -> None:
        """Run a statement for its effect, whatever rows it changes."""
        self._cursor().execute(text, self._bound(values)).fetchall()

    def _stage(self, cursor: Any, text: str, values: Sequence[Any]) -> None:
        """Run a statement, and look whether it did what it says.

        Raises:
            IntegrityError: ``storage.rows``; a trigger of the host's can make a
                statement do nothing.

        """
        bound = self._bound(values)
        cursor.execute(text, bound)
        if text.startswith((*_ONE_ROW, _GONE)):
            # A host may have set that each statement gives what it has changed.
            cursor.fetchall()
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

    @abstractmethod
    def _changed(self, cursor: Any) -> int:
        """How many rows the last statement of a cursor has changed by itself."""

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

    @abstractmethod
    def _check_driver(self) -> None:
        """What of the library's own may stand in the way."""

    @abstractmethod
    def _most_variables(self) -> int:
        """How many variables a statement may have."""

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
            with self._overwriting(), self._saved():
                yield

    @contextmanager
    def _saved(self) -> Iterator[None]:
        # A name of its own: an interrupt may have left another one open.
        name = f"{_SAVEPOINT}_{next(_numbers)}"
        try:
            self.execute(f"SAVEPOINT {name}")
            self._is_staging = True
            yield
            self.execute(f"RELEASE {name}")
        except HostTransactionLostError:
            raise
        except BaseException as error:
            self._take_back(name, error)
            raise
        finally:
            self._is_staging = False

    @contextmanager
    def _overwriting(self) -> Iterator[None]:
        """Have what is deleted overwritten with zeros, as in a store of its own.

        It is the one setting of the connection that is touched, and it is set back.
        """
        (before,) = self.execute(f"PRAGMA {_OVERWRITES}").fetchone()
        if before == 1:
            yield
            return
        self.execute(f"PRAGMA {_OVERWRITES} = ON").fetchall()
        try:
            yield
        finally:
            # Closed, or in use by a thread of the host's: it isn't ours any more.
            with suppress(self.error):
                self.touch(f"PRAGMA {_OVERWRITES} = {'FAST' if before else 'OFF'}")

    @property
    def is_store(self) -> bool:
        """Whether the file is also opened as a store of its own."""
        found = self.execute("PRAGMA main.application_id").fetchone()
        return bool(found[0] == APPLICATION_NUMBER)

    def _take_back(self, name: str, error: BaseException) -> None:
        # What is executed outside of it would be kept at once.
        self._check_open(error)
        try:
            self.touch(f"ROLLBACK TO {name}")
        except self.error as missing:
            if result_of(missing) != apsw.SQLITE_ERROR:
                raise
            # There is no such savepoint: not yet, or not any more.
            return
        self.touch(f"RELEASE {name}")

    def _check_open(self, error: BaseException | None) -> None:
        if not (is_open(self._raw) and self._raw.in_transaction):
            raise HostTransactionLostError(
                "the host's transaction ended while something was staged in it",
                path=self.place,
            ) from error


def result_of(error: Exception) -> int:
    """The extended result code of an error of either library; 0 when it has none."""
    if isinstance(error, apsw.Error):
        return int(getattr(error, "extendedresult", 0))
    return int(getattr(error, "sqlite_errorcode", 0))
