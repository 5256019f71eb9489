"""Reads of one scope over one connection to SQLite."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from uaix_backends.sqlite.damage import all_of, one_of
from uaix_backends.tabular.reading import TabularRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_backends.sqlite.layout import Layout, Table
    from uaix_backends.sqlite.staging import Statements
    from uaix_backends.tabular.reading import Many
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import ScopeId

#: How many prefixes one statement takes; what fills less than half goes one by one.
_PLACES = (512, 64)

_SCOPE = (
    "SELECT +scope_no, +work, +seq, +recorded_at, +digest FROM uaix_scope "
    "WHERE scope = ?"
)
_NEW_SCOPE = (
    "INSERT INTO uaix_scope (scope, seq, recorded_at, digest, work) "
    "VALUES (?, ?, ?, ?, ?)"
)


def most_variables(layout: Layout) -> int:
    """The most variables that any statement here has."""
    orders = [o for r in layout.schema.relations.values() for o in r.orders.values()]
    return _PLACES[0] * max(map(len, orders), default=0) + 1


class ScopeRows(TabularRows):
    """What one scope holds, as the transaction of a connection shows it."""

    __slots__ = ("execute",)

    def __init__(self, statements: Statements, layout: Layout, scope: ScopeId) -> None:
        super().__init__(statements, layout, scope)
        self.execute = statements.execute
        self.take(one_of(statements.execute(_SCOPE, (scope.text,)), scope.text))

    def make(self) -> None:
        """Give a scope its row when it has none."""
        if self.number is None:
            mark = self.mark
            state = (mark.seq, mark.recorded_at, mark.digest, self.work)
            self.execute(_NEW_SCOPE, (self.scope.text, *state))
            self.number = self.statements.last_insert_rowid()

    def results(self, text: str, values: Sequence[Any], what: str) -> list[Any]:
        """All results of a statement; ``what`` names them when a text is damaged."""
        return all_of(self.execute(text, values), what)

    def all_of(self, asked: Sequence[Many]) -> list[list[Row]]:
        """The answers to many questions like `many`."""
        return [self.many(*question) for question in asked]

    def many(
        self, table: Table, path: str, count: int, prefixes: Sequence[Key]
    ) -> list[Row]:
        """The rows whose path begins with one of these prefixes of ``count`` values."""
        rows: list[Row] = []
        if self.number is None:
            return rows
        at = 0
        what = table.relation.name
        for places in _PLACES:
            text = table.many(path, count, places)
            while len(prefixes) - at > places // 2:
                bound = list(chain.from_iterable(prefixes[at : at + places]))
                bound += [None] * (places * count - len(bound))
                found = self.execute(text, (*bound, self.number))
                rows += table.rows(all_of(found, what))
                at += places
        text = table.scan(path, count, 0, reverse=False, limit=False)
        for prefix in prefixes[at:]:
            found = self.execute(text, (self.number, *prefix))
            rows += table.rows(all_of(found, what))
        return rows
