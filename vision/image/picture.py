"""Pictures from files: upright, 8 bit, BGR, or an error that says what is wrong with the file."""

from __future__ import annotations

import stat
from pathlib import Path

import cv2
import numpy as np

from vision.arrays import Image
from vision.errors import HeaderError, VisionError
from vision.image.header import Header, needed_to_decode, parse_header, require_whole

# 80 megapixels: the largest still of a common phone is 50, and decoded it is 240 MB, which a Pi with 1 GB still holds.
MAX_PIXELS = 80_000_000
# An uncompressed picture of that size. A larger file is not read at all.
MAX_FILE_BYTES = 256 * 1024 * 1024


class PictureError(VisionError, ValueError):
    """A file cannot be read as a picture; the message names the file and the reason."""


def load_picture(path: Path) -> Image:
    """Read a picture as a person would look at it.

    EXIF orientation is applied; grey, 16-bit, palette and CMYK pictures become 8-bit BGR, and alpha is dropped. The
    size in the header is checked before anything is decoded, so that a picture too large costs no memory.

    Args:
        path: A JPEG, PNG, WebP, BMP or TIFF file.

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If there is no such file, or it is no whole picture of at most 80 megapixels.
    """
    return decode_picture(read_picture_file(path), str(path))


def decode_picture(data: bytes, name: str) -> Image:
    """Decode a picture file as `load_picture` does.

    Args:
        data: The whole file.
        name: What to call it where it cannot be decoded.

    Returns:
        Shape (H, W, 3), BGR.

    Raises:
        PictureError: If it is no whole picture of at most 80 megapixels.
    """
    header = check_picture(data, name)
    return _decode(needed_to_decode(data, header.kind), header.kind, name)


def check_picture(data: bytes, name: str) -> Header:
    """Return what a picture file promises, if a decoder needs no more time and memory for it than for a large photo.

    Args:
        data: The whole file.
        name: What to call it where it is refused.

    Raises:
        PictureError: If it is no whole picture of at most 80 megapixels.
    """
    try:
        header = parse_header(data)
        if header.width_px * header.height_px > MAX_PIXELS:
            raise HeaderError(
                f"it is too large: expected at most {MAX_PIXELS // 1_000_000} megapixels,"
                f" but its header says {header.width_px} x {header.height_px}"
            )
        require_whole(data, header.kind)
    except HeaderError as error:
        raise PictureError(f"{name}: {error}") from None
    return header


def read_picture_file(path: Path) -> bytes:
    """Return a file as it is, if it could be a picture.

    Raises:
        PictureError: If there is no such file, it is empty, or larger than any picture.
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


def _decode(data: bytes, kind: str, name: str) -> Image:
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise PictureError(f"{name}: its {kind} data cannot be decoded: {error.err}") from error
    if image is None:
        raise PictureError(f"{name}: its {kind} data cannot be decoded: it is damaged or of a rare kind")
    return np.ascontiguousarray(image, dtype=np.uint8)
