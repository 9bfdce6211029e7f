"""Wall-clock time and program version, as stored at the start of a recording."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version


def wall_time() -> datetime:
    """Return the current local time, with its time zone. Games use times relative to their start instead."""
    return datetime.now(UTC).astimezone()  # noqa: TID251 - the only place that reads the wall clock


def software() -> str:
    """Return the name and version of this program, as stored in recordings."""
    return f"tallybone {version('tallybone')}"
