"""What can keep a package from starting: the checks, and the error that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AGENT: Final = "startup.agent"
PRINCIPAL: Final = "startup.principal"
STATE: Final = "startup.state"
MANIFEST: Final = "startup.manifest"
MISSING: Final = "startup.missing"
TRIGGER: Final = "startup.trigger"
TOMBSTONE: Final = "startup.tombstone"
ERASED: Final = "startup.erased"
UNDECLARED: Final = "startup.undeclared"
SCOPE: Final = "startup.scope"
CHAIN: Final = "startup.chain"
DIGEST: Final = "startup.digest"
SIZE: Final = "startup.size"
MEANING: Final = "startup.meaning"
ORDER: Final = "startup.order"
REFERENCE: Final = "startup.reference"
REVIEW: Final = "startup.review"
CONFLICT: Final = "startup.conflict"
DISCLOSURE: Final = "startup.disclosure"
INDEX: Final = "startup.index"
LEASE: Final = "startup.lease"

#: Every check by its code: what failed, and what to do next.
CHECKS: Final[Mapping[str, tuple[str, str]]] = {
    AGENT: (
        "the package is bound to another agent",
        "start it as the agent that it names",
    ),
    PRINCIPAL: (
        "who starts it is another agent than the one it is started for",
        "an agent starts as itself only; a person starts for any",
    ),
    STATE: ("the package isn't active", "a person reviews it first"),
    MANIFEST: ("the manifest does not pass its checks", "lint the exported package"),
    MISSING: ("a file that has to stand is missing", "update the package with it"),
    TRIGGER: (
        "a content-triggered file is missing, or stands without its trigger",
        "update the package with both",
    ),
    TOMBSTONE: ("the record was tombstoned", "a review brings it back"),
    ERASED: (
        "the content was erased",
        "an update based on the current checkpoint makes it whole again",
    ),
    UNDECLARED: ("the manifest doesn't list the file", "update the package"),
    SCOPE: ("the file is out of the declared scopes", "update the package"),
    CHAIN: (
        "the chain of the record's revisions has a gap",
        "verify the store, and restore it from a copy",
    ),
    DIGEST: (
        "the content is not the one that its digests name",
        "verify the store, and restore it from a copy",
    ),
    SIZE: (
        "the content has another size than is listed",
        "verify the store, and restore it from a copy",
    ),
    MEANING: (
        "the content doesn't have the meaning that its canonical digest names",
        "verify the store, and restore it from a copy",
    ),
    ORDER: ("the order is not the start-up order", "update the package"),
    REFERENCE: (
        "the file points to a file or record that isn't there",
        "update the package with what it points to, or without the pointer",
    ),
    REVIEW: ("the record isn't reviewed", "a person reviews it first"),
    CONFLICT: ("a conflict over the record is open", "a person decides it first"),
    DISCLOSURE: (
        "the file names a limit of disclosure that can't be read",
        "write the mark in a form that is read, or have a consent for the whole file",
    ),
    INDEX: (
        "an index doesn't cover the package yet, or can't say so",
        "let it catch up first",
    ),
    LEASE: (
        "it isn't under the lease that runs for this package and agent",
        "acquire or renew a lease and name it, or wait until that of another is over",
    ),
}


@attrs.frozen(order=True)
class StartupCheck:
    """One check that failed: a code of `CHECKS`, and what it is about.

    ``path`` is a file of the package, or else the package, an agent, an index or a
    lease; ``line`` counts from 1 in the file, 0 where it is about no single one.
    """

    code: str
    path: str
    line: int = 0

    @property
    def message(self) -> str:
        """What failed, without any content."""
        return CHECKS[self.code][0]

    @property
    def hint(self) -> str:
        """What to do next."""
        return CHECKS[self.code][1]

    @property
    def place(self) -> str:
        """The path, and the line in it where there is one: ``path:line``."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def as_dict(self) -> dict[str, str | int | None]:
        """The check as plain data."""
        return {
            "code": self.code,
            "path": self.path,
            "line": self.line or None,
            "message": self.message,
            "hint": self.hint,
        }


class StartupError(CallerError):
    """A package doesn't start, and nothing of it was given out.

    ``checks`` lists every check that failed, sorted by code and path; ``receipt`` is
    the id of the receipt that the refusal left.
    """

    default_code = "startup.refused"

    def __init__(
        self, package_id: str, checks: Sequence[StartupCheck], receipt: str
    ) -> None:
        codes = list(dict.fromkeys(check.code for check in checks))
        count = len(checks)
        super().__init__(
            f"the package doesn't start: {count} check{'s' * (count != 1)} failed: "
            f"{', '.join(codes)}",
            path=package_id,
            hint="its checks list all of them",
        )
        self.checks = tuple(checks)
        self.receipt = receipt

    def as_dict(self) -> dict[str, Any]:
        """The error as plain data, its checks and receipt included."""
        checks = [check.as_dict() for check in self.checks]
        return {**super().as_dict(), "checks": checks, "receipt": self.receipt}
