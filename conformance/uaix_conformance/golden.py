"""Golden histories: what goes in and what must come out, as plain JSON.

A file of ``golden/`` can be read by a store in any language. It holds the appends of
one history in order, each with the place it must be given or the error it must be
refused with, and then what every scope must show. Values stand in it as in the chain:
instants as RFC 3339, integers beyond 2**53 - 1 as decimal strings, bytes as base64url,
absent values left out. A row is ``{"relation", "fields"}``, read ones with
``"version"``; scans name relation, path, prefix, after, reverse and limit.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from uaix_conformance.oracle import Oracle, scanned
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import (
    fields_json,
    from_json,
    instant_of,
    instant_text,
    key_json,
    to_json,
)
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import ConflictError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from uaix_conformance.oracle import State
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

FORMAT = "uaix.golden.v1"


def names() -> list[str]:
    """The golden histories of the package, by file name."""
    folder = files(__package__) / "golden"
    found = (file.name for file in folder.iterdir())
    return sorted(name for name in found if name.endswith(".json"))


def read(name: str) -> dict[str, Any]:
    """One golden history."""
    text = (files(__package__) / "golden" / name).read_text(encoding="utf-8")
    history: dict[str, Any] = json.loads(text)
    return history


def row_out(row: Row, *, version: bool = True) -> dict[str, Any]:
    """A row as JSON."""
    relation = KIT.of(row)
    fields = fields_json(relation, row, relation.fields)
    out: dict[str, Any] = {"relation": relation.name, "fields": fields}
    return {**out, "version": row.version} if version else out


def row_in(out: Mapping[str, Any]) -> Row:
    """The row that `row_out` wrote."""
    relation = KIT.relation(out["relation"])
    fields = {
        name: from_json(field.kind, out["fields"].get(name))
        for name, field in relation.fields.items()
    }
    return relation.row(**fields)


def values_out(relation: Relation, order: Sequence[str], values: Key) -> list[Any]:
    """Leading values of an order as JSON."""
    pairs = zip(order, values, strict=False)
    return [to_json(relation.fields[name].kind, value) for name, value in pairs]


def values_in(relation: Relation, order: Sequence[str], out: Iterable[Any]) -> Key:
    """The values that `values_out` wrote."""
    pairs = zip(order, out, strict=False)
    return tuple(from_json(relation.fields[name].kind, value) for name, value in pairs)


def _refs_out(refs: Iterable[Ref]) -> list[Any]:
    return [[r.relation, key_json(KIT.relation(r.relation), r.key)] for r in refs]


def _refs_in(out: Iterable[Any]) -> list[Ref]:
    return [Ref(name, _key_in(name, key)) for name, key in out]


def _key_in(name: str, key: Iterable[Any]) -> Key:
    relation = KIT.relation(name)
    return values_in(relation, relation.key, key)


def commit_out(commit: Commit) -> dict[str, Any]:
    """A commit as JSON; empty parts are left out."""
    parts = {
        "adds": [row_out(row, version=False) for row in commit.adds],
        "puts": [row_out(row, version=False) for row in commit.puts],
        "drops": _refs_out(commit.drops),
        "erases": _refs_out(commit.erases),
        "expects": [
            [e.relation, key_json(KIT.relation(e.relation), e.key), e.version]
            for e in commit.expects
        ],
    }
    return {
        "scope": commit.scope.text,
        "recorded_at": instant_text(commit.recorded_at),
        **{name: part for name, part in parts.items() if part},
    }


def commit_in(out: Mapping[str, Any]) -> Commit:
    """The commit that `commit_out` wrote."""
    return Commit(
        ScopeId.parse(out["scope"]),
        instant_of(out["recorded_at"]),
        adds=[row_in(row) for row in out.get("adds", ())],
        puts=[row_in(row) for row in out.get("puts", ())],
        drops=_refs_in(out.get("drops", ())),
        erases=_refs_in(out.get("erases", ())),
        expects=[
            Expect(name, _key_in(name, key), version)
            for name, key, version in out.get("expects", ())
        ],
    )


def place_out(recorded: Recorded) -> dict[str, Any]:
    """Seq, recorded instant and digest as JSON."""
    return {
        "seq": recorded.seq,
        "recorded_at": instant_text(recorded.recorded_at),
        "digest": recorded.digest,
    }


def recorded_out(recorded: Recorded) -> dict[str, Any]:
    """A recorded commit as JSON."""
    return {
        **place_out(recorded),
        "adds": [row_out(row) for row in recorded.commit.adds],
        "erases": _refs_out(recorded.commit.erases),
    }


def asked(snapshot: Snapshot, scan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a snapshot answers to a scan of a golden history."""
    relation = KIT.relation(scan["relation"])
    order = relation.orders[scan["path"]]
    prefix = values_in(relation, order, scan["prefix"])
    rest = order[len(prefix) :]
    after = values_in(relation, rest, scan["after"]) if scan["after"] else None
    found = snapshot.scan(
        relation.name,
        scan["path"],
        prefix,
        after=after,
        reverse=scan["reverse"],
        limit=scan["limit"],
    )
    return [row_out(row) for row in found]


def _scans(state: State) -> list[dict[str, Any]]:
    """Every path from end to end, and from its middle row on in both directions."""
    scans = []
    rows = state.all_rows()
    for relation in KIT.relations.values():
        for path, order in relation.orders.items():
            every = scanned(relation, rows, path)
            if not every:
                continue
            middle = every[len(every) // 2]
            values = tuple(getattr(middle, name) for name in order)
            for prefix, after in (((), ()), ((), values), (values[:1], values[1:])):
                for reverse in (False, True):
                    where: dict[str, Any] = {"reverse": reverse, "limit": 5}
                    found = scanned(
                        relation, rows, path, prefix, after=after or None, **where
                    )
                    scans.append(
                        {
                            "relation": relation.name,
                            "path": path,
                            "prefix": values_out(relation, order, prefix),
                            "after": values_out(relation, order[len(prefix) :], after),
                            **where,
                            "keys": [
                                key_json(relation, relation.key_of(r)) for r in found
                            ],
                        }
                    )
    return scans


def history(title: str, commits: Iterable[Commit]) -> dict[str, Any]:
    """The golden history of these commits, as the oracle lives it."""
    oracle = Oracle(KIT)
    appends = []
    for commit in commits:
        entry: dict[str, Any] = {"commit": commit_out(commit)}
        try:
            entry["recorded"] = place_out(oracle.append(commit))
        except ConflictError as error:
            entry["refused"] = type(error).__name__
        appends.append(entry)
    return {
        "format": FORMAT,
        "title": title,
        "appends": appends,
        "scopes": {
            scope.text: {
                "position": state.position,
                "head": state.head,
                "commits": [recorded_out(r) for r in state.commits()],
                "rows": [row_out(row) for _, row in sorted(state.all_rows().items())],
                "scans": _scans(state),
            }
            for scope, state in sorted(oracle.states.items(), key=lambda e: str(e[0]))
        },
    }
