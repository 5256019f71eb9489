"""What is said beside the files of a package, and the names that are given.

A person decides by a note, a reason or a title, so all of it is there to be seen: no
character in it is drawn as nothing, and none acts on a terminal or turns the rest
round. A secret is refused in all of it, and no error names one.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from uaix_core.gate.hidden import FLAG, FLAG_TAGS, JOINING, hidden_text
from uaix_core.gate.hits import byte_offset
from uaix_core.gate.scan import leaves_of, scan_all, scan_fields
from uaix_core.gate.table import HIGH_ENTROPY
from uaix_core.values.errors import CallerError, UaixError
from uaix_core.values.quoting import IGNORABLE, NONCHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What an error names instead of a name that holds a secret.
HIDDEN_NAME: Final = "(a name not shown)"

_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff"
    "\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
#: What nobody sees and what belongs to the character before it: the second half of a
#: line end, joiners in scripts that are written with them, emoji of several parts.
_HARMLESS: Final = (
    "\r(?=\n)"
    f"|(?<={JOINING})[\u200c\u200d](?![\u200c\u200d])"
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?<={FLAG}){FLAG_TAGS}"
)
#: Controls but for tab and line feed, line ends of other kinds, and what is drawn as
#: nothing or is no character.
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb"
_UNSEEN: Final = re.compile(f"{_HARMLESS}|([{_CONTROLS}{IGNORABLE}{NONCHARACTERS}])")
_LINE_ENDS: Final = re.compile("[\t\n\r]")


def check_lines(fields: Mapping[str, Any]) -> None:
    """Refuse what isn't one line each that is what it looks like.

    Args:
        fields: texts, lists and mappings of them, by the caller's own names.

    Raises:
        CallerError: ``text.line``, and as `check_paragraphs`.

    """
    check_paragraphs(fields)
    for place, text in _leaves(fields):
        found = _LINE_ENDS.search(text)
        if found is not None:
            raise CallerError(
                "a text of one line has a tab or a line end",
                code="text.line",
                path=place,
                hint=f"at byte {byte_offset(text, found.start())}",
            )


def check_paragraphs(fields: Mapping[str, Any]) -> None:
    """Refuse texts with a secret, or a character that a reader doesn't see.

    Raises:
        CallerError: as `check_bodies`.

    """
    check_bodies(fields)
    for place, text in _leaves(fields):
        for found in _UNSEEN.finditer(text):
            if found[1] is not None:
                raise CallerError(
                    "a character that a reader doesn't see",
                    code="text.hidden",
                    path=place,
                    hint=f"U+{ord(found[1]):04X} at byte "
                    f"{byte_offset(text, found.start())}",
                )


def check_bodies(fields: Mapping[str, Any]) -> None:
    """Refuse texts that no file of a package may have.

    Raises:
        CallerError: ``text.secret``, ``text.hidden``, each with the field and the
            place in it.

    """
    check_kept(fields)
    for place, text in _leaves(fields):
        for hit in hidden_text(text):
            if hit.severity == "error":
                raise CallerError(
                    "text that a reader doesn't see",
                    code="text.hidden",
                    path=place,
                    hint=f"{hit.detector} at byte {hit.offset}",
                )


def check_kept(fields: Mapping[str, Any]) -> None:
    """Refuse only secrets in texts that are kept as they came.

    Raises:
        CallerError: ``text.secret``.

    """
    for hit in scan_fields(fields):
        raise _secret(hit.field, hit.detector, hit.offset)


def check_identities(fields: Mapping[str, Any]) -> None:
    """Refuse secrets as names of somebody or something.

    Many hosts draw the ids of their people by lot, so entropy alone refuses none.

    Raises:
        CallerError: ``text.secret``.

    """
    for place, text in _leaves(fields):
        found = _telling(text)
        if found is not None:
            raise _secret(place, *found)


@contextmanager
def unnamed_secrets() -> Iterator[None]:
    """Let no error leave that names a secret: one is named in its place as hidden."""
    try:
        yield
    except UaixError as error:
        told: BaseException | None = error
        while isinstance(told, UaixError):
            told.path = shown_name(told.path)
            told = told.__cause__ or told.__context__
        raise


def shown_name(name: str | None) -> str | None:
    """The name as an error may show it."""
    return HIDDEN_NAME if name is not None and _telling(name) else name


def _telling(text: str) -> tuple[str, int] | None:
    """The first secret that more than its entropy gives away: detector and place."""
    for hit in scan_all(text):
        if hit.detector != HIGH_ENTROPY:
            return hit.detector, hit.offset
    return None


def _leaves(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        yield from leaves_of(name, value)


def _secret(place: str, detector: str, offset: int) -> CallerError:
    return CallerError(
        "what was said holds a secret",
        code="text.secret",
        path=place,
        hint=f"{detector} at byte {offset}",
    )
