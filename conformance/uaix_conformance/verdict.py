"""From test reports to a verdict: which clauses held, broke, or were not decided."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from uaix_conformance.clauses import (
    BOUND,
    CLAUSES,
    CONTRACT,
    GROUPS,
    group_of,
    in_order,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HELD = "held"
BROKEN = "broken"
KNOWN = "broken as listed"
UNDECLARED = "not declared"
UNDECIDED = "not decided"

#: From the gravest to the lightest, as a group reports them.
_ORDER = (BROKEN, KNOWN, UNDECIDED, UNDECLARED)


class Verdict:
    """What the tests said about one backend."""

    def __init__(self, backend: str, xfails: Mapping[str, str]) -> None:
        self.backend = backend
        self.capabilities: tuple[str, ...] | None = None
        #: What long runs amounted to: ``text`` and figures.
        self.figures: list[Mapping[str, Any]] = []
        self._xfails = xfails
        self._said: dict[str, set[str]] = defaultdict(set)
        self._broken_tests: dict[str, list[str]] = defaultdict(list)
        self._counts: dict[str, int] = defaultdict(int)

    def take(self, clauses: Sequence[str], outcome: str, test: str) -> None:
        """Note the outcome of one test: HELD, BROKEN, KNOWN or UNDECLARED."""
        self._counts[outcome] += 1
        if outcome == KNOWN:
            # A test that fails for a listed clause says nothing about its others.
            clauses = [clause for clause in clauses if clause in self._xfails]
        for clause in clauses:
            self._said[clause].add(outcome)
            if outcome in (BROKEN, KNOWN):
                self._broken_tests[clause].append(test)

    @property
    def mended(self) -> list[str]:
        """Clauses that are listed as failing and of which no test failed."""
        return [
            clause
            for clause in self._xfails
            if HELD in self._said[clause] and not self._broken_tests[clause]
        ]

    @property
    def idle(self) -> list[str]:
        """Clauses that are listed as failing and do not bind the backend."""
        return [c for c in self._xfails if self._said[c] == {UNDECLARED}]

    def clause(self, clause: str) -> str:
        """The standing of one clause."""
        said = self._said[clause]
        if BROKEN in said or clause in self.mended:
            return BROKEN
        if KNOWN in said:
            return KNOWN
        if HELD in said:
            return HELD
        return UNDECLARED if UNDECLARED in said else UNDECIDED

    def named(self, standing: str) -> list[str]:
        """The clauses of one standing, in order."""
        return [clause for clause in CLAUSES if self.clause(clause) == standing]

    @property
    def conforms(self) -> bool:
        """Whether every clause that binds the backend was decided and held."""
        return {self.clause(clause) for clause in CLAUSES} <= {HELD, UNDECLARED}

    @property
    def failed(self) -> bool:
        """Whether the run must end with an error that pytest itself does not see."""
        return bool(self.mended or self.idle)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        if self.conforms:
            declared = ", ".join(self.capabilities or ()) or "no capability"
            return f"CONFORMS to contract {CONTRACT} ({declared})"
        broken, known = self.named(BROKEN), self.named(KNOWN)
        if not broken and not known:
            undecided = self.named(UNDECIDED)
            return (
                f"NOT DECIDED: {len(undecided)} of {len(CLAUSES)} clauses of contract "
                f"{CONTRACT} were not tested, the others held"
            )
        parts = []
        if broken:
            parts.append("broken " + ", ".join(broken))
        if known:
            parts.append("broken as listed " + ", ".join(known))
        return f"DOES NOT CONFORM to contract {CONTRACT}: " + "; ".join(parts)

    def group(self, group: int) -> str:
        """The standing of one group, with the numbers of what did not hold."""
        clauses = [clause for clause in CLAUSES if group_of(clause) == group]
        standings = {clause: self.clause(clause) for clause in clauses}
        kinds = set(standings.values())
        if len(kinds) == 1:
            return kinds.pop()
        parts = [
            f"{kind} {', '.join(named)}"
            for kind in _ORDER
            if (named := [c for c in clauses if standings[c] == kind])
        ]
        if not kinds & {BROKEN, KNOWN} and HELD in kinds:
            parts.insert(0, HELD)
        return "; ".join(parts)

    def lines(self) -> Iterator[str]:
        """The table of the groups and the verdict, line by line."""
        width = max(len(title) for title in GROUPS.values())
        for group, title in GROUPS.items():
            yield f"{group:3} {title:{width}}  {self.group(group)}"
        for figures in self.figures:
            yield f"    {figures['text']}"
        for clause in self.named(KNOWN):
            yield f"    {clause} is listed as failing: {self._xfails[clause]}"
        for clause in self.mended:
            yield f"    {clause} is listed as failing and held: take it off the list"
        for clause in self.idle:
            yield f"    {clause} is listed and does not bind this store: take it off"
        yield f"{self.backend}: {self.sentence}"

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "backend": self.backend,
            "contract": CONTRACT,
            "capabilities": list(self.capabilities or ()),
            "conforms": self.conforms,
            "verdict": self.sentence,
            "tests": {name: self._counts[name] for name in sorted(self._counts)},
            "figures": [dict(figures) for figures in self.figures],
            "clauses": {
                clause: {
                    "standing": self.clause(clause),
                    **({"capability": BOUND[clause]} if clause in BOUND else {}),
                    **(
                        {"tests": sorted(self._broken_tests[clause])}
                        if self._broken_tests.get(clause)
                        else {}
                    ),
                    **(
                        {"reason": self._xfails[clause]}
                        if clause in self._xfails
                        else {}
                    ),
                    **({"mended": True} if clause in self.mended else {}),
                }
                for clause in CLAUSES
            },
        }


def read_xfails(text: str) -> dict[str, str]:
    """The listed clauses and why each fails; ``#`` begins a comment.

    Raises:
        ValueError: a line names no clause of the contract, one twice, or no reason.

    """
    listed: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        clause, _, reason = line.strip().partition(" ")
        if clause not in CLAUSES:
            raise ValueError(f"line {number}: the contract has no clause {clause!r}")
        if clause in listed:
            raise ValueError(f"line {number}: {clause} is listed twice")
        if not reason.strip():
            raise ValueError(f"line {number}: {clause} is listed without a reason")
        listed[clause] = reason.strip()
    return {clause: listed[clause] for clause in in_order(listed)}
