"""Rows and commits of the kit's schema with everything unsaid filled in."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs

from uaix_conformance.rows import Entry, Fact, Job, Lease, Note, Vector
from uaix_conformance.schema import NOTE
from uaix_conformance.sealing import body_digest
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.relations import Ref
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.schema.rows import Row

_T = TypeVar("_T")

SCOPE = ScopeId("kit", "project", "one")
OTHER = ScopeId("kit", "project", "two")


def changed(value: _T, **fields: Any) -> _T:
    """The same row or commit with other values in these fields."""
    new: _T = attrs.evolve(cast("Any", value), **fields)
    return new


def salt_for(*parts: object) -> bytes:
    """A salt that is the same in every run, so that digests can be written down."""
    return hashlib.sha256(repr(parts).encode()).digest()[:16]


def note(number: int = 0, topic: str = "t0", **fields: Any) -> Note:
    """A note with a body."""
    fields = {
        "kind": "say",
        "pinned": False,
        "noted_at": 0,
        "extra": None,
        "title": "",
        "text": "",
        "data": b"",
        "meta": "null",
        **fields,
    }
    salt = fields.pop("salt", None) or salt_for(topic, number)
    draft = Note(topic=topic, number=number, **fields, salt=salt)
    digest = body_digest(NOTE, draft, salt)
    return Note(topic=topic, number=number, **fields, salt=salt, body_digest=digest)


def fact(size: int = 0, subject: str = "s0", **fields: Any) -> Fact:
    """A fact."""
    unsaid: dict[str, Any] = {"at": 0, "sure": False, "word": "say", "value": None}
    return Fact(size=size, subject=subject, **unsaid | fields)


def job(number: int = 0, **fields: Any) -> Job:
    """A job that is due at 0."""
    unsaid: dict[str, Any] = {
        "urgent": False,
        "due_at": 0,
        "kind": "ask",
        "payload": None,
    }
    return Job(number=number, **unsaid | fields)


def lease(number: int = 0, topic: str = "t0", **fields: Any) -> Lease:
    """A lease about a note."""
    return Lease(topic, number, fields.get("holder", "h0"), fields.get("until", 0))


def vector(number: int = 0, topic: str = "t0", **fields: Any) -> Vector:
    """A cached row about a note."""
    unsaid: dict[str, Any] = {"model": "m0", "text": None, "data": b""}
    return Vector(topic=topic, number=number, **unsaid | fields)


def entry(name: str = "", **fields: Any) -> Entry:
    """A cached row under a free text."""
    unsaid: dict[str, Any] = {
        "group": "",
        "flag": False,
        "at": 0,
        "size": 0,
        "ident": "i0",
        "word": "ask",
        "value": None,
        "data": None,
        "extra": None,
    }
    return Entry(name=name, **unsaid | fields)


def commit(
    *adds: Row,
    scope: ScopeId = SCOPE,
    at: int = 0,
    puts: Iterable[Row] = (),
    drops: Iterable[Ref] = (),
    erases: Iterable[Ref] = (),
    expects: Iterable[Expect] = (),
) -> Commit:
    """A commit that adds these rows."""
    return Commit(
        scope,
        at,
        expects=expects,
        adds=adds,
        puts=puts,
        drops=drops,
        erases=erases,
    )


def note_ref(number: int = 0, topic: str = "t0") -> Ref:
    """The name of a note."""
    return Ref("note", (topic, number))


def expect(relation: str, key: tuple[Any, ...], version: int) -> Expect:
    """An expect."""
    return Expect(relation, key, version)
