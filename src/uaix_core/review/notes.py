"""Who may review, and what a review says beside its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.review.relations import REVIEW
from uaix_core.values.arguments import check_mapping, check_texts
from uaix_core.values.canonical import SALT_BYTES, canonical_text
from uaix_core.values.errors import CallerError
from uaix_core.values.ids import PERSONS
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.schema.rows import Row

#: Who reviews: an agent's own word, or an import's, opens nothing.
REVIEWERS: Final = PERSONS
#: The longest text of a note, in characters.
MAX_NOTE: Final = 10_000
#: The most blockers, and the longest of them in characters.
MAX_BLOCKERS: Final = 100
MAX_BLOCKER: Final = 1_000

#: What a review may name beside its package.
_ABOUT: Final = (
    "record_id",
    "revision_id",
    "checkpoint_id",
    "conflict_id",
    "proposal_id",
)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return check_texts(texts, "blockers")


def _pairs(texts: Mapping[str, str]) -> dict[str, str]:
    return check_mapping(texts, "agreements")


@attrs.frozen
class ReviewNote:
    """What a reviewer says: why, what still blocks, and who agreed to what.

    Raises:
        CallerError: ``review.note``, ``review.blockers``, ``review.agreements``,
            ``input.list``, ``input.type``.

    """

    text: str = attrs.field(default="", repr=False)
    blockers: tuple[str, ...] = attrs.field(default=(), repr=False, converter=_texts)
    agreements: Mapping[str, str] = attrs.field(
        factory=dict, repr=False, converter=_pairs
    )

    def __attrs_post_init__(self) -> None:
        if not _is_text(self.text, MAX_NOTE):
            raise CallerError(
                f"a note is text of at most {MAX_NOTE:,} characters",
                code="review.note",
                path="note",
            )
        if len(self.blockers) > MAX_BLOCKERS or not all(
            _is_text(text, MAX_BLOCKER) and text for text in self.blockers
        ):
            raise CallerError(
                f"blockers are at most {MAX_BLOCKERS} texts of 1 to "
                f"{MAX_BLOCKER:,} characters",
                code="review.blockers",
                path="blockers",
            )
        if not all(
            _is_text(name, MAX_BLOCKER) and name and _is_text(said, MAX_BLOCKER)
            for name, said in self.agreements.items()
        ):
            raise CallerError(
                "agreements map who agreed to what they agreed to",
                code="review.agreements",
                path="agreements",
            )


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and is_storable(value)


def check_reviewer(writing: Writing) -> None:
    """Refuse a review by whoever isn't a person (``review.reviewer``)."""
    if writing.principal.kind not in REVIEWERS:
        raise CallerError(
            "a review is a person's",
            code="review.reviewer",
            path="principal",
            hint="one of " + ", ".join(f"{kind}:ID" for kind in REVIEWERS),
        )


def review_row(
    writing: Writing, receipt_id: str, note: ReviewNote, **fields: Any
) -> Row:
    """A new review; ``fields`` are its subject, verdict and what it is about."""
    about = dict.fromkeys(_ABOUT)
    return REVIEW.named_by_header(
        "review_id",
        writing.random.bytes(SALT_BYTES),
        **{**about, **fields},
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        note=note.text,
        blockers=canonical_text(list(note.blockers)),
        agreements=canonical_text(dict(note.agreements)),
    )
