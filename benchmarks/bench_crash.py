"""Check that no score is lost when the process dies, at 500 or more random moments in whole matches of all games.

    python benchmarks/bench_crash.py [--points 500] [--games bones,super] [--seed 1] [--folder DIR]

A process follows a match with the real recorder and is killed: at any moment, during a disk operation, or by a power
failure that loses or corrupts unsynced data. The next process resumes the match like `tallybone play --resume`, with
another wrong wall clock, until the match ends. Only the reader is fake: it is perfect. The exit code is 1 if a
displayed score is lost, changed or counted twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from tests.tallybone.crash.game import GAMES, match_of
from tests.tallybone.crash.points import Tally, Way, follow

# Quotas of alternating matches. The small one deletes old recordings during a match.
_LITTLE_BYTES, _MUCH_BYTES = 400_000, 10**12


def main(argv: Sequence[str] | None = None) -> int:
    """Kill processes and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="folder for temporary recordings")
    args = parser.parse_args(argv)
    games, tally = args.games.split(","), Tally()
    matches = {name: match_of(name, args.seed + number) for number, name in enumerate(games)}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for number in count():
            name = games[number % len(games)]
            keep_bytes = _LITTLE_BYTES if number // len(games) % 2 else _MUCH_BYTES
            before, known = tally.points.total(), len(tally.problems)
            follow(matches[name], Path(folder) / str(number), tally, args.seed + number, keep_bytes=keep_bytes)
            print(f"{name}: {tally.points.total() - before} deaths", flush=True)
            for problem in tally.problems[known:]:
                print(f"LOST {problem}", flush=True)
            if tally.points.total() >= args.points and number + 1 >= len(games):
                break
    _say(tally, time.monotonic() - began_s)
    return 1 if tally.problems else 0


def _say(tally: Tally, took_s: float) -> None:
    for way in Way:
        print(f"{tally.points[way]:6} x {way.value}")
    print(f"{tally.points.total():6} deaths in {tally.matches} matches with {tally.scores} scores, in {took_s:.0f} s")
    print(f"{len(tally.problems):6} scores lost, changed or doubled")


if __name__ == "__main__":
    sys.exit(main())
