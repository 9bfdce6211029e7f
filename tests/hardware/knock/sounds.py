"""Modelled sounds for tests: seeded hits on seeded tables at known times."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Samples, Sound, SoundBlock
from lab.sounds.scenes import LEAD, SoundScene, hit, plain_table
from lab.sounds.signals import draw_microphone
from tests.hardware.knock.scenes import draw_scene

RATE_HZ = 16_000


@cache
def scene(seed: int, events: int = 6) -> SoundScene:
    """Return a modelled recording, reproducible by its seed."""
    return draw_scene(np.random.default_rng([77, seed]), events=events)


def with_hits(kind: Sound, times_s: tuple[float, ...], *, seed: int = 0, peak: float = 0.4) -> NDArray[np.float32]:
    """Return sound with hits of a kind on a table, with a little noise, up to a second after the last hit."""
    rng = np.random.default_rng([88, seed])
    table, microphone = plain_table(rng), draw_microphone(rng)
    samples = rng.normal(0, 0.0005, round((max(times_s) + 1) * RATE_HZ))
    for t_s in times_s:
        sound = hit(rng, kind, table, microphone)
        first = round(t_s * RATE_HZ) - LEAD
        samples[first : first + len(sound)] += peak * sound / np.abs(sound).max()
    return samples.astype(np.float32)


def block(samples: Samples, *, t_ns: int = 0, rate_hz: int = RATE_HZ) -> SoundBlock:
    """Return the samples as a single block."""
    return SoundBlock(samples, t_ns, rate_hz)


def wav_bytes(data: bytes, *, code: int = 1, channels: int = 1, rate_hz: int = RATE_HZ, bits: int = 16) -> bytes:
    """Return a WAV file with encoded samples, written independently of the reader."""
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", code, channels, rate_hz, rate_hz * frame, frame, bits)
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def write_wav(path: Path, samples: NDArray[np.float32], *, rate_hz: int = RATE_HZ) -> Path:
    """Write samples as 16-bit mono."""
    path.write_bytes(wav_bytes((samples * 32767).astype("<i2").tobytes(), rate_hz=rate_hz))
    return path
