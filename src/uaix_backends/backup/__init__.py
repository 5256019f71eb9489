"""A backup: all scopes of a store in one compressed file, open to read."""

from uaix_backends.backup.store import BackupStore
from uaix_backends.backup.writing import BackedUp, write_backup

__all__ = ["BackedUp", "BackupStore", "write_backup"]
