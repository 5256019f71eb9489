"""The packages of scenarios: a small valid base, bent by a few edits.

A base (`bases/NAME.json`) lists files with their texts and manifest entries. The
manifest is made of it: sizes and digests are computed, the members stand in the order
of the file, and its bytes are JSON with an indent of one space and a newline at the
end. The same description gives the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from functools import cache
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

import attrs

from uaix_core import sign

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BASE_FORMAT = "uaix.scenario-base.v1"
MANIFEST = ".uai/manifest.uaix.json"

#: The edits of a base, each by its first member.
EDITS = (
    "write",
    "append",
    "tamper",
    "remove",
    "lose",
    "double",
    "relist",
    "reverse",
    "declare",
    "signed",
)


@attrs.frozen
class Made:
    """A package as bytes: names and contents; a name may stand there twice."""

    entries: tuple[tuple[str, bytes], ...] = attrs.field(repr=False)

    @property
    def files(self) -> dict[str, bytes]:
        """The package as a folder holds it, in the order of the names."""
        return dict(sorted(self.entries))

    @property
    def is_archive_only(self) -> bool:
        """Whether no folder can hold it, since a name stands there twice."""
        return len(self.files) != len(self.entries)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 (hex) of each file, the manifest included."""
        return {name: _sha256(data) for name, data in self.files.items()}

    @property
    def records(self) -> dict[str, str]:
        """The same without the manifest."""
        return {name: sha for name, sha in self.digests.items() if name != MANIFEST}

    def archive(self) -> bytes:
        """The package as a ZIP archive, stored and sorted by name."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
            # A doubled name is what some scenarios are about.
            warnings.simplefilter("ignore")
            for name, data in sorted(self.entries):
                archive.writestr(zipfile.ZipInfo(name), data)
        return buffer.getvalue()


class _Bending:
    """A package under construction: texts, manifest entries, and what is doubled."""

    def __init__(self, base: Mapping[str, Any]) -> None:
        self.bodies: dict[str, bytes] = {}
        self.manifest: dict[str, Any] = json.loads(json.dumps(base["manifest"]))
        self.manifest["files"] = []
        self.doubled: list[tuple[str, bytes]] = []
        self.signers: list[bytes] = []
        self._shared: Mapping[str, Any] = base["entry"]
        for file in base["files"]:
            fields = {name: file[name] for name in file if name != "text"}
            self.write(fields.pop("path"), file["text"], fields)

    def write(
        self, write: str, text: str, entry: Mapping[str, Any] | None = None
    ) -> None:
        """Give a file a text; its entry follows, and is made when it is described."""
        data = self.bodies[write] = text.encode()
        if entry is not None and not self._entries(write):
            made = {"path": write, **entry, **self._shared}
            self.manifest["files"].append(made)
        for listed in self._entries(write):
            listed.update(sizeBytes=len(data), sha256=_sha256(data))

    def bend(self, edit: Mapping[str, Any]) -> None:
        """Make one edit; its first member names it, and the reference lists them."""
        name = next(iter(edit))
        if name not in EDITS:
            raise ValueError(f"no such edit: {name}")
        getattr(self, name)(**edit)

    def append(self, append: str, text: str) -> None:
        """Add to the text of a file, as `write` does."""
        self.write(append, self.bodies[append].decode() + text)

    def tamper(self, tamper: str, text: str) -> None:
        """Give a file a text that its entry doesn't know."""
        self.bodies[tamper] = text.encode()

    def lose(self, lose: str) -> None:
        """Take a file out and leave its entry."""
        del self.bodies[lose]

    def remove(self, remove: str) -> None:
        """Take a file out with its entry."""
        del self.bodies[remove]
        for listed in self._entries(remove):
            self.manifest["files"].remove(listed)

    def relist(self, relist: str) -> None:
        """List a file twice."""
        self.manifest["files"] += [dict(entry) for entry in self._entries(relist)]

    def reverse(self, reverse: str) -> None:
        """Turn a list of the manifest round."""
        self.manifest[reverse].reverse()

    def declare(self, declare: Mapping[str, Any]) -> None:
        """Set members of the manifest."""
        self.manifest |= declare

    def double(self, double: str) -> None:
        """Put a file into the archive twice."""
        self.doubled.append((double, self.bodies[double]))

    def signed(self, signed: str) -> None:
        """Sign the manifest by a key in hex, once it is made."""
        self.signers.append(bytes.fromhex(signed))

    def made(self) -> Made:
        """The bytes of all of it."""
        text = json.dumps(self.manifest, indent=1, ensure_ascii=False) + "\n"
        manifest = text.encode()
        for private_key in self.signers:
            manifest = sign(manifest, private_key)
        return Made(((MANIFEST, manifest), *self.bodies.items(), *self.doubled))

    def _entries(self, path: str) -> list[dict[str, Any]]:
        return [e for e in self.manifest["files"] if e["path"] == path]


def make(description: Mapping[str, Any]) -> Made:
    """The package that a scenario describes: a base, and edits in their order."""
    bending = _Bending(_base(description["base"]))
    edits: Sequence[Mapping[str, Any]] = description.get("edits", ())
    for edit in edits:
        bending.bend(edit)
    return bending.made()


@cache
def _base(name: str) -> Mapping[str, Any]:
    place = resources(__package__) / "bases" / f"{name}.json"
    base: Mapping[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    if base["format"] != BASE_FORMAT:
        raise ValueError(f"{name} is no base of this kit")
    return base


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
