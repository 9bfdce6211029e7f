"""Measure the score after the camera missed something: right, marked, or silently wrong.

Matches of two hands are followed with perfect readings instead of pictures. In each, something is hidden or disturbed.
Players answer questions by the words of the choices (`true`), answer one question in ten wrongly (`wrong`), or never
answer (`none`). They type no corrections. With `--pictures`, the matches are rendered and read. With `--no-zones`, the
table has neither zones nor buttons. The results are in docs/experiments/gaps.md.

    python -m lab.bench.gaps --matches 14 --seed 1000 --jobs 2
    python -m lab.bench.gaps --pictures DIR --kind tint --kind cover --matches 10
    python -m lab.bench.gaps --kind restart --answers true --only 1007 --trace
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

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.bench.material.gap_match import Answers, Follower, MatchFound, without_zones
from lab.bench.material.gap_pictures import PICTURE_KINDS, kept_eye, rendered_stream
from lab.bench.material.gap_streams import GAMES, KINDS, PRESSING, SEATS, stream_of

# Kinds whose totals depend on tiles that nobody saw: most of a hand, or the tiles shown at its end.
_UNDETERMINED = ("deal", "hand")
_COLUMNS = (
    "matches",
    "right",
    "wrong, marked",
    "WRONG, SILENT",
    "right, marked",
    "plays %",
    "kept %",
    "questions",
    "taps/gap",
    "slowest ms",
    "failed",
)


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
    """Follow the matches, print the table, and return 1 if totals are wrong without a mark or a match failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="render the matches into a folder, and read them")
    parser.add_argument("--no-zones", action="store_true", help="a table without zones and buttons")
    parser.add_argument("--kind", action="append", choices=list(KINDS | PICTURE_KINDS), help="default all")
    parser.add_argument("--game", choices=GAMES, help="default all in turn")
    parser.add_argument("--answers", action="append", type=Answers, choices=list(Answers))
    parser.add_argument("--matches", type=int, default=14, help="of each kind and answers; rendered: of all kinds")
    parser.add_argument("--seed", type=int, default=1000, help="of the first match; those after it count up")
    parser.add_argument("--only", type=int, metavar="SEED", help="follow only the match with this seed")
    parser.add_argument("--trace", action="store_true", help="print inputs, log, announcements and what was true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    begins = time.perf_counter()
    cases = list(_cases(options))
    results = list(zip(cases, _outcomes(cases, options), strict=True))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    console.print(_table(results))
    for case, match in results:
        if not match.is_right or match.failure:
            verdict = match.failure or ("wrong, marked" if match.is_marked else "WRONG, SILENT")
            console.print(f"{case}: {verdict}; {match.plays} of {match.of} plays", soft_wrap=True)
    console.print(f"{len(cases)} matches in {time.perf_counter() - begins:.0f} s")
    return int(any(match.is_silent or match.failure for _, match in results))


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the matches. Each rendered match has one of the kinds, in turn."""
    seeds = range(options.seed, options.seed + options.matches) if options.only is None else [options.only]
    kinds = options.kind or list(KINDS if options.pictures is None else PICTURE_KINDS)
    for answers in options.answers or [Answers.NONE, Answers.TRUE]:
        if options.pictures is None:
            yield from (case_of(kind, seed, answers, options.game) for kind in kinds for seed in seeds)
        else:
            yield from (case_of(kinds[seed % len(kinds)], seed, answers, options.game) for seed in seeds)


def case_of(kind: str, seed: int, answers: Answers, game: str | None = None) -> Case:
    """Return the match with a seed, which selects the game and the number of players in turn."""
    name = game or GAMES[seed % len(GAMES)]
    seats = SEATS.get(name, (4,))
    return Case(kind, name, seats[seed // len(GAMES) % len(seats)], answers, seed)


def follow(case: Case, folder: Path | None = None, *, trace: bool = False, has_zones: bool = True) -> MatchFound:
    """Follow and evaluate a match. With *folder*, the match is rendered and stored there."""
    kind_rng, answer_rng = np.random.default_rng([case.seed, 1]), np.random.default_rng([case.seed, 2])
    if folder is None:
        stream = stream_of(case.game, case.seats, case.seed, presses=case.kind in PRESSING)
        stream = KINDS[case.kind](stream, kind_rng)
        stream = stream if has_zones else without_zones(stream)
        return Follower(stream, case.answers, answer_rng, trace).follow()
    stream = PICTURE_KINDS[case.kind](rendered_stream(folder, case.game, case.seats, case.seed), kind_rng)
    reader = kept_eye(folder / f"{case.seed}-{case.game}-{case.seats}-{case.kind}.views", stream)
    stream = stream if has_zones else without_zones(stream)
    return Follower(stream, case.answers, answer_rng, trace, reader=reader).follow()


def _outcomes(cases: Sequence[Case], options: argparse.Namespace) -> Iterator[MatchFound]:
    run = partial(follow, folder=options.pictures, trace=options.trace, has_zones=not options.no_zones)
    if options.jobs == 1 or options.trace:
        yield from map(run, cases)
        return
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        yield from pool.map(run, cases, chunksize=2)


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
        determined = [match for case, match in results if case.answers is answers and case.kind not in _UNDETERMINED]
        if determined and len(groups) > 1:
            table.add_row("all but deal, hand", str(answers), *_row(determined), style="bold")
    return table


def _row(matches: Sequence[MatchFound]) -> tuple[str, ...]:
    right = sum(match.is_right for match in matches)
    silent = sum(match.is_silent for match in matches)
    gaps, taps, of = (sum(each) for each in zip(*((m.gaps, m.taps, m.of) for m in matches), strict=True))
    return (
        str(len(matches)),
        f"{right} ({100 * right / len(matches):.0f} %)",
        str(len(matches) - right - silent),
        str(silent),
        str(sum(match.is_right and match.is_marked for match in matches)),
        f"{100 * sum(match.plays for match in matches) / of:.1f}",
        f"{100 * sum(match.kept for match in matches) / of:.1f}",
        str(sum(match.questions for match in matches)),
        f"{taps / gaps:.2f}" if gaps else f"({taps})",
        f"{max(match.slowest_ms for match in matches):.0f}",
        str(sum(bool(match.failure) for match in matches)),
    )


if __name__ == "__main__":
    sys.exit(main())
