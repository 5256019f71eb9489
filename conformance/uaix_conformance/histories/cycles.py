"""The graph of what depends on what: in a sound history it has no cycle.

Transactions are nodes. One that appended after another (ww), one that saw what another
appended (wr), and one that appended what another did not yet see (rw) each follow it,
and so does what began after the other had ended (the clock). Cycles have the names that
Adya and the authors of Elle gave them.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs

from uaix_conformance.histories.evidence import Finding, is_listed
from uaix_conformance.histories.operations import FAIL, OK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_conformance.histories.evidence import Case
    from uaix_conformance.histories.operations import Operation

_Edge = tuple[int, int]


@attrs.frozen
class _Transaction:
    """Something that happened at one moment of its span."""

    operation: Operation
    began: int
    ended: int | None
    saw: Mapping[str, list[int]]


def _transactions(case: Case) -> tuple[list[_Transaction], dict[int, int]]:
    """All transactions, and which of them wrote each number of the last lists."""
    found: list[_Transaction] = []
    owners: dict[int, int] = {}
    for write in filter(is_listed, case.writes):
        # What stands in a list twice has no place in an order.
        once = [number for number in write.numbers if case.listed[number] == 1]
        if once and write.outcome != FAIL:
            owners |= dict.fromkeys(once, len(found))
            told = write.told
            shown = told or write.first
            saw = told.lists if told is not None else {}
            found.append(_Transaction(shown, write.began, write.ended, saw))
    for operation in case.operations:
        # A refused append has still read.
        if operation.lists and operation.outcome == (
            OK if operation.name == "read" else FAIL
        ):
            span = operation.began, operation.ended
            found.append(_Transaction(operation, *span, operation.lists))
    return found, owners


@attrs.define
class _Edges:
    ww: set[_Edge] = attrs.field(factory=set)
    wr: set[_Edge] = attrs.field(factory=set)
    rw: set[_Edge] = attrs.field(factory=set)


def _edges(
    case: Case, transactions: list[_Transaction], owners: Mapping[int, int]
) -> _Edges:
    edges = _Edges()
    for numbers in case.ending.lists.values():
        order = [owners[number] for number in numbers if number in owners]
        edges.ww.update(pairwise(order))
    for reader, transaction in enumerate(transactions):
        for name, numbers in transaction.saw.items():
            seen, last = case.known(numbers), case.last(name)
            if last[: len(seen)] != seen:
                continue  # A fork, which has a name of its own.
            before = owners.get(seen[-1]) if seen else None
            after = owners.get(last[len(seen)]) if last[len(seen) :] else None
            if before is not None:
                edges.wr.add((before, reader))
            if after is not None and after != before:
                edges.rw.add((reader, after))
    for kind in (edges.ww, edges.wr, edges.rw):
        kind.difference_update([edge for edge in kind if edge[0] == edge[1]])
    return edges


def _clock(transactions: list[_Transaction]) -> Iterator[_Edge]:
    """Edges by the clock, through one more node for each beginning.

    Each ended transaction leads to the first beginning after its end, each beginning
    to its transaction and to the next beginning.
    """
    count = len(transactions)
    began = sorted(range(count), key=lambda i: transactions[i].began)
    ended = sorted(
        (i for i in range(count) if transactions[i].ended is not None),
        key=lambda i: transactions[i].ended or 0,
    )
    at = 0
    for place, node in enumerate(began):
        moment = transactions[node].began
        while at < len(ended) and (transactions[ended[at]].ended or 0) < moment:
            yield ended[at], count + place
            at += 1
        yield count + place, node
        if place + 1 < count:
            yield count + place, count + place + 1


def _cycle(*kinds: Iterable[_Edge]) -> list[int]:
    """A cycle in a graph, or nothing."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for kind in kinds:
        for before, after in kind:
            sorter.add(after, before)
    try:
        sorter.prepare()
    except CycleError as error:
        nodes: list[int] = error.args[1]
        return nodes
    return []


def _is_reached(edges: Iterable[_Edge], start: int, end: int) -> bool:
    following: dict[int, list[int]] = {}
    for before, after in edges:
        following.setdefault(before, []).append(after)
    waiting, seen = [start], {start}
    while waiting:
        node = waiting.pop()
        if node == end:
            return True
        for after in following.get(node, ()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def no_cycle(case: Case) -> Iterator[Finding]:
    """There is an order of all transactions that explains all they saw."""
    transactions, owners = _transactions(case)
    edges = _edges(case, transactions, owners)
    ww, wr, rw = edges.ww, edges.wr, edges.rw

    def found(check: str, nodes: list[int]) -> Finding:
        shown = [transactions[n].operation for n in nodes if n < len(transactions)]
        return Finding(check, "each depends on the one before it", shown)

    if nodes := _cycle(ww):
        yield found("G0", nodes)
    elif nodes := _cycle(ww, wr):
        yield found("G1c", nodes)
    elif nodes := _cycle(ww, wr, rw):
        single = any(_is_reached(ww | wr, after, before) for before, after in rw)
        yield found("G-single" if single else "G2", nodes)
    elif nodes := _cycle(ww, wr, rw, _clock(transactions)):
        yield found("real-time", nodes)
