"""A schema as SQLite tables: names, DDL, and every SQL text of the backend.

Texts are built once per relation and shape of read, so that statements stay in the
driver's cache. Each read names its index, because the planner would otherwise walk
the primary key of a table without statistics.

Rows that may grow large live in rowid tables with indexes beside them. A HISTORY
table is always one: its rowids only rise and its rows are never deleted, so no page of
it is ever rebalanced, and an erased body has no stale copy in another page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.schema.relations import BY_KEY, Keep, values_of
from uaix_core.schema.rows import CONTENT, Kind
from uaix_core.values.canonical import canonical_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Field, Row
    from uaix_core.schema.schema import Schema

#: Rows wider than this fill the inner pages of a table without rowids.
_NARROW = 500

_TYPES = {
    Kind.ID: "TEXT",
    Kind.WORD: "TEXT",
    Kind.TEXT: "TEXT",
    Kind.JSON: "TEXT",
    Kind.BYTES: "BLOB",
    Kind.INSTANT: "INTEGER",
    Kind.INT: "INTEGER",
    Kind.BOOL: "INTEGER",
}
_WIDTHS = {Kind.ID: 128, Kind.INSTANT: 8, Kind.INT: 8, Kind.BOOL: 1}

#: The backend's own tables. No relation's name begins with ``_``, so none collides.
_RESERVED = frozenset({"scope", "commit", "meta"})
OWN_DDL = (
    "CREATE TABLE uaix_meta ("
    "name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE uaix_scope ("
    "scope_no INTEGER PRIMARY KEY, scope TEXT NOT NULL, seq INTEGER NOT NULL, "
    "recorded_at INTEGER NOT NULL, digest TEXT NOT NULL, work INTEGER NOT NULL"
    ") STRICT",
    'CREATE UNIQUE INDEX "uaix_scope.scope" ON uaix_scope (scope)',
    "CREATE TABLE uaix_commit ("
    "scope_no INTEGER NOT NULL, seq INTEGER NOT NULL, recorded_at INTEGER NOT NULL, "
    "digest TEXT NOT NULL, adds INTEGER NOT NULL, erases TEXT, "
    "PRIMARY KEY (scope_no, seq)) STRICT, WITHOUT ROWID",
)


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _distinct(names: Iterable[str]) -> list[str]:
    """Names that differ also for SQLite, which ignores letter case in identifiers."""
    taken: set[str] = set()
    found = []
    for wanted in names:
        name = wanted
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        found.append(name)
    return found


class Table:
    """One relation as a table: its columns, indexes and SQL texts."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        reserved = relation.name in _RESERVED
        self.name = f"uaix__{relation.name}" if reserved else f"uaix_{relation.name}"
        self._table = quoted(self.name)
        is_history = relation.keep is Keep.HISTORY
        own = ["scope_no", *(["seq", "ord"] if is_history else ["version"])]
        names = _distinct([*relation.columns, *own])
        count = len(relation.columns)
        #: Field name -> quoted column.
        self._column = dict(
            zip(relation.columns, map(quoted, names[:count]), strict=True)
        )
        self._scope_no, self._version, *rest = map(quoted, names[count:])
        self._ord = rest[0] if rest else ""
        self.is_narrow = not is_history and _widest(relation) <= _NARROW
        paths = sorted(relation.orders)
        labels = _distinct(["ledger", "due", *paths])
        self._ledger, self._due = (
            quoted(f"{self.name}.{label}") for label in labels[:2]
        )
        #: Path -> the quoted name of its index.
        self.indexes = {
            path: quoted(f"{self.name}.{label}")
            for path, label in zip(paths, labels[2:], strict=True)
        }
        if self.is_narrow:
            self.indexes[BY_KEY] = quoted(f"sqlite_autoindex_{self.name}_1")
        fields = relation.fields
        self._bools = [
            at for at, n in enumerate(relation.columns) if fields[n].kind is Kind.BOOL
        ]
        #: Whether rows that change place hold what people wrote.
        self.moves_content = not is_history and any(
            field.kind in CONTENT for field in fields.values()
        )
        self._selected = f"{self._all('t.')}, t.{self._version}"
        self._texts: dict[tuple[Any, ...], str] = {}
        self._paths: dict[tuple[str, int], Callable[[Row], Key]] = {}
        self.get = self.scan(BY_KEY, len(relation.key), 0, reverse=False, limit=False)
        self._write_texts()

    def row(self, values: Sequence[Any]) -> Row:
        """The row of one result of `get`, `scan` or `many`."""
        if self._bools:
            found = list(values)
            for at in self._bools:
                found[at] = None if found[at] is None else bool(found[at])
            values = found
        return self.relation.make(values[:-1], values[-1])

    def path_of(self, path: str, count: int) -> Callable[[Row], Key]:
        """A function from a row to the first ``count`` values of a path's order."""
        found = self._paths.get((path, count))
        if found is None:
            order = self.relation.orders[path][:count]
            found = values_of(order) if order else lambda _row: ()
            self._paths[path, count] = found
        return found

    def scan(
        self, path: str, prefix: int, after: int, *, reverse: bool, limit: bool = True
    ) -> str:
        """Rows in the order of a path: scope_no, prefix, after, limit are bound."""
        shape = (path, prefix, after, reverse, limit)
        text = self._texts.get(shape)
        if text is None:
            order = [f"t.{self._column[n]}" for n in self.relation.orders[path]]
            where = [f"t.{self._scope_no} = ?", *(f"{c} = ?" for c in order[:prefix])]
            if after:
                beyond = order[prefix : prefix + after]
                sign = "<" if reverse else ">"
                where.append(f"({', '.join(beyond)}) {sign} ({_marks(after)})")
            text = f"{self._from(path)} WHERE {' AND '.join(where)}"
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
            group = f"({_marks(count)})"
            wanted = ", ".join([group] * places)
            order = [f"t.{self._column[n]}" for n in self.relation.orders[path]]
            joined = [f"{c} = w.column{i}" for i, c in enumerate(order[:count], 1)]
            where = " AND ".join([f"t.{self._scope_no} = ?", *joined])
            source = f"(VALUES {wanted}) AS w CROSS JOIN {self._named(path)}"
            text = f"SELECT {self._selected} FROM {source} WHERE {where}"
            self._texts[shape] = text
        return text

    def _named(self, path: str) -> str:
        return f"{self._table} AS t INDEXED BY {self.indexes[path]}"

    def _from(self, path: str) -> str:
        return f"SELECT {self._selected} FROM {self._named(path)}"

    def _all(self, prefix: str = "") -> str:
        return ", ".join(prefix + column for column in self._column.values())

    def _keys(self) -> list[str]:
        return [self._column[name] for name in self.relation.key]

    def _write_texts(self) -> None:
        relation, column = self.relation, self._column
        scope_no, version = self._scope_no, self._version
        keys = self._keys()
        this = " AND ".join(f"{c} = ?" for c in (scope_no, *keys))
        into = f"INSERT INTO {self._table}"
        if relation.keep is Keep.HISTORY:
            names = f"{scope_no}, {version}, {self._ord}, {self._all()}"
            self.add = f"{into} ({names}) VALUES ({_marks(3 + len(column))})"
            body = (*relation.body, "salt") if relation.body else ()
            gone = ", ".join(f"{column[name]} = NULL" for name in body)
            self.erase = f"UPDATE {self._table} SET {gone} WHERE {this}"
            self.ledger = (
                f"SELECT t.{self._ord}, {self._selected} FROM {self._table} AS t "
                f"INDEXED BY {self._ledger} WHERE t.{scope_no} = ? "
                f"AND t.{version} BETWEEN ? AND ? ORDER BY t.{version}, t.{self._ord}"
            )
            return
        others = [version, *(c for c in column.values() if c not in keys)]
        renewed = ", ".join(f"{c} = excluded.{c}" for c in others)
        self.put = (
            f"{into} ({scope_no}, {version}, {self._all()}) "
            f"VALUES ({_marks(2 + len(column))}) "
            f"ON CONFLICT ({', '.join((scope_no, *keys))}) DO UPDATE SET {renewed}"
        )
        self.drop = f"DELETE FROM {self._table} WHERE {this}"
        self.clear = f"DELETE FROM {self._table} WHERE {scope_no} = ?"
        if relation.due is not None:
            due = f"t.{column[relation.due]}"
            by = ", ".join([due, "s.scope", *(f"t.{c}" for c in keys)])
            self.due = (
                f"SELECT s.scope, {self._selected} FROM {self._table} AS t "
                f"INDEXED BY {self._due} CROSS JOIN uaix_scope AS s "
                f"ON s.scope_no = t.{scope_no} WHERE {due} <= ? ORDER BY {by} LIMIT ?"
            )

    def ddl(self) -> list[str]:
        """The statements that create the table and its indexes."""
        relation, scope_no, keys = self.relation, self._scope_no, self._keys()
        columns = [f"{scope_no} INTEGER NOT NULL", f"{self._version} INTEGER NOT NULL"]
        if self._ord:
            columns.append(f"{self._ord} INTEGER NOT NULL")
        columns += [
            f"{self._column[name]} {_column_type(relation.fields[name])}"
            for name in relation.columns
        ]
        options = "STRICT"
        if self.is_narrow:
            columns.append(f"PRIMARY KEY ({', '.join((scope_no, *keys))})")
            options = "STRICT, WITHOUT ROWID"
        made = [f"CREATE TABLE {self._table} ({', '.join(columns)}) {options}"]
        for path, index in self.indexes.items():
            if path == BY_KEY and self.is_narrow:
                continue
            # A unique path gets a plain index: the core has checked it, and rows that
            # trade places would break it in between.
            unique = "UNIQUE " if path == BY_KEY else ""
            order = (self._column[name] for name in relation.orders[path])
            over = ", ".join((scope_no, *order))
            made.append(f"CREATE {unique}INDEX {index} ON {self._table} ({over})")
        if self._ord:
            over = ", ".join((scope_no, self._version, self._ord))
            made.append(f"CREATE INDEX {self._ledger} ON {self._table} ({over})")
        if relation.due is not None:
            # The one index that crosses scopes, for the one read that does.
            over = ", ".join((self._column[relation.due], scope_no, *keys))
            made.append(f"CREATE INDEX {self._due} ON {self._table} ({over})")
        return made

    def digest(self) -> str:
        """A digest of all that must be the same for a stored table to be this one."""
        relation = self.relation
        return canonical_digest(
            {
                "ddl": self.ddl(),
                "keep": relation.keep.value,
                "unique": sorted(relation.unique),
                "body": list(relation.body),
                "versioned": relation.versioned,
                "fields": [
                    [f.name, f.kind.value, f.optional, list(f.words)]
                    for f in relation.fields.values()
                ],
            }
        )


def _column_type(field: Field) -> str:
    return _TYPES[field.kind] + ("" if field.optional else " NOT NULL")


def _widest(relation: Relation) -> int:
    """The most bytes of a row; a long key counts little, as an index repeats it."""
    width = 0
    for name, field in relation.fields.items():
        if field.kind is Kind.WORD:
            width += max(map(len, field.words), default=0)
        elif field.kind in _WIDTHS:
            width += _WIDTHS[field.kind]
        elif name not in relation.key:
            return _NARROW + 1
    return width


class Layout:
    """All tables of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables = {r.name: Table(r) for r in schema.relations.values()}
        self.history = [self.tables[r.name] for r in schema.kept(Keep.HISTORY)]
        self.views = [self.tables[r.name] for r in schema.kept(Keep.VIEW)]
        #: Whether a rebalanced page may keep a stale copy of what was written.
        self.moves_content = any(t.moves_content for t in self.tables.values())
        #: Relation -> digest, as the store keeps it.
        self.digests = {name: t.digest() for name, t in self.tables.items()}
        self.fingerprint = canonical_digest(self.digests)

    def ddl(self, names: Iterable[str]) -> list[str]:
        """The statements that create the tables of these relations."""
        return [text for name in names for text in self.tables[name].ddl()]
