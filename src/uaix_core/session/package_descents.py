"""The package verbs that make another package out of one: clone, branch, derive."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from uaix_core.gate.said import (
    check_identities,
    check_kept,
    check_lines,
    check_paragraphs,
)
from uaix_core.history.idempotency import check_key, use_key
from uaix_core.packages.anchors import check_authorisations, check_authoriser
from uaix_core.packages.answers import Answered, Refused, answer_of
from uaix_core.packages.checkpoints import state_digests
from uaix_core.packages.choosing import chosen_paths, with_entries
from uaix_core.packages.clone import (
    CLONE,
    Descent,
    Origin,
    cloned_files,
    decide_descent,
    outside_origin,
    stored_origin,
)
from uaix_core.packages.deriving import Transformation, derivation_row, transformed
from uaix_core.packages.edit_reading import read_edits
from uaix_core.packages.relations import DERIVATION
from uaix_core.packages.revisions import RevisionConflictError
from uaix_core.packages.source import PackageSource
from uaix_core.packages.standing import same_checkpoint, stored_package
from uaix_core.packages.update import named_base, parted_at
from uaix_core.session.package_edits import PackageEdits, check_edited
from uaix_core.values.arguments import check_mapping, check_texts, check_type
from uaix_core.values.canonical import canonical_text, sha256_hex
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.edits import EditedFiles
    from uaix_core.packages.lint import Checks, Report
    from uaix_core.packages.relations import Derivation
    from uaix_core.session.package_writes import Decision
    from uaix_core.store.port import Snapshot

_BRANCH = Descent("branch", "branch")


@attrs.frozen
class Request:
    """What a call asked for, as an idempotency key compares it: plain data."""

    operation: str
    key: str | None
    said: Any = attrs.field(repr=False)


class PackageDescents(PackageEdits):
    """Making a package out of another one, which stays as it is."""

    def clone(
        self,
        origin: str | PackageSource,
        *,
        package_id: str | None = None,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store a copy with an identity of its own; the original is untouched.

        Args:
            origin: the id of a stored package, or a package from outside.
            package_id: the id of the clone; a new one without it.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: there is no such package.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.
            CallerError: ``idempotency.reused``.

        """
        outside: Origin | None = None
        said: object = origin
        if isinstance(origin, PackageSource):
            outside = outside_origin(self._judged("clone", origin, checks))
            said = state_digests(outside.files)

        def found(snapshot: Snapshot) -> Origin:
            return outside or stored_origin(snapshot, cast("str", origin))

        request = Request("clone", key, said)
        return self.descend(package_id, found, lambda *_: CLONE, checks, request)

    def branch(
        self,
        source: PackageSource,
        *,
        package_id: str | None = None,
        based_on: str | PackageSource | None = None,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store a divergent state of a stored package as a package of its own.

        It is for a package that was changed elsewhere while this one moved on: nothing
        is merged, and its lineage names the stored one. It names the checkpoint at
        which they parted as well, where the call or the manifest says it (``basedOn``);
        else that is unknown.

        Args:
            source: the divergent package, under the id of the stored one.
            package_id: the id of the branch; a new one without it.
            based_on: the checkpoint at which they parted, as `update` takes it.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: ``package.not-found``: there is nothing to part from;
                ``checkpoint.not-found`` for a base that was never stored.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.
            CallerError: ``branch.same`` for a state that is stored already,
                ``checkpoint.ambiguous``, ``idempotency.reused``.

        """
        report = self._judged("branch", source, checks)
        package = cast("CheckedPackage", report.package)
        outside = outside_origin(report)
        named = named_base(based_on)

        def found(snapshot: Snapshot) -> Origin:
            current = stored_package(snapshot, outside.package_id)
            if current is None:
                raise NotFoundError(
                    "no such package in this scope",
                    code="package.not-found",
                    path=outside.package_id,
                )
            if same_checkpoint(snapshot, package, current) is not None:
                raise CallerError(
                    "the very same state is stored",
                    code="branch.same",
                    path=outside.package_id,
                    hint="a clone is a copy under another id",
                )
            base = parted_at(snapshot, package, named)
            parted = base.checkpoint_id if base is not None else None
            return Origin(outside.package_id, parted, outside.files)

        request = Request("branch", key, [*state_digests(outside.files), *named])
        return self.descend(package_id, found, lambda *_: _BRANCH, checks, request)

    def derive(
        self,
        origin: str,
        wanted: Transformation,
        *,
        package_id: str | None = None,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store what a persona is to become as a package of its own.

        The original stays as it is. The derivative records why it was made, and for
        every changed file what was changed (`derivation`).

        Args:
            origin: the id of a stored package.
            wanted: what is to differ.
            package_id: the id of the derivative; a new one without it.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: there is no such package.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.
            CallerError: ``derive.*``, ``anchor.authoriser``, ``text.secret``,
                ``idempotency.reused``.

        """
        check_type(wanted, Transformation, "wanted")
        check_lines({"files": list(wanted.changes)})
        check_paragraphs({"reason": wanted.reason, "notes": dict(wanted.notes)})
        said: list[Any] = [
            _digests(wanted.files),
            sorted(wanted.removes),
            _plain(wanted.entries),
        ]
        said += [wanted.reason, dict(wanted.notes), _words(wanted.authorisations)]
        request = Request("derive", key, [origin, *said])
        check_authoriser(self._work.principal, wanted.authorisations)
        return self._derived(origin, lambda _: wanted, package_id, checks, request)

    def derive_edits(  # noqa: PLR0913 - what an edited folder may need said
        self,
        origin: str,
        edited: EditedFiles,
        *,
        reason: str,
        notes: Mapping[str, str] | None = None,
        removals: bool | Collection[str] = False,
        entries: Mapping[str, Mapping[str, Any]] | None = None,
        authorisations: Collection[Authorisation] = (),
        package_id: str | None = None,
        key: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Derive from a folder: its edits, told as for `adopt`, are what is to differ.

        They are made over the package as it stands. What only an editor did is taken
        back, and what nobody edited is no transformation, however old the folder is.

        Args:
            origin: the id of the stored package that the folder is of.
            edited: the folder.
            reason: as for `Transformation`.
            notes: as for `Transformation`.
            removals: as for `adopt`.
            entries: as for `adopt`.
            authorisations: as for `Transformation`.
            package_id: the id of the derivative; a new one without it.
            key: an idempotency key; kept 30 days.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            RevisionConflictError: an edited file has moved on since; nothing is kept.
            CallerError: ``adopt.*``, and as `derive`.

        And as `derive`.
        """
        check_edited(edited)
        listed = with_entries(edited, entries or {})
        said_of = check_mapping(notes or {}, "notes")
        words = check_authorisations(authorisations)
        check_paragraphs({"reason": reason, "notes": said_of})
        if not isinstance(removals, bool):
            removals = check_texts(removals, "removals")
            check_kept({"removals": removals})

        def wanted(snapshot: Snapshot) -> Transformation:
            found = read_edits(snapshot, origin, listed)
            paths = chosen_paths(found, listed, removals=removals)
            lost = [found.lost[path] for path in paths if path in found.lost]
            if lost:
                error = RevisionConflictError(lost)
                error.hint = "edit what stands now: refresh the folder, or export again"
                raise error
            changes = [found.changes[path] for path in paths]
            return Transformation(
                {c.path: c.content for c in changes if c.content is not None},
                reason,
                said_of,
                words,
                removes=tuple(c.path for c in changes if c.content is None),
                entries={c.path: c.entry for c in changes if c.entry is not None},
            )

        gone = removals if isinstance(removals, bool) else sorted(removals)
        said: list[Any] = [_digests(edited.files), edited.based_on]
        said += [
            dict(edited.bases),
            _plain(listed.entries),
            gone,
            reason,
            said_of,
            _words(words),
        ]
        check_authoriser(self._work.principal, words)
        request = Request("derive", key, [origin, *said])
        return self._derived(origin, wanted, package_id, checks, request)

    def _derived(
        self,
        origin: str,
        wanted: Callable[[Snapshot], Transformation],
        package_id: str | None,
        checks: Checks,
        request: Request,
    ) -> Stored:
        before: list[tuple[Origin, Transformation]] = []

        def found(snapshot: Snapshot) -> Origin:
            stored, change = stored_origin(snapshot, origin), wanted(snapshot)
            before[:] = [(stored, change)]
            return transformed(stored, change)

        def how(writing: Writing, receipt_id: str, made: CheckedPackage) -> Descent:
            row = derivation_row(writing, receipt_id, made, *before[0])
            return Descent("derivative", "derive", adds=(row,))

        return self.descend(package_id, found, how, checks, request)

    def derivation(self, package_id: str) -> Derivation:
        """Why a derivative was made, and what is different in it.

        Raises:
            NotFoundError: ``derivation.not-found``.

        """
        with self._work.snapshot() as snapshot:
            row = snapshot.get(DERIVATION.name, (package_id,))
            if row is None:
                raise NotFoundError(
                    "no such derivative in this scope",
                    code="derivation.not-found",
                    path=package_id,
                )
        return cast("Derivation", row)

    def descend(
        self,
        package_id: str | None,
        found: Callable[[Snapshot], Origin],
        how: Callable[[Writing, str, CheckedPackage], Descent],
        checks: Checks,
        request: Request,
    ) -> Stored:
        """Make a package out of an origin; the verbs say which and how.

        Raises:
            CallerError: ``input.type``, and as the verbs.

        And as the verbs.
        """
        check_type(found, FunctionType, "found")
        check_type(how, FunctionType, "how")
        check_type(checks, dict, "checks")
        check_type(request, Request, "request")
        ids = self._work.ids
        check_key(request.key)
        new_id = ids.new() if package_id is None else check_id(package_id, "package_id")
        check_identities({"package_id": new_id})
        asked = canonical_text([package_id, request.said])

        def decide(snapshot: Snapshot, writing: Writing) -> Decision:
            use = use_key(
                snapshot,
                writing.random,
                operation=request.operation,
                key=request.key,
                request=asked,
                now=writing.now,
            )
            if use.first is not None:
                return Answered(answer_of(snapshot, use.first, is_first=False))
            origin = found(snapshot)
            made = PackageSource(files=cloned_files(origin, new_id, ids))
            report = self.lint(made, **checks)
            if report.package is None:
                return Refused(report)
            receipt_id = writing.ids.new()
            descent = how(writing, receipt_id, report.package)
            commit = decide_descent(
                snapshot,
                writing,
                report,
                origin,
                receipt_id=receipt_id,
                use=use,
                how=descent,
            )
            return self._under_policy(snapshot, report, commit)

        return self._run(request.operation, decide, None)

    def _judged(self, operation: str, source: PackageSource, checks: Checks) -> Report:
        report = self.lint(source, **checks)
        if report.package is None:
            raise self._refused(operation, report, source)
        return report


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: sha256_hex(data) for path, data in files.items()}


def _plain(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {path: dict(entry) for path, entry in entries.items()}


def _words(authorisations: Collection[Authorisation]) -> list[list[str]]:
    return sorted([word.path, word.operation] for word in authorisations)
