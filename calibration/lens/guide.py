"""List the views that a lens calibration still needs, as instructions to the person holding the board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.lens.views import BoardPose, LensView, board_pose
from engine.phrases import phrase, plural

LEAST_VIEWS = 8
# Grid of picture cells, and the number of board corners that each of them needs.
_ACROSS, _DOWN = 3, 3
_LEAST_IN_CELL = 3
_TILT_RAD = math.radians(15)
# Minimum ratio of the farthest to the nearest view. At a single distance, focal length and distance are ambiguous.
_LEAST_DEPTH = 1.25
CELLS = (
    "top left", "top middle", "top right", "left middle", "middle", "right middle", "bottom left", "bottom middle",
    "bottom right",
)  # fmt: skip
_PARTS = {
    "top left": phrase("top left"),
    "top middle": phrase("top centre"),
    "top right": phrase("top right"),
    "left middle": phrase("left centre"),
    "middle": phrase("centre"),
    "right middle": phrase("right centre"),
    "bottom left": phrase("bottom left"),
    "bottom middle": phrase("bottom centre"),
    "bottom right": phrase("bottom right"),
}
_SIDES = {"right": phrase("right"), "left": phrase("left"), "upper": phrase("upper"), "lower": phrase("lower")}


@dataclass(frozen=True, slots=True)
class Guide:
    """Coverage of the views so far.

    Attributes:
        useful: Number of views that show enough of the board.
        empty_cells: Names of the picture cells in which fewer than three board corners were seen.
        lacking_tilts: Sides of the board that have not been tilted away from the camera.
        depth: Distance of the board in the farthest view, divided by that in the nearest. 0 without views.
    """

    useful: int
    empty_cells: tuple[str, ...]
    lacking_tilts: tuple[str, ...]
    depth: float

    @property
    def coverage(self) -> float:
        """Share of the nine picture cells in which at least three board corners were seen."""
        return 1 - len(self.empty_cells) / (_ACROSS * _DOWN)

    @property
    def is_enough(self) -> bool:
        """True if no more views are needed."""
        return not self.instructions()

    def instructions(self) -> tuple[str, ...]:
        """Return instructions for more views, most important first. Empty if no more are needed."""
        instructions = [
            phrase("Tilt the {side} side of the board about 30 degrees away from the camera.", side=_SIDES[side])
            for side in self.lacking_tilts
        ]
        instructions += [
            phrase("Move the board into the {part} of the picture.", part=_PARTS[cell]) for cell in self.empty_cells
        ]
        if self.useful and self.depth < _LEAST_DEPTH:
            nearer = phrase("Hold the board close once, to nearly fill the picture, and farther away once.")
            instructions.append(nearer)
        if self.useful < LEAST_VIEWS:
            more = plural(
                "One more view of the board is needed, at a different tilt or place.",
                "{number} more views of the board are needed, each at a different tilt or place.",
                number=LEAST_VIEWS - self.useful,
            )
            instructions.append(more)
        return tuple(instructions)


def guide(views: Sequence[LensView]) -> Guide:
    """Return the coverage of views. Views with too little of the board are ignored."""
    useful = [view for view in views if view.is_useful]
    poses = [board_pose(view) for view in useful]
    nearest, farthest = (pick((pose.distance_mm for pose in poses), default=0.0) for pick in (min, max))
    return Guide(len(useful), _empty_cells(useful), _lacking_tilts(poses), farthest / nearest if nearest > 0 else 0.0)


def _empty_cells(views: Sequence[LensView]) -> tuple[str, ...]:
    count = np.zeros((_DOWN, _ACROSS), int)
    for view in views:
        share = view.points_px() / (view.width_px, view.height_px)
        column, row = np.clip((share * (_ACROSS, _DOWN)).astype(int), 0, (_ACROSS - 1, _DOWN - 1)).T
        np.add.at(count, (row, column), 1)
    return tuple(name for name, seen in zip(CELLS, count.ravel().tolist(), strict=True) if seen < _LEAST_IN_CELL)


def _lacking_tilts(poses: Sequence[BoardPose]) -> tuple[str, ...]:
    tilts = {
        "right": max((pose.tilt_right_rad for pose in poses), default=0.0),
        "left": max((-pose.tilt_right_rad for pose in poses), default=0.0),
        "upper": max((pose.tilt_top_rad for pose in poses), default=0.0),
        "lower": max((-pose.tilt_top_rad for pose in poses), default=0.0),
    }
    return tuple(side for side, tilt_rad in tilts.items() if tilt_rad < _TILT_RAD)
