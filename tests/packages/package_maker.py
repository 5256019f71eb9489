"""Packages made by code: valid ones, to be bent by one edit.

The required files are written down once more here, so that a slip in the library's
registry is seen.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from pathlib import PurePosixPath

from uaix_core.packages.lint import lint
from uaix_core.packages.source import PackageSource
from uaix_core.values.instants import parse_instant

NOW = parse_instant("2026-06-01T12:00:00Z")
MANIFEST = ".uai/manifest.uaix.json"
SENTINEL = "0" * 64

UNIVERSAL = [
    "memory-maintenance",
    "identity",
    "world-context",
    "totem",
    "taboo",
    "talisman",
    "short-term-memory",
]
DIMENSIONS = [
    "identity",
    "religion-worldview",
    "political-leaning",
    "sense-of-style",
    "sense-of-winter",
    "sense-of-spring-fall",
    "super-fashion-style",
    "jewelry-choices",
    "physical-appearance",
    "birth-age-generation",
    "romantic-orientation",
    "voice",
    "values",
    "temperament",
    "reasoning-style",
    "emotional-patterns",
    "relationship-style",
    "behavioral-patterns",
    "boundaries",
    "examples-dialogue",
    "adaptation-rules",
    "preservation-rules",
]

#: What each scope asks for beside the universal seven.
REQUIRED = {
    "universal": (),
    "project_handoff": (
        ".uai/startup-packet.uai",
        ".uai/system-profile.uai",
        ".uai/receiver-brief.uai",
        ".uai/exports/manifest.json",
        "AGENTS.md",
    ),
    "code_bearing": (
        ".uai/coding-standards.uai",
        ".uai/architecture.uai",
        ".uai/test-plan.uai",
        ".uai/next-recursive-prompt.uai",
    ),
    "non_project_assistant": (".uai/persona.uai",),
    "persona_profile": (".uai/persona.uai",),
    "advanced_persona_profile": (
        ".uai/persona.uai",
        *(f".uai/personality/{stem}.uai" for stem in DIMENSIONS),
    ),
    "long_term_memory": (".uai/long-term-memory.uai",),
    "agent_file_handoff": (".uai/file-handoff.uai",),
}

EVIDENCE = [
    "source-excerpts",
    "fidelity-tests",
    "variance-report",
    "source-platform",
    "provenance",
]

#: The labels under which each file speaks of what it must speak of.
LABELS = {
    ".uai/memory-maintenance.uai": [
        "Lifecycle",
        "Hot and cold boundary",
        "Compaction cadence",
        "Archival policy",
        "Promotion and demotion",
        "Access control",
        "Active anchors",
        "Review gates",
        "Validation behaviour",
        "Write safety",
    ],
    ".uai/persona.uai": [
        "Name",
        "Purpose",
        "Voice",
        "Symbolic posture",
        "Interaction position",
        "Relationship limits",
        "Blocked claims",
        "Switching behaviour",
        "Privacy limits",
        "Consent limits",
        "Persona-preservation policy",
        "Assistant identity",
        "User-facing purpose",
        "Interaction boundary",
        "Privacy boundary",
        "Memory-update rules",
        "Refusal and no-op triggers",
        "Review cadence",
        "Import notice",
    ],
    ".uai/coding-standards.uai": ["Commands"],
    ".uai/architecture.uai": ["Source roots", "Support limits"],
    ".uai/test-plan.uai": ["Test surfaces"],
    ".uai/next-recursive-prompt.uai": ["Next work"],
    ".uai/file-handoff.uai": [
        "Active-intake bucket",
        "Disposition rules",
        "Redaction rules",
        "Evidence retention path",
        "Checksum ledger or receipt route",
        "Source-site removal rule",
        "Final-report fields",
    ],
}

#: One pointer of long-term memory, complete.
POINTER = {
    "Stable id": "harbour",
    "Path": "https://wiki.example/harbour",
    "Label": "The harbour",
    "Routing summary": "Where the harbour is told of.",
    "Authority/source": "the steward",
    "Review status": "reviewed",
    "Review evidence": "evidence/harbour.md",
}
LEDGER = {
    "wikiRoot": "docs/wiki",
    "indexPath": "docs/wiki/index.md",
    "evidenceLog": "evidence/log.md",
    "steward": "the team",
    "sourceBoundary": "this wiki only",
    "promotionTargets": ["docs/wiki"],
    "reviewState": "review_required",
    "trustLabels": ["reviewed"],
    "sourceSiteRemoval": "after review",
    "unfinishedDisposition": "hold",
}

_ROLES = {"AGENTS.md": "instructions", ".uai/readme.human": "instructions"}
_MEDIA = {".uai": "text/uaix", ".json": "application/json", ".md": "text/markdown"}


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def labelled(path: str, *labels: str) -> bytes:
    """A body that says something under each label."""
    lines = [f"# {path}", "", "About: a file of a test.", *(f"{x}: x." for x in labels)]
    return ("\n".join(lines) + "\n").encode()


def pointers(*records: dict[str, str]) -> bytes:
    """A ledger of these pointer records."""
    blocks = [
        "\n".join(f"{label}: {text}" for label, text in record.items())
        for record in records
    ]
    return ("\n\n".join(["# Long-term memory", *blocks]) + "\n").encode()


def body_of(path: str) -> bytes:
    """What stands in a file when a test doesn't say."""
    if path.endswith(".json"):
        return b'{"activeReadOrder": []}\n'
    if path == ".uai/long-term-memory.uai":
        return pointers(POINTER)
    return labelled(path, *LABELS.get(path, ()))


class Maker:
    """A package under construction: its files, its manifest, and how to spell them.

    ``raw`` replaces the manifest's bytes, ``bare`` leaves the manifest out, and
    ``doubled`` writes it twice into the archive.
    """

    def __init__(self, *scopes: str) -> None:
        scope = scopes[-1] if scopes else "universal"
        self.files: dict[str, bytes] = {}
        self.raw: bytes | None = None
        self.bare = False
        self.doubled = False
        self.manifest: dict = {
            "uaixVersion": "0.1",
            "packageFormat": "uaix.package.v0.1",
            "packageId": "made-by-code",
            "profileId": scope,
            "status": "draft",
            "createdUtc": "2026-01-02T03:04:05Z",
            "issuer": "tests.example",
            "declaredScopes": list(dict.fromkeys(("universal", *scopes))),
            "entrypoints": [".uai/memory-maintenance.uai"],
            "files": [],
            "integrity": {"algorithm": "sha256", "digestScope": "files-v1"},
            "supportBoundary": {"outside": ["runtime execution"]},
        }
        for stem in UNIVERSAL:
            path = f".uai/{stem}.uai"
            self.add(path, requiredStatus="universal_required", scope="universal")
        for name in scopes:
            for path in REQUIRED[name]:
                if path not in self.files:
                    self.add(path, scope=name)
        if "advanced_persona_profile" in scopes:
            for stem in EVIDENCE:
                self.add(f"evidence/{stem}.md", scope="advanced_persona_profile")
        if "long_term_memory" in scopes:
            self.manifest["longTermMemory"] = dict(LEDGER)

    def add(self, path: str, data: bytes | None = None, **fields: object) -> dict:
        """Add a file and its entry; ``fields`` replace those of the entry."""
        name = PurePosixPath(path)
        body = body_of(path) if data is None else data
        role = "memory" if path.startswith(".uai/notes") else name.stem
        if path.startswith("evidence/"):
            role = "evidence"
        entry = {
            "path": path,
            "role": _ROLES.get(path, role.replace("-", "_")),
            "requiredStatus": "profile_required",
            "scope": "universal",
            "mediaType": _MEDIA.get(name.suffix, "text/plain"),
            "sizeBytes": len(body),
            "sha256": digest(body),
            "reviewState": "review_required",
            "source": "written for a test",
            **fields,
        }
        self.files[path] = body
        self.manifest["files"].append(entry)
        return entry

    def entry(self, path: str) -> dict:
        """The manifest's entry of a file."""
        return next(e for e in self.manifest["files"] if e.get("path") == path)

    def drop(self, path: str) -> None:
        """Leave a file out, with its entry."""
        del self.files[path]
        self.manifest["files"].remove(self.entry(path))

    def manifest_bytes(self) -> bytes:
        """The manifest as it will be written."""
        if self.raw is not None:
            return self.raw
        return json.dumps(self.manifest, indent=1).encode("utf-8")

    def folder(self) -> PackageSource:
        """The package as a folder."""
        manifest = {} if self.bare else {MANIFEST: self.manifest_bytes()}
        return PackageSource(files={**manifest, **self.files})

    def archive(self, method: int = zipfile.ZIP_STORED) -> PackageSource:
        """The package as an archive."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2 if self.doubled else 1):
                archive.writestr(MANIFEST, self.manifest_bytes())
            for path, data in self.files.items():
                archive.writestr(path, data)
        return PackageSource(name="made.uaix", archive=buffer.getvalue())

    def lint(self, **options):
        """Lint the package: as an archive where only that can hold it."""
        source = self.archive() if self.doubled else self.folder()
        return lint(source, **{"now": NOW, **options})


def codes(report) -> set[str]:
    """The codes of all findings of a report."""
    return {finding.code for finding in report.findings}


def errors(report) -> set[str]:
    """The codes of the findings that refuse."""
    return {f.code for f in report.findings if f.severity == "error"}
