"""The row classes of the kit's schema."""

from __future__ import annotations

from typing import Annotated

from uaix_core.schema.rows import (
    BodyRow,
    Bool,
    Bytes,
    Id,
    Instant,
    Int,
    Json,
    Row,
    Text,
    Word,
    row,
)

#: Four words: few enough that random rows meet each other.
WORDS = ("ask", "say", "see", "Say-so")

Kind = Annotated[str, Word(*WORDS)]


@row
class Note(BodyRow):
    """HISTORY with a body: all that can be erased hangs on it."""

    topic: Id
    number: Int
    kind: Kind
    pinned: Bool
    noted_at: Instant
    extra: Json | None
    title: Text | None
    text: Text | None
    data: Bytes | None
    meta: Json | None


@row
class Fact(Row):
    """HISTORY without a body, under a key of four kinds."""

    at: Instant
    sure: Bool
    size: Int
    subject: Id
    word: Kind
    value: Json | None


@row
class Tally(Row):
    """VIEW: how many surviving notes hold a word; gone at zero."""

    word: Text
    count: Int


@row
class Rank(Row):
    """VIEW of a later room: the tallies by their count."""

    count: Int
    word: Text


@row
class Title(Row):
    """VIEW from bodies: no two surviving notes have the same title."""

    topic: Id
    number: Int
    title: Text


@row
class Link(Row):
    """VIEW: the surviving notes of a topic in the order in which they came."""

    topic: Id
    number: Int
    before: Int | None
    after: Int | None


@row
class Latest(Row):
    """Versioned VIEW: the last surviving note of a topic, with that note's seq."""

    topic: Id
    number: Int
    noted_at: Instant


@row
class Head(Row):
    """Versioned VIEW: the last fact of a subject, and how many there were."""

    subject: Id
    at: Instant
    sure: Bool
    size: Int
    count: Int


@row
class Job(Row):
    """WORK with a due instant."""

    urgent: Bool
    number: Int
    due_at: Instant
    kind: Kind
    payload: Json | None


@row
class Lease(Row):
    """WORK about a note, through the beginning of its key."""

    topic: Id
    number: Int
    holder: Id
    until: Instant


@row
class Vector(Row):
    """CACHE about a note, through a path; it repeats what the note's body says."""

    model: Id
    topic: Id
    number: Int
    text: Text | None
    data: Bytes


@row
class Entry(Row):
    """CACHE under a free text, with each kind of field."""

    name: Text
    group: Text
    flag: Bool
    at: Instant
    size: Int
    ident: Id
    word: Kind
    value: Text | None
    data: Bytes | None
    extra: Json | None
