"""Our own backends with one guard taken out, for the histories to notice.

``unguarded:directory_expects`` is a harness of the directory backend that compares no
expects, and so on (see `GUARDS`). Opening a store takes the guard out of the whole
process, so it is opened only in processes that do nothing else.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time

import attrs

from uaix_backends.directory import erasing
from uaix_backends.directory import scope as scope_of_directory
from uaix_backends.directory.scope import Scope
from uaix_backends.directory.store import DirectoryStore
from uaix_backends.directory.writing import Writing
from uaix_backends.sqlite import store as store_of_sqlite
from uaix_backends.sqlite.reading import ScopeRows
from uaix_backends.sqlite.store import SqliteStore
from uaix_backends.tabular import writing
from uaix_conformance.harness import load
from uaix_core.schema.commits import Recorded
from uaix_core.store import advance as advancing
from uaix_core.store.advance import advance, drive
from uaix_core.values.errors import UaixError

#: For so long a commit that was acknowledged is not written yet.
_LATE_S = 0.01


def _nothing(*_args):
    return None


def without_expects():
    """The versions that expects name are not compared."""
    advancing._check_expects = _nothing


def without_receipts():
    """Nobody looks whether a row that a commit adds, say a receipt, is there."""
    advancing._check_absent = _nothing


def directory_without_lock():
    """Whoever writes takes no lock of the file system."""
    scope_of_directory.locked = lambda *_args: contextlib.nullcontext()


def without_known(module):
    """Nobody looks whether a replayed commit is in the chain already."""
    module.known = _nothing


def directory_without_scope():
    """What was read of one scope is taken for what was asked of another."""
    find = DirectoryStore._scope
    DirectoryStore._scope = lambda self, scope: (
        next(iter(self._scopes.values()), None) or find(self, scope)
    )


def sqlite_without_scope():
    """Scans don't compare the scope of a row."""

    def scan(self, asked):
        table = self.layout.tables[asked.relation.name]
        ends = len(asked.prefix), len(asked.after)
        text = table.scan(asked.path, *ends, reverse=asked.reverse)
        text = text.replace(f"t.{table.scope_no} = ?", f"t.{table.scope_no} > 0 * ?")
        values = (self.number, *asked.prefix, *asked.after, asked.limit)
        return table.rows(list(self.execute(text, values)))

    ScopeRows.scan = scan


def acknowledging_first(owner, decide):
    """A commit is decided and acknowledged, and written soon after."""
    append, waiting = owner.append, queue.SimpleQueue()

    def write():
        while True:
            store, submitted = waiting.get()
            time.sleep(_LATE_S)
            try:
                append(store, submitted)
            except UaixError:
                continue

    def acknowledge(self, submitted):
        decided = decide(self, submitted)
        waiting.put((self, submitted))
        return getattr(decided, "recorded", decided)

    threading.Thread(target=write, daemon=True).start()
    owner.append = acknowledge


def _decided_by_directory(self, submitted):
    return self._decide(submitted, self.current())


def _decided_by_sqlite(self, submitted):
    if isinstance(submitted, Recorded):
        return submitted
    reader = self._connections.lend()
    try:
        rows = ScopeRows(reader, self._layout, submitted.scope)
        steps = advance(self.schema, submitted, rows.mark, rows.work)
        return drive(steps, rows.answer)
    finally:
        self._connections.give_back(reader)


def directory_without_intent():
    """Local rows of a commit are kept in mind and not written down before its line."""
    Writing.put_intent = lambda self, _intent: self.now.intent


def sqlite_without_one_transaction():
    """The rows of history and those that follow from them are committed apart."""
    write = store_of_sqlite.write

    def write_twice(rows, change):
        write(rows, attrs.evolve(change, puts=(), drops=()))
        rows.statements.execute("COMMIT")
        rows.statements.execute("BEGIN IMMEDIATE")
        writing._change_rows(rows, change.puts, change.drops)

    store_of_sqlite.write = write_twice


def directory_without_erasure():
    """A new segment takes the place of the old one, with all bodies."""
    erasing.without_bodies = lambda _schema, line, _refs: line


def sqlite_without_erasure():
    """The chain notes an erasure, and the row keeps its body."""
    writing._mark_erased = _nothing


@attrs.frozen
class Guard:
    """How to take a guard out, and the checks of which at least one must notice."""

    take_out: object
    noticed_by: frozenset = attrs.field(converter=frozenset)


_RELIED = ("lost", "G-single", "G2", "superseded")
_LATE = ("lost", "own write", "real-time")

GUARDS = {
    "directory_expects": Guard(without_expects, _RELIED),
    "sqlite_expects": Guard(without_expects, _RELIED),
    # Whoever reads the ledger refuses the second row, and so does the table.
    "directory_receipts": Guard(without_receipts, ["duplicate", "error"]),
    "sqlite_receipts": Guard(without_receipts, ["error"]),
    "directory_lock": Guard(directory_without_lock, [*_LATE, "error", "fork"]),
    "directory_known": Guard(lambda: without_known(scope_of_directory), ["error"]),
    "sqlite_known": Guard(lambda: without_known(store_of_sqlite), ["error"]),
    "directory_scope": Guard(directory_without_scope, ["scope"]),
    "sqlite_scope": Guard(sqlite_without_scope, ["scope"]),
    "directory_journal": Guard(
        lambda: acknowledging_first(Scope, _decided_by_directory), _LATE
    ),
    "sqlite_journal": Guard(
        lambda: acknowledging_first(SqliteStore, _decided_by_sqlite), _LATE
    ),
    "directory_intent": Guard(
        directory_without_intent, ["torn", "stale work", "error"]
    ),
    "sqlite_transaction": Guard(
        sqlite_without_one_transaction, ["snapshot", "torn", *_RELIED]
    ),
    "directory_erasure": Guard(directory_without_erasure, ["erased"]),
    "sqlite_erasure": Guard(sqlite_without_erasure, ["erased"]),
}


class Harness:
    """The harness of a backend that lost one guard."""

    def __init__(self, name):
        self.name = name
        self._harness = load(name.partition("_")[0])
        self._is_guarded = True

    def open(self, path, schema):
        if self._is_guarded:
            GUARDS[self.name].take_out()
            self._is_guarded = False
        return self._harness.open(path, schema)

    def files(self, path):
        return self._harness.files(path)


def __getattr__(name):
    if name in GUARDS:
        return Harness(name)
    raise AttributeError(name)
