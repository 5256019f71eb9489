"""The URLs of stores, as they may be shown."""

from __future__ import annotations

from typing import Final

#: Kinds of stores whose URL has no secret.
_OF_PATHS: Final = ("memory", "dir", "sqlite", "backup")


def shown_url(url: str) -> str:
    """The URL of a store as it may be shown: without a user, password or option.

    A password with a slash or a hash that isn't escaped ends where nobody can tell, so
    nothing that stands before the last ``@`` is shown. Of what is no URL of a store
    nothing is: it may be a connection string.
    """
    scheme, slashes, rest = url.partition("://")
    if not slashes or not _is_scheme(scheme):
        return url if url.partition(":")[0] in _OF_PATHS else ""
    secret, _at, rest = rest.rpartition("@")
    if "?" in secret:
        # The last @ may stand in an option.
        return f"{scheme}://"
    place, hash_, namespace = rest.partition("#")
    place, namespace = (part.partition("?")[0] for part in (place, namespace))
    return f"{scheme}://{place}{hash_}{namespace}"


def _is_scheme(text: str) -> bool:
    return text[:1].isalpha() and text.replace("+", "").isalnum()
