"""The closed sets of words in a manifest, and how another spelling is read.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

import re
from typing import Final

from uaix_core.values.ids import is_id

UAIX_VERSION: Final = "0.1"
PACKAGE_FORMAT: Final = "uaix.package.v0.1"
PACKAGE_FORMAT_PREFIX: Final = "uaix.package."

#: Every uaixVersion that is read.
VERSION_PATTERN: Final = r"0\.1|1\.0|3\.[0-9]+\.[0-9]+"

is_version_read: Final = re.compile(VERSION_PATTERN).fullmatch

REQUIRED_STATUSES: Final = frozenset(
    (
        "universal_required",
        "profile_required",
        "content_triggered_required",
        "configuration_specific_required",
    )
)
OUT_OF_SCOPE: Final = "out_of_scope"

#: Words that the standard forbids as a status, in folded spelling.
SOFT_STATUSES: Final = frozenset(
    ("recommended", "optional", "suggested", "may_include", "nice_to_have", "should")
)

REVIEW_STATES: Final = frozenset(("review_required", "reviewed", "approved"))
CLAIMED_STATES: Final = frozenset(("reviewed", "approved"))

TEXT_MEDIA: Final = frozenset(
    ("text/uaix", "text/markdown", "text/plain", "application/json")
)
#: Raster images; SVG is left out, since it can carry scripts.
IMAGE_MEDIA: Final = frozenset(
    ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
)
IMAGE_FOLDER: Final = "evidence/"

#: Roles of files that the registry doesn't name, by where the file stands: the first
#: row whose folder and ending both fit. Anything else may use any of these words.
ROLES_BY_PLACE: Final = (
    ("evidence/", ".uai", ("evidence", "memory")),
    ("evidence/", "", ("evidence",)),
    ("exports/", ".uai", ("export", "memory")),
    ("exports/", "", ("export",)),
    (".uai/exports/", ".uai", ("export", "memory")),
    (".uai/exports/", "", ("export",)),
    ("", ".uai", ("memory",)),
    ("", ".human", ("instructions", "agents")),
    ("AGENTS.md", "", ("instructions", "agents")),
)
FREE_ROLES: Final = (
    "memory",
    "instructions",
    "agents",
    "export",
    "evidence",
    "manifest",
)

is_sha256: Final = re.compile(r"[0-9a-f]{64}").fullmatch

#: What no id may be, in any case: the names that some platforms keep for devices.
DEVICE_PATTERN: Final = r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?"

_is_device = re.compile(DEVICE_PATTERN, re.ASCII | re.IGNORECASE).fullmatch


def fold(word: str) -> str:
    """The spelling that words are compared in: trimmed, lower case, ``_`` between."""
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def is_usable_id(text: object) -> bool:
    """Whether this is an id that is no device name on any platform either."""
    return is_id(text) and not _is_device(str(text))


def roles_at(path: str) -> tuple[str, ...]:
    """The role words for a file that no registry names, the usual one first."""
    for folder, ending, roles in ROLES_BY_PLACE:
        if path.startswith(folder) and path.endswith(ending):
            return roles
    return FREE_ROLES
