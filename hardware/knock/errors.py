"""Exceptions raised by knock sensors."""


class KnockError(Exception):
    """Base of every error that the knock sensor raises on purpose."""


class KnockModelError(KnockError, ValueError):
    """A file of the trained classifier cannot be used."""


class KnockSensorError(KnockError, OSError):
    """A sensor cannot be opened: it, its driver or its library is missing. The message says what mends it."""


class WavError(KnockError, ValueError):
    """A file is no WAV file that can be read, or it is not whole."""
