"""The checker: what in a history no sound store does. Pure; it opens nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_conformance.histories import cycles, effects, local_rows, readings
from uaix_conformance.histories.evidence import Case, Finding, writes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_conformance.histories.operations import History


class Check(NamedTuple):
    """What a check watches over: the clause that it decides, and the law in words."""

    clause: str
    law: str


#: The checks by the names that findings bear.
CHECKS: Final[Mapping[str, Check]] = {
    "lost": Check("16.1", "what was acknowledged is there in the end"),
    "duplicate": Check("16.1", "nothing is there twice, however often repeated"),
    "aborted": Check("16.1", "what was refused is never seen and never there (G1a)"),
    "torn": Check("16.1", "a commit is there whole or not at all"),
    "phantom": Check("16.1", "whatever is there was written by somebody"),
    "replay": Check("16.1", "a commit that is there already comes back unchanged"),
    "error": Check("16.1", "nothing raises what it may not raise"),
    "fork": Check("16.2", "each list that was seen is a beginning of the last one"),
    "intermediate": Check("16.2", "nobody sees a part of a commit (G1b)"),
    "snapshot": Check("16.2", "a snapshot is one moment"),
    "goes back": Check("16.2", "a process sees what it saw before"),
    "own write": Check("16.2", "a process sees what it wrote"),
    "real-time": Check("16.2", "everything takes effect between its two ends"),
    "G0": Check("16.3", "writes have one order"),
    "G1c": Check("16.3", "writes and what was seen of them have one order"),
    "G-single": Check("16.3", "nobody relies on what was overwritten already"),
    "G2": Check("16.3", "no two rely on what the other overwrites"),
    "superseded": Check("16.3", "a note takes the place of the one that was seen"),
    "erased": Check("16.4", "an erased body is seen nowhere and lies in no file"),
    "scope": Check("16.5", "nothing of a scope is seen in another"),
    "chain": Check("16.6", "commits are dense, sealed, and where writers were told"),
    "work number": Check("16.6", "a work number is given out once; the next is higher"),
    "stale work": Check("16.6", "a local row is the one that was put last"),
}

#: What the operations say by themselves.
_OF_OPERATIONS = (
    effects.ended_as_it_may,
    effects.comes_from_somewhere,
    effects.replays_changed_nothing,
    readings.nobody_goes_back,
    readings.own_writes_are_seen,
    readings.places_follow_the_clock,
)
#: What they say together with what was there in the end.
_OF_ENDINGS = (
    effects.took_effect_once,
    effects.chain_is_whole,
    effects.superseded_what_was_seen,
    readings.lists_are_beginnings,
    readings.moments_are_whole,
    local_rows.come_and_go_with_notes,
    local_rows.jobs_are_the_last,
    cycles.no_cycle,
)


def check(history: History) -> list[Finding]:
    """All that is wrong in a history; nothing when a sound store may have made it."""
    return list(_findings(history))


def _findings(history: History) -> Iterator[Finding]:
    for accident in history.accidents:
        yield Finding("error", accident)
    for operation in history.operations:
        if operation.name == "open" and "error" in operation.came:
            yield Finding("error", str(operation.came["error"]), [operation])
    writes = writes_of(history)
    scopes = {operation.scope for operation in history.operations} - {""}
    for scope in sorted(scopes | history.endings.keys()):
        case = Case(scope, history, writes)
        # Where nobody could look in the end, that is a finding and no ending.
        ending = _OF_ENDINGS if scope in history.endings else ()
        for check_ in (*_OF_OPERATIONS, *ending):
            yield from check_(case)
        yield from readings.erased_stays_erased(case, history)
