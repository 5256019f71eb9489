"""Golden histories: the same commits give the same places, rows and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance import golden
from uaix_conformance.comparison import every
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import key_json
from uaix_core.schema.relations import Ref
from uaix_core.values import errors
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from uaix_core.store.port import Store


@pytest.mark.clause("4.6", "4.3", "2.4", "10.1", "7.7")
@pytest.mark.parametrize("name", golden.names())
def test_a_golden_history_ends_as_written(store: Store, name: str) -> None:
    """Every place, error, row, commit and scan is the one in the file."""
    history = golden.read(name)
    assert golden.FORMAT == history["format"]
    for append in history["appends"]:
        commit = golden.commit_in(append["commit"])
        if "refused" in append:
            with pytest.raises(getattr(errors, append["refused"])):
                store.append(commit)
        else:
            assert append["recorded"] == golden.place_out(store.append(commit))

    for text, expected in history["scopes"].items():
        with store.snapshot(ScopeId.parse(text)) as snapshot:
            assert expected["position"] == snapshot.position
            assert expected["head"] == snapshot.head
            assert expected["commits"] == [
                golden.recorded_out(recorded) for recorded in snapshot.commits()
            ]
            found = {
                Ref(name, KIT.of(row).key_of(row)): row
                for name in KIT.relations
                for row in every(snapshot, name)
            }
            assert expected["rows"] == [
                golden.row_out(row) for _, row in sorted(found.items())
            ]
            for scan in expected["scans"]:
                keys = [
                    key_json(KIT.relation(scan["relation"]), _key(row))
                    for row in golden.asked(snapshot, scan)
                ]
                assert scan["keys"] == keys, scan


def _key(row: dict[str, object]) -> tuple[object, ...]:
    read = golden.row_in(row)
    return KIT.of(read).key_of(read)
