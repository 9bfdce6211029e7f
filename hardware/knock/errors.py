"""Exceptions raised by knock sensors."""


class KnockError(Exception):
    """Base class of knock sensor errors."""


class KnockModelError(KnockError, ValueError):
    """A classifier file cannot be used."""


class KnockSensorError(KnockError, OSError):
    """A sensor cannot be opened: the device, its driver or its library is missing. The message suggests a fix."""


class WavError(KnockError, ValueError):
    """A file is not a supported WAV file, or is truncated."""
