"""The package verbs of a session that judge and write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

import attrs

from uaix_core.gate.said import check_lines
from uaix_core.packages.acceptance import (
    check_policy,
    decide_policy,
    in_force,
    policy_of,
)
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.answers import (
    Stored,
    receipt_in,
)
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.export import (
    Exported,
    export_receipt,
    read_package,
)
from uaix_core.packages.install import decide_install, decide_restore
from uaix_core.packages.limits import HIGHEST_LIMITS
from uaix_core.packages.policy import AcceptancePolicy
from uaix_core.packages.update import Edit, decide_update, named_base
from uaix_core.review.notes import check_reviewer
from uaix_core.schema.commits import Commit, Recorded
from uaix_core.session.package_outbox import PackageOutbox
from uaix_core.session.writes import write
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks, Report
    from uaix_core.packages.source import PackageSource
    from uaix_core.session.package_writes import Decision
    from uaix_core.store.port import Snapshot


class Packages(PackageOutbox):
    """The package verbs of one session; made by it, not by hand."""

    def install(
        self,
        source: PackageSource,
        *,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Validate a package and store all of it in one commit, in quarantine.

        The same package again returns the first answer and writes nothing.

        Args:
            source: an archive's bytes or a folder's files.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            PackageRefusedError: it did not pass; a receipt says so, nothing else was
                stored.
            ConflictError: ``package.conflict``: the id is taken by other content.
            CallerError: ``idempotency.reused``.

        """
        return self._store("install", source, checks, key, decide_install)

    def restore(
        self,
        source: PackageSource,
        *,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Bring a package back under its own identity.

        Where the very same package stands, only a receipt is written that says so.

        Raises:
            PackageRefusedError: as `install`.
            ConflictError: ``package.rollback`` when the package has moved on since,
                ``package.conflict`` when the id is taken by other content.
            CallerError: ``idempotency.reused``.

        """
        return self._store("restore", source, checks, key, decide_restore)

    def update(
        self,
        source: PackageSource,
        *,
        based_on: str | PackageSource | None = None,
        authorisations: Collection[Authorisation] = (),
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Make an edited package the new checkpoint, again in quarantine.

        Files that are as they stand get no new revision; files that are gone get a
        tombstone. Their history stays, and only a review brings them back: a new file
        where one was retired has a stableId of its own.

        Args:
            source: the edited package, under the same id.
            based_on: the SHA-256 (hex) of the manifest that was edited, the id of its
                checkpoint, or the package as it was; not needed when the package
                says so itself (``basedOn``).
            authorisations: which changes of protected anchors are wanted.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            PackageRefusedError: as `install`; also for ``anchor.mutation``.
            NotFoundError: there is no such package.
            ConflictError: ``package.stale`` when another checkpoint is current.
            CallerError: ``update.based-on``, ``checkpoint.ambiguous``,
                ``record.tombstoned``, ``idempotency.reused``.

        """
        base, files = named_base(based_on)
        edit = Edit(base, files, check_authorisations(authorisations))

        def decide(
            snapshot: Snapshot, writing: Writing, report: Report, key: str | None
        ) -> Decision:
            return decide_update(snapshot, writing, report, key, edit)

        return self._store("update", source, checks, key, decide)

    def set_policy(self, policy: AcceptancePolicy) -> str:
        """Put an acceptance policy in force for the scope; the id of its receipt.

        It holds for every later install, restore, clone and update, and can only
        refuse. ``AcceptancePolicy()`` asks for nothing.

        Raises:
            CallerError: ``policy.value``, ``review.reviewer``, ``text.*``.

        """
        check_policy(policy)
        for field in attrs.fields(AcceptancePolicy):
            check_lines({field.name: sorted(getattr(policy, field.name) or ())})
        writing = self._work.writing()
        check_reviewer(writing)

        def decided(snapshot: Snapshot) -> Commit:
            return decide_policy(snapshot, writing, policy)

        recorded: Recorded = write(self._work.store, self._work.scope, decided)
        return receipt_in(recorded).receipt_id

    def policy(self) -> AcceptancePolicy:
        """The acceptance policy in force.

        Raises:
            CallerError: ``policy.broken`` when its text is gone or can't be read.

        """
        with self._work.snapshot() as snapshot:
            return policy_of(in_force(snapshot))

    def export(
        self, package_id: str, *, form: Literal["archive", "folder"] = "archive"
    ) -> Exported:
        """Read a package back, byte for byte, and leave a receipt.

        A quarantined package may be exported; its state does not change.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``package.erased``.
            IntegrityError: stored bytes don't agree with their digests.

        """
        if form not in ("archive", "folder"):
            raise CallerError(
                "an export is an archive or a folder", code="export.form", path="form"
            )
        work = self._work
        with self._work.snapshot() as snapshot:
            stored = read_package(snapshot, package_id)
        archive = None
        if form == "archive":
            archive = write_archive(stored.files, limits=HIGHEST_LIMITS)
        digest = None if archive is None else sha256_hex(archive)
        writing = self._work.writing()
        receipt = export_receipt(writing, stored, digest)
        recorded = work.store.append(
            Commit(writing.scope, writing.now, adds=(receipt,))
        )
        return Exported(
            package_id=package_id,
            checkpoint_id=stored.checkpoint.checkpoint_id,
            state=stored.package.state,
            seq=recorded.seq,
            receipt=receipt.receipt_id,
            archive_sha256=digest,
            files=stored.files,
            archive=archive,
            is_staged=work.is_staged,
        )
