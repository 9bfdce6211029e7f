"""Measure the benefit of learning a custom tile set from one picture: misread halves in games before and after.

    python -m lab.bench.enrol --signs [--games 10]                         # signs instead of pips, not trained
    python -m lab.bench.enrol --unseen [--games 10]                        # kinds of pips that were not trained
    python -m lab.bench.enrol [--looks 60] [--hardest 10] [--games 10]      # the hardest trained looks
    python -m lab.bench.enrol --chosen 5,17,41      # given looks, without the search

Signs are from `sign_looks`. A person names the doubles and then the doubtful tiles when asked. Everything else is
learned from one picture. Hard looks are sets up to double-six, -nine or -twelve with numerals, rings or pale pips. The
first sixty are read on three tables each, and the most misread are chosen. Unseen looks are from `unseen_looks`. Then
other tables are read before and after learning the set, both times with a known highest number. --seed draws other
tables. No seed was used in training.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np

from calibration.tiles.learning import LearningResult, examine_set, learn
from lab.bench.handmade import corners, star
from lab.bench.material.harness import options_of
from lab.render.layouts import random_layout, visible_area
from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from lab.render.paint import RenderedPicture, render
from lab.render.scene import PipKind, Polygon, Scene, TileLook
from lab.training.pips import true_halves
from lab.training.tables import legible_halves, true_pips, truth_poses
from tests.vision.whole_set import draw_whole_set
from vision.arrays import Bgr
from vision.networks.network import UP
from vision.poses import half_centers, jittered
from vision.reader.reader import Reader, load_reader

# Ten tile sets with signs instead of pips, which are not part of any training.
#
# Such sets exist with pictures, shapes and colours for children, with fractions and Roman numerals for schools, and
# with the numerals of many scripts. Each is a double-six. The rest of its look is drawn as for training, with separate
# seeds.


_SEED = 79
HIGHEST = 6
Sign = tuple[Polygon, ...]
# Points are complex numbers from -1 to 1 across a half, with x right and y down.
Line = Sequence[complex]
Strokes = Sequence[Line]


def sign_looks() -> Iterator[tuple[str, TileLook]]:
    """Yield the name of each kind and its look."""
    for at, (name, signs) in enumerate(_kinds().items()):
        look = draw_tile_look(np.random.default_rng([_SEED, at]), max_pips=HIGHEST)
        if name == "colours":
            look = replace(look, pip_bgr=(*_COLOURS, *look.pip_bgr[len(_COLOURS) :]))
        yield name, replace(look, numerals=at % 4, signs=signs, is_mirrored=at % 3 == 0)


# Segments of a digital clock, and the segments of the digits 0 to 6.
_SEGMENTS: tuple[Line, ...] = (
    (-0.25 - 0.65j, 0.25 - 0.65j),
    (0.35 - 0.6j, 0.35 - 0.05j),
    (0.35 + 0.05j, 0.35 + 0.6j),
    (-0.25 + 0.65j, 0.25 + 0.65j),
    (-0.35 + 0.05j, -0.35 + 0.6j),
    (-0.35 - 0.6j, -0.35 - 0.05j),
    (-0.25, 0.25),
)
_LIT = ((0, 1, 2, 3, 4, 5), (1, 2), (0, 1, 6, 4, 3), (0, 1, 6, 2, 3), (5, 6, 1, 2), (0, 5, 6, 2, 3), (0, 5, 4, 3, 2, 6))

# Crayon colours: red, orange, yellow, green, blue, violet and black.
_COLOURS: tuple[Bgr, ...] = (
    (40.0, 30.0, 190.0),
    (30.0, 120.0, 235.0),
    (50.0, 210.0, 240.0),
    (70.0, 140.0, 40.0),
    (170.0, 80.0, 30.0),
    (140.0, 45.0, 110.0),
    (25.0, 25.0, 25.0),
)

# Strokes of the numbers 1 to 6. Scripts without a sign for 0 use a blank.
_I = (-0.6j, 0.6j)
_V = (-0.35 - 0.6j, 0.6j, 0.35 - 0.6j)
_TALLIES = tuple((x - 0.6j, x + 0.6j) for x in (-0.63, -0.31, 0.01, 0.33))
_FIVE_TALLIES = (*_TALLIES, (-0.8 + 0.4j, 0.5 - 0.4j))
_ROMAN: Sequence[Strokes] = (
    (_I,),
    ((-0.25 - 0.6j, -0.25 + 0.6j), (0.25 - 0.6j, 0.25 + 0.6j)),
    ((-0.45 - 0.6j, -0.45 + 0.6j), _I, (0.45 - 0.6j, 0.45 + 0.6j)),
    ((-0.5 - 0.6j, -0.5 + 0.6j), (-0.15 - 0.6j, 0.2 + 0.6j, 0.55 - 0.6j)),
    (_V,),
    ((-0.55 - 0.6j, -0.2 + 0.6j, 0.15 - 0.6j), (0.5 - 0.6j, 0.5 + 0.6j)),
)
_CHINESE: Sequence[Strokes] = (
    ((-0.7, 0.7 - 0.05j),),
    ((-0.45 - 0.4j, 0.45 - 0.4j), (-0.7 + 0.5j, 0.7 + 0.5j)),
    ((-0.55 - 0.6j, 0.55 - 0.6j), (-0.45, 0.45), (-0.7 + 0.6j, 0.7 + 0.6j)),
    (
        (-0.65 - 0.55j, 0.65 - 0.55j, 0.65 + 0.6j, -0.65 + 0.6j, -0.65 - 0.55j),
        (-0.2 - 0.5j, -0.2, -0.45 + 0.2j),
        (0.15 - 0.5j, 0.15 + 0.05j, 0.5 + 0.05j),
    ),
    (
        (-0.55 - 0.6j, 0.55 - 0.6j),
        (-0.05 - 0.6j, -0.25 + 0.6j),
        (-0.4 - 0.05j, 0.4 - 0.05j, 0.35 + 0.6j),
        (-0.7 + 0.6j, 0.7 + 0.6j),
    ),
    ((-0.1 - 0.75j, 0.1 - 0.5j), (-0.7 - 0.2j, 0.7 - 0.2j), (-0.2, -0.6 + 0.7j), (0.2, 0.6 + 0.7j)),
)
_ARABIC: Sequence[Strokes] = (
    ((-0.1 - 0.6j, 0.1 + 0.6j),),
    ((-0.35 - 0.6j, 0.05 + 0.65j), (-0.3 - 0.4j, 0, 0.3 - 0.1j, 0.35 - 0.6j)),
    ((-0.5 - 0.6j, 0.65j), (-0.5 - 0.6j, -0.35 - 0.3j, -0.1 - 0.55j, 0.05 - 0.3j, 0.35 - 0.6j)),
    ((0.3 - 0.6j, -0.25 - 0.35j, 0.2 - 0.05j, -0.35 + 0.3j, 0.35 + 0.6j),),
    ((-0.4 + 0.1j, -0.1 - 0.45j, 0.2 - 0.3j, 0.4 + 0.2j, 0.1 + 0.5j, -0.25 + 0.45j, -0.4 + 0.1j),),
    ((-0.4 - 0.55j, 0.3 - 0.55j, 0.3 + 0.65j),),
)
_TALLY: Sequence[Strokes] = (
    *(_TALLIES[:count] for count in range(1, 5)),
    _FIVE_TALLIES,
    (*_FIVE_TALLIES, (0.72 - 0.6j, 0.72 + 0.6j)),
)


def _kinds() -> dict[str, tuple[Sign, ...]]:
    """Return the signs of 0 to 6 for each kind, by name."""
    in_a_row = ((0.0,), (-0.25, 0.25), (-0.45, 0.0, 0.45), (-0.6, -0.2, 0.2, 0.6))
    top = -math.pi / 2
    five = _line((-0.65 + 0.55j, 0.65 + 0.55j), 0.3)
    return {
        "roman": ((), *_written(_ROMAN, 0.16)),
        "chinese": ((), *_written(_CHINESE, 0.15)),
        "arabic": ((_disc(0, 0.18),), *_written(_ARABIC, 0.16)),
        "tally": ((), *_written(_TALLY, 0.12)),
        "maya": (
            (),
            *(tuple(_disc(x, 0.16) for x in places) for places in in_a_row),
            (five,),
            (five, _disc(-0.1j, 0.16)),
        ),
        "digital": _written([[_SEGMENTS[segment] for segment in lit] for lit in _LIT], 0.17),
        "fractions": (
            _ring(0.08),
            *((corners([0, *_arc(0, 0.7, top, top + math.pi * count / 3)]), *_ring(0.08)) for count in range(1, 7)),
        ),
        "shapes": _shapes(),
        "colours": ((_disc(0, 0.68),),) * (HIGHEST + 1),
        "pictures": _pictures(),
    }


def _shapes() -> tuple[Sign, ...]:
    """Return a ring, a disc, a triangle, a square, a star, a cross and a crescent."""
    return (
        _ring(0.2),
        (_disc(0, 0.65),),
        (star(3, 0.5, 0.75),),
        (corners([-0.57 - 0.57j, 0.57 - 0.57j, 0.57 + 0.57j, -0.57 + 0.57j]),),
        (star(5, 0.42, 0.8),),
        (_line((-0.6, 0.6), 0.36), _line((-0.6j, 0.6j), 0.36)),
        (corners([*_arc(0, 0.7, 0.7, 5.6), *_arc(0.35, 0.5, 5.3, 1.0)]),),
    )


def _pictures() -> tuple[Sign, ...]:
    """Return a house, a fish, a tree, a boat, a cat, an umbrella and a flower."""
    door = (0.15 + 0.65j, 0.15 + 0.2j, -0.15 + 0.2j, -0.15 + 0.65j)
    fir = (-0.8j, 0.45 - 0.2j, 0.2 - 0.2j, 0.6 + 0.35j, -0.6 + 0.35j, -0.2 - 0.2j, -0.45 - 0.2j)
    sails = ((-0.05 - 0.75j, -0.05 + 0.2j, -0.6 + 0.2j), (0.05 - 0.5j, 0.5 + 0.2j, 0.05 + 0.2j))
    ears = ((-0.45, -0.5 - 0.7j, -0.05 - 0.3j), (0.45, 0.5 - 0.7j, 0.05 - 0.3j))
    return (
        (corners([-0.6 - 0.05j, -0.75j, 0.6 - 0.05j, 0.6 + 0.65j, *door, -0.6 + 0.65j]),),
        (_disc(-0.15, 0.4), corners([0.1, 0.7 - 0.4j, 0.7 + 0.4j])),
        (corners(fir), _line((0.35j, 0.75j), 0.2)),
        (corners([-0.75 + 0.3j, 0.75 + 0.3j, 0.45 + 0.7j, -0.45 + 0.7j]), *map(corners, sails)),
        (_disc(0.1j, 0.45), *map(corners, ears)),
        (corners(_arc(0, 0.7, math.pi, 2 * math.pi)), *_lines([(0, 0.6j, 0.3 + 0.6j)], 0.1)),
        tuple(_disc(complex(0.45 * np.exp(2j * math.pi * turn / 5)), 0.26) for turn in range(5)),
    )


def _arc(middle: complex, radius: float, start: float, stop: float) -> list[complex]:
    return [complex(middle + radius * np.exp(1j * turn)) for turn in np.linspace(start, stop, 32)]


def _disc(middle: complex, radius: float) -> Polygon:
    return corners(_arc(middle, radius, 0, 2 * math.pi))


def _ring(width: float) -> Sign:
    return _lines([_arc(0, 0.7 - width / 2, 0, 2 * math.pi)], width)


def _written(signs: Sequence[Strokes], width: float) -> tuple[Sign, ...]:
    return tuple(_lines(strokes, width) for strokes in signs)


def _lines(lines: Strokes, width: float) -> Sign:
    return tuple(_line(part, width) for line in lines for part in pairwise(line))


def _line(ends: Line, width: float) -> Polygon:
    """Return a stroke between two points, extended at each end by half its width to join other strokes."""
    start, stop = ends
    along = (stop - start) / abs(stop - start) * width / 2
    across = along * 1j
    return corners([start - along + across, start - along - across, stop + along - across, stop + along + across])


# Ten tile sets with pips that are not round, which are not part of any training.
#
# The rest of each look is drawn as for training, with separate seeds.


_SETS = (6, 9, 12)
_UNSEEN_LOOKS_SEED = 73


def unseen_looks() -> Iterator[tuple[str, int, TileLook]]:
    """Yield the name of each kind, the highest number of its set, and its look."""
    for at, (name, outline) in enumerate(_outlines().items()):
        look = draw_tile_look(np.random.default_rng([_UNSEEN_LOOKS_SEED, at]), max_pips=_highest(at))
        kind = PipKind.FLAT if at % 2 else PipKind.ENGRAVED
        yield name, _highest(at), replace(look, numerals=None, pip_kind=kind, pip_outline=outline)


def _highest(at: int) -> int:
    return _SETS[at % len(_SETS)]


def _outlines() -> dict[str, Polygon]:
    """Return the outlines of pips by name."""
    turn = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    down = -13 * np.cos(turn) + 5 * np.cos(2 * turn) + 2 * np.cos(3 * turn) + np.cos(4 * turn)
    heart = 16 * np.sin(turn) ** 3 + 1j * down
    arc = np.linspace(0.7, 2 * math.pi - 0.7, 40)
    inner = 0.45 + 0.75 * np.exp(1j * arc[::-1])
    arm = np.array([-0.3 - 0.95j, 0.3 - 0.95j, 0.3 - 0.3j])
    return {
        "triangles": _regular(3),
        "squares": _regular(4, 0.25 * math.pi),
        "diamonds": _regular(4),
        "hexagons": _regular(6),
        "stars": star(5, 0.42),
        "flowers": star(6, 0.55),
        "hearts": corners(heart / 17.1),
        "crosses": corners(np.concatenate([arm * quarter for quarter in (1, 1j, -1, -1j)])),
        "crescents": corners(np.concatenate([np.exp(1j * arc), inner])),
        "strokes": corners(np.array([-0.28 - 0.95j, 0.28 - 0.95j, 0.28 + 0.95j, -0.28 + 0.95j])),
    }


def _regular(count: int, turned_rad: float = 0.0) -> Polygon:
    return corners(np.exp(1j * (2 * math.pi * np.arange(count) / count - math.pi / 2 + turned_rad)))


_ENROL_SEED = 71
# Maximum number of rounds in which a person names doubtful tiles.
_ANSWER_ROUNDS = 3
# Maximum difference of pale pips from the face, in CIE76. They are hard to see in many lights.
_PALE = 30.0
_SURE = 0.99


@dataclass(frozen=True, slots=True)
class Look:
    """A new tile set."""

    seed: int
    max_pips: int
    tile: TileLook
    name: str = "hard"


@dataclass(frozen=True, slots=True)
class Misread:
    """Counts of halves, of misread and legible misread halves, and of confident and misread confident halves."""

    halves: int = 0
    wrong: int = 0
    wrong_legible: int = 0
    sure: int = 0
    wrong_sure: int = 0

    def __add__(self, other: Misread) -> Misread:
        return Misread(
            self.halves + other.halves,
            self.wrong + other.wrong,
            self.wrong_legible + other.wrong_legible,
            self.sure + other.sure,
            self.wrong_sure + other.wrong_sure,
        )

    def __str__(self) -> str:
        return (
            f"{self.wrong:3d} of {self.halves} ({self.wrong_legible} legible; {self.wrong_sure} of {self.sure} that"
            " were said with 0.99)"
        )


def main() -> None:
    given = options_of(__doc__, looks=60, hardest=10, games=10, chosen=str, unseen=False, signs=False, seed=_ENROL_SEED)
    cv2.setNumThreads(1)
    reader = load_reader()
    if given.signs:
        looks = [Look(seed, HIGHEST, tile, name) for seed, (name, tile) in enumerate(sign_looks(), 20_000)]
    elif given.unseen:
        looks = [Look(seed, highest, tile, name) for seed, (name, highest, tile) in enumerate(unseen_looks(), 10_000)]
    elif given.chosen:
        looks = [_look(int(seed)) for seed in given.chosen.split(",")]
    else:
        # The looks that the shipped reader misreads most at the true positions of tiles.
        wrong = {}
        for look, _ in zip(_hard_looks(), range(given.looks), strict=False):
            limited = replace(reader, max_pips=look.max_pips)
            misread = sum((_at_true_places(limited, look, 100 + game) for game in range(3)), Misread())
            wrong[look] = misread.wrong / max(1, misread.halves)
            print(f"look {look.seed}, double-{look.max_pips}: {misread}", flush=True)
        looks = sorted(wrong, key=lambda look: -wrong[look])[: given.hardest]
    before, after = Misread(), Misread()
    for look in looks:
        was, now = _enrolled(replace(reader, max_pips=look.max_pips), look, given.games, given.seed)
        before, after = before + was, after + now
    print(f"all: before {before}, after {after}: {before.wrong / max(1, after.wrong):.1f} times fewer", flush=True)


def _look(seed: int) -> Look:
    max_pips = _SETS[seed % len(_SETS)]
    return Look(seed, max_pips, draw_tile_look(np.random.default_rng([_ENROL_SEED, seed]), max_pips=max_pips))


def _hard_looks() -> Iterator[Look]:
    seed = 0
    while True:
        look = _look(seed)
        if look.tile.numerals is not None or look.tile.pip_kind is PipKind.RING or _palest(look) < _PALE:
            yield look
        seed += 1


def _palest(look: Look) -> float:
    """Return the smallest colour difference between the pips of any number and the face, in CIE76."""
    colors = np.array([[look.tile.face_bgr, *look.tile.pip_bgr[1 : look.max_pips + 1]]], np.float32) / 255
    lab = cv2.cvtColor(colors, cv2.COLOR_BGR2LAB)[0]
    return float(np.linalg.norm(lab[1:] - lab[0], axis=1).min())


def _at_true_places(reader: Reader, look: Look, game: int) -> Misread:
    rng = np.random.default_rng([_ENROL_SEED, look.seed, game])
    scene = draw_game(look, rng)
    rendered = render(scene, rng)
    poses, faces = truth_poses(rendered.truth)
    if not (faces == UP).any():
        return Misread()
    outlines = jittered(rng, poses[faces == UP], 0.03)
    tiles = reader.read_again(rendered.image, outlines)
    pips = np.array([[half.alone.pips for half in tile.halves] for tile in tiles])
    wrong = pips != true_pips(rendered.truth)
    return Misread(wrong.size, int(wrong.sum()), int((wrong & legible_halves(scene, rendered)).sum()))


def draw_game(look: Look, rng: np.random.Generator) -> Scene:
    """Return a random game of 14 to 28 tiles in any layout and on any table, in light that keeps pips visible."""
    width_px = int(rng.integers(960, 1400))
    drawn = draw_camera_look(
        rng,
        width_px=width_px,
        height_px=width_px * 3 // 4,
        px_per_mm=rng.uniform(1.0, 2.2),
        largest_tilt_rad=math.radians(25),
    )
    camera = replace(drawn, noise=min(drawn.noise, 4.0), motion_px=0.0, bloom=min(drawn.bloom, 0.03))
    light = draw_light_look(rng)
    light = replace(light, exposure=float(np.clip(light.exposure, 0.7, 1.1)), glare=min(light.glare, 0.35))
    area = visible_area(camera)
    room = area.width_mm * area.height_mm / (look.tile.length_mm * look.tile.width_mm)
    count = int(np.clip(rng.integers(14, 29), 1, max(1, room * 0.45)))
    layout = random_layout(rng, look.max_pips, area, look.tile, count)
    return Scene(layout.tiles, look.tile, draw_table_look(rng, look.tile.face_bgr), light, camera, layout.joins)


def _enrolled(reader: Reader, look: Look, games: int, seed: int) -> tuple[Misread, Misread]:
    """Return the misreadings of a look in games before and after its set was learned."""
    rng = np.random.default_rng([seed, look.seed, 0])
    scene = draw_whole_set(look.tile, look.max_pips, rng)
    learned = _learned(render(scene, rng), reader, by_person=bool(look.tile.signs))
    own = replace(reader, own_set=learned.own_set)
    before, after = Misread(), Misread()
    for game in range(games):
        rng = np.random.default_rng([seed, look.seed, 1 + game])
        table = draw_game(look, rng)
        rendered = render(table, rng)
        before, after = before + _read(reader, table, rendered), after + _read(own, table, rendered)
    print(f"{look.name} {look.seed}, double-{look.max_pips}: before {before}, after {after}", flush=True)
    return before, after


def _learned(rendered: RenderedPicture, reader: Reader, *, by_person: bool) -> LearningResult:
    """Learn a set from one picture. With *by_person*, a person names tiles, and their number is printed."""
    shown = examine_set([rendered.image], reader)
    if not by_person:
        return learn(shown)
    poses, faces = truth_poses(rendered.truth)
    which = true_halves(half_centers(shown.seen[0].poses), poses[faces == UP]).reshape(-1, 2)
    pips = true_pips(rendered.truth).ravel()[which]
    known = {at: (int(first), int(second)) for at, (first, second) in enumerate(pips) if (which[at] >= 0).all()}
    names = _named(known)
    first_names, learned = len(names), learn(shown, names)
    for _ in range(_ANSWER_ROUNDS):
        answers = {at: known[at] for at in learned.doubtful if at in known}
        if not answers:
            break
        names |= answers
        learned = learn(shown, names)
    asked_for = len(names) - first_names
    print(f"{len(known)} of {len(poses)} tiles are seen, {first_names} were named, {asked_for} asked for", flush=True)
    return learned


def _named(known: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return the tiles that a person names: all doubles, and another tile for each number without a visible double."""
    named = {at: pair for at, pair in known.items() if pair[0] == pair[1]}
    for at, pair in known.items():
        numbers = {number for other in named.values() for number in other}
        if len(numbers & set(pair)) == 1:
            named[at] = pair
    return named


def _read(reader: Reader, scene: Scene, rendered: RenderedPicture) -> Misread:
    """Return the misreadings of the complete reader for the tiles that it detects."""
    truth, faces = truth_poses(rendered.truth)
    halves = [half for tile in reader.read(rendered.image).tiles for half in tile.halves]
    which = true_halves(np.array([half.center_px for half in halves]).reshape(-1, 2, 2), truth[faces == UP])
    found = which >= 0
    wrong = np.array([half.pips for half in halves])[found] != true_pips(rendered.truth).ravel()[which[found]]
    sure = np.array([half.confidence for half in halves])[found] >= _SURE
    legible = legible_halves(scene, rendered).ravel()[which[found]]
    return Misread(*(int(mask.sum()) for mask in (found, wrong, wrong & legible, sure, sure & wrong)))


if __name__ == "__main__":
    main()
