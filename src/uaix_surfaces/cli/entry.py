"""Where the command line begins, with or without what it needs.

The libraries of the extra are looked for here and loaded behind this door only, so
that who hasn't got them is told in a sentence.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What the extra `cli` brings.
_NEEDED: Final = ("click", "rich")
_UNUSABLE: Final = 2


def main(args: Sequence[str] | None = None, **options: Any) -> Any:
    """Run the command line; ``args`` are those of the process when None.

    ``options`` are those of a click command.
    """
    if not all(map(find_spec, _NEEDED)):
        if sys.stderr is not None:
            print(
                "the command line needs: pip install 'uaix-core[cli]'", file=sys.stderr
            )
        sys.exit(_UNUSABLE)
    from uaix_surfaces.cli import program  # noqa: PLC0415 - behind the door

    return program.main(args, **options)
