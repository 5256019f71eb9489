"""Local rows of a sealed scope: each rests sealed, and is opened where it is read.

CACHE rows may hold content, and WORK rows name what they are about. Only WORK that is
found across scopes by when it is due has to stand plain.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.access.sealed_rows import (
    SEALED_COPY,
    SEALED_TURN,
    SEALED_WORK,
    SealedTurn,
)
from uaix_core.schema.codec import header_of, row_in
from uaix_core.schema.commits import Expect
from uaix_core.schema.relations import Keep
from uaix_core.store.scanning import all_rows
from uaix_core.store.tables import Tables
from uaix_core.values.canonical import plain_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_core.access.sealing import ScopeCipher
    from uaix_core.schema.relations import Ref, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Random, ScopeId

#: What local rows rest as, by how they are kept.
SEALED_LOCAL: Final = {Keep.WORK: SEALED_WORK, Keep.CACHE: SEALED_COPY}
#: The turn of whoever puts a row about another one.
ABOUT: Final = "about"
_PLACE_BYTES: Final = 16


def sealed_as(relation: Relation) -> Relation | None:
    """What rows of a relation rest as, each for itself; None for all others."""
    if relation.wraps or relation.due is not None:
        return None
    return SEALED_LOCAL.get(relation.keep)


def turn(name: str) -> Row:
    """The row that says that it was somebody's turn."""
    return SealedTurn(name)


def expect_turn(snapshot: Snapshot, name: str) -> Expect:
    """That nobody had a turn since the snapshot of the store behind."""
    return Expect(SEALED_TURN.name, (name,), _last_turn(snapshot, name))


def _last_turn(snapshot: Snapshot, name: str) -> int:
    row = snapshot.get(SEALED_TURN.name, (name,))
    return row.version if row is not None else 0


def _newest_first(item: tuple[str, Row]) -> int:
    return -item[1].version


@attrs.frozen
class Opened:
    """The rows of one kind in a scope, and the places of each in the store behind.

    A copy of the store may have brought a row under a second place. The one that was
    put last counts, stands first, and takes the others along.
    """

    turn: int
    tables: Tables
    places: Mapping[Ref, Sequence[str]]
    rows: Mapping[str, Row]


class LocalRows:
    """Opens the rows of one kind; what didn't change is opened once."""

    def __init__(
        self,
        schema: Schema,
        scope: ScopeId,
        cipher: ScopeCipher,
        relation: Relation,
    ) -> None:
        self.relation = relation
        self._schema, self._cipher = schema, cipher
        self._nothing = Opened(0, Tables(schema, scope), {}, {})
        self._last = self._nothing

    def opened(self, snapshot: Snapshot) -> Opened:
        """The rows as a snapshot of the store behind has them."""
        last, now = self._last, _last_turn(snapshot, self.relation.name)
        if last.turn == now:
            return last
        rows: dict[str, Row] = {}
        sealed: Any
        for sealed in all_rows(snapshot, self.relation):
            known = last.rows.get(sealed.place)
            if known is None or known.version != sealed.version:
                known = self._row(sealed)
            rows[sealed.place] = known
        places: dict[Ref, list[str]] = {}
        standing: dict[Ref, Row] = {}
        for place, row in sorted(rows.items(), key=_newest_first):
            ref = self._schema.of(row).ref(row)
            places.setdefault(ref, []).append(place)
            standing.setdefault(ref, row)
        tables = self._nothing.tables.with_rows(standing.values(), ())
        self._last = opened = Opened(now, tables, places, rows)
        return opened

    def forget(self) -> None:
        """Open all of them anew the next time."""
        self._last = self._nothing

    def put(self, opened: Opened, row: Row, random: Random) -> Row:
        """The sealed row of a row, in the place of the one that stands."""
        relation = self._schema.of(row)
        places = opened.places.get(relation.ref(row))
        place = places[0] if places else random.bytes(_PLACE_BYTES).hex()
        text = plain_bytes([relation.name, header_of(relation, row)])
        return self._sealed(place, text)

    def again(self, row: Any) -> Row:
        """The same row sealed under the active key."""
        return self._sealed(row.place, self._text(row))

    def _sealed(self, place: str, text: bytes) -> Row:
        sealed = self._cipher.sealed(text, self._bound(place))
        return self.relation.make((place, self._cipher.key_id, sealed))

    def _text(self, row: Any) -> bytes:
        return self._cipher.unsealed(row.key_id, row.sealed, self._bound(row.place))

    def _bound(self, place: str) -> str:
        return f"{self.relation.name}/{place}"

    def _row(self, row: Any) -> Row:
        name, header = json.loads(self._text(row))
        return row_in(self._schema.relation(name), header, None, row.version)
