"""A host's connection to SQLite, of either library, as joined stores use it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import apsw

from uaix_backends.hosting import refused, unwrapped
from uaix_backends.sqlite.binding import check_adapters, past_adapters
from uaix_backends.sqlite.lives import in_use
from uaix_backends.sqlite.staging import Host
from uaix_core.values.errors import CallerError, HostTransactionLostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: How often, and after which pauses, a stage is taken back while others are in the way.
_TRIES: Final = 200
_PAUSE_S: Final = 0.005


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

    def _take_back(self, name: str, error: BaseException) -> None:
        """As any host's, but the host's own threads may be in the way."""
        for _ in range(_TRIES):
            try:
                super()._take_back(name, error)
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
