"""The verb for what a scope asks of packages: policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_core.packages.policy import AcceptancePolicy
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import json_option
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.telling import warn_of_memory

if TYPE_CHECKING:
    from uaix_surfaces.cli.acting import At


def _ids(
    _context: click.Context, _option: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    if not named:
        return ()
    from uaix_surfaces.cli.keys import key_id_named  # noqa: PLC0415 - on demand

    with usable():
        return tuple(map(key_id_named, named))


@click.command("policy")
@at_options
@click.option(
    "--issuer",
    "issuers",
    multiple=True,
    metavar="TEXT",
    help="Accept packages of this issuer only; each of these may be repeated.",
)
@click.option(
    "--accept-scope",
    "scopes",
    multiple=True,
    metavar="SCOPE",
    help="Accept packages that declare no other scope, but for universal.",
)
@click.option(
    "--key-id",
    "--key",
    "key_ids",
    multiple=True,
    callback=_ids,
    metavar="ID|FILE",
    help="Accept signatures by this key only: its id, or a file with the public key.",
)
@click.option(
    "--require-signature-from",
    multiple=True,
    callback=_ids,
    metavar="ID|FILE",
    help="Accept packages only that this key signed as a whole; of several, any one.",
)
@click.option("--clear", is_flag=True, help="Ask for nothing any more.")
@json_option
def policy_verb(*, at: At, clear: bool, as_json: bool, **words: tuple[str, ...]) -> int:
    r"""Show what a scope asks of packages, or set it.

    Without options the policy in force is shown. With any of them a new policy takes
    its place: what isn't named then is asked for no more. Every install, restore,
    update and clone has to meet it; it can only refuse.

    \b
    Examples:
      uaix policy --store sqlite:my.db --scope me/personal/main
      uaix policy --require-signature-from maren.pub \
        --store sqlite:my.db --scope me/personal/main
    """
    named = {name: frozenset(some) for name, some in words.items() if some}
    if clear and named:
        raise click.UsageError("--clear stands alone")
    receipt = None
    with usable():
        policy = AcceptancePolicy(**named)
    if named:
        warn_of_memory(at.url)
    with at.session(create=bool(named)) as session:
        if named or clear:
            receipt = session.packages.set_policy(policy)
        else:
            policy = session.packages.policy()
    _tell(Output(as_json=as_json), at, policy, receipt)
    return OK


def _tell(out: Output, at: At, policy: AcceptancePolicy, receipt: str | None) -> None:
    fields: dict[str, Any] = {
        name: None if words is None else sorted(words)
        for name, words in attrs.asdict(policy).items()
    }
    if out.as_json:
        out.line({"scope": at.scope.text, **fields, "receipt": receipt})
        return
    asks = any(words is not None for words in fields.values())
    now = "" if receipt is None else "from now on "
    what = "packages have to meet a policy" if asks else "nothing more is asked for"
    out.say(f"{at.scope.text}: {now}{what}", "accepted")
    rows = [(name, ", ".join(words)) for name, words in fields.items() if words]
    out.pairs([*rows, *((("receipt", receipt),) if receipt else ())])
