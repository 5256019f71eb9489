"""What may be proposed: a pointer, or a file, and what either is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.tiers.relations import PLATFORM_NOTE, TURN, VARIANCE, WORKING_STATE
from uaix_core.tiers.texts import (
    MAX_PATH,
    MAX_TITLE,
    check_digest,
    check_line,
    check_locator,
    check_word,
)
from uaix_core.values.errors import CallerError
from uaix_core.values.ids import check_id
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.relations import Relation

#: The longest content of a proposed file, in bytes.
MAX_CONTENT: Final = 2**20

#: What a proposal may be made from, by the word for it.
SOURCES: Final[Mapping[str, Relation]] = {
    "state": WORKING_STATE,
    "turn": TURN,
    "variance": VARIANCE,
    "note": PLATFORM_NOTE,
}


@attrs.frozen(order=True)
class TierRef:
    """What a proposal is made from: the kind of tier and the id of what stands in it.

    Raises:
        CallerError: ``tier.word``, ``id.syntax``.

    """

    kind: str
    id: str

    def __attrs_post_init__(self) -> None:
        check_word(self.kind, tuple(SOURCES), "sources")
        check_id(self.id, "sources")


@attrs.frozen
class PointerDraft:
    """A pointer as it is proposed: a title, where it points, and the digest of that.

    Raises:
        CallerError: ``tier.line``, ``pointer.locator``, ``pointer.digest``.

    """

    title: str
    locator: str
    digest: str

    def __attrs_post_init__(self) -> None:
        check_line(self.title, "title", MAX_TITLE)
        check_locator(self.locator)
        check_digest(self.digest)


@attrs.frozen
class FileDraft:
    """A change of a package's file as it is proposed.

    ``expected_revision`` is the one that was seen, None for a file that isn't there;
    ``entry`` are members of its manifest entry, as for `revise`.

    Raises:
        CallerError: ``tier.line``, ``id.syntax``, ``proposal.content`` for what isn't
            UTF-8 of at most 1 MiB.

    """

    path: str
    content: bytes = attrs.field(repr=False)
    expected_revision: str | None = None
    entry: Mapping[str, Any] | None = None

    def __attrs_post_init__(self) -> None:
        check_line(self.path, "path", MAX_PATH)
        if self.expected_revision is not None:
            check_id(self.expected_revision, "expected_revision")
        _text_of(self.content)

    @property
    def text(self) -> str:
        """The content as text."""
        return _text_of(self.content)


def _text_of(content: object) -> str:
    if isinstance(content, bytes) and len(content) <= MAX_CONTENT:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = "\0"
        if is_storable(text):
            return text
    raise CallerError(
        f"a proposed file is UTF-8 text of at most {MAX_CONTENT:,} bytes",
        code="proposal.content",
        path="content",
    )
