"""A schema: the relations and reducers of all rooms, checked as a whole."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.migrations import Migration, check_migrations
from uaix_core.schema.relations import Keep, Relation, as_tuple
from uaix_core.schema.trees import is_held
from uaix_core.values.canonical import canonical_digest
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.reducers import Reducer
    from uaix_core.schema.rows import Row


@attrs.frozen
class Room:
    """What one room contributes: its relations, and the reducer of its views if any."""

    name: str
    relations: tuple[Relation, ...] = attrs.field(converter=as_tuple)
    reducer: Reducer | None = None


class Schema:
    """The declared relations of a store, by name and by row class.

    Args:
        rooms: what the schema consists of, in the order in which reducers run.
        migrations: the steps by which tables come to hold these relations; without
            them a store has one for what it was made with, and one more for each time
            that it was opened with further relations.

    Raises:
        SchemaError: when two relations share a name or a row class, when an
            ``about`` names no HISTORY relation with a body, when the bytes of a
            ``tree`` aren't where it says, or when the migrations don't make these
            relations (``schema.migration``).

    """

    def __init__(self, *rooms: Room, migrations: Sequence[Migration] = ()) -> None:
        self.reducers = tuple(
            room.reducer for room in rooms if room.reducer is not None
        )
        self.relations: dict[str, Relation] = {}
        self._by_row: dict[type[Row], Relation] = {}
        for relation in (r for room in rooms for r in room.relations):
            if relation.name in self.relations or relation.row in self._by_row:
                raise SchemaError(
                    "a name and a row class belong to one relation",
                    code="schema.relation",
                    path=relation.name,
                )
            self.relations[relation.name] = relation
            self._by_row[relation.row] = relation
        #: HISTORY name -> the relations whose rows go when one of its rows is erased.
        self.about: dict[str, list[tuple[Relation, str]]] = {}
        for relation in self.relations.values():
            if relation.about is not None:
                target = self.relation(relation.about)
                if not target.body:
                    raise SchemaError(
                        "about names a relation with a body",
                        code="schema.relation",
                        path=relation.name,
                    )
                self.about.setdefault(target.name, []).append(
                    (relation, relation.about_path(target))
                )
        #: The relations whose rows stand as files in a folder.
        self.trees = tuple(r for r in self.relations.values() if r.tree is not None)
        for relation in self.trees:
            if relation.tree and not is_held(relation.tree, self.relations):
                raise SchemaError(
                    "a tree names a HISTORY relation, its one key and its body",
                    code="schema.relation",
                    path=relation.name,
                )

        #: The HISTORY whose rows hold sealed commits, if any.
        self.wrapper = next((r for r in self.kept(Keep.HISTORY) if r.wraps), None)
        self.migrations = tuple(migrations)
        if self.migrations:
            check_migrations(self.migrations, self.relations)

    def relation(self, name: str) -> Relation:
        """The relation of this name; SchemaError when there is none."""
        relation = self.relations.get(name)
        if relation is None:
            raise SchemaError(
                "no such relation", code="schema.relation", path=str(name)
            )
        return relation

    def of(self, row: Row) -> Relation:
        """The relation of this row's class; SchemaError when there is none."""
        relation = self._by_row.get(type(row))
        if relation is None:
            raise SchemaError(
                "a row of an undeclared class",
                code="schema.relation",
                path=type(row).__name__,
            )
        return relation

    def kept(self, *keeps: Keep) -> tuple[Relation, ...]:
        """The relations of these kinds, in schema order."""
        return tuple(r for r in self.relations.values() if r.keep in keeps)

    @cached_property
    def fingerprint(self) -> str:
        """A digest (hex) of all that a backend lays out: names, fields, keys, paths."""
        return canonical_digest(
            [
                {
                    "name": r.name,
                    "keep": r.keep.value,
                    "key": list(r.key),
                    "paths": {n: list(f) for n, f in r.paths.items()},
                    "unique": sorted(r.unique),
                    "body": list(r.body),
                    "versioned": r.versioned,
                    "about": r.about,
                    "due": r.due,
                    "fields": [
                        [f.name, f.kind.value, f.optional, list(f.words)]
                        for f in r.fields.values()
                    ],
                }
                for r in self.relations.values()
            ]
        )
