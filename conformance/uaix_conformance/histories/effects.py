"""Checks of what was written: each acknowledged write once, each refused one never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.histories.evidence import (
    Finding,
    is_chained,
    is_listed,
)
from uaix_conformance.histories.operations import FAIL, INFO, OK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.histories.evidence import Case, Write
    from uaix_conformance.histories.operations import Entry, Operation


def took_effect_once(case: Case) -> Iterator[Finding]:
    """Acknowledged: once; unknown: at most once and whole; refused: never."""
    for write in filter(is_chained, case.writes):
        there = [number for number in write.numbers if case.is_there(write, number)]
        for number in write.numbers:
            times = max(case.added[number], case.listed[number])
            if times > 1:
                yield _about("duplicate", f"{number} is there {times} times", write)
            if write.outcome == FAIL and times:
                yield _about("aborted", f"{number} was refused and is there", write)
            if write.outcome == OK and number not in there:
                yield _about("lost", f"{number} was acknowledged and is gone", write)
        places = {case.places[number] for number in there if number in case.places}
        if len(places) > 1 or 0 < len(there) < len(write.numbers):
            yield _about("torn", f"of {write.numbers} there are {there}", write)


def _about(check: str, what: str, write: Write) -> Finding:
    return Finding(check, what, write.attempts)


def comes_from_somewhere(case: Case) -> Iterator[Finding]:
    """Whatever is seen was written in this scope, and was not refused."""
    ended = {*case.listed, *case.added, *case.ending.shown}
    seen = [(ended, ()), *((o.shows(), (o,)) for o in case.operations)]
    for numbers, operations in seen:
        for number in sorted(numbers):
            write = case.by_number.get(number)
            if write is None:
                yield Finding("phantom", f"nobody wrote {number}", operations)
            elif write.scope != case.name:
                what = f"{number} was written in {write.scope}"
                yield Finding("scope", what, (*operations, write.first))
            elif write.outcome == FAIL and operations:
                what = f"{number} was refused and was seen"
                yield Finding("aborted", what, (*operations, write.first))


def chain_is_whole(case: Case) -> Iterator[Finding]:
    """Commits are dense, sealed, and each is exactly one write or erasure."""
    if case.ledger is None:
        return
    for place, entry in enumerate(case.ledger, 1):
        if entry.seq != place:
            yield Finding("chain", f"{entry.seq} stands at place {place}")
            return
        if not entry.sealed:
            yield Finding("chain", f"{entry.seq} doesn't continue the chain")
    erases = [o for o in case.operations if o.name == "erase" and o.outcome != FAIL]
    for entry in case.ledger:
        yield from _explained(case, entry, erases)
    for erase in erases:
        if erase.outcome == OK and not _is_entry_of(case, erase):
            yield Finding("lost", "an acknowledged erasure is not there", [erase])
    for name, numbers in case.ending.lists.items():
        order = [case.places[number] for number in numbers if number in case.places]
        if sorted(order) != order:
            yield Finding("fork", f"{name} has another order than the ledger")


def _explained(case: Case, entry: Entry, erases: list[Operation]) -> Iterator[Finding]:
    """Who made a commit, and that its place is the one they were told."""
    if entry.erases and not any(
        set(o.given) == set(entry.erases) and o.seq in (None, entry.seq) for o in erases
    ):
        yield Finding("phantom", f"nobody erased {entry.erases} in {entry.seq}")
    if not entry.adds and not entry.erases:
        yield Finding("phantom", f"{entry.seq} is nobody's commit")
    for number in entry.adds:
        write = case.by_number.get(number)
        for attempt in write.attempts if write is not None else ():
            # What is there twice is told by another check.
            if attempt.seq not in (None, entry.seq) and case.added[number] == 1:
                what = f"{number} stands in {entry.seq}"
                yield Finding("chain", what, [attempt])


def _is_entry_of(case: Case, erase: Operation) -> bool:
    entries = case.ledger or ()
    return erase.seq is None or any(
        entry.seq == erase.seq and set(entry.erases) == set(erase.given)
        for entry in entries
    )


def superseded_what_was_seen(case: Case) -> Iterator[Finding]:
    """A note took the place of the one that was the latest when it was written."""
    topics: dict[int, str] = {}
    standing: dict[str, list[int]] = {}
    for write in case.writes:
        if is_chained(write) and not is_listed(write):
            topics |= {n: t for t, ns in write.first.given.items() for n in ns}
    for entry in case.ledger or ():
        added = [number for number in entry.adds if number in topics]
        told = case.by_number[added[0]].told if added else None
        if told is not None and told.name == "supersede":
            for topic, seen in told.came.get("saw", {}).items():
                notes = standing.get(topic)
                latest = notes[-1] if notes else None
                # Notes of one commit have one version, by which they are expected.
                if case.places.get(latest or 0) != case.places.get(seen or 0):
                    what = f"{latest} was the latest of {topic}, not {seen}"
                    yield Finding("superseded", what, [told])
        for number in added:
            standing.setdefault(topics[number], []).append(number)
        for number in entry.erases:
            notes = standing.get(topics.get(number, ""), [])
            if number in notes:
                notes.remove(number)


def replays_changed_nothing(case: Case) -> Iterator[Finding]:
    """A commit that was there already came back as it is."""
    for operation in case.operations:
        if operation.name == "replay" and operation.outcome == OK:
            given, came = dict(operation.given), dict(operation.came)
            if given != came:
                yield Finding("replay", "another commit came back", [operation])


def ended_as_it_may(case: Case) -> Iterator[Finding]:
    """Nothing raised what it may not raise."""
    for operation in case.operations:
        why = str(operation.came.get("why", ""))
        relies = operation.name in ("append", "once", "supersede")
        if "error" in operation.came and operation.outcome == INFO:
            yield Finding("error", str(operation.came["error"]), [operation])
        elif why.startswith("conflict") and not relies:
            yield Finding("error", "a conflict over nothing", [operation])
