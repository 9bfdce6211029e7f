"""Render a table in motion: cache the still table, and draw moving hands and tiles over it in each frame."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import view
from lab.render.cover import tile_solids, truth_of
from lab.render.lighting import shade_plane
from lab.render.paint import PaintedScene, paint_one_tile, paint_scene
from lab.render.reaching import outlines_px, paint_reach, reach_solids
from lab.render.scene import PlacedTile, Reach, Scene
from lab.render.view import view_of
from vision.arrays import Bgr, Crop, GreyImage, Image, Motion
from vision.reading import PointPx, SeenTile

Bump = tuple[float, float, float]

STRAIGHT: Bump = (0.0, 0.0, 0.0)
# Cache size for still tables. The tables before a hand came in and under it often recur.
_CACHED_TABLES = 4
# Reach of defocus and sharpening into neighbouring pixels, and of shadows beside their bodies.
_BLUR_MARGIN_PX, _SHADOW_MARGIN_PX = 8, 6
# Constant seed, so a moving hand keeps its skin texture.
_SKIN_SEED = 5
# Extra size of the noise sheet, and height of the strips that each frame cuts from random positions in it. Shifting
# the noise as a whole would look like camera motion.
_SPARE_NOISE_PX, _NOISE_STRIP_PX = 128, 8


@dataclass(frozen=True, slots=True)
class Moment:
    """Content of a frame.

    Attributes:
        tiles: Tiles at rest on the table.
        reaches: Hands over the table.
        moving: Tiles that are carried or slide. Drawn above *tiles* and below *reaches*.
        gain: Exposure, relative to the rendered table.
        cast_bgr: Colour of the light, as a factor per channel.
        bump: Displacement of the camera: shift right and down in pixels, and rotation in degrees.
    """

    tiles: tuple[PlacedTile, ...] = ()
    reaches: tuple[Reach, ...] = ()
    moving: tuple[PlacedTile, ...] = ()
    gain: float = 1.0
    cast_bgr: Bgr = (1.0, 1.0, 1.0)
    bump: Bump = STRAIGHT


@dataclass(frozen=True, slots=True, eq=False)
class _StillTable:
    """A table at rest: painted, and as the camera captures it."""

    painted: PaintedScene
    captured: Image


class Film:
    """Renderer of frames from a camera that can be bumped.

    The scene's camera covers a margin around each frame. It may have defocus, sharpening and noise. Effects that change
    pixels far from their cause (lens, bloom, fringes, motion blur, metering) are not supported.
    """

    def __init__(self, scene: Scene, *, seed: int, margin_px: int, rng: np.random.Generator) -> None:
        """Prepare to render frames of a table.

        Args:
            scene: Appearance of the table. Its tiles and hands are ignored in favour of each moment's.
            seed: Seed of everything that stays constant: grain of the table and marks on the tiles.
            margin_px: Margin on each side of a frame that the scene's camera also covers.
            rng: Random generator for the noise of each frame.

        Raises:
            ValueError: If the camera has an unsupported effect.
        """
        camera = scene.camera
        if camera.lens or camera.fringe_px or camera.bloom or camera.motion_px > 1 or camera.metering:
            raise ValueError(f"camera: expected no lens, fringe, bloom, motion or metering, got {camera}")
        self.width_px, self.height_px = camera.width_px - 2 * margin_px, camera.height_px - 2 * margin_px
        self._quiet = replace(camera, noise=0.0, jpeg_quality=None)
        self._scene = replace(scene, tiles=(), reaches=(), camera=self._quiet)
        self._view = view_of(camera)
        self._seed, self._margin_px, self._rng = seed, margin_px, rng
        self._tables: OrderedDict[tuple[PlacedTile, ...], _StillTable] = OrderedDict()
        self._lighter, self._darker = _noise_sheets(self.height_px, self.width_px, camera.noise, rng)

    def picture(self, moment: Moment) -> Image:
        """Return a frame, shape (H, W, 3), BGR."""
        table = self._table(moment.tiles)
        wide = self._with_motion(table, moment) if moment.reaches or moment.moving else table.captured
        frame = self._crop(wide, moment.bump)
        gain = np.asarray(moment.cast_bgr) * moment.gain
        if (gain != 1.0).any():
            frame = _brighten(frame, gain)
        return self._add_noise(frame)

    def truth(self, tiles: Sequence[PlacedTile], bump: Bump = STRAIGHT) -> tuple[SeenTile, ...]:
        """Return the exact reading of *tiles* in the frame, in order, ignoring occlusion."""
        truth = truth_of(replace(self._scene, tiles=tuple(tiles)), self._view)
        return tuple(seen_from(rendered.tile, self.aim(bump)) for rendered in truth.shown)

    def aim(self, bump: Bump) -> Motion:
        """Return the affine transform, shape (2, 3), from the wide picture to a frame."""
        right, down, degrees = bump
        margin = self._margin_px
        middle = (self.width_px / 2 + margin, self.height_px / 2 + margin)
        turn = cv2.getRotationMatrix2D(middle, degrees, 1.0)
        return np.asarray(turn + np.array([[0, 0, right - margin], [0, 0, down - margin]]), np.float64)

    def _table(self, tiles: tuple[PlacedTile, ...]) -> _StillTable:
        """Return the table at rest, from the cache if possible."""
        table = self._tables.get(tiles)
        if table is None:
            painted = paint_scene(replace(self._scene, tiles=tiles), np.random.default_rng(self._seed))
            table = _StillTable(painted, self._capture(painted.picture, painted.field))
            self._tables[tiles] = table
            if len(self._tables) > _CACHED_TABLES:
                self._tables.popitem(last=False)
        self._tables.move_to_end(tiles)
        return table

    def _capture(self, picture: Image, field: Image) -> Image:
        """Return a painted picture, or a part of it, as the camera captures it, without noise."""
        lit = view.expose(picture, field, self._scene.light, self._quiet)
        return view.take(lit, self._quiet, self._view, self._rng)

    def _with_motion(self, table: _StillTable, moment: Moment) -> Image:
        """Return the wide picture with hands and moving tiles. Only the box around them is captured again."""
        solids = [*tile_solids(replace(self._scene, tiles=moment.moving))]
        solids += [solid for reach in moment.reaches for solid in reach_solids(reach)]
        picture = table.painted.picture.copy()
        shade = shade_plane(solids, self._scene, self._view, 0.0)
        outer = self._box(shade, moment, _BLUR_MARGIN_PX + _SHADOW_MARGIN_PX)
        inner = self._box(shade, moment, _SHADOW_MARGIN_PX)
        part = picture[outer]
        cv2.multiply(part, cv2.merge([shade[outer]] * 3), dst=part, scale=1 / 255)
        for index, placed in enumerate(moment.moving):
            marks = len(moment.tiles) + index
            paint_one_tile(picture, placed, marks, self._scene, self._view, table.painted)
        for reach in moment.reaches:
            paint_reach(picture, reach, self._scene.light, self._view, np.random.default_rng(_SKIN_SEED))
        captured = self._capture(picture[outer], table.painted.field[outer])
        wide = table.captured.copy()
        top, left = inner[0].start - outer[0].start, inner[1].start - outer[1].start
        height, width = inner[0].stop - inner[0].start, inner[1].stop - inner[1].start
        wide[inner] = captured[top : top + height, left : left + width]
        return wide

    def _box(self, shade: GreyImage, moment: Moment, margin_px: int) -> Crop:
        """Return the box in the wide picture that hands, moving tiles and their shadows touch, plus a margin."""
        height, width = shade.shape
        points = [outline for reach in moment.reaches for outline in outlines_px(reach, self._view)]
        look = self._scene.tile
        reach_mm = math.hypot(look.length_mm, look.width_mm) / 2
        for placed in moment.moving:
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * reach_mm + placed.center_mm
            points.append(self._view.project(corners, placed.height_mm + look.thickness_mm))
            points.append(self._view.project(corners, 0.0))
        rows, columns = np.flatnonzero(shade.min(axis=1) < 255), np.flatnonzero(shade.min(axis=0) < 255)
        if len(rows):
            points.append(np.array([[columns[0], rows[0]], [columns[-1], rows[-1]]], np.float64))
        around = np.concatenate(points)
        left, top = np.clip(np.floor(around.min(axis=0)) - margin_px, 0, (width - 1, height - 1)).astype(int).tolist()
        right, bottom = np.clip(np.ceil(around.max(axis=0)) + margin_px, 1, (width, height)).astype(int).tolist()
        return slice(top, max(bottom, top + 1)), slice(left, max(right, left + 1))

    def _crop(self, wide: Image, bump: Bump) -> Image:
        """Return the frame's part of the wide picture, as a copy."""
        if bump == STRAIGHT:
            margin = self._margin_px
            return wide[margin : margin + self.height_px, margin : margin + self.width_px].copy()
        size = (self.width_px, self.height_px)
        return cv2.warpAffine(wide, self.aim(bump), size, borderMode=cv2.BORDER_REPLICATE).astype(np.uint8, copy=False)

    def _add_noise(self, frame: Image) -> Image:
        """Add noise to a frame in place, and return it."""
        tops = range(0, self.height_px, _NOISE_STRIP_PX)
        places = self._rng.integers(0, _SPARE_NOISE_PX, (len(tops), 2)).tolist()
        for top, (down, right) in zip(tops, places, strict=True):
            strip = frame[top : top + _NOISE_STRIP_PX]
            cut = (slice(top + down, top + down + len(strip)), slice(right, right + self.width_px))
            cv2.add(strip, self._lighter[cut], dst=strip)
            cv2.subtract(strip, self._darker[cut], dst=strip)
        return frame


def seen_from(tile: SeenTile, motion: Motion) -> SeenTile:
    """Transform the corners and half centres of a tile by an affine *motion*, shape (2, 3)."""

    def move(point: PointPx) -> PointPx:
        x, y = (motion @ (*point, 1.0)).tolist()
        return (x, y)

    a, b, c, d = (move(corner) for corner in tile.corners_px)
    if not tile.halves:
        return replace(tile, corners_px=(a, b, c, d))
    first, second = (replace(half, center_px=move(half.center_px)) for half in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def _brighten(picture: Image, gain: NDArray[np.float64]) -> Image:
    """Multiply each channel of a picture by its *gain*."""
    levels = np.clip(np.arange(256)[:, None] * gain + 0.5, 0, 255).astype(np.uint8)[None]
    return cv2.LUT(picture, levels).astype(np.uint8, copy=False)


def _noise_sheets(height: int, width: int, strength: float, rng: np.random.Generator) -> tuple[Image, Image]:
    """Return sheets of positive and negative noise, larger than a frame and slightly smoothed."""
    rows, columns = height + _SPARE_NOISE_PX, width + _SPARE_NOISE_PX
    small = rng.standard_normal((rows // 2 + 1, columns // 2 + 1, 3), dtype=np.float32)
    sheet = cv2.resize(small, (columns, rows), interpolation=cv2.INTER_LINEAR) * np.float32(1.5 * strength)
    lighter, darker = (np.rint(np.clip(part, 0, 255)).astype(np.uint8) for part in (sheet, -sheet))
    return lighter, darker
