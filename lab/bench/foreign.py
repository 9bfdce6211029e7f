"""Measure how many tiles the reader finds and misreads on rendered tables like other people's photos.

    python -m lab.bench.foreign [--tables 600] [--seed 2607] [--jobs 2] [--marks]

The reader does not know the set. A third of the tables has a tilt of 25 to 65 degrees and good contrast between tiles
and table. A third has a tilt of up to 25 degrees and low contrast. A third has both difficulties. Illegible tiles do
not count, nor do tiles with halves below 12 pixels, which have a separate row. *Precise* is the precision of tiles.
*Misread*, in total and at a confidence of 0.8 and 0.99, is the share of found halves. *Silent* is the share of tiles
without even an unsure detection. No table seed was used in training.

With --marks, tables with a tilt of up to 45 degrees, even light, good contrast and halves of 30 to 120 pixels are read
twice: with bare tiles, and with tiles that carry one kind of `marked_looks.Mark`.
"""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections import defaultdict
from dataclasses import replace
from enum import StrEnum

import cv2
import numpy as np

from lab.bench.material import judged_tables
from lab.bench.material.harness import options_of
from lab.bench.material.marked_looks import Mark, paint_marks
from lab.render.cover import truth_of
from lab.render.layouts import draw_foreign_scene
from lab.render.paint import RenderedPicture, paint_scene
from lab.render.scene import ClutterKind, Scene
from lab.render.view import expose, take, view_of
from lab.training import tables
from vision.arrays import Bgr
from vision.networks.network import UP
from vision.poses import corners

# Separates these seeds from training seeds, which have two numbers.
_STREAM = 7
# Maximum difference between tiles and table with low contrast, in CIE76.
LIKE = 15.0
_STEEP_DEG = 25.0
_LARGEST_DEG = 65.0
_MIN_PX = 12.0
_MARKED_TILT_DEG = 45.0
_MARKED_SIDES_PX = (30.0, 120.0)
# Upper ends of bands, and their names.
_TILTS_DEG = (
    (25.0, "below 25 degrees"),
    (35.0, "25-35 degrees"),
    (45.0, "35-45 degrees"),
    (55.0, "45-55 degrees"),
    (90.0, "55-65 degrees"),
)
_SIDES_PX = ((_MIN_PX, "below 12 px"), (20.0, "12-20 px"), (40.0, "20-40 px"), (math.inf, "40-120 px"))
ROWS = ("all", *(name for _, name in _TILTS_DEG), *(name for _, name in _SIDES_PX))


class Kind(StrEnum):
    """Difficulty of a table."""

    STEEP = "25 to 65 degrees"
    LIKE = "like on like"
    BOTH = "both"


def main() -> None:
    options = options_of(__doc__, tables=600, seed=2607, jobs=os.cpu_count() or 1, marks=False)
    if options.marks:
        _measure_marks(options)
        return
    figures: defaultdict[tuple[Kind, str], judged_tables.Figures] = defaultdict(judged_tables.Figures)
    backs, backs_found, unsure_spare, total = 0, 0, 0, judged_tables.Figures()
    for kind, tilt_deg, judged in judged_tables.read_each(read_table, options):
        for row, some in figures_of(judged, tilt_deg).items():
            figures[kind, row].merge(some)
        backs, backs_found = backs + judged.backs, backs_found + judged.backs_found
        unsure_spare += judged.unsure_spare
    for kind in Kind:
        judged_tables.print_table(kind, ((row, figures[kind, row]) for row in ROWS))
        total.merge(figures[kind, "all"])
    judged_tables.print_table("all tables", (("all", total),))
    print(f"face down: {backs_found} of {backs} found; unsure where nothing lies: {unsure_spare}")


def _measure_marks(options: Namespace) -> None:
    """Print the figures of marked tiles, kind by kind, and of the same tables without marks."""
    figures: defaultdict[tuple[str, str], judged_tables.Figures] = defaultdict(judged_tables.Figures)
    backs, backs_found, names = 0, 0, ("with marks", "without marks")
    for mark, *both in judged_tables.read_each(read_marked_table, options):
        for name, judged in zip(names, both, strict=True):
            for row in (mark, "all"):
                figures[name, row].add(judged.tiles, len(judged.spare))
        if mark is Mark.EMBLEM:
            backs, backs_found = backs + both[0].backs, backs_found + both[0].backs_found
    for name in names:
        judged_tables.print_table(name, ((row, figures[name, row]) for row in (*Mark, "all")))
    print(f"emblems on backs: {backs_found} of {backs} found")


def _band(value: float, bands: tuple[tuple[float, str], ...]) -> str:
    """Return the name of the first band whose upper end is above a value."""
    return next(name for most, name in bands if value < most)


def figures_of(judged: judged_tables.JudgedTable, tilt_deg: float) -> dict[str, judged_tables.Figures]:
    """Return the figures of a table for each of `ROWS` that it contributes to."""
    figures: defaultdict[str, judged_tables.Figures] = defaultdict(judged_tables.Figures)
    counted = [tile for tile in judged.tiles if tile.side_px >= _MIN_PX]
    for row in ("all", _band(tilt_deg, _TILTS_DEG)):
        figures[row].add(counted, len(judged.spare))
    for tile in judged.tiles:
        figures[_band(tile.side_px, _SIDES_PX)].add([tile])
    for spare in judged.spare:
        figures[_band(judged_tables.side_of(spare), _SIDES_PX)].add((), 1)
    return dict(figures)


def read_table(seed: int, index: int) -> tuple[Kind, float, judged_tables.JudgedTable]:
    """Render, read and evaluate a table. Return its kind and tilt in degrees, too."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    kind = tuple(Kind)[index % len(Kind)]
    scene = draw_table(rng, kind)
    table = tables.table_of(scene, rng)
    judged = judged_tables.judge(judged_tables.shipped_reader().read(table.image), table)
    return kind, float(np.degrees(scene.camera.tilt_rad)), judged


def draw_table(rng: np.random.Generator, kind: Kind) -> Scene:
    """Return a table of a kind, without printed dominoes, which the reader may report as tiles."""
    max_pips = tables.draw_max_pips(rng)
    tilts_deg = (0.0, _STEEP_DEG) if kind is Kind.LIKE else (_STEEP_DEG, _LARGEST_DEG)
    while True:
        # Give a fixed tilt instead of a range, from which the scene would draw steep tilts more often.
        tilt = float(np.radians(rng.uniform(*tilts_deg)))
        scene = draw_foreign_scene(rng, max_pips=max_pips, tilt_rad=(tilt, tilt))
        if scene.tiles and (difference(scene.tile.face_bgr, scene.table.base_bgr) < LIKE) == (kind is not Kind.STEEP):
            things = tuple(thing for thing in scene.clutter if thing.kind is not ClutterKind.PRINTED_TILE)
            return replace(scene, clutter=things)


def read_marked_table(seed: int, index: int) -> tuple[Mark, judged_tables.JudgedTable, judged_tables.JudgedTable]:
    """Render, read and evaluate a table with marks, and the same table without."""
    rng = np.random.default_rng((seed, _STREAM + 1, 1 + index))
    mark = tuple(Mark)[index % len(Mark)]
    scene = draw_marked_table(rng, mark)
    seeds = rng.integers(0, 2**62, 2)
    both = (marked_table_of(scene, kind, *map(np.random.default_rng, seeds)) for kind in (mark, None))
    judged, plain = (judged_tables.judge(judged_tables.shipped_reader().read(each.image), each) for each in both)
    return mark, judged, plain


def draw_marked_table(rng: np.random.Generator, mark: Mark) -> Scene:
    """Return a table with uniform, regularly placed pips. With emblems, half of the tiles are face down."""
    max_pips = tables.draw_max_pips(rng)
    while True:
        tilt = float(np.radians(rng.uniform(0, _MARKED_TILT_DEG)))
        scene = draw_foreign_scene(rng, max_pips=max_pips, tilt_rad=(tilt, tilt), tile_side_px=_MARKED_SIDES_PX)
        look = scene.tile
        is_uniform = look.numerals is None and look.pip_jitter == 0 and not (look.wrap or look.has_emblem)
        if is_uniform and not scene.more_looks and difference(look.face_bgr, scene.table.base_bgr) >= LIKE:
            things = tuple(thing for thing in scene.clutter if thing.kind is not ClutterKind.PRINTED_TILE)
            down = rng.random(len(scene.tiles)) < (0.5 if mark is Mark.EMBLEM else 0)
            turned = zip(scene.tiles, down, strict=True)
            tiles = tuple(replace(tile, pips=None) if is_down else tile for tile, is_down in turned)
            light = replace(scene.light, exposure=float(np.clip(scene.light.exposure, 0.85, 1.1)), band=0.0, glare=0.0)
            return replace(scene, tiles=tiles, joins=(), clutter=things, light=light)


def marked_table_of(
    scene: Scene, mark: Mark | None, rng: np.random.Generator, mark_rng: np.random.Generator
) -> tables.LearningTable:
    """Render a scene with marks on its tiles, or with bare tiles for None. Only legible tiles are labelled."""
    painted, view = paint_scene(scene, rng), view_of(scene.camera)
    truth = truth_of(scene, view)
    if mark is not None:
        paint_marks(painted.picture, scene, truth.tile_index, view, mark, mark_rng)
    lit = expose(painted.picture, painted.field, scene.light, scene.camera)
    image = take(lit, scene.camera, view, painted.camera_rng)
    rendered = RenderedPicture(image, truth.reading, truth.tile_index, truth.unread_px, truth.shown)
    poses, faces = tables.truth_poses(truth.reading)
    pips, legible = tables.true_pips(truth.reading), tables.legible_halves(scene, rendered)
    shown = np.ones(len(poses), bool)
    shown[faces == UP] = is_legible = legible.all(axis=1)
    unread = tuple(np.array(outline) for outline in truth.unread_px) + tuple(corners(poses[~shown]))
    return tables.LearningTable(image, poses[shown], faces[shown], pips[is_legible], legible[is_legible], unread)


def difference(first: Bgr, second: Bgr) -> float:
    """Return the difference of two colours in CIE76."""
    lab = cv2.cvtColor(np.array([[first, second]], np.float32) / 255, cv2.COLOR_BGR2LAB)[0]
    return float(np.linalg.norm(lab[0] - lab[1]))


if __name__ == "__main__":
    main()
