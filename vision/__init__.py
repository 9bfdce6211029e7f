"""Computer vision: read tiles, joins and table changes from images. Knows no rules and no devices."""


class VisionError(Exception):
    """Base class of all exceptions raised by vision."""


class ModelError(VisionError, ValueError):
    """A model file is missing, damaged or of the wrong kind."""


class HeaderError(VisionError, ValueError):
    """A file is not an image in a supported format, or it is truncated."""
