"""The command line: ``uaix VERB``. Every verb is a few public calls and their print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uaix_surfaces.cli.entry import main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Load the program on first use (PEP 562)."""
    if name == "main":
        from uaix_surfaces.cli.entry import main  # noqa: PLC0415 - on first use

        return main
    raise AttributeError(name)
