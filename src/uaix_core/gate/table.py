"""The table of all detectors in the order of their precedence."""

from __future__ import annotations

from typing import Final

from uaix_core.gate import assignments, structured
from uaix_core.gate.detectors import Detector
from uaix_core.gate.detectors_first import PREFIXES
from uaix_core.gate.detectors_keys import ARMOUR, BARE_KEYS
from uaix_core.gate.detectors_links import LINKS
from uaix_core.gate.detectors_platforms import CLOUDS, HOSTS, MODELS
from uaix_core.gate.detectors_services import MESSAGES, MONITORING, PAYMENTS, TOOLS

HIGH_ENTROPY: Final = "high-entropy-token"

#: Found by code of their own; here for their names and their rank.
_NAMED: Final = (
    Detector(id=structured.URL, family="url"),
    Detector(id=structured.JWT, family="jwt", confidence="certain"),
    Detector(id=HIGH_ENTROPY, family="entropy", confidence="possible"),
    Detector(id=assignments.HEADER, family="header", confidence="possible"),
    Detector(id=assignments.LOGIN, family="assignment", confidence="possible"),
    Detector(id=assignments.ASSIGNMENT, family="assignment", confidence="possible"),
)

#: Detectors that match inside a run of token characters.
TOKENS: Final = (
    *PREFIXES,
    *CLOUDS,
    *HOSTS,
    *MODELS,
    *MESSAGES,
    *PAYMENTS,
    *TOOLS,
    *MONITORING,
    *BARE_KEYS,
    *LINKS,
)

#: Every detector, in the order of precedence at one place.
DETECTORS: Final = (*ARMOUR, *TOKENS, *_NAMED)

#: The rank of each id: at one place the lowest is named.
RANKS: Final = {
    detector.id: rank for rank, detector in reversed(list(enumerate(DETECTORS)))
}
