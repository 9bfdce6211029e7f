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

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.tiles.learning import LearningResult, examine_set, learn
from lab.bench.material.sign_looks import HIGHEST, sign_looks
from lab.bench.material.unseen_looks import unseen_looks
from lab.render.layouts import random_layout, visible_area
from lab.render.look_types import PipKind, TileLook
from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from lab.render.paint import RenderedPicture, render
from lab.render.scene import Scene
from lab.training.pips.fit import true_halves
from lab.training.tables import legible_halves, true_pips, truth_poses
from tests.vision.whole_set import draw_whole_set
from vision.networks.network import UP
from vision.poses import half_centers, jittered
from vision.reader.reader import Reader, load_reader

_SETS = (6, 9, 12)
_SEED = 71
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
    """Print a line for each look, then the total."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=60)
    parser.add_argument("--hardest", type=int, default=10)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--chosen", help="seeds of looks")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--signs", action="store_true")
    parser.add_argument("--seed", type=int, default=_SEED)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    reader = load_reader()
    if given.signs:
        looks = [Look(seed, HIGHEST, tile, name) for seed, (name, tile) in enumerate(sign_looks(), 20_000)]
    elif given.unseen:
        looks = [Look(seed, highest, tile, name) for seed, (name, highest, tile) in enumerate(unseen_looks(), 10_000)]
    elif given.chosen:
        looks = [_look(int(seed)) for seed in given.chosen.split(",")]
    else:
        looks = _hardest(reader, given.looks, given.hardest)
    before, after = Misread(), Misread()
    for look in looks:
        was, now = _enrolled(replace(reader, max_pips=look.max_pips), look, given.games, given.seed)
        before, after = before + was, after + now
    print(f"all: before {before}, after {after}: {before.wrong / max(1, after.wrong):.1f} times fewer", flush=True)


def _look(seed: int) -> Look:
    max_pips = _SETS[seed % len(_SETS)]
    return Look(seed, max_pips, draw_tile_look(np.random.default_rng([_SEED, seed]), max_pips=max_pips))


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


def _hardest(reader: Reader, count: int, hardest: int) -> list[Look]:
    """Return the looks that the shipped reader misreads most at the true positions of tiles."""
    wrong = {}
    for look, _ in zip(_hard_looks(), range(count), strict=False):
        limited = replace(reader, max_pips=look.max_pips)
        misread = sum((_at_true_places(limited, look, 100 + game) for game in range(3)), Misread())
        wrong[look] = misread.wrong / max(1, misread.halves)
        print(f"look {look.seed}, double-{look.max_pips}: {misread}", flush=True)
    return sorted(wrong, key=lambda look: -wrong[look])[:hardest]


def _at_true_places(reader: Reader, look: Look, game: int) -> Misread:
    rng = np.random.default_rng([_SEED, look.seed, game])
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
