"""Whether any command reads a damaged recording wrong without saying so: each kind of damage, each reader.

    python benchmarks/bench_damage.py [--times 200] [--seed 1] [--hands 1] [--kinds "cut,512 bytes zeroed"]

A game is recorded as a live table records it, by an eye that sees what is there. Its file is damaged by seed, and read
as `tallybone` reads it: a replay with its pictures, one of the log with exports, the list, the page, a comparison, and
a match that goes on. "Right" is the result of the whole file. Exit code 1 if anything was silently wrong or not caught;
each such case is named with its seed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.tallybone.recorded_game import record_game
from tests.tallybone.recording.damages import READERS, Kind, Layout, Read, Verdict, verdict

_BAD = {Verdict.SILENT, Verdict.UNCAUGHT}


def main(said: Sequence[str] | None = None) -> int:
    """Damage a recording again and again, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hands", type=int, default=1, help="how many the game has")
    parser.add_argument("--kinds", default=",".join(Kind))
    wished = parser.parse_args(said)
    began_s = time.monotonic()
    total: Counter[Verdict] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "game.mcap")
        record_game(path, hands=wished.hands)
        whole = {reader: read(path) for reader, read in READERS.items()}
        layout = Layout.of(path)
        print(f"{len(layout.chunks)} records, {len(layout.data)} bytes; {', '.join(READERS)}")
        print(f"{'':28}" + "".join(f"{one:>16}" for one in Verdict), flush=True)
        for kind in map(Kind, wished.kinds.split(",")):
            found = _judged(kind, path, layout, whole, [f"{wished.seed} {kind} {at}" for at in range(wished.times)])
            print(f"{kind:28}" + "".join(f"{found[one]:16}" for one in Verdict), flush=True)
            total += found
    print(f"{'all':28}" + "".join(f"{total[one]:16}" for one in Verdict))
    print(f"{total.total()} readings in {time.monotonic() - began_s:.0f} s")
    return 1 if any(total[one] for one in _BAD) else 0


def _judged(
    kind: Kind, path: Path, layout: Layout, whole: Mapping[str, Read], seeds: Sequence[str]
) -> Counter[Verdict]:
    """Return what came of one kind of damage, and print each reading that went wrong."""
    found: Counter[Verdict] = Counter()
    for seed in seeds:
        path.write_bytes(layout.damaged(kind, random.Random(seed)))
        for reader, before in whole.items():
            came, why = verdict(reader, path, before)
            found[came] += 1
            if came in _BAD:
                print(f"  {came}: {reader}, seed {seed!r} {why}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
