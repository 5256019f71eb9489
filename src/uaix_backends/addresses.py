"""The URLs of stores, as they may be shown."""

from __future__ import annotations


def shown_url(url: str) -> str:
    """The URL of a store as it may be shown: without a user, password or option.

    A password with a slash or a hash that isn't escaped ends where nobody can tell, so
    nothing that stands before the last ``@`` is shown.
    """
    scheme, slashes, rest = url.partition("://")
    if not slashes or not _is_scheme(scheme):
        return url
    secret, _at, rest = rest.rpartition("@")
    if "?" in secret:
        # The last @ may stand in an option.
        return f"{scheme}://"
    place, hash_, namespace = rest.partition("#")
    place, namespace = (part.partition("?")[0] for part in (place, namespace))
    return f"{scheme}://{place}{hash_}{namespace}"


def _is_scheme(text: str) -> bool:
    return text[:1].isalpha() and text.replace("+", "").isalnum()
