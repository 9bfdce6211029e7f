"""Measure the CPU load and the accuracy of the knock detector.

    python benchmarks/bench_knock.py [--seconds 60] [--games 10] [--recordings FOLDER]

Load: a quiet room, a knock every three seconds, ten tiles per second, and a quiet room at 48 kHz, which is resampled to
16 kHz. The reference is an FFT of every 64 ms in the same run. Blocks are 64 ms, as from a microphone. Only the
thread's own CPU time counts.

Accuracy: sounds classified as knocks in modelled games without knocks. With recordings of taps (`taps-*.wav`, each of a
single kind), also the hits classified as knocks, in the original and as altered by other microphones, rooms and
recorders. Hits are found by their level.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.knock.detector import KnockDetector
from hardware.knock.heard import NS_PER_S, Sound, SoundBlock
from hardware.knock.wav import read_wav
from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.microphones import apply_response, high_pass, low_pass, peaking, tilted
from synthetic.sounds.scenes import LEAD, WITHOUT_KNOCKS, draw_scene, hit
from synthetic.sounds.surroundings import draw_microphone
from synthetic.sounds.tables import plain_table

_RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "knock"
_BLOCK_S = 0.064
# Number of sounds in a game of four hands, and the time around a knock in which the table looks for a tile.
_SOUNDS_A_GAME, _EYE_LOOKS_S = 80, 2.0
# Minimum level of a hit relative to the loudest one, and minimum pause before it.
_HIT_SHARE, _HIT_GAP_S = 0.15, 0.19
# Maximum distance of a detected knock from the start of its hit.
_NEAR_S = 0.020


def main() -> None:
    """Print the CPU load for each room and the reference, then the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--recordings", type=Path, default=_RECORDINGS, help="folder with recordings of taps")
    chosen = parser.parse_args()
    _print_times(chosen.seconds)
    _print_games(chosen.games)
    paths = sorted(chosen.recordings.glob("taps-*.wav"))
    for path in paths:
        _print_recording(path)
    if paths:
        _print_altered(paths)


def _print_times(seconds: int) -> None:
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


def _print_games(games: int) -> None:
    """Print the false knocks in games without knocks, and those of them without a tile nearby in time."""
    knocks = unseen = 0
    for seed in range(games):
        scene = draw_scene(np.random.default_rng([9, seed]), events=_SOUNDS_A_GAME, shares_of=WITHOUT_KNOCKS)
        tiles_s = [event.t_s for event in scene.events if event.kind in (Sound.TILE, Sound.SLAM, Sound.SHUFFLE)]
        for t_s in _knocks_s(scene.samples):
            knocks += 1
            unseen += not any(abs(t_s - tile_s) < _EYE_LOOKS_S for tile_s in tiles_s)
    print(f"{games} games without knocks: {knocks} sounds taken for a knock, {unseen} of them where no tile fell")


def _print_recording(path: Path) -> None:
    """Print the hits of a recording classified as knocks, and their maximum error in time."""
    samples = _samples_of(path)
    far_s = _far_s(samples, _hits_s(samples))
    detected = far_s <= _NEAR_S
    summary = f"{path.name}: {detected.sum()} of {len(far_s)} hits taken for a knock"
    print(f"{summary}, {1000 * far_s[detected].max():.1f} ms off at most" if detected.any() else summary)


def _print_altered(paths: Sequence[Path]) -> None:
    """Print the hits of each altered recording classified as knocks, with a line for each alteration."""
    print("hits taken for a knock: " + ", ".join(path.stem for path in paths))
    columns = []
    for path in paths:
        samples = _samples_of(path)
        hits_s = _hits_s(samples)
        columns.append([(name, pace, _far_s(altered, hits_s / pace)) for name, altered, pace in _altered(samples)])
    for row in zip(*columns, strict=True):
        print(f"{row[0][0]:>34s}: " + " ".join(f"{(far_s <= _NEAR_S).sum():3d}" for _, _, far_s in row))


def _altered(samples: NDArray[np.float32]) -> Iterator[tuple[str, NDArray[np.float32], float]]:
    """Yield altered versions of a recording: description, samples, and relative speed."""
    rng, highest = np.random.default_rng(1), np.abs(samples).max()
    yield "as it is", samples, 1.0
    for db in (-6, -4, -2, -1, 1, 2, 4, 6):
        yield f"{db:+d} dB in each octave", apply_response(samples, tilted(db)), 1.0
    for from_hz in (3_000, 5_000):
        yield f"without tones above {from_hz} Hz", apply_response(samples, low_pass(from_hz)), 1.0
    yield "without tones below 200 Hz", apply_response(samples, high_pass(200)), 1.0
    for at_hz, by_db in ((500, 8), (800, -8), (1_500, 8), (2_500, -8), (4_000, 8)):
        yield f"{by_db:+d} dB at {at_hz} Hz", apply_response(samples, peaking(at_hz, by_db)), 1.0
    for db in (-20, 20):
        yield f"{db:+d} dB, cut at full scale", np.clip(samples * np.float32(10 ** (db / 20)), -1, 1), 1.0
    loud = np.sqrt((samples[np.abs(samples) > _HIT_SHARE * highest] ** 2).mean())
    for db in (20, 30):
        noise = rng.normal(0, loud * 10 ** (-db / 20), len(samples))
        yield f"noise {db} dB below the hits", np.asarray(samples + noise, np.float32), 1.0
    yield "in steps of 8 bits", np.asarray(np.round(samples * 127) / 127, np.float32), 1.0
    for pace in (0.94, 1.06):
        times = np.arange(0, len(samples) - 1, pace)
        yield f"{pace} times as fast", np.interp(times, np.arange(len(samples)), samples).astype(np.float32), pace


def _samples_of(path: Path) -> NDArray[np.float32]:
    return np.concatenate([np.asarray(block.samples, np.float32) for block in read_wav(path)])


def _hits_s(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the times of the hits in a recording, found by their level."""
    hits_s: list[float] = []
    last_s = -1.0
    for index in np.flatnonzero(np.abs(samples) > _HIT_SHARE * np.abs(samples).max()):
        if index / RATE_HZ - last_s > _HIT_GAP_S:
            hits_s.append(index / RATE_HZ)
        last_s = index / RATE_HZ
    return np.array(hits_s)


def _far_s(samples: NDArray[np.float32], hits_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each hit from the nearest detected knock, in seconds."""
    told_s = np.array([*_knocks_s(samples), np.inf])
    return np.array([np.abs(told_s - hit_s).min() for hit_s in hits_s])


def _knocks_s(samples: NDArray[np.float32]) -> list[float]:
    """Return the times of detected knocks in samples at 16 kHz."""
    with_trailing_silence = np.concatenate([samples, np.zeros(RATE_HZ // 2, np.float32)])
    heard = KnockDetector().feed(SoundBlock(with_trailing_silence, 0, RATE_HZ))
    return [sound.t_ns / NS_PER_S for sound in heard if sound.kind is Sound.KNOCK]


def _share_of_a_core(samples: NDArray[np.float32], rate_hz: int) -> tuple[float, int]:
    """Return the CPU time per second of sound, and the number of detected sounds."""
    detector, size = KnockDetector(), round(_BLOCK_S * rate_hz)
    heard, start = 0, time.thread_time()
    for first in range(0, len(samples), size):
        block = SoundBlock(samples[first : first + size], first * NS_PER_S // rate_hz, rate_hz)
        heard += len(detector.feed(block))
    return (time.thread_time() - start) * rate_hz / len(samples), heard


def _with_hits(
    rng: np.random.Generator, quiet: NDArray[np.float64], kind: Sound, every_s: float
) -> NDArray[np.float64]:
    table, microphone = plain_table(rng), draw_microphone(rng)
    sound = hit(rng, kind, table, microphone)
    sound = 0.3 * sound / np.abs(sound).max()
    samples = quiet.copy()
    for first in range(RATE_HZ, len(samples) - len(sound), round(every_s * RATE_HZ)):
        samples[first - LEAD : first - LEAD + len(sound)] += sound
    return samples


if __name__ == "__main__":
    main()
