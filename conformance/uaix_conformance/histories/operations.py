"""What a history is made of: operations, and what the store held in the end.

In JSON an operation is one object whose members are named after what was done and how
it ended, for example::

    {"process": 1, "span": [0, 3], "scope": "one",
     "append": {"x": [7]}, "ok": {"seq": 1, "saw": {"x": []}}}

Whatever is written has a number of its own, from 1 on, which no two writes share.
These operations are known:

``append``     these numbers at the end of these lists, in one commit
``once``       the same under an idempotency key: repeated until it is there
``read``       these lists, in one snapshot
``capture``    notes with these numbers, by topic
``supersede``  the same, when the topic's latest note is still the one that was seen
``erase``      the bodies of these notes
``put``        a local job with this number; ``drop`` a local job
``replay``     append a recorded commit that is there already
``scan``       whatever can be read of a scope
``open``       open the store; of no scope
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs

from uaix_core.schema.relations import as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: How an operation ended: it took effect, it did not, or nobody knows.
OK, FAIL, INFO = "ok", "fail", "info"

#: Operations whose numbers stand in lists, and those that write notes.
LISTING = ("append", "once")
NOTING = ("capture", "supersede")
#: Operations that take a place in the chain.
CHAINED = (*LISTING, *NOTING, "erase")
NAMES = (*CHAINED, "read", "put", "drop", "replay", "scan", "open")


def _numbers(numbers: Iterable[int]) -> frozenset[int]:
    return frozenset(numbers)


def _ordered(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(numbers)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)


@attrs.frozen
class Operation:
    """One call, or a few that belong together.

    Args:
        process: which process did it; each does one thing after the other.
        name: one of `NAMES`.
        scope: the scope it was about, or no scope.
        began: an instant before it began; all processes share the clock.
        ended: an instant after it ended; None when it was cut short.
        outcome: OK, FAIL or INFO.
        given: what was asked for.
        came: what was answered.

    """

    process: int
    name: str
    scope: str
    began: int
    ended: int | None
    outcome: str
    given: Any
    came: Mapping[str, Any]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that the operation writes into the history, in their order."""
        if self.name in (*LISTING, *NOTING):
            return tuple(n for numbers in self.given.values() for n in numbers)
        return tuple(self.given.values()) if self.name == "put" else ()

    @property
    def lists(self) -> Mapping[str, list[int]]:
        """The lists that the operation saw, all of them at one moment."""
        if self.name in LISTING:
            saw: Mapping[str, list[int]] = self.came.get("saw", {})
            return saw
        lists: Mapping[str, list[int]] = self.came.get("lists", {})
        return lists

    @property
    def seq(self) -> int | None:
        """The place in the chain that the operation was told it took."""
        return self.came.get("seq") if self.name in CHAINED else None

    @property
    def position(self) -> int | None:
        """The last place of the chain that a read showed."""
        return self.came.get("position")

    def shows(self) -> set[int]:
        """Every number that the operation saw."""
        shown = {number for numbers in self.lists.values() for number in numbers}
        shown.update(self.came.get("shown", ()))
        shown.update(number for number, _ in self.came.get("jobs", {}).values())
        if self.name == "supersede":
            shown.update(n for n in self.came.get("saw", {}).values() if n is not None)
        return shown

    def __str__(self) -> str:
        what = f"{self.name} {self.given} in {self.scope}" if self.scope else self.name
        return f"process {self.process}: {what}, {self.outcome} {dict(self.came)}"

    def as_dict(self) -> dict[str, Any]:
        """The operation as JSON."""
        return {
            "process": self.process,
            "span": [self.began, self.ended],
            **({"scope": self.scope} if self.scope else {}),
            self.name: self.given,
            self.outcome: dict(self.came),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The operation that `as_dict` wrote."""
        (name,) = given.keys() & set(NAMES)
        (outcome,) = given.keys() & {OK, FAIL, INFO}
        began, ended = given["span"]
        scope = given.get("scope", "")
        came = given[outcome]
        process = given["process"]
        return cls(process, name, scope, began, ended, outcome, given[name], came)


@attrs.frozen
class Entry:
    """One commit as the ledger held it in the end.

    ``sealed`` says whether its digest continues the one before it; ``adds`` and
    ``erases`` are the numbers of what it wrote and of what it took.
    """

    seq: int
    digest: str = ""
    sealed: bool = True
    adds: tuple[int, ...] = attrs.field(default=(), converter=_ordered)
    erases: tuple[int, ...] = attrs.field(default=(), converter=_ordered)


@attrs.frozen
class Ending:
    """What one scope held when nobody wrote any more.

    Args:
        lists: each list, walked from its head back to its first revision.
        shown: every number that could still be read anywhere.
        ledger: the commits in order; None when nobody looked.
        local: by relation, the notes that have a local row about them there.

    """

    lists: Mapping[str, list[int]] = attrs.field(factory=dict)
    shown: frozenset[int] = attrs.field(default=frozenset(), converter=_numbers)
    ledger: tuple[Entry, ...] | None = None
    local: Mapping[str, list[int]] = attrs.field(factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The ending as JSON."""
        ledger = None if self.ledger is None else [attrs.asdict(e) for e in self.ledger]
        return {
            "lists": dict(self.lists),
            "shown": sorted(self.shown),
            "ledger": ledger,
            "local": dict(self.local),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The ending that `as_dict` wrote."""
        lists, ledger = given.get("lists", {}), given.get("ledger")
        shown = given.get("shown", [n for numbers in lists.values() for n in numbers])
        entries = None if ledger is None else tuple(Entry(**entry) for entry in ledger)
        return cls(lists, shown, entries, given.get("local", {}))


@attrs.frozen
class History:
    """All that several processes did, and what was there in the end.

    ``files`` are the numbers whose bytes lay in the store's files after it was closed,
    ``accidents`` what went wrong outside of any operation.
    """

    operations: tuple[Operation, ...] = attrs.field(converter=as_tuple)
    endings: Mapping[str, Ending] = attrs.field(factory=dict)
    files: frozenset[int] = attrs.field(default=frozenset(), converter=_numbers)
    accidents: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def as_dict(self) -> dict[str, Any]:
        """The history as JSON."""
        return {
            "operations": [operation.as_dict() for operation in self.operations],
            "endings": {s: ending.as_dict() for s, ending in self.endings.items()},
            "files": sorted(self.files),
            "accidents": list(self.accidents),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The history that `as_dict` wrote; other members are left alone."""
        return cls(
            [Operation.from_dict(operation) for operation in given["operations"]],
            {s: Ending.from_dict(e) for s, e in given.get("endings", {}).items()},
            given.get("files", ()),
            given.get("accidents", ()),
        )
