"""Laws of the guard for whoever goes around the verbs: the port gives no more."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.access.places import (
    ADA,
    APOLLO,
    BOB,
    CAROL,
    GEMINI,
    OTHER,
    Places,
    settled,
)
from tests.access.strangers import CANARY, DRAFT, filled, said
from tests.authority.granting import document, granting
from tests.session.starting import ID, advanced

from uaix_backends import open_store
from uaix_core import (
    AcceptancePolicy,
    CallerError,
    ConflictError,
    KeyRing,
    NotFoundError,
    Session,
    TierRef,
)
from uaix_core.access.roles import POWERS
from uaix_core.access.standing import authority_scope
from uaix_core.guard.operations import RECEIPTLESS, ROWS
from uaix_core.guard.sight import KEYED, SHARED
from uaix_core.history.receipts import receipt_row
from uaix_core.history.relations import IDEMPOTENCY
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.relations import Keep, Ref, values_of
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.errors import AccessError
from uaix_core.values.instants import DAY, FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row


@pytest.fixture(scope="module")
def crowded() -> Iterator[Places]:
    """Two agents' packages in one project, the other one with one of everything."""
    store = open_store("memory:", create=True)
    places = settled(store)
    filled(places)
    places.host().packages.export(OTHER)
    yield places
    store.close()


def all_rows_of(places: Places) -> Iterator[tuple[Relation, Row]]:
    """Each row of the project, as the host sees it."""
    with places.store.snapshot(APOLLO) as snapshot:
        for relation in places.store.schema.relations.values():
            for row in snapshot.scan(relation.name, "key", limit=MAX_SCAN):
                yield relation, row


def narrow(places: Places, who: str) -> Session:
    """A session of somebody with one package."""
    if who == "agent":
        return places.of(ADA)
    for held in places.authority().entitlements(CAROL):
        places.authority().withdraw(held.id)
    places.authority().grant(CAROL, who, scope=APOLLO, package_id=ID)
    return places.of(CAROL)


def is_own(relation: Relation, row: Any) -> bool:
    """Whether a row is of the package that is the caller's, or of all members."""
    if "package_id" in relation.fields:
        return row.package_id == ID
    return relation.name in SHARED


@pytest.mark.parametrize("who", ["agent", "reader", "writer", "reviewer", "admin"])
def test_no_read_of_the_port_gives_a_strangers_row(crowded: Places, who: str) -> None:
    """By no key, path, prefix or page of any relation, in either direction."""
    session = narrow(crowded, who)
    rows = list(all_rows_of(crowded))
    strange = []
    with session.snapshot() as snapshot:
        for relation, row in rows:
            key = values_of(relation.key)(row)
            with suppress(AccessError):
                found = snapshot.get(relation.name, key)
                many = snapshot.get_many(relation.name, [key])
                if (found or many) and not is_own(relation, row):
                    strange.append((relation.name, key))
            for path, order in relation.orders.items():
                whole = values_of(order)(row)
                for length in range(len(order) + 1):
                    strange += [
                        (relation.name, path, length)
                        for one in scanned(snapshot, relation, path, whole[:length])
                        if not is_own(relation, one)
                    ]
    assert [] == strange
    assert len({relation.name for relation, _ in rows}) > 20


def scanned(
    snapshot: Any, relation: Relation, path: str, prefix: tuple[Any, ...]
) -> list[Row]:
    """Both ends of what a path gives, as far as it is readable at all."""
    found: list[Row] = []
    for reverse in (False, True):
        with suppress(AccessError):
            found += snapshot.scan(
                relation.name, path, prefix, reverse=reverse, limit=2
            )
    return found


def test_no_agent_reads_what_another_keeps_of_its_own(quick: Places) -> None:
    """Not with a role over the whole scope, by rows, verbs, or the ledger itself."""
    quick.of(BOB).tiers.short_term.put(OTHER, BOB.id, CANARY)
    quick.authority().grant(ADA, "writer", scope=APOLLO)
    session = quick.of(ADA)
    found: list[Any] = []

    with session.snapshot() as snapshot:
        for relation in quick.store.schema.relations.values():
            found += snapshot.scan(relation.name, "key", limit=MAX_SCAN)
        with suppress(AccessError):
            found += [recorded.commit for recorded in snapshot.commits()]
    with suppress(CallerError):
        found += session.tiers.short_term.get(OTHER, BOB.id)

    assert found
    assert CANARY not in said(found)
    assert session.packages.show(OTHER)
    with quick.store.snapshot(APOLLO) as whole:
        assert CANARY in said([recorded.commit for recorded in whole.commits()])


def test_what_was_begun_before_shows_nothing_newer(quick: Places) -> None:
    """A read that was open when a token was revoked ends as it began."""
    authority = quick.authority()
    issued = authority.issue(ADA, scope=APOLLO)
    session = authority.session(issued.token.reveal(), scope=APOLLO)
    quick.host().tiers.short_term.put(ID, ADA.id, "before")

    with session.snapshot() as snapshot:
        authority.revoke(issued.credential_id)
        quick.host().tiers.short_term.put(ID, ADA.id, CANARY)
        shown: Any = snapshot.get("short_term", (ID, ADA.id))
        commit = Commit(APOLLO, 0, adds=noted(quick, session))
        with pytest.raises(AccessError):
            session.store.append(commit)

    assert 1 == shown.number
    with pytest.raises(AccessError):
        session.packages.list()


@pytest.mark.parametrize("who", ["agent", "writer"])
def test_what_others_did_under_keys_is_listed_to_nobody(
    crowded: Places, who: str
) -> None:
    """An idempotency key answers whoever brings it, and no list names the others."""
    crowded.host().packages.clone(OTHER, package_id=f"{who}s", key=f"key-{who}")
    session = narrow(crowded, who)
    with session.snapshot() as snapshot:
        listed = [
            snapshot.scan(name, "key", prefix, limit=10)
            for name in KEYED
            for prefix in ((), ("clone",))[: 1 + (name == IDEMPOTENCY.name)]
        ]
    assert [[]] * len(listed) == [list(page) for page in listed]


def test_a_key_stays_whose_it_is(quick: Places) -> None:
    """Who brings another's idempotency key is refused, and the other's retry isn't."""

    def proposed(session: Session, package_id: str, agent_id: str) -> Any:
        turns = session.tiers.conversations
        turn = turns.add(package_id, agent_id, "talk", "user", "a text")
        return lambda: session.proposals.propose(
            package_id, DRAFT, sources=[TierRef("turn", turn.id)], reason="r", key="k"
        )

    bobs = proposed(quick.of(BOB), OTHER, BOB.id)
    adas = proposed(quick.of(ADA), ID, ADA.id)
    first = bobs()

    with pytest.raises(CallerError) as raised:
        adas()
    assert "idempotency.reused" == raised.value.code
    assert (first.id, False) == (bobs().id, bobs().is_first)


def rows_by_relation(places: Places) -> dict[str, Row]:
    """A row of each relation that a commit can add, of the other agent's package."""
    return {
        relation.name: row
        for relation, row in all_rows_of(places)
        if relation.keep is Keep.HISTORY and "package_id" in relation.fields
        if row.package_id == OTHER
    }


@pytest.mark.parametrize("operation", [None, *sorted(POWERS["agent"].operations)])
def test_an_operation_carries_no_rows_but_its_own(
    crowded: Places, operation: str | None
) -> None:
    """Whatever a receipt says, or none, only rows of that operation are written."""
    session = crowded.of(BOB)
    position = position_of(crowded)
    rows = rows_by_relation(crowded)
    free = RECEIPTLESS.keys() if operation is None else ROWS[operation]
    taken = []
    for name in sorted(rows.keys() - free - {"receipt"}):
        row = rows[name]
        own = {"actor_kind": "agent", "actor_id": BOB.id}
        mine = attrs.evolve(row, **{k: v for k, v in own.items() if hasattr(row, k)})
        with suppress(AccessError):
            adds = (mine, *receipts(crowded, session, operation))
            session.store.append(Commit(APOLLO, 0, adds=adds))
            taken.append(name)
    assert [] == taken
    assert position == position_of(crowded)
    assert {"revision", "review", "checkpoint", "consent"} <= rows.keys()


def receipts(
    places: Places, session: Session, operation: str | None
) -> tuple[Row, ...]:
    """A receipt that says what a commit does; none without an operation."""
    if operation is None:
        return ()
    receipt = receipt_row(
        session.writing(),
        places.counter.new(),
        operation=operation,
        outcome="accepted",
        details={},
        package_id=OTHER if session.principal != ADA else ID,
    )
    return (receipt,)


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("operation", [None, "note", "propose", "policy"])
@pytest.mark.parametrize("name", ["acceptance", "registration"])
def test_nobody_decides_for_a_whole_scope_but_its_administrator(
    quick: Places, name: str, operation: str | None, is_wide: bool
) -> None:
    """Policies and registrations are written by no agent, with a receipt or without."""
    if is_wide:
        quick.authority().grant(ADA, "writer", scope=APOLLO)
    host = quick.host()
    host.packages.set_policy(AcceptancePolicy())
    host.registrations.register(document(1), granting(document(1)))
    row: Any = next(r for rel, r in all_rows_of(quick) if rel.name == name)
    session = quick.of(ADA)
    mine = attrs.evolve(
        row,
        actor_kind=ADA.kind,
        actor_id=ADA.id,
        **({"acceptance_id": "mine"} if name == "acceptance" else {"namespace": "m"}),
    )
    rows = (mine, *receipts(quick, session, operation))
    with pytest.raises(AccessError):
        session.store.append(Commit(APOLLO, 0, adds=rows))


@pytest.mark.parametrize("name", ["digest_key", "key_binding"])
def test_nobody_takes_over_what_keys_stand_for(quick: Places, name: str) -> None:
    """What is remembered of keys is replaced by no token; a new one says it is new."""
    quick.host().packages.install(advanced().archive(), key="a key")
    quick.host().tiers.short_term.put(ID, ADA.id, "a text")
    relation = quick.store.schema.relation(name)
    row = next(r for rel, r in all_rows_of(quick) if rel.name == name)
    new = attrs.evolve(row, **{relation.key[-1]: "new"})
    session = quick.of(ADA)

    def put(row: Row, *versions: int) -> None:
        key = values_of(relation.key)(row)
        expects = [Expect(name, key, version) for version in versions]
        session.store.append(Commit(APOLLO, 0, puts=(row,), expects=expects))

    for one, versions in ((row, ()), (row, (row.version,)), (row, (0,)), (new, ())):
        with pytest.raises(AccessError):
            put(one, *versions)
    put(new, 0)

    quick.authority().grant(ADA, "writer", scope=APOLLO)
    gone = Ref(name, values_of(relation.key)(row))
    note = noted(quick, session)
    for adds in ((), note, (*note, *receipts(quick, session, "note"))):
        with pytest.raises(AccessError):
            session.store.append(Commit(APOLLO, 0, adds=adds, drops=[gone]))


def test_each_operation_is_held_to_its_rows() -> None:
    """Of every operation that some role has it is said which rows it writes."""
    assert {o for powers in POWERS.values() for o in powers.operations} == ROWS.keys()


def test_a_review_is_a_reviewers(crowded: Places) -> None:
    """A writer's revision carries no verdict, though a reviewer's may."""
    review = rows_by_relation(crowded)["review"]
    for role, is_taken in (("writer", False), ("reviewer", True)):
        for held in crowded.authority().entitlements(CAROL):
            crowded.authority().withdraw(held.id)
        crowded.authority().grant(CAROL, role, scope=APOLLO)
        session = crowded.of(CAROL)
        said = attrs.evolve(
            review, review_id=role, actor_kind="human", actor_id="carol"
        )
        commit = Commit(APOLLO, 0, adds=(said, *receipts(crowded, session, "revise")))
        if is_taken:
            assert session.store.append(commit)
        else:
            with pytest.raises(AccessError):
                session.store.append(commit)


def position_of(places: Places) -> int:
    """How far the project's ledger has come."""
    with places.store.snapshot(APOLLO) as snapshot:
        return snapshot.position


def test_an_expectation_asks_about_nobody_else(crowded: Places) -> None:
    """What a commit relies on tells nothing of a stranger's rows, right or wrong."""
    session = crowded.of(ADA)
    told = set()
    for relation, row in list(all_rows_of(crowded)):
        is_versioned = relation.keep is not Keep.VIEW or relation.versioned
        if is_own(relation, row) or not is_versioned:
            continue
        key = values_of(relation.key)(row)
        note = noted(crowded, session)
        expects = (Expect(relation.name, key, row.version + 1),)
        with pytest.raises((AccessError, ConflictError)) as raised:
            session.store.append(Commit(APOLLO, 0, expects=expects, adds=note))
        error: Any = raised.value
        told.add((type(error).__name__, error.code, getattr(error, "current", None)))
        assert CANARY not in said(list(vars(error).values()))
    assert {
        ("AccessError", "access.denied", None),
        ("ConflictError", "conflict.expect", None),
    } == told


def test_an_expectation_about_ones_own_says_what_stands(crowded: Places) -> None:
    """Who may see a row is told in a conflict which one it is."""
    session = crowded.of(ADA)
    expects = (Expect("package", (ID,), 0),)
    commit = Commit(APOLLO, 0, expects=expects, adds=noted(crowded, session))
    with pytest.raises(ConflictError) as raised:
        session.store.append(commit)
    current: Any = raised.value.current
    assert ID == current.package_id


def noted(places: Places, session: Session) -> tuple[Row, ...]:
    """A row that the agent may write."""
    state = next(r for rel, r in all_rows_of(places) if rel.name == "working_state")
    me = {"actor_kind": "agent", "actor_id": ADA.id, "agent_id": ADA.id}
    new = places.counter.new()
    assert session.principal == ADA
    return (attrs.evolve(state, state_id=new, package_id=ID, **me),)


@pytest.mark.parametrize("is_at_work", [False, True])
def test_nobody_learns_who_is_at_work_elsewhere(
    quick: Places, is_at_work: bool
) -> None:
    """What is written about a stranger's package is denied, whoever runs it."""
    session = quick.of(ADA)
    session.tiers.short_term.put(ID, ADA.id, "a text")
    if is_at_work:
        quick.of(BOB).leases.acquire(
            OTHER, agent_id=BOB.id, session_id="run", life=DAY // 2
        )
    (mine,) = noted(quick, session)

    commit = Commit(APOLLO, 0, adds=(attrs.evolve(mine, package_id=OTHER),))
    with pytest.raises(AccessError) as raised:
        session.store.append(commit)
    assert "access.denied" == raised.value.code


def test_nobody_puts_a_projects_time_forward(quick: Places) -> None:
    """A commit under a token is recorded now, whatever instant it asks for."""
    session = quick.of(ADA)
    session.tiers.short_term.put(ID, ADA.id, "a text")

    for wanted in (quick.clock.at + 1, FOREVER):
        commit = Commit(APOLLO, wanted, adds=noted(quick, session))
        assert quick.clock.at == session.store.append(commit).recorded_at


def test_no_public_name_lifts_the_veil(quick: Places) -> None:
    """Nothing that a session under a token hands on is a wider store, or a key."""
    session = quick.of(ADA)
    authority = quick.authority()
    under = authority.under(quick.token(ADA), scope=APOLLO)
    for thing in (session, session.store, under, under.secrets):
        for name in dir(thing):
            if name.startswith("_"):
                continue
            found = getattr(thing, name)
            assert not isinstance(found, KeyRing), name
            if callable(found) and name != "close":
                with suppress(TypeError, CallerError):
                    found = found()
                assert not hasattr(found, "append") or found is session, name


class TestRevocation:
    @pytest.mark.parametrize("step", [0, -1, -DAY, -400 * DAY])
    @pytest.mark.parametrize("how", ["revoke", "unbind"])
    def test_no_clock_takes_it_back(self, quick: Places, how: str, step: int) -> None:
        """A clock that was put back, or another host's, makes no token good again."""
        authority = quick.authority()
        issued = authority.issue(ADA, scope=APOLLO)
        session = authority.session(issued.token.reveal(), scope=APOLLO)
        if how == "revoke":
            authority.revoke(issued.credential_id)
        else:
            authority.unbind(ADA.id, ID, scope=APOLLO)

        quick.clock.at += step

        with pytest.raises(AccessError) as raised:
            session.whoami()
        assert "credential.invalid" == raised.value.code
        (view,) = authority.credentials(ADA)
        assert view.is_over

    def test_what_was_made_of_a_token_ends_with_it(self, quick: Places) -> None:
        """Its holder's rotations end too, also when it was over; a host's stay."""
        authority = quick.authority()
        first = authority.issue(ADA, scope=APOLLO)
        made = [first]
        for overlap in (10, 0):
            under = authority.under(made[-1].token.reveal(), scope=APOLLO)
            made.append(under.rotate(made[-1].credential_id, overlap=overlap))
        hosts = authority.rotate(made[-1].credential_id, overlap=DAY)
        quick.clock.at += 100

        assert "revoke" == authority.revoke(first.credential_id).outcome
        assert "unchanged" == authority.revoke(first.credential_id).outcome

        for one in made:
            with pytest.raises(AccessError):
                authority.session(one.token.reveal(), scope=APOLLO)
        assert authority.session(hosts.token.reveal(), scope=APOLLO).whoami()

    def test_a_holder_ends_its_own_and_no_other(self, quick: Places) -> None:
        """Whoever leaves takes its token back, an agent too."""
        authority = quick.authority()
        mine, others = (authority.issue(one, scope=APOLLO) for one in (ADA, BOB))
        under = authority.under(mine.token.reveal(), scope=APOLLO)

        with pytest.raises(CallerError):
            under.revoke(others.credential_id)
        under.revoke(mine.credential_id)

        with pytest.raises(AccessError) as raised:
            under.session(mine.token.reveal(), scope=APOLLO)
        assert "credential.invalid" == raised.value.code
        assert authority.session(others.token.reveal(), scope=APOLLO).whoami()


class TestConfusedScopes:
    def test_another_projects_ids_are_none(self, quick: Places) -> None:
        """An id of another project is answered as one that isn't there."""
        authority = quick.authority()
        authority.grant(CAROL, "admin", scope=APOLLO)
        under = authority.under(quick.token(CAROL), scope=APOLLO)
        abroad = authority.grant(CAROL, "admin", scope=GEMINI).id
        token = authority.issue(CAROL, scope=GEMINI).credential_id

        for call, name in (
            (under.withdraw, abroad),
            (under.revoke, token),
            (under.rotate, token),
        ):
            told = set()
            for one in (name, name[::-1]):
                with pytest.raises(NotFoundError) as raised:
                    call(one)
                told.add(str(raised.value).replace(one, "ID"))
            assert 1 == len(told)
        assert "withdraw" == authority.withdraw(abroad).outcome

    @pytest.mark.parametrize("role", ["reader", "writer", "reviewer"])
    def test_who_administers_nothing_tells_no_id_from_another(
        self, quick: Places, role: str
    ) -> None:
        """What there is to withdraw or revoke is told to administrators alone."""
        authority = quick.authority()
        given = authority.grant(CAROL, role, scope=APOLLO).id
        token = authority.issue(BOB, scope=APOLLO).credential_id
        under = authority.under(quick.token(CAROL), scope=APOLLO)
        before = len(authority.denials())

        calls = 0
        for call, name in (
            (under.withdraw, given),
            (under.revoke, token),
            (under.rotate, token),
        ):
            for one in (name, name[::-1]):
                with pytest.raises(AccessError) as raised:
                    call(one)
                assert "access.denied" == raised.value.code
                calls += 1
        kept = authority.denials()[before:]
        assert [("administer", CAROL)] * calls == [
            (denial.operation, denial.principal) for denial in kept
        ]


class Without:
    """A store whose authority has lost the rows of one relation."""

    def __init__(self, inner: Any, relation: str) -> None:
        self._inner, self._relation = inner, relation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def snapshot(self, scope: Any) -> Iterator[Any]:
        """A snapshot without them."""
        with self._inner.snapshot(scope) as inner:
            is_there = scope == authority_scope(scope.tenant)
            yield _Lost(inner, self._relation) if is_there else inner


class _Lost:
    def __init__(self, inner: Any, relation: str) -> None:
        self._inner, self._relation = inner, relation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def get(self, relation: str, key: Any) -> Any:
        return None if relation == self._relation else self._inner.get(relation, key)

    def scan(self, relation: str, *given: Any, **named: Any) -> Any:
        if relation == self._relation:
            return []
        return self._inner.scan(relation, *given, **named)


@pytest.mark.parametrize("who", [ADA, CAROL], ids=str)
@pytest.mark.parametrize(
    "relation", ["issued_credential", "bound_package", "held_entitlement"]
)
def test_what_is_lost_lets_nobody_in(quick: Places, relation: str, who: Any) -> None:
    """Without the rows that say who may, nobody may more than before, and most less."""
    quick.authority().grant(CAROL, "reader", scope=APOLLO)
    token = quick.token(who)
    whole = quick.authority().session(token, scope=APOLLO)
    had = {row.package_id for row in whole.packages.list()}
    quick.store = Without(quick.store, relation)  # type: ignore[assignment]

    found: set[str] = set()
    with suppress(AccessError):
        session = quick.authority().session(token, scope=APOLLO)
        found = {row.package_id for row in session.packages.list()}

    needed = {"bound_package": ADA, "held_entitlement": CAROL}.get(relation, who)
    assert (set() if needed == who else had) == found
