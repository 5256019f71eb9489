"""Sealing a scope anew under another key, a few rows at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from uaix_backends.sealed.committing import nobody_since
from uaix_backends.sealed.local_rows import LocalRows, expect_turn, turn
from uaix_backends.sealed.packing import PAGE, opened_part, sealed_part
from uaix_core.access.sealed_rows import SEALED_PART
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import BY_KEY
from uaix_core.values.errors import ConflictError
from uaix_core.values.instants import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_backends.sealed.scope import SealedScope
    from uaix_core.access.sealed_rows import SealedPart
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import Random

#: One commit seals no more bytes anew, but for the part that passes it.
_BYTES: Final = 16 * 2**20


def reseal(scope: SealedScope, random: Random) -> int:
    """See `uaix_backends.sealed.store.SealedStore.reseal`."""
    steps = [
        partial(_some_parts, scope, random),
        *(partial(_some_local, scope, rows) for rows in scope.local.values()),
    ]
    return sum(map(_all, steps))


def _all(step: Callable[[Key | None], tuple[int, Key | None]]) -> int:
    """Take steps until there is nowhere to go on; how many rows were sealed anew."""
    count = 0
    after: Key | None = None
    while True:
        try:
            done, after = step(after)
        except ConflictError:
            # Somebody wrote meanwhile, and may have erased what was read.
            continue
        count += done
        if after is None:
            return count


def _some_parts(
    scope: SealedScope, random: Random, after: Key | None
) -> tuple[int, Key | None]:
    """Seal some parts anew; how many, and where to go on."""
    cipher = scope.cipher
    adds: list[Row] = []
    erases = []
    size = 0
    with scope.snapshot() as snapshot:
        found = snapshot.inner.scan(SEALED_PART.name, BY_KEY, after=after, limit=PAGE)
        last = None if len(found) < PAGE else SEALED_PART.key_of(found[-1])
        for row in cast("Sequence[SealedPart]", found):
            if row.sealed is None or row.key_id == cipher.key_id:
                continue
            key = (row.number, row.part, row.generation + 1)
            adds.append(sealed_part(cipher, random, key, opened_part(cipher, row)))
            erases.append(SEALED_PART.ref(row))
            size += len(row.sealed)
            if size > _BYTES:
                last = SEALED_PART.key_of(row)
                break
        # An erasure is a commit: none came between reading and this.
        expects = [nobody_since(snapshot.position)]
    if adds:
        scope.inner.append(
            Commit(scope.scope, EARLIEST, expects=expects, adds=adds, erases=erases)
        )
    return len(adds), last


def _some_local(
    scope: SealedScope, local: LocalRows, after: Key | None
) -> tuple[int, Key | None]:
    """Seal some local rows anew; how many, and where to go on."""
    relation = local.relation
    with scope.snapshot() as snapshot:
        found = snapshot.inner.scan(relation.name, BY_KEY, after=after, limit=PAGE)
        last = None if len(found) < PAGE else relation.key_of(found[-1])
        rows = [row for row in cast("Any", found) if row.key_id != scope.cipher.key_id]
        expects = [expect_turn(snapshot.inner, relation.name)]
        puts = [local.again(row) for row in rows]
    if puts:
        puts.append(turn(relation.name))
        scope.inner.append(Commit(scope.scope, EARLIEST, expects=expects, puts=puts))
    return len(rows), last
