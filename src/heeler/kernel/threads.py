"""A few threads, kept between calls."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Make the pool when it is first needed."""
    return ThreadPoolExecutor(threads, thread_name_prefix="heeler")


def run_parts(parts: list[Callable[[], None]]) -> None:
    """Run calls that do not touch each other's memory, one thread each.

    Parameters
    ----------
    parts
        Calls of compiled code that releases the interpreter lock.
    """
    if len(parts) == 1:
        parts[0]()
        return
    futures = [_pool(max(len(parts), 2)).submit(part) for part in parts[1:]]
    parts[0]()
    for future in futures:
        future.result()
