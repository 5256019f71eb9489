"""The relations of a sealed scope: what a store keeps in the place of all others.

The rows of history and views of such a scope stand in no store: a commit is kept as
its sealed parts, and the rest follows from it. Part 0 is the commit without its
bodies, part n the body of its n-th row, so that erasing a body erases its part.
"""

from __future__ import annotations

from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Bytes, Id, Int, Row, row
from uaix_core.schema.schema import Room


@row
class SealedPart(BodyRow):
    """A part of a commit; sealed anew, it is a row of the next generation."""

    number: Int
    part: Int
    generation: Int
    key_id: Id
    sealed: Bytes | None = None


@row
class SealedCopy(Row):
    """A CACHE row, sealed; it may hold content, as every CACHE may."""

    place: Id
    key_id: Id
    sealed: Bytes


@row
class SealedWork(Row):
    """A WORK row, sealed, unless workers find it by when it is due."""

    place: Id
    key_id: Id
    sealed: Bytes


@row
class SealedTurn(Row):
    """Whose version says that local rows of a kind were put or dropped.

    Writers expect it where they would otherwise miss rows that another one puts.
    """

    name: Id


SEALED_PART = Relation(
    "sealed_part",
    SealedPart,
    ("number", "part", "generation"),
    keep=Keep.HISTORY,
    body=("sealed",),
    wraps=True,
)
SEALED_COPY = Relation(
    "sealed_copy", SealedCopy, ("place",), keep=Keep.CACHE, wraps=True
)
SEALED_WORK = Relation(
    "sealed_work", SealedWork, ("place",), keep=Keep.WORK, wraps=True
)
SEALED_TURN = Relation("sealed_turn", SealedTurn, ("name",), keep=Keep.WORK, wraps=True)

SEALED_ROOM = Room("sealed", (SEALED_PART, SEALED_COPY, SEALED_WORK, SEALED_TURN))
