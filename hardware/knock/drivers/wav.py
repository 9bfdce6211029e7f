"""Read WAV files, and a knock sensor that plays one in real time, for demonstrations and tests.

Files have 8, 16, 24 or 32 bits or floating point, 4 to 384 kHz, and up to 64 channels.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hardware.knock.detector import KnockDetector
from hardware.knock.drivers import KnockDriver
from hardware.knock.sensor import NS_PER_S, ClassifiedSound, KnockError, SensorLifecycle, SoundBlock, WavError
from hardware.libraries import OpenPins
from hardware.part import Clock, NonEmpty, PartState

# Silence appended to the end, for the detector to complete the last sound.
_AFTER_S = 0.7

_PCM = 1
_FLOAT = 3
_EXTENSIBLE = 0xFFFE
# Lengths written by programs that stream audio without knowing its length.
_UNKNOWN_LENGTHS = (0, 0xFFFFFFFF, 0x7FFFFFFF)
_MAX_CHANNELS = 64
# Maximum size of the chunks before the audio data.
_MAX_HEADER_BYTES = 1_000_000
_BLOCK_S = 0.25
# Maximum length of a session. A sparse file could otherwise contain days of silence in a few disk blocks.
_MAX_S = 4 * 3600
_MAX_SOUND_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class WavForm:
    """Sample format of a WAV file.

    Attributes:
        is_float: Whether samples are floating-point numbers instead of integers.
        channels: Number of channels: 1 for mono, 2 for stereo.
        rate_hz: Samples per second and channel.
        sample_bytes: Size of a sample of a single channel.
        sound_bytes: Size of the audio data. None if the header does not contain it.
    """

    is_float: bool
    channels: int
    rate_hz: int
    sample_bytes: int
    sound_bytes: int | None

    def __post_init__(self) -> None:
        allowed = (4, 8) if self.is_float else (1, 2, 3, 4)
        if self.sample_bytes not in allowed:
            kind = "floating point" if self.is_float else "integers"
            raise WavError(
                f"expected 8, 16, 24 or 32 bits, or 32 or 64 as floats, got {self.sample_bytes * 8} ({kind})"
            )
        if not 1 <= self.channels <= _MAX_CHANNELS:
            raise WavError(f"expected 1 to {_MAX_CHANNELS} channels, got {self.channels}")
        if not 4_000 <= self.rate_hz <= 384_000:
            raise WavError(f"expected 4000 to 384000 samples per second, got {self.rate_hz}")


def read_wav(path: Path) -> Iterator[SoundBlock]:
    """Yield a file as blocks of 0.25 s, mixed to mono, starting at 0 ns.

    Raises:
        WavError: If the file is not a supported WAV file, or has more than 4 hours or 1 GB of audio. Also if it is
            truncated, after all available blocks were yielded.
        OSError: If it cannot be opened or read.
    """
    with path.open("rb") as file:
        form = read_header(file)
        frame_bytes = form.sample_bytes * form.channels
        available_bytes = os.fstat(file.fileno()).st_size - file.tell() if path.is_file() else 0
        sound_bytes = available_bytes if form.sound_bytes is None else min(available_bytes, form.sound_bytes)
        if sound_bytes > _MAX_SOUND_BYTES:
            raise WavError(f"expected at most {_MAX_SOUND_BYTES >> 20} MB of sound, got {sound_bytes >> 20}")
        duration_s = sound_bytes / (form.rate_hz * frame_bytes)
        if duration_s > _MAX_S:
            raise WavError(f"expected at most {_MAX_S // 3600} hours of sound, got {duration_s / 3600:.1f}")
        left, frames = form.sound_bytes, 0
        while left is None or left > 0:
            block_bytes = max(1, round(_BLOCK_S * form.rate_hz)) * frame_bytes
            data = file.read(block_bytes if left is None else min(block_bytes, left))
            complete = len(data) // frame_bytes
            if complete:
                samples = decode(data[: complete * frame_bytes], form)
                yield SoundBlock(samples, frames * NS_PER_S // form.rate_hz, form.rate_hz)
            frames += complete
            if not data or complete * frame_bytes < len(data):
                break
            left = None if left is None else left - len(data)
        if form.sound_bytes is not None and frames < (expected := form.sound_bytes // frame_bytes):
            raise WavError(f"the file is truncated: expected {expected} samples, got {frames}")


def read_header(file: BinaryIO) -> WavForm:
    """Parse the header of a WAV file, and leave *file* at the first sample.

    Raises:
        WavError: If the file is not a supported WAV file.
    """
    head = file.read(12)
    if len(head) < 12 or head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise WavError("expected a WAV file (RIFF ... WAVE), but the file starts differently")
    fields: tuple[int, int, int, int] | None = None
    read_bytes = 12
    while True:
        head = file.read(8)
        if len(head) < 8:
            raise WavError("the file has no sound: it ends before its data")
        name, length = struct.unpack("<4sI", head)
        if name == b"data":
            break
        read_bytes += 8 + length + length % 2
        if read_bytes > _MAX_HEADER_BYTES:
            raise WavError(f"expected the sound within the first {_MAX_HEADER_BYTES} bytes, but it is not there")
        body = file.read(length + length % 2)
        if name == b"fmt ":
            fields = _parse_format(body[:length])
    if fields is None:
        raise WavError("the file does not describe its sound (no fmt chunk)")
    code, channels, rate_hz, bits = fields
    if code not in (_PCM, _FLOAT):
        raise WavError(f"expected plain samples (format 1 or 3), got format {code}; convert it to PCM")
    return WavForm(code == _FLOAT, channels, rate_hz, (bits + 7) // 8, None if length in _UNKNOWN_LENGTHS else length)


def _parse_format(body: bytes) -> tuple[int, int, int, int]:
    """Return format code, channels, rate and bits per sample of a fmt chunk."""
    if len(body) < 16:
        raise WavError(f"expected a fmt chunk of 16 bytes or more, got {len(body)}")
    code, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body)
    if code == _EXTENSIBLE:
        if len(body) < 26:
            raise WavError(f"expected a fmt chunk of 26 bytes or more, got {len(body)}")
        (code,) = struct.unpack_from("<H", body, 24)
    return code, channels, rate_hz, bits


def decode(data: bytes, form: WavForm) -> NDArray[np.float32]:
    """Return the mean of the channels as float32 from -1 to 1, shape (N,)."""
    if form.is_float:
        values = np.frombuffer(data, f"<f{form.sample_bytes}").astype(np.float64)
        values = np.clip(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0), -1, 1)
    elif form.sample_bytes == 1:  # 8-bit samples are unsigned
        values = (np.frombuffer(data, np.uint8).astype(np.float64) - 128) / 128
    elif form.sample_bytes == 3:
        low = np.frombuffer(data, np.uint8).reshape(-1, 3)
        wide = np.zeros((len(low), 4), np.uint8)
        wide[:, 1:] = low
        values = wide.view("<i4").ravel() / 2**31
    else:
        values = np.frombuffer(data, f"<i{form.sample_bytes}") / float(2 ** (8 * form.sample_bytes - 1))
    return np.asarray(values.reshape(-1, form.channels).mean(axis=1), np.float32)


def with_trailing_silence(blocks: Iterator[SoundBlock]) -> Iterator[SoundBlock]:
    """Yield the blocks, followed by 0.7 s of silence, even if *blocks* raises an error for a truncated file."""
    last: SoundBlock | None = None
    try:
        for block in blocks:
            last = block
            yield block
    except KnockError:
        if last is not None:
            yield _silence_after(last)
        raise
    if last is not None:
        yield _silence_after(last)


def _silence_after(block: SoundBlock) -> SoundBlock:
    return SoundBlock(np.zeros(round(_AFTER_S * block.rate_hz), np.float32), block.end_ns, block.rate_hz)


AT_END = "at its end"
"""End of the problem of a file that was played completely."""


class WavKnockSensor(SensorLifecycle):
    """Detects knocks in a file that is played once, at the pace of the clock.

    Args:
        path: Path of the file.
        clock: Clock of the game, in nanoseconds.
        detector: Knock detector, by default with the shipped classifier.
    """

    def __init__(self, path: Path, *, clock: Clock, detector: KnockDetector | None = None) -> None:
        super().__init__(f"file {path.name}")
        self._path, self._clock = path, clock
        self._detector = detector or KnockDetector()
        self.state = PartState()
        """State of the sensor, with a problem if the file cannot be read or has ended."""
        self._blocks: Iterator[SoundBlock] = iter(())
        self._next: SoundBlock | None = None
        self._started_ns = 0

    def start(self) -> None:
        """Start playing now."""
        super().start()
        self._started_ns = self._clock()
        self._blocks = read_wav(self._path)
        self._next = self._read_block()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sounds in the blocks that have ended since the last call."""
        self.require_open()
        sounds: list[ClassifiedSound] = []
        while (block := self._next) is not None:
            if self._started_ns + block.end_ns > self._clock():
                break
            sounds += self._detector.feed(replace(block, t_ns=self._started_ns + block.t_ns))
            self._next = self._read_block()
        return tuple(sounds)

    def close(self) -> None:
        """Stop playing."""
        self.end()
        self._next, self._blocks = None, iter(())

    def _read_block(self) -> SoundBlock | None:
        try:
            block = next(self._blocks, None)
        except (OSError, WavError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.state = PartState(f"{self._path}: {reason}")
            return None
        if block is None:
            self.state = PartState(f"{self._path}: {AT_END}")
        return block


class WavSettings(KnockDriver):
    """A sound file, to try without a sensor."""

    driver: Literal["wav"]
    file: Annotated[NonEmpty, Field(description="the file")]

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> WavKnockSensor:
        """Return the sensor, not yet started."""
        return WavKnockSensor(Path(self.file), clock=clock, detector=detector())
