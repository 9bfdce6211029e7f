"""Compare the odds that a seat can play with what it held, in hands of players who choose at random.

    python -m lab.bench.odds [--hands 2000] [--samples 400] [--game bones --seats 3]

At four random moments of each hand, the estimate for every seat is sorted into a bin of 0.1. A bin between 0.5 and 0.9
is off by the mean estimate less the share of seats that could play. The error of the share is given as one sigma.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict

from engine import Phase, Table, profile
from engine.game.questions import ends_now
from engine.library.chances import chances
from lab.bench.material.harness import options_of

GAMES = (("bones", 3), ("draw", 2), ("twoset", 4), ("super", 4))
MOMENTS = 4


def main() -> None:
    options = options_of(__doc__, hands=2000, samples=400, game=str, seats=int, seed=1)
    games = GAMES if options.game is None else ((options.game, options.seats),)
    for name, seats in games:
        print(f"{name} for {seats}: " + judged(name, seats, options.hands, options.samples, options.seed))


def judged(name: str, seats: int, hands: int, samples: int, seed: int) -> str:
    """Return the bins of a game as text."""
    rng, bins, took, asked = random.Random(seed), defaultdict[int, list[tuple[float, bool]]](list), 0.0, 0
    for _ in range(hands):
        for table in moments(name, seats, rng):
            start = time.perf_counter()
            outlook = chances(table.state, samples=samples)
            took, asked = took + time.perf_counter() - start, asked + 1
            assert table.game.hand is not None
            fits = 0
            for end in ends_now(table.game.hand):
                fits |= end.fits
            for seat, held in zip(outlook.seats, table.hands, strict=True):
                bins[int(seat.can_play * 10)].append((seat.can_play, any(tile.bit & fits for tile in held)))
    text, worst = [], 0.0
    for place in range(5, 9):
        found = bins[place]
        estimated, held_share = (sum(each[at] for each in found) / max(1, len(found)) for at in range(2))
        sigma = math.sqrt(held_share * (1 - held_share) / max(1, len(found)))
        worst = max(worst, abs(estimated - held_share))
        text.append(f"{estimated:.3f} said, {held_share:.3f} held (+-{sigma:.3f}, {len(found)})")
    return "; ".join(text) + f"; worst {100 * worst:.1f} points; {1000 * took / max(1, asked):.0f} ms"


def moments(name: str, seats: int, rng: random.Random) -> list[Table]:
    """Return the table at random moments of a hand that random players play to its end."""
    table, found = Table.start(profile(name), tuple("ABCDEF"[:seats])).deal(rng), list[Table]()
    while table.turn is not None:
        table = table.after(rng.choice(table.moves))
        if table.game.phase is Phase.PLAY:
            found.append(table)
    return rng.sample(found, min(MOMENTS, len(found)))


if __name__ == "__main__":
    main()
