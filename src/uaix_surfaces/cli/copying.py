"""The verbs that copy stores whole: backup, and store copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.opening import open_store
from uaix_backends.system import SystemClock
from uaix_core.store.copying import all_scopes, copy_whole
from uaix_core.values.errors import ConflictError, IntegrityError
from uaix_surfaces.cli.failures import OK, REFUSED
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    optional_scope_option,
    overwrite_option,
    store_option,
)
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId


@click.command("backup")
@store_option
@click.option(
    "-o", "--output", "path", required=True, type=PATH, metavar="F", help="The file."
)
@overwrite_option
@json_option
def backup_verb(*, url: str, path: Path, overwrite: bool, as_json: bool) -> int:
    r"""Back up every scope of a store into the one file F, while others may write.

    F is read back and verified before it gets its name. It is a store to read:
    backup:F is its URL, and uaix store copy makes another store of it.

    \b
    Examples:
      uaix backup --store sqlite:my.db -o my.backup
      uaix verify --store backup:my.backup
      uaix store copy backup:my.backup sqlite:again.db
    """
    from uaix_backends.backup import write_backup  # noqa: PLC0415 - loads zstandard

    out = Output(as_json=as_json)
    store = open_store(url)
    try:
        with out.working(str(path)) as progress:
            done = write_backup(
                store,
                path,
                made_at=SystemClock().now(),
                overwrite=overwrite,
                progress=lambda _scope, done, whole: progress(done, whole),
            )
    finally:
        store.close()
    scopes = [
        {"scope": scope.text, "position": mark.seq, "head": mark.digest}
        for scope, mark in done.marks
    ]
    if as_json:
        out.line({"path": str(path), "bytes": done.bytes, "scopes": scopes})
    else:
        out.say(
            f"{path}: verified: {done.commits:,} commits in {len(scopes):,} scopes, "
            f"{done.bytes:,} bytes",
            "ok",
        )
    return OK


@click.group("store")
def store_verb() -> None:
    """Work on whole stores."""


@store_verb.command("copy")
@click.argument("source_url", metavar="FROM")
@click.argument("target_url", metavar="TO")
@optional_scope_option
@json_option
def copy_verb(
    source_url: str, target_url: str, *, scope: ScopeId | None, as_json: bool
) -> int:
    r"""Copy all scopes of the store FROM into the store TO, and verify them there.

    TO is made when it isn't there. Scope after scope is replayed commit by commit; a
    copy that was cut short goes on where it stood when the command is given again,
    and one of a store that has grown brings what is new. Local rows (jobs, keys) go
    along. A scope that has another history in TO is refused and left as it is.

    \b
    Examples:
      uaix store copy sqlite:my.db dir:my-store
      uaix store copy backup:my.backup sqlite:again.db
      uaix store copy dir:a dir:b --scope me/personal/main
    """
    out = Output(as_json=as_json)
    source = open_store(source_url)
    try:
        target = open_store(target_url, create=True)
        try:
            scopes = [scope] if scope is not None else list(all_scopes(source))
            lines = [_copy(source, target, one, out) for one in scopes]
        finally:
            target.close()
    finally:
        source.close()
    if not as_json:
        _show(out, lines)
    return OK if all(line["ok"] for line in lines) else REFUSED


def _copy(source: Store, target: Store, scope: ScopeId, out: Output) -> dict[str, Any]:
    line: dict[str, Any]
    try:
        with out.working(scope.text) as progress:
            copied = copy_whole(source, target, scope, progress)
    except (IntegrityError, ConflictError) as error:
        # The other scopes can be copied all the same.
        line = {"scope": scope.text, "ok": False, "error": error.as_dict()}
    else:
        line = {
            **attrs.asdict(copied, recurse=False),
            "scope": scope.text,
            "ok": not copied.differences,
        }
    if out.as_json:
        out.line(line)
    return line


def _show(out: Output, lines: list[dict[str, Any]]) -> None:
    if not lines:
        out.say("the store holds no scope yet")
        return
    names = ("position", "head", "commits", "local", "ahead")
    shown = [{**line, "head": line.get("head", "")[:12]} for line in lines]
    out.table(
        ("scope", *names, "verdict"),
        (
            (
                line["scope"],
                *(line.get(name) for name in names),
                "ok" if line["ok"] else "wrong",
            )
            for line in shown
        ),
    )
    for line in lines:
        for name in line.get("differences", ()):
            out.say(f"{line['scope']}: the rows of {name} differ", "error")
        if "error" in line:
            error = line["error"]
            out.say(f"{line['scope']}: {error['code']}: {error['message']}", "error")
