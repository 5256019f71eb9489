"""CACHE rows of a sealed scope: each rests sealed, and is opened where it is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.access.sealed_rows import (
    SEALED_COPY,
    SEALED_TURN,
    SealedCopy,
    SealedTurn,
)
from uaix_core.schema.codec import header_of, row_in
from uaix_core.schema.commits import Expect
from uaix_core.store.scanning import all_rows
from uaix_core.store.tables import Tables
from uaix_core.values.canonical import plain_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_core.access.sealing import ScopeCipher
    from uaix_core.schema.relations import Ref
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Random, ScopeId

#: Turns: some CACHE row changed; some row about another one was put.
COPY: Final = "copy"
ABOUT: Final = "about"
_PLACE_BYTES: Final = 16


def turn(name: str) -> Row:
    """The row that says that it was somebody's turn."""
    return SealedTurn(name)


def expect_turn(snapshot: Snapshot, name: str) -> Expect:
    """That nobody had a turn since the snapshot of the inner store."""
    return Expect(SEALED_TURN.name, (name,), _last_turn(snapshot, name))


def _last_turn(snapshot: Snapshot, name: str) -> int:
    row = snapshot.get(SEALED_TURN.name, (name,))
    return row.version if row is not None else 0


def _newest_first(item: tuple[str, Row]) -> int:
    return -item[1].version


@attrs.frozen
class Opened:
    """The CACHE rows of a scope, and the places of each in the store behind.

    A copy of the store may have brought a row under a second place. The one that was
    put last counts, stands first, and takes the others along.
    """

    turn: int
    tables: Tables
    places: Mapping[Ref, Sequence[str]]
    rows: Mapping[str, Row]


class Copies:
    """Opens the CACHE rows of a scope; what didn't change is opened once."""

    def __init__(self, schema: Schema, scope: ScopeId, cipher: ScopeCipher) -> None:
        self._schema, self._cipher = schema, cipher
        self._nothing = Opened(0, Tables(schema, scope), {}, {})
        self._last = self._nothing

    def opened(self, snapshot: Snapshot) -> Opened:
        """The rows as a snapshot of the inner store has them."""
        last, now = self._last, _last_turn(snapshot, COPY)
        if last.turn == now:
            return last
        rows: dict[str, Row] = {}
        for row in all_rows(snapshot, SEALED_COPY):
            sealed = cast("SealedCopy", row)
            known = last.rows.get(sealed.place)
            is_known = known is not None and known.version == sealed.version
            rows[sealed.place] = known if is_known else self._row(sealed)  # type: ignore[assignment] # not None then
        places: dict[Ref, list[str]] = {}
        standing: dict[Ref, Row] = {}
        for place, row in sorted(rows.items(), key=_newest_first):
            ref = self._schema.of(row).ref(row)
            places.setdefault(ref, []).append(place)
            standing.setdefault(ref, row)
        tables = self._nothing.tables.with_rows(standing.values(), ())
        opened = Opened(now, tables, places, rows)
        if now > self._last.turn:
            self._last = opened
        return opened

    def forget(self) -> None:
        """Open all of them anew the next time."""
        self._last = self._nothing

    def put(self, opened: Opened, row: Row, random: Random) -> SealedCopy:
        """The sealed row of a row, in the place of the one that stands."""
        relation = self._schema.of(row)
        places = opened.places.get(relation.ref(row))
        place = places[0] if places else random.bytes(_PLACE_BYTES).hex()
        text = plain_bytes([relation.name, header_of(relation, row)])
        return self._sealed(place, text)

    def again(self, row: SealedCopy) -> SealedCopy:
        """The same row sealed under the active key."""
        return self._sealed(row.place, self._text(row))

    def _sealed(self, place: str, text: bytes) -> SealedCopy:
        sealed = self._cipher.sealed(text, f"copy/{place}")
        return SealedCopy(place, self._cipher.key_id, sealed)

    def _text(self, row: SealedCopy) -> bytes:
        return self._cipher.unsealed(row.key_id, row.sealed, f"copy/{row.place}")

    def _row(self, row: SealedCopy) -> Row:
        name, header = json.loads(self._text(row))
        return row_in(self._schema.relation(name), header, None, row.version)
