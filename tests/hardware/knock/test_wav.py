"""Tests of WAV files: all encodings give the same sound, and invalid files are refused."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from hardware.knock.drivers.wav import read_wav
from hardware.knock.sensor import WavError
from tests.hardware.knock.sounds import wav_bytes

WAVE = np.array([0.0, 0.5, -0.5, 0.25, -1.0, 0.75])


def read(path: Path, data: bytes) -> np.ndarray:
    path.write_bytes(data)
    return np.concatenate([block.samples for block in read_wav(path)])


def three_bytes(values: np.ndarray) -> bytes:
    return b"".join(int(value).to_bytes(3, "little", signed=True) for value in values)


FORMS: dict[str, bytes] = {
    "8 bits": wav_bytes((WAVE * 128 + 128).astype(np.uint8).tobytes(), bits=8),
    "16 bits": wav_bytes((WAVE * 32768).astype("<i2").tobytes()),
    "24 bits": wav_bytes(three_bytes(WAVE * 2**23), bits=24),
    "32 bits": wav_bytes((WAVE * 2**31).astype("<i4").tobytes(), bits=32),
    "32 bits as floats": wav_bytes(WAVE.astype("<f4").tobytes(), code=3, bits=32),
    "64 bits as floats": wav_bytes(WAVE.astype("<f8").tobytes(), code=3, bits=64),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_encodings_give_the_same_sound(form: str, tmp_path: Path) -> None:
    assert three_bytes(np.array([0x123456])) == b"\x56\x34\x12"
    assert read(tmp_path / "a.wav", FORMS[form]).tolist() == WAVE.tolist()


def test_stereo_is_mixed_and_invalid_numbers_are_silence(tmp_path: Path) -> None:
    frames = np.column_stack([WAVE, -WAVE / 2])
    assert read(
        tmp_path / "a.wav", wav_bytes(frames.astype("<f4").tobytes(), code=3, channels=2, bits=32)
    ).tolist() == ((WAVE / 4).tolist())
    values = np.array([np.nan, np.inf, -np.inf, 1e30, 0.5], "<f4")
    assert read(tmp_path / "a.wav", wav_bytes(values.tobytes(), code=3, bits=32)).tolist() == [0, 0, 0, 1, 0.5]


def test_other_headers_give_the_same_sound(tmp_path: Path) -> None:
    form = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 16000, 32000, 2, 16, 22, 16, 4) + struct.pack("<H", 1) + bytes(14)
    data = (WAVE * 32768).astype("<i2").tobytes()
    whole = (
        b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    )
    assert read(tmp_path / "a.wav", whole).tolist() == WAVE.tolist()
    whole = FORMS["16 bits"]
    longer = whole[:36] + b"LIST" + struct.pack("<I", 5) + b"abcde\0" + whole[36:]
    assert read(tmp_path / "a.wav", longer).tolist() == WAVE.tolist()
    whole = FORMS["16 bits"].replace(b"data" + struct.pack("<I", 12), b"data" + b"\xff\xff\xff\xff")
    assert read(tmp_path / "a.wav", whole).tolist() == WAVE.tolist()


def test_times_depend_on_the_sample_rate(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(bytes(2 * 20_000), rate_hz=8_000))
    blocks = list(read_wav(path))
    assert [(block.t_ns, len(block.samples)) for block in blocks[:2]] == [(0, 2000), (250_000_000, 2000)]
    assert sum(len(block.samples) for block in blocks) == 20_000


def test_a_cut_file_gives_its_samples_and_an_error_without_much_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(FORMS["16 bits"][:-5])
    blocks = read_wav(path)
    assert next(blocks).samples.tolist() == WAVE[:3].tolist()
    with pytest.raises(WavError, match="the file is truncated: expected 6 samples, got 3"):
        next(blocks)
    path.write_bytes(FORMS["16 bits"].replace(b"data" + struct.pack("<I", 12), b"data" + b"\xf0\xff\xff\xff"))
    tracemalloc.start()
    with pytest.raises(WavError, match="the file is truncated: expected 2147483640 samples, got 6"):
        list(read_wav(path))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1_000_000


@pytest.mark.parametrize("claimed_bytes", [0xFFFFFFF0, 0xFFFFFFFF])
@pytest.mark.parametrize(
    ("rate_hz", "file_bytes", "text"),
    [
        (48_000, 0xFFFFFFF0, "at most 1024 MB of sound, got 4095"),
        (4_000, 200_000_000, "at most 4 hours of sound, got 6.9"),
    ],
)
def test_oversized_files_are_refused_immediately(
    tmp_path: Path, claimed_bytes: int, rate_hz: int, file_bytes: int, text: str
) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(b"", rate_hz=rate_hz)[:-4] + struct.pack("<I", claimed_bytes))
    with path.open("r+b") as file:
        file.truncate(44 + file_bytes)
    with pytest.raises(WavError, match=text):
        next(read_wav(path))


WRONG: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "starts differently"),
    "text": (b"this is no sound at all", "starts differently"),
    "only a head": (FORMS["16 bits"][:30], "expected a fmt chunk"),
    "no data": (FORMS["16 bits"][:36], "has no sound"),
    "no form": (b"RIFF\0\0\0\0WAVEdata\0\0\0\0", "no fmt chunk"),
    "compressed": (wav_bytes(b"\0\0", code=85), "got format 85"),
    "12 bytes a sample": (wav_bytes(b"\0" * 12, bits=96), "got 96"),
    "16 bits as floats": (wav_bytes(b"\0\0", code=3), "got 16"),
    "no channel": (wav_bytes(b"\0\0", channels=0), "got 0"),
    "a thousand channels": (wav_bytes(b"\0\0", channels=1000), "got 1000"),
    "no rate": (wav_bytes(b"\0\0", rate_hz=0), "got 0"),
    "a rate of a billion": (wav_bytes(b"\0\0", rate_hz=1_000_000_000), "got 1000000000"),
    "a head without end": (
        b"RIFF\0\0\0\0WAVEjunk" + struct.pack("<I", 0xFFFFFFF0) + bytes(100),
        "within the first",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_invalid_files_are_refused_with_a_message(kind: str, tmp_path: Path) -> None:
    data, text = WRONG[kind]
    with pytest.raises(WavError, match=text):
        read(tmp_path / "a.wav", data)


def broken(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(3):
        changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed[: int(rng.integers(1, len(changed) + 1))])


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    rng, path, refused = np.random.default_rng(3), tmp_path / "a.wav", 0
    for data in list(FORMS.values()) * 40:
        path.write_bytes(broken(data, rng))
        try:
            list(read_wav(path))
        except WavError:
            refused += 1
    assert refused > 50
