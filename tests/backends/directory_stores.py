"""Directory stores of the kit's schema, and what stands in their files."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.backends.ledger import CANARY, holding
from tests.backends.ledger import state_of as _state_of

from uaix_backends.directory import DirectoryStore
from uaix_conformance.examples import (
    SCOPE,
)
from uaix_conformance.schema import KIT


def opened(path, **options):
    return DirectoryStore.open(path, create=True, schema=KIT, **options)


def state_of(store, scope=SCOPE):
    """All that a snapshot shows, and the work number."""
    return _state_of(store, scope)


def state_at(path, scope=SCOPE):
    with contextlib.closing(DirectoryStore.open(path, schema=KIT)) as store:
        return state_of(store, scope)


def segment_of(path):
    (segment,) = path.glob("scopes/*/segment.jsonl")
    return segment


def segment_of_folder(folder):
    return folder / "segment.jsonl"


def holds_canary(path, canary=CANARY):
    """The files that hold it, plain or as base64."""
    return holding(path, canary)


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))
