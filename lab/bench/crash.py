"""Check that no score is lost when the process dies, at 500 or more random moments in whole matches of all games.

    python -m lab.bench.crash [--points 500] [--games bones,super] [--seed 1] [--folder DIR]
    python -m lab.bench.crash --faults 5000

A process follows a match with the real recorder and is killed: at any moment, during a disk operation, or by a power
failure that loses or corrupts unsynced data. The next process resumes the match like `tallybone play --resume`, with
another wrong wall clock, until the match ends. Only the reader is fake: it is perfect. The exit code is 1 if a
displayed score is lost, changed or counted twice.

With --faults, so many short matches are played on a disk whose calls fail for a while, reads included, and 100 end
in order within 5 s after a failure. The exit code is 1 if a score is lost, or an older one resumed, without a warning.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count as numbers
from pathlib import Path

from lab.bench.material.harness import options_of
from tests.tallybone.crash.faults import FaultTally, end_after_fault, follow_with_faults
from tests.tallybone.crash.game import GAMES, match_of
from tests.tallybone.crash.points import Tally, Way, follow

# Quotas of alternating matches. The small one deletes old recordings during a match.
_LITTLE_BYTES = 400_000
_MUCH_BYTES = 10**12


def main(argv: Sequence[str] | None = None) -> int:
    args = options_of(__doc__, arguments=argv, points=500, games=",".join(GAMES), seed=1, folder=Path, faults=0)
    if args.faults:
        return _with_faults(args.faults, args.seed, args.folder)
    games, tally = args.games.split(","), Tally()
    matches = {name: match_of(name, args.seed + number) for number, name in enumerate(games)}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for number in numbers():
            name = games[number % len(games)]
            keep_bytes = _LITTLE_BYTES if number // len(games) % 2 else _MUCH_BYTES
            before, known = tally.points.total(), len(tally.problems)
            follow(matches[name], Path(folder) / str(number), tally, args.seed + number, keep_bytes=keep_bytes)
            print(f"{name}: {tally.points.total() - before} deaths", flush=True)
            for problem in tally.problems[known:]:
                print(f"LOST {problem}", flush=True)
            if tally.points.total() >= args.points and number + 1 >= len(games):
                break
    took_s = time.monotonic() - began_s
    for way in Way:
        print(f"{tally.points[way]:6} x {way.value}")
    print(f"{tally.points.total():6} deaths in {tally.matches} matches with {tally.scores} scores, in {took_s:.0f} s")
    print(f"{len(tally.problems):6} scores lost, changed or doubled")
    return 1 if tally.problems else 0


def _with_faults(matches: int, seed: int, folder: Path | None) -> int:
    """Play matches with faults of the disk, print the results, and return the exit code."""
    problems = 0
    for play, count, name in ((follow_with_faults, matches, "random faults"), (end_after_fault, 100, "ended early")):
        tally = FaultTally()
        for number in range(seed, seed + count):
            with tempfile.TemporaryDirectory(dir=folder) as recordings:
                play(Path(recordings), number, tally)
        problems += len(tally.silent)
        print(f"{name}: {count} matches, {tally.lives} lives, {tally.resumed} resumed right")
        print(f"{tally.warned:6} scores lost with a warning, {len(tally.silent)} without")
        print("\n".join(tally.silent[:20]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
