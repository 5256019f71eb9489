"""All content rules over one package, fed body by body while it is read.

`ContentJudge` sees the manifest first, then each body once, and keeps of a body only
what a later comparison needs. The structural rules stand elsewhere and don't need it.

Source: UAIX package format v0.1, "Words on the wire", "Required sets" and "Bodies".
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.content.authority import judge_authority
from uaix_core.packages.content.boundary import BOUNDARY, judge_boundary
from uaix_core.packages.content.duties import DUTY_FILES, judge_duties, labels_of
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
from uaix_core.packages.content.texts import (
    BETWEEN_NAMES,
    judge_body_text,
    pieces,
    secrets_in,
)
from uaix_core.packages.dimension_rules import (
    PERSONALITY_FOLDER,
    judge_dimension,
    leaks,
)
from uaix_core.packages.manifest.codec import wire_fields
from uaix_core.packages.manifest.values import FileEntry
from uaix_core.packages.manifest.words import TEXT_MEDIA
from uaix_core.packages.paths import shown
from uaix_core.packages.required.files import (
    ADVANCED_PERSONA,
    LONG_TERM_MEMORY,
    PERSONA_FILE,
)
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.parsing import parse_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.contents import Measured
    from uaix_core.packages.findings import Findings
    from uaix_core.packages.manifest.judging import Listing
    from uaix_core.values.parsing.view import ParsedBody

#: Bodies up to this many bytes are read for their labels.
PARSED_BYTES: Final = 1024 * 1024
#: So many labels of a file are looked at.
MOST_LABELS: Final = 5000
#: So many bytes of bodies with disclosure marks are compared with each other.
COMPARED_BYTES: Final = 4 * 1024 * 1024

#: What a text with marks holds in lower case, those of disclosure first.
_DISCLOSURE_SIGNS: Final = (
    "disclosure",
    "(none)",
    "(private)",
    "(sensitive)",
    "(public)",
)
_DEPTH_SIGN: Final = "depth"

#: Readable runs in a body that is no text, and the shortest worth a look.
_readable_runs = re.compile(rb"[\x20-\x7e]{16,}").findall

_ENTRY_NAMES: Final = frozenset(wire_fields(FileEntry)) - {"source"}
#: Codes of `judge_dimension` that stand for text that wasn't read.
_UNREAD: Final = "body."
#: The note on a body that isn't UTF-8 text.
_NO_TEXT: Final = "body.encoding"
_DEPTH_RANGE: Final = "persona.depth-range"


class ContentJudge:
    """Judges what one package says; ``findings`` collects.

    Call `manifest`, then `names`, `body` for each file, and `close` at the end.
    ``hidden`` are the names that hold a secret and must not be shown.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._wire: Mapping[str, Any] = {}
        self._labels: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._marked: dict[str, ParsedBody] = {}
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

    def body(self, path: str, data: bytes, media_type: str | None) -> None:
        """Judge the body of one file; ``media_type`` is None when none is listed."""
        if media_type not in TEXT_MEDIA and not _is_text(data):
            self._binary(path, data)
            return
        text = data.decode("utf-8", "replace")
        judge_body_text(shown(path), text, self._findings)
        if path.endswith(".uai") or (
            path.startswith(".uai/") and path.endswith(".json")
        ):
            self._memory(path, data, text, media_type or "")

    def _binary(self, path: str, data: bytes) -> None:
        runs = _readable_runs(data)
        text = BETWEEN_NAMES.join(run.decode() for run in runs)
        for _base, piece in pieces(text):
            # Digests and the like are at home in an image.
            sure = [found for found in secrets_in(piece) if found.is_sure]
            if sure:
                message = f"a secret was found: {sure[0].detector}"
                self._findings.add("secret.found", shown(path), message)
                return

    def _memory(self, path: str, data: bytes, text: str, media_type: str) -> None:
        """Read a memory file for its labels and its marks."""
        if len(data) > PARSED_BYTES:
            self._unread.append(path)
            self._unlabelled.add(path)
            return
        parsed = parse_body(data, media_type)
        if parsed.notes:
            self._unread.append(path)
        if any(note.code == _NO_TEXT for note in parsed.notes):
            # What it says can't be known, so nothing is missed in it either.
            self._unlabelled.add(path)
            return
        if path in DUTY_FILES:
            self._labels[path] = tuple(islice(labels_of(parsed), MOST_LABELS))
        if path == LEDGER_PATH:
            self._ledger = parsed
        is_persona = path == PERSONA_FILE or path.startswith(PERSONALITY_FOLDER)
        lowered = text.lower()
        has_marks = any(sign in lowered for sign in _DISCLOSURE_SIGNS)
        if is_persona or has_marks or _DEPTH_SIGN in lowered:
            self._marks(path, parsed, is_persona=is_persona)
        if not has_marks:
            return
        self._marked_bytes += len(data)
        if self._marked_bytes <= COMPARED_BYTES:
            self._marked[path] = parsed
        elif not parsed.notes:
            self._unread.append(path)

    def _marks(self, path: str, parsed: ParsedBody, *, is_persona: bool) -> None:
        for found in judge_dimension(path, parsed):
            is_other_depth = found.code == _DEPTH_RANGE and not is_persona
            if not found.code.startswith(_UNREAD) and not is_other_depth:
                self._findings.add(found.code, shown(path), found.message)

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
        judge_duties(self._labels, scopes, findings, unread=self._unlabelled)
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


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
