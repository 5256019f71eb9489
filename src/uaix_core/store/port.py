"""The port: what a backend implements and all that the library asks of one.

A store is a hash-chained ledger per scope over the relations that a schema declares.
There is one write verb, whole or not at all, and reads go through snapshots that do
not move. The numbered clauses of the storage contract say the rest.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId

#: More rows than this in one scan, due or scopes call are refused, not cut.
MAX_SCAN = 1_000
#: More keys than this in one `Snapshot.get_many` are refused.
MAX_KEYS = 10_000


class Capability(enum.Enum):
    """A promise that a backend declares; the conformance kit checks it."""

    #: An acknowledged commit is there after the store was closed and opened again.
    DURABLE = "durable"
    #: Several store objects, also of several processes, may work on one path.
    SHARED = "shared"
    #: The store can work inside a transaction that the host owns. One that does so is
    #: not DURABLE by itself: what it appended is staged until the host commits.
    JOINS = "joins"
    #: All bytes rest in files that the harness can name, so erasure can be searched.
    FILES = "files"


class Snapshot(Protocol):
    """A view of ONE scope that does not move while commits go on.

    An erasure reaches it all the same: it may or may not still show an erased body.
    """

    @property
    def position(self) -> int:
        """The seq of the last commit in view, 0 when the scope is empty."""
        ...

    @property
    def head(self) -> str:
        """The chain digest (hex) at that position."""
        ...

    def get(self, relation: str, key: Key) -> Row | None:
        """The row of this key, or None."""
        ...

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows that exist among at most `MAX_KEYS` keys."""
        ...

    def scan(  # noqa: PLR0913 - one read verb instead of a query language
        self,
        relation: str,
        path: str,
        prefix: Key = (),
        *,
        after: Key | None = None,
        reverse: bool = False,
        limit: int,
    ) -> Sequence[Row]:
        """Rows in the order of a path, 1 <= limit <= `MAX_SCAN`.

        Args:
            relation: the relation's name.
            path: one of its paths, or ``"key"``.
            prefix: values that the leading fields of the order equal.
            after: leading values of the fields that follow the prefix; rows whose
                same part is strictly greater (reverse: less) are given.
            reverse: the whole order backwards.
            limit: how many rows at most.

        """
        ...

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """The commits with a seq above ``after`` in order, without local parts."""
        ...


class Store(Protocol):
    """A ledger per scope. Safe to share between threads, never between processes."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Exactly what the backend promises."""
        ...

    @property
    def schema(self) -> Schema:
        """The relations the store was opened with."""
        ...

    def append(self, commit: Commit | Recorded) -> Recorded:
        """Write all of a commit or nothing; replay a recorded one.

        Raises:
            ConflictError: an expectation failed, a key exists, a unique is taken.
            CallerError: the commit breaks a rule or a limit.
            IntegrityError: a replayed commit doesn't continue the chain.
            OutcomeUnknownError: the medium failed while making it durable.
            StorageError: the medium failed before; nothing was written.

        """
        ...

    def snapshot(self, scope: ScopeId) -> AbstractContextManager[Snapshot]:
        """A view of the scope as it is now; an unknown scope is an empty one."""
        ...

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """WORK rows of all scopes whose due instant is at or before ``until``.

        In the order (due instant, scope text, key). For workers only.
        """
        ...

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """Scopes with at least one commit, in the order of their text.

        For operators' tools only; a session never calls it.
        """
        ...

    def rebuild(self, scope: ScopeId) -> int:
        """Drop all views of a scope and replay its history; the commits replayed."""
        ...

    def close(self) -> None:
        """Release what was opened; closing twice is allowed."""
        ...


@runtime_checkable
class Holding(Protocol):
    """What a joined store does beside the port: keep other writers of a scope away."""

    def hold(self, scope: ScopeId) -> None:
        """Take the lock of a scope until the host's transaction ends.

        Whoever reads, decides and then appends does so first, and no other writer
        comes in between.
        """
        ...


@runtime_checkable
class Resting(Protocol):
    """What a store that seals does beside the port: give what rests, sealed."""

    def at_rest(self) -> Store:
        """The store behind it, in which sealed scopes are sealed parts."""
        ...
