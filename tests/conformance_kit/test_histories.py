"""The checker of histories is checked: each anomaly is named, and nothing else is."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from uaix_conformance.clauses import BOUND
from uaix_conformance.histories.checker import CHECKS, check
from uaix_conformance.histories.log import Log, logs_in, read_log
from uaix_conformance.histories.marks import mark, marked_bytes
from uaix_conformance.histories.operations import INFO, OK, History

FOLDER = Path(__file__).parent / "histories"
BAD = sorted((FOLDER / "bad").glob("*.json"))
GOOD = sorted((FOLDER / "good").glob("*.json"))


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_each_anomaly_is_named(file):
    """A history with one anomaly is found bad, for that reason and for no other."""
    given = read(file)
    found = check(History.from_dict(given))

    assert given["names"] == sorted({finding.check for finding in found}), found


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_what_may_be_is_no_anomaly(file):
    """A history that a sound store may have made is found good."""
    assert [] == check(History.from_dict(read(file)))


def test_every_check_has_a_history():
    """Each check is the one that some bad history is caught by."""
    named = {name for file in BAD for name in read(file)["names"]}

    assert set(CHECKS) == named
    assert len(BAD) >= 20


def test_every_check_decides_a_clause():
    """Checks and clauses of group 16 are told apart by each other, without rest."""
    clauses = {clause for clause in BOUND if clause.startswith("16.")}

    assert clauses == {check_.clause for check_ in CHECKS.values()}


@pytest.mark.parametrize("file", [*BAD, *GOOD], ids=lambda file: file.stem)
def test_histories_can_be_kept(file):
    """Written as JSON and read again a history is the same."""
    history = History.from_dict(read(file))

    assert history == History.from_dict(json.loads(json.dumps(history.as_dict())))


FORMS = {
    "utf-8": lambda text: text.encode(),
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd\xff"])
@pytest.mark.parametrize("after", ["", "0", "01", "\xff"])
def test_marks_are_found_in_every_form(form, before, after):
    """Whatever stands beside a mark, and however it is written, it is found."""
    written = FORMS[form](before + mark(7) + after)

    assert {7} == marked_bytes(written)
    assert {7} == marked_bytes(b"\0{" + written + b"}\0")
    assert {7, 123} == marked_bytes(written + b'"' + FORMS[form](mark(123)))


def test_half_a_mark_is_none():
    """Bytes that were overwritten in part tell no number any more."""
    assert set() == marked_bytes(mark(7).encode()[:-1] + b"\0")
    assert set() == marked_bytes(b"\0" + mark(7).encode()[1:])


@pytest.mark.parametrize("cut", range(1, 50, 7))
def test_a_log_that_was_cut_leaves_an_unknown_outcome(tmp_path, cut):
    """An operation whose last line is missing or half is of unknown outcome."""
    with Log(tmp_path, process=3, seat=1) as log:
        log.begin("read", "one", ["x"])
        log.end(OK, {"lists": {"x": []}})
        log.begin("append", "one", {"x": [1]})
        log.end(OK, {"seq": 1})
    (name,) = logs_in(tmp_path)
    whole = name.path.read_bytes()
    assert [OK, OK] == [operation.outcome for operation in read_log(name)]

    name.path.write_bytes(whole[:-cut])
    first, second = read_log(name)
    assert (OK, INFO) == (first.outcome, second.outcome)
    assert (3, (1,), None) == (second.process, second.numbers, second.ended)
