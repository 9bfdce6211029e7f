"""Read the labels of photographs: the tiles that truly lie there (docs/labels.md)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeGuard, TypeVar

from tallybone.files import reason_of
from vision.reading import Join, PointPx

T = TypeVar("T")
_MOST_PIPS = 18
_LONGEST_SHOWN = 60


class LabelError(ValueError):
    """Labels cannot be used; the message names the field and the value expected there."""


class Lies(StrEnum):
    """How a labelled tile lies."""

    UP = "up"
    DOWN = "down"
    STANDING = "standing"


@dataclass(frozen=True, slots=True)
class HalfLabel:
    """A half that is seen: its number, 0 to 18, and its centre in the upright picture."""

    pips: int
    center_px: PointPx


@dataclass(frozen=True, slots=True)
class TileLabel:
    """A tile that is seen.

    Attributes:
        lies: Face up, face down or on edge.
        center_px: Centre of the tile.
        halves: Both halves of a face-up tile, empty for others.
    """

    lies: Lies
    center_px: PointPx
    halves: tuple[HalfLabel, HalfLabel] | tuple[()]

    @property
    def half_px(self) -> float:
        """Side of a half; 0 where the label does not give it."""
        return math.dist(self.halves[0].center_px, self.halves[1].center_px) if self.halves else 0.0


@dataclass(frozen=True, slots=True)
class IgnoredBox:
    """A part of a picture that is not judged, in pixels."""

    left_px: float
    top_px: float
    right_px: float
    bottom_px: float

    def holds(self, point_px: PointPx) -> bool:
        """Whether a point lies in it or on its edge."""
        return self.left_px <= point_px[0] <= self.right_px and self.top_px <= point_px[1] <= self.bottom_px


@dataclass(frozen=True, slots=True)
class PhotoLabel:
    """The true tiles of one picture.

    Attributes:
        image: Path of the picture below the root, with slashes.
        tiles: Every tile that is not in an ignored box.
        joins: Pairs of *tiles* that touch as in a play; empty where joins are not judged.
        ignored: Parts of the picture that are not judged.
        scene, kind, look: The groups of the picture, in the words of its label; empty where it has none.
    """

    image: str
    tiles: tuple[TileLabel, ...]
    joins: tuple[Join, ...] = ()
    ignored: tuple[IgnoredBox, ...] = ()
    scene: str = ""
    kind: str = ""
    look: str = ""

    @property
    def source(self) -> str:
        """First folder of the path, or a dot where there is none."""
        first, slash, _ = self.image.partition("/")
        return first if slash else "."

    def require_fits(self, width_px: int, height_px: int) -> None:
        """Check that the labels are of a picture of this size.

        Raises:
            LabelError: If a tile lies outside of it.
        """
        for index, tile in enumerate(self.tiles):
            for x, y in [half.center_px for half in tile.halves] or [tile.center_px]:
                if not (0 <= x <= width_px and 0 <= y <= height_px):
                    raise LabelError(
                        f"tiles[{index}]: expected a place in the picture of {width_px} x {height_px} px,"
                        f" got {x:g}, {y:g}"
                    )


@dataclass(frozen=True, slots=True)
class PhotoLabels:
    """The labels of a file that can be used, and the faults of the others, one sentence each."""

    photos: tuple[PhotoLabel, ...]
    faults: tuple[str, ...]


def load_labels(path: Path) -> PhotoLabels:
    """Read a file of labels.

    Raises:
        LabelError: If the file as a whole is of no use: it is absent, is no JSON or holds no list.
    """
    try:
        return parse_labels(_load_json(path))
    except RecursionError:
        raise LabelError("expected labels, but its JSON is nested too deeply") from None


def _load_json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LabelError(f"it cannot be opened: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        raise LabelError(f"expected UTF-8 text, but byte {error.start} is none") from error
    except json.JSONDecodeError as error:
        raise LabelError(f"line {error.lineno}, column {error.colno}: expected JSON: {error.msg}") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise LabelError(f"expected JSON: {error}") from error


def parse_labels(known: object) -> PhotoLabels:
    """Return the labels in the content of a JSON file.

    Raises:
        LabelError: If it is no list.

    >>> half = {"c": [10, 10], "pips": 3}, {"c": [20, 10], "pips": 12}
    >>> labels = parse_labels([{"image": "a.jpg", "tiles": [{"face": "up", "halves": half}]}, {"image": "b.jpg"}])
    >>> labels.photos[0].tiles[0].center_px, labels.faults
    ((15.0, 10.0), ('b.jpg: tiles: expected a list, but it is missing',))
    """
    photos: dict[str, PhotoLabel] = {}
    faults: list[str] = []
    for index, one in enumerate(_list(known, "labels")):
        name = f"picture [{index}]"
        try:
            fields = _fields(one, "")
            image = _image(fields.get("image"))
            name = image
            if image in photos:
                raise LabelError("image: expected each picture once, but it is labelled twice")
            photos[image] = _photo(image, fields)
        except LabelError as error:
            faults.append(f"{name}: {error}")
    return PhotoLabels(tuple(photos.values()), tuple(faults))


def _photo(image: str, fields: Mapping[str, object]) -> PhotoLabel:
    tiles = _each(fields.get("tiles"), "tiles", _tile)
    joins = fields.get("joins")
    return PhotoLabel(
        image,
        tiles,
        joins=_each(joins or [], "joins", lambda join, where: _join(join, where, tiles)),
        ignored=_each(fields.get("ignore") or [], "ignore", _box),
        scene=_word(fields, "scene"),
        kind=_word(fields, "kind"),
        look=_word(fields, "look"),
    )


def _image(value: object) -> str:
    with suppress(UnicodeEncodeError):
        if isinstance(value, str) and value and "\0" not in value and not value.startswith("/"):
            os.fsencode(value)
            return value
    raise LabelError(f"image: expected the path of a picture below the root, {_got(value)}")


def _tile(value: object, where: str) -> TileLabel:
    fields = _fields(value, where)
    face = fields.get("face")
    if face not in tuple(Lies):
        raise LabelError(f"{where}.face: expected up, down or standing, {_got(face)}")
    lies = Lies(str(face))
    if lies is not Lies.UP:
        return TileLabel(lies, _point(fields.get("c"), f"{where}.c"), ())
    halves = _each(fields.get("halves"), f"{where}.halves", _half)
    if len(halves) != 2:
        raise LabelError(f"{where}.halves: expected 2 halves, got {len(halves)}")
    (ax, ay), (bx, by) = (half.center_px for half in halves)
    if math.dist((ax, ay), (bx, by)) < 1:
        raise LabelError(f"{where}.halves: expected the centres of two halves, but both lie at {ax:g}, {ay:g}")
    return TileLabel(lies, ((ax + bx) / 2, (ay + by) / 2), halves)


def _half(value: object, where: str) -> HalfLabel:
    fields = _fields(value, where)
    pips = fields.get("pips")
    if not _is_index(pips, _MOST_PIPS + 1):
        raise LabelError(f"{where}.pips: expected a whole number from 0 to {_MOST_PIPS}, {_got(pips)}")
    return HalfLabel(pips, _point(fields.get("c"), f"{where}.c"))


def _join(value: object, where: str, tiles: Sequence[TileLabel]) -> Join:
    ends = _each(value, where, lambda end, place: _end(end, place, tiles))
    if len(ends) != 2 or ends[0][0] == ends[1][0]:
        raise LabelError(f"{where}: expected two ends of two tiles, {_got(value)}")
    return Join(*ends[0], *ends[1])


def _end(value: object, where: str, tiles: Sequence[TileLabel]) -> tuple[int, int | None]:
    """Return the tile and the half of an end of a join."""
    tile, half = _pair(value, where)
    if not _is_index(tile, len(tiles)) or not (half is None or _is_index(half, 2)):
        raise LabelError(f"{where}: expected a tile of this picture and its half (0, 1 or null), {_got(value)}")
    if not tiles[tile].halves:
        raise LabelError(f"{where}: expected a tile that lies face up, but tile {tile} is {tiles[tile].lies}")
    if half is None and len({labelled.pips for labelled in tiles[tile].halves}) != 1:
        raise LabelError(f"{where}: expected half 0 or 1, got null, but tile {tile} is no double")
    return tile, half


def _box(value: object, where: str) -> IgnoredBox:
    sides = [float(side) for side in _list(value, where) if _is_number(side)]
    if len(sides) != 4 or len(_list(value, where)) != 4:
        raise LabelError(f"{where}: expected left, top, right and bottom in pixels, {_got(value)}")
    box = IgnoredBox(*sides)
    if box.left_px > box.right_px or box.top_px > box.bottom_px:
        raise LabelError(f"{where}: expected left before right and top before bottom, {_got(value)}")
    return box


def _point(value: object, where: str) -> PointPx:
    x, y = _pair(value, where)
    if not (_is_number(x) and _is_number(y)):
        raise LabelError(f"{where}: expected a point [x, y] in pixels, {_got(value)}")
    return (float(x), float(y))


def _word(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise LabelError(f"{name}: expected a text, {_got(value)}")


def _each(value: object, where: str, parse: Callable[[object, str], T]) -> tuple[T, ...]:
    return tuple(parse(one, f"{where}[{index}]") for index, one in enumerate(_list(value, where)))


def _list(value: object, where: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise LabelError(f"{where}: expected a list, {_got(value)}")
    return value


def _pair(value: object, where: str) -> Sequence[object]:
    pair = _list(value, where)
    if len(pair) != 2:
        raise LabelError(f"{where}: expected a list of two, {_got(value)}")
    return pair


def _fields(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise LabelError(f"{where}{': ' if where else ''}expected an object with named fields, {_got(value)}")
    return value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6


def _is_index(value: object, count: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _got(value: object) -> str:
    if value is None:
        return "but it is missing"
    shown = json.dumps(value, ensure_ascii=False)
    return f"got {shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 3] + '...'}"
