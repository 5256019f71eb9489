"""What a judge of text hands back: which rule, and where, and never what.

Source: the gate rules of the memory semantics (refusals are content-free).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How sure a rule is: a checksum or an armour line is ``certain``, a vendor's prefix
#: ``likely``, entropy or a telling key ``possible``. All of them refuse.
Confidence = Literal["possible", "likely", "certain"]

#: Whether a hit refuses or only warns; secrets always refuse.
Severity = Literal["error", "warning"]

_RANKS: Final = {"certain": 0, "likely": 1, "possible": 2}


@attrs.frozen
class Hit:
    """One rule that matched.

    ``detector`` is the id of the rule. ``offset`` counts UTF-8 bytes from the start
    of the text that was handed in to the span that matched; for what was found in
    decoded text, to the start of the encoded run. Content is never kept.
    """

    detector: str
    offset: int
    confidence: Confidence = "likely"
    severity: Severity = "error"


@attrs.frozen
class FieldHit:
    """A hit in one of several named inputs.

    ``field`` is the caller's name, with positions for what lies inside (``tags[2]``,
    ``metadata[0].key``), so that no name is made of judged content.
    """

    field: str
    detector: str
    offset: int


def byte_offset(text: str, index: int) -> int:
    """The offset in UTF-8 bytes of the character at ``index``."""
    if text.isascii():
        return index
    return len(text[:index].encode("utf-8", "surrogatepass"))


def byte_offsets(text: str, indices: Iterable[int]) -> dict[int, int]:
    """The offsets in UTF-8 bytes of many characters, in one pass over the text."""
    if text.isascii():
        return {index: index for index in indices}
    offsets: dict[int, int] = {}
    place = offset = 0
    for index in sorted(set(indices)):
        offset += len(text[place:index].encode("utf-8", "surrogatepass"))
        offsets[index] = offset
        place = index
    return offsets


def by_place(hit: Hit) -> tuple[int, int]:
    """Sort key: the earlier hit first, the surer first among those at one place."""
    return hit.offset, _RANKS[hit.confidence]
