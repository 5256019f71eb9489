"""Laws of registering: the order of its checks, and what a life of it leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.authority.granting import SCOPE, document, granting, session_over

from uaix_backends.memory import MemoryStore
from uaix_core import CallerError, ConflictError, OperatorGrants, Session
from uaix_core.schema.commits import Commit

NEVER = object()


def refusal(call, kind=(CallerError, ConflictError)):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


@pytest.fixture
def registrations():
    """The registrations of a scope in memory."""
    return session_over(MemoryStore()).registrations


# The order of the checks: each refusal stands before all those below it.


def test_the_checks_come_in_their_order():
    """With everything wrong at once, each mended fault shows the next one."""
    store = MemoryStore()
    called = []

    def check(new, previous):
        called.append((new.version, previous and previous.version))
        raise CallerError("no", code="vocabulary.no")

    session = session_over(store)
    plain = session.registrations
    for version in (1, 3):
        plain.register(document(version), granting(document(version)))
    with session.store.snapshot(SCOPE) as snapshot:
        before = (snapshot.position, snapshot.head)
    judged = type(plain)(session, check=check)
    other, lower, new = document(1, "other"), document(2), document(4)
    reserved = document(2, namespace="uaix")

    for asked, grants, code in (
        ({"namespace": "uaix"}, "grants", "grants.value"),
        ({"namespace": "uaix"}, granting(reserved), "registration.document"),
        (reserved, granting(document(9)), "registration.reserved"),
        (other, granting(document(9)), "registration.not-granted"),
        (other, granting(document(1)), "registration.digest"),
        (other, granting(other), "registration.version-conflict"),
        (lower, granting(document(9)), "registration.not-granted"),
        (lower, granting(document(2, "other")), "registration.digest"),
        (lower, granting(lower), "registration.not-after-latest"),
    ):
        assert code == refusal(lambda a=asked, g=grants: judged.register(a, g)).code
    assert [] == called
    assert "vocabulary.no" == refusal(lambda: judged.register(new, granting(new))).code
    assert [(4, 3)] == called
    same = document(1)
    assert "unchanged" == judged.register(same, granting(same)).outcome
    assert [(4, 3)] == called
    with session.store.snapshot(SCOPE) as snapshot:
        assert before == (snapshot.position, snapshot.head)


@pytest.mark.parametrize("namespace", ["uaix", "UAIX", "Uaix"])
def test_no_grant_reaches_the_reserved_namespace(registrations, namespace):
    """The library's own namespace is refused in any case, granted or not."""
    asked = document(1, namespace=namespace)
    error = refusal(lambda: registrations.register(asked, granting(asked)))
    assert "registration.reserved" == error.code


@pytest.mark.parametrize("namespace", ["uaix2", "uai", "uaix.x", "uaix-core"])
def test_what_only_resembles_it_is_not_reserved(registrations, namespace):
    """The reserved namespace is one word, and no prefix."""
    asked = document(1, namespace=namespace)
    assert "insert" == registrations.register(asked, granting(asked)).outcome


@pytest.mark.parametrize(
    "grants",
    [
        None,
        (),
        "operator:ops",
        {"operator": "operator:ops", "grants": []},
        granting(document(1)).grants,
        type("OperatorGrants", (), {"find": lambda *_: granting(document(1))})(),
    ],
)
def test_what_looks_like_grants_grants_nothing(registrations, grants):
    """Only a value of the class grants; a lookalike from data is refused."""
    error = refusal(lambda: registrations.register(document(1), grants))
    assert "grants.value" == error.code
    assert [] == list(registrations.list())


@pytest.mark.parametrize("namespace", ["Travel", "travel.", "trave", "travell"])
def test_a_grant_is_of_one_namespace(registrations, namespace):
    """Namespaces are compared exactly, case included."""
    asked = document(1)
    grants = granting(document(1, namespace=namespace))
    assert (
        "registration.not-granted"
        == refusal(lambda: registrations.register(asked, grants)).code
    )


@pytest.mark.parametrize(("granted", "asked"), [(1, 2), (2, 1)])
def test_a_grant_is_of_one_version(registrations, granted, asked):
    """A grant of a version lets in neither the one after nor the one before."""
    grants = granting(document(granted))
    error = refusal(lambda: registrations.register(document(asked), grants))
    assert "registration.not-granted" == error.code


def test_the_owner_sees_what_came_before(registrations):
    """The check is handed the document and the newest one before it, or None."""
    seen = []
    session = session_over(MemoryStore())
    judged = type(registrations)(session, check=lambda *pair: seen.append(pair))
    for version in (1, 2, 5):
        judged.register(document(version), granting(document(version)))

    assert [1, 2, 5] == [new.version for new, _ in seen]
    assert [None, 1, 2] == [before and before.version for _, before in seen]
    assert [document(1), document(2), document(5)] == [new.value() for new, _ in seen]


def test_an_error_that_is_no_refusal_is_no_decision():
    """A check that breaks is told as it is; only refusals carry a decision."""
    session = session_over(MemoryStore())

    def check(_new, _previous):
        raise KeyError("bug")

    judged = type(session.registrations)(session, check=check)
    with pytest.raises(KeyError):
        judged.register(document(1), granting(document(1)))


# Decisions of refusals


def test_a_denied_decision_repeats_no_document():
    """Before a grant is found a decision names nothing that the document says."""
    session = session_over(MemoryStore())
    secret = document(1, namespace="sk-live-canary")
    for grants in (granting(document(1)), "grants"):
        error = refusal(lambda g=grants: session.registrations.register(secret, g))
        (decision,) = error.decisions
        assert {"registry": "documents"} == dict(decision.details)
        assert (error.code, True) == (decision.reason, decision.is_denied)
        assert "canary" not in f"{error} {error.as_dict()} {decision}"


def test_a_denied_decision_names_what_the_operator_named():
    """Once a grant is found a decision names its namespace and version."""
    session = session_over(MemoryStore())
    error = refusal(
        lambda: session.registrations.register(
            document(1, "canary"), granting(document(1))
        )
    )
    (decision,) = error.decisions

    assert {
        "kind": "registry.register",
        "reason": "registration.digest",
        "scope": "acme/project/apollo",
        "actor": "human:alice",
        "is_denied": True,
        "receipt": None,
        "details": {
            "registry": "documents",
            "namespace": "travel",
            "document_version": 1,
        },
    } == decision.as_dict()
    assert "canary" not in f"{error} {error.as_dict()} {decision}"


# A life


class Registry:
    """What stands, in plain words: version -> content, None once erased."""

    def __init__(self):
        self.stands: dict[str, dict[int, str | None]] = {"travel": {}, "hotels": {}}

    def register(self, namespace, version, content, granted):
        stands = self.stands[namespace]
        if granted is NEVER:
            answer = "registration.not-granted"
        elif granted != content:
            answer = "registration.digest"
        elif version in stands:
            has = {None: "erased", content: None}.get(
                stands[version], "version-conflict"
            )
            answer = f"registration.{has}" if has else "unchanged"
        elif stands and version < max(stands):
            answer = "registration.not-after-latest"
        else:
            stands[version] = content
            answer = "insert"
        return answer

    def get(self, namespace, version):
        content = self.stands[namespace].get(version, NEVER)
        if content is NEVER:
            return "registration.not-found"
        if content is None:
            return "registration.erased"
        return document(version, content, namespace=namespace)


CONTENTS = st.sampled_from(["a", "b"])
PLACES = st.tuples(st.sampled_from(["travel", "hotels"]), st.integers(1, 3))
STEPS = st.lists(
    st.tuples(PLACES, CONTENTS, CONTENTS | st.just(NEVER)) | PLACES, max_size=12
)


def outcome_of(session: Session, asked: dict, grants: OperatorGrants) -> str:
    try:
        return session.registrations.register(asked, grants).outcome
    except (CallerError, ConflictError) as error:
        return error.code if error.decisions[0].is_denied else "accepted"


def shown(session: Session, namespace: str, version: int) -> object:
    try:
        return session.registrations.get(namespace, version).value()
    except CallerError as error:
        return error.code


@given(STEPS)
def test_a_life_is_what_its_plain_words_say(steps):
    """After any life each version holds what was granted first, and nothing else."""
    session, plain = session_over(MemoryStore()), Registry()
    inserts = erased = 0
    for step in steps:
        if len(step) == 2:
            namespace, version = step
            if plain.stands[namespace].get(version) is not None:
                plain.stands[namespace][version] = None
                key = ("documents", namespace, version)
                erases = (("registration", key),)
                session.store.append(Commit(SCOPE, 0, erases=erases))
                erased += 1
            continue
        (namespace, version), content, granted = step
        asked = document(version, content, namespace=namespace)
        grants = granting(document(9, namespace="never"))
        if granted is not NEVER:
            grants = granting(document(version, granted, namespace=namespace))
        expected = plain.register(namespace, version, content, granted)
        assert expected == outcome_of(session, asked, grants)
        inserts += expected == "insert"
        with session.store.snapshot(SCOPE) as snapshot:
            assert inserts + erased == snapshot.position

    for namespace in plain.stands:
        for version in range(1, 4):
            expected = plain.get(namespace, version)
            assert expected == shown(session, namespace, version)
    listed = {r.namespace: r.document_version for r in session.registrations.list()}
    assert {n: max(s) for n, s in plain.stands.items() if s} == listed
