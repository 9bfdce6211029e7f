"""Load images from files as upright 8-bit BGR."""

from __future__ import annotations

import stat
from pathlib import Path

import cv2
import numpy as np

from vision.arrays import Image
from vision.errors import HeaderError, VisionError
from vision.image.header import FORMATS, Header, is_heic, needed_to_decode, parse_header, require_whole

# Photos of common phones have up to 50 megapixels. 80 take 240 MB decoded, which fits a Pi with 1 GB.
MAX_PIXELS = 80_000_000
# Size of an uncompressed image with that many pixels. Larger files are not read.
MAX_FILE_BYTES = 256 * 1024 * 1024
_REDUCED = ((8, cv2.IMREAD_REDUCED_COLOR_8), (4, cv2.IMREAD_REDUCED_COLOR_4), (2, cv2.IMREAD_REDUCED_COLOR_2))


class PictureError(VisionError, ValueError):
    """A file cannot be read as an image. The message contains its name and the reason.

    Attributes:
        pixels: Number of pixels by its header, if the decoder failed. Otherwise 0.
    """

    def __init__(self, words: str, pixels: int = 0) -> None:
        """Set the message."""
        super().__init__(words)
        self.pixels = pixels


class OversizedPictureError(PictureError):
    """An image has too many pixels."""


class MissingHeicError(PictureError):
    """A file is a HEIC image, and the library that decodes it is not installed."""


def load_picture(path: Path) -> Image:
    """Load an image file, upright.

    EXIF orientation is applied. Grey, 16-bit, palette and CMYK images are converted to 8-bit BGR, and alpha is dropped.
    The size in the header is checked before decoding, so that an oversized image uses no memory.

    Args:
        path: A JPEG, PNG, WebP, BMP or TIFF file. Also HEIC if pillow-heif is installed (the extra `heic`).

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If the file does not exist, or is not a complete image of at most 80 megapixels.
    """
    return decode_picture(read_picture_file(path), str(path))


def decode_picture(data: bytes, name: str, *, least_px: int | None = None) -> Image:
    """Decode an image file in memory, like `load_picture`.

    Args:
        data: The whole file.
        name: Name for error messages.
        least_px: Decode at 1/2, 1/4 or 1/8 of the size if the long side keeps this length. HEIC is not reduced.

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If it is not a complete image of at most 80 megapixels.
    """
    if is_heic(data):
        return _decode_heic(data, name)
    header = check_picture(data, name)
    return _decode(needed_to_decode(data, header.kind), header, name, least_px)


def check_picture(data: bytes, name: str) -> Header:
    """Check that an image file is complete and not too large to decode, and return its header.

    Args:
        data: The whole file.
        name: Name for error messages.

    Raises:
        PictureError: If it is not a complete image of at most 80 megapixels.
    """
    try:
        header = parse_header(data)
        _check_size(header.width_px, header.height_px, name)
        require_whole(data, header.kind)
    except HeaderError as error:
        raise PictureError(f"{name}: {error}") from None
    return header


def read_picture_file(path: Path) -> bytes:
    """Return the content of a file that could be an image.

    Raises:
        PictureError: If it does not exist, is not a regular file, is empty, or is larger than any accepted image.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise PictureError(f"{path}: expected a picture file, but it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise PictureError(f"{path}: expected a picture file, but it is a device or a pipe")
        if status.st_size == 0:
            raise PictureError(f"{path}: the file is empty")
        if status.st_size > MAX_FILE_BYTES:
            limit_mb, size_mb = MAX_FILE_BYTES >> 20, status.st_size >> 20
            raise PictureError(f"{path}: it is too large: expected at most {limit_mb} MB, but it has {size_mb}")
        return path.read_bytes()
    except FileNotFoundError:
        raise PictureError(f"{path}: there is no such file") from None
    except OSError as error:
        raise PictureError(f"{path}: it cannot be opened: {error.strerror}") from error


def _check_size(width_px: int, height_px: int, name: str) -> None:
    if width_px * height_px > MAX_PIXELS:
        raise OversizedPictureError(
            f"{name}: it is too large: expected at most {MAX_PIXELS // 1_000_000} megapixels,"
            f" but its header says {width_px} x {height_px}"
        )


def _decode_heic(data: bytes, name: str) -> Image:
    try:
        import pillow_heif
    except ImportError:
        raise MissingHeicError(
            f"{name}: it is HEIC; run `pip install pillow-heif`, or save it as {FORMATS} (on the phone: camera format"
            " 'most compatible')"
        ) from None
    try:
        # The rotation in the file is applied, and 10 bits are converted to 8.
        photo = pillow_heif.open_heif(data, bgr_mode=True)
        width_px, height_px = photo.size
        _check_size(width_px, height_px, name)
        image = np.asarray(photo, np.uint8)
    # The library documents no exceptions. These are all that its C code raises.
    except (ValueError, RuntimeError, EOFError, IndexError, SyntaxError, OSError, MemoryError) as error:
        if isinstance(error, PictureError):
            raise
        raise PictureError(f"{name}: its HEIC data cannot be decoded: {error}") from error
    if image.ndim == 2:
        image = image[..., None].repeat(3, axis=2)
    return np.ascontiguousarray(image[..., :3])


def _decode(data: bytes, header: Header, name: str, least_px: int | None) -> Image:
    pixels, long_side_px = header.width_px * header.height_px, max(header.width_px, header.height_px)
    mode = next((mode for scale, mode in _REDUCED if least_px and long_side_px >= scale * least_px), cv2.IMREAD_COLOR)
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), mode)
    except cv2.error as error:
        words = f"{name}: its {header.kind} data cannot be decoded: {error.err}"
        raise PictureError(words, pixels) from error
    if image is None:
        words = f"{name}: its {header.kind} data cannot be decoded: it is damaged or uses a rare format"
        raise PictureError(words, pixels)
    return np.ascontiguousarray(image, dtype=np.uint8)
