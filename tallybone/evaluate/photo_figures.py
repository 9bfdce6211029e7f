"""Counts of what was right and wrong in photographs, over all and per group, and the shares that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from tallybone.evaluate.photos import PhotoJudged, TileJudged
from tallybone.evaluate.reliability import Claim
from vision.reading import Tile

# Pixels across a half, where bins begin. Pips of a double-six are about a sixth of a half: 3 px in one of 20.
_SIZES_PX = (0, 20, 30, 40, 60, 120)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What was counted in some pictures.

    Attributes:
        pictures, perfect: How many, and in how many every tile is right and none spare.
        tiles, found, right, spare: Face-up tiles; *right* means both halves.
        halves, half_errors: Of the tiles that were found.
        alone_right, alone_half_errors: The same where each half speaks for itself, without joins and set.
        backs, backs_found, backs_spare: Tiles that lie face down.
        joins, joins_right, joins_said: In the pictures whose label has joins.
    """

    pictures: int = 0
    perfect: int = 0
    tiles: int = 0
    found: int = 0
    right: int = 0
    spare: int = 0
    halves: int = 0
    half_errors: int = 0
    alone_right: int = 0
    alone_half_errors: int = 0
    backs: int = 0
    backs_found: int = 0
    backs_spare: int = 0
    joins: int = 0
    joins_right: int = 0
    joins_said: int = 0

    def __add__(self, other: Counts) -> Counts:
        names = [field.name for field in fields(self)]
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def shares(self) -> dict[str, float | None]:
        """Return the figures that people compare, each 0 to 1 or None where there is nothing to divide by."""
        return {
            "recall": _share(self.found, self.tiles),
            "precision": _share(self.found, self.found + self.spare),
            "right": _share(self.right, self.tiles),
            "half_error": _share(self.half_errors, self.halves),
            "alone_right": _share(self.alone_right, self.tiles),
            "alone_half_error": _share(self.alone_half_errors, self.halves),
            "perfect": _share(self.perfect, self.pictures),
            "down_found": _share(self.backs_found, self.backs),
            "joins_recall": _share(self.joins_right, self.joins),
            "joins_precision": _share(self.joins_right, self.joins_said),
        }


def count_photo(photo: PhotoJudged) -> Counts:
    """Return the counts of one picture."""
    tiles = _count_tiles(photo.tiles, spare=len(photo.spare))
    backs = sum(tile.lies == "down" for tile in photo.label.tiles)
    joins = photo.joins
    return tiles + Counts(
        pictures=1,
        perfect=int(tiles.right == tiles.tiles and tiles.spare == 0),
        backs=backs,
        backs_found=backs - len(photo.backs_missed),
        backs_spare=len(photo.backs_spare),
        joins=0 if joins is None else len(joins.right) + len(joins.missed),
        joins_right=0 if joins is None else len(joins.right),
        joins_said=0 if joins is None else len(joins.right) + len(joins.spare),
    )


def total(photos: Iterable[PhotoJudged]) -> Counts:
    """Return the counts of several pictures."""
    return sum(map(count_photo, photos), Counts())


def by_group(photos: Sequence[PhotoJudged], name_of: Callable[[PhotoJudged], str]) -> dict[str, Counts]:
    """Return the counts of each group of pictures that has a name, by name."""
    names = sorted({name_of(photo) for photo in photos} - {""})
    return {name: total(photo for photo in photos if name_of(photo) == name) for name in names}


def by_half_px(photos: Sequence[PhotoJudged]) -> dict[str, Counts]:
    """Return the counts of tiles by the size of their halves in pixels, of a spare tile as it was read."""
    counts: dict[str, Counts] = {}
    for low, high in zip(_SIZES_PX, (*_SIZES_PX[1:], math.inf), strict=True):
        tiles = [tile for photo in photos for tile in photo.tiles if low <= tile.label.half_px < high]
        spare = sum(low <= math.dist(*tile.half_centers_px) < high for photo in photos for tile in photo.spare)
        if tiles or spare:
            counts[_range_px(low, high)] = _count_tiles(tiles, spare=spare)
    return counts


def claims_of(photos: Iterable[PhotoJudged]) -> Iterator[Claim]:
    """Yield what was said of each half, and whether it was right; a half of a tile that is not there is wrong."""
    for photo in photos:
        for tile in photo.tiles:
            yield from (Claim(half.said.confidence, half.said.pips == half.pips) for half in tile.halves)
        yield from _spare_claims(photo.spare)


def _spare_claims(spare: Iterable[Tile]) -> Iterator[Claim]:
    return (Claim(half.confidence, is_right=False) for tile in spare for half in tile.halves)


def _count_tiles(tiles: Sequence[TileJudged], *, spare: int) -> Counts:
    found = [tile.halves for tile in tiles if tile.seen is not None]
    errors = [sum(half.said.pips != half.pips for half in halves) for halves in found]
    alone_errors = [sum(half.alone.pips != half.pips for half in halves) for halves in found]
    return Counts(
        tiles=len(tiles),
        found=len(found),
        right=errors.count(0),
        spare=spare,
        halves=2 * len(found),
        half_errors=sum(errors),
        alone_right=alone_errors.count(0),
        alone_half_errors=sum(alone_errors),
    )


def _range_px(low: float, high: float) -> str:
    """Return the name of a bin.

    >>> _range_px(0, 20), _range_px(20, 30), _range_px(120, math.inf)
    ('below 20', '20 to 30', 'from 120')
    """
    if low == 0:
        return f"below {high:g}"
    return f"from {low:g}" if high == math.inf else f"{low:g} to {high:g}"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
