from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.parsing.bodies import FRONT_MATTER, KEYS, TEXTS, VALUES

from uaix_core.values.parsing import parse_body


def read(*lines):
    text = "\n".join(["---", *lines, "---", ""])
    return parse_body(text.encode(), "text/uaix")


def pairs_of(body):
    return [(field.label, field.text) for field in body.front_matter]


def test_the_written_example_is_read_whole():
    """Scalars, both kinds of list and comments are read, and lists keep their items."""
    body = parse_body(FRONT_MATTER.encode(), "text/uaix")
    by_label = {field.label: field for field in body.front_matter}

    assert () == body.notes
    assert "How Ilse speaks" == body.title
    assert ("1.0", "Voice", "4") == tuple(
        by_label[name].text for name in ("uaix", "title", "depth_level_0_to_10")
    )
    assert ("calm", "dry, at times", "it's fine") == by_label["moods"].items
    assert ("excerpt 3", "excerpt 7") == by_label["sources"].items
    assert "# as in the index" == body.unparsed


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: b", "b"),
        ("a:   b c  ", "b c"),
        ("a:", ""),
        ("a: ''", ""),
        ('a: "b # c"', "b # c"),
        ("a: b#c", "b#c"),
        ("a: b # c", "b"),
        ('a: "b" # c', "b"),
        ("a: # c", ""),
        (r'a: "say \"b\" \\ c"', 'say "b" \\ c'),
        ("a: 'it''s'", "it's"),
        ("a: it's", "it's"),
        ("a: none", "none"),
        ("a: 1.0", "1.0"),
        ("a: 2026-01-02", "2026-01-02"),
        ("a: 10:30", "10:30"),
        ("a: null", "null"),
        ("a: ~", "~"),
        ("a: -1", "-1"),
        ("a: é e\u0301", "é e\u0301"),
    ],
)
def test_scalars_are_strings(line, value):
    """Every scalar is the string that YAML would see, and never a number or date."""
    body = read(line)

    assert [("a", value)] == pairs_of(body)
    assert () == body.notes


@pytest.mark.parametrize(
    ("lines", "items"),
    [
        (["a: []"], ()),
        (["a: [ ]"], ()),
        (["a: [b]"], ("b",)),
        (["a: [ b , 'c, d',\"e\" ]"], ("b", "c, d", "e")),
        (["a:", "- b", "- c"], ("b", "c")),
        (["a:", "", "  - b # x", "", "  - 'c'"], ("b", "c")),
    ],
)
def test_lists_hold_strings(lines, items):
    """Lists in brackets and lists of lines are read, quotes and comments off."""
    (field,) = read(*lines).front_matter

    assert field.is_list
    assert items == field.items


@pytest.mark.parametrize(
    "lines",
    [
        ["a: |", "  b"],
        ["a: >-", "  b"],
        ["a: &x b"],
        ["a: *x"],
        ["a: !!str b"],
        ["a: {b: c}"],
        ["a: b: c"],
        ["a: [b, [c]]"],
        ["a: [b"],
        ["a: [b] c"],
        ["a: [b c: d, {]"],
        ["a: 'b"],
        [r'a: "\n"'],
        ["a:", "  b: c"],
        ["a:", "  - b", "    - c"],
        ["a: b", "  more"],
        ["? a"],
        ["a"],
        ["- a"],
        ["'a': b"],
        ["a:b"],
        ["%YAML 1.2"],
    ],
)
def test_other_syntax_stays_raw(lines):
    """What the subset doesn't have is kept as it is, with a note, and the rest read."""
    body = read("first: 1", *lines, "last: 2")

    assert [("first", "1"), ("last", "2")] == pairs_of(body)
    assert "\n".join(lines) == body.unparsed
    assert [("body.front-matter", 3)] == [(n.code, n.line) for n in body.notes]


def test_an_indented_line_belongs_to_the_entry_above():
    """A scalar with indented lines below is raw with them; a comment isn't one."""
    assert [] == pairs_of(read("a: b", "  c: d"))
    assert [("a", "b")] == pairs_of(read("a: b", "  # c"))
    assert [("a", "b"), ("d", "e")] == pairs_of(read("a: b", "- c", "d: e"))


def test_a_repeated_key_is_kept_twice():
    """Both values of a repeated key are fields, and a note says so."""
    body = read("a: b", "a: c")

    assert [("a", "b"), ("a", "c")] == pairs_of(body)
    assert [("body.repeated", 3)] == [(n.code, n.line) for n in body.notes]


def test_front_matter_that_never_closes_is_text():
    """Without a closing line there is no front matter; its labels count as text."""
    body = parse_body(b"---\na: b\n", "text/uaix")

    assert () == body.front_matter
    assert ["b"] == [field.text for field in body.fields]
    assert "body.front-matter-open" in {note.code for note in body.notes}


def test_the_title_of_the_front_matter_is_second_to_a_heading():
    """A title in the front matter counts when the text has no heading for one."""
    head = b"---\ntitle: A\n---\n"

    assert "A" == parse_body(head + b"text\n", "text/uaix").title
    assert "B" == parse_body(head + b"# B\n", "text/uaix").title


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5), st.booleans())
def test_front_matter_round_trips(pairs, quoted):
    """Plain or quoted, keys and scalars are read as they were written."""
    mark = '"' * quoted

    assert pairs == pairs_of(read(*(f"{k}: {mark}{v}{mark}" for k, v in pairs)))


@given(KEYS, st.lists(VALUES, min_size=1, max_size=4))
def test_both_spellings_of_a_list_are_equal(key, items):
    """A list in brackets reads as the same list on lines of its own does."""
    quoted = [f'"{item}"' for item in items]
    flow = read(f"{key}: [{', '.join(quoted)}]")
    block = read(f"{key}:", *(f"  - {item}" for item in quoted))

    assert flow == block
    assert tuple(items) == flow.front_matter[0].items


@given(TEXTS)
def test_front_matter_loses_no_letter(text):
    """Every letter between the fences is in a field or stays raw."""
    lines = [li for li in text.replace("\r", "\n").split("\n") if li.strip(" \t")]
    lines = [li for li in lines if li.rstrip(" \t") not in ("---", "...")]
    body = read(*lines)
    kept = body.unparsed + "".join(f.label + f.text for f in body.front_matter)

    assert sorted(c for c in "".join(lines) if c.isalpha()) == sorted(
        c for c in kept if c.isalpha()
    )
