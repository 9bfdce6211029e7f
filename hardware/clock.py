"""Name the clock that the parts of a table share: who opens a part hands it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Says the time in nanoseconds; it never goes back."""
