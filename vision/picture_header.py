"""What a picture file says of itself: its format, its size in pixels, and whether its end is there.

Decoders allocate what the header asks for and some of them fill up a file that was cut with grey, so both are looked at
before a decoder sees the file. Only the structure is parsed here; a file that passes can still fail to decode.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass

FORMATS = "JPEG, PNG, WebP, BMP or TIFF"

_JPEG_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # C4 tables, C8 reserved, CC arithmetic conditioning
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD8)})  # TEM and restart markers carry no length
_JPEG_NEXT_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")  # ends a scan: not a stuffed FF, not a restart
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"})
_TIFF_TYPES = {1: "B", 3: "H", 4: "I"}  # BYTE, SHORT, LONG: the types that sizes and offsets come in
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257
_TIFF_DATA = ((273, 279), (324, 325))  # offsets and byte counts, of strips and of tiles


class HeaderError(ValueError):
    """The file is no picture of a format that is read, or it is not whole."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the header promises.

    Attributes:
        kind: Name of the format.
        width_px, height_px: Size as stored, before any rotation that EXIF asks for.
    """

    kind: str
    width_px: int
    height_px: int


def parse_header(data: bytes) -> Header:
    """Return what the header of a picture file promises.

    Args:
        data: The whole file, or as much of it as holds the header.

    Raises:
        HeaderError: If the format is not one that is read, or the header is cut.
    """
    try:
        header = _parse(data)
    except (struct.error, IndexError):
        raise HeaderError("the file ends within its header") from None
    if header.width_px <= 0 or header.height_px <= 0:
        raise HeaderError(f"its {header.kind} header says {header.width_px} x {header.height_px} pixels")
    return header


def require_whole(data: bytes, kind: str) -> None:
    """Check that a picture file reaches its own end.

    Args:
        data: The whole file.
        kind: Its format, as `parse_header` named it.

    Raises:
        HeaderError: If it was cut or, as far as the format has checksums, changed.
    """
    try:
        _WHOLE[kind](data)
    except (struct.error, IndexError):
        raise HeaderError(f"the {kind} file is cut off") from None


def _parse(data: bytes) -> Header:
    if data[:3] == b"\xff\xd8\xff":
        return _parse_jpeg(data)
    if data[:8] == _PNG_SIGNATURE:
        if data[12:16] != b"IHDR":
            raise HeaderError("its PNG header is damaged")
        return Header("PNG", *struct.unpack_from(">II", data, 16))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _parse_webp(data)
    if data[:2] == b"BM":
        return _parse_bmp(data)
    if data[:4] in (b"II*\0", b"MM\0*"):
        tags = _tiff_tags(data)
        width_px, height_px = tags.get(_TIFF_WIDTH, (0,)), tags.get(_TIFF_HEIGHT, (0,))
        return Header("TIFF", width_px[0], height_px[0])
    if data[4:8] == b"ftyp" and data[8:12] in _HEIF_BRANDS:
        raise HeaderError(f"it is HEIC; save it as {FORMATS} (on the phone: camera format 'most compatible')")
    raise HeaderError(f"it is not a picture that can be read: expected {FORMATS}")


def _parse_jpeg(data: bytes) -> Header:
    at = 2
    while True:
        marker, at = _jpeg_marker(data, at)
        if marker in _JPEG_SOF:
            height_px, width_px = struct.unpack_from(">HH", data, at + 3)
            return Header("JPEG", width_px, height_px)
        if marker in (0xD9, 0xDA):
            raise HeaderError("its JPEG header is damaged: no frame before the first scan")
        at = _past_jpeg_segment(data, at, marker)


def _jpeg_marker(data: bytes, at: int) -> tuple[int, int]:
    """Return the marker at a position and where its segment begins."""
    if data[at] != 0xFF:
        raise HeaderError(f"its JPEG data is damaged at byte {at}")
    while data[at] == 0xFF:
        at += 1
    return data[at], at + 1


def _past_jpeg_segment(data: bytes, at: int, marker: int) -> int:
    if marker in _JPEG_BARE:
        return at
    (length,) = struct.unpack_from(">H", data, at)
    if length < 2:
        raise HeaderError(f"its JPEG data is damaged at byte {at}")
    return at + int(length)


def _require_whole_jpeg(data: bytes) -> None:
    at = 2
    while True:
        marker, at = _jpeg_marker(data, at)
        if marker == 0xD9:
            return
        at = _past_jpeg_segment(data, at, marker)
        if marker == 0xDA:
            found = _JPEG_NEXT_MARKER.search(data, at)
            if found is None:
                raise IndexError
            at = found.start()


def _require_whole_png(data: bytes) -> None:
    at = len(_PNG_SIGNATURE)
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        # Only the critical chunks (upper case) are pixels; a broken comment does not spoil the picture.
        if name[:1].isupper() and zlib.crc32(memoryview(data)[at + 4 : at + 8 + length]) != checksum:
            raise HeaderError(f"its PNG data is damaged at byte {at}")
        if name == b"IEND":
            return
        at += 12 + length


def _parse_webp(data: bytes) -> Header:
    chunk = data[12:16]
    if chunk == b"VP8X":
        width_px = int.from_bytes(_exactly(data, 24, 3), "little") + 1
        height_px = int.from_bytes(_exactly(data, 27, 3), "little") + 1
    elif chunk == b"VP8L":
        bits = int.from_bytes(_exactly(data, 21, 4), "little")
        width_px, height_px = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif chunk == b"VP8 ":
        width_px, height_px = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
    else:
        raise HeaderError("its WebP header is damaged")
    return Header("WebP", width_px, height_px)


def _exactly(data: bytes, at: int, count: int) -> bytes:
    part = data[at : at + count]
    if len(part) != count:
        raise IndexError
    return part


def _require_whole_webp(data: bytes) -> None:
    (length,) = struct.unpack_from("<I", data, 4)
    if len(data) < 8 + length:
        raise IndexError


def _parse_bmp(data: bytes) -> Header:
    (info_bytes,) = struct.unpack_from("<I", data, 14)
    width_px, height_px = struct.unpack_from("<HH" if info_bytes == 12 else "<ii", data, 18)
    return Header("BMP", width_px, abs(height_px))  # a negative height means rows from the top


def _require_whole_bmp(data: bytes) -> None:
    (info_bytes,) = struct.unpack_from("<I", data, 14)
    if info_bytes == 12:
        width_px, height_px, _, depth_bits = struct.unpack_from("<HHHH", data, 18)
        compression = 0
    else:
        width_px, height_px, _, depth_bits, compression = struct.unpack_from("<iiHHI", data, 18)
    file_bytes, _, start = struct.unpack_from("<III", data, 2)
    if compression in (0, 3):  # plain rows, padded to 4 bytes
        needed = start + (width_px * depth_bits + 31) // 32 * 4 * abs(height_px)
    else:
        needed = file_bytes
    if len(data) < needed:
        raise IndexError


def _require_whole_tiff(data: bytes) -> None:
    tags = _tiff_tags(data)
    for offsets, counts in _TIFF_DATA:
        for offset, count in zip(tags.get(offsets, ()), tags.get(counts, ()), strict=False):
            if offset + count > len(data):
                raise IndexError


def _tiff_tags(data: bytes) -> dict[int, tuple[int, ...]]:
    """Return the whole-number tags of the first picture in a TIFF file."""
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(order + "I", data, 4)
    (entries,) = struct.unpack_from(order + "H", data, at)
    tags: dict[int, tuple[int, ...]] = {}
    for entry_at in range(at + 2, at + 2 + 12 * entries, 12):
        tag, kind, count = struct.unpack_from(order + "HHI", data, entry_at)
        if kind in _TIFF_TYPES:
            length = count * struct.calcsize(order + _TIFF_TYPES[kind])
            value_at = entry_at + 8 if length <= 4 else struct.unpack_from(order + "I", data, entry_at + 8)[0]
            if value_at + length > len(data):
                raise IndexError
            tags[tag] = struct.unpack_from(f"{order}{count}{_TIFF_TYPES[kind]}", data, value_at)
    return tags


_WHOLE = {
    "JPEG": _require_whole_jpeg,
    "PNG": _require_whole_png,
    "WebP": _require_whole_webp,
    "BMP": _require_whole_bmp,
    "TIFF": _require_whole_tiff,
}
