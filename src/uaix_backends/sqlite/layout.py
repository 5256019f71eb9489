"""A schema as tables with every SQL text of the backend.

Texts are built once per relation and shape of read, so that statements stay in the
driver's cache. Each read names its index, because the planner would otherwise walk
the primary key of a table without statistics.
"""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from uaix_backends.sqlite.shapes import OWN_DDL, Shape
from uaix_backends.tabular.migrations import Scripts, Standing
from uaix_backends.tabular.rows import builder_of
from uaix_core.schema.kinds import Kind
from uaix_core.schema.relations import BY_KEY, Keep, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

#: The format of the tables; another one is another kind of store.
FORMAT = 1
#: Says in the header of a file that it is a store.
APPLICATION_NUMBER = int.from_bytes(b"UAIX", "big")
_NOTE_FORMAT = f"INSERT INTO uaix_meta (name, value) VALUES ('format', '{FORMAT}')"
_NOTE_MIGRATION = (
    "INSERT INTO uaix_migration (version, name, checksum, relations, is_additive) "
    "VALUES"
)

_PYTHON = {
    Kind.ID: str,
    Kind.WORD: str,
    Kind.TEXT: str,
    Kind.INSTANT: int,
    Kind.INT: int,
    Kind.BOOL: bool,
}


def _marks(count: int) -> str:
    return ", ".join("?" * count)


class Table(Shape):
    """One relation's SQL texts, and its rows from their results."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation)
        builder = builder_of(relation)
        #: One row, and rows, of results of `get`, `scan` and `many`.
        self.one, self.rows = builder.one, builder.many
        kinds = (relation.fields[name].kind for name in relation.key)
        #: The exact types of a key's values.
        self.key_types = tuple(_PYTHON[kind] for kind in kinds)
        self._selected = self._read_columns()
        self._texts: dict[tuple[Any, ...], str] = {}
        self._paths: dict[tuple[str, int], Callable[[Row], Key]] = {}
        #: One row: scope_no and key are bound.
        self.get = self.scan(BY_KEY, len(relation.key), 0, reverse=False, limit=False)
        this = " AND ".join(f"{c} = ?" for c in (self.scope_no, *self.keys))
        if self.is_history:
            self._write_history(this)
        else:
            self._write_local(this)
        if relation.due is not None:
            self._write_due(relation.due)

    @property
    def has_unique_key(self) -> bool:
        """Whether `put` replaces what stands under its key by itself: always."""
        return True

    def bound(self, path: str, prefix: Key) -> Key:  # noqa: ARG002 - bound as they are
        """The values of a prefix of a path, as they are bound."""
        return prefix

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
            order = [f"t.{self.column[n]}" for n in self.relation.orders[path]]
            where = [f"t.{self.scope_no} = ?", *(f"{c} = ?" for c in order[:prefix])]
            if after:
                beyond = ", ".join(order[prefix : prefix + after])
                where.append(f"({beyond}) {'<' if reverse else '>'} ({_marks(after)})")
            text = (
                f"SELECT {self._selected} FROM {self._indexed(self.indexes[path])} "
                f"WHERE {' AND '.join(where)}"
            )
            if limit:
                down = " DESC" if reverse else ""
                by = ", ".join(f"{column}{down}" for column in order)
                text += f" ORDER BY {by} LIMIT ?"
            self._texts[shape] = text
        return text

    def many(self, path: str, count: int, places: int) -> str:
        """Rows whose path begins with one of ``places`` prefixes of ``count`` values.

        The prefixes are bound one after the other, then scope_no. A prefix of NULLs
        finds nothing, so a shorter list is filled up with them.
        """
        shape = (path, count, places)
        text = self._texts.get(shape)
        if text is None:
            wanted = ", ".join([f"({_marks(count)})"] * places)
            order = [f"t.{self.column[n]}" for n in self.relation.orders[path]]
            joined = [f"{c} = w.column{i}" for i, c in enumerate(order[:count], 1)]
            text = (
                f"SELECT {self._selected} FROM (VALUES {wanted}) AS w "
                f"CROSS JOIN {self._indexed(self.indexes[path])} "
                f"WHERE {' AND '.join(joined)} AND t.{self.scope_no} = ?"
            )
            self._texts[shape] = text
        return text

    def _indexed(self, index: str) -> str:
        return f"{self.table} AS t INDEXED BY {index}"

    def _columns(self) -> str:
        return ", ".join(self.column.values())

    def _read_columns(self) -> str:
        # The sign changes no value. It hides the declared type, by which a host's
        # connection may convert what it reads.
        columns = (*self.column.values(), self.version)
        return ", ".join(f"+t.{column}" for column in columns)

    def _write_history(self, this: str) -> None:
        own = (self.scope_no, self.version, self.ord)
        #: Bound are scope_no, seq, ord and the fields.
        self.add = (
            f"INSERT INTO {self.table} ({', '.join(own)}, {self._columns()}) "
            f"VALUES ({_marks(len(own) + len(self.column))})"
        )
        body = (*self.relation.body, "salt") if self.relation.body else ()
        gone = ", ".join(f"{self.column[name]} = NULL" for name in body)
        #: Bound are scope_no and key.
        self.erase = f"UPDATE {self.table} SET {gone} WHERE {this}"
        #: ord, fields and seq of all rows from one seq to another.
        seq, ord_ = f"t.{self.version}", f"t.{self.ord}"
        self.ledger = (
            f"SELECT +{ord_}, {self._selected} "
            f"FROM {self._indexed(self.ledger_index)} WHERE t.{self.scope_no} = ? "
            f"AND {seq} BETWEEN ? AND ? ORDER BY {seq}, {ord_}"
        )

    def _write_local(self, this: str) -> None:
        rest = [c for c in self.column.values() if c not in self.keys]
        renewed = ", ".join(f"{c} = excluded.{c}" for c in (self.version, *rest))
        #: Bound are scope_no, version and the fields.
        self.put = (
            f"INSERT INTO {self.table} ({self.scope_no}, {self.version}, "
            f"{self._columns()}) VALUES ({_marks(2 + len(self.column))}) "
            f"ON CONFLICT ({', '.join((self.scope_no, *self.keys))}) "
            f"DO UPDATE SET {renewed}"
        )
        #: Bound are scope_no and key.
        self.drop = f"DELETE FROM {self.table} WHERE {this}"
        #: Bound is scope_no.
        self.clear = f"DELETE FROM {self.table} WHERE {self.scope_no} = ?"

    def _write_due(self, field: str) -> None:
        due = f"t.{self.column[field]}"
        by = ", ".join([due, "s.scope", *(f"t.{c}" for c in self.keys)])
        #: Scope, fields and version of what is due; until and limit are bound.
        self.due = (
            f"SELECT +s.scope, {self._selected} FROM {self._indexed(self.due_index)} "
            f"CROSS JOIN uaix_scope AS s ON s.scope_no = t.{self.scope_no} "
            f"WHERE {due} <= ? ORDER BY {by} LIMIT ?"
        )


@lru_cache(maxsize=256)
def _table_of(relation: Relation) -> Table:
    """The table of a relation, made once: a host joins for each of its transactions."""
    return Table(relation)


class Layout:
    """All tables of a schema."""

    move_scope = (
        "UPDATE uaix_scope SET seq = ?, recorded_at = ?, digest = ?, work = ? "
        "WHERE scope_no = ?"
    )
    log = (
        "INSERT INTO uaix_commit (scope_no, seq, recorded_at, digest, adds, erases) "
        "VALUES (?, ?, ?, ?, ?, ?)"
    )
    log_after = (
        "SELECT +seq, +recorded_at, +digest, +adds, +erases FROM uaix_commit "
        "WHERE scope_no = ? AND seq > ? ORDER BY seq LIMIT ?"
    )
    all_scopes = "SELECT scope FROM uaix_scope"
    listed = "SELECT scope FROM uaix_scope WHERE seq > 0 ORDER BY scope"
    astray = (
        "SELECT 1 FROM uaix_scope AS s WHERE s.seq <> coalesce((SELECT max(c.seq) "
        "FROM uaix_commit AS c WHERE c.scope_no = s.scope_no), 0) LIMIT 1"
    )
    later = "SELECT 1 FROM uaix_migration WHERE version > ?"
    digest_of = "SELECT +digest FROM uaix_commit WHERE scope_no = ? AND seq = ?"

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables = {r.name: _table_of(r) for r in schema.relations.values()}
        self.history = [self.tables[r.name] for r in schema.kept(Keep.HISTORY)]
        self.views = [self.tables[r.name] for r in schema.kept(Keep.VIEW)]
        unlisted = (
            "SELECT 1 FROM {} AS t WHERE NOT EXISTS "
            "(SELECT 1 FROM uaix_scope AS s WHERE s.scope_no = t.{}) LIMIT 1"
        )
        self.unlisted = {
            "commit": unlisted.format("uaix_commit", "scope_no"),
            **{
                name: unlisted.format(t.table, t.scope_no)
                for name, t in self.tables.items()
            },
        }
        #: The migrations that make these tables.
        self.scripts = Scripts(
            schema,
            {name: t.digest for name, t in self.tables.items()},
            dialect="sqlite",
            own=(*OWN_DDL, _NOTE_FORMAT),
            ddl=self.ddl,
            record=_NOTE_MIGRATION,
            begin="BEGIN IMMEDIATE",
        )
        #: What of the tables a store has; an older version may not know all.
        self.standing = Standing()

    def ddl(self, names: Iterable[str]) -> list[str]:
        """The statements that create the tables of these relations."""
        return [text for name in names for text in self.tables[name].ddl()]
