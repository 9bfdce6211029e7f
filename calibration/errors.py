"""Exceptions raised during calibration."""


class CalibrationError(Exception):
    """Base of every error that calibration raises on purpose."""

    @property
    def words(self) -> str:
        """What it says, and a phrase where it was made with one."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class RefusedError(CalibrationError, ValueError):
    """What was shown is not enough, or contradicts itself; the message says why, and what to do."""
