"""The whole rule table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.packages.rules.content import CONTENT_RULES
from uaix_core.packages.rules.lifecycle import LIFECYCLE_RULES
from uaix_core.packages.rules.manifests import MANIFEST_RULES
from uaix_core.packages.rules.signatures import SIGNATURE_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.findings import Rule

#: Every rule by its code. No two pages name the same code.
RULES: Final[Mapping[str, Rule]] = {
    **ARCHIVE_RULES,
    **CONTENT_RULES,
    **LIFECYCLE_RULES,
    **MANIFEST_RULES,
    **SIGNATURE_RULES,
}
