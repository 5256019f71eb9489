"""Checks of what was seen: true beginnings of lists, whole moments, nothing erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.histories.evidence import Finding, is_listed
from uaix_conformance.histories.operations import LISTING, OK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.histories.evidence import Case
    from uaix_conformance.histories.operations import History, Operation


def lists_are_beginnings(case: Case) -> Iterator[Finding]:
    """Each list that was seen is a beginning of the last one, and cuts no commit."""
    for operation in case.operations:
        for name, numbers in operation.lists.items():
            seen, last = case.known(numbers), case.last(name)
            if last[: len(seen)] != seen:
                yield Finding("fork", f"{name} ended as {last}", [operation])
            elif seen and last[len(seen) :]:
                write, next_ = case.by_number[seen[-1]], last[len(seen)]
                if is_listed(write) and next_ in write.numbers:
                    what = f"{name} stops within the commit of {write.numbers}"
                    yield Finding("intermediate", what, [operation, write.first])


def moments_are_whole(case: Case) -> Iterator[Finding]:
    """What a snapshot showed is what the ledger held at its position."""
    ledger = case.ledger
    if ledger is None:
        return
    for operation in case.operations:
        position = operation.position
        if position is None:
            continue
        if not 0 <= position <= len(ledger):
            yield Finding("chain", f"there is no place {position}", [operation])
            continue
        head = operation.came.get("head")
        if head is not None and position and ledger[position - 1].digest != head:
            yield Finding("chain", f"another commit stands at {position}", [operation])
        for name, numbers in operation.lists.items():
            last = case.last(name)
            then = [n for n in last if case.places.get(n, 0) <= position]
            seen = case.known(numbers)
            if then != seen and last[: len(seen)] == seen:
                what = f"{name} was {then} at {position}"
                yield Finding("snapshot", what, [operation])


def nobody_goes_back(case: Case) -> Iterator[Finding]:
    """Each process sees what it saw before."""
    lengths: dict[tuple[int, str], int] = {}
    positions: dict[int, int] = {}
    for operation in case.operations:
        process, position = operation.process, operation.position
        for name, numbers in operation.lists.items():
            at = process, name
            if len(numbers) < lengths.get(at, 0):
                yield Finding("goes back", f"{name} was longer before", [operation])
            lengths[at] = max(len(numbers), lengths.get(at, 0))
        if position is not None:
            if position < positions.get(process, 0):
                yield Finding("goes back", "its position was higher", [operation])
            positions[process] = max(position, positions.get(process, 0))


def own_writes_are_seen(case: Case) -> Iterator[Finding]:
    """Each process sees what it wrote."""
    own: dict[tuple[int, str], set[int]] = {}
    placed: dict[int, int] = {}
    for operation in case.operations:
        process, position = operation.process, operation.position
        for name, numbers in operation.lists.items():
            if missing := own.get((process, name), set()).difference(numbers):
                what = f"{name} lacks {sorted(missing)}"
                yield Finding("own write", what, [operation])
        if position is not None and position < placed.get(process, 0):
            what = f"it had written {placed[process]}"
            yield Finding("own write", what, [operation])
        if operation.outcome == OK:
            if operation.seq is not None:
                placed[process] = max(operation.seq, placed.get(process, 0))
            for name, numbers in operation.given.items() if _lists(operation) else ():
                own.setdefault((process, name), set()).update(numbers)


def _lists(operation: Operation) -> bool:
    return operation.name in LISTING


def places_follow_the_clock(case: Case) -> Iterator[Finding]:
    """What began after something else had ended stands after it, or shows it."""
    spans: list[tuple[int, int | None, int, bool, Operation]] = []
    for write in case.writes:
        if write.told is not None and write.told.seq is not None:
            place = write.told.seq
            spans.append((write.began, write.ended, place, True, write.told))
    for operation in case.operations:
        if operation.outcome != OK:
            continue
        at = operation.seq if operation.name == "erase" else operation.position
        if at is not None:
            is_write = operation.name == "erase"
            spans.append((operation.began, operation.ended, at, is_write, operation))
    ends = sorted((s for s in spans if s[1] is not None), key=lambda s: s[1] or 0)
    reached, i = 0, 0
    latest: Operation | None = None
    for began, _, place, is_write, operation in sorted(spans, key=lambda s: s[0]):
        while i < len(ends) and (ends[i][1] or 0) < began:
            if ends[i][2] > reached:
                reached, latest = ends[i][2], ends[i][4]
            i += 1
        if latest is not None and place < reached + is_write:
            what = f"place {place}, after {reached} had been reached"
            yield Finding("real-time", what, [latest, operation])


def erased_stays_erased(case: Case, history: History) -> Iterator[Finding]:
    """After an erasure was acknowledged nothing shows the body, nor does a file."""
    since = _erasures(case)
    for operation in case.operations:
        for number in sorted(set(operation.came.get("shown", ())) & since.keys()):
            if (since[number].ended or 0) < operation.began:
                what = f"the body of {number} was seen"
                yield Finding("erased", what, [since[number], operation])
    gone = {number for entry in case.ledger or () for number in entry.erases}
    for number in sorted(gone | since.keys()):
        known = [since[number]] if number in since else []
        if number in case.ending.shown:
            yield Finding("erased", f"{number} can be read in the end", known)
        if number in history.files:
            yield Finding("erased", f"a file holds the body of {number}", known)


def _erasures(case: Case) -> dict[int, Operation]:
    """Number -> the first erasure of it that was acknowledged."""
    done = [o for o in case.operations if o.name == "erase" and o.outcome == OK]
    done.sort(key=lambda erase: erase.ended or 0, reverse=True)
    return {number: erase for erase in done for number in erase.given}
