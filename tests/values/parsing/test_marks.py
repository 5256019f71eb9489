"""Laws of marks: what each applies to, and that what it hides is gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.parsing.bodies import EXAMPLES, LABELS, TEXTS, VALUES

from uaix_core.values.parsing import parse_body
from uaix_core.values.parsing.blanking import blanked, hidden_spans
from uaix_core.values.parsing.marked_labels import split_label
from uaix_core.values.parsing.marking import file_marks_of, marked_parts
from uaix_core.values.parsing.marks import MARK_NAMES, depth_of
from uaix_core.values.parsing.view import fold_label
from uaix_core.values.parsing.words import DISCLOSURES, disclosure_of, strictest

MARKED = """\
---
uaix: "1.0"
title: Birth
disclosure: public
cohort_disclosure: none
cohort: the harbour years
---

Open to all.

## Birth date (private)

1971-03-02

### Where

By the sea.

## Age

Disclosure: sensitive
Depth level: 3
Exact age: 55
As of (public): 2026-03-02

A long life so far.

## Rest

In the garden.
"""


def parsed(text, media_type="text/uaix"):
    return parse_body(text.encode(), media_type)


def shown(text, media_type="text/uaix"):
    """What of a body is shown."""
    data = text.encode()
    return blanked(data, hidden_spans(data, media_type)).decode()


def test_the_nearest_mark_applies():
    """A field's mark stands before its section's, and that before the file's."""
    marks = {
        part.name: (part.marks.disclosure, part.marks.depth)
        for part in marked_parts(parsed(MARKED))
    }

    assert ("public", None) == marks["title"]
    assert ("none", None) == marks["cohort"]
    assert ("private", None) == marks["birth_date"] == marks["where"]
    assert ("sensitive", 3) == marks["age"] == marks["exact_age"]
    assert ("public", 3) == marks["as_of"]
    assert ("public", None) == marks["rest"]


def test_hidden_texts_are_blank_and_all_else_stays():
    """Only texts under none, private or sensitive go; labels and marks stay."""
    text = shown(MARKED)

    for gone in ("harbour years", "1971", "sea", "55", "long life"):
        assert gone not in text.replace("sensitive", "")
    for kept in ("Birth", "Open to all", "2026-03-02", "garden"):
        assert kept in text
    assert ["Birth date (private)", "Where", "Age", "Rest"] == [
        section.heading for section in parsed(text).sections if section.level
    ]


def test_a_section_named_for_a_mark_marks_its_surroundings():
    """A heading Disclosure marks the file, or the section that it stands in."""
    body = parsed(
        "# T\n\n## A\n\nx\n\n### Disclosure\n\nnone\n\n## Disclosure\n\nprivate\n"
    )
    marks = {part.name: part.marks.disclosure for part in marked_parts(body)}

    assert "private" == file_marks_of(body).disclosure
    assert "none" == marks["a"]


def test_a_disclosure_that_is_not_read_hides():
    """Front matter with a disclosure in a syntax that isn't read is private."""
    text = "---\na: 1971\ndisclosure: {level: public}\n---\n"

    assert "private" == file_marks_of(parsed(text)).disclosure
    assert "1971" not in shown(text)


def test_json_is_blanked_too():
    """Members of a hidden object go, those of its siblings stay."""
    text = shown(
        '{"a": {"disclosure": "private", "x": "1971", "y": ["sea"]}, "b": {"z": "Ok"}}',
        "application/json",
    )

    assert "1971" not in text
    assert "sea" not in text
    assert "Ok" in text


@given(st.sampled_from(sorted(EXAMPLES)), st.sampled_from(["none", "private"]))
def test_a_hidden_file_shows_nothing_of_what_it_says(name, word):
    """Of a file under none or private only labels, headings and marks are left."""
    text = EXAMPLES[name].replace("disclosure: public\n", "")
    head = f"disclosure: {word}\n"
    text = text.replace("---\n", "---\n" + head, 1) if name == "front_matter" else text
    text = text if name == "front_matter" else head + "\n" + text
    view = parsed(shown(text))

    for part in marked_parts(view):
        assert part.is_plain_mark or part.name in ("uaix", "type") or not part.said
    assert not view.title
    assert "" == view.unparsed


@given(TEXTS)
def test_nothing_is_left_to_hide(text):
    """What is shown of a private body hides nothing more when it is read again."""
    once = shown("disclosure: private\n\n" + text)

    assert once == shown(once)


@given(TEXTS)
def test_unmarked_text_stays(text):
    """Nothing is hidden of what carries no mark."""
    for word in ("disclosure: private", "private", "none"):
        text = text.replace(word, "")
    data = text.encode()

    assert () == hidden_spans(data, "text/uaix")


@given(LABELS, VALUES, st.sampled_from(DISCLOSURES), st.booleans())
def test_a_mark_applies_to_its_field(label, value, word, in_brackets):
    """In brackets or as a field of its own, a mark applies to the field it names."""
    marked = (
        f"{label} ({word}): {value}\n"
        if in_brackets
        else f"{label}: {value}\n{label} disclosure: {word}\n"
    )
    part = next(
        part
        for part in marked_parts(parsed(marked + "Other: x\n"))
        if part.field is not None
    )

    assert (label, fold_label(label)) == (part.label, part.name)
    assert word == part.marks.disclosure


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("private", "private"),
        (" Public ", "public"),
        ('"none"', "none"),
        ("`sensitive`", "sensitive"),
        ("friends only", "private"),
        ("none | private | public", "private"),
        ("", None),
        ("  ", None),
    ],
)
def test_an_unknown_word_is_read_strictly(text, word):
    """A disclosure that isn't known hides; only an empty one says nothing."""
    assert word == disclosure_of(text)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("0", 0),
        ("10", 10),
        ("11", None),
        ("-1", None),
        ("3.5", None),
        ("7/10", None),
        ("٣", None),
        ("", None),
        ('"7"', 7),
        ("007", None),
    ],
)
def test_a_depth_is_an_integer_from_0_to_10(text, level):
    """Only 0 to 10 in plain figures is a level; everything else is none."""
    assert level == depth_of(text)


def test_the_stricter_of_two_marks_counts():
    """From none over private and sensitive to public, the first one counts."""
    assert "none" == strictest(DISCLOSURES)
    assert "sensitive" == strictest(["public", None, "sensitive"])
    assert strictest([None]) is None


def test_other_brackets_are_part_of_a_label():
    """Only a disclosure in brackets is a mark."""
    assert ("Age (exact)", None) == split_label("Age (exact)")
    assert ("Age", "private") == split_label("Age (Private)")


def test_a_mark_with_more_than_a_mark_is_hidden():
    """Text that stands with a mark isn't shown because a mark would be."""
    assert "1971" not in shown("Disclosure: private\n1971-03-02\n")
    assert {"disclosure"} <= MARK_NAMES
