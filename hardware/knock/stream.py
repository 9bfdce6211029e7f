"""Resample blocks of any length and rate to a stream at 16 kHz with timestamps."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from hardware.knock.heard import NS_PER_S, SoundBlock
from hardware.knock.onsets import PORTION, RATE_HZ

# If the time of a block differs from that by the sample count by more than this, timestamps are corrected, because
# sound card clocks drift.
_DRIFT_NS = 5_000_000
# If the difference exceeds this, samples are missing, and a new stream begins.
_GAP_NS = 50_000_000
# Lobes of the resampling filter on each side.
_LOBES = 12


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Portion of a stream at 16 kHz.

    Attributes:
        samples: Shape (PORTION,), float32.
        t_ns: Time of the first sample.
        is_restart: Whether it starts a new stream, not contiguous with the previous portion.
    """

    samples: NDArray[np.float32]
    t_ns: int
    is_restart: bool


class Stream:
    """Converts blocks to portions of equal length. Results do not depend on the division into blocks."""

    def __init__(self) -> None:
        self._rate_hz = 0
        self._waiting = np.zeros(0, np.float32)
        self._waiting_from = 0
        self._received = 0
        self._produced = 0
        self._anchor_ns = 0
        self._is_new = True

    def feed(self, block: SoundBlock) -> list[Portion]:
        """Return the portions that this block completes, in order."""
        if block.rate_hz != self._rate_hz or abs(block.t_ns - self._time_ns(self._received)) > _GAP_NS:
            self._restart(block)
        elif abs(block.t_ns - self._time_ns(self._received)) > _DRIFT_NS:
            self._anchor_ns = block.t_ns - self._received * NS_PER_S // self._rate_hz
        self._waiting = np.concatenate([self._waiting, as_float(block)])
        self._received += len(block.samples)
        portions = []
        while (samples := self._next_portion()) is not None:
            first_ns = self._anchor_ns + self._produced * NS_PER_S // RATE_HZ
            portions.append(Portion(samples, first_ns, self._is_new))
            self._produced += PORTION
            self._is_new = False
        return portions

    def _time_ns(self, sample: int) -> int:
        return self._anchor_ns + sample * NS_PER_S // max(1, self._rate_hz)

    def _restart(self, block: SoundBlock) -> None:
        self._rate_hz, self._anchor_ns = block.rate_hz, block.t_ns
        self._received = self._produced = 0
        self._is_new = True
        # Silence before the first sample, for the filter.
        self._kernel = _Kernel(block.rate_hz)
        self._waiting = np.zeros(self._kernel.reach, np.float32)
        self._waiting_from = -self._kernel.reach

    def _next_portion(self) -> NDArray[np.float32] | None:
        kernel = self._kernel
        last, _ = kernel.source_of(self._produced + PORTION - 1)
        if last + kernel.reach >= self._waiting_from + len(self._waiting):
            return None
        samples = kernel.resampled(self._waiting, self._waiting_from, self._produced)
        needed_from = kernel.source_of(self._produced + PORTION)[0] - kernel.reach
        self._waiting = self._waiting[max(0, needed_from - self._waiting_from) :]
        self._waiting_from = max(needed_from, self._waiting_from)
        return samples


class _Kernel:
    """Windowed-sinc resampling filter from a given rate to 16 kHz."""

    def __init__(self, rate_hz: int) -> None:
        common = gcd(rate_hz, RATE_HZ)
        self._up, self._down = RATE_HZ // common, rate_hz // common
        share = min(1.0, RATE_HZ / rate_hz)
        self.reach = 0 if rate_hz == RATE_HZ else int(np.ceil(_LOBES / share))
        offsets = np.arange(-self.reach, self.reach + 1)
        phases = np.arange(self._up)[:, None] / self._up
        distances = (offsets - phases) * share
        window = np.cos(np.pi / 2 * np.clip(distances / (_LOBES + 1), -1, 1)) ** 2
        # Shape (up, 2 * reach + 1). Each row is normalised to sum 1, which preserves constants.
        taps = np.sinc(distances * 0.95) * window
        self._taps = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)

    def source_of(self, output: int) -> tuple[int, int]:
        """Return the input sample at or before output sample *output*, and the filter phase between input samples."""
        return divmod(output * self._down, self._up)

    def resampled(self, waiting: NDArray[np.float32], waiting_from: int, output: int) -> NDArray[np.float32]:
        """Return PORTION output samples starting at *output*. *waiting* are the inputs from *waiting_from* on."""
        if self.reach == 0:
            first = output - waiting_from
            return waiting[first : first + PORTION].copy()
        sources, phases = np.divmod((output + np.arange(PORTION)) * self._down, self._up)
        around = sources[:, None] - waiting_from + np.arange(-self.reach, self.reach + 1)
        return np.asarray((waiting[around] * self._taps[phases]).sum(axis=1), np.float32)


def as_float(block: SoundBlock) -> NDArray[np.float32]:
    """Return the samples of a block as float32. NaN and infinity become silence."""
    if block.samples.dtype == np.int16:
        return np.asarray(block.samples / np.float32(32768), np.float32)
    samples = np.asarray(block.samples, np.float32)
    return np.asarray(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), np.float32)
