"""Consents: who may see what is hidden, which of it, and until when.

A consent is a person's word about named places, for one principal. It is history: a
later word revokes it, and nothing edits it. Where it doesn't hold, nothing is lifted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.packages.export import find_package
from uaix_core.packages.revisions import file_at
from uaix_core.review.notes import REVIEWERS
from uaix_core.schema.commits import Commit
from uaix_core.startup.relations import (
    CONSENT,
    CONSENT_REVOCATION,
    Consent,
    ConsentRevocation,
)
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import SALT_BYTES, canonical_text
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.ids import Principal
from uaix_core.values.instants import check_instant
from uaix_core.values.parsing.view import fold_label
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.history.receipts import Writing
    from uaix_core.schema.commits import Recorded
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import PrincipalKind

OPERATION: Final = "consent"
#: The most places of one consent, and the longest path or field in characters.
MAX_PLACES: Final = 1_000
MAX_NAME: Final = 1_024


@attrs.frozen
class ConsentPlace:
    """What a consent is about: a file, or only one field or section of it.

    ``field`` is a label in any spelling; it means every field of that name in the
    file, and all fields that stand in a section of that name. It is kept as given.

    Raises:
        CallerError: ``consent.place``.

    """

    path: str
    field: str | None = None

    def __attrs_post_init__(self) -> None:
        names: tuple[Any, ...] = (self.path,)
        if self.field is not None:
            names = (self.path, self.field)
        if not all(map(_is_name, names)):
            raise CallerError(
                "a place is the path of a file, and a field of it or none",
                code="consent.place",
                path="places",
            )

    @property
    def name(self) -> str | None:
        """The field in the spelling that labels are compared in."""
        return None if self.field is None else fold_label(self.field)


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_NAME and is_storable(text)


@attrs.frozen
class ConsentView:
    """A consent as it stands; ``places`` is empty once its text was erased."""

    consent_id: str
    package_id: str
    reader: Principal
    until_at: int
    places: tuple[ConsentPlace, ...]
    granted_by: Principal
    receipt: str
    is_revoked: bool

    def holds(self, principal: Principal, now: int) -> bool:
        """Whether it lifts anything for this principal at an instant."""
        return self.reader == principal and not self.is_revoked and now < self.until_at

    def names_at(self, path: str) -> frozenset[str] | None:
        """The fields of a file that it is about; None means all of the file."""
        names = [place.name for place in self.places if place.path == path]
        return None if None in names else frozenset(cast("list[str]", names))

    def as_dict(self) -> dict[str, Any]:
        """The consent as plain data."""
        return {
            "consent_id": self.consent_id,
            "package_id": self.package_id,
            "reader": self.reader.text,
            "until_at": self.until_at,
            "places": [attrs.asdict(place) for place in self.places],
            "granted_by": self.granted_by.text,
            "receipt": self.receipt,
            "is_revoked": self.is_revoked,
        }


@attrs.frozen
class Consented:
    """The answer to a grant or a revocation.

    ``unchanged`` found the consent revoked before and wrote nothing. ``is_staged`` says
    that all of it is gone again unless a host commits.
    """

    outcome: Literal["granted", "revoked", "unchanged"]
    consent_id: str
    seq: int
    receipt: str
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Granting:
    """Whom a consent is for, what it is about, and when it ends (an instant)."""

    package_id: str
    reader: Principal
    places: tuple[ConsentPlace, ...]
    until_at: int


def decide_grant(snapshot: Snapshot, writing: Writing, granting: Granting) -> Commit:
    """The commit of a consent.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        CallerError: ``consent.reviewer``, ``consent.places``, ``consent.until``.

    """
    _check_person(writing)
    places = granting.places
    names = {(place.path, place.name) for place in places}
    if not 0 < len(places) <= MAX_PLACES or len(names) < len(places):
        raise CallerError(
            f"a consent names 1 to {MAX_PLACES:,} places, each once",
            code="consent.places",
            path="places",
        )
    if check_instant(granting.until_at) <= writing.now:
        raise CallerError(
            "a consent ends after now", code="consent.until", path="until"
        )
    find_package(snapshot, granting.package_id)
    for path in {place.path for place in places}:
        file_at(snapshot, granting.package_id, path)
    receipt_id = writing.ids.new()
    row = CONSENT.named_by_header(
        "consent_id",
        writing.random.bytes(SALT_BYTES),
        package_id=granting.package_id,
        reader_kind=granting.reader.kind,
        reader_id=granting.reader.id,
        until_at=granting.until_at,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        places=canonical_text([attrs.asdict(place) for place in places]),
    )
    details = {"verdict": "granted", "places": len(places)}
    return _commit(writing, row, cast("Consent", row).consent_id, receipt_id, details)


def decide_revocation(
    snapshot: Snapshot, writing: Writing, consent_id: str
) -> Commit | Consented:
    """The commit that takes a consent back, or the answer where it was before.

    Raises:
        NotFoundError: ``consent.not-found``.
        CallerError: ``consent.reviewer``.

    """
    _check_person(writing)
    consent = snapshot.get(CONSENT.name, (consent_id,))
    if consent is None:
        raise NotFoundError(
            "no such consent in this scope", code="consent.not-found", path=consent_id
        )
    before = snapshot.get(CONSENT_REVOCATION.name, (consent_id,))
    if before is not None:
        receipt_id = cast("ConsentRevocation", before).receipt_id
        return Consented("unchanged", consent_id, before.version, receipt_id)
    receipt_id = writing.ids.new()
    row = ConsentRevocation(
        consent_id=consent_id,
        package_id=cast("Consent", consent).package_id,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
    )
    return _commit(writing, row, consent_id, receipt_id, {"verdict": "revoked"})


def _check_person(writing: Writing) -> None:
    if writing.principal.kind not in REVIEWERS:
        raise CallerError(
            "a consent is a person's",
            code="consent.reviewer",
            path="principal",
            hint="one of " + ", ".join(f"{kind}:ID" for kind in REVIEWERS),
        )


def _commit(
    writing: Writing,
    row: Any,
    consent_id: str,
    receipt_id: str,
    details: dict[str, Any],
) -> Commit:
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={**details, "consent_id": consent_id},
        package_id=row.package_id,
    )
    return Commit(writing.scope, writing.now, adds=(row, receipt))


def consented(
    recorded: Recorded, outcome: Literal["granted", "revoked"], *, is_staged: bool
) -> Consented:
    """The answer to what was written, read off its commit."""
    row: Any = recorded.commit.adds[0]
    return Consented(outcome, row.consent_id, recorded.seq, row.receipt_id, is_staged)


def consents_of(snapshot: Snapshot, package_id: str) -> list[ConsentView]:
    """All consents about a package, oldest first."""
    revoked = {
        cast("ConsentRevocation", row).consent_id
        for row in all_rows(snapshot, CONSENT_REVOCATION, "by_package", (package_id,))
    }
    found = all_rows(snapshot, CONSENT, "by_package", (package_id,))
    rows = cast("list[Consent]", list(found))
    rows.sort(key=lambda row: (row.version, row.consent_id))
    return [_view(row, is_revoked=row.consent_id in revoked) for row in rows]


def _view(row: Consent, *, is_revoked: bool) -> ConsentView:
    places: Sequence[Any] = [] if row.places is None else json.loads(row.places)
    return ConsentView(
        consent_id=row.consent_id,
        package_id=row.package_id,
        reader=Principal(cast("PrincipalKind", row.reader_kind), row.reader_id),
        until_at=row.until_at,
        places=tuple(ConsentPlace(**place) for place in places),
        granted_by=Principal(cast("PrincipalKind", row.actor_kind), row.actor_id),
        receipt=row.receipt_id,
        is_revoked=is_revoked,
    )
