"""Measure whether a corrected misreading returns, and whether learning it spoils other readings, on ten tile sets.

    python -m lab.bench.corrections [--sets 10] [--taught 6] [--readings 50] [--seed 2611]

The sets are from `handmade_looks` and `lab.render.layouts`, chosen because the reader misreads some of
their tiles repeatedly. Each is a double-six set, scattered in good light as in `handmade.py`. On the first tables,
every misread tile is corrected once. Then other tables of the set are read with and without what was learned. Columns:

- corrected, learned: corrected tiles, and those that were learned. The others were refused.
- seen: readings of the corrected tiles on the other tables.
- same before, same after: readings with the same misreading as the one corrected, without and with learning.
- right: readings of other tiles that are right without learning.
- spoilt, gained: readings of other tiles that learning made wrong, and right.
- s: median time to learn a correction.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cache

import cv2
import numpy as np

from calibration.tiles.tile_set import LessonResult, Lessons, TileCorrection, TilePair, learn_correction
from lab.bench.handmade import HIGHEST, KINDS, calm_camera, calm_light, draw_cloth, draw_handmade_looks
from lab.bench.material.harness import options_of
from lab.bench.material.judged_tables import JudgedTile, judge
from lab.render.layouts import draw_foreign_tile_look, visible_area
from lab.render.placements import all_pip_pairs, scatter
from lab.render.scene import Scene, TileLook
from lab.training.tables import LearningTable, table_of
from vision.reader.reader import Reader, load_reader
from vision.reading import SURE, Half, Reading
from vision.tracking.tracks import poses_of

# Separates these seeds from those of training and of other benchmarks.
_STREAM = 11
# Kind and seed of handmade sets, and seeds of foreign ones.
_HANDMADE = ((4, 0), (4, 1), (8, 0), (8, 1), (9, 0), (9, 1), (0, 0))
_FOREIGN = (12, 31, 45)
_TILES = (8, 21)
_PAIRS = all_pip_pairs(HIGHEST)


@dataclass(slots=True)
class Row:
    """Figures of a set, in the order of the columns."""

    corrected: int = 0
    learned: int = 0
    seen: int = 0
    same_before: int = 0
    same_after: int = 0
    right: int = 0
    spoilt: int = 0
    gained: int = 0
    name: str = ""
    took_s: list[float] = field(default_factory=list)


def main() -> None:
    """Print a row for each set, then the total."""
    options = options_of(__doc__, sets=len(_HANDMADE) + len(_FOREIGN), seed=2611, taught=6, readings=50)
    cv2.setNumThreads(1)
    print(f"{'set':28} corrected learned seen  same before  same after  right spoilt gained     s")
    total = Row(name="all")
    for index in range(options.sets):
        row = measure_set(options.seed, options.taught, options.readings, index)
        _print(row)
        for name in ("corrected", "learned", "seen", "same_before", "same_after", "right", "spoilt", "gained"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
        total.took_s += row.took_s
    _print(total)


def _print(row: Row) -> None:
    before, after = (f"{count} ({100 * count / max(1, row.seen):.0f} %)" for count in (row.same_before, row.same_after))
    took_s = float(np.median(row.took_s)) if row.took_s else 0.0
    print(
        f"{row.name:28} {row.corrected:9} {row.learned:7} {row.seen:4} {before:>12} {after:>11} {row.right:6}"
        f" {row.spoilt:6} {row.gained:6} {took_s:5.1f}",
        flush=True,
    )


def measure_set(seed: int, taught: int, readings: int, index: int) -> Row:
    """Teach a set, and read other tables of it."""
    name, looks = _set(index)
    tables = (_table(looks, np.random.default_rng((seed, _STREAM, index, at))) for at in range(taught + readings))
    row, wrong, lessons = Row(name=name), dict[TilePair, TilePair](), Lessons()
    for at, table in enumerate(tables):
        if at < taught:
            lessons = _teach(table, lessons, wrong, row)
        else:
            _judge(table, lessons, wrong, row)
    return row


def _set(index: int) -> tuple[str, tuple[TileLook, ...]]:
    """Return the name of a set and the look of each of its tiles, or one for all."""
    if index < len(_HANDMADE):
        kind, seed = _HANDMADE[index]
        looks = draw_handmade_looks(KINDS[kind], np.random.default_rng((77, kind, seed)), len(_PAIRS))
        return f"{KINDS[kind].name} {seed}", looks
    seed = _FOREIGN[index - len(_HANDMADE)]
    return f"foreign {seed}", (draw_foreign_tile_look(np.random.default_rng((78, seed)), max_pips=HIGHEST),)


def _table(looks: tuple[TileLook, ...], rng: np.random.Generator) -> LearningTable:
    """Return a table with a part of the set."""
    camera = calm_camera(rng, looks[0])
    area = visible_area(camera)
    room = area.width_mm * area.height_mm / (looks[0].length_mm * looks[0].width_mm)
    count = int(np.clip(rng.integers(*_TILES), 1, max(1, room * 0.4)))
    pairs = [_PAIRS[at] for at in rng.permutation(len(_PAIRS))[:count]]
    tiles = scatter(rng, pairs, area, looks[0], gap_mm=1.0).tiles
    if len(looks) > 1:
        tiles = tuple(replace(tile, look=_PAIRS.index(_sorted(tile.pips or (0, 0)))) for tile in tiles)
    cloth = draw_cloth(rng, looks[0].face_bgr)
    scene = Scene(tuple(tiles), looks[0], cloth, calm_light(rng), camera, more_looks=looks[1:])
    return table_of(scene, rng, only_legible=False)


def _teach(table: LearningTable, lessons: Lessons, wrong: dict[TilePair, TilePair], row: Row) -> Lessons:
    """Correct each misread tile that was not corrected before, and return what was learned."""
    while True:
        reading = _reader(lessons).read(table.image)
        misread = (tile for tile in judge(reading, table).tiles if tile.misread and _sorted(tile.pips) not in wrong)
        tile = next(misread, None)
        if tile is None or tile.read is None:
            return lessons
        wrong[_sorted(tile.pips)] = _as_sorted(tile.pips, tile.read)
        row.corrected += 1
        began_s = time.perf_counter()
        correction = _correction(table, reading, tile)
        if correction.pips != correction.read:  # else only the other tiles spoilt its reading
            lessons, verdict = learn_correction(lessons, correction, _reader(Lessons()))
            row.took_s.append(time.perf_counter() - began_s)
            row.learned += verdict is LessonResult.LEARNED


def _correction(table: LearningTable, reading: Reading, tile: JudgedTile) -> TileCorrection:
    up = [seen for seen in reading.tiles if seen.halves]
    assert tile.read is not None  # ensured by the caller
    centers = {half.center_px for half in tile.read}
    own = min(up, key=lambda seen: sum(half.center_px not in centers for half in seen.halves))
    others = [seen for seen in up if seen is not own]
    by_center = dict(zip((half.center_px for half in tile.read), tile.pips, strict=True))
    first, second = (by_center[half.center_px] for half in own.halves)
    read_first, read_second = (half.alone.pips for half in own.halves)
    confident = (at for at, seen in enumerate(others, 1) if all(half.alone.confidence >= SURE for half in seen.halves))
    poses = poses_of((own, *others))
    return TileCorrection(table.image, poses, (first, second), (read_first, read_second), tuple(confident))


def _judge(table: LearningTable, lessons: Lessons, wrong: dict[TilePair, TilePair], row: Row) -> None:
    before, after = (judge(_reader(used).read(table.image), table).tiles for used in (Lessons(), lessons))
    for was, now in zip(before, after, strict=True):
        if was.read is None or now.read is None:
            continue
        misread = wrong.get(_sorted(was.pips))
        if misread is None:
            row.right += not was.misread
            row.spoilt += bool(now.misread) and not was.misread
            row.gained += bool(was.misread) and not now.misread
        else:
            row.seen += 1
            row.same_before += _as_sorted(was.pips, was.read) == misread
            row.same_after += _as_sorted(now.pips, now.read) == misread


def _sorted(pips: tuple[int, int]) -> TilePair:
    return min(pips), max(pips)


def _as_sorted(pips: TilePair, read: tuple[Half, Half]) -> TilePair:
    """Return the numbers that were read, in the ascending order of the true ones."""
    first, second = (half.pips for half in read)
    return (first, second) if pips[0] <= pips[1] else (second, first)


def _reader(lessons: Lessons) -> Reader:
    return replace(_shipped(), exemplars=lessons.exemplars)


@cache
def _shipped() -> Reader:
    """Return the shipped reader, loaded once per process."""
    return load_reader(HIGHEST)


if __name__ == "__main__":
    main()
