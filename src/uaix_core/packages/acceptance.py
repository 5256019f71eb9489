"""The acceptance policy of a scope: how it is stored, found and brought to bear.

Fails closed: a policy that can't be read refuses every package until another is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.packages.answers import Refused
from uaix_core.packages.policy import (
    AcceptancePolicy,
    judge_policy,
    policy_text,
    read_policy,
)
from uaix_core.packages.relations import (
    ACCEPTANCE,
    ACCEPTANCE_IN_FORCE,
    Acceptance,
    AcceptanceInForce,
)
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.values.canonical import SALT_BYTES
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.lint import Report
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

#: The one key of `AcceptanceInForce`: what the policy is for.
PURPOSE: Final = "packages"
_IN_FORCE: Final = Ref(ACCEPTANCE_IN_FORCE.name, (PURPOSE,))


def in_force(snapshot: Snapshot) -> AcceptanceInForce | None:
    """The row of the policy in force, None when the scope never had one."""
    row = snapshot.get(ACCEPTANCE_IN_FORCE.name, (PURPOSE,))
    return cast("AcceptanceInForce | None", row)


def policy_of(row: AcceptanceInForce | None) -> AcceptancePolicy:
    """The policy of a row; without one a policy that asks for nothing.

    Raises:
        CallerError: ``policy.broken`` when its text is gone or can't be read.

    """
    if row is None:
        return AcceptancePolicy()
    try:
        return read_policy(row.policy or "")
    except CallerError as error:
        raise CallerError(
            "the scope's acceptance policy can't be read",
            code="policy.broken",
            hint="set it anew",
        ) from error


def expect_in_force(row: AcceptanceInForce | None) -> Expect:
    """That the same policy is still in force."""
    version = row.version if row is not None else 0
    return Expect(ACCEPTANCE_IN_FORCE.name, (PURPOSE,), version)


def judged_by_policy(snapshot: Snapshot, report: Report) -> Refused | Expect:
    """What the scope's policy says of an accepted package.

    Returns:
        The refusal, or what a commit has to expect so that no other policy comes in
        between.

    """
    row = in_force(snapshot)
    policy = policy_of(row)
    package, signatures = report.package, report.signatures
    if package is None or signatures is None:
        raise CallerError("only an accepted package meets a policy", code="policy.use")
    findings = judge_policy(policy, package, signatures)
    if not findings:
        return expect_in_force(row)
    return Refused(
        attrs.evolve(
            report,
            verdict="refuse",
            findings=(*findings, *report.findings),
            package=None,
        )
    )


def check_policy(policy: AcceptancePolicy) -> None:
    """Refuse what is no policy (``policy.value``)."""
    if not isinstance(policy, AcceptancePolicy):
        raise CallerError("not an acceptance policy", code="policy.value")


def decide_policy(
    snapshot: Snapshot, writing: Writing, policy: AcceptancePolicy
) -> Commit:
    """The commit that puts a policy in force, with its receipt."""
    row = in_force(snapshot)
    number = 1 if row is None else row.number + 1
    acceptance = ACCEPTANCE.named_by_header(
        "acceptance_id",
        writing.random.bytes(SALT_BYTES),
        number=number,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        policy=policy_text(policy),
    )
    receipt = receipt_row(
        writing,
        writing.ids.new(),
        operation="policy",
        outcome="accepted",
        details={"number": number},
    )
    return Commit(
        writing.scope,
        writing.now,
        expects=(expect_in_force(row),),
        adds=(acceptance, receipt),
    )


def reduce_acceptance(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Follow the newest policy; one that was erased stays in force without its text."""
    added = [row for row in recorded.commit.adds if isinstance(row, Acceptance)]
    lost = {row.acceptance_id for row in erased.values() if isinstance(row, Acceptance)}
    if added:
        newest = added[-1]
        return Changes(
            puts=(
                AcceptanceInForce(
                    PURPOSE, newest.acceptance_id, newest.number, newest.policy
                ),
            )
        )
    before = (yield {_IN_FORCE}) if lost else {}
    row = before.get(_IN_FORCE)
    if isinstance(row, AcceptanceInForce) and row.acceptance_id in lost:
        values = (PURPOSE, row.acceptance_id, row.number, None)
        return Changes(puts=(ACCEPTANCE_IN_FORCE.make(values, row.version),))
    return Changes()
