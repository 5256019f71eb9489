"""The review verbs: what a person decides about packages, records and conflicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.export import find_package, package_files
from uaix_core.packages.reviewing import (
    Ruling,
    decide_package_review,
    decide_record_reviews,
)
from uaix_core.packages.revising import Wanted
from uaix_core.packages.revisions import chain_of, not_found
from uaix_core.review.notes import ReviewNote, check_reviewer, review_row
from uaix_core.review.relations import REVIEW
from uaix_core.session.conflict_reviews import ConflictReviews, Reviewed, noted
from uaix_core.store.scanning import all_rows
from uaix_core.tiers.proposal_relations import PROPOSAL_ENTRY
from uaix_core.values.arguments import check_mapping, check_texts
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from uaix_core.history.relations import Revision
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.relations import PackageFile
    from uaix_core.packages.revisions import Revised
    from uaix_core.review.relations import OpenConflict, Review
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.proposal_relations import ProposalEntry


@attrs.frozen
class Waiting:
    """What of a package waits for a person, at the checkpoint of this id and number.

    ``records`` are those that nobody has reviewed, ``rejected`` those that were turned
    down: they wait for another revision or another review, and no less keep the package
    from being active.
    """

    package_id: str
    state: str
    checkpoint_id: str
    number: int
    records: Sequence[PackageFile]
    conflicts: Sequence[OpenConflict]
    proposals: Sequence[ProposalEntry] = ()
    rejected: Sequence[PackageFile] = ()


class Reviews(ConflictReviews):
    """The one queue in which persons decide; made by a session, not by hand.

    Every verb asks for a principal that is a human or an operator, and names what was
    looked at, so that nothing is approved that nobody has seen.
    """

    def waiting(self, package_id: str) -> Waiting:
        """What of a package waits: records that aren't reviewed, conflicts, proposals.

        Of conflicts and of proposals it names the first 100; `packages.conflicts` and
        `proposals.list` go on.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            package = find_package(snapshot, package_id)
            files = list(package_files(snapshot, package_id))
            proposals = snapshot.scan(
                PROPOSAL_ENTRY.name, "by_state", (package_id, "open"), limit=100
            )
        return Waiting(
            package_id,
            package.state,
            package.checkpoint_id,
            package.number,
            [file for file in files if file.review_state == "review_required"],
            self._packages.conflicts(package_id),
            cast("Sequence[ProposalEntry]", proposals),
            [file for file in files if file.review_state == "rejected"],
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
        ruling = Ruling(verdict, noted(note))
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
        ruling = Ruling(verdict, noted(note))
        named = check_mapping(revisions, "revisions")
        check_texts(named.values(), "revisions")
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_record_reviews(snapshot, writing, package_id, named, ruling)

        return self._reviewed(verdict, decided)

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
        said = noted(note)
        writing = self._work.writing()
        check_reviewer(writing)
        tombstone = self._packages.revision(expected_revision)
        is_there = (tombstone.package_id, tombstone.path) == (package_id, path)
        with self._work.snapshot() as snapshot:
            if not is_there or tombstone.change != "tombstone":
                raise not_found(path)
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
            authorisations=check_authorisations(authorisations),
            details={"restores": before.revision_id},
            adds=(review,),
            may_restore=True,
            is_review=True,
        )
        return self._packages.apply(wanted, checks, receipt_id)[0]

    def history(self, package_id: str) -> Sequence[Review]:
        """All reviews of a package, oldest first.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            found = all_rows(snapshot, REVIEW, "by_package", (package_id,))
            rows = cast("list[Review]", list(found))
        return sorted(rows, key=lambda row: row.version)


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
