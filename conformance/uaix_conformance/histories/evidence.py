"""A history in order, for those who judge it: who wrote what, and where it stands."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import attrs

from uaix_conformance.histories.operations import (
    CHAINED,
    FAIL,
    INFO,
    LISTING,
    OK,
    Ending,
    Operation,
)
from uaix_core.schema.relations import as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from uaix_conformance.histories.operations import Entry, History


@attrs.frozen
class Finding:
    """Something in a history that no sound store does."""

    check: str
    what: str
    operations: tuple[Operation, ...] = attrs.field(default=(), converter=as_tuple)

    def __str__(self) -> str:
        return "\n    ".join((f"{self.check}: {self.what}", *map(str, self.operations)))


@attrs.frozen
class Write:
    """All attempts to write the same numbers: one, or several under one key."""

    attempts: tuple[Operation, ...] = attrs.field(converter=as_tuple)

    @property
    def first(self) -> Operation:
        """The first attempt."""
        return self.attempts[0]

    @property
    def name(self) -> str:
        """What was done."""
        return self.first.name

    @property
    def scope(self) -> str:
        """Where."""
        return self.first.scope

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers written."""
        return self.first.numbers

    @cached_property
    def told(self) -> Operation | None:
        """The first attempt that was ok."""
        return next((a for a in self.attempts if a.outcome == OK), None)

    @property
    def outcome(self) -> str:
        """OK when any attempt was, FAIL when all did, else INFO."""
        if self.told is not None:
            return OK
        outcomes = {attempt.outcome for attempt in self.attempts}
        return FAIL if outcomes == {FAIL} else INFO

    @property
    def began(self) -> int:
        """When it may have taken effect first."""
        return min(a.began for a in self.attempts if a.outcome != FAIL)

    @property
    def ended(self) -> int | None:
        """When it must have taken effect at last."""
        return self.told.ended if self.told is not None else None


class Case:
    """One scope of a history."""

    def __init__(
        self, name: str, history: History, writes: Mapping[int, Write]
    ) -> None:
        self.name = name
        #: Its operations in the order in which they began.
        self.operations = [o for o in history.operations if o.scope == name]
        self.operations.sort(key=lambda operation: operation.began)
        self.ending = history.endings.get(name, Ending())
        #: All writes of the history, by each of their numbers.
        self.by_number = writes
        own = {id(w): w for w in writes.values() if w.scope == name}
        #: Those of this scope.
        self.writes: Sequence[Write] = list(own.values())

    @property
    def ledger(self) -> Sequence[Entry] | None:
        """The commits in the end; None when nobody looked."""
        return self.ending.ledger

    @cached_property
    def listed(self) -> Counter[int]:
        """How often each number stands in the last lists."""
        return Counter(chain.from_iterable(self.ending.lists.values()))

    @cached_property
    def added(self) -> Counter[int]:
        """How often each number stands in the ledger."""
        return Counter(chain.from_iterable(e.adds for e in self.ledger or ()))

    @cached_property
    def places(self) -> Mapping[int, int]:
        """Number -> the seq of the one commit that added it."""
        entries = self.ledger or ()
        places = {number: entry.seq for entry in entries for number in entry.adds}
        return {n: seq for n, seq in places.items() if self.added[n] == 1}

    def is_there(self, write: Write, number: int) -> bool:
        """Whether a number was written for good."""
        if self.ledger is None:
            return bool(self.listed[number])
        return bool(
            self.added[number] and (self.listed[number] or not is_listed(write))
        )

    def last(self, name: str) -> list[int]:
        """What a list was in the end."""
        return self.ending.lists.get(name, [])

    def known(self, numbers: Iterable[int]) -> list[int]:
        """Without those that were refused, or never written in this scope."""
        found = []
        for number in numbers:
            write = self.by_number.get(number)
            if write is not None and write.scope == self.name and write.outcome != FAIL:
                found.append(number)
        return found


def is_listed(write: Write) -> bool:
    """Whether its numbers go into lists."""
    return write.name in LISTING


def is_chained(write: Write) -> bool:
    """Whether it takes a place in the chain."""
    return write.name in CHAINED


def writes_of(history: History) -> dict[int, Write]:
    """Number -> its write."""
    attempts: dict[tuple[int, ...], list[Operation]] = {}
    for operation in history.operations:
        if operation.numbers:
            attempts.setdefault(operation.numbers, []).append(operation)
    writes = {numbers: Write(found) for numbers, found in attempts.items()}
    return {number: write for numbers, write in writes.items() for number in numbers}
