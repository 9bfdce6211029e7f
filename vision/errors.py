"""Exceptions raised by the reader."""


class VisionError(Exception):
    """Base of every error that vision raises on purpose."""


class ModelError(VisionError, ValueError):
    """A file of a trained head or network cannot be used."""


class HeaderError(VisionError, ValueError):
    """A file is no picture of a format that is read, or it is not whole."""
