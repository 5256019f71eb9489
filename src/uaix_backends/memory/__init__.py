"""The memory backend: sorted maps in this process, gone with it."""

from uaix_backends.memory.store import MemoryStore

__all__ = ["MemoryStore"]
