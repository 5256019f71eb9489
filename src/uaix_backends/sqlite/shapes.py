"""The shape of a relation as an SQLite table: names of columns and indexes, DDL.

Rows that may grow large live in rowid tables with indexes beside them. A HISTORY
table is always one: its rowids only rise and its rows are never deleted, so no page of
it is ever rebalanced, and an erased body has no stale copy in another page.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from uaix_core.schema.kinds import CONTENT, Kind
from uaix_core.schema.relations import BY_KEY, Keep
from uaix_core.values.canonical import canonical_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Field

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

_META = (
    "CREATE TABLE uaix_meta (name TEXT NOT NULL, value TEXT NOT NULL, "
    "PRIMARY KEY (name)) STRICT, WITHOUT ROWID"
)
_SCOPE = (
    "CREATE TABLE uaix_scope (scope_no INTEGER PRIMARY KEY, scope TEXT NOT NULL, "
    "seq INTEGER NOT NULL, recorded_at INTEGER NOT NULL, digest TEXT NOT NULL, "
    "work INTEGER NOT NULL) STRICT"
)
_SCOPE_INDEX = 'CREATE UNIQUE INDEX "uaix_scope.scope" ON uaix_scope (scope)'
_COMMIT = (
    "CREATE TABLE uaix_commit (scope_no INTEGER NOT NULL, seq INTEGER NOT NULL, "
    "recorded_at INTEGER NOT NULL, digest TEXT NOT NULL, adds INTEGER NOT NULL, "
    "erases TEXT, PRIMARY KEY (scope_no, seq)) STRICT, WITHOUT ROWID"
)
_MIGRATION = (
    "CREATE TABLE uaix_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "checksum TEXT NOT NULL, relations TEXT NOT NULL, is_additive INTEGER NOT NULL) "
    "STRICT"
)
#: The backend's own tables.
OWN_DDL = (_META, _MIGRATION, _SCOPE, _SCOPE_INDEX, _COMMIT)
#: A relation of such a name gets ``__``, with which no relation's name begins.
_RESERVED = frozenset({"meta", "migration", "scope", "commit"})


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


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


class Shape:
    """One relation as a table; all names but ``name`` are quoted."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        reserved = relation.name in _RESERVED
        self.name = f"uaix_{'_' if reserved else ''}{relation.name}"
        self.table = quoted(self.name)
        self.is_history = relation.keep is Keep.HISTORY
        own = ["scope_no", *(["seq", "ord"] if self.is_history else ["version"])]
        fields = len(relation.columns)
        names = [quoted(name) for name in _distinct([*relation.columns, *own])]
        #: Field -> column.
        self.column = dict(zip(relation.columns, names[:fields], strict=True))
        self.keys = [self.column[name] for name in relation.key]
        self.scope_no, self.version, *rest = names[fields:]
        #: The place within the commit; empty unless HISTORY.
        self.ord = rest[0] if rest else ""
        #: Whether the table is its own index by key.
        self.is_narrow = not self.is_history and _widest(relation) <= _NARROW
        paths = sorted(relation.orders)
        labels = [
            quoted(f"{self.name}.{label}")
            for label in _distinct(["ledger", "due", *paths])
        ]
        self.ledger_index, self.due_index = labels[:2]
        #: Path -> index.
        self.indexes = dict(zip(paths, labels[2:], strict=True))
        if self.is_narrow:
            self.indexes[BY_KEY] = quoted(f"sqlite_autoindex_{self.name}_1")
        #: Whether pages that are rebalanced hold what people wrote.
        self.moves_content = not self.is_history and any(
            field.kind in CONTENT for field in relation.fields.values()
        )

    def ddl(self) -> list[str]:
        """The statements that create the table and its indexes.

        They are written as SQLite keeps them, so that both can be compared.
        """
        relation = self.relation
        columns = [f"{self.scope_no} INTEGER NOT NULL"]
        columns += [
            f"{name} INTEGER NOT NULL" for name in (self.version, self.ord) if name
        ]
        columns += [
            f"{self.column[name]} {_column_type(relation.fields[name])}"
            for name in relation.columns
        ]
        options = "STRICT"
        if self.is_narrow:
            columns.append(f"PRIMARY KEY ({', '.join((self.scope_no, *self.keys))})")
            options = "STRICT, WITHOUT ROWID"
        made = [f"CREATE TABLE {self.table} ({', '.join(columns)}) {options}"]
        for path, index in self.indexes.items():
            if path == BY_KEY and self.is_narrow:
                continue
            # A unique path gets a plain index: the core has checked it, and rows that
            # trade places would break it in between.
            unique = "UNIQUE " if path == BY_KEY else ""
            order = (self.column[name] for name in relation.orders[path])
            over = ", ".join((self.scope_no, *order))
            made.append(f"CREATE {unique}INDEX {index} ON {self.table} ({over})")
        if self.is_history:
            over = f"{self.scope_no}, {self.version}, {self.ord}"
            made.append(f"CREATE INDEX {self.ledger_index} ON {self.table} ({over})")
        if relation.due is not None:
            # The one index that crosses scopes, for the one read that does.
            over = ", ".join((self.column[relation.due], self.scope_no, *self.keys))
            made.append(f"CREATE INDEX {self.due_index} ON {self.table} ({over})")
        return made

    @cached_property
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
    """The most bytes of a row; a long text in the key is in an index anyway."""
    width = 0
    for name, field in relation.fields.items():
        if field.kind is Kind.WORD:
            width += max(map(len, field.words), default=0)
        elif field.kind in _WIDTHS:
            width += _WIDTHS[field.kind]
        elif name not in relation.key:
            return _NARROW + 1
    return width
