"""The kit's small schema: a few relations that cover what a relation can be.

Every kind of field, of key, of path and of keeping occurs at least once, and fields
are named as they please a reader, so one of them is a reserved word of SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.reducers import reduce_facts, reduce_notes, reduce_ranks
from uaix_conformance.rows import (
    Entry,
    Fact,
    Head,
    Job,
    Latest,
    Lease,
    Link,
    Note,
    Rank,
    Tally,
    Title,
    Vector,
)
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.schema import Room, Schema

if TYPE_CHECKING:
    from uaix_core.schema.reducers import Reducer

__all__ = ["KIT", "ROOMS", "RELATIONS", "watched"]

NOTE = Relation(
    "note",
    Note,
    ("topic", "number"),
    keep=Keep.HISTORY,
    paths={
        "by_kind": ("kind", "noted_at"),
        "by_pin": ("pinned", "number"),
        "by_time": ("noted_at",),
    },
    body=("title", "text", "data", "meta"),
)
FACT = Relation(
    "fact",
    Fact,
    ("at", "sure", "size", "subject"),
    keep=Keep.HISTORY,
    paths={"by_subject": ("subject", "size"), "by_word": ("word",)},
)
TALLY = Relation(
    "tally", Tally, ("word",), keep=Keep.VIEW, paths={"by_count": ("count",)}
)
TITLE = Relation(
    "title",
    Title,
    ("topic", "number"),
    keep=Keep.VIEW,
    paths={"by_title": ("title",)},
    unique={"by_title"},
)
LINK = Relation("link", Link, ("topic", "number"), keep=Keep.VIEW)
LATEST = Relation("latest", Latest, ("topic",), keep=Keep.VIEW, versioned=True)
HEAD = Relation(
    "head",
    Head,
    ("subject",),
    keep=Keep.VIEW,
    versioned=True,
    paths={"by_size": ("size",)},
)
RANK = Relation("rank", Rank, ("count", "word"), keep=Keep.VIEW)
JOB = Relation(
    "job",
    Job,
    ("urgent", "number"),
    keep=Keep.WORK,
    paths={"by_due": ("due_at",), "by_kind": ("kind",)},
    due="due_at",
)
LEASE = Relation(
    "lease", Lease, ("topic", "number", "holder"), keep=Keep.WORK, about="note"
)
VECTOR = Relation(
    "vector",
    Vector,
    ("model", "topic", "number"),
    keep=Keep.CACHE,
    paths={"by_note": ("topic", "number")},
    about="note",
)
ENTRY = Relation(
    "entry",
    Entry,
    ("name",),
    keep=Keep.CACHE,
    paths={
        "by_group": ("group", "size"),
        "by_flag": ("flag", "size"),
        "by_at": ("at",),
    },
)

#: Rooms from the bottom up: the ranks are made from the tallies that notes put.
ROOMS = (
    Room("notes", (NOTE, TALLY, TITLE, LINK, LATEST), reduce_notes),
    Room("facts", (FACT, HEAD), reduce_facts),
    Room("ranks", (RANK,), reduce_ranks),
    Room("local", (JOB, LEASE, VECTOR, ENTRY)),
)

KIT = Schema(*ROOMS)

#: The relations in schema order.
RELATIONS: tuple[Relation, ...] = tuple(KIT.relations.values())


def watched(reducer: Reducer) -> Schema:
    """The kit's schema and one more reducer, which runs last.

    A store may run reducers again whenever it computes views anew, so tests look at
    the first run for each seq: the one inside the append.
    """
    return Schema(*ROOMS, Room("watch", (), reducer))
