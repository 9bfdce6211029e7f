"""What the clock on the wall says, and which version this is: what a recording says of its beginning."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version


def wall_time() -> datetime:
    """Return the time of day, with its zone; a game itself counts from its start."""
    return datetime.now(UTC).astimezone()  # noqa: TID251 - the one place that knows the clock on the wall


def software() -> str:
    """Return what this program calls itself in recordings."""
    return f"tallybone {version('tallybone')}"
