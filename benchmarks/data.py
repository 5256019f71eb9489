"""What is measured with: files, notes and vectors, the same in every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.floor import DIMENSIONS

if TYPE_CHECKING:
    from benchmarks.floor import Note, Vector

SEED = 20_260_101
#: The usual size of a file, in bytes.
FILE_BYTES = 600

_VOCABULARY = 20_000
_WORDS_OF_A_NOTE = 12
_SCOPES = 100


def words(draw: random.Random, count: int) -> str:
    """Words of which, as in any language, few are frequent and most are rare."""
    ranks = (int(200 * (draw.paretovariate(1) - 1)) for _ in range(count))
    return " ".join(f"w{min(_VOCABULARY - 1, rank)}" for rank in ranks)


def texts(count: int, size: int = FILE_BYTES) -> list[bytes]:
    """Different texts of so many ASCII bytes."""
    draw = random.Random(SEED)
    stock = words(draw, 4_000 + size)
    made = []
    for number in range(count):
        start = draw.randrange(len(stock) - size)
        head = f"# {number}\n"
        made.append((head + stock[start : start + size])[:size].encode())
    return made


def small_files(count: int) -> dict[str, bytes]:
    """Files of the usual size."""
    return {
        f".uai/notes/n{number:05}.uai": text for number, text in enumerate(texts(count))
    }


def large_files(total: int, count: int = 10) -> dict[str, bytes]:
    """A few files of so many bytes together."""
    draw = random.Random(SEED)
    return {
        f".uai/notes/n{number:05}.uai": draw.randbytes(total // count)
        for number in range(count)
    }


def notes(count: int) -> list[Note]:
    """Notes spread over some scopes, with vectors of length 1."""
    draw = random.Random(SEED)
    found = vectors(count)
    return [
        (number, f"u{number % _SCOPES}", words(draw, _WORDS_OF_A_NOTE), found[number])
        for number in range(count)
    ]


def vectors(count: int) -> Vector:
    """Random directions, float32, one in a row."""
    drawn = np.random.default_rng(SEED).standard_normal((count, DIMENSIONS))
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    made: Vector = (drawn / lengths).astype(np.float32)
    return made


def picks(count: int, among: int) -> list[int]:
    """Numbers below ``among`` in no order."""
    draw = random.Random(SEED)
    return [draw.randrange(among) for _ in range(count)]
