"""What can go wrong with recordings, apart from damage, which is data."""

from __future__ import annotations


class RecordingError(OSError):
    """A recording cannot be written or is none; the message names the file."""
