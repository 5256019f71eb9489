"""Laws of roles: who may do what with which package, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.access.places import ADA, APOLLO, BOB, CAROL, GEMINI, OTHER, ROOT, Places
from tests.access.strangers import PERSONA, VOICE
from tests.session.starting import AGENT, ID, advanced, reviewed

from uaix_core import (
    AcceptancePolicy,
    Authorisation,
    CallerError,
    ConflictError,
    NotFoundError,
    Principal,
    ScopeId,
)
from uaix_core.access.roles import GRANTED_ROLES, POWERS
from uaix_core.access.standing import authority_scope
from uaix_core.guard.sight import SHARED, belongs_to_package
from uaix_core.history.relations import RECEIPT
from uaix_core.schema.commits import Commit
from uaix_core.session.schema import ROOMS, SCHEMA
from uaix_core.values.errors import AccessError
from uaix_core.values.ids import PERSONS, PRINCIPAL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core import Session

EVIDENCE = "evidence/provenance.md"


def revise(session: Session, package_id: str = ID) -> Any:
    """Give a file that isn't protected its next revision."""
    head = session.packages.record(package_id, EVIDENCE).head.revision_id
    content = b"# Provenance\n\nAbout: somebody else.\n"
    return session.packages.revise(
        package_id, EVIDENCE, content, expected_revision=head
    )


def install(session: Session) -> Any:
    """Store a package that isn't there yet."""
    maker = advanced()
    maker.manifest["packageId"] = "brand-new"
    return session.packages.install(maker.folder())


def review(session: Session, package_id: str = ID) -> Any:
    """Approve what stands."""
    checkpoint = session.packages.show(package_id).package.checkpoint_id
    return session.review.package(package_id, "active", checkpoint_id=checkpoint)


def note(session: Session, package_id: str = ID) -> Any:
    """Add a note of the platform."""
    return session.tiers.notes.add(
        package_id, kind="platform", title="a title", text="a text"
    )


def policy(session: Session) -> Any:
    """Put a policy in force."""
    return session.packages.set_policy(AcceptancePolicy())


VERBS: dict[str, Callable[[Session], Any]] = {
    "export": lambda s: s.packages.export(ID),
    "note": note,
    "review": review,
    "revise": revise,
    "install": install,
    "policy": policy,
}
#: What each role may do of these, over a package and over the scope.
MAY = {
    "reader": ({"export"}, {"export"}),
    "writer": ({"export", "note", "revise"}, {"export", "note", "revise", "install"}),
    "reviewer": ({"export", "revise", "review"}, {"export", "revise", "review"}),
    "admin": (set(VERBS) - {"install", "policy"}, set(VERBS)),
}


def under_role(places: Places, role: str, package_id: str | None) -> Session:
    """Somebody with one role."""
    places.authority().grant(CAROL, role, scope=APOLLO, package_id=package_id)
    return places.of(CAROL)


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("role", GRANTED_ROLES)
def test_a_role_does_what_its_table_says(
    quick: Places, role: str, *, is_wide: bool
) -> None:
    """Each verb is done or denied as the table of roles says, and nothing half."""
    session = under_role(quick, role, None if is_wide else ID)
    done = set()
    for name, verb in VERBS.items():
        before = places_position(quick)
        with suppress(AccessError):
            verb(session)
            done.add(name)
        assert name in done or before == places_position(quick)

    assert MAY[role][is_wide] == done
    codes = {denial.code for denial in quick.authority().denials()}
    assert codes <= {"operation", "package"}


def places_position(places: Places) -> int:
    """How far the project's ledger has come."""
    with places.store.snapshot(APOLLO) as snapshot:
        return snapshot.position


def test_a_role_over_one_package_is_none_over_another(places: Places) -> None:
    """What is granted of one package opens no other, on every backend."""
    session = under_role(places, "writer", ID)

    revise(session)
    for call in (
        lambda: revise(session, OTHER),
        lambda: note(session, OTHER),
        lambda: session.packages.read(OTHER),
    ):
        with pytest.raises(NotFoundError) as raised:
            call()
        assert "package.not-found" == raised.value.code


@pytest.mark.parametrize("late", [-1, 0])
def test_a_grant_ends_at_its_instant(quick: Places, late: int) -> None:
    """It counts up to the microsecond before, and from then on it is none."""
    until = quick.clock.at + 100
    quick.authority().grant(CAROL, "reader", scope=APOLLO, until_at=until)
    session = quick.of(CAROL)

    quick.clock.at = until + late

    if late < 0:
        assert 2 == len(session.packages.list())
    else:
        assert [] == list(session.packages.list())
        assert () == session.whoami().entitled


def test_what_is_withdrawn_counts_in_the_next_call(places: Places) -> None:
    """A withdrawal that was committed before a call is honoured by it."""
    authority = places.authority()
    given = authority.grant(CAROL, "writer", scope=APOLLO)
    session = places.of(CAROL)
    revise(session)

    authority.withdraw(given.id)

    with pytest.raises(NotFoundError):
        session.packages.show(ID)
    assert "unchanged" == authority.withdraw(given.id).outcome
    with pytest.raises(NotFoundError):
        authority.withdraw("nothing")


def test_the_same_grant_is_one(quick: Places) -> None:
    """Granting again what holds writes nothing; another end is another grant."""
    authority = quick.authority()
    first = authority.grant(CAROL, "reader", scope=APOLLO)

    again = authority.grant(CAROL, "reader", scope=APOLLO)
    other = authority.grant(CAROL, "reader", scope=APOLLO, until_at=quick.clock.at + 5)

    assert ("unchanged", first.id, first.receipt) == (
        again.outcome,
        again.id,
        again.receipt,
    )
    assert other.id != first.id
    assert {first.id, other.id} == {one.id for one in authority.entitlements(CAROL)}


@pytest.mark.parametrize(
    ("principal", "role", "changes", "code"),
    [
        (ADA, "reviewer", {}, "grant.role"),
        (ADA, "admin", {}, "grant.role"),
        (CAROL, "agent", {}, "grant.role"),
        (CAROL, "root", {}, "grant.role"),
        (CAROL, "reader", {"package_id": "a b"}, "id.syntax"),
        (CAROL, "reader", {"until_at": 0}, "grant.until"),
        (CAROL, "reader", {"until_at": "soon"}, "instant.range"),
        (CAROL, "reader", {"scope": ScopeId("globex", "project", "x")}, None),
        (CAROL, "reader", {"scope": authority_scope("acme")}, None),
    ],
)
def test_a_wrong_grant_is_none(
    quick: Places, principal: Principal, role: Any, changes: dict, code: str | None
) -> None:
    """A role that is none, or not for this kind, or over what can't be granted."""
    wanted = {"scope": APOLLO, **changes}
    with pytest.raises(CallerError) as raised:
        quick.authority().grant(principal, role, **wanted)
    assert (code or "authority.scope") == raised.value.code


class TestBindings:
    def test_a_package_is_one_agents(self, places: Places) -> None:
        """Another agent gets a conflict with the binding, until it is undone."""
        authority = places.authority()

        with pytest.raises(ConflictError) as raised:
            authority.bind("eve", ID, scope=APOLLO)
        assert ("binding.taken", AGENT) == (
            raised.value.code,
            raised.value.current.agent_id,
        )
        assert "unchanged" == authority.bind(AGENT, ID, scope=APOLLO).outcome
        authority.unbind(AGENT, ID, scope=APOLLO)
        authority.bind("eve", ID, scope=APOLLO)
        bound = {row.package_id: row.agent_id for row in authority.bindings(APOLLO)}
        assert {ID: "eve", OTHER: BOB.id} == bound

    def test_a_wrong_agent_starts_nothing(self, places: Places) -> None:
        """Neither as itself nor under the name of the agent that it is bound to."""
        bob = places.of(BOB)

        for agent_id in (BOB.id, AGENT):
            with pytest.raises(NotFoundError) as raised:
                bob.start(ID, agent_id=agent_id)
            assert "package.not-found" == raised.value.code
        with pytest.raises(CallerError) as refused:
            bob.start(OTHER, agent_id=AGENT)
        assert "startup.refused" == refused.value.code

    def test_an_agent_without_a_binding_has_nothing(self, quick: Places) -> None:
        """A token alone opens no package."""
        session = quick.of(Principal("agent", "eve"))

        assert [] == list(session.packages.list())
        with pytest.raises(NotFoundError):
            session.packages.show(ID)

    def test_a_clone_is_another_agents_way(self, quick: Places) -> None:
        """One persona in two agents: only as a clone, which is bound to the second."""
        host = quick.host()
        clone = host.packages.clone(ID, package_id="a-clone").package_id
        checkpoint = host.packages.show(clone).package.checkpoint_id
        assert checkpoint

        quick.authority().bind("eve", clone, scope=APOLLO)

        session = quick.of(Principal("agent", "eve"))
        assert [clone] == [row.package_id for row in session.packages.list()]


class TestAdministrators:
    def test_who_administers_one_project_gives_of_it_alone(self, quick: Places) -> None:
        """Under an administrator's token the authority is that of its project."""
        authority = quick.authority()
        authority.grant(CAROL, "admin", scope=APOLLO)
        under = authority.under(quick.token(CAROL), scope=APOLLO)
        dora = Principal("human", "dora")

        given = under.grant(dora, "reader", scope=APOLLO)
        under.issue(dora, scope=APOLLO)
        under.bind("eve", "some-package", scope=APOLLO)

        assert [given.id] == [one.id for one in under.entitlements(dora)]
        for call in (
            lambda: under.grant(dora, "reader", scope=GEMINI),
            lambda: under.issue(dora, scope=GEMINI),
            lambda: under.bind("eve", "x", scope=GEMINI),
            lambda: under.bindings(GEMINI),
            under.denials,
            under.keys_used,
        ):
            with pytest.raises(AccessError):
                call()
        abroad = authority.grant(dora, "reader", scope=GEMINI)
        with pytest.raises(NotFoundError):
            under.withdraw(abroad.id)
        assert [given.id] == [one.id for one in under.entitlements(dora)]

    @pytest.mark.parametrize("role", ["reader", "writer", "reviewer"])
    def test_nobody_else_administers(self, quick: Places, role: str) -> None:
        """No other role, and no role over one package, gives anything to anybody."""
        authority = quick.authority()
        authority.grant(CAROL, role, scope=APOLLO)
        authority.grant(CAROL, "admin", scope=APOLLO, package_id=ID)
        under = authority.under(quick.token(CAROL), scope=APOLLO)

        for call in (
            lambda: under.grant(CAROL, "admin", scope=APOLLO),
            lambda: under.issue(ADA, scope=APOLLO),
            lambda: under.entitlements(ADA),
            lambda: under.credentials(ADA),
            lambda: under.unbind(AGENT, ID, scope=APOLLO),
        ):
            with pytest.raises(AccessError) as raised:
                call()
            assert "access.denied" == raised.value.code

    def test_every_attempt_beyond_it_is_recorded(self, quick: Places) -> None:
        """Whatever it ends with, one denial says that a token tried."""
        authority = quick.authority()
        agent = authority.under(quick.token(ADA), scope=APOLLO)
        authority.grant(CAROL, "admin", scope=APOLLO)
        abroad = authority.grant(CAROL, "reader", scope=GEMINI)
        admin = authority.under(quick.token(CAROL), scope=APOLLO)

        for call in (
            lambda: agent.grant(ADA, "writer", scope=APOLLO),
            lambda: agent.issue(ADA, scope=APOLLO),
            lambda: agent.bindings(APOLLO),
            lambda: agent.entitlements(BOB),
            lambda: admin.withdraw(abroad.id),
            lambda: admin.withdraw("nothing"),
            lambda: admin.grant(CAROL, "reader", scope=authority_scope("acme")),
        ):
            before = len(authority.denials())
            with pytest.raises(CallerError):
                call()
            assert before + 1 == len(authority.denials())

    def test_what_was_withdrawn_administers_no_more(self, quick: Places) -> None:
        """An administrator whose grant went gives nothing from the next call on."""
        authority = quick.authority()
        given = authority.grant(CAROL, "admin", scope=APOLLO)
        under = authority.under(quick.token(CAROL), scope=APOLLO)

        authority.withdraw(given.id)

        with pytest.raises(AccessError):
            under.grant(BOB, "reader", scope=APOLLO)


class TestHidden:
    @pytest.fixture
    def private(self, quick: Places) -> Places:
        """A persona with a private field."""
        host = quick.host(principal=CAROL)
        head = host.packages.record(ID, VOICE).head.revision_id
        host.packages.revise(
            ID,
            VOICE,
            b"# Voice\n\nTone (private): a-hidden-canary\n\nAbout: all.\n",
            expected_revision=head,
            authorisations=[Authorisation(VOICE, "replace")],
        )
        reviewed(host)
        return quick

    @pytest.mark.parametrize("who", ["agent", "reader"])
    def test_a_hidden_text_is_read_as_a_start_shows_it(
        self, private: Places, who: str
    ) -> None:
        """Without a role that sees it, no verb gives a text with hidden parts."""
        if who == "reader":
            private.authority().grant(CAROL, "reader", scope=APOLLO)
        session = private.of(ADA if who == "agent" else CAROL)
        head = private.host().packages.record(ID, VOICE).head

        for call in (
            lambda: session.packages.read(ID),
            lambda: session.packages.export(ID),
            lambda: session.packages.record(ID, VOICE),
            lambda: session.packages.revision(head.revision_id),
            lambda: session.packages.history(ID),
        ):
            with pytest.raises(AccessError) as raised:
                call()
            assert "access.disclosure" == raised.value.code
        rows = session.packages.dimensions(ID, limit=1_000)
        assert "a-hidden-canary" not in repr([row.value for row in rows])
        assert private.authority().denials()[-1].code == "disclosure"
        if who == "agent":
            shown = session.start(ID, agent_id=AGENT)
            texts = b"".join(record.content for record in shown.records)
            assert b"a-hidden-canary" not in texts
            assert b"About: all." in texts

    def test_a_hidden_name_is_nobodys_to_look_up(self, quick: Places) -> None:
        """The name of a persona that is private stands in no row of the files."""
        host = quick.host(principal=CAROL)
        record = host.packages.record(ID, PERSONA)
        host.packages.revise(
            ID,
            PERSONA,
            record.revision.content.replace(b"Name: x.", b"Name (private): Zelda"),
            expected_revision=record.head.revision_id,
            authorisations=[Authorisation(PERSONA, "replace")],
        )
        reviewed(host)

        for session in (quick.of(ADA), host):
            names = [file.persona_name for file in session.packages.show(ID).files]
            assert {None} == set(names)

    def test_who_reviews_sees_it(self, private: Places) -> None:
        """A writer and a reviewer read what is stored."""
        for role in ("writer", "reviewer"):
            given = private.authority().grant(CAROL, role, scope=APOLLO, package_id=ID)
            files = private.of(CAROL).packages.read(ID)
            assert b"a-hidden-canary" in files[VOICE]
            private.authority().withdraw(given.id)


class TestThePort:
    def test_every_relation_is_thought_about(self) -> None:
        """A relation names a package, is for all, or is for nobody with a token."""
        own = {
            r.name
            for room in ROOMS
            if room.name in ("access", "sealed")
            for r in room.relations
        }
        others = {
            relation.name
            for relation in SCHEMA.relations.values()
            if not belongs_to_package(relation)
        }

        assert others - own == SHARED

    def test_every_operation_has_a_role(self) -> None:
        """No word of a receipt is nobody's, but for those of the authority itself."""
        words = set(RECEIPT.fields["operation"].words)
        given = set().union(*(powers.operations for powers in POWERS.values()))
        authority = {"grant", "withdraw", "bind", "unbind", "issue", "revoke", "enrol"}

        assert given <= words
        assert authority | {"seal"} == words - given

    def test_holders_are_as_their_role_asks(self) -> None:
        """Only persons review and administer, and only agents are agents."""
        assert set(PERSONS) == set(POWERS["reviewer"].holders)
        assert set(PERSONS) == set(POWERS["admin"].holders)
        assert {"agent"} == set(POWERS["agent"].holders)
        assert set(PRINCIPAL_KINDS) == set(POWERS["reader"].holders)

    def test_a_commit_in_anothers_name_is_denied(self, quick: Places) -> None:
        """Whoever forges the author of a row, or its agent, writes nothing."""
        session = quick.of(ADA)
        before = places_position(quick)
        forged = attrs.evolve(session, principal=BOB)

        for call in (
            lambda: forged.tiers.notes.add(ID, kind="platform", title="t", text="t"),
            lambda: quick.of(ADA).tiers.short_term.put(ID, BOB.id, "text"),
        ):
            with pytest.raises(CallerError):
                call()
        assert before == places_position(quick)

    @pytest.mark.parametrize("what", ["nothing", "rebuild", "due", "replay", "commits"])
    def test_tools_are_the_hosts_own(self, quick: Places, what: str) -> None:
        """An empty commit, a rebuild, due rows, a replay and the ledger are denied."""
        store = quick.of(ADA).store
        with quick.store.snapshot(APOLLO) as snapshot:
            recorded = next(iter(snapshot.commits()))
        calls = {
            "nothing": lambda: store.append(Commit(APOLLO, 0)),
            "rebuild": lambda: store.rebuild(APOLLO),
            "due": lambda: store.due("digest_key", until=0, limit=1),
            "replay": lambda: store.append(recorded),
            "commits": lambda: ledger(store),
        }
        with pytest.raises(CallerError):
            calls[what]()


def ledger(store: Any) -> list[Any]:
    """All commits of the project."""
    with store.snapshot(APOLLO) as snapshot:
        return list(snapshot.commits())


def test_the_host_itself_is_asked_for_nothing(quick: Places) -> None:
    """A session that the host opened without a token does what it always did."""
    host = quick.host()

    assert (ROOT, APOLLO, None) == (
        host.whoami().principal,
        host.whoami().scope,
        host.whoami().credential_id,
    )
    assert 2 == len(host.packages.list())
