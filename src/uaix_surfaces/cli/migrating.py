"""The verb that shows the migrations, for the tool that runs them."""

from __future__ import annotations

import click

from uaix_backends.migration_scripts import DIALECTS, Dialect, as_sql, migrations
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import json_option
from uaix_surfaces.cli.output import Output, write_error, write_out


@click.command("migrations")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    required=True,
    help="The database that takes the statements.",
)
@click.option(
    "--after",
    type=click.IntRange(0),
    default=0,
    metavar="VERSION",
    help="Only those above this version.",
)
@click.option(
    "--namespace",
    help="The database schema for the tables; only for postgresql.  [default: uaix]",
)
@click.option(
    "--partitions",
    type=int,
    metavar="N",
    help="Cut each table into N parts by scope; only for postgresql.",
)
@json_option
def migrations_verb(
    *,
    dialect: Dialect,
    after: int,
    namespace: str | None,
    partitions: int | None,
    as_json: bool,
) -> int:
    r"""Show the migrations that make the tables in a database of your own.

    Run each once, in the order of versions, with the tool that you run all others
    with. The last statement of each notes that it was run. A store that this library
    keeps by itself runs them when it is opened; a store that joins your transactions
    runs none.

    \b
    Examples:
      uaix migrations --dialect sqlite
      uaix migrations --dialect postgresql --namespace uaix --after 0
      uaix migrations --dialect sqlite --json
    """
    said = {"--namespace": namespace, "--partitions": partitions}
    for name, value in said.items():
        if dialect != "postgresql" and value is not None:
            raise click.UsageError(f"{name} is only for --dialect postgresql")
    out = Output(as_json=as_json)
    scripts = tuple(
        script
        for script in migrations(
            dialect,
            namespace="uaix" if namespace is None else namespace,
            partitions=partitions or 0,
        )
        if script.version > after
    )
    if not scripts:
        write_error(f"there is no migration above version {after}")
    elif as_json:
        for script in scripts:
            out.line(script.as_dict())
    else:
        write_out(as_sql(scripts))
    return OK
