"""Laws of consents: what is hidden is shown to whom a person agreed, and while."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.conftest import NOW
from tests.session.starting import (
    AGENT,
    ID,
    advanced,
    dimension,
    installed,
    reviewed,
)
from tests.session.test_starts import acting, failed, fresh

from uaix_core import (
    CallerError,
    ConsentPlace,
    ConsentView,
    NotFoundError,
    Principal,
    Session,
)
from uaix_core.schema.commits import Commit
from uaix_core.store import scanning

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.session.conftest import FrozenClock

    from uaix_core import StartupRecord

VOICE, VALUES = dimension("voice"), dimension("values")
LATER = NOW + 1_000
VOICE_BODY = b"""\
# Voice

Tone: warm and open

## Diary (private)

Day: secret-day
Night: secret-night

secret-prose

## Seen

Pace (sensitive): secret-pace
Purpose: seen-purpose
"""
VALUES_BODY = b"disclosure: none\nFirst value: secret-value\n"
#: The names of all that is hidden in the two files, in order, with what they say.
SECRETS = {
    (VOICE, "day"): b"secret-day",
    (VOICE, "night"): b"secret-night",
    (VOICE, "diary"): b"secret-prose",
    (VOICE, "pace"): b"secret-pace",
    (VALUES, "first_value"): b"secret-value",
}


def hiding(session: Session) -> None:
    """Store a package of which some texts are hidden."""
    installed(session, advanced(voice=VOICE_BODY, values=VALUES_BODY))


def grant(session: Session, *places: ConsentPlace, **how: object) -> str:
    """Grant a consent to whoever acts, unless said otherwise; its id."""
    asked = {"reader": session.principal, "until_at": LATER, **how}
    reader = asked.pop("reader")
    return session.consents.grant(ID, reader, places, **asked).consent_id


def started(session: Session) -> dict[str, StartupRecord]:
    """The records that a start gives, by path."""
    assembly = session.start(ID, agent_id=AGENT)
    return {record.path: record for record in assembly.records}


def seen(session: Session) -> set[tuple[str, str]]:
    """The hidden texts that a start shows."""
    records = started(session)
    found = set()
    for (path, name), value in SECRETS.items():
        is_shown = value in records[path].content
        assert is_shown == (name not in records[path].blanked)
        if is_shown:
            found.add((path, name))
    return found


def test_hidden_texts_are_blanked_and_no_other_byte(session: Session) -> None:
    """No hidden value is given; every other byte is, and the stored ones are told."""
    hiding(session)

    records = started(session)

    voice, values = records[VOICE], records[VALUES]
    expected = VOICE_BODY
    for gone in (b" secret-day", b" secret-night", b"secret-prose", b" secret-pace"):
        expected = expected.replace(gone, b"")
    assert (expected, ("day", "night", "diary", "pace")) == (
        voice.content,
        voice.blanked,
    )
    assert b"disclosure: none\nFirst value:\n" == values.content
    assert ("first_value",) == values.blanked
    stored = {file.path: file for file in session.packages.show(ID).files}
    for record in records.values():
        assert b"secret" not in record.content
        row = stored[record.path]
        assert (row.sha256, row.size_bytes) == (record.sha256, record.size_bytes)
    assert VOICE_BODY == session.packages.read(ID)[VOICE]


def test_a_start_tells_how_much_is_blanked(session: Session) -> None:
    """The assembly and its receipt count what was blanked, and hold none of it."""
    hiding(session)

    assembly = session.start(ID, agent_id=AGENT)

    details = session.packages.receipt(assembly.receipt).details
    assert (5, 5) == (assembly.blanked_count, json.loads(details)["blanked"])
    assert "secret" not in details + repr(assembly) + json.dumps(assembly.as_dict())


@pytest.mark.parametrize(
    ("place", "lifted"),
    [
        (ConsentPlace(VOICE, "day"), {(VOICE, "day")}),
        (ConsentPlace(VOICE, "Day"), {(VOICE, "day")}),
        (
            ConsentPlace(VOICE, "Diary"),
            {(VOICE, "day"), (VOICE, "night"), (VOICE, "diary")},
        ),
        (ConsentPlace(VOICE, "pace"), {(VOICE, "pace")}),
        (ConsentPlace(VOICE), {place for place in SECRETS if place[0] == VOICE}),
        (ConsentPlace(VALUES, "first-value"), {(VALUES, "first_value")}),
        (ConsentPlace(VALUES, "day"), set()),
        (ConsentPlace(VOICE, "tone"), set()),
        (ConsentPlace(dimension("identity")), set()),
    ],
)
def test_a_consent_lifts_what_it_names(
    session: Session, place: ConsentPlace, lifted: set
) -> None:
    """A field, a section with its fields or a file is shown, and nothing beside it."""
    hiding(session)
    consent_id = grant(session, place)

    assert lifted == seen(session)
    used = session.start(ID, agent_id=AGENT).consents
    assert ((consent_id,) if lifted else ()) == used
    details = session.packages.receipt(session.start(ID, agent_id=AGENT).receipt)
    assert list(used) == json.loads(details.details)["consents"]


def test_every_consent_that_lifts_is_named(session: Session) -> None:
    """Those that lift the same or other places are told in the order of their ids."""
    hiding(session)
    places = [ConsentPlace(VOICE, n) for n in ("day", "day", "pace", "tone", "night")]
    ids = [grant(session, place) for place in places]
    ids += [grant(session, ConsentPlace(VALUES)) for _ in range(3)]
    del ids[3]

    assert sorted(ids) == list(session.start(ID, agent_id=AGENT).consents)


def test_a_whole_file_is_shown_as_it_is_stored(session: Session) -> None:
    """Under a consent for the file its stored bytes are given."""
    hiding(session)
    grant(session, ConsentPlace(VOICE), ConsentPlace(VALUES, "first_value"))

    records = started(session)

    assert VOICE_BODY == records[VOICE].content
    assert VALUES_BODY == records[VALUES].content
    assert () == records[VOICE].blanked == records[VALUES].blanked


def test_a_consent_ends(session: Session, clock: FrozenClock) -> None:
    """It holds up to its instant, and from then on lifts nothing."""
    hiding(session)
    grant(session, ConsentPlace(VOICE))

    clock.at = LATER - 1
    assert seen(session)
    clock.at = LATER
    assert set() == seen(session)
    clock.at = LATER + 1
    assert set() == seen(session)


def test_a_consent_is_revoked(session: Session) -> None:
    """A revoked consent lifts nothing; revoking it again changes nothing."""
    hiding(session)
    first = grant(session, ConsentPlace(VOICE, "day"))
    grant(session, ConsentPlace(VOICE, "night"))

    revoked = session.consents.revoke(first)
    again = session.consents.revoke(first)

    assert ("revoked", first) == (revoked.outcome, revoked.consent_id)
    assert ("unchanged", revoked.seq, revoked.receipt) == (
        again.outcome,
        again.seq,
        again.receipt,
    )
    assert {(VOICE, "night")} == seen(session)
    assert [True, False] == [one.is_revoked for one in session.consents.list(ID)]


def test_a_consent_is_for_one_principal(session: Session) -> None:
    """Whoever else starts the package sees nothing of it, whatever its id."""
    hiding(session)
    grant(session, ConsentPlace(VOICE, "day"), reader="agent:ada")

    assert set() == seen(session)
    assert {(VOICE, "day")} == seen(acting(session, "agent:ada"))
    assert set() == seen(acting(session, "human:ada"))
    assert set() == seen(acting(session, "operator:agent"))


def test_a_consent_is_for_one_package(session: Session) -> None:
    """The same path of another package stays hidden."""
    hiding(session)
    grant(session, ConsentPlace(VOICE))
    session.packages.clone(ID, package_id="other")
    reviewed(session, "other")

    other = session.start("other", agent_id=AGENT)

    assert b"secret" not in other.files[VOICE]
    assert [] == list(session.consents.list("other"))


def test_a_consent_lifts_a_limit_that_can_not_be_read(session: Session) -> None:
    """Only a consent for the whole file shows one whose limit nobody can read."""
    body = b"# Voice (private)\nTone: secret-tone\n"
    installed(session, advanced(voice=body))
    expected = {("startup.disclosure", VOICE)}

    assert expected == failed(session)
    grant(session, ConsentPlace(VOICE, "tone"), ConsentPlace(VOICE, "title"))
    assert expected == failed(session)
    grant(session, ConsentPlace(VOICE))
    assert body == started(session)[VOICE].content


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from(sorted(SECRETS)), min_size=1),
            st.sampled_from(["human:alice", "agent:ada"]),
            st.sampled_from([NOW + 1, NOW + 2, NOW + 3]),
            st.booleans(),
        ),
        max_size=4,
    ),
    st.sampled_from(["human:alice", "agent:ada"]),
    st.sampled_from([NOW, NOW + 1, NOW + 2, NOW + 3]),
)
def test_what_is_shown_is_what_some_consent_lifts(
    granted: list, principal: str, at: int
) -> None:
    """A text is shown exactly while a consent for its reader names it and holds."""
    session = fresh()
    hiding(session)
    expected = set()
    for places, reader, until_at, is_revoked in granted:
        named = [ConsentPlace(*place) for place in sorted(places)]
        consent_id = grant(session, *named, reader=reader, until_at=until_at)
        if is_revoked:
            session.consents.revoke(consent_id)
        elif reader == principal and at < until_at:
            expected |= places
    if (VOICE, "diary") in expected:
        expected |= {(VOICE, "day"), (VOICE, "night")}
    session.clock.at = at

    assert expected == seen(acting(session, principal))


def test_a_consent_is_history_with_a_receipt(session: Session) -> None:
    """It is listed as it was given, by whom and until when, and leaves a receipt."""
    hiding(session)
    places = (ConsentPlace(VOICE, "Day"), ConsentPlace(VALUES))
    answer = session.consents.grant(ID, "agent:ada", places, until_at=LATER)

    (listed,) = session.consents.list(ID)
    assert isinstance(listed, ConsentView)
    assert {
        "consent_id": answer.consent_id,
        "package_id": ID,
        "reader": "agent:ada",
        "until_at": LATER,
        "places": [{"path": VOICE, "field": "Day"}, {"path": VALUES, "field": None}],
        "granted_by": "human:alice",
        "receipt": answer.receipt,
        "is_revoked": False,
    } == listed.as_dict()
    receipt = session.packages.receipt(answer.receipt)
    assert ("consent", "accepted", ID, answer.seq) == (
        receipt.operation,
        receipt.outcome,
        receipt.package_id,
        receipt.version,
    )
    assert {
        "consent_id": answer.consent_id,
        "places": 2,
        "verdict": "granted",
    } == json.loads(receipt.details)
    revoked = session.consents.revoke(answer.consent_id)
    assert {"consent_id": answer.consent_id, "verdict": "revoked"} == json.loads(
        session.packages.receipt(revoked.receipt).details
    )
    assert {
        "outcome": "granted",
        "consent_id": answer.consent_id,
        "seq": answer.seq,
        "receipt": answer.receipt,
        "is_staged": False,
    } == answer.as_dict()


def test_consents_are_listed_oldest_first(session: Session) -> None:
    """Ended and revoked ones are among them, each as often as it was given."""
    hiding(session)
    ids = [grant(session, ConsentPlace(VOICE), until_at=NOW + n) for n in (3, 1, 2, 2)]
    session.consents.revoke(ids[2])

    assert ids == [one.consent_id for one in session.consents.list(ID)]
    assert 4 == len(set(ids))


@pytest.mark.every_backend
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6])
def test_consents_are_read_page_by_page(
    session: Session, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """However many are taken at once, all are listed and each revocation counts."""
    hiding(session)
    ids = [grant(session, ConsentPlace(VOICE, f"f{n}")) for n in range(5)]
    for consent_id in ids[:-1]:
        session.consents.revoke(consent_id)

    monkeypatch.setattr(scanning, "MAX_SCAN", rows)

    listed = [(one.consent_id, one.is_revoked) for one in session.consents.list(ID)]
    assert [(one, one != ids[-1]) for one in ids] == listed


@pytest.mark.every_backend
def test_an_erased_consent_lifts_nothing(session: Session) -> None:
    """Without its places a consent is about nothing any more."""
    hiding(session)
    consent_id = grant(session, ConsentPlace(VOICE))
    named = ("consent", (consent_id,))
    session.store.append(Commit(session.scope, 0, erases=(named,)))

    assert set() == seen(session)
    assert [()] == [one.places for one in session.consents.list(ID)]


@pytest.mark.parametrize("kind", ["agent", "import", "system"])
def test_only_a_person_grants_and_revokes(session: Session, kind: str) -> None:
    """No agent, import or system agrees in a person's place."""
    hiding(session)
    consent_id = grant(session, ConsentPlace(VOICE))
    other = acting(session, f"{kind}:ada")

    for call in (
        lambda: grant(other, ConsentPlace(VALUES)),
        lambda: other.consents.revoke(consent_id),
    ):
        with pytest.raises(CallerError) as caught:
            call()
        assert "consent.reviewer" == caught.value.code
    assert 1 == len(session.consents.list(ID))
    assert grant(acting(session, "operator:ops"), ConsentPlace(VALUES))


@pytest.mark.parametrize(
    ("places", "how", "code"),
    [
        ([], {}, "consent.places"),
        (
            [ConsentPlace(VOICE, "Day"), ConsentPlace(VOICE, "day")],
            {},
            "consent.places",
        ),
        ([ConsentPlace(VOICE)], {"until_at": NOW}, "consent.until"),
        ([ConsentPlace(VOICE)], {"until_at": NOW - 1}, "consent.until"),
        ([ConsentPlace(VOICE)], {"until_at": "soon"}, "instant.range"),
        ([ConsentPlace(VOICE)], {"reader": "ada"}, "principal.syntax"),
        ([ConsentPlace(".uai/none.uai")], {}, "record.not-found"),
        (
            [ConsentPlace(VOICE, f"f{n}") for n in range(1_001)],
            {},
            "consent.places",
        ),
        ([ConsentPlace(VOICE, "ghp_" + "0aB1" * 9)], {}, "text.secret"),
    ],
)
def test_what_is_no_consent_is_refused(
    session: Session, places: list, how: dict, code: str
) -> None:
    """A consent names places that stand, once each, and an end that is to come."""
    hiding(session)
    with pytest.raises(CallerError) as caught:
        grant(session, *places, **how)

    assert code == caught.value.code
    assert [] == list(session.consents.list(ID))


@pytest.mark.parametrize(
    ("path", "field"),
    [("", None), (1, None), ("p" * 1_025, None), ("p", ""), ("p", 3), ("\0", None)],
)
def test_a_place_has_a_path_and_maybe_a_field(path: object, field: object) -> None:
    """A place is texts of 1 to 1,024 characters that a store can hold."""
    with pytest.raises(CallerError) as caught:
        ConsentPlace(path, field)

    assert ("consent.place", "places") == (caught.value.code, caught.value.path)
    assert ConsentPlace("p" * 1_024, "f" * 1_024)
    assert ConsentPlace("p", "f")


def test_most_places_are_held(session: Session) -> None:
    """A consent of as many places as there may be is granted."""
    hiding(session)

    assert grant(session, *(ConsentPlace(VOICE, f"f{n}") for n in range(1_000)))


def test_what_is_not_there_is_not_found(session: Session) -> None:
    """A consent is about a package that is there, and one is revoked that is there."""
    for call, code in (
        (lambda: grant(session, ConsentPlace(VOICE)), "package.not-found"),
        (lambda: session.consents.list("none"), "package.not-found"),
        (lambda: session.consents.revoke("none"), "consent.not-found"),
    ):
        with pytest.raises(NotFoundError) as caught:
            call()
        assert code == caught.value.code


@pytest.mark.every_backend
def test_two_who_revoke_at_once_revoke_once(session: Session) -> None:
    """Of two revocations one is written; the other finds it."""
    hiding(session)
    consent_id = grant(session, ConsentPlace(VOICE))
    store, calls = session.store, []

    @attrs.define
    class Between:
        """A store in which somebody else revokes before an append."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def append(self, commit: Commit) -> object:
            if not calls:
                calls.append(session.consents.revoke(consent_id))
            return store.append(commit)

    answer = attrs.evolve(session, store=Between()).consents.revoke(consent_id)

    assert ("unchanged", calls[0].seq) == (answer.outcome, answer.seq)


def test_a_start_doubts_what_it_read(session: Session) -> None:
    """When the package changes before its receipt is written, it is judged anew."""
    hiding(session)
    store, calls = session.store, []

    @attrs.define
    class Between:
        """A store in which the package is rejected before an append."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def append(self, commit: Commit) -> object:
            if not calls:
                calls.append(1)
                checkpoint = session.review.waiting(ID).checkpoint_id
                session.review.package(ID, "rejected", checkpoint_id=checkpoint)
            return store.append(commit)

    other = attrs.evolve(session, store=Between())

    assert {("startup.state", ID)} == failed(other)
    operations = [entry.operation for entry in session.packages.receipts(ID)]
    assert 1 == operations.count("start")


@pytest.mark.every_backend
def test_consents_of_another_scope_lift_nothing(
    session_of: Callable[[str], Session],
) -> None:
    """A consent holds in the scope that it was given in."""
    one, two = session_of("acme/project/one"), session_of("acme/project/two")
    for session in (one, two):
        hiding(session)
    grant(one, ConsentPlace(VOICE, "day"))

    assert {(VOICE, "day")} == seen(one)
    assert set() == seen(two)


def test_a_reader_may_be_given_as_a_principal(session: Session) -> None:
    """A principal stands for its written form."""
    hiding(session)
    grant(session, ConsentPlace(VOICE), reader=Principal.parse("agent:ada"))

    assert "agent:ada" == session.consents.list(ID)[0].reader.text
