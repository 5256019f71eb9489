"""Laws of arguments: whatever a caller hands in, the answer is the library's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs
import pytest
from tests.session.conftest import Counter, FrozenClock
from tests.session.package_kit import NOTE
from tests.session.verbs import GIVEN, MADE, all_verbs, verb_named, world_of

import uaix_core
from uaix_backends.memory import MemoryStore
from uaix_core import CallerError, Principal, ScopeId, Session, UaixError

if TYPE_CHECKING:
    from tests.session.verbs import Verb, World


def fresh() -> Session:
    """A session over an empty store."""
    counter = Counter()
    return Session(
        MemoryStore(),
        scope=ScopeId.parse("acme/project/apollo"),
        principal=Principal.parse("human:alice"),
        clock=FrozenClock(),
        ids=counter,
        random=counter,
    )


VERBS = [verb.name for verb in all_verbs(fresh())]


@pytest.fixture(scope="module")
def origin() -> World:
    """One of everything."""
    return world_of(fresh())


@pytest.fixture
def world(origin: World) -> World:
    """A copy of it."""
    return origin.copied()


def verb_of(world: World, name: str) -> Verb:
    """The verb of this name in a world."""
    return verb_named(world.session, name)


#: A master package is more than these laws need: it is refused for its signature.
ENROLS = "authority.enrol"


@pytest.mark.parametrize("name", [name for name in VERBS if name != ENROLS])
def test_the_good_values_are_good(world: World, name: str) -> None:
    """Every verb goes through with what the other laws bend."""
    verb = verb_of(world, name)
    verb.method(**world.arguments(verb))


WRONG = [None, 5, True, "", "\ud800", "x" * 3_000, b"x", object(), [object()], {1: 2}]


@pytest.mark.parametrize("name", VERBS)
def test_wrong_input_gets_the_librarys_own_error(world: World, name: str) -> None:
    """Whatever stands in the place of an argument, no foreign error comes out."""
    verb = verb_of(world, name)
    foreign = []
    for argument in verb.parameters:
        for wrong in WRONG:
            bent = world.copied()
            call = verb_of(bent, name)
            try:
                call.method(**{**bent.arguments(call), argument: wrong})
            except UaixError:
                continue
            except Exception as error:  # noqa: BLE001 - the law is that there is none
                foreign.append((argument, wrong, repr(error)))

    assert [] == foreign


def test_every_value_is_swept() -> None:
    """Each public value is one that callers make, or one that they are given."""
    values = {name for name in uaix_core.__all__ if attrs.has(getattr(uaix_core, name))}

    assert values == MADE.keys() | GIVEN


@pytest.mark.parametrize("name", MADE)
def test_a_wrong_value_is_never_made(name: str) -> None:
    """Whatever stands in a field, no foreign error comes out of making it."""
    make = getattr(uaix_core, name)
    make(**MADE[name])
    foreign = []
    for field in MADE[name]:
        for wrong in WRONG:
            try:
                make(**{**MADE[name], field: wrong})
            except UaixError:
                continue
            except Exception as error:  # noqa: BLE001 - the law is that there is none
                foreign.append((field, wrong, repr(error)))

    assert [] == foreign


def takes_several(annotation: str) -> bool:
    """Whether an argument with this annotation is several things."""
    kinds = r"(Iterable|Sequence|Collection|AbstractSet|tuple|list|set|frozenset)\["
    return re.match(kinds, annotation) is not None


def calls() -> list[tuple[str, str]]:
    """Each argument of a verb and field of a value that is several things."""
    found = [
        (verb.name, argument)
        for verb in all_verbs(fresh())
        for argument, annotation in verb.parameters.items()
        if takes_several(annotation)
    ]
    for name in MADE:
        fields = attrs.fields(getattr(uaix_core, name))
        found += [(name, one.name) for one in fields if takes_several(str(one.type))]
    return found


@pytest.mark.parametrize(("name", "argument"), calls())
@pytest.mark.parametrize("one", [NOTE, b"bytes"])
def test_one_text_is_not_several(
    world: World, name: str, argument: str, one: object
) -> None:
    """A text is never taken for the list of its letters, by any verb or value."""
    if name in MADE:
        call, good = getattr(uaix_core, name), MADE[name]
    else:
        verb = verb_of(world, name)
        call, good = verb.method, world.arguments(verb)

    with pytest.raises(CallerError):
        call(**{**good, argument: one})
