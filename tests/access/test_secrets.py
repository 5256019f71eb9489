"""Laws of stored secrets: sealed, bound to their place, and gone when replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.access.places import APOLLO, CAROL, KEYS, Places

from uaix_backends import open_store
from uaix_core import CallerError, NotFoundError
from uaix_core.access.keys import KeyRing
from uaix_core.access.relations import STORED_SECRET
from uaix_core.access.standing import authority_scope
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from pathlib import Path

HOOK = b"whsec-of-a-test-7f3a9c"
BOTH = KeyRing("k2", {"k1": KEYS.keys["k1"], "k2": b"\2" * 32})
NEW = KeyRing("k2", {"k2": b"\2" * 32})


def stored(places: Places) -> list[Any]:
    """All rows of secrets, with their texts as far as they are there."""
    with places.store.snapshot(authority_scope("acme")) as snapshot:
        return list(snapshot.scan(STORED_SECRET.name, "key", limit=100))


def test_a_secret_comes_back_and_stands_nowhere(places: Places) -> None:
    """On every backend: what was put is got, and no row holds it."""
    secrets = places.authority().secrets
    secrets.put("hook", HOOK)

    assert HOOK == secrets.get("hook")
    assert ["hook"] == [one.name for one in secrets.list()]
    (row,) = stored(places)
    assert HOOK not in row.sealed
    assert len(row.sealed) == 12 + len(HOOK) + 16
    assert HOOK.decode() not in repr(secrets.list()) + repr(row)


def test_the_text_before_is_erased(places: Places) -> None:
    """A later secret takes the place of the one before, whose sealed text goes."""
    secrets = places.authority().secrets
    secrets.put("hook", HOOK)
    first = stored(places)[0].sealed
    secrets.put("hook", b"another")

    assert b"another" == secrets.get("hook")
    rows = stored(places)
    assert [None, True] == [rows[0].sealed, rows[1].sealed is not None]
    assert first not in [row.sealed for row in rows]


def test_a_forgotten_secret_is_none(places: Places) -> None:
    """Its text is erased, nobody gets it, and its name can be used again."""
    secrets = places.authority().secrets
    secrets.put("hook", HOOK)
    secrets.forget("hook")

    assert [] == list(secrets.list())
    for call in (secrets.get, secrets.forget):
        with pytest.raises(NotFoundError) as raised:
            call("hook")
        assert "secret.not-found" == raised.value.code
    assert [None] == [row.sealed for row in stored(places)]


def test_keys_rotate_without_downtime(quick: Places) -> None:
    """Between two keys every secret opens; after resealing the new one is enough."""
    quick.authority().secrets.put("hook", HOOK)
    quick.authority().secrets.put("other", b"x")
    both = quick.authority(BOTH).secrets

    assert HOOK == both.get("hook")
    assert (2, 0) == (both.reseal(), both.reseal())
    assert HOOK == quick.authority(NEW).secrets.get("hook")
    assert {"k2"} == {one.key_id for one in both.list()}


def test_resealing_takes_no_newer_secret_back(quick: Places, monkeypatch) -> None:
    """A secret that another writer put meanwhile stays, sealed under the new key."""
    quick.authority().secrets.put("hook", HOOK)
    both, other = quick.authority(BOTH).secrets, quick.authority(BOTH).secrets
    listed = type(both).list

    def late(self):
        found = listed(self)
        other.put("hook", b"newer")
        return found

    monkeypatch.setattr(type(both), "list", late)
    both.reseal()

    assert b"newer" == quick.authority(NEW).secrets.get("hook")


def test_a_forgotten_name_is_used_again(quick: Places) -> None:
    """What comes under the name of a forgotten secret gets the number after it."""
    secrets = quick.authority().secrets
    secrets.put("hook", HOOK)
    secrets.forget("hook")

    secrets.put("hook", b"another")

    assert b"another" == secrets.get("hook")
    assert [2] == [one.number for one in secrets.list()]


def test_without_the_right_key_nothing_opens(quick: Places) -> None:
    """A missing key and a wrong one of the same name are told, and give nothing."""
    quick.authority().secrets.put("hook", HOOK)

    for ring, code in ((NEW, "keys.missing"), (_wrong(), "secret.broken")):
        with pytest.raises(AccessError) as raised:
            quick.authority(ring).secrets.get("hook")
        assert code == raised.value.code
        assert raised.value.__cause__ is None


def _wrong() -> KeyRing:
    return KeyRing("k1", {"k1": b"\3" * 32})


def test_no_sealed_text_passes_for_another(quick: Places) -> None:
    """Two names with one secret are sealed apart, and each opens in its place alone."""
    secrets = quick.authority().secrets
    for name in ("a", "b"):
        secrets.put(name, HOOK)
    one, other = (row.sealed for row in stored(quick))
    assert one[12:] != other[12:]


def test_only_the_host_keeps_secrets(quick: Places) -> None:
    """Under an administrator's token no secret is put, got, listed or forgotten."""
    authority = quick.authority()
    authority.secrets.put("hook", HOOK)
    authority.grant(CAROL, "admin", scope=APOLLO)
    secrets = authority.under(quick.token(CAROL), scope=APOLLO).secrets

    for call in (
        lambda: secrets.put("hook", b"x"),
        lambda: secrets.get("hook"),
        secrets.list,
        lambda: secrets.forget("hook"),
        secrets.reseal,
    ):
        with pytest.raises(AccessError) as raised:
            call()
        assert "access.denied" == raised.value.code


@pytest.mark.parametrize("secret", [b"", "text", None, b"x" * 65_537, bytearray(b"x")])
def test_a_secret_is_bytes(quick: Places, secret: Any) -> None:
    """Nothing, text, and more than 64 KiB are refused; the bound itself isn't."""
    secrets = quick.authority().secrets
    with pytest.raises(CallerError) as raised:
        secrets.put("hook", secret)
    assert "secret.value" == raised.value.code
    secrets.put("hook", b"x" * 65_536)


@pytest.mark.parametrize("kind", ["dir", "sqlite"])
def test_no_file_holds_a_secret(kind: str, tmp_path: Path) -> None:
    """Neither the secret nor, once it was replaced, its sealed text is in any file."""
    folder = tmp_path / "store"
    store = open_store(f"{kind}:{folder}", create=True)
    places = Places(store)
    secrets = places.authority().secrets
    secrets.put("hook", HOOK)
    first = stored(places)[0].sealed
    secrets.put("hook", b"another")
    store.close()

    every = [folder] if folder.is_file() else list(folder.rglob("*"))
    data = b"".join(p.read_bytes() for p in every if p.is_file())
    data += b"".join(p.read_bytes() for p in tmp_path.glob("store-*"))
    assert HOOK not in data
    assert first not in data
