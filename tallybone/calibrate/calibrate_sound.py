"""Modelled sound of a table at which somebody does what `calibrate knock` asks for, for trying it without one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardware.knock.detector import KnockDetector
from hardware.knock.heard import NS_PER_S, KnockHeard, Sound, SoundBlock
from hardware.knock.onsets import RATE_HZ
from hardware.knock.sensor import Life, SensorState
from hardware.knock_training.scenes import LEAD, hit
from hardware.knock_training.surroundings import draw_hearing
from hardware.knock_training.tables import draw_table
from tallybone.calibrate.knock import timetable

_NOISE = 0.0005
_BLOCK = 4_000
# Tiles once a second, a slam every fourth; knocks a little slower than asked for.
_TILE_S, _SLAM_S, _KNOCK_S = 1.0, 4.0, 1.2
_LOUD = (0.2, 0.6)


def knock_sitting(seed: int, seats: int, *, hits: int = 0, knocks: Sound = Sound.KNOCK) -> NDArray[np.float32]:
    """Return the sound of one table through the whole timetable, shape (N,), at 16 kHz.

    Args:
        seed: Of table and room.
        seats: How many knock.
        hits: Seed of what is done at that table.
        knocks: What they knock with.
    """
    of_room, rng = np.random.default_rng([99, seed]), np.random.default_rng([98, seed, hits])
    table, hearing = draw_table(of_room), draw_hearing(of_room)
    _, tiles, *own = timetable(seats)
    samples = rng.normal(0, _NOISE, (own[-1].to_s + 1) * RATE_HZ)
    first_s, last_s = tiles.from_s + 0.5, tiles.to_s - 1.5
    times = [(float(t_s), Sound.TILE) for t_s in np.arange(first_s, last_s, _TILE_S)]
    times += [(float(t_s) + _TILE_S / 2, Sound.SLAM) for t_s in np.arange(first_s, last_s, _SLAM_S)]
    times += [(part.from_s + 1 + _KNOCK_S * at, knocks) for part in own for at in range(5)]
    for t_s, kind in times:
        sound = hit(rng, kind, table, hearing)
        first = round(t_s * RATE_HZ) - LEAD
        samples[first : first + len(sound)] += rng.uniform(*_LOUD) * sound / np.abs(sound).max()
    return np.clip(samples, -1, 1).astype(np.float32)


class ModelledSensor:
    """A knock sensor that hears such a sitting as if it happened now."""

    state = SensorState()

    def __init__(self, samples: NDArray[np.float32], detector: KnockDetector, clock: Callable[[], int]) -> None:
        """Let *detector* hear *samples* at the pace of *clock*."""
        self._samples, self._detector, self._clock = samples, detector, clock
        self._life = Life("modelled table")
        self._began_ns = self._at = 0

    def start(self) -> None:
        """Begin with the first sample now."""
        self._life.start()
        self._began_ns = self._clock()

    def read(self) -> tuple[KnockHeard, ...]:
        """Return what was heard up to now."""
        self._life.require_open()
        heard: list[KnockHeard] = []
        while self._at + _BLOCK <= (self._clock() - self._began_ns) * RATE_HZ // NS_PER_S:
            block = self._samples[self._at : self._at + _BLOCK]
            if not len(block):
                break
            t_ns = self._began_ns + self._at * NS_PER_S // RATE_HZ
            heard += self._detector.feed(SoundBlock(block, t_ns))
            self._at += len(block)
        return tuple(heard)

    def close(self) -> None:
        """Stop."""
        self._life.end()
