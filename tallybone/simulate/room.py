"""Place camera, zones and players around a simulated table, and choose how hard it is to follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from engine import Rules
from synthetic.render.look_types import CameraLook
from synthetic.render.looks import LAMP, OVERHEAD
from synthetic.render.scene import PlacedTile, Scene
from synthetic.render.view import view_of
from tallybone.choices import Difficulty
from tallybone.session.touching import Point, Quad
from tallybone.session.zones import Outline, Zones, default_zones
from tallybone.simulate.game_script import PlayArea
from tallybone.simulate.scenes import LOOKS
from vision.tracking.settle import Side

MARGIN_PX = 24
"""How much more than a frame the camera of a film sees at each side, so that it can be bumped."""
WIDE_MARGIN_PX = 160
"""The same where it is pushed hard."""
# Width and height of the picture and pixels per millimetre, for sets up to so many tiles: 85 x 48 cm, 142 x 80 cm and
# 154 x 86 cm of a table. Halves are 36, 32 and 30 pixels wide.
_SIZES = ((28, 1280, 720, 1.5), (56, 1920, 1080, 1.35), (171, 1920, 1080, 1.25))
# More tiles than these are not laid out before the camera: half of the table would be boneyard.
_MOST_IN_BONEYARD = 30
_SIDES = (Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT)
_TWO_SIDES = (Side.BOTTOM, Side.TOP)
# How far outside the picture a hand waits, and how far tiles stay from the border of their zone.
_OUTSIDE_MM, _INSIDE_MM, _CLEAR_OF_BONEYARD_MM = 150.0, 3.0, 10.0
# A tile at the border of the picture looks like a hand that rests there: the boneyard is laid a little off it.
_FROM_BORDER_MM = 20.0
# From tile to tile in rows of the boneyard and of open hands, in sizes of a tile; at most so far in a boneyard.
_PITCH, _WIDEST_PITCH = 1.06, 1.35
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoxMm:
    """A part of the table, in millimetres."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def corners(self) -> Quad:
        """Its corners, clockwise."""
        return ((self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom))

    @property
    def width(self) -> float:
        """Its extent from left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Its extent from top to bottom."""
        return self.bottom - self.top

    def within(self, other: BoxMm) -> BoxMm:
        """Return the part of it that is in another, too."""
        return BoxMm(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def grown(self, by_mm: float) -> BoxMm:
        """Return it larger by so much at each side."""
        return BoxMm(self.left - by_mm, self.top - by_mm, self.right + by_mm, self.bottom + by_mm)

    def holds(self, point: Point) -> bool:
        """Return whether a point is in it or on its edge."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclass(frozen=True, slots=True)
class Room:
    """A table with a camera over it and people around it; none of it changes during a match.

    Attributes:
        look: Name of the looks.
        scene: Looks of everything, with the wide camera of a film.
        zones: Boneyard and seat zones, in shares of a frame.
        sides: At which side of the picture each seat sits.
        seen: The part of the table that a frame shows.
        board: The part that is played on.
        yard: Where the boneyard lies; None where it is kept out of the picture.
        opens: Where each seat lays its tiles open; nothing where hands have no zones.
        margin_px: How much more than a frame its camera sees at each side.
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

    def body_mm(self, seat: int, aside: float) -> Point:
        """Return where the hand of a seat waits outside the picture; *aside* is -1 to 1 along its side."""
        side, seen = self.sides[seat], self.seen
        # Seats that share a side sit beside each other.
        sharing = [at for at, other in enumerate(self.sides) if other is side]
        place = (sharing.index(seat) + 0.5) / len(sharing) - 0.5 + 0.12 * aside
        x = (seen.left + seen.right) / 2 + place * seen.width
        y = (seen.top + seen.bottom) / 2 + place * seen.height
        outside = seen.grown(_OUTSIDE_MM)
        if side in (Side.TOP, Side.BOTTOM):
            return (x, outside.top if side is Side.TOP else outside.bottom)
        return (outside.left if side is Side.LEFT else outside.right, y)

    def boneyard(self, tiles: int, rng: np.random.Generator) -> tuple[PlacedTile, ...] | None:
        """Return face-down tiles in rows, row by row; None where they have no room or no zone."""
        if self.yard is None or tiles > _MOST_IN_BONEYARD:
            return None
        look = self.scene.tile
        upright = (look.width_mm, look.length_mm, math.pi / 2)
        lying = (look.length_mm, look.width_mm, 0.0)
        for box in (self.yard.within(self.seen.grown(-_FROM_BORDER_MM)), self.yard):
            for width_mm, height_mm, turn_rad in (upright, lying):
                places = _rows(box, tiles, width_mm, height_mm)
                if places:
                    return tuple(_crooked(None, place, turn_rad, rng) for place in places)
        return None

    def opened(
        self, seat: int, pips: tuple[tuple[int, int], ...], rng: np.random.Generator
    ) -> tuple[PlacedTile, ...] | None:
        """Return the tiles that a seat lays open in its zone, in a row; None where they have no room or no zone."""
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
        places = [(middle[0] + by, middle[1]) if is_along_x else (middle[0], middle[1] + by) for by in offsets]
        turn_rad = math.pi / 2 if is_along_x else 0.0
        return tuple(_crooked(two, place, turn_rad, rng) for two, place in zip(pips, places, strict=True))


def pick_room(
    rng: np.random.Generator,
    *,
    rules: Rules,
    players: int,
    look: str | None,
    manners: Manners,
    margin_px: int,
) -> Room:
    """Return a table for a game.

    Args:
        rng: Picks lamp and camera, and the look where none is named.
        rules: The game; larger sets need larger tables.
        players: How many sit around it.
        look: A name of `scenes.LOOKS`, or None for any.
        manners: How hard it is to see.
        margin_px: How much more than a frame the camera sees at each side.
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
    """Return a table with zones."""
    whole: Outline = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    seen = _box_of(whole, scene, margin_px)
    own = None if zones.boneyard is None else _box_of(zones.boneyard, scene, margin_px)
    yard = None if own is None else own.grown(-_INSIDE_MM)
    opens = tuple(_box_of(zone.outline, scene, margin_px) for zone in zones.seats)
    board = _board(seen, sides, opens, own, scene.tile.width_mm)
    return Room(look, scene, zones, sides, seen, board, yard, opens, margin_px)


def _camera(rng: np.random.Generator, rules: Rules, manners: Manners, margin_px: int) -> CameraLook:
    """Return a camera that hangs not quite straight and sees a margin more than it shows."""
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
    """Return the place for the layout: a rectangle around the middle, without the boneyard."""
    half_width, half_height = min(-seen.left, seen.right), min(-seen.top, seen.bottom)
    for side, box in zip(sides, opens, strict=False):
        if side in (Side.TOP, Side.BOTTOM):
            half_height = min(half_height, -box.bottom if side is Side.TOP else box.top)
        else:
            half_width = min(half_width, -box.right if side is Side.LEFT else box.left)
    closed = () if yard is None else (yard.grown(_CLEAR_OF_BONEYARD_MM).corners,)
    return PlayArea(2 * (half_width - _INSIDE_MM), 2 * (half_height - _INSIDE_MM), side_mm, closed)


def _box_of(outline: Outline, scene: Scene, margin_px: int) -> BoxMm:
    """Return the upright rectangle at the height of tiles that lies within a four-cornered zone of a frame."""
    camera = scene.camera
    frame_px = (camera.width_px - 2 * margin_px, camera.height_px - 2 * margin_px)
    seen_px = np.array([outline], np.float64) * frame_px + margin_px
    to_table = np.linalg.inv(view_of(camera).plane(scene.tile.thickness_mm))
    (a, b, c, d) = cv2.perspectiveTransform(seen_px, to_table)[0].tolist()
    return BoxMm(max(a[0], d[0]), max(a[1], b[1]), min(b[0], c[0]), min(c[1], d[1]))


def _rows(box: BoxMm, tiles: int, width_mm: float, height_mm: float) -> list[Point]:
    """Return the middles of tiles of a size in rows, as far apart as there is room; nothing where they do not fit."""
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
    """Return a tile as a hand puts it into a row."""
    x, y = place[0] + rng.normal(0, 0.3), place[1] + rng.normal(0, 0.8)
    return PlacedTile(pips, (float(x), float(y)), theta_rad + float(rng.normal(0, 0.012)))


@dataclass(frozen=True, slots=True)
class Manners:
    """How people and things behave at a table. Chances are per turn.

    Attributes:
        noise: Of the camera, standard deviation in grey levels.
        blur_px: Defocus of the camera.
        tilt_rad, roll_rad: How far the camera hangs off, at most and as standard deviation.
        shadow: Strength of shadows, from and to.
        drift: Share by which the light swells and fades.
        step: Share by which the exposure may jump.
        gesture_s: How long a hand takes to lay a tile, from its first to its last frame.
        pause_s: How long the table then lies still.
        idle: Chance that a hand reaches over and does nothing.
        rest: Chance that a hand rests on the table.
        nudge: Chance that tiles are pushed by some millimetres.
        steps: Chance of a jump of the exposure.
        bump: Chance that the camera is bumped.
        bump_px: How far, at most.
        slam: Chance that a laid tile is heard.
        hurry: Chance that the next tile is laid at once.
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
    """Return how people and things behave; the numbers are those of an easy, a normal and a hard table."""
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
