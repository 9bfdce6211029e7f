"""Parse the labels of photos: the true tiles in each picture (docs/reference/labels.md)."""

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
_MAX_PIPS = 18
_LONGEST_SHOWN = 60


class LabelError(ValueError):
    """Invalid labels. The message names the field and the expected value."""


class LabelFace(StrEnum):
    """Orientation of a labelled tile."""

    UP = "up"
    DOWN = "down"
    STANDING = "standing"


@dataclass(frozen=True, slots=True)
class HalfLabel:
    """A visible half: its number, 0 to 18, and its centre in pixels of the upright picture."""

    pips: int
    center_px: PointPx


@dataclass(frozen=True, slots=True)
class TileLabel:
    """A visible tile.

    Attributes:
        face: Face up, face down or on edge.
        halves: Both halves of a face-up tile. Empty for others.
    """

    face: LabelFace
    center_px: PointPx
    halves: tuple[HalfLabel, HalfLabel] | tuple[()]

    @property
    def half_px(self) -> float:
        """Side of a half, or 0 for a tile without halves."""
        return math.dist(self.halves[0].center_px, self.halves[1].center_px) if self.halves else 0.0


@dataclass(frozen=True, slots=True)
class IgnoredBox:
    """A box of a picture that is excluded from the evaluation, in pixels."""

    left_px: float
    top_px: float
    right_px: float
    bottom_px: float

    def holds(self, point_px: PointPx) -> bool:
        """Return True if a point is inside the box or on its edge."""
        return self.left_px <= point_px[0] <= self.right_px and self.top_px <= point_px[1] <= self.bottom_px


@dataclass(frozen=True, slots=True)
class PhotoLabel:
    """Labels of a picture.

    Attributes:
        image: Path of the picture relative to the root, with slashes.
        joins: Joins of *tiles*. Empty if joins are not evaluated.
        ignored: Boxes that are excluded from the evaluation.
        scene, kind, look: Groups of the picture, as named by the label. Empty if not given.
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
        """First folder of the path, or "." if there is none."""
        first, slash, _ = self.image.partition("/")
        return first if slash else "."

    def require_fits(self, width_px: int, height_px: int) -> None:
        """Check that all tiles are inside a picture of the given size.

        Raises:
            LabelError: If a tile is outside the picture.
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
    """Valid labels of a file, and a message for each invalid label."""

    photos: tuple[PhotoLabel, ...]
    faults: tuple[str, ...]


def load_labels(path: Path) -> PhotoLabels:
    """Read a file of labels.

    Raises:
        LabelError: If the file cannot be read, is not JSON or does not contain a list.
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
        raise LabelError(f"expected UTF-8 text, but byte {error.start} is invalid") from error
    except json.JSONDecodeError as error:
        raise LabelError(f"line {error.lineno}, column {error.colno}: expected JSON: {error.msg}") from error
    except ValueError as error:  # a number with more digits than Python converts
        raise LabelError(f"expected JSON: {error}") from error


def parse_labels(content: object) -> PhotoLabels:
    """Parse the content of a JSON file of labels. Of a picture that is labelled twice, the first label counts.

    Raises:
        LabelError: If *content* is not a list.

    >>> half = {"c": [10, 10], "pips": 3}, {"c": [20, 10], "pips": 12}
    >>> labels = parse_labels([{"image": "a.jpg", "tiles": [{"face": "up", "halves": half}]}, {"image": "b.jpg"}])
    >>> labels.photos[0].tiles[0].center_px, labels.faults
    ((15.0, 10.0), ('b.jpg: tiles: expected a list, but it is missing',))
    """
    photos: dict[str, PhotoLabel] = {}
    faults: list[str] = []
    for index, picture in enumerate(_list(content, "labels")):
        name = f"picture [{index}]"
        try:
            fields = _fields(picture, "")
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
    if face not in tuple(LabelFace):
        raise LabelError(f"{where}.face: expected up, down or standing, {_got(face)}")
    label_face = LabelFace(str(face))
    if label_face is not LabelFace.UP:
        return TileLabel(label_face, _point(fields.get("c"), f"{where}.c"), ())
    halves = _each(fields.get("halves"), f"{where}.halves", _half)
    if len(halves) != 2:
        raise LabelError(f"{where}.halves: expected 2 halves, got {len(halves)}")
    (ax, ay), (bx, by) = (half.center_px for half in halves)
    if math.dist((ax, ay), (bx, by)) < 1:
        raise LabelError(f"{where}.halves: expected the centres of two halves, but both are at {ax:g}, {ay:g}")
    return TileLabel(label_face, ((ax + bx) / 2, (ay + by) / 2), halves)


def _half(value: object, where: str) -> HalfLabel:
    fields = _fields(value, where)
    pips = fields.get("pips")
    if not _is_index(pips, _MAX_PIPS + 1):
        raise LabelError(f"{where}.pips: expected a whole number from 0 to {_MAX_PIPS}, {_got(pips)}")
    return HalfLabel(pips, _point(fields.get("c"), f"{where}.c"))


def _join(value: object, where: str, tiles: Sequence[TileLabel]) -> Join:
    ends = _each(value, where, lambda end, place: _end(end, place, tiles))
    if len(ends) != 2 or ends[0][0] == ends[1][0]:
        raise LabelError(f"{where}: expected two ends of two tiles, {_got(value)}")
    return Join(*ends[0], *ends[1])


def _end(value: object, where: str, tiles: Sequence[TileLabel]) -> tuple[int, int | None]:
    """Return the index of the tile and of its half at an end of a join. The half is None at the side of a double."""
    tile, half = _pair(value, where)
    if not _is_index(tile, len(tiles)) or not (half is None or _is_index(half, 2)):
        raise LabelError(f"{where}: expected a tile of this picture and its half (0, 1 or null), {_got(value)}")
    if not tiles[tile].halves:
        raise LabelError(f"{where}: expected a tile that is face up, but tile {tile} is {tiles[tile].face}")
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
    return tuple(parse(item, f"{where}[{index}]") for index, item in enumerate(_list(value, where)))


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
