"""What reading and writing ask of a layout: a relation's statements, as texts.

Each database builds its own texts and keeps them; what is bound to them, and in which
order, is the same for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from uaix_backends.tabular.migrations import Standing
    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema


class Statements(Protocol):
    """A connection, as far as it runs statements."""

    def execute(self, text: str, values: Sequence[Any] = (), /) -> Any:
        """Run a statement; gives what has `fetchone` and `fetchall`."""
        ...

    def executemany(self, text: str, values: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement for each of many values."""
        ...


class Table(Protocol):
    """One relation as a table. Bound are scope_no and then what is named."""

    relation: Relation
    #: Rows of results.
    rows: Callable[[Iterable[Any]], list[Row]]
    #: HISTORY: seq, ord and the fields · the key · the first and the last seq.
    add: str
    erase: str
    ledger: str
    #: VIEW, WORK and CACHE: version and the fields · the key · nothing.
    put: str
    drop: str
    clear: str

    @property
    def has_unique_key(self) -> bool:
        """Whether `put` replaces what stands under its key by itself."""
        ...

    def bound(self, path: str, prefix: Key) -> Key:
        """The values of a prefix of a path, as they are bound."""
        ...

    def path_of(self, path: str, count: int) -> Callable[[Row], Key]:
        """A function from a row to the first ``count`` values of a path's order."""
        ...

    def scan(
        self, path: str, prefix: int, after: int, *, reverse: bool, limit: bool = True
    ) -> str:
        """Rows in the order of a path: prefix, after and limit."""
        ...


class Layout(Protocol):
    """All tables of a schema."""

    schema: Schema
    #: What of the migrations the store has had.
    standing: Standing
    #: seq, recorded_at, digest, work, scope_no.
    move_scope: str
    #: scope_no, seq, recorded_at, digest, count of adds, erases.
    log: str
    #: scope_no, the seq after which, and a limit; gives entries of the log.
    log_after: str
    #: scope_no, seq; gives a digest.
    digest_of: str
    #: The number of migrations known; a result when there are more.
    later: str
    #: The texts of all scopes, and of those with a commit in their order.
    all_scopes: str
    listed: str
    #: A result when a scope stands elsewhere than its last commit.
    astray: str

    @property
    def unlisted(self) -> Mapping[str, str]:
        """Table -> what has a result when it has rows of no scope."""
        ...

    @property
    def tables(self) -> Mapping[str, Table]:
        """Relation -> table."""
        ...

    @property
    def history(self) -> Sequence[Table]:
        """The tables of HISTORY."""
        ...

    @property
    def views(self) -> Sequence[Table]:
        """The tables of VIEWs."""
        ...
