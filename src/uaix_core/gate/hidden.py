"""Text that a person doesn't see and a model does.

Runs of invisible characters, direction controls, and HTML comments that give a model
orders. Source: UAIX package format v0.1, "Bodies" (content that refuses).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate.hits import Hit, by_place, byte_offset
from uaix_core.values.folding import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN: Final = "hidden-run"
OVERRIDE: Final = "hidden-bidi-override"
CONTROL: Final = "hidden-bidi-control"
COMMENT: Final = "hidden-comment"

#: So many invisible characters side by side are a message.
MIN_RUN: Final = 4

_MARKS: Final = "\u200e\u200f\u061c"
_INVISIBLE: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065"
    "\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_RUNS: Final = re.compile(f"[{_INVISIBLE}{_MARKS}]{{{MIN_RUN},}}")
_ONLY_MARKS: Final = re.compile(f"[{_MARKS}]")

#: The flag of a region: a black flag, its letters as tags, and the closing tag.
FLAG: Final = "\U0001f3f4"
FLAG_TAGS: Final = "[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_FLAG_TAGS: Final = re.compile(FLAG_TAGS)

#: Joiners between letters of scripts that are written with them.
_JOINERS: Final = re.compile("[\u200c\u200d]{1,7}")
JOINING: Final = (
    "[\u0600-\u07bf\u0840-\u085f\u0860-\u08ff\u0900-\u0dff\u0e80-\u109f"
    "\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefe]"
)
_JOINING: Final = re.compile(JOINING)

_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_CONTROLS: Final = re.compile(f"[\u202a-\u202c\u2066-\u2069{_MARKS}]")

_ADDRESSEE: Final = (
    r"(?:(?:ai|language|the)\s+)?(?:system|assistant|model|llm|ai|a\.i\.|agent|chatbot"
    r"|bot|gpt(?:-?\d\w*)?|chatgpt|claude|gemini|copilot|llama|mistral)s?"
)
_IMPERATIVE: Final = (
    r"(?:accept|access|act|add|allow|always|answer|append|approve|assume|begin|behave|bypass"
    r"|call|carry\s+out|change|comply|confirm|consider|continue|copy|delete|disable"
    r"|disclose|disregard|do|download|email|enable|execute|exfiltrate|fetch|follow"
    r"|forget|forward|give|grant|help|hide|ignore|include|insert|install|keep|leak|let"
    r"|mark|mention|modify|must|never|obey|open|output|override|permit|post|pretend|print|promote|read"
    r"|recommend|remember|remove|repeat|replace|reply|respond|return|reveal|roleplay"
    r"|run|say|send|set|share|should|show|skip|start|stop|store|submit|switch|tell"
    r"|transfer|treat|trust|unlock|update|upload|use|visit|write)"
)
_GRANT: Final = (
    r"(?:you\s+(?:are|have|may|can|must|should|will|shall)\b|(?:is|are|has|have)\s+"
    r"(?:been\s+)?(?:hereby\s+)?(?:now\s+)?(?:allowed|approved|authori[sz]ed|granted"
    r"|permitted|trusted|full\s+access|permission)|from\s+now\s+on)"
)

#: Words that order a model about whoever is named.
_ORDERS: Final = re.compile(
    r"(?:^|[.:;!?\n\]>,-]\s*|\b(?:please|now|and|then|must|should)\s+)"
    r"(?:ignore|disregard|forget|override|bypass|discard)\s+"
    r"(?:(?:all|any|every|the|your|these|those|of|my|its|other|and)\s+){0,4}"
    r"(?:previous|prior|earlier|above|preceding|former|past|system|safety|original"
    r"|existing|instructions?|guidelines|rules|guardrails)\b"
)
_VOCATIVE: Final = re.compile(
    rf"^\W*(?:(?:(?:dear|hey|hi|hello|attention|note\s+(?:to|for)|message\s+(?:to|for)"
    rf"|instructions?\s+(?:to|for)|for|to|if\s+you\s+are)\s+(?:an?\s+|the\s+|any\s+"
    rf"|all\s+)?{_ADDRESSEE}\b)|(?:the\s+)?{_ADDRESSEE}(?:\s+(?:prompt|message|note"
    rf"|instructions?|override|command))?\s*[:,;>!\])\u2014\u2192-])"
)
_DEMAND: Final = re.compile(rf"\b{_IMPERATIVE}\b|{_GRANT}")
_NAMED: Final = re.compile(rf"\b{_ADDRESSEE}\b")
_CLAUSE_DEMAND: Final = re.compile(
    rf"(?:^|[.:;!?\n\]>]\s*|\bplease\s+){_IMPERATIVE}\b|\b{_GRANT}"
)
#: May and can give leave for what changes things, must and should order it; a verb in
#: the passive or a state ("must be retrained") tells what is the case.
_NAMED_GRANT: Final = re.compile(
    rf"\b{_ADDRESSEE}(?:\s+(?:agents?|models?|systems?|assistants?))?"
    r"(?:\s+(?:reading|seeing|processing|parsing)\s+(?:this|it)(?:\s+\w+)?)?"
    r"\s+(?:(?:must|should|shall|may|can|will)"
    r"(?:\s+(?:now|always|also|only|then|not|never|freely|directly))?"
    rf"\s+{_IMPERATIVE}|is\s+allowed|is\s+granted|is\s+permitted|has\s+permission"
    r"|(?:must|should|shall|may|can|will)\s+be\s+(?:allowed|granted|permitted|trusted"
    r"|obeyed|given))\b"
)

#: Someone grants a named one something, or tells it what to do once it reads this.
_GIVEN: Final = re.compile(
    r"\b(?:i|we|owner|administrator|admin|author|user)\s+(?:hereby\s+)?(?:now\s+)?"
    r"(?:grants?|allows?|authori[sz]es?|permits?|gives?|orders?|instructs?)\s+"
    rf"(?:\w+\s+){{0,2}}?{_ADDRESSEE}\b"
)
_ON_READING: Final = re.compile(
    rf"\b(?:when|once|if|as\s+soon\s+as|whenever)\s+(?:an?\s+|the\s+|any\s+|some\s+)?"
    rf"{_ADDRESSEE}(?:\s+(?:agents?|models?|systems?|assistants?))?\s+(?:reads?|sees?"
    rf"|parses?|processes|loads?|opens?|is\s+reading)\b[^.!?\n]{{0,40}}[,:;]\s*"
    rf"(?:please\s+|then\s+|it\s+(?:must|should|may)\s+)?{_IMPERATIVE}\b"
)
_PLEASE: Final = re.compile(
    rf"\bplease\s*,?\s*(?:dear\s+)?{_ADDRESSEE}\s*[,:;-]\s*{_IMPERATIVE}\b"
)
#: Names of models, told what to do in the middle of a text.
_CALLED: Final = re.compile(
    r"(?<!the )(?<!this )(?<!our )(?<!an )(?<!your )\b(?:ai|assistants?|llms?|agents?"
    r"|chatbots?|chatgpt|claude|gemini|copilot)(?:\s+(?:agents?|models?|assistants?))?"
    rf"\s*:\s*(?:please\s+)?{_IMPERATIVE}\b"
)
_YOU: Final = re.compile(r"\byou(?:r|rs)?\b|\bfrom\s+now\s+on\b")
_ANYWHERE: Final = (_NAMED_GRANT, _GIVEN, _ON_READING, _PLEASE, _CALLED)

#: A longer comment is judged in windows, which lie one over the end of the other.
WINDOW: Final = 8192
OVERLAP: Final = 1024


def _run_hits(text: str) -> Iterator[Hit]:
    for match in _RUNS.finditer(text):
        start, end = match.span()
        if end - start - len(_ONLY_MARKS.findall(match[0])) < MIN_RUN:
            continue
        before, after = text[start - 1 : start], text[end : end + 1]
        if before == FLAG and _FLAG_TAGS.fullmatch(match[0]):
            continue
        if (
            _JOINERS.fullmatch(match[0])
            and _JOINING.match(before)
            and _JOINING.match(after)
        ):
            continue
        yield Hit(RUN, byte_offset(text, start), "certain")
        return


def _control_hits(text: str) -> Iterator[Hit]:
    if match := _OVERRIDES.search(text):
        yield Hit(OVERRIDE, byte_offset(text, match.start()), "certain")
    if match := _CONTROLS.search(text):
        place = byte_offset(text, match.start())
        yield Hit(CONTROL, place, "certain", "warning")


def gives_orders(comment: str) -> bool:
    """Whether a comment addresses a model or system with an imperative or a grant.

    It does when it begins by naming one and demands or grants anything, when it names
    one anywhere and a clause of it is an imperative, or when it tells whoever reads it
    to ignore earlier instructions.
    """
    lines = [" ".join(line.split()) for line in fold(comment).lower().splitlines()]
    folded = "\n".join(line for line in lines if line)
    if _ORDERS.search(folded):
        return True
    vocative = _VOCATIVE.match(folded)
    if vocative and _DEMAND.search(folded, vocative.end()):
        return True
    if not _NAMED.search(folded):
        return False
    if any(form.search(folded) for form in _ANYWHERE):
        return True
    return bool(_YOU.search(folded) and _CLAUSE_DEMAND.search(folded))


def _windows(text: str, start: int, stop: int) -> Iterator[str]:
    """The span of a comment in windows, each of which overlaps the one before."""
    while stop - start > WINDOW:
        yield text[start : start + WINDOW]
        start += WINDOW - OVERLAP
    yield text[start:stop]


def _comment_hits(text: str) -> Iterator[Hit]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        stop = len(text) if end < 0 else end
        if any(map(gives_orders, _windows(text, start + 4, stop))):
            yield Hit(COMMENT, byte_offset(text, start), "likely")
            return
        start = text.find("<!--", stop) if end >= 0 else -1


def hidden_text(text: str) -> list[Hit]:
    """Hidden text, at most one hit of a kind, in order of offset.

    Kinds: ``hidden-run`` (four or more tag characters, variation selectors or
    zero-width characters side by side, outside emoji and joining scripts),
    ``hidden-bidi-override`` (U+202D, U+202E), ``hidden-comment``; and
    ``hidden-bidi-control`` (isolates, embeddings, marks), which only warns.
    """
    hits: list[Hit] = []
    if not text.isascii():
        hits += _run_hits(text)
        hits += _control_hits(text)
    if "<!--" in text:
        hits += _comment_hits(text)
    return sorted(hits, key=by_place)
