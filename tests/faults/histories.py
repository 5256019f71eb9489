"""Histories that chance makes: notes of all sizes, erasures, local rows."""

from __future__ import annotations

import random

from uaix_conformance.examples import SCOPE, fact, job, lease, note
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Ref

#: Body sizes: empty, within a page, over several pages.
_SIZES = (0, 40, 900, 5_000, 30_000)


def history(seed: str, length: int = 8) -> list[Commit]:
    """So many commits, the same ones for the same seed."""
    draw = random.Random(seed)
    standing: list[int] = []
    commits = []
    for number in range(length):
        puts = [job(n) for n in range(draw.choice((0, 0, 1, 3)))]
        if standing and draw.random() < 0.3:
            gone = draw.sample(standing, draw.randint(1, len(standing)))
            standing = [n for n in standing if n not in gone]
            refs = [Ref("note", ("t0", n)) for n in gone]
            commits.append(Commit(SCOPE, number, erases=refs, puts=puts))
            continue
        new = [100 * number + n for n in range(draw.choice((0, 1, 1, 2, 12)))]
        standing += new
        adds = [
            note(n, title=f"{n}", text=f"[note {n}]" + draw.choice(_SIZES) * "x")
            for n in new
        ]
        puts += [lease(n) for n in new[:1]]
        commits.append(Commit(SCOPE, number, adds=[*adds, fact(number)], puts=puts))
    return commits


def erased_texts(commits: list[Commit]) -> list[str]:
    """What no file may hold any more once all of these commits are there."""
    return [f"[note {ref.key[1]}]" for commit in commits for ref in commit.erases]
