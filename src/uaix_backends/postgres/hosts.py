"""Statements in a host's transaction, on its own connection, of which nothing leaks in.

A host may have its own row factories, loaders and dumpers on its connection. They are
passed by, and nothing of it is changed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.adapt import PyFormat
from psycopg.pq import Format, PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from uaix_backends.hosting import closed, no_transaction, refused, unwrapped
from uaix_backends.postgres.driver import PLAIN, translated
from uaix_backends.postgres.statements import Statements
from uaix_core.values.errors import (
    CallerError,
    HostTransactionLostError,
    StaleSnapshotError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psycopg.abc import Dumper, Loader

_SAVEPOINT: Final = "uaix_stage"


class HostStatements(Statements):
    """Statements in a transaction of a host's connection.

    Raises:
        CallerError: ``host.connection`` when it is no connection of psycopg; as
            `check`.

    """

    def __init__(self, lent: Any) -> None:
        self._joined = unwrapped(lent)
        raw = self._joined.connection
        if not isinstance(raw, psycopg.Connection):
            raise refused(lent)
        super().__init__(raw)
        self._is_staging = False
        if raw.closed:
            raise closed()
        info = raw.info
        self.place = f"postgresql://{info.host}:{info.port}/{info.dbname}"
        self.check()

    def cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """A cursor that knows nothing of the host's factories, loaders and dumpers."""
        cursor = psycopg.Cursor(self.connection, row_factory=tuple_row)
        cursor.format = Format.BINARY
        _forget_adapters(cursor)
        return cursor

    def execute(
        self, text: str, values: Sequence[Any] = ()
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement, which doesn't stay prepared.

        Raises:
            HostTransactionLostError: the transaction in which it belongs is gone.

        """
        self._check_open()
        return self.cursor().execute(text.encode(), values or None, prepare=False)

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of many values; raises as `execute`."""
        self._check_open()
        with self.cursor() as cursor:
            for bound in values:
                cursor.execute(text.encode(), bound, prepare=False)

    def _check_open(self) -> None:
        if self._is_staging and self._status in (
            TransactionStatus.IDLE,
            TransactionStatus.UNKNOWN,
        ):
            raise self._lost()

    def batch(self) -> AbstractContextManager[None]:
        """Statement after statement: the host's connection stays as it is."""
        return nullcontext()

    @property
    def _status(self) -> TransactionStatus:
        return self.connection.info.transaction_status

    def _is_open(self) -> bool:
        if self._joined.lender is None:
            return self._status == TransactionStatus.INTRANS
        # Its lender sends nothing when it begins one: the first statement does.
        begins = self._status == TransactionStatus.IDLE and not (
            self.connection.autocommit
        )
        return self._joined.says_open() and (
            begins or self._status == TransactionStatus.INTRANS
        )

    def check(self) -> None:
        """Refuse a connection that is of no use now, or changes what is stored.

        Raises:
            CallerError: ``host.closed``, ``host.connection``, ``host.encoding``,
                ``host.pipeline``.

        """
        self._joined.check()
        if self.connection.closed:
            raise closed()
        status = self.connection.info.parameter_status
        for side in ("client_encoding", "server_encoding"):
            if status(side) != "UTF8":
                raise CallerError(
                    f"the {side} of the connection isn't UTF8",
                    code="host.encoding",
                    path=self.place,
                    hint="connect with client_encoding=utf8 to a database in UTF8",
                )
        if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
            raise CallerError(
                "the connection is in a pipeline",
                code="host.pipeline",
                path=self.place,
                hint="leave it first: what is read there comes too late",
            )

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except psycopg.errors.SerializationFailure as error:
            raise StaleSnapshotError(
                "another writer was faster than the host's transaction",
                path=self.place,
                hint="roll back and repeat the whole transaction",
            ) from error
        except psycopg.Error as error:
            raise translated(error, self.place) from error

    @contextmanager
    def staged(self) -> Iterator[None]:
        """A savepoint in the host's transaction: all of the block stays, or nothing.

        Raises:
            NoTransactionError: the host has none open; nothing was done.
            HostTransactionLostError: it ended before the block did.
            StaleSnapshotError: it has to be repeated as a whole.
            StorageError: as the server reports; the transaction is as it was.

        """
        self.check()
        if not self._is_open():
            raise no_transaction()
        with self.reported():
            self.execute(f"SAVEPOINT {_SAVEPOINT}")
            self._is_staging = True
            try:
                yield
                self.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
            except HostTransactionLostError:
                raise
            except BaseException as error:
                # What is executed outside of it would be kept at once.
                if self._status == TransactionStatus.IDLE:
                    raise self._lost() from error
                self.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")
                self.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
                raise
            finally:
                self._is_staging = False

    def _lost(self) -> HostTransactionLostError:
        return HostTransactionLostError(
            "the host's transaction ended while something was staged in it",
            path=self.place,
        )


def _forget_adapters(cursor: psycopg.Cursor[tuple[Any, ...]]) -> None:
    """Give a cursor the driver's own loaders and dumpers for the types that we use."""
    own = cursor.adapters
    for oid, loader in _LOADERS:
        own.register_loader(oid, loader)
    for kind, dumper in _DUMPERS:
        own.register_dumper(kind, dumper)


def _loaders() -> Iterator[tuple[int, type[Loader]]]:
    for name in ("text", "int8", "int4", "bool", "bytea"):
        oid = PLAIN.types[name].oid
        for form in Format:
            loader = PLAIN.get_loader(oid, form)
            if loader is not None:
                yield oid, loader


def _dumpers() -> Iterator[tuple[type, type[Dumper]]]:
    for kind in (str, int, bool, bytes, list):
        for form in (PyFormat.TEXT, PyFormat.BINARY):
            yield kind, PLAIN.get_dumper(kind, form)
    yield type(None), PLAIN.get_dumper(type(None), PyFormat.TEXT)


_LOADERS: Final = tuple(_loaders())
_DUMPERS: Final = tuple(_dumpers())
