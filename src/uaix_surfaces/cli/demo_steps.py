"""The steps of the demonstration: public calls, and what each of them shows."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

from uaix_backends.files import read_package, write_package
from uaix_backends.opening import open_store
from uaix_backends.system import SystemClock
from uaix_core.packages.answers import PackageRefusedError
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.templates.new import new_package
from uaix_core.store.copying import copy_scope, differences
from uaix_core.values.canonical import canonical_digest
from uaix_core.values.ids import ScopeId
from uaix_core.values.strict_json import parse
from uaix_surfaces.cli.demo_edits import EDIT_STEPS
from uaix_surfaces.cli.demo_places import (
    SCOPE,
    Places,
    Shown,
    Step,
    files_at,
    judged,
    session_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.lint import Report


def _make(places: Places) -> Shown:
    files = new_package(
        "advanced-persona",
        package_id=places.PACKAGE_ID,
        created_at=SystemClock().now(),
        issuer="demo",
    )
    write_package(places.at(places.SOURCE), files)
    write_package(places.at(places.PACKED), files)
    size = sum(map(len, files.values()))
    return Shown(
        files_at(places.at(places.SOURCE)) == files,
        f"{len(files)} files, {size} bytes, as a folder and as an archive",
    )


def _lint(places: Places) -> Shown:
    folder = judged(places.at(places.SOURCE))
    archive = judged(places.at(places.PACKED))
    return Shown(folder.is_accepted and archive.is_accepted, archive.summary)


def _install(places: Places) -> Shown:
    source = read_package(places.at(places.PACKED))
    with session_at(places, create=True) as session:
        first = session.packages.install(source)
        again = session.packages.install(source)
    return Shown(
        first.is_first and not again.is_first and first.receipt == again.receipt,
        f"{first.state} at commit {first.seq}; installed again: the same receipt",
    )


def _export(places: Places) -> Shown:
    with session_at(places) as session:
        exported = session.packages.export(places.PACKAGE_ID)
    write_package(places.at(places.EXPORTED), exported.files)
    write_package(places.at(places.EXPORTED_FOLDER), exported.files)
    return Shown(
        judged(places.at(places.EXPORTED)).is_accepted,
        f"{len(exported.files)} files, as an archive and as a folder",
    )


def _equal_bytes(places: Places) -> Shown:
    before = files_at(places.at(places.SOURCE))
    after = files_at(places.at(places.EXPORTED_FOLDER))
    packed = places.at(places.PACKED).read_bytes()
    exported = places.at(places.EXPORTED).read_bytes()
    return Shown(
        bool(before) and before == after and packed == exported,
        f"{len(before)} of {len(after)} files equal, and so are the archives",
    )


def _equal_manifest(places: Places) -> Shown:
    one, other = (
        canonical_digest(
            parse(
                files_at(places.at(name))[MANIFEST_PATH],
                max_depth=DEFAULT_LIMITS.json_depth,
            )
        )
        for name in (places.SOURCE, places.EXPORTED_FOLDER)
    )
    return Shown(one == other, f"SHA-256 of the RFC 8785 form: {one[:16]} both times")


def _with_traversal(files: Mapping[str, bytes]) -> bytes:
    """The archive with one entry more, which means to land outside of its folder."""
    buffer = io.BytesIO(write_archive(files))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("../outside.uai", b"written where nobody looks\n")
    return buffer.getvalue()


def _with_wrong_hash(files: Mapping[str, bytes]) -> bytes:
    """The archive with one body changed behind the manifest's back."""
    path = ".uai/persona.uai"
    return write_archive({**files, path: files[path].replace(b"e", b"a", 1)})


#: Each hostile twin: its file, how it is made, the code that must refuse it.
_TWINS: Final = (
    ("traversal.uaix", _with_traversal, "path.traversal"),
    ("wrong-hash.uaix", _with_wrong_hash, "hash.mismatch"),
)


def _errors(report: Report) -> list[str]:
    codes = [f.code for f in report.findings if f.severity == "error"]
    return list(dict.fromkeys(codes))


def _hostile(places: Places) -> Shown:
    files = files_at(places.at(places.SOURCE))
    folder = places.at(places.HOSTILE)
    folder.mkdir()
    holds, seen = True, []
    with session_at(places) as session:
        for name, make, code in _TWINS:
            path = folder / name
            path.write_bytes(make(files))
            try:
                session.packages.install(read_package(path))
            except PackageRefusedError as error:
                errors = _errors(error.report)
                holds = holds and code in errors
                seen.append(f"{name}: {', '.join(errors)}")
            else:
                holds = False
                seen.append(f"{name} was installed")
        kept = [package.package_id for package in session.packages.list()]
    outside = places.root.parent / "outside.uai"
    holds = holds and kept == [places.PACKAGE_ID] and not outside.exists()
    return Shown(holds, "; ".join(seen))


def _copy(places: Places) -> Shown:
    scope = ScopeId.parse(SCOPE)
    source = open_store(places.sqlite_url)
    try:
        target = open_store(places.directory_url, create=True)
        try:
            copied = copy_scope(source, target, scope)
            found = differences(source, target, scope)
        finally:
            target.close()
    finally:
        source.close()
    told = "differences: " + ", ".join(found) if found else "no row differs"
    return Shown(copied > 0 and not found, f"{copied} commits; {told}")


STEPS: Final = (
    Step(
        "make",
        "make an advanced persona package",
        _make,
        (Places.SOURCE, Places.PACKED),
    ),
    Step("lint", "judge it", _lint),
    Step("install", "install it into SQLite", _install, (Places.SQLITE,)),
    Step(
        "export",
        "export it",
        _export,
        (Places.EXPORTED, Places.EXPORTED_FOLDER),
    ),
    Step("bytes", "compare all bytes", _equal_bytes),
    Step("manifest", "compare the canonical manifests", _equal_manifest),
    Step(
        "hostile",
        "try to install hostile twins",
        _hostile,
        tuple(f"{Places.HOSTILE}/{name}" for name, _, _ in _TWINS),
    ),
    *EDIT_STEPS,
    Step("copy", "copy the store into a directory", _copy, (Places.DIRECTORY,)),
)
