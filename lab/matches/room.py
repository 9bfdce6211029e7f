"""Room of a simulated table: its looks, camera, zones and players, and the difficulty of following it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from engine import Layout, Rules
from lab.matches.game_script import PlayArea
from lab.render.layouts import visible_area
from lab.render.looks import CLASSIC, COLORED, FELT, LAMP, OVERHEAD, WALNUT
from lab.render.scene import CameraLook, LightLook, PlacedTile, Scene, TableLook, TileLook
from lab.render.view import view_of
from tallybone.choices import Difficulty
from tallybone.session.observations import Outline, SeatZone, Zones
from tallybone.session.places import Laid, Point, Quad
from vision.tracking.settle import Side

_NIGHT = replace(
    CLASSIC,
    face_bgr=(38.0, 34.0, 32.0),
    back_bgr=(38.0, 34.0, 32.0),
    side_bgr=(30.0, 27.0, 25.0),
    base_bgr=(30.0, 27.0, 25.0),
)
_BLACK_TILES = replace(_NIGHT, pip_bgr=((230.0, 234.0, 236.0),) * len(CLASSIC.pip_bgr), bar_bgr=(190.0, 194.0, 196.0))
_LINEN = replace(
    FELT, base_bgr=(150.0, 168.0, 178.0), second_bgr=(130.0, 150.0, 162.0), third_bgr=(160.0, 175.0, 185.0)
)
LOOKS = {
    "classic-felt": (CLASSIC, FELT),
    "classic-walnut": (CLASSIC, WALNUT),
    "colored-felt": (COLORED, FELT),
    "colored-walnut": (COLORED, WALNUT),
    "black-linen": (_BLACK_TILES, _LINEN),
}
"""Looks of tiles and table, by name."""

# A 1280x720 camera sees 77 x 43 cm of a small table. Halves are 40 pixels wide.
_CAMERA = replace(OVERHEAD, width_px=1280, height_px=720, px_per_mm=1.667)
# Maximum number of tiles in the set for each camera. Two sets need a table of 120 x 67 cm, with halves of 38 pixels,
# and six arms need 154 x 86 cm, with halves of 30 pixels.
_CAMERAS = (
    (28, _CAMERA),
    (56, replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=1.6)),
    (171, replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=1.25)),
)


_BOX = tuple[float, float, float, float]


# Left, top, right and bottom, in shares of the picture's width and height. In a picture 85 cm wide a strip is 6 cm
# deep, enough for an upright tile of 5 cm.
_BONEYARD: _BOX = (0.74, 0.0, 1.0, 0.34)


_STRIPS: dict[Side, _BOX] = {
    Side.BOTTOM: (0.12, 0.87, 0.88, 1.0),
    Side.LEFT: (0.0, 0.1, 0.08, 0.86),
    Side.TOP: (0.12, 0.0, 0.72, 0.13),
    Side.RIGHT: (0.92, 0.36, 1.0, 0.86),
}


_SITTING = {
    2: (Side.BOTTOM, Side.TOP),
    3: (Side.BOTTOM, Side.LEFT, Side.TOP),
    4: (Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT),
}


def default_zones(players: int) -> Zones:
    """Return the default zones: a strip along the side of each seat, and the boneyard at the top right.

    Seats are clockwise, the first at the bottom. There are seat zones for two to four players. With more, two players
    would share a side.
    """
    seats = tuple(SeatZone(side, _corners(_STRIPS[side])) for side in _SITTING.get(players, ()))
    return Zones(seats, _corners(_BONEYARD))


def _corners(box: _BOX) -> Outline:
    left, top, right, bottom = box
    return ((left, top), (right, top), (right, bottom), (left, bottom))


@dataclass(frozen=True, slots=True)
class DemoTable:
    """Looks of a demo's tiles, table, light and camera. They do not change during the demo."""

    tile: TileLook
    surface: TableLook
    light: LightLook
    camera: CameraLook

    @property
    def board(self) -> PlayArea:
        """Largest area for a layout that is completely in the picture."""
        area = visible_area(self.camera)
        return PlayArea(area.width_mm, area.height_mm, self.tile.width_mm)

    def scene(self, layout: Layout, laid: Sequence[Laid]) -> Scene:
        """Return the scene with the tiles of a layout. Nodes that are not in *laid* are skipped."""
        places = {tile.node: tile for tile in laid}
        nodes = [node for node in layout.nodes if node.id in places]
        tiles = {node.id: placed_tile(places[node.id], (node.inner, node.outer)) for node in nodes}
        # A stacked copy has the same position and pips as the tile below it.
        on_top = (replace(tiles[id_], height_mm=self.tile.thickness_mm) for id_ in tiles if id_ in layout.stacked)
        return Scene((*tiles.values(), *on_top), self.tile, self.surface, self.light, self.camera)

    def center_px(self, laid: Laid) -> Point:
        """Return the middle of a tile's face in pixels of the picture."""
        view = view_of(self.camera)
        points_px = view.distort(view.project(np.array([laid.place.center]), self.tile.thickness_mm))
        return (float(points_px[0, 0]), float(points_px[0, 1]))


def pick_table(rng: np.random.Generator, rules: Rules) -> DemoTable:
    """Return a random table with room for a game, and a slightly tilted camera."""
    tile, surface = list(LOOKS.values())[int(rng.integers(len(LOOKS)))]
    light = replace(
        LAMP,
        azimuth_rad=rng.uniform(-math.pi, math.pi),
        elevation_rad=rng.uniform(0.8, 1.3),
        shadow=rng.uniform(0.2, 0.5),
    )
    overhead = next((camera for tiles, camera in _CAMERAS if rules.tiles <= tiles), _CAMERAS[-1][1])
    camera = replace(overhead, tilt_rad=rng.uniform(0.0, 0.06), roll_rad=rng.normal(0.0, 0.015))
    return DemoTable(tile, surface, light, camera)


def placed_tile(laid: Laid, pips: tuple[int, int]) -> PlacedTile:
    """Convert a tile of the layout for the renderer.

    *pips* are those of W and E, or of N and S for a crosswise double.
    """
    turn_rad = 0.0 if laid.place.lies_along else math.pi / 2
    return PlacedTile(pips, laid.place.center, laid.place.heading_rad + turn_rad)


MARGIN_PX = 24
"""Margin around a frame that the film's camera also covers, to allow for bumps of the camera."""
WIDE_MARGIN_PX = 160
"""Margin for sittings with hard pushes."""
# Maximum number of tiles in the set, width and height of the picture, and pixels per millimetre. The cameras see 85 x
# 48 cm, 142 x 80 cm and 154 x 86 cm of a table. Halves are 36, 32 and 30 pixels wide.
_SIZES = ((28, 1280, 720, 1.5), (56, 1920, 1080, 1.35), (171, 1920, 1080, 1.25))
# A boneyard of more tiles is kept outside the picture, because it would fill half of the table.
_MAX_IN_BONEYARD = 30
_SIDES = (Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT)
_TWO_SIDES = (Side.BOTTOM, Side.TOP)
# Distance of waiting hands from the picture, of tiles from the border of their zone, and of the layout from the
# boneyard.
_OUTSIDE_MM = 150.0
_INSIDE_MM = 3.0
_CLEAR_OF_BONEYARD_MM = 10.0
# Preferred distance of the boneyard from the border of the picture. At the border, a tile looks like a resting hand.
_FROM_BORDER_MM = 20.0
# Minimum distance between the centres of tiles in a row, and maximum distance in the boneyard, in tile sizes.
_PITCH = 1.06
_WIDEST_PITCH = 1.35
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoxMm:
    """A rectangle on the table, in millimetres."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def corners(self) -> Quad:
        """Corners, clockwise."""
        return ((self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom))

    @property
    def width(self) -> float:
        """Extent from left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Extent from top to bottom."""
        return self.bottom - self.top

    def within(self, other: BoxMm) -> BoxMm:
        """Return the intersection with another rectangle. The two must overlap."""
        return BoxMm(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def grown(self, by_mm: float) -> BoxMm:
        """Return the rectangle grown by *by_mm* on each side."""
        return BoxMm(self.left - by_mm, self.top - by_mm, self.right + by_mm, self.bottom + by_mm)

    def holds(self, point: Point) -> bool:
        """Return True if a point is inside the rectangle or on its edge."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclass(frozen=True, slots=True)
class Room:
    """A table with a camera and players. It does not change during a match.

    Attributes:
        scene: Looks of the scene, with the film's wide camera.
        zones: Boneyard and seat zones, in shares of a frame.
        sides: Side of the picture at which each seat sits.
        yard: Area of the boneyard, or None if it is outside the picture.
        opens: Area in which each seat shows its tiles. Empty without seat zones.
        margin_px: Margin around a frame that the camera also covers.
    """

    look: str
    scene: Scene
    zones: Zones
    sides: tuple[Side, ...]
    seen: BoxMm
    board: PlayArea
    yard: BoxMm | None
    opens: tuple[BoxMm, ...]
    margin_px: int

    @property
    def width_px(self) -> int:
        """Width of a frame."""
        return self.scene.camera.width_px - 2 * self.margin_px

    @property
    def height_px(self) -> int:
        """Height of a frame."""
        return self.scene.camera.height_px - 2 * self.margin_px

    def waiting_mm(self, seat: int, aside: float) -> Point:
        """Return the waiting position of a seat's hand outside the picture. *aside*, -1 to 1, moves it sideways."""
        side, seen = self.sides[seat], self.seen
        # Seats on the same side are next to each other.
        sharing = [at for at, other in enumerate(self.sides) if other is side]
        place = (sharing.index(seat) + 0.5) / len(sharing) - 0.5 + 0.12 * aside
        x = (seen.left + seen.right) / 2 + place * seen.width
        y = (seen.top + seen.bottom) / 2 + place * seen.height
        outside = seen.grown(_OUTSIDE_MM)
        if side in (Side.TOP, Side.BOTTOM):
            return (x, outside.top if side is Side.TOP else outside.bottom)
        return (outside.left if side is Side.LEFT else outside.right, y)

    def boneyard(self, tiles: int, rng: np.random.Generator) -> tuple[PlacedTile, ...] | None:
        """Return *tiles* face-down tiles in rows in the boneyard's zone. None without a zone or enough room in it."""
        if self.yard is None or tiles > _MAX_IN_BONEYARD:
            return None
        look = self.scene.tile
        upright = (look.width_mm, look.length_mm, math.pi / 2)
        lengthwise = (look.length_mm, look.width_mm, 0.0)
        for box in (self.yard.within(self.seen.grown(-_FROM_BORDER_MM)), self.yard):
            for width_mm, height_mm, turn_rad in (upright, lengthwise):
                places = _rows(box, tiles, width_mm, height_mm)
                if places:
                    return tuple(_crooked(None, place, turn_rad, rng) for place in places)
        return None

    def opened(
        self, seat: int, pips: tuple[tuple[int, int], ...], rng: np.random.Generator
    ) -> tuple[PlacedTile, ...] | None:
        """Return a row of shown tiles in a seat's zone, or None if there is no zone or too little room."""
        if seat >= len(self.opens):
            return None
        box, look = self.opens[seat], self.scene.tile
        is_along_x = self.sides[seat] in (Side.TOP, Side.BOTTOM)
        length = box.width if is_along_x else box.height
        pitch = _PITCH * look.width_mm
        if len(pips) * pitch > length - 2 * _INSIDE_MM:
            return None
        middle = ((box.left + box.right) / 2, (box.top + box.bottom) / 2)
        offsets = [(at - (len(pips) - 1) / 2) * pitch for at in range(len(pips))]
        places = [
            (middle[0] + offset, middle[1]) if is_along_x else (middle[0], middle[1] + offset) for offset in offsets
        ]
        turn_rad = math.pi / 2 if is_along_x else 0.0
        return tuple(_crooked(pair, place, turn_rad, rng) for pair, place in zip(pips, places, strict=True))


def pick_room(
    rng: np.random.Generator, *, rules: Rules, players: int, look: str | None, manners: Manners, margin_px: int
) -> Room:
    """Return a random table for a game. If the boneyard does not fit into its zone, the table has no such zone.

    Args:
        rules: Rules of the game. Larger sets need larger tables.
        look: A key of `LOOKS`, or None for a random look.
        manners: Quality of the camera and the light.
        margin_px: Margin around a frame that the camera also covers.
    """
    names = list(LOOKS)
    drawn = names[int(rng.integers(len(names)))]
    look = look or drawn
    tile, surface = LOOKS[look]
    light = replace(
        LAMP,
        azimuth_rad=rng.uniform(-math.pi, math.pi),
        elevation_rad=rng.uniform(0.9, 1.3),
        shadow=rng.uniform(*manners.shadow),
    )
    camera = _camera(rng, rules, manners, margin_px)
    scene = Scene((), tile, surface, light, camera)
    sides = _TWO_SIDES if players == 2 else tuple(_SIDES[seat % len(_SIDES)] for seat in range(players))
    room = _room(look, scene, default_zones(players), sides, margin_px)
    left = rules.tiles - rules.dealt(players) * players
    fits = left > 0 and room.boneyard(left, rng) is not None
    return room if fits else _room(look, scene, replace(room.zones, boneyard=None), sides, margin_px)


def _room(look: str, scene: Scene, zones: Zones, sides: tuple[Side, ...], margin_px: int) -> Room:
    """Return a table with the given zones."""
    whole: Outline = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    seen = _box_of(whole, scene, margin_px)
    own = None if zones.boneyard is None else _box_of(zones.boneyard, scene, margin_px)
    yard = None if own is None else own.grown(-_INSIDE_MM)
    opens = tuple(_box_of(zone.outline, scene, margin_px) for zone in zones.seats)
    board = _board(seen, sides, opens, own, scene.tile.width_mm)
    return Room(look, scene, zones, sides, seen, board, yard, opens, margin_px)


def _camera(rng: np.random.Generator, rules: Rules, manners: Manners, margin_px: int) -> CameraLook:
    """Return a slightly tilted camera that covers a margin around each frame."""
    _, width_px, height_px, px_per_mm = next((size for size in _SIZES if rules.tiles <= size[0]), _SIZES[-1])
    return replace(
        OVERHEAD,
        width_px=width_px + 2 * margin_px,
        height_px=height_px + 2 * margin_px,
        px_per_mm=px_per_mm,
        tilt_rad=rng.uniform(0.0, manners.tilt_rad),
        roll_rad=rng.normal(0.0, manners.roll_rad),
        blur_px=manners.blur_px,
        noise=manners.noise,
        jpeg_quality=None,
    )


def _board(
    seen: BoxMm, sides: tuple[Side, ...], opens: tuple[BoxMm, ...], yard: BoxMm | None, side_mm: float
) -> PlayArea:
    """Return the area for the layout: a rectangle around the middle, between the seat zones, without the boneyard."""
    half_width, half_height = min(-seen.left, seen.right), min(-seen.top, seen.bottom)
    for side, box in zip(sides, opens, strict=False):
        if side in (Side.TOP, Side.BOTTOM):
            half_height = min(half_height, -box.bottom if side is Side.TOP else box.top)
        else:
            half_width = min(half_width, -box.right if side is Side.LEFT else box.left)
    closed = () if yard is None else (yard.grown(_CLEAR_OF_BONEYARD_MM).corners,)
    return PlayArea(2 * (half_width - _INSIDE_MM), 2 * (half_height - _INSIDE_MM), side_mm, closed)


def _box_of(outline: Outline, scene: Scene, margin_px: int) -> BoxMm:
    """Return the axis-aligned table rectangle, at the height of tile tops, inside a four-cornered zone of a frame."""
    camera = scene.camera
    frame_px = (camera.width_px - 2 * margin_px, camera.height_px - 2 * margin_px)
    outline_px = np.array([outline], np.float64) * frame_px + margin_px
    to_table = np.linalg.inv(view_of(camera).plane(scene.tile.thickness_mm))
    (a, b, c, d) = cv2.perspectiveTransform(outline_px, to_table)[0].tolist()
    return BoxMm(max(a[0], d[0]), max(a[1], b[1]), min(b[0], c[0]), min(c[1], d[1]))


def _rows(box: BoxMm, tiles: int, width_mm: float, height_mm: float) -> list[Point]:
    """Return the centres of tiles in rows, spread over *box* up to a maximum distance. Empty if they do not fit."""
    in_a_row = int(box.width / (_PITCH * width_mm))
    if not in_a_row or int(box.height / (_PITCH * height_mm)) * in_a_row < tiles:
        return []
    rows = -(-tiles // in_a_row)
    columns = -(-tiles // rows)
    across = min(box.width / columns, _WIDEST_PITCH * width_mm)
    down = min(box.height / rows, _WIDEST_PITCH * height_mm)
    left, top = box.left + across / 2, box.top + down / 2
    return [(left + at % columns * across, top + at // columns * down) for at in range(tiles)]


def _crooked(pips: tuple[int, int] | None, place: Point, theta_rad: float, rng: np.random.Generator) -> PlacedTile:
    """Return a tile of a row with a small random misalignment, as if placed by hand."""
    x, y = place[0] + rng.normal(0, 0.3), place[1] + rng.normal(0, 0.8)
    return PlacedTile(pips, (float(x), float(y)), theta_rad + float(rng.normal(0, 0.012)))


@dataclass(frozen=True, slots=True)
class Manners:
    """Behaviour of players, light and camera. Probabilities are per play.

    Attributes:
        noise: Camera noise, as a standard deviation in grey levels.
        tilt_rad, roll_rad: Maximum tilt and standard deviation of the roll of the camera.
        drift: Relative amplitude of slow changes of the light.
        step: Maximum relative change of the exposure.
        gesture_s: Range of the duration of a play's gesture.
        pause_s: Range of the pause after a play.
        idle: Probability that a hand reaches over the table and does nothing.
        rest: Probability that a hand rests on the table.
        nudge: Probability that tiles are pushed by a few millimetres.
        steps: Probability of a change of the exposure.
        bump_px: Maximum shift by a bump.
        slam: Probability that a play is audible as a knock.
        hurry: Probability that the next tile follows at once.
    """

    noise: float
    blur_px: float
    tilt_rad: float
    roll_rad: float
    shadow: Range
    drift: float
    step: float
    gesture_s: Range
    pause_s: Range
    idle: float
    rest: float
    nudge: float
    steps: float
    bump: float
    bump_px: float
    slam: float
    hurry: float


def manners_of(difficulty: Difficulty) -> Manners:
    """Return the behaviour for a difficulty. Each tuple holds the values for easy, normal and hard."""
    level = list(Difficulty).index(difficulty)
    return Manners(
        noise=(1.2, 2.0, 3.5)[level],
        blur_px=(0.4, 0.5, 0.8)[level],
        tilt_rad=(0.02, 0.06, 0.14)[level],
        roll_rad=(0.005, 0.012, 0.02)[level],
        shadow=((0.2, 0.35), (0.2, 0.5), (0.35, 0.6))[level],
        drift=(0.01, 0.02, 0.05)[level],
        step=(0.03, 0.06, 0.12)[level],
        gesture_s=((1.0, 1.5), (0.7, 1.4), (0.6, 1.1))[level],
        pause_s=((0.8, 2.5), (0.5, 2.0), (0.4, 1.5))[level],
        idle=(0.02, 0.06, 0.12)[level],
        rest=(0.0, 0.04, 0.1)[level],
        nudge=(0.02, 0.06, 0.12)[level],
        steps=(0.02, 0.05, 0.1)[level],
        bump=(0.0, 0.03, 0.08)[level],
        bump_px=(0.0, 2.5, 4.0)[level],
        slam=(0.05, 0.15, 0.3)[level],
        hurry=(0.0, 0.0, 0.12)[level],
    )
