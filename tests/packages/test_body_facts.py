"""Laws of what is remembered of bodies: it follows from them, and holds none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import Maker

from uaix_core.packages.content import texts
from uaix_core.packages.content.body_facts import facts_of, remembered
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    import pytest

PATHS = st.sampled_from([".uai/persona.uai", ".uai/notes/x.uai", "evidence/a.md"])
MEDIA = st.sampled_from(["text/uaix", "application/json", "image/png", None])
TEXTS = st.lists(
    st.sampled_from(
        [
            b"voice (private): calm\n",
            b"voice (public): calm\n",
            b"depth level: 99\n",
            b"disclosure: secret\n",
            b"token: ghp_" + b"a1B2" * 9 + b"\n",
            b"rm -rf / --no-preserve-root\n",
            b"\xff\xfe",
            b"\0",
            b"{}",
        ]
    ),
    max_size=3,
).map(b"".join)


@given(PATHS, MEDIA, TEXTS)
def test_what_is_remembered_is_what_follows(path: str, media_type, data: bytes) -> None:
    """The second answer about a body is the first, and that of a fresh look."""
    digest = sha256_hex(data)
    first = facts_of(path, data, media_type, digest)

    assert first is facts_of(path, data, media_type, digest)
    remembered.forget()
    assert first == facts_of(path, data, media_type, digest)


def test_no_word_of_a_body_is_remembered() -> None:
    """Nothing that is kept of a body holds a text of it."""
    remembered.forget()
    maker = Maker("non_project_assistant")
    maker.add(".uai/notes/m.uai", b"motto (private): MARKED let us look\n")
    maker.add(".uai/notes/n.uai", b"motto (public): MARKED let us look\n")
    findings = maker.lint().findings

    assert "persona.disclosure-leak" in {finding.code for finding in findings}
    assert remembered._values
    assert "MARKED" not in repr(remembered._values)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many bodies are judged, no more than so many are remembered."""
    monkeypatch.setattr(remembered, "most", 3)
    remembered.forget()
    for number in range(10):
        data = b"%d\n" % number
        facts_of(".uai/notes/x.uai", data, "text/uaix", sha256_hex(data))
        assert len(remembered._values) <= 3


def test_two_lints_say_the_same() -> None:
    """A package that is judged again gets the same report, remembered or not."""
    remembered.forget()
    texts.remembered.forget()
    maker = Maker("advanced_persona_profile", "persona_profile")
    maker.add(".uai/notes/m.uai", b"motto (private): let us look\ndepth level: 99\n")
    maker.manifest["x_note"] = f"MARKED: look at http://10.0.0.7/, token {_TOKEN}"
    maker.manifest[f"x_{_TOKEN}"] = "a key that holds one"
    first = maker.lint().as_dict()

    assert {"secret.found", "content.private-probe"} <= _codes(first)
    assert first == maker.lint().as_dict()
    assert texts.remembered._values
    assert "MARKED" not in repr(texts.remembered._values)
    assert _TOKEN not in repr(texts.remembered._values)
    texts.remembered.forget()
    assert first == maker.lint().as_dict()


_TOKEN = "ghp_" + "a1B2" * 9


def _codes(report: dict) -> set[str]:
    return {finding["code"] for finding in report["findings"]}
