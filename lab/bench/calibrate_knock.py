"""Compare the shipped knock classifier with the one calibrated for a table, on modelled tables.

    python -m lab.bench.calibrate_knock [--tables 12]

Each table is calibrated with one recording and evaluated with another one of different hits. Takes ten seconds per
table.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.knock import CollectingDetector, KnockCalibration, learned
from hardware.knock.classifier import load_classifier
from hardware.knock.sensor import NS_PER_S, ClassifiedSound, Sound, SoundBlock
from lab.matches.calibration import knock_sitting
from tallybone.calibrate.knock import fit_timetable
from tallybone.calibrate.look import timetable

_SEATS = 2
_TAPS = (Sound.FINGER, Sound.NAIL, Sound.NAIL_TIP)
_THRESHOLD = 0.5


def main() -> None:
    """Print each table, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=12)
    tables = parser.parse_args().tables
    _, tiles, *seats = parts = timetable(_SEATS)
    # Number of sounds, and of those classified as knocks by the shipped and by the calibrated classifier.
    sums = {name: np.zeros(3, int) for name in ("knocks", "tiles", *(kind.value for kind in _TAPS))}
    for seed in range(tables):
        try:
            calibration = fit_timetable(_heard(knock_sitting(seed, _SEATS)), parts)
        except RefusedError as error:
            print(f"table {seed}: refused: {error}")
            continue
        other = _heard(knock_sitting(seed, _SEATS, hits=1))
        heard = {
            "knocks": _from(other, seats[0].from_s, seats[-1].to_s),
            "tiles": _from(other, tiles.from_s, tiles.to_s),
        }
        for kind in _TAPS:
            tapped = _heard(knock_sitting(seed, _SEATS, hits=2, knocks=kind))
            heard[kind.value] = _from(tapped, seats[0].from_s, seats[-1].to_s)
        for name, own in heard.items():
            shipped, added = (sum(chance >= _THRESHOLD for chance in chances) for chances in _chances(own, calibration))
            sums[name] += len(own), shipped, added
        print(f"table {seed}: weakest knock {calibration.weakest:.2f}, likest tile {calibration.likest:.2f}")
    for name, (count, shipped, added) in sums.items():
        print(f"{name} taken for a knock: {shipped} of {count} as shipped, {added} with what the table adds")


def _from(heard: list[ClassifiedSound], from_s: int, to_s: int) -> list[ClassifiedSound]:
    return [sound for sound in heard if from_s <= sound.t_ns / NS_PER_S < to_s]


def _chances(heard: list[ClassifiedSound], calibration: KnockCalibration) -> list[list[float]]:
    shipped = load_classifier()
    embeddings = np.array([sound.embedding for sound in heard], np.float32)
    return [by.probabilities(embeddings)[:, 0].tolist() for by in (shipped, learned(shipped, calibration.examples))]


def _heard(samples: NDArray[np.float32]) -> list[ClassifiedSound]:
    detector = CollectingDetector()
    detector.feed(SoundBlock(samples, 0))
    return list(detector.take())


if __name__ == "__main__":
    main()
