"""A model of a store: plain dicts and sorted lists, slow and easy to believe.

It carries out the contract a second time and shares with the core only the values
(rows, relations, commits) and the kit's own reducers. Views are never carried over:
for each state they are computed anew from the history that survives, as clause 7.7
says they must be.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from uaix_conformance.sealing import BEFORE_ALL, first_digest, sealed_digest
from uaix_core.schema.commits import Commit, Recorded
from uaix_core.schema.relations import Keep, Key, Ref, Relation
from uaix_core.values.errors import ConflictError, IntegrityError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from uaix_core.schema.reducers import Reducer
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId

_Rows = dict[Ref, "Row"]


def fields_of_row(relation: Relation, row: Row) -> dict[str, Any]:
    """The fields of a row by name."""
    return {name: getattr(row, name) for name in relation.fields}


def with_version(relation: Relation, row: Row, version: int) -> Row:
    """The same row under another version."""
    return relation.row(**fields_of_row(relation, row), version=version)


def without_body(relation: Relation, row: Row) -> Row:
    """What an erasure leaves of a row."""
    gone = dict.fromkeys((*relation.body, "salt"))
    fields = fields_of_row(relation, row) | gone
    return relation.row(**fields, version=row.version)


@attrs.frozen
class Logged:
    """One place of the chain: the names of what it added and erased."""

    seq: int
    recorded_at: int
    digest: str
    adds: tuple[Ref, ...]
    erases: tuple[Ref, ...]


@attrs.frozen
class State:
    """All that one scope holds, views apart."""

    schema: Schema
    scope: ScopeId
    rows: Mapping[Ref, Row] = attrs.field(factory=dict)
    log: tuple[Logged, ...] = ()
    work: int = 0

    @property
    def position(self) -> int:
        """The seq of the last commit."""
        return len(self.log)

    @property
    def head(self) -> str:
        """The digest of the last commit, or that of the empty scope."""
        return self.log[-1].digest if self.log else first_digest(self.scope)

    @property
    def recorded_at(self) -> int:
        """The last recorded instant."""
        return self.log[-1].recorded_at if self.log else BEFORE_ALL

    def commits(self, after: int = 0) -> list[Recorded]:
        """The commits after a seq, with the rows as they are now."""
        return [
            Recorded(
                entry.seq,
                entry.recorded_at,
                entry.digest,
                Commit(
                    self.scope,
                    entry.recorded_at,
                    adds=[self.rows[ref] for ref in entry.adds],
                    erases=entry.erases,
                ),
            )
            for entry in self.log
            if entry.seq > after
        ]

    def views(self) -> _Rows:
        """All VIEW rows, by running the reducers over the history that survives."""
        return dict(self._views)

    @cached_property
    def _views(self) -> _Rows:
        views: _Rows = {}
        for recorded in self.commits():
            past = {r: w for r, w in self.rows.items() if w.version <= recorded.seq}
            overlay: dict[Ref, Row | None] = {}
            for reducer in self.schema.reducers:
                _run(self.schema, reducer, recorded, past | views, overlay)
            views.update({r: row for r, row in overlay.items() if row is not None})
            for ref in [ref for ref, row in overlay.items() if row is None]:
                views.pop(ref, None)
        return views

    def all_rows(self) -> _Rows:
        """Every row of every relation."""
        return {**self.rows, **self.views()}


def _run(
    schema: Schema,
    reducer: Reducer,
    recorded: Recorded,
    standing: Mapping[Ref, Row],
    overlay: dict[Ref, Row | None],
) -> None:
    steps = reducer(recorded, {})
    try:
        wanted = next(steps)
        for _round in range(3):
            now = {**standing, **overlay}
            wanted = steps.send(
                {ref: row for ref in wanted if (row := now.get(ref)) is not None}
            )
    except StopIteration as done:
        overlay.update(dict.fromkeys(done.value.drops))
        for row in done.value.puts:
            relation = schema.of(row)
            version = (row.version or recorded.seq) if relation.versioned else 0
            overlay[_ref(relation, row)] = with_version(relation, row, version)
        return
    raise SchemaError("a reducer may ask three times")


def _ref(relation: Relation, row: Row) -> Ref:
    return Ref(relation.name, tuple(getattr(row, name) for name in relation.key))


class Oracle:
    """The model of a whole store."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.states: dict[ScopeId, State] = {}

    def state(self, scope: ScopeId) -> State:
        """What a scope holds now; the value never changes."""
        return self.states.get(scope) or State(self.schema, scope)

    def append(self, commit: Commit | Recorded) -> Recorded:
        """Write a commit that is well formed, or replay one.

        Raises:
            ConflictError: an expect fails, a key exists, a unique is taken.
            IntegrityError: a replayed commit doesn't continue the chain.

        """
        if isinstance(commit, Recorded):
            return self._replay(commit)
        state = self.state(commit.scope)
        self._check_expects(state, commit)
        return self._write(state, commit, max(commit.recorded_at, state.recorded_at))

    def _replay(self, recorded: Recorded) -> Recorded:
        state = self.state(recorded.commit.scope)
        if 1 <= recorded.seq <= state.position:
            known = state.log[recorded.seq - 1]
            if known.digest == recorded.digest:
                return state.commits(recorded.seq - 1)[0]
        elif recorded.seq == state.position + 1:
            commit = attrs.evolve(recorded.commit, expects=(), puts=(), drops=())
            at = recorded.recorded_at
            digest = sealed_digest(self.schema, commit, recorded.seq, at, state.head)
            if digest == recorded.digest and at >= state.recorded_at:
                return self._write(state, commit, at)
        raise IntegrityError("the commit doesn't continue the chain")

    def _check_expects(self, state: State, commit: Commit) -> None:
        rows = state.all_rows() if commit.expects else {}
        for expect in commit.expects:
            row = rows.get(Ref(expect.relation, expect.key))
            if (row.version if row else 0) != expect.version:
                raise ConflictError(
                    "another version stands",
                    relation=expect.relation,
                    key=expect.key,
                    expected=expect.version,
                    current=row,
                )

    def _write(self, state: State, commit: Commit, at: int) -> Recorded:
        rows, work, log = dict(state.rows), state.work, state.log
        seq = state.position + 1
        adds = []
        for row in commit.adds:
            relation = self.schema.of(row)
            ref = _ref(relation, row)
            if ref in rows:
                raise ConflictError("the key stands already", code="conflict.exists")
            rows[ref] = with_version(relation, row, seq)
            adds.append(ref)
        erased = []
        for ref in commit.erases:
            row_or_none = rows.get(ref)
            if row_or_none is not None and getattr(row_or_none, "salt") is not None:  # noqa: B009 - rows with bodies have it
                relation = self.schema.relations[ref.relation]
                rows[ref] = without_body(relation, row_or_none)
                erased.append(ref)
        about = [ref for ref in rows if self._is_about(rows, ref, erased)]
        if commit.puts or commit.drops or about:
            work += 1
        for row in commit.puts:
            relation = self.schema.of(row)
            rows[_ref(relation, row)] = with_version(relation, row, work)
        about = [ref for ref in rows if self._is_about(rows, ref, erased)]
        for ref in (*commit.drops, *about):
            rows.pop(ref, None)
        if commit.adds or commit.erases:
            digest = sealed_digest(self.schema, commit, seq, at, state.head)
            log = (*log, Logged(seq, at, digest, tuple(adds), commit.erases))
        new = State(self.schema, state.scope, rows, log, work)
        _check_unique(self.schema, new.views())
        self.states[state.scope] = new
        return Recorded(new.position, new.recorded_at, new.head, commit)

    def _is_about(
        self, rows: Mapping[Ref, Row], ref: Ref, erased: Iterable[Ref]
    ) -> bool:
        relation = self.schema.relations[ref.relation]
        if relation.about is None:
            return False
        target = self.schema.relations[relation.about]
        named = tuple(getattr(rows[ref], name) for name in target.key)
        return Ref(target.name, named) in erased

    def scopes(self, after: ScopeId | None, limit: int) -> list[ScopeId]:
        """The scopes that hold a commit, by their text."""
        held = sorted((s for s in self.states if self.states[s].log), key=str)
        return [s for s in held if after is None or str(s) > str(after)][:limit]

    def due(self, relation: str, until: int, limit: int) -> list[tuple[ScopeId, Row]]:
        """The due rows of all scopes."""
        declared = self.schema.relations[relation]
        field = declared.due or ""
        found = [
            (getattr(row, field), state.scope.text, ref.key, state.scope, row)
            for state in self.states.values()
            for ref, row in state.rows.items()
            if ref.relation == relation and getattr(row, field) <= until
        ]
        return [(e[3], e[4]) for e in sorted(found, key=lambda e: e[:3])][:limit]


def _check_unique(schema: Schema, views: Mapping[Ref, Row]) -> None:
    for relation in schema.relations.values():
        for path in relation.unique:
            held = [
                tuple(getattr(row, name) for name in relation.paths[path])
                for ref, row in views.items()
                if ref.relation == relation.name
            ]
            if len(set(held)) < len(held):
                raise ConflictError("a unique is taken", code="conflict.unique")


def scanned(
    relation: Relation,
    rows: Mapping[Ref, Row],
    path: str,
    prefix: Key = (),
    *,
    after: Key | None = None,
    reverse: bool = False,
    limit: int = 1_000,
) -> list[Row]:
    """The rows that a scan must give, by sorting all of them."""
    fields: Sequence[str] = relation.paths.get(path, ())
    order = [*fields, *(name for name in relation.key if name not in fields)]
    listed = [
        (tuple(getattr(row, name) for name in order), row)
        for ref, row in rows.items()
        if ref.relation == relation.name
    ]
    found = []
    for values, row in sorted(listed, key=lambda e: e[0], reverse=reverse):
        rest = values[len(prefix) :]
        if values[: len(prefix)] != prefix:
            continue
        if after is not None:
            part = rest[: len(after)]
            if not (part < after if reverse else part > after):
                continue
        found.append(row)
    return found[:limit]


def rows_of(rows: Mapping[Ref, Row], schema: Schema, *keeps: Keep) -> _Rows:
    """The rows whose relations are kept so."""
    relations = schema.relations
    return {r: row for r, row in rows.items() if relations[r.relation].keep in keeps}
