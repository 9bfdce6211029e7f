"""Contents of a scene: tiles and objects with their places, the exact input of a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from synthetic.render.look_types import CameraLook, LightLook, TableLook, TileLook
from synthetic.render.patterns import MAX_PIPS
from vision.arrays import Bgr, Points
from vision.reading import Join


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile that lies on the table.

    Attributes:
        pips: Of half 0 and half 1, or None for a face-down tile. Half 0 lies towards -x of the tile.
        center_mm: Middle of the tile from the middle of the picture, x right and y down.
        theta_rad: Turns the x axis (the long one) of the tile, clockwise in the picture.
        height_mm: Height of its underside over the table.
        look: Which look it has: 0 for that of the scene, else that many into its further looks.
    """

    pips: tuple[int, int] | None
    center_mm: tuple[float, float]
    theta_rad: float
    height_mm: float = 0.0
    look: int = 0

    def __post_init__(self) -> None:
        if self.pips is not None and not all(0 <= pips <= MAX_PIPS for pips in self.pips):
            raise ValueError(f"pips: expected two of 0 to {MAX_PIPS} or None, got {self.pips}")

    def to_table(self, points_mm: Points) -> Points:
        """Return points of the tile frame, shape (N, 2), on the table."""
        cos, sin = math.cos(self.theta_rad), math.sin(self.theta_rad)
        turned: Points = points_mm @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(self.center_mm)
        return turned


class ClutterKind(StrEnum):
    """Things on a table that are no tiles."""

    COIN = "coin"
    PEN = "pen"
    PHONE = "phone"
    PAPER = "paper"
    CARD = "card"
    DIE = "die"
    GLASS = "glass"
    PRINTED_TILE = "printed_tile"
    STANDING_TILE = "standing_tile"
    PICTURE = "picture"
    MUG = "mug"
    KEYBOARD = "keyboard"
    KEYPAD = "keypad"
    CHECKERBOARD = "checkerboard"
    PAGE = "page"
    DOTS = "dots"
    BARCODE = "barcode"
    RULER = "ruler"
    PLAYING_CARD = "playing_card"
    BANK_CARD = "bank_card"


@dataclass(frozen=True, slots=True)
class Clutter:
    """A thing that is no tile to be read.

    Attributes:
        center_mm, theta_rad: As of a tile.
        length_mm, width_mm: Its extent; a coin uses its length as diameter.
        height_mm: How far it rises above the table.
        pips: Of a standing tile: what its face, towards its own +y, shows; half 0 is towards -x.
    """

    kind: ClutterKind
    center_mm: tuple[float, float]
    theta_rad: float
    length_mm: float
    width_mm: float
    height_mm: float
    bgr: Bgr
    pips: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """The hand of a player, with its forearm, over the table.

    Attributes:
        tip_mm: Where its middle fingertip is.
        heading_rad: Direction from the elbow to the fingertips, clockwise from x in the picture.
        height_mm: Height of the fingertips over the table.
        skin_bgr: Colour of the skin.
        sleeve_bgr: Colour of the sleeve, or None for a bare arm.
        sleeve: Where the sleeve ends: 0 at the wrist, 1 at the elbow.
        is_left: Whether it is a left hand, seen from above.
        spread: How far the fingers are apart, 0 to 1.
        curl: How far they are bent, 0 (flat) to 1.
        scale: Size; 1 is a hand of 190 mm.
    """

    tip_mm: tuple[float, float]
    heading_rad: float
    height_mm: float
    skin_bgr: Bgr
    sleeve_bgr: Bgr | None = None
    sleeve: float = 0.3
    is_left: bool = False
    spread: float = 0.5
    curl: float = 0.4
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Floor:
    """Where the table ends, and what lies below and beyond.

    Attributes:
        look: Of the floor; its pattern is as large as on a table.
        outline_mm: Of the table top: x and y, convex, clockwise in the picture.
        drop: How dark the floor is, 0 (as bright as the table) to 1 (black).
        rim_bgr: Colour of the rim of the table.
        rim_mm: How thick the table is there.
        below_mm: How far below the table the floor is.
    """

    look: TableLook
    outline_mm: tuple[tuple[float, float], ...]
    drop: float = 0.4
    rim_bgr: Bgr = (40.0, 60.0, 85.0)
    rim_mm: float = 25.0
    below_mm: float = 720.0

    def __post_init__(self) -> None:
        if len(self.outline_mm) < 3:
            raise ValueError(f"outline_mm: expected at least 3 points, got {len(self.outline_mm)}")
        if not 0.0 <= self.drop <= 1.0:
            raise ValueError(f"drop: expected 0 to 1, got {self.drop}")

    def margin_mm(self, point_mm: tuple[float, float]) -> float:
        """Return how far inside the table top a point is; negative beyond it."""
        corners = np.array(self.outline_mm)
        along = np.roll(corners, -1, axis=0) - corners
        offset = np.asarray(point_mm) - corners
        inwards = along[:, 0] * offset[:, 1] - along[:, 1] * offset[:, 0]
        return float((inwards / np.maximum(np.linalg.norm(along, axis=1), 1e-9)).min())


@dataclass(frozen=True, slots=True)
class Scene:
    """A table as one picture shows it.

    Attributes:
        tile: The look of the tiles.
        joins: Indices into *tiles*.
        clutter: Things that the truth does not list.
        reaches: Hands of players, above everything else.
        more_looks: Of tiles of a second set; as thick, long and wide as *tile*.
        floor: Where the table ends, or None for one that fills the picture.
    """

    tiles: tuple[PlacedTile, ...]
    tile: TileLook
    table: TableLook
    light: LightLook
    camera: CameraLook
    joins: tuple[Join, ...] = ()
    clutter: tuple[Clutter, ...] = ()
    reaches: tuple[Reach, ...] = ()
    more_looks: tuple[TileLook, ...] = ()
    floor: Floor | None = None

    def __post_init__(self) -> None:
        for placed in self.tiles:
            if not 0 <= placed.look <= len(self.more_looks):
                raise ValueError(f"{placed}: expected a look up to {len(self.more_looks)}")
        for look in self.more_looks:
            if _size(look) != _size(self.tile):
                raise ValueError(f"more_looks: expected tiles of {_size(self.tile)} mm, got {_size(look)}")
        for join in self.joins:
            if not (0 <= join.a < len(self.tiles) and 0 <= join.b < len(self.tiles)):
                raise ValueError(f"{join}: expected indices below {len(self.tiles)}")

    def look_of(self, placed: PlacedTile) -> TileLook:
        """Return how one of the tiles looks."""
        return self.tile if placed.look == 0 else self.more_looks[placed.look - 1]


def _size(look: TileLook) -> tuple[float, float, float]:
    return (look.length_mm, look.width_mm, look.thickness_mm)
