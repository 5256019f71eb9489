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
from uaix_core.packages.templates.assistant import ASSISTANT_TEXTS
from uaix_core.packages.templates.code import CODE_TEXTS
from uaix_core.packages.templates.evidence import EVIDENCE_TEXTS
from uaix_core.packages.templates.handoff import (
    EXPORT_MANIFEST,
    FILE_HANDOFF_TEXTS,
    HANDOFF_TEXTS,
    export_manifest,
)
from uaix_core.packages.templates.persona import PERSONA_TEXTS
from uaix_core.packages.templates.repack import Repacked, repack
from uaix_core.packages.templates.texts import UNIVERSAL_TEXTS, StarterText
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = [
    "FURTHER_SCOPES",
    "KINDS",
    "FurtherScope",
    "Kind",
    "Repacked",
    "new_package",
    "repack",
]

Kind = Literal["universal", "persona", "advanced-persona", "handoff", "assistant"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

FurtherScope = Literal["code_bearing", "agent_file_handoff"]
#: What can be declared beside what a kind declares.
FURTHER_SCOPES: Final[tuple[FurtherScope, ...]] = get_args(FurtherScope)

#: What a new package says about its own reach; the importer decides all the same.
SUPPORT_BOUNDARY: Final = {
    "current": ["local import into quarantine", "review by a human"],
    "outside": ["runtime execution", "hosted import", "tool grants", "certification"],
}


@attrs.frozen
class _Recipe:
    """What a kind consists of.

    ``scopes`` stand beside universal, the profile first. ``texts`` go beyond what the
    scopes require, or in the place of the usual text.
    """

    scopes: tuple[str, ...]
    texts: Mapping[str, StarterText] = attrs.field(factory=dict)


_TEXTS: Final[Mapping[str, StarterText]] = {
    **UNIVERSAL_TEXTS,
    **PERSONA_TEXTS,
    **HANDOFF_TEXTS,
    **CODE_TEXTS,
    **FILE_HANDOFF_TEXTS,
}

_RECIPES: Final[Mapping[Kind, _Recipe]] = {
    "universal": _Recipe((registered.UNIVERSAL,)),
    "persona": _Recipe((registered.PERSONA,)),
    "advanced-persona": _Recipe((registered.ADVANCED_PERSONA,), EVIDENCE_TEXTS),
    "handoff": _Recipe((registered.PROJECT_HANDOFF, registered.CODE_BEARING)),
    "assistant": _Recipe((registered.ASSISTANT,), ASSISTANT_TEXTS),
}

#: The media type of a file by how its path ends; all others are memory.
_MEDIA: Final = ((".md", "text/markdown"), (".json", "application/json"))


def new_package(  # noqa: PLR0913 - all but the kind are named
    kind: Kind,
    *,
    package_id: str,
    created_at: int,
    issuer: str,
    source: str = "starter text, not yet edited",
    also: Collection[FurtherScope] = (),
) -> dict[str, bytes]:
    """A complete package to edit, as logical path to bytes, the manifest first.

    ``created_at`` is in microseconds UTC and is written to the second. ``source`` is
    what the manifest says about where each file comes from. ``also`` are scopes to
    declare beside those of the kind, with their files.

    Raises:
        CallerError: ``template.kind``; ``template.scope``; ``id.package`` when the id
            isn't usable; ``template.text`` for an empty issuer or source.

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
    for scope in also:
        if scope not in FURTHER_SCOPES:
            raise CallerError(
                "no scope that a new package can declare as well",
                code="template.scope",
                path="also",
                hint="any of " + ", ".join(FURTHER_SCOPES),
            )
    recipe = _RECIPES[kind]
    scopes = tuple(dict.fromkeys((*recipe.scopes, *also)))
    files = _files(recipe, scopes)
    manifest = Manifest(
        uaix_version=UAIX_VERSION,
        package_format=PACKAGE_FORMAT,
        package_id=package_id,
        profile_id=recipe.scopes[0],
        status="draft",
        created_utc=format_instant(created_at)[:19] + "Z",
        issuer=issuer,
        declared_scopes=tuple(dict.fromkeys((registered.UNIVERSAL, *scopes))),
        entrypoints=tuple(startup_order(files)),
        files=tuple(
            _entry(path, data, scopes, package_id, source)
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


def _files(recipe: _Recipe, scopes: Sequence[str]) -> dict[str, bytes]:
    required = [row.path for row in ruleset_named(DEFAULT_RULESET).required(scopes)]
    texts = {path: _TEXTS[path] for path in required if path in _TEXTS}
    files = {p: text.to_bytes() for p, text in {**texts, **recipe.texts}.items()}
    if EXPORT_MANIFEST in required:
        files[EXPORT_MANIFEST] = export_manifest(scopes, startup_order(files))
    return files


def _entry(
    path: str, data: bytes, scopes: Sequence[str], package_id: str, source: str
) -> FileEntry:
    row = ruleset_named(DEFAULT_RULESET).files.get(path)
    wanted = scopes[:1] if row is None else row.scopes
    scope = next((s for s in scopes if s in wanted), registered.UNIVERSAL)
    return FileEntry(
        path=path,
        role="evidence" if row is None else row.role,
        required_status="profile_required" if row is None else row.status,
        scope=scope,
        media_type=next((m for end, m in _MEDIA if path.endswith(end)), "text/uaix"),
        size_bytes=len(data),
        sha256=sha256_hex(data),
        review_state="review_required",
        source=source,
        stable_id=derived_stable_id(package_id, path),
    )
