"""Bindings: which agent a package is installed in, and no other.

A persona is one agent's. Another agent that is to have the same gets a clone, which is
another package; a package that is bound already is a conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.access.deciding import Administering, Done, Made
from uaix_core.access.issuing import ends_of
from uaix_core.access.relations import (
    AGENT_BINDING,
    BOUND_PACKAGE,
    AgentBinding,
    AgentUnbinding,
    BoundPackage,
)
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import ConflictError, NotFoundError
from uaix_core.values.ids import Principal, ScopeId, check_id

if TYPE_CHECKING:
    from uaix_core.store.port import Snapshot

BIND: Final = "bind"
UNBIND: Final = "unbind"


@attrs.frozen
class Binding:
    """An agent and the package that is to be its own.

    Raises:
        CallerError: ``id.syntax``.

    """

    agent_id: str
    scope: ScopeId
    package_id: str

    def __attrs_post_init__(self) -> None:
        check_id(self.agent_id, "agent_id")
        check_id(self.package_id, "package_id")

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its row in the view."""
        return self.scope.kind, self.scope.key, self.package_id


def decide_bind(snapshot: Snapshot, by: Administering, wanted: Binding) -> Made | Done:
    """The commit of a binding, or the answer where it holds already.

    Raises:
        ConflictError: ``binding.taken`` when the package is another agent's.
        CallerError: ``authority.*``.
        AccessError: ``access.denied``.

    """
    by.check_over(snapshot, wanted.scope)
    bound = _bound(snapshot, wanted)
    if bound is not None and bound.agent_id != wanted.agent_id:
        raise ConflictError(
            "the package is bound to another agent",
            code="binding.taken",
            relation=BOUND_PACKAGE.name,
            key=wanted.key,
            current=bound,
            path=wanted.package_id,
            hint="clone it: the clone is a package of its own",
        )
    if bound is not None:
        name = (bound.binding_id,)
        row = cast("AgentBinding", snapshot.get(AGENT_BINDING.name, name))
        return Done("unchanged", bound.binding_id, row.version, row.receipt_id)
    receipt_id, binding_id = by.writing.ids.new(), by.writing.ids.new()
    row = AgentBinding(
        binding_id=binding_id,
        agent_id=wanted.agent_id,
        scope_kind=wanted.scope.kind,
        scope_key=wanted.scope.key,
        package_id=wanted.package_id,
        receipt_id=receipt_id,
        **by.actor(),
    )
    return by.made(
        BIND,
        binding_id,
        receipt_id,
        (row,),
        details={"binding_id": binding_id, "agent_id": wanted.agent_id},
        expects=(Expect(BOUND_PACKAGE.name, wanted.key, 0),),
    )


def decide_unbind(
    snapshot: Snapshot, by: Administering, wanted: Binding
) -> Made | Done:
    """The commit that undoes a binding, and ends the agent's credentials in the scope.

    Raises:
        NotFoundError: ``binding.not-found`` when the package isn't this agent's.
        CallerError: ``authority.*``.
        AccessError: ``access.denied``.

    """
    by.check_over(snapshot, wanted.scope)
    bound = _bound(snapshot, wanted)
    if bound is None or bound.agent_id != wanted.agent_id:
        raise NotFoundError(
            "the package isn't bound to this agent",
            code="binding.not-found",
            path=wanted.package_id,
        )
    receipt_id = by.writing.ids.new()
    end = AgentUnbinding(bound.binding_id, receipt_id, **by.actor())
    agent = Principal("agent", wanted.agent_id)
    ends, expects = ends_of(
        snapshot, by, agent, receipt_id, cause="unbound", scope=wanted.scope
    )
    return by.made(
        UNBIND,
        bound.binding_id,
        receipt_id,
        (end, *ends),
        details={"binding_id": bound.binding_id, "credentials": len(ends)},
        expects=(Expect(BOUND_PACKAGE.name, wanted.key, bound.version), *expects),
    )


def _bound(snapshot: Snapshot, wanted: Binding) -> BoundPackage | None:
    return cast("BoundPackage | None", snapshot.get(BOUND_PACKAGE.name, wanted.key))
