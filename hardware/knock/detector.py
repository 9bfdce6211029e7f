"""Detect and classify sudden sounds in blocks of audio. Pure: it uses only the samples and their times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import AFTER, BEFORE, Classifier, load_classifier, measure
from hardware.knock.heard import NS_PER_S, ClassifiedSound, Sound, SoundBlock
from hardware.knock.onsets import PORTION, RATE_HZ, STEP, OnsetFinder, Portion, Stream, first_sample

# Maximum time between knocks that belong together: players often knock twice for one pass.
DOUBLE_NS = 600_000_000
# Samples searched before and after the detected step for the first sample of a sound.
_LOOK_BACK, _LOOK_ON = 3 * STEP, 2 * STEP
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
            sound = self._cut_out(self._pending.pop(0), end_ns)
            sounds += [] if _is_converter_step(sound.around) else [sound]
        self._discard_processed()
        return sounds

    def _cut_out(self, step: int, end_ns: int) -> SuddenSound:
        """Return the sound detected at index *step* of the buffer, whose last sample ends at *end_ns*."""
        begin = step - _LOOK_BACK + first_sample(self._buffer[step - _LOOK_BACK : step + _LOOK_ON])
        peak = np.abs(self._buffer[begin : begin + _PEAK_WITHIN]).max()
        back = len(self._buffer) - begin
        return SuddenSound(
            end_ns - back * NS_PER_S // RATE_HZ,
            min(1.0, float(peak)),
            self._buffer[begin - BEFORE : begin + AFTER],
        )

    def _discard_processed(self) -> None:
        """Discard samples that neither the oldest pending sound nor the next one needs."""
        oldest = self._pending[0] if self._pending else len(self._buffer)
        processed = oldest - _KEPT_BEFORE
        if processed > 0:
            self._buffer = self._buffer[processed:]
            self._pending = [step - processed for step in self._pending]


def _is_converter_step(around: NDArray[np.float32]) -> bool:
    """Return True if a sound has up to three values: the last bit of a coarse converter, as with 8 bits."""
    return len(np.unique(around[BEFORE : BEFORE + _PEAK_WITHIN])) <= _STEP_VALUES


class KnockDetector:
    """Detects knuckle knocks among the sounds at a table.

    Args:
        classifier: Classifier of sounds, by default the shipped one.
        seat: Seat that the sensor belongs to. None if it listens to the whole table.
    """

    def __init__(self, classifier: Classifier | None = None, *, seat: int | None = None) -> None:
        self._classifier = classifier or load_classifier()
        self._seat = seat
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
        in_row = self._count_in_row(sound.t_ns) if kind is Sound.KNOCK else 0
        hit = min(1.0, float(chances[0]))
        numbers = tuple(embedding[0].tolist())
        return ClassifiedSound(sound.t_ns, self._seat, sound.strength, min(1.0, confidence), kind, in_row, hit, numbers)

    def _count_in_row(self, t_ns: int) -> int:
        follows = self._last_knock_ns is not None and t_ns - self._last_knock_ns <= DOUBLE_NS
        self._in_row = self._in_row + 1 if follows else 1
        self._last_knock_ns = t_ns
        return self._in_row
