"""Running the reducers of all rooms over one commit.

All run in schema order over one overlay, so a later one sees what an earlier one put.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from uaix_core.schema.reducers import MAX_ROUNDS, Changes
from uaix_core.schema.relations import Keep, Ref
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from collections.abc import Set as AbstractSet

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema


def reduce(
    schema: Schema, recorded: Recorded, erased: Mapping[Ref, Row]
) -> Generator[AbstractSet[Ref], Mapping[Ref, Row], dict[Ref, Row | None]]:
    """Run all reducers; yields names to read, returns the overlay.

    The overlay maps each touched VIEW row to its new state, None when it goes.
    Rows read are remembered, so that no row is asked for twice.
    """
    overlay: dict[Ref, Row | None] = {}
    seen: dict[Ref, Row | None] = {
        ref: schema.relation(ref.relation).erased(row) for ref, row in erased.items()
    }
    for reducer in schema.reducers:
        steps = reducer(recorded, erased)
        reply: Mapping[Ref, Row] | None = None
        for rounds in count():
            try:
                wanted = steps.send(reply)  # type: ignore[arg-type] # None starts it
            except StopIteration as done:
                _apply(schema, recorded, done.value, overlay)
                break
            if rounds == MAX_ROUNDS:
                raise SchemaError(
                    f"a reducer may read {MAX_ROUNDS} times", code="schema.reducer"
                )
            unknown = {r for r in wanted if r not in seen and r not in overlay}
            if _reads_history(schema, unknown):
                seen |= _added(schema, recorded)
                unknown -= seen.keys()
            if unknown:
                found = yield unknown
                for ref in unknown:
                    seen[ref] = found.get(ref)
            states = ((r, overlay[r] if r in overlay else seen[r]) for r in wanted)
            reply = {ref: state for ref, state in states if state is not None}
    return overlay


def _reads_history(schema: Schema, refs: AbstractSet[Ref]) -> bool:
    kinds = set()
    for name in {ref.relation for ref in refs}:
        keep = schema.relation(name).keep
        if keep not in (Keep.HISTORY, Keep.VIEW):
            raise SchemaError(
                "a reducer reads only HISTORY and VIEW",
                code="schema.reducer",
                path=name,
            )
        kinds.add(keep)
    return Keep.HISTORY in kinds


def _added(schema: Schema, recorded: Recorded) -> dict[Ref, Row | None]:
    """The rows of the commit itself, as a reducer may read them."""
    rows = ((schema.of(row), row) for row in recorded.commit.adds)
    return {rel.ref(row): rel.stamped(row, recorded.seq) for rel, row in rows}


def _apply(
    schema: Schema,
    recorded: Recorded,
    changes: Changes,
    overlay: dict[Ref, Row | None],
) -> None:
    for ref in changes.drops:
        _check_view(schema, ref.relation)
        overlay[ref] = None
    for row in changes.puts:
        relation = schema.of(row)
        _check_view(schema, relation.name)
        if not relation.versioned:
            row = relation.stamped(row, 0)  # noqa: PLW2901 - the row as it will stand
        elif not row.version:
            # Made by the reducer just now; one that restores an earlier state names
            # that state's seq.
            relation.claim(row, recorded.seq)
        overlay[relation.ref(row)] = row


def _check_view(schema: Schema, name: str) -> None:
    if schema.relation(name).keep is not Keep.VIEW:
        raise SchemaError(
            "a reducer changes only VIEW relations", code="schema.reducer", path=name
        )
