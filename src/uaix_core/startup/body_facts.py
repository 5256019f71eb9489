"""What follows from a body alone, remembered by its digest.

A start-up reads the same bodies again and again. What is kept of them are digests and
places, never text, and it follows from the bytes alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.values.parsing import canonical_text_digest
from uaix_core.values.parsing.blanking import hidden_spans
from uaix_core.values.remembering import Remembered

if TYPE_CHECKING:
    from uaix_core.values.parsing.blanking import HiddenSpan


@attrs.frozen
class BodyFacts:
    """The canonical digest of a body (empty without one), and what of it is hidden.

    ``hidden`` is None when the body can't be read well enough to say.
    """

    canonical_sha256: str
    hidden: tuple[HiddenSpan, ...] | None


remembered: Final = Remembered[BodyFacts]()


def facts_of(content: bytes, sha256: str, media_type: str) -> BodyFacts:
    """The facts of a body; ``sha256`` was computed from exactly these bytes."""

    def read() -> BodyFacts:
        return BodyFacts(
            canonical_text_digest(content, media_type) or "",
            hidden_spans(content, media_type),
        )

    return remembered.get((sha256, media_type), read)
