"""What bumps of the camera do to games: fifty that are rendered, pushed, followed and judged against their truth.

    python benchmarks/bench_drift.py [--games 50] [--first 0] [--keep DIR]

Each game is a few plays long. Its camera is pushed by 2 to 40 mm of the table and turned by 0.5 to 5 degrees, at once
or as a slow slip, while the table lies still, under a hand, or as a tile is put down; some are put back later. The exit
code is 1 where a push was not noticed, or a wrong score was left that nobody was told of.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from tallybone.choices import Difficulty
from tallybone.cli.simulate import simulate
from tallybone.evaluate.session_report import Figures, is_unflagged
from tallybone.evaluate.sessions import CameraReport, SessionJudged, judge_session
from tallybone.simulate.pushes import CameraPush, PushTime
from tallybone.simulate.simulation import SimulationSettings, simulation_settings

_GAMES = (("bones", 2), ("block", 2), ("draw", 2), ("allfives", 3), ("draw", 3), ("block", 4))
_LOOKS = ("classic-felt", "colored-walnut", "black-linen", "classic-walnut", "colored-felt")
_FIRST_SEED, _PLAYS, _PX_PER_MM = 7000, 8, 1.5
# From and to: millimetres and degrees of a push.
_SIZES_MM = ((2.0, 5.0), (5.0, 10.0), (10.0, 20.0), (20.0, 30.0), (30.0, 40.0))
_TURNS_DEG = ((0.5, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0))
# Every so many games the camera slips slowly; every so many that are pushed far it is put back, nearly.
_SLIPS_EVERY, _SLIP_MM_PER_S, _BACK_EVERY, _NEARLY_MM = 5, 0.5, 2, 1.0
# Noticed is what is said within so many pixels of the truth, or said to be lost.
_CORRECTED_PX = 3.0


@dataclass(frozen=True, slots=True)
class Case:
    """One game: what is played, and how the camera is pushed."""

    number: int
    size: int
    push: CameraPush
    back: CameraPush | None

    @property
    def wishes(self) -> SimulationSettings:
        """What is simulated."""
        game, players = _GAMES[self.number % len(_GAMES)]
        pushes = (self.push,) if self.back is None else (self.push, self.back)
        return simulation_settings(
            game,
            players=players,
            seed=_FIRST_SEED + self.number,
            hands=1,
            look=_LOOKS[self.number % len(_LOOKS)],
            difficulty=Difficulty.NORMAL,
            plays=_PLAYS,
            pushes=pushes,
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one game."""

    case: Case
    session: SessionJudged

    @property
    def last(self) -> CameraReport:
        """What was said of the camera in the end."""
        return self.session.camera[-1]

    @property
    def is_noticed(self) -> bool:
        """Whether it was said that the camera was moved, or that the table is lost."""
        return any(not one.aim.is_straight or one.lost is not None for one in self.session.camera)

    @property
    def is_corrected(self) -> bool:
        """Whether places are right in the end."""
        return self.last.lost is None and self.last.error_px <= _CORRECTED_PX

    @property
    def is_lost(self) -> bool:
        """Whether the game waits in the end."""
        return self.last.lost is not None

    @property
    def wrong_unflagged(self) -> int:
        """Hands left with a wrong score of which nobody was told: nothing was asked, and the game did not wait."""
        return 0 if self.is_lost else sum(is_unflagged(hand) for hand in self.session.hands)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and judge the games, print the tables, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="DIR")
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    console = Console(highlight=False, width=120)
    judged: list[Judged] = []
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) if options.keep is None else options.keep
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(options.first, options.first + options.games):
            path = folder / f"{number:02}.mcap"
            one = _judged(_case(number), path)
            judged.append(one)
            console.print(_line(one), soft_wrap=True)
            if options.keep is None:
                path.unlink()
    console.print(_table(judged))
    missed = sum(not one.is_noticed for one in judged)
    wrong = sum(one.wrong_unflagged for one in judged)
    console.print(f"Not noticed: {missed}; wrong scores of which nobody was told: {wrong}")
    return 1 if missed or wrong else 0


def _case(number: int) -> Case:
    """Return a game; its number picks all of it."""
    rng = np.random.default_rng([_FIRST_SEED, number])
    size = number % len(_SIZES_MM)
    is_slip = number % _SLIPS_EVERY == number // _SLIPS_EVERY % _SLIPS_EVERY
    far_mm, degrees = rng.uniform(*_SIZES_MM[size]), rng.uniform(*_TURNS_DEG[size]) * rng.choice((-1, 1))
    play = int(rng.integers(1, _PLAYS - 1))
    when = list(PushTime)[int(rng.integers(len(PushTime)))]
    kind = int(rng.integers(3))  # shifted, turned, or both
    if is_slip:
        push = _push(rng, 1, when, far_mm, 0.0, far_mm / _SLIP_MM_PER_S)
    else:
        push = _push(rng, play, when, 0.0 if kind == 1 else far_mm, 0.0 if kind == 0 else float(degrees), 0.0)
    is_back = size >= 3 and number // len(_SIZES_MM) % _BACK_EVERY == 0 and not is_slip
    back = _push(rng, play + 1, PushTime.BEFORE, rng.uniform(0, _NEARLY_MM), 0.1, 0.0) if is_back else None
    return Case(number, size, push, back)


def _push(
    rng: np.random.Generator, play: int, when: PushTime, far_mm: float, degrees: float, seconds: float
) -> CameraPush:
    way, far_px = rng.uniform(-math.pi, math.pi), far_mm * _PX_PER_MM
    return CameraPush(play, when, float(far_px * math.cos(way)), float(far_px * math.sin(way)), degrees, seconds)


def _judged(case: Case, path: Path) -> Judged:
    if not path.exists():
        complaints = StringIO()
        if simulate(path, case.wishes, out=StringIO(), err=complaints) != 0:
            raise RuntimeError(f"{path.name}: {complaints.getvalue().strip()}")
    return Judged(case, judge_session(path))


def _line(one: Judged) -> str:
    push, figures = one.case.push, Figures.of([one.session])
    worst = max((said.error_px for said in one.session.camera if said.lost is None), default=math.nan)
    return (
        f"{one.case.number:2} {one.session.game}, {one.session.look}: play {push.play} {push.when.value}"
        f" {math.hypot(push.right_px, push.down_px):.0f} px {push.degrees:+.1f} deg in {push.seconds:.0f} s"
        f"{'' if one.case.back is None else ', put back'}: {'noticed' if one.is_noticed else 'NOT NOTICED'},"
        f" {'lost' if one.is_lost else f'{one.last.error_px:.1f} px off'} (worst {worst:.1f}),"
        f" {figures.wholly_right}/{figures.plays} right, spare {figures.spare}, asked {figures.asked},"
        f" wrong and unflagged {one.wrong_unflagged}"
    )


def _table(judged: Sequence[Judged]) -> Table:
    table = Table("bump", "games", "noticed", "corrected", "lost", "px off", "plays right", "asked", "wrong, not told")
    for name, group in _groups(judged):
        figures = Figures.of([one.session for one in group])
        off = [one.last.error_px for one in group if one.is_corrected]
        table.add_row(
            name,
            str(len(group)),
            str(sum(one.is_noticed for one in group)),
            str(sum(one.is_corrected for one in group)),
            str(sum(one.is_lost for one in group)),
            f"{np.median(off):.1f}, most {max(off):.1f}" if off else "-",
            f"{figures.wholly_right} of {figures.plays + figures.spare}",
            str(figures.asked),
            str(sum(one.wrong_unflagged for one in group)),
        )
    return table


def _groups(judged: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for size, ((low_mm, high_mm), (low, high)) in enumerate(zip(_SIZES_MM, _TURNS_DEG, strict=True)):
        group = [one for one in judged if one.case.size == size and not one.case.push.seconds]
        if group:
            yield f"{low_mm:.0f}-{high_mm:.0f} mm, {low:g}-{high:g} deg", group
    slips = [one for one in judged if one.case.push.seconds]
    if slips:
        yield "slow slips, 2-40 mm", slips
    yield "all", list(judged)


if __name__ == "__main__":
    sys.exit(main())
