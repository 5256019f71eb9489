"""The rules about what a package says, one row each.

What refuses is what could do harm before anybody has read it: a claim of authority,
a secret, a command, hidden text, a probe. What a careful author should add or mend is
a warning.

Source: UAIX package format v0.1, with the decisions of this project where the standard
is silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.findings import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFLICT = "authority_boundary_conflict"
_RUNS = "runtime_execution_requested"
_PROBES = "private_network_probe_requested"
_CREDENTIALS = "credential_validation_requested"
_CERTIFIES = "certification_claim_requested"
_MALFORMED = "malformed_schema"
_PROVENANCE = "provenance_mismatch"


def _row(  # noqa: PLR0913 - a row has these columns
    severity: Severity,
    code: str,
    family: str,
    meaning: str,
    trigger: str | None = None,
    *,
    hint: str | None = None,
    triggers: tuple[str, ...] = (),
) -> Rule:
    return Rule(code, family, severity, meaning, trigger, hint, triggers=triggers)


_AUTHORITY = (
    _row(
        "error",
        "authority.claim",
        "authority",
        "an extra field claims authority, execution or approval",
        _CONFLICT,
        hint="a package is evidence; leave the field out or let it say no",
        triggers=(_RUNS,),
    ),
    _row(
        "error",
        "boundary.grant",
        "authority",
        "supportBoundary grants a power that no package can grant",
        _CONFLICT,
        hint="name powers under outside, or set them to false",
        triggers=(_RUNS, _CREDENTIALS, _CERTIFIES, _PROBES),
    ),
)

_TEXTS = (
    _row(
        "error",
        "secret.found",
        "secret",
        "a secret was found",
        _CONFLICT,
        hint="take it out and withdraw it where it is valid",
    ),
    _row(
        "error",
        "content.destructive",
        "destructive",
        "a command that destroys its target",
        _RUNS,
    ),
    _row(
        "error",
        "content.hidden-text",
        "hidden_instruction",
        "text that a reader doesn't see",
        _CONFLICT,
        hint="invisible characters in a run, or a direction override",
    ),
    _row(
        "error",
        "content.hidden-instruction",
        "hidden_instruction",
        "a comment that gives a model orders",
        _CONFLICT,
    ),
    _row(
        "warning",
        "content.bidi",
        "hidden_instruction",
        "direction controls can make text read differently from what it says",
    ),
    _row(
        "error",
        "content.private-probe",
        "private_probe",
        "a host that only an inside may reach",
        _PROBES,
        hint="in a body together with a request, in a manifest field alone",
    ),
    _row(
        "warning",
        "content.loopback",
        "private_probe",
        "a request to the reader's own machine",
        _PROBES,
    ),
    _row(
        "error",
        "path.local-absolute",
        "path_absolute",
        "a field of the manifest holds an absolute path of one machine",
        _CONFLICT,
        hint="paths are relative to the package",
    ),
    _row(
        "info",
        "content.unparsed",
        "content_encoding",
        "files that weren't read as labelled text throughout",
    ),
)

_PERSONA = (
    _row(
        "error",
        "persona.depth-range",
        "manifest_schema",
        "depth_level_0_to_10 isn't an integer from 0 to 10",
        _MALFORMED,
    ),
    _row(
        "warning",
        "persona.disclosure-word",
        "manifest_schema",
        "a disclosure isn't none, private or public",
    ),
    _row(
        "warning",
        "persona.disclosure-leak",
        "manifest_schema",
        "a field that is hidden in one place stands as public in another",
    ),
    _row(
        "warning",
        "persona.label",
        "manifest_schema",
        "a label is public that isn't the registered one",
    ),
    _row(
        "warning",
        "persona.age-undated",
        "manifest_schema",
        "an exact age stands without the date as of which it held",
    ),
)

_DUTIES = (
    _row(
        "warning",
        "duty.missing",
        "required_set",
        "a file doesn't speak of something that it must speak of",
    ),
    _row(
        "warning",
        "evidence.missing",
        "required_set",
        "a kind of evidence that an advanced persona needs isn't there",
        _PROVENANCE,
    ),
)

_LONG_TERM = (
    _row(
        "warning",
        "ltm.manifest",
        "manifest_schema",
        "the manifest doesn't say all about the long-term memory",
    ),
    _row(
        "warning",
        "ltm.empty",
        "required_set",
        "the long-term memory holds no pointer record",
        hint="a pointer begins with the label Stable id",
    ),
    _row(
        "warning",
        "ltm.field",
        "manifest_schema",
        "a pointer of the long-term memory lacks a field",
        _PROVENANCE,
    ),
    _row(
        "warning",
        "ltm.summary",
        "manifest_schema",
        "a routing summary is no single sentence",
    ),
    _row(
        "warning",
        "ltm.checksum",
        "hash_format",
        "a pointer to a file has no fitting SHA-256",
        _PROVENANCE,
    ),
    _row(
        "warning",
        "ltm.inline-body",
        "out_of_scope",
        "the long-term memory holds text beside its pointers",
        _PROVENANCE,
    ),
)

#: All rows of this page, in the order in which the reference lists them.
CONTENT_ROWS: Final[tuple[Rule, ...]] = (
    *_AUTHORITY,
    *_TEXTS,
    *_PERSONA,
    *_DUTIES,
    *_LONG_TERM,
)

CONTENT_RULES: Final[Mapping[str, Rule]] = {rule.code: rule for rule in CONTENT_ROWS}
