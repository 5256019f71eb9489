"""The directory backend: a folder of canonical JSON lines, one segment a scope."""

from uaix_backends.directory.store import DirectoryStore
from uaix_backends.directory.tree_reading import TreeContents

__all__ = ["DirectoryStore", "TreeContents"]
