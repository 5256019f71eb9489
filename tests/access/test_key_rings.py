"""Laws of key rings: they come back as they were, or are refused without a word."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.access.places import ADA, APOLLO, BOB, Places

from uaix_backends import read_keys, write_keys
from uaix_core import CallerError, KeyRing, NotFoundError
from uaix_core.access.keys import MAX_RING_BYTES
from uaix_core.values.canonical import to_base64url
from uaix_core.values.instants import DAY

if TYPE_CHECKING:
    from pathlib import Path

RING = KeyRing("k2", {"k1": b"\1" * 32, "k2": bytes(range(32))})
#: What only a key says.
SAID = to_base64url(b"\7" * 32)


def test_a_ring_comes_back_as_it_was(tmp_path: Path) -> None:
    """What was written is what is read: the ids, the keys, and the active one."""
    write_keys(tmp_path / "keys", RING)

    found = read_keys(tmp_path / "keys")

    assert (RING.active, RING.keys) == (found.active, found.keys)
    with pytest.raises(CallerError) as raised:
        write_keys(tmp_path / "keys", RING)
    assert "files.exists" == raised.value.code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        SAID,
        '{"active": "k1"}',
        '{"active": "k1", "keys": []}',
        '{"active": "k1", "keys": {}}',
        '{"active": 1, "keys": {"k1": "%s"}}',
        '{"active": "k2", "keys": {"k1": "%s"}}',
        '{"active": "k1", "keys": {"k1": "%s"}, "more": 1}',
        '{"active": "k1", "keys": {"k1": "%s="}}',
        '{"active": "k1", "keys": {"k1": "%sAA"}}',
        '{"active": "k1", "keys": {"k1": "%s", "k1": "%s"}}',
        '{"active": "k1", "keys": {"k1": "%s", "": "%s"}}',
        '{"active": "k1", "keys": {"k1": "%s", "k2": null}}',
        '{"active": "k1", "keys": {"k1": "%s", "k2": {"a": "%s"}}}',
        '\ufeff{"active": "k1", "keys": {"k1": "%s"}}',
        '{"active": "k1", "keys": {"k1": "%s"}} x',
        '{"active": "k1", "keys": {"k1": "%s"}}' + " " * MAX_RING_BYTES,
    ],
)
def test_what_is_no_ring_is_refused_without_a_word_of_it(
    tmp_path: Path, text: str
) -> None:
    """Only the one strict form is read, and an error names the file and no content."""
    path = tmp_path / "keys"
    path.write_text(text.replace("%s", SAID), encoding="utf-8")
    path.chmod(0o600)

    with pytest.raises(CallerError) as raised:
        read_keys(path)

    error = raised.value
    assert ("keys.value", str(path)) == (error.code, error.path)
    assert SAID[:8] not in f"{error}{error.__cause__!r}{error.__context__!r}"


def test_what_is_no_file_holds_no_ring(tmp_path: Path) -> None:
    """A folder or a pipe is no key ring, and what isn't there is missing."""
    places = [tmp_path]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe", 0o600)
        places.append(tmp_path / "pipe")
    for place in places:
        with pytest.raises(CallerError) as raised:
            read_keys(place)
        assert "keys.value" == raised.value.code
    with pytest.raises(NotFoundError):
        read_keys(tmp_path / "nowhere")


def test_a_key_is_needed_by_what_was_made_with_it(quick: Places) -> None:
    """Until each token is over and each secret was sealed anew, and no longer."""
    older = quick.authority(RING.without("k1").added("k1", RING.keys["k1"]))
    first = older.issue(ADA, scope=APOLLO, life=DAY)
    older.issue(BOB, scope=APOLLO, life=2 * DAY)
    older.secrets.put("hook", b"a secret")
    newer = quick.authority(RING)
    newer.issue(ADA, scope=APOLLO, life=3 * DAY)

    def needed() -> list[tuple[str, int, int]]:
        return [(one.key_id, one.credentials, one.secrets) for one in newer.keys_used()]

    assert [("k1", 2, 1), ("k2", 1, 0)] == needed()
    newer.revoke(first.credential_id)
    newer.secrets.reseal()
    assert [("k1", 1, 0), ("k2", 1, 1)] == needed()
    quick.clock.at += 2 * DAY
    assert [("k2", 1, 1)] == needed()


def test_a_ring_is_changed_into_another_one() -> None:
    """A key that is added is the active one, and only an older one is taken out."""
    more = RING.added("k3", b"\3" * 32)

    assert ("k3", ["k1", "k2", "k3"]) == (more.active, sorted(more.keys))
    assert ["k2", "k3"] == sorted(more.without("k1").keys)
    assert ("k2", ["k1", "k2"]) == (RING.active, sorted(RING.keys))
    for change, code in (
        (lambda: RING.added("k1", b"\3" * 32), "keys.exists"),
        (lambda: RING.added("k3", b"\3" * 31), "keys.value"),
        (lambda: RING.without("k2"), "keys.active"),
        (lambda: RING.without("k9"), "keys.not-found"),
    ):
        with pytest.raises(CallerError) as raised:
            change()
        assert code == raised.value.code
