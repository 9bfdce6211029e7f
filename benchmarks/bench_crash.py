"""Whether anything is lost when what follows a match dies: at least 500 random moments over whole matches of all games.

    python benchmarks/bench_crash.py [--points 500] [--games bones,super] [--seed 1] [--folder DIR]

A process follows a match through the real recorder and is killed: at any moment, in the middle of a call to the disk,
or with the power, when of what was not synced only a part stays, or something else. The next one goes on as `tallybone
play --resume` does, with another wrong clock on the wall, until the match is over. The eye sees what is there; all else
is real. Exit code 1 if a score that was shown is lost, changed or counted twice.
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

# Every second match has so little room that old recordings make way in the middle of it.
_LITTLE_BYTES, _MUCH_BYTES = 400_000, 10**12


def main(said: Sequence[str] | None = None) -> int:
    """Let processes die, and say what came of it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--points", type=int, default=500)
    asked.add_argument("--games", default=",".join(GAMES))
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--folder", type=Path, help="where the recordings are meanwhile")
    wished = asked.parse_args(said)
    games, tally = wished.games.split(","), Tally()
    matches = {name: match_of(name, wished.seed + number) for number, name in enumerate(games)}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(dir=wished.folder) as folder:
        for number in count():
            name = games[number % len(games)]
            keep_bytes = _LITTLE_BYTES if number // len(games) % 2 else _MUCH_BYTES
            before, known = tally.points.total(), len(tally.problems)
            follow(matches[name], Path(folder) / str(number), tally, wished.seed + number, keep_bytes=keep_bytes)
            print(f"{name}: {tally.points.total() - before} deaths", flush=True)
            for problem in tally.problems[known:]:
                print(f"LOST {problem}", flush=True)
            if tally.points.total() >= wished.points and number + 1 >= len(games):
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
