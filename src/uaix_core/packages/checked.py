"""A package that passed its checks: what install, export and start-up work with.

It is evidence, not authority: its state is never better than quarantined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from uaix_core.values.canonical import canonical_digest
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.contents import ContentEntry
    from uaix_core.packages.manifest.values import FileEntry, Manifest

PackageState = Literal["quarantined", "review_required"]


@attrs.frozen(eq=False)
class CheckedFile:
    """One listed file: its entry as declared, and what was recomputed.

    ``size`` is in bytes and ``sha256`` 64 lower-case hex digits, both of the raw
    bytes, also where the manifest holds the sentinel.
    """

    entry: FileEntry
    size: int
    sha256: str
    _kept: bytes | None = attrs.field(repr=False, alias="kept")
    _content: ContentEntry = attrs.field(repr=False, alias="content")

    @property
    def path(self) -> str:
        """The logical path."""
        return self.entry.path

    @property
    def is_sentinel(self) -> bool:
        """Whether the declared digest was the sentinel: unloadable until reviewed."""
        return self.entry.is_sentinel

    def read(self) -> bytes:
        """The raw bytes, exactly as they were checked.

        Raises:
            IntegrityError: ``package.changed`` when the buffer behind the package was
                changed after the check.

        """
        if self._kept is not None:
            return self._kept
        content = self._content.read()
        if content is None or len(content) != self.size:
            raise IntegrityError(
                "the source of the package changed after it was checked",
                code="package.changed",
                path=self.path,
            )
        return bytes(content)


@attrs.frozen(eq=False)
class CheckedPackage:
    """A package without errors under one ruleset.

    ``manifest_bytes`` are as read and ``wire`` is their JSON value; ``files`` are
    sorted by path and without the manifest.
    ``package_digest`` is the recomputed ``files-v1`` digest, ``archive_sha256`` that
    of the archive file (None for a folder).
    """

    manifest: Manifest
    manifest_bytes: bytes = attrs.field(repr=False)
    wire: Mapping[str, Any] = attrs.field(repr=False)
    files: tuple[CheckedFile, ...]
    package_digest: str
    archive_sha256: str | None

    @property
    def manifest_canonical_sha256(self) -> str:
        """SHA-256 (hex) of the RFC 8785 form of the manifest."""
        return canonical_digest(self.wire)

    @property
    def state(self) -> PackageState:
        """What the package is after import: in quarantine, or waiting for review."""
        return "review_required" if self.manifest.is_sentinel else "quarantined"

    def as_dict(self) -> dict[str, Any]:
        """What identifies the package, as plain data, without any content."""
        return {
            "package_id": self.manifest.package_id,
            "profile_id": self.manifest.profile_id,
            "state": self.state,
            "files": len(self.files),
            "size": sum(file.size for file in self.files),
            "package_digest": self.package_digest,
            "archive_sha256": self.archive_sha256,
        }
