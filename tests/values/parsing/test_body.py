from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.parsing.bodies import (
    EXAMPLES,
    FLAT,
    HEADER_LINES,
    KEYS,
    LABELLED,
    LABELS,
    POINTERS,
    SECTIONS,
    TEXTS,
    VALUES,
)

from uaix_core.packages.templates.evidence import EVIDENCE_TEXTS
from uaix_core.packages.templates.persona import PERSONA_TEXTS
from uaix_core.packages.templates.texts import UNIVERSAL_TEXTS
from uaix_core.values.parsing import parse_body
from uaix_core.values.parsing.view import DIALECTS, NOTES, fold_label

STARTERS = {**UNIVERSAL_TEXTS, **PERSONA_TEXTS, **EVIDENCE_TEXTS}


def parsed(text):
    return parse_body(text.encode(), "text/uaix")


def labels(body):
    return [(field.label, field.text) for field in body.fields]


@given(st.binary(max_size=60), st.sampled_from(["text/uaix", "application/json"]))
def test_reading_never_fails(data, media_type):
    """Whatever the bytes are, reading them gives a view."""
    assert parse_body(data, media_type).dialect in DIALECTS


@given(TEXTS)
def test_text_is_read_whatever_it_holds(text):
    """Text in UTF-8 without NUL is never called binary, and every note is listed."""
    body = parsed(text)

    assert "binary" != body.dialect
    assert {note.code for note in body.notes} <= NOTES.keys()


@given(TEXTS)
def test_newlines_are_one_thing(text):
    """LF, CR LF and a lone CR give equal views, lines of fields included."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    body = parsed(unix)

    for newline in ("\r\n", "\r"):
        other = parsed(unix.replace("\n", newline))
        assert body == other
        assert [f.line for f in body.fields] == [f.line for f in other.fields]
        assert body.notes == other.notes


@given(TEXTS)
def test_nothing_readable_is_lost(text):
    """Every letter of a text without front matter stands in its view, in order."""
    body = parsed("x" + text)
    kept = body.unparsed or "".join(
        [body.title or "", *(part.heading + part.text for part in body.sections)]
    )

    assert [c for c in "x" + text if c.isalpha()] == [c for c in kept if c.isalpha()]


@given(TEXTS)
def test_fields_and_prose_are_parts_of_their_section(text):
    """Each line of a field and of the prose is a line of the section's text."""
    for section in parsed(text).sections:
        lines = section.text.split("\n")
        for line in section.prose.split("\n"):
            assert not line or line in lines
        for field in section.fields:
            assert field.label in lines[field.line - section.line]


@pytest.mark.parametrize("dialect", EXAMPLES)
def test_each_dialect_is_told(dialect):
    """The written examples are recognised for what they are."""
    assert dialect == parsed(EXAMPLES[dialect]).dialect


def test_labelled_text_has_a_title_fields_and_lists():
    """A labelled text gives its title line, inline and block fields, and items."""
    body = parsed(LABELLED)
    by_label = {field.label: field for field in body.fields}

    assert "Lighthouse progress" == body.title
    assert ["Purpose", "Verification status", "Update route", "Blockers"] == list(
        by_label
    )
    assert ("say where the repair stands", "and who is next") == (
        by_label["Purpose"].items
    )
    assert by_label["Purpose"].is_list
    assert "ask the keeper\n  in the evening" == by_label["Update route"].text
    assert ("call the glazier", "measure again") == by_label["Blockers"].items
    assert not by_label["Blockers"].is_list
    assert by_label["Blockers"].text.startswith("Waiting for glass.\n\nThe boat")


def test_a_dash_within_a_line_is_no_item():
    """Only what begins a line opens a list item; what is indented belongs to it."""
    (field,) = parsed("Steps:\none - two\n- three\n  and more\n  - four\n").fields

    assert ("three\nand more\n- four",) == field.items
    assert not field.is_list


def test_pointer_records_open_with_a_stable_id():
    """Each stable id opens a record, which ends at a label that no record has."""
    first, second = parsed(POINTERS).records

    assert "lamp-01" == first.get("stable_id")
    assert "keeper" == first.get("authority_source")
    assert "https://wiki.example/lamp" == first.get("update_url")
    assert ["stable_id", "path", "truth_boundary"] == [f.name for f in second.fields]
    assert second.get("review_status") is None


def test_header_lines_lose_back_ticks_and_hard_breaks():
    """Back-ticks around a whole value and hard breaks are no part of it."""
    body = parsed(HEADER_LINES)

    assert "Public page" == body.title
    assert [
        ("Format", "harbour-public-v1"),
        ("Release", "7"),
        ("Authority", "the council"),
        ("Visibility", "public"),
    ] == labels(body)
    assert "The page itself begins here." == body.sections[0].prose


def test_flat_values_are_strings_as_said():
    """Flat values lose their quotes and nothing else; no word is interpreted."""
    assert [
        ("name", "Bob"),
        ("title", "Captain"),
        ("birthYear", "1971"),
        ("romanticOrientation", "mixed"),
        ("values", "Patience, rope, good tea"),
        ("motto", "don't hurry"),
    ] == labels(parsed(FLAT))


def test_sections_follow_the_headings():
    """Headings outside code fences open sections, and the first one is the title."""
    body = parsed(SECTIONS)

    assert "Talisman" == body.title
    assert [(0, ""), (2, "Watch for"), (3, "Examples"), (1, "Then")] == [
        (section.level, section.heading) for section in body.sections
    ]
    assert () == body.sections[2].fields
    assert "## no heading" in body.sections[2].text


@pytest.mark.parametrize(
    "text",
    [
        "a sentence\nand then: a colon\n",
        "https://wiki.example/x: none\n",
        "12:30 is late\n",
        "- item: with a colon\n",
        "a, b: c\n",
        "One. Two: three\n",
        "#tag\n",
        "####### seven\n",
        "a:b\n",
        "    \n",
        "",
    ],
)
def test_what_is_no_label_stays_text(text):
    """Colons in sentences, addresses, times and items name no field."""
    body = parsed(text)

    assert "text" == body.dialect
    assert text == body.unparsed
    assert bool(text.strip()) == (["body.unparsed"] == [n.code for n in body.notes])


@pytest.mark.parametrize("size", [80, 81])
def test_a_label_has_a_longest_length(size):
    """A label of 80 characters names a field, and one of 81 doesn't."""
    assert (size == 80) == bool(parsed("x" * size + ": y").fields)


def test_a_long_heading_is_noted():
    """A heading that is too long for a name opens a section all the same."""
    body = parsed("## " + "x" * 81 + "\n\ntext\n")

    assert "x" * 81 == body.sections[0].heading
    assert [("body.long-label", 1)] == [(n.code, n.line) for n in body.notes]


def test_an_open_fence_is_noted():
    """A fence that nothing closes takes the rest, and a note says where it began."""
    body = parsed("# T\n\n```\n## x\nLabel: y\n")

    assert [("body.fence-open", 3)] == [(n.code, n.line) for n in body.notes]
    assert () == body.fields


def test_unicode_is_never_normalised():
    """Composed and decomposed spellings stay apart, and no odd space is a newline."""
    body = parsed("A: \u00e9\nB: e\u0301\nC: x\u2028y\x85z\x0b\n")

    assert ["\u00e9", "e\u0301", "x\u2028y\x85z\x0b"] == [f.text for f in body.fields]


def test_a_byte_order_mark_is_no_text():
    """A byte order mark before front matter doesn't hide it."""
    assert parsed("---\na: b\n---\n") == parsed("\ufeff---\na: b\n---\n")


@pytest.mark.parametrize("data", [b"\xff", b"a\0b", b"\xed\xa0\x80"])
def test_what_is_no_text_is_binary(data):
    """Bytes that aren't UTF-8, and text with a NUL, aren't read."""
    body = parse_body(data, "text/plain")

    assert ("binary", "") == (body.dialect, body.unparsed)
    assert ["body.encoding"] == [note.code for note in body.notes]


def test_images_are_not_read():
    """Media that are no text give an empty view without a note."""
    body = parse_body(b"name: x", "image/png")

    assert ("binary", (), ()) == (body.dialect, body.fields, body.notes)


def test_json_members_are_fields_and_objects_sections():
    """JSON is read like text: members, lists, and objects within each other."""
    data = b'{"name": "A", "identity": {"depthLevel": 7, "was": ["B", 1], "x": {}}}'
    body = parse_body(data, "application/json")

    assert "json" == body.dialect
    assert [("name", "A"), ("depthLevel", "7"), ("was", "- B\n- 1")] == labels(body)
    assert ("B", "1") == body.fields[2].items
    assert [(0, ""), (1, "identity"), (2, "x")] == [
        (section.level, section.heading) for section in body.sections
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"a": 1, "a": 2}', "body.json"),
        (b"{'a'}", "body.json"),
        (b'{"a": "\\u0000"}', "body.encoding"),
    ],
)
def test_json_that_no_store_holds_is_text(data, code):
    """What isn't strict JSON, or spells a NUL, is kept as text with a note."""
    body = parse_body(data, "application/json")

    assert ("text", data.decode()) == (body.dialect, body.unparsed)
    assert [code] == [note.code for note in body.notes]


def test_json_without_members_stays_raw():
    """A list or scalar as the whole body is kept in its canonical form."""
    body = parse_body(b"[1, 2]", "application/json")

    assert ("json", (), "[1,2]") == (body.dialect, body.sections, body.unparsed)


def test_an_escaped_backslash_is_no_nul():
    """A backslash followed by u0000 as text is read."""
    assert "json" == parse_body(b'{"a": "\\\\u0000"}', "application/json").dialect


@pytest.mark.parametrize("path", STARTERS)
def test_starter_texts_are_read_whole(path):
    """Every heading and front-matter field of a starter text is found, noteless."""
    starter = STARTERS[path]
    body = parse_body(starter.to_bytes(), "text/uaix")

    assert () == body.notes
    assert "" == body.unparsed
    assert starter.title == body.title
    assert [name for name, _value in starter.fields] == [
        field.label for field in body.front_matter
    ]
    assert [(heading, text.split()) for heading, text in starter.sections] == [
        (section.heading, section.text.split())
        for section in body.sections
        if section.level
    ]


@given(st.lists(st.tuples(LABELS, VALUES), min_size=1, max_size=6))
def test_labels_round_trip(pairs):
    """Labels with their texts are read as they were written."""
    text = "".join(f"{label}: {value}\n" for label, value in pairs)

    assert pairs == labels(parsed(text))


@given(st.lists(st.tuples(LABELS, st.lists(VALUES, min_size=1)), min_size=1))
def test_lists_round_trip(pairs):
    """Block labels with lists are read as they were written."""
    blocks = [
        f"{label}:\n" + "".join(f"- {item}\n" for item in items)
        for label, items in pairs
    ]
    body = parsed("\n".join(blocks))

    assert [(label, tuple(items)) for label, items in pairs] == [
        (field.label, field.items) for field in body.fields
    ]


@given(st.lists(st.tuples(st.integers(1, 6), VALUES, VALUES), min_size=1, max_size=5))
def test_sections_round_trip(parts):
    """Headings of every level and their texts are read as they were written."""
    text = "".join(f"{'#' * level} {head}\n\n{body}\n" for level, head, body in parts)
    body = parsed("## first\n\n" + text)

    assert [(2, "first", ""), *parts] == [
        (section.level, section.heading, section.text) for section in body.sections
    ]


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5))
def test_flat_text_round_trips(pairs):
    """Quoted or not, a flat value is the same string."""
    plain = "".join(f"{key}: {value}\n" for key, value in pairs)
    quoted = "".join(f'{key}: "{value}"\n' for key, value in pairs)

    assert pairs == labels(parsed(plain)) == labels(parsed(quoted))
    assert "flat" == parsed(plain).dialect


@pytest.mark.parametrize(
    "label", ["Birth date", "birthDate", "birth-date", "BIRTH_DATE", "birth  date "]
)
def test_spellings_of_a_label_are_one_name(label):
    """Case, case changes and what stands between words don't tell labels apart."""
    assert "birth_date" == fold_label(label)


def test_parts_are_found_by_name():
    """A field is found before a section, and what isn't there is None."""
    body = parsed("# T\n\nvoice: low\n\n## Voice\n\nx\n\n## Pace\n\nslow\n")

    assert ["low", "slow", None] == [body.get(n) for n in ("voice", "pace", "tone")]
