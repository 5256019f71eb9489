"""The package verbs that make another package out of one: clone, branch, derive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from uaix_core.packages.anchors import check_authoriser
from uaix_core.packages.answers import Refused
from uaix_core.packages.checkpoints import find_checkpoint
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
from uaix_core.packages.relations import DERIVATION
from uaix_core.packages.source import PackageSource
from uaix_core.packages.standing import same_checkpoint, stored_package
from uaix_core.session.package_edits import PackageEdits
from uaix_core.session.package_writes import refuse_secret
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Checks, Report
    from uaix_core.packages.relations import Derivation
    from uaix_core.session.package_writes import Decision
    from uaix_core.store.port import Snapshot

_BRANCH = Descent("branch", "branch")


class PackageDescents(PackageEdits):
    """Making a package out of another one, which stays as it is."""

    def clone(
        self,
        origin: str | PackageSource,
        *,
        package_id: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store a copy with an identity of its own; the original is untouched.

        Args:
            origin: the id of a stored package, or a package from outside.
            package_id: the id of the clone; a new one without it.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: there is no such package.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.

        """
        outside: Origin | None = None
        if isinstance(origin, PackageSource):
            outside = outside_origin(self._judged("clone", origin, checks))

        def found(snapshot: Snapshot) -> Origin:
            return outside or stored_origin(snapshot, cast("str", origin))

        return self.descend(package_id, found, lambda *_: CLONE, checks, "clone")

    def branch(
        self,
        source: PackageSource,
        *,
        package_id: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store a divergent state of a stored package as a package of its own.

        It is for a package that was changed elsewhere while this one moved on: nothing
        is merged, and its lineage names the stored one and, when its ``basedOn`` says
        so, the checkpoint at which they parted.

        Args:
            source: the divergent package, under the id of the stored one.
            package_id: the id of the branch; a new one without it.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: ``package.not-found``: there is nothing to part from.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.
            CallerError: ``branch.same`` for a state that is stored already.

        """
        report = self._judged("branch", source, checks)
        package = cast("CheckedPackage", report.package)
        outside = outside_origin(report)

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
            named = package.manifest.based_on
            base = named and find_checkpoint(
                snapshot, outside.package_id, named, is_wanted=False
            )
            parted = base.checkpoint_id if base else current.checkpoint_id
            return Origin(outside.package_id, parted, outside.files)

        return self.descend(package_id, found, lambda *_: _BRANCH, checks, "branch")

    def derive(
        self,
        origin: str,
        wanted: Transformation,
        *,
        package_id: str | None = None,
        **checks: Unpack[Checks],
    ) -> Stored:
        """Store what a persona is to become as a package of its own.

        The original stays as it is. The derivative records why it was made, and for
        every changed file what was changed (`derivation`).

        Args:
            origin: the id of a stored package.
            wanted: what is to differ.
            package_id: the id of the derivative; a new one without it.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            NotFoundError: there is no such package.
            PackageRefusedError: as `install`.
            ConflictError: ``package.conflict`` when the id is taken.
            CallerError: ``derive.*``, ``anchor.authoriser``, ``text.secret``.

        """
        check_authoriser(self._work.principal, wanted.authorisations)
        refuse_secret({"reason": wanted.reason, "notes": dict(wanted.notes)})
        before: list[Origin] = []

        def found(snapshot: Snapshot) -> Origin:
            before[:] = [stored_origin(snapshot, origin)]
            return transformed(before[0], wanted)

        def how(writing: Writing, receipt_id: str, made: CheckedPackage) -> Descent:
            row = derivation_row(writing, receipt_id, made, before[0], wanted)
            return Descent("derivative", "derive", adds=(row,))

        return self.descend(package_id, found, how, checks, "derive")

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
        operation: str,
    ) -> Stored:
        """Make a package out of an origin; the verbs say which and how."""
        ids = self._work.ids
        new_id = ids.new() if package_id is None else check_id(package_id)

        def decide(snapshot: Snapshot, writing: Writing) -> Decision:
            origin = found(snapshot)
            made = PackageSource(files=cloned_files(origin, new_id, ids))
            report = self.lint(made, **checks)
            if report.package is None:
                return Refused(report)
            receipt_id = writing.ids.new()
            descent = how(writing, receipt_id, report.package)
            commit = decide_descent(
                snapshot, writing, report, origin, receipt_id=receipt_id, how=descent
            )
            return self._under_policy(snapshot, report, commit)

        return self._run(operation, decide, None)

    def _judged(self, operation: str, source: PackageSource, checks: Checks) -> Report:
        report = self.lint(source, **checks)
        if report.package is None:
            raise self._refused(operation, report, source)
        return report
