"""Count the halves that the reader misreads on ten kinds of handmade sets, without knowing the set.

    python -m lab.bench.handmade [--tables 400] [--seed 2608] [--jobs 2]

The kinds are from `handmade_looks`. Each is a double-six set, scattered on a table of another colour, with halves of 30
to 80 pixels, a tilt of up to 25 degrees, good light and focus. A person could count every pip. The columns are those of
`lab.bench.foreign`.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.bench.material import judged_tables
from lab.bench.material.harness import options_of
from lab.render import looks, scene
from lab.render.layouts import visible_area
from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from lab.render.placements import random_hand, scatter
from lab.training.tables import table_of
from vision.arrays import Bgr, Points

# Ten kinds of sets with handmade pips that are not part of any training.
#
# The jittered pips of the training looks are round and slightly displaced, with a normal distribution. These pips are
# freely displaced, unequal or not round, but a person can still count them. All tiles of a table have different pips,
# even if they show the same number.


# Outlines of pips and signs from complex numbers, with x right and y down.


def corners(line: Sequence[complex] | np.ndarray) -> scene.Polygon:
    """Convert complex numbers to corners."""
    at = np.asarray(line, np.complex128)
    return tuple(zip(at.real.tolist(), at.imag.tolist(), strict=True))


def star(points: int, inner: float, radius: float = 1.0) -> scene.Polygon:
    """Return a star with a point at the top. Three points and *inner* 0.5 give a triangle."""
    turns = math.pi * np.arange(2 * points) / points - math.pi / 2
    return corners(np.where(np.arange(2 * points) % 2, inner, 1.0) * radius * np.exp(1j * turns))


HIGHEST = 6
# Limit of pips in half units, and minimum distance of two pips in sums of their radii, to keep them countable.
_WITHIN = 0.88
_MIN_DISTANCE = 1.2
# Number of tries before all pips shrink, factor by which they shrink, and minimum radius.
_TRIES = 20
_SHRINK = 0.94
_MIN_RADIUS = 0.085

Places = Callable[[np.random.Generator, int], Points]
Outline = Callable[[np.random.Generator], scene.Polygon]
Body = Callable[[np.random.Generator], scene.TileLook]


@dataclass(frozen=True, slots=True)
class HandmadeKind:
    """A kind of handmade set.

    Attributes:
        body: Draws a tile without pips.
        places: Draws the centres of a number of pips, shape (N, 2), in half units, as in `pip_centers`.
        radius: Usual radius of a pip in half units.
        sizes: Range of the factor on the radius, drawn for each pip.
    """

    name: str
    body: Body
    places: Places
    outline: Outline
    radius: float = 0.17
    sizes: tuple[float, float] = (0.8, 1.25)


def draw_handmade_looks(kind: HandmadeKind, rng: np.random.Generator, count: int) -> tuple[scene.TileLook, ...]:
    """Return the looks of *count* tiles of a set, which differ only in their pips."""
    body = replace(
        kind.body(rng),
        numerals=None,
        wrap=0.0,
        pip_kind=scene.PipKind.FLAT,
        has_emblem=False,
        bevel_depth=0.2,
        gloss=0.1,
    )
    if body.bar_kind in (scene.BarKind.PIN, scene.BarKind.LINE_PIN):  # a pin could be mistaken for a displaced pip
        body = replace(body, bar_kind=scene.BarKind.LINE)
    return tuple(
        replace(body, placed_pips=tuple(_placed(kind, rng, number) for number in range(HIGHEST + 1)))
        for _ in range(count)
    )


def _placed(kind: HandmadeKind, rng: np.random.Generator, number: int) -> tuple[scene.PlacedPip, ...]:
    """Return the pips of a number, separate and inside their half."""
    usual, tries = kind.radius, 0
    while True:
        places = kind.places(rng, number)
        radii = np.maximum(usual * rng.uniform(*kind.sizes, number), _MIN_RADIUS)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(len(places))
        inside = (np.abs(places).max(axis=1, initial=0.0) + radii <= _WITHIN).all()
        if bool(inside and (gaps >= _MIN_DISTANCE * (radii[:, None] + radii[None])).all()):
            break
        tries += 1
        if tries % _TRIES == 0:
            usual *= _SHRINK
    return tuple(
        scene.PlacedPip(float(x), float(y), float(radius), kind.outline(rng))
        for (x, y), radius in zip(places, radii, strict=True)
    )


# Places.


def _shaken(rng: np.random.Generator, pips: int) -> Points:
    """Return positions displaced by up to a pip from the usual ones."""
    usual = scene.pip_centers(pips, int(rng.integers(scene.style_count(pips)))) * rng.uniform(0.75, 1.0)
    moved: Points = usual + rng.uniform(-0.17, 0.17, (pips, 2))
    return moved


def _strewn(rng: np.random.Generator, pips: int) -> Points:
    """Return random positions in a disc."""
    turns, reach = rng.uniform(0, 2 * math.pi, pips), 0.75 * np.sqrt(rng.uniform(0, 1, pips))
    return np.column_stack([reach * np.cos(turns), reach * np.sin(turns)])


def _pushed(rng: np.random.Generator, pips: int) -> Points:
    """Return positions crowded at a side or in a corner."""
    turn = rng.uniform(0, 2 * math.pi)
    toward = 0.42 * np.array([math.cos(turn), math.sin(turn)])
    crowd = scene.pip_centers(pips, int(rng.integers(scene.style_count(pips)))) * 0.58
    pushed: Points = crowd + toward + rng.uniform(-0.05, 0.05, (pips, 2))
    return pushed


def _along_arc(rng: np.random.Generator, pips: int) -> Points:
    """Return positions along an arc."""
    radius, start = rng.uniform(0.5, 0.72), rng.uniform(0, 2 * math.pi)
    step = rng.uniform(0.45, 1.0) if pips > 3 else rng.uniform(0.7, 1.6)
    turns = start + step * np.arange(pips) + rng.uniform(-0.06, 0.06, pips)
    arc = radius * np.column_stack([np.cos(turns), np.sin(turns)])
    middle = arc.mean(axis=0) if pips else np.zeros(2)
    moved: Points = arc - middle * rng.uniform(0.3, 1.0)
    return moved


def _in_two_rows(rng: np.random.Generator, pips: int) -> Points:
    """Return positions in two rows of any lengths, unlike the arrangements of usual sets."""
    first = int(rng.integers((pips + 1) // 2, pips + 1)) if pips else 0
    apart = rng.uniform(0.25, 0.42)
    rows = []
    for count, y in ((first, -apart), (pips - first, apart)):
        gap = rng.uniform(0.27, 0.45) if count > 3 else rng.uniform(0.35, 0.6)
        x = (np.arange(count) - (count - 1) / 2) * gap + rng.uniform(-0.2, 0.2)
        rows.append(np.column_stack([x, np.full(count, y) + rng.uniform(-0.05, 0.05, count)]))
    places: Points = np.concatenate(rows)
    return places[:, ::-1].copy() if rng.random() < 0.5 else places


# Outlines.


def _wobbly(rng: np.random.Generator, turns: np.ndarray, uneven: float) -> np.ndarray:
    """Return the radii of a roughly round hand-drawn shape in the directions *turns*, at most 1."""
    waves = np.arange(1, 6)
    height = rng.normal(0, uneven, 5) / waves
    radii = 1 + (height[:, None] * np.cos(waves[:, None] * turns + rng.uniform(0, 2 * math.pi, 5)[:, None])).sum(axis=0)
    return np.asarray(radii / radii.max())


def _dot(rng: np.random.Generator) -> scene.Polygon:
    """Return a nearly round dot of a pen."""
    turns = np.linspace(0, 2 * math.pi, 28, endpoint=False)
    return corners(_wobbly(rng, turns, 0.06) * np.exp(1j * turns))


def _blob(rng: np.random.Generator) -> scene.Polygon:
    """Return an elongated blot with bulges."""
    turns = np.linspace(0, 2 * math.pi, 36, endpoint=False)
    long = np.exp(1j * turns) * _wobbly(rng, turns, 0.22)
    squeezed = long.real + 1j * long.imag * rng.uniform(0.6, 1.0)
    return corners(squeezed * np.exp(1j * rng.uniform(0, 2 * math.pi)))


def _dab(rng: np.random.Generator) -> scene.Polygon:
    """Return a dab of chalk with a frayed edge."""
    turns = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    return corners(_wobbly(rng, turns, 0.15) * rng.uniform(0.72, 1.0, len(turns)) * np.exp(1j * turns))


def _comma(rng: np.random.Generator) -> scene.Polygon:
    """Return a brush stroke with a thick head and a bent tail."""
    along = np.linspace(0, 1, 14)
    bend = rng.uniform(-0.9, 0.9)
    spine = -0.62 + 1.3 * along + 1j * bend * (along - 0.35) ** 2
    thick = rng.uniform(0.32, 0.42) * (1 - along) ** rng.uniform(0.4, 0.8) + 0.03
    head = -0.62 + thick[0] * np.exp(1j * np.linspace(1.5, 0.5, 8)[1:-1] * math.pi) + 1j * bend * 0.35**2
    outline = np.concatenate([spine - 1j * thick, (spine + 1j * thick)[::-1], head[::-1]])
    outline = outline - (outline.real.max() + outline.real.min()) / 2
    return corners(outline / np.abs(outline).max() * np.exp(1j * (0.9 + rng.uniform(-0.5, 0.5))))


def _cross(rng: np.random.Generator) -> scene.Polygon:
    """Return an irregular cross of two strokes."""
    half = rng.uniform(0.14, 0.2)
    outline: list[complex] = []
    for quarter in range(4):
        turn = np.exp(1j * (quarter * math.pi / 2 + rng.uniform(-0.22, 0.22)))
        length = rng.uniform(0.75, 0.97)
        edge = [0.5 - half * 1j, length - half * 1j, length + half * 1j, 0.5 + half * 1j, half + half * 1j]
        outline += [complex(turn * point + rng.normal(0, 0.03) + 1j * rng.normal(0, 0.03)) for point in edge]
    shape = np.array(outline)
    return corners(shape / max(1.0, float(np.abs(shape).max())) * np.exp(1j * (math.pi / 4 + rng.uniform(-0.3, 0.3))))


def _ring(rng: np.random.Generator) -> scene.Polygon:
    """Return a circle drawn with a pen, with a small gap."""
    start = rng.uniform(0, 2 * math.pi)
    turns = start + np.linspace(0, 2 * math.pi * rng.uniform(0.93, 0.99), 36)
    line = _wobbly(rng, turns, 0.1) * rng.uniform(0.97, 1.0, len(turns)) * np.exp(1j * turns)
    return corners(np.concatenate([line, line[::-1] * rng.uniform(0.5, 0.62)]))


# Bodies.


def _inked(look: scene.TileLook, face: Bgr, ink: Bgr) -> scene.TileLook:
    return replace(
        look,
        face_bgr=face,
        back_bgr=face,
        side_bgr=looks.scaled(face, 0.92),
        base_bgr=looks.scaled(face, 0.92),
        pip_bgr=(ink,) * (scene.MAX_PIPS + 1),
        bar_bgr=ink,
    )


def _usual(rng: np.random.Generator) -> scene.TileLook:
    """Return commercial ivory or white tiles with dark pips."""
    look = replace(draw_tile_look(rng), wear=0.0)
    return _inked(look, looks.ivory(rng), looks.any_color(rng, (0.0, 0.6), (0.03, 0.3)))


def _card(rng: np.random.Generator) -> scene.TileLook:
    """Return hand-cut white card with felt pen in one of four colours, often without a bar."""
    pens = ((20.0, 20.0, 20.0), (150.0, 50.0, 30.0), (40.0, 30.0, 190.0), (60.0, 110.0, 30.0))
    ink = looks.near(rng, pens[int(rng.integers(len(pens)))], 8)
    look = _inked(draw_tile_look(rng), looks.from_hsv(rng.uniform(0, 1), rng.uniform(0, 0.04), 0.95), ink)
    return replace(
        look,
        thickness_mm=rng.uniform(0.4, 2.0),
        corner_radius_mm=rng.uniform(0.3, 2.5),
        bevel_mm=0.15,
        crease=rng.uniform(0, 0.2),
        bar_kind=scene.BarKind.LINE if rng.random() < 0.7 else scene.BarKind.NONE,
        bar_thickness_mm=rng.uniform(0.6, 1.6),
        mottle=0.004,
        wear=0.0,
    )


def _slate(rng: np.random.Generator) -> scene.TileLook:
    """Return pieces of slate with chalk pips."""
    face = looks.from_hsv(rng.uniform(0.5, 0.7), rng.uniform(0.0, 0.25), rng.uniform(0.14, 0.26))
    look = _inked(draw_tile_look(rng), face, looks.near(rng, (215.0, 220.0, 222.0), 8))
    bar = scene.BarKind.LINE if rng.random() < 0.8 else scene.BarKind.NONE
    return replace(look, bar_kind=bar, mottle=0.04, wear=rng.uniform(0.2, 0.5), corner_radius_mm=rng.uniform(0.3, 1.5))


def _coloured(rng: np.random.Generator) -> scene.TileLook:
    """Return tiles in any strong colour with contrasting paint."""
    face = looks.any_color(rng, (0.45, 0.95), (0.3, 0.85))
    return replace(_inked(draw_tile_look(rng), face, looks.contrasting_pips(rng, face)), wear=0.0)


def _wooden(rng: np.random.Generator) -> scene.TileLook:
    """Return bare light wood with dark paint."""
    face = looks.from_hsv(rng.uniform(0.06, 0.11), rng.uniform(0.25, 0.5), rng.uniform(0.6, 0.85))
    ink = looks.any_color(rng, (0.0, 0.9), (0.05, 0.25))
    return replace(_inked(draw_tile_look(rng), face, ink), mottle=rng.uniform(0.02, 0.05), wear=0.0)


KINDS = (
    HandmadeKind("felt pen on white card", _card, _strewn, _blob),
    HandmadeKind("chalk on slate", _slate, _shaken, _dab, 0.2),
    HandmadeKind("commas of a brush", _usual, _shaken, _comma, 0.22),
    HandmadeKind("crosses on white card", _card, _shaken, _cross, 0.2),
    HandmadeKind("rings on wood", _wooden, _strewn, _ring, 0.2),
    HandmadeKind("pushed to one side", _usual, _pushed, _dot, 0.13),
    HandmadeKind("unequal dots", _coloured, _shaken, _dot, 0.16, (0.5, 1.6)),
    HandmadeKind("dots along an arc", _usual, _along_arc, _dot),
    HandmadeKind("dots in two rows", _wooden, _in_two_rows, _blob, 0.14),
    HandmadeKind("blots strewn on colours", _coloured, _strewn, _blob, 0.16, (0.7, 1.4)),
)


# Separates these seeds from training seeds, which have two numbers.
_STREAM = 8
_SIDES_PX = (30.0, 80.0)
_LARGEST_TILT_DEG = 25.0
_TILES = (8, 21)
# Minimum difference of tiles and table in at least one channel, of 255.
_MIN_CONTRAST = 60.0
# Share of cloths in bright colours.
_BRIGHT = 0.4


def main() -> None:
    options = options_of(__doc__, tables=400, seed=2608, jobs=os.cpu_count() or 1)
    figures, total = defaultdict[str, judged_tables.Figures](judged_tables.Figures), judged_tables.Figures()
    for kind, judged in judged_tables.read_each(read_table, options):
        for some in (figures[kind], total):
            some.add(judged.tiles, len(judged.spare))
    judged_tables.print_table("made by hand", [*((kind.name, figures[kind.name]) for kind in KINDS), ("all", total)])


def read_table(seed: int, index: int) -> tuple[str, judged_tables.JudgedTable]:
    """Render, read and evaluate a table."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    kind = KINDS[index % len(KINDS)]
    table = table_of(draw_table(rng, kind), rng, only_legible=False)
    return kind.name, judged_tables.judge(judged_tables.shipped_reader().read(table.image), table)


def draw_table(rng: np.random.Generator, kind: HandmadeKind) -> scene.Scene:
    """Return scattered tiles of a kind, each with different pips."""
    looks = draw_handmade_looks(kind, rng, _TILES[1])
    look = looks[0]
    camera = calm_camera(rng, look)
    area = visible_area(camera)
    room = area.width_mm * area.height_mm / (look.length_mm * look.width_mm)
    count = int(np.clip(rng.integers(*_TILES), 1, max(1, room * 0.4)))
    tiles = scatter(rng, random_hand(rng, count, HIGHEST), area, look, gap_mm=1.0).tiles
    placed = tuple(replace(tile, look=at) for at, tile in enumerate(tiles))
    return scene.Scene(placed, look, draw_cloth(rng, look.face_bgr), calm_light(rng), camera, more_looks=looks[1:])


def calm_camera(rng: np.random.Generator, look: scene.TileLook) -> scene.CameraLook:
    """Return a camera in focus without motion."""
    px_per_mm = float(np.exp(rng.uniform(*np.log(_SIDES_PX)))) / look.width_mm
    camera = draw_camera_look(rng, px_per_mm=px_per_mm)
    return replace(
        camera,
        tilt_rad=math.radians(rng.uniform(0, _LARGEST_TILT_DEG)),
        blur_px=min(camera.blur_px, 0.7),
        motion_px=0.0,
        noise=min(camera.noise, 2.5),
        bloom=min(camera.bloom, 0.02),
        jpeg_quality=max(camera.jpeg_quality or 0, 70),
    )


def calm_light(rng: np.random.Generator) -> scene.LightLook:
    """Return a light without overexposure or dark areas."""
    light = draw_light_look(rng)
    exposure = float(np.clip(light.exposure, 0.8, 1.1))
    return replace(
        light, exposure=exposure, glare=0.0, band=0.0, spot=min(light.spot, 0.2), shadow=min(light.shadow, 0.5)
    )


def draw_cloth(rng: np.random.Generator, face_bgr: Bgr) -> scene.TableLook:
    """Return a table or cloth, plain or patterned, sometimes bright, and never in the colour of the tiles."""
    while True:
        table = draw_table_look(rng)
        if rng.random() < _BRIGHT:
            base = looks.from_hsv(rng.uniform(0, 1), rng.uniform(0.2, 0.7), rng.uniform(0.5, 0.95))
            table = replace(table, base_bgr=base, second_bgr=looks.scaled(base, rng.uniform(0.7, 1.15)))
        if min(np.abs(np.subtract(face_bgr, bgr)).max() for bgr in (table.base_bgr, table.second_bgr)) > _MIN_CONTRAST:
            return table


if __name__ == "__main__":
    main()
