"""Laws of rows and commits before any store sees them."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.history.relations import (
    DIGEST_KEY,
    HEAD,
    RECEIPT,
    DigestKey,
    Head,
    Receipt,
)
from uaix_core.schema.checks import check_commit
from uaix_core.schema.commits import MAX_ROWS, Commit, Expect
from uaix_core.schema.kinds import KINDS, Kind, rules_of
from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    LimitError,
    SchemaError,
)
from uaix_core.values.ids import ScopeId
from uaix_core.values.instants import EARLIEST, FOREVER

SCOPE = ScopeId("t", "project", "p")


def receipt(name: str = "r", details: str = "{}") -> Receipt:
    """A receipt with a body."""
    made = RECEIPT.with_body(
        b"s" * 16,
        receipt_id=name,
        operation="install",
        outcome="refused",
        package_id=None,
        checkpoint_id=None,
        key_digest=None,
        request_digest=None,
        actor_kind="operator",
        actor_id="local",
        details=details,
    )
    assert isinstance(made, Receipt)
    return made


HEAD_ROW = Head("p", "r", "v", 1, "create", 0, 0)
KEY_ROW = DigestKey("purpose", "secret")

GOOD = {
    "add": Commit(SCOPE, 0, adds=(receipt(),)),
    "put": Commit(SCOPE, 0, puts=(KEY_ROW,)),
    "drop": Commit(SCOPE, 0, drops=(("digest_key", ("purpose",)),)),
    "erase": Commit(SCOPE, 0, erases=(("receipt", ("r",)),)),
    "expect": Commit(
        SCOPE, 0, expects=(Expect("head", ("p", "r"), 0),), puts=(KEY_ROW,)
    ),
}

BAD = {
    "nothing": (Commit(SCOPE, 0), CallerError),
    "only an expectation": (
        Commit(SCOPE, 0, expects=(Expect("head", ("p", "r"), 0),)),
        CallerError,
    ),
    "a view row added": (Commit(SCOPE, 0, adds=(HEAD_ROW,)), SchemaError),
    "a view row put": (Commit(SCOPE, 0, puts=(HEAD_ROW,)), SchemaError),
    "a work row added": (Commit(SCOPE, 0, adds=(KEY_ROW,)), SchemaError),
    "a history row put": (Commit(SCOPE, 0, puts=(receipt(),)), SchemaError),
    "a view row dropped": (
        Commit(SCOPE, 0, drops=(("head", ("p", "r")),)),
        SchemaError,
    ),
    "a work row erased": (
        Commit(SCOPE, 0, erases=(("digest_key", ("purpose",)),)),
        SchemaError,
    ),
    "an unknown relation": (Commit(SCOPE, 0, erases=(("x", ("y",)),)), SchemaError),
    "a short key": (Commit(SCOPE, 0, erases=(("receipt", ()),)), CallerError),
    "a key of another kind": (
        Commit(SCOPE, 0, erases=(("receipt", (1,)),)),
        CallerError,
    ),
    "one key added twice": (
        Commit(SCOPE, 0, adds=(receipt(), receipt())),
        ConflictError,
    ),
    "one key put twice": (Commit(SCOPE, 0, puts=(KEY_ROW, KEY_ROW)), CallerError),
    "put and dropped": (
        Commit(SCOPE, 0, puts=(KEY_ROW,), drops=(("digest_key", ("purpose",)),)),
        CallerError,
    ),
    "added and erased": (
        Commit(SCOPE, 0, adds=(receipt(),), erases=(("receipt", ("r",)),)),
        CallerError,
    ),
    "a missing body": (
        Commit(SCOPE, 0, adds=(RECEIPT.erased(receipt()),)),
        CallerError,
    ),
    "a body without its salt": (
        Commit(SCOPE, 0, adds=(attrs.evolve(receipt(), salt=None),)),
        CallerError,
    ),
    "a salt without its body": (
        Commit(SCOPE, 0, adds=(attrs.evolve(receipt(), details=None),)),
        CallerError,
    ),
    "a wrong body digest": (
        Commit(SCOPE, 0, adds=(attrs.evolve(receipt(), body_digest="0" * 64),)),
        CallerError,
    ),
    "an unknown word": (
        Commit(SCOPE, 0, adds=(attrs.evolve(receipt(), outcome="maybe"),)),
        CallerError,
    ),
    "an expectation of the past": (
        Commit(SCOPE, 0, expects=(Expect("head", ("p", "r"), -1),), puts=(KEY_ROW,)),
        CallerError,
    ),
    "an expectation without versions": (
        Commit(
            SCOPE,
            0,
            expects=(Expect("package_scope", ("p", "universal"), 0),),
            puts=(KEY_ROW,),
        ),
        SchemaError,
    ),
    "one expectation twice": (
        Commit(
            SCOPE,
            0,
            expects=(Expect("head", ("p", "r"), 0), Expect("head", ("p", "r"), 1)),
            puts=(KEY_ROW,),
        ),
        CallerError,
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_sound_commits_pass(case: str) -> None:
    """Each kind of change passes on its own."""
    names = [RECEIPT.ref(row) for row in GOOD[case].adds]

    assert names == check_commit(SCHEMA, GOOD[case])


@pytest.mark.parametrize("case", BAD)
def test_unsound_commits_are_refused(case: str) -> None:
    """What breaks the contract is refused before anything is read."""
    commit, error = BAD[case]

    with pytest.raises(error):
        check_commit(SCHEMA, commit)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("details", '"\0"', "text.not-storable"),
        ("details", '"\ud800"', "text.not-storable"),
        ("details", "{ }", "schema.value"),
        ("details", 1, "schema.value"),
        ("receipt_id", "\0", "schema.value"),
        ("outcome", "\0", "schema.value"),
    ],
)
def test_a_text_that_no_store_may_hold_has_its_own_code(
    field: str, value: object, code: str
) -> None:
    """What people write can be mended by them; any other wrong value is a mistake."""
    commit = Commit(SCOPE, 0, adds=(attrs.evolve(receipt(), **{field: value}),))

    with pytest.raises(CallerError) as caught:
        check_commit(SCHEMA, commit)

    assert code == caught.value.code
    assert f"receipt.{field}" == caught.value.path


def test_a_replayed_row_may_be_born_erased() -> None:
    """Only a replay may bring rows whose bodies are gone."""
    commit = Commit(SCOPE, 0, adds=(RECEIPT.erased(receipt()),))

    check_commit(SCHEMA, commit, replayed=True)


@pytest.mark.parametrize(("rows", "refused"), [(MAX_ROWS, False), (MAX_ROWS + 1, True)])
def test_the_limit_of_rows(rows: int, refused: bool) -> None:
    """The largest commit passes and one row more is refused, never cut."""
    drops = tuple(("digest_key", (f"k{i}",)) for i in range(rows))
    commit = Commit(SCOPE, 0, drops=drops)

    if refused:
        with pytest.raises(LimitError) as caught:
            check_commit(SCHEMA, commit)
        assert "limit.rows" == caught.value.code
    else:
        check_commit(SCHEMA, commit)


HELD = {
    Kind.ID: (["a", "0" * 64], ["", "a b", None, 1, b"a"]),
    Kind.INSTANT: ([EARLIEST, 0, FOREVER], [EARLIEST - 1, FOREVER + 1, True, 1.0, "0"]),
    Kind.INT: ([-(2**63), 0, 2**63 - 1], [-(2**63) - 1, 2**63, True, 1.0, "1"]),
    Kind.BOOL: ([True, False], [0, 1, "true", None]),
    Kind.TEXT: (["", "é\n\U0001f602"], ["\0", "\ud800", b"", None, 1]),
    Kind.BYTES: ([b"", b"\0\xff"], ["", bytearray(b"x"), memoryview(b"x"), None]),
    Kind.JSON: (
        ["{}", "[]", '""', "null", "0", '{"a":1,"b":[true]}', "0.5", '{"é":1}'],
        [
            "\0",
            '"\0"',
            '"\ud800"',
            '{"\ud800":1}',
            '"\\ud800"',
            "",
            "{ }",
            '{"b":1,"a":2}',
            "1.0",
            "NaN",
            '"\\u0041"',
            "[1,]",
            1,
            None,
            "01",
        ],
    ),
}


@pytest.mark.parametrize("kind", HELD)
def test_what_a_kind_holds(kind: Kind) -> None:
    """A field takes exactly the values of its kind, each boundary included."""
    good, bad = HELD[kind]

    assert [True] * len(good) == [KINDS[kind].holds(value) for value in good]
    assert [False] * len(bad) == [KINDS[kind].holds(value) for value in bad]


@pytest.mark.parametrize("kind", HELD)
def test_an_optional_field_holds_none_as_well(kind: Kind) -> None:
    """None is the one value that an optional field holds in addition."""
    good, bad = HELD[kind]
    holds = rules_of(kind, optional=True).holds

    assert all(holds(value) for value in [*good, None])
    assert not any(holds(value) for value in bad if value is not None)


def test_a_word_holds_its_words_only() -> None:
    """A closed vocabulary takes neither other words nor other types."""
    holds = rules_of(Kind.WORD, ("on", "off"), optional=False).holds

    assert holds("on")
    assert not any(holds(value) for value in ("On", "", None, 1, ["on"]))


@given(st.sampled_from(list(KINDS)), st.data())
def test_values_come_back_from_json(kind: Kind, data: st.DataObject) -> None:
    """What a kind writes into canonical JSON it reads back as the same value."""
    rules = KINDS[kind]
    drawn = {
        Kind.INT: st.integers(-(2**63), 2**63 - 1),
        Kind.INSTANT: st.integers(EARLIEST, FOREVER),
        Kind.BYTES: st.binary(max_size=20),
    }
    value = data.draw(drawn.get(kind, st.sampled_from(HELD[kind][0])))
    written = rules.to_json(value) if rules.to_json else value

    assert value == (rules.from_json(written) if rules.from_json else written)


def test_relations_of_the_product_are_found_by_row() -> None:
    """Each row class leads to its relation."""
    assert [HEAD, RECEIPT, DIGEST_KEY] == [
        SCHEMA.of(row) for row in (HEAD_ROW, receipt(), KEY_ROW)
    ]
    with pytest.raises(SchemaError):
        SCHEMA.of(object())  # type: ignore[arg-type]
