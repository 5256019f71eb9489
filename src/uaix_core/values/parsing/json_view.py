"""JSON bodies in the same view: members are fields, objects are sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.values.canonical import canonical_text
from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody, note
from uaix_core.values.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

#: No store would hold a field with a NUL in it, however it is written.
_escaped_nul = re.compile(r"(?<!\\)(?:\\\\)*+\\u0000").search

#: Containers within each other, as in manifests.
JSON_DEPTH: Final = 32


def parse_json(data: bytes, text: str) -> ParsedBody:
    """The view of a JSON body; what isn't strict I-JSON stays text with a note."""
    if _escaped_nul(text) is not None:
        return ParsedBody("text", unparsed=text, notes=(note("body.encoding"),))
    try:
        value = parse(data, max_depth=JSON_DEPTH)
    except StrictJsonError as error:
        found = note("body.json", error.line)
        return ParsedBody("text", unparsed=text, notes=(found,))
    if not isinstance(value, dict):
        return ParsedBody("json", unparsed=canonical_text(value))
    return ParsedBody("json", sections=tuple(_sections(0, "", value)))


def _sections(
    level: int, heading: str, members: dict[str, Any]
) -> Iterator[BodySection]:
    loose = {key: item for key, item in members.items() if not isinstance(item, dict)}
    if loose or level:
        fields = tuple(_field(key, item) for key, item in loose.items())
        yield BodySection(level, heading, canonical_text(loose), fields)
    for key, item in members.items():
        if isinstance(item, dict):
            yield from _sections(level + 1, key, item)


def _field(label: str, value: Any) -> BodyField:
    if not isinstance(value, list):
        return BodyField(label, _text(value))
    items = tuple(map(_text, value))
    text = "\n".join(f"- {item}" for item in items)
    return BodyField(label, text, items, is_list=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_text(value)
