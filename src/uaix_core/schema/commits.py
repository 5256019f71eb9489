"""Commits: what one append adds, expects, puts, drops and erases, of one scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.relations import Key, Ref, as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import ScopeId

#: At most this many rows (adds, puts, drops and erases together) in one commit.
MAX_ROWS = 20_000
#: At most this many bytes of bodies in one commit.
MAX_BODY_BYTES = 256 * 2**20


@attrs.frozen
class Expect:
    """What a writer saw when it decided: the version of a row, 0 for its absence.

    The version is the seq of the row's last writer (HISTORY, versioned VIEW) or its
    work number (WORK, CACHE). An expectation is never skipped and never retried by
    the library.
    """

    relation: str
    key: Key = attrs.field(converter=as_tuple)
    version: int


def _refs(refs: Iterable[tuple[str, Sequence[object]]]) -> tuple[Ref, ...]:
    return tuple(Ref(relation, tuple(key)) for relation, key in refs)


@attrs.frozen
class Commit:
    """One change of one scope, whole or not at all.

    Args:
        scope: whose it is.
        recorded_at: the wished instant; the chain never goes back in time, so the
            recorded one is the later of this and the last.
        expects: what must still be so.
        adds: HISTORY rows.
        puts: WORK and CACHE rows, replacing what stands under their key.
        drops: WORK and CACHE rows that go; dropping what is absent changes nothing.
        erases: HISTORY rows whose bodies go for good.

    """

    scope: ScopeId
    recorded_at: int
    expects: tuple[Expect, ...] = attrs.field(default=(), converter=as_tuple)
    adds: tuple[Row, ...] = attrs.field(default=(), converter=as_tuple)
    puts: tuple[Row, ...] = attrs.field(default=(), converter=as_tuple)
    drops: tuple[Ref, ...] = attrs.field(default=(), converter=_refs)
    erases: tuple[Ref, ...] = attrs.field(default=(), converter=_refs)

    @property
    def is_chained(self) -> bool:
        """Whether the commit takes a seq: it adds or erases HISTORY."""
        return bool(self.adds or self.erases)


@attrs.frozen
class Mark:
    """A place in a scope's chain: the last seq, its instant and its digest (hex)."""

    seq: int
    recorded_at: int
    digest: str


@attrs.frozen
class Recorded:
    """A commit with its place in the chain, as a store keeps and replays it."""

    seq: int
    recorded_at: int
    digest: str
    commit: Commit

    @property
    def mark(self) -> Mark:
        """The place of this commit in the chain."""
        return Mark(self.seq, self.recorded_at, self.digest)
