"""A knock detector that also measures levels, for people who look for a place for the microphone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.heard import NS_PER_S, ClassifiedSound, SoundBlock
from hardware.knock.onsets import as_float
from hardware.knock.signal_quality import SignalMonitor, SignalQuality, decibels, has_clipped

# A display of the peak is readable if it lasts for some seconds.
_HOLD_NS = 3 * NS_PER_S
# Sounds are returned at most 0.6 s after their onset, and blocks of files last 0.25 s.
_KEPT_NS = 2 * NS_PER_S
# Time around an onset in which clipping counts for its sound.
_BEFORE_NS, _AFTER_NS = 5_000_000, 50_000_000
# Measuring ten seconds takes about 2 ms on an x86 server.
_MEASURED_S, _MEASURED_NS = 10.0, NS_PER_S // 2
# The detector completes a sound 0.5 s after its onset.
_TAIL_S = 0.7


@dataclass(frozen=True, slots=True)
class MeteredSound:
    """A sudden sound and its level.

    Attributes:
        sound: The sound.
        above_noise_db: Peak above the noise floor, which is an RMS level. Negative if it was below.
        is_clipped: Whether it was clipped.
    """

    sound: ClassifiedSound
    above_noise_db: float
    is_clipped: bool


class MeteringDetector(KnockDetector):
    """Detector that measures the sound it is fed.

    Args:
        classifier: Classifier of sounds, by default the shipped one.
    """

    def __init__(self, classifier: Classifier | None = None) -> None:
        super().__init__(classifier)
        self.level_db: float | None = None
        """RMS level of the last block, in dBFS. None before the first."""
        self.quality: SignalQuality | None = None
        """Measurements of the last ten seconds, at most 0.5 s old. None before the first."""
        self._monitor = SignalMonitor(_MEASURED_S)
        self._measured_ns = 0
        self._recent: deque[SoundBlock] = deque()
        self._peaks: deque[tuple[int, float]] = deque()
        self._metered: list[MeteredSound] = []

    @property
    def peak_db(self) -> float | None:
        """Largest sample of the last three seconds, in dBFS. None before the first block."""
        return decibels(max(peak for _, peak in self._peaks) ** 2) if self._peaks else None

    @property
    def noise_db(self) -> float | None:
        """Noise floor of the last ten seconds, in dBFS. None before the first measurement."""
        return None if self.quality is None else self.quality.noise_db

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Measure a block, and return the sounds that it completes. Empty blocks are ignored."""
        if not len(block.samples):
            return ()
        self._measure(block)
        return self._detect(block)

    def finish(self) -> tuple[ClassifiedSound, ...]:
        """Return the last sounds of a recording, as if silence followed it."""
        if not self._recent:
            return ()
        last = self._recent[-1]
        silence = np.zeros(round(_TAIL_S * last.rate_hz), np.float32)
        return self._detect(SoundBlock(silence, _end_ns(last), last.rate_hz))

    def take_metered(self) -> tuple[MeteredSound, ...]:
        """Return the sounds since the last call, with their levels."""
        metered = tuple(self._metered)
        self._metered.clear()
        return metered

    def _detect(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        sounds = super().feed(block)
        self._metered += [self._meter(sound) for sound in sounds]
        return sounds

    def _measure(self, block: SoundBlock) -> None:
        samples, end_ns = as_float(block), _end_ns(block)
        centred = samples - samples.mean()
        self.level_db = decibels(float(np.square(centred).mean()))
        self._peaks.append((end_ns, min(1.0, float(np.abs(centred).max()))))
        while end_ns - self._peaks[0][0] > _HOLD_NS:
            self._peaks.popleft()
        self._recent.append(block)
        while end_ns - self._recent[0].t_ns > _KEPT_NS and len(self._recent) > 1:
            self._recent.popleft()
        self._monitor.feed(block)
        if self.quality is None or end_ns - self._measured_ns >= _MEASURED_NS:
            self.quality, self._measured_ns = self._monitor.measure(), end_ns

    def _meter(self, sound: ClassifiedSound) -> MeteredSound:
        quality = self.quality or self._monitor.measure()
        noise_db = decibels(0.0) if quality is None else quality.noise_db
        return MeteredSound(sound, decibels(sound.strength**2) - noise_db, self._is_clipped_at(sound.t_ns))

    def _is_clipped_at(self, t_ns: int) -> bool:
        """Return True if a sound with its onset at *t_ns* was clipped."""
        for block in self._recent:
            first = max(0, (t_ns - _BEFORE_NS - block.t_ns) * block.rate_hz // NS_PER_S)
            end = (t_ns + _AFTER_NS - block.t_ns) * block.rate_hz // NS_PER_S
            if end > first and has_clipped(as_float(block)[first:end], block.rate_hz):
                return True
        return False


def _end_ns(block: SoundBlock) -> int:
    return block.t_ns + len(block.samples) * NS_PER_S // block.rate_hz
