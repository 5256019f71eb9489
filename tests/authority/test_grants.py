"""Laws of grants: only a configuration that is understood whole grants anything."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uaix_core
from uaix_core import (
    CallerError,
    OperatorGrant,
    OperatorGrants,
    Principal,
    read_grants,
)
from uaix_core.authority.grants import MAX_GRANTS, MAX_GRANTS_BYTES
from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import LimitError
from uaix_core.values.ids import PRINCIPAL_KINDS

DIGEST = "sha256:" + "0123456789abcdef" * 4
OPERATOR = Principal("operator", "ops")
CANARY = "hunter2-canary"


def grant(namespace="travel", version=1, digest=DIGEST):
    return {"namespace": namespace, "version": version, "document_digest": digest}


#: More digits than Python turns into a number.
NUMBER = "9" * 5_000


def config(*grants, operator="operator:ops", **more):
    return json.dumps({"operator": operator, "grants": list(grants), **more})


def refusal(call):
    with pytest.raises(CallerError) as caught:
        call()
    return caught.value


def test_a_configuration_says_what_its_values_say():
    """The values of a configuration are those that code would write by hand."""
    text = config(grant(), grant(version=2), grant("hotels.eu", 7))
    made = OperatorGrants(
        OPERATOR,
        (
            OperatorGrant("travel", 1, DIGEST),
            OperatorGrant("travel", 2, DIGEST),
            OperatorGrant("hotels.eu", 7, DIGEST),
        ),
    )

    assert made == read_grants(text) == read_grants(text.encode())
    assert OperatorGrant("hotels.eu", 7, DIGEST) == made.find("hotels.eu", 7)
    assert [None] * 3 == [
        made.find(*name) for name in (("travel", 3), ("Travel", 1), ("hotels", 7))
    ]


def test_grants_never_change():
    """No field of a grant, nor the list of grants, can be set anew."""
    made = read_grants(config(grant()))
    for value in (made, made.grants[0]):
        for field in attrs.fields(type(value)):
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(value, field.name, None)
    assert isinstance(OperatorGrants(OPERATOR, list(made.grants)).grants, tuple)


@pytest.mark.parametrize("kind", PRINCIPAL_KINDS)
def test_only_an_operator_grants(kind):
    """Every other kind of principal is refused, in code and in a configuration."""
    grants = (OperatorGrant("travel", 1, DIGEST),)
    if kind == "operator":
        assert OperatorGrants(Principal(kind, "ops"), grants).grants == grants
        return
    for call in (
        lambda: OperatorGrants(Principal(kind, "ops"), grants),
        lambda: read_grants(config(grant(), operator=f"{kind}:ops")),
    ):
        assert "grants.operator" == refusal(call).code


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("namespace", ["a", "travel", "Hotels.eu", "x" * 128], ["", "x" * 129, "a b"]),
        ("namespace", [], [None, 1, ["travel"], "-a", "a/b", "a\n", "é"]),
        ("version", [1, 2, 2**53 - 1], [0, -1, 2**53, True, 1.0, "1", None]),
        (
            "document_digest",
            [DIGEST, "sha256:" + "0" * 64],
            ["", DIGEST[7:], DIGEST[:-1], DIGEST + "0", DIGEST.upper(), DIGEST + "\n"],
        ),
        (
            "document_digest",
            [],
            [None, 1, "sha512:" + "0" * 64, "sha256:" + "\u0661" * 64, b"0" * 71],
        ),
    ],
)
def test_a_grant_is_exact(field, good, bad):
    """Each field of a grant takes what it should and refuses what is one beside it."""
    for value in good:
        assert value == getattr(OperatorGrant(**{**grant(), field: value}), field)
    for value in bad:
        error = refusal(lambda v=value: OperatorGrant(**{**grant(), field: v}))
        assert ("grants.value", field) == (error.code, error.path)


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("", "json.syntax", "line 1, column 1"),
        ("{", "json.syntax", "line 1, column 2"),
        ("[]", "grants.value", None),
        ("null", "grants.value", None),
        ("{}", "grants.value", None),
        ('{"operator": "operator:a"}', "grants.value", None),
        (config(grant(), version=1), "grants.value", None),
        (config(), "grants.value", "grants"),
        (config(grant(), grant()), "grants.value", "grants[1]"),
        (
            config(grant(), grant(digest="sha256:" + "f" * 64)),
            "grants.value",
            "grants[1]",
        ),
        (config(grant(version=0)), "grants.value", "grants[0].version"),
        (config(grant(version=True)), "grants.value", "grants[0].version"),
        (config(grant(version=1.5)), "grants.value", "grants[0].version"),
        (config({**grant(), "note": CANARY}), "grants.value", "grants[0]"),
        (config({"namespace": "travel"}), "grants.value", "grants[0]"),
        (config(CANARY), "grants.value", "grants[0]"),
        (config(None), "grants.value", "grants[0]"),
        (config([1]), "grants.value", "grants[0]"),
        (config(grant(), operator=CANARY), "principal.syntax", "principal"),
        (config(grant(), operator=["operator:a"]), "grants.value", "operator"),
        (config(grant(), operator=None), "grants.value", "operator"),
        (config(grant(), operator="root:a"), "principal.kind", "principal.kind"),
        (config(grant(), operator="operator:"), "id.syntax", "principal.id"),
        (config(grant("a b")), "grants.value", "grants[0].namespace"),
        (config(grant(digest=CANARY)), "grants.value", "grants[0].document_digest"),
        ('{"operator": "operator:a", "grants": {}}', "grants.value", "grants"),
        ('{"operator": "operator:a", "grants": "aa"}', "grants.value", "grants"),
        ('{"grants": [], "grants": []}', "json.duplicate-key", "line 1, column 16"),
        (config(grant(version=float("nan"))), "json.number", None),
        (config(grant(version=float("inf"))), "json.number", None),
        (config(grant(version=2**53)), "json.number", None),
        (
            config(grant(version=0)).replace("0,", NUMBER + ","),
            "json.number",
            None,
        ),
        ("[" * 100_000, "json.depth", None),
        ('{"grants": ' + "[" * 4 + "]" * 4 + "}", "json.depth", None),
        (config(grant()) + "x", "json.trailing", None),
        ("\ufeff" + config(grant()), "json.bom", None),
        (config(grant("\ud800")), "json.surrogate", None),
        ('{"operator": "\ud800"}', "json.encoding", None),
        (b"\xff\xfe{\x00}\x00", "json.encoding", None),
        (config(grant()).encode("utf-16"), "json.encoding", None),
        (None, "grants.value", None),
        ({"operator": "operator:a", "grants": [grant()]}, "grants.value", None),
    ],
)
def test_what_is_not_understood_grants_nothing(text, code, path):
    """Every hostile or mistaken configuration is a typed error without its content."""
    error = refusal(lambda: read_grants(text))

    assert code == error.code
    assert path is None or path == error.path
    assert CANARY not in json.dumps(error.as_dict())


def test_a_repeated_member_is_refused_however_it_is_spelled():
    """A second member under an escaped name is a second member."""
    twice = config(grant()).replace('"version"', '"vers\\u0069on": 1, "version"')
    assert "json.duplicate-key" == refusal(lambda: read_grants(twice)).code


@pytest.mark.parametrize("text", ["", b""])
def test_a_huge_configuration_is_not_read(text):
    """A configuration has `MAX_GRANTS_BYTES` at most, blanks included."""
    body = config(grant())
    padded = body + " " * (MAX_GRANTS_BYTES - len(body))
    more = padded + " "
    if isinstance(text, bytes):
        padded, more = padded.encode(), more.encode()

    assert read_grants(body) == read_grants(padded)
    error = refusal(lambda: read_grants(more))
    assert ("grants.limit", LimitError) == (error.code, type(error))


def test_bytes_are_counted_and_not_characters():
    """A text that only its UTF-8 makes too large is too large."""
    assert "grants.limit" == refusal(lambda: read_grants("é" * 300_000)).code


def test_there_are_so_many_grants_at_most():
    """`MAX_GRANTS` grants are read, one more is refused."""
    most = [grant(version=n) for n in range(1, MAX_GRANTS + 1)]

    assert MAX_GRANTS == len(read_grants(config(*most)).grants)
    error = refusal(lambda: read_grants(config(*most, grant("one-more"))))
    assert ("grants.limit", LimitError) == (error.code, type(error))


@pytest.mark.parametrize("grants", [None, "ab", {"a": 1}, iter(()), 1, (1,), [None]])
def test_code_can_hand_in_grants_only(grants):
    """What is no list of grants is refused when a value is made by hand."""
    assert "grants.value" == refusal(lambda: OperatorGrants(OPERATOR, grants)).code


def test_code_can_hand_in_a_principal_only():
    """A text that reads like an operator is none."""
    grants = (OperatorGrant("travel", 1, DIGEST),)
    for operator in ("operator:ops", None):
        error = refusal(lambda o=operator: OperatorGrants(o, grants))
        assert "grants.operator" == error.code


NAMES = st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 3))


@given(st.lists(NAMES, max_size=4))
def test_a_configuration_grants_exactly_what_it_lists(names):
    """Whatever is listed once is found, everything else is not, else it is refused."""
    text = config(*(grant(*name) for name in names))
    is_good = bool(names) and len(set(names)) == len(names)
    is_good = is_good and all(version for _, version in names)
    if not is_good:
        assert "grants.value" == refusal(lambda: read_grants(text)).code
        return
    found = read_grants(text)
    for namespace in ("a", "b", "c"):
        for version in range(1, 5):
            has = found.find(namespace, version) is not None
            assert has == ((namespace, version) in names)


GOOD = config(grant(), grant("hotels", 2))
PUT = ["", "\0", '"', "{", "]", "9", " ", "\u00e9", "\ud800", "\\u0000"]


def read(text):
    """What is granted, or the family of the code that refuses."""
    try:
        return read_grants(text)
    except CallerError as error:
        return error.code.partition(".")[0]


@given(st.integers(0, len(GOOD)), st.integers(0, 3), st.sampled_from(PUT))
def test_a_damaged_configuration_grants_what_it_says(start, length, put):
    """A configuration changed anywhere is refused, or grants what it then says."""
    text = GOOD[:start] + put + GOOD[start + length :]
    found = read(text)
    if isinstance(found, str):
        assert found in {"grants", "json", "principal", "id"}
        return
    said = json.loads(text)
    assert said["operator"] == found.operator.text
    assert said["grants"] == [attrs.asdict(one) for one in found.grants]


@given(st.text() | st.binary())
def test_what_is_no_configuration_is_a_typed_error(text):
    """No text and no bytes make the reader fail in another way."""
    assert refusal(lambda: read_grants(text)).code


def test_nothing_in_the_product_makes_a_grant():
    """Only the reader of configurations makes grants, and nothing calls it."""
    room = Path(uaix_core.__file__).parents[1]
    makers = {"OperatorGrant", "OperatorGrants", "read_grants"}
    found = {
        (path.name, name)
        for path in sorted(room.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for name in [getattr(node.func, "id", getattr(node.func, "attr", ""))]
        if name in makers
    }

    assert {("grants.py", "OperatorGrant"), ("grants.py", "OperatorGrants")} == found


def test_no_store_holds_a_grant():
    """No relation of the product is named for grants, and no field of one."""
    names = [
        name
        for relation in SCHEMA.relations.values()
        for name in (relation.name, *relation.fields)
    ]
    assert [] == [name for name in names if "grant" in name]
