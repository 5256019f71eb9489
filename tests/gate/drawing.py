"""Drawing the bodies of made-up tokens, the same ones in every run."""

from __future__ import annotations

import random
import string

LOWER_HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
WIDE = ALNUM + "-_"
LOWER = string.ascii_lowercase + string.digits
DIGITS = string.digits


def drawn(alphabet: str, count: int, seed: object = 0) -> str:
    """So many characters of an alphabet, mixed, the same ones for the same seed."""
    source = random.Random(f"{alphabet}{count}{seed}")
    body = [source.choice(alphabet) for _ in range(count)]
    # The ends are letters or digits and never a word of a slug.
    sure = "a7" if alphabet.islower() else "A7" if alphabet == UPPER else "b7Q"
    if alphabet in {ALNUM, WIDE, UPPER, LOWER}:
        body[: len(sure)] = sure
        body[-1] = "9"
        body[len(body) // 2] = "4"
    return "".join(body)
