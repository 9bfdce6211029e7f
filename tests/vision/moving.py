"""Moving pictures of rendered tables: hands come in, lay, push and take tiles, and go; with truth.

The table is rendered once for each way the tiles lie. Hands, light, bumps and noise are put over it frame by frame,
because rendering each frame would take minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np

from tests.vision.tables import Looks, lay
from vision.pyramid import Image
from vision.reading import Tile
from vision.render.look_types import CameraLook
from vision.render.looks import OVERHEAD
from vision.render.paint import render
from vision.render.reaching import outlines_px, paint_reach
from vision.render.scene import PlacedTile, Reach, Scene
from vision.render.truth import truth_of
from vision.render.view import view_of
from vision.settle import Side
from vision.watch import Frame

# 500 x 280 mm on the table. Seen a margin wider than it is shown, so that the camera can be bumped.
WIDTH_PX, HEIGHT_PX, MARGIN_PX = 960, 540, 80
CAMERA = replace(OVERHEAD, width_px=WIDTH_PX + 2 * MARGIN_PX, height_px=HEIGHT_PX + 2 * MARGIN_PX, px_per_mm=1.9)
NS_PER_FRAME = 100_000_000
# Where a hand's arm points when it comes in from a side, clockwise from x in the picture.
_HEADINGS = {Side.TOP: math.pi / 2, Side.RIGHT: math.pi, Side.BOTTOM: -math.pi / 2, Side.LEFT: 0.0}
Bump = tuple[float, float, float]
STRAIGHT: Bump = (0.0, 0.0, 0.0)
_SKIN = (110.0, 145.0, 200.0)
_OUTSIDE_MM = 420.0


@dataclass(frozen=True, slots=True)
class Moment:
    """What one frame shows.

    Attributes:
        tiles: What lies on the table.
        reaches: Hands over it.
        gain: Exposure; 1 as the table is rendered.
        bump: Where the camera points: shift right and down in pixels, and turn in degrees.
    """

    tiles: tuple[PlacedTile, ...] = ()
    reaches: tuple[Reach, ...] = ()
    gain: float = 1.0
    bump: Bump = STRAIGHT


def still(tiles: Sequence[PlacedTile], frames: int, bump: Bump = STRAIGHT) -> list[Moment]:
    """A table on which nothing happens."""
    return [Moment(tuple(tiles), bump=bump)] * frames


def play(
    before: Sequence[PlacedTile],
    after: Sequence[PlacedTile],
    at_mm: tuple[float, float],
    side: Side,
    *,
    pause: int = 1,
) -> list[Moment]:
    """A hand that comes in from a side, does something at a place, and goes; *pause* frames it rests there."""
    way = (1.0, 0.7, 0.4, 0.15, 0.0)
    there = [Moment(tuple(before), (hand_at(at_mm, side, share),)) for share in way]
    rests = [Moment(tuple(after), (hand_at(at_mm, side, 0.02),))] * pause
    back = [Moment(tuple(after), (hand_at(at_mm, side, share),)) for share in way[-2::-1]]
    return [*there, *rests, *back]


def hand_at(at_mm: tuple[float, float], side: Side, away: float) -> Reach:
    """A hand over a place, or on its way: *away* 1 is out of the picture."""
    heading = _HEADINGS[side] + 0.2
    back = away * _OUTSIDE_MM
    tip = (at_mm[0] - back * math.cos(heading), at_mm[1] - back * math.sin(heading))
    return Reach(tip, heading, 12.0, _SKIN, (90.0, 60.0, 50.0), 0.5, curl=0.6)


class Clip:
    """A watched table: frames of moments, each with noise of its own, and the truth of how tiles lie."""

    def __init__(self, looks: Looks | None = None, seed: int = 0, noise: float = 2.0) -> None:
        self.looks = looks or Looks(camera=CAMERA)
        self.noise = noise
        self.rng = np.random.default_rng(seed)
        self.t_ns = 0

    def frames(self, moments: Sequence[Moment]) -> Iterator[Frame]:
        """The moments as pictures, 10 a second."""
        for moment in moments:
            self.t_ns += NS_PER_FRAME
            yield Frame(self.picture(moment), self.t_ns)

    def picture(self, moment: Moment) -> Image:
        """One moment as the camera shows it."""
        wide = _table(moment.tiles, self.looks).copy()
        view = view_of(self.looks.camera)
        for reach in moment.reaches:
            _shade(wide, [np.round(outline).astype(np.int32) for outline in outlines_px(reach, view)])
            paint_reach(wide, reach, self.looks.light, view, np.random.default_rng(5))
        shown = cv2.warpAffine(wide, aim(moment.bump), (WIDTH_PX, HEIGHT_PX), borderMode=cv2.BORDER_REPLICATE)
        grain = cv2.resize(
            self.rng.normal(0, self.noise, (HEIGHT_PX // 2, WIDTH_PX // 2, 3)).astype(np.float32),
            (WIDTH_PX, HEIGHT_PX),
            interpolation=cv2.INTER_LINEAR,
        )
        return np.clip(shown * moment.gain + 1.5 * grain + 0.5, 0, 255).astype(np.uint8)

    def truth(self, tiles: Sequence[PlacedTile], bump: Bump = STRAIGHT) -> tuple[Tile, ...]:
        """The tiles as a perfect eye sees them, in their order."""
        scene = _scene(tuple(tiles), self.looks)
        truth = truth_of(scene, view_of(scene.camera))
        by_index = dict(zip(truth.tile_index, truth.reading.tiles, strict=True))
        return tuple(seen_from(by_index[index], aim(bump)) for index in range(len(tiles)))


def aim(bump: Bump) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What takes the wide picture to what the camera shows, shape (2, 3)."""
    right, down, degrees = bump
    turn = cv2.getRotationMatrix2D((WIDTH_PX / 2 + MARGIN_PX, HEIGHT_PX / 2 + MARGIN_PX), degrees, 1.0)
    return np.asarray(turn + np.array([[0, 0, right - MARGIN_PX], [0, 0, down - MARGIN_PX]]), np.float64)


def seen_from(tile: Tile, motion: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Tile:
    """A tile where a motion of the camera puts it."""

    def go(point: tuple[float, float]) -> tuple[float, float]:
        x, y = (motion @ (*point, 1.0)).tolist()
        return (x, y)

    a, b, c, d = (go(corner) for corner in tile.corners_px)
    if not tile.halves:
        return replace(tile, corners_px=(a, b, c, d))
    first, second = (replace(half, center_px=go(half.center_px)) for half in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def _shade(picture: Image, outlines: list[np.ndarray[tuple[int, ...], np.dtype[np.int32]]]) -> None:
    """Darken the table in place where the hand throws its shadow: beside it and soft."""
    height, width = picture.shape[:2]
    mask = np.zeros((height // 4, width // 4), np.uint8)
    for outline in outlines:
        cv2.fillConvexPoly(mask, (outline + np.array([18, 14], np.int32)) // 4, 90)
    soft = cv2.resize(cv2.GaussianBlur(mask, (0, 0), 3), (width, height), interpolation=cv2.INTER_LINEAR)
    np.copyto(picture, (picture * (1 - soft[..., None] / 255.0)).astype(np.uint8))


def _scene(tiles: tuple[PlacedTile, ...], looks: Looks) -> Scene:
    return Scene(tiles, looks.tile, looks.table, looks.light, looks.camera)


@cache
def _table(tiles: tuple[PlacedTile, ...], looks: Looks) -> Image:
    """The table without noise, wider than it is shown."""
    quiet: CameraLook = replace(looks.camera, noise=0.0, jpeg_quality=None)
    scene = _scene(tiles, replace(looks, camera=quiet))
    return render(scene, np.random.default_rng(looks.seed)).image


__all__ = ["Clip", "Moment", "hand_at", "lay", "play", "still"]
