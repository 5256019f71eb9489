"""A package made by code, and what the tests of its life ask again and again."""

from __future__ import annotations

import attrs
from tests.packages.package_maker import Maker

from uaix_core import Principal, Session

ID = "made-by-code"
NOTE = ".uai/notes.uai"
OTHER = ".uai/other.uai"
TOTEM = ".uai/totem.uai"
#: What a file that isn't listed yet says of itself.
ENTRY = {
    "role": "unregistered",
    "scope": "universal",
    "requiredStatus": "configuration_specific_required",
    "mediaType": "text/uaix",
    "source": "tests",
}


def package(note: bytes = b"A first note.\n", **manifest: object) -> Maker:
    """A universal package with one further file."""
    maker = Maker()
    maker.add(NOTE, note)
    maker.manifest |= manifest
    return maker


def position(session: Session) -> int:
    """How many commits the session's scope has."""
    with session.store.snapshot(session.scope) as snapshot:
        return snapshot.position


def head(session: Session, path: str = NOTE) -> str:
    """The revision that stands at a path."""
    return session.packages.record(ID, path).revision.revision_id


def acting_as(session: Session, principal: str) -> Session:
    """The same session of somebody else."""
    return attrs.evolve(session, principal=Principal.parse(principal))
