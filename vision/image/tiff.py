"""Parse the header of a TIFF file, and reject files that would need excessive memory to decode."""

from __future__ import annotations

import struct

from vision.errors import HeaderError

_WIDTH, _HEIGHT, _DEPTH_BITS, _CHANNELS, _TILE_WIDTH, _TILE_HEIGHT = 256, 257, 258, 277, 322, 323
_PARTS = ((273, 279), (324, 325))  # Offsets and byte counts, of strips and of tiles.
_WANTED = frozenset({_WIDTH, _HEIGHT, _DEPTH_BITS, _CHANNELS, _TILE_WIDTH, _TILE_HEIGHT, *_PARTS[0], *_PARTS[1]})
_INTEGER_TYPES = {1: "B", 3: "H", 4: "I"}  # BYTE, SHORT, LONG: the types of sizes and offsets.
_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
# Maximum total size of all tags. The decoder keeps every tag, and several may share the same bytes. The two tables of
# 80 megapixels in rows of 80 need 8 MB.
_MOST_TAG_BYTES = 32 * 1024 * 1024
# Maximum number of bits per pixel: 16 each of red, green, blue and alpha.
_MOST_PIXEL_BITS = 64
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
    if bits > _MOST_PIXEL_BITS:
        raise HeaderError(f"expected at most {_MOST_PIXEL_BITS} bits for a pixel, but its TIFF header says {bits}")
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
        if tag_bytes > _MOST_TAG_BYTES:
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
