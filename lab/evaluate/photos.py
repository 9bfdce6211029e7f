"""Evaluate readings of labelled photos: match tiles, count mistakes, and compare confidence with accuracy.

A labelled tile is found if both half centres of a tile of the reading are within 0.35 sides of its own, in either
order. The closest pairs are matched first. Tiles of the reading in an ignored box, and unmatched ones at a standing
tile, are not counted. A tile that was not found is missed silently, unless the centre of an unsure tile is within one
side of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from lab.evaluate.labels import LabelFace, PhotoLabel, TileLabel
from vision.reading import Face, Half, Join, PointPx, Reading, SeenTile

# Maximum distances between centres of matching objects, in sides of a half: halves, face-down tiles, tiles at a
# standing tile, and unsure tiles.
_SAME_HALF = 0.35
_SAME_BACK = 0.7
_NEAR_STANDING = 1.0
_SAME_UNSURE = 1.0
# Side of a half if the picture has no labelled face-up tile.
_USUAL_HALF_PX = 40.0
JoinEnd = tuple[int, int | None]
# The two ends of a join, unordered.
Ends = frozenset[JoinEnd]

# Lower edges of the bins by half size, in pixels. A pip of a double-six set is about a sixth of a half, or 3 px at 20.
_SIZES_PX = (0, 20, 30, 40, 60, 120)

# Edges of the confidence bins. Bins are finer at high confidence, where most readings are and users rely on them.
_EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class HalfJudged:
    """True number of a half, and its reading."""

    pips: int
    seen: Half


@dataclass(frozen=True, slots=True)
class TileJudged:
    """A labelled face-up tile, and its reading.

    Attributes:
        seen: Matching tile of the reading, or None if the tile was missed.
        is_turned: True if the first half of the reading is the second half of the label.
        is_silent: True if the tile was missed and there is no unsure tile near it.
    """

    label: TileLabel
    seen: SeenTile | None
    is_turned: bool = False
    is_silent: bool = False

    @property
    def halves(self) -> tuple[HalfJudged, ...]:
        """Both halves in the order of the label. Empty if the tile was missed."""
        if self.seen is None:
            return ()
        seen = self.seen.halves[::-1] if self.is_turned else self.seen.halves
        return tuple(HalfJudged(true.pips, half) for true, half in zip(self.label.halves, seen, strict=True))


@dataclass(frozen=True, slots=True)
class JoinsJudged:
    """Evaluation of the joins of a picture.

    Attributes:
        right: Labelled joins that were found, as indices into the label.
        missed: Labelled joins that were not found, as indices into the label.
        spare: Joins of the reading without a labelled join, as indices into the reading.
    """

    right: tuple[Join, ...]
    missed: tuple[Join, ...]
    spare: tuple[Join, ...]


@dataclass(frozen=True, slots=True)
class PhotoJudged:
    """Evaluation of the reading of a picture.

    Attributes:
        tiles: Labelled face-up tiles, in the order of the label.
        spare: Face-up tiles of the reading without a labelled tile (false positives).
        backs_missed: Labelled face-down tiles that were not found.
        backs_spare: Face-down tiles of the reading that are near no labelled face-down or standing tile, and in no
            ignored box.
        unsure_spare: Unsure tiles of the reading that are near no labelled tile and in no ignored box.
        joins: Evaluation of the joins, or None if the label lists no joins.
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
    matches = match(label.tiles, up)
    matched = {index for index, _ in matches.values()}
    back_centers = [_center(tile) for tile in reading.tiles if tile.face is Face.DOWN]
    return PhotoJudged(
        label,
        reading,
        tiles=tuple(
            _judge_tile(tile, reading, matches.get(index), places)
            for index, tile in enumerate(label.tiles)
            if tile.face is LabelFace.UP
        ),
        spare=tuple(
            reading.tiles[index]
            for index in up
            if index not in matched and not places.is_standing(_center(reading.tiles[index]))
        ),
        backs_missed=tuple(
            tile
            for tile in label.tiles
            if tile.face is LabelFace.DOWN and not places.is_near(tile.center_px, back_centers, _SAME_BACK)
        ),
        backs_spare=tuple(tile for tile in reading.tiles if tile.face is Face.DOWN and places.is_bare(_center(tile))),
        unsure_spare=tuple(tile for tile in reading.unsure if not places.is_any(tile.center_px)),
        joins=_judge_joins(label, reading, matches) if label.joins else None,
    )


def match(labels: Iterable[TileLabel], readings: Mapping[int, tuple[Half, ...]]) -> dict[int, tuple[int, bool]]:
    """Match tiles of a reading to labels, closest pairs first.

    Args:
        labels: Labelled tiles. Those without halves are ignored.
        readings: Halves of each tile of the reading, by index.

    Returns:
        For the index of each found label, the index in *readings* and whether the halves are swapped.
    """
    pairs = sorted(
        (distance, number, index, is_turned)
        for number, label in enumerate(labels)
        if label.halves
        for index, halves in readings.items()
        for distance, is_turned in [_distance(label, halves)]
        if distance <= _SAME_HALF
    )
    matches: dict[int, tuple[int, bool]] = {}
    matched: set[int] = set()
    for _, number, index, is_turned in pairs:
        if number not in matches and index not in matched:
            matches[number] = (index, is_turned)
            matched.add(index)
    return matches


def _distance(label: TileLabel, halves: tuple[Half, ...]) -> tuple[float, bool]:
    """Return the distance of the farther half from its label, in sides, and True if the halves match better swapped."""
    a, b = (half.center_px for half in label.halves)
    p, q = (half.center_px for half in halves)
    side_px = math.dist(a, b)
    straight, swapped = max(math.dist(a, p), math.dist(b, q)), max(math.dist(a, q), math.dist(b, p))
    return min((straight / side_px, False), (swapped / side_px, True))


def _judge_tile(label: TileLabel, reading: Reading, matched: tuple[int, bool] | None, places: _Places) -> TileJudged:
    if matched is not None:
        return TileJudged(label, reading.tiles[matched[0]], matched[1])
    is_unsure = places.is_near(label.center_px, (tile.center_px for tile in reading.unsure), _SAME_UNSURE)
    return TileJudged(label, None, is_silent=not is_unsure)


class _Places:
    """Looks up labelled tiles and ignored boxes of a picture by position. Distances are in median sides of a half."""

    def __init__(self, label: PhotoLabel) -> None:
        sides_px = sorted(tile.half_px for tile in label.tiles if tile.face is LabelFace.UP)
        self._half_px = sides_px[len(sides_px) // 2] if sides_px else _USUAL_HALF_PX
        self._label = label

    def is_near(self, point: PointPx, others: Iterable[PointPx], reach: float) -> bool:
        return any(math.dist(point, other) < reach * self._half_px for other in others)

    def is_ignored(self, point: PointPx) -> bool:
        return any(box.holds(point) for box in self._label.ignored)

    def is_any(self, point: PointPx) -> bool:
        """Return True if *point* is near any labelled tile or in an ignored box."""
        labelled = (tile.center_px for tile in self._label.tiles)
        return self.is_ignored(point) or self.is_near(point, labelled, _SAME_UNSURE)

    def is_standing(self, point: PointPx) -> bool:
        return self.is_near(point, self._centers(LabelFace.STANDING), _NEAR_STANDING)

    def is_bare(self, point: PointPx) -> bool:
        """Return True if *point* is not near a face-down or standing tile, nor in an ignored box."""
        is_back = self.is_near(point, self._centers(LabelFace.DOWN), _SAME_BACK)
        return not (is_back or self.is_standing(point) or self.is_ignored(point))

    def _centers(self, face: LabelFace) -> list[PointPx]:
        return [tile.center_px for tile in self._label.tiles if tile.face is face]


def _center(tile: SeenTile) -> PointPx:
    """Return the position of a tile. For a face-up tile, it is the middle of its half centres, as in labels."""
    if not tile.halves:
        return tile.center_px
    (ax, ay), (bx, by) = (half.center_px for half in tile.halves)
    return ((ax + bx) / 2, (ay + by) / 2)


def _judge_joins(label: PhotoLabel, reading: Reading, matches: Mapping[int, tuple[int, bool]]) -> JoinsJudged:
    labels = {index: (number, is_turned) for number, (index, is_turned) in matches.items()}
    true = {frozenset([(join.a, join.a_half), (join.b, join.b_half)]): join for join in label.joins}
    seen = {_in_label(join, labels): join for join in reading.joins}
    return JoinsJudged(
        right=tuple(join for ends, join in true.items() if ends in seen),
        missed=tuple(join for ends, join in true.items() if ends not in seen),
        spare=tuple(join for ends, join in seen.items() if ends not in true),
    )


def _in_label(join: Join, labels: Mapping[int, tuple[int, bool]]) -> Ends | Join:
    """Return the ends of a join of the reading, as tiles of the label."""
    # If a tile is not matched, return the join itself.
    if join.a not in labels or join.b not in labels:
        return join
    ends = []
    for index, half in ((join.a, join.a_half), (join.b, join.b_half)):
        number, is_turned = labels[index]
        ends.append((number, half if half is None or not is_turned else 1 - half))
    return frozenset(ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoCounts:
    """Counts over pictures.

    Attributes:
        pictures, perfect: Pictures, and those with every tile right and no spare tile.
        tiles, found, right, spare: Face-up tiles. In *right* tiles both halves are correct.
        silent: Missed face-up tiles without an unsure tile near them.
        unsure_false: Unsure tiles without any labelled tile.
        halves, half_errors: Halves of found tiles, and the wrong ones among them.
        bold: Wrong halves of found tiles that the reader was sure of.
        alone_right, alone_half_errors: Right tiles and wrong halves of readings that ignore joins and the set.
        joins, joins_right, joins_said: Joins in the label, found joins, and joins in the reading. Pictures without
            labelled joins are not counted.
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
        """Return the rates by name, each 0 to 1, or None if its denominator is 0."""
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
    """Return the counts of a picture."""
    tiles = _count_tiles(photo.tiles, spare=len(photo.spare))
    backs = sum(tile.face == "down" for tile in photo.label.tiles)
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
    """Return the counts of each group of pictures, by name. Pictures without a group name are skipped."""
    names = sorted({name_of(photo) for photo in photos} - {""})
    return {name: total(photo for photo in photos if name_of(photo) == name) for name in names}


def by_half_px(photos: Sequence[PhotoJudged]) -> dict[str, PhotoCounts]:
    """Return the counts of tiles by side of a half in pixels, without empty groups.

    Spare tiles have the size of their reading.
    """
    counts: dict[str, PhotoCounts] = {}
    for low, high in zip(_SIZES_PX, (*_SIZES_PX[1:], math.inf), strict=True):
        tiles = [tile for photo in photos for tile in photo.tiles if low <= tile.label.half_px < high]
        spare = sum(low <= math.dist(*tile.half_centers_px) < high for photo in photos for tile in photo.spare)
        if tiles or spare:
            counts[_range_px(low, high)] = _count_tiles(tiles, spare=spare)
    return counts


def claims_of(photos: Iterable[PhotoJudged]) -> Iterator[JudgedConfidence]:
    """Yield the confidence and correctness of each half of found and spare tiles. Halves of spare tiles are wrong."""
    for photo in photos:
        for tile in photo.tiles:
            yield from (JudgedConfidence(half.seen.confidence, half.seen.pips == half.pips) for half in tile.halves)
        yield from (JudgedConfidence(half.confidence, is_right=False) for tile in photo.spare for half in tile.halves)


def _count_tiles(tiles: Sequence[TileJudged], *, spare: int) -> PhotoCounts:
    found = [tile.halves for tile in tiles if tile.seen is not None]
    errors = [sum(half.seen.pips != half.pips for half in halves) for halves in found]
    alone_errors = [sum(half.seen.alone.pips != half.pips for half in halves) for halves in found]
    return PhotoCounts(
        tiles=len(tiles),
        found=len(found),
        right=errors.count(0),
        spare=spare,
        silent=sum(tile.is_silent for tile in tiles),
        halves=2 * len(found),
        half_errors=sum(errors),
        bold=sum(half.seen.is_sure and half.seen.pips != half.pips for halves in found for half in halves),
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
    """Confidence of a reading, 0 to 1, and whether it was right."""

    confidence: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Readings with similar confidence.

    Attributes:
        low, high: Range of the confidence, without *high*. The last bin includes 1.
    """

    low: float
    high: float
    claims: int
    right: int
    confidence_sum: float

    @property
    def mean_confidence(self) -> float | None:
        """Mean confidence, or None for an empty bin."""
        return self.confidence_sum / self.claims if self.claims else None

    @property
    def share_right(self) -> float | None:
        """Share of right readings, or None for an empty bin."""
        return self.right / self.claims if self.claims else None


def sort_into_bins(claims: Iterable[JudgedConfidence]) -> tuple[Bin, ...]:
    """Sort readings into bins by confidence, lowest first. Empty bins are included.

    >>> [
    ...     (b.low, b.claims, b.right)
    ...     for b in sort_into_bins([JudgedConfidence(0.99, True), JudgedConfidence(0.4, False)])
    ...     if b.claims
    ... ]
    [(0.0, 1, 0), (0.99, 1, 1)]
    """
    groups: list[list[JudgedConfidence]] = [[] for _ in _EDGES[1:]]
    for claim in claims:
        index = sum(claim.confidence >= edge for edge in _EDGES[1:-1])
        groups[index].append(claim)
    return tuple(
        Bin(low, high, len(group), sum(claim.is_right for claim in group), sum(claim.confidence for claim in group))
        for low, high, group in zip(_EDGES, _EDGES[1:], groups, strict=False)
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error, 0 to 1, or None without readings.

    It is the sum over bins of (readings in the bin / all readings) * |share right - mean confidence|. See Guo, Pleiss,
    Sun and Weinberger, On Calibration of Modern Neural Networks (ICML 2017), equation 3, after Naeini, Cooper and
    Hauskrecht (AAAI 2015). Unlike theirs, these bins do not have equal width.

    >>> expected_calibration_error(sort_into_bins([JudgedConfidence(0.75, True), JudgedConfidence(0.75, False)]))
    0.25
    """
    claims = sum(each.claims for each in bins)
    return sum(abs(each.right - each.confidence_sum) for each in bins) / claims if claims else None
