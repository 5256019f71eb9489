"""The package verbs of files-first work: status, adopt, and diffs of what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.gate.said import check_kept
from uaix_core.history.relations import REVISION
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.checkpoints import find_checkpoint, read_checkpoint
from uaix_core.packages.choosing import chosen_paths, with_entries
from uaix_core.packages.diff import ChangedFile, diff_packages, diff_revisions
from uaix_core.packages.edit_reading import read_edits, read_refresh
from uaix_core.packages.edits import EditedFiles
from uaix_core.packages.export import find_package, get_all
from uaix_core.packages.relations import CHECKPOINT
from uaix_core.packages.revising import Wanted
from uaix_core.packages.revisions import Revised, RevisionConflictError
from uaix_core.session.package_revisions import PackageRevisions, no_revision
from uaix_core.values.arguments import check_texts, check_type
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from uaix_core.history.relations import Revision
    from uaix_core.packages.addressing import RecordChange
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.diff import PackageDiff
    from uaix_core.packages.edits import Edits, EditStatus, Refresh
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.relations import Checkpoint
    from uaix_core.store.port import Snapshot


@attrs.frozen
class Adopted:
    """The answer to an adoption.

    ``status`` is how the folder was found, ``revisions`` are what came of its edits, in
    the order of their paths; there are none when nothing was edited.
    """

    status: EditStatus
    revisions: tuple[Revised, ...]

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "status": self.status.as_dict(),
            "revisions": [revision.as_dict() for revision in self.revisions],
        }


class PackageEdits(PackageRevisions):
    """Bringing in what a person has edited, and comparing what is stored."""

    def edits(self, package_id: str, edited: EditedFiles) -> Edits:
        """What somebody changed in a folder, file by file; nothing is judged.

        Raises:
            NotFoundError: ``package.not-found``, ``checkpoint.not-found``.
            CallerError: ``adopt.base``, ``adopt.package``, ``manifest.*``, ``json.*``.

        """
        check_edited(edited)
        with self._work.snapshot() as snapshot:
            return read_edits(snapshot, package_id, edited)

    def adopt(  # noqa: PLR0913 - what an edited folder may need said
        self,
        package_id: str,
        edited: EditedFiles,
        *,
        only: Collection[str] | None = None,
        removals: bool | Collection[str] = False,
        entries: Mapping[str, Mapping[str, Any]] | None = None,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Adopted:
        """Bring the edits of a folder in as revisions, all of them or none.

        Files that are as they were make no revision, and what only an editor did (line
        ends, a byte order mark, the last newline) is taken back.

        Args:
            package_id: whose files they are.
            edited: the folder.
            only: the paths to bring in; None for all that were edited.
            removals: the paths of files that are gone and are to be tombstoned, True
                for all of them.
            entries: manifest entries (wire names) of new files that no manifest lists.
            authorisations: which changes of protected files are wanted.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            RevisionConflictError: another revision of a file stands than the one that
                was edited; every candidate that lost is kept as a conflict.
            PackageRefusedError: what the package would become did not pass.
            CallerError: ``adopt.manifest``, ``adopt.unlisted``, ``adopt.removed``,
                ``adopt.there``, ``adopt.retired``, ``adopt.path``, and as `edits` and
                `revise`.
            NotFoundError: as `edits`.

        """
        check_type(edited, EditedFiles, "edited")
        if only is not None:
            only = check_texts(only, "only")
        if not isinstance(removals, bool):
            removals = check_texts(removals, "removals")
        check_kept({"only": only, "removals": removals})
        allowed = check_authorisations(authorisations)
        listed = with_entries(edited, entries or {})
        found = self.edits(package_id, listed)
        wanted = chosen_paths(found, listed, only, removals=removals)
        lost = [found.lost[path] for path in wanted if path in found.lost]
        if lost:
            error = RevisionConflictError(lost)
            if not self._work.is_staged:
                self._keep_if_possible(error)
            raise error
        changes: list[RecordChange] = [found.changes[path] for path in wanted]
        if not changes:
            return Adopted(found.status, ())
        details = {"adopts": found.status.checkpoint_id}
        made = self.apply(Wanted(package_id, changes, allowed, details), checks)
        return Adopted(found.status, tuple(made))

    def refresh(self, package_id: str, edited: EditedFiles) -> Refresh:
        """What makes an edited folder one of the current checkpoint.

        The caller writes it there, after an adoption or to see what others have done.

        Raises:
            CallerError: ``adopt.conflict`` when an edited file has moved on; and as
                `edits`.

        """
        check_edited(edited)
        with self._work.snapshot() as snapshot:
            return read_refresh(snapshot, package_id, edited)

    def checkpoints(
        self, package_id: str, *, after: int | None = None, limit: int = 100
    ) -> Sequence[Checkpoint]:
        """The checkpoints of a package from the first on, page by page.

        ``after`` is the number of the last one of the page before.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            start = None
            if after is not None:
                last = find_checkpoint(snapshot, package_id, str(after))
                start = (last.number, last.checkpoint_id)
            page = snapshot.scan(
                CHECKPOINT.name, "by_package", (package_id,), after=start, limit=limit
            )
        return cast("Sequence[Checkpoint]", page)

    def read_at(self, package_id: str, checkpoint: str) -> Mapping[str, bytes]:
        """All files of a package as they were at a checkpoint, the manifest included.

        Args:
            package_id: which package.
            checkpoint: its id, its number, or the SHA-256 of its manifest (hex).

        Raises:
            NotFoundError: ``package.not-found``, ``checkpoint.not-found``.
            CallerError: ``package.erased`` when a part of it was erased.
            IntegrityError: ``storage.digest``.

        """
        with self._work.snapshot() as snapshot:
            package = find_package(snapshot, package_id)
            found = find_checkpoint(snapshot, package_id, checkpoint)
            return read_checkpoint(snapshot, package, found)

    def diff(self, package_id: str, before: str, after: str) -> PackageDiff:
        """What differs between two checkpoints, named as for `read_at`.

        Raises:
            As `read_at`.

        """
        return diff_packages(
            self.read_at(package_id, before), self.read_at(package_id, after)
        )

    def diff_revisions(self, before: str, after: str) -> ChangedFile | None:
        """What differs between two revisions, by bytes and by field; None if nothing.

        Raises:
            NotFoundError: ``revision.not-found``.
            CallerError: ``revision.erased``.

        """
        with self._work.snapshot() as snapshot:
            rows = _revisions(snapshot, before, after)
        return diff_revisions(*rows)


def check_edited(edited: EditedFiles) -> None:
    """Refuse names of files that nothing may hold, wherever they are told."""
    check_type(edited, EditedFiles, "edited")
    names = (*edited.files, *edited.others, *edited.bases, *edited.entries)
    check_kept({"files": names})


def _revisions(snapshot: Snapshot, *names: str) -> list[Revision]:
    found = cast("dict[str, Revision]", get_all(snapshot, REVISION.name, names))
    for name in names:
        if name not in found:
            raise no_revision(name)
        if found[name].content is None:
            raise CallerError(
                "the revision has no content any more",
                code="revision.erased",
                path=name,
            )
    return [found[name] for name in names]
