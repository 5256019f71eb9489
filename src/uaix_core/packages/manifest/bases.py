"""What a manifest says that it was made over: ``basedOn``, and what came before that.

Whoever edits a folder can't know which of its drafts will be stored, and neither can
the program that brings its manifest up to date. So a draft names the manifest that it
was made over, and those that this one named; a store takes the first that it knows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.manifest.codec import WIRE_NAMES
from uaix_core.packages.manifest.places import edited, spans
from uaix_core.packages.manifest.words import is_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.manifest.values import Manifest

BASED_ON: Final = WIRE_NAMES["based_on"]
#: What the drafts before it were made over, newest first.
EARLIER_BASES: Final = "earlierBases"
#: How many manifests a draft names; what is older is left out.
MAX_BASES: Final = 32


def declared_bases(wire: Mapping[str, Any]) -> tuple[str, ...]:
    """The digests that a manifest, given as parsed JSON, names; newest first."""
    earlier = wire.get(EARLIER_BASES)
    said = [wire.get(BASED_ON), *(earlier if isinstance(earlier, list) else ())]
    return tuple(
        one for one in said[:MAX_BASES] if isinstance(one, str) and is_sha256(one)
    )


def bases_of(manifest: Manifest) -> tuple[str, ...]:
    """The digests that an accepted manifest names; newest first."""
    return declared_bases({BASED_ON: manifest.based_on, **manifest.extra})


def without_bases(text: str, wire: Mapping[str, Any]) -> str:
    """The text of a manifest, given parsed as well, without what it names."""
    # One after the other, since they stand side by side.
    for name in (EARLIER_BASES, BASED_ON):
        if name in wire:
            text = edited(text, {(name,): None})
    return text


def with_base(text: str, digest: str) -> str:
    """The text of a manifest that was made over the one with this digest.

    Every other byte stays; what is new is put behind the last member.
    """
    bases = (digest, *declared_bases(json.loads(text)))[:MAX_BASES]
    said = {BASED_ON: json.dumps(bases[0])}
    if bases[1:]:
        said[EARLIER_BASES] = json.dumps(bases[1:])
    there = spans(text, [(name,) for name in said])
    text = edited(text, {(name,): value for name, value in said.items()})
    stop = len(text[: text.rindex("}")].rstrip())
    inside = text[text.index("{") + 1 :]
    gap = inside[: len(inside) - len(inside.lstrip())]
    new = [f',{gap}"{n}": {value}' for n, value in said.items() if (n,) not in there]
    return text[:stop] + "".join(new) + text[stop:]
