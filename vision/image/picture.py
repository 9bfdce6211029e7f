"""Load images from files as upright 8-bit BGR, and scale them to pyramids for tiles of any size."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image
from vision.errors import HeaderError, VisionError
from vision.image.header import Header, is_heic, needed_to_decode, parse_header, require_whole

# Photos of common phones have up to 50 megapixels. 80 take 240 MB decoded, which fits a Pi with 1 GB.
MAX_PIXELS = 80_000_000
# JPEG images are reduced while they are decoded, so those of phones with 108 or 200 megapixels take no more.
MAX_JPEG_PIXELS = 200_000_000
# Size of an uncompressed image with that many pixels. Larger files are not read.
MAX_FILE_BYTES = 256 * 1024 * 1024
_REDUCED = ((8, cv2.IMREAD_REDUCED_COLOR_8), (4, cv2.IMREAD_REDUCED_COLOR_4), (2, cv2.IMREAD_REDUCED_COLOR_2))


class PictureError(VisionError, ValueError):
    """A file cannot be read as an image. The message contains its name and the reason.

    Attributes:
        pixels: Number of pixels by its header, if the decoder failed. Otherwise 0.
    """

    def __init__(self, text: str, pixels: int = 0) -> None:
        """Set the message."""
        super().__init__(text)
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
        path: A JPEG, PNG, WebP, BMP, TIFF, GIF or AVIF file, or a raw photo (DNG), of which the preview is read. Also
            HEIC if pillow-heif is installed (the extra `heic`). JPEG of over 80 megapixels is reduced.

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If the file does not exist, or is not a complete image of at most 80 megapixels (JPEG: 200).
    """
    return decode_picture(read_picture_file(path), str(path))


def decode_picture(data: bytes, name: str, *, min_px: int | None = None) -> Image:
    """Decode an image file in memory, like `load_picture`.

    Args:
        data: The whole file.
        name: Name for error messages.
        min_px: Decode at 1/2, 1/4 or 1/8 of the size if the long side keeps this length. HEIC is not reduced.

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If it is not a complete image of at most 80 megapixels.
    """
    if is_heic(data):
        return _decode_heic(data, name)
    header = check_picture(data, name)
    return _decode(needed_to_decode(data, header.kind), header, name, min_px)


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
        most = MAX_JPEG_PIXELS if header.kind == "JPEG" else MAX_PIXELS
        _check_size(header.width_px, header.height_px, name, most)
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
        if str(path).startswith(("http:/", "https:/")):
            address = str(path).replace(":/", "://", 1)  # a path has no empty parts
            raise PictureError(f"{address}: this is an address: download the picture, and read the file") from None
        raise PictureError(f"{path}: there is no such file") from None
    except OSError as error:
        raise PictureError(f"{path}: it cannot be opened: {error.strerror}") from error


def _check_size(width_px: int, height_px: int, name: str, most: int = MAX_PIXELS) -> None:
    if width_px * height_px > most:
        raise OversizedPictureError(
            f"{name}: it is too large: expected at most {most // 1_000_000} megapixels,"
            f" but its header says {width_px} x {height_px}"
        )


def _decode_heic(data: bytes, name: str) -> Image:
    try:
        import pillow_heif
    except ImportError:
        raise MissingHeicError(
            f"{name}: it is HEIC; run `pip install pillow-heif`, or save it as JPEG or PNG (on the phone: camera format"
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


def _decode(data: bytes, header: Header, name: str, min_px: int | None) -> Image:
    pixels, long_side_px = header.width_px * header.height_px, max(header.width_px, header.height_px)
    min_px = min_px or long_side_px
    modes = (mode for scale, mode in _REDUCED if scale * min_px <= long_side_px or pixels * 4 > MAX_PIXELS * scale**2)
    mode = next(modes, cv2.IMREAD_COLOR)
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), mode)
    except cv2.error as error:
        text = f"{name}: its {header.kind} data cannot be decoded: {error.err}"
        raise PictureError(text, pixels) from error
    if image is None:
        text = f"{name}: its {header.kind} data cannot be decoded: it is damaged or uses a rare format"
        raise PictureError(text, pixels)
    return np.ascontiguousarray(image, dtype=np.uint8)


FINEST_PX, _MAX_LEVELS = 1280, 5
# The detector starts at this size, so every larger image has such a level. With only halved levels it would start at
# 350 px for an image of 700 px, and miss small tiles.
SEARCHED_PX = 640
_SMALLEST_SIDE_PX = 40
# A dim image is brightened until its 99th percentile reaches this, within a gain that limits the noise.
_WHITE, _MAX_GAIN = 230, 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A level of the pyramid.

    Attributes:
        image: Shape (H, W, 3), BGR.
        scale_xy: Width and height of a pixel in full-resolution pixels, at least 1. They differ only by rounding.
        as_taken: The image before brightening, of the same shape. None if it was not brightened. Bright objects on a
            dark table can be overexposed in *image* but not here.
    """

    image: Image
    scale_xy: tuple[float, float]
    as_taken: Image | None = None

    @property
    def scale(self) -> float:
        """Mean size of a pixel in full-resolution pixels."""
        return (self.scale_xy[0] + self.scale_xy[1]) / 2

    @property
    def full_size_px(self) -> tuple[int, int]:
        """Width and height of the full-resolution image."""
        height, width = self.image.shape[:2]
        return (round(width * self.scale_xy[0]), round(height * self.scale_xy[1]))

    def from_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert full-resolution pixels, shape (..., 2), to pixels of this level."""
        return (points + 0.5) / self.scale_xy - 0.5

    def to_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert pixels of this level, shape (..., 2), to full-resolution pixels."""
        return (points + 0.5) * self.scale_xy - 0.5


def build_pyramid(image: Image) -> tuple[Level, ...]:
    """Return up to 5 levels: at most 1280 px, then 640 px if that is smaller, then halved repeatedly.

    A dim image is brightened first. Sizes refer to the longer side. There is no second or later level whose shorter
    side would be less than 40 px.

    Args:
        image: Shape (H, W, 3), BGR.
    """
    long_side_px = min(max(image.shape[:2]), FINEST_PX)
    found: list[Level] = []
    for _ in range(_MAX_LEVELS):
        scale = max(image.shape[:2]) / long_side_px
        size_px = max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale))
        if found and min(size_px) < _SMALLEST_SIDE_PX:
            break
        scale_xy = (image.shape[1] / size_px[0], image.shape[0] / size_px[1])
        found.append(_coarser(found[-1], size_px, scale_xy) if found else _finest(image, size_px, scale_xy))
        long_side_px = SEARCHED_PX if long_side_px > SEARCHED_PX else long_side_px / 2
    return tuple(found)


def _finest(image: Image, size_px: tuple[int, int], scale_xy: tuple[float, float]) -> Level:
    as_taken = _shrunk(image, *size_px)
    gain = _gain(as_taken)
    if gain <= 1:
        return Level(as_taken, scale_xy)
    return Level(np.asarray(cv2.convertScaleAbs(as_taken, alpha=gain), np.uint8), scale_xy, as_taken)


def _coarser(finer: Level, size_px: tuple[int, int], scale_xy: tuple[float, float]) -> Level:
    as_taken = None if finer.as_taken is None else _shrunk(finer.as_taken, *size_px)
    return Level(_shrunk(finer.image, *size_px), scale_xy, as_taken)


def _shrunk(image: Image, width: int, height: int) -> Image:
    """Resize an image. It is halved as often as possible first, because only integer factors are averaged quickly."""
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        half = (image.shape[1] // 2, image.shape[0] // 2)
        image = np.asarray(cv2.resize(image, half, interpolation=cv2.INTER_AREA), np.uint8)
    if image.shape[:2] == (height, width):
        return image
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def _gain(image: Image) -> float:
    """Return the gain that brightens a dim image to normal contrast, at most 3. 1 or less for a well-lit image."""
    blue, green, red = cv2.split(np.ascontiguousarray(image[::4, ::4]))
    white = float(np.percentile(cv2.max(cv2.max(blue, green), red), 99))
    return min(_WHITE / max(white, 1.0), _MAX_GAIN)
