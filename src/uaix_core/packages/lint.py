"""Lint: the verdict on a package, and the checked package when it is accepted.

Everything is judged that can be: a fault in the archive doesn't hide one in the
manifest. Only a limit or a bomb ends the reading. A package that passes is evidence
for a review and no more: the report says which checks it passed, and which ruleset
they belong to.

Source: UAIX package format v0.1, "Verdict".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import attrs

from uaix_core.packages.archive.reader import ArchiveContents, read_archive
from uaix_core.packages.checked import CheckedFile, CheckedPackage
from uaix_core.packages.content.judging import ContentJudge
from uaix_core.packages.findings import Finding, Findings
from uaix_core.packages.folder import read_folder
from uaix_core.packages.inventory import judge_package_digest, judge_parity, measure
from uaix_core.packages.limits import DEFAULT_LIMITS, Limits
from uaix_core.packages.manifest.codec import from_wire
from uaix_core.packages.manifest.judging import judge_manifest
from uaix_core.packages.required.sets import (
    DEFAULT_RULESET,
    MANIFEST_PATH,
    ruleset_named,
)
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.signatures import SignatureReport, judge_signatures
from uaix_core.packages.source import PackageSource
from uaix_core.values.arguments import check_type
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.packages.contents import Contents, Measured
    from uaix_core.packages.manifest.values import Manifest

Verdict = Literal["accept", "refuse"]

#: Public keys of 32 raw bytes by their key ids.
TrustedKeys = Mapping[str, bytes]


class Checks(TypedDict, total=False):
    """How to judge: the arguments of `lint` that its callers hand on."""

    ruleset: str
    lenient: bool
    limits: Limits
    trusted: TrustedKeys


#: Inflated bodies are kept for later when all bodies together are at most this
#: large, in bytes; else they are inflated again on demand.
KEEP_LIMIT: Final = 32 * 1024 * 1024

_SEVERITIES: Final = ("error", "warning", "info")


@attrs.frozen
class Report:
    """The outcome of one lint.

    ``findings`` are in order: errors first, then by path and code. ``package`` is
    there only when the verdict is ``accept``; ``signatures`` whenever there was a
    manifest to look for them in.
    """

    verdict: Verdict
    ruleset: str
    findings: tuple[Finding, ...]
    package: CheckedPackage | None = attrs.field(default=None, eq=False)
    signatures: SignatureReport | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether no finding refuses the package."""
        return self.verdict == "accept"

    @property
    def summary(self) -> str:
        """The verdict in a sentence that claims no more than was checked."""
        if self.is_accepted:
            return f"passed these checks against ruleset {self.ruleset}"
        errors = sum(finding.severity == "error" for finding in self.findings)
        plural = "s" * (errors != 1)
        return f"refused with {errors} error{plural} against ruleset {self.ruleset}"

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "verdict": self.verdict,
            "ruleset": self.ruleset,
            "summary": self.summary,
            "findings": [finding.as_dict() for finding in self.findings],
            "package": None if self.package is None else self.package.as_dict(),
            "signatures": None
            if self.signatures is None
            else self.signatures.as_dict(),
        }


def lint(  # noqa: PLR0913 - all but the source are named
    source: PackageSource,
    *,
    ruleset: str = DEFAULT_RULESET,
    lenient: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    trusted: TrustedKeys | None = None,
    now: int,
) -> Report:
    """Judge a package; ``now`` is the present in microseconds UTC.

    ``trusted`` are the public keys (32 raw bytes) whose signatures are verified, by key
    id. A signature excuses no other rule, and one by another key is told and no more.

    Whatever the bytes are, the outcome is a report. The buffer of the source must
    stay unchanged while the checked package is in use.

    Raises:
        CallerError: ``ruleset.unknown``, ``input.type``, or ``archive.type`` for no
            buffer of bytes.

    """
    how = Settings(ruleset, limits, now, lenient, trusted or {})
    return _judged(source, how, with_content=True)


def lint_structure(
    source: PackageSource,
    *,
    ruleset: str = DEFAULT_RULESET,
    limits: Limits = DEFAULT_LIMITS,
    now: int,
) -> Report:
    """Judge everything but what a package says; for measuring what that part costs.

    Its report is no verdict on a package, and no verb of a session uses it.
    """
    return _judged(source, Settings(ruleset, limits, now), with_content=False)


@attrs.frozen
class Settings:
    """How one package is judged; ``now`` is in microseconds UTC."""

    ruleset: str
    limits: Limits
    now: int
    lenient: bool = False
    trusted: TrustedKeys = attrs.field(factory=dict)


def _judged(source: PackageSource, how: Settings, *, with_content: bool) -> Report:
    _check_arguments(source, how)
    rules = ruleset_named(how.ruleset)
    limits = how.limits
    findings = Findings(RULES, lenient=how.lenient, always=MANIFEST_PATH)
    judge = ContentJudge(findings) if with_content else None
    contents = _open(source, findings, limits)
    _judge_presence(contents, findings)
    raw, wire = _read_manifest(contents, findings, limits)
    listing = signatures = None
    if wire is not None:
        signatures = judge_signatures(wire, findings, how.trusted)
        listing = judge_manifest(
            wire, ruleset=rules, limits=limits, now=how.now, findings=findings
        )
        judge_parity(listing, contents, limits, findings)
    if judge is not None:
        judge.manifest(wire, raw)
        further = contents.names if isinstance(contents, ArchiveContents) else ()
        judge.names(contents.entries, further)
    total = sum(entry.size for entry in contents.entries.values())
    keep = total <= KEEP_LIMIT
    measured = measure(contents, listing, findings, keep=keep, judge=judge)
    digest = None
    if listing is not None:
        digest = judge_package_digest(listing, measured, findings)
    if judge is not None:
        judge.close(listing, measured)
        judge.hidden.guard(findings)
    package = None
    if wire is not None and digest is not None and not findings.has_error:
        manifest = from_wire(wire, ruleset=rules.name)
        package = CheckedPackage(
            manifest=manifest,
            manifest_bytes=raw,
            wire=wire,
            files=_checked_files(manifest, contents, measured),
            package_digest=digest,
            archive_sha256=_archive_digest(source),
        )
    verdict: Verdict = "refuse" if findings.has_error else "accept"
    told: Iterable[Finding] = findings
    if judge is not None:
        told = judge.hidden.safe(findings)
        if signatures is not None and signatures.uncovered:
            uncovered = tuple(map(judge.hidden.shown, signatures.uncovered))
            signatures = attrs.evolve(signatures, uncovered=uncovered)
    return Report(verdict, rules.name, _ordered(told), package, signatures)


def _check_arguments(source: PackageSource, how: Settings) -> None:
    if not isinstance(source, PackageSource):
        raise CallerError(
            "not a package source",
            code="package.source",
            hint="uaix_backends.read_package reads one from a path",
        )
    if not isinstance(how.trusted, Mapping):
        raise CallerError(
            "trusted keys are a mapping from key ids to public keys",
            code="signature.trusted",
            path="trusted",
        )
    check_type(how.ruleset, str, "ruleset")
    check_type(how.lenient, bool, "lenient")
    check_type(how.limits, Limits, "limits")


def _open(source: PackageSource, findings: Findings, limits: Limits) -> Contents:
    if source.files is not None:
        return read_folder(source.files, findings, limits)
    data = source.archive if source.archive is not None else b""
    return read_archive(data, findings, name=source.archive_name, limits=limits)


def _judge_presence(contents: Contents, findings: Findings) -> None:
    if MANIFEST_PATH not in contents.entries:
        if contents.complete:
            findings.add("manifest.missing", MANIFEST_PATH)
        return
    twice = [
        finding
        for finding in findings
        if finding.code == "path.duplicate" and finding.path == MANIFEST_PATH
    ]
    if twice:
        findings.add("manifest.duplicate", MANIFEST_PATH)


def _read_manifest(
    contents: Contents, findings: Findings, limits: Limits
) -> tuple[bytes, dict[str, Any] | None]:
    """The manifest's bytes and its parsed object; None when there is none to judge."""
    entry = contents.entries.get(MANIFEST_PATH)
    if entry is None:
        return b"", None
    if entry.size > limits.manifest_bytes:
        findings.halt("manifest.limit", MANIFEST_PATH)
        return b"", None
    content = entry.read()
    if content is None:
        return b"", None
    raw = bytes(content)
    try:
        wire = parse(raw, max_depth=limits.json_depth)
    except StrictJsonError as error:
        is_encoding = error.reason in ("encoding", "bom")
        code = "manifest.encoding" if is_encoding else error.code
        findings.add(code, MANIFEST_PATH, f"{error.message}, {error.path}")
        return raw, None
    if not isinstance(wire, dict):
        findings.add("json.root", MANIFEST_PATH)
        return raw, None
    if b"\\u0000" in raw and _has_nul(wire):
        findings.add("manifest.nul", MANIFEST_PATH)
    return raw, wire


def _has_nul(value: Any) -> bool:
    """Whether any text in a JSON value holds a NUL, which no store keeps."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(map(_has_nul, value)) or any(map(_has_nul, value.values()))
    return isinstance(value, list) and any(map(_has_nul, value))


def _checked_files(
    manifest: Manifest, contents: Contents, measured: Mapping[str, Measured]
) -> tuple[CheckedFile, ...]:
    files = []
    for entry in sorted(manifest.files, key=lambda entry: entry.path):
        if entry.path != MANIFEST_PATH:
            body = measured[entry.path]
            files.append(
                CheckedFile(
                    entry=entry,
                    size=body.size,
                    sha256=body.sha256,
                    kept=body.kept,
                    content=contents.entries[entry.path],
                )
            )
    return tuple(files)


def _archive_digest(source: PackageSource) -> str | None:
    return None if source.archive is None else sha256_hex(source.archive)


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    def key(finding: Finding) -> tuple[int, str, str, str]:
        rank = _SEVERITIES.index(finding.severity)
        return rank, finding.path or "", finding.code, finding.message

    return tuple(sorted(findings, key=key))
