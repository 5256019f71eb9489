"""Protected files: they change only with an authorisation for just that.

Source: UAIX package format v0.1: totem, taboo and talisman are read and obeyed; no
receiver changes, replaces or deletes them without a human's authorisation that names
the artefact and the operation. The persona preservation rule: the source of a persona,
its preservation rules included, is kept as it was authored until a person changes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import attrs

from uaix_core.gate.said import shown_name
from uaix_core.values.arguments import check_items
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from uaix_core.values.ids import Principal

ANCHORS: Final = frozenset(
    f".uai/{name}.uai" for name in ("totem", "taboo", "talisman")
)
#: The file that a persona is entered by, and the folder of its dimensions.
PERSONA: Final = ".uai/persona.uai"
PERSONALITY: Final = ".uai/personality/"
#: The persons whose word authorises: an agent's or an import's own word doesn't.
AUTHORISERS: Final = ("human", "operator")

ProtectedOperation = Literal["create", "replace", "tombstone", "restore"]


def protection_of(path: str | None) -> str | None:
    """The code of the rule that protects a path; None when nothing does."""
    if path is None:
        return None
    if path in ANCHORS:
        return "anchor.mutation"
    if path == PERSONA or path.startswith(PERSONALITY):
        return "persona.mutation"
    return None


@attrs.frozen
class Authorisation:
    """A human's word that one operation on one protected file is wanted.

    Raises:
        CallerError: ``anchor.authorisation`` for another path or operation.

    """

    path: str
    operation: ProtectedOperation

    def __attrs_post_init__(self) -> None:
        is_known = self.operation in get_args(ProtectedOperation)
        is_text = isinstance(self.path, str)
        if not is_text or protection_of(self.path) is None or not is_known:
            raise CallerError(
                "an authorisation names a protected file and an operation on it",
                code="anchor.authorisation",
                path=shown_name(self.path) if is_text else "path",
                hint="one of create, replace, tombstone, restore",
            )


def check_authorisations(
    authorisations: Iterable[Authorisation],
) -> tuple[Authorisation, ...]:
    """Authorisations as a tuple (``input.list``, ``input.type``)."""
    return check_items(authorisations, Authorisation, "authorisations")


def check_authoriser(
    principal: Principal, authorisations: Collection[Authorisation]
) -> None:
    """Refuse authorisations that no person gives (``anchor.authoriser``)."""
    if authorisations and principal.kind not in AUTHORISERS:
        raise CallerError(
            "an authorisation is a person's",
            code="anchor.authoriser",
            path="principal",
            hint="one of " + ", ".join(f"{kind}:ID" for kind in AUTHORISERS),
        )


@attrs.frozen
class FileChange:
    """What an update does to one file; the paths differ when it moves."""

    operation: str
    path: str
    path_before: str | None

    @property
    def protection(self) -> str | None:
        """The code of the rule that protects the file, where it was or where it is."""
        return protection_of(self.path) or protection_of(self.path_before)


def unauthorised(
    changes: Collection[FileChange], authorisations: Collection[Authorisation]
) -> Iterator[FileChange]:
    """The changes of protected files that no authorisation names."""
    allowed = {(a.path, a.operation) for a in authorisations}
    for change in changes:
        paths = {change.path, change.path_before}
        if any(
            protection_of(path) and (path, change.operation) not in allowed
            for path in paths
        ):
            yield change
