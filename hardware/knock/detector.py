"""Detect and classify sudden sounds in blocks of audio. Pure: it uses only the samples and their times.

Blocks of any length and rate are resampled to a stream at 16 kHz with timestamps. Onsets are detected in steps of 2 ms,
by comparing the level with an adaptive noise floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import AFTER, BEFORE, Classifier, load_classifier, measure
from hardware.knock.sensor import NS_PER_S, RATE_HZ, ClassifiedSound, Sound, SoundBlock

STEP = 32
# Samples are processed in portions of this length, to make results independent of the block length.
PORTION = 512

# Minimum power of an onset relative to the noise floor (6 dB) and to the reverberation (4 dB). Of knocks 10 and 6 dB
# above noise, 99 and 86 % are found, at the cost of ten onsets a minute in the noise alone.
_ABOVE_FLOOR = 4.0
_ABOVE_RINGING = 2.5
# Minimum power relative to the reverberation (7 dB) for an onset that replaces a recent one.
_FAR_LOUDER = 5.0
# Minimum noise floor: -66 dB of full scale, the quantisation noise of cheap converters.
_MIN_POWER = 10**-6.6 / 2
# Decay of the reverberation per step: 20 dB in 100 ms, as on a table in a room.
_RINGS_ON = 10 ** (-2.0 * STEP / (0.100 * RATE_HZ))
# Time after which a sound is independent: 70 ms. By then the contacts of a tile have ended, and nobody knocks faster.
_REFRACTORY_STEPS = round(0.070 * RATE_HZ / STEP)
# The noise floor takes at least 0.25 s to double and 20 ms to halve, to follow the level between sounds.
_RISES = 2 ** (STEP / (0.25 * RATE_HZ))
_FALLS = 0.5 ** (STEP / (0.020 * RATE_HZ))
# Share of a portion in the running autocorrelation, whose time constant is 0.6 s, and white noise added to it.
_NEW = 0.05
_WHITE = 0.003


@dataclass(frozen=True, slots=True)
class Onset:
    """An onset of a sound.

    Attributes:
        step: First sample of the step with the onset, relative to the portion.
        replaces_last: Whether the previous onset was only a precursor, for example a sliding hand.
    """

    step: int
    replaces_last: bool


class OnsetFinder:
    """Detects onsets in a stream. Feed it every portion once, in order."""

    def __init__(self) -> None:
        self._last_samples = np.zeros(2, np.float32)
        self._autocorrelation: NDArray[np.float64] | None = None
        self._floor: float | None = None
        self._ringing = 0.0
        self._quiet_steps = _REFRACTORY_STEPS

    def feed(self, portion: NDArray[np.float32]) -> list[Onset]:
        """Return the onsets in the next portion, in order of time.

        Args:
            portion: Next samples of the stream, shape (PORTION,).
        """
        # What the two previous samples do not predict, so that hum and coloured noise do not hide an onset. The
        # prediction follows the background of the last second by the recursion of Levinson and Durbin.
        values = portion.astype(np.float64)
        new = np.array([values[lag:] @ values[: PORTION - lag] for lag in range(3)]) / (values @ values + 1e-9)
        old = new if self._autocorrelation is None else self._autocorrelation
        self._autocorrelation = old + _NEW * (new - old)
        _, one, two = (self._autocorrelation / (1 + _WHITE)).tolist()
        second = (two - one**2) / (1 - one**2)
        samples = np.concatenate([self._last_samples, portion])
        self._last_samples = samples[-2:]
        predicted = np.float32(one * (1 - second)) * samples[1:-1] + np.float32(second) * samples[:-2]
        powers = (np.asarray(samples[2:] - predicted, np.float32).reshape(-1, STEP) ** 2).mean(axis=1).tolist()
        onsets = []
        for index, power in enumerate(powers):
            is_independent = self._quiet_steps >= _REFRACTORY_STEPS
            above_ringing = _ABOVE_RINGING if is_independent else _FAR_LOUDER
            if self._floor is None:  # A sound at the start of the stream is not an onset.
                self._floor = self._ringing = max(_MIN_POWER, power)
            is_onset = power > _ABOVE_FLOOR * self._floor and power > above_ringing * self._ringing
            self._quiet_steps = 0 if is_onset else self._quiet_steps + 1
            # Written without min and max, whose calls would take most of the detector's time.
            ringing, fallen, risen = self._ringing * _RINGS_ON, self._floor * _FALLS, self._floor * _RISES
            self._ringing = power if power > ringing else ringing
            floor = fallen if power < fallen else risen if power > risen else power
            self._floor = floor if floor > _MIN_POWER else _MIN_POWER
            if is_onset:
                onsets.append(Onset(index * STEP, replaces_last=not is_independent))
        return onsets


def first_sample(around: NDArray[np.float32]) -> int:
    """Return the index of the first sample of a sound.

    It is the first sample whose difference to the previous one reaches a fifth of the largest difference.

    Args:
        around: Samples around the step in which the sound was detected, shape (N,).
    """
    sharpened = np.abs(np.diff(around, prepend=around[:1]))
    return int(np.argmax(sharpened >= 0.2 * sharpened.max()))


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
        self._waiting = np.concatenate([self._waiting, block.as_float()])
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
        """Return PORTION output samples starting at *output*. *waiting* has the inputs from index *waiting_from* on."""
        if self.reach == 0:
            first = output - waiting_from
            return waiting[first : first + PORTION].copy()
        sources, phases = np.divmod((output + np.arange(PORTION)) * self._down, self._up)
        around = sources[:, None] - waiting_from + np.arange(-self.reach, self.reach + 1)
        return np.asarray((waiting[around] * self._taps[phases]).sum(axis=1), np.float32)


# Maximum time between knocks that belong together: players often knock twice for one pass.
DOUBLE_NS = 600_000_000
# Samples searched before and after the detected step for the first sample of a sound.
_LOOK_BACK = 3 * STEP
_LOOK_ON = 2 * STEP
# Samples needed before the detected step, because the first sample may precede it.
_KEPT_BEFORE = BEFORE + _LOOK_BACK
_PEAK_WITHIN = RATE_HZ // 50
_STEP_VALUES = 3


@dataclass(frozen=True, slots=True, eq=False)
class SuddenSound:
    """A sudden sound and its samples.

    Attributes:
        t_ns: Time of the onset.
        strength: Peak amplitude, from 0 to 1.
        around: Samples around the onset, shape (BEFORE + AFTER,). The onset is at index BEFORE.
    """

    t_ns: int
    strength: float
    around: NDArray[np.float32]


class SoundFinder:
    """Finds sudden sounds in a stream, and returns each about 0.5 s after its onset."""

    def __init__(self) -> None:
        self._stream = Stream()
        self._restart()

    def feed(self, block: SoundBlock) -> list[SuddenSound]:
        """Return the sounds that this block completes, in order of time."""
        return [sound for portion in self._stream.feed(block) for sound in self._feed_portion(portion)]

    def _restart(self) -> None:
        self._onsets = OnsetFinder()
        self._buffer = np.zeros(_KEPT_BEFORE, np.float32)
        self._pending: list[int] = []

    def _feed_portion(self, portion: Portion) -> list[SuddenSound]:
        if portion.is_restart:
            self._restart()
        first = len(self._buffer)
        self._buffer = np.concatenate([self._buffer, portion.samples])
        for onset in self._onsets.feed(portion.samples):
            if onset.replaces_last and self._pending:
                self._pending.pop()
            self._pending.append(first + onset.step)
        end_ns = portion.t_ns + PORTION * NS_PER_S // RATE_HZ
        sounds = []
        while self._pending and self._pending[0] + _LOOK_ON + AFTER <= len(self._buffer):
            # The sound detected at index *step* of the buffer, whose last sample ends at *end_ns*.
            step = self._pending.pop(0)
            begin = step - _LOOK_BACK + first_sample(self._buffer[step - _LOOK_BACK : step + _LOOK_ON])
            peak = np.abs(self._buffer[begin : begin + _PEAK_WITHIN]).max()
            back = len(self._buffer) - begin
            sound = SuddenSound(
                end_ns - back * NS_PER_S // RATE_HZ,
                min(1.0, float(peak)),
                self._buffer[begin - BEFORE : begin + AFTER],
            )
            # Up to three values are the last bit of a coarse converter, as with 8 bits.
            if len(np.unique(sound.around[BEFORE : BEFORE + _PEAK_WITHIN])) > _STEP_VALUES:
                sounds.append(sound)
        # Discard samples that neither the oldest pending sound nor the next one needs.
        oldest = self._pending[0] if self._pending else len(self._buffer)
        processed = max(0, oldest - _KEPT_BEFORE)
        self._buffer = self._buffer[processed:]
        self._pending = [step - processed for step in self._pending]
        return sounds


class KnockDetector:
    """Detects knuckle knocks among the sounds at a table.

    Args:
        classifier: Classifier of sounds, by default the shipped one.
    """

    def __init__(self, classifier: Classifier | None = None) -> None:
        self._classifier = classifier or load_classifier()
        self._finder = SoundFinder()
        self._last_knock_ns: int | None = None
        self._in_row = 0

    def use(self, classifier: Classifier) -> None:
        """Use another classifier from the next sound on. Thread-safe."""
        self._classifier = classifier

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Return every sudden sound that this block completes, classified, in order of time."""
        return tuple(self._classify(sound) for sound in self._finder.feed(block))

    def _classify(self, sound: SuddenSound) -> ClassifiedSound:
        classifier = self._classifier
        embedding = classifier.embed(measure(sound.around[None]))
        chances = classifier.probabilities(embedding)[0]
        kind, confidence = classifier.decide(chances)
        in_row = 0
        if kind is Sound.KNOCK:
            is_next = self._last_knock_ns is not None and sound.t_ns - self._last_knock_ns <= DOUBLE_NS
            in_row = self._in_row = self._in_row + 1 if is_next else 1
            self._last_knock_ns = sound.t_ns
        hit = min(1.0, float(chances[0]))
        numbers = tuple(embedding[0].tolist())
        return ClassifiedSound(sound.t_ns, None, sound.strength, min(1.0, confidence), kind, in_row, hit, numbers)
