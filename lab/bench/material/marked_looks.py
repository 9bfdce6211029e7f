"""Draw what real tiles carry beside their pips onto finished pictures: holes, names, damage, emblems, film and glare.

Training never draws these marks. They are drawn on the plane of each tile and share no code with the marks of
`lab.render`. A person can still count all pips.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.handmade import star
from lab.render.faces import pip_places_mm
from lab.render.scene import PlacedTile, Scene, TileLook
from lab.render.view import View
from vision.arrays import Bgr, FloatImage, Image
from vision.image.picture import load_picture

Rng = np.random.Generator
Line = Sequence[complex] | NDArray[np.complexfloating[Any, Any]]
"""Points on a tile as complex numbers in millimetres from its middle, with x along the tile."""

# Drawn pixels per pixel of the picture, and the least per millimetre. They are averaged before the warp.
_OVERSAMPLING = 3
_MIN_SCALE = 9.0
_SHIFT = 4
# Least difference between a pip and the face under glare, in grey levels, and clear space around pips.
_LEFT_CONTRAST = 80.0
_CLEAR_MM = 0.35
_WHITE: Bgr = (255.0, 255.0, 255.0)
_BLACK: Bgr = (18.0, 18.0, 20.0)
_INKS: tuple[Bgr, ...] = (_BLACK, (40, 40, 170), (130, 60, 20), (50, 150, 205), (60, 110, 40), (235, 240, 240))
_METALS: tuple[Bgr, ...] = ((95, 165, 200), (175, 180, 182), (70, 110, 165))
_NAMES = ("DOMINEX", "TALLY & SONS", "La Perla", "Ivorex", "ROYAL", "MADE BY HAND", "Capicu", "CLUB 1912", "N. Berg")


class Mark(StrEnum):
    """Kind of mark. All tiles of a table carry the same kind."""

    HOLE = "small holes"
    RIVET = "rivets"
    NAME = "maker's names"
    SERIAL = "serial digits"
    CRACK = "cracks"
    CHIP = "chipped corners"
    STICKER = "stickers"
    GLUE = "dried glue"
    WRAP = "shrink wrap"
    GLARE = "glare"
    EMBLEM = "emblems on backs"
    SEVERAL = "three of these"


class _Face:
    """Layer of paint and light over a tile.

    Attributes:
        half: Half extent of the tile in millimetres, as a complex number.
        pips: Coverage of the pips, 0 to 1, shape (H, W).
        numbers: Pips of both halves, or None for a back.
        blank: Halves without pips.
    """

    def __init__(self, look: TileLook, pips: tuple[int, int] | None, px_per_mm: float) -> None:
        self.look = look
        self.half = complex(look.length_mm, look.width_mm) / 2
        self._scale = max(_MIN_SCALE, _OVERSAMPLING * px_per_mm)
        shape = (round(look.width_mm * self._scale), round(look.length_mm * self._scale))
        self._bgr: FloatImage = np.zeros((*shape, 3), np.float32)
        self._alpha: FloatImage = np.zeros(shape, np.float32)
        self._light: FloatImage = np.zeros(shape, np.float32)
        places = [(at, radius) for half in (0, 1) for at, radius in _pips_of(look, pips, half)]
        self.pips = self.covered(_disc(at, radius + _CLEAR_MM) for at, radius in places)
        self.numbers = pips
        self.blank = () if pips is None else tuple(half for half in (0, 1) if pips[half] == 0)

    def covered(self, outlines: Iterable[Line]) -> FloatImage:
        """Return the coverage of outlines, shape (H, W)."""
        cover = np.zeros(self._alpha.shape, np.uint8)
        for outline in outlines:
            cv2.fillPoly(cover, [self._fixed(outline)], (255,), cv2.LINE_AA, _SHIFT)
        return cover / np.float32(255)

    def stroked(self, lines: Iterable[Line], width_mm: float) -> FloatImage:
        """Return the coverage of lines, shape (H, W)."""
        cover = np.zeros(self._alpha.shape, np.uint8)
        width, is_closed = max(1, round(width_mm * self._scale)), False
        for line in lines:
            cv2.polylines(cover, [self._fixed(line)], is_closed, (255,), width, cv2.LINE_AA, _SHIFT)
        return cover / np.float32(255)

    def written(self, text: str, middle: complex, height_mm: float, turn_rad: float, font: int) -> FloatImage:
        """Return the coverage of a text, shape (H, W)."""
        size = height_mm * self._scale / 21  # Capitals of OpenCV's fonts are 21 pixels high.
        thick = max(1, round(height_mm * self._scale * (0.16 if font & 7 in (2, 4) else 0.11)))
        (width, height), _ = cv2.getTextSize(text, font, size, thick)
        sheet = np.zeros((3 * height, width + 2 * height), np.uint8)
        cv2.putText(sheet, text, (height, 2 * height), font, size, 255, thick, cv2.LINE_AA)
        cos, sin, at = math.cos(turn_rad), math.sin(turn_rad), ((middle + self.half) * self._scale - 0.5 - 0.5j)
        x, y = sheet.shape[1] / 2, 1.5 * height
        move = np.array([[cos, -sin, at.real - cos * x + sin * y], [sin, cos, at.imag - sin * x - cos * y]])
        return cv2.warpAffine(sheet, move, self._alpha.shape[::-1]).astype(np.float32) / np.float32(255)

    def paint(self, cover: FloatImage, bgr: Bgr, opacity: float = 1.0, *, over_pips: bool = False) -> None:
        """Paint a colour, around the pips unless *over_pips*."""
        cover = cover * np.float32(opacity) * (1 if over_pips else 1 - self.pips)
        self._cover(cover, np.array(bgr, np.float32))

    def print_photo(self, photo: Image, cover: FloatImage) -> None:
        """Print a picture over a part of the tile."""
        self._cover(cover, cv2.resize(photo, self._alpha.shape[::-1], interpolation=cv2.INTER_AREA).astype(np.float32))

    def shine(self, light: FloatImage) -> None:
        """Add light, in grey levels."""
        self._light += light

    def soft(self, cover: FloatImage, sigma_mm: float) -> FloatImage:
        """Return a blurred coverage."""
        return cv2.GaussianBlur(cover, (0, 0), max(0.3, sigma_mm * self._scale)).astype(np.float32, copy=False)

    def cast_on(self, picture: Image, placed: PlacedTile, view: View) -> None:
        """Paint the layer onto the tile in a picture, in place."""
        layer = np.dstack([self._bgr, self._alpha * 255, self._light])
        reduced = cv2.resize(layer, None, fx=1 / 2, fy=1 / 2, interpolation=cv2.INTER_AREA)
        rows, columns = reduced.shape[:2]
        frame_px = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], np.float32) - np.float32(0.5)
        half_mm = np.array([self.half.real, self.half.imag])
        frame_mm = placed.to_table(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half_mm)
        frame = view.project(frame_mm, placed.height_mm + self.look.thickness_mm)
        low = np.maximum(np.floor(frame.min(axis=0)).astype(int) - 1, 0)
        high = np.minimum(np.ceil(frame.max(axis=0)).astype(int) + 2, picture.shape[1::-1])
        warp = cv2.getPerspectiveTransform(frame_px, (frame - low).astype(np.float32))
        size = (int(high[0] - low[0]), int(high[1] - low[1]))
        cast = cv2.warpPerspective(reduced, warp, size, flags=cv2.INTER_AREA)
        part = picture[low[1] : high[1], low[0] : high[0]]
        lit = part * (1 - cast[..., 3:4] / 255) + cast[..., :3] + cast[..., 4:]
        part[:] = np.clip(lit, 0, 255).astype(np.uint8)

    def _cover(self, cover: FloatImage, bgr: NDArray[np.float32]) -> None:
        """Lay a colour or a picture over the layer, whose colours are premultiplied."""
        self._bgr += cover[..., None] * (bgr - self._bgr)
        self._alpha += cover * (1 - self._alpha)

    def _fixed(self, line: Line) -> NDArray[np.int32]:
        points = (np.asarray(line, np.complex128) + self.half) * self._scale - 0.5 - 0.5j
        return np.asarray(np.column_stack([points.real, points.imag]) * 2**_SHIFT + 0.5).astype(np.int32)


Draw = Callable[[_Face, Rng], None]


@dataclass(frozen=True, slots=True)
class _Set:
    """Properties that the tiles of a set share: the look, its highest number, and a source of random choices."""

    look: TileLook
    highest: int
    rng: Rng

    def pick_ink(self, *others: Bgr) -> Bgr:
        """Return a colour that differs from others."""
        differences = np.array([min(math.dist(ink, other) for other in others) for ink in _INKS])
        visible = np.flatnonzero(differences >= min(90, differences.max()))
        return _INKS[int(self.rng.choice(visible))]

    def smaller_than_pips(self, radius_mm: tuple[float, float], share: float) -> float:
        """Return a radius in a range, at most a share of the smallest pip's radius."""
        pips = [radius for n in range(1, self.highest + 1) for _, radius in _pips_of(self.look, (n, n), 0)]
        return min(self.rng.uniform(*radius_mm), share * min(pips, default=math.inf))

    def clear_place(self, radius_mm: float) -> complex | None:
        """Return a place that is clear of the pips of every number, or None."""
        return _clear_place(self.look, [(n, n) for n in range(self.highest + 1)], radius_mm, self.rng)


def paint_marks(picture: Image, scene: Scene, tiles: Iterable[int], view: View, mark: Mark, rng: Rng) -> None:
    """Paint marks of a kind on tiles of a pinhole picture, in place.

    Args:
        picture: Picture before exposure and lens effects.
        tiles: Indices of the tiles to mark. They must not be hidden.
        mark: Kind of mark. Emblems are only drawn on face-down tiles, all others on face-up tiles.
    """
    highest = max((max(tile.pips) for tile in scene.tiles if tile.pips), default=0)
    for look_at, look in enumerate((scene.tile, *scene.more_looks)):
        tile_set = _Set(look, highest, rng)
        kinds = rng.choice(_ON_FACES, 3, replace=False).tolist() if mark is Mark.SEVERAL else [mark]
        draws = [_DRAWN[Mark(kind)](tile_set) for kind in kinds]
        for placed in (scene.tiles[tile] for tile in tiles if scene.tiles[tile].look == look_at):
            if (placed.pips is None) == (mark is Mark.EMBLEM):
                face = _Face(look, placed.pips, scene.camera.px_per_mm)
                for draw in draws:
                    draw(face, rng)
                face.cast_on(picture, placed, view)


def _disc(middle: complex, radius: float, squeeze: float = 1.0) -> NDArray[np.complex128]:
    """Return the outline of an ellipse."""
    turns = np.linspace(0, 2 * math.pi, 40)
    return np.asarray(middle + radius * (np.cos(turns) + 1j * squeeze * np.sin(turns)))


def _pips_of(look: TileLook, pips: tuple[int, int] | None, half: int) -> list[tuple[complex, float]]:
    if pips is None or pips[half] == 0:
        return []
    centers_mm, radii_mm = pip_places_mm(look, pips[half], half)
    return [(complex(x, y), float(radius)) for (x, y), radius in zip(centers_mm, radii_mm, strict=True)]


def _clear_place(look: TileLook, numbers: Iterable[tuple[int, int]], radius_mm: float, rng: Rng) -> complex | None:
    """Return a random place on a face that is clear of all pips of *numbers*, or None."""
    pips = [pip for pair in numbers for half in (0, 1) for pip in _pips_of(look, pair, half)]
    room = complex(look.length_mm, look.width_mm) / 2 - (1 + 1j) * (radius_mm + 0.8)
    for _ in range(60):
        place = complex(rng.uniform(-1, 1) * room.real, rng.uniform(-1, 1) * room.imag)
        if all(abs(place - at) > radius + radius_mm + _CLEAR_MM for at, radius in pips):
            return place
    return None


# Marks of a set: all tiles have them in the same place.


def _holes(tile_set: _Set) -> Draw:
    """Drill a small hole in each half, or two beside the bar."""
    radius = tile_set.smaller_than_pips((0.35, 0.65), 0.4)
    first = tile_set.clear_place(radius) or 0.45j * tile_set.look.width_mm
    if tile_set.rng.random() < 0.4:
        first = complex(tile_set.rng.uniform(0.9, 1.6) + radius, first.imag)
    tint = tile_set.rng.uniform(0.1, 0.45)
    bgr = tuple(tint * channel for channel in tile_set.look.face_bgr)

    def draw(face: _Face, rng: Rng) -> None:
        holes = [_disc(first, radius), _disc(-first, radius)]
        face.paint(face.covered(holes), (bgr[0], bgr[1], bgr[2]))
        lit = [hole + (0.35 + 0.35j) * radius for hole in (_disc(first, radius), _disc(-first, radius))]
        face.paint(face.covered(lit) * (1 - face.covered(holes)), _WHITE, 0.4)

    return draw


def _rivets(tile_set: _Set) -> Draw:
    """Set two or four metal rivets at odd places."""
    radius = tile_set.smaller_than_pips((0.7, 1.2), 0.65)
    half = complex(tile_set.look.length_mm, tile_set.look.width_mm) / 2
    corner = half - (1 + 1j) * (radius + tile_set.rng.uniform(0.5, 1.2))
    at_bar = complex(0, corner.imag)
    clear = tile_set.clear_place(radius)
    places = ((corner, corner.conjugate()), (at_bar,), (clear or corner,), (complex(corner.real, 0),))
    chosen = places[int(tile_set.rng.integers(len(places)))]
    metal = _METALS[int(tile_set.rng.integers(len(_METALS)))]

    def draw(face: _Face, rng: Rng) -> None:
        for place in (sign * at for at in chosen for sign in (1, -1)):
            face.paint(face.covered([_disc(place, 1.2 * radius)]), _BLACK, 0.35)
            face.paint(face.covered([_disc(place, radius)]), metal)
            glint = place - (0.3 + 0.3j) * radius
            face.paint(face.soft(face.covered([_disc(glint, 0.4 * radius)]), 0.15), _WHITE, 0.8)

    return draw


def _names(tile_set: _Set) -> Draw:
    """Write the maker's name along the bar, along an edge, or on blank halves below a logo."""
    rng, look = tile_set.rng, tile_set.look
    text, font = _NAMES[int(rng.integers(len(_NAMES)))], _draw_font(rng)
    where, ink, opacity = int(rng.integers(3)), tile_set.pick_ink(look.face_bgr), rng.uniform(0.5, 1.0)
    height = min(rng.uniform(1.2, 2.6), 1.1 * look.width_mm / len(text))

    def draw(face: _Face, rng: Rng) -> None:
        if where == 0:
            face.paint(face.written(text, complex(1.2 * height, 0), height, math.pi / 2, font), ink, opacity)
        elif where == 1:
            place = complex(0.5 * face.half.real, face.half.imag - 0.9 * height)
            face.paint(face.written(text, place, height, 0.0, font), ink, opacity)
        for half in face.blank if where == 2 else ():
            place = complex((half - 0.5) * face.half.real, 0)
            face.paint(face.written(text, place + 2.5j, height, 0.0, font), ink, opacity)
            logo = place - 3.5j + 3.2 * _complex(star(5, 0.45))
            face.paint(face.stroked([[*logo, logo[0]]], 0.5), ink, opacity)

    return draw


def _serials(tile_set: _Set) -> Draw:
    """Stamp a number of two to five digits at the end of a tile."""
    height, digits, font = tile_set.rng.uniform(1.2, 2.2), int(tile_set.rng.integers(2, 6)), _draw_font(tile_set.rng)
    ink, opacity = tile_set.pick_ink(tile_set.look.face_bgr), tile_set.rng.uniform(0.5, 1.0)
    is_across = tile_set.rng.random() < 0.6

    def draw(face: _Face, rng: Rng) -> None:
        text = "".join(map(str, rng.integers(0, 10, digits)))
        out = face.half - (1 + 1j) * (0.9 * height)
        place = complex(out.real, 0) if is_across else complex(out.real - 0.4 * digits * height, out.imag)
        face.paint(face.written(text, place, height, math.pi / 2 if is_across else 0.0, font), ink, opacity)

    return draw


def _draw_font(rng: Rng) -> int:
    fonts = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_DUPLEX)
    return int(rng.choice(fonts)) | (cv2.FONT_ITALIC if rng.random() < 0.3 else 0)


def _complex(outline: Iterable[tuple[float, float]]) -> NDArray[np.complex128]:
    return np.array([complex(x, y) for x, y in outline])


# Damage and dirt: every tile has its own, and some have none.


def _cracks(tile_set: _Set) -> Draw:
    """Crack tiles from an edge inwards, with branches: dark, or pale on dark tiles."""
    bgr = _BLACK if np.mean(tile_set.look.face_bgr) > 70 else (130.0, 140.0, 145.0)

    def draw(face: _Face, rng: Rng) -> None:
        for _ in range(int(rng.integers(0, 4))):
            place = complex(rng.uniform(-0.9, 0.9) * face.half.real, face.half.imag * rng.choice([-1, 1]))
            heading = complex(rng.uniform(-0.8, 0.8), -np.sign(place.imag))
            line = _jagged(place, heading, int(rng.integers(6, 22)), rng)
            branch = _jagged(line[len(line) // 2], heading * np.exp(0.7j * rng.choice([-1, 1])), 5, rng)
            width = rng.uniform(0.12, 0.35)
            face.paint(face.stroked([line + 0.6 * width, branch + 0.6 * width], width), _WHITE, 0.25, over_pips=True)
            face.paint(face.stroked([line, branch], width), bgr, rng.uniform(0.5, 0.9), over_pips=True)

    return draw


def _jagged(start: complex, heading: complex, steps: int, rng: Rng) -> NDArray[np.complex128]:
    turns = np.cumsum(rng.normal(0, 0.35, steps)) * 0.6
    return np.asarray(start + np.cumsum(heading / abs(heading) * rng.uniform(0.5, 1.5, steps) * np.exp(1j * turns)))


def _chips(tile_set: _Set) -> Draw:
    """Break off corners and nick edges. The broken surface is rough and paler or darker."""
    shade = tile_set.rng.uniform(0.5, 1.25)
    broken = tuple(min(255.0, shade * channel) for channel in tile_set.look.side_bgr)

    def draw(face: _Face, rng: Rng) -> None:
        for corner in (1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j):
            if rng.random() < 0.35:
                reach, sides = rng.uniform(1.5, 4.5), np.linspace(0, 1, 7)
                point = complex(corner.real * face.half.real, corner.imag * face.half.imag)
                edge = point - reach * (corner.real * (1 - sides) * rng.uniform(0.7, 1.3) + 1j * corner.imag * sides)
                edge = edge + rng.normal(0, 0.25, 7) + 1j * rng.normal(0, 0.25, 7)
                outside = point + 2 * corner
                piece = face.covered([[outside, complex(outside.real, edge[-1].imag), *edge[::-1], outside]])
                face.paint(piece, (broken[0], broken[1], broken[2]))
                face.paint(face.stroked([edge], 0.25), _BLACK, 0.5)

    return draw


def _stickers(tile_set: _Set) -> Draw:
    """Put small round or square stickers beside the pips of most tiles."""
    look = tile_set.look
    largest, ink = tile_set.rng.uniform(2.5, 4.5), tile_set.pick_ink(look.face_bgr, *look.pip_bgr)
    is_round, text = tile_set.rng.random() < 0.6, str(tile_set.rng.integers(1, 99))
    least = 1.3 * _pips_of(look, (1, 1), 0)[0][1]  # A smaller one could be counted as a pip.

    def draw(face: _Face, rng: Rng) -> None:
        if rng.random() < 0.1 or face.numbers is None:
            return
        for radius in largest * 0.85 ** np.arange(4):
            place = _clear_place(face.look, [face.numbers], float(radius), rng)
            if place is not None and radius > least:
                square = radius * np.exp(1j * (np.arange(4) * math.pi / 2 + rng.uniform(0, 1.5)))
                face.paint(face.covered([_disc(place, radius) if is_round else place + square]), ink)
                label = _WHITE if sum(ink) < 380 else _BLACK
                face.paint(face.written(text, place, 0.8 * radius, rng.uniform(-3, 3), 0), label)
                return

    return draw


def _glue(tile_set: _Set) -> Draw:
    """Leave translucent smears of dried glue with a darker rim, also over pips."""
    bgr = ((70.0, 130.0, 165.0), (150.0, 165.0, 170.0), (60.0, 90.0, 110.0))[int(tile_set.rng.integers(3))]

    def draw(face: _Face, rng: Rng) -> None:
        for _ in range(int(rng.integers(0, 4))):
            place = complex(rng.uniform(-1, 1) * face.half.real, rng.uniform(-1, 1) * face.half.imag)
            turns = np.linspace(0, 2 * math.pi, 60)
            waves = sum(rng.normal(0, 0.25 / wave) * np.sin(wave * turns + rng.uniform(0, 6)) for wave in range(1, 6))
            smear = np.exp(1j * turns) * (1 + waves) * rng.uniform(2.0, 5.0)
            smear = place + (smear.real * rng.uniform(0.5, 2.0) + 1j * smear.imag) * np.exp(1j * rng.uniform(0, 3))
            face.paint(face.covered([smear]), bgr, rng.uniform(0.15, 0.35), over_pips=True)
            face.paint(face.stroked([smear], rng.uniform(0.2, 0.5)), bgr, rng.uniform(0.3, 0.6), over_pips=True)

    return draw


def _wraps(tile_set: _Set) -> Draw:
    """Wrap tiles in film with sharp straight and curved reflections."""
    haze, count = tile_set.rng.uniform(0.0, 0.1), int(tile_set.rng.integers(2, 7))

    def draw(face: _Face, rng: Rng) -> None:
        face.paint(np.ones_like(face.pips), _WHITE, haze, over_pips=True)
        for _ in range(count):
            start = complex(rng.uniform(-1, 1) * face.half.real, rng.choice([-1, 1]) * face.half.imag)
            along = np.linspace(0, 1, 24)
            heading = np.exp(1j * rng.uniform(-math.pi, math.pi)) * rng.uniform(6, 40)
            bend = 0j if rng.random() < 0.5 else 1j * heading * rng.uniform(-0.5, 0.5)
            line = start + heading * along + bend * along * (1 - along)
            wide = rng.uniform(0.2, 1.1) * np.sin(math.pi * along) ** 0.5 * 1j * heading / abs(heading)
            fold = np.concatenate([line + wide / 2, (line - wide / 2)[::-1]])
            face.paint(face.covered([fold]), _WHITE, rng.uniform(0.5, 0.95), over_pips=True)

    return draw


def _glares(tile_set: _Set) -> Draw:
    """Reflect a lamp in a part of one half or both. Pips under it become faint, but stay visible."""
    edge_mm, squeeze = tile_set.rng.uniform(0.3, 3.0), tile_set.rng.uniform(0.25, 1.0)
    grey = float(np.mean(tile_set.look.face_bgr))
    pips = [float(np.mean(bgr)) for bgr in tile_set.look.pip_bgr[1 : tile_set.highest + 1]]
    most = 255.0 - _LEFT_CONTRAST - max([min(grey, pip) for pip in pips], default=grey)

    def draw(face: _Face, rng: Rng) -> None:
        for half in (-0.5, 0.5):
            if rng.random() < 0.6:
                place = complex(half * face.half.real, 0) + complex(*rng.normal(0, 3.5, 2))
                blob = (_disc(place, rng.uniform(3.0, 9.0), squeeze) - place) * np.exp(1j * rng.uniform(0, 3))
                face.shine(face.soft(face.covered([place + blob]), edge_mm) * np.float32(max(0.0, most)))

    return draw


# Emblems on the backs.


def _emblems(tile_set: _Set) -> Draw:
    """Print an emblem on all backs: a crest, an animal, letters, an ornament or a photograph."""
    prints = (_crest, _animal, _letters, _ornament, _photograph)
    return prints[int(tile_set.rng.integers(len(prints)))](tile_set)


def _crest(tile_set: _Set) -> Draw:
    size, ink, second = (
        tile_set.look.width_mm * 0.4,
        tile_set.pick_ink(tile_set.look.back_bgr),
        int(tile_set.rng.integers(6)),
    )
    top = [-0.8 - 0.7j, -0.4 - 0.78j, -0.7j, 0.4 - 0.78j, 0.8 - 0.7j]
    side = [0.8 + 0.8j * np.sin(turn) - 0.8 * (1 - np.cos(turn)) for turn in np.linspace(0.1, 1.5, 8)]
    shield = size * np.array([*top, *side, *(complex(-point.real, point.imag) for point in side[::-1])])
    charges = [size * (place + 0.2 * _complex(star(5, 0.45))) for place in (-0.4 - 0.3j, 0.4 + 0.25j, -0.3 + 0.3j)]
    crown = size * np.array([-0.5 - 0.8j, -0.6 - 1.1j, -0.25 - 0.9j, -1.15j, 0.25 - 0.9j, 0.6 - 1.1j, 0.5 - 0.8j])

    def draw(face: _Face, rng: Rng) -> None:
        face.paint(face.covered([shield * -1j]), _INKS[second], 0.8)
        face.paint(face.stroked([[*shield * -1j, shield[0] * -1j], [size * -0.75, size * 0.75]], 0.8), ink)
        face.paint(face.covered([charge * -1j for charge in (*charges, crown)]), ink)

    return draw


def _animal(tile_set: _Set) -> Draw:
    ink, size, turn = (
        tile_set.pick_ink(tile_set.look.back_bgr),
        0.42 * tile_set.look.width_mm,
        int(tile_set.rng.integers(4)),
    )
    kinds = tuple(_ANIMALS.values())
    ellipses, lines, holes = kinds[int(tile_set.rng.integers(len(kinds)))]

    def draw(face: _Face, rng: Rng) -> None:
        bodies = [size * 1j**turn * _disc(at, radius, squeeze) for at, radius, squeeze in ellipses]
        face.paint(face.covered(bodies), ink)
        face.paint(face.covered([size * 1j**turn * np.array(line) for line in lines]), ink)
        face.paint(face.covered([size * 1j**turn * _disc(at, radius) for at, radius in holes]), face.look.back_bgr)

    return draw


def _letters(tile_set: _Set) -> Draw:
    rng, ink = tile_set.rng, tile_set.pick_ink(tile_set.look.back_bgr)
    text = rng.choice(["AB", "K", "GM", "R & S", "DOMINO", "CUBA", "TB", *_NAMES])
    height, font = min(0.5 * tile_set.look.width_mm, 1.1 * tile_set.look.length_mm / len(text)), _draw_font(rng)
    rings = [tile_set.look.width_mm * share for share in (0.4, 0.44)[: int(rng.integers(3))]] if len(text) < 3 else []

    def draw(face: _Face, rng: Rng) -> None:
        face.paint(face.written(text, 0j, height, 0.0, font), ink)
        face.paint(face.stroked([_disc(0j, radius) for radius in rings], 0.5), ink)

    return draw


def _ornament(tile_set: _Set) -> Draw:
    """Print a rosette, a lattice, a meander of dots, or rows of diamonds."""
    rng, look = tile_set.rng, tile_set.look
    ink, step, width = tile_set.pick_ink(look.back_bgr), rng.uniform(2.5, 5.0), rng.uniform(0.3, 0.8)
    turns = np.linspace(0, 4 * math.pi, 400)
    rosette = 0.42 * look.width_mm * np.cos(rng.integers(3, 9) / 2 * turns) * np.exp(1j * turns)
    kind, grid = int(rng.integers(4)), [complex(x, y) for x in np.arange(-30, 31) for y in np.arange(-15, 16)]
    inside = [step * at for at in grid if abs(at.real * step) < look.length_mm / 2 - 2 > abs(at.imag * step)]
    inside = [at for at in inside if abs(at.imag) < look.width_mm / 2 - 2]

    def draw(face: _Face, rng: Rng) -> None:
        if kind == 0:
            face.paint(face.stroked([rosette, _disc(0j, 0.44 * look.width_mm)], width), ink)
        elif kind == 1:
            slants = [[x - 60 - 60j, x + 60 + 60j] for x in np.arange(-60, 60, step)]
            crossed = np.array([*slants, *np.conj(slants)])
            face.paint(face.stroked(crossed, width) * face.covered([_frame(face, 1.5)]), ink)
        else:
            shapes = [_disc(at, 0.28 * step) if kind == 2 else at + 0.4 * step * 1j ** np.arange(4) for at in inside]
            face.paint(face.covered(shapes), ink)

    return draw


def _photograph(tile_set: _Set) -> Draw:
    photos, rng = _photos(), tile_set.rng
    photo = photos[int(rng.integers(len(photos)))]
    height = int(rng.uniform(0.15, 0.45) * photo.shape[0])
    top, left = int(rng.integers(photo.shape[0] - height)), int(rng.integers(photo.shape[1] - 2 * height + 1))
    margin = float(rng.choice([1.0, 2.5, 4.0]))

    def draw(face: _Face, rng: Rng) -> None:
        face.print_photo(photo[top : top + height, left : left + 2 * height], face.covered([_frame(face, margin)]))

    return draw


def _frame(face: _Face, margin_mm: float) -> Line:
    half = face.half - (1 + 1j) * margin_mm
    return [-half, -half.conjugate(), half, half.conjugate()]


@cache
def _photos() -> tuple[Image, ...]:
    """Return the two photographs that come with scikit-learn, a temple and a flower."""
    folder = files("sklearn.datasets.images")
    return tuple(load_picture(Path(str(folder / name))) for name in ("china.jpg", "flower.jpg"))


# Animals as ellipses (centre, radius, squeeze), polygons, and holes (centre, radius), across -1 to 1.
_ANIMALS: dict[str, tuple[list[tuple[complex, float, float]], list[list[complex]], list[tuple[complex, float]]]] = {
    "fish": ([(-0.15, 0.75, 0.5)], [[0.4, 1 - 0.45j, 0.85, 1 + 0.45j]], [(-0.6 - 0.08j, 0.07)]),
    "bird": (
        [(0.05j, 0.3, 1.7), (-0.5j, 0.2, 1.0)],
        [[-0.1 - 0.3j, -1 - 0.7j, -0.85 + 0.3j, -0.1 + 0.3j], [0.1 - 0.3j, 1 - 0.7j, 0.85 + 0.3j, 0.1 + 0.3j]],
        [(0.06 - 0.55j, 0.05)],
    ),
    "cat": (
        [(0.3j, 0.42, 1.3), (-0.45j, 0.34, 0.9)],
        [
            [-0.32 - 0.5j, -0.3 - 1j, -0.05 - 0.7j],
            [0.32 - 0.5j, 0.3 - 1j, 0.05 - 0.7j],
            [0.3 + 0.8j, 0.9, 1, 0.4 + 0.9j],
        ],
        [(-0.13 - 0.5j, 0.06), (0.13 - 0.5j, 0.06)],
    ),
    "butterfly": (
        [
            (-0.5 - 0.35j, 0.45, 1.0),
            (0.5 - 0.35j, 0.45, 1.0),
            (-0.4 + 0.4j, 0.35, 1.0),
            (0.4 + 0.4j, 0.35, 1.0),
            (0, 0.09, 7),
        ],
        [],
        [(-0.5 - 0.35j, 0.14), (0.5 - 0.35j, 0.14), (-0.4 + 0.4j, 0.1), (0.4 + 0.4j, 0.1)],
    ),
}

_DRAWN: dict[Mark, Callable[[_Set], Draw]] = {
    Mark.HOLE: _holes,
    Mark.RIVET: _rivets,
    Mark.NAME: _names,
    Mark.SERIAL: _serials,
    Mark.CRACK: _cracks,
    Mark.CHIP: _chips,
    Mark.STICKER: _stickers,
    Mark.GLUE: _glue,
    Mark.WRAP: _wraps,
    Mark.GLARE: _glares,
    Mark.EMBLEM: _emblems,
}
_ON_FACES = [mark for mark in _DRAWN if mark is not Mark.EMBLEM]
