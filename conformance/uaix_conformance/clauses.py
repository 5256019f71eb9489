"""The contract's clauses: their numbers, groups and the capabilities they bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The version of the contract that this kit judges by.
CONTRACT = "26.1"

#: Group -> its title and how many clauses it has. Numbers are never reused: when one
#: goes, its group lists the numbers that are left.
_GROUPS: Mapping[int, tuple[str, Iterable[int]]] = {
    1: ("Schema", range(1, 9)),
    2: ("Append", range(1, 8)),
    3: ("Expect", range(1, 12)),
    4: ("Seal and chain", range(1, 9)),
    5: ("Replay", range(1, 10)),
    6: ("Bodies and erasure", range(1, 11)),
    7: ("Views", range(1, 11)),
    8: ("Work and cache", range(1, 7)),
    9: ("Snapshots", range(1, 8)),
    10: ("Scan", range(1, 10)),
    11: ("Limits", range(1, 6)),
    12: ("Text and time", range(1, 7)),
    13: ("Operators: scopes and due", range(1, 5)),
    14: ("Reopening and capabilities", range(1, 12)),
    15: ("Host transactions", range(1, 9)),
    16: ("Many processes", range(1, 7)),
    17: ("Scenarios", range(1, 2)),
}

#: Group -> its title.
GROUPS: Mapping[int, str] = {group: title for group, (title, _) in _GROUPS.items()}

#: Every clause in the order of the contract.
CLAUSES: tuple[str, ...] = tuple(
    f"{group}.{number}" for group, (_, numbers) in _GROUPS.items() for number in numbers
)

#: Clause -> the capability that it binds; the others bind every store.
BOUND: Mapping[str, str] = {
    "6.8": "FILES",
    "8.6": "DURABLE",
    "14.2": "DURABLE",
    "14.3": "DURABLE",
    "14.4": "SHARED",
    "14.5": "SHARED",
    "14.6": "FILES",
    "14.7": "FILES",
    **{clause: "JOINS" for clause in CLAUSES if clause.startswith("15.")},
    **{clause: "SHARED" for clause in CLAUSES if clause.startswith("16.")},
}


def group_of(clause: str) -> int:
    """The group of a clause."""
    return int(clause.partition(".")[0])


def in_order(clauses: Iterable[str]) -> list[str]:
    """Clauses in the order of the contract."""
    return sorted(set(clauses), key=lambda c: [int(part) for part in c.split(".")])
