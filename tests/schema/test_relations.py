"""Laws of declaring relations, rows and schemas."""

from typing import Annotated, Any

import attrs
import pytest

from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import (
    BodyRow,
    Bytes,
    Id,
    Instant,
    Int,
    Json,
    Row,
    Text,
    Word,
    fields_of,
    row,
)
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import SchemaError


@row
class Note(BodyRow):
    """A row with a body."""

    note_id: Id
    number: Int
    text: Text | None
    data: Bytes | None


@row
class Task(Row):
    """A row of local work."""

    note_id: Id
    at: Instant
    state: Annotated[str, Word("open", "done")]
    maybe: Id | None


def note(**changes: Any) -> Relation:
    """A sound relation of notes with some arguments changed."""
    given: dict[str, Any] = {
        "name": "note",
        "row": Note,
        "key": ("note_id",),
        "keep": Keep.HISTORY,
        "body": ("text", "data"),
        **changes,
    }
    return Relation(**given)


def task(**changes: Any) -> Relation:
    """A sound relation of tasks with some arguments changed."""
    given: dict[str, Any] = {
        "name": "task",
        "row": Task,
        "key": ("note_id", "at"),
        "keep": Keep.WORK,
        **changes,
    }
    return Relation(**given)


BROKEN = {
    "a name with capitals": lambda: note(name="Note"),
    "a name with a quote": lambda: note(name='no"te'),
    "no key": lambda: note(key=()),
    "an unknown key field": lambda: note(key=("other",)),
    "an optional key field": lambda: task(key=("maybe",)),
    "a path named key": lambda: note(paths={"key": ("number",)}),
    "an unknown path field": lambda: note(paths={"by": ("other",)}),
    "content in a path": lambda: note(paths={"by": ("text",)}),
    "content outside the body": lambda: note(body=("text",)),
    "a body of an unknown field": lambda: note(body=("text", "data", "other")),
    "a body that can't be erased": lambda: note(body=("text", "data", "number")),
    "a body without a BodyRow": lambda: task(body=("maybe",), keep=Keep.HISTORY),
    "a BodyRow without a body": lambda: note(body=()),
    "a body outside of HISTORY": lambda: note(keep=Keep.VIEW),
    "unique outside of a VIEW": lambda: task(paths={"p": ("at",)}, unique=("p",)),
    "unique without its path": lambda: task(keep=Keep.VIEW, unique=("p",)),
    "versioned outside of a VIEW": lambda: task(versioned=True),
    "a tree outside of a VIEW": lambda: task(tree=("note_id", "state")),
    "about outside of WORK": lambda: task(keep=Keep.VIEW, about="note"),
    "due outside of WORK": lambda: task(keep=Keep.VIEW, due="at"),
    "due that is no instant": lambda: task(due="state"),
    "due that is no field": lambda: task(due="when"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_declaration_is_refused(case: str) -> None:
    """A relation that breaks a rule of the contract can't be declared."""
    with pytest.raises(SchemaError):
        BROKEN[case]()


def test_a_sound_declaration_knows_its_parts() -> None:
    """Header, body, columns and the full order of each path follow from the fields."""
    relation = note(paths={"by_number": ("number",)})

    assert ("body_digest", "note_id", "number") == relation.header
    assert ("note_id",) == relation.orders["key"]
    assert ("number", "note_id") == relation.orders["by_number"]
    assert {"note_id", "number", "text", "data", "body_digest", "salt"} == set(
        relation.columns
    )


def test_a_row_without_a_body_may_name_its_fields_as_it_likes() -> None:
    """Only in a relation with a body are salt and body digest no fields of its own."""

    @row
    class Dish(Row):
        """A row with a field that bodies have as well."""

        salt: Id
        body_digest: Id
        name: Id

    relation = Relation("dish", Dish, ("salt", "name"), keep=Keep.WORK)
    made = relation.make(("a", "b", "c"))

    assert ("salt", "body_digest", "name") == relation.columns == relation.header
    assert (("a", "c"), ("a", "b", "c")) == (
        relation.key_of(made),
        relation.values(made),
    )
    assert not relation.has_body(made)


def test_a_made_row_has_the_version_it_is_given() -> None:
    """Without one it is new to every store, with or without a body."""
    values = {
        note: ("n", 1, "text", b"data", "0" * 64, b"s"),
        task: ("n", 0, "open", None),
    }
    for relation_of, given in values.items():
        relation = relation_of()
        assert 0 == relation.make(given).version
        assert 7 == relation.make(given, 7).version
        assert given == relation.values(relation.make(given, 7))


def test_a_row_named_by_its_header_says_so_in_full() -> None:
    """Its id is the digest of the other fields, and its header's text has all."""
    relation = note(key=("number", "note_id"))
    made = relation.named_by_header("note_id", b"s" * 16, number=1, text="", data=b"")
    again = relation.make(relation.values(made))
    nameless = attrs.evolve(again, note_id=None)

    assert relation.header_text(again) == relation.header_text(made)
    assert (
        sha256_hex(relation.header_text(nameless).encode()) == relation.key_of(made)[1]
    )


def test_a_path_keeps_key_fields_where_it_names_them() -> None:
    """A key field that a path names stands where the path puts it, once."""
    relation = task(paths={"by_time": ("at", "note_id")})

    assert ("at", "note_id") == relation.orders["by_time"]


def test_a_field_needs_one_of_the_eight_kinds() -> None:
    """A plain annotation says too little to store the field."""

    @row
    class Plain(Row):
        """A row with a plain annotation."""

        name: str

    with pytest.raises(SchemaError):
        fields_of(Plain)


def test_a_schema_has_each_name_and_row_class_once() -> None:
    """Two relations share neither a name nor a row class."""
    with pytest.raises(SchemaError):
        Schema(Room("a", (note(),)), Room("b", (note(name="other"),)))
    with pytest.raises(SchemaError):
        Schema(Room("a", (note(), task(name="note"))))


@pytest.mark.parametrize(
    ("about", "key"), [("nothing", ("note_id", "at")), ("note", ("at", "note_id"))]
)
def test_about_needs_a_body_and_a_path_to_it(about: str, key: tuple[str, ...]) -> None:
    """What is dropped with an erased row must be found by that row's key."""
    with pytest.raises(SchemaError):
        Schema(Room("a", (note(), task(about=about, key=key))))


def test_about_names_what_can_be_erased() -> None:
    """Nothing goes with a row that has no body to erase."""

    @row
    class Plain(Row):
        """History without a body."""

        note_id: Id

    plain = Relation("plain", Plain, ("note_id",), keep=Keep.HISTORY)
    with pytest.raises(SchemaError):
        Schema(Room("a", (plain, task(about="plain"))))


def test_about_is_found_through_a_path() -> None:
    """A path that begins with the key of the other relation is enough."""
    by_note = task(about="note", key=("at", "note_id"), paths={"p": ("note_id",)})

    schema = Schema(Room("a", (note(), by_note)))

    assert [(by_note, "p")] == schema.about["note"]


def test_the_fingerprint_follows_the_layout() -> None:
    """Any change of what a backend lays out changes the fingerprint."""
    prints = {
        Schema(Room("a", (relation,))).fingerprint
        for relation in (
            note(),
            note(name="other"),
            note(paths={"p": ("number",)}),
            note(key=("note_id", "number")),
            task(),
            task(keep=Keep.VIEW),
            task(keep=Keep.VIEW, versioned=True),
        )
    }

    assert 7 == len(prints)
    assert Schema(Room("x", (note(),))).fingerprint in prints


def test_a_repr_shows_no_content() -> None:
    """What people wrote never gets into a log through the repr of a row."""

    @row
    class Written(Row):
        """A row with content of all kinds."""

        name: Id
        text: Text
        data: Bytes
        json: Json

    shown = repr(Written("name-1", "secret-text", b"secret-data", '"secret-json"'))

    assert "Written(name='name-1')" == shown
