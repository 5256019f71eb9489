"""The list of mutants that may survive, and what is wrong with a run measured by it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

LIST = Path(__file__).with_name("survivors.toml")

#: More of a hundred mutants may not survive, whatever the reasons.
MOST = 3


def read(text: str) -> dict[str, str]:
    """Mutant -> why it may survive.

    Raises:
        ValueError: a mutant is listed twice, or without a reason.

    """
    listed: dict[str, str] = {}
    for entry in tomllib.loads(text).get("survivors", []):
        reason = str(entry.get("reason", "")).strip()
        for name in entry["mutants"]:
            if not reason:
                raise ValueError(f"{name} is listed without a reason")
            if name in listed:
                raise ValueError(f"{name} is listed twice")
            listed[name] = reason
    return listed


def complaints(
    listed: Mapping[str, str],
    existing: Collection[str],
    killed: Collection[str],
    survived: Collection[str],
) -> list[str]:
    """What must be mended after a run; empty when all is well.

    Args:
        listed: the list, as `read` gives it.
        existing: all mutants that there are.
        killed: those of them that this run killed.
        survived: those that it didn't.

    """
    found = [f"listed, but there is no such mutant: {m}" for m in sorted(listed)]
    found = [line for line in found if line.rpartition(": ")[2] not in existing]
    found += [f"listed, but killed: {m}" for m in sorted(set(killed) & set(listed))]
    found += [f"survived: {m}" for m in sorted(set(survived) - set(listed))]
    judged = len(killed) + len(survived)
    if set(existing) <= {*killed, *survived} and len(survived) * 100 > judged * MOST:
        found.append(f"{len(survived)} of {judged} survived, more than {MOST} %")
    return found
