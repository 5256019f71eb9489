"""Changing the entry of one file in a manifest's text, and nothing else of it.

What a package says about a file that changed (its size, digest and review state) is
brought up to date. A signature was for another manifest, so it goes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.bases import without_bases
from uaix_core.packages.manifest.places import OUTDATED, JsonPath, edited, spans
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.templates.repack import entries_of, fitting
from uaix_core.values.arguments import check_mapping
from uaix_core.values.canonical import canonical_text
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: What the library writes into an entry by itself.
_OURS: Final = ("path", "sizeBytes", "sha256", "reviewState")
#: What a new file says before its size and digest are filled in.
_UNSEEN: Final = {"sizeBytes": 0, "sha256": "", "reviewState": "review_required"}


@attrs.frozen
class FileEdit:
    """What is to become of one file: its bytes, None where it goes.

    ``entry`` are members of its manifest entry by their wire names; what isn't named
    stays as it is.
    """

    path: str
    content: bytes | None = attrs.field(repr=False)
    entry: Mapping[str, Any] | None = None


def checked_entry(
    entry: Mapping[str, Any] | None, path: str = "entry"
) -> dict[str, Any] | None:
    """The members of an entry, which are JSON; None without any.

    Raises:
        CallerError: ``input.type``, ``revise.entry`` for what is no JSON.

    """
    if entry is None:
        return None
    members = check_mapping(entry, path)
    try:
        canonical_text(members)
    except CallerError:
        raise CallerError(
            "the members of an entry are JSON", code="revise.entry", path=path
        ) from None
    return members


def with_file(
    files: Mapping[str, bytes],
    path: str,
    content: bytes,
    entry: Mapping[str, Any] | None = None,
) -> dict[str, bytes]:
    """The files of a package with this one in it; see `with_edits`."""
    return with_edits(files, [FileEdit(path, content, entry)])


def without_file(files: Mapping[str, bytes], path: str) -> dict[str, bytes]:
    """The files of a package without this one; see `with_edits`."""
    return with_edits(files, [FileEdit(path, None)])


def with_edits(
    files: Mapping[str, bytes], wanted: Iterable[FileEdit]
) -> dict[str, bytes]:
    """The files of a package with all edits made, and a manifest that fits them.

    Args:
        files: logical path to bytes, the manifest included.
        wanted: the edits, no two of one path. A file that isn't listed yet needs role,
            scope, requiredStatus, mediaType and source in its entry.

    Raises:
        CallerError: ``revise.entry`` for a member that the library writes itself, one
            that the entry hasn't got, or for a new file without an entry.

    """
    text = files[MANIFEST_PATH].decode("utf-8")
    wire = _parsed(text)
    text = without_bases(text, wire)
    listed = {path: index for index, path, _entry in entries_of(wire)}
    members: dict[str, dict[str, Any]] = {}
    new: list[str] = []
    gone: list[int] = []
    left = dict(files)
    for edit in wanted:
        index = listed.get(edit.path)
        if edit.content is None:
            left.pop(edit.path, None)
            gone += () if index is None else (index,)
            continue
        left[edit.path] = edit.content
        named = _checked(edit, is_listed=index is not None)
        if index is None:
            new.append(json.dumps({**named, **_UNSEEN}, ensure_ascii=False))
        else:
            members[edit.path] = {**named, "reviewState": "review_required"}
    if new or gone:
        text = _appended(text, new) if new else text
        # From the last one on, so that no index moves before it was used.
        for index in sorted(gone, reverse=True):
            text = _without_element(text, index)
        wire = _parsed(text)
    edits: dict[JsonPath, str | None] = {**fitting(wire, left).edits, **OUTDATED}
    for index, path, entry in entries_of(wire):
        for name, value in members.get(path, {}).items():
            if name in entry:
                edits["files", index, name] = json.dumps(value, ensure_ascii=False)
            elif name != "reviewState":
                raise CallerError(
                    "the entry of the file has no such member",
                    code="revise.entry",
                    path=name,
                )
    left[MANIFEST_PATH] = edited(text, edits).encode("utf-8")
    return left


def decided_here(named: Mapping[str, Any], *, is_listed: bool = True) -> Sequence[str]:
    """Those members of an entry that the library or the record decides by itself."""
    theirs = (*_OURS, "stableId") if is_listed else _OURS
    return [name for name in theirs if name in named]


def _checked(edit: FileEdit, *, is_listed: bool) -> dict[str, Any]:
    """The members that an edit names, and of a new file its path before them."""
    named = dict(edit.entry or {})
    for name in decided_here(named, is_listed=is_listed):
        raise CallerError(
            "the library or the record decides this member by itself",
            code="revise.entry",
            path=name,
        )
    if is_listed:
        return named
    if not named:
        raise CallerError(
            "a file that isn't listed yet needs an entry",
            code="revise.entry",
            path=edit.path,
            hint="role, scope, requiredStatus, mediaType and source",
        )
    return {"path": edit.path, **named}


def _parsed(text: str) -> Any:
    return parse(text.encode("utf-8"), max_depth=DEFAULT_LIMITS.json_depth)


def _appended(text: str, entries: Sequence[str]) -> str:
    """The text with elements after the last one of the list of files."""
    start, stop = spans(text, [("files",)])["files",]
    inner = text[start + 1 : stop - 1]
    if not inner.strip():
        return f"{text[:start]}[{','.join(entries)}]{text[stop:]}"
    kept = inner.rstrip()
    tail = inner[len(kept) :]
    gap = inner[: len(inner) - len(inner.lstrip())]
    more = "".join(f",{gap}{entry}" for entry in entries)
    return f"{text[: start + 1]}{kept}{more}{tail}{text[stop - 1 :]}"


def _without_element(text: str, index: int) -> str:
    """The text without one element of the list of files, and the comma beside it."""
    places: list[JsonPath] = [("files", i) for i in (index - 1, index, index + 1)]
    found = spans(text, places)
    start, stop = found["files", index]
    before, after = found.get(("files", index - 1)), found.get(("files", index + 1))
    if before is not None and index > 0:
        return text[: before[1]] + text[stop:]
    return text[:start] + text[after[0] if after is not None else stop :]
