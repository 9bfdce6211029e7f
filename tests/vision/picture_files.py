"""Handmade image files: valid ones that OpenCV cannot write, and malicious ones."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

SCENE_WIDTH, SCENE_HEIGHT = 64, 48
TOP_LEFT_BGR = (10, 20, 200)


def scene() -> NDArray[np.uint8]:
    """Return a smooth landscape image that is red only at its top left."""
    rows, columns = np.mgrid[0:SCENE_HEIGHT, 0:SCENE_WIDTH]
    image = np.dstack([columns * 3, rows * 4, np.zeros_like(rows)]).astype(np.uint8)
    image[:16, :16] = TOP_LEFT_BGR
    return image


def encoded(extension: str, image: NDArray[np.generic] | None = None, *options: int) -> bytes:
    ok, data = cv2.imencode(extension, scene() if image is None else image, list(options))  # type: ignore[arg-type]  # any depth
    assert ok
    return bytes(data)


def png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def with_exif(jpeg: bytes, body: bytes) -> bytes:
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 8) + b"Exif\0\0" + body + jpeg[2:]


def orientation(value: int) -> bytes:
    return b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIHH", 0x0112, 3, 1, value, 0) + b"\0\0\0\0"


def cmyk_jpeg(transform: int = 0) -> bytes:
    """Return a one-block baseline JPEG with four components. All coefficients are zero, so each sample is 128.

    Args:
        transform: Value in Adobe's marker: 0 for CMYK, 2 for YCCK.
    """
    quantisation = b"\xff\xdb" + struct.pack(">HB", 67, 0) + bytes([1] * 64)
    adobe = b"\xff\xee" + struct.pack(">H", 14) + b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform)
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 20, 8, 8, 8, 4) + b"".join(bytes((i, 0x11, 0)) for i in range(1, 5))
    # One 1-bit code (0) each: DC category 0, AC end of block.
    tables = b"".join(
        b"\xff\xc4" + struct.pack(">HB", 20, kind) + bytes([1] + [0] * 15) + b"\0" for kind in (0x00, 0x10)
    )
    scan = b"\xff\xda" + struct.pack(">HB", 14, 4) + b"".join(bytes((i, 0)) for i in range(1, 5)) + b"\0\x3f\0"
    return b"\xff\xd8" + adobe + quantisation + frame + tables + scan + b"\x00" + b"\xff\xd9"


def png(
    width_px: int, height_px: int, *, depth_bits: int = 8, color: int = 2, row: bytes | None = None, more: bytes = b""
) -> bytes:
    """Return a PNG file of equal rows, zeros by default, compressed incrementally. A large one is a decompression bomb.

    Args:
        color: Colour type in the header: 0 grey, 2 BGR, 3 palette, 4 grey and alpha, 6 BGR and alpha.
        row: One row without its filter byte.
        more: Chunks between header and pixels.
    """
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    raw_row = b"\0" + (bytes((width_px * samples * depth_bits + 7) // 8) if row is None else row)
    header = struct.pack(">IIBBBBB", width_px, height_px, depth_bits, color, 0, 0, 0)
    pixels = png_chunk(b"IDAT", deflated(raw_row, height_px))
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + more + pixels + png_chunk(b"IEND", b"")


def heic(image: NDArray[np.uint8], **options: object) -> bytes:
    """Return an image, BGR or grey, as HEIC. Skip the test if the library is missing."""
    library = pytest.importorskip("pillow_heif", reason='pillow-heif is not installed: pip install ".[heic]"')
    file = BytesIO()
    size = (image.shape[1], image.shape[0])
    library.from_bytes("L" if image.ndim == 2 else "BGR", size, image.tobytes()).save(file, **options)
    return file.getvalue()


def huge_png() -> bytes:
    """Return a small PNG file whose header says 60,000 x 60,000 pixels."""
    small = png(8, 8)
    return small[:16] + struct.pack(">II", 60_000, 60_000) + small[24:]


def deflated(raw_row: bytes, times: int) -> bytes:
    """Return repeated bytes, deflated without holding them all in memory."""
    compressor = zlib.compressobj(1)
    return b"".join(compressor.compress(raw_row) for _ in range(times)) + compressor.flush()


def tiff(width_px: int, height_px: int, *, depth_bits: int = 16, channels: int = 4, more: bytes = b"") -> bytes:
    """Return a TIFF file of zeros in one deflated strip, with additional directory entries."""
    pixels = deflated(bytes(width_px * channels * depth_bits // 8), height_px)
    depths = struct.pack(f"<{channels}H", *[depth_bits] * channels)
    entries = [
        (256, 4, 1, width_px),
        (257, 4, 1, height_px),
        (258, 3, channels, 8 if channels > 2 else depth_bits),
        (259, 3, 1, 8),  # deflated
        (262, 3, 1, 2 if channels > 2 else 1),
        (273, 4, 1, 8 + len(depths)),
        (277, 3, 1, channels),
        (278, 4, 1, height_px),
        (279, 4, 1, len(pixels)),
    ]
    body = depths + pixels + b"\0" * (len(pixels) % 2)
    packed_entries = b"".join(struct.pack("<HHII", *entry) for entry in entries) + more
    directory = (
        struct.pack("<H", len(packed_entries) // 12) + packed_entries + struct.pack("<I", 8 + len(body))
    )  # its own offset as the next one: a cycle
    return b"II*\0" + struct.pack("<I", 8 + len(body)) + body + directory


def many_scans(jpeg: bytes, count: int) -> bytes:
    """Return a progressive JPEG file with its last scan repeated *count* times: small, but slow to decode."""
    last = jpeg.rindex(b"\xff\xda")
    return jpeg[:-2] + jpeg[last:-2] * count + jpeg[-2:]


def text_bomb(count: int, length_bytes: int) -> bytes:
    """Return a small PNG with compressed text chunks that a decoder would decompress and keep."""
    text = zlib.compress(bytes(length_bytes), 9)
    return png(64, 48, more=b"".join(png_chunk(b"zTXt", b"note\0\0" + text) for _ in range(count)))
