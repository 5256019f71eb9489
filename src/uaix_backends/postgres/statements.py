"""Statements on a connection of our own, one by one or many in one round trip."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_backends.postgres.driver import Connection


class Statements:
    """Statements on a connection of our own."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """A cursor whose results are tuples, in the binary form."""
        return self.connection.cursor(binary=True)

    def execute(
        self, text: str, values: Sequence[Any] = ()
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement; inside `batch` its results are there at the end."""
        return self.cursor().execute(text.encode(), values or None)

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of many values."""
        with self.cursor() as cursor:
            cursor.executemany(text.encode(), values)

    def batch(self) -> AbstractContextManager[None]:
        """Send all statements of a block in one round trip."""
        return self._piped()

    @contextmanager
    def _piped(self) -> Iterator[None]:
        failure: BaseException | None = None
        try:
            with self.connection.pipeline():
                try:
                    yield
                except BaseException as error:  # noqa: BLE001 - raised again below
                    # The driver would log that its end fails as well.
                    failure = error
        except psycopg.Error:
            if failure is None:
                raise
        if failure is not None:
            try:
                raise failure
            finally:
                # Its traceback holds this frame, and this frame the connection.
                del failure
