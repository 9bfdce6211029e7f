"""Ground truth of a picture and the hands that cover it: visibility of each tile, computed from the geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import view
from lab.render.clutter import clutter_solids, solid_of
from lab.render.prints import corners_of, rounded_outline
from lab.render.scene import ClutterKind, LightLook, Reach, Scene, joins_between
from lab.render.view import NEAREST, Solid, View, to_lamp
from vision.arrays import Bgr, FloatImage, Image, Points
from vision.reading import Face, Half, OutlinePx, Reading, SeenTile

# Paint players' hands over the table, modelled as rounded bones and shaded as a single surface.


# Proportions of an adult's right hand of 190 mm, seen from above: x ahead of the knuckle line and y towards the thumb,
# in mm. For each finger from index to little: knuckle position, length, radius at the tip.
_FINGERS = (((0.0, 30.0), 72.0, 7.6), ((4.0, 9.0), 80.0, 7.8), ((0.0, -12.0), 74.0, 7.4), ((-9.0, -31.0), 58.0, 6.6))
_WRIST = (-92.0, 0.0)
_FAN_RAD = (0.20, 0.05, -0.09, -0.26)
_FOREARM_MM = 330.0
# Straight extension of the arm beyond the elbow, long enough to leave the picture.
_UPPER_ARM_MM = 900.0
_REDUCED = 0.5


@dataclass(frozen=True, slots=True)
class Bone:
    """A rounded, tapered segment of a hand or arm.

    Attributes:
        start_mm, end_mm: Centres of the ends: x and y on the table, and height.
    """

    start_mm: tuple[float, float, float]
    end_mm: tuple[float, float, float]
    start_radius_mm: float
    end_radius_mm: float
    bgr: Bgr


def bones_of(reach: Reach) -> tuple[Bone, ...]:
    """Return the bones of a hand and its arm: upper arm, forearm, fingers, thumb and sleeve."""
    skin, size = reach.skin_bgr, reach.scale
    flat = 1 - 0.42 * reach.curl
    fans = [fan * (0.35 + 1.3 * reach.spread) for fan in _FAN_RAD]
    (middle_x, middle_y), middle_length, _ = _FINGERS[1]
    tip_x = middle_x + middle_length * flat * math.cos(fans[1])
    tip_y = middle_y + middle_length * flat * math.sin(fans[1])
    knuckle_z = reach.height_mm + (24 + 22 * reach.curl) * size

    def place(x: float, y: float, height_mm: float) -> tuple[float, float, float]:
        ahead, aside = (x - tip_x) * size, (y - tip_y) * (size if reach.is_left else -size)
        cos, sin = math.cos(reach.heading_rad), math.sin(reach.heading_rad)
        return (reach.tip_mm[0] + ahead * cos - aside * sin, reach.tip_mm[1] + ahead * sin + aside * cos, height_mm)

    wrist_z = knuckle_z + 6
    wrist = place(*_WRIST, wrist_z)
    elbow = place(_WRIST[0] - _FOREARM_MM, 0.0, wrist_z + 30)
    shoulder = place(_WRIST[0] - _FOREARM_MM - _UPPER_ARM_MM, 0.0, wrist_z + 60)
    bones = [Bone(shoulder, elbow, 52 * size, 44 * size, skin), Bone(elbow, wrist, 44 * size, 27 * size, skin)]
    for ((x, y), length, radius), angle in zip(_FINGERS, fans, strict=True):
        knuckle = place(x, y, knuckle_z)
        bones.append(Bone(wrist, knuckle, 17 * size, 12.5 * size, skin))
        reached = length * flat
        joint_x, joint_y = x + 0.52 * reached * math.cos(angle), y + 0.52 * reached * math.sin(angle)
        joint = place(joint_x, joint_y, knuckle_z + 5 * reach.curl)
        end = place(x + reached * math.cos(angle), y + reached * math.sin(angle), reach.height_mm + radius * size)
        bones.append(Bone(knuckle, joint, 11 * size, (radius + 1.4) * size, skin))
        bones.append(Bone(joint, end, (radius + 1.2) * size, radius * size, skin))
        bones.append(_nail(bones[-1]))
    root = place(-62.0, 26.0, knuckle_z - 6)
    joint = place(-30.0, 44.0 + 10 * reach.spread, knuckle_z - 12)
    end = place(2.0 - 8 * reach.curl, 46.0 + 24 * reach.spread * (1 - reach.curl), reach.height_mm + 10 * size)
    bones.append(Bone(wrist, root, 18 * size, 16 * size, skin))
    bones.append(Bone(root, joint, 15 * size, 11 * size, skin))
    bones.append(Bone(joint, end, 11 * size, 9 * size, skin))
    if reach.sleeve_bgr is not None:
        cuff = place(_WRIST[0] - reach.sleeve * _FOREARM_MM, 0.0, wrist_z + 30 * reach.sleeve)
        bones.append(Bone(shoulder, elbow, 60 * size, 54 * size, reach.sleeve_bgr))
        bones.append(Bone(elbow, cuff, 54 * size, 38 * size, reach.sleeve_bgr))
    return tuple(bones)


def _nail(tip: Bone) -> Bone:
    """Return the nail on the last bone of a finger, as a paler and slightly raised bone."""
    start, end = np.array(tip.start_mm), np.array(tip.end_mm)
    back, front = start + 0.8 * (end - start), start + 1.08 * (end - start)
    lift_mm = 0.62 * tip.end_radius_mm
    blue, green, red = tip.bgr
    return Bone(
        (float(back[0]), float(back[1]), float(back[2]) + lift_mm),
        (float(front[0]), float(front[1]), float(front[2]) + lift_mm),
        0.58 * tip.end_radius_mm,
        0.62 * tip.end_radius_mm,
        (min(255.0, blue * 1.12 + 8), min(255.0, green * 1.06 + 4), min(255.0, red * 1.1 + 6)),
    )


def _in_front(reach: Reach, view: View) -> tuple[Bone, ...]:
    """Return the bones of a hand, clipped to the part farther than `NEAREST` from the camera."""
    nearest = NEAREST * float(view.matrix[2, 3])
    clipped = []
    for bone in bones_of(reach):
        ends = np.array([[*bone.start_mm, 1.0], [*bone.end_mm, 1.0]])
        start, end = (ends @ view.matrix[2] - nearest).tolist()
        if start > 0 and end > 0:
            clipped.append(bone)
        elif start > 0 or end > 0:
            share = start / (start - end)
            cut = ends[0, :3] + share * (ends[1, :3] - ends[0, :3])
            place = (float(cut[0]), float(cut[1]), float(cut[2]))
            radius = bone.start_radius_mm + share * (bone.end_radius_mm - bone.start_radius_mm)
            if start > 0:
                clipped.append(replace(bone, end_mm=place, end_radius_mm=radius))
            else:
                clipped.append(replace(bone, start_mm=place, start_radius_mm=radius))
    return tuple(clipped)


def _circles_px(bone: Bone, view: View) -> tuple[Points, NDArray[np.float64]]:
    """Return the projected ends of a bone, shape (2, 2), and their radii in pixels, shape (2,)."""
    centers, radii = [], []
    for (x, y, height_mm), radius_mm in ((bone.start_mm, bone.start_radius_mm), (bone.end_mm, bone.end_radius_mm)):
        center, rim = view.project(np.array([[x, y], [x + radius_mm, y]]), height_mm)
        centers.append(center)
        radii.append(float(np.hypot(*(rim - center))))
    return np.array(centers), np.array(radii)


def outlines_px(reach: Reach, view: View) -> list[Points]:
    """Return the convex outline of each bone in the pinhole picture, shape (N, 2)."""
    angles = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    outlines = []
    for bone in _in_front(reach, view):
        centers, radii = _circles_px(bone, view)
        points = np.concatenate([center + circle * radius for center, radius in zip(centers, radii, strict=True)])
        outlines.append(cv2.convexHull(points.astype(np.float32))[:, 0].astype(np.float64))
    return outlines


def reach_solids(reach: Reach) -> list[Solid]:
    """Return bodies that approximate the shadow of a hand."""
    angles = np.linspace(0, 2 * math.pi, 10, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    solids = []
    for bone in bones_of(reach):
        ends = ((bone.start_mm, bone.start_radius_mm), (bone.end_mm, bone.end_radius_mm))
        points = np.concatenate([np.array(end[:2]) + circle * radius for end, radius in ends])
        hull = cv2.convexHull(points.astype(np.float32))[:, 0].astype(np.float64)
        middle = (bone.start_mm[2] + bone.end_mm[2]) / 2
        thin = min(bone.start_radius_mm, bone.end_radius_mm) / 2
        solids.append(Solid(hull, max(1.0, middle - thin), middle + thin))
    return solids


def paint_reach(picture: Image, reach: Reach, light: LightLook, view: View, rng: np.random.Generator) -> None:
    """Paint a hand and arm over everything else, in place."""
    bones = _in_front(reach, view)
    if not bones:
        return
    circles = [_circles_px(bone, view) for bone in bones]
    points = np.concatenate([np.concatenate([c - r[:, None], c + r[:, None]]) for c, r in circles])
    left, top = np.maximum(np.floor(points.min(axis=0)).astype(int) - 2, 0)
    right = min(picture.shape[1], int(points[:, 0].max()) + 3)
    bottom = min(picture.shape[0], int(points[:, 1].max()) + 3)
    if right - left < 4 or bottom - top < 4:
        return
    width, height = math.ceil((right - left) * _REDUCED), math.ceil((bottom - top) * _REDUCED)
    scale = np.array([width / (right - left), height / (bottom - top)])
    shrunk = [((centers - (left, top)) * scale, radii * scale[0]) for centers, radii in circles]
    px_per_mm = float(circles[-1][1][1] / bones[-1].end_radius_mm * scale[0])
    color, cover = _shaded(bones, shrunk, (height, width), px_per_mm, light, rng)
    size = (right - left, bottom - top)
    # Blend in bytes. Floating-point sums took 10 of 40 ms.
    share = cv2.resize(cv2.convertScaleAbs(cover, alpha=255), size, interpolation=cv2.INTER_LINEAR)
    large = cv2.resize(cv2.convertScaleAbs(color), size, interpolation=cv2.INTER_LINEAR)
    region = picture[top:bottom, left:right]
    over = cv2.multiply(large, cv2.merge([share] * 3), scale=1 / 255)
    region[:] = cv2.add(over, cv2.multiply(region, cv2.merge([cv2.bitwise_not(share)] * 3), scale=1 / 255))


def _shaded(
    bones: tuple[Bone, ...],
    circles: list[tuple[Points, NDArray[np.float64]]],
    shape: tuple[int, int],
    px_per_mm: float,
    light: LightLook,
    rng: np.random.Generator,
) -> tuple[FloatImage, FloatImage]:
    """Return the colour, shape (H, W, 3), and the coverage, shape (H, W), of all bones combined."""
    surface = np.full(shape, -1e3, np.float32)
    cover = np.zeros(shape, np.float32)
    albedo = np.zeros((*shape, 3), np.float32)
    for bone, (centers, radii) in zip(bones, circles, strict=True):
        _add_bone(surface, cover, albedo, bone, centers.astype(np.float32), radii.astype(np.float32), px_per_mm)
    filled = np.where(cover > 0, surface, surface[cover > 0].min(initial=0.0)).astype(np.float32)
    smooth = cv2.GaussianBlur(filled, (0, 0), max(0.6, 2.0 * px_per_mm))
    slope_y, slope_x = np.gradient(smooth)
    steep = 1 / np.sqrt(1 + slope_x**2 + slope_y**2)
    lamp = to_lamp(light).astype(np.float32)
    facing = (lamp[2] - lamp[0] * slope_x - lamp[1] * slope_y) * steep
    shade = light.ambient * (0.55 + 0.45 * steep) + (1 - light.ambient) * np.clip(facing, 0, 1) * 1.15
    shade *= 1 + 0.04 * view.cloud(rng, *shape, 4 * px_per_mm) + 0.03 * view.cloud(rng, *shape, 1.2 * px_per_mm)
    shine = 18 * np.clip(facing, 0, 1) ** 24
    color = albedo * shade[..., None].astype(np.float32) + shine[..., None].astype(np.float32)
    return color.astype(np.float32), cover


def _add_bone(
    surface: FloatImage,
    cover: FloatImage,
    albedo: FloatImage,
    bone: Bone,
    centers: NDArray[np.float32],
    radii: NDArray[np.float32],
    px_per_mm: float,
) -> None:
    """Add a bone to the surface in place, wherever it is higher."""
    low = np.maximum(np.floor((centers - radii[:, None]).min(axis=0)).astype(int) - 1, 0)
    high = np.ceil((centers + radii[:, None]).max(axis=0)).astype(int) + 2
    box = (slice(low[1], min(high[1], surface.shape[0])), slice(low[0], min(high[0], surface.shape[1])))
    part = surface[box]
    if part.size == 0:
        return
    y, x = np.ogrid[low[1] : low[1] + part.shape[0], low[0] : low[0] + part.shape[1]]
    from_x, from_y = x.astype(np.float32) - centers[0, 0], y.astype(np.float32) - centers[0, 1]
    along = centers[1] - centers[0]
    share = np.clip((from_x * along[0] + from_y * along[1]) / max(float(along @ along), 1e-3), 0, 1)
    distance_sq = (from_x - share * along[0]) ** 2 + (from_y - share * along[1]) ** 2
    radius = radii[0] + share * (radii[1] - radii[0])
    start, end = np.float32(px_per_mm * bone.start_mm[2]), np.float32(px_per_mm * bone.end_mm[2])
    height = start + share * (end - start)
    height += np.sqrt(np.maximum(radius**2 - distance_sq, 0))
    bone_cover = np.clip(radius - np.sqrt(distance_sq) + 0.5, 0, 1).astype(np.float32)
    np.maximum(cover[box], bone_cover, out=cover[box])
    is_top = (bone_cover > 0) & (height > part)
    part[is_top] = height[is_top]
    # Fingertips and knuckles are redder than the back of the hand.
    tint = 1 - np.array([0.07, 0.05, -0.02], np.float32) * (share[..., None] ** 3)
    albedo[box][is_top] = (np.asarray(bone.bgr, np.float32) * tint)[is_top]


_POINTS_PER_SIDE = 12


# Minimum visible share of each half. Below it, a pip may be hidden. Sampling 12 x 12 points gives steps of 0.7 %.
_READABLE = 0.97
# Minimum visible share of a whole tile. With less, only its rim is visible.
_NOTICED = 0.08


@dataclass(frozen=True, slots=True)
class Occlusion:
    """Visible share of a tile, and the causes of its occlusion.

    Attributes:
        visible: Share of each half that is in the picture and not hidden, 0 to 1.
        by_tiles: Indices of the tiles that hide part of this one.
        by_reach, by_clutter: True if a player's hand or an object hides part of the tile.
    """

    visible: tuple[float, float]
    by_tiles: tuple[int, ...]
    by_reach: bool
    by_clutter: bool

    @property
    def is_readable(self) -> bool:
        """True if at least 97 % of each half is visible."""
        return min(self.visible) >= _READABLE

    @property
    def is_noticed(self) -> bool:
        """True if at least 8 % of the tile is visible, enough to notice it."""
        return sum(self.visible) / 2 >= _NOTICED


@dataclass(frozen=True, slots=True)
class RenderedTile(Occlusion):
    """Occlusion of a tile of the scene, and its exact reading even if it is hidden."""

    tile: SeenTile


def tile_solids(scene: Scene) -> list[Solid]:
    """Return the tiles as bodies, in scene order."""
    look = scene.tile
    outline = rounded_outline(look.length_mm, look.width_mm, look.corner_radius_mm)
    return [
        Solid(placed.to_table(outline), placed.height_mm, placed.height_mm + look.thickness_mm)
        for placed in scene.tiles
    ]


def find_hidden(scene: Scene, view: View) -> list[Occlusion]:
    """Return the occlusion of each tile of *scene*."""
    tiles, things = tile_solids(scene), clutter_solids(scene)
    reaches = [outline for reach in scene.reaches for outline in outlines_px(reach, view)]
    steps = (np.arange(_POINTS_PER_SIDE) + 0.5) / _POINTS_PER_SIDE
    along, across = np.meshgrid(steps, steps - 0.5)
    half = np.column_stack([along.ravel() * scene.tile.length_mm / 2, across.ravel() * scene.tile.width_mm])
    frame = np.concatenate([half - (scene.tile.length_mm / 2, 0.0), half])
    points = [
        view.project(placed.to_table(frame), solid.top_mm) for placed, solid in zip(scene.tiles, tiles, strict=True)
    ]
    # A mask of the points of each tile outside the picture, shape (tiles, points).
    if not points:
        outside = np.zeros((0, 0), bool)
    else:
        distorted = view.distort(np.concatenate(points))
        beyond = (distorted < 0) | (distorted > (scene.camera.width_px - 1, scene.camera.height_px - 1))
        outside = np.asarray(beyond.any(axis=1).reshape(len(points), -1))
    return [
        _find_occlusion(points_px, beyond, solid.top_mm, (tiles, things, reaches), view)
        for points_px, beyond, solid in zip(points, outside, tiles, strict=True)
    ]


def _find_occlusion(
    points_px: Points,
    outside: NDArray[np.bool_],
    height_mm: float,
    bodies: tuple[list[Solid], list[Solid], list[Points]],
    view: View,
) -> Occlusion:
    """Return the occlusion of a tile by the edge of the picture, other tiles, objects and hands.

    Args:
        points_px: Sample points of half 0, then of half 1.
        outside: True for points outside the picture.
    """
    tiles, things, reaches = bodies
    hidden = outside.copy()
    by_tiles = []
    for other, solid in enumerate(tiles):
        if solid.top_mm > height_mm + 1e-6:
            under = _under_solid(points_px, solid, height_mm, view)
            hidden |= under
            if under.any():
                by_tiles.append(other)
    by_things = [_under_solid(points_px, thing, height_mm, view) for thing in things if thing.top_mm > height_mm]
    by_reach = [_inside(points_px, outline) for outline in reaches]
    for under in (*by_things, *by_reach):
        hidden |= under
    shares = 1 - hidden.reshape(2, -1).mean(axis=1)
    return Occlusion(
        (float(shares[0]), float(shares[1])),
        tuple(by_tiles),
        any(bool(under.any()) for under in by_reach),
        any(bool(under.any()) for under in by_things),
    )


def _under_solid(points_px: Points, solid: Solid, height_mm: float, view: View) -> NDArray[np.bool_]:
    """Return a mask of the points at *height_mm* that a body hides."""
    # Only the part of a body above a point can be between the point and the camera.
    return _inside(points_px, hull_px(solid, view, height_mm))


def hull_px(solid: Solid, view: View, from_mm: float = 0.0) -> Points:
    """Return the undistorted picture outline of the part of a body above *from_mm*, shape (N, 2)."""
    low = view.project(solid.outline_mm, max(solid.bottom_mm, from_mm))
    high = view.project(solid.outline_mm, solid.top_mm)
    hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))
    return np.asarray(hull.reshape(-1, 2), np.float64)


def _inside(points_px: Points, outline_px: Points) -> NDArray[np.bool_]:
    """Return a mask of the points inside a convex outline of either orientation."""
    low, high = outline_px.min(axis=0), outline_px.max(axis=0)
    if (points_px.max(axis=0) < low).any() or (points_px.min(axis=0) > high).any():
        return np.zeros(len(points_px), bool)
    edge = np.roll(outline_px, -1, axis=0) - outline_px
    offset = points_px[:, None] - outline_px[None]
    side = edge[None, :, 0] * offset[..., 1] - edge[None, :, 1] * offset[..., 0]
    return np.asarray((side >= 0).all(axis=1) | (side <= 0).all(axis=1))


@dataclass(frozen=True, slots=True)
class PictureTruth:
    """Ground truth of a picture.

    Attributes:
        reading: Perfect reading: every tile with four corners in the picture and at least 97 % of each half visible.
        tile_index: For each tile of *reading*, its index in the scene.
        unread_px: Outlines of other tiles that are at least 8 % visible, and of tiles standing on edge.
        shown: Every tile of the scene, in order.
    """

    reading: Reading
    tile_index: tuple[int, ...]
    unread_px: tuple[OutlinePx, ...]
    shown: tuple[RenderedTile, ...]


def truth_of(scene: Scene, view: View) -> PictureTruth:
    """Return the ground truth of the picture of *scene*."""
    width_px, height_px = scene.camera.width_px, scene.camera.height_px
    hidden = find_hidden(scene, view)
    whole: list[tuple[SeenTile, int]] = []
    solids = [solid_of(thing) for thing in scene.clutter if thing.kind is ClutterKind.STANDING_TILE]
    unread = [_plain(view.distort(hull_px(solid, view))) for solid in solids]
    shown: list[RenderedTile] = []
    for index, (placed, points_px) in enumerate(zip(scene.tiles, _tile_points_px(scene, view), strict=True)):
        corners_px = points_px[:4]
        # The exact reading of a tile from its corners and half centres, shape (6, 2). The outline begins with the
        # long edge that starts nearer to the upper left of the picture.
        first = 2 * int(np.argmin(points_px[[0, 2]].sum(axis=1)))
        corners = _plain(np.roll(points_px[:4], -first, axis=0))
        assert len(corners) == 4
        if placed.pips is None:
            tile_truth = SeenTile(Face.DOWN, corners, ())
        else:
            near, far = _plain(points_px[4:])
            tile_truth = SeenTile(Face.UP, corners, (Half(placed.pips[0], 1.0, near), Half(placed.pips[1], 1.0, far)))
        rendered = hidden[index]
        shown.append(
            RenderedTile(rendered.visible, rendered.by_tiles, rendered.by_reach, rendered.by_clutter, tile_truth)
        )
        inside = bool((corners_px >= 0).all() and (corners_px <= (width_px - 1, height_px - 1)).all())
        if inside and rendered.is_readable:
            whole.append((tile_truth, index))
        elif (
            rendered.is_noticed
            and (corners_px.max(axis=0) > 0).all()
            and (corners_px.min(axis=0) < (width_px, height_px)).all()
        ):
            unread.append(_plain(corners_px))
    whole.sort(key=lambda pair: (pair[0].center_px[1], pair[0].center_px[0]))
    tile_index = tuple(index for _, index in whole)
    reading = Reading(width_px, height_px, tuple(tile for tile, _ in whole), joins_between(scene.joins, tile_index))
    return PictureTruth(reading, tile_index, tuple(unread), tuple(shown))


def _tile_points_px(scene: Scene, view: View) -> Points:
    """Return the corners and half centres of each tile in the picture, shape (tiles, 6, 2)."""
    quarter_mm = scene.tile.length_mm / 4
    frame = np.concatenate([corners_of(scene.tile), [[-quarter_mm, 0.0], [quarter_mm, 0.0]]])
    tops_mm = [placed.height_mm + scene.tile.thickness_mm for placed in scene.tiles]
    points_px = [
        view.project(placed.to_table(frame), top_mm) for placed, top_mm in zip(scene.tiles, tops_mm, strict=True)
    ]
    return view.distort(np.array(points_px).reshape(-1, 2)).reshape(-1, 6, 2)


def _plain(points_px: Points) -> OutlinePx:
    return tuple((float(x), float(y)) for x, y in points_px)
