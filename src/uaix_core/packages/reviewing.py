"""What a person may decide about a stored package, and the commits of that.

A review names what was looked at: a checkpoint, a revision, a conflict. When something
else stands by then it is refused, for nobody has looked at that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import HEAD, REVISION
from uaix_core.packages.export import find_package, package_files
from uaix_core.packages.relations import LINEAGE, PACKAGE_FILE
from uaix_core.packages.revisions import file_at, not_found
from uaix_core.packages.standing import check_whole, conflict, expect_package
from uaix_core.review.notes import ReviewNote, check_reviewer, review_row
from uaix_core.review.relations import OPEN_CONFLICT
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.history.relations import Head, Revision
    from uaix_core.packages.relations import Lineage, Package, PackageFile
    from uaix_core.review.relations import OpenConflict
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

OPERATION: Final = "review"
#: What a package may be found to be.
PACKAGE_VERDICTS: Final = ("quarantined", "review_required", "active", "rejected")
#: What a record may be found to be.
RECORD_VERDICTS: Final = ("review_required", "reviewed", "approved", "rejected")


@attrs.frozen
class Ruling:
    """A verdict, and what there is to say about it."""

    verdict: str
    note: ReviewNote = attrs.field(factory=ReviewNote)

    def check(self, allowed: tuple[str, ...]) -> None:
        """Refuse a word that isn't one of these (``review.verdict``)."""
        if self.verdict not in allowed:
            raise CallerError(
                "not a verdict for this",
                code="review.verdict",
                path="verdict",
                hint="one of " + ", ".join(allowed),
            )


#: Records that somebody has looked at and found good.
GOOD: Final = frozenset(("reviewed", "approved"))


def decide_package_review(
    snapshot: Snapshot,
    writing: Writing,
    package_id: str,
    checkpoint_id: str,
    ruling: Ruling,
) -> Commit:
    """The commit of a review of a whole package.

    It becomes active only when all of its records were reviewed and none is in
    conflict, and when the reviewer names no blocker.

    Raises:
        NotFoundError: ``package.not-found``.
        ConflictError: ``package.stale`` when another checkpoint stands.
        CallerError: ``review.reviewer``, ``review.verdict``, ``review.incomplete``,
            ``review.blocked``, ``package.erased``.

    """
    check_reviewer(writing)
    ruling.check(PACKAGE_VERDICTS)
    package = find_package(snapshot, package_id)
    expects = [expect_package(package, package_id)]
    _check_checkpoint(package, checkpoint_id)
    if ruling.verdict == "active":
        expects += _check_ready(snapshot, package, ruling.note)
    receipt_id = writing.ids.new()
    row = review_row(
        writing,
        receipt_id,
        ruling.note,
        subject="package",
        verdict=ruling.verdict,
        package_id=package_id,
        checkpoint_id=checkpoint_id,
    )
    receipt = _receipt(writing, receipt_id, package, ruling.verdict, 1)
    return _commit(writing, expects, [row], receipt)


def _check_checkpoint(package: Package, checkpoint_id: str) -> None:
    if package.checkpoint_id != checkpoint_id:
        raise conflict(
            package,
            "another checkpoint is the current one",
            code="package.stale",
            hint="look at the current checkpoint first",
        )


def _check_ready(
    snapshot: Snapshot, package: Package, note: ReviewNote
) -> list[Expect]:
    """Refuse to activate what isn't ready; the records that must stay as they are."""
    if note.blockers:
        raise CallerError(
            "what is blocked isn't active",
            code="review.blocked",
            path="blockers",
            hint="reject it, or leave it in review",
        )
    check_whole(snapshot, package)
    files = list(package_files(snapshot, package.package_id))
    waiting = [file.path for file in files if file.review_state not in GOOD]
    if waiting:
        raise CallerError(
            f"{len(waiting)} of its records aren't reviewed",
            code="review.incomplete",
            path=waiting[0],
            hint="review the records first",
        )
    if next(open_conflicts(snapshot, package.package_id), None) is not None:
        raise CallerError(
            "a record is in conflict",
            code="review.conflict",
            path=package.package_id,
            hint="decide its conflicts first",
        )
    return [
        Expect(PACKAGE_FILE.name, (file.package_id, file.record_id), file.version)
        for file in files
    ]


def open_conflicts(snapshot: Snapshot, package_id: str) -> Iterator[OpenConflict]:
    """The conflicts of a package that wait, in the order of their records."""
    after: tuple[str, str] | None = None
    while page := snapshot.scan(
        OPEN_CONFLICT.name, "key", (package_id,), after=after, limit=100
    ):
        rows = cast("list[OpenConflict]", page)
        yield from rows
        after = (rows[-1].record_id, rows[-1].conflict_id)


def decide_record_reviews(
    snapshot: Snapshot,
    writing: Writing,
    package_id: str,
    revisions: Mapping[str, str],
    ruling: Ruling,
) -> Commit:
    """The commit of a review of some records: path to the revision looked at.

    An active package of which a record is found not to be good goes back into review by
    the same commit: it has no other records than good ones.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        ConflictError: ``revision.stale`` when another revision stands.
        CallerError: ``review.reviewer``, ``review.verdict``, ``review.nothing``.

    """
    check_reviewer(writing)
    ruling.check(RECORD_VERDICTS)
    if not revisions:
        raise CallerError("a review is of something", code="review.nothing")
    package = find_package(snapshot, package_id)
    receipt_id = writing.ids.new()
    expects, rows = [], []
    for path, revision_id in sorted(revisions.items()):
        file = file_at(snapshot, package_id, path)
        _check_revision(package, file, revision_id)
        key = (package_id, file.record_id)
        expects.append(Expect(PACKAGE_FILE.name, key, file.version))
        rows.append(
            review_row(
                writing,
                receipt_id,
                ruling.note,
                subject="record",
                verdict=ruling.verdict,
                package_id=package_id,
                record_id=file.record_id,
                revision_id=revision_id,
            )
        )
    if ruling.verdict not in GOOD:
        # Nobody may activate it meanwhile, whatever it is now.
        expects.append(expect_package(package, package_id))
        if package.state == "active":
            rows.append(_taken_back(writing, receipt_id, package))
    receipt = _receipt(writing, receipt_id, package, ruling.verdict, len(rows))
    return _commit(writing, expects, rows, receipt)


def _taken_back(writing: Writing, receipt_id: str, package: Package) -> Row:
    """The review by which an active package waits again."""
    return review_row(
        writing,
        receipt_id,
        ReviewNote(),
        subject="package",
        verdict="review_required",
        package_id=package.package_id,
        checkpoint_id=package.checkpoint_id,
    )


def _check_revision(
    package: Package, stands: PackageFile | Head, revision_id: str
) -> None:
    if stands.revision_id != revision_id:
        raise conflict(
            package,
            "another revision of the record stands",
            code="revision.stale",
            hint="look at the current revision first",
        )


def decide_kept(
    snapshot: Snapshot,
    writing: Writing,
    opened: OpenConflict,
    note: ReviewNote,
    expected_revision: str | None = None,
) -> Commit:
    """The commit that closes a conflict in favour of what stands.

    Raises:
        ConflictError: ``revision.stale`` when another revision stands than is expected.
        CallerError: ``review.reviewer``.

    """
    check_reviewer(writing)
    package = find_package(snapshot, opened.package_id)
    expects = [expect_open(opened)]
    if expected_revision is not None:
        key = (opened.package_id, opened.record_id)
        head = _head_of(snapshot, opened)
        _check_revision(package, head, expected_revision)
        expects.append(Expect(HEAD.name, key, head.version))
    receipt_id = writing.ids.new()
    row = conflict_review(writing, receipt_id, opened, "kept", note)
    receipt = _receipt(writing, receipt_id, package, "kept", 1)
    return _commit(writing, expects, [row], receipt)


def decide_pick(
    snapshot: Snapshot, writing: Writing, picked: str, over: str, note: ReviewNote
) -> Commit:
    """The commit that picks one of two packages that have parted.

    The other one is rejected, which is its tombstone: it never starts again, and its
    history stays.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``review.reviewer``, ``review.unrelated`` when neither is a branch
            of the other, ``review.rejected``.

    """
    check_reviewer(writing)
    packages = [find_package(snapshot, name) for name in (picked, over)]
    ways = [(picked, over), (over, picked)]
    lineages = snapshot.get_many(LINEAGE.name, ways)
    if not any(cast("Lineage", row).descent == "branch" for row in lineages.values()):
        raise CallerError(
            "neither package is a branch of the other",
            code="review.unrelated",
            path=over,
        )
    if packages[0].state == "rejected":
        raise CallerError(
            "what was rejected isn't picked",
            code="review.rejected",
            path=picked,
            hint="a review opens it again",
        )
    receipt_id = writing.ids.new()
    rows = [
        review_row(
            writing,
            receipt_id,
            note,
            subject="package",
            verdict=verdict,
            package_id=package.package_id,
            checkpoint_id=package.checkpoint_id,
        )
        for package, verdict in zip(packages, ("picked", "rejected"), strict=True)
    ]
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={"verdict": "picked", "over": over, "reviews": len(rows)},
        package_id=picked,
        checkpoint_id=packages[0].checkpoint_id,
    )
    expects = [expect_package(package, package.package_id) for package in packages]
    return _commit(writing, expects, rows, receipt)


def conflict_review(
    writing: Writing,
    receipt_id: str,
    opened: OpenConflict,
    verdict: str,
    note: ReviewNote,
) -> Row:
    """The review that closes a conflict."""
    return review_row(
        writing,
        receipt_id,
        note,
        subject="conflict",
        verdict=verdict,
        package_id=opened.package_id,
        record_id=opened.record_id,
        conflict_id=opened.conflict_id,
    )


def expect_open(opened: OpenConflict) -> Expect:
    """That nobody has decided the conflict meanwhile."""
    return Expect(OPEN_CONFLICT.name, OPEN_CONFLICT.key_of(opened), opened.version)


def place_of(snapshot: Snapshot, opened: OpenConflict) -> str | None:
    """Where the record of a conflict stands by now, or stood when it was retired.

    Raises:
        NotFoundError: ``record.not-found``; it is of no record of this scope.

    """
    head = _head_of(snapshot, opened)
    row = snapshot.get(REVISION.name, (head.revision_id,))
    return cast("Revision", row).path


def _head_of(snapshot: Snapshot, opened: OpenConflict) -> Head:
    key = (opened.package_id, opened.record_id)
    head = cast("Head | None", snapshot.get(HEAD.name, key))
    if head is None:
        error = not_found(opened.conflict_id)
        error.hint = "the conflict is of no record of the package; keep what stands"
        raise error
    return head


def find_open(snapshot: Snapshot, key: tuple[str, str, str]) -> OpenConflict:
    """An open conflict by package, record and conflict.

    Raises:
        NotFoundError: ``conflict.not-open``; it was decided, or never was.

    """
    row = snapshot.get(OPEN_CONFLICT.name, key)
    if row is None:
        raise NotFoundError(
            "no such conflict is open", code="conflict.not-open", path=key[2]
        )
    return cast("OpenConflict", row)


def _receipt(
    writing: Writing, receipt_id: str, package: Package, verdict: str, reviews: int
) -> Row:
    return receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={"verdict": verdict, "reviews": reviews},
        package_id=package.package_id,
        checkpoint_id=package.checkpoint_id,
    )


def _commit(
    writing: Writing, expects: list[Expect], rows: list[Row], receipt: Row
) -> Commit:
    return Commit(
        writing.scope, writing.now, expects=tuple(expects), adds=(*rows, receipt)
    )
