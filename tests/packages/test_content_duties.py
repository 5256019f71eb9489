from __future__ import annotations

import pytest
from tests.packages.content_cases import (
    ADVANCED,
    LTM,
    PERSONA,
    VOICE,
    ledger,
    pointer,
    told,
    without_label,
)
from tests.packages.package_maker import (
    EVIDENCE,
    LABELS,
    LEDGER,
    MANIFEST,
    NOW,
    POINTER,
    Maker,
    body_of,
    codes,
    errors,
    labelled,
    pointers,
)
from tests.packages.rule_cases import drop, note, without

from uaix_core.packages.content import judging
from uaix_core.packages.content.body_facts import PARSED_BYTES
from uaix_core.packages.content.duties import DUTIES, labels_of
from uaix_core.packages.content.evidence import KINDS
from uaix_core.packages.content.judging import COMPARED_BYTES
from uaix_core.packages.lint import lint
from uaix_core.packages.source import PackageSource
from uaix_core.values.parsing import parse_body

#: How many duties each group has, and a scope that asks for them.
GROUPS = {
    "persona": (11, "persona_profile"),
    "assistant": (8, "non_project_assistant"),
    "code": (5, "code_bearing"),
    "maintenance": (10, "universal"),
    "handoff": (7, "agent_file_handoff"),
}


def missing(maker, **options) -> set[str]:
    """The ids of the duties that a package is warned about."""
    return {
        finding.message.removeprefix("nothing is labelled ").partition(":")[0]
        for finding in maker.lint(**options).findings
        if finding.code == "duty.missing"
    }


def made(scope) -> Maker:
    return Maker() if scope == "universal" else Maker(scope)


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_has_its_duties(group):
    """Eleven of a persona, eight of an assistant, five of code, ten, seven."""
    count, scope = GROUPS[group]
    own = {duty.id for duty in DUTIES if duty.id.startswith(group + ".")}
    maker = made(scope)
    for path in LABELS:
        if path in maker.files:
            told(path, labelled(path))(maker)

    assert count == len(own)
    assert own <= missing(maker)
    assert set() == missing(made(scope))
    assert maker.lint().is_accepted


@pytest.mark.parametrize("duty", DUTIES, ids=lambda duty: duty.id)
def test_each_duty_is_missed_alone(duty):
    """Without the labels that name a duty, it is warned about at its usual file."""
    scope = GROUPS[duty.id.partition(".")[0]][1]
    maker = made(scope)
    for path in duty.files:
        if path not in maker.files:
            continue
        parsed = parse_body(maker.files[path], "text/uaix")
        kept = [
            field.label
            for field in parsed.fields
            if not duty.is_named_by(field.name.split("_"))
        ]
        told(path, labelled(path, *kept))(maker)
    found = [f for f in maker.lint().findings if duty.id in f.message]

    assert duty.id in missing(maker)
    assert duty.files[0] == found[0].path


@pytest.mark.parametrize("path", LABELS)
def test_headings_front_matter_and_flat_text_name_duties(path):
    """A duty may be named by a heading, in front matter, in snake case, in JSON."""
    labels = LABELS[path]
    flat = [label.lower().replace(" ", "_").replace("-", "_") for label in labels]
    spellings = [
        "# Title\n" + "".join(f"\n## {label}\n\nText.\n" for label in labels),
        "---\n" + "".join(f"{name}: x\n" for name in flat) + "---\n\n# Title\n",
        "".join(f"{name}: x\n" for name in flat),
        "# Title\n" + "".join(f"\n## {x}\n\n### More\n\nText.\n" for x in labels),
        "# Title\n" + "".join(f"\n**{label}:** x\n" for label in labels),
    ]
    scope = next(s for _n, s in GROUPS.values() if path in made(s).files)
    for text in spellings:
        maker = made(scope)
        told(path, text)(maker)
        assert set() == missing(maker)


def test_a_label_without_text_names_nothing():
    """A label or a heading under which nothing stands meets no duty."""
    maker = Maker("persona_profile")
    labels = [label for label in LABELS[PERSONA] if label != "Voice"]
    text = labelled(PERSONA, *labels).decode()
    for empty in ("\nVoice:\n", "\n## Voice\n", "\n## Voice\n\n## More\n\nText.\n"):
        told(PERSONA, text + empty)(maker)
        assert {"persona.voice"} == missing(maker)


def test_duties_of_an_assistant_may_stand_in_any_universal_file():
    """What an assistant owes may stand in its persona or in a universal file."""
    maker = Maker("non_project_assistant")
    without_label(PERSONA, "Import notice")(maker)
    assert {"assistant.import-notice"} == missing(maker)
    told(".uai/identity.uai", labelled("x", "Import notice"))(maker)

    assert set() == missing(maker)


def test_absent_files_are_no_unmet_duties():
    """A file that isn't there is told once, as absent."""
    maker = Maker("persona_profile")
    maker.drop(PERSONA)

    assert set() == missing(maker)
    assert {"set.missing"} == errors(maker.lint())


def test_the_kinds_of_evidence():
    """There are five kinds, told by the stem, each warned about when it is absent."""
    assert EVIDENCE == [kind for kind, _purpose in KINDS]
    for kind in EVIDENCE:
        maker = Maker(*ADVANCED)
        drop(f"evidence/{kind}.md")(maker)
        found = [f for f in maker.lint().findings if f.code == "evidence.missing"]
        assert [f"evidence/{kind}.*"] == [f.path for f in found]
        note(path=f".uai/notes/{kind}.uai", role="evidence")(maker)
        assert "evidence.missing" not in codes(maker.lint())


def test_only_advanced_personas_need_evidence():
    """No other package is asked for evidence."""
    assert "evidence.missing" not in codes(Maker("persona_profile").lint())


@pytest.mark.parametrize("name", LEDGER)
def test_each_field_about_long_term_memory(name):
    """A field of longTermMemory that is absent or empty is a warning of its own."""
    maker = Maker("long_term_memory")
    ledger(**{name: None})(maker)
    report = maker.lint()

    assert report.is_accepted
    assert [f"longTermMemory.{name}"] == [f.path for f in report.findings]


@pytest.mark.parametrize("value", [None, "x", []])
def test_the_object_about_long_term_memory(value):
    """Without the object there is one warning; other scopes aren't asked for it."""
    maker = Maker("long_term_memory")
    maker.manifest["longTermMemory"] = value
    assert {"ltm.manifest"} == codes(maker.lint())
    without("longTermMemory")(maker)
    assert {"ltm.manifest"} == codes(maker.lint())

    assert () == Maker().lint().findings


@pytest.mark.parametrize("label", POINTER)
def test_each_field_of_a_pointer(label):
    """A pointer without one of its fields is a warning that names it."""
    maker = Maker("long_term_memory")
    record = {key: text for key, text in POINTER.items() if key != label}
    told(LTM, pointers(POINTER, record))(maker)
    found = [f for f in maker.lint().findings if f.code == "ltm.field"]

    if label == "Stable id":
        assert [] == found
    else:
        assert 1 == len(found)
        assert "pointer 2" in found[0].message


@pytest.mark.parametrize(
    ("fields", "is_right"),
    [
        ({"path": "https://wiki.example/a"}, True),
        ({"path": "wiki/a.md"}, False),
        ({"path": "wiki/a.md", "Checksum": "a" * 64}, True),
        ({"path": "wiki/a.md", "Checksum": "sha256:" + "a" * 64}, True),
        ({"path": "wiki/a.md", "SHA256": "a" * 64}, True),
        ({"path": "wiki/a.md", "Checksum": "a" * 63}, False),
        ({"path": ".uai/totem.uai", "Checksum": "a" * 64}, False),
    ],
)
def test_checksums_of_files(fields, is_right):
    """A pointer to a file has its SHA-256, the right one where the file is at hand."""
    maker = Maker("long_term_memory")
    pointer(**fields)(maker)

    assert is_right == ("ltm.checksum" not in codes(maker.lint()))


def test_long_text_beside_pointers_is_an_inline_body():
    """Text that is longer than a remark has no place beside the pointers."""
    maker = Maker("long_term_memory")
    told(LTM, pointers(POINTER) + b"\n## Copied\n\n" + b"word " * 101)(maker)

    assert {"ltm.inline-body"} == codes(maker.lint())
    told(LTM, b"word " * 101)(maker)
    assert {"ltm.empty", "ltm.inline-body", "content.unparsed"} == codes(maker.lint())


def test_unread_files_are_counted_once():
    """All files without structure make one finding; one alone is named."""
    maker = Maker()
    maker.add(".uai/notes/a.uai", b"Only prose.\n")
    one = [f for f in maker.lint().findings if f.code == "content.unparsed"]
    maker.add(".uai/notes/b.uai", b"x: y\n" * (PARSED_BYTES // 5 + 1))
    maker.add("docs/c.md", b"Only prose.\n")
    two = [f for f in maker.lint().findings if f.code == "content.unparsed"]

    assert [".uai/notes/a.uai"] == [f.path for f in one]
    assert [None] == [f.path for f in two]
    assert two[0].message.endswith(": 2")


def test_what_is_not_compared_is_told(monkeypatch):
    """Marked files beyond what is compared for leaks count as unread."""
    monkeypatch.setattr(judging, "COMPARED_BYTES", COMPARED_BYTES // 64)
    text = b"disclosure: public\n" + b"word: x\n" * (PARSED_BYTES // 64 // 8 - 10)
    files = COMPARED_BYTES // 64 // len(text)
    told = []
    for count in (files - 1, files + 1):
        maker = Maker()
        for number in range(count):
            maker.add(f".uai/notes/{number}.uai", text)
        codes = [finding.code for finding in maker.lint().findings]
        told.append("content.unparsed" in codes)

    assert [False, True] == told


def test_depth_is_judged_in_persona_files_only():
    """A depth elsewhere is somebody's own word; in a persona it is a level."""
    maker = Maker(*ADVANCED)
    maker.add(".uai/notes/pool.uai", b"Depth level: 30\n")
    assert set() == errors(maker.lint())
    for text in ("depthLevel: 30", "depth_level_0_to_10: low", "Depth level: -1"):
        told(VOICE, text + "\n")(maker)
        assert {"persona.depth-range"} == errors(maker.lint())


def test_a_file_that_the_manifest_calls_public():
    """A hidden file whose manifest entry says public is a leak."""
    maker = Maker(*ADVANCED)
    told(VOICE, "disclosure: private\nmotto: let us look\n")(maker)
    assert "persona.disclosure-leak" not in codes(maker.lint())
    maker.entry(VOICE)["disclosure"] = "public"

    assert "persona.disclosure-leak" in codes(maker.lint())


@pytest.mark.parametrize(
    "hidden",
    [
        b"motto: let us look\nmotto_disclosure_level: none\n",
        b"# T\n\nPrivate note: x\n\n## Motto [confidential]\n\nlet us look\n",
        "motto (priv\u0430te): let us look\n".encode(),
    ],
)
def test_a_leak_of_any_mark_is_found(hidden):
    """What a mark in any of its forms hides is a leak where it stands as public."""
    maker = Maker("non_project_assistant")
    maker.add(".uai/notes/m.uai", hidden)
    assert "persona.disclosure-leak" not in codes(maker.lint())
    maker.add(".uai/notes/n.uai", b"motto (public): let us look\n")

    assert "persona.disclosure-leak" in codes(maker.lint())


def test_labels_come_in_words():
    """Labels and headings are taken apart into words, empty ones left out."""
    parsed = parse_body(
        b"# T\n\nFirst label: x\nSecond:\n\n## Third one\n\ny\n", "text/uaix"
    )

    assert [("first", "label"), ("third", "one")] == list(labels_of(parsed))
    assert body_of("x") == labelled("x")


@pytest.mark.parametrize("broken", [b"{", b"", b"[]", b"\xff"])
def test_nothing_is_missed_without_a_manifest(broken):
    """Where the manifest can't be read, nobody knows what the package owes."""
    maker = Maker("persona_profile")
    files = {**maker.files, PERSONA: b"Nothing.\n", MANIFEST: broken}
    report = lint(PackageSource(files=files), now=NOW)

    assert set() == {"duty.missing", "evidence.missing"} & codes(report)
    assert not report.is_accepted


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_missed_in_a_file_that_is_no_text(group):
    """A file that isn't UTF-8 is one error, whatever it should speak of."""
    maker = made(GROUPS[group][1])
    for duty in DUTIES:
        if duty.id.startswith(group + "."):
            for path in duty.files:
                if path in maker.files:
                    told(path, b"\xff\xfe Nothing.\n")(maker)

    assert set() == missing(maker)
    assert {"content.encoding"} == errors(maker.lint())
