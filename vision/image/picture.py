"""Load images from files as upright 8-bit BGR, and scale them to pyramids for tiles of any size.

Decoders allocate as much memory as the header of a file asks for, and some fill truncated images with grey. Format,
size and completeness are therefore checked before decoding. Only the structure is parsed, so a file that passes can
still fail to decode.
"""

from __future__ import annotations

import re
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import HeaderError, VisionError
from vision.arrays import Image

_WIDTH = 256
_HEIGHT = 257
_DEPTH_BITS = 258
_CHANNELS = 277
_TILE_WIDTH = 322
_TILE_HEIGHT = 323
_DNG_VERSION = 50706
_PARTS = ((273, 279), (324, 325))  # Offsets and byte counts, of strips and of tiles.
_SIZES = (_WIDTH, _HEIGHT, _DEPTH_BITS, _CHANNELS, _TILE_WIDTH, _TILE_HEIGHT)
_WANTED = frozenset({_DNG_VERSION, *_SIZES, *_PARTS[0], *_PARTS[1]})
_INTEGER_TYPES = {1: "B", 3: "H", 4: "I"}  # BYTE, SHORT, LONG: the types of sizes and offsets.
_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
# Maximum total size of all tags. The decoder keeps every tag, and several may share the same bytes. The two tables of
# 80 megapixels in rows of 80 need 8 MB.
_MAX_TAG_BYTES = 32 * 1024 * 1024
# Maximum number of bits per pixel: 16 each of red, green, blue and alpha.
_MAX_PIXEL_BITS = 64
# Maximum side of a tile, which may be larger than the image. Common sizes are 64 to 1024.
_LARGEST_TILE_PX = 4096


def tiff_size_px(data: bytes) -> tuple[int, int]:
    """Return width and height of the first image in a TIFF file, 0 if they are missing.

    Raises:
        HeaderError: If decoding the file would need excessive memory, or a tag is repeated.
        struct.error, IndexError: If the file is truncated.
    """
    tags = _tags(data)
    bits = max(tags.get(_DEPTH_BITS, (1,))) * max(tags.get(_CHANNELS, (1,)))
    if bits > _MAX_PIXEL_BITS:
        raise HeaderError(f"expected at most {_MAX_PIXEL_BITS} bits for a pixel, but its TIFF header says {bits}")
    tile_px = max(*tags.get(_TILE_WIDTH, (0,)), *tags.get(_TILE_HEIGHT, (0,)))
    if tile_px > _LARGEST_TILE_PX:
        raise HeaderError(f"expected parts of at most {_LARGEST_TILE_PX} px, but its TIFF header says {tile_px}")
    return tags.get(_WIDTH, (0,))[0], tags.get(_HEIGHT, (0,))[0]


def require_whole_tiff(data: bytes) -> None:
    """Raise IndexError if the pixel data of a TIFF file is not all within the file."""
    tags = _tags(data)
    for offsets, counts in _PARTS:
        for offset, count in zip(tags.get(offsets, ()), tags.get(counts, ()), strict=False):
            if offset + count > len(data):
                raise IndexError


def _tags(data: bytes) -> dict[int, tuple[int, ...]]:
    """Return the wanted tags of the first image. Tags that are empty or not integers are omitted."""
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(order + "I", data, 4)
    (entries,) = struct.unpack_from(order + "H", data, at)
    tags: dict[int, tuple[int, ...]] = {}
    tag_bytes = 0
    for entry_at in range(at + 2, at + 2 + 12 * entries, 12):
        tag, kind, count = struct.unpack_from(order + "HHI", data, entry_at)
        length = count * _TYPE_BYTES.get(kind, 0)
        tag_bytes += length
        if tag_bytes > _MAX_TAG_BYTES:
            raise HeaderError("its TIFF header is damaged: its tags are too large")
        value_at = entry_at + 8 if length <= 4 else struct.unpack_from(order + "I", data, entry_at + 8)[0]
        if value_at + length > len(data):
            raise IndexError
        if tag not in _WANTED or kind not in _INTEGER_TYPES or count == 0:
            continue
        if tag in tags:  # Decoders differ in which of the two they use.
            raise HeaderError(f"its TIFF header is damaged: tag {tag} comes twice")
        tags[tag] = struct.unpack_from(f"{order}{count}{_INTEGER_TYPES[kind]}", data, value_at)
    return tags


FORMATS = "JPEG, PNG, WebP, BMP, TIFF, GIF, AVIF or HEIC"

_JPEG_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # C4 tables, C8 reserved, CC arithmetic conditioning
# A marker may be preceded by any number of FF. TEM and restart markers have no length and are skipped.
_JPEG_MARKER = re.compile(rb"(?:\xff++[\x01\xd0-\xd7])*+\xff++([^\xff\x01\xd0-\xd7])", re.DOTALL)
# FF and the marker that ends a scan. Stuffed FF and restart markers do not.
_JPEG_FILL = re.compile(rb"\xff++([^\x00\xd0-\xd7\xff]?)", re.DOTALL)
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"})
# Chunks for pixels, colours and orientation.
_PNG_NEEDED = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"eXIf"})
# Files with more segments or chunks are rejected. Images have at most a few hundred. 80 megapixels in PNG chunks of 8
# kB would have 30,000.
_MAX_PARTS = 1 << 18
# libjpeg writes 10 scans. Each is decoded over the whole image even if its data is tiny, which takes 0.05 to 0.35 s at
# 80 megapixels. The limits allow 10 scans for the largest image, and more than any encoder writes at 12 megapixels.
_MAX_SCANS = 64
_MAX_AVIF_HEADER = 1 << 16
_MAX_SCANNED_PIXELS = 800_000_000


@dataclass(frozen=True, slots=True)
class Header:
    """Header of an image file.

    Attributes:
        kind: Name of the format.
        width_px, height_px: Size as stored, before rotation by EXIF.
    """

    kind: str
    width_px: int
    height_px: int


def parse_header(data: bytes) -> Header:
    """Parse the header of an image file.

    Raises:
        HeaderError: If the format is not supported, or the header is truncated or damaged.
    """
    try:
        header = _parse(data)
    except (struct.error, IndexError):
        raise HeaderError("the file is truncated in its header") from None
    if header.width_px <= 0 or header.height_px <= 0:
        raise HeaderError(f"its {header.kind} header says {header.width_px} x {header.height_px} pixels")
    return header


def is_heic(data: bytes) -> bool:
    """Return True if a file is a HEIC image, by its first bytes."""
    return data[4:8] == b"ftyp" and data[8:12] in _HEIF_BRANDS


def require_whole(data: bytes, kind: str) -> None:
    """Check that an image file is complete.

    Args:
        data: The whole file.
        kind: Format from `parse_header`.

    Raises:
        HeaderError: If the file is truncated or damaged, or has too many scans or other parts.
    """
    try:
        _WHOLE[kind](data)
    except (struct.error, IndexError):
        raise HeaderError(f"the {kind} file is cut off") from None


def needed_to_decode(data: bytes, kind: str) -> bytes:
    """Return a PNG file without the chunks that are not needed for decoding, or a file of another format unchanged.

    A PNG file of 2 MB can contain compressed texts of 2 GB, all of which libpng would keep in memory.

    Args:
        data: The whole file, checked by `require_whole`.
        kind: Format from `parse_header`.
    """
    if kind != "PNG":
        return data
    chunks = (data[at : at + 12 + length] for at, length, name in _png_chunks(data) if name in _PNG_NEEDED)
    return _PNG_SIGNATURE + b"".join(chunks)


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
        (info_bytes,) = struct.unpack_from("<I", data, 14)
        width_px, height_px = struct.unpack_from("<HH" if info_bytes == 12 else "<ii", data, 18)
        return Header("BMP", width_px, abs(height_px))  # A negative height means rows stored from the top.
    if data[:4] in (b"II*\0", b"MM\0*"):
        # The first image of a raw photo is its preview.
        return Header("DNG" if _DNG_VERSION in _tags(data) else "TIFF", *tiff_size_px(data))
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return Header("GIF", *struct.unpack_from("<HH", data, 6))
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis"):
        # The size of the largest image in an AVIF file, from the property "ispe" of each image.
        ends = [found.end() for found in re.finditer(rb"ispe\0{4}", data[:_MAX_AVIF_HEADER])]
        if not ends:
            raise HeaderError("its AVIF header is damaged")
        size_px = max((struct.unpack_from(">II", data, at) for at in ends), key=lambda size: size[0] * size[1])
        return Header("AVIF", *size_px)
    if is_heic(data):
        raise HeaderError("it is HEIC; save it as JPEG or PNG (on the phone: camera format 'most compatible')")
    raise HeaderError(f"not a readable picture: expected {FORMATS}")


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


def _parse_jpeg(data: bytes) -> Header:
    for marker, at in _jpeg_segments(data):
        if marker in _JPEG_SOF:
            height_px, width_px = struct.unpack_from(">HH", data, at + 3)
            return Header("JPEG", width_px, height_px)
        if marker in (0xD9, 0xDA):
            break
    raise HeaderError("its JPEG header is damaged: no frame before the first scan")


def _require_whole_jpeg(data: bytes) -> None:
    scans = sum(marker == 0xDA for marker, _ in _jpeg_segments(data))
    header = _parse_jpeg(data)
    most = min(_MAX_SCANS, _MAX_SCANNED_PIXELS // (header.width_px * header.height_px))
    if scans > most:
        raise HeaderError(f"expected at most {most} scans at its size, but the JPEG file has {scans}")


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker and the offset of its segment, up to and including the end-of-image marker."""
    at = 2
    for _ in range(_MAX_PARTS):
        found = _JPEG_MARKER.match(data, at)
        if found is None:
            if at >= len(data) or data[at] == 0xFF:
                raise IndexError
            raise HeaderError(f"its JPEG data is damaged at byte {at}")
        marker, at = found[1][0], found.end()
        yield marker, at
        if marker == 0xD9:
            return
        (length,) = struct.unpack_from(">H", data, at)
        if length < 2:
            raise HeaderError(f"its JPEG data is damaged at byte {at}")
        at += length
        if marker == 0xDA:
            at = _end_of_scan(data, at)
    raise HeaderError(f"its JPEG data has more than {_MAX_PARTS} parts")


def _end_of_scan(data: bytes, at: int) -> int:
    """Return the offset of the next marker. Searching for FF first takes a tenth of the time of a regex search."""
    while (at := data.find(b"\xff", at)) >= 0:
        found = _JPEG_FILL.match(data, at)
        assert found is not None  # it starts with FF
        if found[1]:
            return at
        at = found.end()
    raise IndexError


def _require_whole_png(data: bytes) -> None:
    for at, length, name in _png_chunks(data):
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        # Only critical chunks (upper case) matter for pixels. A damaged comment does not affect the image.
        if name[:1].isupper() and zlib.crc32(memoryview(data)[at + 4 : at + 8 + length]) != checksum:
            raise HeaderError(f"its PNG data is damaged at byte {at}")


def _png_chunks(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the offset, content length and name of each chunk."""
    at = len(_PNG_SIGNATURE)
    for _ in range(_MAX_PARTS):
        length, name = struct.unpack_from(">I4s", data, at)
        yield at, length, name
        if name == b"IEND":
            return
        at += 12 + length
    raise HeaderError(f"its PNG data has more than {_MAX_PARTS} parts")


def _require_whole_avif(data: bytes) -> None:
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, at + 8)
        if length == 0:  # up to the end of the file
            return
        if length < 8:
            raise HeaderError(f"its AVIF data is damaged at byte {at}")
        at += length
    if at > len(data):
        raise IndexError


def _require_whole_gif(data: bytes) -> None:
    if not data.rstrip(b"\0").endswith(b";"):
        raise IndexError


def _exactly(data: bytes, at: int, count: int) -> bytes:
    part = data[at : at + count]
    if len(part) != count:
        raise IndexError
    return part


def _require_whole_webp(data: bytes) -> None:
    (length,) = struct.unpack_from("<I", data, 4)
    if len(data) < 8 + length:
        raise IndexError


def _require_whole_bmp(data: bytes) -> None:
    (info_bytes,) = struct.unpack_from("<I", data, 14)
    if info_bytes == 12:
        width_px, height_px, _, depth_bits = struct.unpack_from("<HHHH", data, 18)
        compression = 0
    else:
        width_px, height_px, _, depth_bits, compression = struct.unpack_from("<iiHHI", data, 18)
    file_bytes, _, start = struct.unpack_from("<III", data, 2)
    if compression in (0, 3):  # Uncompressed rows, padded to 4 bytes.
        needed = start + (width_px * depth_bits + 31) // 32 * 4 * abs(height_px)
    else:
        needed = file_bytes
    if len(data) < needed:
        raise IndexError


_WHOLE = {
    "JPEG": _require_whole_jpeg,
    "PNG": _require_whole_png,
    "WebP": _require_whole_webp,
    "BMP": _require_whole_bmp,
    "TIFF": require_whole_tiff,
    "DNG": require_whole_tiff,
    "GIF": _require_whole_gif,
    "AVIF": _require_whole_avif,
}


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
        super().__init__(text)
        self.pixels = pixels


class OversizedPictureError(PictureError):
    """An image has too many pixels."""


class MissingHeicError(PictureError):
    """A file is a HEIC image, and the library that decodes it is not installed."""


def load_picture(path: Path) -> Image:
    """Load an image file, upright. Shape (H, W, 3), BGR.

    EXIF orientation is applied. Grey, 16-bit, palette and CMYK images are converted to 8-bit BGR, and alpha is dropped.
    The size in the header is checked before decoding, so that an oversized image uses no memory.

    Args:
        path: A JPEG, PNG, WebP, BMP, TIFF, GIF or AVIF file, or a raw photo (DNG), of which the preview is read. Also
            HEIC if pillow-heif is installed (the extra `heic`). JPEG of over 80 megapixels is reduced.

    Raises:
        PictureError: If the file does not exist, or is not a complete image of at most 80 megapixels (JPEG: 200).
    """
    return decode_picture(read_picture_file(path), str(path))


def decode_picture(data: bytes, name: str, *, min_px: int | None = None) -> Image:
    """Decode an image file in memory, like `load_picture`. Shape (H, W, 3), BGR.

    It is decoded at 1/2, 1/4 or 1/8 of its size if the long side keeps *min_px*. HEIC is not reduced.

    Raises:
        PictureError: If it is not a complete image of at most 80 megapixels.
    """
    if is_heic(data):
        return _decode_heic(data, name)
    header = check_picture(data, name)
    return _decode(needed_to_decode(data, header.kind), header, name, min_px)


def check_picture(data: bytes, name: str) -> Header:
    """Check that an image file is complete and not too large to decode, and return its header.

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


FINEST_PX = 1280
_MAX_LEVELS = 5
# The detector starts at this size, so every larger image has such a level. With only halved levels it would start at
# 350 px for an image of 700 px, and miss small tiles.
SEARCHED_PX = 640
_SMALLEST_SIDE_PX = 40
# A dim image is brightened until its 99th percentile reaches this, within a gain that limits the noise.
_WHITE = 230
_MAX_GAIN = 3.0


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
        if found:
            finer = found[-1]
            as_taken = None if finer.as_taken is None else _shrunk(finer.as_taken, *size_px)
            found.append(Level(_shrunk(finer.image, *size_px), scale_xy, as_taken))
        else:
            as_taken = _shrunk(image, *size_px)
            gain = _gain(as_taken)
            brightened = np.asarray(cv2.convertScaleAbs(as_taken, alpha=gain), np.uint8) if gain > 1 else as_taken
            found.append(Level(brightened, scale_xy, as_taken if gain > 1 else None))
        long_side_px = SEARCHED_PX if long_side_px > SEARCHED_PX else long_side_px / 2
    return tuple(found)


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
