"""Read the tiles of a photo in a process of its own, whose memory is limited and free again afterwards.

Decoders take what a file asks for: 464 kB of progressive JPEG took 515 MB. A large photo is decoded at a half, a
quarter or an eighth of its size, but the coefficients of a progressive JPEG are kept whole.

The process gets a line of JSON and then the photo. It returns a line of JSON, and then the picture as JPEG.
"""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np

from engine.phrases import Phrase, phrase
from tallybone.json_values import from_json, to_json
from vision.arrays import Image
from vision.image import picture
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile

log = logging.getLogger(__name__)

# What decoding and reading may take besides the program itself. A progressive JPEG of 50 megapixels takes 160 MB.
_MAX_BYTES = 180 << 20
# A larger file that cannot be decoded has most likely run out of memory.
_LARGE_PIXELS = 20_000_000
_PATIENCE_S = 60.0
_QUALITY = 95
# One thread computes matrices, and freed blocks of a megabyte go back to the system.
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1048576"}
_TOO_MUCH = "memory"
_REFUSALS = {
    _TOO_MUCH: phrase("this photo needs too much memory: send a smaller one, or take it again with a lower resolution"),
    "time": phrase("reading this photo took too long: send a smaller one"),
    "heic": phrase(
        'this table cannot read HEIC photos: choose "Most Compatible" in the settings of the phone\'s camera, or'
        " install {package} at the table",
        package="pillow-heif",
    ),
    "size": phrase(
        "this photo is too large: take one with at most {megapixels} megapixels",
        megapixels=picture.MAX_PIXELS // 1_000_000,
    ),
    "damage": phrase("this file is not a picture, or it is damaged: take another photo, or choose a JPEG or PNG file"),
}
PhotoTiles: TypeAlias = tuple[tuple[SeenTile, ...], Image]


class PhotoError(Exception):
    """A photo cannot be read. *text* are for people."""

    def __init__(self, refusal: str) -> None:
        self.text: Phrase = _REFUSALS[refusal]
        super().__init__(self.text)


def read_photo(photo: bytes, max_pips: int, own_set: RecordedSet | None, *, max_bytes: int = _MAX_BYTES) -> PhotoTiles:
    """Return the tiles in a photo, and the photo at the size at which it was read.

    Args:
        photo: Content of the file.
        max_pips: Highest number of pips on a half.
        own_set: Custom tile set, or None.
        max_bytes: Memory for decoding and reading.

    Raises:
        PhotoError: If it is not a readable picture, or needs too much memory or time.
    """
    head = json.dumps([max_pips, to_json(own_set, RecordedSet | None), max_bytes]).encode()
    try:
        done = subprocess.run(
            (sys.executable, "-m", "tallybone.web.live.photo"),
            input=head + b"\n" + photo,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            env={**os.environ, **_FRUGAL},
        )
    except subprocess.TimeoutExpired:
        raise PhotoError("time") from None
    if text := done.stderr.decode(errors="replace").strip():
        log.warning("photo: %s", text)
    header, _, jpeg = done.stdout.partition(b"\n")
    found = json.loads(header) if done.returncode == 0 else _TOO_MUCH
    if isinstance(found, str):
        raise PhotoError(found)
    return from_json(found, tuple[SeenTile, ...]), picture.decode_picture(jpeg, "photo")


def read_standard_input() -> None:
    """Read the photo on the standard input, and write the result to the standard output."""
    max_pips, own_set, max_bytes = json.loads(sys.stdin.buffer.readline())
    cv2.setNumThreads(2)
    with suppress(OSError):  # If memory runs out, this process is the one that the table can do without.
        Path("/proc/self/oom_score_adj").write_text("1000")
    own = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())
    max_bytes += int(own[1]) << 10 if own is not None else 0
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))
    found, jpeg = _found(sys.stdin.buffer.read(), max_pips, from_json(own_set, RecordedSet | None))
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + jpeg)


def _found(photo: bytes, max_pips: int, own_set: RecordedSet | None) -> tuple[object, bytes]:
    """Return the tiles as JSON and the picture as JPEG, or a refusal."""
    try:
        image = picture.decode_picture(photo, "photo", min_px=picture.FINEST_PX)
        scale = picture.FINEST_PX / max(image.shape[:2])
        if scale < 1:  # The reader uses no more pixels.
            image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        # The reader is loaded only now, when the memory for decoding is free again.
        from tallybone.recording.own_tiles import as_recorded
        from vision.reader.reader import load_reader

        reader = load_reader(max_pips)
        if own_set is not None:
            reader = as_recorded(reader, own_set, log.warning)
        tiles = to_json(reader.read(image).tiles, tuple[SeenTile, ...])
        jpeg: np.ndarray = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1]
        return tiles, jpeg.tobytes()
    except picture.MissingHeicError:
        return "heic", b""
    except picture.OversizedPictureError:
        return "size", b""
    except picture.PictureError as error:
        log.warning("%s", error)
        cause = error.__cause__
        is_full = isinstance(cause, cv2.error) and cause.code == cv2.Error.StsNoMem
        return _TOO_MUCH if is_full or error.pixels > _LARGE_PIXELS else "damage", b""
    except (MemoryError, cv2.error):
        return _TOO_MUCH, b""


if __name__ == "__main__":
    read_standard_input()
