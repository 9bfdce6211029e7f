"""How well knocks are told from tiles at modelled tables with the limit that is calibrated, and with the shipped one.

    python benchmarks/bench_calibrate_knock.py [--tables 12]

Each table is listened to once for its limit, and judged by another sitting at it, of other hits. Ten seconds a table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from calibration.errors import RefusedError
from calibration.knock import KeepingDetector, SoundHeard
from hardware.knock.classifier import load_classifier
from hardware.knock.heard import NS_PER_S, SoundBlock
from tallybone.calibrate_knock import fitted, timetable
from tallybone.calibrate_sound import knock_sitting

_SEATS = 2


def main() -> None:
    """Print each table, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=12)
    tables = parser.parse_args().tables
    parts, shipped = timetable(_SEATS), load_classifier().least_knock
    sums = np.zeros(6, int)
    for seed in range(tables):
        first, second = _heard(knock_sitting(seed, _SEATS)), _heard(knock_sitting(seed, _SEATS, hits=1))
        try:
            kept = fitted(first, parts)
        except RefusedError as error:
            print(f"table {seed}: refused: {error}")
            continue
        tiles_from_s, tiles_to_s = parts[1].from_s, parts[1].to_s
        tiles = [one.chance for one in second if tiles_from_s <= one.t_ns / NS_PER_S < tiles_to_s]
        knocks = [one.chance for one in second if one.t_ns / NS_PER_S >= parts[2].from_s]
        row = [len(knocks), len(tiles)]
        row += [
            sum(chance >= limit for chance in own) for limit in (kept.least_knock, shipped) for own in (knocks, tiles)
        ]
        sums += row
        print(
            f"table {seed}: limit {kept.least_knock:.2f}, weakest knock {kept.weakest:.2f}, likest tile"
            f" {kept.likest:.2f}; of others {row[2]} of {row[0]} knocks, {row[3]} of {row[1]} tiles"
        )
    print(f"limit of the table: {sums[2]} of {sums[0]} knocks found, {sums[3]} of {sums[1]} tiles pass")
    print(f"limit as shipped: {sums[4]} of {sums[0]} knocks found, {sums[5]} of {sums[1]} tiles pass")


def _heard(samples: NDArray[np.float32]) -> list[SoundHeard]:
    detector = KeepingDetector()
    detector.feed(SoundBlock(samples, 0))
    return list(detector.taken())


if __name__ == "__main__":
    main()
