"""Tests of malicious images in the whole program: a reading or one clear line, in bounded time and memory."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.picture_files import (
    cmyk_jpeg,
    encoded,
    many_scans,
    orientation,
    png,
    png_chunk,
    text_bomb,
    tiff,
    with_exif,
)
from tests.vision.tables import reader
from vision.image.picture import PictureError, load_picture

MAX_MB = 2000
TILE_COLORS = {"white": (235, 240, 240), "black": (30, 28, 26)}


@dataclass(frozen=True, slots=True)
class Run:
    """Result of `tallybone read --json --annotate`, with its peak memory and total CPU time."""

    code: int
    lines: list[dict[str, object]]
    errors: list[str]
    peak_mb: float
    seconds: float


# A child inherits the peak memory of its parent, so measure from a minimal process.
MEASURING = """
import json, pathlib, resource, subprocess, sys
done = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, timeout=900)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
measured = [done.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime]
pathlib.Path(sys.argv[1]).write_text(json.dumps(measured))
"""


def read_by_the_program(folder: Path, files: dict[str, bytes]) -> Run:
    """Write files and read all of them in a separate process."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    tallybone = str(Path(sys.executable).with_name("tallybone"))
    command = [tallybone, "read", *(str(folder / name) for name in files), "--json", "--annotate", str(folder / "out")]
    usage_file = folder / "used"
    result = subprocess.run(
        [sys.executable, "-c", MEASURING, usage_file, *command], check=True, capture_output=True, text=True
    )
    code, peak_mb, seconds = json.loads(usage_file.read_text())
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return Run(code, lines, result.stderr.splitlines(), peak_mb, seconds)


def noise(height_px: int, width_px: int) -> NDArray[np.uint8]:
    return np.random.default_rng(4).integers(0, 256, (height_px, width_px, 3), np.uint8)


def sized(jpeg: bytes, width_px: int, height_px: int) -> bytes:
    """Return a JPEG file whose header claims another size."""
    offset = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:offset] + struct.pack(">HH", height_px, width_px) + jpeg[offset + 4 :]


def entry(tag: int, kind: int, count: int, value: int) -> bytes:
    return struct.pack("<HHII", tag, kind, count, value)


LOOP = b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0) + struct.pack("<I", 8)

GOOD: dict[str, Callable[[], bytes]] = {
    "1x1.png": lambda: png(1, 1),
    "1x1.jpg": lambda: encoded(".jpg", noise(1, 1)),
    "1xn.png": lambda: png(1, 70_000),
    "nx1.png": lambda: png(70_000, 1),
    "nx1-too-long-for-jpeg.jpg": lambda: png(70_000, 1),
    "2x3.bmp": lambda: encoded(".bmp", noise(3, 2)),
    "noise.jpg": lambda: encoded(".jpg", noise(480, 640)),
    "exif-loop.jpg": lambda: with_exif(encoded(".jpg"), LOOP),
    "exif-65535.jpg": lambda: with_exif(encoded(".jpg"), orientation(65535)),
    "exif-9.png": lambda: png(64, 48, more=png_chunk(b"eXIf", orientation(9))),
    "exif-cut.png": lambda: png(64, 48, more=png_chunk(b"eXIf", orientation(6)[:13])),
    "16-bit.png": lambda: png(64, 48, depth_bits=16),
    "16-bit-alpha.png": lambda: png(64, 48, depth_bits=16, color=6),
    "16-bit-alpha.tiff": lambda: tiff(64, 48),
    "grey.tiff": lambda: tiff(64, 48, depth_bits=8, channels=1),
    "1-bit.png": lambda: png(64, 48, depth_bits=1, color=0),
    "palette.png": lambda: png(64, 48, depth_bits=2, color=3, more=png_chunk(b"PLTE", bytes(range(12)))),
    "grey-alpha.png": lambda: png(64, 48, color=4),
    "see-through.png": lambda: png(64, 48, color=6),
    "cmyk.jpg": cmyk_jpeg,
    "ycck.jpg": lambda: cmyk_jpeg(transform=2),
    "profile.png": lambda: png(64, 48, more=png_chunk(b"iCCP", b"bad\0\0profile")),
    "texts.png": lambda: text_bomb(300, 7_900_000),
    "junk-in-the-scan.jpg": lambda: encoded(".jpg")[:-2] + bytes(9) + b"\xff\xd9",
}
BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty.png": (lambda: b"", "empty"),
    "text.jpg": (lambda: b"not a picture", "not a readable picture"),
    "claims.jpg": (lambda: sized(encoded(".jpg"), 65_000, 65_000), "too large"),
    "claims.png": (lambda: png(1 << 31, 1, row=b""), "too large"),
    "longest.png": (lambda: png(70_000_000, 1, depth_bits=1, color=0), "decoded"),
    "100-megapixels.png": (lambda: png(10_000, 10_000, depth_bits=1, color=0), "too large"),
    "cut.jpg": (lambda: encoded(".jpg")[:-40], "cut off"),
    "scans.jpg": (lambda: many_scans(encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1), 100), "scans"),
    "scans-of-nothing.jpg": (lambda: b"\xff\xd8" + b"\xff\xe0\0\2" * (1 << 18), "parts"),
    "filled.jpg": (lambda: b"\xff" + b"\xd8" + b"\xff" * 8_000_000, "truncated in its header"),
    "restarts.jpg": (lambda: b"\xff\xd8" + b"\xff\xd0" * 4_000_000, "truncated in its header"),
    "chunks.png": (lambda: png(8, 8, more=png_chunk(b"IDAT", b"") * (1 << 18)), "parts"),
    "two-sizes.tiff": (lambda: tiff(64, 48, more=entry(256, 4, 1, 8) + entry(257, 4, 1, 8)), "twice"),
    "deep.tiff": (lambda: tiff(64, 48, channels=40), "bits for a pixel"),
    "wide-tile.tiff": (lambda: tiff(64, 48, more=entry(322, 4, 1, 16_000)), "parts of at most"),
    "tags.tiff": (lambda: tiff(64, 48, more=entry(60_000, 7, 1 << 20, 0) * 60) + bytes(1 << 20), "tags"),
}


@pytest.mark.slow
def test_small_hostile_files_give_a_reading_or_one_clear_line(tmp_path: Path) -> None:
    files = {name: make() for name, make in GOOD.items()} | {name: make() for name, (make, _) in BAD.items()}
    run = read_by_the_program(tmp_path, files)
    assert [line["path"] for line in run.lines] == [str(tmp_path / name) for name in GOOD]
    assert len(run.errors) == len(BAD), run.errors
    for error, (name, (_, expected)) in zip(run.errors, BAD.items(), strict=True):
        assert error.startswith(f"tallybone read: {tmp_path / name}: ")
        assert expected in error
    assert run.code == 1
    assert len(list((tmp_path / "out").iterdir())) == len(GOOD)
    assert run.peak_mb < 500
    assert run.seconds < 120


@pytest.mark.slow
def test_large_hostile_files_take_bounded_time_and_memory(tmp_path: Path) -> None:
    full_chroma = (cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, 0x111111)
    wide = np.zeros((8900, 8900, 3), np.uint8)
    wide[:1000, :1000] = noise(1000, 1000)
    files = {
        "wide.jpg": encoded(".jpg", wide, *full_chroma),
        "scans.jpg": many_scans(encoded(".jpg", noise(2000, 3000), cv2.IMWRITE_JPEG_PROGRESSIVE, 1), 30),
        "deep.png": png(8900, 8900, depth_bits=16, color=6),
        "deep.tiff": tiff(8900, 8900),
    }
    run = read_by_the_program(tmp_path, files)
    assert (len(run.lines), run.errors, run.code) == (len(files), [], 0)
    assert run.peak_mb < MAX_MB
    assert run.seconds < 180


def board(long_px: int, gap_px: int, color: str) -> NDArray[np.uint8]:
    """Return a table full of rectangles with a bar and two pips, packed as in no real game."""
    short_px = long_px // 2
    tile = np.full((short_px + gap_px, long_px + gap_px, 3), (40, 90, 30), np.uint8)
    tile[:short_px, :long_px] = TILE_COLORS[color]
    ink = TILE_COLORS["black" if color == "white" else "white"]
    tile[1 : short_px - 1, long_px // 2] = ink
    for x in (long_px // 4, 3 * long_px // 4):
        cv2.circle(tile, (x, short_px // 2), max(short_px // 8, 1), ink, cv2.FILLED)
    rows, columns = 960 // tile.shape[0] + 1, 1280 // tile.shape[1] + 1
    return np.tile(tile, (rows, columns, 1))[:960, :1280]


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize(("long_px", "gap_px", "color"), [(32, 2, "white"), (48, 0, "black")])
def test_reads_thousands_of_tiles_in_bounded_time(long_px: int, gap_px: int, color: str) -> None:
    image = board(long_px, gap_px, color)
    start = time.process_time()
    reading = reader().read(image)
    assert time.process_time() - start < 20
    assert len(reading.tiles) <= 300


@pytest.mark.slow
def test_a_corrupted_photograph_is_read_or_rejected(tmp_path: Path) -> None:
    original = encoded(".jpg", board(48, 12, "white")[:180, :240], cv2.IMWRITE_JPEG_QUALITY, 60)
    rng = np.random.default_rng(11)
    path, refused = tmp_path / "changed.jpg", 0
    for _ in range(12):
        data = bytearray(
            original[: int(rng.integers(len(original) // 2, len(original)))] if rng.random() < 0.2 else original
        )
        for offset in rng.integers(0, len(data), 3):
            data[offset] = rng.integers(0, 256)
        path.write_bytes(data)
        try:
            image = load_picture(path)
        except PictureError:
            refused += 1
            continue
        reading = reader().read(image)
        assert (reading.width_px, reading.height_px) == (image.shape[1], image.shape[0])
    assert 0 < refused < 12
