"""What is sealed, and with which keys."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import attrs

from uaix_core.values.errors import CallerError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from uaix_core.access.keys import KeyRing

#: The scopes themselves, or a rule that says whether a scope is one of them.
Scopes = Callable[[ScopeId], bool] | Collection[ScopeId | str]


def _rule(scopes: Scopes) -> Callable[[ScopeId], bool]:
    if callable(scopes):
        return scopes
    if isinstance(scopes, str):
        raise CallerError(
            "scopes are a collection or a rule", code="sealing.scopes", path="scopes"
        )
    named = {one if isinstance(one, ScopeId) else ScopeId.parse(one) for one in scopes}
    return named.__contains__


@attrs.frozen(eq=False)
class Sealing:
    """Which scopes of a store rest sealed, and under which keys.

    Args:
        keys: the host's keys; what is written is sealed under the active one.
        scopes: the scopes, or a function that says whether a scope is to be sealed.
            A scope is sealed from its first commit on or never.
        held: how many scopes stay open in memory; of more, those that were used last.

    Raises:
        CallerError: ``sealing.scopes``, ``sealing.held``, ``scope.*``, ``id.syntax``.

    """

    keys: KeyRing
    scopes: Callable[[ScopeId], bool] = attrs.field(converter=_rule, repr=False)
    held: int = 64

    def __attrs_post_init__(self) -> None:
        if type(self.held) is not int or self.held < 1:
            raise CallerError(
                "at least one scope is held", code="sealing.held", path="held"
            )
