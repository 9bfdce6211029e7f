"""What one picture of the whole set does: halves that are misread in games before and after.

    python benchmarks/bench_enrol.py --signs [--games 10]                         # no pips: signs that nobody taught
    python benchmarks/bench_enrol.py --unseen [--games 10]                        # pips of kinds that nobody taught
    python benchmarks/bench_enrol.py [--looks 60] [--hardest 10] [--games 10]      # hard ones of those that were taught
    python benchmarks/bench_enrol.py --chosen 5,17,41      # these looks, without the search

The signs: `sign_looks`. Somebody says what the doubles are, and then what the tiles are that are in doubt, as they are
asked to; all else comes from one picture. The hard looks: sets to double-six, -nine and -twelve whose numbers are
numerals, rings, or little unlike the face; of the first sixty, those of which the shipped eye misreads most in three
tables each. The unseen ones: `unseen_looks`. Then other tables are read before and after the picture of the whole set,
both times with the set told; --seed makes others. No seed is one that the classifiers learned from.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.sign_looks import HIGHEST, sign_looks
from benchmarks.unseen_looks import unseen_looks
from calibration.tiles.learning import LearningResult, examine_set, learn
from synthetic.render.layouts import random_layout, visible_area
from synthetic.render.look_types import PipKind, TileLook
from synthetic.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from synthetic.render.paint import RenderedPicture, render
from synthetic.render.scene import Scene
from synthetic.training.legible import legible_halves
from synthetic.training.pips.held_out import true_halves
from synthetic.training.truth import true_pips, truth_poses
from tests.vision.whole_set import draw_whole_set
from vision.geometry.poses import half_centers, jittered
from vision.networks.refiner import UP
from vision.reader.reader import Reader, load_reader

_SETS = (6, 9, 12)
_SEED = 71
# How often somebody answers what tiles in doubt are.
_ANSWERED = 3
# Pips of a number that differ less than this from the face, in CIE76, are hard to see in many lights.
_PALE = 30.0
_SURE = 0.99


@dataclass(frozen=True, slots=True)
class Look:
    """A set of tiles that nobody has seen."""

    seed: int
    max_pips: int
    tile: TileLook
    name: str = "hard"


@dataclass(frozen=True, slots=True)
class Misread:
    """How many halves of how many were misread, and how many of the misread ones a person could count."""

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
    """Print a line for each look, then the sum."""
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
    """Return the least difference in colour of the pips of a number from the face."""
    colors = np.array([[look.tile.face_bgr, *look.tile.pip_bgr[1 : look.max_pips + 1]]], np.float32) / 255
    lab = cv2.cvtColor(colors, cv2.COLOR_BGR2LAB)[0]
    return float(np.linalg.norm(lab[1:] - lab[0], axis=1).min())


def _hardest(reader: Reader, count: int, hardest: int) -> list[Look]:
    """Return the looks of which the shipped eye misreads most, at the places where tiles truly lie."""
    wrong = {}
    for look, _ in zip(_hard_looks(), range(count), strict=False):
        told = replace(reader, max_pips=look.max_pips)
        misread = sum((_at_true_places(told, look, 100 + game) for game in range(3)), Misread())
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
    found = jittered(rng, poses[faces == UP], 0.03)
    tiles = reader.read_again(rendered.image, found)
    said = np.array([[half.alone.pips for half in tile.halves] for tile in tiles])
    wrong = said != true_pips(rendered.truth)
    return Misread(wrong.size, int(wrong.sum()), int((wrong & legible_halves(scene, rendered)).sum()))


def draw_game(look: Look, rng: np.random.Generator) -> Scene:
    """Return a table in play: 14 to 28 tiles of the set, any layout, cloth and light that does not drown pips."""
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
    """Return what is misread of a look in games before and after its whole set was shown."""
    rng = np.random.default_rng([seed, look.seed, 0])
    scene = draw_whole_set(look.tile, look.max_pips, rng)
    learned = _learned(render(scene, rng), reader, says=bool(look.tile.signs))
    own = replace(reader, own_set=learned.own_set)
    before, after = Misread(), Misread()
    for game in range(games):
        rng = np.random.default_rng([seed, look.seed, 1 + game])
        table = draw_game(look, rng)
        rendered = render(table, rng)
        before, after = before + _read(reader, table, rendered), after + _read(own, table, rendered)
    print(f"{look.name} {look.seed}, double-{look.max_pips}: before {before}, after {after}", flush=True)
    return before, after


def _learned(rendered: RenderedPicture, reader: Reader, *, says: bool) -> LearningResult:
    """Return what one picture of a set teaches; where somebody says it, what they were asked is said in a line."""
    shown = examine_set([rendered.image], reader)
    if not says:
        return learn(shown)
    poses, faces = truth_poses(rendered.truth)
    which = true_halves(half_centers(shown.seen[0].poses), poses[faces == UP]).reshape(-1, 2)
    pips = true_pips(rendered.truth).ravel()[which]
    known = {at: (int(first), int(second)) for at, (first, second) in enumerate(pips) if (which[at] >= 0).all()}
    said = _named(known)
    named, learned = len(said), learn(shown, said)
    for _ in range(_ANSWERED):
        answers = {at: known[at] for at in learned.doubtful if at in known}
        if not answers:
            break
        said |= answers
        learned = learn(shown, said)
    print(f"{len(known)} of {len(poses)} tiles are seen, {named} were named, {len(said) - named} asked for", flush=True)
    return learned


def _named(known: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return what somebody says who names the doubles, and for a number whose double is not seen another tile of it."""
    said = {at: pair for at, pair in known.items() if pair[0] == pair[1]}
    for at, pair in known.items():
        told = {number for one in said.values() for number in one}
        if len(told & set(pair)) == 1:
            said[at] = pair
    return said


def _read(reader: Reader, scene: Scene, rendered: RenderedPicture) -> Misread:
    """Return what the whole reader misreads of the tiles that it finds."""
    truth, faces = truth_poses(rendered.truth)
    halves = [half for tile in reader.read(rendered.image).tiles for half in tile.halves]
    which = true_halves(np.array([half.center_px for half in halves]).reshape(-1, 2, 2), truth[faces == UP])
    found = which >= 0
    wrong = np.array([half.pips for half in halves])[found] != true_pips(rendered.truth).ravel()[which[found]]
    sure = np.array([half.confidence for half in halves])[found] >= _SURE
    legible = legible_halves(scene, rendered).ravel()[which[found]]
    return Misread(*(int(one.sum()) for one in (found, wrong, wrong & legible, sure, sure & wrong)))


if __name__ == "__main__":
    main()
