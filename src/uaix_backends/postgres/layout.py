"""A schema as tables with every SQL text of the backend, built once."""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

import hashlib
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.postgres.shapes import INDEXED, TEXTS, TYPES, Names, Shape
from uaix_backends.tabular.migrations import Scripts, Standing
from uaix_backends.tabular.rows import builder_of
from uaix_core.schema.relations import Keep, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId


#: The format of the tables; another one is another kind of store.
FORMAT: Final = 1


def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)


class Table(Shape):
    """One relation's SQL texts, and its rows from their results."""

    def __init__(self, relation: Relation, names: Names) -> None:
        super().__init__(relation, names)
        builder = builder_of(relation)
        #: One row, and rows, of results of `scan` and `many`.
        self.one, self.rows = builder.one, builder.many
        self._selected = f"{self._columns('t.')}, t.{self.version}"
        self._texts: dict[tuple[Any, ...], str] = {}
        self._paths: dict[tuple[str, int], Callable[[Row], Key]] = {}
        if self.is_history:
            self._write_history()
        else:
            self._write_local()
        if relation.due is not None:
            self._write_due(relation.due)

    def bound(self, path: str, prefix: Key) -> tuple[Any, ...]:
        """The values of a prefix as `scan` binds them."""
        order = self.relation.orders[path]
        if not any(self.is_cut(name) for name in order[: len(prefix)]):
            return prefix
        values: list[Any] = []
        for name, value in zip(order, prefix, strict=False):
            values.append(value)
            if self.is_cut(name):
                values.append(value)
        return tuple(values)

    def path_of(self, path: str, count: int) -> Callable[[Row], Key]:
        """A function from a row to the first ``count`` values of a path's order."""
        found = self._paths.get((path, count))
        if found is None:
            found = values_of(self.relation.orders[path][:count])
            self._paths[path, count] = found
        return found

    def scan(
        self, path: str, prefix: int, after: int, *, reverse: bool, limit: bool = True
    ) -> str:
        """Rows in the order of a path: scope_no, prefix, after and limit are bound."""
        shape = (path, prefix, after, reverse, limit)
        text = self._texts.get(shape)
        if text is None:
            names = self.relation.orders[path]
            order = [f"t.{self.column[n]}" for n in names]
            where = [f"t.{self.scope_no} = %s"]
            where += [self._equals(n, "%s") for n in names[:prefix]]
            if after:
                beyond = ", ".join(order[prefix : prefix + after])
                where.append(f"({beyond}) {'<' if reverse else '>'} ({_marks(after)})")
            text = (
                f"SELECT {self._selected} FROM {self.table} AS t "
                f"WHERE {' AND '.join(where)}"
            )
            if limit:
                down = " DESC" if reverse else ""
                # The scope and the prefix are the same in all rows, and named so that
                # the planner sees the order of the index.
                by = ", ".join(
                    f"{column}{down}" for column in (f"t.{self.scope_no}", *order)
                )
                text += f" ORDER BY {by} LIMIT %s"
            self._texts[shape] = text
        return text

    def _equals(self, name: str, value: str) -> str:
        column = f"t.{self.column[name]}"
        if not self.is_cut(name):
            return f"{column} = {value}"
        return (
            f'left({column}, {INDEXED}) COLLATE "C" = left({value}, {INDEXED}) '
            f"AND {column} = {value}"
        )

    def many(self, path: str, count: int) -> str:
        """Rows whose path begins with one of many prefixes of ``count`` values.

        Bound are one array for each of the values, and scope_no.
        """
        shape = (path, count)
        text = self._texts.get(shape)
        if text is None:
            names = self.relation.orders[path][:count]
            arrays, joined = [], []
            for number, name in enumerate(names):
                kind = self.relation.fields[name].kind
                arrays.append(f"%s::{TYPES[kind]}[]")
                value = f"w.c{number}"
                if kind in TEXTS:
                    value += ' COLLATE "C"'
                joined.append(self._equals(name, value))
            listed = ", ".join(f"c{number}" for number in range(count))
            text = (
                f"SELECT {self._selected} "
                f"FROM unnest({', '.join(arrays)}) AS w({listed}) "
                f"JOIN {self.table} AS t ON {' AND '.join(joined)} "
                f"WHERE t.{self.scope_no} = %s"
            )
            self._texts[shape] = text
        return text

    def _columns(self, prefix: str = "") -> str:
        return ", ".join(prefix + column for column in self.column.values())

    @property
    def _this(self) -> str:
        keys = (self._equals(name, "%s") for name in self.relation.key)
        return " AND ".join((f"t.{self.scope_no} = %s", *keys))

    def _write_history(self) -> None:
        own = (self.scope_no, self.version, self.ord)
        #: Bound are scope_no, seq, ord and the fields.
        self.add = (
            f"INSERT INTO {self.table} ({', '.join(own)}, {self._columns()}) "
            f"VALUES ({_marks(len(own) + len(self.column))})"
        )
        body = (*self.relation.body, "salt") if self.relation.body else ()
        gone = ", ".join(f"{self.column[name]} = NULL" for name in body)
        #: Bound are scope_no and key.
        self.erase = f"UPDATE {self.table} AS t SET {gone} WHERE {self._this}"
        #: ord, fields and seq of all rows from one seq to another.
        seq, ord_ = f"t.{self.version}", f"t.{self.ord}"
        self.ledger = (
            f"SELECT {ord_}, {self._selected} "
            f"FROM {self.table} AS t WHERE t.{self.scope_no} = %s "
            f"AND {seq} BETWEEN %s AND %s ORDER BY {seq}, {ord_}"
        )

    def _write_local(self) -> None:
        rest = [c for c in self.column.values() if c not in self.keys]
        insert = (
            f"INSERT INTO {self.table} ({self.scope_no}, {self.version}, "
            f"{self._columns()}) VALUES ({_marks(2 + len(self.column))})"
        )
        #: Bound are scope_no, version and the fields.
        self.put = insert
        if self.has_unique_key:
            renewed = ", ".join(f"{c} = excluded.{c}" for c in (self.version, *rest))
            keys = ", ".join((self.scope_no, *self.keys))
            self.put += f" ON CONFLICT ({keys}) DO UPDATE SET {renewed}"
        #: Bound are scope_no and key.
        self.drop = f"DELETE FROM {self.table} AS t WHERE {self._this}"
        #: Bound is scope_no.
        self.clear = f"DELETE FROM {self.table} WHERE {self.scope_no} = %s"

    def _write_due(self, field: str) -> None:
        due = f"t.{self.column[field]}"
        by = ", ".join([due, "s.scope", *(f"t.{c}" for c in self.keys)])
        #: Scope, fields and version of what is due; until and limit are bound.
        self.due = (
            f"SELECT s.scope, {self._selected} FROM {self.table} AS t "
            f"JOIN {self.names.scope} AS s ON s.scope_no = t.{self.scope_no} "
            f"WHERE {due} <= %s ORDER BY {by} LIMIT %s"
        )


@lru_cache(maxsize=8)
def _names_of(namespace: str) -> Names:
    return Names(namespace)


@lru_cache(maxsize=256)
def _table_of(relation: Relation, names: Names) -> Table:
    """The table of a relation, made once: a host joins for each of its transactions."""
    return Table(relation, names)


class Layout:
    """All tables of a schema in a namespace."""

    def __init__(self, schema: Schema, namespace: str) -> None:
        self.schema = schema
        self.names = _names_of(namespace)
        scope, commit = self.names.scope, self.names.commit
        mark = "scope_no, work, seq, recorded_at, digest"
        #: The row of a scope; its text is bound.
        self.scope_row = f"SELECT {mark} FROM {scope} WHERE scope = %s"
        #: The same; the row stays locked until the transaction ends.
        self.scope_lock = f"{self.scope_row} FOR UPDATE"
        #: The version of the last migration that isn't additive. After the lock it is
        #: asked for by itself, for a statement that waits sees what was before.
        self.strict = (
            f"SELECT max(version) FROM {self.names.migration} WHERE is_additive = 0"
        )
        #: Both in one row, which is there for an unknown scope as well.
        self.scope_seen = (
            f"SELECT ({self.strict}), {mark} FROM (SELECT 1) AS always "
            f"LEFT JOIN ({self.scope_row}) AS s ON true"
        )
        #: Keeps others from a scope that has no row yet, until the transaction ends;
        #: bound is the scope's `number`.
        self.reserve = "SELECT pg_catalog.pg_advisory_xact_lock(%s)"
        #: Bound are the scope's text, seq, recorded_at, digest and work.
        self.new_scope = (
            f"INSERT INTO {scope} (scope, seq, recorded_at, digest, work) "
            "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (scope) DO NOTHING"
        )
        self.move_scope = (
            f"UPDATE {scope} SET seq = %s, recorded_at = %s, digest = %s, work = %s "
            "WHERE scope_no = %s"
        )
        self.log = (
            f"INSERT INTO {commit} (scope_no, seq, recorded_at, digest, adds, erases) "
            "VALUES (%s, %s, %s, %s, %s, %s)"
        )
        self.log_after = (
            f"SELECT seq, recorded_at, digest, adds, erases FROM {commit} "
            "WHERE scope_no = %s AND seq > %s ORDER BY scope_no, seq LIMIT %s"
        )
        self.later = f"SELECT 1 FROM {self.names.migration} WHERE version > %s"
        self.digest_of = f"SELECT digest FROM {commit} WHERE scope_no = %s AND seq = %s"
        self.tables = {
            r.name: _table_of(r, self.names) for r in schema.relations.values()
        }
        self.history = [self.tables[r.name] for r in schema.kept(Keep.HISTORY)]
        self.views = [self.tables[r.name] for r in schema.kept(Keep.VIEW)]
        self.all_scopes = f"SELECT scope FROM {scope}"
        self.listed = f"SELECT scope FROM {scope} WHERE seq > 0 ORDER BY scope"
        self.astray = (
            f"SELECT 1 FROM {scope} AS s WHERE s.seq <> coalesce((SELECT max(c.seq) "
            f"FROM {commit} AS c WHERE c.scope_no = s.scope_no), 0) LIMIT 1"
        )
        columns = [("commit", commit, "scope_no")]
        columns += [(name, t.table, t.scope_no) for name, t in self.tables.items()]
        self.unlisted = {
            name: f"SELECT 1 FROM {table} AS t WHERE NOT EXISTS "
            f"(SELECT 1 FROM {scope} AS s WHERE s.scope_no = t.{column}) LIMIT 1"
            for name, table, column in columns
        }
        #: What of the migrations a store has had; an older version may not know all.
        self.standing = Standing()

    def number(self, scope: ScopeId) -> int:
        """How a scope is known among the advisory locks of the database."""
        name = f"{self.names.namespace}\0{scope.text}"
        digest = hashlib.sha256(name.encode()).digest()
        return int.from_bytes(digest[:8], signed=True)

    def scripts(self, partitions: int) -> Scripts:
        """The migrations that make these tables, cut into so many parts."""
        notes = {"format": FORMAT, "partitions": partitions}
        names = self.names
        return Scripts(
            self.schema,
            {name: t.digest for name, t in self.tables.items()},
            dialect="postgresql",
            own=(
                f"CREATE SCHEMA IF NOT EXISTS {names.schema}",
                *names.ddl(partitions),
                *(
                    f"INSERT INTO {names.meta} (name, value) "
                    f"VALUES ('{name}', '{value}')"
                    for name, value in notes.items()
                ),
            ),
            ddl=partial(self.ddl, partitions=partitions),
            begin="BEGIN",
            record=f"INSERT INTO {names.migration} "
            "(version, name, checksum, relations, is_additive) VALUES",
            filled=lambda text: text.replace("{namespace}", names.schema),
        )

    def ddl(self, relations: Iterable[str], partitions: int) -> list[str]:
        """The statements that create the tables of these relations."""
        return [
            text for name in relations for text in self.tables[name].ddl(partitions)
        ]
