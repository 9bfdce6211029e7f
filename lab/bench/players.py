"""Compare the strength of the computer players by duplicate deals.

    python -m lab.bench.players [--deals 300] [--seconds 0.1] [--game bones --seats 2]

Each hand is dealt twice, with the players in each other's seats. The better total of points wins the pair, and equal
totals count half. The interval is Wilson's, of 95 %. With more than two seats, the second player has all others.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from engine import LegalMove, SeatView, Table, TreeSearch, greedy, profile
from lab.bench.material.harness import options_of
from lab.evaluate.shadow import wilson

Player = Callable[[SeatView], LegalMove]


def main() -> None:
    options = options_of(__doc__, deals=300, seconds=0.1, game="bones", seats=2, seed=1)
    rng = random.Random(options.seed)
    players: dict[str, Player] = {
        "random": lambda view: rng.choice(view.moves),
        "greedy": greedy,
        "Monte Carlo": TreeSearch(rng, options.seconds, depth=1),
        "ISMCTS": TreeSearch(rng, options.seconds),
    }
    for first, second in (
        ("greedy", "random"),
        ("Monte Carlo", "greedy"),
        ("ISMCTS", "greedy"),
        ("ISMCTS", "Monte Carlo"),
    ):
        deal = partial(dealt, options.game, options.seats, random.Random(options.seed))
        margins = [margin(deal(), players[first], players[second]) for _ in range(options.deals)]
        won = sum((own > 0) + (own == 0) / 2 for own in margins)
        low, high = wilson(won, len(margins))
        mean = sum(margins) / len(margins)
        interval = f"{won / len(margins):.1%} of {len(margins)} pairs ({low:.1%} to {high:.1%})"
        print(f"{first} against {second}: {interval}, {mean:+.1f} points", flush=True)


def dealt(game: str, seats: int, rng: random.Random) -> Table:
    """Return a match with its first deal."""
    return Table.start(profile(game), tuple("ABCDEF"[:seats])).deal(rng)


def margin(table: Table, first: Player, second: Player) -> float:
    """Return the points of *first* less those of a mean opponent, in two hands in which the seats are swapped."""
    total, seats = 0.0, len(table.game.players)
    for mine in range(2):
        end = table
        while end.turn is not None:
            end = end.after((first if end.turn == mine else second)(end.view))
        own = end.game.totals[mine]
        total += own - (sum(end.game.totals) - own) / (seats - 1)
    return total


if __name__ == "__main__":
    main()
