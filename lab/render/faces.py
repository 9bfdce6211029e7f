"""Paint a tile face with pips, numerals or signs, seen from directly above, as a texture with transparency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import noise
from lab.render.colors import mixed
from lab.render.face_grid import (
    FaceGrid,
    Spots,
    blend,
    disc,
    filled,
    paint_cracks,
    paint_marks,
    paint_reflections,
    pip_places_mm,
    spots_of,
    worn_bar,
)
from lab.render.look_types import BarKind, PipKind, Polygon, TileLook
from vision.arrays import Bgr, FloatImage

# Oversampling factor for drawing signs.
_OVERSAMPLING = 4


def paint_numeral(face: FloatImage, grid: FaceGrid, look: TileLook, number: int, half: int) -> None:
    """Print a number on a half in place, as the set's sign for it, or as a numeral if it has no sign."""
    if look.numerals is None:
        return
    height, width = grid.alpha.shape
    side = min(height, width // 2)
    ink = _sign(side, look.signs[number]) if number < len(look.signs) else _numeral(side, number, look.pip_radius)
    turned = np.rot90(ink, look.numerals + (2 if half == 1 and not look.is_mirrored else 0))
    top = (height - side) // 2
    left = width // 4 - side // 2 if half == 0 else width - width // 4 - side + side // 2
    blend(face[:, top : top + side, left : left + side], turned, look.pip_bgr[number])


def _numeral(side: int, number: int, bold: float) -> FloatImage:
    """Return the ink of a numeral, shape (side, side), 0 to 1. 0 is blank. 6 and 9 are underlined."""
    ink = np.zeros((side, side), np.uint8)
    if number == 0:
        return ink.astype(np.float32)
    text, thick = str(number), max(1, round(side * bold * 0.5))
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 1.0, 1)
    size = min(0.62 * side / high, 0.72 * side / wide)
    origin = (round((side - size * wide) / 2), round((side + size * high) / 2))
    cv2.putText(ink, text, origin, cv2.FONT_HERSHEY_DUPLEX, size, 255, thick, cv2.LINE_AA)
    if number in (6, 9):
        cv2.line(ink, (side // 3, side * 8 // 9), (side - side // 3, side * 8 // 9), 255, thick)
    return ink.astype(np.float32) / 255


def _sign(side: int, outlines: tuple[Polygon, ...]) -> FloatImage:
    """Return the ink of a sign, shape (side, side), 0 to 1."""
    corners = ((np.array(outline) + 1) * (_OVERSAMPLING * side - 1) / 2 for outline in outlines)
    return filled(corners, (side, side), _OVERSAMPLING)


Texture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Glint:
    """Directions to the lamp and the camera in the frame of a tile.

    Attributes:
        lamp, camera: Unit vectors, shape (3,), with z up.
    """

    lamp: NDArray[np.float64]
    camera: NDArray[np.float64]


OVERHEAD_GLINT = Glint(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))


def _paint_pips(
    face: FloatImage,
    grid: FaceGrid,
    look: TileLook,
    pips: int,
    half: int,
    light: NDArray[np.float64],
    rng: np.random.Generator,
) -> None:
    """Paint the pips of a half in place. *light* points to the lamp in the tile frame."""
    if pips == 0:
        return
    is_placed = pips < len(look.placed_pips)
    if is_placed or look.pip_jitter > 0:
        separate = _placed(grid, look, pips, half) if is_placed else _by_hand(grid, look, pips, half, rng)
        for spots in separate:
            _paint_spots(face, spots, look, look.pip_bgr[pips], light)
        return
    if (pips, half) not in grid.spots:
        places_mm, radii_mm = pip_places_mm(look, pips, half)
        grid.spots[pips, half] = spots_of(grid, places_mm, float(radii_mm[0]), look.pip_outline)
    _paint_spots(face, grid.spots[pips, half], look, look.pip_bgr[pips], light)


def _placed(grid: FaceGrid, look: TileLook, pips: int, half: int) -> Iterator[Spots]:
    """Yield the pips of a half at the positions that the look specifies."""
    places = zip(*pip_places_mm(look, pips, half), look.placed_pips[pips], strict=True)
    for place_mm, radius_mm, pip in places:
        yield spots_of(grid, place_mm[None], float(radius_mm), pip.outline)


def _by_hand(grid: FaceGrid, look: TileLook, pips: int, half: int, rng: np.random.Generator) -> Iterator[Spots]:
    """Yield the pips of a half as painted by hand: displaced, uneven in size, and rarely touching."""
    places_mm, radii_mm = pip_places_mm(look, pips, half)
    usual_mm = float(radii_mm[0])
    moved_mm = places_mm + rng.normal(0, look.pip_jitter * look.width_mm / 2, places_mm.shape)
    # Displaced pips stay on their half.
    middle_mm = np.array([(-1.0 if half == 0 else 1.0) * look.length_mm / 4, 0.0])
    reach_mm = np.array([look.length_mm / 4, look.width_mm / 2]) - usual_mm
    moved_mm = np.clip(moved_mm, middle_mm - reach_mm, middle_mm + reach_mm)
    gaps_mm = np.linalg.norm(moved_mm[:, None] - moved_mm[None], axis=2) + 1e9 * np.eye(pips)
    room_mm = np.minimum(gaps_mm.min(axis=1) * 0.48, usual_mm)
    radii_mm = room_mm * np.exp(rng.normal(-1.5 * look.pip_jitter, 2 * look.pip_jitter, pips))
    for place_mm, radius_mm in zip(moved_mm, np.clip(radii_mm, 0.35 * usual_mm, 1.3 * usual_mm), strict=True):
        yield spots_of(grid, place_mm[None], float(radius_mm), look.pip_outline)


def _paint_spots(face: FloatImage, spots: Spots, look: TileLook, bgr: Bgr, light: NDArray[np.float64]) -> None:
    side = spots.x.shape[2]
    part = np.empty((3, len(spots.rows), side, side), face.dtype)
    for index, (rows, columns) in enumerate(zip(spots.rows, spots.columns, strict=True)):
        part[:, index] = face[:, rows, columns]
    _shade_pips(part, spots, look, bgr, light.astype(np.float32))
    for index, (rows, columns) in enumerate(zip(spots.rows, spots.columns, strict=True)):
        face[:, rows, columns] = part[:, index]


def _shine(spots: Spots, place: NDArray[np.float32], width: float, strength: float) -> FloatImage:
    """Return the reflection of the lamp in pips. *place* and *width* are in pip radii."""
    distance = (spots.x - place[0]) ** 2 + (spots.y - place[1]) ** 2
    shine: FloatImage = spots.cover * np.exp(distance * np.float32(-1 / width**2)) * np.float32(strength)
    return shine


def _shade_pips(part: FloatImage, spots: Spots, look: TileLook, bgr: Bgr, light: NDArray[np.float32]) -> None:
    """Paint pips of the same colour into *part*, shape (3, N, K, K), in place."""
    cover, distance, depth = spots.cover, spots.distance, np.float32(look.pip_depth)
    side = np.float32(np.hypot(light[0], light[1])) + np.float32(1e-6)
    facing = spots.x * (light[0] / side) + spots.y * (light[1] / side)
    match look.pip_kind:
        case PipKind.FLAT:
            blend(part, cover, bgr)
        case PipKind.ENGRAVED:
            blend(part, cover, bgr, 1 - 0.7 * depth * side * facing)
            rim = cover * np.clip((distance - 0.72) / 0.28, 0, 1) * (0.6 * depth)
            blend(part, rim * (facing > 0), (15.0, 15.0, 15.0))
            blend(part, rim * (facing < -0.35), (215.0, 220.0, 220.0))
            blend(part, _shine(spots, -0.35 * light, 0.2, 0.8 * look.gloss), (245.0, 245.0, 245.0))
        case PipKind.RING:
            blend(part, cover - disc(distance, 0.62, spots.sharp), bgr)
            blend(part, disc(distance, 0.3, spots.sharp) * depth, bgr)
        case PipKind.GLOSSY:
            blend(part, cover, bgr, 1 + 0.55 * depth * side * facing - 0.35 * distance**2)
            blend(part, _shine(spots, 0.3 * light, 0.18, look.gloss), (250.0, 250.0, 250.0))
        case PipKind.DRILLED:
            blend(part, cover, bgr, 1 - 0.45 * depth * side * facing)
            blend(part, disc(distance, 0.34, spots.sharp) * depth, mixed(bgr, look.face_bgr, 0.45))


def _middle(grid: FaceGrid, half_width_mm: float) -> slice:
    """Return the texture columns within *half_width_mm* of the middle line, with a margin."""
    width = grid.alpha.shape[1]
    reach = math.ceil((half_width_mm + 1.0) * grid.scale) + 2
    return slice(max(0, width // 2 - reach), min(width, width // 2 + reach))


def _paint_bar(
    face: FloatImage, grid: FaceGrid, look: TileLook, light: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Paint the bar in place. A groove has a lit and a dark wall."""
    if look.bar_kind in (BarKind.NONE, BarKind.PIN):
        return
    half_mm = look.bar_thickness_mm / 2
    columns = _middle(grid, half_mm)
    part, x_mm = face[:, :, columns], grid.x_mm[:, columns]
    ends = disc(np.abs(grid.y_mm), look.bar_length * look.width_mm / 2, grid.scale)
    if look.bar_worn > 0:
        ends = ends * worn_bar(grid, look, rng)[:, columns]
    distance_mm = np.abs(x_mm)
    if look.bar_kind is BarKind.DOUBLE:
        distance_mm, half_mm = np.abs(distance_mm - np.float32(0.75 * half_mm)), 0.3 * half_mm
    blend(part, disc(distance_mm, half_mm, grid.scale) * ends, look.bar_bgr)
    if look.bar_kind is BarKind.GROOVE:
        wall_mm = math.copysign(0.8 * half_mm, light[0])
        strength = np.float32(0.5 * abs(light[0]))
        lit = disc(np.abs(x_mm + wall_mm), 0.45 * half_mm, grid.scale) * ends
        blend(part, lit * strength, (200.0, 205.0, 205.0))
        dark = disc(np.abs(x_mm - wall_mm), 0.4 * half_mm, grid.scale) * ends
        blend(part, dark * strength, (10.0, 10.0, 10.0))


def _paint_pin(face: FloatImage, grid: FaceGrid, look: TileLook, light: NDArray[np.float64]) -> None:
    """Paint the central pin in place."""
    if look.bar_kind not in (BarKind.PIN, BarKind.LINE_PIN):
        return
    columns = _middle(grid, 1.3 * look.pin_radius_mm)
    part, x_mm = face[:, :, columns], grid.x_mm[:, columns]
    distance = np.hypot(x_mm, grid.y_mm) / np.float32(look.pin_radius_mm)
    sharp = look.pin_radius_mm * grid.scale
    facing = (x_mm * np.float32(light[0]) + grid.y_mm * np.float32(light[1])) / np.float32(look.pin_radius_mm)
    blend(part, disc(distance, 1.25, sharp) * np.float32(0.35), (20.0, 20.0, 20.0))
    blend(part, disc(distance, 1.0, sharp), look.pin_bgr, 0.85 + 0.5 * facing)


def _paint_border(face: FloatImage, grid: FaceGrid, look: TileLook) -> None:
    """Paint the printed line around the face in place."""
    distance_mm = np.maximum(
        np.abs(grid.x_mm) - (look.length_mm / 2 - look.border_mm),
        np.abs(grid.y_mm) - (look.width_mm / 2 - look.border_mm),
    )
    blend(face, disc(np.abs(distance_mm).astype(np.float32), 0.35, grid.scale), look.bar_bgr)


def _paint_back(face: FloatImage, grid: FaceGrid, look: TileLook) -> None:
    """Paint the emblem of the back in place, if the set has one."""
    if not look.has_emblem:
        return
    distance = np.hypot(grid.x_mm / 1.5, grid.y_mm)
    ring = disc(np.abs(distance - look.width_mm * 0.3), 0.5, grid.scale)
    star = disc(np.abs(grid.x_mm * grid.y_mm) / (0.12 * look.width_mm), 1.0, grid.scale)
    blend(face, np.maximum(ring, star * (distance < look.width_mm * 0.24)), mixed(look.back_bgr, look.bar_bgr, 0.4))


def _age(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Add cracks, stains, scratches and chips to the face in place."""
    if look.cracks > 0:
        paint_cracks(face, grid, look, rng)
    if look.wear == 0:
        return
    height, width = grid.alpha.shape
    stain = np.clip(noise.cloud(rng, height, width, 5 * grid.scale) - 0.8, 0, 1) * (0.35 * look.wear)
    blend(face, stain, (60.0, 85.0, 100.0))
    scratches = np.zeros((height, width), np.uint8)
    for _ in range(rng.poisson(6 * look.wear)):
        start = rng.uniform(0, 1, 2) * (width, height)
        end = start + rng.normal(0, 6 * grid.scale, 2)
        cv2.line(scratches, _pixel(start), _pixel(end), int(rng.integers(40, 160)), 1, cv2.LINE_AA)
    blend(face, scratches.astype(np.float32) * (look.wear / 255), (170.0, 175.0, 180.0))
    chips = np.clip(noise.cloud(rng, height, width, 1.5 * grid.scale) - 2.2, 0, 1) * look.wear
    blend(face, chips, look.face_bgr)


def _wrap(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Add the reflections of a wrinkled plastic film in place."""
    height, width = grid.alpha.shape
    fold = np.abs(noise.cloud(rng, height, width, (7 * grid.scale, 3.5 * grid.scale)))
    patch = np.clip(noise.cloud(rng, height, width, 9 * grid.scale), 0, 1)
    blend(face, np.clip(0.35 - fold * 3, 0, 1) * patch * look.wrap, (255.0, 255.0, 255.0))


def _pixel(point: NDArray[np.float64]) -> tuple[int, int]:
    return (round(float(point[0])), round(float(point[1])))


def paint_face(
    grid: FaceGrid,
    look: TileLook,
    pips: tuple[int, int] | None,
    glint: Glint,
    ambient: float,
    rng: np.random.Generator,
) -> Texture:
    """Return the texture of a tile's face, or of its back if *pips* is None.

    Args:
        glint: Directions to lamp and camera.
        ambient: Share of ambient light.

    Returns:
        Shape (H, W, 4): BGR premultiplied by the alpha in the last channel.
    """
    light = glint.lamp
    height, width = grid.alpha.shape
    face = np.empty((3, height, width), np.float32)
    face[:] = np.array(look.face_bgr if pips is not None else look.back_bgr, np.float32)[:, None, None]
    if look.mottle > 0:
        face *= 1 + np.float32(look.mottle) * noise.cloud(rng, height, width, 3 * grid.scale)
    if look.border_mm > 0 and pips is not None:
        _paint_border(face, grid, look)
    if pips is None:
        _paint_back(face, grid, look)
        paint_marks(face, grid, look, look.back_marks, light)
    else:
        _paint_bar(face, grid, look, light, rng)
        _paint_pin(face, grid, look, light)
        for half in range(2):
            if look.numerals is None:
                _paint_pips(face, grid, look, pips[half], half, light, rng)
            else:
                paint_numeral(face, grid, look, pips[half], half)
        paint_marks(face, grid, look, look.marks, light)
    _age(face, grid, look, rng)
    face *= _shading(grid, look, light.astype(np.float32), np.float32(ambient))
    shine = _edge_shine(grid, look, glint, np.float32(1 - ambient))
    np.sqrt(face * face + shine * shine, out=face)  # sums light, as in `lighting.add_light`
    if look.wrap > 0:
        _wrap(face, grid, look, rng)
    if look.blobs > 0 or look.streaks > 0:
        paint_reflections(face, grid, look, rng)
    face *= grid.alpha
    np.minimum(face, 255, out=face)
    np.maximum(face, 0, out=face)
    planes = face.astype(np.uint8)
    return cv2.merge([*planes, (grid.alpha * 255).astype(np.uint8)]).astype(np.uint8, copy=False)


def _shading(grid: FaceGrid, look: TileLook, light: NDArray[np.float32], ambient: np.float32) -> FloatImage:
    """Return the brightness of the face and rounded edge, relative to the flat face."""
    diffuse = grid.normal_x * light[0] + grid.normal_y * light[1] + grid.normal_z * light[2]
    diffuse *= (1 - ambient) / max(light[2], np.float32(0.3))
    np.clip(diffuse, 0, 1.8 * (1 - ambient), out=diffuse)
    diffuse += ambient
    shading: FloatImage = diffuse * (1 - np.float32(look.crease) * grid.edge)
    return shading


def _edge_shine(grid: FaceGrid, look: TileLook, glint: Glint, direct: np.float32) -> FloatImage:
    """Return the lamp's reflection on the face and rounded edge, in grey levels."""
    half = glint.lamp + glint.camera
    half = (half / np.linalg.norm(half)).astype(np.float32)
    facing = grid.normal_x * half[0] + grid.normal_y * half[1] + grid.normal_z * half[2]
    np.maximum(facing, 0, out=facing)
    for _ in range(6):  # power of 64, for the highlight of polished plastic, about 10 degrees wide
        facing *= facing
    shine: FloatImage = facing * (np.float32(150 * look.gloss) * direct)
    return shine
