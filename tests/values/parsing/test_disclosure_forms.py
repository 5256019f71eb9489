"""Laws of disclosure: a marked text isn't shown in any spelling, a plain one always."""

from __future__ import annotations

import json
import re
import zipfile
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.parsing.disclosure_forms import (
    BRACKETS,
    DISGUISES,
    FORMS,
    KEPT_BACK,
    OBJECTS,
    PLACES,
    REMARKS,
)
from tests.values.parsing.disclosure_names import (
    DIALECTS,
    LIMITED_NAMES,
    NO_LIMITS,
    SECTION_MARKS,
    TRUE_NAMES,
)
from tests.values.parsing.plain_forms import PLAIN

from uaix_core.packages.templates.new import KINDS, new_package
from uaix_core.values.parsing.blanking import blanked, hidden_spans, unread_line

UAI, JSON = "text/uaix", "application/json"


def shown(text: str, media_type: str = UAI) -> str | None:
    """What of a body is shown; None where all of it is kept back."""
    data = text.encode()
    spans = hidden_spans(data, media_type)
    return None if spans is None else blanked(data, spans).decode()


def put(place: str, remark: str, brackets: str = "()") -> str:
    return PLACES[place].replace("{}", f"{brackets[0]}{remark}{brackets[1]}")


@pytest.mark.parametrize("remark", REMARKS)
def test_no_text_under_a_remark_is_shown(remark):
    """A remark in brackets that limits hides what it stands at, wherever that is."""
    left = {place: shown(put(place, remark)) for place in PLACES}

    assert [] == [place for place, text in left.items() if "hush" in (text or "")]
    # A colon ends a label, within brackets too, and keys take no quotes: then all of
    # the body is kept back.
    kept_back = {place for place, text in left.items() if text is None}
    assert kept_back <= {"front matter", "flat"} or ":" in remark


@pytest.mark.parametrize("brackets", BRACKETS)
@pytest.mark.parametrize("remark", ["private", "strictly private", "not for sharing"])
def test_brackets_of_every_kind_hold_remarks(remark, brackets):
    """A remark limits in brackets of any kind."""
    assert [] == [
        place
        for place in PLACES
        if "hush" in (shown(put(place, remark, brackets)) or "")
    ]


@pytest.mark.parametrize("name", FORMS)
def test_no_marked_text_is_shown(name):
    """What an author marks is blanked, and what stands beside it is shown."""
    left = shown(FORMS[name])

    assert left is not None
    assert "hush" not in left
    assert ("seen" in FORMS[name]) == ("seen" in left)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", LIMITED_NAMES)
def test_a_name_that_begins_or_ends_with_a_limit_hides(name, dialect):
    """A limit at an edge of a label or heading hides what stands under it."""
    media_type = JSON if dialect.startswith("JSON") else UAI
    left = shown(DIALECTS[dialect].replace("{}", name), media_type)

    # Keys of front matter take no quotes: then all of the body is kept back.
    assert left is not None or ("'" in name and dialect == "front matter")
    assert "hush" not in (left or "")
    assert left is None or "seen" in left


@pytest.mark.parametrize("mark", SECTION_MARKS)
def test_a_mark_of_a_section_hides_all_of_it(mark):
    """Where a mark of a section is read, its labelled texts and sections go too."""
    below = "hush\n\nDay: hush\n\n- hush\n\n### Deep\n\nNight: hush\n\nhush\n"
    left = shown(f"# T\n\n## A\n\n{mark}\n\n{below}\n## B\n\nseen\n")

    assert left is not None
    assert "hush" not in left
    assert "seen" in left


@pytest.mark.parametrize("name", TRUE_NAMES)
def test_a_limit_that_is_true_hides_its_place(name):
    """A limit as a name that is true hides the file, and its section elsewhere."""
    assert "hush" not in shown(f"---\n{name}: true\n---\n# T\n\nhush\n\nDay: hush\n")
    section = shown(f"# T\n\n## A\n\n{name}: yes\n\nDay: hush\n\n## B\n\nseen\n")
    assert "hush" not in section
    assert "seen" in section


@pytest.mark.parametrize("form", ["# T\n\n{}\n", "---\n{}\n---\n# T\n", "{}\nx: y\n"])
@pytest.mark.parametrize("name", NO_LIMITS)
def test_a_level_that_is_no_limit_is_content(name, form):
    """What says no limit beside the name of a level neither hides nor keeps back."""
    for value in NO_LIMITS[name]:
        text = form.replace("{}", f"{name}: {value}")

        assert text == shown(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# T\n\n## Diary\n\nDairy disclosure: private\n\nhush\n", 5),
        ("# T\r\n\r\n## Diary (private) of Ada\r\n", 3),
        ("---\nx: y\ndiary: hush # private\n---\n# T\n", 3),
        ("# T\n\nDairy disclosure: none\n\nDiaries disclosure: none\n", 0),
    ],
)
def test_the_line_that_keeps_a_body_back_is_found(text, line):
    """Of a body that is kept back the line is told, where it is one alone."""
    assert shown(text) is None
    assert line == unread_line(text.encode(), UAI)


@pytest.mark.parametrize("media_type", [JSON, UAI])
@pytest.mark.parametrize("value", OBJECTS, ids=json.dumps)
def test_no_marked_member_is_shown(value, media_type):
    """Members are hidden by marks in any of their forms, and in text as well."""
    for is_ascii in (True, False):
        left = shown(json.dumps(value, ensure_ascii=is_ascii), media_type)

        assert "hush" not in (left or "")
        assert left is not None or media_type == UAI


@pytest.mark.parametrize("disguise", DISGUISES)
def test_no_disguise_shows_a_text(disguise):
    """A mark counts in every spelling that looks like it, in word and in name."""
    change = DISGUISES[disguise]
    texts = [
        *(put(place, change("private")) for place in PLACES),
        *(put(place, "strictly " + change("confidential")) for place in PLACES),
        f"# T\n\n## A\n\nDisclosure: {change('private')}\n\nDay: hush\n",
        f"diary: hush\ndiary_disclosure: {change('none')}\n",
        f"# T\n\n## A\n\n{change('disclosure')}: private\n\nDay: hush\n",
        f"# T\n\ndiary_{change('disclosure')}: private\n\n## Diary\n\nhush\n",
        f"# T\n\n{change('diary')}_disclosure: private\n\nDiary: hush\n",
        f"# T\n\n{change('private')}: hush\n",
    ]

    assert [] == [text for text in texts if "hush" in (shown(text) or "")]


def test_no_disguise_opens_a_text():
    """A word that only looks like public is unknown, and read as private."""
    for change in DISGUISES.values():
        word = change("public")
        if word.strip().lower() != "public":
            text = f"# T\n\nDisclosure: {word}\n\nDay: hush\n"

            assert "hush" not in (shown(text) or "")


@pytest.mark.parametrize("name", KEPT_BACK)
def test_what_nobody_can_place_is_kept_back(name):
    """Where a limit is named and no mark is read, all of the body is kept back."""
    assert shown(KEPT_BACK[name]) is None


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text_is_shown(name):
    """Text that speaks of privacy, or opens something, is shown as it is."""
    assert () == hidden_spans(PLAIN[name].encode(), UAI)


@pytest.mark.parametrize("kind", KINDS)
def test_starter_texts_are_shown(kind):
    """Of a new package only files that are private as a whole hide anything."""
    files = new_package(kind, package_id="a", created_at=0, issuer="local")
    for path, data in files.items():
        spans = hidden_spans(data, JSON if path.endswith(".json") else UAI)

        assert spans is not None, path
        assert bool(spans) == (b"\ndisclosure: private\n" in data), path


@pytest.fixture
def sample_bodies(sample_packages):
    """Every file of every sample package that is to be accepted."""
    found = {}
    for line in (sample_packages / "index.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["expect"] == "accept":
            with zipfile.ZipFile(sample_packages / entry["name"]) as archive:
                for name in archive.namelist():
                    found[f"{entry['name']}: {name}"] = archive.read(name)
    return found


def test_bodies_of_samples_are_shown(sample_bodies):
    """Of accepted sample packages nothing is hidden that has no mark."""
    assert sample_bodies
    assert [] == [
        path
        for path, data in sample_bodies.items()
        if hidden_spans(data, JSON if path.endswith(".json") else UAI) != ()
        and b"disclosure: private" not in data
    ]


def test_a_mark_that_opens_reaches_no_other_section():
    """A mark that is about something elsewhere can hide it, and never opens it."""
    body = "# T\n\n## A\n\nDiary disclosure: {}\n\n## B (private)\n\nDiary: hush\n"

    assert "hush" not in shown(body.replace("{}", "public"))
    assert "hush" not in shown(body.replace("{}", "none"))


def test_the_nearest_mark_wins():
    """A field that is public stays so in a private section, and the other way round."""
    assert "seen" in shown("# T\n\n## A (private)\n\nDay (public): seen\n\nhush\n")
    assert "hush" not in shown("# T\n\n## A (public)\n\nDay (private): hush\n")


def test_the_next_label_ends_what_is_hidden():
    """What follows a marked field is hidden with it, up to a label or heading."""
    text = "Diary (private): a\n\nb\n\n- c\n\nTown: d\n\ne\n\n## F\n\ng\n"
    spans = hidden_spans(text.encode(), UAI)

    assert "Diary (private):\n\n\n\n\n\nTown: d\n\ne\n\n## F\n\ng\n" == shown(text)
    assert {"diary"} == {span.name for span in spans}


def test_all_blocks_of_a_field_go_by_its_name():
    """A consent for a field lifts every block that belongs to it, and no other's."""
    data = (
        b"Pace (private): one\n\ntwo\n\n- three\n\n"
        b"Tone: four\nTone_disclosure_level: none\n\nfive\n\n## Next\n\nSeen.\n"
    )
    spans = hidden_spans(data, UAI)

    assert {0: "pace", 1: "tone"} == {span.part: span.name for span in spans}
    assert data.replace(b" four", b"").replace(b"five", b"") == blanked(
        data, [span for span in spans if not span.is_named({"pace"})]
    )


def examples(root, kind):
    """The blocks of the reference page in one notation, each with what follows it."""
    page = (root / "docs" / "reference" / "disclosure-marks.md").read_text("utf-8")
    fence = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    blocks = fence.findall(page)
    return [
        (text, after)
        for (name, text), (_, after) in pairwise([*blocks, ("", "")])
        if name == kind
    ]


@pytest.mark.parametrize(("kind", "count"), [("uai", 5), ("json", 1)])
def test_the_reference_shows_what_is_shown(root, kind, count):
    """Each example of the reference is shown as the page says, without its rain."""
    found = examples(root, kind)

    assert count == len(found)
    for text, after in found:
        left = shown(text, JSON if kind == "json" else UAI)
        lines = [line.rstrip() for line in left.splitlines()]
        assert after.splitlines() == lines
        assert "rain" in text
        assert "rain" not in left.lower()


def test_the_reference_names_plain_texts_and_others(root):
    """What the reference calls plain is shown, and what it keeps back isn't."""
    ((plain, _),) = examples(root, "plain")

    assert plain == shown(plain)
    assert shown("# Diary (private)\n\nrain\n") is None
    assert shown("---\nmeta: {diary_disclosure: private}\n---\n\nrain\n") is None


BLOCKS = st.sampled_from(
    [
        "hush",
        "- hush\n- hush",
        "1. hush\n   hush",
        "> hush",
        "```\nLabel: hush\n\n## hush\n```",
        "| hush | x |\n|---|---|\n| hush | hush |",
        "    hush",
        "hush\nhush",
        "",
        "---",
        "Hush - hush",
    ]
)
HEADS = st.sampled_from(
    [
        "Diary (private): hush",
        "Diary (private):",
        "**Diary [private]**: hush",
        "private note: hush",
        "Diary: hush\nDiary_disclosure_level: private",
        "diaryDisclosure: none\ndiary: hush",
        "## Diary (strictly private)",
        "## Diary\nDiary disclosure: private",
        "## Diary - private",
        "## A\n\nVisibility: private",
        "### Private notes",
    ]
)


@given(
    HEADS,
    st.lists(BLOCKS, max_size=5),
    st.sampled_from(["", "---\nuaix: x\n---\n\n", "# T\n\n", "Town: seen\n\n"]),
    st.sampled_from(["", "\n\n# Next\n\nseen\n", "\n\n## Next\n\nseen"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_nothing_below_a_mark_is_shown(head, blocks, before, after, newline):
    """Whatever blocks stand under a mark, none of them is shown."""
    text = before + "\n\n".join([head, *blocks]) + after
    left = shown(text.replace("\n", newline))

    assert "hush" not in (left or "").lower()
    # Without any label that is read, text has no structure.
    assert left is not None or "[" in head
    assert left is None or ("seen" in text) == ("seen" in left)


@given(
    st.sampled_from(REMARKS), st.sampled_from(sorted(PLACES)), st.sampled_from(BRACKETS)
)
def test_what_is_shown_hides_nothing_more(remark, place, brackets):
    """What is shown of a body stays as it is when it is read again."""
    left = shown(put(place, remark, brackets))

    assert left is None or left == shown(left)
