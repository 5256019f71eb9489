"""The program: its verbs, loaded when they are called, and how every run ends."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from uaix_surfaces.cli.output import (
    OutputClosedError,
    OutputFailedError,
    abandon_out,
    flush_out,
    prepare_streams,
    write_error,
    write_out,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Verb(NamedTuple):
    """Where a verb lives, and the line that the overview has for it."""

    module: str
    summary: str


VERBS = {
    "lint": Verb("judging", "Judge packages: archives or folders."),
    "explain": Verb("explaining", "Say why a file is required or refused."),
    "new": Verb("folders", "Make a complete package to edit."),
    "pack": Verb("packing", "Make an archive of a folder."),
    "unpack": Verb("folders", "Make a folder of an archive."),
    "diff": Verb("comparing", "Show what differs between two packages or states."),
    "keygen": Verb("signing", "Make a key to sign packages with."),
    "sign": Verb("signing", "Sign a package."),
    "sign-revisions": Verb("vouching", "Sign the revisions of a stored package."),
    "verify-revisions": Verb("vouching", "Find out who stands behind revisions."),
    "install": Verb("storing", "Store a package, in quarantine."),
    "restore": Verb("storing", "Bring a package back under its own identity."),
    "update": Verb("storing", "Make an edited package the new checkpoint."),
    "status": Verb("editing", "Show what was edited in a folder."),
    "adopt": Verb("editing", "Bring the edits of a folder in as revisions."),
    "refresh": Verb("editing", "Bring what others changed into a folder."),
    "replay": Verb("replaying", "Apply changes that were queued offline."),
    "revise": Verb("revising", "Give one record its next revision."),
    "tombstone": Verb("revising", "Retire a record; its history stays."),
    "revert": Verb("revising", "Make an older revision the next one."),
    "waiting": Verb("reviewing", "List what waits for a person."),
    "review": Verb("reviewing", "Say what a package or its records are."),
    "conflict": Verb("conflicts", "Show a candidate that lost, or take it out."),
    "resolve": Verb("conflicts", "Decide a conflict."),
    "revive": Verb("reviewing", "Bring a tombstoned record back."),
    "tier": Verb("tiering", "Write and read what is kept beside a persona."),
    "propose": Verb("proposing", "Propose a pointer, or a change of a file."),
    "proposals": Verb("proposing", "List what was proposed."),
    "decide": Verb("proposing", "Accept or decline a proposal."),
    "clone": Verb("storing", "Store a copy with an identity of its own."),
    "branch": Verb("parting", "Store a divergent state as a package of its own."),
    "derive": Verb("parting", "Store a transformed persona as another package."),
    "pick": Verb("parting", "Decide for one of two packages that have parted."),
    "export": Verb("exporting", "Read a package back, byte for byte."),
    "start": Verb("starting", "Put a package together for an agent."),
    "lease": Verb("leasing", "Say which session is at work with a package."),
    "consent": Verb("consenting", "Say who may see what a package hides."),
    "policy": Verb("accepting", "Show or set what a scope asks of packages."),
    "authority": Verb("administering", "Say who may do what, and give out tokens."),
    "whoami": Verb("standings", "Show who one is, and what one may do."),
    "list": Verb("reading", "List the packages of a scope."),
    "show": Verb("reading", "Show a package and its files."),
    "dimensions": Verb("dimensions", "List what the files of a package say."),
    "history": Verb("reading", "Show all that happened to a package."),
    "receipts": Verb("receipts", "List the receipts of a scope, refusals included."),
    "backup": Verb("copying", "Back up a store into one file."),
    "store": Verb("copying", "Copy a store into another one."),
    "migrations": Verb("migrating", "Show the statements that make the tables."),
    "verify": Verb("checking", "Verify a store: chains, digests, rows and views."),
    "doctor": Verb("checking", "Examine a store: what it runs on, and advice."),
    "demo": Verb("demo", "Watch a package go through everything."),
}

_WIDTH = 80


def with_blocks(command: click.Command) -> click.Command:
    r"""Turn each ``\b`` of a help text into the mark that keeps its lines apart.

    Docstrings are raw, so that what stands in them is what one reads.
    """
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_blocks(inner)
    return command


class Program(click.Group):
    """The group of the verbs; no error leaves it as a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The verbs in the order in which one meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load the module of a verb."""
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        module = import_module(f"uaix_surfaces.cli.{verb.module}")
        command = getattr(module, f"{cmd_name.replace('-', '_')}_verb")
        assert isinstance(command, click.Command)  # noqa: S101 - the table is ours
        return with_blocks(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called; of a mistyped one say what may be meant."""
        name = args[0]
        is_verb = name in VERBS or name.startswith("-")
        if is_verb or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        near = get_close_matches(name, VERBS, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise click.UsageError(f"there is no verb {name!r}{meant}", ctx)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the overview without loading any verb."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002
        **extra: Any,
    ) -> Any:
        """Run a verb and end the process with its exit code."""
        given = list(sys.argv[1:] if args is None else args)

        def run() -> Any:
            return super(Program, self).main(
                given,
                prog_name or "uaix",
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )

        if not standalone_mode:
            return run()
        prepare_streams()
        sys.exit(_end(run, as_json="--json" in given, debug="--traceback" in given[:1]))


def _end(run: Callable[[], Any], *, as_json: bool, debug: bool) -> int:
    """The exit code of a run; its errors are told in their one form."""
    # The library's errors are loaded only when there is one to be told.
    from uaix_surfaces.cli import failures  # noqa: PLC0415

    try:
        try:
            code = run()
        except (click.Abort, OutputClosedError, OutputFailedError):
            raise
        except Exception as error:
            if debug and not isinstance(error, click.ClickException):
                raise
            if isinstance(error, OSError):
                # Where it was the output that failed, this says so instead.
                flush_out()
            code = _told(error, as_json=as_json)
        flush_out()
    except (click.Abort, KeyboardInterrupt):
        return failures.INTERRUPTED
    except (OutputClosedError, SystemExit):
        # Nothing exits by itself but click's own printing, on a closed pipe.
        abandon_out()
        return failures.CLOSED
    except OutputFailedError as error:
        abandon_out()
        write_error(f"output.failed: writing the output failed: {error}")
        return failures.MEDIUM
    return code if isinstance(code, int) else failures.OK


def _told(error: Exception, *, as_json: bool) -> int:
    from uaix_core.values.errors import UaixError  # noqa: PLC0415 - as above
    from uaix_surfaces.cli import failures  # noqa: PLC0415

    if isinstance(error, failures.Unusable):
        failures.tell(error.error.as_dict(), as_json=as_json)
        return failures.UNUSABLE
    if isinstance(error, UaixError):
        failures.tell(error.as_dict(), as_json=as_json)
        return failures.exit_code(error)
    if isinstance(error, OSError):
        told = _plain("files.io", error.strerror or type(error).__name__, None)
        told["path"] = None if error.filename is None else str(error.filename)
        failures.tell(told, as_json=as_json)
        return failures.MEDIUM
    if isinstance(error, click.ClickException):
        told = _plain("usage", error.format_message(), _help_of(error))
        failures.tell(told, as_json=as_json)
        return failures.UNUSABLE
    # The text of an unforeseen error may quote content, so only its kind is named.
    told = _plain(
        "defect",
        f"an unforeseen {type(error).__name__}",
        "uaix --traceback VERB shows where; please report it",
    )
    failures.tell(told, as_json=as_json)
    return failures.DEFECT


def _plain(code: str, message: str, hint: str | None) -> dict[str, Any]:
    return {"code": code, "message": message, "path": None, "hint": hint}


def _help_of(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return None if context is None else f"see {context.command_path} --help"


def _version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001
    if not wanted or context.resilient_parsing:
        return
    from importlib.metadata import version  # noqa: PLC0415 - reads files

    write_out(f"uaix {version('uaix-core')}\n")
    context.exit()


@click.command(
    cls=Program, context_settings={"max_content_width": _WIDTH}, no_args_is_help=False
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and leave.",
)
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help="Show where an unforeseen error arose (first on the line).",
)
def main() -> None:
    r"""Keep an AI's persona and memory as packages of files, under governance.

    A package is a folder, or an archive of it with the extension .uaix.
    A store is named by a URL: sqlite:PATH, dir:PATH, postgresql://... or memory:,
    and a backup of one, to read, by backup:PATH.
    A scope says whose a package is: TENANT/KIND/KEY, for example acme/project/apollo.

    \b
    To begin:
      uaix demo uaix-demo
      uaix new persona my-persona
      uaix pack my-persona -o my-persona.uaix
      uaix install my-persona.uaix --store sqlite:my.db --scope me/personal/main

    Exit codes: 0 done, 1 refused or not found, 2 wrong usage or unreadable,
    3 the medium failed.
    """


with_blocks(main)
