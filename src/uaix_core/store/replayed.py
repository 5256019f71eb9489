"""Many commits put into `Tables` at once: what opening a long ledger needs.

Putting rows in one by one copies a block for each; put in together and sorted they
cost a fraction.
"""

# ruff: noqa: SLF001 - a state fills in the state that follows it
from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.store.advance import Ask, Found, drive, replay_views
from uaix_core.store.log import Logged
from uaix_core.store.tables import Tables
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.commits import Mark, Recorded
    from uaix_core.schema.relations import Ref
    from uaix_core.schema.rows import Row


class _Extended(Tables):
    """The state to which commits are added."""

    def after(
        self, log: Sequence[Logged], puts: Sequence[Row], drops: Sequence[Ref]
    ) -> Tables:
        """The state after these commits, which put and drop these rows in all."""
        new = self.with_rows(puts, drops)
        self._log.put(self._length, log)
        new._length = self._length + len(log)
        new.mark = log[-1].mark
        return new


class Replayed:
    """The state after more and more stored commits of the history that survives."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows: dict[Ref, Row | None] = {}
        self._log: list[Logged] = []
        self.mark: Mark = tables.mark

    def tables(self) -> Tables:
        """The state now."""
        if self._log:
            puts = [row for row in self._rows.values() if row is not None]
            drops = [ref for ref, row in self._rows.items() if row is None]
            before = self._tables
            extended = _Extended(before.schema, before.scope, before)
            self._tables = extended.after(self._log, puts, drops)
            self._rows, self._log = {}, []
        return self._tables

    def get(self, ref: Ref) -> Row | None:
        """The row of this name."""
        return self._rows[ref] if ref in self._rows else self._tables.get(ref)

    def add(self, recorded: Recorded) -> None:
        """Take a commit whose erasures show in the rows already."""
        schema = self._tables.schema
        commit = recorded.commit
        refs = tuple(schema.of(row).ref(row) for row in commit.adds)
        for ref in refs:
            if self.get(ref) is not None:
                raise IntegrityError(
                    "a stored commit adds a row that exists",
                    code="storage.segment",
                    path=f"{commit.scope.text}#{recorded.seq}",
                )
        puts, drops = drive(replay_views(schema, recorded), self._answer)
        rows = self._rows
        rows.update(zip(refs, commit.adds, strict=True))
        for ref in drops:
            rows[ref] = None
        for row in puts:
            rows[schema.of(row).ref(row)] = row
        self._log.append(Logged(recorded.mark, refs, commit.erases))
        self.mark = recorded.mark

    def _answer(self, ask: Ask) -> Found:
        found = {}
        rows, get = self._rows, self._tables.get
        for ref in ask.rows:
            row = rows[ref] if ref in rows else get(ref)
            if row is not None:
                found[ref] = row
        return Found(found)
