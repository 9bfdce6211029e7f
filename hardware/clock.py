"""Type of the clock that is passed to all parts of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Returns a monotonic time in nanoseconds."""
