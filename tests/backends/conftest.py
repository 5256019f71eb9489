"""The fixtures that the backends' tests share."""

from tests.backends.given_stores import (  # noqa: F401 - pytest finds them here
    full,
    path,
    root,
    states,
    store,
)
