"""Measure the effect of camera bumps on fifty rendered games, compared with the ground truth.

    python -m lab.bench.drift [--games 50] [--first 0] [--keep DIR]

Each game is a few plays long. The camera is shifted by 2 to 40 mm on the table and rotated by 0.5 to 5 degrees, at once
or as a slow slip. This happens while the table is still, under a hand, or as a tile is put down. Some cameras are later
put back.
The exit code is 1 if a push was not noticed, or if a wrong score was not reported.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np

from lab.bench.material.harness import options_of
from lab.commands import simulate
from lab.evaluate.session_report import Figures
from lab.evaluate.sessions import CameraReport, SessionJudged, judge_session
from lab.matches.judged_hands import is_unflagged
from lab.matches.simulation import SimulationSettings, simulation_settings
from lab.matches.stage import CameraPush, PushTime
from tallybone.choices import Difficulty

_GAMES = (("bones", 2), ("block", 2), ("draw", 2), ("allfives", 3), ("draw", 3), ("block", 4))
_LOOKS = ("classic-felt", "colored-walnut", "black-linen", "classic-walnut", "colored-felt")
_FIRST_SEED = 7000
_PLAYS = 8
_PX_PER_MM = 1.5
# Ranges of the shift and rotation of a push.
_SIZES_MM = ((2.0, 5.0), (5.0, 10.0), (10.0, 20.0), (20.0, 30.0), (30.0, 40.0))
_TURNS_DEG = ((0.5, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0))
# Intervals of games with a slow slip and with a camera put back after a large push, and the error of putting it back.
_SLIPS_EVERY = 5
_SLIP_MM_PER_S = 0.5
_BACK_EVERY = 2
_NEARLY_MM = 1.0
# Maximum error of a corrected camera.
_CORRECTED_PX = 3.0


@dataclass(frozen=True, slots=True)
class Case:
    """A game and its pushes of the camera."""

    number: int
    size: int
    push: CameraPush
    back: CameraPush | None

    @property
    def settings(self) -> SimulationSettings:
        """Settings of the simulation."""
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
    """Result of a game."""

    case: Case
    session: SessionJudged

    @property
    def last(self) -> CameraReport:
        """Last report of the camera motion."""
        return self.session.camera[-1]

    @property
    def is_noticed(self) -> bool:
        """True if a motion of the camera or a lost table was reported."""
        return any(not report.aim.is_straight or report.lost is not None for report in self.session.camera)

    @property
    def is_corrected(self) -> bool:
        """True if the camera motion is right at the end."""
        return self.last.lost is None and self.last.error_px <= _CORRECTED_PX

    @property
    def is_lost(self) -> bool:
        """True if the table is lost at the end, and the game waits."""
        return self.last.lost is not None

    @property
    def wrong_unflagged(self) -> int:
        """Number of hands with an unreported wrong score: they were not flagged, and the game did not wait."""
        return 0 if self.is_lost else sum(is_unflagged(hand) for hand in self.session.hands)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(__doc__, arguments=arguments, games=50, first=0, keep=Path)
    cv2.setNumThreads(1)
    judged: list[Judged] = []
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) if options.keep is None else options.keep
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(options.first, options.first + options.games):
            path = folder / f"{number:02}.mcap"
            if not path.exists():
                complaints = StringIO()
                if simulate(path, _case(number).settings, out=StringIO(), err=complaints) != 0:
                    raise RuntimeError(f"{path.name}: {complaints.getvalue().strip()}")
            judged.append(Judged(_case(number), judge_session(path)))
            print(_line(judged[-1]), flush=True)
            if options.keep is None:
                path.unlink()
    for name, group in _groups(judged):
        figures, off = Figures.of([game.session for game in group]), [g.last.error_px for g in group if g.is_corrected]
        print(
            f"{name}: {len(group)} games, {sum(game.is_noticed for game in group)} noticed, {len(off)} corrected,"
            f" {sum(game.is_lost for game in group)} lost; px off {np.median(off or [math.nan]):.1f},"
            f" most {max(off, default=math.nan):.1f}; {figures.wholly_right} of {figures.plays + figures.spare} plays"
            f" right, asked {figures.asked}, wrong and not told {sum(game.wrong_unflagged for game in group)}"
        )
    missed = sum(not game.is_noticed for game in judged)
    wrong = sum(game.wrong_unflagged for game in judged)
    print(f"Not noticed: {missed}; wrong scores of which nobody was told: {wrong}")
    return 1 if missed or wrong else 0


def _case(number: int) -> Case:
    """Return a game that is determined by its number."""
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
    direction, far_px = rng.uniform(-math.pi, math.pi), far_mm * _PX_PER_MM
    right_px, down_px = float(far_px * math.cos(direction)), float(far_px * math.sin(direction))
    return CameraPush(play, when, right_px, down_px, degrees, seconds)


def _line(game: Judged) -> str:
    push, figures = game.case.push, Figures.of([game.session])
    worst = max((report.error_px for report in game.session.camera if report.lost is None), default=math.nan)
    return (
        f"{game.case.number:2} {game.session.game}, {game.session.look}: play {push.play} {push.when.value}"
        f" {math.hypot(push.right_px, push.down_px):.0f} px {push.degrees:+.1f} deg in {push.seconds:.0f} s"
        f"{'' if game.case.back is None else ', put back'}: {'noticed' if game.is_noticed else 'NOT NOTICED'},"
        f" {'lost' if game.is_lost else f'{game.last.error_px:.1f} px off'} (worst {worst:.1f}),"
        f" {figures.wholly_right}/{figures.plays} right, spare {figures.spare}, asked {figures.asked},"
        f" wrong and unflagged {game.wrong_unflagged}"
    )


def _groups(judged: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for size, ((low_mm, high_mm), (low, high)) in enumerate(zip(_SIZES_MM, _TURNS_DEG, strict=True)):
        group = [game for game in judged if game.case.size == size and not game.case.push.seconds]
        if group:
            yield f"{low_mm:.0f}-{high_mm:.0f} mm, {low:g}-{high:g} deg", group
    slips = [game for game in judged if game.case.push.seconds]
    if slips:
        yield "slow slips, 2-40 mm", slips
    yield "all", list(judged)


if __name__ == "__main__":
    sys.exit(main())
