"""The verb that shows the migrations takes what its dialect has, and nothing else."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "option",
    [
        ("--namespace", "mine"),
        ("--namespace", "uaix"),
        ("--partitions", "4"),
        ("--partitions", "0"),
    ],
)
def test_what_sqlite_has_not_is_wrong_usage(run, option):
    """Namespaces and partitions are PostgreSQL's, and aren't passed by in silence."""
    ran = run("migrations", "--dialect", "sqlite", *option)
    assert (2, "") == (ran.code, ran.out)
    assert f"{option[0]} is only for --dialect postgresql" in ran.err


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_each_dialect_has_its_statements(run, dialect):
    """Without options each dialect shows its statements, under the usual name."""
    ran = run("migrations", "--dialect", dialect, "--json")
    assert 0 == ran.code
    texts = "".join(ran.lines[0]["statements"])
    assert ('"uaix".' in texts or "uaix.uaix_meta" in texts) == (
        dialect == "postgresql"
    )


def test_what_postgresql_has_is_taken(run):
    """The namespace and the partitions stand in the statements."""
    options = ("--namespace", "mine", "--partitions", "4", "--json")
    ran = run("migrations", "--dialect", "postgresql", *options)
    texts = "".join(ran.lines[0]["statements"])
    assert 0 == ran.code
    assert "mine" in texts
    assert "MODULUS 4" in texts.upper()
