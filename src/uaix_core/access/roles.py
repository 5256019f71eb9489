"""Roles: a closed table of what each lets its holder do.

What a commit does is told by the operation of its receipt, so that a verb which is
added later is refused to everyone until a role has it.

Source: UAIX package format v0.1, "Authority" (least privilege).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import attrs

from uaix_core.values.ids import PERSONS, PRINCIPAL_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping


#: The roles that are granted; ``agent`` isn't, it comes with a binding.
GrantedRole = Literal["reader", "writer", "reviewer", "admin"]
Role = Literal["agent", "reader", "writer", "reviewer", "admin"]
GRANTED_ROLES: Final[tuple[GrantedRole, ...]] = get_args(GrantedRole)

_PERSONS: Final = frozenset(PERSONS)
_ANYBODY: Final = frozenset(PRINCIPAL_KINDS)

_AGENT: Final = frozenset(("start", "lease", "note", "propose", "fidelity"))
_READER: Final = frozenset(("export",))
_WRITER: Final = (
    _READER
    | _AGENT
    | {
        "install",
        "restore",
        "clone",
        "update",
        "revise",
        "conflict",
        "branch",
        "derive",
        "sign",
    }
)
# A review may bring a record back, or let a candidate become a package of its own.
_REVIEWER: Final = _READER | {
    "start",
    "review",
    "decide",
    "consent",
    "revise",
    "branch",
}


@attrs.frozen
class Powers:
    """What a role lets its holder do.

    ``operations`` are words of receipts. ``sees_hidden`` says whether texts that are
    marked as private may be read as they are stored; without it they are seen only as
    a start-up shows them. ``holders`` are the kinds of principals that may have it.
    """

    operations: frozenset[str]
    sees_hidden: bool
    holders: frozenset[str]


#: Every role. An admin may do all that the others may, erase, set the policy, and
#: administer the scope; nobody may do more than this.
POWERS: Final[Mapping[Role, Powers]] = {
    "agent": Powers(_AGENT, sees_hidden=False, holders=frozenset(("agent",))),
    "reader": Powers(_READER, sees_hidden=False, holders=_ANYBODY),
    "writer": Powers(_WRITER, sees_hidden=True, holders=_ANYBODY),
    "reviewer": Powers(_REVIEWER, sees_hidden=True, holders=_PERSONS),
    "admin": Powers(
        _WRITER | _REVIEWER | {"policy", "register", "erase"},
        sees_hidden=True,
        holders=_PERSONS,
    ),
}
