"""Paint table tops: wood, felt, leather, stone, and the patterns of `cloths`."""

from __future__ import annotations

import math

import cv2
import numpy as np

from synthetic.render import cloths, noise
from synthetic.render.cloths import mix
from synthetic.render.look_types import TableKind, TableLook
from synthetic.render.photographs import photographed
from synthetic.render.view import CLEAR, View
from vision.arrays import Image, Points

# Longest side of the texture. Grain is soft anyway, but prints need edges as sharp as those of tiles.
_SOFT_PX = 800
_PRINT_PX = 1100
# Factor on the texture size if the picture shows the horizon.
_OBLIQUE = 1.6
_PRINTED = (
    TableKind.STRIPES,
    TableKind.CHECKS,
    TableKind.FLOWERS,
    TableKind.BOARD,
    TableKind.PRINT,
    TableKind.DAMASK,
    TableKind.RULED,
    TableKind.PHOTOGRAPH,
)


def _wood(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    height, width = shape
    plank_px = max(8.0, look.pattern_mm * scale)
    # Growth rings cut at a flat angle: long lines that bend together around knots, with varying density.
    bend = noise.cloud(rng, height, width, (plank_px / 2, 260 * scale))
    plank = (np.arange(height) / plank_px).astype(int)
    tone = rng.normal(0, 1, plank.max() + 1).astype(np.float32)[plank][:, None]
    place = (np.arange(height, dtype=np.float32) / (max(2.0, 5 * scale)))[:, None]
    rings = np.sin(place * np.float32(rng.uniform(0.5, 1.5)) + np.float32(rng.uniform(1, 5)) * bend + 2 * tone)
    pores = noise.cloud(rng, height, width, (max(1.0, 1.2 * scale), 60 * scale))
    share = np.float32(0.35) + np.float32(0.25 * look.roughness) * pores + np.float32(0.16) * rings
    share += np.float32(0.22 * look.unevenness) * tone + np.float32(0.1) * bend
    picture = mix(look.base_bgr, look.second_bgr, share)
    if look.unevenness > 0.3:
        seams = np.flatnonzero(np.diff(plank))
        picture[seams] //= 2
    return picture


def _leather(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    height, width = shape
    bumps = np.abs(noise.cloud(rng, height, width, max(2.5, 2.2 * scale))) - np.float32(0.6)
    lit = bumps - np.roll(bumps, 2, axis=(0, 1))
    picture = mix(look.base_bgr, look.second_bgr, 0.3 + np.float32(0.7 * look.roughness) * lit)
    for _ in range(int(rng.integers(0, 3))):  # stitched seams
        row, dash = int(rng.integers(height)), max(2, round(3 * scale))
        picture[row : row + max(1, round(0.8 * scale))] //= 3
        stitch = picture[row + 2 * dash : row + 2 * dash + max(1, round(0.5 * scale))]
        stitch[:, (np.arange(width) // dash) % 3 > 0] = look.third_bgr
    return picture


def _pattern(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Return the texture of *look* without its fine grain, shape (H, W, 3)."""
    match look.kind:
        case TableKind.WOOD:
            return _wood(look, shape, scale, rng)
        case TableKind.LEATHER:
            return _leather(look, shape, scale, rng)
        case TableKind.STRIPES:
            return cloths.stripes(look, shape, scale, rng)
        case TableKind.CHECKS:
            return cloths.checks(look, shape, scale, rng)
        case TableKind.FLOWERS:
            return cloths.flowers(look, shape, scale, rng)
        case TableKind.BOARD:
            return cloths.board(look, shape, scale, rng)
        case TableKind.PRINT:
            return cloths.print_matter(look, shape, scale, rng)
        case TableKind.WEAVE:
            return cloths.weave(look, shape, scale, rng)
        case TableKind.DAMASK:
            return cloths.damask(look, shape, scale, rng)
        case TableKind.STONE:
            veins = np.abs(noise.cloud(rng, *shape, 30 * scale) + 0.4 * noise.cloud(rng, *shape, 8 * scale))
            return mix(look.base_bgr, look.second_bgr, np.clip(1 - 3 * veins, 0, 1) * look.roughness)
        case TableKind.RULED:
            return cloths.ruled(look, shape, scale, rng)
        case TableKind.PHOTOGRAPH:
            return photographed(look, shape, scale, rng)
        case TableKind.FELT | TableKind.PLAIN | TableKind.GLASS:
            share = np.float32(0.3 * look.roughness) * noise.cloud(rng, *shape, 3 * scale + 1)
            return mix(look.base_bgr, look.second_bgr, share)


def _extent_mm(view: View, width_px: int, height_px: int) -> Points:
    """Return the bounding box of the visible table, shape (2, 2): low and high corner."""
    outline = view.frame_mm(width_px, height_px, 0.0)
    return np.array([outline.min(axis=0), outline.max(axis=0)], dtype=np.float64)


def _add_grain(picture: Image, look: TableLook, rng: np.random.Generator) -> None:
    """Add the fine grain of *look* to *picture* in place."""
    if look.roughness > 0 and look.kind is not TableKind.GLASS:
        strength = look.roughness * (14 if look.kind is TableKind.FELT else 8)
        grain = noise.white(rng, 200, 200)[..., None] * np.float32(strength)
        noise.add_repeated(picture, np.repeat(grain, 3, axis=2))


def paint_table(look: TableLook, view: View, width_px: int, height_px: int, rng: np.random.Generator) -> Image:
    """Return a pinhole picture of the empty table in even light, shape (H, W, 3)."""
    turn = np.array(
        [[math.cos(look.theta_rad), math.sin(look.theta_rad)], [-math.sin(look.theta_rad), math.cos(look.theta_rad)]]
    )
    low, high = _extent_mm(view, width_px, height_px)
    box = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]]) @ turn.T
    low, high = box.min(axis=0), box.max(axis=0)
    extent = high - low
    longest_px = _PRINT_PX if look.kind in _PRINTED else _SOFT_PX
    shows_horizon = view.shows_horizon(width_px, height_px, 0.0)
    if shows_horizon:  # the near part of the table fills most of the picture
        longest_px = round(_OBLIQUE * longest_px)
    scale = min(longest_px / float(extent.max()), width_px / float(extent.min()))
    shape = (max(16, math.ceil(float(extent[1]) * scale)), max(16, math.ceil(float(extent[0]) * scale)))
    texture = _pattern(look, shape, scale, rng)
    _add_grain(texture, look, rng)
    to_mm = np.array([[1 / scale, 0, low[0]], [0, 1 / scale, low[1]], [0, 0, 1.0]])
    unturn = np.eye(3)
    unturn[:2, :2] = turn.T
    warp = view.plane(0.0) @ unturn @ to_mm
    picture = cv2.warpPerspective(
        texture, warp, (width_px, height_px), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    ).astype(np.uint8, copy=False)
    return _with_distance(picture, look, view, rng) if shows_horizon else picture


def _with_distance(picture: Image, look: TableLook, view: View, rng: np.random.Generator) -> Image:
    """Return the picture with distant parts out of focus, and a dim room above the horizon."""
    height, width = picture.shape[:2]
    corners = np.array([[0, 0], [width, 0], [0, height], [width, height]], dtype=np.float64)
    near = view.nearness(corners, 0.0)
    # Nearness is linear in pixel coordinates, so it is interpolated from the corners.
    x, y = np.arange(width, dtype=np.float32)[None, :], np.arange(height, dtype=np.float32)[:, None]
    nearness = np.float32(near[0]) + x * np.float32((near[1] - near[0]) / width)
    nearness = nearness + y * np.float32((near[2] - near[0]) / height)
    room = mix(look.base_bgr, (70.0, 80.0, 85.0), 0.8 + 0.5 * noise.cloud(rng, height, width, (height / 3, width / 6)))
    is_room = np.clip((0.03 - nearness) / 0.02, 0, 1)[..., None]
    far = cv2.GaussianBlur((picture + is_room * (room.astype(np.float32) - picture)), (0, 0), 0.012 * width)
    share = np.clip((1 / CLEAR - nearness) * CLEAR * 1.5, 0, 1)[..., None]
    distant: Image = (picture + share * (far - picture)).astype(np.uint8)
    return distant
