"""Which rows a commit of an operation consists of.

A receipt says what a commit does, and whoever makes the commit writes the receipt. So
that a start can't carry a revision, each operation is held to the rows that it is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.authority.relations import REGISTRATION
from uaix_core.history.relations import (
    CONFLICT,
    RECEIPT,
    REVISION,
    REVISION_SIGNATURE,
)
from uaix_core.leases.relations import LEASE, LEASE_END, LEASE_TIME
from uaix_core.packages.relations import ACCEPTANCE, CHECKPOINT, DERIVATION, LINEAGE
from uaix_core.review.relations import REVIEW
from uaix_core.startup.relations import CONSENT, CONSENT_REVOCATION
from uaix_core.tiers.proposal_relations import POINTER, PROPOSAL, PROPOSAL_SOURCE
from uaix_core.tiers.relations import (
    ERASURE_MARK,
    FIDELITY_CASE,
    FIDELITY_RESULT,
    INDEX_MARK,
    PLATFORM_NOTE,
    TURN,
    VARIANCE,
    WORKING_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.relations import Relation

#: Whose erasure a commit carries, or marks as asked for.
ERASE: Final = "erase"

#: What a commit without a receipt does, by the relation of its rows.
RECEIPTLESS: Final[Mapping[str, str]] = {
    WORKING_STATE.name: "note",
    TURN.name: "note",
    VARIANCE.name: "note",
    PLATFORM_NOTE.name: "note",
    INDEX_MARK.name: "note",
    LEASE_TIME.name: "lease",
    FIDELITY_CASE.name: "fidelity",
    FIDELITY_RESULT.name: "fidelity",
    ERASURE_MARK.name: ERASE,
}


def _names(*relations: Relation) -> frozenset[str]:
    return frozenset(relation.name for relation in (RECEIPT, *relations))


_STORED: Final = _names(CHECKPOINT, REVISION, REVISION_SIGNATURE)
_PARTED: Final = _STORED | _names(LINEAGE, DERIVATION, REVIEW)

#: The rows of each operation that leaves a receipt, and of one that isn't here none.
ROWS: Final[Mapping[str, frozenset[str]]] = {
    "install": _STORED,
    "restore": _STORED,
    "update": _STORED,
    "clone": _PARTED,
    "branch": _PARTED,
    "derive": _PARTED,
    "revise": _STORED | _names(REVIEW),
    "review": _names(REVIEW),
    "conflict": _names(CONFLICT),
    "sign": _names(REVISION_SIGNATURE),
    "policy": _names(ACCEPTANCE),
    "register": _names(REGISTRATION),
    "consent": _names(CONSENT, CONSENT_REVOCATION),
    "propose": _names(PROPOSAL, PROPOSAL_SOURCE),
    "decide": _names(POINTER, REVIEW),
    "note": _names(WORKING_STATE, TURN, VARIANCE, PLATFORM_NOTE, INDEX_MARK),
    "fidelity": _names(FIDELITY_CASE, FIDELITY_RESULT),
    ERASE: _names(ERASURE_MARK),
    "start": _names(),
    "export": _names(),
    "lease": _names(LEASE, LEASE_END, LEASE_TIME),
}
#: Rows that need an operation of their own as well: a review is a reviewer's, whatever
#: else the commit does.
DEMANDS: Final[Mapping[str, str]] = {REVIEW.name: "review"}
