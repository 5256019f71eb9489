"""The commit that a sealed commit is in the store behind.

Its adds take the next number, so of two writers that read the same state one meets
the row of the other. What depends on local rows expects a turn besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_backends.sealed.local_rows import ABOUT, expect_turn, sealed_as, turn
from uaix_backends.sealed.packing import body_parts, packed
from uaix_core.access.sealed_rows import SEALED_PART, SEALED_TURN
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.relations import Keep, Ref

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_backends.sealed.local_rows import LocalRows
    from uaix_backends.sealed.snapshots import SealedSnapshot
    from uaix_core.access.sealing import ScopeCipher
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.values.ids import Random

#: A local row that never stands: dropping it changes nothing but the work number.
_NOTHING: Final = Ref(SEALED_TURN.name, ("nothing",))


def nobody_since(number: int) -> Expect:
    """That no commit has taken the number after this one."""
    return Expect(SEALED_PART.name, (number + 1, 0, 0), 0)


def in_memory(schema: Schema, change: Advance) -> Advance:
    """The part of a change that is kept in memory: history and views."""
    views = {relation.name for relation in schema.kept(Keep.VIEW)}
    return attrs.evolve(
        change,
        puts=tuple(row for row in change.puts if schema.of(row).name in views),
        drops=tuple(ref for ref in change.drops if ref.relation in views),
        work=0,
    )


@attrs.frozen
class Committing:
    """Makes the commits of one scope."""

    schema: Schema
    cipher: ScopeCipher
    local: Mapping[Keep, LocalRows]
    random: Random

    def commit(
        self, submitted: Commit, change: Advance, snapshot: SealedSnapshot
    ) -> Commit:
        """What to append in the place of a commit that makes this change."""
        mark = snapshot.tables.mark
        expects = [nobody_since(mark.seq)]
        expects += self._expects(submitted)
        adds: list[Row] = []
        erases: list[Ref] = []
        if change.recorded.commit.is_chained:
            adds += packed(self.schema, change.recorded, self.cipher, self.random)
            erases = body_parts(snapshot.inner, snapshot.tables, change.erased)
        if erases:
            expects.append(expect_turn(snapshot.inner, ABOUT))
            # Nor was a part that goes sealed anew meanwhile.
            expects += [_next_generation(ref) for ref in erases]
        puts, drops, turns = self._local(change, snapshot)
        turns |= {
            kept.name for e in submitted.expects if (kept := self._kept(e.relation))
        }
        expects += [expect_turn(snapshot.inner, name) for name in sorted(turns)]
        if not puts and not drops and (submitted.puts or submitted.drops):
            drops = [_NOTHING]
        return Commit(
            submitted.scope,
            change.mark.recorded_at if adds else submitted.recorded_at,
            expects=expects,
            adds=adds,
            puts=puts,
            drops=drops,
            erases=erases,
        )

    def _expects(self, submitted: Commit) -> list[Expect]:
        """The expectations that the store behind can judge: those on plain WORK."""
        return [
            e
            for e in submitted.expects
            if self.schema.relation(e.relation).keep is Keep.WORK
            and self._kept(e.relation) is None
        ]

    def _local(
        self, change: Advance, snapshot: SealedSnapshot
    ) -> tuple[list[Row], list[Ref], set[str]]:
        """What to put and to drop, and whose turns that takes."""
        puts: list[Row] = []
        drops: list[Ref] = []
        turns: set[str] = set()
        is_about = False
        for row in change.puts:
            relation = self.schema.of(row)
            if relation.keep is Keep.VIEW:
                continue
            is_about |= relation.about is not None
            kept = sealed_as(relation)
            if kept is None:
                puts.append(row)
            else:
                turns.add(kept.name)
                opened = snapshot.opened(relation.keep)
                puts.append(self.local[relation.keep].put(opened, row, self.random))
        for ref in change.drops:
            relation = self.schema.relation(ref.relation)
            kept = sealed_as(relation)
            if kept is not None:
                for place in snapshot.opened(relation.keep).places.get(ref, ()):
                    turns.add(kept.name)
                    drops.append(Ref(kept.name, (place,)))
            elif relation.keep is not Keep.VIEW:
                drops.append(ref)
        puts += [turn(name) for name in sorted(turns)] + [turn(ABOUT)] * is_about
        return puts, drops, turns

    def _kept(self, name: str) -> Relation | None:
        return sealed_as(self.schema.relation(name))


def _next_generation(ref: Ref) -> Expect:
    number, part, generation = ref.key
    return Expect(ref.relation, (number, part, generation + 1), 0)
