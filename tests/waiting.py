"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S, _SOON_S = 20.0, 5.0
_PAUSE = threading.Event()


def until(
    is_so: Callable[[], object], patience_s: float = PATIENCE_S, *, seen: Callable[[], object] = lambda: ""
) -> float:
    """Wait until something is so, and return how many seconds it took; if it never is, fail with what is *seen*."""
    began_s = time.perf_counter()
    while not is_so():
        assert time.perf_counter() - began_s < patience_s, f"it never came to be so: {seen()}"
        _PAUSE.wait(0.005)
    return time.perf_counter() - began_s


def soon(is_so: Callable[[], object]) -> float:
    """Wait until something is so, five seconds at most, and return how many it took."""
    return until(is_so, _SOON_S)
