"""The directory backend: a folder of canonical JSON lines, one segment a scope."""

from uaix_backends.directory.store import DirectoryStore

__all__ = ["DirectoryStore"]
