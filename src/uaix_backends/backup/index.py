"""The index of a backup: what it holds of each scope, and in which parts.

Whoever made the file may have made it to deceive, so an index is taken only when it
is one that `write_backup` could have written: scopes in order, parts that follow each
other without a gap, and marks that rise.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs
import zstandard

from uaix_backends.backup.form import (
    HEAD,
    UNREADABLE,
    damaged,
    end_frame,
    packed,
    unpacked,
    whole,
)
from uaix_core.schema.commits import Mark
from uaix_core.store.seal import genesis
from uaix_core.values.canonical import plain_bytes
from uaix_core.values.errors import StoreOpenError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Names the form; a change of it is another kind of file.
FORMAT: Final = "uaix.backup.v1"

_LONGEST: Final = 64 * 2**20
#: An index has this many bytes for each of its values at least; most are digests.
_BYTES_A_VALUE: Final = 10
#: The little that an index without any scope has.
_FEW: Final = 16
_is_digest = re.compile(r"[0-9a-f]{64}").fullmatch


@attrs.frozen
class Part:
    """One frame: where it stands, its digest, and what it continues.

    ``previous`` is the mark before its first commit; None for local rows.
    """

    at: int
    size: int
    length: int
    sha256: str
    previous: Mark | None


@attrs.frozen
class Entry:
    """What a backup holds of one scope."""

    scope: ScopeId
    mark: Mark
    work: int
    parts: tuple[Part, ...]

    @property
    def chained(self) -> list[tuple[Mark, Mark, Part]]:
        """The parts with commits, each with the marks before and after it."""
        parts = [part for part in self.parts if part.previous is not None]
        marks = [part.previous for part in parts if part.previous is not None]
        return list(zip(marks, [*marks[1:], self.mark], parts, strict=True))


@attrs.frozen
class Index:
    """All that a backup holds, and the instant at which it was begun."""

    made_at: int
    entries: tuple[Entry, ...]


def part_of(data: bytes, at: int, previous: Mark | None) -> tuple[Part, bytes]:
    """The part that stands at ``at`` with these lines, and its frame."""
    frame = packed(data)
    digest = hashlib.sha256(frame).hexdigest()
    return Part(at, len(frame), len(data), digest, previous), frame


def index_frames(index: Index, at: int) -> bytes:
    """The index and the end, as they follow the parts; ``at`` is where they begin."""
    entries = [_entry_out(entry) for entry in index.entries]
    form = {"format": FORMAT, "made_at": index.made_at, "scopes": entries}
    frame = packed(plain_bytes(form) + b"\n")
    return frame + end_frame(at, frame)


def read_index(frame: bytes, digest: bytes, at: int, where: str) -> Index:
    """The index in a frame that begins at ``at``.

    Raises:
        IntegrityError: ``storage.backup``.
        StoreOpenError: ``store.format``.

    """
    if hashlib.sha256(frame).digest() != digest:
        raise damaged(where)
    try:
        form = json.loads(_text(frame, where))
        found = form["format"]
        if found == FORMAT:
            index = Index(whole(form["made_at"]), tuple(map(_entry_in, form["scopes"])))
            _check(index, at)
            return index
    except (*UNREADABLE, zstandard.ZstdError) as error:
        raise damaged(where) from error
    raise StoreOpenError(
        "a backup of another format",
        code="store.format",
        path=where,
        hint=f"this version reads {FORMAT}",
    )


def _text(frame: bytes, where: str) -> bytes:
    length = zstandard.frame_content_size(frame)
    if length > _LONGEST:
        raise damaged(where)
    data = unpacked(frame, length, where)
    # What is parsed takes up to fifty times the room of its text.
    values = sum(map(data.count, (b",", b"{", b"[")))
    if _BYTES_A_VALUE * (values - _FEW) > length:
        raise damaged(where)
    return data


def _check(index: Index, at: int) -> None:
    """Refuse an index that no backup has (ValueError)."""
    names = [entry.scope.text for entry in index.entries]
    place = len(HEAD)
    sound = all(one < other for one, other in pairwise(names))
    for entry in index.entries:
        for part in entry.parts:
            sound &= part.at == place and part.size > 0
            place += part.size
        sound &= _is_chain(entry)
    if not sound or place != at:
        raise ValueError


def _is_chain(entry: Entry) -> bool:
    """Whether commits come first, from the beginning on, each part with some."""
    chained = entry.chained
    local = [part for part in entry.parts if part.previous is None]
    return (
        entry.parts == (*(part for _, _, part in chained), *local)
        and bool(chained)
        and chained[0][0] == genesis(entry.scope)
        and all(before.seq < after.seq for before, after, _ in chained)
        and (entry.work > 0) == bool(local)
    )


def _mark_out(mark: Mark | None) -> list[Any] | None:
    return None if mark is None else [mark.seq, mark.recorded_at, mark.digest]


def _mark_in(form: Sequence[Any]) -> Mark:
    seq, recorded_at, digest = form
    return Mark(whole(seq), whole(recorded_at), _digest(digest))


def _digest(value: Any) -> str:
    if _is_digest(value) is None:
        raise ValueError
    return str(value)


def _entry_out(entry: Entry) -> dict[str, Any]:
    return {
        "scope": entry.scope.text,
        "mark": _mark_out(entry.mark),
        "work": entry.work,
        "parts": [
            [part.at, part.size, part.length, part.sha256, _mark_out(part.previous)]
            for part in entry.parts
        ],
    }


def _entry_in(form: dict[str, Any]) -> Entry:
    parts = tuple(
        Part(
            whole(at),
            whole(size),
            whole(length),
            _digest(sha256),
            None if previous is None else _mark_in(previous),
        )
        for at, size, length, sha256, previous in form["parts"]
    )
    return Entry(
        ScopeId.parse(form["scope"]), _mark_in(form["mark"]), whole(form["work"]), parts
    )
