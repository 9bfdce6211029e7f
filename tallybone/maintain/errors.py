"""What goes wrong when a version is exchanged."""

from __future__ import annotations


class UpdateError(OSError):
    """The version was not exchanged; says why. What ran before runs on."""
