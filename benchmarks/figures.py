"""Figures, the targets they are held against, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

if TYPE_CHECKING:
    from benchmarks.timing import Measure

By = Literal["wall", "cpu", "value", "added"]


@attrs.frozen
class Target:
    """A limit, and what it limits.

    ``by`` says which number is held against it: the ratio to the floor of ``wall`` or
    ``cpu`` time, our own ``value``, or what is ``added`` to the floor.
    """

    text: str
    limit: float
    by: By
    is_least: bool = False

    def is_met(self, number: float) -> bool:
        """Whether a number keeps the limit."""
        return number >= self.limit if self.is_least else number <= self.limit


def at_most(times: float, by: Literal["wall", "cpu"]) -> Target:
    """A target of at most so many times the floor."""
    return Target(f"<= {times:g}x {by}", times, by)


#: What the library is meant to reach, by the work that it does.
TARGETS = {
    "floor": at_most(1.05, "cpu"),
    "archive read": at_most(1.5, "cpu"),
    "export": at_most(2, "wall"),
    "install few": at_most(5, "wall"),
    "install many": at_most(10, "wall"),
    "commit": at_most(2, "wall"),
    "commit to a directory": at_most(1, "wall"),
    "read a row": at_most(1.5, "cpu"),
    "revise": at_most(2, "wall"),
    "start": Target("<= 10 ms", 10, "value"),
    "open": Target("<= 2 s", 2_000, "value"),
    "open unaided": Target("<= 15 s", 15_000, "value"),
    "rebuild": Target(">= 5,000/s", 5_000, "value", is_least=True),
    "import": Target("adds <= 60 ms", 60, "added"),
}


@attrs.frozen
class Figure:
    """One line of the table: our measure, the floor's, and the target if there is one.

    ``unit`` is that of both measures. What ``floor`` is may differ from line to line;
    ``what`` says so where it isn't the floor of `benchmarks.floor`.
    """

    group: str
    what: str
    ours: Measure
    floor: Measure | None = None
    target: Target | None = None
    unit: str = "ms"

    @property
    def ratio(self) -> float | None:
        """How many times the floor's wall time (or size) ours is."""
        return self._ratio("value")

    @property
    def cpu_ratio(self) -> float | None:
        """How many times the floor's CPU time ours is."""
        return self._ratio("cpu")

    def _ratio(self, name: str) -> float | None:
        ours = getattr(self.ours, name)
        floor = getattr(self.floor, name) if self.floor is not None else None
        return ours / floor if ours is not None and floor else None

    @property
    def judged(self) -> float | None:
        """The number that the target limits; None when there is no such number."""
        if self.target is None:
            return None
        floor = self.floor.value if self.floor is not None else 0.0
        return {
            "wall": self.ratio,
            "cpu": self.cpu_ratio,
            "value": self.ours.value,
            "added": self.ours.value - floor,
        }[self.target.by]

    @property
    def verdict(self) -> str:
        """``ok`` or ``over``; empty without a target."""
        number = self.judged
        if self.target is None or number is None:
            return ""
        return "ok" if self.target.is_met(number) else "over"

    def as_dict(self) -> dict[str, Any]:
        """The figure as plain data."""
        return {
            "group": self.group,
            "what": self.what,
            "unit": self.unit,
            "ours": attrs.asdict(self.ours),
            "floor": None if self.floor is None else attrs.asdict(self.floor),
            "ratio": self.ratio,
            "cpu_ratio": self.cpu_ratio,
            "target": None if self.target is None else self.target.text,
            "verdict": self.verdict,
        }


HEAD = ("what", "ours", "floor", "ratio", "CPU", "target", "")
_WIDTHS = (46, 11, 11, 7, 7, 12, 4)
#: Words stand left, numbers right.
_WORDS = (0, 5, 6)


def heading() -> str:
    """The first line of the table."""
    return _line(HEAD)


def line(figure: Figure) -> str:
    """One figure as a line of the table."""
    floor = figure.floor
    return _line(
        (
            f"{figure.group}: {figure.what}",
            _shown(figure.ours.value, figure.unit),
            "" if floor is None else _shown(floor.value, figure.unit),
            _times(figure.ratio),
            _times(figure.cpu_ratio),
            figure.target.text if figure.target else "",
            figure.verdict,
        )
    )


def _line(row: tuple[str, ...]) -> str:
    cells = [
        f"{cell:<{width}}" if at in _WORDS else f"{cell:>{width}}"
        for at, (cell, width) in enumerate(zip(row, _WIDTHS, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _shown(number: float, unit: str) -> str:
    digits = 0 if number >= 1_000 else 1 if number >= 10 else 3
    return f"{number:,.{digits}f} {unit}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"
