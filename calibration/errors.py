"""What can go wrong in a calibration, apart from a device."""


class CalibrationError(Exception):
    """Base of every error that calibration raises on purpose."""


class RefusedError(CalibrationError, ValueError):
    """What was shown is not enough, or contradicts itself; the message says why, and what to do."""
