"""The verbs of the host's key ring: authority keys new, add, drop, list, used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_backends.secret_files import write_keys
from uaix_backends.system import SystemRandom
from uaix_core.access.keys import KEY_BYTES, KeyRing
from uaix_surfaces.cli.acting import read_ring
from uaix_surfaces.cli.failures import OK, UNUSABLE
from uaix_surfaces.cli.options import PATH, checked_id, json_option
from uaix_surfaces.cli.output import Output, counted, write_error
from uaix_surfaces.cli.places import new_place
from uaix_surfaces.cli.tenants import tenant_options

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_surfaces.cli.tenants import Over

#: How many random bytes the id of a key is made of, where none is given.
_ID_BYTES = 4


@click.group("keys", invoke_without_command=True)
@click.pass_context
def keys_verb(context: click.Context) -> int:
    r"""Make and change the host's key ring, a file that is kept outside of the store.

    Tokens are digested under its active key. The keys themselves are never printed.

    \b
    Examples:
      uaix authority keys new host.keys
      uaix authority keys add host.keys
      uaix authority keys list host.keys
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


_file_argument = click.argument("path", type=PATH, metavar="FILE")


def _id(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    if text is None:
        return f"k-{SystemRandom().bytes(_ID_BYTES).hex()}"
    return checked_id(text, "--id")


_id_option = click.option(
    "--id",
    "key_id",
    callback=_id,
    metavar="KEY_ID",
    help="The name of the key; without it a random one.",
)


@keys_verb.command("new")
@_file_argument
@_id_option
@json_option
def new_verb(path: Path, *, key_id: str, as_json: bool) -> int:
    r"""Write a new key ring into FILE, which only its owner can read.

    \b
    Example:
      uaix authority keys new host.keys
    """
    ring = KeyRing(key_id, {key_id: SystemRandom().bytes(KEY_BYTES)})
    write_keys(new_place(path), ring)
    return _tell(Output(as_json=as_json), path, ring)


@keys_verb.command("add")
@_file_argument
@_id_option
@json_option
def add_verb(path: Path, *, key_id: str, as_json: bool) -> int:
    r"""Add a key that is the active one from now on; the older ones stay.

    Tokens that were made under an older key stay good as long as it is in the ring.

    \b
    Example:
      uaix authority keys add host.keys
    """
    ring = read_ring(path).added(key_id, SystemRandom().bytes(KEY_BYTES))
    write_keys(path, ring, overwrite=True)
    return _tell(Output(as_json=as_json), path, ring)


@keys_verb.command("drop")
@_file_argument
@click.argument("key_id", metavar="KEY_ID")
@json_option
def drop_verb(path: Path, key_id: str, *, as_json: bool) -> int:
    r"""Take an older key out, once nothing needs it any more.

    From then on every token that was made under it stands for nobody, and what is
    sealed under it can't be read. uaix authority keys used lists what needs which,
    but for whole scopes that rest sealed under the same ring.

    \b
    Example:
      uaix authority keys drop host.keys k-5d1e90ab
    """
    ring = read_ring(path).without(checked_id(key_id, "KEY_ID"))
    write_keys(path, ring, overwrite=True)
    return _tell(Output(as_json=as_json), path, ring)


@keys_verb.command("list")
@_file_argument
@json_option
def list_verb(path: Path, *, as_json: bool) -> int:
    r"""List the ids of the keys in FILE, and which one is active.

    \b
    Example:
      uaix authority keys list host.keys
    """
    return _tell(Output(as_json=as_json), path, read_ring(path))


@keys_verb.command("used")
@tenant_options
@json_option
def used_verb(*, as_json: bool, over: Over) -> int:
    r"""List the keys that tokens or stored secrets of a tenant still need.

    \b
    Example:
      uaix authority keys used --keys host.keys --store sqlite:my.db --tenant acme
    """
    out = Output(as_json=as_json)
    with over.authority() as authority:
        lines = [one.as_dict() for one in authority.keys_used()]
    if not lines:
        write_error("nothing needs a key")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        rows = [tuple(line.values()) for line in lines]
        out.table(("key", "credentials", "secrets"), rows)
    return OK


def _tell(out: Output, path: Path, ring: KeyRing) -> int:
    ids = sorted(ring.keys)
    if out.as_json:
        out.line({"path": str(path), "active": ring.active, "keys": ids})
    else:
        out.say(f"{path}: {counted(len(ids), 'key')}", "ok")
        out.table(
            ("key", "active"), ((i, "yes" if i == ring.active else None) for i in ids)
        )
    return OK
