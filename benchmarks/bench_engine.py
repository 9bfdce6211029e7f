"""How many plays per second the rules take: whole random hands of each game, next to the `dominoes` package.

    python benchmarks/bench_engine.py [--seconds 2]

A play is a question for the legal plays of the hand and one `apply`; draws, knocks and the deal are in its time. The
package `dominoes` (the extra `oracles`) plays its own game in turns with ours in the same run, so that both meet the
same machine. It changes one game in place; `apply` leaves every earlier state as it was and tells what follows.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from engine import (
    BLOCK,
    PROFILES,
    Call,
    Claimable,
    Decline,
    Draw,
    HandEnd,
    Knock,
    Lead,
    MatchEnd,
    MatchStart,
    Must,
    NewHand,
    Redeal,
    RedealReason,
    Rules,
    Seat,
    State,
    Tile,
    Turn,
    apply,
    full_set,
    legal_plays,
)

SEATS = 4
GAMES = [
    *(replace(rules, match_end=MatchEnd.END_OF_HAND) for rules in PROFILES if rules.refereed),
    replace(BLOCK, name="block, 7 tiles", hand_for=()),
]
ROUNDS = 8
DRAWS = (Must.PLAY_OR_DRAW, Must.BREAK_OR_DRAW, Must.START_ARM_OR_DRAW)


def main() -> None:
    """Print plays per second of each game, and the ratio to `dominoes`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each game, in turns with the others")
    options = parser.parse_args()
    rng = random.Random(1)
    games: dict[str, Callable[[], int]] = {rules.name: partial(play_hand, rules, rng) for rules in GAMES}
    theirs = dominoes_game(rng)
    if theirs is not None:
        games["dominoes"] = theirs
    rates = plays_per_second(games, options.seconds)
    for name, rate in rates.items():
        ratio = f", {rate / rates['dominoes']:.2f} of dominoes" if "dominoes" in rates else ""
        print(f"{name:16} {rate:9.0f} plays/s, {1e6 / rate:6.1f} us each{ratio}")
    if theirs is None:
        print("dominoes is not installed (pip install -e .[oracles]), so there is nothing to compare with")


def plays_per_second(games: dict[str, Callable[[], int]], seconds: float) -> dict[str, float]:
    """Return the rate of each game in the best of a few rounds, in which they take turns."""
    best = dict.fromkeys(games, 0.0)
    for _ in range(ROUNDS):
        for name, game in games.items():
            plays, start = 0, time.perf_counter()
            while (took := time.perf_counter() - start) < seconds / ROUNDS:
                plays += game()
            best[name] = max(best[name], plays / took)
    return best


def dominoes_game(rng: random.Random) -> Callable[[], int] | None:
    """Return what plays one game of the package `dominoes`, or None where it is not installed."""
    try:
        import dominoes  # type: ignore[import-untyped,import-not-found,unused-ignore]  # an optional extra
    except ImportError:
        return None

    def game() -> int:
        playing, plays = dominoes.Game.new(starting_player=0), 0
        while playing.result is None:
            playing.make_move(*rng.choice(playing.valid_moves))
            plays += 1
        return plays

    return game


def play_hand(rules: Rules, rng: random.Random) -> int:
    """Play one random hand to its end; return how many tiles were laid."""
    state, _ = apply(State(), MatchStart(rules, tuple("ABCD")))
    state, outcomes = apply(state, NewHand())
    hands, boneyard = deal(rules, rng)
    plays = 0
    while isinstance(whose := outcomes[-1], Turn):
        seat = whose.seat
        if seat is None:
            leader = first_leader(hands, whose.must)
            if leader is None:
                hands, boneyard = deal(rules, rng)
            state, outcomes = apply(state, Redeal(RedealReason.NO_DOUBLE) if leader is None else Lead(leader))
            continue
        legal = legal_plays(state, hands[seat])
        if legal:
            play = rng.choice(legal)
            hands[seat].remove(play.tile)
            state, outcomes = apply(state, play)
            plays += 1
            if rules.call_required and any(isinstance(outcome, Claimable) for outcome in outcomes):
                state, called = apply(state, Call(seat))
                outcomes = called if isinstance(outcomes[-1], Turn) else outcomes
        elif whose.must is Must.DRAW_OR_END:
            state, outcomes = apply(state, HandEnd())
        elif whose.must in DRAWS:
            hands[seat].append(boneyard.pop())
            state, outcomes = apply(state, Draw(seat))
        else:
            state, outcomes = apply(state, Decline(seat) if whose.must is Must.PLAY_AGAIN else Knock(seat))
    return plays


def deal(rules: Rules, rng: random.Random) -> tuple[list[list[Tile]], list[Tile]]:
    """Return four hands and the boneyard."""
    pile = list(full_set(rules.max_pips)) * rules.copies
    rng.shuffle(pile)
    dealt = rules.dealt(SEATS)
    return [pile[dealt * at : dealt * (at + 1)] for at in range(SEATS)], pile[dealt * SEATS :]


def first_leader(hands: list[list[Tile]], must: Must) -> Seat | None:
    """Return who leads when nobody has won yet, or None when a double is needed and nobody has one."""
    if must is Must.LEAD_ANY:
        return Seat(0)
    best = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in hands]
    return None if max(best) < 0 else Seat(best.index(max(best)))


if __name__ == "__main__":
    main()
