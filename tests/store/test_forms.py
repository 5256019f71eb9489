"""Laws of the two forms of a scope: one from the first commit on, and seldom asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.backends.sealed_harness import behind

from uaix_conformance.examples import OTHER, SCOPE, commit, fact
from uaix_conformance.schema import KIT
from uaix_core.access.sealed_rows import SEALED_PART
from uaix_core.schema.commits import Mark
from uaix_core.schema.relations import Ref
from uaix_core.store.advance import Ask, Found, advance, drive
from uaix_core.store.forms import FIRST
from uaix_core.store.seal import genesis
from uaix_core.values.errors import AccessError, CallerError

if TYPE_CHECKING:
    from uaix_core.schema.commits import Commit, Recorded

SCHEMA = behind(KIT)
FORM = Ref(SEALED_PART.name, FIRST)


def part(number: int = 1) -> Any:
    """A part of a sealed commit, whatever is in it."""
    return SEALED_PART.with_body(
        b"s" * 16, number=number, part=0, generation=0, key_id="k1", sealed=b"x"
    )


def appended(
    what: Commit, mark: Mark, *, is_sealed: bool = False
) -> tuple[Recorded, bool]:
    """What a commit becomes over a scope of this form, and whether it was asked for."""
    asked: set[Ref] = set()

    def answer(ask: Ask) -> Found:
        asked.update(ask.rows)
        return Found({FORM: part()} if is_sealed and FORM in ask.rows else {})

    change = drive(advance(SCHEMA, what, mark, 0), answer)
    return change.recorded, FORM in asked


def test_who_goes_on_from_its_own_commit_asks_nothing() -> None:
    """The digest stands for the history; after another's commit the form is asked."""
    first, asked = appended(commit(fact(0)), genesis(SCOPE))
    assert not asked
    second, asked = appended(commit(fact(1)), first.mark)
    assert not asked
    others = Mark(3, second.recorded_at, "5" * 64)
    third, asked = appended(commit(fact(2)), others)
    assert asked
    _, asked = appended(commit(fact(3)), third.mark)
    assert not asked
    # Neither does the head of one scope speak for another.
    _, asked = appended(commit(fact(3), scope=OTHER), third.mark)
    assert asked


def test_sealed_history_is_asked_for_each_time() -> None:
    """What was sealed here is never taken for plain."""
    first, _ = appended(commit(part()), genesis(SCOPE))
    second, asked = appended(commit(part(2)), first.mark, is_sealed=True)
    assert asked
    with pytest.raises(AccessError) as raised:
        appended(commit(fact(0)), second.mark, is_sealed=True)
    assert "scope.sealed" == raised.value.code


def test_known_plain_history_takes_no_parts() -> None:
    """Also where the form isn't asked for, the first commit has decided it."""
    first, _ = appended(commit(fact(0)), genesis(SCOPE))
    with pytest.raises(CallerError) as raised:
        appended(commit(part()), first.mark)
    assert "scope.plain" == raised.value.code


def test_local_rows_have_no_form() -> None:
    """A commit without history asks nothing of a sealed scope or a plain one."""
    local = commit(drops=[Ref("job", (False, 0))])
    _, asked = appended(local, Mark(3, 0, "7" * 64), is_sealed=True)
    assert not asked
