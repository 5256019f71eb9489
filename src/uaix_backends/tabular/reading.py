"""Reads of one scope over tables: what is the same whatever database holds them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from uaix_backends.tabular.damage import check_stored
from uaix_core.schema.checks import check_key
from uaix_core.schema.codec import key_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.seal import genesis
from uaix_core.values.errors import CallerError, IntegrityError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId

    #: A table, a path, how many values of it, and prefixes of so many values.
    Many = tuple[Any, str, int, Sequence[Key]]
    #: A commit as its table has it: seq, recorded_at, digest, count of adds, erases.
    Entry = tuple[Any, ...]

#: At most so many commits, and rows of them, are held while commits are read.
_COMMITS = 256
_ADDS = 256
#: What stored values that are none may raise where nothing else is looked at.
_UNREADABLE = (
    CallerError,
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)


class TabularRows(ABC):
    """What one scope holds, as the transaction of a connection shows it.

    A scope that nobody wrote to has no number, and all reads of it find nothing. What
    is stored and can't be read is an `IntegrityError` (``storage.row``).
    """

    __slots__ = ("layout", "mark", "number", "scope", "statements", "work")

    def __init__(self, statements: Any, layout: Any, scope: ScopeId) -> None:
        self.statements = statements
        self.layout = layout
        self.scope = scope
        self.number: int | None = None
        self.work = 0
        self.mark = genesis(scope)

    def take(self, found: Sequence[Any] | None) -> None:
        """Take the row of the scope: number, work, seq, recorded_at, digest."""
        if found is not None:
            self.number, self.work, *mark = found
            self.mark = Mark(*mark)

    @abstractmethod
    def results(self, text: str, values: Sequence[Any], what: str) -> list[Any]:
        """All results of a statement; ``what`` names them when they are damaged."""

    def many(
        self, table: Any, path: str, count: int, prefixes: Sequence[Key]
    ) -> list[Row]:
        """The rows whose path begins with one of these prefixes of ``count`` values."""
        (found,) = self.all_of([(table, path, count, prefixes)])
        return found

    @abstractmethod
    def all_of(self, asked: Sequence[Many]) -> list[list[Row]]:
        """The answers to many questions like `many`."""

    def batch(self) -> AbstractContextManager[object]:
        """Send all statements of a block together, where that can be done."""
        return nullcontext()

    def scan(self, scan: Scan) -> list[Row]:
        """The rows of a checked scan."""
        if self.number is None:
            return []
        table = self.layout.tables[scan.relation.name]
        text = table.scan(
            scan.path, len(scan.prefix), len(scan.after), reverse=scan.reverse
        )
        prefix = table.bound(scan.path, scan.prefix)
        values = (self.number, *prefix, *scan.after, scan.limit)
        rows: list[Row] = table.rows(self.results(text, values, scan.relation.name))
        return rows

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`."""
        keys: dict[str, list[Key]] = {}
        for ref in ask.rows:
            keys.setdefault(ref.relation, []).append(ref.key)
        paths: dict[tuple[str, str, int], list[Key]] = {}
        for find in ask.finds:
            shape = (find.relation, find.path, len(find.prefix))
            paths.setdefault(shape, []).append(find.prefix)
        tables = self.layout.tables
        asked: list[Many] = [
            (tables[name], BY_KEY, len(tables[name].relation.key), wanted)
            for name, wanted in keys.items()
        ]
        asked += [
            (tables[name], path, count, wanted)
            for (name, path, count), wanted in paths.items()
        ]
        answers = self.all_of(asked)
        rows: dict[Ref, Row] = {}
        finds: dict[Find, list[Row]] = {find: [] for find in ask.finds}
        for number, (table, path, count, _) in enumerate(asked):
            name = table.relation.name
            if number < len(keys):
                key_of = table.relation.key_of
                rows.update((Ref(name, key_of(r)), r) for r in answers[number])
                continue
            start_of = table.path_of(path, count)
            for row in answers[number]:
                finds[Find(name, path, start_of(row))].append(row)
        return Found(rows, finds)

    def digest_at(self, seq: int) -> str:
        """The chain digest of a past commit."""
        values = (self.number, seq)
        found = self.results(self.layout.digest_of, values, self._place(seq))
        return found[0][0] if found else ""

    def _place(self, seq: int) -> str:
        """How a commit is named in messages."""
        return f"{self.scope.text}#{seq}"

    def commits(self, after: int) -> Iterator[list[Recorded]]:
        """The commits above ``after``, some at a time.

        Every value and the digest of every body is checked.

        Raises:
            IntegrityError: ``storage.chain`` when something is missing,
                ``storage.row`` when something is damaged.
            StoreOpenError: ``store.newer`` for a commit of a later version.

        """
        at = after
        while at < self.mark.seq:
            try:
                part = self._commits(at)
            except StoreOpenError:
                raise
            except _UNREADABLE as error:
                raise self._damaged(at + 1) from error
            yield part
            at = part[-1].seq

    def _damaged(self, seq: int) -> IntegrityError:
        return IntegrityError(
            "a stored commit can't be read", code="storage.row", path=self._place(seq)
        )

    def _commits(self, after: int) -> list[Recorded]:
        log = self._entries(after)
        adds: dict[int, list[tuple[int, Row]]] = {entry[0]: [] for entry in log}
        bounds = (self.number, log[0][0], log[-1][0])
        for table in self.layout.history:
            relation = table.relation
            results = self.results(table.ledger, bounds, relation.name)
            rows = table.rows(values[1:] for values in results)
            for values, row in zip(results, rows, strict=True):
                check_stored(relation, row)
                adds[row.version].append((values[0], row))
        return [self._recorded(entry, adds[entry[0]]) for entry in log]

    def _entries(self, after: int) -> list[Entry]:
        """The next entries of the log, without a gap, at least one."""
        log: list[Entry] = []
        count = 0
        values = (self.number, after, _COMMITS)
        entry: Entry
        for entry in self.results(
            self.layout.log_after, values, self._place(after + 1)
        ):
            count += entry[3]
            if (log and count > _ADDS) or entry[0] != after + len(log) + 1:
                break
            log.append(entry)
        if not log:
            raise IntegrityError(
                "a commit is missing",
                code="storage.chain",
                path=self._place(after + 1),
            )
        return log

    def _recorded(self, entry: Entry, adds: list[tuple[int, Row]]) -> Recorded:
        seq, recorded_at, digest, count, erases = entry
        if len(adds) != count:
            self._check_known(seq)
            raise IntegrityError(
                "a row of a commit is missing",
                code="storage.chain",
                path=self._place(seq),
            )
        adds.sort(key=lambda pair: pair[0])
        try:
            gone = [
                self._erased(name, key, seq) for name, key in json.loads(erases or "[]")
            ]
        except StoreOpenError:
            raise
        except _UNREADABLE as error:
            raise self._damaged(seq) from error
        commit = Commit(
            self.scope, recorded_at, adds=[row for _ord, row in adds], erases=gone
        )
        return Recorded(seq, recorded_at, digest, commit)

    def _check_known(self, seq: int) -> None:
        """Tell a commit that a later version made from a damaged one."""
        known = len(self.layout.standing.done)
        if self.results(self.layout.later, (known,), "migration"):
            raise StoreOpenError(
                "the commit may hold rows that only a later version knows",
                code="store.newer",
                path=self._place(seq),
                hint="read the whole history with that version",
            )

    def _erased(self, name: str, key: list[Any], seq: int) -> Ref:
        if name not in self.layout.schema.relations:
            self._check_known(seq)
        relation = self.layout.schema.relation(name)
        values = key_in(relation, key)
        check_key(relation, values)
        return Ref(name, values)
