"""Labels of photographs as plain values: what truly lies in each picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from vision.reading import Join, PointPx


class LabelError(ValueError):
    """Labels cannot be used; the message names the field and what was expected there."""


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
        """Side of a half; 0 where the label does not tell."""
        return math.dist(self.halves[0].center_px, self.halves[1].center_px) if self.halves else 0.0


@dataclass(frozen=True, slots=True)
class Box:
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
    """What truly lies in one picture.

    Attributes:
        image: Path of the picture below the root, with slashes.
        tiles: Every tile that is not in an ignored box.
        joins: Pairs of *tiles* that touch as in a play; empty where joins are not judged.
        ignored: Parts of the picture that are not judged.
        scene, kind, look: What the picture belongs to, in the words of who labelled it; empty where nothing is said.
    """

    image: str
    tiles: tuple[TileLabel, ...]
    joins: tuple[Join, ...] = ()
    ignored: tuple[Box, ...] = ()
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
