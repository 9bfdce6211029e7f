"""Waiting for results of other threads and processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S, _SOON_S = 20.0, 5.0
_PAUSE = threading.Event()


def until(
    condition: Callable[[], object], patience_s: float = PATIENCE_S, *, seen: Callable[[], object] = lambda: ""
) -> float:
    """Wait for a condition and return the waiting time in seconds. On timeout, fail with the value of *seen*."""
    began_s = time.perf_counter()
    while not condition():
        assert time.perf_counter() - began_s < patience_s, f"timeout: {seen()}"
        _PAUSE.wait(0.005)
    return time.perf_counter() - began_s


def soon(condition: Callable[[], object]) -> float:
    """Wait for a condition for at most five seconds, and return the waiting time."""
    return until(condition, _SOON_S)
