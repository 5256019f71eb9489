"""Running the same work in several threads at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def at_once(writers: int, work: Callable[[int], None]) -> None:
    """Call ``work(0)``, ``work(1)``, ... in as many threads, started together.

    Raises:
        Exception: the first that a thread raised.

    """
    start = threading.Barrier(writers)

    def begin(writer: int) -> None:
        start.wait()
        work(writer)

    with ThreadPoolExecutor(writers) as pool:
        for future in [pool.submit(begin, writer) for writer in range(writers)]:
            future.result()
