"""How the answers of the verbs that store are told to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.output import write_error

if TYPE_CHECKING:
    from uaix_core.access.deciding import Done
    from uaix_core.packages.answers import Stored
    from uaix_core.session.conflict_reviews import Reviewed
    from uaix_core.session.packages import Packages
    from uaix_surfaces.cli.output import Output

_DONE: Final = {
    "install": "installed",
    "restore": "restored",
    "update": "updated",
    "clone": "cloned",
    "branch": "branched",
    "derive": "derived",
}


def outcome(packages: Packages, verb: str, answer: Stored) -> str:
    """What came of a call, in the words of the verb that was called.

    An answer may be that of an earlier call, even of another verb: then nothing was
    done, and it says where the package stands.
    """
    standing = packages.show(answer.package_id).package
    if not answer.is_first:
        if answer.is_current:
            return f"nothing to do: already there as checkpoint {standing.number}"
        return (
            f"nothing to do: this is checkpoint {_number(packages, answer)}, "
            f"the current one is {standing.number}"
        )
    # A receipt alone changes no row of the package.
    if standing.version < answer.seq:
        return (
            f"nothing to {verb}: already there as checkpoint {standing.number}; "
            "only a receipt was written"
        )
    return _DONE[verb]


def _number(packages: Packages, answer: Stored) -> int:
    checkpoints = packages.history(answer.package_id).checkpoints
    return next(
        c.number for c in checkpoints if c.checkpoint_id == answer.checkpoint_id
    )


def warn_of_memory(url: str) -> None:
    """Tell who writes into a store of memory that it ends with the call."""
    if url == "memory:":
        write_error("note: memory: is gone when this call ends, so nothing is kept")


def show_reviewed(out: Output, about: str, answer: Reviewed) -> int:
    """Tell what a review decided."""
    if out.as_json:
        out.line(answer.as_dict())
    else:
        out.say(f"{about}: {answer.verdict}", "accepted")
        out.pairs([("seq", answer.seq), ("receipt", answer.receipt)])
    return OK


def show_done(out: Output, about: str, answer: Done) -> int:
    """Tell what a decision about who may do what came to."""
    if out.as_json:
        out.line(answer.as_dict())
    else:
        out.say(f"{about}: {answer.outcome}", "accepted")
        out.pairs([("id", answer.id), ("seq", answer.seq), ("receipt", answer.receipt)])
    return OK
