"""What the verbs of the tiers answer."""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class Written:
    """The answer to what was written into a tier.

    ``number`` is that of a state or a turn, else None; ``receipt`` is the id of the
    receipt, where one is left. ``is_first`` is false when it was written under the same
    key before. ``is_staged`` says that all of it is gone again unless a host commits.
    """

    id: str
    seq: int
    number: int | None = None
    receipt: str | None = None
    is_first: bool = True
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Erased:
    """The answer to an erasure: how many texts went, and what it didn't reach.

    ``proposals`` are those whose texts went too, because they were made from what was
    erased. ``pointers`` came of such proposals and stay, as what a person accepted;
    whoever wants them gone erases them as well. ``receipt`` is None when there was
    nothing left to erase.
    """

    count: int
    proposals: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    seq: int = 0
    receipt: str | None = None
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            **attrs.asdict(self),
            "proposals": list(self.proposals),
            "pointers": list(self.pointers),
        }
