"""The steps of the demonstration that change what is stored: edit, update, clone."""

from __future__ import annotations

from typing import Final

from uaix_backends.files import read_package, write_package
from uaix_core.packages.anchors import Authorisation
from uaix_core.packages.diff import diff_packages
from uaix_core.packages.required.files import PERSONA_FILE
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.templates.repack import repack
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import ConflictError
from uaix_surfaces.cli.demo_places import (
    Places,
    Shown,
    Step,
    files_at,
    judged,
    session_at,
)

_MORE: Final = b"\nAnswers in short sentences.\n"


def _edit(places: Places) -> Shown:
    files = files_at(places.at(places.SOURCE))
    repacked = repack({**files, PERSONA_FILE: files[PERSONA_FILE] + _MORE})
    write_package(places.at(places.EDITED), repacked.files)
    write_package(places.at(places.EDITED_PACKED), repacked.files)
    return Shown(
        repacked.changed == (PERSONA_FILE,)
        and judged(places.at(places.EDITED_PACKED)).is_accepted,
        f"one line more in {PERSONA_FILE}, and its size and digest in the manifest",
    )


def _update(places: Places) -> Shown:
    first = files_at(places.at(places.SOURCE))[MANIFEST_PATH]
    with session_at(places) as session:
        updated = session.packages.update(
            read_package(places.at(places.EDITED_PACKED)),
            based_on=sha256_hex(first),
            authorisations=[Authorisation(PERSONA_FILE, "replace")],
        )
        history = session.packages.history(places.PACKAGE_ID)
        try:
            session.packages.restore(read_package(places.at(places.PACKED)))
        except ConflictError as error:
            refused = error.code
        else:
            refused = "the older state came back"
    new = [row.path for row in history.revisions if row.version == updated.seq]
    numbers = [checkpoint.number for checkpoint in history.checkpoints]
    return Shown(
        new == [PERSONA_FILE] and numbers == [1, 2] and refused == "package.rollback",
        f"checkpoint 2 with 1 new revision; the older state: {refused}",
    )


def _diff(places: Places) -> Shown:
    found = diff_packages(
        files_at(places.at(places.SOURCE)), files_at(places.at(places.EDITED))
    )
    paths = [changed.path for changed in found.changed]
    fields = [d.field for changed in found.changed for d in changed.dimensions]
    elsewhere = (found.added, found.removed, found.moved)
    return Shown(
        paths == [PERSONA_FILE] and len(fields) == 1 and not any(elsewhere),
        f"{', '.join(paths)} differs, in the field {', '.join(fields)}",
    )


def _clone(places: Places) -> Shown:
    with session_at(places) as session:
        cloned = session.packages.clone(places.PACKAGE_ID, package_id=places.CLONE_ID)
        exported = session.packages.export(cloned.package_id)
        descendants = session.packages.descendants(places.PACKAGE_ID)
    write_package(places.at(places.CLONED), exported.files)
    edited = files_at(places.at(places.EDITED))
    differing = [path for path in edited if edited[path] != exported.files.get(path)]
    names = [row.package_id for row in descendants]
    return Shown(
        names == [places.CLONE_ID] and differing == [MANIFEST_PATH],
        f"{len(edited) - 1} files equal under new ids; its lineage names the original",
    )


EDIT_STEPS: Final = (
    Step("edit", "edit a file and pack", _edit, (Places.EDITED, Places.EDITED_PACKED)),
    Step("update", "update it with a person's word", _update),
    Step("diff", "compare before and after", _diff),
    Step("clone", "clone it", _clone, (Places.CLONED,)),
)
