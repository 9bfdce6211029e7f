"""Read the clock on the wall and the version of this program, as a recording names them at its beginning."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version


def wall_time() -> datetime:
    """Return the time of day, with its zone; a game itself counts from its start."""
    return datetime.now(UTC).astimezone()  # noqa: TID251 - the one place that knows the clock on the wall


def software() -> str:
    """Return the name of this program in recordings, with its version."""
    return f"tallybone {version('tallybone')}"
