"""Judge photographs against their labels: match tiles, count mistakes, compare confidence with truth.

A labelled tile is found where both half centres of a reading lie within 0.35 sides of its own, in either order, the
closest pairs first. Tiles in an ignored box, and where a tile is on edge, count neither way. A tile that was not found
is missed silently unless a reading that leaves open what lies there has its centre within one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from tallybone.evaluate.labels import Lies, PhotoLabel, TileLabel
from vision.reading import Face, Half, Join, PointPx, Reading, SeenTile

# Distances in sides of a half.
_SAME_HALF = 0.35
_SAME_BACK = 0.7
_NEAR_STANDING = 1.0
_SAME_UNSURE = 1.0
# Side of a half where no tile of the picture shows it.
_USUAL_HALF_PX = 40.0
JoinEnd = tuple[int, int | None]
# Two ends in no order. Of two halves that lie in one place a single end is left.
Ends = frozenset[JoinEnd]

# Pixels across a half, where bins begin. Pips of a double-six are about a sixth of a half: 3 px in one of 20.
_SIZES_PX = (0, 20, 30, 40, 60, 120)

# Fine where readings are sure: that is where most of them are, and where people trust them.
_EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class HalfJudged:
    """The number of a half that is truly there, and its reading."""

    pips: int
    said: Half


@dataclass(frozen=True, slots=True)
class TileJudged:
    """A labelled face-up tile, and its reading.

    Attributes:
        label: The tile as it truly is.
        seen: The tile that was read there, or None where it was missed.
        is_turned: Whether the first half that was read is the second of the label.
        is_silent: Whether it was missed, and nothing was said to look like a tile there.
    """

    label: TileLabel
    seen: SeenTile | None
    is_turned: bool = False
    is_silent: bool = False

    @property
    def halves(self) -> tuple[HalfJudged, ...]:
        """Both halves in the order of the label, empty where the tile was missed."""
        if self.seen is None:
            return ()
        said = self.seen.halves[::-1] if self.is_turned else self.seen.halves
        return tuple(HalfJudged(true.pips, half) for true, half in zip(self.label.halves, said, strict=True))


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
    """The right and wrong parts of the reading of one picture.

    Attributes:
        label, reading: The two that were compared.
        tiles: Every tile that lies face up, in the order of the label.
        spare: Face-up tiles of the reading where none lies.
        backs_missed: Tiles that lie face down and were not seen so.
        backs_spare: Face-down tiles of the reading where none lies.
        unsure_spare: What is said to look like a tile where none lies, however.
        joins: None where the label has none: then they are not judged.
    """

    label: PhotoLabel
    reading: Reading
    tiles: tuple[TileJudged, ...]
    spare: tuple[SeenTile, ...]
    backs_missed: tuple[TileLabel, ...]
    backs_spare: tuple[SeenTile, ...]
    unsure_spare: tuple[SeenTile, ...]
    joins: JoinsJudged | None


def judge_photo(label: PhotoLabel, reading: Reading) -> PhotoJudged:
    """Compare the reading of a picture with its label."""
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
            _tile_judged(tile, reading, found.get(index), places)
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
        unsure_spare=tuple(tile for tile in reading.unsure if not places.is_any(tile.center_px)),
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


def _tile_judged(label: TileLabel, reading: Reading, found: tuple[int, bool] | None, places: _Places) -> TileJudged:
    if found is not None:
        return TileJudged(label, reading.tiles[found[0]], found[1])
    is_said = places.is_near(label.center_px, (tile.center_px for tile in reading.unsure), _SAME_UNSURE)
    return TileJudged(label, None, is_silent=not is_said)


class _Places:
    """The true places of things in a picture."""

    def __init__(self, label: PhotoLabel) -> None:
        sides_px = sorted(tile.half_px for tile in label.tiles if tile.lies is Lies.UP)
        self._half_px = sides_px[len(sides_px) // 2] if sides_px else _USUAL_HALF_PX
        self._label = label

    def is_near(self, point: PointPx, others: Iterable[PointPx], reach: float) -> bool:
        return any(math.dist(point, other) < reach * self._half_px for other in others)

    def is_ignored(self, point: PointPx) -> bool:
        return any(box.holds(point) for box in self._label.ignored)

    def is_any(self, point: PointPx) -> bool:
        """Whether any tile lies or stands there, or nothing is judged."""
        labelled = (tile.center_px for tile in self._label.tiles)
        return self.is_ignored(point) or self.is_near(point, labelled, _SAME_UNSURE)

    def is_standing(self, point: PointPx) -> bool:
        return self.is_near(point, self._centers(Lies.STANDING), _NEAR_STANDING)

    def is_bare(self, point: PointPx) -> bool:
        """Whether no face-down tile lies there, and nothing that is not judged."""
        is_back = self.is_near(point, self._centers(Lies.DOWN), _SAME_BACK)
        return not (is_back or self.is_standing(point) or self.is_ignored(point))

    def _centers(self, lies: Lies) -> list[PointPx]:
        return [tile.center_px for tile in self._label.tiles if tile.lies is lies]


def _center(tile: SeenTile) -> PointPx:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoCounts:
    """The counts of some pictures.

    Attributes:
        pictures, perfect: How many, and in how many every tile is right and none spare.
        tiles, found, right, spare: Face-up tiles; *right* means both halves.
        silent: Face-up tiles that were not found, where nothing was said to look like a tile either.
        unsure_false: How often something was said to look like a tile where none lies.
        halves, half_errors: Of the tiles that were found.
        bold: Of the wrong halves those that were read as if they were sure.
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
    silent: int = 0
    unsure_false: int = 0
    halves: int = 0
    half_errors: int = 0
    bold: int = 0
    alone_right: int = 0
    alone_half_errors: int = 0
    backs: int = 0
    backs_found: int = 0
    backs_spare: int = 0
    joins: int = 0
    joins_right: int = 0
    joins_said: int = 0

    def __add__(self, other: PhotoCounts) -> PhotoCounts:
        names = [field.name for field in fields(self)]
        return PhotoCounts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def shares(self) -> dict[str, float | None]:
        """Return the figures that people compare, each 0 to 1 or None where there is nothing to divide by."""
        return {
            "recall": _share(self.found, self.tiles),
            "precision": _share(self.found, self.found + self.spare),
            "right": _share(self.right, self.tiles),
            "silent": _share(self.silent, self.tiles),
            "half_error": _share(self.half_errors, self.halves),
            "bold": _share(self.bold, self.halves),
            "alone_right": _share(self.alone_right, self.tiles),
            "alone_half_error": _share(self.alone_half_errors, self.halves),
            "perfect": _share(self.perfect, self.pictures),
            "down_found": _share(self.backs_found, self.backs),
            "joins_recall": _share(self.joins_right, self.joins),
            "joins_precision": _share(self.joins_right, self.joins_said),
        }


def count_photo(photo: PhotoJudged) -> PhotoCounts:
    """Return the counts of one picture."""
    tiles = _count_tiles(photo.tiles, spare=len(photo.spare))
    backs = sum(tile.lies == "down" for tile in photo.label.tiles)
    joins = photo.joins
    return tiles + PhotoCounts(
        pictures=1,
        perfect=int(tiles.right == tiles.tiles and tiles.spare == 0),
        unsure_false=len(photo.unsure_spare),
        backs=backs,
        backs_found=backs - len(photo.backs_missed),
        backs_spare=len(photo.backs_spare),
        joins=0 if joins is None else len(joins.right) + len(joins.missed),
        joins_right=0 if joins is None else len(joins.right),
        joins_said=0 if joins is None else len(joins.right) + len(joins.spare),
    )


def total(photos: Iterable[PhotoJudged]) -> PhotoCounts:
    """Return the counts of several pictures."""
    return sum(map(count_photo, photos), PhotoCounts())


def by_group(photos: Sequence[PhotoJudged], name_of: Callable[[PhotoJudged], str]) -> dict[str, PhotoCounts]:
    """Return the counts of each group of pictures that has a name, by name."""
    names = sorted({name_of(photo) for photo in photos} - {""})
    return {name: total(photo for photo in photos if name_of(photo) == name) for name in names}


def by_half_px(photos: Sequence[PhotoJudged]) -> dict[str, PhotoCounts]:
    """Return the counts of tiles by the size of their halves in pixels, of a spare tile as it was read."""
    counts: dict[str, PhotoCounts] = {}
    for low, high in zip(_SIZES_PX, (*_SIZES_PX[1:], math.inf), strict=True):
        tiles = [tile for photo in photos for tile in photo.tiles if low <= tile.label.half_px < high]
        spare = sum(low <= math.dist(*tile.half_centers_px) < high for photo in photos for tile in photo.spare)
        if tiles or spare:
            counts[_range_px(low, high)] = _count_tiles(tiles, spare=spare)
    return counts


def claims_of(photos: Iterable[PhotoJudged]) -> Iterator[JudgedConfidence]:
    """Yield the confidence of each half, and whether it is right; a half of a tile that is not there is wrong."""
    for photo in photos:
        for tile in photo.tiles:
            yield from (JudgedConfidence(half.said.confidence, half.said.pips == half.pips) for half in tile.halves)
        yield from (JudgedConfidence(half.confidence, is_right=False) for tile in photo.spare for half in tile.halves)


def _count_tiles(tiles: Sequence[TileJudged], *, spare: int) -> PhotoCounts:
    found = [tile.halves for tile in tiles if tile.seen is not None]
    errors = [sum(half.said.pips != half.pips for half in halves) for halves in found]
    alone_errors = [sum(half.said.alone.pips != half.pips for half in halves) for halves in found]
    return PhotoCounts(
        tiles=len(tiles),
        found=len(found),
        right=errors.count(0),
        spare=spare,
        silent=sum(tile.is_silent for tile in tiles),
        halves=2 * len(found),
        half_errors=sum(errors),
        bold=sum(half.said.is_sure and half.said.pips != half.pips for halves in found for half in halves),
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


@dataclass(frozen=True, slots=True)
class JudgedConfidence:
    """A claim with a confidence of 0 to 1, and whether it was right."""

    confidence: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of similar confidence.

    Attributes:
        low, high: Confidence from *low* on and below *high*; the last bin holds 1 too.
        claims: How many there are.
        right: How many of them were right.
        confidence_sum: Sum of their confidences.
    """

    low: float
    high: float
    claims: int
    right: int
    confidence_sum: float

    @property
    def mean_confidence(self) -> float | None:
        """The confidence on average, None without claims."""
        return self.confidence_sum / self.claims if self.claims else None

    @property
    def share_right(self) -> float | None:
        """The share of right claims, None without claims."""
        return self.right / self.claims if self.claims else None


def sort_into_bins(claims: Iterable[JudgedConfidence]) -> tuple[Bin, ...]:
    """Return claims by confidence, the least sure first.

    >>> [
    ...     (b.low, b.claims, b.right)
    ...     for b in sort_into_bins([JudgedConfidence(0.99, True), JudgedConfidence(0.4, False)])
    ...     if b.claims
    ... ]
    [(0.0, 1, 0), (0.99, 1, 1)]
    """
    held: list[list[JudgedConfidence]] = [[] for _ in _EDGES[1:]]
    for claim in claims:
        place = sum(claim.confidence >= edge for edge in _EDGES[1:-1])
        held[place].append(claim)
    return tuple(
        Bin(low, high, len(some), sum(one.is_right for one in some), sum(one.confidence for one in some))
        for low, high, some in zip(_EDGES, _EDGES[1:], held, strict=False)
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return how far confidence lies from truth, on average over all claims, 0 to 1; None where there are none.

    It is the sum over the bins of (claims in the bin / all claims) * |share right - mean confidence|: Guo, Pleiss, Sun
    and Weinberger, On Calibration of Modern Neural Networks (ICML 2017), equation 3, after Naeini, Cooper and
    Hauskrecht (AAAI 2015). Their bins are equally wide, these are not.

    >>> expected_calibration_error(sort_into_bins([JudgedConfidence(0.75, True), JudgedConfidence(0.75, False)]))
    0.25
    """
    claims = sum(one.claims for one in bins)
    return sum(abs(one.right - one.confidence_sum) for one in bins) / claims if claims else None
