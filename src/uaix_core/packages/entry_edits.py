"""Changing the entry of one file in a manifest's text, and nothing else of it.

What a package says about a file that changed (its size, digest and review state) is
brought up to date. A signature was for another manifest, so it goes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.places import JsonPath, edited, removed, spans
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.templates.repack import repack
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the library writes into an entry by itself.
_OURS: Final = ("path", "sizeBytes", "sha256", "reviewState")
_UNREVIEWED: Final = '"review_required"'


def with_file(
    files: Mapping[str, bytes],
    path: str,
    content: bytes,
    entry: Mapping[str, Any] | None = None,
) -> dict[str, bytes]:
    """The files of a package with this one in it, and a manifest that fits them.

    Args:
        files: logical path to bytes, the manifest included.
        path: where the file stands.
        content: its bytes.
        entry: members of its manifest entry (wire names); what isn't named stays as it
            is, and a file that isn't listed yet needs role, scope, requiredStatus,
            mediaType and source.

    Raises:
        CallerError: ``revise.entry`` for a member that the library writes itself, or
            for a new file without an entry.

    """
    text = files[MANIFEST_PATH].decode("utf-8")
    named = dict(entry or {})
    for name in _OURS:
        if name in named:
            raise CallerError(
                "the library writes this member by itself",
                code="revise.entry",
                path=name,
            )
    index = _index(text, path)
    if index is None:
        if not named:
            raise CallerError(
                "a file that isn't listed yet needs an entry",
                code="revise.entry",
                path=path,
                hint="role, scope, requiredStatus, mediaType and source",
            )
        made = {"path": path, "sizeBytes": 0, "sha256": "", **named}
        made["reviewState"] = "review_required"
        text = _appended(text, json.dumps(made, ensure_ascii=False))
    else:
        if "stableId" in named:
            raise CallerError(
                "the record at a path keeps its id",
                code="revise.entry",
                path="stableId",
            )
        edits: dict[JsonPath, str] = {
            ("files", index, name): json.dumps(value, ensure_ascii=False)
            for name, value in named.items()
        }
        lacking = edits.keys() - spans(text, edits.keys()).keys()
        if lacking:
            raise CallerError(
                "the entry of the file has no such member",
                code="revise.entry",
                path=str(min(lacking)[2]),
            )
        text = edited(text, {**edits, ("files", index, "reviewState"): _UNREVIEWED})
    return _packed({**files, path: content}, text)


def without_file(files: Mapping[str, bytes], path: str) -> dict[str, bytes]:
    """The files of a package without this one, and a manifest that doesn't list it."""
    text = files[MANIFEST_PATH].decode("utf-8")
    index = _index(text, path)
    if index is not None:
        text = _without_element(text, index)
    left = {name: data for name, data in files.items() if name != path}
    return _packed(left, text)


def _packed(files: Mapping[str, bytes], text: str) -> dict[str, bytes]:
    text = removed(text, ("basedOn",))
    text = removed(text, ("integrity", "signatures"))
    return repack({**files, MANIFEST_PATH: text.encode("utf-8")}).files


def _index(text: str, path: str) -> int | None:
    wire = parse(text.encode("utf-8"), max_depth=DEFAULT_LIMITS.json_depth)
    entries = wire["files"] if isinstance(wire, dict) else []
    return next((i for i, e in enumerate(entries) if e.get("path") == path), None)


def _appended(text: str, entry: str) -> str:
    """The text with an element after the last one of the list of files."""
    start, stop = spans(text, [("files",)])["files",]
    inner = text[start + 1 : stop - 1]
    if not inner.strip():
        return f"{text[:start]}[{entry}]{text[stop:]}"
    kept = inner.rstrip()
    tail = inner[len(kept) :]
    gap = inner[: len(inner) - len(inner.lstrip())]
    return f"{text[: start + 1]}{kept},{gap}{entry}{tail}{text[stop - 1 :]}"


def _without_element(text: str, index: int) -> str:
    """The text without one element of the list of files, and the comma beside it."""
    places: list[JsonPath] = [("files", i) for i in (index - 1, index, index + 1)]
    found = spans(text, places)
    start, stop = found["files", index]
    before, after = found.get(("files", index - 1)), found.get(("files", index + 1))
    if before is not None and index > 0:
        return text[: before[1]] + text[stop:]
    return text[:start] + text[after[0] if after is not None else stop :]
