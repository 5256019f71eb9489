"""The recipes for other tools are true: each is taken from its page and run."""

from __future__ import annotations

import io
import re
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from tests.backends.postgres_server import execute

from uaix_backends import migrations
from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_backends.sqlite import SqliteStore

PAGE = Path(__file__).parents[2] / "docs/how-to/run-the-migrations.md"


def recipe(name):
    """The code of the page that is written into a file of this name."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return next(block for block in blocks if block.startswith(f"# {name}\n"))


@pytest.fixture
def database():
    """A database of a server, which is gone afterwards."""
    name = "tools"
    execute(f"DROP DATABASE IF EXISTS {name}")
    execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield server().rpartition("/")[0] + f"/{name}"
    execute(f"DROP DATABASE {name} WITH (FORCE)")


#: The last revision of the host's own.
OWN = """
revision = "8d2f6a1c"
down_revision = None


def upgrade():
    pass
"""
MODELS = "import sqlalchemy; target_metadata = sqlalchemy.MetaData()"


@contextmanager
def real_transactions():
    """Have every engine over SQLite set up as the page about transactions says."""

    def no_implicit_begin(raw, _record):
        if isinstance(raw, sqlite3.Connection):
            raw.isolation_level = None

    def begin(connection):
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    hooks = (("connect", no_implicit_begin), ("begin", begin))
    for name, hook in hooks:
        sqlalchemy.event.listen(sqlalchemy.Engine, name, hook)
    yield
    for name, hook in hooks:
        sqlalchemy.event.remove(sqlalchemy.Engine, name, hook)


def upgraded(folder, url):
    """Run the recipe for Alembic on a database."""
    (folder / "versions").mkdir()
    (folder / "versions" / "own.py").write_text(OWN)
    (folder / "versions" / "uaix_1.py").write_text(recipe("versions/uaix_1.py"))
    (folder / "script.py.mako").write_text("")
    models = recipe("env.py").replace("target_metadata = None", MODELS)
    (folder / "env.py").write_text(models)
    config = Config(output_buffer=io.StringIO())
    config.set_main_option("script_location", str(folder))
    config.set_main_option("sqlalchemy.url", url)
    assert ["uaix_1"] == ScriptDirectory.from_config(config).get_heads()
    with real_transactions():
        command.upgrade(config, "head")
        # The models of the host know nothing of our tables, and leave them alone.
        command.check(config)
    # What is told of a script without a connection.
    with pytest.raises(AttributeError):
        command.upgrade(config, "head", sql=True)


def test_alembic_makes_the_tables_of_sqlite(tmp_path):
    """What the recipe makes is joined, and a second upgrade changes nothing."""
    file = tmp_path / "app.db"
    upgraded(tmp_path, f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as raw:
        SqliteStore.join(raw).close()


def test_alembic_makes_the_tables_of_postgresql(tmp_path, database):
    """On PostgreSQL as well."""
    upgraded(tmp_path, database.replace("postgresql://", "postgresql+psycopg://"))
    with closing(PostgresStore.open(database)) as store:
        assert [] == store.scopes(limit=1)


PROJECT = """
import sys
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["app"],
    DATABASES={"default": %r},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()
from django.core.management import call_command
from django.db import connection, transaction
from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_core import PackageSource, Principal, ScopeId, Session, new_package

call_command("migrate", verbosity=0)
call_command("migrate", verbosity=0)

kind = connection.vendor
if kind == "sqlite":
    from uaix_backends.sqlite import SqliteStore as Store
else:
    from uaix_backends.postgres import PostgresStore as Store


class Refusal(Exception):
    pass


def install(number, fails):
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        store = Store.join(connection.connection)
        session = Session(
            store,
            scope=ScopeId.parse("acme/project/apollo"),
            principal=Principal.parse("human:alice"),
            clock=SystemClock(),
            ids=SystemIds(),
            random=SystemRandom(),
        )
        name = f"ada-{number}"
        files = new_package("persona", package_id=name, created_at=0, issuer="example")
        session.packages.install(PackageSource(name, files=files))
        found = [row.package_id for row in session.packages.list()]
        store.close()
        if fails:
            raise Refusal
        return found


print(install(1, False))
try:
    install(2, True)
except Refusal:
    pass
print(install(3, False))
"""


#: The last migration of the host's own.
INITIAL = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = []
    operations = []
"""


def migrated(folder, settings):
    """Run the recipe for Django, and installs inside of its transactions."""
    (folder / "app" / "migrations").mkdir(parents=True)
    for place in ("app", "app/migrations"):
        (folder / place / "__init__.py").write_text("")
    (folder / "app" / "migrations" / "0001_initial.py").write_text(INITIAL)
    text = recipe("migrations/0002_uaix.py")
    (folder / "app" / "migrations" / "0002_uaix.py").write_text(text)
    (folder / "run.py").write_text(PROJECT % settings)
    done = subprocess.run(
        [sys.executable, "run.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert ["['ada-1']", "['ada-1', 'ada-3']"] == done.stdout.splitlines()


def test_django_makes_the_tables_of_sqlite(tmp_path):
    """A store joins Django's transaction: its commit and its rollback are ours."""
    migrated(
        tmp_path,
        {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(tmp_path / "app.db"),
            "OPTIONS": {"transaction_mode": "IMMEDIATE"},
        },
    )


def test_django_makes_the_tables_of_postgresql(tmp_path, database):
    """On PostgreSQL as well."""
    address = sqlalchemy.make_url(database)
    migrated(
        tmp_path,
        {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": address.database,
            "USER": address.username,
            "HOST": address.host,
            "PORT": str(address.port),
        },
    )


def test_what_a_tool_sees_as_parameters_isnt_there():
    """No statement has what SQLAlchemy's or a driver's text would take for a mark."""
    for dialect in ("sqlite", "postgresql"):
        for script in migrations(dialect):
            for text in script.texts:
                assert re.search(r"%|\?|(?<![:\w]):\w", text) is None
                assert ";" not in text
