"""The rules for manifests, required sets and bodies, one row each.

Source: UAIX package format v0.1, with the decisions of this project where the
standard is silent. The words of ``family`` and ``trigger`` are closed sets; codes are
stable and listed in the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.findings import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

_MALFORMED = "malformed_schema"
_PROFILE = "missing_profile"
_CAPABILITY = "unsupported_capability_level"
_AUTHORITY = "authority_boundary_conflict"
_CHECKSUM = "missing_integrity_checksum"
_PROVENANCE = "provenance_mismatch"

_WHOLE = (
    Rule(
        "manifest.missing",
        "manifest_missing",
        "error",
        "there is no .uai/manifest.uaix.json",
        _MALFORMED,
        hint="the manifest stands at exactly this path, lower case",
    ),
    Rule(
        "manifest.duplicate",
        "manifest_duplicate",
        "error",
        "the manifest exists more than once",
        _MALFORMED,
    ),
    Rule(
        "manifest.limit",
        "manifest_limit",
        "error",
        "the manifest is larger than the limit",
        _MALFORMED,
    ),
    Rule(
        "manifest.encoding",
        "manifest_encoding",
        "error",
        "the manifest isn't plain UTF-8 without a byte order mark",
        _MALFORMED,
    ),
    Rule(
        "json.depth",
        "manifest_limit",
        "error",
        "the manifest is nested more deeply than the limit",
        _MALFORMED,
    ),
    Rule(
        "json.syntax",
        "manifest_json",
        "error",
        "the manifest isn't JSON",
        _MALFORMED,
    ),
    Rule(
        "json.duplicate-key",
        "manifest_json",
        "error",
        "an object of the manifest holds the same key twice",
        _MALFORMED,
    ),
    Rule(
        "json.number",
        "manifest_json",
        "error",
        "a number of the manifest isn't finite, or is an integer beyond 2**53 - 1",
        _MALFORMED,
    ),
    Rule(
        "json.surrogate",
        "manifest_json",
        "error",
        "a string of the manifest holds half a surrogate pair",
        _MALFORMED,
    ),
    Rule(
        "json.trailing",
        "manifest_json",
        "error",
        "something stands after the manifest's one value",
        _MALFORMED,
    ),
    Rule(
        "json.root",
        "manifest_json",
        "error",
        "the manifest isn't a JSON object",
        _MALFORMED,
    ),
)

_FIELDS = (
    Rule(
        "manifest.field",
        "manifest_schema",
        "error",
        "a required field is missing",
        _MALFORMED,
    ),
    Rule(
        "manifest.type",
        "manifest_schema",
        "error",
        "a field has a value of the wrong type",
        _MALFORMED,
    ),
    Rule(
        "manifest.extra",
        "manifest_schema",
        "info",
        "a field that the format doesn't name is kept as it is",
    ),
    Rule(
        "version.uaix",
        "manifest_version",
        "error",
        "uaixVersion isn't one that this ruleset reads",
        _CAPABILITY,
        hint="write 0.1",
    ),
    Rule(
        "version.uaix-other",
        "manifest_version",
        "info",
        "uaixVersion isn't 0.1; it is read and kept as it is",
    ),
    Rule(
        "version.format",
        "manifest_version",
        "error",
        "packageFormat doesn't begin with uaix.package.",
        _CAPABILITY,
        hint="write uaix.package.v0.1",
    ),
    Rule(
        "id.package",
        "identity",
        "error",
        "packageId isn't an id",
        _MALFORMED,
        hint="1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit first, no device name",
    ),
    Rule(
        "id.profile",
        "identity",
        "error",
        "profileId isn't an id",
        _PROFILE,
        hint="1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit first, no device name",
    ),
    Rule(
        "id.stable",
        "identity",
        "error",
        "stableId isn't an id",
        _MALFORMED,
    ),
    Rule(
        "id.stable-repeated",
        "identity",
        "error",
        "two entries of files carry one stableId",
        _MALFORMED,
    ),
    Rule(
        "id.based-on",
        "identity",
        "error",
        "basedOn isn't a checkpoint id",
        _MALFORMED,
        hint="the SHA-256 of the stored manifest, 64 lower-case hex digits",
    ),
    Rule(
        "profile.unknown",
        "identity",
        "info",
        "profileId isn't one of the profiles that this ruleset knows",
    ),
    Rule(
        "profile.mismatch",
        "identity",
        "error",
        "profileId and declaredScopes disagree about advanced_persona_profile",
        _PROFILE,
        hint="an advanced persona package names it in both",
    ),
    Rule(
        "time.syntax",
        "time",
        "error",
        "createdUtc isn't a UTC time",
        _MALFORMED,
        hint="write it like 2026-01-02T03:04:05Z",
    ),
    Rule(
        "time.date",
        "time",
        "error",
        "createdUtc names a date or time that doesn't exist",
        _MALFORMED,
    ),
    Rule(
        "time.future",
        "time",
        "warning",
        "createdUtc is more than a day ahead of the clock",
        _PROVENANCE,
    ),
)

_WORDS = (
    Rule(
        "scope.unknown",
        "scope",
        "error",
        "a scope that this ruleset doesn't know",
        _CAPABILITY,
        lenient="warning",
    ),
    Rule(
        "scope.undeclared",
        "scope",
        "error",
        "the file's scope isn't one of declaredScopes",
        _CAPABILITY,
    ),
    Rule(
        "scope.folded",
        "scope",
        "warning",
        "a scope is spelled differently; it is read, and written back as it stands",
    ),
    Rule("scope.repeated", "scope", "warning", "declaredScopes names a scope twice"),
    Rule(
        "required.unknown",
        "required_status",
        "error",
        "requiredStatus isn't one of the four words for a listed file",
        _MALFORMED,
        hint="universal_required, profile_required, content_triggered_required or "
        "configuration_specific_required",
    ),
    Rule(
        "required.soft",
        "required_status",
        "error",
        "requiredStatus is one of the soft words that the standard forbids",
        _MALFORMED,
    ),
    Rule(
        "required.out-of-scope",
        "out_of_scope",
        "error",
        "requiredStatus says out of scope, yet the file is listed",
        _MALFORMED,
    ),
    Rule(
        "required.status",
        "required_status",
        "error",
        "the file doesn't carry the requiredStatus that is registered for it",
        _MALFORMED,
    ),
    Rule(
        "required.folded",
        "required_status",
        "warning",
        "requiredStatus is spelled differently; it is read, and written back as it "
        "stands",
    ),
    Rule(
        "role.word",
        "manifest_schema",
        "warning",
        "role isn't the word for a file at this path",
    ),
    Rule(
        "role.folded",
        "manifest_schema",
        "warning",
        "role is spelled differently; it is read, and written back as it stands",
    ),
    Rule(
        "media.unsupported",
        "media_type",
        "error",
        "the media type isn't one that a package may carry",
        _MALFORMED,
        hint="text/uaix, text/markdown, text/plain or application/json",
    ),
    Rule(
        "media.image",
        "media_type",
        "error",
        "images are carried under evidence/ only",
        _MALFORMED,
    ),
    Rule(
        "review.state",
        "manifest_schema",
        "error",
        "reviewState isn't review_required, reviewed or approved",
        _MALFORMED,
    ),
    Rule(
        "review.folded",
        "manifest_schema",
        "warning",
        "reviewState is spelled differently; it is read, and written back as it stands",
    ),
    Rule(
        "review.claimed",
        "manifest_schema",
        "info",
        "files say that they were reviewed; a package can't approve itself",
    ),
)

_INTEGRITY = (
    Rule(
        "hash.format",
        "hash_format",
        "error",
        "sha256 isn't 64 lower-case hex digits",
        _CHECKSUM,
    ),
    Rule(
        "hash.mismatch",
        "hash_mismatch",
        "error",
        "the content doesn't have the listed SHA-256",
        _PROVENANCE,
    ),
    Rule(
        "hash.sentinel",
        "hash_mismatch",
        "warning",
        "the listed SHA-256 is the sentinel: the file stays unloadable until reviewed",
        _CHECKSUM,
    ),
    Rule(
        "size.declared",
        "size_declared",
        "error",
        "the content doesn't have the listed size",
        _PROVENANCE,
    ),
    Rule(
        "digest.algorithm",
        "manifest_schema",
        "error",
        "integrity.algorithm isn't sha256",
        _CHECKSUM,
    ),
    Rule(
        "digest.scope",
        "manifest_schema",
        "error",
        "integrity.digestScope isn't files-v1",
        _CHECKSUM,
    ),
    Rule(
        "digest.format",
        "hash_format",
        "error",
        "integrity.packageDigest isn't 64 lower-case hex digits",
        _CHECKSUM,
    ),
    Rule(
        "digest.mismatch",
        "hash_mismatch",
        "error",
        "the files don't have the listed package digest",
        _PROVENANCE,
    ),
    Rule(
        "digest.sentinel",
        "hash_mismatch",
        "warning",
        "the package digest is the sentinel: the package stays in review",
        _CHECKSUM,
    ),
)

_INVENTORY = (
    Rule(
        "inventory.missing",
        "missing",
        "error",
        "the file is listed and isn't there",
        _MALFORMED,
    ),
    Rule(
        "inventory.undeclared",
        "undeclared",
        "error",
        "the file is there and isn't listed",
        _MALFORMED,
    ),
    Rule(
        "inventory.repeated",
        "duplicate_entry",
        "error",
        "files lists the same path twice",
        _MALFORMED,
    ),
    Rule(
        "inventory.self",
        "manifest_schema",
        "info",
        "the manifest lists itself; its own size isn't checked",
    ),
    Rule(
        "entrypoint.absent",
        "entrypoint",
        "error",
        "an entrypoint isn't a listed file",
        _MALFORMED,
    ),
    Rule(
        "entrypoint.order",
        "entrypoint",
        "error",
        "the entrypoints disagree with the start-up order",
        _MALFORMED,
    ),
    Rule(
        "entrypoint.repeated",
        "entrypoint",
        "warning",
        "an entrypoint is named twice",
    ),
)

_SETS = (
    Rule(
        "set.missing",
        "required_set",
        "error",
        "a required file is absent",
        _MALFORMED,
    ),
    Rule(
        "set.style",
        "required_set",
        "error",
        "a style file of the advanced persona is absent",
        _MALFORMED,
        lenient="warning",
    ),
    Rule(
        "set.content-trigger",
        "required_set",
        "error",
        "the file is there without the file that triggers it",
        _MALFORMED,
    ),
    Rule(
        "set.out-of-scope",
        "out_of_scope",
        "error",
        "the file is out of scope for what the package declares",
        _MALFORMED,
    ),
    Rule(
        "set.unregistered",
        "out_of_scope",
        "error",
        "no file may stand at this place",
        _MALFORMED,
        hint=".uai/, evidence/, exports/, docs/, AGENTS.md, llms.txt, llms-full.txt",
        lenient="warning",
    ),
    Rule(
        "set.file-handoff",
        "required_set",
        "warning",
        "agent_file_handoff is declared without .uai/file-handoff.uai",
        _MALFORMED,
    ),
    Rule(
        "set.extra",
        "out_of_scope",
        "info",
        "declared files beyond the required set are kept and don't load at start-up",
    ),
)

_BODIES = (
    Rule(
        "content.encoding",
        "content_encoding",
        "error",
        "a text file isn't UTF-8 text without control characters",
        _MALFORMED,
    ),
    Rule(
        "content.bom",
        "content_encoding",
        "warning",
        "a text file begins with a byte order mark",
    ),
    Rule(
        "content.binary",
        "nested_archive",
        "error",
        "the body is an archive",
        _MALFORMED,
    ),
    Rule(
        "content.binary-executable",
        "content_encoding",
        "error",
        "the body is an executable",
        "runtime_execution_requested",
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
