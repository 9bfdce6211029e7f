"""Clips of rendered tables with hands that place, push and take tiles, and the ground truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.render.looks import OVERHEAD
from lab.render.paint import STRAIGHT, Bump, Film, Moment
from lab.render.scene import PlacedTile, Reach, Scene
from tests.vision.tables import Looks, lay
from vision.reading import SeenTile
from vision.tracking.settle import Side
from vision.tracking.watch import Frame

# 500 x 280 mm of the table. Rendered with a margin, to allow camera bumps.
WIDTH_PX, HEIGHT_PX, MARGIN_PX = 960, 540, 80
CAMERA = replace(OVERHEAD, width_px=WIDTH_PX + 2 * MARGIN_PX, height_px=HEIGHT_PX + 2 * MARGIN_PX, px_per_mm=1.9)
NS_PER_FRAME = 100_000_000
# Direction of a hand's arm when it enters from a side, clockwise from x in the image.
_HEADINGS = {Side.TOP: math.pi / 2, Side.RIGHT: math.pi, Side.BOTTOM: -math.pi / 2, Side.LEFT: 0.0}
_SKIN = (110.0, 145.0, 200.0)
_OUTSIDE_MM = 420.0


def still(tiles: Sequence[PlacedTile], frames: int, bump: Bump = STRAIGHT) -> list[Moment]:
    """Return moments of a table on which nothing happens."""
    return [Moment(tuple(tiles), bump=bump)] * frames


def play(
    before: Sequence[PlacedTile],
    after: Sequence[PlacedTile],
    at_mm: tuple[float, float],
    side: Side,
    *,
    pause: int = 1,
) -> list[Moment]:
    """Return moments of a hand that enters, acts at a point, rests for *pause* frames, and leaves."""
    distances = (1.0, 0.7, 0.4, 0.15, 0.0)
    approach = [Moment(tuple(before), (hand_at(at_mm, side, share),)) for share in distances]
    rests = [Moment(tuple(after), (hand_at(at_mm, side, 0.02),))] * pause
    retreat = [Moment(tuple(after), (hand_at(at_mm, side, share),)) for share in distances[-2::-1]]
    return [*approach, *rests, *retreat]


def hand_at(at_mm: tuple[float, float], side: Side, away: float) -> Reach:
    """Return a hand over a point. *away* is the distance: 1 is out of view."""
    heading = _HEADINGS[side] + 0.2
    shift_mm = away * _OUTSIDE_MM
    tip = (at_mm[0] - shift_mm * math.cos(heading), at_mm[1] - shift_mm * math.sin(heading))
    return Reach(tip, heading, 12.0, _SKIN, (90.0, 60.0, 50.0), 0.5, curl=0.6)


class Clip:
    """Frames of a rendered table, each with its own noise, and the true tiles."""

    def __init__(self, looks: Looks | None = None, seed: int = 0, noise: float = 2.0) -> None:
        looks = looks or Looks(camera=CAMERA)
        scene = Scene((), looks.tile, looks.table, looks.light, replace(looks.camera, noise=noise))
        self.film = Film(scene, seed=looks.seed, margin_px=MARGIN_PX, rng=np.random.default_rng(seed))
        self.t_ns = 0

    def frames(self, moments: Sequence[Moment]) -> Iterator[Frame]:
        """Yield the moments as frames, 10 a second."""
        for moment in moments:
            self.t_ns += NS_PER_FRAME
            yield Frame(self.film.picture(moment), self.t_ns)

    def truth(self, tiles: Sequence[PlacedTile], bump: Bump = STRAIGHT) -> tuple[SeenTile, ...]:
        """Return the ground truth of the tiles, in their order."""
        return self.film.truth(tiles, bump)


__all__ = ["Bump", "Clip", "Moment", "hand_at", "lay", "play", "still"]
