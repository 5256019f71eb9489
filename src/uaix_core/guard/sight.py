"""Which rows a standing covers: decided by what a row belongs to, not by who asks how.

A row that names a package belongs to it. Of the relations that name none only those in
`SHARED` are for all who may do anything in a scope; every other is for nobody, so that
a relation which is added later is hidden until somebody thinks about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uaix_core.authority.relations import LATEST_REGISTRATION, REGISTRATION
from uaix_core.history.relations import (
    CONFLICT,
    DIGEST_KEY,
    IDEMPOTENCY,
    KEY_BINDING,
    REVISION,
)
from uaix_core.leases.relations import HELD_LEASE
from uaix_core.packages.relations import ACCEPTANCE, ACCEPTANCE_IN_FORCE, DIMENSION
from uaix_core.startup.body_facts import facts_of
from uaix_core.tiers.proposal_relations import PROPOSAL
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import AccessError
from uaix_core.values.parsing.words import HIDDEN

if TYPE_CHECKING:
    from uaix_core.access.standing import Standing
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row

PACKAGE_FIELD: Final = "package_id"
AGENT_FIELD: Final = "agent_id"

#: Relations without a package that every decision in a scope needs.
SHARED: Final = frozenset(
    relation.name
    for relation in (
        ACCEPTANCE,
        ACCEPTANCE_IN_FORCE,
        DIGEST_KEY,
        IDEMPOTENCY,
        KEY_BINDING,
        LATEST_REGISTRATION,
        REGISTRATION,
    )
)
#: Those of them that are found by a secret which the caller brings, and else only by
#: who sees all of a scope: a list of them would tell what others did.
KEYED: Final = frozenset(
    relation.name for relation in (DIGEST_KEY, IDEMPOTENCY, KEY_BINDING)
)
#: Relations that every agent of a package sees, whichever agent a row names: who is at
#: work with the package keeps the others out, so they have to be told.
_OF_ALL_AGENTS: Final = frozenset((HELD_LEASE.name,))
#: Relations whose rows hold the text of a file.
_TEXTS: Final = frozenset((REVISION.name, CONFLICT.name, PROPOSAL.name))
_JSON: Final = "application/json"
_MEMORY: Final = "text/uaix"


def belongs_to_package(relation: Relation) -> bool:
    """Whether the rows of a relation name the package that they belong to."""
    return PACKAGE_FIELD in relation.fields


class Sight:
    """What of a scope one standing covers.

    ``is_unveiled`` is for a decision that blanks hidden texts by itself.
    """

    def __init__(self, standing: Standing, *, is_unveiled: bool = False) -> None:
        self.standing = standing
        self._is_unveiled = is_unveiled
        self._agent = (
            standing.principal.id if standing.principal.kind == "agent" else None
        )

    def covers(self, relation: Relation, row: Row) -> bool:
        """Whether a row is to be seen.

        Raises:
            AccessError: ``access.disclosure`` for a text that holds hidden parts, which
                only a start-up may show the rest of.

        """
        if not belongs_to_package(relation):
            return relation.name in SHARED and bool(self.standing.entitled)
        package_id: str | None = getattr(row, PACKAGE_FIELD) or None
        if not self.standing.may_see(package_id):
            return False
        if self._agent is not None and relation.name not in _OF_ALL_AGENTS:
            agent_id = getattr(row, AGENT_FIELD, None)
            if agent_id not in (None, self._agent):
                return False
        if self._is_unveiled or self.standing.sees_hidden(package_id):
            return True
        return self._is_shown(relation, row)

    def _is_shown(self, relation: Relation, row: Any) -> bool:
        if relation.name == DIMENSION.name:
            return row.disclosure not in HIDDEN
        if relation.name in _TEXTS and row.content and _hides(row):
            raise AccessError(
                "a text that is marked as private is read as a start-up shows it",
                code="access.disclosure",
                hint="start the package, or ask for a role that reviews or writes",
            )
        return True


def _hides(row: Any) -> bool:
    """Whether the text of a row holds a hidden part."""
    named: str | None = getattr(row, "media_type", None)
    is_json = (row.path or "").endswith(".json")
    media_type = named or (_JSON if is_json else _MEMORY)
    digest = sha256_hex(row.content)
    return facts_of(row.content, digest, media_type).hidden != ()
