"""What follows from one body alone: what is wrong in it, and what it discloses.

The same bodies are judged again with every change of a package, so what was found is
remembered by their digests. Of a text only codes, places and hashes are kept, never a
word of it: what is forgotten in a store isn't known here either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.content.duties import duties_named_in
from uaix_core.packages.content.texts import (
    BETWEEN_NAMES,
    judge_body_text,
    pieces,
    secrets_in,
)
from uaix_core.packages.dimension_rules import (
    PERSONALITY_FOLDER,
    Disclosed,
    disclosed,
    judge_dimension,
)
from uaix_core.packages.manifest.words import TEXT_MEDIA
from uaix_core.packages.required.files import PERSONA_FILE
from uaix_core.values.parsing import parse_body
from uaix_core.values.parsing.limits import may_name, plain
from uaix_core.values.remembering import Remembered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.values.parsing.view import ParsedBody

#: Bodies up to this many bytes are read for their labels.
PARSED_BYTES: Final = 1024 * 1024

#: What a text with marks holds in lower case, beside one that limits: what opens it,
#: and a depth.
_OPEN_SIGNS: Final = ("(public)", "(none)")
_DEPTH_SIGN: Final = "depth"

#: Readable runs in a body that is no text, and the shortest worth a look.
_readable_runs = re.compile(rb"[\x20-\x7e]{16,}").findall

#: Codes of `judge_dimension` that stand for text that wasn't read.
_UNREAD: Final = "body."
#: The note on a body that isn't UTF-8 text.
_NO_TEXT: Final = "body.encoding"
_DEPTH_RANGE: Final = "persona.depth-range"


@attrs.frozen
class BodyFacts:
    """What follows from a body at its path.

    ``findings`` are codes and messages. ``is_unread`` says that it wasn't read as
    labelled text throughout, ``is_unlabelled`` that no label of it is known at all.
    ``duties`` are the ids of those that it names. ``disclosed`` is there when it has
    marks of disclosure.
    """

    findings: tuple[tuple[str, str], ...] = ()
    is_memory: bool = False
    is_unread: bool = False
    is_unlabelled: bool = False
    duties: frozenset[str] = frozenset()
    disclosed: Disclosed | None = None


remembered: Final = Remembered[BodyFacts]()


def facts_of(path: str, data: bytes, media_type: str | None, sha256: str) -> BodyFacts:
    """The facts of a body; ``sha256`` was computed from exactly these bytes."""
    name = (path, media_type, sha256, PARSED_BYTES)
    return remembered.get(name, lambda: _facts(path, data, media_type))


class _Found:
    """Findings of one body, without its path."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str]] = []

    def add(self, code: str, path: str, message: str) -> None:  # noqa: ARG002
        """Note a finding; of which file it is, is known."""
        self.all.append((code, message))


def _facts(path: str, data: bytes, media_type: str | None) -> BodyFacts:
    found = _Found()
    if media_type not in TEXT_MEDIA and not _is_text(data):
        _judge_binary(data, found)
        return BodyFacts(tuple(found.all))
    text = data.decode("utf-8", "replace")
    judge_body_text(path, text, found)
    facts = BodyFacts()
    if path.endswith(".uai") or (path.startswith(".uai/") and path.endswith(".json")):
        facts = _memory(path, data, text, media_type or "", found)
    return attrs.evolve(facts, findings=tuple(found.all))


def _judge_binary(data: bytes, found: _Found) -> None:
    text = BETWEEN_NAMES.join(run.decode() for run in _readable_runs(data))
    for _base, piece in pieces(text):
        # Digests and the like are at home in an image.
        sure = [secret for secret in secrets_in(piece) if secret.is_sure]
        if sure:
            message = f"a secret was found: {sure[0].detector}"
            found.add("secret.found", "", message)
            return


def _memory(
    path: str, data: bytes, text: str, media_type: str, found: _Found
) -> BodyFacts:
    """Read a memory file for its marks, and say whether its labels can be known."""
    if len(data) > PARSED_BYTES:
        return BodyFacts(is_memory=True, is_unread=True, is_unlabelled=True)
    parsed = parse_body(data, media_type)
    facts = BodyFacts(is_memory=True, is_unread=bool(parsed.notes))
    if any(note.code == _NO_TEXT for note in parsed.notes):
        # What it says can't be known, so nothing is missed in it either.
        return attrs.evolve(facts, is_unlabelled=True)
    is_persona = path == PERSONA_FILE or path.startswith(PERSONALITY_FOLDER)
    lowered = text.lower()
    has_marks = may_name(plain(text)) or any(sign in lowered for sign in _OPEN_SIGNS)
    if is_persona or has_marks or _DEPTH_SIGN in lowered:
        for code, message in _marks(path, parsed, is_persona=is_persona):
            found.add(code, path, message)
    return attrs.evolve(
        facts,
        duties=duties_named_in(path, parsed),
        disclosed=disclosed(path, parsed) if has_marks else None,
    )


def _marks(
    path: str, parsed: ParsedBody, *, is_persona: bool
) -> Iterator[tuple[str, str]]:
    for finding in judge_dimension(path, parsed):
        is_other_depth = finding.code == _DEPTH_RANGE and not is_persona
        if not finding.code.startswith(_UNREAD) and not is_other_depth:
            yield finding.code, finding.message


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
