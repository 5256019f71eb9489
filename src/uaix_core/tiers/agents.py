"""Whose tier it is: an agent keeps and reads its own, and no other agent's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.values.errors import CallerError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from uaix_core.values.ids import Principal


def check_agent(principal: Principal, agent_id: str) -> str:
    """Return the agent's id, or refuse another agent's tier.

    Raises:
        CallerError: ``id.syntax``, ``tier.agent``.

    """
    check_id(agent_id, "agent_id")
    if principal.kind == "agent" and principal.id != agent_id:
        raise CallerError(
            "it is another agent's",
            code="tier.agent",
            path="agent_id",
            hint="an agent keeps and reads what is its own",
        )
    return agent_id
