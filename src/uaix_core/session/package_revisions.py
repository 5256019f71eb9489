"""The package verbs that change one record: revise, tombstone, revert."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.gate.said import check_lines, check_paragraphs
from uaix_core.history.relations import CONFLICT, HEAD, REVISION
from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.answers import Refused
from uaix_core.packages.entry_edits import checked_entry
from uaix_core.packages.export import find_package
from uaix_core.packages.keeping import keep_candidates, kept_before, may_be_kept
from uaix_core.packages.relations import PACKAGE_FILE
from uaix_core.packages.revising import (
    Decided,
    Wanted,
    decide_revisions,
)
from uaix_core.packages.revisions import (
    Candidate,
    Revised,
    RevisionConflictError,
    chain_of,
    file_at,
    not_found,
)
from uaix_core.review.relations import OPEN_CONFLICT
from uaix_core.session.package_writes import PackageWrites
from uaix_core.session.writes import write
from uaix_core.values.arguments import check_items, check_texts, check_type
from uaix_core.values.errors import CallerError, NotFoundError, StorageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from uaix_core.history.relations import Conflict, Head, Revision
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks, Report
    from uaix_core.packages.relations import PackageFile
    from uaix_core.packages.source import PackageSource
    from uaix_core.review.relations import OpenConflict
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.store.port import Snapshot

#: The longest reason of a tombstone, in characters.
MAX_REASON = 1_000


@attrs.frozen
class RecordView:
    """A record as it stands: its head and the revision that the head names."""

    head: Head
    revision: Revision


class PackageRevisions(PackageWrites):
    """Changing one record of a package, by compare-and-set on its head."""

    def record(self, package_id: str, path: str) -> RecordView:
        """The record at a path: what it says, and the revision to expect.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            file = file_at(snapshot, package_id, path)
            key = (package_id, file.record_id)
            return RecordView(
                cast("Head", snapshot.get(HEAD.name, key)),
                cast("Revision", snapshot.get(REVISION.name, (file.revision_id,))),
            )

    def revisions(self, package_id: str, record_id: str) -> Sequence[Revision]:
        """All revisions of a record from the first on, without a gap.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            IntegrityError: ``revision.chain``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            chain = chain_of(snapshot, package_id, record_id)
            if not chain:
                raise not_found(record_id)
        return chain

    def revision(self, revision_id: str) -> Revision:
        """One revision by its id.

        Raises:
            NotFoundError: ``revision.not-found``.

        """
        with self._work.snapshot() as snapshot:
            return _revision(snapshot, revision_id)

    def revise(  # noqa: PLR0913 - what a change consists of
        self,
        package_id: str,
        path: str,
        content: bytes,
        *,
        expected_revision: str | None,
        entry: Mapping[str, Any] | None = None,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Revised:
        """Give a record its next revision, or make it.

        The package becomes a new checkpoint, again in quarantine; its other records
        stay as they are. The same change again answers as the first time.

        Args:
            package_id: whose record it is.
            path: where its file stands.
            content: the bytes of the file.
            expected_revision: the revision that stands as far as the caller knows,
                None to make a record that isn't there.
            entry: members of its manifest entry by their wire names; a new file needs
                role, scope, requiredStatus, mediaType and source.
            authorisations: which changes of protected files are wanted.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            RevisionConflictError: ``revision.conflict``: another revision stands; the
                candidate is kept as a conflict, unless a host's transaction is joined.
            PackageRefusedError: what the package would become did not pass.
            CallerError: ``record.tombstoned``, ``revise.entry``, ``revise.manifest``,
                ``package.erased``.

        """
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise CallerError(
                "the content of a file is bytes", code="revise.content", path=path
            )
        change = RecordChange(
            path, bytes(content), expected_revision, checked_entry(entry)
        )
        return self._one(package_id, change, authorisations, checks)

    def tombstone(
        self,
        package_id: str,
        path: str,
        *,
        expected_revision: str,
        reason: str,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Revised:
        """Retire a record: its history stays, its file goes; a review brings it back.

        Args:
            package_id: whose record it is.
            path: where its file stands.
            expected_revision: as for `revise`.
            reason: why, 1 to 1,000 characters; it stands in the receipt.
            authorisations: as for `revise`.
            checks: as for `revise`.

        Raises:
            PackageRefusedError: also when the package needs the file.
            CallerError: ``tombstone.reason``, and as `revise`.

        """
        said: object = reason
        if not isinstance(said, str) or not 0 < len(said) <= MAX_REASON:
            raise CallerError(
                f"a tombstone has a reason of 1 to {MAX_REASON:,} characters",
                code="tombstone.reason",
                path="reason",
            )
        check_paragraphs({"reason": reason})
        change = RecordChange(path, None, expected_revision)
        details = {"reason": reason}
        return self._one(package_id, change, authorisations, checks, details)

    def revert(
        self,
        package_id: str,
        path: str,
        *,
        revision_id: str,
        expected_revision: str,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Revised:
        """Make what an older revision says the next one; history only grows.

        Args:
            package_id: whose record it is.
            path: where its file stands.
            revision_id: the older revision of the same record.
            expected_revision: as for `revise`.
            authorisations: as for `revise`.
            checks: as for `revise`.

        Raises:
            NotFoundError: ``revision.not-found``, and as `revise`.
            CallerError: ``revision.erased`` when its content is gone,
                ``revision.other-record`` when it is of another record.

        """
        with self._work.snapshot() as snapshot:
            older = _revision(snapshot, revision_id)
            file = _file_at(snapshot, package_id, path, older)
        if (older.package_id, older.record_id) != (package_id, file.record_id):
            raise CallerError(
                "the revision is of another record",
                code="revision.other-record",
                path=revision_id,
            )
        if older.content is None or older.change == "tombstone":
            raise CallerError(
                "the revision has no content any more",
                code="revision.erased",
                path=revision_id,
            )
        change = RecordChange(path, older.content, expected_revision)
        details = {"reverts_to": revision_id}
        return self._one(package_id, change, authorisations, checks, details)

    def conflicts(
        self,
        package_id: str | None = None,
        *,
        after: tuple[str, str, str] | None = None,
        limit: int = 100,
    ) -> Sequence[OpenConflict]:
        """The conflicts that wait for a person, page by page.

        ``after`` are package, record and conflict of the last one of the page before.
        """
        prefix = () if package_id is None else (package_id,)
        start = None
        if after is not None:
            start = check_type(after, (tuple, list), "after")[len(prefix) :]
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                OPEN_CONFLICT.name, "key", prefix, after=start, limit=limit
            )
        return cast("Sequence[OpenConflict]", page)

    def conflict(self, conflict_id: str) -> Conflict:
        """One conflict with its candidate; NotFoundError (``conflict.not-found``)."""
        with self._work.snapshot() as snapshot:
            row = snapshot.get(CONFLICT.name, (conflict_id,))
            if row is None:
                raise NotFoundError(
                    "no such conflict in this scope",
                    code="conflict.not-found",
                    path=conflict_id,
                )
        return cast("Conflict", row)

    def keep_conflict(self, error: RevisionConflictError) -> tuple[str, ...]:
        """Keep what was refused as conflicts; their ids, in the candidates' order.

        What is kept already is kept once, also when it was decided. A candidate that
        no package could hold (for a secret in it, or for its size) isn't kept at all,
        nor is one of a record or a revision that isn't in this scope.

        An owned store does so by itself, if it can. Inside a host's transaction nobody
        knows whether they are kept, so the host says that it is wanted; when that was
        rolled back, it says so again.

        Raises:
            CallerError: ``input.type``, ``input.list``.

        """
        check_type(error, RevisionConflictError, "error")
        lost = check_items(error.candidates, Candidate, "candidates")
        with self._work.snapshot() as snapshot:
            named = kept_before(snapshot, lost)
            left = {one.name: one for one in lost if one.name not in named}
            fit = [one for one in left.values() if may_be_kept(snapshot, one)]
        if fit:
            commit, names = keep_candidates(
                self._work.writing(), fit, self._work.ids.new()
            )
            self._work.store.append(commit)
            named |= dict(zip((one.name for one in fit), names, strict=True))
        error.keep_as([named[one.name] for one in lost if one.name in named])
        return error.conflict_ids

    def _keep_if_possible(self, error: RevisionConflictError) -> None:
        # That a change lost is told also when nothing can be kept.
        with contextlib.suppress(StorageError):
            self.keep_conflict(error)

    def _one(
        self,
        package_id: str,
        change: RecordChange,
        authorisations: Collection[Authorisation],
        checks: Checks,
        details: Mapping[str, Any] | None = None,
    ) -> Revised:
        wanted = Wanted(
            package_id, [change], check_authorisations(authorisations), details or {}
        )
        return self.apply(wanted, checks)[0]

    def apply(
        self, wanted: Wanted, checks: Checks, receipt_id: str | None = None
    ) -> list[Revised]:
        """Decide changes that were put together, write them, and answer about each.

        The verbs of review and adoption make theirs out of more than `revise` takes.

        Raises:
            CallerError: ``input.type``, and as `revise`.

        And as `revise`.
        """
        check_type(wanted, Wanted, "wanted")
        check_type(checks, dict, "checks")
        paths = [change.path for change in wanted.changes]
        check_lines({"path": check_texts(paths, "path")})
        writing = self._work.writing()
        receipt = self._work.ids.new() if receipt_id is None else receipt_id
        reports: list[Report] = []
        decisions: list[Decided] = []

        def judge(source: PackageSource) -> Report:
            reports[:] = [self.lint(source, **checks)]
            return reports[0]

        def decided(snapshot: Snapshot) -> Commit | Refused | None:
            decision = decide_revisions(snapshot, writing, wanted, judge, receipt)
            if isinstance(decision, Refused):
                return decision
            decisions[:] = [decision]
            if decision.commit is None:
                return None
            return self._under_policy(snapshot, reports[0], decision.commit)

        try:
            outcome: Recorded | Refused | None = write(
                self._work.store, self._work.scope, decided
            )
        except RevisionConflictError as error:
            if not self._work.is_staged and not wanted.is_review:
                self._keep_if_possible(error)
            raise
        if isinstance(outcome, Refused):
            raise self._refused("revise", outcome.report, None)
        notices = reports[0].findings if outcome is not None else ()
        return [
            attrs.evolve(answer, is_staged=self._work.is_staged, notices=notices)
            for answer in decisions[0].answers(wanted, outcome)
        ]


def _file_at(
    snapshot: Snapshot, package_id: str, path: str, older: Revision
) -> PackageFile:
    """The file at a path; without one, where the record of a revision stands."""
    try:
        return file_at(snapshot, package_id, path)
    except NotFoundError as error:
        row = snapshot.get(PACKAGE_FILE.name, (package_id, older.record_id))
        place = cast("PackageFile | None", row)
        if place is not None:
            error.hint = f"the record of that revision stands at {place.path}"
        raise


def _revision(snapshot: Snapshot, revision_id: str) -> Revision:
    row = snapshot.get(REVISION.name, (revision_id,))
    if row is None:
        raise no_revision(revision_id)
    return cast("Revision", row)


def no_revision(revision_id: str) -> NotFoundError:
    """The error for a revision that isn't in the scope."""
    return NotFoundError(
        "no such revision in this scope", code="revision.not-found", path=revision_id
    )
