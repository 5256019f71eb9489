"""Laws of registrations: granted by configuration, written once, equal everywhere."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.authority.granting import SCOPE, document, granting, session_over
from tests.packages.package_maker import Maker

from uaix_backends import open_store
from uaix_core import (
    CallerError,
    ConflictError,
    IntegrityError,
    NotFoundError,
    Principal,
    Session,
    document_digest,
)
from uaix_core.authority.relations import REGISTRATION
from uaix_core.schema.commits import Commit
from uaix_core.session.registrations import Registrations
from uaix_core.store.copying import copy_scope, differences
from uaix_core.store.verifying import verify_scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uaix_core import Store
    from uaix_core.authority.answers import Registered

ONE, TWO, THREE = document(1), document(2), document(3)
OTHER = document(1, "other words")


def place_of(session: Session) -> tuple[int, str]:
    """Where the chain of the scope stands."""
    with session.store.snapshot(session.scope) as snapshot:
        return snapshot.position, snapshot.head


def register(session: Session, asked: dict[str, Any]) -> Registered:
    """Register a document that is granted."""
    return session.registrations.register(asked, granting(asked))


def erase(session: Session, version: int) -> None:
    """Erase the document of a version."""
    ref = ("registration", ("documents", "travel", version))
    session.store.append(Commit(session.scope, 0, erases=(ref,)))


def test_a_granted_document_is_registered(session: Session) -> None:
    """A registration is one commit with its receipt, and one decision to deliver."""
    answer = register(session, ONE)
    found = session.registrations.get("travel")
    (row,) = session.registrations.history("travel")
    (latest,) = session.registrations.list()
    (decision,) = answer.decisions

    assert ("insert", "travel", 1, 1) == (
        answer.outcome,
        answer.namespace,
        answer.document_version,
        answer.seq,
    )
    assert ONE == found.value()
    assert document_digest(ONE) == found.digest == row.document_digest
    assert ("ops", "human", "alice") == (row.operator_id, row.actor_kind, row.actor_id)
    assert (1, answer.receipt) == (latest.document_version, latest.receipt_id)
    assert {
        "kind": "registry.register",
        "reason": "registration.granted",
        "scope": "acme/project/apollo",
        "actor": "human:alice",
        "is_denied": False,
        "receipt": answer.receipt,
        "details": {
            "registry": "documents",
            "namespace": "travel",
            "document_version": 1,
            "operator_id": "ops",
            "body_digest": row.body_digest,
        },
    } == decision.as_dict()
    assert answer.as_dict()["decisions"] == [decision.as_dict()]
    assert not answer.is_staged


def test_a_registration_leaves_a_receipt(session: Session) -> None:
    """The receipt says who registered what, without the document or its digest."""
    answer = register(session, ONE)
    (entry,) = session.packages.receipts()
    details = session.packages.receipt(answer.receipt).details or ""

    assert ("register", "accepted", "human", "alice") == (
        entry.operation,
        entry.outcome,
        entry.actor_kind,
        entry.actor_id,
    )
    assert (
        '{"document_version":1,"namespace":"travel","operator_id":"ops",'
        '"registry":"documents"}' == details
    )


@pytest.mark.parametrize(
    "hidden",
    [
        {"content": "use AKIAIOSFODNN7ABCDEFG please"},
        {"content": [{"x": {"y": ["-----BEGIN RSA PRIVATE KEY-----"]}}]},
        {"password": "hunter2Hunter2hunter2"},
        {"AKIAIOSFODNN7ABCDEFG": "a key of an object"},
    ],
)
def test_a_secret_is_refused_in_a_granted_document_too(
    session: Session, hidden: dict[str, Any]
) -> None:
    """The operator's grant of the very bytes lets no secret in, nor shows it."""
    asked = {"namespace": "travel", "version": 1, **hidden}
    before = place_of(session)
    with pytest.raises(CallerError) as caught:
        register(session, asked)

    assert "registration.secret" == caught.value.code
    told = f"{caught.value.as_dict()}{caught.value.decisions}"
    assert not any(part in told for part in ("AKIA", "BEGIN", "hunter2"))
    assert caught.value.decisions[0].is_denied
    assert before == place_of(session)


def test_the_same_again_writes_nothing(session: Session) -> None:
    """The same version with the same content leaves position and head as they are."""
    first = register(session, ONE)
    before = place_of(session)
    spelled = '{"version": 1.0, "content": "\\u0077ords",\n "namespace": "travel"}'

    for asked in (ONE, spelled, spelled.encode()):
        again = session.registrations.register(asked, granting(ONE))
        expected = attrs.evolve(first, outcome="unchanged", decisions=())
        assert expected == again
    assert before == place_of(session)


def test_an_earlier_version_again_writes_nothing(session: Session) -> None:
    """Registering all versions anew, as a host does when it starts, changes nothing."""
    versions = (ONE, TWO, THREE)
    firsts = [register(session, asked) for asked in versions]
    before = place_of(session)
    repeats = [register(session, asked) for asked in versions]

    assert ["unchanged"] * 3 == [again.outcome for again in repeats]
    assert [f.receipt for f in firsts] == [again.receipt for again in repeats]
    assert [1, 2, 3] == [again.seq for again in repeats]
    assert before == place_of(session)


@pytest.mark.parametrize(
    ("asked", "granted", "code", "family"),
    [
        (ONE, TWO, "registration.not-granted", CallerError),
        (document(5), THREE, "registration.not-granted", CallerError),
        (OTHER, ONE, "registration.digest", CallerError),
        (document(3, "x"), THREE, "registration.digest", CallerError),
        (document(2, "x"), document(2, "x"), "version-conflict", ConflictError),
        (ONE, ONE, "registration.not-after-latest", ConflictError),
        ({"namespace": "travel"}, ONE, "registration.document", CallerError),
        (document(3, namespace="uaix"), THREE, "registration.reserved", CallerError),
    ],
)
def test_a_refusal_leaves_nothing(
    session: Session,
    asked: dict[str, Any],
    granted: dict[str, Any],
    code: str,
    family: type[Exception],
) -> None:
    """A refusal writes neither row nor receipt; its error carries a decision."""
    register(session, TWO)
    before = place_of(session)
    with pytest.raises(family) as caught:
        session.registrations.register(asked, granting(granted))

    assert caught.value.code in {code, f"registration.{code}"}
    assert caught.value.decisions[0].is_denied
    assert before == place_of(session)
    assert 1 == len(session.packages.receipts())
    assert [2] == [r.document_version for r in session.registrations.history("travel")]


def test_a_refusal_in_an_empty_scope_leaves_it_empty(session: Session) -> None:
    """Nothing at all is there after the first registration of a scope was refused."""
    with pytest.raises(CallerError):
        session.registrations.register(ONE, granting(TWO))
    assert (0, []) == (place_of(session)[0], list(session.registrations.list()))


def test_an_actor_is_no_operator(session: Session) -> None:
    """Who carries a registration out is recorded beside who granted it."""
    agent = attrs.evolve(session, principal=Principal("agent", "bot"))
    answer = register(agent, ONE)
    (row,) = session.registrations.history("travel")

    assert ("agent", "bot", "ops") == (row.actor_kind, row.actor_id, row.operator_id)
    assert "agent:bot" == answer.decisions[0].actor.text


def test_a_package_grants_nothing(session: Session) -> None:
    """What a package says of grants is a file of it and nothing else."""
    maker = Maker()
    maker.add(".uai/grants.uai", b'{"operator": "operator:ops", "grants": []}\n')
    session.packages.install(maker.archive())

    assert [] == list(session.registrations.list())
    with pytest.raises(CallerError) as caught:
        session.registrations.register(ONE, granting(TWO))
    assert "registration.not-granted" == caught.value.code


@pytest.mark.every_backend
def test_a_registration_is_of_one_scope(
    session_of: Callable[[str], Session],
) -> None:
    """What is registered in one scope stands in no other."""
    one, other = session_of("t/project/one"), session_of("t/project/two")
    register(one, ONE)

    assert [] == list(other.registrations.list())
    assert "insert" == register(other, OTHER).outcome
    assert ONE == one.registrations.get("travel", 1).value()


@pytest.mark.every_backend
def test_registries_are_apart(session: Session) -> None:
    """The same namespace in another registry is another one, with its own check."""
    words = Registrations(session, registry="words")
    register(session, TWO)

    assert "insert" == words.register(OTHER, granting(OTHER)).outcome
    assert TWO == session.registrations.get("travel").value()
    assert OTHER == words.get("travel").value()
    assert [1] == [row.document_version for row in words.history("travel")]
    with pytest.raises(CallerError):
        Registrations(session, registry="two words")


def test_what_was_never_registered_is_not_found(session: Session) -> None:
    """An unknown namespace or version is a typed error, in every verb."""
    register(session, ONE)
    for call in (
        lambda: session.registrations.get("hotels"),
        lambda: session.registrations.get("travel", 2),
        lambda: session.registrations.history("hotels"),
    ):
        with pytest.raises(NotFoundError) as caught:
            call()
        assert "registration.not-found" == caught.value.code
    with pytest.raises(CallerError):
        session.registrations.get("travel", 2**63)


@pytest.mark.every_backend
def test_lists_come_page_by_page(session: Session) -> None:
    """Namespaces come in their order, versions from the lowest up, in pages."""
    for version in (1, 2, 4):
        register(session, document(version))
    for name in ("hotels", "zoo", "Hotels"):
        register(session, document(1, namespace=name))
    verbs = session.registrations

    assert ["Hotels", "hotels", "travel", "zoo"] == [r.namespace for r in verbs.list()]
    assert ["Hotels", "hotels"] == [r.namespace for r in verbs.list(limit=2)]
    rest = verbs.list(after="hotels", limit=2)
    assert [("travel", 4), ("zoo", 1)] == [
        (r.namespace, r.document_version) for r in rest
    ]
    first, then = verbs.history("travel", limit=2), verbs.history("travel", after=2)
    assert [[1, 2], [4]] == [
        [r.document_version for r in page] for page in (first, then)
    ]


# Races


class Raced:
    """A store in which a rival writes between a decision and its append."""

    def __init__(self, store: Store, rival: Callable[[], object]) -> None:
        self._store = store
        self._rivals = [rival]

    def append(self, commit: Commit) -> object:
        """Let the rival be first, once."""
        if self._rivals:
            self._rivals.pop()()
        return self._store.append(commit)

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


@pytest.mark.every_backend
@pytest.mark.parametrize(
    ("rival", "asked", "expected"),
    [
        (ONE, ONE, "unchanged"),
        (OTHER, ONE, "registration.version-conflict"),
        (TWO, ONE, "registration.not-after-latest"),
        (ONE, TWO, "insert"),
        (document(1, namespace="hotels"), ONE, "insert"),
    ],
)
def test_of_two_that_race_one_decides_anew(
    session: Session, rival: dict[str, Any], asked: dict[str, Any], expected: str
) -> None:
    """Who comes second decides over what the first one wrote; never both win."""
    seen: list[int | None] = []
    store = Raced(session.store, lambda: register(session, rival))
    verbs = Registrations(
        attrs.evolve(session, store=store),
        check=lambda _new, old: seen.append(old and old.version),
    )
    try:
        outcome = verbs.register(asked, granting(asked)).outcome
    except ConflictError as error:
        outcome = error.code if error.decisions[0].is_denied else "accepted"

    assert expected == outcome
    assert (2 if expected == "insert" else 1) == place_of(session)[0]
    found = session.registrations.get(rival["namespace"], rival["version"])
    assert rival == found.value()
    # The check was asked again of what had come between.
    if rival is ONE and asked is TWO:
        assert [None, 1] == seen


@pytest.mark.every_backend
@pytest.mark.parametrize("is_same", [True, False])
def test_many_threads_register_once(session: Session, is_same: bool) -> None:
    """Of many that register one version at the same time exactly one inserts."""
    outcomes: list[str] = []
    gate = threading.Barrier(4)

    def work(number: int) -> None:
        asked = ONE if is_same else document(1, f"by {number}")
        mine = session_over(session.store, f"system:{number}")
        mine.ids.count = 1_000 * (number + 1)
        gate.wait()
        try:
            outcomes.append(register(mine, asked).outcome)
        except ConflictError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    rest = "unchanged" if is_same else "registration.version-conflict"
    assert sorted(["insert", rest, rest, rest]) == sorted(outcomes)
    assert 1 == place_of(session)[0]
    assert verify_scope(session.store, SCOPE).is_sound


# Erasure


@pytest.mark.every_backend
def test_an_erased_document_is_told(session: Session) -> None:
    """A version whose document is gone stays in the history and answers an error."""
    register(session, ONE)
    register(session, TWO)
    erase(session, 2)
    verbs = session.registrations

    for call in (
        lambda: verbs.get("travel"),
        lambda: verbs.get("travel", 2),
        lambda: register(session, TWO),
        lambda: register(session, document(2, "x")),
    ):
        with pytest.raises(CallerError) as caught:
            call()
        assert "registration.erased" == caught.value.code
    assert ONE == verbs.get("travel", 1).value()
    assert [2] == [row.document_version for row in verbs.list()]
    shown = [(r.document, r.document_digest) for r in verbs.history("travel")]
    assert (None, None) == shown[1]
    assert "insert" == register(session, THREE).outcome
    assert THREE == verbs.get("travel").value()


def test_a_check_is_handed_what_is_still_there(session: Session) -> None:
    """Behind an erased version the check sees the newest that stands, or None."""
    seen: list[int | None] = []
    verbs = Registrations(
        session, check=lambda _new, old: seen.append(old and old.version)
    )
    for version in (1, 2, 3):
        register(session, document(version))
    for gone in ((2, 3), (1,)):
        for version in gone:
            erase(session, version)
        asked = document(4 + len(seen))
        verbs.register(asked, granting(asked))
        erase(session, 4 + len(seen) - 1)

    assert [1, None] == seen


@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_erased_documents_leave_all_files(kind: str, tmp_path: Path) -> None:
    """No file holds the erased document or its digest, not even in a receipt."""
    canary = document(1, "a-canary-of-thirty-two-letters-x")
    digest = document_digest(canary)
    store = opened_product(kind, tmp_path)
    session = session_over(store)
    answer = register(session, canary)
    needles = [b"a-canary-of-thirty", digest[7:].encode(), bytes.fromhex(digest[7:])]
    assert held(tmp_path, needles[:2])
    erase(session, 1)
    store.close()

    assert [] == held(tmp_path, needles)
    shown = f"{answer.as_dict()}"
    assert not any(needle.decode("latin-1") in shown for needle in needles)


def opened_product(kind: str, folder: Path) -> Store:
    """A store of the product's own schema."""
    scheme = "dir" if kind == "directory" else kind
    return open_store(f"{scheme}:{folder / 'store'}", create=True)


def held(folder: Path, needles: list[bytes]) -> list[bytes]:
    """Which of these bytes lie in some file of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [n for n in needles if any(n in path.read_bytes() for path in files)]


def test_a_broken_document_is_told(session: Session) -> None:
    """A document that isn't the one its row names is damage, wherever it came from."""
    for number, fields in enumerate(
        (
            {"document": "[]"},
            {"document": '{"namespace":"hotels","version":1}'},
            {"document": '{"namespace":"travel","version":9}'},
            {"document_digest": "sha256:" + "0" * 64},
        ),
        start=1,
    ):
        asked = {"namespace": "travel", "version": number}
        row = REGISTRATION.with_body(
            b"s" * 16,
            **{
                "registry": "documents",
                "namespace": "travel",
                "document_version": number,
                "receipt_id": "r",
                "operator_id": "ops",
                "actor_kind": "operator",
                "actor_id": "x",
                "document_digest": document_digest(asked),
                "document": f'{{"namespace":"travel","version":{number}}}',
                **fields,
            },
        )
        session.store.append(Commit(session.scope, 0, adds=(row,)))
        with pytest.raises(IntegrityError) as caught:
            session.registrations.get("travel", number)
        assert ("registration.broken", f"travel@{number}") == (
            caught.value.code,
            caught.value.path,
        )
    verbs = Registrations(session, check=lambda _new, _old: None)
    with pytest.raises(IntegrityError) as caught:
        verbs.register(document(9), granting(document(9)))
    assert () == caught.value.decisions


# Every backend holds the same


@pytest.mark.every_backend
def test_it_replays_into_equal_views(session: Session, tmp_path: Path) -> None:
    """Replayed into a directory, and rebuilt, all rows and views are equal."""
    for version in (1, 3):
        register(session, document(version))
    register(session, document(2, namespace="hotels"))
    erase(session, 3)
    register(session, document(4))
    directory = opened_product("directory", tmp_path / "copy")
    copy_scope(session.store, directory, session.scope)

    assert [] == differences(session.store, directory, session.scope)
    session.store.rebuild(session.scope)
    assert [] == differences(session.store, directory, session.scope)
    copied = session_over(directory)
    assert session.registrations.list() == copied.registrations.list()
    assert document(4) == copied.registrations.get("travel").value()
    assert verify_scope(directory, session.scope).is_sound
    directory.close()
