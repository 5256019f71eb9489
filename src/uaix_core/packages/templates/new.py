"""A new package to edit, and the refresh of its manifest after editing.

`new_package` gives every file that a kind of package requires, each with words on
what belongs there and an example to replace. Nothing in it is anybody's memory yet,
so every file waits for review.

Source: UAIX package format v0.1, "Required sets" and "Words on the wire".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import attrs

from uaix_core.packages.manifest.codec import to_bytes
from uaix_core.packages.manifest.values import (
    FileEntry,
    Integrity,
    Manifest,
    derived_stable_id,
    files_digest,
)
from uaix_core.packages.manifest.words import (
    PACKAGE_FORMAT,
    UAIX_VERSION,
    is_usable_id,
)
from uaix_core.packages.required import files as registered
from uaix_core.packages.required.sets import (
    DEFAULT_RULESET,
    MANIFEST_PATH,
    ruleset_named,
    startup_order,
)
from uaix_core.packages.templates.evidence import EVIDENCE_TEXTS
from uaix_core.packages.templates.persona import PERSONA_TEXTS
from uaix_core.packages.templates.repack import Repacked, repack
from uaix_core.packages.templates.texts import UNIVERSAL_TEXTS, StarterText
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "Kind", "Repacked", "new_package", "repack"]

Kind = Literal["universal", "persona", "advanced-persona"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: What a new package says about its own reach; the importer decides all the same.
SUPPORT_BOUNDARY: Final = {
    "current": ["local import into quarantine", "review by a human"],
    "outside": ["runtime execution", "hosted import", "tool grants", "certification"],
}


@attrs.frozen
class _Recipe:
    """What a kind consists of: the scope beside universal, and its texts."""

    scope: str
    texts: Mapping[str, StarterText]


_PERSONA_ONLY: Final = {
    path: text
    for path, text in PERSONA_TEXTS.items()
    if path == registered.PERSONA_FILE
}

_RECIPES: Final[Mapping[Kind, _Recipe]] = {
    "universal": _Recipe(registered.UNIVERSAL, UNIVERSAL_TEXTS),
    "persona": _Recipe(registered.PERSONA, {**UNIVERSAL_TEXTS, **_PERSONA_ONLY}),
    "advanced-persona": _Recipe(
        registered.ADVANCED_PERSONA,
        {**UNIVERSAL_TEXTS, **PERSONA_TEXTS, **EVIDENCE_TEXTS},
    ),
}


def new_package(
    kind: Kind,
    *,
    package_id: str,
    created_at: int,
    issuer: str,
    source: str = "starter text, not yet edited",
) -> dict[str, bytes]:
    """A complete package to edit, as logical path to bytes, the manifest first.

    ``created_at`` is in microseconds UTC and is written to the second. ``source`` is
    what the manifest says about where each file comes from.

    Raises:
        CallerError: ``template.kind``; ``id.package`` when the id isn't usable;
            ``template.text`` for an empty issuer or source.

    """
    if kind not in _RECIPES:
        raise CallerError(
            "no such kind of package",
            code="template.kind",
            path="kind",
            hint="one of " + ", ".join(KINDS),
        )
    if not is_usable_id(package_id):
        raise CallerError(
            "a package id is 1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit first",
            code="id.package",
            path="package_id",
        )
    for name, text in (("issuer", issuer), ("source", source)):
        if not text:
            raise CallerError("the text is empty", code="template.text", path=name)
    recipe = _RECIPES[kind]
    files = {path: text.to_bytes() for path, text in recipe.texts.items()}
    manifest = Manifest(
        uaix_version=UAIX_VERSION,
        package_format=PACKAGE_FORMAT,
        package_id=package_id,
        profile_id=recipe.scope,
        status="draft",
        created_utc=format_instant(created_at)[:19] + "Z",
        issuer=issuer,
        declared_scopes=tuple(dict.fromkeys((registered.UNIVERSAL, recipe.scope))),
        entrypoints=tuple(startup_order(files)),
        files=tuple(
            _entry(path, data, recipe.scope, package_id, source)
            for path, data in files.items()
        ),
        integrity=Integrity(
            package_digest=files_digest(
                (path, len(data), sha256_hex(data)) for path, data in files.items()
            )
        ),
        support_boundary=dict(SUPPORT_BOUNDARY),
    )
    return {MANIFEST_PATH: to_bytes(manifest), **dict(sorted(files.items()))}


def _entry(
    path: str, data: bytes, scope: str, package_id: str, source: str
) -> FileEntry:
    row = ruleset_named(DEFAULT_RULESET).files.get(path)
    is_universal = row is not None and registered.UNIVERSAL in row.scopes
    return FileEntry(
        path=path,
        role="evidence" if row is None else row.role,
        required_status="profile_required" if row is None else row.status,
        scope=registered.UNIVERSAL if is_universal else scope,
        media_type="text/markdown" if path.endswith(".md") else "text/uaix",
        size_bytes=len(data),
        sha256=sha256_hex(data),
        review_state="review_required",
        source=source,
        stable_id=derived_stable_id(package_id, path),
    )
