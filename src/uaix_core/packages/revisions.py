"""Records and their revisions: what is answered about them, and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.history.relations import HEAD, REVISION, Head
from uaix_core.packages.relations import PACKAGE_FILE
from uaix_core.store.scanning import all_rows
from uaix_core.values.arguments import check_items, check_type
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    IntegrityError,
    NotFoundError,
)
from uaix_core.values.text import check_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.history.relations import Revision
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.relations import PackageFile
    from uaix_core.store.port import Snapshot


#: Record, path, revision that was expected, digest of the content.
CandidateName = tuple[str, str | None, str | None, str | None]


@attrs.frozen
class Candidate:
    """What somebody wanted to write over a head that had moved by then.

    ``head`` is the one that stands, ``path`` where its record does. ``content`` is None
    for a tombstone. ``asked`` is the path that the writer named, where that is another
    one.

    Raises:
        CallerError: ``input.type``, ``text.type``, ``text.not-storable``.

    """

    head: Head
    path: str
    expected_revision: str | None
    content: bytes | None = attrs.field(repr=False)
    media_type: str = ""
    asked: str | None = None

    def __attrs_post_init__(self) -> None:
        check_type(self.head, Head, "head")
        check_type(self.content, (bytes, type(None)), "content")
        for name in ("path", "media_type"):
            check_text(getattr(self, name), name)
        for name in ("expected_revision", "asked"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)

    @property
    def is_moved(self) -> bool:
        """Whether the record stands at another path than the writer has seen."""
        return self.asked not in (None, self.path)

    @property
    def name(self) -> CandidateName:
        """What makes two candidates the same one."""
        digest = None if self.content is None else sha256_hex(self.content)
        return candidate_name(
            self.head.record_id, self.path, self.expected_revision, digest
        )


class RevisionConflictError(ConflictError):
    """Another revision stands than the writer has seen; every record is unchanged.

    ``candidates`` are all that lost, each with the head that stands; ``current`` is
    the head of the first. ``conflict_ids`` name the rows that keep them, in the same
    order; there are none until they are kept, as in a host's transaction, where only
    the host may say that they are.
    """

    default_code = "revision.conflict"

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        candidates = check_items(candidates, Candidate, "candidates")
        if not candidates:
            raise CallerError(
                "a conflict is of one candidate at least",
                code="input.list",
                path="candidates",
            )
        first = candidates[0]
        super().__init__(
            _said_of(candidates),
            relation=HEAD.name,
            key=(first.head.package_id, first.head.record_id),
            expected=None,
            current=first.head,
            path=first.asked or first.path,
        )
        self.candidates = candidates
        self.keep_as(())

    def keep_as(self, conflict_ids: Sequence[str]) -> None:
        """Say by which conflicts the store holds the candidates, if by any."""
        self.conflict_ids = tuple(conflict_ids)
        self.hint = "read the current revision and decide again"
        if conflict_ids:
            ids = ", ".join(conflict_ids)
            self.hint = f"a review decides about what is kept, once: conflict {ids}"


def _said_of(candidates: Sequence[Candidate]) -> str:
    if len(candidates) > 1:
        return f"other revisions of {len(candidates)} records stand"
    if candidates[0].is_moved:
        return f"the record stands at {candidates[0].path} by now"
    return "another revision of the record stands"


@attrs.frozen
class Revised:
    """The answer to a change of one record.

    ``seq`` is the commit that made the revision, ``receipt`` the id of its receipt;
    ``is_first`` is false when the very change was made before, ``is_current`` when the
    record has moved on since.
    """

    package_id: str
    record_id: str
    path: str
    revision_id: str
    number: int
    change: str
    checkpoint_id: str
    seq: int
    receipt: str
    is_first: bool
    is_current: bool = True
    is_staged: bool = False
    notices: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


def not_found(path: str) -> NotFoundError:
    """The error for a path at which no record stands."""
    return NotFoundError(
        "no such record in this package", code="record.not-found", path=path
    )


def tombstoned(path: str) -> CallerError:
    """The error for a file that would go on with a retired record."""
    return CallerError(
        "the record was tombstoned",
        code="record.tombstoned",
        path=path,
        hint="a review brings it back; a new record gets a stableId of its own",
    )


def candidate_name(
    record_id: str, path: str | None, expected: str | None, digest: str | None
) -> CandidateName:
    """What makes two candidates the same one.

    A revision that was seen says which file was meant, wherever its record is now.
    """
    return record_id, None if expected else path, expected, digest


def file_at(snapshot: Snapshot, package_id: str, path: str) -> PackageFile:
    """The file that stands at a path of a package.

    Raises:
        NotFoundError: ``record.not-found``.

    """
    found = snapshot.scan(PACKAGE_FILE.name, "by_path", (package_id, path), limit=1)
    if not found:
        raise not_found(path)
    return cast("PackageFile", found[0])


def chain_of(snapshot: Snapshot, package_id: str, record_id: str) -> list[Revision]:
    """All revisions of a record from the first on, each the child of the one before.

    Raises:
        IntegrityError: ``revision.chain`` when one is missing.

    """
    named = (package_id, record_id)
    rows = cast(
        "list[Revision]", list(all_rows(snapshot, REVISION, "by_record", named))
    )
    parent = None
    for number, row in enumerate(rows, 1):
        if row.number != number or row.parent_revision_id != parent:
            raise IntegrityError(
                "the chain of a record's revisions has a gap",
                code="revision.chain",
                path=f"{package_id}/{record_id}#{number}",
            )
        parent = row.revision_id
    return rows


def made_before(
    snapshot: Snapshot, package_id: str, record_id: str, parent: str | None
) -> Revision | None:
    """The revision of a record that came right after another, or first; or None.

    ``parent`` is the id of the revision before it, None for the first one.
    """
    number = 1
    if parent is not None:
        before = cast("Revision | None", snapshot.get(REVISION.name, (parent,)))
        if before is None or before.record_id != record_id:
            return None
        number = before.number + 1
    found = snapshot.scan(
        REVISION.name, "by_record", (package_id, record_id, number), limit=1
    )
    return cast("Revision", found[0]) if found else None
