"""No verb shows what may be a password of an address that it was given."""

from __future__ import annotations

import click
import pytest

from uaix_surfaces.cli.program import VERBS, Program

SECRET = "hunter2"
ADDRESSES = (
    f"host=127.0.0.1 port=1 user=me password={SECRET}",
    f"password={SECRET}",
    f"postgresql:me:{SECRET}",
    f"postgresql://me:{SECRET}@127.0.0.1:1/db",
    f"postgresql://me:pa@{SECRET}@127.0.0.1:1/db",
    f"postgresql://me:pa/{SECRET}@127.0.0.1:1/db",
    f"mysql://me:{SECRET}@127.0.0.1/db",
)
#: What a parameter takes that isn't a store's address.
VALUES = {
    "SCOPE": "acme/personal/main",
    "KIND:ID": "human:ada",
    "ACTOR": "human:ada",
}


def commands():
    """Every verb, and those of the groups, by what is typed for it."""
    program = Program()
    found = {}
    for name in VERBS:
        command = program.get_command(click.Context(program), name)
        inner = getattr(command, "commands", None) or {"": command}
        found.update({(name, *filter(None, [k])): v for k, v in inner.items()})
    return found


def takes_url(parameter):
    return (parameter.name or "").endswith("url")


def calls(typed, command, place):
    """The verb once for each parameter that takes an address, with all it needs."""
    urls = [each for each in command.params if takes_url(each)]
    for asked in urls:
        for address in ADDRESSES:
            args = list(typed)
            for each in command.params:
                if each is asked:
                    value = address
                elif takes_url(each):
                    value = "backup:other" if each.name == "target_url" else "memory:"
                elif each.required or each.metavar == "SCOPE":
                    value = VALUES.get(each.metavar, place)
                    if isinstance(each.type, click.Choice):
                        value = each.type.choices[0]
                else:
                    continue
                is_option = isinstance(each, click.Option)
                args += [each.opts[0], value] if is_option else [value]
            yield args


CALLS = [(typed, command) for typed, command in commands().items()]


def test_the_verbs_that_take_an_address_are_found():
    """The test below is about the verbs that there are."""
    names = {typed[0] for typed, command in CALLS if list(calls(typed, command, ""))}
    assert {"install", "list", "verify", "backup", "store", "diff"} <= names


@pytest.mark.parametrize(
    ("typed", "command"), CALLS, ids=[" ".join(typed) for typed, _ in CALLS]
)
@pytest.mark.parametrize(("place", "more"), [("ada", ["--json"]), ("ada.uaix", [])])
@pytest.mark.usefixtures("archive", "folder")
def test_no_verb_shows_a_password(run, typed, command, place, more):
    """Wherever an address is wrong or leads nowhere, nothing of a password is shown."""
    for args in calls(typed, command, place):
        ran = run(*args, *more)
        assert ran.code, args
        assert SECRET not in ran.out + ran.err, args


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_hint_shows_a_password(run, address):
    """Where an address stands in another's place, the hint doesn't repeat it."""
    for args in (
        ("store", "copy", address, "backup:x"),
        ("store", "copy", address, address),
        ("store", "copy", "memory:", address),
    ):
        ran = run(*args)
        assert 0 != ran.code
        assert SECRET not in ran.out + ran.err, args
    if "//" in address:
        ran = run("backup", "--store", "sqlite:a", "-o", address)
        assert 0 != ran.code
        assert SECRET not in ran.out + ran.err
