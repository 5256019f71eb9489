"""The manifest as a value: what a package declares about itself and its files.

Words are kept in the spelling in which they were read. The wire names belong to
`codec`, the rules to `judging`; a value made by hand is not judged.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.manifest.words import fold
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.ids import NAMESPACE_URL, uuid5

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The digest that stands for one not computed yet; it is never evidence.
SENTINEL: Final = "0" * 64


@attrs.frozen
class FileEntry:
    """One entry of ``files``.

    ``size_bytes`` and ``sha256`` (64 lower-case hex digits) are of the raw bytes.
    ``source`` is a text or an object. ``extra`` holds the fields that the format
    doesn't name, unchanged.
    """

    path: str
    role: str
    required_status: str
    scope: str
    media_type: str
    size_bytes: int
    sha256: str
    review_state: str
    source: Any
    stable_id: str | None = None
    extra: dict[str, Any] = attrs.field(factory=dict)

    @property
    def is_sentinel(self) -> bool:
        """Whether the listed digest is only a placeholder."""
        return self.sha256 == SENTINEL


@attrs.frozen
class Integrity:
    """What the manifest says about the package as a whole.

    ``package_digest`` is the digest over the lines of `files_digest`, the sentinel, or
    None when the manifest has none. ``extra`` holds every other key, unchanged.
    """

    algorithm: str = "sha256"
    digest_scope: str = "files-v1"
    package_digest: str | None = None
    extra: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Manifest:
    """A whole manifest.

    ``entrypoints`` are paths in the order read. ``based_on`` is the checkpoint id that
    an update was edited from. ``extra`` holds the fields that the format doesn't name,
    unchanged.
    """

    uaix_version: str
    package_format: str
    package_id: str
    profile_id: str
    status: str
    created_utc: str
    issuer: str
    declared_scopes: tuple[str, ...]
    entrypoints: tuple[str, ...]
    files: tuple[FileEntry, ...]
    integrity: Integrity
    support_boundary: dict[str, Any]
    based_on: str | None = None
    extra: dict[str, Any] = attrs.field(factory=dict)

    @property
    def scopes(self) -> frozenset[str]:
        """The declared scopes in their canonical spelling, ``universal`` included."""
        return frozenset(map(fold, self.declared_scopes)) | {"universal"}

    @property
    def is_sentinel(self) -> bool:
        """Whether any digest, also only the package's, is a placeholder."""
        return self.integrity.package_digest == SENTINEL or any(
            entry.is_sentinel for entry in self.files
        )

    def stable_id(self, entry: FileEntry) -> str:
        """The lasting id of a file: the one it carries, or the one it always gets."""
        return entry.stable_id or derived_stable_id(self.package_id, entry.path)


def derived_stable_id(package_id: str, path: str) -> str:
    """The UUIDv5 of a file that carries no ``stableId``."""
    return uuid5(_namespace(package_id), path)


@lru_cache(maxsize=64)
def _namespace(package_id: str) -> str:
    return uuid5(NAMESPACE_URL, "urn:uaix:package:" + package_id)


def files_digest(files: Iterable[tuple[str, int, str]]) -> str:
    """The package digest ``files-v1`` of (path, size in bytes, SHA-256 in hex).

    SHA-256 over the lines ``sha256 SP size SP path LF``, sorted by path as code
    points; the manifest itself is never among them.
    """
    state = hashlib.sha256()
    for path, size, digest in sorted(files):
        if path != MANIFEST_PATH:
            state.update(f"{digest} {size} {path}\n".encode())
    return state.hexdigest()
