"""Making the files that ship: the same code, the same bytes.

`docs/generate.py` writes what is made here, and a test compares the two.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.manifest.json_schema import manifest_schema
from uaix_core.packages.templates.new import KINDS, new_package
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import parse_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.templates.new import Kind

SCHEMA_NAME: Final = "manifest.schema.json"

#: When the examples say that they were made; any instant would do, so long as it stays.
CREATED_UTC: Final = "2026-01-01T00:00:00Z"


def archive_name(kind: Kind) -> str:
    """The file name of the example of this kind.

    Raises:
        CallerError: ``template.kind``.

    """
    if kind not in KINDS:
        raise CallerError(
            "no such kind of package",
            code="template.kind",
            path="kind",
            hint="one of " + ", ".join(KINDS),
        )
    return f"{kind}.uaix"


def example_files(kind: Kind) -> dict[str, bytes]:
    """The example of this kind as logical path to bytes, the manifest first.

    Raises:
        CallerError: ``template.kind``.

    """
    return new_package(
        kind,
        package_id=f"example-{kind}",
        created_at=parse_instant(CREATED_UTC),
        issuer="example.org",
    )


def shipped_files() -> Mapping[str, bytes]:
    """Every file that ships, by name."""
    schema = json.dumps(manifest_schema(), ensure_ascii=False, indent=1) + "\n"
    archives = {
        archive_name(kind): write_archive(example_files(kind)) for kind in KINDS
    }
    return {**archives, SCHEMA_NAME: schema.encode("utf-8")}
