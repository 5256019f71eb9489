"""Long-term memory: a ledger of pointers, and what the manifest says about it.

The ledger points to durable memory and holds none of it. Each pointer says where it
leads, why, on whose word, and how that was reviewed.

Source: UAIX package format v0.1, "Required sets" (long_term_memory).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.manifest.words import is_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.values.parsing.view import ParsedBody, PointerRecord

LEDGER_PATH: Final = ".uai/long-term-memory.uai"

#: The manifest's object about the long-term memory, and the fields it should have.
LEDGER_KEY: Final = "longTermMemory"
LEDGER_FIELDS: Final = (
    "wikiRoot",
    "indexPath",
    "evidenceLog",
    "steward",
    "sourceBoundary",
    "promotionTargets",
    "reviewState",
    "trustLabels",
    "sourceSiteRemoval",
    "unfinishedDisposition",
)

#: What each pointer must say: how it is called here, and the labels it is read under.
POINTER_FIELDS: Final = (
    ("stable_id", ("stable_id",)),
    ("path", ("path",)),
    ("label", ("label",)),
    ("routing_summary", ("routing_summary",)),
    ("authority", ("authority", "authority_source", "authority_or_source", "source")),
    ("review_status", ("review_status", "review_state")),
    ("review_evidence", ("review_evidence",)),
)
CHECKSUMS: Final = ("checksum", "sha256")

#: Text longer than this, in characters, is no pointer and no remark about one.
LONGEST_TEXT: Final = 500

#: So many incomplete pointers are told apart.
_MOST_SHOWN: Final = 20

_find_sentence_break = re.compile(
    r"[.!?][\"')\]]*\s+[\"'(\[]*[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f]"
).search
_is_address = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match


def judge_ledger_object(
    wire: Mapping[str, Any], scopes: frozenset[str], scope: str, findings: Findings
) -> None:
    """Judge the manifest's object, where the scope asks for one."""
    if scope not in scopes:
        return
    said = wire.get(LEDGER_KEY)
    if not isinstance(said, dict):
        findings.add(
            "ltm.manifest", LEDGER_KEY, f"{LEDGER_KEY} is missing or is no object"
        )
        return
    for name in LEDGER_FIELDS:
        if said.get(name) in (None, "", [], {}):
            findings.add("ltm.manifest", f"{LEDGER_KEY}.{name}", f"{name} is missing")


def judge_ledger(
    parsed: ParsedBody, digest_of: Callable[[str], str | None], findings: Findings
) -> None:
    """Judge the pointers of the ledger.

    ``digest_of`` gives the SHA-256 (hex) of a file of the package, None for any other
    path. Pointers are told by their number, counted from 1.
    """
    records = parsed.records
    if not records:
        findings.add("ltm.empty", LEDGER_PATH)
    for number, record in enumerate(records[:_MOST_SHOWN], 1):
        for name, labels in POINTER_FIELDS:
            if not any((record.get(label) or "").strip() for label in labels):
                message = f"pointer {number} has no {name}"
                findings.add("ltm.field", LEDGER_PATH, message)
        summary = (record.get("routing_summary") or "").strip()
        if _find_sentence_break(summary):
            message = f"the routing summary of pointer {number} is no single sentence"
            findings.add("ltm.summary", LEDGER_PATH, message)
        _judge_checksum(number, record, digest_of, findings)
    if _holds_bodies(parsed):
        findings.add("ltm.inline-body", LEDGER_PATH)


def _judge_checksum(
    number: int,
    record: PointerRecord,
    digest_of: Callable[[str], str | None],
    findings: Findings,
) -> None:
    target = (record.get("path") or "").strip()
    if not target or _is_address(target):
        return
    said = next(filter(None, map(record.get, CHECKSUMS)), "").strip()
    digest = said.removeprefix("sha256:").strip()
    known = digest_of(target)
    if not is_sha256(digest):
        message = f"pointer {number} leads to a file and has no SHA-256"
    elif known is not None and known != digest:
        message = f"the file that pointer {number} leads to has another SHA-256"
    else:
        return
    findings.add("ltm.checksum", LEDGER_PATH, message)


def _holds_bodies(parsed: ParsedBody) -> bool:
    if len(parsed.unparsed) > LONGEST_TEXT:
        return True
    texts = (section.prose for section in parsed.sections)
    fields = (field.text for field in parsed.fields)
    return any(len(text) > LONGEST_TEXT for text in (*texts, *fields))
