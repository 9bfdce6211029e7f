"""Calibration from recordings of known scenes: lens, table, zones, tile set and knock detection."""


class CalibrationError(Exception):
    """Base class of calibration errors."""

    @property
    def text(self) -> str:
        """The message, as a translatable phrase if it was created with one."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class RefusedError(CalibrationError, ValueError):
    """The input is insufficient or contradictory. The message gives the reason and suggests a fix."""
