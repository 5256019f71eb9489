"""Laws of rows as canonical JSON."""

from typing import Any

import pytest

from uaix_conformance.examples import entry, fact, note
from uaix_conformance.schema import KIT
from uaix_core.schema.codec import (
    body_of,
    header_of,
    key_in,
    key_out,
    row_in,
    with_body,
)
from uaix_core.schema.rows import Row
from uaix_core.values.errors import IntegrityError

ROWS = [
    note(2**63 - 1, noted_at=-1, extra="[1]", title="t", data=b"\0", pinned=True),
    KIT.relation("note").erased(note(1, text="gone")),
    fact(-(2**63), at=5, sure=True, value="null"),
    entry("", at=7, data=b"\xff", extra="{}"),
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("version", [0, 7])
def test_a_row_comes_back_from_its_header_and_body(row: Row, version: int) -> None:
    """Each field as it was, and the version that is given, 0 without one."""
    relation = KIT.of(row)
    header, body = header_of(relation, row), body_of(relation, row)
    given = () if version == 0 else (version,)
    came = row_in(relation, header, body, *given)

    assert (row, version) == (came, came.version)


@pytest.mark.parametrize("row", ROWS)
def test_a_key_comes_back_from_json(row: Row) -> None:
    """Instants and large integers stand in it as text."""
    relation = KIT.of(row)
    key = relation.key_of(row)

    assert key == key_in(relation, key_out(relation, key))


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": "red"},
        {"noted_at": "yesterday"},
        {"noted_at": 5},
        {"number": "many"},
    ],
)
def test_a_damaged_row_is_no_row(changes: dict[str, Any]) -> None:
    """Unknown members and values that can't be read are damage of the medium."""
    relation = KIT.relation("note")
    with pytest.raises(IntegrityError) as caught:
        row_in(
            relation, header_of(relation, note(1)) | changes, body_of(relation, note(1))
        )

    assert ("storage.row", "note") == (caught.value.code, caught.value.path)


def test_an_erased_row_gets_its_own_body_back() -> None:
    """Field by field and with its version; the body of another row is refused."""
    relation = KIT.relation("note")
    row = relation.stamped(note(1, text="a", data=b"\0"), 7)
    erased, body = relation.erased(row), body_of(relation, row)
    assert body is not None
    came = with_body(relation, erased, body)
    assert (row, 7) == (came, came.version)

    other = body_of(relation, note(1, text="b", data=b"\0"))
    half = {name: value for name, value in body.items() if name != "text"}
    for wrong in (other, half, {**body, "topic": "t0"}):
        with pytest.raises(IntegrityError) as raised:
            with_body(relation, erased, wrong or {})
        assert "storage.row" == raised.value.code
