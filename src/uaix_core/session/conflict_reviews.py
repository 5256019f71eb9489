"""The review verbs that settle what has parted: keep, take, branch, pick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.gate.said import check_lines, check_paragraphs
from uaix_core.history.relations import CONFLICT
from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.clone import Descent, Origin, stored_origin
from uaix_core.packages.entry_edits import with_file, without_file
from uaix_core.packages.reviewing import (
    conflict_review,
    decide_kept,
    decide_pick,
    expect_open,
    find_open,
    place_of,
)
from uaix_core.packages.revising import Wanted
from uaix_core.review.notes import ReviewNote, check_reviewer
from uaix_core.review.relations import OpenConflict
from uaix_core.session.package_descents import Request
from uaix_core.session.writes import write
from uaix_core.values.arguments import check_type
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from uaix_core.history.receipts import Writing
    from uaix_core.history.relations import Conflict
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.revisions import Revised
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.package_descents import PackageDescents
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot


@attrs.frozen
class Reviewed:
    """The answer to a review: the commit that holds it, and its receipt."""

    verdict: str
    seq: int
    receipt: str
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


class ConflictReviews:
    """Deciding conflicts, by persons only; a part of `Reviews`."""

    def __init__(self, work: Work, packages: PackageDescents) -> None:
        self._work = work
        self._packages = packages

    def keep(
        self,
        opened: OpenConflict,
        *,
        expected_revision: str | None = None,
        note: ReviewNote | None = None,
    ) -> Reviewed:
        """Close a conflict: what stands stays, and the candidate remains history.

        Args:
            opened: the conflict.
            expected_revision: the revision that is kept, None for whichever stands.
            note: what there is to say.

        Raises:
            NotFoundError: ``conflict.not-open``.
            ConflictError: ``revision.stale`` when another revision stands.
            CallerError: ``review.*``, ``text.secret``.

        """
        said = noted(note)
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            now = _reopened(snapshot, opened)
            return decide_kept(snapshot, writing, now, said, expected_revision)

        return self._reviewed("kept", decided)

    def take(
        self,
        opened: OpenConflict,
        *,
        expected_revision: str,
        note: ReviewNote | None = None,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Revised:
        """Close a conflict: the candidate becomes the next revision of its record.

        Args:
            opened: the conflict.
            expected_revision: the revision that stands and gives way.
            note: what there is to say.
            authorisations: which changes of protected files are wanted.
            checks: as for `revise`.

        Raises:
            NotFoundError: ``conflict.not-open``.
            CallerError: ``conflict.erased`` when the candidate's content is gone.

        And as `revise`; the conflict stays open then.
        """
        said = noted(note)
        check_reviewer(self._work.writing())
        with self._work.snapshot() as snapshot:
            opened = _reopened(snapshot, opened)
            row = _candidate(snapshot, opened)
            path = place_of(snapshot, opened) or cast("str", row.path)
        receipt_id = self._work.ids.new()
        review = conflict_review(
            self._work.writing(), receipt_id, opened, "taken", said
        )
        content = None if row.change == "tombstone" else row.content
        wanted = Wanted(
            opened.package_id,
            [
                RecordChange(
                    path,
                    content,
                    expected_revision,
                    record_id=opened.record_id,
                )
            ],
            authorisations=check_authorisations(authorisations),
            details={"conflict_id": opened.conflict_id},
            adds=(review,),
            expects=(expect_open(opened),),
            is_review=True,
        )
        return self._packages.apply(wanted, checks, receipt_id)[0]

    def branch(
        self,
        opened: OpenConflict,
        *,
        package_id: str | None = None,
        note: ReviewNote | None = None,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Close a conflict: the candidate lives on in a package of its own.

        All other records of that package are those that stand, and its lineage names
        the one that it parted from, which stays as it is.

        Args:
            opened: the conflict.
            package_id: the id of the branch; a new one without it.
            note: what there is to say.
            key: an idempotency key; kept 30 days.
            checks: as for `install`.

        Raises:
            NotFoundError: ``conflict.not-open``.
            CallerError: ``conflict.erased``, ``review.*``, ``text.secret``.
            PackageRefusedError: as `install`; the conflict stays open then.
            ConflictError: ``package.conflict`` when the id is taken.

        """
        said = noted(note)
        check_reviewer(self._work.writing())

        def found(snapshot: Snapshot) -> Origin:
            row = _candidate(snapshot, _reopened(snapshot, opened))
            origin = stored_origin(snapshot, row.package_id)
            path = place_of(snapshot, opened) or cast("str", row.path)
            content = cast("bytes", row.content)
            if row.change == "tombstone":
                files = without_file(origin.files, path)
            else:
                files = with_file(origin.files, path, content)
            expects = (*origin.expects, expect_open(_reopened(snapshot, opened)))
            return attrs.evolve(origin, files=files, expects=expects)

        def how(writing: Writing, receipt_id: str, _made: CheckedPackage) -> Descent:
            review = conflict_review(writing, receipt_id, opened, "branched", said)
            details = {"conflict_id": opened.conflict_id}
            return Descent("branch", "branch", details, (review,))

        check_type(opened, OpenConflict, "opened")
        asked = [opened.conflict_id, said.text, list(said.blockers), said.agreements]
        request = Request("branch", key, asked)
        return self._packages.descend(package_id, found, how, checks, request)

    def pick(
        self, package_id: str, *, over: str, note: ReviewNote | None = None
    ) -> Reviewed:
        """Decide for one of two packages that have parted; the other is rejected.

        Args:
            package_id: the one that goes on.
            over: the other one; one of them is a branch of the other.
            note: what there is to say.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``review.*``, ``text.secret``.

        """
        said = noted(note)
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_pick(snapshot, writing, package_id, over, said)

        return self._reviewed("picked", decided)

    def _reviewed(
        self, verdict: str, decided: Callable[[Snapshot], Commit]
    ) -> Reviewed:
        recorded: Recorded = write(self._work.store, self._work.scope, decided)
        receipt = recorded.commit.adds[-1]
        return Reviewed(
            verdict,
            recorded.seq,
            cast("Any", receipt).receipt_id,
            is_staged=self._work.is_staged,
        )


def noted(note: ReviewNote | None) -> ReviewNote:
    """A note that holds no secret, and nothing that a reader doesn't see."""
    said = ReviewNote() if note is None else check_type(note, ReviewNote, "note")
    check_paragraphs({"note": said.text})
    check_lines({"blockers": said.blockers, "agreements": dict(said.agreements)})
    return said


def _reopened(snapshot: Snapshot, opened: OpenConflict) -> OpenConflict:
    check_type(opened, OpenConflict, "opened")
    key = (opened.package_id, opened.record_id, opened.conflict_id)
    return find_open(snapshot, key)


def _candidate(snapshot: Snapshot, opened: OpenConflict) -> Conflict:
    """The candidate of a conflict, with its content."""
    row = cast("Conflict", snapshot.get(CONFLICT.name, (opened.conflict_id,)))
    if row.content is None or row.path is None:
        raise CallerError(
            "the candidate was erased",
            code="conflict.erased",
            path=opened.conflict_id,
            hint="keep what stands",
        )
    return row
