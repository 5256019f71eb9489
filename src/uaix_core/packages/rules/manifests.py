"""The rules for manifests, required sets and bodies, one row each.

Source: UAIX package format v0.1, with the decisions of this project where the
standard is silent. The words of ``family`` and ``trigger`` are closed sets; codes are
stable and listed in the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.findings import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_MALFORMED = "malformed_schema"
_PROFILE = "missing_profile"
_CAPABILITY = "unsupported_capability_level"
_CHECKSUM = "missing_integrity_checksum"
_PROVENANCE = "provenance_mismatch"

_ID_HINT = "1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit first, no device name"

#: What helps whoever changed a file on purpose.
_EDITED = "edited on purpose: uaix pack DIR --write-back"


def _error(  # noqa: PLR0913 - a row has these columns
    code: str,
    family: str,
    meaning: str,
    *,
    trigger: str = _MALFORMED,
    hint: str | None = None,
    lenient: Severity | None = None,
) -> Rule:
    return Rule(code, family, "error", meaning, trigger, hint, lenient)


def _mismatch(code: str, family: str, meaning: str) -> Rule:
    return _error(code, family, meaning, trigger=_PROVENANCE, hint=_EDITED)


def _warning(
    code: str, family: str, meaning: str, *, trigger: str | None = None
) -> Rule:
    return Rule(code, family, "warning", meaning, trigger)


def _info(code: str, family: str, meaning: str) -> Rule:
    return Rule(code, family, "info", meaning)


_WHOLE = (
    _error(
        "manifest.missing",
        "manifest_missing",
        "there is no .uai/manifest.uaix.json",
        hint="the manifest stands at exactly this path, lower case",
    ),
    _error(
        "manifest.duplicate", "manifest_duplicate", "the manifest exists more than once"
    ),
    _error("manifest.limit", "manifest_limit", "the manifest is larger than the limit"),
    _error(
        "manifest.encoding",
        "manifest_encoding",
        "the manifest isn't plain UTF-8 without a byte order mark",
    ),
    _error(
        "json.depth",
        "manifest_limit",
        "the manifest is nested more deeply than the limit",
    ),
    _error("json.syntax", "manifest_json", "the manifest isn't JSON"),
    _error(
        "json.duplicate-key",
        "manifest_json",
        "an object of the manifest holds the same key twice",
    ),
    _error(
        "json.number",
        "manifest_json",
        "a number of the manifest isn't finite, or is an integer beyond 2**53 - 1",
    ),
    _error(
        "json.surrogate",
        "manifest_json",
        "a string of the manifest holds half a surrogate pair",
    ),
    _error(
        "json.trailing",
        "manifest_json",
        "something stands after the manifest's one value",
    ),
    _error("json.root", "manifest_json", "the manifest isn't a JSON object"),
)

_FIELDS = (
    _error("manifest.field", "manifest_schema", "a required field is missing"),
    _error("manifest.nul", "manifest_schema", "a text of the manifest holds a NUL"),
    _error("manifest.type", "manifest_schema", "a field has a value of the wrong type"),
    _info(
        "manifest.extra",
        "manifest_schema",
        "a field that the format doesn't name is kept as it is",
    ),
    _error(
        "version.uaix",
        "manifest_version",
        "uaixVersion isn't one that this ruleset reads",
        trigger=_CAPABILITY,
        hint="write 0.1",
    ),
    _info(
        "version.uaix-other",
        "manifest_version",
        "uaixVersion isn't 0.1; it is read and kept as it is",
    ),
    _error(
        "version.format",
        "manifest_version",
        "packageFormat doesn't begin with uaix.package.",
        trigger=_CAPABILITY,
        hint="write uaix.package.v0.1",
    ),
    _error("id.package", "identity", "packageId isn't an id", hint=_ID_HINT),
    _error(
        "id.profile",
        "identity",
        "profileId isn't an id",
        trigger=_PROFILE,
        hint=_ID_HINT,
    ),
    _error("id.stable", "identity", "stableId isn't an id"),
    _error("id.stable-repeated", "identity", "two entries of files carry one stableId"),
    _error(
        "id.based-on",
        "identity",
        "basedOn isn't a checkpoint id",
        hint="the SHA-256 of the stored manifest, 64 lower-case hex digits",
    ),
    _info(
        "profile.unknown",
        "identity",
        "profileId isn't one of the profiles that this ruleset knows",
    ),
    _error(
        "profile.mismatch",
        "identity",
        "profileId and declaredScopes disagree about advanced_persona_profile",
        trigger=_PROFILE,
        hint="an advanced persona package names it in both",
    ),
    _error(
        "time.syntax",
        "time",
        "createdUtc isn't a UTC time",
        hint="write it like 2026-01-02T03:04:05Z",
    ),
    _error("time.date", "time", "createdUtc names a date or time that doesn't exist"),
    _warning(
        "time.future",
        "time",
        "createdUtc is more than a day ahead of the clock",
        trigger=_PROVENANCE,
    ),
)

_WORDS = (
    _error(
        "scope.unknown",
        "scope",
        "a scope that this ruleset doesn't know",
        trigger=_CAPABILITY,
        lenient="warning",
    ),
    _error(
        "scope.undeclared",
        "scope",
        "the file's scope isn't one of declaredScopes",
        trigger=_CAPABILITY,
    ),
    _warning(
        "scope.folded",
        "scope",
        "a scope is spelled differently; it is read, and kept as it stands",
    ),
    _warning("scope.repeated", "scope", "declaredScopes names a scope twice"),
    _error(
        "required.unknown",
        "required_status",
        "requiredStatus isn't one of the four words for a listed file",
        hint="universal_required, profile_required, content_triggered_required or "
        "configuration_specific_required",
    ),
    _error(
        "required.soft",
        "required_status",
        "requiredStatus is one of the soft words that the standard forbids",
    ),
    _error(
        "required.out-of-scope",
        "out_of_scope",
        "requiredStatus says out of scope, yet the file is listed",
    ),
    _error(
        "required.status",
        "required_status",
        "the file doesn't carry the requiredStatus that is registered for it",
    ),
    _warning(
        "required.folded",
        "required_status",
        "requiredStatus is spelled differently; it is read, and kept as it stands",
    ),
    _warning(
        "role.word", "manifest_schema", "role isn't the word for a file at this path"
    ),
    _warning(
        "role.folded",
        "manifest_schema",
        "role is spelled differently; it is read, and kept as it stands",
    ),
    _error(
        "media.unsupported",
        "media_type",
        "the media type isn't one that a package may carry",
        hint="text/uaix, text/markdown, text/plain or application/json",
    ),
    _error("media.image", "media_type", "images are carried under evidence/ only"),
    _error(
        "review.state",
        "manifest_schema",
        "reviewState isn't review_required, reviewed or approved",
    ),
    _warning(
        "review.folded",
        "manifest_schema",
        "reviewState is spelled differently; it is read, and kept as it stands",
    ),
    _info(
        "review.claimed",
        "manifest_schema",
        "files say that they were reviewed; a package can't approve itself",
    ),
)

_INTEGRITY = (
    _error(
        "hash.format",
        "hash_format",
        "sha256 isn't 64 lower-case hex digits",
        trigger=_CHECKSUM,
    ),
    _mismatch(
        "hash.mismatch",
        "hash_mismatch",
        "the content doesn't have the listed SHA-256",
    ),
    _warning(
        "hash.sentinel",
        "hash_mismatch",
        "the listed SHA-256 is the sentinel: the file stays unloadable until reviewed",
        trigger=_CHECKSUM,
    ),
    _mismatch(
        "size.declared",
        "size_declared",
        "the content doesn't have the listed size",
    ),
    _error(
        "digest.algorithm",
        "manifest_schema",
        "integrity.algorithm isn't sha256",
        trigger=_CHECKSUM,
    ),
    _error(
        "digest.scope",
        "manifest_schema",
        "integrity.digestScope isn't files-v1",
        trigger=_CHECKSUM,
    ),
    _error(
        "digest.format",
        "hash_format",
        "integrity.packageDigest isn't 64 lower-case hex digits",
        trigger=_CHECKSUM,
    ),
    _mismatch(
        "digest.mismatch",
        "hash_mismatch",
        "the files don't have the listed package digest",
    ),
    _warning(
        "digest.sentinel",
        "hash_mismatch",
        "the package digest is the sentinel: the package stays in review",
        trigger=_CHECKSUM,
    ),
)

_INVENTORY = (
    _error(
        "inventory.missing",
        "missing",
        "the file is listed and isn't there",
        hint="bring it back, or take its entry out of the manifest",
    ),
    _error(
        "inventory.undeclared",
        "undeclared",
        "the file is there and isn't listed",
        hint="give it an entry in the manifest, or remove it",
    ),
    _error("inventory.repeated", "duplicate_entry", "files lists the same path twice"),
    _info(
        "inventory.self",
        "manifest_schema",
        "the manifest lists itself; its own size isn't checked",
    ),
    _error("entrypoint.absent", "entrypoint", "an entrypoint isn't a listed file"),
    _error(
        "entrypoint.order",
        "entrypoint",
        "the entrypoints disagree with the start-up order",
    ),
    _warning("entrypoint.repeated", "entrypoint", "an entrypoint is named twice"),
)

_SETS = (
    _error("set.missing", "required_set", "a required file is absent"),
    _error(
        "set.style",
        "required_set",
        "a style file of the advanced persona is absent",
        lenient="warning",
    ),
    _error(
        "set.content-trigger",
        "required_set",
        "the file is there without the file that triggers it",
    ),
    _error(
        "set.out-of-scope",
        "out_of_scope",
        "the file is out of scope for what the package declares",
    ),
    _error(
        "set.unregistered",
        "out_of_scope",
        "no file may stand at this place",
        hint=".uai/, evidence/, exports/, docs/, AGENTS.md, llms.txt, llms-full.txt",
        lenient="warning",
    ),
    _warning(
        "set.file-handoff",
        "required_set",
        "agent_file_handoff is declared without .uai/file-handoff.uai",
        trigger=_MALFORMED,
    ),
    _info(
        "set.extra",
        "out_of_scope",
        "declared files beyond the required set are kept and don't load at start-up",
    ),
)

_BODIES = (
    _error(
        "content.encoding",
        "content_encoding",
        "a text file isn't UTF-8 text without control characters",
    ),
    _warning(
        "content.bom", "content_encoding", "a text file begins with a byte order mark"
    ),
    _error("content.binary", "nested_archive", "the body is an archive"),
    _error(
        "content.binary-executable",
        "content_encoding",
        "the body is an executable",
        trigger="runtime_execution_requested",
    ),
)

#: All rows of this page, in the order in which the reference lists them.
MANIFEST_ROWS: Final[tuple[Rule, ...]] = (
    *_WHOLE,
    *_FIELDS,
    *_WORDS,
    *_INTEGRITY,
    *_INVENTORY,
    *_SETS,
    *_BODIES,
)

MANIFEST_RULES: Final[Mapping[str, Rule]] = {rule.code: rule for rule in MANIFEST_ROWS}
