"""One broken and one sound package for every rule of the manifest page.

Each case is (code, scopes, edit that breaks the rule, edit that comes close to it).
"""

from __future__ import annotations

import json

from tests.packages.package_maker import MANIFEST, SENTINEL, Maker

PERSONA = ".uai/persona.uai"
TOTEM = ".uai/totem.uai"
NOTE = ".uai/notes/a.uai"
STYLE = ".uai/personality/sense-of-style.uai"
WINTER = ".uai/personality/sense-of-winter.uai"


def _nothing(_maker: Maker) -> None:
    pass


def top(**fields):
    """Replace fields of the manifest."""
    return lambda maker: maker.manifest.update(fields)


def without(field):
    """Leave a field of the manifest out."""
    return lambda maker: maker.manifest.pop(field)


def totem(**fields):
    """Replace fields of one entry."""
    return lambda maker: maker.entry(TOTEM).update(fields)


def raw(edit):
    """Edit the manifest's bytes."""

    def apply(maker: Maker) -> None:
        maker.raw = edit(maker.manifest_bytes())

    return apply


def note(data=None, path=NOTE, **fields):
    """Add a further file."""
    return lambda maker: maker.add(path, data, **fields)


def drop(path):
    """Leave a file out, with its entry."""
    return lambda maker: maker.drop(path)


def also(*edits):
    """Several edits, one after the other."""

    def apply(maker: Maker) -> None:
        for edit in edits:
            edit(maker)

    return apply


def body(path, data):
    """Change a file and leave its entry as it is."""
    return lambda maker: maker.files.update({path: data})


def unlist(path):
    """Leave an entry out and its file in."""
    return lambda maker: maker.manifest["files"].remove(maker.entry(path))


def no_manifest(maker: Maker) -> None:
    """Write no manifest."""
    maker.bare = True


def double(maker: Maker) -> None:
    """Write the manifest twice."""
    maker.doubled = True


def repeat(path):
    """List a file twice."""
    return lambda maker: maker.manifest["files"].append(dict(maker.entry(path)))


def self_entry(digest):
    """List the manifest in itself."""

    def apply(maker: Maker) -> None:
        maker.add(MANIFEST, b"", role="manifest", sha256=digest, sizeBytes=5)
        del maker.files[MANIFEST]

    return apply


def deep(levels):
    """An extra field of so many nested lists; the manifest itself is one level."""
    return top(x=json.loads("[" * levels + "]" * levels))


def integrity(**fields):
    """Replace fields of the integrity object."""
    return lambda maker: maker.manifest["integrity"].update(fields)


ADVANCED = ("advanced_persona_profile",)
HANDOFF = ("project_handoff",)
LARGE = b" " * (4 * 1024 * 1024)

CASES = [
    ("manifest.missing", (), no_manifest, _nothing),
    ("manifest.duplicate", (), double, _nothing),
    (
        "manifest.limit",
        (),
        raw(lambda b: b + LARGE),
        raw(lambda b: b + LARGE[len(b) :]),
    ),
    ("manifest.encoding", (), raw(lambda b: b"\xef\xbb\xbf" + b), top(issuer="é")),
    ("json.depth", (), deep(32), deep(31)),
    ("json.syntax", (), raw(lambda b: b[:-1]), raw(lambda b: b + b"\r\n\t ")),
    (
        "json.duplicate-key",
        (),
        raw(lambda b: b.replace(b"{", b'{"\\u0069ssuer": "a",', 1)),
        raw(lambda b: b.replace(b'"issuer"', b'"\\u0069ssuer"', 1)),
    ),
    (
        "json.number",
        (),
        totem(sizeBytes=2**53),
        top(x=[2**53 - 1, -(2**53) + 1, 1.5e300]),
    ),
    (
        "json.surrogate",
        (),
        raw(lambda b: b.replace(b"tests.", b"\\ud800", 1)),
        raw(lambda b: b.replace(b"tests.", b"\\ud83d\\ude00", 1)),
    ),
    ("json.trailing", (), raw(lambda b: b + b"\0"), raw(lambda b: b + b"\n")),
    ("json.root", (), raw(lambda b: b"[" + b + b"]"), _nothing),
    ("manifest.field", (), without("status"), _nothing),
    ("manifest.nul", (), top(mood="a\0b"), top(mood="a\\u0000b")),
    ("manifest.type", (), totem(sizeBytes=True), totem(source={"a": 1})),
    ("manifest.extra", (), top(mood="calm"), top(longTermMemory={})),
    ("version.uaix", (), top(uaixVersion="2.0"), top(uaixVersion="3.138.0")),
    ("version.uaix-other", (), top(uaixVersion="1.0"), _nothing),
    (
        "version.format",
        (),
        top(packageFormat="uaix.pack"),
        top(packageFormat="uaix.package.v9"),
    ),
    ("id.package", (), top(packageId="com1.x"), top(packageId="com10" + "x" * 123)),
    ("id.profile", (), top(profileId="a/b"), top(profileId="a.b-c_d")),
    ("id.stable", (), totem(stableId="../x"), totem(stableId="x")),
    (
        "id.stable-repeated",
        (),
        also(totem(stableId="x"), note(stableId="x")),
        also(totem(stableId="x"), note(stableId="X")),
    ),
    ("id.based-on", (), top(basedOn="x"), top(basedOn="a" * 64)),
    ("profile.unknown", (), top(profileId="universal_memory"), _nothing),
    (
        "profile.mismatch",
        ADVANCED,
        top(profileId="persona_profile"),
        top(profileId="advanced_persona_profile"),
    ),
    (
        "time.syntax",
        (),
        top(createdUtc="2026-01-02T03:04:05+00:00"),
        top(createdUtc="2026-01-02T03:04:05.123456789Z"),
    ),
    (
        "time.date",
        (),
        top(createdUtc="2026-02-29T00:00:00Z"),
        top(createdUtc="2024-02-29T00:00:00Z"),
    ),
    (
        "time.future",
        (),
        top(createdUtc="2026-06-02T12:00:00.000001Z"),
        top(createdUtc="2026-06-02T12:00:00Z"),
    ),
    (
        "scope.unknown",
        (),
        top(declaredScopes=["universal", "galactic"]),
        top(declaredScopes=["universal"]),
    ),
    (
        "scope.undeclared",
        (),
        totem(scope="code_bearing"),
        top(declaredScopes=["agent_file_handoff"]),
    ),
    ("scope.folded", (), totem(scope=" Universal"), totem(scope="universal")),
    (
        "scope.repeated",
        (),
        top(declaredScopes=["universal", "UNIVERSAL"]),
        top(declaredScopes=["universal"]),
    ),
    (
        "required.unknown",
        (),
        note(requiredStatus="required"),
        note(requiredStatus="configuration_specific_required"),
    ),
    (
        "required.soft",
        (),
        note(requiredStatus="nice to have"),
        note(requiredStatus="content_triggered_required"),
    ),
    (
        "required.out-of-scope",
        (),
        note(requiredStatus="out of scope"),
        note(requiredStatus="profile_required"),
    ),
    (
        "required.status",
        ADVANCED,
        lambda m: m.entry(STYLE).update(requiredStatus="content_triggered_required"),
        lambda m: m.entry(WINTER).update(requiredStatus="content_triggered_required"),
    ),
    ("required.folded", (), totem(requiredStatus="Universal-Required"), _nothing),
    ("role.word", (), totem(role="memory"), note(role="memory")),
    ("role.folded", (), totem(role="Totem"), totem(role="totem")),
    (
        "media.unsupported",
        (),
        note(path="docs/a.html", mediaType="text/html"),
        note(path="docs/a.json", mediaType="application/json"),
    ),
    (
        "media.image",
        (),
        note(b"\x89PNG", "docs/a.png", mediaType="image/png"),
        note(b"\x89PNG", "evidence/a.png", mediaType="image/png"),
    ),
    ("review.state", (), totem(reviewState="trusted"), totem(reviewState="reviewed")),
    ("review.folded", (), totem(reviewState="Review Required"), _nothing),
    ("review.claimed", (), totem(reviewState="approved"), _nothing),
    ("hash.format", (), totem(sha256="A" * 64), totem(sha256=SENTINEL)),
    ("hash.mismatch", (), totem(sha256="a" * 64), self_entry(SENTINEL)),
    ("hash.sentinel", (), totem(sha256=SENTINEL), self_entry(SENTINEL)),
    (
        "size.declared",
        (),
        totem(sizeBytes=1, sha256=SENTINEL),
        self_entry(SENTINEL),
    ),
    ("digest.algorithm", (), integrity(algorithm="md5"), integrity(more=1)),
    ("digest.scope", (), integrity(digestScope="zip"), integrity(signatures=[])),
    (
        "digest.format",
        (),
        integrity(packageDigest="0" * 63),
        integrity(packageDigest=SENTINEL),
    ),
    (
        "digest.mismatch",
        (),
        integrity(packageDigest="a" * 64),
        integrity(packageDigest=SENTINEL),
    ),
    ("digest.sentinel", (), integrity(packageDigest=SENTINEL), _nothing),
    (
        "inventory.missing",
        (),
        also(note(sha256=SENTINEL), lambda m: m.files.pop(NOTE)),
        note(),
    ),
    ("inventory.undeclared", (), body(NOTE, b""), note(b"")),
    ("inventory.repeated", (), repeat(TOTEM), note()),
    ("inventory.self", (), self_entry(SENTINEL), _nothing),
    ("entrypoint.absent", (), top(entrypoints=["../x"]), top(entrypoints=[])),
    (
        "entrypoint.order",
        (),
        top(entrypoints=[TOTEM, ".uai/identity.uai"]),
        top(entrypoints={"a": TOTEM, "b": ".uai/identity.uai"}),
    ),
    ("entrypoint.repeated", (), top(entrypoints=[TOTEM, TOTEM]), _nothing),
    ("set.missing", (), drop(TOTEM), _nothing),
    ("set.style", ADVANCED, drop(WINTER), _nothing),
    ("set.content-trigger", ADVANCED, drop(STYLE), drop(WINTER)),
    (
        "set.out-of-scope",
        HANDOFF,
        note(path=PERSONA, role="persona"),
        note(path=".uai/notes/persona.uai"),
    ),
    (
        "set.unregistered",
        (),
        note(path="src/a.md", role="memory"),
        note(path="docs/a.md", role="memory"),
    ),
    (
        "set.file-handoff",
        ("agent_file_handoff",),
        drop(".uai/file-handoff.uai"),
        _nothing,
    ),
    ("set.extra", (), note(), _nothing),
    ("content.encoding", (), note(b"a\x1bb"), note("\té\r\n\x7f".encode())),
    ("content.bom", (), note(b"\xef\xbb\xbfa"), note(b"a")),
    ("content.binary", (), note(b"PK\x03\x04"), note(b"PK\x03")),
    ("content.binary-executable", (), note(b"\x7fELF"), note(b"ELF")),
]
