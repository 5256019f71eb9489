"""Laws of views: bounded in number, depth and size, and each knows its way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.disguises import DISGUISES

from uaix_core.gate.decoding import base64_text, hex_text
from uaix_core.gate.views import MAX_EXPANSION, MAX_VIEWS, plain_views, views_of
from uaix_core.values.folding import MAX_DECOMPOSITION, fold

WORD = "Marigold-Seeds_24"


def test_plain_text_has_one_view():
    """ASCII without escapes, runs and split tokens is judged as given only."""
    assert ["water the garden\non Monday"] == [
        view.text for view in views_of("water the garden\non Monday")
    ]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_some_view_shows_what_is_disguised(disguise):
    """Each disguise is seen through by a view, and its place is known."""
    text = f"a {DISGUISES[disguise](WORD * 2)} z"
    found = [view for view in views_of(text) if WORD in view.text]

    assert found
    place = found[0].text.index(WORD)
    assert 2 <= found[0].source(place, place + len(WORD)) < len(text) - 2


@given(st.text(max_size=300))
def test_views_are_bounded(text):
    """There are at most 12 views, together at most eight times as long."""
    views = list(views_of(text))

    assert text == views[0].text
    assert len(views) <= MAX_VIEWS
    assert sum(len(view.text) for view in views) <= MAX_EXPANSION * max(len(text), 1)
    assert len(views) == len({view.text for view in views})


@given(st.text(max_size=120), st.data())
def test_every_place_of_a_view_leads_back(text, data):
    """Each span of a view comes from a place inside the text handed in."""
    for view in views_of(text):
        if view.text:
            start = data.draw(st.integers(0, len(view.text) - 1))
            end = data.draw(st.integers(start + 1, len(view.text)))
            assert 0 <= view.source(start, end) < len(text)


@given(st.text(st.sampled_from("ab\u0430\u200b\u0301\u00e9\uff41"), max_size=40))
def test_a_folded_character_leads_to_the_one_it_was(text):
    """A character of the folded view comes from one that folds to it."""
    view = plain_views(text)[-1]

    for index, character in enumerate(view.text):
        assert character in fold(text[view.source(index, index + 1)])


@given(st.text(max_size=200))
def test_folding_is_bounded_and_done_once(text):
    """Folding makes a text at most four times as long; ASCII stays as it is."""
    folded = fold(text)

    assert len(folded) <= MAX_DECOMPOSITION * len(text)
    assert not text.isascii() or folded == text


@given(st.binary(min_size=12, max_size=60))
def test_only_text_is_decoded(data):
    """What hex or base64 stands for counts when it can be shown."""
    for text in (base64_text(data.hex()), hex_text(data.hex())):
        assert text is None or all(
            character.isprintable() or character in "\0\t\n\r" for character in text
        )


def test_decoding_stops_at_depth_two():
    """What is encoded three times is not decoded to the end."""
    once = DISGUISES["percent"]
    shown = [view.text for view in views_of(once(once(once(WORD))))]

    assert once(WORD) in shown
    assert WORD not in shown
