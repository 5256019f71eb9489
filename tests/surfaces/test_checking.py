"""The verbs verify and doctor: what they find, name and say."""

from __future__ import annotations

import shutil

import attrs
import pytest

from uaix_backends import open_store
from uaix_core.packages.relations import PACKAGE
from uaix_core.values.ids import ScopeId
from uaix_surfaces.cli import checking
from uaix_surfaces.cli.checking import rebuild_scope

SCOPE = ScopeId.parse("acme/personal/main")
#: What the body of a stored file begins with.
BODY = b"# Package identity"
VERIFIED = {"scope", "position", "head", "rows", "flaws", "ok"}
EXAMINED = VERIFIED | {"packages", "rebuilt"}


@pytest.fixture
def two_scopes(run, archive, at):
    """The options that name a store of two scopes."""
    run("install", archive, *at)
    run("install", archive, *at[:2], "--scope", "acme/shared/other")
    return at[:2]


def test_verify_finds_a_sound_store_sound(run, two_scopes):
    """The medium and each scope are a line without flaws, and nothing changes."""
    ran = run("verify", *two_scopes, "--json")

    assert (0, "") == (ran.code, ran.err)
    medium, *scopes = ran.lines
    assert {"store": two_scopes[1], "ok": True, "advice": []} == medium
    assert ["acme/personal/main", "acme/shared/other"] == [s["scope"] for s in scopes]
    for line in scopes:
        assert VERIFIED == set(line)
        assert (1, [], True) == (line["position"], line["flaws"], line["ok"])
        assert line["rows"] > 31
    assert ran.lines == run("verify", *two_scopes, "--json").lines


def test_verify_may_look_at_one_scope(run, two_scopes):
    """With --scope no other scope is looked at."""
    ran = run("verify", *two_scopes, "--scope", "acme/shared/other", "--json")

    assert ["acme/shared/other"] == [line["scope"] for line in ran.lines[1:]]


@pytest.mark.parametrize("rebuild", [False, True])
def test_doctor_says_more(run, two_scopes, rebuild):
    """Doctor tells facts of the medium, packages, and what a rebuild went through."""
    args = ("doctor", *two_scopes, *(["--rebuild"] if rebuild else []), "--json")

    ran = run(*args)

    assert (0, "") == (ran.code, ran.err)
    medium, *scopes = ran.lines
    assert {"store", "ok", "facts", "advice"} == set(medium)
    assert medium["facts"]
    for line in scopes:
        assert EXAMINED == set(line)
        assert (1, 1 if rebuild else None) == (line["packages"], line["rebuilt"])
    assert ran.lines[1:] == run(*args).lines[1:]


def test_doctor_names_the_version_of_sqlite(run, archive):
    """The facts of a SQLite store say on which SQLite it runs, and in which mode."""
    at = ("--store", "sqlite:store.db")
    run("install", archive, *at, "--scope", SCOPE.text)

    facts = run("doctor", *at, "--json").lines[0]["facts"]

    assert facts["sqlite"].count(".") == 2
    assert ("wal", "FULL", "0600", False) == (
        facts["journal_mode"],
        facts["synchronous"],
        facts["mode"],
        facts["erasing"],
    )


def test_doctor_says_what_server_it_is(run, archive):
    """The facts of a PostgreSQL store tell the version, and how durable commits are."""
    from tests.backends.postgres_server import emptied  # noqa: PLC0415 - starts it

    at = ("--store", emptied())
    run("install", archive, *at, "--scope", SCOPE.text)

    ran = run("doctor", *at, "--json")

    facts = ran.lines[0]["facts"]
    assert (0, True) == (ran.code, facts["postgresql"][0].isdigit())
    assert (False, "repeatable read") == (facts["is_standby"], facts["reads"])
    assert {facts["synchronous_commit"], facts["fsync"]} <= {"on", "off"}
    warned = {a["code"]: a["level"] for a in ran.lines[0]["advice"]}
    for name in ("synchronous_commit", "fsync"):
        code = f"postgres.{name.replace('_', '-')}"
        assert ("warning" if facts[name] == "off" else None) == warned.get(code)


@pytest.mark.parametrize("url", ["sqlite:store.db", "dir:store"])
def test_open_files_are_advised_about(run, archive, tmp_path, url):
    """Files that others may read are a warning, and the store is sound all the same."""
    at = ("--store", url)
    run("install", archive, *at, "--scope", SCOPE.text)
    for path in [tmp_path / "store.db", *tmp_path.rglob("segment.jsonl")]:
        if path.exists():
            path.chmod(0o644)

    ran = run("doctor", *at, "--json")

    assert 0 == ran.code
    assert ["store.mode"] == [a["code"] for a in ran.lines[0]["advice"]]
    assert "store.mode" in run("doctor", *at).out
    assert "store.mode" not in run("verify", *at).out


@pytest.mark.parametrize("verb", ["verify", "doctor"])
def test_an_empty_store_is_ok(run, verb):
    """A store without any scope has nothing wrong with it."""
    ran = run(verb, "--store", "memory:")

    assert 0 == ran.code
    assert "no scope" in ran.out


@pytest.mark.parametrize("verb", ["verify", "doctor"])
def test_a_missing_store_is_not_made(run, tmp_path, verb):
    """Checking opens stores and never makes one."""
    assert 2 == run(verb, "--store", "sqlite:none.db").code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("verb", "url"),
    [(v, u) for v in ("verify", "doctor") for u in ("sqlite:store.db", "dir:store")],
)
def test_a_changed_body_is_found(run, archive, tmp_path, url, verb):
    """A byte that was changed on the medium is found, and its record is named."""
    at = ("--store", url)
    run("install", archive, *at, "--scope", SCOPE.text)
    if url.startswith("dir"):
        (path,) = tmp_path.rglob("segment.jsonl")
        data = path.read_bytes()
        place = data.find(b'"sha256"') + 12
    else:
        path = tmp_path / "store.db"
        data = path.read_bytes()
        place = data.find(BODY)
    assert place > 12
    path.write_bytes(data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :])

    ran = run(verb, *at, "--json")

    assert 1 == ran.code
    (flaw,) = ran.lines[-1]["flaws"]
    assert not ran.lines[-1]["ok"]
    where = f"{SCOPE.text}#1 " if url.startswith("dir") else "revision "
    assert flaw["path"].startswith(where)
    shown = run(verb, *at)
    assert 1 == shown.code
    assert "wrong" in shown.out
    assert flaw["code"] in shown.out
    assert flaw["path"] in shown.out


def test_damage_behind_a_cache_is_found(run, archive, tmp_path, monkeypatch):
    """A segment that rots while reads come from the cache is found by verify."""
    from uaix_backends.directory import caching  # noqa: PLC0415 - to force a cache

    monkeypatch.setattr(caching, "_COMMITS", 1)
    monkeypatch.setattr(caching, "_PART", 0)
    at = ("--store", "dir:store")
    run("install", archive, *at, "--scope", SCOPE.text)
    run("clone", "ada", "--id", "ada-2", *at, "--scope", SCOPE.text)
    (path,) = tmp_path.rglob("segment.jsonl")
    assert list(tmp_path.rglob("tables.cache"))
    data = path.read_bytes()
    place = data.find(b'"sha256"') + 12
    path.write_bytes(data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :])

    listed = run("list", *at, "--scope", SCOPE.text, "--json")
    ran = run("verify", *at, "--json")

    assert (0, "ada") == (listed.code, listed.lines[0]["package_id"])
    assert 1 == ran.code
    assert not ran.lines[0]["ok"]
    (advice,) = ran.lines[0]["advice"]
    assert advice["path"].startswith(f"{SCOPE.text}#1")


def test_a_damaged_page_is_found(run, archive, tmp_path, monkeypatch):
    """What SQLite itself finds wrong with its pages is an error of the medium."""
    import apsw  # noqa: PLC0415 - to spoil an index

    from uaix_backends.sqlite import opening  # noqa: PLC0415 - to open it all the same

    monkeypatch.setattr(opening, "_CHECKED_BYTES", 0)
    at = ("--store", "sqlite:store.db")
    run("install", archive, *at, "--scope", SCOPE.text)
    spoiling = apsw.Connection(str(tmp_path / "store.db"))
    spoiling.execute("PRAGMA writable_schema=ON")
    before = spoiling.execute(
        "SELECT sql FROM sqlite_schema WHERE name = 'uaix_revision.by_record'"
    ).get
    spoiling.execute("PRAGMA writable_schema=OFF")
    spoiling.execute('DROP INDEX "uaix_revision.by_record"')
    partial = before + " WHERE seq > 99"
    spoiling.execute(partial)
    spoiling.execute("PRAGMA writable_schema=ON")
    spoiling.execute(
        "UPDATE sqlite_schema SET sql = ? WHERE name = 'uaix_revision.by_record'",
        (before,),
    )
    spoiling.close()

    ran = run("verify", *at, "--json")

    assert 1 == ran.code
    assert "sqlite.integrity" in [a["code"] for a in ran.lines[0]["advice"]]
    assert "revision by_record" in [f["path"] for f in ran.lines[1]["flaws"]]


@pytest.fixture
def misnamed(run, archive):
    """A store of each kind that lasts, and a backup, under names that tell nothing."""
    for url in ("sqlite:s", "dir:d"):
        run("install", archive, "--store", url, "--scope", SCOPE.text)
    run("backup", "--store", "sqlite:s", "-o", "b")


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("s", "sqlite:s"),
        ("d", "dir:d"),
        ("b", "backup:b"),
        ("sqlite:b", "backup:"),
        ("dir:b", "backup:"),
        ("sqlite:d", "dir:"),
        ("backup:s", "sqlite:s"),
        ("backup:d", "dir:d"),
    ],
)
@pytest.mark.usefixtures("misnamed")
def test_what_lies_there_is_recognised(run, url, meant):
    """A store that is named as another kind, or as none, is told by its own URL."""
    ran = run("verify", "--store", url, "--json")

    assert 2 == ran.code
    assert ran.line["error"]["hint"].startswith(f"did you mean {meant}")


@pytest.mark.usefixtures("misnamed")
def test_what_is_no_store_is_not_guessed(run, tmp_path):
    """Files of others, folders and nothing at all get no URL as their hint."""
    (tmp_path / "text").write_text("text")
    (tmp_path / "folder").mkdir()
    for name in ("text", "folder", "none", "sqlite:text", "dir:folder", "dir:none"):
        ran = run("verify", "--store", name)
        assert 2 == ran.code
        assert "did you mean" not in ran.err


def test_a_missing_backup_is_made_by_backup(run):
    """Where no backup is, no verb is named that makes stores."""
    ran = run("verify", "--store", "backup:none")

    assert 2 == ran.code
    assert "uaix backup" in ran.err
    assert "install" not in ran.err
    assert "install" in run("verify", "--store", "sqlite:none").err


@pytest.mark.usefixtures("misnamed")
def test_a_backup_that_was_cut_short_is_damaged(run, tmp_path):
    """Half a backup is a damaged medium, and no wrong name."""
    whole = (tmp_path / "b").read_bytes()
    (tmp_path / "b").write_bytes(whole[: len(whole) // 2])

    ran = run("verify", "--store", "backup:b", "--json")

    assert (3, "storage.backup") == (ran.code, ran.line["error"]["code"])


class Damaged:
    """A store whose package rows say something else until they are rebuilt."""

    def __init__(self, store):
        self._store = store
        self._is_damaged = True

    def __getattr__(self, name):
        return getattr(self._store, name)

    def rebuild(self, scope):
        self._is_damaged = False
        return self._store.rebuild(scope)

    def snapshot(self, scope):
        return DamagedView(self._store.snapshot(scope), self._is_damaged)


class DamagedView:
    def __init__(self, inner, is_damaged):
        self._inner = inner
        self._is_damaged = is_damaged

    def __enter__(self):
        self._view = self._inner.__enter__()
        return self

    def __exit__(self, *error):
        return self._inner.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._view, name)

    def scan(self, relation, *args, **options):
        rows = self._view.scan(relation, *args, **options)
        if self._is_damaged and relation == PACKAGE.name:
            return [attrs.evolve(row, state="active") for row in rows]
        return rows


@pytest.fixture
def damaged(run, archive, tmp_path, monkeypatch):
    """The name of a store whose package rows are wrong until they are rebuilt."""
    run("install", archive, "--store", "sqlite:store.db", "--scope", SCOPE.text)
    store = Damaged(open_store(f"sqlite:{tmp_path / 'store.db'}"))
    monkeypatch.setattr(checking, "open_store", lambda _url, **_: store)
    return "sqlite:store.db"


def test_rows_that_no_commit_says_are_found(run, damaged):
    """A derived row that differs from the replay is named by relation and key."""
    ran = run("verify", "--store", damaged, "--json")

    assert 1 == ran.code
    assert [("verify.differs", "package ada")] == [
        (flaw["code"], flaw["path"]) for flaw in ran.lines[1]["flaws"]
    ]


def test_a_rebuild_that_changes_rows_is_told(run, damaged):
    """What a rebuild put right was wrong, and both are said."""
    ran = run("doctor", "--store", damaged, "--rebuild", "--json")

    assert 1 == ran.code
    assert [("verify.differs", "package ada"), ("doctor.rebuilt", "package")] == [
        (flaw["code"], flaw["path"]) for flaw in ran.lines[1]["flaws"]
    ]


def test_a_second_rebuild_changes_nothing(run, archive, tmp_path):
    """A sound scope comes out of a rebuild as it went in."""
    run("install", archive, "--store", "dir:store", "--scope", SCOPE.text)
    store = open_store(f"dir:{tmp_path / 'store'}")
    rebuilt = rebuild_scope(store, SCOPE)
    store.close()

    assert (1, []) == (rebuilt.commits, rebuilt.flaws)


def test_a_store_whose_file_was_moved_is_told(run, archive, tmp_path):
    """Verifying where nothing lies any more is wrong usage, as everywhere."""
    at = ("--store", "dir:store")
    run("install", archive, *at, "--scope", SCOPE.text)
    shutil.move(tmp_path / "store", tmp_path / "elsewhere")

    assert 2 == run("verify", *at).code
    assert 0 == run("verify", "--store", "dir:elsewhere").code


def test_a_postgres_store_is_verified_and_shows_no_password(run, archive):
    """The verbs work on a server, and no line of theirs shows who asked it."""
    from tests.backends.postgres_server import emptied  # noqa: PLC0415 - starts it

    url = emptied().replace("postgres@", "postgres:hunter2@")
    at = ("--store", url, "--scope", SCOPE.text)
    installed = run("install", archive, *at)
    assert 0 == installed.code, installed.err
    for verb in ("verify", "doctor"):
        ran = run(verb, "--store", url, "--json")
        assert (0, 1) == (ran.code, ran.lines[1]["position"])
        assert "hunter2" not in ran.out + ran.err
    copied = run("store", "copy", url, "dir:copy", "--json")
    assert (0, []) == (copied.code, copied.line["differences"])
