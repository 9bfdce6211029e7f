"""Measure how well 63 whole hands of all seven games are followed, rendered in motion, against the ground truth.

    python -m lab.bench.hands [--difficulty hard] [--hands 60] [--seed 1000] [--keep DIR] [--jobs 2]

With --keep, recordings are stored in DIR, and existing ones are reused to continue an interrupted run. Without it, they
are temporary. The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
from rich.console import Console

from lab.bench.material.harness import options_of
from lab.commands import simulate
from lab.evaluate.session_report import judge_recordings, print_batch
from lab.matches.simulation import simulation_settings
from tallybone.choices import Difficulty

_LOOKS = ("classic-felt", "colored-walnut", "black-linen", "classic-walnut")
_ROUNDS = 3
# Minimum share of completely right plays.
_TARGETS = {Difficulty.EASY: 0.995, Difficulty.NORMAL: 0.995, Difficulty.HARD: 0.97}


@dataclass(frozen=True, slots=True)
class Case:
    """A recording: game, number of players, highest number of the set, and number of hands."""

    game: str
    players: int
    highest: int
    hands: int = 1


_ROUND = (
    Case("bones", 2, 6, 2),
    Case("block", 4, 9),
    Case("allfives", 3, 9),
    Case("draw", 3, 6),
    Case("super", 4, 9),
    Case("twoset", 4, 6),
    Case("bones", 4, 6),
    Case("block", 3, 6, 2),
    Case("allfives", 4, 6, 2),
    Case("draw", 2, 6, 2),
    Case("super", 2, 12),
    Case("bones", 3, 9),
    Case("block", 2, 6),
    Case("allfives", 2, 6),
    Case("draw", 4, 9),
    Case("super", 3, 15),
    Case("cutthroat", 4, 6),
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__,
        arguments=arguments,
        difficulty=Difficulty.NORMAL,
        hands=_ROUNDS * sum(case.hands for case in _ROUND),
        seed=1000,
        keep=Path,
        jobs=1,
    )
    console = Console(highlight=False)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) if options.keep is None else options.keep
        folder.mkdir(parents=True, exist_ok=True)
        paths = _recordings(folder, options)
        batch = judge_recordings(paths, jobs=options.jobs, err=Console(stderr=True, highlight=False))
    print_batch(console, batch)
    # Print the verdict on the targets, and return the exit code.
    target = _TARGETS[options.difficulty]
    figures = batch.total
    share, unflagged = figures.share(figures.wholly_right), figures.unflagged
    is_met = share is not None and share >= target and unflagged == 0 and not batch.failures
    percent = "-" if share is None else f"{100 * share:.2f} %"
    console.print(f"Plays wholly right: {percent}, wanted {100 * target:.1f} %; wrong scores not flagged: {unflagged}")
    console.print("Targets met" if is_met else "Targets missed", style="bold")
    return 0 if is_met else 1


def _recordings(folder: Path, options: argparse.Namespace) -> tuple[Path, ...]:
    """Return recordings of the requested number of hands. Missing ones are rendered."""
    difficulty: Difficulty = options.difficulty
    cases = _ROUND * _ROUNDS
    before = accumulate((case.hands for case in cases), initial=0)
    numbers = [number for number, so_far in zip(range(len(cases)), before, strict=False) if so_far < options.hands]
    paths = [
        folder / f"{number:02}-{case.game}-{case.players}-double-{case.highest}-{difficulty}.mcap"
        for number, case in zip(numbers, cases, strict=False)
    ]
    missing = [(number, path) for number, path in zip(numbers, paths, strict=True) if not path.exists()]
    # Spawn instead of fork, because OpenCV's threads do not survive a fork.
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        make = partial(_make, difficulty=difficulty, first_seed=options.seed)
        list(pool.map(make, *zip(*missing, strict=True)) if missing else ())
    return tuple(paths)


def _make(number: int, path: Path, *, difficulty: Difficulty, first_seed: int) -> None:
    """Render a recording. It gets its final name only when it is complete."""
    case = _ROUND[number % len(_ROUND)]
    settings = simulation_settings(
        case.game,
        players=case.players,
        seed=first_seed + number,
        options=f"set={case.highest}",
        hands=case.hands,
        look=_LOOKS[(number + number // len(_ROUND)) % len(_LOOKS)],
        difficulty=difficulty,
    )
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    complaints = StringIO()
    if simulate(part, settings, out=StringIO(), err=complaints) != 0:
        raise RuntimeError(f"{path.name}: {complaints.getvalue().strip()}")
    part.rename(path)


if __name__ == "__main__":
    sys.exit(main())
