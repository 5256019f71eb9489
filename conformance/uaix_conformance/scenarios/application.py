"""The library as an application: scenarios played by its sessions over any store."""

from __future__ import annotations

import io
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs

from uaix_conformance.scenarios.access_verbs import AccessVerbs, Sources
from uaix_conformance.scenarios.planting import damage, plant
from uaix_core import (
    Authorisation,
    ConsentPlace,
    EditedFiles,
    PackageRefusedError,
    PackageSource,
    ScopeId,
    StartupError,
    UaixError,
    repack,
)
from uaix_core.packages.archive.writer import write_archive
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.instants import SECOND, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from uaix_conformance.scenarios.playing import Json
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.revisions import Revised
    from uaix_core.session.packages import Packages
    from uaix_core.store.port import Store


@attrs.frozen
class Index:
    """An index that stands beside the store, as far as a scenario says."""

    name: str
    seq: int

    def covered(self, scope: ScopeId, package_id: str) -> int:
        """The last commit that it has taken in."""
        return self.seq


class LibraryApplication(AccessVerbs):
    """The verbs of the scenarios, carried out by sessions over one store.

    ``form`` says how packages are handed in: ``folder`` or ``archive``. Several
    applications over one store need ``sources`` in common, or each scope of its own.
    """

    def __init__(
        self, store: Store, form: str = "folder", sources: Sources | None = None
    ) -> None:
        super().__init__(store, form, sources or Sources())

    def perform(self, command: Mapping[str, Any]) -> Json:
        """Carry out a command and say how it ended."""
        self._sources.at += SECOND
        return self._ended(command)

    def together(self, commands: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Carry out each command in a thread of its own, all at once."""
        gate = threading.Barrier(len(commands))

        def one(command: Mapping[str, Any]) -> Json:
            gate.wait()
            return self._ended(command)

        self._sources.at += SECOND
        with ThreadPoolExecutor(len(commands)) as pool:
            return list(pool.map(one, commands))

    def receipts(self, scope: str) -> Mapping[str, str]:
        """All receipts of a scope."""
        session = self._session({"scope": scope, "as": "operator:reader"})
        entries = session.packages.receipts(limit=1_000)
        return {e.receipt_id: f"{e.operation} {e.outcome}" for e in entries}

    def _ended(self, command: Mapping[str, Any]) -> Json:
        verb = command["do"].replace("-", "_").replace(".", "_")
        try:
            told, ids = getattr(self, f"_{verb}")(command)
        except UaixError as error:
            return {**refused(error), "ids": {}}
        return {"outcome": "accepted", **told, "ids": ids}

    def _packages(self, command: Mapping[str, Any]) -> Packages:
        return self._session(command).packages

    # Each verb gives what it tells, and the ids that differ from run to run.

    def _lint(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        report = self._packages(command).lint(self._source(command["package"]))
        verdict = "refused" if report.package is None else "accepted"
        return {"outcome": verdict, "findings": told_of(report.findings)}, {}

    def _pack(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        packed = repack(command["package"].files)
        source = PackageSource(archive=write_archive(packed.files), name="packed.uaix")
        report = self._packages(command).lint(source)
        told: Json = {"findings": told_of(report.findings)}
        if report.package is None:
            return {"outcome": "refused", **told}, {}
        return {"changed": list(packed.changed), **told}, {}

    def _install(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        source, key = self._source(command["package"]), command.get("key")
        return stored(self._packages(command).install(source, key=key))

    def _restore(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return stored(self._packages(command).restore(self._source(command["package"])))

    def _update(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return stored(
            self._packages(command).update(
                self._source(command["package"]),
                based_on=command["based_on"],
                authorisations=authorised(command),
            )
        )

    def _clone(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return stored(self._packages(command).clone(command["id"]))

    def _plant(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        plant(
            self._session(command),
            self._source(command["package"]),
            without=command["without"],
        )
        return {}, {}

    def _damage(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        erased, retired = command.get("erase"), command.get("tombstone")
        damage(self._session(command), command["id"], erased=erased, retired=retired)
        return {}, {}

    def _review(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        review, package_id = self._session(command).review, command["id"]
        waiting = review.waiting(package_id)
        verdict = command.get("verdict", "active")
        if verdict == "active":
            looked_at = {file.path: file.revision_id for file in waiting.records}
            review.records(package_id, "approved", looked_at)
        review.package(package_id, verdict, checkpoint_id=waiting.checkpoint_id)
        return {}, {}

    def _show(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        view = self._packages(command).show(command["id"])
        told = {
            "state": view.package.state,
            "records": {file.path: file.sha256 for file in view.files},
        }
        return told, {
            "manifest_sha256": view.package.manifest_sha256,
            "checkpoint_id": view.package.checkpoint_id,
        }

    def _order(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        files = self._packages(command).show(command["id"]).files
        return {"paths": [file.path for file in files]}, {}

    def _list(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return {"count": len(self._packages(command).list())}, {}

    def _export(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        exported = self._packages(command).export(command["id"], form=command["form"])
        files = {path: sha256_hex(body) for path, body in exported.files.items()}
        told: Json = {"files": files}
        if exported.archive is not None:
            with zipfile.ZipFile(io.BytesIO(exported.archive)) as archive:
                told["paths"] = archive.namelist()
        return told, {}

    def _descendants(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        rows = self._packages(command).descendants(command["id"])
        ids = {f"package_{n}": row.package_id for n, row in enumerate(rows, 1)}
        return {"descents": [row.descent for row in rows]}, ids

    def _record(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        row = self._packages(command).record(command["id"], command["path"]).revision
        return {"number": row.number, "sha256": row.sha256}, {
            "revision": row.revision_id
        }

    def _revise(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return revised(
            self._packages(command).revise(
                command["id"],
                command["path"],
                command["text"].encode(),
                expected_revision=command["expected"],
                entry=command.get("entry"),
                authorisations=authorised(command),
            )
        )

    def _tombstone(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return revised(
            self._packages(command).tombstone(
                command["id"],
                command["path"],
                expected_revision=command["expected"],
                reason=command["reason"],
                authorisations=authorised(command),
            )
        )

    def _conflicts(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return {"count": len(self._packages(command).conflicts(command["id"]))}, {}

    def _adopt(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        edited = EditedFiles(command["package"].files, based_on=command.get("based_on"))
        adopted = self._packages(command).adopt(
            command["id"], edited, authorisations=authorised(command)
        )
        return {"changed": [one.path for one in adopted.revisions]}, {}

    def _start(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        session = self._session(command)
        lease = command.get("lease")
        found = session.start(
            command["id"],
            agent_id=command["agent"],
            indexes=[Index(**one) for one in command.get("indexes", ())],
            lease=session.leases.get(lease) if lease else None,
        )
        told = {
            "paths": [record.path for record in found.records],
            "blanked": {r.path: list(r.blanked) for r in found.records if r.blanked},
        }
        if "seeking" in command:
            told["seen"] = seen(command["seeking"], found.files.values())
        return told, {}

    def _start_indexed(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return self._start(command)

    def _consent(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        granted = self._session(command).consents.grant(
            command["id"],
            command["reader"],
            [ConsentPlace(**place) for place in command["places"]],
            until_at=parse_instant(command["until"]),
        )
        return {}, {"consent": granted.consent_id}


def refused(error: UaixError) -> Json:
    """How a refusal is told: its code, and what it lists."""
    told: Json = {"outcome": "refused", "code": error.code}
    if isinstance(error, PackageRefusedError):
        told["findings"] = told_of(error.report.findings)
    if isinstance(error, StartupError):
        told["checks"] = [f"{check.code} {check.path}" for check in error.checks]
    return told


def told_of(findings: Iterable[Finding]) -> list[str]:
    """Errors and warnings as ``code path``, sorted."""
    return sorted(
        f"{finding.code} {finding.path or '-'}"
        for finding in findings
        if finding.severity != "info"
    )


def seen(words: Iterable[str], bodies: Iterable[bytes]) -> dict[str, int]:
    """How often each of some words stands in what was given."""
    text = b"\0".join(bodies)
    return {word: text.count(word.encode()) for word in words}


def stored(answer: Stored) -> tuple[Json, Json]:
    """What is told of a package that was stored."""
    told = {
        "state": answer.state,
        "first": answer.is_first,
        "findings": told_of(answer.notices),
    }
    return told, {
        "package_id": answer.package_id,
        "checkpoint_id": answer.checkpoint_id,
        "receipt": answer.receipt,
    }


def revised(answer: Revised) -> tuple[Json, Json]:
    """What is told of a record that was changed."""
    told = {"number": answer.number, "change": answer.change, "first": answer.is_first}
    return told, {"revision": answer.revision_id, "receipt": answer.receipt}


def authorised(command: Mapping[str, Any]) -> list[Authorisation]:
    """The changes of protected files that a command asks for, ``PATH:OPERATION``."""
    texts = [text.rpartition(":") for text in command.get("authorise", ())]
    return [Authorisation(path, operation) for path, _, operation in texts]
