"""The package verbs of a session: lint, install, export, list, show, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import attrs

from uaix_core.history.idempotency import check_key
from uaix_core.history.receipts import Writing
from uaix_core.history.relations import RECEIPT, RECEIPT_ENTRY, REVISION
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.export import (
    Exported,
    export_receipt,
    find_package,
    package_files,
    read_package,
)
from uaix_core.packages.install import (
    Installed,
    PackageRefusedError,
    decide_install,
    installed,
    refusal,
)
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.lint import lint
from uaix_core.packages.relations import CHECKPOINT, PACKAGE
from uaix_core.packages.required.sets import DEFAULT_RULESET
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import values_of
from uaix_core.session.writes import write
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from uaix_core.history.relations import Receipt, ReceiptEntry, Revision
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.lint import Report
    from uaix_core.packages.relations import Checkpoint, Package, PackageFile
    from uaix_core.packages.source import PackageSource
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot


@attrs.frozen
class PackageView:
    """A package with its files in start-up order."""

    package: Package
    files: Sequence[PackageFile]


@attrs.frozen
class PackageHistory:
    """The checkpoints and revisions of a package, oldest first."""

    checkpoints: Sequence[Checkpoint]
    revisions: Sequence[Revision]


class Packages:
    """The package verbs of one session; made by it, not by hand."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def lint(
        self,
        source: PackageSource,
        *,
        ruleset: str = DEFAULT_RULESET,
        lenient: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Report:
        """Judge a package without storing anything."""
        now = self._work.clock.now()
        return lint(source, ruleset=ruleset, lenient=lenient, limits=limits, now=now)

    def install(
        self,
        source: PackageSource,
        *,
        key: str | None = None,
        ruleset: str = DEFAULT_RULESET,
        lenient: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Installed:
        """Validate a package and store all of it in one commit, in quarantine.

        The same package again returns the first answer and writes nothing.

        Args:
            source: an archive's bytes or a folder's files.
            key: an idempotency key; kept 30 days.
            ruleset: the required sets to check against.
            lenient: turn the documented few errors into warnings.
            limits: how large the package may be.

        Raises:
            PackageRefusedError: it did not pass; a receipt says so, nothing else was
                stored.
            ConflictError: ``package.conflict``: the id is taken by other content.
            CallerError: ``idempotency.reused``.

        """
        check_key(key)
        report = self.lint(source, ruleset=ruleset, lenient=lenient, limits=limits)
        writing = self._writing()
        store, scope = self._work.store, self._work.scope
        if report.package is None:
            archive = source.archive
            digest = None if archive is None else sha256_hex(archive)
            recorded = store.append(refusal(writing, report, digest))
            receipt = cast("Receipt", recorded.commit.adds[0])
            raise PackageRefusedError(report, receipt.receipt_id)
        outcome = write(
            store, scope, lambda snap: decide_install(snap, writing, report, key)
        )
        return outcome if isinstance(outcome, Installed) else installed(outcome)

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
        work = self._work
        with self._snapshot() as snapshot:
            stored = read_package(snapshot, package_id)
        archive = write_archive(stored.files) if form == "archive" else None
        digest = None if archive is None else sha256_hex(archive)
        writing = self._writing()
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
        )

    def list(self, *, after: str | None = None, limit: int = 100) -> Sequence[Package]:
        """The packages of the scope in the order of their ids, page by page."""
        with self._snapshot() as snapshot:
            page = snapshot.scan(
                PACKAGE.name,
                "key",
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Package]", page)

    def show(self, package_id: str) -> PackageView:
        """One package with its files; NotFoundError when there is none."""
        with self._snapshot() as snapshot:
            package = find_package(snapshot, package_id)
            files = list(package_files(snapshot, package_id))
        files.sort(key=lambda file: (file.startup_order, file.path))
        return PackageView(package, files)

    def history(self, package_id: str) -> PackageHistory:
        """The checkpoints and revisions of a package, oldest first."""
        with self._snapshot() as snapshot:
            find_package(snapshot, package_id)
            checkpoints = _all(snapshot, CHECKPOINT, "by_package", package_id)
            revisions = _all(snapshot, REVISION, "by_record", package_id)
        revisions.sort(key=lambda row: row.version)
        return PackageHistory(
            cast("list[Checkpoint]", checkpoints), cast("list[Revision]", revisions)
        )

    def receipts(
        self,
        package_id: str = "",
        *,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ReceiptEntry]:
        """The receipts of a package in order of time; without one, all of the scope.

        ``after`` is the (recorded_at, receipt_id) of the last entry of the page
        before.
        """
        path, prefix = ("by_package", (package_id,)) if package_id else ("by_time", ())
        with self._snapshot() as snapshot:
            page = snapshot.scan(
                RECEIPT_ENTRY.name, path, prefix, after=after, limit=limit
            )
        return cast("Sequence[ReceiptEntry]", page)

    def receipt(self, receipt_id: str) -> Receipt:
        """One receipt; NotFoundError when there is none."""
        with self._snapshot() as snapshot:
            row = snapshot.get(RECEIPT.name, (receipt_id,))
        if row is None:
            raise NotFoundError(
                "no such receipt in this scope",
                code="receipt.not-found",
                path=receipt_id,
            )
        return cast("Receipt", row)

    def _snapshot(self) -> AbstractContextManager[Snapshot]:
        return self._work.store.snapshot(self._work.scope)

    def _writing(self) -> Writing:
        work = self._work
        now = work.clock.now()
        return Writing(work.scope, work.principal, now, work.ids, work.random)


def _all(
    snapshot: Snapshot, relation: Relation, path: str, package_id: str
) -> list[Row]:
    """All rows of a path that begins with the package, read page by page."""
    rest = values_of(relation.orders[path][1:])
    rows: list[Row] = []
    after = None
    while True:
        page = snapshot.scan(
            relation.name, path, (package_id,), after=after, limit=MAX_SCAN
        )
        rows += page
        if len(page) < MAX_SCAN:
            return rows
        after = rest(page[-1])
