"""The package verbs that only read: list, show, history, receipts, descendants."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.history.relations import RECEIPT, RECEIPT_ENTRY, REVISION
from uaix_core.packages.export import find_package, package_files, read_package
from uaix_core.packages.relations import CHECKPOINT, DIMENSION, LINEAGE, PACKAGE
from uaix_core.store.scanning import all_rows
from uaix_core.values.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_core.history.relations import Receipt, ReceiptEntry, Revision
    from uaix_core.packages.relations import (
        Checkpoint,
        Dimension,
        Lineage,
        Package,
        PackageFile,
    )
    from uaix_core.session.work import Work


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


class PackageReads:
    """What can be asked of the packages of a scope; nothing is written."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def list(self, *, after: str | None = None, limit: int = 100) -> Sequence[Package]:
        """The packages of the scope in the order of their ids, page by page."""
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                PACKAGE.name,
                "key",
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Package]", page)

    def show(self, package_id: str) -> PackageView:
        """One package with its files; NotFoundError when there is none."""
        with self._work.snapshot() as snapshot:
            package = find_package(snapshot, package_id)
            files = list(package_files(snapshot, package_id))
        files.sort(key=lambda file: (file.startup_order, file.path))
        return PackageView(package, files)

    def history(self, package_id: str) -> PackageHistory:
        """The checkpoints and revisions of a package, oldest first."""
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            named = (package_id,)
            checkpoints = list(all_rows(snapshot, CHECKPOINT, "by_package", named))
            revisions = list(all_rows(snapshot, REVISION, "by_record", named))
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
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                RECEIPT_ENTRY.name, path, prefix, after=after, limit=limit
            )
        return cast("Sequence[ReceiptEntry]", page)

    def receipt(self, receipt_id: str) -> Receipt:
        """One receipt; NotFoundError when there is none."""
        with self._work.snapshot() as snapshot:
            row = snapshot.get(RECEIPT.name, (receipt_id,))
            if row is None:
                raise NotFoundError(
                    "no such receipt in this scope",
                    code="receipt.not-found",
                    path=receipt_id,
                )
        return cast("Receipt", row)

    def dimensions(
        self,
        package_id: str,
        *,
        field: str | None = None,
        after: tuple[str, int] | None = None,
        limit: int = 100,
    ) -> Sequence[Dimension]:
        """What the files of a package say, field by field, page by page.

        With ``field`` only that one (a recognised name such as ``description``, or a
        label in lower case with ``_`` for spaces), in order of record and place.

        Args:
            package_id: which package; NotFoundError when there is none.
            field: one field, or None for all.
            after: (record_id, ordinal) of the last row of the page before.
            limit: how many rows at most.

        """
        path: str = "key"
        prefix: tuple[str, ...] = (package_id,)
        if field is not None:
            path, prefix = "by_field", (package_id, field)
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                DIMENSION.name,
                path,
                prefix,
                after=after,
                limit=limit,
            )
        return cast("Sequence[Dimension]", page)

    def read(self, package_id: str) -> Mapping[str, bytes]:
        """All files of a package as they stand, by path, the manifest included.

        Every byte is checked against its digest. Unlike an export it leaves no
        receipt: it is how an application reads what it has stored.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``package.erased``.
            IntegrityError: stored bytes don't agree with their digests.

        """
        with self._work.snapshot() as snapshot:
            return read_package(snapshot, package_id).files

    def descendants(
        self, package_id: str, *, after: str | None = None, limit: int = 100
    ) -> Sequence[Lineage]:
        """The packages of the scope that were made from this one, page by page."""
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                LINEAGE.name,
                "by_origin",
                (package_id,),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Lineage]", page)
