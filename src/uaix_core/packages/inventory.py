"""The listing against the content: parity both ways, sizes, digests, bodies.

Source: UAIX package format v0.1, "Words on the wire" and "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.packages.content.bodies import judge_body
from uaix_core.packages.contents import Measured
from uaix_core.packages.manifest.values import SENTINEL, files_digest
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.paths import judge_path, shown
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.content.judging import ContentJudge
    from uaix_core.packages.contents import Contents
    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.manifest.judging import Listing


def judge_parity(
    listing: Listing, contents: Contents, limits: Limits, findings: Findings
) -> None:
    """Judge that what is listed is there, and what is there is listed."""
    there = contents.entries
    for path in listing.listed:
        if path in there:
            continue
        judge_path(path, limits, findings)
        if contents.complete:
            findings.add("inventory.missing", shown(path))
    for path in there:
        if path != MANIFEST_PATH and path not in listing.listed:
            findings.add("inventory.undeclared", shown(path))


def measure(
    contents: Contents,
    listing: Listing | None,
    findings: Findings,
    *,
    keep: bool,
    judge: ContentJudge | None = None,
) -> dict[str, Measured]:
    """Read every body once; judge it and compare it with its entry.

    ``listing`` is None when there is no readable manifest: the bodies are then judged
    as far as they go without one. ``keep`` keeps the content of inflated bodies.
    ``judge`` sees each body as well; None: the content isn't judged.
    """
    listed = {} if listing is None else listing.listed
    measured: dict[str, Measured] = {}
    for entry, content in contents.bodies():
        if content is None:
            continue
        path = entry.path
        data = bytes(content)
        digest = sha256_hex(data)
        is_view = isinstance(content, memoryview)
        kept = data if keep and not is_view else None
        measured[path] = Measured(len(data), digest, kept)
        if path == MANIFEST_PATH:
            if listing is not None and listing.self_entry is not None:
                _compare_digest(path, listing.self_entry, digest, findings)
            continue
        fields = listed.get(path, {})
        media_type = fields.get("media_type")
        judge_body(path, data, media_type, findings)
        if judge is not None:
            judge.body(path, data, media_type, digest)
        if fields:
            if fields.get("size_bytes", len(data)) != len(data):
                findings.add("size.declared", shown(path))
            _compare_digest(path, fields, digest, findings)
    return measured


def _compare_digest(
    path: str, fields: Mapping[str, Any], digest: str, findings: Findings
) -> None:
    declared = fields.get("sha256")
    if declared is None or declared == digest:
        return
    if declared == SENTINEL:
        # In the manifest's own entry nothing else could stand.
        if path != MANIFEST_PATH:
            findings.add("hash.sentinel", shown(path))
    elif is_sha256(declared):
        findings.add("hash.mismatch", shown(path))


def judge_package_digest(
    listing: Listing, measured: Mapping[str, Measured], findings: Findings
) -> str | None:
    """The recomputed package digest; None when a listed file can't be read.

    Compared with the declared one, if there is one and it isn't the sentinel.
    """
    if not listing.listed.keys() <= measured.keys():
        return None
    digest = files_digest(
        (path, measured[path].size, measured[path].sha256) for path in listing.listed
    )
    declared = listing.package_digest
    if declared not in (None, SENTINEL, digest):
        findings.add("digest.mismatch", "integrity.packageDigest")
    return digest
