"""Laws of acceptance policies: a scope can ask for more, and only refuse by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.packages.package_maker import MANIFEST, Maker

from uaix_core import (
    AcceptancePolicy,
    CallerError,
    PackageRefusedError,
    PackageSource,
    Session,
)
from uaix_core.packages.signatures import key_id, public_key_of, sign
from uaix_core.schema.commits import Commit

if TYPE_CHECKING:
    from collections.abc import Callable

PRIVATE = bytes(range(32))
PUBLIC = public_key_of(PRIVATE)
KEY = key_id(PUBLIC)
ID = "made-by-code"


def signed(maker: Maker, private: bytes = PRIVATE) -> PackageSource:
    """The package with a signature."""
    manifest = sign(maker.manifest_bytes(), private)
    return PackageSource(files={**maker.files, MANIFEST: manifest})


def test_without_a_policy_nothing_more_is_asked(session: Session) -> None:
    """A scope that never had a policy accepts what the format accepts."""
    assert AcceptancePolicy() == session.packages.policy()
    assert session.packages.install(Maker().archive()).is_first


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (AcceptancePolicy(issuers={"somebody-else"}), "policy.issuer"),
        (AcceptancePolicy(scopes={"persona_profile"}), "policy.scope"),
        (AcceptancePolicy(require_signature_from={KEY}), "signature.missing"),
    ],
)
def test_what_a_policy_asks_for_is_refused_without(
    session: Session, policy: AcceptancePolicy, code: str
) -> None:
    """A package that doesn't meet the policy leaves a receipt and nothing else."""
    session.packages.set_policy(policy)

    for verb in (
        session.packages.install,
        session.packages.restore,
        session.packages.clone,
    ):
        with pytest.raises(PackageRefusedError) as caught:
            verb(Maker("project_handoff").archive())
        assert code in {f.code for f in caught.value.report.findings}

    assert [] == list(session.packages.list())
    outcomes = [entry.outcome for entry in session.packages.receipts()]
    assert ["accepted", "refused", "refused", "refused"] == outcomes


def test_a_required_signature_lets_in(session: Session) -> None:
    """A package signed by the required key is installed when the key is trusted."""
    session.packages.set_policy(AcceptancePolicy(require_signature_from={KEY}))

    with pytest.raises(PackageRefusedError):
        session.packages.install(signed(Maker()))
    answer = session.packages.install(signed(Maker()), trusted={KEY: PUBLIC})

    assert answer.is_first
    exported = session.packages.export(ID)
    again = PackageSource(archive=exported.archive)
    report = session.packages.lint(again, trusted={KEY: PUBLIC})
    assert report.signatures is not None
    assert frozenset({KEY}) == report.signatures.verified


def test_a_bad_signature_by_a_trusted_key_refuses(session: Session) -> None:
    """Bytes that were changed after signing are refused, policy or not."""
    maker = Maker()
    source = signed(maker)
    assert source.files is not None
    broken = source.files[MANIFEST].replace(b"tests.example", b"other.example")

    with pytest.raises(PackageRefusedError) as caught:
        session.packages.install(
            PackageSource(files={**source.files, MANIFEST: broken}),
            trusted={KEY: PUBLIC},
        )

    assert "signature.bad" in {f.code for f in caught.value.report.findings}


def test_a_policy_holds_for_updates_too(session: Session) -> None:
    """A persona change that doesn't meet the policy is refused, the head stays."""
    one, two = Maker(), Maker()
    two.add(".uai/notes.uai", b"More.\n")
    session.packages.install(one.archive())
    digest = session.packages.show(ID).package.manifest_sha256
    session.packages.set_policy(AcceptancePolicy(issuers={"somebody-else"}))

    with pytest.raises(PackageRefusedError):
        session.packages.update(two.archive(), based_on=digest)

    assert digest == session.packages.show(ID).package.manifest_sha256


def test_the_newest_policy_counts(session: Session) -> None:
    """A policy holds until another is set; setting an empty one asks for nothing."""
    for policy in (
        AcceptancePolicy(issuers={"somebody-else"}),
        AcceptancePolicy(scopes={"persona_profile"}),
        AcceptancePolicy(),
    ):
        session.packages.set_policy(policy)
        assert policy == session.packages.policy()

    assert session.packages.install(Maker("project_handoff").archive()).is_first


@pytest.mark.every_backend
def test_a_policy_is_of_one_scope(session_of: Callable[[str], Session]) -> None:
    """What one scope asks for binds no other."""
    one, other = session_of("t/project/one"), session_of("t/project/two")
    one.packages.set_policy(AcceptancePolicy(issuers={"somebody-else"}))

    assert other.packages.install(Maker().archive()).is_first


@pytest.mark.every_backend
def test_a_policy_that_is_gone_refuses(session: Session) -> None:
    """When the policy's text was erased every package is refused until a new one."""
    session.packages.set_policy(AcceptancePolicy())
    with session.store.snapshot(session.scope) as snapshot:
        row = snapshot.scan("acceptance", "by_number", limit=1)[0]
    key = session.store.schema.of(row).key_of(row)
    session.store.append(Commit(session.scope, 0, erases=(("acceptance", key),)))

    with pytest.raises(CallerError) as caught:
        session.packages.install(Maker().archive())
    assert "policy.broken" == caught.value.code

    session.packages.set_policy(AcceptancePolicy())
    assert session.packages.install(Maker().archive()).is_first
