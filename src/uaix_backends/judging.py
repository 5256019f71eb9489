"""Judging what lies at a path: reading and lint in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from uaix_backends.files import read_package
from uaix_backends.naming import named_package
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.lint import Checks, Report, lint
from uaix_core.packages.required.sets import DEFAULT_RULESET
from uaix_core.packages.rules.table import RULES
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    import os

#: Reasons not to read that are faults of the package, with the rule that it breaks.
_FAULTS: Final = {
    "files.limit": "zip.limit-archive",
    "files.symlink": "zip.special-file",
    "files.special": "zip.special-file",
    "files.hardlink": "zip.special-file",
    "files.name": "path.encoding",
}


def lint_path(
    path: str | os.PathLike[str], *, now: int, **checks: Unpack[Checks]
) -> Report:
    """Judge an archive file or a folder.

    A package that can't be read because of what it is (too large, a symlink in its
    folder) is refused like any other.

    Args:
        path: the file or folder.
        now: the present in microseconds UTC.
        checks: ruleset, strictness, limits and trusted keys, as `uaix_core.lint`.

    Raises:
        CallerError: there is nothing to judge, as `uaix_backends.files.read_package`;
            ``files.name`` when the path itself is no name of a file.
        StorageError: the medium failed.

    """
    path = named_package(path)
    try:
        source = read_package(path, limits=checks.get("limits", DEFAULT_LIMITS))
    except CallerError as error:
        code = _FAULTS.get(error.code)
        if code is None:
            raise
        findings = Findings(RULES, lenient=checks.get("lenient", False))
        findings.halt(code, error.path, error.message)
        ruleset = checks.get("ruleset", DEFAULT_RULESET)
        return Report("refuse", ruleset, tuple(findings))
    return lint(source, now=now, **checks)
