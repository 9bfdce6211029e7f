"""Render a scene as a picture with exact ground truth, and a table in motion as frames."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import cv2
import numpy as np

from lab.render import looks, view
from lab.render.clutter import clutter_solids, is_flat, paint_flat_clutter, paint_thing
from lab.render.cover import RenderedTile, outlines_px, paint_reach, reach_solids, tile_solids, truth_of
from lab.render.faces import FaceGrid, Glint, grid_of, paint_face
from lab.render.looks import draw_table_look
from lab.render.placements import Area
from lab.render.prints import paint_texture, paint_walls, rounded_outline, top_warp
from lab.render.scene import MAX_PIPS, Floor, PlacedTile, Reach, Scene, TileLook
from lab.render.tabletop import paint_table
from lab.render.view import (
    View,
    add_light,
    expose,
    glare_field,
    light_field,
    shade_plane,
    shade_table,
    take,
    to_lamp,
    view_of,
)
from vision.arrays import Bgr, Crop, GreyImage, Image, Motion, Points
from vision.reading import OutlinePx, PointPx, Reading, SeenTile

# Width at which the floor is painted before it is enlarged. A small picture is cheap and looks out of focus.
_FLOOR_PX = 360
_STEPS = 7


def draw_floor(
    rng: np.random.Generator,
    area: Area,
    centers_mm: Sequence[tuple[float, float]] = (),
    *,
    margin_mm: float = 60.0,
    table_bgr: Bgr | None = None,
) -> Floor:
    """Return a random floor around a rectangular table with one to three visible sides, or around a round table.

    The far side of a rectangular table is visible most often.

    Args:
        area: Part of the table in the middle of the picture.
        centers_mm: Centres of everything that must be on the table.
        margin_mm: Minimum distance of these centres from the edge, such as the length of a tile.
        table_bgr: Colour of the table top, used for most rims. None for a random wood colour.
    """
    centers = np.array([(0.0, 0.0), *centers_mm])
    outline = _round(rng, area, centers, margin_mm) if rng.random() < 0.12 else _straight(rng, area, centers, margin_mm)
    wood = looks.from_hsv(rng.uniform(0.04, 0.11), rng.uniform(0.1, 0.7), rng.uniform(0.1, 0.8))
    rim_bgr = wood if table_bgr is None or rng.random() < 0.3 else looks.scaled(table_bgr, rng.uniform(0.5, 1.0))
    look = draw_table_look(rng)
    return Floor(
        look=replace(look, pattern_mm=look.pattern_mm * rng.uniform(1.0, 4.0)),
        outline_mm=tuple((float(x), float(y)) for x, y in outline),
        drop=rng.uniform(0.1, 0.75),
        rim_bgr=rim_bgr,
        rim_mm=float(
            rng.choice([rng.uniform(12, 45), rng.uniform(100, 280)], p=[0.8, 0.2])
        ),  # the second range is a hanging cloth
        below_mm=rng.uniform(350, 760),
    )


def _straight(rng: np.random.Generator, area: Area, centers: Points, margin_mm: float) -> Points:
    """Return the outline of a rectangular table, one to three of whose sides are near the area."""
    theta = rng.normal(0, 0.12) if rng.random() < 0.65 else rng.uniform(-math.pi, math.pi)
    sides = rng.permutation(4)[: int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))]
    if rng.random() < 0.6:
        sides = np.union1d(sides[:-1], [3])  # the far one
    distances_mm = []
    for side in range(4):
        normal = np.array([math.cos(theta + side * math.pi / 2), math.sin(theta + side * math.pi / 2)])
        half_mm = (abs(normal[0]) * area.width_mm + abs(normal[1]) * area.height_mm) / 2
        share = rng.uniform(0.5, 1.3) if side in sides else rng.uniform(4, 7)
        distances_mm.append(max(share * half_mm, float((centers @ normal).max()) + margin_mm))
    right, near, left, far = distances_mm
    radius_mm = rng.uniform(0.2, 1.0) * margin_mm if rng.random() < 0.4 else 0.0
    inner = np.array([[right, near], [-left, near], [-left, -far], [right, -far]])
    angles = np.linspace(0, math.pi / 2, _STEPS if radius_mm > 0 else 1)
    corners = []
    for quarter, (corner, signs) in enumerate(zip(inner, ((1, 1), (-1, 1), (-1, -1), (1, -1)), strict=True)):
        turns = angles + quarter * math.pi / 2
        arc = radius_mm * np.column_stack([np.cos(turns), np.sin(turns)]) if radius_mm > 0 else np.zeros((1, 2))
        corners.append(corner - radius_mm * np.array(signs) + arc)
    cos, sin = math.cos(theta), math.sin(theta)
    rotated: Points = np.concatenate(corners) @ np.array([[cos, sin], [-sin, cos]])
    return rotated


def _round(rng: np.random.Generator, area: Area, centers: Points, margin_mm: float) -> Points:
    """Return the outline of a round table centred near the middle of the area."""
    middle = rng.uniform(-0.35, 0.35, 2) * (area.width_mm, area.height_mm)
    reach_mm = float(np.linalg.norm(centers - middle, axis=1).max()) + margin_mm
    radius_mm = max(reach_mm, rng.uniform(0.35, 0.75) * math.hypot(area.width_mm, area.height_mm))
    angles = np.linspace(0, 2 * math.pi, 72, endpoint=False)
    # The chords between the outline's points must not cut into the circle.
    radius_mm /= math.cos(math.pi / 72)
    outline: Points = middle + radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])
    return outline


def paint_beyond(picture: Image, floor: Floor, view: View, rng: np.random.Generator) -> GreyImage:
    """Paint the floor and the table's rim over a picture of the table, in place.

    Returns:
        Coverage of each pixel by the table top, 0 to 255, shape (H, W).
    """
    height, width = picture.shape[:2]
    outline = np.array(floor.outline_mm)
    top = _cover(outline, (0.0,), view, (height, width))
    if top.min() == 255:
        return top
    beyond = _floor_picture(floor, view, (height, width), rng)
    body = _cover(outline, (0.0, -floor.rim_mm), view, (height, width))
    for cover, painted in ((body, np.full_like(picture, np.array(floor.rim_bgr, np.uint8))), (top, picture)):
        share = cv2.merge([cover, cover, cover])
        beyond = cv2.add(
            cv2.multiply(painted, share, scale=1 / 255), cv2.multiply(beyond, cv2.bitwise_not(share), scale=1 / 255)
        ).astype(np.uint8, copy=False)
    picture[top < 255] = beyond[top < 255]
    return top


def _cover(outline_mm: Points, heights_mm: tuple[float, ...], view: View, shape: tuple[int, int]) -> GreyImage:
    """Return the coverage of each pixel, shape (H, W), by the convex body that spans *heights_mm*."""
    cover = np.zeros(shape, np.uint8)
    clipped = [(view.cut_near(outline_mm, height_mm), height_mm) for height_mm in heights_mm]
    points_px = np.concatenate([view.project(points, height_mm) for points, height_mm in clipped])
    if len(points_px) > 2:
        hull = cv2.convexHull(points_px.astype(np.float32))[:, 0]
        cv2.fillConvexPoly(cover, np.round(hull * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    return cover


def _floor_picture(floor: Floor, view: View, shape: tuple[int, int], rng: np.random.Generator) -> Image:
    """Return a picture of the floor alone, blurred and darkened, shape (H, W, 3)."""
    shrink = min(1.0, _FLOOR_PX / shape[1])
    width, height = max(8, round(shape[1] * shrink)), max(8, round(shape[0] * shrink))
    matrix = view.matrix.copy()
    matrix[:, 3] -= floor.below_mm * matrix[:, 2]
    matrix[:2] *= np.array([[width / shape[1]], [height / shape[0]]])
    center = (view.center_px[0] * width / shape[1], view.center_px[1] * height / shape[0])
    small = paint_table(floor.look, View(matrix, center, 0.0), width, height, rng)
    small = cv2.GaussianBlur(small, (0, 0), rng.uniform(0.8, 3.0)).astype(np.uint8, copy=False)
    dark = cv2.convertScaleAbs(small, alpha=1 - floor.drop)
    return cv2.resize(dark, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.uint8, copy=False)


_Painting = Callable[[], None]
"""Paints a body over everything farther away."""

# Texture pixels per picture pixel. A finer texture only costs time, because the warp interpolates linearly.
_TEXTURE_SCALE = 1.3


@dataclass(frozen=True, slots=True, eq=False)
class RenderedPicture:
    """A picture and its ground truth.

    Attributes:
        image: BGR, shape (H, W, 3).
        truth: Reading of every tile with four corners in the picture and at least 97 % of each half visible.
        tile_index: For each tile of *truth*, its index in the scene.
        unread_px: Outlines of other tiles that are at least 8 % visible, and of tiles standing on edge.
        shown: Every tile of the scene, with the visible share of each half and the causes of occlusion.
    """

    image: Image
    truth: Reading
    tile_index: tuple[int, ...]
    unread_px: tuple[OutlinePx, ...]
    shown: tuple[RenderedTile, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Light:
    """Glare and shadows on the tops of tiles.

    Attributes:
        glare: Reflections, shape (H, W), or None.
        shadow: Brightness at the top of tiles on the table, shape (H, W), or None if nothing is higher.
    """

    glare: GreyImage | None
    shadow: GreyImage | None


@dataclass(frozen=True, slots=True, eq=False)
class PaintedScene:
    """A painted scene before the camera's effects.

    Attributes:
        picture: BGR, shape (H, W, 3), in even light.
        field: Light of every pixel, as in `lighting.light_field`.
        light: Glare and shadows on the tops of tiles.
    """

    picture: Image
    field: Image
    light: _Light
    tile_seed: int
    camera_rng: np.random.Generator


def render(scene: Scene, rng: np.random.Generator, *, frame_rng: np.random.Generator | None = None) -> RenderedPicture:
    """Render *scene* with its ground truth.

    The same scene and generator state give the same picture. Table, light and the marks on tiles depend only on *rng*.
    Frames rendered with equally seeded generators therefore show the same table, even if tiles move.

    Args:
        rng: Random generator for everything that stays constant between frames.
        frame_rng: Random generator for sensor noise. None derives it from *rng*.
    """
    painted = paint_scene(scene, rng)
    view = view_of(scene.camera)
    lit = expose(painted.picture, painted.field, scene.light, scene.camera)
    picture = take(lit, scene.camera, view, frame_rng or painted.camera_rng)
    truth = truth_of(scene, view)
    return RenderedPicture(picture, truth.reading, truth.tile_index, truth.unread_px, truth.shown)


def paint_scene(scene: Scene, rng: np.random.Generator) -> PaintedScene:
    """Paint *scene* as a pinhole picture, before exposure and camera effects."""
    table_rng, clutter_rng, light_rng, camera_rng = (np.random.default_rng(seed) for seed in rng.integers(0, 2**62, 4))
    tile_seed = int(rng.integers(0, 2**62))
    camera = scene.camera
    shape = (camera.height_px, camera.width_px)
    view = view_of(camera)
    picture = paint_table(scene.table, view, camera.width_px, camera.height_px, table_rng)
    top = None if scene.floor is None else paint_beyond(picture, scene.floor, view, table_rng)
    paint_flat_clutter(picture, scene, view, clutter_rng)
    solids = [*tile_solids(scene), *clutter_solids(scene), *(s for reach in scene.reaches for s in reach_solids(reach))]
    picture = shade_table(picture, solids, scene, view, table_rng)
    glare = glare_field(scene.light, shape, light_rng)
    if glare is not None and scene.table.gloss > 0:
        shine = cv2.convertScaleAbs(glare, alpha=scene.table.gloss)
        shine = shine if top is None else cv2.multiply(shine, top, scale=1 / 255)
        picture = add_light(picture, shine)
    if scene.table.mirror > 0:
        # Bare table with dim, blurred reflections of the sides of tiles.
        mirrored = picture.copy()
        for solid, placed in zip(tile_solids(scene), scene.tiles, strict=True):
            outline = np.concatenate(
                [view.project(solid.outline_mm, -solid.bottom_mm), view.project(solid.outline_mm, -solid.top_mm)]
            )
            hull = cv2.convexHull(np.round(outline * 16).astype(np.int32))
            cv2.fillConvexPoly(mirrored, hull, scene.look_of(placed).side_bgr, cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(mirrored, (0, 0), 1.5)
        picture = cv2.addWeighted(soft, scene.table.mirror, picture, 1 - scene.table.mirror, 0).astype(
            np.uint8, copy=False
        )
    top_mm = scene.tile.thickness_mm
    higher = [solid for solid in solids if solid.top_mm > top_mm + 1.0]
    light = _Light(glare, (shade_plane(higher, scene, view, top_mm) if higher and scene.tiles else None))
    _paint_bodies(picture, scene, view, light, tile_seed, clutter_rng)
    for reach in scene.reaches:
        paint_reach(picture, reach, scene.light, view, clutter_rng)
    field = light_field(scene.light, camera.vignette, shape, light_rng)
    return PaintedScene(picture, field, light, tile_seed, camera_rng)


def paint_one_tile(
    picture: Image, placed: PlacedTile, marks: int, scene: Scene, view: View, painted: PaintedScene
) -> None:
    """Paint another tile over a painted table, in place.

    Args:
        marks: Seed of the marks on the back of a face-down tile. For tiles of the scene, their index.
        painted: Source of the light and of the seed of marks.
    """
    look = scene.look_of(placed)
    outline = rounded_outline(look.length_mm, look.width_mm, look.corner_radius_mm)
    grid = grid_of(look, scene.camera.px_per_mm * _TEXTURE_SCALE)
    rng = _marks_rng(painted.tile_seed, placed, marks)
    _paint_tile(picture, placed, scene, grid, outline, view, painted.light, rng)


def _marks_rng(tile_seed: int, placed: PlacedTile, index: int) -> np.random.Generator:
    """Return the random generator for the marks on a tile, seeded by its numbers, or by *index* if face down."""
    marks = placed.pips if placed.pips is not None else (MAX_PIPS + 1, index)
    return np.random.default_rng([tile_seed, *marks, placed.look])


def _paint_bodies(
    picture: Image, scene: Scene, view: View, light: _Light, tile_seed: int, clutter_rng: np.random.Generator
) -> None:
    """Paint tiles and objects in place, in order of height, then farthest from the camera first."""
    nadir = view.nadir_mm()
    outline = rounded_outline(scene.tile.length_mm, scene.tile.width_mm, scene.tile.corner_radius_mm)
    grids: dict[int, FaceGrid] = {}
    jobs: list[tuple[float, float, _Painting]] = []
    for index, placed in enumerate(scene.tiles):
        if placed.look not in grids:
            grids[placed.look] = grid_of(scene.look_of(placed), scene.camera.px_per_mm * _TEXTURE_SCALE)
        rng = _marks_rng(tile_seed, placed, index)
        paint = partial(_paint_tile, picture, placed, scene, grids[placed.look], outline, view, light, rng)
        jobs.append((placed.height_mm, -math.dist(placed.center_mm, nadir), paint))
    # Seed all objects before painting, to make them independent of the tiles painted in between.
    for thing in scene.clutter:
        rng = np.random.default_rng(clutter_rng.integers(0, 2**62))
        if not is_flat(thing):
            jobs.append(
                (0.0, -math.dist(thing.center_mm, nadir), partial(paint_thing, picture, thing, scene, view, rng))
            )
    for _, _, job in sorted(jobs, key=lambda job: job[:2]):
        job()


def _paint_tile(
    picture: Image,
    placed: PlacedTile,
    scene: Scene,
    grid: FaceGrid,
    outline: Points,
    view: View,
    light: _Light,
    rng: np.random.Generator,
) -> None:
    look = scene.look_of(placed)
    on_table = placed.to_table(outline)
    _paint_sides(picture, on_table, placed.height_mm, scene, look, view)
    cos, sin = math.cos(placed.theta_rad), math.sin(placed.theta_rad)
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    to_camera = view.camera_mm() - np.array([*placed.center_mm, placed.height_mm])
    glint = Glint(turn @ to_lamp(scene.light), turn @ (to_camera / np.linalg.norm(to_camera)))
    texture = paint_face(grid, look, placed.pips, glint, scene.light.ambient, rng)
    shadow = light.shadow if placed.height_mm < 1.0 else None
    # Real tiles are never perfectly level, so each reflects a slightly different part of the glare.
    lean_px = rng.normal(0, 0.05, 2) * scene.camera.width_px
    paint_texture(
        picture,
        texture,
        top_warp(placed, look, grid, view),
        glare=light.glare,
        gloss=look.gloss,
        lean_px=(float(lean_px[0]), float(lean_px[1])),
        shadow=shadow,
    )


def _paint_sides(picture: Image, on_table: Points, bottom_mm: float, scene: Scene, look: TileLook, view: View) -> None:
    """Paint the sides in place: a darker rounded foot, the lower half of two-coloured tiles, and the body."""
    middle_mm, top_mm = bottom_mm + 0.5 * look.thickness_mm, bottom_mm + look.thickness_mm
    foot_mm = bottom_mm + min(0.8 * look.bevel_mm, 0.3 * look.thickness_mm)
    foot = (look.base_bgr[0] * 0.62, look.base_bgr[1] * 0.62, look.base_bgr[2] * 0.62)
    if look.bevel_mm > 0.8 and view.slant(on_table) > 0.12:
        center = on_table.mean(axis=0)
        tucked = center + (on_table - center) * (1 - 0.9 * look.bevel_mm / look.width_mm)
        paint_walls(picture, tucked, (bottom_mm, foot_mm), foot, scene.light, view)
        bottom_mm = foot_mm
    if look.base_bgr != look.side_bgr:
        paint_walls(picture, on_table, (bottom_mm, middle_mm), look.base_bgr, scene.light, view)
        bottom_mm = middle_mm
    paint_walls(picture, on_table, (bottom_mm, top_mm), look.side_bgr, scene.light, view)


# Render a table in motion: cache the still table, and draw moving hands and tiles over it in each frame.


Bump = tuple[float, float, float]

STRAIGHT: Bump = (0.0, 0.0, 0.0)
# Cache size for still tables. The tables before a hand came in and under it often recur.
_CACHED_TABLES = 4
# Reach of defocus and sharpening into neighbouring pixels, and of shadows beside their bodies.
_BLUR_MARGIN_PX = 8
_SHADOW_MARGIN_PX = 6
# Constant seed, so a moving hand keeps its skin texture.
_SKIN_SEED = 5
# Extra size of the noise sheet, and height of the strips that each frame cuts from random positions in it. Shifting
# the noise as a whole would look like camera motion.
_SPARE_NOISE_PX = 128
_NOISE_STRIP_PX = 8


@dataclass(frozen=True, slots=True)
class Moment:
    """Content of a frame.

    Attributes:
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
        rows, columns = self.height_px + _SPARE_NOISE_PX, self.width_px + _SPARE_NOISE_PX
        small = rng.standard_normal((rows // 2 + 1, columns // 2 + 1, 3), dtype=np.float32)
        sheet = cv2.resize(small, (columns, rows), interpolation=cv2.INTER_LINEAR) * np.float32(1.5 * camera.noise)
        lighter, darker = (np.rint(np.clip(part, 0, 255)).astype(np.uint8) for part in (sheet, -sheet))
        self._lighter, self._darker = lighter, darker

    def picture(self, moment: Moment) -> Image:
        """Return a frame, shape (H, W, 3), BGR."""
        table = self._table(moment.tiles)
        wide = self._with_motion(table, moment) if moment.reaches or moment.moving else table.captured
        # The frame's part of the wide picture, as a copy.
        if moment.bump == STRAIGHT:
            margin = self._margin_px
            frame = wide[margin : margin + self.height_px, margin : margin + self.width_px].copy()
        else:
            size = (self.width_px, self.height_px)
            frame = cv2.warpAffine(wide, self.aim(moment.bump), size, borderMode=cv2.BORDER_REPLICATE).astype(
                np.uint8, copy=False
            )
        gain = np.asarray(moment.cast_bgr) * moment.gain
        if (gain != 1.0).any():
            levels = np.clip(np.arange(256)[:, None] * gain + 0.5, 0, 255).astype(np.uint8)[None]
            frame = cv2.LUT(frame, levels).astype(np.uint8, copy=False)
        # Noise is added in place, in strips.
        tops = range(0, self.height_px, _NOISE_STRIP_PX)
        places = self._rng.integers(0, _SPARE_NOISE_PX, (len(tops), 2)).tolist()
        for top, (down, right) in zip(tops, places, strict=True):
            strip = frame[top : top + _NOISE_STRIP_PX]
            cut = (slice(top + down, top + down + len(strip)), slice(right, right + self.width_px))
            cv2.add(strip, self._lighter[cut], dst=strip)
            cv2.subtract(strip, self._darker[cut], dst=strip)
        return frame

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
