"""Render a scene as a picture with exact ground truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np

from synthetic.render.clutter import clutter_solids, is_flat, paint_flat_clutter, paint_thing
from synthetic.render.cover import RenderedTile, tile_solids, truth_of
from synthetic.render.face_grid import FaceGrid, grid_of
from synthetic.render.faces import Glint, paint_face
from synthetic.render.floors import paint_beyond
from synthetic.render.lighting import Solid, add_light, glare_field, light_field, shade_plane, shade_table, to_lamp
from synthetic.render.look_types import TileLook
from synthetic.render.patterns import MAX_PIPS
from synthetic.render.reaching import paint_reach, reach_solids
from synthetic.render.scene import PlacedTile, Scene
from synthetic.render.solids import paint_texture, paint_walls, rounded_outline, top_warp
from synthetic.render.tabletop import paint_table
from synthetic.render.view import View, expose, take, view_of
from vision.arrays import GreyImage, Image, Points
from vision.reading import OutlinePx, Reading

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
        tile_seed: Seed of the marks on tiles.
        camera_rng: Random generator for sensor noise.
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
        scene: The scene.
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
        picture = _mirrored(picture, scene, view)
    light = _Light(glare, _shadow_on_tiles(solids, scene, view))
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
        picture: Picture to paint on.
        placed: The tile.
        marks: Seed of the marks on the back of a face-down tile. For tiles of the scene, their index.
        scene: Scene with the looks.
        view: The camera.
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


def _mirrored(picture: Image, scene: Scene, view: View) -> Image:
    """Return the bare table with dim, blurred reflections of the sides of tiles."""
    mirrored = picture.copy()
    for solid, placed in zip(tile_solids(scene), scene.tiles, strict=True):
        outline = np.concatenate(
            [view.project(solid.outline_mm, -solid.bottom_mm), view.project(solid.outline_mm, -solid.top_mm)]
        )
        hull = cv2.convexHull(np.round(outline * 16).astype(np.int32))
        cv2.fillConvexPoly(mirrored, hull, scene.look_of(placed).side_bgr, cv2.LINE_AA, 4)
    soft = cv2.GaussianBlur(mirrored, (0, 0), 1.5)
    return cv2.addWeighted(soft, scene.table.mirror, picture, 1 - scene.table.mirror, 0).astype(np.uint8, copy=False)


def _shadow_on_tiles(solids: list[Solid], scene: Scene, view: View) -> GreyImage | None:
    """Return the brightness of the tops of tiles on the table, shape (H, W), or None if nothing is higher."""
    top_mm = scene.tile.thickness_mm
    higher = [solid for solid in solids if solid.top_mm > top_mm + 1.0]
    return shade_plane(higher, scene, view, top_mm) if higher and scene.tiles else None


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
    glint = _glint_of(placed, scene, view)
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


def _glint_of(placed: PlacedTile, scene: Scene, view: View) -> Glint:
    """Return the directions to lamp and camera in the frame of the tile."""
    cos, sin = math.cos(placed.theta_rad), math.sin(placed.theta_rad)
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    to_camera = view.camera_mm() - np.array([*placed.center_mm, placed.height_mm])
    return Glint(turn @ to_lamp(scene.light), turn @ (to_camera / np.linalg.norm(to_camera)))
