"""One stream of samples at 16 kHz out of blocks of any length and rate, with the time of each sample."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from hardware.knock.heard import NS_PER_S, SoundBlock
from hardware.knock.onsets import PORTION, RATE_HZ

# Clocks of sound cards drift: up to this the time of a block is taken for what the samples say.
_DRIFT_NS = 5_000_000
# From here on samples are missing, and what comes is another stream.
_GAP_NS = 50_000_000
# Lobes of the filter that changes the rate, to each side.
_LOBES = 12


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Samples at 16 kHz.

    Attributes:
        samples: Shape (PORTION,), float32.
        t_ns: When the first was taken.
        begins_anew: Nothing connects it with the portion before.
    """

    samples: NDArray[np.float32]
    t_ns: int
    begins_anew: bool


class Stream:
    """Takes blocks in, gives portions of one length out: the same ones, however the samples were divided."""

    def __init__(self) -> None:
        self._rate_hz = 0
        self._waiting = np.zeros(0, np.float32)
        self._waiting_from = 0
        self._taken = 0
        self._made = 0
        self._anchor_ns = 0
        self._is_new = True

    def feed(self, block: SoundBlock) -> list[Portion]:
        """Return the portions that are complete with this block, in order."""
        if block.rate_hz != self._rate_hz or abs(block.t_ns - self._time_ns(self._taken)) > _GAP_NS:
            self._begin(block)
        elif abs(block.t_ns - self._time_ns(self._taken)) > _DRIFT_NS:
            self._anchor_ns = block.t_ns - self._taken * NS_PER_S // self._rate_hz
        self._waiting = np.concatenate([self._waiting, _as_float(block)])
        self._taken += len(block.samples)
        portions = []
        while (samples := self._next_portion()) is not None:
            first_ns = self._anchor_ns + self._made * NS_PER_S // RATE_HZ
            portions.append(Portion(samples, first_ns, self._is_new))
            self._made += PORTION
            self._is_new = False
        return portions

    def _time_ns(self, sample: int) -> int:
        return self._anchor_ns + sample * NS_PER_S // max(1, self._rate_hz)

    def _begin(self, block: SoundBlock) -> None:
        self._rate_hz, self._anchor_ns = block.rate_hz, block.t_ns
        self._taken = self._made = 0
        self._is_new = True
        # Before the first sample it was quiet: the filter looks back there.
        self._kernel = _Kernel(block.rate_hz)
        self._waiting = np.zeros(self._kernel.reach, np.float32)
        self._waiting_from = -self._kernel.reach

    def _next_portion(self) -> NDArray[np.float32] | None:
        kernel = self._kernel
        last, _ = kernel.source_of(self._made + PORTION - 1)
        if last + kernel.reach >= self._waiting_from + len(self._waiting):
            return None
        samples = kernel.resampled(self._waiting, self._waiting_from, self._made)
        done = kernel.source_of(self._made + PORTION)[0] - kernel.reach
        self._waiting = self._waiting[max(0, done - self._waiting_from) :]
        self._waiting_from = max(done, self._waiting_from)
        return samples


class _Kernel:
    """A windowed sinc for one rate: every sample at 16 kHz is a weighted sum of those around its time."""

    def __init__(self, rate_hz: int) -> None:
        common = gcd(rate_hz, RATE_HZ)
        self._up, self._down = RATE_HZ // common, rate_hz // common
        share = min(1.0, RATE_HZ / rate_hz)
        self.reach = 0 if rate_hz == RATE_HZ else int(np.ceil(_LOBES / share))
        offsets = np.arange(-self.reach, self.reach + 1)
        phases = np.arange(self._up)[:, None] / self._up
        distances = (offsets - phases) * share
        window = np.cos(np.pi / 2 * np.clip(distances / (_LOBES + 1), -1, 1)) ** 2
        # Shape (up, 2 reach + 1); the sums are 1, so that a constant stays one.
        taps = np.sinc(distances * 0.95) * window
        self._taps = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)

    def source_of(self, made: int) -> tuple[int, int]:
        """Return the source sample before a made one, and how far after it that lies in parts of *up*."""
        return divmod(made * self._down, self._up)

    def resampled(self, waiting: NDArray[np.float32], waiting_from: int, made: int) -> NDArray[np.float32]:
        """Return the PORTION samples from *made* on."""
        if self.reach == 0:
            first = made - waiting_from
            return waiting[first : first + PORTION].copy()
        sources, phases = np.divmod((made + np.arange(PORTION)) * self._down, self._up)
        around = sources[:, None] - waiting_from + np.arange(-self.reach, self.reach + 1)
        return np.asarray((waiting[around] * self._taps[phases]).sum(axis=1), np.float32)


def _as_float(block: SoundBlock) -> NDArray[np.float32]:
    if block.samples.dtype == np.int16:
        return np.asarray(block.samples / np.float32(32768), np.float32)
    samples = np.asarray(block.samples, np.float32)
    return np.asarray(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), np.float32)
