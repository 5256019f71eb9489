"""Where a package comes from, as values: an archive's bytes or a folder's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.values.arguments import check_files, check_type
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen(eq=False)
class PackageSource:
    """A package as it was handed in, nothing judged yet.

    Exactly one of ``archive`` (bytes of a ZIP archive) and ``files`` (logical path to
    bytes, of a folder) is set; ``name`` is the name of the file or folder, if any, and
    only `archive_name` takes part in the rule of the extension.

    Raises:
        CallerError: ``package.source`` when both or none are set, ``input.type``.

    """

    name: str | None = None
    archive: bytes | bytearray | memoryview | None = attrs.field(
        default=None, repr=False
    )
    files: Mapping[str, bytes] | None = attrs.field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if (self.archive is None) == (self.files is None):
            raise CallerError(
                "a package is either an archive or a folder of files",
                code="package.source",
            )
        if self.files is not None:
            check_files(self.files, "files", is_stored=False)
        if self.name is not None:
            check_type(self.name, str, "name")

    @property
    def archive_name(self) -> str | None:
        """The file name whose extension counts: none for a folder."""
        return self.name if self.archive is not None else None
