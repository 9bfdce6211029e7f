"""Decode the matches of `bench_gaps.py` without players who answer, and compare the totals with the truth.

    python benchmarks/bench_decoder.py [--matches 14] [--seed 1000] [--kind burst] [--game draw] [--missed 0.125]

With `--missed`, the boneyard's count ignores that share of the draws. `--no-yard` hides the boneyard altogether.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.gap_match import PerfectEye
from benchmarks.gap_streams import GAMES, KINDS, PRESSING, SEATS, Stream, stream_of
from engine import MatchStart, Phase, Play, entries, replay
from tallybone.session.decoder import Decoder
from tallybone.session.inputs import KnockHeard, Press
from tallybone.session.observations import Observation, TablePieces, looked
from tallybone.session.zones import split
from vision.tracking.table_view import TableView

# Time after which sounds and presses are decoded without a change on the table, and an unchanged table once more.
_WAITS_NS = 2_000_000_000
Count = Callable[[int | None], int | None]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded match: whether the totals are right, plays by the right player of all, and the longest look."""

    is_right: bool
    plays: int
    of: int
    slowest_ms: float


def main() -> None:
    """Print the matches with wrong totals, and the number of right ones of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--game", choices=GAMES)
    parser.add_argument("--missed", type=float, default=0.0, help="share of draws that the count misses")
    parser.add_argument("--no-yard", action="store_true")
    options = parser.parse_args()
    for kind in options.kind or KINDS:
        found: list[Decoded] = []
        for seed in range(options.seed, options.seed + options.matches):
            stream = stream_in(kind, seed, options.game)
            count = (lambda _: None) if options.no_yard else missing(options.missed, np.random.default_rng(seed + 5))
            match = decoded(stream, count)
            found.append(match)
            if not match.is_right:
                print(f"  {kind} {stream.rules.name} for {len(stream.players)}, seed {seed}: {match}", flush=True)
        right, slowest = sum(each.is_right for each in found), max(each.slowest_ms for each in found)
        print(f"{kind}: {right} of {len(found)} totals right, slowest look {slowest:.0f} ms", flush=True)


def stream_in(kind: str, seed: int, game: str | None = None) -> Stream:
    """Return the match with a seed, which selects the game and the number of players in turn."""
    name = game or GAMES[seed % len(GAMES)]
    seats = SEATS.get(name, (4,))
    stream = stream_of(name, seats[seed // len(GAMES) % len(seats)], seed, presses=kind in PRESSING)
    return KINDS[kind](stream, np.random.default_rng([seed, 1]))


def missing(share: float, rng: np.random.Generator) -> Count:
    """Return a function that counts the boneyard and misses a share of the draws until the next deal."""
    last, missed = 0, 0

    def count(tiles: int | None) -> int | None:
        nonlocal last, missed
        if tiles is None:
            return None
        if tiles > last or tiles == 0:
            missed = 0
        elif tiles < last and rng.random() < share:
            missed += last - tiles
        last = tiles
        return tiles + missed

    return count


def decoded(stream: Stream, count: Count) -> Decoded:
    """Decode a stream, and compare its end with the truth."""
    start, truth = replay([MatchStart(stream.rules, stream.players)]).game, stream.truth(len(stream.steps))
    assert start is not None
    assert truth.game is not None
    decoder, slowest_ms = Decoder(start), 0.0
    for look in looks(stream, decoder, count):
        begins = time.process_time()
        decoder.add(look)
        slowest_ms = max(slowest_ms, 1e3 * (time.process_time() - begins))
    best = decoder.beam[0]
    true = [entry.action for entry in entries(truth)]
    laid = {(action.seat, action.tile) for actions in best.path() for action in actions if isinstance(action, Play)}
    plays = [(action.seat, action.tile) for action in true if isinstance(action, Play)]
    return Decoded(best.game.totals == truth.game.totals, sum(play in laid for play in plays), len(plays), slowest_ms)


def looks(stream: Stream, decoder: Decoder, count: Count) -> Iterator[Observation]:
    """Yield an observation for each settled picture with news, with the sounds and presses before it."""
    eye, watched, heard, shown = PerfectEye(), TablePieces(), list[tuple[int, KnockHeard | Press]](), None
    again_ns: int | None = None
    for item in stream.items:
        eye = eye.resumed() if item.restarts else eye
        if isinstance(item.event, KnockHeard | Press):
            heard.append((item.t_ns, item.event))
        if item.event is not None or not (view := eye.view(item)).is_settled:
            continue
        after, look = _look(stream, decoder, watched, view, item.t_ns)
        look = replace(look, yard=count(look.yard), is_deaf=item.restarts)
        now = (look.yard, [[tile.center_px for tile in tiles] for tiles in look.shown])
        is_new = bool(look.pieces or look.gone or look.moved) or now != shown
        is_due = bool(heard) and item.t_ns - heard[0][0] >= _WAITS_NS
        is_again = again_ns is not None and item.t_ns - again_ns >= _WAITS_NS
        if is_new or is_due or (is_again and any(look.shown)):
            sounds = tuple(event for _, event in heard if isinstance(event, KnockHeard))
            presses = tuple(event for _, event in heard if isinstance(event, Press))
            watched, shown, heard = after, now, []
            again_ns = item.t_ns if is_new or is_due else None
            yield replace(look, sounds=sounds, presses=presses)


def _look(
    stream: Stream, decoder: Decoder, watched: TablePieces, view: TableView, t_ns: int
) -> tuple[TablePieces, Observation]:
    """Return the pieces on the table, and what a view shows."""
    best, zones = decoder.beam[0], stream.zones
    places = [laid.place for laid in best.laid]
    parts = split(view, zones, places, may_join=best.game.phase is Phase.PLAY)
    after, look = looked(watched, parts, Observation(t_ns))
    return after, look if zones.boneyard is not None else replace(look, yard=None)


if __name__ == "__main__":
    main()
