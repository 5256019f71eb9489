"""All content rules over one package, fed body by body while it is read.

`ContentJudge` sees the manifest first, then each body once, and keeps of a body only
what a later comparison needs. The structural rules stand elsewhere and don't need it.

Source: UAIX package format v0.1, "Words on the wire", "Required sets" and "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.content.authority import judge_authority
from uaix_core.packages.content.body_facts import facts_of
from uaix_core.packages.content.boundary import BOUNDARY, judge_boundary
from uaix_core.packages.content.duties import DUTY_FILES, judge_duties
from uaix_core.packages.content.evidence import judge_evidence
from uaix_core.packages.content.hiding import HiddenNames
from uaix_core.packages.content.long_term import (
    LEDGER_PATH,
    judge_ledger,
    judge_ledger_object,
)
from uaix_core.packages.content.manifest_texts import (
    judge_manifest_texts,
    names_of_files,
    secret_names,
)
from uaix_core.packages.content.texts import judge_body_text
from uaix_core.packages.dimension_rules import leaks
from uaix_core.packages.manifest.codec import wire_fields
from uaix_core.packages.manifest.values import FileEntry
from uaix_core.packages.paths import shown
from uaix_core.packages.required.files import (
    ADVANCED_PERSONA,
    LONG_TERM_MEMORY,
)
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.parsing import parse_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.contents import Measured
    from uaix_core.packages.dimension_rules import Disclosed
    from uaix_core.packages.findings import Findings
    from uaix_core.packages.manifest.judging import Listing
    from uaix_core.values.parsing.view import ParsedBody

#: So many bytes of bodies with disclosure marks are compared with each other.
COMPARED_BYTES: Final = 4 * 1024 * 1024

_ENTRY_NAMES: Final = frozenset(wire_fields(FileEntry)) - {"source"}


class ContentJudge:
    """Judges what one package says; ``findings`` collects.

    Call `manifest`, then `names`, `body` for each file, and `close` at the end.
    ``hidden`` are the names that hold a secret and must not be shown.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._wire: Mapping[str, Any] = {}
        self._duties: dict[str, frozenset[str]] = {}
        self._marked: dict[str, Disclosed] = {}
        self._marked_bytes = 0
        self._ledger: ParsedBody | None = None
        self._unread: list[str] = []
        self._unlabelled: set[str] = set()
        self.hidden = HiddenNames()

    def manifest(self, wire: Mapping[str, Any] | None, raw: bytes) -> None:
        """Judge what a manifest says about the package.

        ``wire`` is the parsed object. When it is None, ``raw`` is judged as a text all
        the same.
        """
        if wire is None:
            text = raw.decode("utf-8", "replace")
            judge_body_text(MANIFEST_PATH, text, self._findings)
            return
        self._wire = wire
        judge_authority(wire, self._findings)
        judge_boundary(wire.get(BOUNDARY), self._findings)
        self.hidden.has_keys = judge_manifest_texts(wire, self._findings)

    def names(self, paths: Iterable[str], further: Iterable[str] = ()) -> None:
        """Look for secrets in the names of files, listed ones and those that are there.

        ``paths`` are the names that are there, in the order in which they stand;
        ``further`` are others that a finding may show.
        """
        listed = list(names_of_files(self._wire))
        known = {path for path, _place in listed}
        there = [
            (path, f"entries[{index}]")
            for index, path in enumerate(paths)
            if path not in known
        ]
        known.update(path for path, _place in there)
        others = [
            (name, f"other names[{index}]")
            for index, name in enumerate(dict.fromkeys(further))
            if name not in known
        ]
        named = (*listed, *there, *others)
        for path, (place, found) in secret_names(named).items():
            self.hidden.add_path(path, place)
            self._findings.add(found.code, place, found.message)

    def body(self, path: str, data: bytes, media_type: str | None, sha256: str) -> None:
        """Judge the body of one file; ``media_type`` is None when none is listed.

        ``sha256`` is the digest of these bytes.
        """
        found = facts_of(path, data, media_type, sha256)
        for code, message in found.findings:
            self._findings.add(code, shown(path), message)
        if found.is_unread:
            self._unread.append(path)
        if found.is_unlabelled:
            self._unlabelled.add(path)
        elif found.is_memory:
            if path in DUTY_FILES:
                self._duties[path] = found.duties
            if path == LEDGER_PATH:
                # What has to be said there is compared with what other files say.
                self._ledger = parse_body(data, media_type or "")
        if found.disclosed is None:
            return
        self._marked_bytes += len(data)
        if self._marked_bytes <= COMPARED_BYTES:
            self._marked[path] = found.disclosed
        elif not found.is_unread:
            self._unread.append(path)

    def close(self, listing: Listing | None, measured: Mapping[str, Measured]) -> None:
        """Judge what takes all files together.

        ``listing`` is None when there is no readable manifest.
        """
        findings = self._findings
        if self._unread:
            count = len(self._unread)
            path = shown(self._unread[0]) if count == 1 else None
            message = f"files that weren't read as labelled text throughout: {count}"
            findings.add("content.unparsed", path, message)
        if listing is not None:
            self._owed(listing)
        if self._ledger is not None:
            judge_ledger(
                self._ledger,
                lambda path: measured[path].sha256 if path in measured else None,
                findings,
            )
        for found in leaks(self._marked, self._entry_members()):
            findings.add(found.code, shown(found.path), found.message)

    def _owed(self, listing: Listing) -> None:
        """What the package owes by the scopes that it declares."""
        scopes, findings = listing.scopes, self._findings
        judge_duties(self._duties, scopes, findings, unread=self._unlabelled)
        judge_ledger_object(self._wire, scopes, LONG_TERM_MEMORY, findings)
        if ADVANCED_PERSONA in scopes:
            judge_evidence(listing.listed, findings)

    def _entry_members(self) -> dict[str, dict[str, Any]]:
        """The members of each marked file's entry that could repeat a field."""
        if not self._marked:
            return {}
        files = self._wire.get("files")
        members = {}
        for entry in files if isinstance(files, list) else ():
            path = entry.get("path") if isinstance(entry, dict) else None
            if isinstance(path, str) and path in self._marked:
                members[path] = {
                    k: v for k, v in entry.items() if k not in _ENTRY_NAMES
                }
        return members
