"""How hard a simulated table is to follow: light, noise, pace, and how often something disturbs."""

from __future__ import annotations

from dataclasses import dataclass

from tallybone.choices import Difficulty

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Manners:
    """How people and things behave at a table. Chances are per turn.

    Attributes:
        noise: Of the camera, standard deviation in grey levels.
        blur_px: Defocus of the camera.
        tilt_rad, roll_rad: How far the camera hangs off, at most and as standard deviation.
        shadow: Strength of shadows, from and to.
        drift: Share by which the light swells and fades.
        step: Share by which the exposure may jump.
        gesture_s: How long a hand takes to lay a tile, from its first to its last frame.
        pause_s: How long the table then lies still.
        idle: Chance that a hand reaches over and does nothing.
        rest: Chance that a hand rests on the table.
        nudge: Chance that tiles are pushed by some millimetres.
        steps: Chance of a jump of the exposure.
        bump: Chance that the camera is bumped.
        bump_px: How far, at most.
        slam: Chance that a laid tile is heard.
        hurry: Chance that the next tile is laid at once.
    """

    noise: float
    blur_px: float
    tilt_rad: float
    roll_rad: float
    shadow: Range
    drift: float
    step: float
    gesture_s: Range
    pause_s: Range
    idle: float
    rest: float
    nudge: float
    steps: float
    bump: float
    bump_px: float
    slam: float
    hurry: float


_EASY = Manners(
    noise=1.2,
    blur_px=0.4,
    tilt_rad=0.02,
    roll_rad=0.005,
    shadow=(0.2, 0.35),
    drift=0.01,
    step=0.03,
    gesture_s=(1.0, 1.5),
    pause_s=(0.8, 2.5),
    idle=0.02,
    rest=0.0,
    nudge=0.02,
    steps=0.02,
    bump=0.0,
    bump_px=0.0,
    slam=0.05,
    hurry=0.0,
)
_NORMAL = Manners(
    noise=2.0,
    blur_px=0.5,
    tilt_rad=0.06,
    roll_rad=0.012,
    shadow=(0.2, 0.5),
    drift=0.02,
    step=0.06,
    gesture_s=(0.7, 1.4),
    pause_s=(0.5, 2.0),
    idle=0.06,
    rest=0.04,
    nudge=0.06,
    steps=0.05,
    bump=0.03,
    bump_px=2.5,
    slam=0.15,
    hurry=0.0,
)
_HARD = Manners(
    noise=3.5,
    blur_px=0.8,
    tilt_rad=0.14,
    roll_rad=0.02,
    shadow=(0.35, 0.6),
    drift=0.05,
    step=0.12,
    gesture_s=(0.6, 1.1),
    pause_s=(0.4, 1.5),
    idle=0.12,
    rest=0.1,
    nudge=0.12,
    steps=0.1,
    bump=0.08,
    bump_px=4.0,
    slam=0.3,
    hurry=0.12,
)
_MANNERS = {Difficulty.EASY: _EASY, Difficulty.NORMAL: _NORMAL, Difficulty.HARD: _HARD}


def manners_of(difficulty: Difficulty) -> Manners:
    """Return how people and things behave."""
    return _MANNERS[difficulty]
