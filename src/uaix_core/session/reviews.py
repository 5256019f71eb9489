"""The review verbs: what a person decides about packages, records and conflicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.history.relations import CONFLICT
from uaix_core.packages.export import find_package, package_files
from uaix_core.packages.reviewing import (
    Ruling,
    conflict_review,
    decide_kept,
    decide_package_review,
    decide_record_reviews,
    expect_open,
    find_open,
)
from uaix_core.packages.revising import RecordChange, Wanted
from uaix_core.packages.revisions import chain_of, not_found
from uaix_core.review.notes import ReviewNote, check_reviewer, review_row
from uaix_core.review.relations import REVIEW
from uaix_core.session.package_writes import refuse_secret
from uaix_core.session.writes import write
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from uaix_core.history.relations import Conflict, Revision
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.relations import PackageFile
    from uaix_core.packages.revisions import Revised
    from uaix_core.review.relations import OpenConflict, Review
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.package_revisions import PackageRevisions
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


@attrs.frozen
class Waiting:
    """What of a package waits for a person."""

    package_id: str
    state: str
    checkpoint_id: str
    records: Sequence[PackageFile]
    conflicts: Sequence[OpenConflict]


class Reviews:
    """The one queue in which persons decide; made by a session, not by hand.

    Every verb asks for a principal that is a human or an operator, and names what was
    looked at, so that nothing is approved that nobody has seen.
    """

    def __init__(self, work: Work, packages: PackageRevisions) -> None:
        self._work = work
        self._packages = packages

    def waiting(self, package_id: str) -> Waiting:
        """What of a package waits: records that aren't reviewed, and open conflicts.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            package = find_package(snapshot, package_id)
            files = [
                file
                for file in package_files(snapshot, package_id)
                if file.review_state == "review_required"
            ]
        return Waiting(
            package_id,
            package.state,
            package.checkpoint_id,
            files,
            self._packages.conflicts(package_id),
        )

    def package(
        self,
        package_id: str,
        verdict: str,
        *,
        checkpoint_id: str,
        note: ReviewNote | None = None,
    ) -> Reviewed:
        """Say what a package is: quarantined, review_required, active or rejected.

        Raises:
            NotFoundError: ``package.not-found``.
            ConflictError: ``package.stale`` when another checkpoint stands.
            CallerError: ``review.*``, ``text.secret``, ``package.erased``.

        """
        ruling = Ruling(verdict, _said(note))
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_package_review(
                snapshot, writing, package_id, checkpoint_id, ruling
            )

        return self._reviewed(verdict, decided)

    def records(
        self,
        package_id: str,
        verdict: str,
        revisions: Mapping[str, str],
        *,
        note: ReviewNote | None = None,
    ) -> Reviewed:
        """Say what some records are, all in one commit.

        Args:
            package_id: whose records they are.
            verdict: review_required, reviewed, approved or rejected.
            revisions: path to the id of the revision that was looked at.
            note: what there is to say.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            ConflictError: ``revision.stale`` when another revision stands.
            CallerError: ``review.*``, ``text.secret``.

        """
        ruling, named = Ruling(verdict, _said(note)), dict(revisions)
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_record_reviews(snapshot, writing, package_id, named, ruling)

        return self._reviewed(verdict, decided)

    def keep(self, opened: OpenConflict, *, note: ReviewNote | None = None) -> Reviewed:
        """Close a conflict: what stands stays, and the candidate remains history.

        Raises:
            NotFoundError: ``conflict.not-open``.
            CallerError: ``review.*``, ``text.secret``.

        """
        said = _said(note)
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_kept(snapshot, writing, _reopened(snapshot, opened), said)

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
        said = _said(note)
        check_reviewer(self._work.writing())
        with self._work.snapshot() as snapshot:
            opened = _reopened(snapshot, opened)
            row = cast("Conflict", snapshot.get(CONFLICT.name, (opened.conflict_id,)))
        if row.content is None or row.path is None:
            raise CallerError(
                "the candidate was erased",
                code="conflict.erased",
                path=opened.conflict_id,
                hint="keep what stands",
            )
        receipt_id = self._work.ids.new()
        review = conflict_review(
            self._work.writing(), receipt_id, opened, "taken", said
        )
        content = None if row.change == "tombstone" else row.content
        wanted = Wanted(
            opened.package_id,
            [RecordChange(row.path, content, expected_revision)],
            authorisations=tuple(authorisations),
            details={"conflict_id": opened.conflict_id},
            adds=(review,),
            expects=(expect_open(opened),),
        )
        return self._packages.apply(wanted, checks, receipt_id)[0]

    def restore(
        self,
        package_id: str,
        path: str,
        *,
        expected_revision: str,
        note: ReviewNote | None = None,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Revised:
        """Bring a tombstoned record back, as it was before.

        Args:
            package_id: whose record it is.
            path: where its file stood.
            expected_revision: the revision that is its tombstone.
            note: what there is to say.
            authorisations: which changes of protected files are wanted.
            checks: as for `revise`.

        Raises:
            NotFoundError: ``record.not-found`` when that is no tombstone there.
            CallerError: ``revision.erased`` when nothing of it is left.

        And as `revise`.
        """
        said = _said(note)
        writing = self._work.writing()
        check_reviewer(writing)
        tombstone = self._packages.revision(expected_revision)
        is_there = (tombstone.package_id, tombstone.path) == (package_id, path)
        if not is_there or tombstone.change != "tombstone":
            raise not_found(path)
        with self._work.snapshot() as snapshot:
            chain = chain_of(snapshot, package_id, tombstone.record_id)
        before = chain[tombstone.number - 2]
        if before.content is None:
            raise CallerError(
                "the revision has no content any more",
                code="revision.erased",
                path=before.revision_id,
            )
        receipt_id = self._work.ids.new()
        review = review_row(
            writing,
            receipt_id,
            said,
            subject="record",
            verdict="restored",
            package_id=package_id,
            record_id=tombstone.record_id,
            revision_id=expected_revision,
        )
        wanted = Wanted(
            package_id,
            [RecordChange(path, before.content, expected_revision, _entry(before))],
            authorisations=tuple(authorisations),
            details={"restores": before.revision_id},
            adds=(review,),
            may_restore=True,
        )
        return self._packages.apply(wanted, checks, receipt_id)[0]

    def history(self, package_id: str) -> Sequence[Review]:
        """All reviews of a package, oldest first.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        rows: list[Review] = []
        after: tuple[str, str] | None = None
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            while page := cast(
                "list[Review]",
                snapshot.scan(
                    REVIEW.name,
                    "by_package",
                    (package_id,),
                    after=after,
                    limit=MAX_SCAN,
                ),
            ):
                rows += page
                after = (page[-1].subject, page[-1].review_id)
        return sorted(rows, key=lambda row: row.version)

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


def _said(note: ReviewNote | None) -> ReviewNote:
    """A note that holds no secret."""
    said = note or ReviewNote()
    refuse_secret(
        {
            "note": said.text,
            "blockers": list(said.blockers),
            "consent": dict(said.consent),
        }
    )
    return said


def _reopened(snapshot: Snapshot, opened: OpenConflict) -> OpenConflict:
    key = (opened.package_id, opened.record_id, opened.conflict_id)
    return find_open(snapshot, key)


def _entry(before: Revision) -> dict[str, Any]:
    """The members of the manifest entry that a revision was listed with."""
    return {
        "role": before.role,
        "requiredStatus": before.required_status,
        "scope": before.scope,
        "mediaType": before.media_type,
        "source": json.loads(before.source or "{}"),
        "stableId": before.record_id,
    }
