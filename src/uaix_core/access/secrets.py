"""Stored secrets: webhook tokens and the like, sealed under the host's key.

A secret is history of the authority's scope: each time it is put, it gets the next
number, and the text of the one before is erased in the same commit. What is kept is
AES-256-GCM under a key of the ring, bound to the tenant, the name and the number, so
that no sealed text passes for another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.relations import (
    CURRENT_SECRET,
    STORED_SECRET,
    CurrentSecret,
    StoredSecret,
)
from uaix_core.access.sealing import sealed, unsealed
from uaix_core.schema.commits import Expect
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import SALT_BYTES
from uaix_core.values.errors import AccessError, CallerError, LimitError, NotFoundError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from uaix_core.access.deciding import Administering, Made
    from uaix_core.access.keys import KeyRing
    from uaix_core.schema.relations import Ref
    from uaix_core.store.port import Snapshot

SEAL: Final = "seal"
#: The largest secret, in bytes.
MAX_SECRET: Final = 64 * 1024


@attrs.frozen
class SecretView:
    """A secret by its name, without its text."""

    name: str
    number: int
    key_id: str
    sealed_at: int

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return attrs.asdict(self)


def decide_secret(
    snapshot: Snapshot,
    by: Administering,
    name: str,
    secret: bytes,
    keys: KeyRing,
) -> Made:
    """What puts a secret under a name, in the place of the one that stood there.

    Raises:
        CallerError: ``secret.value``, ``id.syntax``, ``authority.person``.
        LimitError: ``secret.value`` above `MAX_SECRET`.
        AccessError: ``access.denied`` for anybody but the host's operator.

    """
    _check_host(by)
    check_id(name, "name")
    if type(secret) is not bytes or not secret:
        raise CallerError("a secret is bytes", code="secret.value", path="secret")
    if len(secret) > MAX_SECRET:
        raise LimitError(
            f"a secret has {MAX_SECRET:,} bytes at most",
            code="secret.value",
            path="secret",
        )
    before = _current(snapshot, name)
    number = _last_number(snapshot, name) + 1
    writing = by.writing
    receipt_id = writing.ids.new()
    row = STORED_SECRET.with_body(
        writing.random.bytes(SALT_BYTES),
        secret_name=name,
        number=number,
        key_id=keys.active,
        receipt_id=receipt_id,
        **by.actor(),
        sealed=sealed(
            keys.sealing_key(keys.active),
            secret,
            _place(by, name, number),
            writing.random,
        ),
    )
    return by.made(
        SEAL,
        name,
        receipt_id,
        (row,),
        details={"secret_name": name, "number": number, "key_id": keys.active},
        expects=(_expect(name, before),),
        erases=_text_of(snapshot, name, before),
    )


def decide_resealing(
    snapshot: Snapshot, by: Administering, name: str, keys: KeyRing
) -> Made:
    """What seals a secret anew, as it stands where this is decided.

    Raises:
        NotFoundError: ``secret.not-found``.
        AccessError: as `opened`.

    """
    return decide_secret(snapshot, by, name, opened(snapshot, by, name, keys), keys)


def decide_forgetting(snapshot: Snapshot, by: Administering, name: str) -> Made:
    """What erases the text of a secret; its name and number stay.

    Raises:
        NotFoundError: ``secret.not-found``.
        CallerError: ``authority.person``.
        AccessError: ``access.denied``.

    """
    _check_host(by)
    current = _found(snapshot, name)
    receipt_id = by.writing.ids.new()
    return by.made(
        SEAL,
        name,
        receipt_id,
        (),
        details={"secret_name": name, "number": current.number, "forgotten": 1},
        expects=(_expect(name, current),),
        erases=_text_of(snapshot, name, current),
    )


def opened(snapshot: Snapshot, by: Administering, name: str, keys: KeyRing) -> bytes:
    """The secret of a name.

    Raises:
        NotFoundError: ``secret.not-found``.
        AccessError: ``keys.missing``; ``secret.broken`` when the key of that name is
            another one, or what is stored isn't what was sealed; ``access.denied``.

    """
    _check_host(by)
    current = _found(snapshot, name)
    key = (name, current.number)
    row = cast("StoredSecret", snapshot.get(STORED_SECRET.name, key))
    place = _place(by, name, current.number)
    return _unsealed(keys, row.key_id, place, row.sealed or b"")


def secrets_of(snapshot: Snapshot, by: Administering) -> list[SecretView]:
    """All secrets by name, without their texts."""
    _check_host(by)
    rows = cast("Any", all_rows(snapshot, CURRENT_SECRET))
    return [
        SecretView(row.secret_name, row.number, row.key_id, row.sealed_at)
        for row in rows
    ]


def _check_host(by: Administering) -> None:
    by.check_person()
    if by.standing is not None:
        raise AccessError("only the host's own operator keeps secrets")


def _found(snapshot: Snapshot, name: str) -> CurrentSecret:
    current = _current(snapshot, name)
    if current is None:
        raise NotFoundError("no such secret", code="secret.not-found", path=name)
    return current


def _current(snapshot: Snapshot, name: str) -> CurrentSecret | None:
    return cast("CurrentSecret | None", snapshot.get(CURRENT_SECRET.name, (name,)))


def _last_number(snapshot: Snapshot, name: str) -> int:
    """The highest number that the name ever had, 0 for none; forgetting keeps it."""
    page = snapshot.scan(STORED_SECRET.name, "key", (name,), reverse=True, limit=1)
    return cast("StoredSecret", page[0]).number if page else 0


def _expect(name: str, current: CurrentSecret | None) -> Expect:
    version = 0 if current is None else current.version
    return Expect(CURRENT_SECRET.name, (name,), version)


def _text_of(
    snapshot: Snapshot, name: str, current: CurrentSecret | None
) -> tuple[Ref, ...]:
    """The row whose text goes, if it still has one."""
    if current is None:
        return ()
    row = snapshot.get(STORED_SECRET.name, (name, current.number))
    has_text = row is not None and STORED_SECRET.has_body(row)
    return (STORED_SECRET.ref(row),) if row is not None and has_text else ()


def _place(by: Administering, name: str, number: int) -> bytes:
    """What a sealed text is bound to."""
    return f"{by.writing.scope.text}|{name}|{number}".encode()


def _unsealed(keys: KeyRing, key_id: str, place: bytes, text: bytes) -> bytes:
    found = unsealed(keys.sealing_key(key_id), text, place)
    if found is None:
        raise AccessError(
            "the secret doesn't open with the key of this name",
            code="secret.broken",
            hint="the key was replaced under its old name, or the store was changed",
        )
    return found
