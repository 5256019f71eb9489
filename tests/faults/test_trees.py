"""The working tree of a directory store under kills, errors, cuts and planted files."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.backends.ledger import holding, same_descriptors
from tests.backends.tree_stores import (
    SCOPE,
    TREES,
    Remark,
    erase,
    opened,
    page,
    put,
    scope_tree,
    shown,
    strays,
    used,
    wanted,
)
from tests.faults.forking import KILLED, Forker
from tests.faults.points import IS_ALL, chosen
from tests.faults.striking import copied, done, kill_points, killed, prepared, told
from tests.faults.test_directory_power_cuts import Crash, Disk
from tests.faults.test_errors import plans, struck
from tests.faults.test_interrupts import lines_of
from tests.faults.test_media import (
    _MS_RDONLY,
    _MS_REMOUNT,
    IS_ROOT,
    NOBODY,
    has_mounts,
    mount,
)
from tests.faults.test_planted import PLANTS, exchange
from tests.faults.works import Work

from uaix_backends.directory import DirectoryStore, files
from uaix_backends.directory import scope_tree as scope_tree_module
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.metering import Meter
    from tests.faults.works import Say

CANARY: Final = "canary-7f3a-canary-7f3a"


def steps() -> list[Any]:
    """What is done to a store one after the other: rows to add, or names to erase."""
    return [
        [page("p1", "a.md", b"one"), page("p2", "in/b.md", b"two", record="s")],
        [page("p3", "a.md", CANARY.encode())],
        [
            page("p4", "in/c.md", b"three", record="s"),
            page("p5", "d", b"x", folder="g"),
        ],
        ["p3"],
        [page("p6", "", folder="g"), page("p7", "a.md", b"four")],
    ]


#: So many steps, and the canary is erased.
ERASED_AT: Final = 4
#: The modules of the working tree alone.
_TREE_MODULES: Final = ("directory/tree_", "directory/scope_tree")


def do(store: Any, step: list[Any]) -> None:
    """Add these rows or erase these names."""
    if isinstance(step[0], str):
        erase(store, *step)
    else:
        put(store, *step)


#: What the tree is to hold after no step, the first, and so on.
STATES: Final = [
    {},
    {"f/a.md": b"one", "f/in/b.md": b"two"},
    {"f/a.md": CANARY.encode(), "f/in/b.md": b"two"},
    {"f/a.md": CANARY.encode(), "f/in/c.md": b"three", "g/d": b"x"},
    {"f/in/c.md": b"three", "g/d": b"x"},
    {"f/a.md": b"four", "f/in/c.md": b"three"},
]


class Trees(Work):
    """Showing all kinds of changes, an erasure among them."""

    def prepare(self, path: Path) -> None:
        """An empty store."""
        opened(path).close()

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Do each step and say its number once it was acknowledged."""
        with contextlib.closing(opened(path)) as store:
            meter.is_armed = True
            for number, step in enumerate(steps(), 1):
                do(store, step)
                say(number)

    def check(self, path: Path, said: list[Any]) -> None:
        """The ledger is whole, the next reading completes the tree, work goes on."""
        last = max((one for one in said if isinstance(one, int)), default=0)
        with same_descriptors(), contextlib.closing(opened(path)) as store:
            found = wanted(store)
            assert found in STATES[last : last + 2]
            assert found == shown(path)
            assert [] == strays(path)
            at = STATES.index(found)
            if at >= ERASED_AT:
                assert [] == holding(path, CANARY)
            for step in steps()[at:]:
                do(store, step)
        assert STATES[-1] == shown(path)
        assert [] == holding(path, CANARY)
        assert [] == strays(path)


class Rereading(Trees):
    """Bringing a tree up to date that somebody has removed."""

    def prepare(self, path: Path) -> None:
        """A store with files and without a tree."""
        with contextlib.closing(opened(path, tree=False)) as store:
            for step in steps()[:3]:
                do(store, step)

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Open it and read it."""
        with contextlib.closing(opened(path)) as store:
            meter.is_armed = True
            wanted(store)
            say(3)

    def check(self, path: Path, said: list[Any]) -> None:
        """As ever, and no commit is missing."""
        super().check(path, [3])


class EnduringTrees(Trees):
    """A tree on a medium that fails, whose store is never opened anew."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Do each step; after an error let the medium recover, and go on."""
        with contextlib.closing(opened(path)) as store:
            for number, step in enumerate(steps(), 1):
                meter.is_armed = True
                try:
                    do(store, step)
                except StorageError:
                    meter.is_armed = False
                    if wanted(store) != STATES[number]:
                        do(store, step)
                meter.is_armed = False
                assert wanted(store) == STATES[number]
                say(number)


WORKS: Final = (Trees("directory", 40), Rereading("directory", 10))


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_a_kill_at_any_call_leaves_a_tree_that_is_completed(forker, tmp_path, work):
    """Before, within and after each disk call: the next reading completes the tree."""
    assert killed(forker, work, tmp_path) > 1


class Completing(Trees):
    """Bringing a tree up to date that a killed writer has left."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Open the store and read it."""
        meter.is_armed = True
        used(path)


def test_a_second_kill_while_a_tree_is_completed(forker, tmp_path):
    """A kill while another kill is made up for leaves a tree that is completed."""
    work, again = Trees("directory", 0), Completing("directory", 0)
    before = tmp_path / "before"
    forker.run(prepared, work, before)
    whole = forker.run(done, work, copied(before, tmp_path / "whole"), None)
    for first in chosen("trees once", kill_points(whole.answer), 8):
        broken = copied(before, tmp_path / "broken")
        said = forker.run(done, work, broken, first).said
        met = forker.run(done, again, copied(broken, tmp_path / "seen"), None).answer
        seconds = kill_points(met) if met else []
        for second in chosen(f"trees after {first.at}", seconds, 2):
            path = copied(broken, tmp_path / "struck")
            assert KILLED == forker.run(done, again, path, second).code
            with told(work, first, second):
                work.check(path, said)
            shutil.rmtree(path)
        shutil.rmtree(tmp_path / "seen")
        shutil.rmtree(broken)


def test_an_error_at_any_call_costs_no_commit(forker, tmp_path):
    """A medium that fails under the tree fails no commit, and is made up for."""
    work = EnduringTrees("directory", 24)
    before = tmp_path / "before"
    forker.run(prepared, work, before)
    for way, plan in chosen(
        work.name, list(plans(forker, work, before, tmp_path)), work.share
    ):
        path = copied(before, tmp_path / "struck")
        with told(work, way, plan):
            _, second_syncs = struck(forker, work, path, plan)
            assert 0 == second_syncs
        shutil.rmtree(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("number", [3, 4], ids=["writing", "erasing"])
def test_an_interrupt_at_any_line_is_made_up_for(tmp_path, number, error):
    """The commit is whole or absent, and the same store shows it with the next one."""
    before = tmp_path / "before"
    with contextlib.closing(opened(before)) as store:
        for step in steps()[: number - 1]:
            do(store, step)
    step = steps()[number - 1]
    with contextlib.closing(opened(copied(before, tmp_path / "whole"))) as store:
        wanted(store)
        total = lines_of(lambda: do(store, step), 0, error, within=_TREE_MODULES)
    name = f"tree {number} {error.__name__}"
    for at in chosen(name, range(1, total + 1), 12):
        path = copied(before, tmp_path / "struck")
        with contextlib.closing(opened(path)) as store:
            wanted(store)
            with contextlib.suppress(error):
                lines_of(lambda: do(store, step), at, error, within=_TREE_MODULES)
            found = wanted(store)
            assert found in STATES[number - 1 : number + 1]
            if found == STATES[number - 1]:
                do(store, step)
            put(store, Remark(1))
            assert STATES[number] == wanted(store) == shown(path)
            assert [] == strays(path)
        assert number < ERASED_AT or [] == holding(path, CANARY)
        shutil.rmtree(path)


class Journal(Disk):
    """A disk that keeps all names at once, and content only once it was synced."""

    def restore(self, target: Path) -> None:
        """Write what is left after the power went."""
        shutil.copytree(self.root, target)
        for file in self.root.rglob("*"):
            if file.is_file():
                left = self.content.get(file.stat().st_ino, b"")
                (target / file.relative_to(self.root)).write_bytes(left)


@pytest.mark.parametrize("model", [Disk, Journal])
def test_a_tree_after_a_power_cut(tmp_path, monkeypatch, model):
    """Wherever the power goes the next reading completes the tree, erasures stay."""
    for cut in range(2_000):
        path = tmp_path / f"{cut}"
        disk = model(path)
        monkeypatch.setattr(files, "calls", disk)
        monkeypatch.setattr(scope_tree_module, "this_boot", lambda: "before")
        opened(path).close()
        disk.left = cut
        acknowledged = 0
        with contextlib.suppress(Crash):
            store = opened(path)
            for step in steps():
                do(store, step)
                acknowledged += 1
        monkeypatch.setattr(files, "calls", files.Calls())
        monkeypatch.setattr(scope_tree_module, "this_boot", lambda: "after")
        left = tmp_path / "left"
        disk.restore(left)
        disk.close()
        with contextlib.closing(opened(left)) as again:
            found = wanted(again)
            assert found in STATES[acknowledged : acknowledged + 2]
            # A name without content of which no note is left might be anybody's.
            assert found == {n: d for n, d in shown(left).items() if d or n in found}
        if acknowledged >= ERASED_AT:
            assert [] == holding(left, CANARY)
        shutil.rmtree(left)
        shutil.rmtree(path)
        if acknowledged == len(steps()):
            break
    assert cut > 50


class Settled(Disk):
    """A disk that at some time holds all that was written, as disks do in time."""

    def settle(self) -> None:
        """Whatever is there now is certain."""
        for found in (self.root, *self.root.rglob("*")):
            fd = os.open(found, os.O_RDONLY)
            self.pins.append(fd)
            self._note(fd)


def test_an_erasure_from_a_settled_tree_survives_a_power_cut(tmp_path, monkeypatch):
    """Once an erasure is acknowledged, no cut brings its file or its digest back."""
    for cut in range(2_000):
        path = tmp_path / f"{cut}"
        monkeypatch.setattr(scope_tree_module, "this_boot", lambda: "before")
        disk = Settled(path)
        monkeypatch.setattr(files, "calls", disk)
        with contextlib.closing(opened(path)) as store:
            for step in steps()[:3]:
                do(store, step)
            disk.settle()
            disk.left = cut
            is_done = False
            with contextlib.suppress(Crash):
                do(store, steps()[3])
                is_done = True
            disk.left = None
            monkeypatch.setattr(files, "calls", files.Calls())
            left = tmp_path / "left"
            disk.restore(left)
        disk.close()
        if is_done:
            assert [] == holding(left, CANARY)
            assert [] == holding(left, sha256_hex(CANARY.encode()))
        monkeypatch.setattr(scope_tree_module, "this_boot", lambda: "after")
        with contextlib.closing(opened(left)) as again:
            found = wanted(again)
            assert found in STATES[3 + is_done : 5]
            assert found == shown(left)
        shutil.rmtree(left)
        shutil.rmtree(path)
        if is_done:
            break
    assert cut > 20


# What somebody plants


def filled(root: Path) -> None:
    """A closed store with the first three steps."""
    with contextlib.closing(opened(root)) as store:
        for step in steps()[:3]:
            do(store, step)


def plant_at(place: Path, plant: Any, outside: Path) -> None:
    """Put something else in the place of what stands there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    plant(place, outside)


#: Every name of a tree, from the folder of the store; ``*`` is the scope's folder.
NAMES: Final = (
    "tree",
    "tree/*",
    "tree/*/.uaix-tree.json",
    "tree/*/.uaix-tree",
    "tree/*/.uaix-tree/f.json",
    "tree/*/.uaix-new",
    "tree/*/.uaix-tree/.uaix-new",
    "tree/*/f",
    "tree/*/f/a.md",
    "tree/*/f/in",
    "tree/*/f/in/c.md",
    "tree/*/f/in/c.md.new",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_nothing_planted_in_a_tree_is_followed(root, outside, plant, name):
    """Whatever stands under a name: no commit fails, nothing outside is touched."""
    filled(root)
    place = root / name.replace("*", scope_tree(root).name)
    plant_at(place, plant, outside)

    with same_descriptors(), contextlib.closing(opened(root)) as store:
        assert STATES[3] == wanted(store)
        with contextlib.suppress(StorageError):
            store.tree_folder(SCOPE, "f")
        with contextlib.suppress(StorageError):
            store.read_tree(SCOPE, "f")
        put(store, page("q1", "a.md", b"five"))
        with contextlib.suppress(StorageError):
            erase(store, "q1")
        store.rebuild(SCOPE)
        store.examine()

    assert ["file"] == [found.name for found in outside.iterdir()]
    assert b"mine" == (outside / "file").read_bytes()


def test_oddities_are_listed_and_not_read(root, outside):
    """A reader of a folder gets plain files, and is told what else is there."""
    filled(root)
    folder = scope_tree(root) / "f"
    kinds = ("symlink", "hard_link", "fifo", "sparse")
    for plant in PLANTS:
        if plant.__name__ in kinds:
            plant(folder / plant.__name__, outside)
    (folder / os.fsdecode(b"no-text-\xff")).mkdir()
    deep = folder
    for _ in range(130):
        deep /= "d"
    deep.mkdir(parents=True)
    with contextlib.closing(opened(root)) as store:
        found = store.read_tree(SCOPE, "f")

    assert {"a.md", "in/c.md"} == set(found.files)
    assert {*kinds} < set(found.others)
    assert {"a link", "a file with another name", "too large", "too deep"} < {
        *found.others.values()
    }


@pytest.mark.parametrize("name", ["tree", "tree/*", "tree/*/f", "tree/*/f/in"])
def test_a_folder_that_flips_to_a_link_leads_nowhere(root, outside, tmp_path, name):
    """However a folder changes while files are written, none lands outside."""
    filled(root)
    place = root / name.replace("*", scope_tree(root).name)
    link = tmp_path / "link"
    link.symlink_to(outside)
    over = threading.Event()

    def flip() -> None:
        # A writer may remove the folder, or make it anew, in between.
        while not over.is_set():
            with contextlib.suppress(OSError):
                exchange(place, link)

    with contextlib.closing(opened(root)) as store:
        racer = threading.Thread(target=flip)
        racer.start()
        try:
            for number in range(2_000 if IS_ALL else 200):
                text = f"{number}".encode()
                put(store, page(f"q{number}", f"in/{number % 3}", text, record="z"))
        finally:
            over.set()
            racer.join()

    assert ["file"] == [found.name for found in outside.iterdir()]
    assert b"mine" == (outside / "file").read_bytes()


# Media


def read_only(_say: Say, path: Path) -> Any:
    """Read a store on a medium that became read-only, its tree lagging; in a child."""
    if not has_mounts():
        return None
    path.mkdir()
    mount("tmpfs", path, options="size=4m")
    place = path / "store"
    filled(place)
    with contextlib.closing(opened(place, tree=False)) as store:
        put(store, page("q1", "a.md", b"five"))
    mount("tmpfs", path, _MS_REMOUNT | _MS_RDONLY, "size=4m")
    with contextlib.closing(DirectoryStore.open(place, schema=TREES)) as store:
        found = store.read_tree(SCOPE, "f")
        return wanted(store)["f/a.md"], found.files["a.md"], found.is_behind


def test_a_read_only_store_is_read_without_its_tree(forker, tmp_path):
    """Where nothing can be written the store answers, and its tree says it lags."""
    answer = forker.run(read_only, tmp_path / "medium").answer
    if answer is None:
        pytest.skip("no file system can be mounted here")

    assert (b"five", CANARY.encode(), True) == answer


def as_nobody(_say: Say, root: Path) -> Any:
    """Commit as a user who may write the ledger and not the tree; in a child."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    with contextlib.closing(DirectoryStore.open(root, schema=TREES)) as store:
        put(store, page("q1", "a.md", b"five"))
        with pytest.raises(StorageError) as caught:
            erase(store, "p1")
        return wanted(store)["f/a.md"], caught.value.code


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_a_tree_without_rights_costs_no_commit(forker, tmp_path):
    """Who may not write the tree may still commit, but not erase what it may hold."""
    root = tmp_path / "store"
    filled(root)
    tmp_path.chmod(0o755)
    for found in (root, *root.rglob("*")):
        if found != root / "tree":
            os.chown(found, NOBODY, NOBODY)
    (root / "tree").chmod(0)

    assert (b"five", "storage.readonly") == forker.run(as_nobody, root).answer


@pytest.mark.parametrize("mode", [0o000, 0o500])
@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_files_that_a_person_closed(forker, tmp_path, mode):
    """A closed folder in the tree fails no commit and no reading."""
    root = tmp_path / "store"
    filled(root)
    tmp_path.chmod(0o755)
    for found in (root, *root.rglob("*")):
        os.chown(found, NOBODY, NOBODY)
    (scope_tree(root) / "f" / "in").chmod(mode)

    text, others, files_ = forker.run(closed_off, root).answer

    assert b"five" == text
    assert {"in": "closed to this user"} == others or "in/c.md" in files_


def closed_off(_say: Say, root: Path) -> Any:
    """Commit and read the tree; in a child."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    with contextlib.closing(DirectoryStore.open(root, schema=TREES)) as store:
        put(store, page("q1", "in/x.md", b"five"))
        found = store.read_tree(SCOPE, "f")
        return wanted(store)["f/in/x.md"], found.others, sorted(found.files)


# Several processes


def writes(_say: Say, root: Path, record: str) -> None:
    """Write one record again and again; in a child."""
    with contextlib.closing(DirectoryStore.open(root, schema=TREES)) as store:
        for number in range(25):
            name = f"{record}{number}"
            where = f"{record}/{number % 4}"
            put(store, page(name, where, name.encode(), record=where.replace("/", "")))


def test_processes_share_one_tree(tmp_path):
    """Whoever commits last, the tree holds what all of them have written."""
    root = tmp_path / "store"
    filled(root)
    forkers = [Forker() for _ in range(3)]
    try:
        with ThreadPoolExecutor(3) as pool:
            ends = list(
                pool.map(
                    lambda pair: pair[0].run(writes, root, pair[1]),
                    zip(forkers, "xyz", strict=True),
                )
            )
    finally:
        for one in forkers:
            one.close()

    assert [0, 0, 0] == [ended.code for ended in ends]
    with contextlib.closing(opened(root, tree=False)) as store:
        assert wanted(store) == shown(root)
