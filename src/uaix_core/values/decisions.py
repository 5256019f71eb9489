"""Decisions: what a verb decided, in a form that a host may keep anywhere.

A verb hands its decisions to the caller, a refused one as a field of its error. The
host delivers them after its own commit; they are part of no commit of a store, and
nothing here delivers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.values.errors import CallerError
from uaix_core.values.ids import is_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.values.ids import Principal, ScopeId

#: What a decision may name: ids, digests in hex and codes, and numbers.
Detail = str | int


def _pairs(details: Mapping[str, Detail] | tuple[()]) -> tuple[tuple[str, Detail], ...]:
    return tuple(sorted(dict(details).items()))


def _holds_no_text(
    _decision: Decision, _field: object, details: tuple[tuple[str, Any], ...]
) -> None:
    for name, value in details:
        if not (is_id(name) and (type(value) is int or is_id(value))):
            raise CallerError(
                "a decision names ids, digests and numbers only",
                code="decision.detail",
                path="details",
            )


def _is_word(_decision: Decision, field: attrs.Attribute[Any], value: Any) -> None:
    if not is_id(value):
        raise CallerError(
            "a decision's kind, reason and receipt have the form of an id",
            code="decision.word",
            path=field.name,
        )


@attrs.frozen(kw_only=True)
class Decision:
    """One decision, made once; it never holds content, nor a digest that confirms it.

    ``kind`` are dotted words such as ``registry.register``, ``reason`` is the stable
    code of why; ``receipt`` is the id of the history row that an accepted one left.
    ``details`` are sorted pairs of a name and an id, a digest in hex or a number.
    """

    kind: str = attrs.field(validator=_is_word)
    reason: str = attrs.field(validator=_is_word)
    scope: ScopeId
    actor: Principal
    is_denied: bool = False
    receipt: str | None = attrs.field(
        default=None, validator=attrs.validators.optional(_is_word)
    )
    details: tuple[tuple[str, Detail], ...] = attrs.field(
        default=(), converter=_pairs, validator=_holds_no_text
    )

    def as_dict(self) -> dict[str, Any]:
        """The decision as plain JSON data."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "scope": self.scope.text,
            "actor": self.actor.text,
            "is_denied": self.is_denied,
            "receipt": self.receipt,
            "details": dict(self.details),
        }
