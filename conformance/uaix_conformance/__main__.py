"""``uaix-conformance NAME... [pytest options]``: judge backends by the contract."""

from __future__ import annotations

import os
import sys

_USAGE = """\
usage: uaix-conformance NAME... [pytest options]

Judges storage backends. NAME is an entry point of the group uaix.backends or
module:attribute; options of pytest follow, for example --uaix-report=FILE.json,
--uaix-xfails=FILE, -k WORD or -n 2.
"""


def command(arguments: list[str]) -> list[str]:
    """The pytest command line for these arguments."""
    names = []
    for argument in arguments:
        if argument.startswith("-"):
            break
        names.append(argument)
    return [
        sys.executable,
        "-m",
        "pytest",
        "--pyargs",
        "uaix_conformance",
        *(f"--uaix-backend={name}" for name in names),
        *arguments[len(names) :],
    ]


def main() -> None:
    """Become pytest: a fresh interpreter, so that its assertions are rewritten."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_USAGE)
        sys.exit(0 if arguments else 2)
    line = command(arguments)
    os.execv(line[0], line)  # noqa: S606 - no shell, our own interpreter


if __name__ == "__main__":
    main()
