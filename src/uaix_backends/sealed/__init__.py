"""A store in front of a store: whole scopes rest sealed, under keys of the host."""

from uaix_backends.sealed.sealing import Sealing
from uaix_backends.sealed.store import SealedStore

__all__ = ["SealedStore", "Sealing"]
