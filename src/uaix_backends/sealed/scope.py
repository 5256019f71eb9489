"""One sealed scope: what was opened of it, and the order of its writers."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_backends.sealed.committing import Committing, in_memory
from uaix_backends.sealed.local_rows import SEALED_LOCAL, LocalRows
from uaix_backends.sealed.packing import Unpacking
from uaix_backends.sealed.snapshots import SealedSnapshot
from uaix_core.access.sealed_rows import SEALED_PART
from uaix_core.access.sealing import ScopeCipher
from uaix_core.schema.commits import Recorded
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.forms import FIRST, plain
from uaix_core.store.replayed import Replayed
from uaix_core.store.tables import Tables
from uaix_core.values.errors import ConflictError, UaixError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.access.keys import KeyRing
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import Random, ScopeId

#: How often a commit is decided anew because another writer was first. Each time
#: somebody else went through.
ATTEMPTS: Final = 64


class _Known(NamedTuple):
    """What is in memory, and the place in the store behind that it was read at."""

    tables: Tables
    at: tuple[int, str]


class SealedScope:
    """The state of one scope, shared by the threads of a store object."""

    def __init__(
        self,
        inner: Store,
        schema: Schema,
        scope: ScopeId,
        keys: KeyRing,
        random: Random,
    ) -> None:
        self.scope, self.inner = scope, inner
        self.cipher = ScopeCipher(keys, scope, random)
        self.local = {
            keep: LocalRows(schema, scope, self.cipher, relation)
            for keep, relation in SEALED_LOCAL.items()
        }
        self._schema = schema
        self._committing = Committing(schema, self.cipher, self.local, random)
        # Writers hold the first for as long as they write. Whoever looks at the store
        # behind in order to know more holds the second, so that what is known is
        # never newer than what is looked at.
        self._writers = threading.Lock()
        self._knowing = threading.Lock()
        self._known: _Known | None = None

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[SealedSnapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        with ExitStack() as stack:
            with self._knowing:
                inner = stack.enter_context(self.inner.snapshot(self.scope))
                tables = self._caught_up(inner)
            snapshot = SealedSnapshot(tables, inner, self.local)
            stack.callback(snapshot.close)
            yield snapshot

    def _caught_up(self, inner: Snapshot) -> Tables:
        at = (inner.position, inner.head)
        before, self._known = self._known, None
        if before is not None and before.at == at:
            self._known = before
            return before.tables
        tables = None
        if before is not None and before.at[0] < at[0]:
            try:
                tables = self._followed(before.tables, inner)
            except UaixError:
                # Perhaps what was known is no longer there: all is read again, and
                # what is broken is found again.
                tables = None
        if tables is None:
            self._forget_local()
            tables = self._read(inner)
        self._known = _Known(tables, at)
        return tables

    def _read(self, inner: Snapshot) -> Tables:
        tables = Tables(self._schema, self.scope)
        if not inner.position:
            return tables
        if inner.get(SEALED_PART.name, FIRST) is None:
            raise plain(self.scope)
        state = Replayed(tables)
        for recorded in self._commits(tables, inner):
            state.add(recorded)
        return state.tables()

    def _followed(self, tables: Tables, inner: Snapshot) -> Tables:
        for recorded in self._commits(tables, inner):
            steps = advance(self._schema, recorded, tables.mark, 0)
            tables = tables.apply(in_memory(self._schema, drive(steps, tables.answer)))
        return tables

    def _commits(self, tables: Tables, inner: Snapshot) -> Iterator[Recorded]:
        unpacking = Unpacking(self._schema, self.scope, self.cipher, tables.mark)
        return unpacking.commits(inner)

    def forget(self) -> None:
        """Read all of it again the next time."""
        with self._knowing:
            self._known = None
            self._forget_local()

    def _forget_local(self) -> None:
        for rows in self.local.values():
            rows.forget()

    # Writing

    def append(self, submitted: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        with self._writers:
            for attempt in range(ATTEMPTS):
                try:
                    return self._append(submitted)
                except _RacedError as raced:
                    if attempt == ATTEMPTS - 1:
                        raise raced.conflict from None
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def _append(self, submitted: Commit | Recorded) -> Recorded:
        with self.snapshot() as snapshot:
            tables = snapshot.tables
            if isinstance(submitted, Recorded) and known(
                submitted, tables.mark, tables.digest_at
            ):
                return submitted
            steps = advance(self._schema, submitted, tables.mark, 0)
            change = drive(steps, snapshot.answer)
            given = (
                change.recorded.commit if isinstance(submitted, Recorded) else submitted
            )
            commit = self._committing.commit(given, change, snapshot)
        try:
            recorded = self.inner.append(commit)
        except ConflictError as conflict:
            # What the caller expected is looked at again, over what stands now.
            raise _RacedError(conflict) from conflict
        self._follow(tables, change, recorded)
        return change.recorded

    def _follow(self, tables: Tables, change: Advance, recorded: Recorded) -> None:
        """Know what was just written, unless a reader already knows more.

        After an error nothing is known of it: the store behind says what came of it.
        """
        with self._knowing:
            if self._known is not None and self._known.tables is tables:
                if change.mark.seq > tables.mark.seq:
                    tables = tables.apply(in_memory(self._schema, change))
                self._known = _Known(tables, (recorded.seq, recorded.digest))


class _RacedError(Exception):
    """Another writer was first; what it wrote has to be looked at."""

    def __init__(self, conflict: ConflictError) -> None:
        super().__init__(str(conflict))
        self.conflict = conflict
