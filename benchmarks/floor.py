"""The floor: what a user would write in an afternoon to keep and find the same rows.

apsw with FTS5, one numpy matrix, zipfile and hashlib. It validates nothing, keeps no
history and has no chain, so no product can be this cheap; it says what the work costs
before anything is promised about it. Every figure is a ratio to this.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from itertools import chain
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Vector = NDArray[np.float32]
#: Number, scope, text, and a vector of length 1.
Note = tuple[int, str, str, Vector]

DIMENSIONS = 256

_PRAGMAS = ("journal_mode=wal", "synchronous=full", "cache_size=-64000")
_TABLES = """
create table file (path text primary key, sha256 text, content blob);
create table note (
  id integer primary key, key text unique, scope text, said text, at integer,
  vector blob
);
create index note_at on note (scope, at);
create virtual table word using fts5 (
  scope, said, content='note', content_rowid='id', tokenize='porter unicode61'
);
"""
_ADD_FILE = "insert into file values (?, ?, ?)"
_ADD_NOTE = "insert into note values (?, ?, ?, ?, ?, ?)"
_ADD_WORDS = "insert into word (rowid, scope, said) values (?, ?, ?)"
_BEST = "select rowid from word where word match ? order by bm25(word, 0, 1) limit ?"
_LAST = "select id from note where scope = ? order by at desc limit ?"
_LAST_OF_ALL = "select id from note order by id desc limit ?"
_PAGE = "select * from note where scope = ? order by at limit 50"

_WORDS = re.compile(r"\w+")
_COMMON = (
    " a an and are as at be by for from in is it of on or that the this to was with "
    "you your "
)
#: Rank fusion: how slowly the weight of a place falls.
_SLOPE = 60
_PART = 50


def connect(path: Path) -> apsw.Connection:
    """A connection whose commits are durable when they return."""
    connection = apsw.Connection(str(path))
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")
    return connection


class Floor:
    """Files and notes in one SQLite file; the vectors of all notes in one matrix."""

    def __init__(self, path: Path) -> None:
        self.connection = connect(path)
        self.connection.execute(_TABLES)

    def store_files(self, files: Mapping[str, bytes]) -> None:
        """Rows and SHA-256 of all files in one durable transaction."""
        sha256 = hashlib.sha256
        rows = ((path, sha256(data).hexdigest(), data) for path, data in files.items())
        with self.connection:
            self.connection.executemany(_ADD_FILE, rows)

    def put(self, notes: Iterable[Note]) -> None:
        """Notes with their words and vectors in one durable transaction."""
        notes = list(notes)
        with self.connection:
            self.connection.executemany(
                _ADD_NOTE, ((i, str(i), s, t, i, v.tobytes()) for i, s, t, v in notes)
            )
            self.connection.executemany(_ADD_WORDS, (note[:3] for note in notes))

    def load(self) -> None:
        """Bring all vectors into memory, one matrix with the rows of each scope."""
        text = "select id, scope, vector from note order by id"
        ids, scopes, vectors = zip(*self.connection.execute(text), strict=True)
        self.ids: NDArray[np.int64] = np.array(ids)
        flat = np.frombuffer(b"".join(vectors), np.float32)
        self.matrix = flat.reshape(-1, DIMENSIONS)
        by_scope: dict[str, list[int]] = {}
        for place, scope in enumerate(scopes):
            by_scope.setdefault(scope, []).append(place)
        self.places = {scope: np.array(rows) for scope, rows in by_scope.items()}

    def get(self, key: str) -> tuple[Any, ...] | None:
        """One note by its key."""
        text = "select * from note where key = ?"
        found: tuple[Any, ...] | None
        found = self.connection.execute(text, (key,)).fetchone()
        return found

    def scan(self, scope: str) -> list[tuple[Any, ...]]:
        """The first 50 notes of a scope."""
        return self.connection.execute(_PAGE, (scope,)).fetchall()

    def nearest(self, query: Vector, scope: str | None, limit: int) -> list[int]:
        """The ids of the notes whose vectors are nearest, best first."""
        ids, matrix = self.ids, self.matrix
        if scope is not None:
            places = self.places[scope]
            ids, matrix = ids[places], matrix[places]
        scores = matrix @ query
        top = np.argpartition(-scores, min(limit, len(scores) - 1))[:limit]
        best: list[int] = ids[top[np.argsort(-scores[top])]].tolist()
        return best

    def matching(self, query: str, scope: str | None, limit: int) -> list[int]:
        """The ids of the notes that share words with a question, best first."""
        words = dict.fromkeys(_WORDS.findall(query.lower()))
        chosen = [word for word in words if f" {word} " not in _COMMON] or list(words)
        match = f"said:({' OR '.join(map(_quoted, chosen))})"
        if scope is not None:
            match = f"scope:{_quoted(scope)} AND {match}"
        return self._ids(_BEST, (match, limit))

    def latest(self, scope: str | None, limit: int) -> list[int]:
        """The ids of the newest notes, newest first."""
        if scope is None:
            return self._ids(_LAST_OF_ALL, (limit,))
        return self._ids(_LAST, (scope, limit))

    def fused(
        self, query: str, vector: Vector, scope: str | None, limit: int = 10
    ) -> list[tuple[int, str]]:
        """The notes that stand highest in all three orders together."""
        weight: dict[int, float] = {}
        for order in (
            self.nearest(vector, scope, _PART),
            self.matching(query, scope, _PART),
            self.latest(scope, _PART),
        ):
            for place, note in enumerate(order, _SLOPE + 1):
                weight[note] = weight.get(note, 0.0) + 1 / place
        best = sorted(weight, key=weight.__getitem__, reverse=True)[:limit]
        marks = ",".join("?" * len(best))
        text = f"select id, said from note where id in ({marks})"  # noqa: S608 - marks
        found: list[Any] = self.connection.execute(text, best).fetchall()
        return found

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _ids(self, text: str, values: tuple[Any, ...]) -> list[int]:
        rows: Iterator[tuple[int, ...]] = self.connection.execute(text, values)
        return list(chain.from_iterable(rows))


def _quoted(word: str) -> str:
    return f'"{word}"'


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of stored entries, each of them hashed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, data in files.items():
            hashlib.sha256(data).hexdigest()
            archive.writestr(zipfile.ZipInfo(path), data)
    return buffer.getvalue()


def read_zip(data: bytes) -> dict[str, str]:
    """Each entry of an archive with its SHA-256."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            path: hashlib.sha256(archive.read(path)).hexdigest()
            for path in archive.namelist()
        }
