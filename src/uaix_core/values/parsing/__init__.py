"""The parsed view of a body: what a text says, read without ever changing it."""

from uaix_core.values.parsing.body import parse_body
from uaix_core.values.parsing.digest import canonical_text_digest
from uaix_core.values.parsing.view import (
    BodyField,
    BodyNote,
    BodySection,
    Dialect,
    ParsedBody,
    PointerRecord,
    fold_label,
)

__all__ = [
    "BodyField",
    "BodyNote",
    "BodySection",
    "Dialect",
    "ParsedBody",
    "PointerRecord",
    "canonical_text_digest",
    "fold_label",
    "parse_body",
]
