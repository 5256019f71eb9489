"""The verbs that copy stores whole: backup, and store copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.examining import check_scopes, readable_scopes
from uaix_backends.opening import open_store, shown_url
from uaix_backends.system import SystemClock
from uaix_core.store.copying import copy_whole
from uaix_core.values.errors import CallerError, ConflictError, IntegrityError
from uaix_surfaces.cli.acting import of_host
from uaix_surfaces.cli.failures import OK, REFUSED, UNUSABLE
from uaix_surfaces.cli.options import (
    json_option,
    optional_scope_option,
    scopes_option,
    store_option,
)
from uaix_surfaces.cli.output import Output, counted, write_error
from uaix_surfaces.cli.places import OVERWRITE_HINT
from uaix_surfaces.cli.recognising import are_same, file_name, require_scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from uaix_backends.backup import BackedUp
    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId


@click.command("backup")
@of_host
@store_option
@click.option(
    "-o",
    "--output",
    "path",
    required=True,
    callback=file_name,
    metavar="F",
    help="The file to write.",
)
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace F when it is a backup or an empty file; nothing else is replaced.",
)
@scopes_option
@json_option
def backup_verb(
    *,
    url: str,
    path: Path,
    overwrite: bool,
    scopes: Sequence[ScopeId],
    as_json: bool,
) -> int:
    r"""Back up every scope of a store into the one file F, while others may write.

    F is read back and verified before it gets its name. It is a store to read:
    backup:F is its URL, and uaix store copy makes another store of it. A damaged
    scope ends the backup; --scope names those that can be backed up without it.

    \b
    Examples:
      uaix backup --store sqlite:my.db -o my.backup
      uaix backup --store sqlite:my.db -o my.backup --overwrite
      uaix verify --store backup:my.backup
      uaix store copy backup:my.backup sqlite:again.db
    """
    out = Output(as_json=as_json)
    store = open_store(url, check=not scopes)
    try:
        for scope in scopes:
            require_scope(store, scope)
        done = _back_up(store, path, scopes, out, overwrite=overwrite)
    finally:
        store.close()
    lines = [
        {"scope": scope.text, "position": mark.seq, "head": mark.digest}
        for scope, mark in done.marks
    ]
    if as_json:
        out.line({"path": str(path), "bytes": done.bytes, "scopes": lines})
    else:
        out.say(
            f"{path}: verified: {counted(done.commits, 'commit')} in "
            f"{counted(len(lines), 'scope')}, {counted(done.bytes, 'byte')}",
            "ok",
        )
    return OK


def _back_up(
    store: Store, path: Path, scopes: Sequence[ScopeId], out: Output, *, overwrite: bool
) -> BackedUp:
    from uaix_backends.backup import write_backup  # noqa: PLC0415 - loads zstandard
    from uaix_backends.backup.writing import ONE_DAMAGED  # noqa: PLC0415

    try:
        with out.working(str(path)) as progress:
            return write_backup(
                store,
                path,
                made_at=SystemClock().now(),
                overwrite=overwrite,
                scopes=scopes or None,
                progress=lambda _scope, done, whole: progress(done, whole),
            )
    except CallerError as error:
        if error.code == "files.exists" and not path.is_dir():
            error.hint = OVERWRITE_HINT
        raise
    except IntegrityError as error:
        if error.hint == ONE_DAMAGED:
            error.hint = "--scope SCOPE backs up one of the others; it may be repeated"
        raise


@click.group("store", invoke_without_command=True)
@click.pass_context
def store_verb(context: click.Context) -> int:
    r"""Work on whole stores: copy one into another.

    \b
    Examples:
      uaix store copy sqlite:my.db dir:my-store
      uaix store copy --help

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


@store_verb.command("copy")
@of_host
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
    if target_url.startswith("backup:"):
        name = target_url.removeprefix("backup:") or "F"
        raise click.UsageError(
            "a backup is not written to; this makes one: "
            f"uaix backup --store {shown_url(source_url) or 'FROM'} -o {name}"
        )
    if are_same(source_url, target_url):
        raise click.UsageError("FROM and TO are the same store")
    out = Output(as_json=as_json)
    source = open_store(source_url, check=False)
    try:
        if scope is not None:
            require_scope(source, scope)
        target = open_store(target_url, create=True)
        try:
            return _copy_all(source, target, scope, out)
        finally:
            target.close()
    except KeyboardInterrupt:
        write_error("stopped; the same command goes on from here")
        raise
    finally:
        source.close()


def _copy_all(source: Store, target: Store, only: ScopeId | None, out: Output) -> int:
    scopes = [only] if only is not None else list(readable_scopes(source))
    lines = [_copy(source, target, one, out) for one in scopes]
    if not out.as_json:
        _show(out, lines)
    if only is None:
        # What can be listed is saved by now.
        check_scopes(source)
    return OK if all(line["ok"] for line in lines) else REFUSED


def _copy(source: Store, target: Store, scope: ScopeId, out: Output) -> dict[str, Any]:
    line: dict[str, Any]
    before, _head = _standing(target, scope)
    try:
        with out.working(scope.text) as progress:
            copied = copy_whole(source, target, scope, progress)
    except (IntegrityError, ConflictError) as error:
        # The other scopes can be copied all the same.
        position, head = _standing(target, scope)
        line = {
            "scope": scope.text,
            "position": position,
            "head": head,
            "commits": position - before,
            "ok": False,
            "error": error.as_dict(),
        }
    else:
        line = {
            **attrs.asdict(copied, recurse=False),
            "scope": scope.text,
            "ok": not copied.differences,
        }
    if out.as_json:
        out.line(line)
    return line


def _standing(store: Store, scope: ScopeId) -> tuple[int, str]:
    """Where a scope stands in the target; at nothing where that can't be read."""
    try:
        with store.snapshot(scope) as snapshot:
            return snapshot.position, snapshot.head
    except IntegrityError:
        return 0, ""


def _show(out: Output, lines: list[dict[str, Any]]) -> None:
    if not lines:
        out.say("the store holds no scope yet")
        return
    names = ("position", "head", "commits", "local", "ahead")
    shown = [{**line, "head": line["head"][:12]} for line in lines]
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
            where = f" at {error['path']}" if error["path"] else ""
            text = f"{error['code']}: {error['message']}{where}"
            saved = f"{counted(line['commits'], 'commit')} saved before it"
            out.say(f"{line['scope']}: {text}; {saved}", "error")
