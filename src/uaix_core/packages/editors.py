"""What editors do to files beside what a person wanted, and how it is taken back.

An editor may write other line ends, a byte order mark, or no last newline, and may
leave files of its own. None of that is an edit, so none of it becomes a revision.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from uaix_core.packages.manifest.words import TEXT_MEDIA

#: What was taken back in a file.
EditorNote = Literal["byte-order-mark", "line-ends", "last-newline"]

_MARK: Final = b"\xef\xbb\xbf"
_LF: Final = b"\n"
_CRLF: Final = b"\r\n"
_CR: Final = b"\r"

#: Copies, swap and lock files of editors, and what desktops leave in folders.
_DROPPINGS: Final = re.compile(
    r".*~|.*\.(swp|swo|swx|orig|rej|bak|tmp)|\.#.*|#.*#|\._.*"
    r"|\.DS_Store|Thumbs\.db|desktop\.ini|\.directory",
    re.IGNORECASE,
)
#: Folders of version control and editors.
_FOLDERS: Final = frozenset((".git", ".hg", ".svn", ".idea", ".vscode", "__pycache__"))


def is_dropping(path: str) -> bool:
    """Whether a path looks like what an editor or a desktop leaves by itself."""
    *folders, name = path.split("/")
    in_theirs = not _FOLDERS.isdisjoint((*folders, name))
    return in_theirs or _DROPPINGS.fullmatch(name) is not None


def without_editor(
    data: bytes, before: bytes | None
) -> tuple[bytes, tuple[EditorNote, ...]]:
    """A text as it would have been saved by the editor of before, and what that took.

    Args:
        data: the text as it was saved, UTF-8.
        before: the text that was edited; None for a new one, which gets LF and a last
            newline.

    """
    notes: list[EditorNote] = []
    if data.startswith(_MARK) and not (before or b"").startswith(_MARK):
        data = data.removeprefix(_MARK)
        notes.append("byte-order-mark")
    same = _with_ends_of(data, before or b"")
    if same != data:
        data = same
        notes.append("line-ends")
    ended = _with_last_newline(data, before)
    if ended != data:
        data = ended
        notes.append("last-newline")
    return data, tuple(notes)


def is_editors_form(media_type: str | None, data: bytes, stored: bytes) -> bool:
    """Whether a file says what is stored, and only an editor saved it otherwise."""
    return media_type in TEXT_MEDIA and without_editor(data, stored)[0] == stored


def _with_last_newline(data: bytes, before: bytes | None) -> bytes:
    if before is None:
        return data if data.endswith(_LF) or not data else data + _LF
    end = _CRLF if _CRLF in before else _LF
    # Where it is all that came or went, the text is as it was.
    if before in (data + end, data.removesuffix(end)):
        return before
    is_missing = before.endswith(_LF) and not data.endswith(_LF)
    return data + end if data and is_missing else data


def _with_ends_of(data: bytes, model: bytes) -> bytes:
    """The text with the line ends of another; as it is where that one mixes them."""
    pairs = model.count(_CRLF)
    if pairs and pairs < model.count(_LF):
        return data
    plain = data.replace(_CRLF, _LF)
    if pairs == model.count(_CR):
        plain = plain.replace(_CR, _LF)
    return plain.replace(_LF, _CRLF) if pairs else plain
