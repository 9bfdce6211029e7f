"""Check that no command silently misreads a damaged recording, for each kind of damage and each command.

    python -m lab.bench.damage [--times 200] [--seed 1] [--hands 1] [--kinds "cut,512 bytes zeroed"]

A game is recorded like at a live table, with a perfect reader. The file is damaged by a seed and read like `tallybone`
does: a replay with pictures, a replay of the log with exports, the list, the page, a comparison, and a resumed match.
The result of the undamaged file is the reference. The exit code is 1 if a result is silently wrong or an exception is
not caught. Each such case is printed with its seed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.bench.material.harness import options_of
from tests.tallybone.recorded_game import record_game
from tests.tallybone.recording.damages import READERS, Kind, Layout, Read, Verdict, verdict

_BAD = {Verdict.SILENT, Verdict.UNCAUGHT}


def main(argv: Sequence[str] | None = None) -> int:
    args = options_of(__doc__, arguments=argv, times=200, seed=1, hands=1, kinds=",".join(Kind))
    began_s = time.monotonic()
    total: Counter[Verdict] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "game.mcap")
        record_game(path, hands=args.hands)
        whole = {reader: read(path) for reader, read in READERS.items()}
        layout = Layout.of(path)
        print(f"{len(layout.chunks)} records, {len(layout.data)} bytes; {', '.join(READERS)}")
        print(f"{'':28}" + "".join(f"{verdict:>16}" for verdict in Verdict), flush=True)
        for kind in map(Kind, args.kinds.split(",")):
            counts = _judged(kind, path, layout, whole, [f"{args.seed} {kind} {at}" for at in range(args.times)])
            print(f"{kind:28}" + "".join(f"{counts[verdict]:16}" for verdict in Verdict), flush=True)
            total += counts
    print(f"{'all':28}" + "".join(f"{total[verdict]:16}" for verdict in Verdict))
    print(f"{total.total()} readings in {time.monotonic() - began_s:.0f} s")
    return 1 if any(total[verdict] for verdict in _BAD) else 0


def _judged(
    kind: Kind, path: Path, layout: Layout, whole: Mapping[str, Read], seeds: Sequence[str]
) -> Counter[Verdict]:
    """Return the verdicts on a kind of damage, and print each bad one."""
    counts: Counter[Verdict] = Counter()
    for seed in seeds:
        path.write_bytes(layout.damaged(kind, random.Random(seed)))
        for reader, before in whole.items():
            judged, why = verdict(reader, path, before)
            counts[judged] += 1
            if judged in _BAD:
                print(f"  {judged}: {reader}, seed {seed!r} {why}", flush=True)
    return counts


if __name__ == "__main__":
    sys.exit(main())
