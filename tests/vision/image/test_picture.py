"""Tests of loading images: formats, EXIF orientation, limits and damaged files."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.picture_files import (
    SCENE_HEIGHT,
    SCENE_WIDTH,
    TOP_LEFT_BGR,
    cmyk_jpeg,
    encoded,
    heic,
    huge_png,
    many_scans,
    orientation,
    png,
    png_chunk,
    scene,
    text_bomb,
    with_exif,
)
from vision import HeaderError
from vision.image.picture import (
    MAX_JPEG_PIXELS,
    MAX_PIXELS,
    Header,
    PictureError,
    decode_picture,
    load_picture,
    needed_to_decode,
    parse_header,
    require_whole,
)


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def rejection(path: Path) -> str:
    """Return the rejection for the rejection of a file, after checking that the message starts with the path."""
    with pytest.raises(PictureError) as caught:
        load_picture(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def assert_is_the_scene(image: NDArray[np.uint8], *, tolerance: int) -> None:
    assert image.shape == (SCENE_HEIGHT, SCENE_WIDTH, 3)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    # The centre of the red corner and a distant point. Codecs blur edges.
    for row, column in ((6, 6), (40, 40)):
        difference = image[row, column].astype(int) - scene()[row, column].astype(int)
        assert abs(difference).max() <= tolerance, (row, column, image[row, column])


@pytest.mark.parametrize(
    ("extension", "tolerance"),
    [(".jpg", 12), (".png", 0), (".bmp", 0), (".webp", 12), (".tiff", 0), (".gif", 40), (".avif", 12)],
)
def test_all_formats_decode_to_the_same_image(tmp_path: Path, extension: str, tolerance: int) -> None:
    path = write(tmp_path, "table.jpg", encoded(extension))  # the content determines the format
    assert_is_the_scene(load_picture(path), tolerance=tolerance)


@pytest.mark.parametrize("extension", [".png", ".tiff"])
def test_sixteen_bits_are_scaled_to_eight_and_alpha_is_dropped(tmp_path: Path, extension: str) -> None:
    path = write(tmp_path, f"deep{extension}", encoded(extension, scene().astype(np.uint16) * 257))
    assert_is_the_scene(load_picture(path), tolerance=1)
    clear = np.dstack([scene(), np.full((SCENE_HEIGHT, SCENE_WIDTH), 90, np.uint8)])
    assert_is_the_scene(load_picture(write(tmp_path, "alpha", encoded(extension, clear))), tolerance=0)


@pytest.mark.parametrize("extension", [".jpg", ".png", ".bmp", ".tiff"])
def test_greyscale_gets_three_equal_channels(tmp_path: Path, extension: str) -> None:
    image = load_picture(write(tmp_path, f"grey{extension}", encoded(extension, scene()[:, :, 0])))
    assert image.shape == (SCENE_HEIGHT, SCENE_WIDTH, 3)
    assert (image[:, :, 0] == image[:, :, 1]).all()
    assert (image[:, :, 0] == image[:, :, 2]).all()
    assert abs(int(image[40, 40, 0]) - 120) <= 6


def test_reads_one_bit_and_palette_images(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 8, 1, 1, 3, 0, 0, 0)
    rows = zlib.compress(b"\0\xaa")
    chunks = [(b"IHDR", header), (b"PLTE", bytes((200, 20, 10, 0, 0, 255))), (b"IDAT", rows), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(name, body) for name, body in chunks)
    image = load_picture(write(tmp_path, "palette.png", data))
    assert image.tolist() == [[[255, 0, 0], [10, 20, 200]] * 4]


@pytest.mark.parametrize(("width_px", "scans", "most"), [(8_900, 114, 10), (8_900, 11, 10), (4_000, 65, 64)])
def test_limits_the_number_of_scans_by_size(width_px: int, scans: int, most: int) -> None:
    progressive = encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    data = many_scans(progressive, scans - progressive.count(b"\xff\xda"))
    offset = data.index(b"\xff\xc2") + 5
    data = (
        data[:offset]
        + struct.pack(">HH", 3 * width_px // 4 if width_px < 8_000 else width_px, width_px)
        + data[offset + 4 :]
    )
    assert parse_header(data).width_px == width_px
    with pytest.raises(HeaderError, match=f"at most {most} scans at its size, but the JPEG file has {scans}"):
        require_whole(data, "JPEG")
    allowed = data[:-2].rsplit(b"\xff\xda", scans - most)[0] + data[-2:]
    require_whole(allowed, "JPEG")


def test_cmyk_becomes_bgr(tmp_path: Path) -> None:
    # An 8 x 8 CMYK JPEG of one colour, inverted as Adobe writes it. Built by hand, as OpenCV cannot write it.
    path = write(tmp_path, "print.jpg", cmyk_jpeg())
    image = load_picture(path)
    assert image.shape == (8, 8, 3)
    assert abs(image.astype(int) - 64).max() <= 2  # half ink in half black


# Position of the red corner as (bottom, right), by EXIF orientation.
UPRIGHT = {1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 0), 5: (0, 0), 6: (0, 1), 7: (1, 1), 8: (1, 0)}


@pytest.mark.parametrize("value", UPRIGHT)
def test_applies_exif_orientation(tmp_path: Path, value: int) -> None:
    path = write(tmp_path, "phone.jpg", with_exif(encoded(".jpg"), orientation(value)))
    image = load_picture(path)
    is_rotated = value >= 5
    assert image.shape[:2] == ((SCENE_WIDTH, SCENE_HEIGHT) if is_rotated else (SCENE_HEIGHT, SCENE_WIDTH))
    bottom, right = UPRIGHT[value]
    corner = image[-6 if bottom else 5, -6 if right else 5].astype(int)
    assert abs(corner - TOP_LEFT_BGR).max() <= 12


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"II*\0",
        b"II*\0\xff\xff\xff\xff",
        b"MM\0*\0\0\0\x08\xff\xff" + b"\xff" * 40,
        b"XXXX" + bytes(range(60)),
        orientation(0),
        orientation(99),
        orientation(6)[:14],
    ],
    ids=["empty", "cut", "offset", "count", "garbage", "zero", "99", "half"],
)
def test_ignores_invalid_exif(tmp_path: Path, body: bytes) -> None:
    assert_is_the_scene(load_picture(write(tmp_path, "odd.jpg", with_exif(encoded(".jpg"), body))), tolerance=12)


def test_random_exif_never_crashes(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        body = bytearray(orientation(6) * 3)
        for offset in rng.integers(0, len(body), 6):
            body[offset] = rng.integers(0, 256)
        image = load_picture(write(tmp_path, "odd.jpg", with_exif(encoded(".jpg"), bytes(body))))
        assert sorted(image.shape) == [3, SCENE_HEIGHT, SCENE_WIDTH]


def test_what_is_no_picture_is_rejected_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")  # opening it would block
    assert rejection(tmp_path / "nowhere.jpg") == "there is no such file"
    for name, reason in (("", "folder"), ("pipe.jpg", "pipe"), ("x" * 300 + ".jpg", "cannot be opened")):
        assert reason in rejection(tmp_path / name)
    for data in (b"hello table\n", b"\0" * 1000, b"<svg/>", b"\xff"):
        assert "JPEG, PNG, WebP, BMP, TIFF, GIF, AVIF or HEIC" in rejection(write(tmp_path, "notes.jpg", data))
    assert "empty" in rejection(write(tmp_path, "empty.jpg", b""))
    with (tmp_path / "sparse.jpg").open("wb") as file:
        file.truncate(1 << 40)
    assert "too large" in rejection(tmp_path / "sparse.jpg")
    for width, height in ((0, 10), (10, 0)):
        flat = bytearray(encoded(".jpg"))
        struct.pack_into(">HH", flat, flat.index(b"\xff\xc0") + 5, height, width)
        assert f"{width} x {height} pixels" in rejection(write(tmp_path, "flat.jpg", bytes(flat)))
    text = "^https://example.org/a.jpg: this is an address: download the picture, and read the file$"
    with pytest.raises(PictureError, match=text):
        load_picture(Path("https://example.org/a.jpg"))


def test_reads_heic_upright(tmp_path: Path) -> None:
    data = heic(np.rot90(scene()).copy(), quality=-1, chroma=444, exif=b"Exif\0\0" + orientation(6))
    assert_is_the_scene(load_picture(write(tmp_path, "table.heic", data)), tolerance=12)
    grey = load_picture(write(tmp_path, "grey.heic", heic(scene()[:, :, 0], quality=-1)))
    assert (np.ptp(grey, axis=2) == 0).all()
    assert "cannot be decoded" in rejection(write(tmp_path, "cut.heic", data[:-99]))


def test_damaged_heic_is_rejected_or_decoded() -> None:
    rng, whole = random.Random(53), heic(scene())
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(12, len(data))] = rng.randrange(256)
        with suppress(PictureError):
            assert decode_picture(bytes(data), "damaged").dtype == np.uint8


def test_rejects_heic_with_advice_if_its_library_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    message = rejection(write(tmp_path, "IMG_1.HEIC", b"\0\0\0\x18ftypheic" + b"\0" * 100))
    assert "HEIC" in message
    assert "most compatible" in message


CUT: dict[str, Callable[[], bytes]] = {
    "jpeg": lambda: encoded(".jpg"),
    "progressive": lambda: encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "restarts": lambda: encoded(".jpg", None, cv2.IMWRITE_JPEG_RST_INTERVAL, 2),
    "exif": lambda: with_exif(encoded(".jpg"), orientation(6) + encoded(".jpg")),  # with a thumbnail
    "png": lambda: encoded(".png"),
    "bmp": lambda: encoded(".bmp"),
    "webp": lambda: encoded(".webp"),
    "webp-lossless": lambda: encoded(".webp", None, cv2.IMWRITE_WEBP_QUALITY, 101),
    "tiff": lambda: encoded(".tiff"),
    "tiff-plain": lambda: encoded(".tiff", None, cv2.IMWRITE_TIFF_COMPRESSION, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CUT)
def test_rejects_a_file_truncated_anywhere(tmp_path: Path, kind: str) -> None:
    data = CUT[kind]()
    load_picture(write(tmp_path, "original", data))
    cuts = {*range(1, min(len(data), 400)), *range(400, len(data), 7), *range(len(data) - 60, len(data))}
    for cut in sorted(cuts):
        assert rejection(write(tmp_path, "cut", data[:cut]))
        # Do not rely on the decoder: some versions fill the rest with grey.
        with pytest.raises(HeaderError):
            require_whole(data[:cut], parse_header(data[:cut]).kind)


@pytest.mark.parametrize("kind", ["jpeg", "progressive", "png"])
def test_ignores_data_after_the_image(tmp_path: Path, kind: str) -> None:
    # Phones append a video or a second image.
    load_picture(write(tmp_path, "motion", CUT[kind]() + b"\0\0\0\x18ftypmp42" + b"\xff\xd8" * 20))


def huge_jpeg() -> bytes:
    data = bytearray(encoded(".jpg"))
    offset = data.index(b"\xff\xc0") + 5
    data[offset : offset + 4] = struct.pack(">HH", 65_000, 65_000)
    return bytes(data)


def huge_bmp() -> bytes:
    data = bytearray(encoded(".bmp"))
    data[18:26] = struct.pack("<ii", 30_000, -30_000)
    return bytes(data)


def test_corrupted_files_load_or_raise_but_never_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for make in CUT.values():
        for _ in range(100):
            data = bytearray(make())
            for offset in rng.integers(0, min(len(data), 700), 3):
                data[offset] = rng.integers(0, 256)
            with suppress(PictureError):
                image = load_picture(write(tmp_path, "changed", bytes(data)))
                assert image.ndim == 3
                assert image.dtype == np.uint8


@pytest.mark.parametrize("make", [huge_png, huge_jpeg, huge_bmp])
def test_rejects_a_huge_image(tmp_path: Path, make: Callable[[], bytes]) -> None:
    message = rejection(write(tmp_path, "huge", make()))
    assert "too large" in message
    most = MAX_JPEG_PIXELS if make is huge_jpeg else MAX_PIXELS
    assert f"{most // 1_000_000} megapixels" in message


PEAK_KB = """
import pathlib, resource, sys
from vision.image.picture import PictureError, load_picture
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in sys.argv[1:]:
    try:
        load_picture(pathlib.Path(name))
    except PictureError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_rejecting_a_huge_image_takes_no_memory(tmp_path: Path) -> None:
    paths = [str(write(tmp_path, make.__name__, make())) for make in (huge_png, huge_jpeg, huge_bmp)]
    result = subprocess.run([sys.executable, "-c", PEAK_KB, *paths], capture_output=True, text=True, check=True)
    growth_kb = [int(line) for line in result.stdout.split()]
    assert len(growth_kb) == 3
    assert max(growth_kb) < 5_000  # the first alone would need 10 GB


def test_accepts_a_large_header_before_the_size(tmp_path: Path) -> None:
    jpeg = encoded(".jpg")
    profile = b"\xff\xe2" + struct.pack(">H", 65_535) + bytes(65_533)
    assert_is_the_scene(load_picture(write(tmp_path, "profile.jpg", jpeg[:2] + profile * 5 + jpeg[2:])), tolerance=12)


def test_valid_images_produce_no_stderr(tmp_path: Path) -> None:
    paths = [str(write(tmp_path, kind, make())) for kind, make in CUT.items()]
    code = "import sys, pathlib, vision.image.picture as p; [p.load_picture(pathlib.Path(a)) for a in sys.argv[1:]]"
    result = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_png_text_never_reaches_the_decoder_and_changed_pixels_are_found(tmp_path: Path) -> None:
    data = text_bomb(3, 1000)
    stripped = needed_to_decode(data, "PNG")
    assert b"zTXt" not in stripped
    assert stripped == png(SCENE_WIDTH, SCENE_HEIGHT)
    assert needed_to_decode(encoded(".jpg"), "JPEG") == encoded(".jpg")
    changed = bytearray(encoded(".png"))
    changed[len(changed) // 2] ^= 0xFF
    assert "damaged" in rejection(write(tmp_path, "changed.png", bytes(changed)))


@pytest.mark.parametrize(
    ("size_px", "min_px", "expected"),
    [
        ((640, 480), None, (480, 640)),
        ((640, 480), 321, (480, 640)),
        ((640, 480), 320, (240, 320)),
        ((640, 480), 160, (120, 160)),
        ((480, 640), 80, (80, 60)),
        ((640, 480), 1, (60, 80)),
    ],
)
def test_a_large_picture_is_decoded_reduced(
    size_px: tuple[int, int], min_px: int | None, expected: tuple[int, int]
) -> None:
    grey = np.full((size_px[1], size_px[0], 3), 90, np.uint8)
    for kind in (".jpg", ".png"):
        found = decode_picture(cv2.imencode(kind, grey)[1].tobytes(), "x", min_px=min_px)
        assert found.shape == (*expected, 3)


def test_a_large_picture_is_reduced_upright(tmp_path: Path) -> None:
    image = np.zeros((480, 640, 3), np.uint8)
    image[:240, :320] = 255
    jpeg = with_exif(cv2.imencode(".jpg", image)[1].tobytes(), orientation(6))
    found = decode_picture(jpeg, "x", min_px=160)
    assert found.shape == (160, 120, 3)
    assert found[40, 90].min() > 200
    assert found[120, 30].max() < 50
    image = np.full((9_000, 12_000, 3), 90, np.uint8)
    image[:4_500, :6_000] = 200
    reduced = load_picture(write(tmp_path, "phone.jpg", encoded(".jpg", image)))
    assert reduced.shape == (4_500, 6_000, 3)
    assert abs(int(reduced[100, 100, 0]) - 200) <= 2
    assert abs(int(reduced[-100, -100, 0]) - 90) <= 2


@pytest.mark.parametrize("extension", [".gif", ".avif"])
def test_rejects_a_truncated_gif_or_avif(tmp_path: Path, extension: str) -> None:
    data = encoded(extension)
    for cut in (len(data) // 2, len(data) - 1):
        assert "cut off" in rejection(write(tmp_path, f"cut{extension}", data[:cut]))
    assert parse_header(data) == Header(extension[1:].upper(), SCENE_WIDTH, SCENE_HEIGHT)


def test_a_raw_photo_is_known_by_its_version_tag() -> None:
    data = encoded(".tiff")
    (at,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, at)
    directory = data[at + 2 : at + 2 + 12 * entries] + struct.pack("<HHIBBBB", 50706, 1, 4, 1, 4, 0, 0)
    raw = data[:4] + struct.pack("<I", len(data)) + data[8:] + struct.pack("<H", entries + 1) + directory + bytes(4)
    assert parse_header(data).kind == "TIFF"
    assert parse_header(raw) == Header("DNG", SCENE_WIDTH, SCENE_HEIGHT)
    assert_is_the_scene(decode_picture(raw, "raw.dng"), tolerance=0)
