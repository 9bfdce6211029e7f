"""Measure the score after the camera missed something: right, flagged, or silently wrong.

Matches of two hands are followed with perfect readings instead of pictures. In each, something is hidden or disturbed:
missing pictures, a person in front, a restart, late and early presses, bumps, light. Players who know the truth answer
questions and enter events that no answer offers (`true`), answer one question in ten wrongly (`wrong`), or never answer
(`none`). Each hand is evaluated three plays into the next one. With `--level pictures`, the matches are rendered and
read. The results are in docs/experiments/gaps.md.

    python benchmarks/bench_gaps.py --matches 10 --jobs 2
    python benchmarks/bench_gaps.py --level pictures --keep DIR --matches 60
    python benchmarks/bench_gaps.py --kind restart --answers true --only 1007 --trace
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.gap_match import Answers, Follower, HandFound, MatchFound
from benchmarks.gap_pictures import PICTURE_KINDS, PictureEye, rendered_stream
from benchmarks.gap_streams import GAMES, KINDS, PRESSING, SEATS, stream_of

# Minimum share of matches with the right totals: for each kind with true answers, and for all without answers.
_RIGHT_ANSWERED, _RIGHT_UNANSWERED = 0.98, 0.80
# Kinds for which every match must be right with true answers.
_ALWAYS_RIGHT = ("undisturbed", "restart", "early", "late", "undo")
_MAX_TAPS = 2.0


@dataclass(frozen=True, slots=True)
class Case:
    """A match to follow."""

    kind: str
    game: str
    seats: int
    answers: Answers
    seed: int

    def __str__(self) -> str:
        """Return the options to rerun only this match."""
        return f"--kind {self.kind} --game {self.game} --answers {self.answers} --only {self.seed}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow the matches, print the tables, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=["readings", "pictures"], default="readings")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="folder of the rendered matches; default a temporary one"
    )
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="may be given several times; default all")
    parser.add_argument("--game", choices=GAMES, help="default all in turn")
    parser.add_argument("--answers", action="append", type=Answers, choices=list(Answers))
    parser.add_argument("--matches", type=int, default=14, help="of each kind and answers; rendered: of all kinds")
    parser.add_argument("--seed", type=int, default=1000, help="of the first match; those after it count up")
    parser.add_argument("--only", type=int, metavar="SEED", help="follow only the match with this seed")
    parser.add_argument("--trace", action="store_true", help="print inputs, questions, answers and what was expected")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.matches) if options.only is None else [options.only]
    begins = time.perf_counter()
    with TemporaryDirectory() as scratch:
        folder = None if options.level == "readings" else options.keep or Path(scratch)
        cases = list(_cases(options, seeds, are_rendered=folder is not None))
        results = list(zip(cases, _outcomes(cases, folder, options.jobs, trace=options.trace), strict=True))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    console.print(_table(results))
    for case, match in results:
        for line in _faults(match):
            console.print(f"{case}: {line}", soft_wrap=True)
    console.print(f"{len(cases)} matches in {time.perf_counter() - begins:.0f} s")
    missed = list(_missed(results))
    for line in missed:
        console.print(f"missed: {line}", soft_wrap=True)
    console.print("Targets missed" if missed else "Targets met", style="bold")
    return 1 if missed else 0


def _cases(options: argparse.Namespace, seeds: Sequence[int], *, are_rendered: bool) -> Iterator[Case]:
    """Yield the matches. Each rendered match has one of the kinds, in turn."""
    kinds = options.kind or list(PICTURE_KINDS if are_rendered else KINDS)
    for answers in options.answers or Answers:
        if are_rendered:
            yield from (case_of(kinds[seed % len(kinds)], seed, answers, options.game) for seed in seeds)
        else:
            yield from (case_of(kind, seed, answers, options.game) for kind in kinds for seed in seeds)


def case_of(kind: str, seed: int, answers: Answers, game: str | None = None) -> Case:
    """Return the match with a seed, which selects the game and the number of players in turn."""
    name = game or GAMES[seed % len(GAMES)]
    seats = SEATS.get(name, (4,))
    return Case(kind, name, seats[seed // len(GAMES) % len(seats)], answers, seed)


def follow(case: Case, folder: Path | None = None, *, trace: bool = False) -> MatchFound:
    """Follow and evaluate a match. With *folder*, the match is rendered and stored there."""
    kind_rng, answer_rng = np.random.default_rng([case.seed, 1]), np.random.default_rng([case.seed, 2])
    if folder is None:
        stream = stream_of(case.game, case.seats, case.seed, presses=case.kind in PRESSING)
        return Follower(KINDS[case.kind](stream, kind_rng), case.answers, answer_rng, trace).follow()
    stream = PICTURE_KINDS[case.kind](rendered_stream(folder, case.game, case.seats, case.seed), kind_rng)
    return Follower(stream, case.answers, answer_rng, trace, eye=PictureEye(stream.rules)).follow()


def _outcomes(cases: Sequence[Case], folder: Path | None, jobs: int, *, trace: bool) -> Iterator[MatchFound]:
    if jobs == 1 or trace:
        yield from (follow(case, folder, trace=trace) for case in cases)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(partial(follow, folder=folder), cases, chunksize=2)


def _table(results: Sequence[tuple[Case, MatchFound]]) -> Table:
    table = Table("kind", "answers", *_COLUMNS)
    for name in table.columns[2:]:
        name.justify = "right"
    groups: dict[tuple[str, Answers], list[MatchFound]] = defaultdict(list)
    for case, match in results:
        groups[case.kind, case.answers].append(match)
    for (kind, answers), matches in groups.items():
        table.add_row(kind, str(answers), *_row(matches))
    for answers in Answers:
        of_answers = [match for case, match in results if case.answers is answers]
        if of_answers and len(groups) > 1:
            table.add_row("all", str(answers), *_row(of_answers), style="bold")
    return table


_COLUMNS = (
    "matches",
    "totals right %",
    "hands",
    "right %",
    "marked or asked %",
    "silent",
    "derailed",
    "questions",
    "taps/gap",
    "slowest ms",
    "failed",
)


def _row(matches: Sequence[MatchFound]) -> tuple[str, ...]:
    hands = [hand for match in matches for hand in match.hands]
    return (
        str(len(matches)),
        _percent(sum(match.are_totals_right for match in matches), len(matches)),
        str(len(hands)),
        _percent(sum(hand.is_right for hand in hands), len(hands)),
        _percent(sum(hand.is_flagged for hand in hands), len(hands)),
        str(sum(hand.is_silent for hand in hands)),
        str(sum(hand.is_derailed for hand in hands)),
        str(sum(match.questions for match in matches)),
        _taps(matches),
        f"{max(match.slowest_ms for match in matches):.0f}",
        str(sum(bool(match.failure) for match in matches)),
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _taps(matches: Sequence[MatchFound]) -> str:
    gaps = sum(match.gaps for match in matches)
    taps = sum(match.answers + match.keyed for match in matches)
    return f"{taps / gaps:.2f}" if gaps else f"({taps})"


def _faults(match: MatchFound) -> Iterator[str]:
    """Describe the mistakes in a match."""
    if match.failure:
        yield match.failure
    for hand in match.hands:
        if not hand.is_right or hand.is_derailed:
            yield f"hand {hand.judged.number} {_verdict(hand)}"
    if not match.are_totals_right:
        yield "wrong totals at the end"


def _verdict(hand: HandFound) -> str:
    verdict = "right" if hand.is_right else "wrong, flagged" if hand.is_flagged else "WRONG AND NOT FLAGGED"
    return f"{verdict}{', derailed' if hand.is_derailed else ''}"


def _missed(results: Sequence[tuple[Case, MatchFound]]) -> Iterator[str]:
    """Describe each missed target."""
    groups: dict[tuple[str, Answers], list[MatchFound]] = defaultdict(list)
    for case, match in results:
        groups[case.kind, case.answers].append(match)
    for (kind, answers), matches in groups.items():
        hands = [hand for match in matches for hand in match.hands]
        silent, failed = sum(hand.is_silent for hand in hands), sum(bool(match.failure) for match in matches)
        if silent or failed:
            yield f"{kind}, answers {answers}: {silent} hands wrong and not flagged, {failed} matches failed, wanted 0"
        if answers is Answers.TRUE:
            yield from _too_few(f"{kind}, answers true", matches, 1.0 if kind in _ALWAYS_RIGHT else _RIGHT_ANSWERED)
    unanswered = [match for case, match in results if case.answers is Answers.NONE]
    yield from _too_few("answers none", unanswered, _RIGHT_UNANSWERED)
    answered = [match for case, match in results if case.answers is Answers.TRUE]
    gaps, taps = sum(match.gaps for match in answered), sum(match.answers + match.keyed for match in answered)
    if gaps and taps > _MAX_TAPS * gaps:
        yield f"{taps / gaps:.1f} taps a gap, wanted at most {_MAX_TAPS:.0f}"


def _too_few(what: str, matches: Sequence[MatchFound], share: float) -> Iterator[str]:
    right = sum(match.are_totals_right for match in matches)
    if right < share * len(matches):
        yield f"{what}: totals right in {right} of {len(matches)}, wanted {100 * share:.0f} %"


if __name__ == "__main__":
    sys.exit(main())
