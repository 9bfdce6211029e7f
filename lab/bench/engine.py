"""Measure plays per second of the rules on random hands of each game, compared with the `dominoes` package.

    python -m lab.bench.engine [--seconds 2] [--events 12000]

A play is a query for the legal plays of the hand and a call of `apply`. Its time includes draws, knocks and the deal.
The second figures are for a `HandBoard`: a hand is played by `push` and taken back by `pop`, over and over.
The package `dominoes` (extra `oracles`) plays its own game alternately with ours in the same run, to measure both under
the same load. It modifies a game in place, while `apply` keeps every earlier state and returns outcomes.

Last, a match of thousands of events: the time of a step and of an undo at its end, against a step at its start.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import engine
from lab.bench.material.harness import options_of

SEATS = 4
GAMES = [
    *(replace(rules, match_end=engine.MatchEnd.END_OF_HAND) for rules in engine.PROFILES if rules.refereed),
    replace(engine.BLOCK, name="block, 7 tiles", hand_for=()),
]
ROUNDS = 8
DRAWS = (engine.Must.PLAY_OR_DRAW, engine.Must.BREAK_OR_DRAW, engine.Must.START_ARM_OR_DRAW)


def main() -> None:
    options = options_of(__doc__, seconds=2.0, events=12000)
    rng = random.Random(1)
    games: dict[str, Callable[[], int]] = {rules.name: partial(play_hand, rules, rng) for rules in GAMES}
    theirs = dominoes_game(rng)
    games |= {f"{rules.name}, in place": on_board(rules, rng) for rules in GAMES}
    if theirs is not None:
        games["dominoes"] = theirs
    rates = plays_per_second(games, options.seconds)
    for name, rate in rates.items():
        ratio = f", {rate / rates['dominoes']:.2f} of dominoes" if "dominoes" in rates else ""
        print(f"{name:26} {rate:9.0f} plays/s, {1e6 / rate:6.1f} us each{ratio}")
    if theirs is None:
        print("dominoes is not installed (pip install -e .[oracles]), so there is nothing to compare with")
    first, last, undo = long_match(options.events, rng)
    print(f"a step at {options.events} events: {last:.1f} us, {last / first:.2f} of the first; undo {undo:.0f} us")


def plays_per_second(games: dict[str, Callable[[], int]], seconds: float) -> dict[str, float]:
    """Return the best rate of each game over several interleaved rounds."""
    best = dict.fromkeys(games, 0.0)
    for _ in range(ROUNDS):
        for name, game in games.items():
            plays, start = 0, time.perf_counter()
            while (took := time.perf_counter() - start) < seconds / ROUNDS:
                plays += game()
            best[name] = max(best[name], plays / took)
    return best


def long_match(events: int, rng: random.Random) -> tuple[float, float, float]:
    """Return the microseconds of a step at the start and at the end of a long match, and of an undo at its end."""
    table = engine.Table.start(replace(engine.BONES, target=10**9), tuple("AB"))
    while len(table.state.log) < events:
        table = table.deal(rng) if table.awaits_deal else table.after(rng.choice(table.moves))
    actions = [step.entry.action for step in table.state.steps]
    best = [float("inf")] * 3
    for _ in range(5):
        state, times = engine.State(), [time.perf_counter()]
        for action in actions:
            state, _ = engine.apply(state, action)
            times.append(time.perf_counter())
        engine.apply(state, engine.Undo(state.steps[-1].entry.seq))
        undo = time.perf_counter() - times[-1]
        spans = (times[1000] - times[0]) / 1000, (times[-1] - times[-1001]) / 1000, undo
        best = list(map(min, best, spans))
    first, last, undo = (1e6 * least for least in best)
    return first, last, undo


def dominoes_game(rng: random.Random) -> Callable[[], int] | None:
    """Return a function that plays a game of the package `dominoes`, or None if it is not installed."""
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


def on_board(rules: engine.Rules, rng: random.Random) -> Callable[[], int]:
    """Return a function that plays a hand on a board at random, takes it back, and returns the number of plays."""
    tables = [engine.Table.start(rules, tuple("ABCD")).deal(rng) for _ in range(50)]
    boards = [engine.HandBoard(table.game, table.hands, table.boneyard) for table in tables]

    def hand() -> int:
        board, plays, made = rng.choice(boards), 0, 0
        while not board.is_over:
            move = rng.choice(board.moves())
            board.push(move)
            plays, made = plays + (move >= 0), made + 1
        for _ in range(made):
            board.pop()
        return plays

    return hand


def play_hand(rules: engine.Rules, rng: random.Random) -> int:
    """Play a random hand to the end, and return the number of plays."""
    state, _ = engine.apply(engine.State(), engine.MatchStart(rules, tuple("ABCD")))
    state, outcomes = engine.apply(state, engine.NewHand())
    hands, boneyard = deal(rules, rng)
    plays = 0
    while isinstance(current := outcomes[-1], engine.Turn):
        seat = current.seat
        if seat is None:
            leader = first_leader(hands, current.must)
            if leader is None:
                hands, boneyard = deal(rules, rng)
            state, outcomes = engine.apply(
                state, engine.Redeal(engine.RedealReason.NO_DOUBLE) if leader is None else engine.Lead(leader)
            )
            continue
        legal = engine.legal_plays(state, hands[seat])
        if legal:
            play = rng.choice(legal)
            hands[seat].remove(play.tile)
            state, outcomes = engine.apply(state, play)
            plays += 1
            if rules.call_required and any(isinstance(outcome, engine.Claimable) for outcome in outcomes):
                state, called = engine.apply(state, engine.Call(seat))
                outcomes = called if isinstance(outcomes[-1], engine.Turn) else outcomes
        elif current.must is engine.Must.DRAW_OR_END:
            state, outcomes = engine.apply(state, engine.HandEnd())
        elif current.must in DRAWS:
            hands[seat].append(boneyard.pop())
            state, outcomes = engine.apply(state, engine.Draw(seat))
        else:
            state, outcomes = engine.apply(
                state, engine.Decline(seat) if current.must is engine.Must.PLAY_AGAIN else engine.Knock(seat)
            )
    return plays


def deal(rules: engine.Rules, rng: random.Random) -> tuple[list[list[engine.Tile]], list[engine.Tile]]:
    """Return four hands and the boneyard."""
    pile = list(engine.full_set(rules.max_pips)) * rules.copies
    rng.shuffle(pile)
    dealt = rules.dealt(SEATS)
    return [pile[dealt * at : dealt * (at + 1)] for at in range(SEATS)], pile[dealt * SEATS :]


def first_leader(hands: list[list[engine.Tile]], must: engine.Must) -> engine.Seat | None:
    """Return the leader of the first hand, or None if a double is required and nobody has any."""
    if must is engine.Must.LEAD_ANY:
        return engine.Seat(0)
    best = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in hands]
    return None if max(best) < 0 else engine.Seat(best.index(max(best)))


if __name__ == "__main__":
    main()
