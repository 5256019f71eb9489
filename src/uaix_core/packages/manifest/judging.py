"""The judgement of a parsed manifest on its own, before any file is looked at.

`shape` finds what is there, this module judges the fields of the whole,
`entries` each listed file, `required.sets` their closure, and `inventory`
compares the listing with the content.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.manifest import words
from uaix_core.packages.manifest.codec import read_entrypoints
from uaix_core.packages.manifest.entries import EntryJudge
from uaix_core.packages.manifest.shape import shape
from uaix_core.packages.manifest.values import SENTINEL
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.paths import shown
from uaix_core.packages.required.files import ADVANCED_PERSONA, UNIVERSAL
from uaix_core.packages.required.sets import judge_required
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import DAY, parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.manifest.shape import Fields
    from uaix_core.packages.required.sets import Ruleset

#: How far createdUtc may be ahead of the clock, in microseconds.
FUTURE_TOLERANCE: Final = DAY

_created = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?Z"
).fullmatch


@attrs.frozen
class Listing:
    """What the manifest lists, as far as it could be read.

    ``listed`` maps each path (the manifest's own left out) to the usable fields of its
    entry in Python names; ``self_entry`` are those of the manifest's own entry, if it
    has one. ``scopes`` are the declared scopes that the ruleset knows, ``universal``
    included.
    """

    listed: Mapping[str, Fields]
    self_entry: Fields | None
    scopes: frozenset[str]
    package_digest: str | None


def judge_manifest(
    wire: Mapping[str, Any],
    *,
    ruleset: Ruleset,
    limits: Limits,
    now: int,
    findings: Findings,
) -> Listing:
    """Judge a parsed manifest; ``now`` is the present in microseconds UTC.

    Never raises for any parsed JSON object: whatever is wrong becomes a finding.
    """
    found = shape(wire, limits, findings)
    top = found.top
    for name, judge in _FIELD_JUDGES:
        if name in top:
            judge(top[name], findings)
    if "created_utc" in top:
        _judge_created(top["created_utc"], now, findings)
    declared = _judge_scopes(top.get("declared_scopes"), ruleset, findings)
    _judge_profile(top.get("profile_id"), declared, ruleset, findings)
    entries = EntryJudge(ruleset, declared, findings)
    entries.judge(found.entries)
    if "entrypoints" in top and "files" in top:
        listed = entries.listed.keys()
        _judge_entrypoints(top["entrypoints"], listed, ruleset, findings)
    digest = _judge_integrity(found.integrity, findings)
    scopes = (declared or frozenset()) & ruleset.scopes | {UNIVERSAL}
    if top.get("profile_id") == ADVANCED_PERSONA:
        scopes |= {ADVANCED_PERSONA}
    judge_required(entries.listed.keys(), scopes, ruleset, findings)
    return Listing(
        listed=entries.listed,
        self_entry=entries.self_entry,
        scopes=scopes,
        package_digest=digest,
    )


def _judge_version(version: str, findings: Findings) -> None:
    if not words.is_version_read(version):
        findings.add("version.uaix", "uaixVersion")
    elif version != words.UAIX_VERSION:
        findings.add("version.uaix-other", "uaixVersion")


def _judge_format(text: str, findings: Findings) -> None:
    if not text.startswith(words.PACKAGE_FORMAT_PREFIX):
        findings.add("version.format", "packageFormat")


def _judge_package_id(text: str, findings: Findings) -> None:
    if not words.is_usable_id(text):
        findings.add("id.package", "packageId")


def _judge_profile_id(text: str, findings: Findings) -> None:
    if not words.is_usable_id(text):
        findings.add("id.profile", "profileId")


def _judge_based_on(text: Any, findings: Findings) -> None:
    is_digest = isinstance(text, str) and words.is_sha256(text)
    if text is not None and not is_digest:
        findings.add("id.based-on", "basedOn")


_FIELD_JUDGES: Final[tuple[tuple[str, Callable[[Any, Findings], None]], ...]] = (
    ("uaix_version", _judge_version),
    ("package_format", _judge_format),
    ("package_id", _judge_package_id),
    ("profile_id", _judge_profile_id),
    ("based_on", _judge_based_on),
)


def _judge_created(text: str, now: int, findings: Findings) -> None:
    match = _created(text)
    if match is None:
        findings.add("time.syntax", "createdUtc")
        return
    seconds, fraction = match.groups()
    # Finer than a microsecond is legal on the wire and no instant of ours.
    micros = (fraction or "")[:7]
    try:
        created = parse_instant(f"{seconds}{micros}Z")
    except CallerError:
        findings.add("time.date", "createdUtc")
        return
    if created > now + FUTURE_TOLERANCE:
        findings.add("time.future", "createdUtc")


def _judge_scopes(
    declared: list[Any] | None, ruleset: Ruleset, findings: Findings
) -> frozenset[str] | None:
    """The declared scopes in canonical spelling, or None when there are none."""
    if declared is None:
        return None
    scopes: set[str] = set()
    for index, word in enumerate(declared):
        place = f"declaredScopes[{index}]"
        if not isinstance(word, str) or not word:
            findings.add("manifest.type", place, "a scope must be a non-empty string")
            continue
        scope = word if word in ruleset.scopes else fold(word)
        if scope not in ruleset.scopes:
            findings.add("scope.unknown", place)
        elif scope != word:
            findings.add("scope.folded", place)
        if scope in scopes:
            findings.add("scope.repeated", place)
        scopes.add(scope)
    return frozenset(scopes | {UNIVERSAL})


def _judge_profile(
    profile: str | None,
    declared: frozenset[str] | None,
    ruleset: Ruleset,
    findings: Findings,
) -> None:
    if profile is None:
        return
    if profile not in ruleset.scopes and words.is_usable_id(profile):
        findings.add("profile.unknown", "profileId")
    if declared is not None:
        is_advanced = ADVANCED_PERSONA in declared
        if is_advanced != (profile == ADVANCED_PERSONA):
            findings.add("profile.mismatch", "profileId")


def _judge_entrypoints(
    wire: Any, listed: Any, ruleset: Ruleset, findings: Findings
) -> None:
    paths = read_entrypoints(wire, ruleset=ruleset.name)
    named: dict[str, None] = {}
    for path in paths:
        if path not in listed:
            findings.add("entrypoint.absent", shown(path))
        elif path in named:
            findings.add("entrypoint.repeated", shown(path))
        else:
            named[path] = None
    if list(named) != sorted(named, key=ruleset.startup_key):
        findings.add("entrypoint.order", "entrypoints")


def _judge_integrity(fields: Fields, findings: Findings) -> str | None:
    """The package digest to compare with, or None when there is none to compare."""
    is_known = True
    for name, key, code, word in _INTEGRITY_WORDS:
        if name not in fields or fields[name] != word:
            is_known = False
        if name in fields and fields[name] != word:
            findings.add(code, f"integrity.{key}")
    digest: str | None = fields.get("package_digest")
    if digest is None:
        return None
    if digest == SENTINEL:
        findings.add("digest.sentinel", "integrity.packageDigest")
    elif not words.is_sha256(digest):
        findings.add("digest.format", "integrity.packageDigest")
        return None
    return digest if is_known or digest == SENTINEL else None


_INTEGRITY_WORDS: Final = (
    ("algorithm", "algorithm", "digest.algorithm", "sha256"),
    ("digest_scope", "digestScope", "digest.scope", "files-v1"),
)
