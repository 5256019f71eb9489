"""Reads of one scope over one connection to PostgreSQL."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.tabular.migrations import outgrown
from uaix_backends.tabular.reading import TabularRows
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_backends.postgres.layout import Layout
    from uaix_backends.postgres.statements import Statements
    from uaix_backends.tabular.reading import Many
    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import ScopeId

#: Of the results of `Layout.scope_row`.
_SCOPE_TYPES: Final = (int, int, int, int, str)


def unrecorded(place: str, *, has_tables: bool = True) -> IntegrityError:
    """The error for a store whose migrations aren't noted, or not any more."""
    again = ", or run again the last statement of each migration that it had"
    return IntegrityError(
        "the store doesn't say which migrations it has had",
        code="store.migration",
        path=place,
        hint=f"restore the store from a backup{again if has_tables else ''}",
    )


class ScopeRows(TabularRows):
    """What one scope holds, as the transaction of a connection shows it."""

    __slots__ = ()

    @classmethod
    def read(
        cls,
        statements: Statements,
        layout: Layout,
        scope: ScopeId,
        begin: Callable[[], object] = lambda: None,
    ) -> ScopeRows:
        """The scope as it is.

        ``begin`` begins a transaction, in the same round trip.
        """
        rows = cls(statements, layout, scope)
        with statements.batch():
            begin()
            found = statements.execute(layout.scope_row, (scope.text,))
        rows.take(found.fetchone())
        return rows

    @classmethod
    def locked(
        cls,
        statements: Statements,
        layout: Layout,
        scope: ScopeId,
        begin: Callable[[], object] = lambda: None,
        *,
        makes: bool = True,
    ) -> ScopeRows:
        """The scope with its row locked until the transaction ends.

        Whatever is read afterwards at READ COMMITTED is what the last writer left.
        ``begin`` begins the transaction, in the same round trip; raises as `seen`.
        A missing row is made, or only kept from others when it isn't to be: who makes
        it keeps others from it as well.
        """
        rows = cls(statements, layout, scope)
        rows._lock(begin)
        if rows.number is None:
            rows._lock(partial(rows._reserve, makes=makes))
        return rows

    def _reserve(self, *, makes: bool) -> None:
        """Keep others from a scope without a row, which is made if it is to be."""
        layout, mark = self.layout, self.mark
        self.statements.execute(layout.reserve, (layout.number(self.scope),))
        if makes:
            values = (self.scope.text, mark.seq, mark.recorded_at, mark.digest, 0)
            self.statements.execute(layout.new_scope, values)

    def _lock(self, before: Callable[[], object]) -> None:
        """Lock the row of the scope where there is one, and take it.

        ``before`` executes what goes before it, in the same round trip; raises as
        `seen`.
        """
        with self.statements.batch():
            before()
            found = self.statements.execute(self.layout.scope_lock, (self.scope.text,))
            strict = self.statements.execute(self.layout.strict)
        self.take(found.fetchone())
        self._check_strict(strict.fetchone()[0])

    @classmethod
    def seen(cls, statements: Statements, layout: Layout, scope: ScopeId) -> ScopeRows:
        """The scope as it is, in tables that are as they were when looked at.

        Raises:
            StoreOpenError: ``store.newer``; another process has changed the tables.
            IntegrityError: ``store.migration``; what was noted of them is gone.

        """
        rows = cls(statements, layout, scope)
        found: Any = statements.execute(layout.scope_seen, (scope.text,)).fetchone()
        strict, *row = found
        rows._check_strict(strict)
        rows.take(None if row[0] is None else row)
        return rows

    def _check_strict(self, version: int | None) -> None:
        known = self.layout.standing.strict
        if version == known:
            return
        if version is None or version in range(known or 0):
            raise unrecorded(self.scope.text)
        raise outgrown(self.scope.text, version)

    def take(self, found: Sequence[Any] | None) -> None:
        """Take the row of the scope, when it is one.

        Raises:
            IntegrityError: ``storage.row``; somebody gave a column another type.

        """
        if found is not None and tuple(map(type, found)) != _SCOPE_TYPES:
            raise IntegrityError(
                "the row of a scope holds what it can't",
                code="storage.row",
                path=self.scope.text,
            )
        super().take(found)

    def results(self, text: str, values: Sequence[Any], what: str) -> list[Any]:  # noqa: ARG002 - the server's texts can be read
        """All results of a statement."""
        found: list[Any] = self.statements.execute(text, values).fetchall()
        return found

    def batch(self) -> AbstractContextManager[object]:
        """Send all statements of a block in one round trip."""
        found: AbstractContextManager[object] = self.statements.batch()
        return found

    def all_of(self, asked: Sequence[Many]) -> list[list[Row]]:
        """The answers to many questions like `many`, in one round trip."""
        if self.number is None:
            return [[] for _ in asked]
        cursors = []
        with self.batch() if len(asked) > 1 else nullcontext():
            for table, path, count, prefixes in asked:
                arrays = [[prefix[at] for prefix in prefixes] for at in range(count)]
                text = table.many(path, count)
                cursors.append(self.statements.execute(text, (*arrays, self.number)))
        return [
            table.rows(cursor.fetchall())
            for cursor, (table, *_) in zip(cursors, asked, strict=True)
        ]
