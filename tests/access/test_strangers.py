"""Laws of isolation: what isn't the caller's is answered like what isn't there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.access.places import (
    ADA,
    APOLLO,
    CAROL,
    GEMINI,
    OTHER,
    Places,
    settled,
)
from tests.access.strangers import (
    ABOUT_NOTHING,
    CANARY,
    INNER,
    World,
    called,
    filled,
    nothing,
    said,
    verbs,
)
from tests.session.starting import ID

from uaix_backends import open_store
from uaix_core import NotFoundError, UaixError
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core import Session, Store


class Counting:
    """A store that notes what is asked of it."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def append(self, commit: Any) -> Any:
        """Note an append, and make it."""
        self.asked.append("append")
        return self._inner.append(commit)

    @contextmanager
    def snapshot(self, scope: Any) -> Iterator[Any]:
        """Note a snapshot and all its reads."""
        self.asked.append("snapshot")
        with self._inner.snapshot(scope) as inner:
            yield _Noting(inner, self.asked)


class _Noting:
    def __init__(self, inner: Any, asked: list[str]) -> None:
        self._inner, self._asked = inner, asked

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("get", "get_many", "scan"):
            return found

        def noted(relation: str, *given: Any, **named: Any) -> Any:
            self._asked.append(f"{name} {relation}")
            return found(relation, *given, **named)

        return noted


@pytest.fixture(scope="module")
def strangers() -> Iterator[tuple[Places, World, World]]:
    """A tenant, a stranger's package with one of everything, and one of nothing."""
    inner = open_store("memory:", create=True)
    places = settled(inner)
    ids = filled(places)
    files = dict(places.host().packages.read(OTHER))
    missing = {**files}
    missing[MANIFEST_PATH] = files[MANIFEST_PATH].replace(OTHER.encode(), b"nowhere-at")
    yield (
        places,
        World(OTHER, "bob", ids, files),
        World("nowhere-at", "mallory", nothing(ids), missing),
    )
    inner.close()


def callers(places: Places) -> dict[str, Session]:
    """Sessions over packages of their own: an agent, and persons of every role."""
    authority = places.authority()
    found = {"agent": places.of(ADA)}
    for role in ("reader", "writer", "reviewer", "admin"):
        given = authority.grant(CAROL, role, scope=APOLLO, package_id=ID)
        token = places.token(CAROL)
        found[role] = authority.session(token, scope=APOLLO)
        if role != "admin":
            authority.withdraw(given.id)
    return found


def outcome(verb: Any, world: World, own_agent: str | None) -> tuple[Any, ...]:
    """What a call comes to, without the names that it was called with."""
    arguments = world.arguments()
    if own_agent is not None:
        arguments["agent_id"] = own_agent
    try:
        return ("answer", _neutral(said(called(verb, arguments)), world))
    except UaixError as error:
        return tuple(_neutral(said(one), world) for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[tuple[Any, ...]]:
    """All that an error says and holds, and those that it came from."""
    while error is not None:
        kept = {name: text for name, text in vars(error).items() if name[0] != "_"}
        yield type(error).__name__, str(error), kept
        error = error.__cause__ or error.__context__


def _neutral(text: str, world: World) -> str:
    for name in sorted(world.ids.values(), key=len, reverse=True):
        text = text.replace(name, "ID")
    return text.replace(world.package_id, "PACKAGE").replace(world.agent_id, "AGENT")


@pytest.mark.parametrize("who", ["agent", "reader", "writer", "reviewer", "admin"])
def test_no_verb_tells_a_strangers_thing_from_nothing(
    strangers: tuple[Places, World, World], who: str
) -> None:
    """The same answer, the same reads of the store, the same denials; never a word."""
    places, theirs, none = strangers
    inner = places.store
    counting = Counting(inner)
    places.store = counting
    try:
        session = callers(places)["agent" if who == "agent" else "admin"]
        if who not in ("agent", "admin"):
            session = _with_role(places, who)
        own = ADA.id if who == "agent" else None
        with session.snapshot():
            # Whether a scope is sealed is looked at once, whatever is asked then.
            pass
        differ = {}
        for name, verb in verbs(session):
            if name in ABOUT_NOTHING or name in INNER:
                continue
            told = []
            for world in (theirs, none):
                counting.asked.clear()
                came = outcome(verb, world, own)
                told.append((came, tuple(counting.asked)))
            if told[0] != told[1] or CANARY in repr(told):
                differ[name] = told
        assert {} == differ
    finally:
        places.store = inner


def _with_role(places: Places, role: str) -> Session:
    authority = places.authority()
    for held in authority.entitlements(CAROL):
        authority.withdraw(held.id)
    authority.grant(CAROL, role, scope=APOLLO, package_id=ID)
    return authority.session(places.token(CAROL), scope=APOLLO)


def test_the_sweep_knows_its_verbs(strangers: tuple[Places, World, World]) -> None:
    """What it leaves out are verbs that there are, and few."""
    names = {name for name, _ in verbs(strangers[0].host())}

    assert names >= ABOUT_NOTHING | INNER
    assert len(names) > 5 * len(ABOUT_NOTHING | INNER)


def test_a_host_can_tell_them_apart(strangers: tuple[Places, World, World]) -> None:
    """What the sweep asks for is really there: most reading verbs tell the host so."""
    places, theirs, none = strangers
    reading = {
        name: verb
        for name, verb in verbs(places.host())
        if name.rpartition(".")[2] in READING and name not in ABOUT_NOTHING
    }
    told = {
        name
        for name, verb in reading.items()
        if outcome(verb, theirs, None) != outcome(verb, none, None)
    }

    assert len(told) > len(reading) * 3 // 4
    assert CANARY.encode() in b"".join(places.host().packages.read(OTHER).values())


#: Verbs that only read.
READING = frozenset(
    (
        "checkpoints",
        "conflict",
        "conflicts",
        "diff_revisions",
        "get",
        "history",
        "holder",
        "list",
        "read",
        "read_at",
        "receipt",
        "receipts",
        "record",
        "report",
        "results",
        "revision",
        "revisions",
        "show",
        "turns",
        "waiting",
    )
)


def test_a_denial_is_recorded_for_either(places: Places) -> None:
    """Asking for a stranger's package, or for none, leaves a denial without a name."""
    session, authority = places.of(ADA), places.authority()

    for number, package_id in enumerate((OTHER, "nowhere-at"), 1):
        with pytest.raises(NotFoundError):
            session.packages.show(package_id)
        denials = authority.denials()
        assert number == len(denials)
        assert ("not-found", "read", ADA) == (
            denials[-1].code,
            denials[-1].operation,
            denials[-1].principal,
        )
        assert package_id not in repr(denials)


def test_no_listing_crosses(places: Places) -> None:
    """An agent lists its own packages and receipts, and no scope but its own."""
    session = places.of(ADA)

    assert [ID] == [row.package_id for row in session.packages.list()]
    assert [] == list(session.packages.receipts())
    receipts = session.packages.receipts(ID)
    assert {ID} == {row.package_id for row in receipts}
    with pytest.raises(AccessError):
        session.store.scopes(limit=10)
    with pytest.raises(NotFoundError) as raised, session.store.snapshot(GEMINI):
        pass
    assert "scope.not-found" == raised.value.code


def test_another_project_is_no_scope_at_all(places: Places) -> None:
    """A token of one project opens no other, whether that one exists or not."""
    authority = places.authority()
    authority.grant(CAROL, "admin", scope=APOLLO)
    token = places.token(CAROL)
    places.host(GEMINI).packages.list()

    codes = set()
    for scope in (GEMINI, type(GEMINI)("acme", "project", "never")):
        with pytest.raises(AccessError) as raised:
            authority.session(token, scope=scope)
        codes.add(str(raised.value))
    assert 1 == len(codes)
    denials = authority.denials()
    assert ["not-found"] * 2 == [one.code for one in denials]
    assert {CAROL} == {one.principal for one in denials}
