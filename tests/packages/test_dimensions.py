from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.parsing.bodies import EXAMPLES, KEYS, TEXTS, VALUES
from tests.values.parsing.disclosure_forms import FORMS, KEPT_BACK, PLACES

from uaix_core.packages.dimension_rules import (
    BIRTH_FILE,
    DIMENSION_CODES,
    PERSONALITY_FOLDER,
    disclosed,
    judge_dimension,
    leaks,
)
from uaix_core.packages.dimensions import RECOGNISED, dimension_fields
from uaix_core.packages.required.files import PERSONA_FILE
from uaix_core.packages.templates.new import new_package
from uaix_core.values.parsing import fold_label, parse_body
from uaix_core.values.parsing.words import DISCLOSURES
from uaix_core.values.parsing.words import HIDDEN as HIDDEN_WORDS
from uaix_core.values.text import is_storable

ORIENTATION_FILE = PERSONALITY_FOLDER + "romantic-orientation.uai"
VALUES_FILE = PERSONALITY_FOLDER + "values.uai"

SAID = """\
---
type: personality
depth_level_0_to_10: 6
disclosure: public
---

# Values

## Description

What counts, in order.

Honesty: first.

## Enumerated values

- honesty
- none
- mixed

## Semantic content

Disclosure: private
Depth level: 2

Grew up by the sea.

## Source excerpts

1. excerpt 4
2. excerpt 9

## Debts

Owed to (private): the baker
Paid: yes
"""


def parsed(text, media_type="text/uaix"):
    return parse_body(text.encode(), media_type)


def rows_of(text, media_type="text/uaix"):
    return dimension_fields(parsed(text, media_type))


def values_of(text, media_type="text/uaix"):
    return [(row.field, row.value) for row in rows_of(text, media_type)]


def codes(path, text):
    return [finding.code for finding in judge_dimension(path, parsed(text))]


def told(bodies):
    return {path: disclosed(path, body) for path, body in bodies.items()}


def leaking(files, entries=None):
    bodies = {path: parsed(text) for path, text in files.items()}
    return [(found.path, found.message) for found in leaks(told(bodies), entries)]


def test_a_dimension_file_becomes_rows():
    """Recognised fields have their names, lists a row for each item, in order."""
    assert [
        ("type", "personality", 6, "public"),
        ("depth_level_0_to_10", "6", 6, "public"),
        ("disclosure", "public", 6, "public"),
        (
            "description",
            "What counts, in order.\n\nHonesty: first.",
            6,
            "public",
        ),
        ("enumerated_values", "honesty", 6, "public"),
        ("enumerated_values", "none", 6, "public"),
        ("enumerated_values", "mixed", 6, "public"),
        ("semantic_content", "Grew up by the sea.", 2, "private"),
        ("disclosure", "private", 2, "private"),
        ("depth_level_0_to_10", "2", 2, "private"),
        ("reviewed_excerpts", "excerpt 4", 6, "public"),
        ("reviewed_excerpts", "excerpt 9", 6, "public"),
        ("owed_to", "the baker", 6, "private"),
        ("paid", "yes", 6, "public"),
    ] == [
        (row.field, row.value, row.depth_level, row.disclosure) for row in rows_of(SAID)
    ]


def test_rows_know_where_they_stood():
    """The label is as written without its mark, and the section is the heading's."""
    row = next(row for row in rows_of(SAID) if row.field == "owed_to")

    assert ("Owed to", "debts") == (row.label, row.section)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_dialect_gives_rows(name):
    """Fields of every dialect that has labels become rows."""
    assert rows_of(EXAMPLES[name])


def test_json_gives_rows():
    """The members of a JSON body are rows under the names of their objects."""
    text = '{"values": {"description": "Calm", "depthLevel": 7, "list": ["a", "b"]}}'

    assert [
        ("description", "Calm", "values"),
        ("depth_level_0_to_10", "7", "values"),
        ("list", "a", "values"),
        ("list", "b", "values"),
    ] == [(r.field, r.value, r.section) for r in rows_of(text, "application/json")]
    assert {7} == {row.depth_level for row in rows_of(text, "application/json")}


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("Description", "description"),
        ("semanticContent", "semantic_content"),
        ("Reviewed source excerpts", "reviewed_excerpts"),
        ("depthLevel", "depth_level_0_to_10"),
        ("Depth level (0 to 10)", "depth_level_0_to_10"),
        ("Disclosure level", "disclosure"),
        ("Favourite tea", "favourite_tea"),
    ],
)
def test_labels_are_recognised_in_any_spelling(label, field):
    """Recognised fields are found under each alias, others by their folded label."""
    assert [(field, "3")] == values_of(f"{label}: 3\n")


def test_absent_stays_absent():
    """Without marks there is no depth and no disclosure, and nothing has a default."""
    (row,) = rows_of("voice: low\n")

    assert (None, None) == (row.depth_level, row.disclosure)
    assert () == rows_of("just text\n")
    assert () == rows_of("voice:\n\n## Empty\n")


@pytest.mark.parametrize("said", ["none", "mixed", "None", "not disclosed", "n/a"])
def test_words_for_nothing_are_kept_as_said(said):
    """A value that says none or mixed is that value."""
    assert [("religion", said)] == values_of(f"religion: {said}\n")


@given(TEXTS, st.sampled_from(["text/uaix", "application/json"]))
def test_rows_are_storable_and_in_order(text, media_type):
    """Whatever a body holds, its rows count up and hold what every store takes."""
    rows = rows_of(text, media_type)

    assert list(range(len(rows))) == [row.ordinal for row in rows]
    for row in rows:
        assert is_storable(row.field + row.value + row.label + row.section)
        assert row.field
        assert row.value.strip()
        assert row.depth_level in (None, *range(11))
        assert row.disclosure in (None, *DISCLOSURES)


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5))
def test_flat_fields_become_rows_one_to_one(pairs):
    """Each flat field is one row with its value."""
    text = "".join(f"{key}: {value}\n" for key, value in pairs)

    assert [
        (RECOGNISED.get(key, fold_label(key)), value) for key, value in pairs
    ] == values_of(text)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_newlines_change_no_row(newline):
    """CR LF and CR give the rows of LF."""
    assert rows_of(SAID) == rows_of(SAID.replace("\n", newline))


def test_a_starter_package_is_quiet():
    """The starter of an advanced persona has rows for each file and no finding."""
    files = new_package(
        "advanced-persona", package_id="p", created_at=0, issuer="example"
    )
    bodies = {
        path: parse_body(data, "text/uaix")
        for path, data in files.items()
        if path.endswith(".uai")
    }

    assert all(map(dimension_fields, bodies.values()))
    assert [] == list(leaks(told(bodies)))
    assert [] == [
        f for path, body in bodies.items() for f in judge_dimension(path, body)
    ]


def test_every_code_is_declared():
    """Codes are of two families, the persona and the body."""
    assert {"body", "persona"} == {code.split(".")[0] for code in DIMENSION_CODES}


@pytest.mark.parametrize(
    ("said", "codes_"),
    [
        ("0", []),
        ("10", []),
        ("11", ["persona.depth-range"]),
        ("-1", ["persona.depth-range"]),
        ("5.0", ["persona.depth-range"]),
        ("high", ["persona.depth-range"]),
        ("", []),
    ],
)
def test_a_depth_out_of_range_is_found(said, codes_):
    """A stated depth is an integer from 0 to 10."""
    assert codes_ == codes(VALUES_FILE, f"depthLevel: {said}\nvoice: low\n")


@pytest.mark.parametrize(
    ("said", "codes_"),
    [
        ("none", []),
        ("Private", []),
        ("public", []),
        ("sensitive", ["persona.disclosure-word"]),
        ("friends", ["persona.disclosure-word"]),
        ("", []),
    ],
)
def test_a_disclosure_beside_the_words_is_found(said, codes_):
    """A disclosure is none, private or public; anything else is warned about."""
    assert codes_ == codes(VALUES_FILE, f"disclosure: {said}\nvoice: low\n")


def test_unread_parts_are_found_once_a_code():
    """What stays raw is told with its first line, once for each kind."""
    text = "---\na: |\n  x\nb: |\n  y\n---\nc: d\n"

    (found,) = judge_dimension(VALUES_FILE, parsed(text))

    assert "body.front-matter" == found.code
    assert found.message.endswith("line 2")


@pytest.mark.parametrize(
    ("text", "codes_"),
    [
        ("generation: the harbour years\n", []),
        ("generation: X\nbirth_year: 1971\n", ["persona.label"]),
        ("generation: X\nbirth_year (private): 1971\n", []),
        ("generation: X\nbirth_year: not disclosed\n", []),
        ("exact_age: 55\n", ["persona.age-undated"]),
        ("exact_age: 55 as of 2026-03-02\n", []),
        ("exact_age: 55 as of 2026-02-30\n", ["persona.age-undated"]),
        ("exact_age: 55\nas_of: 2026-03-02\n", []),
        ("exact_age: 55\nas_of: spring\n", ["persona.age-undated"]),
        ("age (private): 55\n", ["persona.age-undated"]),
        ("exact_age: not disclosed\n", []),
    ],
)
def test_birth_age_and_generation_have_one_public_label(text, codes_):
    """One of the labels may be public, and an exact age goes with its date."""
    assert codes_ == codes(BIRTH_FILE, "disclosure: public\n" + text)


def test_other_files_may_have_an_age():
    """Only an exact age needs its date outside the file about age."""
    assert [] == codes(VALUES_FILE, "age: 55\n")
    assert ["persona.age-undated"] == codes(PERSONA_FILE, "exactAge: 55\n")
    assert [] == codes(".uai/world-context.uai", "exactAge: 55\n")


@pytest.mark.parametrize(
    ("text", "codes_"),
    [
        ("romantic_orientation: mixed\n", []),
        ("label: straight\n", []),
        ("sexual_orientation: straight\n", ["persona.label"]),
        ("sexual_orientation: not disclosed\n", []),
        ("sexual_orientation (private): straight\n", []),
    ],
)
def test_romantic_orientation_is_the_only_public_intimacy_label(text, codes_):
    """A label of intimacy of another name isn't public."""
    assert codes_ == codes(ORIENTATION_FILE, "disclosure: public\n" + text)


HIDDEN = "disclosure: private\nbirthYear: 1971\n"
PUBLIC = "disclosure: public\nBirth year: 1971.\n"


@pytest.mark.parametrize(
    "text",
    [
        *FORMS.values(),
        *(place.replace("{}", "(strictly private)") for place in PLACES.values()),
        *KEPT_BACK.values(),
        "# T\n\n## Description\n\nseen\n\nBorn (private): hush\n\n## B\n\nseen\n",
        "# T\n\n## A\n\nDiary (private): hush\n\nhush\n\nTown: seen\n\nseen\n",
        "# T\n\n## A\n\nDiary: hush\nDiary_disclosure: none\n\nhush\n",
    ],
)
def test_no_row_is_wider_than_what_is_shown(text):
    """A row whose text a start wouldn't show has a disclosure that hides."""
    assert [] == [
        row
        for row in rows_of(text)
        if "hush" in row.value and row.disclosure not in HIDDEN_WORDS
    ]


def test_a_leak_between_files_is_found():
    """What one file hides and another makes public under the same name is a leak."""
    ((path, message),) = leaking({BIRTH_FILE: HIDDEN, PERSONA_FILE: PUBLIC})

    assert BIRTH_FILE == path
    assert message.endswith(PERSONA_FILE)
    assert "1971" not in message


def test_a_leak_within_a_file_is_found():
    """A section that hides what the public front matter says is a leak."""
    text = "---\ndisclosure: public\ntown: Ilse\n---\n## Town (none)\n\nIlse\n"

    assert 1 == len(leaking({VALUES_FILE: text}))


def test_a_generic_field_is_named_by_its_file():
    """The description of a hidden file leaks under the name of that file."""
    hidden = "---\ndisclosure: sensitive\n---\n## Description\n\nStraight\n"
    public = "disclosure: public\nromanticOrientation: straight\n"

    assert 1 == len(leaking({ORIENTATION_FILE: hidden, PERSONA_FILE: public}))
    assert [] == leaking({VALUES_FILE: hidden, PERSONA_FILE: public})


@pytest.mark.parametrize(
    "other",
    [
        "Birth year: 1971\n",
        "disclosure: private\nBirth year: 1971\n",
        "disclosure: public\nBirth year: 1972\n",
        "disclosure: public\nYear: 1971\n",
    ],
)
def test_what_is_no_leak(other):
    """Another value, another name, or no public mark is no leak."""
    assert [] == leaking({BIRTH_FILE: HIDDEN, PERSONA_FILE: other})


@pytest.mark.parametrize("value", ["none", "mixed", "Not disclosed.", "yes", "45"])
def test_trivial_values_do_not_leak(value):
    """Values that stand everywhere give nobody away."""
    hidden, public = (f"disclosure: {w}\nfaith: {value}\n" for w in ("none", "public"))

    assert [] == leaking({VALUES_FILE: hidden, PERSONA_FILE: public})


def test_fields_about_the_file_do_not_leak():
    """Versions, types and titles of front matter may be the same everywhere."""
    hidden, public = (
        f"---\nuaix: 1.0.0\ntype: personality\ntitle: Same\ndisclosure: {word}\n---\n"
        for word in ("private", "public")
    )

    assert [] == leaking({VALUES_FILE: hidden, PERSONA_FILE: public})


@pytest.mark.parametrize(
    ("entry", "count"),
    [
        ({"birthYear": "1971"}, 1),
        ({"birthYear": 1971}, 1),
        ({"source": {"birth_year": ["1971"]}}, 1),
        ({"disclosure": "public"}, 1),
        ({"disclosureLevel": "public", "birth-year": "1971"}, 2),
        ({"disclosure": "private"}, 0),
        ({"birthYear": "1970"}, 0),
        ({"birthYear": True, "x": None}, 0),
    ],
)
def test_a_manifest_entry_is_public(entry, count):
    """An entry that repeats a hidden field, or calls the file public, is a leak."""
    assert count == len(leaking({BIRTH_FILE: HIDDEN}, {BIRTH_FILE: entry}))


@given(st.dictionaries(st.sampled_from([BIRTH_FILE, PERSONA_FILE]), TEXTS))
def test_judging_never_fails(files):
    """Whatever the files hold, every finding has a declared code and its file."""
    bodies = {path: parsed(text) for path, text in files.items()}
    found = [f for path, body in bodies.items() for f in judge_dimension(path, body)]

    for finding in (*found, *leaks(told(bodies))):
        assert finding.code in DIMENSION_CODES
        assert finding.path in files


def test_a_mark_beside_its_field_is_no_row():
    """The mark of a field of its own marks that field; without one it is a field."""
    assert [("faith", "tea")] == values_of("faith: tea\nfaith_disclosure: none\n")
    assert [("faith_disclosure", "none")] == values_of("faith_disclosure: none\n")


@pytest.mark.parametrize("size", [80, 81])
def test_a_name_has_a_longest_length(size):
    """A heading of 80 characters names a field, and one of 81 gives no row."""
    assert (size == 80) == bool(rows_of("## " + "x" * size + "\n\ntext\n"))
