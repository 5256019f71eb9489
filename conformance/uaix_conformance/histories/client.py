"""A client: does one operation after the other, drawn at random, and logs each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from uaix_conformance.examples import OTHER, SCOPE
from uaix_conformance.histories import deeds
from uaix_conformance.histories.operations import FAIL, INFO, OK
from uaix_conformance.rows import Note
from uaix_conformance.schema import KIT
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import BusyError, ConflictError, OutcomeUnknownError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from uaix_conformance.histories.log import Log
    from uaix_core.schema.commits import Recorded
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

    _Lists = Mapping[str, list[int]]

#: The scopes by the names that logs have for them.
SCOPES: Final[Mapping[str, ScopeId]] = {SCOPE.key: SCOPE, OTHER.key: OTHER}

#: Operation -> how often it is drawn.
_WEIGHTS: Final = {
    "append": 32,
    "once": 12,
    "read": 24,
    "capture": 9,
    "supersede": 5,
    "erase": 4,
    "put": 4,
    "drop": 1,
    "replay": 4,
    "scan": 5,
}

#: After so many commits the lists are given up for new ones, so that none grows long.
_ERA: Final = 256
_LISTS: Final = 3
_TOPICS: Final = 2

#: So many rows and commits are looked at in one scan, and by whoever picks one.
_WINDOW: Final = 80

#: A client that lost its answer every time gives up and leaves it to the next.
_ATTEMPTS: Final = 20

#: More numbers than one process ever writes.
_NUMBERS: Final = 1_000_000


class Client:
    """The operations of one process, each logged before and after."""

    def __init__(self, store: Store, log: Log, seat: int, random: Random) -> None:
        self._store = store
        self._log = log
        self._seat = seat
        self._random = random
        self._next = log.process * _NUMBERS + 1
        self._positions = dict.fromkeys(SCOPES, 0)

    def do(self, name: str, scope: str, given: Any, deed: Callable[..., None]) -> str:
        """Log, do and log: the outcome."""
        came: dict[str, Any] = {}
        self._log.begin(name, scope, given)
        try:
            deed(came)
            outcome = OK
        except (ConflictError, BusyError) as error:
            outcome, came["why"] = FAIL, error.code
        except OutcomeUnknownError as error:
            outcome, came["why"] = INFO, error.code
        except Exception as error:  # noqa: BLE001 - whatever it is, the history tells it
            outcome, came["error"] = INFO, f"{type(error).__name__}: {error}"
        self._log.end(outcome, came)
        return outcome

    def step(self) -> None:
        """One operation, or a few that belong together."""
        scope = self._random.choice(list(SCOPES))
        names = list(_WEIGHTS)
        (name,) = self._random.choices(names, [_WEIGHTS[name] for name in names])
        # What an operation does is logged; to choose what it is about may fail as well.
        with suppress(BusyError):
            getattr(self, f"_{name}")(scope)

    def _numbers(self, most: int) -> list[int]:
        count = self._random.randint(1, most)
        numbers = list(range(self._next, self._next + count))
        self._next += count
        return numbers

    def _names(self, scope: str, count: int, back: int = 0) -> list[str]:
        """Some lists of the present era, or of one before."""
        era = max(0, self._positions[scope] // _ERA - back)
        chosen = self._random.sample(range(_LISTS), count)
        return [f"list{era}.{n}" for n in chosen]

    def _lists(self, scope: str) -> tuple[_Lists, list[str]]:
        """What to append to which lists, and which others to rely on."""
        names = self._names(scope, self._random.choice((1, 1, 2, 2, 3)))
        written = names[: max(1, len(names) - self._random.randint(0, 1))]
        most = self._random.choice((1, 1, 1, 2))
        lists = {name: self._numbers(most) for name in written}
        return lists, names[len(written) :]

    # Lists

    def _append(self, scope: str) -> None:
        lists, also = self._lists(scope)
        at = SCOPES[scope]
        self.do(
            "append",
            scope,
            lists,
            lambda came: deeds.append_to(self._store, at, lists, also, came),
        )

    def _once(self, scope: str) -> None:
        lists, _ = self._lists(scope)
        self.finish(scope, lists)
        if self._random.random() < 0.25:
            # As a client does that was told and forgot it.
            self.finish(scope, lists)

    def finish(self, scope: str, lists: _Lists) -> bool:
        """Append under an idempotency key until it is there."""
        at = SCOPES[scope]
        for _ in range(_ATTEMPTS):
            outcome = self.do(
                "once",
                scope,
                lists,
                lambda came: deeds.append_once(self._store, at, lists, came),
            )
            if outcome == OK:
                return True
        return False

    def _read(self, scope: str) -> None:
        names = self._names(scope, _LISTS, self._random.choice((0, 0, 0, 1)))
        self.do("read", scope, names, lambda came: self._look(scope, names, came))

    def _look(self, scope: str, names: list[str], came: dict[str, Any]) -> None:
        with self._store.snapshot(SCOPES[scope]) as snapshot:
            came["lists"] = {name: deeds.walked(snapshot, name)[0] for name in names}
            self._place(scope, snapshot, came)

    def _place(self, scope: str, snapshot: Snapshot, came: dict[str, Any]) -> None:
        came["position"], came["head"] = snapshot.position, snapshot.head
        self._positions[scope] = snapshot.position

    # Notes

    def _topic(self) -> str:
        return f"topic{self._random.randrange(_TOPICS)}"

    def _capture(self, scope: str) -> None:
        notes = {self._topic(): self._numbers(2)}
        at = SCOPES[scope]
        self.do(
            "capture",
            scope,
            notes,
            lambda came: deeds.capture(self._store, at, notes, came),
        )

    def _supersede(self, scope: str) -> None:
        notes = {self._topic(): self._numbers(1)}
        at = SCOPES[scope]
        self.do(
            "supersede",
            scope,
            notes,
            lambda came: deeds.supersede(self._store, at, notes, came),
        )

    def _erase(self, scope: str) -> None:
        at = SCOPES[scope]
        with self._store.snapshot(at) as snapshot:
            found = snapshot.scan("note", "by_time", reverse=True, limit=_WINDOW)
        notes = [n for n in found if isinstance(n, Note) and n.text is not None]
        if notes:
            gone = self._random.sample(
                notes, min(len(notes), self._random.randint(1, 2))
            )
            refs = [Ref("note", (row.topic, row.number)) for row in gone]
            numbers = [row.number for row in gone]
            self.do(
                "erase",
                scope,
                numbers,
                lambda came: deeds.erase(self._store, at, refs, came),
            )

    # Local state

    def _put(self, scope: str) -> None:
        (number,) = self._numbers(1)
        at, seat = SCOPES[scope], self._seat
        self.do(
            "put",
            scope,
            {f"job{seat}": number},
            lambda came: deeds.put_job(self._store, at, seat, number, came),
        )

    def _drop(self, scope: str) -> None:
        at, seat = SCOPES[scope], self._seat
        self.do(
            "drop",
            scope,
            [f"job{seat}"],
            lambda _came: deeds.drop_job(self._store, at, seat),
        )

    # The ledger, and everything

    def _replay(self, scope: str) -> None:
        at = SCOPES[scope]
        with self._store.snapshot(at) as snapshot:
            back = self._random.randint(1, _WINDOW)
            recorded = next(snapshot.commits(max(0, snapshot.position - back)), None)
        if recorded is not None:
            place = {"seq": recorded.seq, "digest": recorded.digest}
            self.do("replay", scope, place, lambda came: self._repeat(recorded, came))

    def _repeat(self, recorded: Recorded, came: dict[str, Any]) -> None:
        again = self._store.append(recorded)
        came.update(seq=again.seq, digest=again.digest)

    def _scan(self, scope: str) -> None:
        self.do("scan", scope, None, lambda came: self._see(scope, came))

    def _see(self, scope: str, came: dict[str, Any]) -> None:
        at = SCOPES[scope]
        shown: set[int] = set()
        with self._store.snapshot(at) as snapshot:
            self._place(scope, snapshot, came)
            for relation in KIT.relations.values():
                path = self._random.choice(list(relation.orders))
                reverse = self._random.random() < 0.75
                rows = snapshot.scan(
                    relation.name, path, reverse=reverse, limit=_WINDOW
                )
                shown |= deeds.shown_by(rows)
            for recorded in snapshot.commits(max(0, snapshot.position - _WINDOW)):
                shown |= deeds.shown_by(recorded.commit.adds)
            came["jobs"] = deeds.jobs_of(snapshot.scan("job", "key", limit=_WINDOW))
        due = self._store.due("job", until=_NUMBERS**2, limit=_WINDOW)
        shown |= deeds.shown_by(row for where, row in due if where == at)
        came["shown"] = sorted(shown)
