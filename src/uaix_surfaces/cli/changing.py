"""The options of the verbs that change records of a package."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from uaix_core.packages.lint import Checks
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.options import (
    authorise_option,
    json_option,
    judging_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.packages.anchors import Authorisation


class How(Checks, total=False):
    """How a change is judged, and which changes of protected files are wanted."""

    authorisations: tuple[Authorisation, ...]


def changing_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options of the verbs that change records: `At`, `How`, and JSON."""

    @wraps(function)
    def called(
        *args: Any,
        authorisations: tuple[Authorisation, ...],
        checks: Checks,
        **more: Any,
    ) -> int:
        how: How = {**checks, "authorisations": authorisations}
        return function(*args, how=how, **more)

    return authorise_option(at_options(judging_options(json_option(called))))
