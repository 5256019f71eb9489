"""A snapshot that shows only what a standing covers.

Whoever has a role over the whole scope reads as ever. Whoever has packages only reads
through paths that begin with the package, or whose prefix names one thing. What isn't
theirs is read all the same and then left out, so that it costs what a missing row
costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.guard.sight import KEYED, PACKAGE_FIELD, SHARED, belongs_to_package
from uaix_core.schema.relations import values_of
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.access.standing import Standing
    from uaix_core.guard.sight import Sight
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot


class GuardedSnapshot:
    """What of one snapshot a standing covers; the port's `Snapshot`."""

    def __init__(self, inner: Snapshot, schema: Schema, sight: Sight) -> None:
        self._inner, self._schema, self._sight = inner, schema, sight

    @property
    def standing(self) -> Standing:
        """Who reads, and what they may do here now."""
        return self._sight.standing

    @property
    def position(self) -> int:
        """The seq of the last commit in view, which all in a scope have in common."""
        return self._inner.position

    @property
    def head(self) -> str:
        """The chain digest (hex) at that position."""
        return self._inner.head

    def get(self, relation: str, key: Key) -> Row | None:
        """The row of this key, if it is there and covered."""
        row = self._inner.get(relation, key)
        declared = self._schema.relation(relation)
        return row if row is not None and self._sight.covers(declared, row) else None

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows among these keys that are there and covered."""
        declared = self._schema.relation(relation)
        found = self._inner.get_many(relation, keys)
        covers = self._sight.covers
        return {key: row for key, row in found.items() if covers(declared, row)}

    def scan(  # noqa: PLR0913 - as the port
        self,
        relation: str,
        path: str,
        prefix: Key = (),
        *,
        after: Key | None = None,
        reverse: bool = False,
        limit: int,
    ) -> Sequence[Row]:
        """The covered rows in the order of a path, up to ``limit`` of them."""
        declared = self._schema.relation(relation)
        order = declared.path_fields(path)
        is_listed = (relation in SHARED or prefix) and relation not in KEYED
        if self._sight.standing.is_wide or is_listed:
            return self._some(declared, path, prefix, after, limit, reverse=reverse)
        if belongs_to_package(declared) and order[0] == PACKAGE_FIELD:
            return self._of_packages(declared, path, after, limit, reverse=reverse)
        # The port still says what is wrong with the call.
        self._inner.scan(
            relation, path, prefix, after=after, reverse=reverse, limit=limit
        )
        return []

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """The commits of the scope, for whoever may see all of it.

        Raises:
            AccessError: ``access.denied``.

        """
        standing = self._sight.standing
        # What another agent keeps of its own is in them too.
        is_agent = standing.principal.kind == "agent"
        if is_agent or not (standing.is_wide and standing.sees_hidden(None)):
            raise AccessError("only who may see all of a scope reads its commits")
        return self._inner.commits(after)

    def _some(  # noqa: PLR0913 - as the port
        self,
        relation: Relation,
        path: str,
        prefix: Key,
        after: Key | None,
        limit: int,
        *,
        reverse: bool,
    ) -> list[Row]:
        order = relation.orders[path]
        rest = order[len(prefix) :]
        if prefix and order[0] == PACKAGE_FIELD:
            is_seen = self._sight.standing.may_see(prefix[0])
            # One read for a package that isn't theirs, as for one that isn't there.
            rest = rest if is_seen else ()
        found: list[Row] = []
        while True:
            page = self._inner.scan(
                relation.name, path, prefix, after=after, reverse=reverse, limit=limit
            )
            found += [row for row in page if self._sight.covers(relation, row)]
            if len(page) < limit or len(found) >= limit or not rest:
                return found[:limit]
            after = values_of(rest)(page[-1])

    def _of_packages(
        self,
        relation: Relation,
        path: str,
        after: Key | None,
        limit: int,
        *,
        reverse: bool,
    ) -> list[Row]:
        """Scan package by package, through those that the standing names."""
        found: list[Row] = []
        for package_id in sorted(self._sight.standing.packages, reverse=reverse):
            rest = None
            if after:
                is_past = package_id > after[0] if reverse else package_id < after[0]
                rest = after[1:] if package_id == after[0] else None
                if is_past or rest == ():
                    continue
            left = limit - len(found)
            prefix = (package_id,)
            found += self._some(relation, path, prefix, rest, left, reverse=reverse)
            if len(found) >= limit:
                break
        return found
