"""A commit as sealed parts, and the commit that parts hold.

Part 0 is the line of the commit as a file would hold it, without bodies; part n is the
body of the n-th row. A part that is erased, or was never there, is an erased body.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.sealed_rows import SEALED_PART, SealedPart
from uaix_core.schema.codec import body_of, with_body
from uaix_core.store.segments import commit_line, read_commit
from uaix_core.values.canonical import SALT_BYTES, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_core.access.sealing import ScopeCipher
    from uaix_core.schema.commits import Mark, Recorded
    from uaix_core.schema.relations import Key, Ref
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.store.tables import Tables
    from uaix_core.values.ids import Random, ScopeId

#: Parts are read so many at a time: any of them may hold a large body.
PAGE: Final = 256


def sealed_part(cipher: ScopeCipher, random: Random, key: Key, text: bytes) -> Row:
    """The row of a part, sealed under the active key."""
    number, part, generation = key
    return SEALED_PART.with_body(
        random.bytes(SALT_BYTES),
        number=number,
        part=part,
        generation=generation,
        key_id=cipher.key_id,
        sealed=cipher.sealed(text, place_of(key)),
    )


def opened_part(cipher: ScopeCipher, row: SealedPart) -> bytes:
    """The text of a part.

    Raises:
        AccessError: ``keys.missing``, ``sealed.broken``.

    """
    return cipher.unsealed(row.key_id, row.sealed, place_of(SEALED_PART.key_of(row)))


def place_of(key: Key) -> str:
    """How a part is named, and what its text is bound to."""
    return "/".join(map(str, key))


def packed(
    schema: Schema, recorded: Recorded, cipher: ScopeCipher, random: Random
) -> Iterator[Row]:
    """The parts of a chained commit."""
    line = commit_line(schema, recorded, has_bodies=False)
    number = recorded.seq
    yield sealed_part(cipher, random, (number, 0, 0), line.removesuffix(b"\n"))
    for part, row in enumerate(recorded.commit.adds, 1):
        body = body_of(schema.of(row), row)
        if body is not None:
            text = plain_text(body).encode()
            yield sealed_part(cipher, random, (number, part, 0), text)


class Unpacking:
    """Reads the commits that follow a mark out of the parts of a scope."""

    def __init__(
        self, schema: Schema, scope: ScopeId, cipher: ScopeCipher, last: Mark
    ) -> None:
        self._schema, self._scope, self._cipher = schema, scope, cipher
        self._last = last

    def commits(self, snapshot: Snapshot) -> Iterator[Recorded]:
        """The commits in order, each of which continues the chain.

        Raises:
            AccessError: ``keys.missing``, ``sealed.broken``.
            IntegrityError: they aren't one chain.

        """
        parts: dict[int, SealedPart] = {}
        number = self._last.seq
        for row in _parts_after(snapshot, number):
            if row.number != number and parts:
                yield self._commit(number, parts)
                parts = {}
            number = row.number
            # Generations follow each other, and the last one counts.
            parts[row.part] = row
        if parts:
            yield self._commit(number, parts)

    def _commit(self, number: int, parts: dict[int, SealedPart]) -> Recorded:
        if 0 not in parts:
            raise self._cipher.broken(place_of((number, 0, 0)))
        line = opened_part(self._cipher, parts.pop(0))
        recorded = read_commit(self._schema, self._scope, line, self._last)
        self._last = recorded.mark
        adds = list(recorded.commit.adds)
        for part, row in parts.items():
            if row.sealed is not None:
                if not 1 <= part <= len(adds):
                    raise self._cipher.broken(place_of((number, part, row.generation)))
                adds[part - 1] = self._whole(adds[part - 1], row)
        commit = attrs.evolve(recorded.commit, adds=adds)
        return attrs.evolve(recorded, commit=commit)

    def _whole(self, row: Row, part: SealedPart) -> Row:
        body: dict[str, Any] = json.loads(opened_part(self._cipher, part))
        return with_body(self._schema.of(row), row, body)


def _parts_after(snapshot: Snapshot, number: int) -> Iterator[SealedPart]:
    after: Key = (number,)
    while True:
        rows = snapshot.scan(SEALED_PART.name, "key", after=after, limit=PAGE)
        yield from cast("Sequence[SealedPart]", rows)
        if len(rows) < PAGE:
            return
        after = SEALED_PART.key_of(rows[-1])


def body_parts(snapshot: Snapshot, tables: Tables, refs: Iterable[Ref]) -> list[Ref]:
    """The parts that hold the bodies of these rows now."""
    places: dict[int, dict[Ref, int]] = {}
    found = []
    for ref in refs:
        row = tables.get(ref)
        number = row.version if row is not None else 0
        if number not in places:
            adds = tables.log.entry(number - 1).adds
            places[number] = {one: part for part, one in enumerate(adds, 1)}
        prefix = (number, places[number][ref])
        (last,) = snapshot.scan(SEALED_PART.name, "key", prefix, reverse=True, limit=1)
        found.append(SEALED_PART.ref(last))
    return found
