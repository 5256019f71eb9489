"""A tiny backend of plain dicts and one file, made to be broken on purpose.

``toy:healthy`` keeps the contract; every other attribute of this module is a harness
whose stores have the fault of that name (see `FAULTS`).
"""

from __future__ import annotations

import os
import pickle
import threading
import unicodedata
from contextlib import contextmanager
from copy import deepcopy

import attrs

from uaix_core.schema.commits import Commit, Recorded
from uaix_core.schema.relations import Keep, Ref
from uaix_core.store import reading
from uaix_core.store.advance import Found, advance, drive, known, replay_views
from uaix_core.store.port import Capability
from uaix_core.store.seal import genesis
from uaix_core.values.errors import ClosedError, StoreOpenError
from uaix_core.values.instants import EARLIEST

#: Fault -> the clause it breaks, and the test modules that must notice.
FAULTS = {
    "skips_expects": ("3.1", "test_3_expect"),
    "forgets_versions_of_views": ("3.4", "test_3_expect"),
    "ignores_unique": ("3.9", "test_3_expect"),
    "keeps_half_a_commit": ("2.2", "test_2_append"),
    "reuses_a_seq": ("4.1", "test_4_chain"),
    "records_the_wish": ("4.2", "test_4_chain"),
    "accepts_a_gap": ("5.4", "test_5_replay"),
    "keeps_bodies_in_commits": ("6.2", "test_6_erasure"),
    "leaves_rows_about": ("6.7", "test_6_erasure"),
    "leaves_bytes": ("6.8", "test_6_erasure"),
    "lets_views_stand": ("7.1", "test_7_views"),
    "counts_work_from_rows": ("8.4", "test_8_work"),
    "moves_snapshots": ("9.1", "test_9_snapshots"),
    "mixes_scopes": ("9.4", "test_9_snapshots"),
    "begins_at_after": ("10.5", "test_10_scan"),
    "folds_case": ("10.2", "test_10_scan"),
    "clamps_limits": ("11.1", "test_11_limits"),
    "normalises_text": ("12.1", "test_12_text_and_time"),
    "is_due_too_late": ("13.2", "test_13_operators"),
    "loses_the_last_commit": ("14.2", "test_14_reopening"),
    "tells_in_file_names": ("14.6", "test_14_reopening"),
    "works_in_a_fork": ("14.10", "test_14_reopening"),
}


@attrs.define
class Book:
    """One scope: its place, its work number, its rows, the names in each commit."""

    scope: object
    mark: object
    work: int = 0
    rows: dict = attrs.field(factory=dict)
    log: list = attrs.field(factory=list)


class Toy:
    """The port over a dict of books; the whole dict is one pickle."""

    capabilities = frozenset({Capability.DURABLE, Capability.FILES})

    def __init__(self, path, schema, fault):
        name = "kit-heron.bin" if fault == "tells_in_file_names" else "toy.bin"
        self.schema, self.fault, self.file = schema, fault, path / name
        self.lock, self.pid, self.closed = threading.RLock(), os.getpid(), False
        self.books = {}
        if self.file.exists():
            try:
                self.books = pickle.loads(self.file.read_bytes())  # noqa: S301 - our own
            except Exception as error:
                raise StoreOpenError("not a toy") from error
            if fault == "counts_work_from_rows":
                for book in self.books.values():
                    local = [r for r in book.rows.values() if self.is_local(r)]
                    book.work = max((row.version for row in local), default=0)

    def is_local(self, row):
        return self.schema.of(row).keep in (Keep.WORK, Keep.CACHE)

    def check(self):
        forked = os.getpid() != self.pid and self.fault != "works_in_a_fork"
        if self.closed or forked:
            raise ClosedError("closed")

    def book(self, scope):
        return self.books.get(scope) or Book(scope, genesis(scope))

    def save(self, before):
        if self.fault == "leaves_bytes" and self.file.exists():
            self.file.rename(self.file.with_suffix(".old"))
        kept = before if self.fault == "loses_the_last_commit" else self.books
        new = self.file.with_suffix(".new")
        new.write_bytes(pickle.dumps(kept))
        new.replace(self.file)

    def append(self, commit):
        with self.lock:
            self.check()
            replayed = isinstance(commit, Recorded)
            scope = commit.commit.scope if replayed else commit.scope
            book = self.book(scope)
            digest_at = lambda seq: book.log[seq - 1][0].digest  # noqa: E731 - short
            if replayed and known(commit, book.mark, digest_at):
                return commit
            if replayed and self.fault == "accepts_a_gap":
                if commit.seq > book.mark.seq + 1:
                    return commit
            elif self.fault == "skips_expects" and not replayed:
                commit = attrs.evolve(commit, expects=())
            mark = book.mark
            if self.fault == "records_the_wish":
                mark = attrs.evolve(mark, recorded_at=EARLIEST)
            if self.fault == "keeps_half_a_commit" and not replayed and commit.puts:
                row = commit.puts[0]
                self.books[scope] = book
                book.rows[self.schema.of(row).ref(row)] = row
            answer = lambda ask: self.answer(book, ask)  # noqa: E731 - short
            change = drive(advance(self.schema, commit, mark, book.work), answer)
            before = dict(self.books)
            self.books[scope] = self.changed(book, change)
            self.save(before)
            return change.recorded

    def answer(self, book, ask):
        finds = {}
        for find in ask.finds:
            relation = self.schema.relation(find.relation)
            unique = find.path in relation.unique
            order, n = relation.orders[find.path], len(find.prefix)
            finds[find] = [
                row
                for ref, row in book.rows.items()
                if ref.relation == find.relation
                and tuple(getattr(row, f) for f in order)[:n] == find.prefix
                and not (unique and self.fault == "ignores_unique")
                and not (relation.about and self.fault == "leaves_rows_about")
            ]
        return Found({r: book.rows[r] for r in ask.rows if r in book.rows}, finds)

    def changed(self, old, change):  # noqa: C901 - faults are branches
        book = Book(old.scope, change.mark, change.work, dict(old.rows), [*old.log])
        if self.fault == "reuses_a_seq" and not change.adds:
            book.mark = old.mark
        elif change.mark.seq > old.mark.seq:
            adds = self.stamped(change)
            refs = [self.schema.of(row).ref(row) for row in adds]
            erases = change.recorded.commit.erases
            book.log.append((change.mark, refs, erases, adds))
        for ref in change.erased:
            relation = self.schema.relation(ref.relation)
            book.rows[ref] = relation.erased(book.rows[ref])
            for _, refs, _, rows in book.log:
                if ref in refs and self.fault != "keeps_bodies_in_commits":
                    rows[refs.index(ref)] = book.rows[ref]
        for ref in change.drops:
            book.rows.pop(ref, None)
        for given in (*self.stamped(change), *change.puts):
            row, relation = given, self.schema.of(given)
            ref = relation.ref(row)
            if relation.keep is Keep.VIEW:
                if self.fault == "lets_views_stand" and ref in book.rows:
                    continue
                if self.fault == "forgets_versions_of_views":
                    row = relation.stamped(row, 0)
            if self.fault == "normalises_text" and relation.name == "entry":
                value = row.value and unicodedata.normalize("NFC", row.value)
                row = attrs.evolve(row, value=value)
            book.rows[ref] = row
        return book

    def stamped(self, change):
        seq = change.mark.seq
        return [self.schema.of(row).stamped(row, seq) for row in change.adds]

    @contextmanager
    def snapshot(self, scope):
        self.check()
        with self.lock:
            shown = self.book(scope)
        if self.fault == "mixes_scopes":
            shown = deepcopy(shown)
            for book in self.books.values():
                shown.rows = {**book.rows, **shown.rows}
        look = ToySnapshot(self, scope, shown)
        try:
            yield look
        finally:
            look.shown = None

    def due(self, relation, *, until, limit):
        self.check()
        declared, field = reading.check_due(self.schema, relation, limit)
        if self.fault == "is_due_too_late":
            until -= 1
        found = [
            (getattr(row, field), scope.text, declared.key_of(row), scope, row)
            for scope, book in self.books.items()
            for ref, row in book.rows.items()
            if ref.relation == relation and getattr(row, field) <= until
        ]
        return [e[3:] for e in sorted(found, key=lambda e: e[:3])][:limit]

    def scopes(self, *, after=None, limit):
        self.check()
        reading.check_limit(limit)
        listed = sorted((s for s, b in self.books.items() if b.log), key=str)
        return [s for s in listed if after is None or str(s) > str(after)][:limit]

    def rebuild(self, scope):
        with self.lock:
            self.check()
            book = deepcopy(self.book(scope))
            for ref in [*book.rows]:
                if self.schema.relation(ref.relation).keep is Keep.VIEW:
                    del book.rows[ref]
            with self.snapshot(scope) as look:
                commits = list(look.commits())
            for recorded in commits:
                steps = replay_views(self.schema, recorded)
                puts, drops = drive(steps, lambda ask: self.answer(book, ask))
                for ref in drops:
                    book.rows.pop(ref, None)
                book.rows.update((self.schema.of(r).ref(r), r) for r in puts)
            if commits:
                self.books[scope] = book
            return len(commits)

    def close(self):
        self.closed = True


class ToySnapshot:
    """A snapshot of one book; books are replaced and never changed."""

    def __init__(self, store, scope, shown):
        self.store, self.scope, self.shown = store, scope, shown

    @property
    def seen(self):
        if self.shown is None:
            raise ClosedError("closed")
        moves = self.store.fault == "moves_snapshots"
        return self.store.book(self.scope) if moves else self.shown

    @property
    def position(self):
        return self.seen.mark.seq

    @property
    def head(self):
        return self.seen.mark.digest

    def get(self, relation, key):
        reading.check_get(self.store.schema, relation, key)
        return self.seen.rows.get(Ref(relation, tuple(key)))

    def get_many(self, relation, keys):
        reading.check_get_many(self.store.schema, relation, keys)
        rows = self.seen.rows
        return {k: rows[Ref(relation, k)] for k in keys if Ref(relation, k) in rows}

    def scan(self, relation, path, prefix=(), *, after=None, reverse=False, limit):
        if self.store.fault == "clamps_limits":
            limit = max(1, min(limit, 1_000))
        scan = reading.check_scan(
            self.store.schema,
            relation,
            path,
            prefix,
            after=after,
            reverse=reverse,
            limit=limit,
        )
        n, m = len(scan.prefix), len(scan.after)
        found = []
        for ref, row in self.seen.rows.items():
            if ref.relation == relation:
                values = tuple(getattr(row, name) for name in scan.order)
                part = values[n : n + m]
                beyond = part < scan.after if reverse else part > scan.after
                if self.store.fault == "begins_at_after":
                    beyond = beyond or part == scan.after
                if values[:n] == scan.prefix and (beyond or not m):
                    found.append((values, row))
        folds = self.store.fault == "folds_case"
        fold = lambda v: v.casefold() if folds and isinstance(v, str) else v  # noqa: E731 - short
        found.sort(key=lambda e: tuple(map(fold, e[0])), reverse=reverse)
        return [row for _, row in found[:limit]]

    def commits(self, after=0):
        for mark, refs, erases, rows in self.seen.log:
            bodies = self.store.fault == "keeps_bodies_in_commits"
            adds = rows if bodies else [self.seen.rows[ref] for ref in refs]
            commit = Commit(self.scope, mark.recorded_at, adds=adds, erases=erases)
            if mark.seq > after:
                yield Recorded(mark.seq, mark.recorded_at, mark.digest, commit)


class Harness:
    """The harness of toys with one fault, or none."""

    def __init__(self, fault):
        self.name = f"toy:{fault}"
        self.fault = fault

    def open(self, path, schema):
        return Toy(path, schema, self.fault)

    def files(self, path):
        return sorted(path.iterdir())


def __getattr__(name):
    if name == "healthy" or name in FAULTS:
        return Harness(name)
    raise AttributeError(name)
