"""How much of one core the knock detector takes for sound at 16 kHz, next to one FFT of every 64 ms in the same run.

    python benchmarks/bench_knock.py [--seconds 60]

A quiet room, a table that is knocked on once in three seconds, one where a tile is put down ten times a second, and a
quiet room at 48 kHz, which is made 16 kHz first. Blocks of 64 ms, as a microphone gives them; time of the core, so that
others do not count.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from hardware.knock.detector import KnockDetector
from hardware.knock.heard import NS_PER_S, Sound, SoundBlock
from hardware.knock_training.contacts import RATE_HZ
from hardware.knock_training.scenes import LEAD, hit
from hardware.knock_training.surroundings import draw_hearing
from hardware.knock_training.tables import draw_table

_BLOCK_S = 0.064


def main() -> None:
    """Print the share of a core, and what was heard, for each room, then the reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    seconds = parser.parse_args().seconds
    rng = np.random.default_rng(1)
    quiet = rng.normal(0, 0.0005, seconds * RATE_HZ)
    rooms = {
        "quiet room": (quiet, RATE_HZ),
        "a knock in three seconds": (_with_hits(rng, quiet, Sound.KNOCK, 3.0), RATE_HZ),
        "tiles all the time": (_with_hits(rng, quiet, Sound.TILE, 0.1), RATE_HZ),
        "quiet room at 48 kHz": (rng.normal(0, 0.0005, seconds * 48_000), 48_000),
    }
    for name, (samples, rate_hz) in rooms.items():
        share, heard = _share_of_a_core(samples.astype(np.float32), rate_hz)
        print(f"{name}: {share:.2%} of a core, {heard} sounds")
    block = quiet[: round(_BLOCK_S * RATE_HZ)]
    start = time.thread_time()
    for _ in range(round(seconds / _BLOCK_S)):
        np.fft.rfft(block)
    print(f"reference, one FFT a block: {(time.thread_time() - start) / seconds:.2%} of a core")


def _share_of_a_core(samples: NDArray[np.float32], rate_hz: int) -> tuple[float, int]:
    """Return the time of the core for a second of sound, and how many sounds were heard."""
    detector, size = KnockDetector(), round(_BLOCK_S * rate_hz)
    heard, start = 0, time.thread_time()
    for first in range(0, len(samples), size):
        block = SoundBlock(samples[first : first + size], first * NS_PER_S // rate_hz, rate_hz)
        heard += len(detector.feed(block))
    return (time.thread_time() - start) * rate_hz / len(samples), heard


def _with_hits(
    rng: np.random.Generator, quiet: NDArray[np.float64], kind: Sound, every_s: float
) -> NDArray[np.float64]:
    table, hearing = draw_table(rng), draw_hearing(rng)
    sound = hit(rng, kind, table, hearing)
    sound = 0.3 * sound / np.abs(sound).max()
    samples = quiet.copy()
    for first in range(RATE_HZ, len(samples) - len(sound), round(every_s * RATE_HZ)):
        samples[first - LEAD : first - LEAD + len(sound)] += sound
    return samples


if __name__ == "__main__":
    main()
