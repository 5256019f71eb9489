"""Protected anchors: they change only with an authorisation for just that.

Source: UAIX package format v0.1: totem, taboo and talisman are read and obeyed; no
receiver changes, replaces or deletes them without a human's authorisation that names
the artefact and the operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import attrs

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ANCHORS: Final = frozenset(
    f".uai/{name}.uai" for name in ("totem", "taboo", "talisman")
)

AnchorOperation = Literal["create", "replace", "tombstone", "restore"]


@attrs.frozen
class Authorisation:
    """A human's word that one operation on one anchor is wanted.

    Raises:
        CallerError: ``anchor.authorisation`` for another path or operation.

    """

    path: str
    operation: AnchorOperation

    def __attrs_post_init__(self) -> None:
        if self.path not in ANCHORS or self.operation not in get_args(AnchorOperation):
            raise CallerError(
                "an authorisation names an anchor and an operation on it",
                code="anchor.authorisation",
                path=self.path,
                hint="one of create, replace, tombstone, restore",
            )


@attrs.frozen
class FileChange:
    """What an update does to one file; the paths differ when it moves."""

    operation: str
    path: str
    path_before: str | None


def unauthorised(
    changes: Collection[FileChange], authorisations: Collection[Authorisation]
) -> Iterator[FileChange]:
    """The changes of anchors that no authorisation names."""
    allowed = {(a.path, a.operation) for a in authorisations}
    for change in changes:
        paths = {change.path, change.path_before} & ANCHORS
        if any((path, change.operation) not in allowed for path in paths):
            yield change
