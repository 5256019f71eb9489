"""Records and their revisions: what is answered about them, and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import CONFLICT, HEAD, REVISION
from uaix_core.packages.content.bodies import judge_body
from uaix_core.packages.content.body_facts import facts_of
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.relations import PACKAGE_FILE
from uaix_core.packages.rules.table import RULES
from uaix_core.review.relations import REVIEW
from uaix_core.schema.commits import Commit
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import SALT_BYTES, sha256_hex
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    IntegrityError,
    NotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.history.relations import Conflict, Head, Revision
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.relations import PackageFile
    from uaix_core.review.relations import Review
    from uaix_core.store.port import Snapshot


#: How many candidates are read at a time; each comes with its content.
_CANDIDATES: Final = 20
#: Record, path, revision that was expected, digest of the content.
CandidateName = tuple[str, str | None, str | None, str | None]


@attrs.frozen
class Candidate:
    """What somebody wanted to write over a head that had moved by then.

    ``head`` is the one that stands, ``path`` where its record does. ``content`` is None
    for a tombstone. ``asked`` is the path that the writer named, where that is another
    one.
    """

    head: Head
    path: str
    expected_revision: str | None
    content: bytes | None = attrs.field(repr=False)
    media_type: str = ""
    asked: str | None = None

    @property
    def is_moved(self) -> bool:
        """Whether the record stands at another path than the writer has seen."""
        return self.asked not in (None, self.path)

    @property
    def name(self) -> CandidateName:
        """What makes two candidates the same one."""
        digest = None if self.content is None else sha256_hex(self.content)
        return _name(self.head.record_id, self.path, self.expected_revision, digest)


class RevisionConflictError(ConflictError):
    """Another revision stands than the writer has seen; every record is unchanged.

    ``candidates`` are all that lost, each with the head that stands; ``current`` is
    the head of the first. ``conflict_ids`` name the rows that keep them, in the same
    order; there are none until they are kept, as in a host's transaction, where only
    the host may say that they are.
    """

    default_code = "revision.conflict"

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        first = candidates[0]
        super().__init__(
            _said_of(candidates),
            relation=HEAD.name,
            key=(first.head.package_id, first.head.record_id),
            expected=None,
            current=first.head,
            path=first.asked or first.path,
            hint="read the current revision and decide again",
        )
        self.candidates = tuple(candidates)
        self.conflict_ids: tuple[str, ...] = ()


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


def may_be_kept(candidate: Candidate) -> bool:
    """Whether a candidate passes what every body has to pass by itself.

    What the gate refuses is no more stored as a conflict than as a revision.
    """
    content = candidate.content
    if content is None:
        return True
    if len(content) > DEFAULT_LIMITS.entry_bytes:
        return False
    findings = Findings(RULES)
    judge_body(candidate.path, content, candidate.media_type, findings)
    digest = sha256_hex(content)
    facts = facts_of(candidate.path, content, candidate.media_type, digest)
    codes = [code for code, _message in facts.findings]
    return not findings.has_error and not any(
        RULES[code].severity == "error" for code in codes
    )


def _name(
    record_id: str, path: str | None, expected: str | None, digest: str | None
) -> CandidateName:
    # A revision that was seen says which file was meant, wherever its record is now.
    return record_id, None if expected else path, expected, digest


def kept_before(
    snapshot: Snapshot, candidates: Sequence[Candidate]
) -> dict[CandidateName, str]:
    """Which of these candidates are kept already, by name: the ids of their conflicts.

    A candidate that a review has decided about stays decided, so it is one of them.
    """
    kept: dict[CandidateName, str] = {}
    places = {(one.head.package_id, one.head.record_id) for one in candidates}
    for place in sorted(places):
        for name, conflict_id in _kept_of(snapshot, place):
            kept.setdefault(name, conflict_id)
    return {one.name: kept[one.name] for one in candidates if one.name in kept}


def _kept_of(
    snapshot: Snapshot, place: tuple[str, str]
) -> Iterator[tuple[CandidateName, str]]:
    """All candidates of a record with the ids of their conflicts."""
    rows = all_rows(snapshot, CONFLICT, "by_record", place, page=_CANDIDATES)
    for row in cast("Iterator[Conflict]", rows):
        # Of an erased one nobody can tell any more what it was.
        if row.path is not None:
            digest = None if row.change == "tombstone" else row.sha256
            expected = row.expected_revision_id
            yield _name(row.record_id, row.path, expected, digest), row.conflict_id


def taken_before(snapshot: Snapshot, candidate: Candidate) -> Revision | None:
    """The revision that a review made of this very candidate, or None.

    Where the record said so by then already, it is the one that stood.
    """
    package_id, record_id = candidate.head.package_id, candidate.head.record_id
    conflicts = {
        conflict_id
        for name, conflict_id in _kept_of(snapshot, (package_id, record_id))
        if name == candidate.name
    }
    if not conflicts:
        return None
    decided = all_rows(snapshot, REVIEW, "by_package", (package_id, "conflict"))
    for row in cast("Iterator[Review]", decided):
        if row.conflict_id in conflicts and row.verdict == "taken":
            chain = chain_of(snapshot, package_id, record_id)
            return [one for one in chain if one.version <= row.version][-1]
    return None


def keep_candidates(
    writing: Writing, candidates: Sequence[Candidate], receipt_id: str
) -> tuple[Commit, tuple[str, ...]]:
    """The commit that keeps what lost, and the ids of its conflicts."""
    rows = [_conflict(writing, one, receipt_id) for one in candidates]
    names = tuple(row.conflict_id for row in rows)
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="conflict",
        outcome="refused",
        details={"conflict_ids": list(names)},
        package_id=candidates[0].head.package_id,
    )
    return Commit(writing.scope, writing.now, adds=(*rows, receipt)), names


def _conflict(writing: Writing, candidate: Candidate, receipt_id: str) -> Conflict:
    head, content = candidate.head, candidate.content
    row = CONFLICT.named_by_header(
        "conflict_id",
        writing.random.bytes(SALT_BYTES),
        package_id=head.package_id,
        record_id=head.record_id,
        expected_revision_id=candidate.expected_revision,
        head_revision_id=head.revision_id,
        change="tombstone" if content is None else "replace",
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        path=candidate.path,
        media_type=candidate.media_type,
        sha256=sha256_hex(content or b""),
        content=content or b"",
    )
    return cast("Conflict", row)


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
