"""Laws of credentials: what a token is good for, where, and until when."""

from __future__ import annotations

import attrs
import pytest
from tests.access.places import (
    ADA,
    APOLLO,
    BOB,
    CAROL,
    GEMINI,
    KEYS,
    OTHER,
    Places,
)
from tests.session.starting import AGENT, ID

from uaix_core import CallerError, NotFoundError, Principal
from uaix_core.access.keys import KeyRing
from uaix_core.access.relations import ISSUED_CREDENTIAL
from uaix_core.access.standing import authority_scope
from uaix_core.access.tokens import Token
from uaix_core.session.authority import DEFAULT_LIFE
from uaix_core.values.errors import AccessError
from uaix_core.values.instants import DAY


def refused(work) -> AccessError:
    """The refusal that a call ends with."""
    with pytest.raises(AccessError) as raised:
        work()
    return raised.value


def test_a_token_opens_what_its_principal_may(places: Places) -> None:
    """An agent's token starts the package that is bound to it, on every backend."""
    session = places.of(ADA)

    assembly = session.start(ID, agent_id=AGENT)

    assert ADA == session.principal
    assert assembly.records
    assert [ID] == [row.package_id for row in session.packages.list()]
    assert [ID] == session.whoami().packages


def test_a_revocation_counts_in_the_next_call(places: Places) -> None:
    """What was revoked before a call began is refused by it, in an open session too."""
    authority = places.authority()
    issued = authority.issue(ADA, scope=APOLLO)
    session = authority.session(issued.token.reveal(), scope=APOLLO)
    session.packages.show(ID)

    authority.revoke(issued.credential_id)

    for call in (
        lambda: session.packages.show(ID),
        lambda: session.start(ID, agent_id=AGENT),
        session.whoami,
        lambda: session.tiers.conversations.list(ID, AGENT),
        lambda: authority.session(issued.token.reveal(), scope=APOLLO),
    ):
        assert "credential.invalid" == refused(call).code


@pytest.mark.parametrize("late", [-1, 0, 1])
def test_a_token_ends_at_its_instant(places: Places, late: int) -> None:
    """It is good up to the microsecond before its end, and never from then on."""
    authority = places.authority()
    issued = authority.issue(ADA, scope=APOLLO, life=DAY)
    session = authority.session(issued.token.reveal(), scope=APOLLO)

    places.clock.at = issued.until_at + late

    if late < 0:
        assert ID == session.packages.show(ID).package.package_id
    else:
        refusal = refused(lambda: session.packages.show(ID))
        assert "credential.invalid" == refusal.code


def test_a_token_is_good_in_one_scope(quick: Places) -> None:
    """In another scope, of this tenant or of another, it stands for nobody."""
    authority = quick.authority()
    authority.grant(CAROL, "reader", scope=APOLLO)
    authority.grant(CAROL, "reader", scope=GEMINI)
    token = quick.token(CAROL, APOLLO)
    abroad = attrs.evolve(APOLLO, tenant="globex")

    authority.session(token, scope=APOLLO).packages.show(ID)
    for scope in (GEMINI, abroad):
        refusal = refused(lambda scope=scope: authority.session(token, scope=scope))
        assert "credential.invalid" == refusal.code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uaix_",
        None,
        7,
        b"uaix_" + b"0" * 32 + b"_" + b"A" * 43,
        "uaix_" + "0" * 32 + "_" + "A" * 43,
        "uaix_" + "0" * 32 + "_" + "A" * 42,
        "UAIX_" + "0" * 32 + "_" + "A" * 43,
        "uaix_" + "0" * 32 + "_" + "A" * 43 + "\n",
        "uaix_" + "\uff10" * 32 + "_" + "A" * 43,
    ],
)
def test_whatever_is_wrong_the_answer_is_one(quick: Places, text: object) -> None:
    """A text that is no token, and one that nobody issued, are refused alike."""
    refusal = refused(lambda: quick.authority().session(text, scope=APOLLO))

    unknown = Token.parse("uaix_" + "1" * 32 + "_" + "B" * 43).reveal()
    other = refused(lambda: quick.authority().session(unknown, scope=APOLLO))
    assert other.as_dict() == refusal.as_dict()


def test_one_wrong_character_stands_for_nobody(quick: Places) -> None:
    """A token with any one character of its secret changed is refused."""
    token = quick.token()
    authority = quick.authority()
    for place in range(len(token) - 43, len(token)):
        other = "B" if token[place] != "B" else "C"
        wrong = token[:place] + other + token[place + 1 :]
        refusal = refused(lambda wrong=wrong: authority.session(wrong, scope=APOLLO))
        assert "credential.invalid" == refusal.code


def test_no_store_holds_a_token(places: Places) -> None:
    """Of a token the rows, the answers and their texts hold a keyed digest alone."""
    authority = places.authority()
    issued = authority.issue(ADA, scope=APOLLO)
    token = issued.token.reveal()
    secret = token.rpartition("_")[2]
    seen = [repr(issued), repr(issued.token), repr(issued.as_dict())]
    with places.store.snapshot(authority_scope("acme")) as snapshot:
        seen += [repr(recorded.commit.adds) for recorded in snapshot.commits()]
        row = snapshot.get(ISSUED_CREDENTIAL.name, (issued.credential_id,))

    assert not [text for text in seen if secret in text]
    assert row.token_digest == issued.token.digest(KEYS, "k1")


class TestRotation:
    def test_the_old_token_ends_when_the_overlap_does(self, places: Places) -> None:
        """Both are good during the overlap, and only the new one from its end on."""
        authority = places.authority()
        old = authority.issue(ADA, scope=APOLLO)
        new = authority.rotate(old.credential_id, overlap=10)
        sessions = [
            authority.session(one.token.reveal(), scope=APOLLO) for one in (old, new)
        ]

        places.clock.at += 9
        assert [ID, ID] == [
            one.packages.show(ID).package.package_id for one in sessions
        ]
        places.clock.at += 1
        assert "credential.invalid" == refused(sessions[0].whoami).code
        assert ID == sessions[1].packages.show(ID).package.package_id

    def test_a_holder_rotates_its_own(self, quick: Places) -> None:
        """Without administering anything, into one that lives no longer; no other's."""
        host = quick.authority()
        mine = host.issue(ADA, scope=APOLLO, life=DAY)
        others = host.issue(BOB, scope=APOLLO, life=DAY)
        under = host.under(mine.token.reveal(), scope=APOLLO)

        new = under.rotate(mine.credential_id, life=DAY)

        assert ADA == new.principal
        under = host.under(new.token.reveal(), scope=APOLLO)
        for wanted, life in ((new, DAY + 1), (others, DAY)):
            with pytest.raises(CallerError):
                under.rotate(wanted.credential_id, life=life)

    def test_what_is_over_is_not_rotated(self, quick: Places) -> None:
        """A revoked credential comes back by no rotation."""
        authority = quick.authority()
        issued = authority.issue(ADA, scope=APOLLO)
        authority.revoke(issued.credential_id)

        with pytest.raises(CallerError) as raised:
            authority.rotate(issued.credential_id)
        assert "credential.ended" == raised.value.code
        assert "unchanged" == authority.revoke(issued.credential_id).outcome


class TestKeys:
    def test_keys_rotate_without_downtime(self, quick: Places) -> None:
        """A ring with an older key still knows its tokens, and makes none with it."""
        token = quick.token()
        ring = KeyRing("k2", {"k1": b"\1" * 32, "k2": b"\2" * 32})
        authority = quick.authority(ring)

        authority.session(token, scope=APOLLO).packages.show(ID)
        fresh = authority.issue(ADA, scope=APOLLO).token.reveal()
        only = quick.authority(KeyRing("k2", {"k2": b"\2" * 32}))
        only.session(fresh, scope=APOLLO).packages.show(ID)
        refusal = refused(lambda: only.session(token, scope=APOLLO))
        assert ("keys.missing", "k1") == (refusal.code, refusal.path)

    def test_another_key_of_the_same_name_knows_no_token(self, quick: Places) -> None:
        """A wrong key lets nobody in."""
        token = quick.token()
        other = quick.authority(KeyRing("k1", {"k1": b"\2" * 32}))

        refusal = refused(lambda: other.session(token, scope=APOLLO))
        assert "credential.invalid" == refusal.code

    @pytest.mark.parametrize(
        ("active", "keys"),
        [
            ("k1", {}),
            ("k2", {"k1": b"\1" * 32}),
            ("k1", {"k1": b"\1" * 31}),
            ("k1", {"k1": "1" * 32}),
            ("k1", {"k1": b"\1" * 32, "a b": b"\2" * 32}),
            ("k1", None),
        ],
    )
    def test_a_broken_ring_is_refused(self, active: str, keys: object) -> None:
        """A ring without its active key, or with what is no key, is no ring."""
        with pytest.raises(CallerError) as raised:
            KeyRing(active, keys)
        assert "keys.value" == raised.value.code
        assert "\\x01" not in repr(KeyRing("k", {"k": b"\1" * 32}))


@pytest.mark.parametrize("life", [0, -1, 366 * DAY + 1, 1.5, None, True])
def test_a_life_has_bounds(quick: Places, life: object) -> None:
    """A credential lives for a time that is positive and at most a year and a day."""
    with pytest.raises(CallerError) as raised:
        quick.authority().issue(ADA, scope=APOLLO, life=life)
    assert "credential.life" == raised.value.code


def test_only_a_person_administers(quick: Places) -> None:
    """An agent, an import and a system issue, grant and bind nothing."""
    for kind in ("agent", "import", "system"):
        authority = quick.authority(principal=Principal(kind, "x"))
        for call in (
            lambda a=authority: a.issue(ADA, scope=APOLLO),
            lambda a=authority: a.grant(CAROL, "reader", scope=APOLLO),
            lambda a=authority: a.bind("eve", "x", scope=APOLLO),
            lambda a=authority: a.entitlements(ADA),
        ):
            with pytest.raises(CallerError) as raised:
                call()
            assert "authority.person" == raised.value.code


def test_an_unbound_agent_loses_its_tokens(places: Places) -> None:
    """Unbinding ends the agent's credentials in the scope; binding again gives none."""
    authority = places.authority()
    session = places.of(ADA)

    authority.unbind(AGENT, ID, scope=APOLLO)
    authority.bind(AGENT, ID, scope=APOLLO)

    assert "credential.invalid" == refused(session.whoami).code
    assert all(view.is_over for view in authority.credentials(ADA))


def test_an_unbinding_ends_what_seems_to_be_over(quick: Places) -> None:
    """A token that is past its time on one host is ended by it for all others too."""
    authority = quick.authority()
    authority.unbind(BOB.id, OTHER, scope=APOLLO)
    authority.bind(AGENT, OTHER, scope=APOLLO)
    token = authority.issue(ADA, scope=APOLLO, life=DAY).token.reveal()

    quick.clock.at += DAY + 1
    authority.unbind(AGENT, ID, scope=APOLLO)
    quick.clock.at -= DAY + 1

    refusal = refused(lambda: authority.session(token, scope=APOLLO))
    assert "credential.invalid" == refusal.code


def test_a_deleted_persona_rotates_nothing(quick: Places) -> None:
    """With its only persona rejected an agent gets no token for the one that it has."""
    authority, host = quick.authority(), quick.host()
    issued = authority.issue(ADA, scope=APOLLO)
    under = authority.under(issued.token.reveal(), scope=APOLLO)
    checkpoint = host.packages.show(ID).package.checkpoint_id
    host.review.package(ID, "rejected", checkpoint_id=checkpoint)

    refusal = refused(lambda: under.rotate(issued.credential_id))
    assert "credential.invalid" == refusal.code


def test_no_error_quotes_a_token(quick: Places) -> None:
    """Whoever hands a token in where an id is wanted finds it in no error."""
    token = quick.token()
    authority, session = quick.authority(), quick.host()
    for call in (
        authority.revoke,
        authority.withdraw,
        authority.rotate,
        authority.secrets.get,
        session.packages.show,
        session.leases.get,
    ):
        with pytest.raises(CallerError) as raised:
            call(token)
        told = f"{raised.value} {raised.value.as_dict()}"
        assert token not in told
        assert token.rpartition("_")[2] not in told


def test_a_deleted_persona_ends_its_agent(places: Places) -> None:
    """With its only persona rejected, an agent's token opens nothing any more."""
    session, host = places.of(ADA), places.host()
    checkpoint = host.packages.show(ID).package.checkpoint_id

    host.review.package(ID, "rejected", checkpoint_id=checkpoint)

    for call in (
        lambda: session.packages.show(ID),
        lambda: session.start(ID, agent_id=AGENT),
        session.whoami,
    ):
        assert "credential.invalid" == refused(call).code


def test_credentials_are_listed_without_their_tokens(quick: Places) -> None:
    """Each with its scope, its end, and whether it is over."""
    authority = quick.authority()
    first = authority.issue(ADA, scope=APOLLO)
    second = authority.issue(ADA, scope=GEMINI)
    authority.revoke(first.credential_id)

    listed = {one.credential_id: one for one in authority.credentials(ADA)}

    assert listed[first.credential_id].is_over
    assert not listed[second.credential_id].is_over
    assert second.until_at == quick.clock.at + DEFAULT_LIFE
    with pytest.raises(NotFoundError):
        authority.revoke("nobody")
