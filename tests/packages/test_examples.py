from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from tests.packages.package_maker import NOW
from tests.packages.schema_checker import is_valid

from uaix_core.packages.examples import example, schema_text
from uaix_core.packages.examples.making import example_files, shipped_files
from uaix_core.packages.lint import lint
from uaix_core.packages.manifest.json_schema import manifest_schema
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.new import KINDS
from uaix_core.values.errors import CallerError

DOCS = Path(__file__).resolve().parents[2] / "docs"
STARTER_KIT = DOCS / "starter-kit"


@pytest.fixture(scope="module")
def generate():
    """The script that writes what is generated."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def files_below(folder):
    """The files of a folder by logical path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def quiet(report):
    """Whether a report has neither errors nor warnings."""
    return report.is_accepted and {"set.extra"} >= {f.code for f in report.findings}


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_archives_pass(kind):
    """The example of each kind passes lint without an error or a warning."""
    source = PackageSource(name=f"{kind}.uaix", archive=example(kind))
    report = lint(source, now=NOW)

    assert quiet(report)
    assert f"example-{kind}" == report.package.manifest.package_id


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_manifests_keep_the_shipped_schema(kind):
    """The manifest of each example keeps the schema that ships beside it."""
    report = lint(PackageSource(archive=example(kind)), now=NOW)

    assert is_valid(
        json.loads(report.package.manifest_bytes), json.loads(schema_text())
    )


def test_the_shipped_schema_is_the_schema():
    """The schema that ships is the one that follows from the tables."""
    assert manifest_schema() == json.loads(schema_text())


def test_shipped_files_are_fresh(generate):
    """What ships is what the code makes, byte for byte, and nothing else ships."""
    made = generate.shipped()
    there = {
        path
        for path in generate.EXAMPLES.iterdir()
        if path.suffix not in (".py", ".pyc") and path.is_file()
    }

    assert made == {path: path.read_bytes() for path in there}
    assert set(shipped_files()) == {path.name for path in there}


def test_the_starter_kit_is_fresh(generate):
    """The kit's folders are what the code makes; its page alone is written by hand."""
    made = generate.starter_kit()
    there = {
        path: path.read_bytes() for path in STARTER_KIT.rglob("*") if path.is_file()
    }
    del there[STARTER_KIT / "README.md"]

    assert made == there


@pytest.mark.parametrize("kind", KINDS)
def test_the_starter_kits_folders_pass(kind):
    """Each folder of the starter kit is a package that passes lint."""
    files = files_below(STARTER_KIT / kind)

    assert files == example_files(kind)
    assert quiet(lint(PackageSource(files=files), now=NOW))


def test_every_kind_has_a_folder_that_the_page_names():
    """The page of the starter kit names each folder, and each folder is a kind."""
    text = (STARTER_KIT / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in STARTER_KIT.iterdir() if path.is_dir()}

    assert set(KINDS) == folders
    assert all(f"`{kind}/`" in text for kind in KINDS)


def test_no_example_of_an_unknown_kind():
    """There is no example of a kind that there isn't, nor of a path."""
    for kind in ("novel", "../persona", ""):
        with pytest.raises(CallerError) as caught:
            example(kind)
        assert "template.kind" == caught.value.code
