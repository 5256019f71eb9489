"""Laws of secrets and hidden text: no verb tells the one or takes the other."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.session.package_kit import ID
from tests.session.test_arguments import VERBS, fresh, verb_of
from tests.session.tiering import AGENT, TALK
from tests.session.verbs import MADE, world_of

import uaix_core
from uaix_core import ScopeId, UaixError
from uaix_core.schema.rows import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.session.verbs import World

#: A secret that has the form of an id, and is one wherever it stands.
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture(scope="module")
def origin() -> World:
    """One of everything."""
    return world_of(fresh())


def made(make: Callable[..., Any], *values: Any, **fields: Any) -> Any:
    """What comes of making a value: it, or the error that says why there is none."""
    try:
        return make(*values, **fields)
    except UaixError as error:
        return error


def bent(value: Any, text: str) -> Iterator[Any]:
    """The value with another text in the place of each that it holds.

    Of a value that can't be made with it comes the error that says so.
    """
    if isinstance(value, str):
        yield text
        return
    for place, item, put in places_of(value):
        if isinstance(place, str) and isinstance(value, Mapping):
            rest = {name: value[name] for name in value if name != place}
            yield {**rest, text: item}
        for other in bent(item, text):
            yield other if isinstance(other, UaixError) else put(other)


def places_of(value: Any) -> Iterator[tuple[Any, Any, Callable[[Any], Any]]]:
    """What a value holds: where, what, and how another one is put there."""
    if isinstance(value, (list, tuple, frozenset)):
        value = list(value)
        for index, item in enumerate(value):
            before, after = value[:index], value[index + 1 :]
            yield index, item, lambda new, b=before, a=after: [*b, new, *a]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key, item, lambda new, k=key: {**value, k: new}
    elif type(value).__name__ in MADE:
        for field in attrs.fields(type(value)):
            name = field.name
            item = getattr(value, name)
            yield name, item, lambda new, n=name: made(attrs.evolve, value, **{n: new})


def told(error: BaseException | None) -> str:
    """All that an error and those behind it say."""
    parts = []
    while error is not None:
        parts += [str(error), repr(error), repr(error.args)]
        if isinstance(error, UaixError):
            parts.append(repr(error.as_dict()))
        error = error.__cause__ or error.__context__
    return "".join(parts)


def positions(world: World) -> dict[ScopeId, int]:
    """How far each scope has come."""
    store = world.session.store
    found = {}
    for scope in store.scopes(limit=100):
        with store.snapshot(scope) as snapshot:
            found[scope] = snapshot.position
    return found


def written(world: World, before: Mapping[ScopeId, int]) -> str:
    """All rows that were written since, in any scope."""
    rows: list[Any] = []
    for scope in positions(world):
        with world.session.store.snapshot(scope) as snapshot:
            new = itertools.islice(snapshot.commits(), before.get(scope, 0), None)
            for one in new:
                rows += (*one.commit.adds, *one.commit.puts)
    # What a row shows of itself leaves its texts out.
    return repr(
        [
            [getattr(row, name) for name in fields_of(type(row)) if name != "salt"]
            for row in rows
        ]
    )


def test_what_is_written_would_be_seen(origin: World) -> None:
    """The laws below look at all that a verb writes, bodies included."""
    world = origin.copied()
    tiers, before = world.session.tiers, len(written(world, {}))
    tiers.conversations.add(ID, AGENT, TALK, "user", "said \u202e")
    tiers.notes.add(ID, kind="legal", title="titled", text="noted")

    rows = written(world, {})

    assert before < len(rows)
    assert all(text in rows for text in ("said \\u202e", "titled", "noted"))


@pytest.mark.parametrize("name", VERBS)
def test_a_secret_is_told_nowhere(
    origin: World, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A secret in any text of any verb is in no error, no row and no log."""
    caplog.set_level(logging.DEBUG)
    before = positions(origin)
    leaks = []
    for argument, good in origin.arguments(verb_of(origin, name)).items():
        for wrong in bent("" if good is None else good, SECRET):
            world = origin.copied()
            verb = verb_of(world, name)
            said = ""
            try:
                if isinstance(wrong, UaixError):
                    raise wrong
                verb.method(**{**world.arguments(verb), argument: wrong})
            except UaixError as error:
                said = told(error)
            if SECRET in said + written(world, before) + caplog.text:
                leaks.append((argument, said))

    assert [] == leaks


@pytest.mark.parametrize("name", MADE)
def test_no_value_tells_a_secret_that_it_refuses(name: str) -> None:
    """A field that a value refuses is never quoted when it holds a secret."""
    kind = getattr(uaix_core, name)
    for field, good in MADE[name].items():
        for wrong in bent(good, SECRET):
            error = made(kind, **{**MADE[name], field: wrong})
            if isinstance(error, UaixError):
                assert SECRET not in told(error)


#: Texts that are kept as they came: what was said, and what an agent works with. A
#: registered document belongs to whoever granted it, byte for byte.
AS_IT_CAME = frozenset(
    (
        ("tiers.conversations.add", "text"),
        ("tiers.short_term.put", "text"),
        ("registrations.register", "document"),
    )
)


@pytest.mark.parametrize("name", VERBS)
def test_hidden_text_is_neither_kept_nor_told(origin: World, name: str) -> None:
    """What nobody sees comes into no row by any verb, nor out of one in an error."""
    before = positions(origin)
    leaks = []
    for argument, good in origin.arguments(verb_of(origin, name)).items():
        for hidden in ("\u202e", "\x1b", "\U000e0041"):
            for wrong in bent("" if good is None else good, f"seen{hidden}unseen"):
                world = origin.copied()
                verb = verb_of(world, name)
                said = ""
                try:
                    if isinstance(wrong, UaixError):
                        raise wrong
                    verb.method(**{**world.arguments(verb), argument: wrong})
                except UaixError as error:
                    said = f"{error}{error.as_dict()['path']}"
                is_kept = (name, argument) in AS_IT_CAME
                rows = "" if is_kept else written(world, before)
                # In JSON a control stands as its escape.
                forms = (repr(hidden)[1:-1], f"u{ord(hidden):04x}")
                if hidden in said or any(form in rows for form in forms):
                    leaks.append((argument, ascii(wrong), ascii(said)))

    assert [] == leaks
