"""Laws of blanking: hidden texts leave the bytes, and every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.values.parsing.bodies import TEXTS

from uaix_core.values.parsing import parse_body
from uaix_core.values.parsing.blanking import blanked, hidden_spans, may_hide
from uaix_core.values.parsing.json_places import value_places
from uaix_core.values.parsing.marking import file_marks_of, marked_parts
from uaix_core.values.parsing.words import HIDDEN

UAI, JSON = "text/uaix", "application/json"

WHOLE_FILE = """\
---
uaix: "1.0" # x1
type: persona
title: x2
disclosure: private
tags:
  - x3
  - x4 # x5
nested: {x6
---

# x7

x8 in prose

## Habits
early: x9
  x10

depth_level_0_to_10: 3
"""
WHOLE_FILE_SHOWN = """\
---
uaix: "1.0"\x20
type: persona
title:
disclosure: private
tags:



---





## Habits
early:


depth_level_0_to_10: 3
"""

PARTS = """\
---
title: "seen" # x1
- x2
---
# Seen

Seen prose.\t

## Diary (private)
day: x3
x4

x5 in prose

### Within
x6

## Open
**Birth (sensitive):** x7
Town: seen
born_disclosure: none
born: x8
A list:
- seen

  x9 (private) in a list
"""
PARTS_SHOWN = """\
---
title: "seen"\x20

---
# Seen

Seen prose.\t

## Diary (private)
day:




### Within


## Open
**Birth (sensitive):**
Town: seen
born_disclosure: none
born:
A list:



"""


def shown(data: bytes, media_type: str = UAI) -> bytes:
    """A body without what is hidden in it."""
    return blanked(data, hidden_spans(data, media_type))


def names(data: bytes, media_type: str = UAI) -> list[str]:
    """The name of each part that is hidden, in order."""
    return list({s.part: s.name for s in hidden_spans(data, media_type)}.values())


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "expected"), [(WHOLE_FILE, WHOLE_FILE_SHOWN), (PARTS, PARTS_SHOWN)]
)
def test_what_is_hidden_goes_and_no_other_byte(text, expected, newline):
    """Hidden texts leave their lines; labels, headings, marks and newlines stay."""
    data = text.replace("\n", newline).encode()

    assert expected.replace("\n", newline).encode() == shown(data)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A title, with and without a mark for the whole file.
        ("A title\n\ndisclosure: private\n", "\n\ndisclosure: private\n"),
        ("\ufeff# Title\ndisclosure: none\n", "\ufeff\ndisclosure: none\n"),
        ("  \n# T\n \ndisclosure: none\n", "  \n\n \ndisclosure: none\n"),
        ("# T\n## A (private)\nx\n", "# T\n## A (private)\n\n"),
        ("A title\n\na (private): x\n", "A title\n\na (private):\n"),
        # Headings with nothing, blank lines, or another heading below them.
        (
            "## A (private)\n## B\n \n\n## C (private)\n\n\nx\n\ny\n## D\n\nz\n",
            "## A (private)\n## B\n \n\n## C (private)\n\n\n\n\n\n## D\n\nz\n",
        ),
        ("x\n## A (private)\n", "x\n## A (private)\n"),
        ("a (none): x\n## A (private)", "a (none):\n## A (private)"),
        ("A title\n\na (private): x\nb: y", "A title\n\na (private):\nb: y"),
        ("## A (private)\nx", "## A (private)\n"),
        ("a: x\n## B\ny\n## C (none)\nz", "a: x\n## B\ny\n## C (none)\n"),
        # Labels in bold, and values in bold below plain ones.
        ("**A (private):** x\n", "**A (private):**\n"),
        ("**A (private)**: x\n", "**A (private)**:\n"),
        ("A (private): **x**\n", "A (private):\n"),
        ("A (private):\n\n**x**\n", "A (private):\n\n\n"),
        # Comments go as soon as something is hidden; quoted marks are none.
        (
            '---\na: "x # y" # z\nb:\n  - "x # y" # z\n  # z\n\t\n{\n---\nd (none): e',
            '---\na: "x # y" \nb:\n  - "x # y" \n  \n\t\n\n---\nd (none):',
        ),
        (
            "---\na: x\na_disclosure: private # z\n---\n",
            "---\na:\na_disclosure: private \n---\n",
        ),
        (
            "---\na (private): x # y\nb: z\n---\nc: d\n",
            "---\na (private):\nb: z\n---\nc: d\n",
        ),
        ("---\ndisclosure: none\n---\n", "---\ndisclosure: none\n---\n"),
        ("---\n# x\ndisclosure: none\n---", "---\n\ndisclosure: none\n---"),
    ],
)
def test_the_shape_of_a_body_stays(text, expected):
    """What isn't hidden stands in its line as it stood, wherever that is."""
    assert expected.encode() == shown(text.encode())


def test_fields_of_one_name_are_two_parts():
    """Each part counts, also where another one has its label."""
    data = b"## A\nday (private): x\nz\n\n## B\nday (private): y\n"

    assert ["day", "day"] == names(data)
    assert [(0, "a"), (0, "a"), (1, "b")] == [
        (span.part, span.section) for span in hidden_spans(data, UAI)
    ]


def test_each_part_is_named_once():
    """Every part that is hidden has its label, or a name for what has none."""
    assert [
        "front_matter",
        "title",
        "tags",
        "title",
        "text",
        "early",
    ] == names(WHOLE_FILE.encode())
    assert [
        "front_matter",
        "day",
        "diary",
        "within",
        "birth",
        "born",
        "a_list",
    ] == names(PARTS.encode())


def test_a_part_goes_by_its_own_name_or_its_sections():
    """A span is named by its label and by the heading above it, and by no other."""
    span = hidden_spans(b"## Diary (private)\nday: x\n", UAI)[0]

    assert span.is_named({"day"})
    assert span.is_named({"diary", "other"})
    assert not span.is_named({"diary_private"})
    assert not span.is_named(())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: Ada\n",
        "disclosure: public\nname: Ada\n",
        "---\ndisclosure: public\n---\nname: Ada\n",
        "A word on disclosure in general.\n",
        "name: Ada (none)\n",
        "## A\n## B\n\n## C\n\n\n",
        '{"disclosure": "public", "a": 1}',
    ],
)
def test_what_names_no_limit_is_shown_as_it_is(text):
    """Nothing is hidden where no mark hides."""
    assert () == hidden_spans(text.encode(), UAI)
    assert () == hidden_spans(text.encode(), JSON)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"A diary (private) as it came.\n", UAI),
        (b"# Diary (private)\nday: x\n", UAI),
        (b"## Diary (private) of Ada\nday: x\n", UAI),
        (b"her (private) day: x\n", UAI),
        ("day (\u00a0private): x\n".encode(), UAI),
        (b"A word.\n\xffdisclosure: private\n", UAI),
        (b'{"disclosure": "private", }', JSON),
        (b'[{"disclosure": "private"}]', JSON),
        (b"disclosure: private", "image/png"),
    ],
)
def test_a_limit_that_can_not_be_read_keeps_all_back(data, media_type):
    """Where a limit is named and no mark is read, nobody can say what is hidden."""
    assert hidden_spans(data, media_type) is None


@pytest.mark.parametrize(
    ("said", "is_hidden"),
    [
        ("pollen (private)", True),
        ("pollen (*Sensitive*)", True),
        ("pollen (\u00a0private\u2003)", True),
        ("(none): pollen", True),
        ("(none)", False),
        ("- disclosure: private", True),
        ("- disclosure_level = none", True),
        ('- "disclosure": "public"', False),
        ("- disclosure tag: publicly", True),
        ("disclosure", False),
    ],
)
def test_a_text_that_names_a_limit_is_hidden(said, is_hidden):
    """A limit that stands where no mark is read hides the text around it."""
    data = f"Allergies:\n{said}\n\nOther: seen\n".encode()

    if said.startswith("disclosure"):
        data = data.replace(b"Allergies:\n", b"Allergies: x\n")
    assert (["allergies"] if is_hidden else []) == names(data)


def test_values_of_json_become_null():
    """A hidden value of JSON is null, whatever it was; the rest stays as written."""
    text = (
        '{ "a" : [1, {"b": 2}],\r\n "in": {"c": "\\u00e9\\"}",'
        ' "d_disclosure": "none", "d": true, "e": {}},'
        ' "f (private)": "\u00e9x", "disclosure_of": "g" }'
    )
    expected = text.replace("true", "null").replace('"\u00e9x"', "null")

    assert expected.encode() == shown(text.encode(), JSON)
    assert ["d", "f"] == names(text.encode(), JSON)
    private = text.replace('"disclosure_of": "g"', '"disclosure": "private"')
    assert {
        "a": None,
        "in": {"c": None, "d_disclosure": "none", "d": None, "e": {}},
        "f (private)": None,
        "disclosure": "private",
    } == json.loads(shown(private.encode(), JSON))


VALUES = st.recursive(
    st.sampled_from([None, True, 7, "a", "", "x y"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from("abcd"), VALUES),
    st.sampled_from(["", " ", "\t\r\n"]),
    st.sampled_from(["", " ", "\n "]),
)
@example({"a": {}, "b": {"c": {}}}, "", "")
@example({"a": 1, "b": [2]}, "", "")
def test_places_of_json_are_those_of_its_view(value, before, after):
    """For each section of the view there is the place of each of its fields."""
    separators = (f"{before},{after}", f"{before}:{after}")
    text = before + json.dumps(value, separators=separators) + after
    sections = parse_body(text.encode(), JSON).sections

    places = list(value_places(text))

    assert len(sections) == len(places)
    for section, found in zip(sections, places, strict=True):
        assert len(section.fields) == len(found)
        for field, (start, stop) in zip(section.fields, found, strict=True):
            said = json.loads(text[start:stop])
            assert field.text == said or not isinstance(said, str)


@given(TEXTS)
def test_what_is_not_read_for_marks_hides_nothing(text):
    """A body that isn't worth reading has no part under a mark that hides."""
    data = text.encode()
    parsed = parse_body(data, UAI)
    marks = [file_marks_of(parsed), *(part.marks for part in marked_parts(parsed))]

    if not may_hide(data):
        assert not any(mark.disclosure in HIDDEN for mark in marks)
        assert () == hidden_spans(data, UAI)


@given(TEXTS, st.booleans())
def test_spans_lie_in_lines_and_lines_stay(text, is_marked):
    """Spans are in order, apart, within a line each; no text under a mark is left."""
    data = (("disclosure: private\n\n" if is_marked else "") + text).encode()
    spans = hidden_spans(data, UAI)
    if spans is None:
        return
    at = 0
    for span in spans:
        assert at <= span.start < span.stop <= len(data)
        assert not {10, 13} & set(data[span.start : span.stop])
        at = span.stop
    left = blanked(data, spans)
    assert len(data) - sum(s.stop - s.start for s in spans) == len(left)
    parts = marked_parts(parse_body(left, UAI))
    is_file = file_marks_of(parse_body(data, UAI)).disclosure in HIDDEN
    if spans and is_file:
        assert not any(
            part.said.strip() and not part.is_plain_mark and part.section is not None
            for part in parts
        )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "(private)", "(sensitive)", "(public)"]),
            st.sampled_from(["inline", "below", "list"]),
        ),
        max_size=6,
    ),
    st.sampled_from(["", "private", "public"]),
)
def test_no_hidden_value_is_left_and_no_other_is_lost(fields, whole):
    """Each value goes or stays by the nearest mark, wherever it is written."""
    lines = [f"disclosure: {whole}", ""] if whole else []
    hidden, seen = [], []
    for number, (mark, form) in enumerate(fields):
        value = f"value{number}end"
        limit = mark.strip("()") or whole
        (hidden if limit in ("private", "sensitive") else seen).append(value)
        label = f"Label {chr(97 + number)} {mark}".rstrip()
        below = {"inline": f" {value}", "below": f"\n{value}", "list": f"\n- {value}"}
        lines += [f"{label}:{below[form]}", ""]
    data = "\n".join(lines).encode()

    left = shown(data).decode()

    assert [] == [value for value in hidden if value in left]
    assert [] == [value for value in seen if value not in left]
    assert len(hidden) == len(names(data))
