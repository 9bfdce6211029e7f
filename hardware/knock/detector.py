"""The knock detector: blocks of sound in, what was heard out. No clock, no device, nothing but the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.features import AFTER, BEFORE, measure
from hardware.knock.heard import NS_PER_S, ClassifiedSound, Sound, SoundBlock
from hardware.knock.onsets import PORTION, RATE_HZ, STEP, OnsetFinder, first_sample
from hardware.knock.stream import Portion, Stream
from hardware.knock.tone import without_tilt

# A second knock within so long belongs to the first: people knock twice for one pass.
DOUBLE_NS = 600_000_000
# The begin of a sound is looked for from so long before the step that it was found at to so long after.
_LOOK_BACK, _LOOK_ON = 3 * STEP, 2 * STEP
# Two steps more before the sound, because its first sample may lie before the step.
_KEPT_BEFORE = BEFORE + _LOOK_BACK
_PEAK_WITHIN = RATE_HZ // 50


@dataclass(frozen=True, slots=True, eq=False)
class SuddenSound:
    """A sudden sound.

    Attributes:
        t_ns: When it began.
        strength: Its highest peak, 0 to 1.
        around: Shape (BEFORE + AFTER,), its samples: it begins at BEFORE.
    """

    t_ns: int
    strength: float
    around: NDArray[np.float32]


class SoundFinder:
    """Finds the sudden sounds of a stream, each as soon as enough of it is there (0.15 s)."""

    def __init__(self) -> None:
        self._stream = Stream()
        self._begin()

    def feed(self, block: SoundBlock) -> list[SuddenSound]:
        """Return the sounds that can be told with this block, in the order of time."""
        return [one for portion in self._stream.feed(block) for one in self._hear(portion)]

    def _begin(self) -> None:
        self._onsets = OnsetFinder()
        self._kept = np.zeros(_KEPT_BEFORE, np.float32)
        self._found: list[int] = []

    def _hear(self, portion: Portion) -> list[SuddenSound]:
        if portion.begins_anew:
            self._begin()
        first = len(self._kept)
        self._kept = np.concatenate([self._kept, portion.samples])
        for onset in self._onsets.feed(portion.samples):
            if onset.replaces_last and self._found:
                self._found.pop()
            self._found.append(first + onset.step)
        end_ns = portion.t_ns + PORTION * NS_PER_S // RATE_HZ
        heard = []
        while self._found and self._found[0] + _LOOK_ON + AFTER <= len(self._kept):
            heard.append(self._cut_out(self._found.pop(0), end_ns))
        self._forget()
        return heard

    def _cut_out(self, step: int, end_ns: int) -> SuddenSound:
        """Return the sound at a step of what is kept, which ends at *end_ns*."""
        begin = step - _LOOK_BACK + first_sample(self._kept[step - _LOOK_BACK : step + _LOOK_ON])
        peak = np.abs(self._kept[begin : begin + _PEAK_WITHIN]).max()
        back = len(self._kept) - begin
        return SuddenSound(
            end_ns - back * NS_PER_S // RATE_HZ,
            min(1.0, float(peak)),
            self._kept[begin - BEFORE : begin + AFTER],
        )

    def _forget(self) -> None:
        """Keep what the oldest sound that waits, or the next one, still needs."""
        oldest = self._found[0] if self._found else len(self._kept)
        done = oldest - _KEPT_BEFORE
        if done > 0:
            self._kept = self._kept[done:]
            self._found = [step - done for step in self._found]


class KnockDetector:
    """Tells knuckle knocks from all else that sounds at a table.

    Args:
        classifier: By default the one that the package ships.
        seat: Whose side the sensor listens to; None where it hears the whole table.
    """

    def __init__(self, classifier: Classifier | None = None, *, seat: int | None = None) -> None:
        self._classifier = classifier or load_classifier()
        self._seat = seat
        self._finder = SoundFinder()
        self._last_knock_ns: int | None = None
        self._in_row = 0

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Return what can be told with this block, in the order of time: every sudden sound, with its kind."""
        return tuple(self._told(one) for one in self._finder.feed(block))

    def _told(self, one: SuddenSound) -> ClassifiedSound:
        heard = without_tilt(one.around, self._classifier.brighter_db)
        chances = self._classifier.probabilities(measure(heard)[None])[0]
        kind, confidence = self._classifier.decide(chances)
        in_row = self._place(one.t_ns) if kind is Sound.KNOCK else 0
        return ClassifiedSound(one.t_ns, self._seat, one.strength, min(1.0, confidence), kind, in_row)

    def _place(self, t_ns: int) -> int:
        follows = self._last_knock_ns is not None and t_ns - self._last_knock_ns <= DOUBLE_NS
        self._in_row = self._in_row + 1 if follows else 1
        self._last_knock_ns = t_ns
        return self._in_row
