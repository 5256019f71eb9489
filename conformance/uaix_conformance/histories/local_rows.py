"""Checks of local rows: the last one stands, under a work number of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.histories.evidence import Finding
from uaix_conformance.histories.operations import FAIL, NOTING, OK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.histories.evidence import Case
    from uaix_conformance.histories.operations import Operation


def come_and_go_with_notes(case: Case) -> Iterator[Finding]:
    """Each note has the local rows that came with it, and none once it is erased."""
    ledger = case.ledger or ()
    gone = {number for entry in ledger for number in entry.erases}
    notes = {number for w in case.writes if w.name in NOTING for number in w.numbers}
    standing = notes.intersection(case.places) - gone
    for relation, numbers in case.ending.local.items():
        for number in sorted(standing.difference(numbers)):
            attempts = case.by_number[number].attempts
            yield Finding("torn", f"{number} came without its {relation}", attempts)
        for number in sorted(gone.intersection(numbers)):
            yield Finding("erased", f"a {relation} is left about {number}")


def jobs_are_the_last(case: Case) -> Iterator[Finding]:
    """A local row is the one that was put last, under a number of its own."""
    yield from _work_numbers(case)
    keys = {
        key for o in case.operations if o.name in ("put", "drop") for key in o.given
    }
    for key in sorted(keys):
        yield from _register(case, key)


def _work_numbers(case: Case) -> Iterator[Finding]:
    puts = [o for o in case.operations if o.name == "put" and o.outcome == OK]
    given: dict[int, Operation] = {}
    told: dict[int, int] = {}
    spans = []
    for put in puts:
        ((key, number),) = put.given.items()
        shown, work = put.came.get("jobs", {}).get(key, (None, 0))
        if shown != number:
            yield Finding("stale work", f"{key} is not {number}", [put])
            continue
        told[number] = work
        if work in given:
            what = f"{work} was given out twice"
            yield Finding("work number", what, [given[work], put])
        given[work] = put
        spans.append((put.began, put.ended or 0, work, put))
    ends = sorted(spans, key=lambda span: span[1])
    reached, i = 0, 0
    for began, _, work, put in spans:
        while i < len(ends) and ends[i][1] < began:
            reached = max(reached, ends[i][2])
            i += 1
        if work < reached:
            what = f"{work} came after {reached}"
            yield Finding("work number", what, [put])
    for operation in case.operations:
        for number, work in operation.came.get("jobs", {}).values():
            if told.get(number, work) != work:
                what = f"{number} was put as {told[number]}"
                yield Finding("work number", what, [operation])


def _register(case: Case, key: str) -> Iterator[Finding]:
    """Each reading of one job is of a write that nothing had overwritten."""
    writes: list[tuple[int | None, int, int | None]] = [(None, -1, -1)]
    for operation in case.operations:
        named = operation.name in ("put", "drop") and key in operation.given
        if named and operation.outcome != FAIL:
            value = operation.given[key] if operation.name == "put" else None
            ended = operation.ended if operation.outcome == OK else None
            writes.append((value, operation.began, ended))
    for operation in case.operations:
        if operation.name != "scan" or operation.ended is None:
            continue
        seen = operation.came.get("jobs", {}).get(key, (None, 0))[0]
        done = [w for w in writes if w[2] is not None and w[2] < operation.began]
        since = max(began for _, began, _ in done)
        if not any(
            value == seen
            and began < operation.ended
            and (ended is None or ended >= since)
            for value, began, ended in writes
        ):
            yield Finding("stale work", f"{key} was seen as {seen}", [operation])
