"""What was read wrongly in a photograph, mistake by mistake: in words, and where to look."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tallybone.evaluate.labels import TileLabel
from tallybone.evaluate.photos import PhotoJudged, TileJudged
from vision.reading import Join, PointPx, Tile

Outline = tuple[PointPx, ...]

# How far round the centre of a face-down tile one looks, in sides: its label does not say how it lies.
_BACK_REACH = 1.1


class Wrong(StrEnum):
    """What kind of mistake it is."""

    MISSED = "missed tile"
    MISREAD = "wrong pips"
    SPARE = "spare tile"
    MISSED_BACK = "missed back"
    SPARE_BACK = "spare back"
    MISSED_JOIN = "missed join"
    SPARE_JOIN = "spare join"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that was read wrongly.

    Attributes:
        wrong: What kind it is.
        words: What is wrong, for example `2-5 read as 2-6 (0.71)`.
        outlines_px: The tiles it is about.
        link_px: Of a join its two ends, otherwise None.
    """

    wrong: Wrong
    words: str
    outlines_px: tuple[Outline, ...]
    link_px: tuple[PointPx, PointPx] | None = None

    @property
    def center_px(self) -> PointPx:
        """The middle of what it is about."""
        points = [point for outline in self.outlines_px for point in outline]
        return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


def mistakes_in(photo: PhotoJudged) -> tuple[Mistake, ...]:
    """Return every mistake in a picture: tiles, then backs, then joins."""
    return (*_tiles(photo), *_backs(photo), *_joins(photo))


def _tiles(photo: PhotoJudged) -> Iterator[Mistake]:
    for tile in photo.tiles:
        if tile.seen is None:
            yield Mistake(Wrong.MISSED, f"missed {_name(tile.label)}", (_outline(tile.label),))
        elif words := _misread(tile):
            yield Mistake(Wrong.MISREAD, words, (tile.seen.corners_px,))
    for spare in photo.spare:
        yield Mistake(Wrong.SPARE, f"spare {_name(spare)} ({_least_sure(spare):.2f})", (spare.corners_px,))


def _backs(photo: PhotoJudged) -> Iterator[Mistake]:
    reach_px = _BACK_REACH * _usual_half_px(photo)
    for label in photo.backs_missed:
        yield Mistake(Wrong.MISSED_BACK, "missed face-down tile", (_ring(label.center_px, reach_px),))
    for tile in photo.backs_spare:
        yield Mistake(Wrong.SPARE_BACK, "spare face-down tile", (tile.corners_px,))


def _joins(photo: PhotoJudged) -> Iterator[Mistake]:
    if photo.joins is None:
        return
    labels, tiles = photo.label.tiles, photo.reading.tiles
    for join in photo.joins.missed:
        link = _link(join, lambda index, half: _end_px(labels[index], half))
        names = f"{_name(labels[join.a])} to {_name(labels[join.b])}"
        outlines = (_outline(labels[join.a]), _outline(labels[join.b]))
        yield Mistake(Wrong.MISSED_JOIN, f"missed join {names}", outlines, link)
    for join in photo.joins.spare:
        link = _link(join, lambda index, half: _end_px(tiles[index], half))
        names = f"{_name(tiles[join.a])} to {_name(tiles[join.b])}"
        outlines = (tiles[join.a].corners_px, tiles[join.b].corners_px)
        yield Mistake(Wrong.SPARE_JOIN, f"spare join {names}", outlines, link)


def _link(join: Join, end_px: Callable[[int, int | None], PointPx]) -> tuple[PointPx, PointPx]:
    return end_px(join.a, join.a_half), end_px(join.b, join.b_half)


def _end_px(tile: Tile | TileLabel, half: int | None) -> PointPx:
    return tile.center_px if half is None or not tile.halves else tile.halves[half].center_px


def _misread(tile: TileJudged) -> str:
    """Return what a tile was taken for, with the confidence of each wrong half; empty where it is right."""
    wrong = [half for half in tile.halves if half.said.pips != half.pips]
    if not wrong:
        return ""
    read = "-".join(str(half.said.pips) for half in tile.halves)
    return f"{_name(tile.label)} read as {read} ({', '.join(f'{half.said.confidence:.2f}' for half in wrong)})"


def _name(tile: Tile | TileLabel) -> str:
    return "-".join(str(half.pips) for half in tile.halves) or "face-down tile"


def _least_sure(tile: Tile) -> float:
    return min(half.confidence for half in tile.halves)


def _usual_half_px(photo: PhotoJudged) -> float:
    """Return the side of a half in this picture, from labels or else from what was read."""
    sides_px = sorted(tile.label.half_px for tile in photo.tiles)
    sides_px = sides_px or sorted(math.dist(*tile.half_centers_px) for tile in photo.reading.tiles)
    return sides_px[len(sides_px) // 2] if sides_px else 40.0


def _outline(label: TileLabel) -> Outline:
    """Return the rectangle in which a labelled face-up tile lies: its halves are squares, seen straight from above."""
    (ax, ay), (bx, by) = (half.center_px for half in label.halves)
    x, y = label.center_px
    along, across = (bx - ax, by - ay), ((ay - by) / 2, (bx - ax) / 2)
    return tuple(
        (x + i * along[0] + j * across[0], y + i * along[1] + j * across[1])
        for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )


def _ring(center: PointPx, radius_px: float) -> Outline:
    angles = [math.tau * step / 24 for step in range(24)]
    return tuple((center[0] + radius_px * math.cos(a), center[1] + radius_px * math.sin(a)) for a in angles)
