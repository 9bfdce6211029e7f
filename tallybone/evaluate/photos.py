"""Compares what was read from a photograph with its labels: which tile is which, and what is right, wrong or spare.

A labelled tile is found where both half centres of a reading lie within 0.35 sides of its own, in either order, the
closest pairs first. What lies in an ignored box or where a tile stands on edge counts neither way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallybone.evaluate.labels import Lies, PhotoLabel, TileLabel
from vision.reading import Face, Guess, Half, Join, PointPx, Reading, Tile

# Distances in sides of a half.
_SAME_HALF = 0.35
_SAME_BACK = 0.7
_NEAR_STANDING = 1.0
# Side of a half where no tile of the picture tells it.
_USUAL_HALF_PX = 40.0

End = tuple[int, int | None]
# Two ends in no order. Of two halves that lie in one place a single end is left.
Ends = frozenset[End]


@dataclass(frozen=True, slots=True)
class HalfJudged:
    """What was said of a half that is truly there: with its neighbours, and by itself."""

    pips: int
    said: Guess
    alone: Guess


@dataclass(frozen=True, slots=True)
class TileJudged:
    """A labelled face-up tile, and what was read there.

    Attributes:
        label: The tile as it truly is.
        seen: What was found there, or None where it was missed.
        is_turned: Whether the first half that was read is the second of the label.
    """

    label: TileLabel
    seen: Tile | None
    is_turned: bool = False

    @property
    def halves(self) -> tuple[HalfJudged, ...]:
        """Both halves in the order of the label, empty where the tile was missed."""
        if self.seen is None:
            return ()
        said = self.seen.halves[::-1] if self.is_turned else self.seen.halves
        return tuple(
            HalfJudged(true.pips, Guess(half.pips, half.confidence), half.alone)
            for true, half in zip(self.label.halves, said, strict=True)
        )


@dataclass(frozen=True, slots=True)
class JoinsJudged:
    """The joins of a picture.

    Attributes:
        right: True joins that were read, by the tiles of the label.
        missed: True joins that were not read, by the tiles of the label.
        spare: Joins that were read and are not true, by the tiles of the reading.
    """

    right: tuple[Join, ...]
    missed: tuple[Join, ...]
    spare: tuple[Join, ...]


@dataclass(frozen=True, slots=True)
class PhotoJudged:
    """What is right and wrong in the reading of one picture.

    Attributes:
        label, reading: What was compared.
        tiles: Every tile that lies face up, in the order of the label.
        spare: Face-up tiles of the reading where none lies.
        backs_missed: Tiles that lie face down and were not seen so.
        backs_spare: Face-down tiles of the reading where none lies.
        joins: None where the label has none: then they are not judged.
    """

    label: PhotoLabel
    reading: Reading
    tiles: tuple[TileJudged, ...]
    spare: tuple[Tile, ...]
    backs_missed: tuple[TileLabel, ...]
    backs_spare: tuple[Tile, ...]
    joins: JoinsJudged | None


def judge_photo(label: PhotoLabel, reading: Reading) -> PhotoJudged:
    """Return what is right and wrong in the reading of a picture."""
    places = _Places(label)
    up = {
        index: tile.halves
        for index, tile in enumerate(reading.tiles)
        if tile.face is Face.UP and not places.is_ignored(_center(tile))
    }
    found = match(label.tiles, up)
    matched = {index for index, _ in found.values()}
    back_centers = [_center(tile) for tile in reading.tiles if tile.face is Face.DOWN]
    return PhotoJudged(
        label,
        reading,
        tiles=tuple(
            _tile_judged(tile, reading, found.get(index))
            for index, tile in enumerate(label.tiles)
            if tile.lies is Lies.UP
        ),
        spare=tuple(
            reading.tiles[index]
            for index in up
            if index not in matched and not places.is_standing(_center(reading.tiles[index]))
        ),
        backs_missed=tuple(
            tile
            for tile in label.tiles
            if tile.lies is Lies.DOWN and not places.is_near(tile.center_px, back_centers, _SAME_BACK)
        ),
        backs_spare=tuple(tile for tile in reading.tiles if tile.face is Face.DOWN and places.is_bare(_center(tile))),
        joins=_judge_joins(label, reading, found) if label.joins else None,
    )


def match(labels: Iterable[TileLabel], readings: Mapping[int, tuple[Half, ...]]) -> dict[int, tuple[int, bool]]:
    """Return which reading is which label, the closest pairs first.

    Args:
        labels: Tiles as they truly lie; only those with halves are matched.
        readings: Halves of each reading, by its index.

    Returns:
        For the index of each label that was found, the index of its reading, and whether the halves are swapped.
    """
    pairs = sorted(
        (distance, number, index, is_turned)
        for number, label in enumerate(labels)
        if label.halves
        for index, halves in readings.items()
        for distance, is_turned in [_distance(label, halves)]
        if distance <= _SAME_HALF
    )
    found: dict[int, tuple[int, bool]] = {}
    taken: set[int] = set()
    for _, number, index, is_turned in pairs:
        if number not in found and index not in taken:
            found[number] = (index, is_turned)
            taken.add(index)
    return found


def _distance(label: TileLabel, halves: tuple[Half, ...]) -> tuple[float, bool]:
    """Return how far the worse half lies from the label, in sides, and whether they fit better swapped."""
    a, b = (half.center_px for half in label.halves)
    p, q = (half.center_px for half in halves)
    side_px = math.dist(a, b)
    as_is, swapped = max(math.dist(a, p), math.dist(b, q)), max(math.dist(a, q), math.dist(b, p))
    return min((as_is / side_px, False), (swapped / side_px, True))


def _tile_judged(label: TileLabel, reading: Reading, found: tuple[int, bool] | None) -> TileJudged:
    return TileJudged(label, None) if found is None else TileJudged(label, reading.tiles[found[0]], found[1])


class _Places:
    """Where in a picture something truly lies."""

    def __init__(self, label: PhotoLabel) -> None:
        sides_px = sorted(tile.half_px for tile in label.tiles if tile.lies is Lies.UP)
        self._half_px = sides_px[len(sides_px) // 2] if sides_px else _USUAL_HALF_PX
        self._label = label

    def is_near(self, point: PointPx, others: Iterable[PointPx], reach: float) -> bool:
        return any(math.dist(point, other) < reach * self._half_px for other in others)

    def is_ignored(self, point: PointPx) -> bool:
        return any(box.holds(point) for box in self._label.ignored)

    def is_standing(self, point: PointPx) -> bool:
        return self.is_near(point, self._centers(Lies.STANDING), _NEAR_STANDING)

    def is_bare(self, point: PointPx) -> bool:
        """Whether no face-down tile lies there, and nothing that is not judged."""
        is_back = self.is_near(point, self._centers(Lies.DOWN), _SAME_BACK)
        return not (is_back or self.is_standing(point) or self.is_ignored(point))

    def _centers(self, lies: Lies) -> list[PointPx]:
        return [tile.center_px for tile in self._label.tiles if tile.lies is lies]


def _center(tile: Tile) -> PointPx:
    """Return where a tile was read: for a face-up one the middle of its halves, which perspective moves off centre."""
    if not tile.halves:
        return tile.center_px
    (ax, ay), (bx, by) = (half.center_px for half in tile.halves)
    return ((ax + bx) / 2, (ay + by) / 2)


def _judge_joins(label: PhotoLabel, reading: Reading, found: Mapping[int, tuple[int, bool]]) -> JoinsJudged:
    meant = {index: (number, is_turned) for number, (index, is_turned) in found.items()}
    true = {frozenset([(join.a, join.a_half), (join.b, join.b_half)]): join for join in label.joins}
    said = {_in_label(join, meant): join for join in reading.joins}
    return JoinsJudged(
        right=tuple(join for ends, join in true.items() if ends in said),
        missed=tuple(join for ends, join in true.items() if ends not in said),
        spare=tuple(join for ends, join in said.items() if ends not in true),
    )


def _in_label(join: Join, meant: Mapping[int, tuple[int, bool]]) -> Ends | Join:
    """Return the ends of a join that was read, in tiles of the label; the join itself where it joins another tile."""
    if join.a not in meant or join.b not in meant:
        return join
    ends = []
    for index, half in ((join.a, join.a_half), (join.b, join.b_half)):
        number, is_turned = meant[index]
        ends.append((number, half if half is None or not is_turned else 1 - half))
    return frozenset(ends)
