"""Simulate the scenes and sounds of a calibration, for trials and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.sheets import prints
from calibration.sheets.prints import Paper, Sheet
from engine import EngineError, parse_options
from hardware.camera.device import CameraError, Light
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import NS_PER_S, RATE_HZ, ClassifiedSound, SensorLifecycle, Sound, SoundBlock
from hardware.part import Clock, PartState
from lab.render import view as camera_lens
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.prints import SheetPose, held_view, lay_sheet
from lab.render.scene import CameraLook, PlacedTile
from lab.render.scene import Scene as Rendering
from lab.render.view import view_of
from lab.sounds.scenes import LEAD, hit, plain_table
from lab.sounds.signals import draw_microphone
from tallybone.calibrate.look import AskedScene, timetable
from vision.arrays import Image

_NOISE = 0.0005
_BLOCK = 4_000
# Times between two tiles, two slams and two knocks. Knocks are slightly slower than requested.
_TILE_S = 1.0
_SLAM_S = 4.0
_KNOCK_S = 1.2
_LOUD = (0.2, 0.6)

_KEYS = ("seats", "mat", "seed", "tilt")
# A table of 114 x 64 cm seen by a typical webcam, almost from above.
_CAMERA = CameraLook(width_px=1280, height_px=720, px_per_mm=1.12, fov_rad=1.05, lens=0.05, blur_px=0.7, noise=2.5)
# Poses of blocks without a mat: centres in mm, y down, and rotations.
_BLOCKS_MM = ((-400.0, -195.0, 0.05), (405.0, -190.0, -0.03), (400.0, 190.0, 0.08), (-395.0, 195.0, -0.06))
_CLOTH_BGR = (60, 95, 50)
# Poses of the hand-held board as the guide requests them, in degrees, millimetres and shares of half a picture.
_HOLDS = (
    (0, 0, 300, 0.0, 0.0), (28, 0, 330, -0.35, -0.3), (-28, 0, 330, 0.35, -0.3), (0, 28, 330, -0.35, 0.35),
    (0, -28, 330, 0.35, 0.35), (20, 20, 340, -0.5, 0.0), (-20, 20, 340, 0.5, 0.0), (20, -20, 450, 0.55, 0.5),
    (-20, -20, 450, -0.55, -0.5), (25, 0, 480, 0.55, -0.5), (-25, 5, 480, -0.55, 0.5), (5, 30, 420, 0.0, 0.2),
)  # fmt: skip
# Number of pictures of each pose, and number of pictures of the motion towards it.
_STILL = 2
_ON_THE_WAY = 1
_TILES = 28
_ON_MAT_MM = tuple(
    (left_mm + (prints.BLOCK_MM - prints.MAT_WIDTH_MM) / 2, top_mm + (prints.BLOCK_MM - prints.MAT_HEIGHT_MM) / 2, 0.0)
    for left_mm, top_mm in prints.block_places_mm()
)


@dataclass(frozen=True, slots=True)
class SimulatedTable:
    """Simulated table.

    Attributes:
        has_mat: Whether there is a mat. Otherwise there are four separate corner blocks.
    """

    seats: int = 4
    has_mat: bool = True
    tilt_rad: float = math.radians(8)
    seed: int = 1

    @classmethod
    def parse(cls, source: str) -> SimulatedTable:
        """Parse a source such as `simulated:seats=2,mat=no,tilt=15,seed=3`.

        Raises:
            CameraError: If an option is invalid.
        """
        try:
            options = parse_options(source.partition(":")[2])
            unknown = sorted(set(options) - set(_KEYS))
            if unknown:
                raise ValueError(f"{unknown[0]}: expected {', '.join(_KEYS)}")
            seats, tilt = int(options.get("seats", "4")), float(options.get("tilt", "8"))
            if seats not in (2, 3, 4) or not 0 <= tilt <= 30 or options.get("mat", "yes") not in ("yes", "no"):
                raise ValueError("expected 2 to 4 seats, a tilt of 0 to 30 degrees, and mat=yes or mat=no")
            return cls(seats, options.get("mat", "yes") == "yes", math.radians(tilt), int(options.get("seed", "1")))
        except (EngineError, ValueError) as error:
            raise CameraError(f"{source}: {error}") from error


class SimulatedLook:
    """Camera over a simulated table."""

    problem: str | None = None

    def __init__(self, table: SimulatedTable) -> None:
        """Start with the scene `AskedScene.TABLE`."""
        self._table = table
        self._camera = replace(_CAMERA, tilt_rad=table.tilt_rad)
        self._rng = np.random.default_rng(table.seed)
        self._scene = AskedScene.TABLE
        self._at = 0
        self._drawn: Image | None = None
        self._board = prints.draw_prints(Paper.A4, table.seats)[1]
        self.light = Light.FREE

    def take(self) -> Image | None:
        """Return a new picture of the scene, with new noise."""
        if self._scene is AskedScene.BOARD:
            self._at += 1
            return self._held(self._at - 1)
        if self._drawn is None:
            self._drawn = self._draw_marks() if self._scene is AskedScene.TABLE else self._draw_tiles()
        return self._photograph(self._drawn)

    def present(self, scene: AskedScene) -> None:
        """Show a scene. A scene other than the current one starts from the beginning."""
        if scene is not self._scene:
            self._scene, self._at, self._drawn = scene, 0, None

    def hold_light(self) -> None:
        """Report exposure and white balance as held at once."""
        self.light = Light.HELD

    def close(self) -> None:
        """Do nothing."""

    def _held(self, at: int) -> Image:
        """Return picture number *at* of the hand-held board. The poses repeat after the last."""
        step, count = divmod(at, _STILL + _ON_THE_WAY)
        to, before = _HOLDS[step % len(_HOLDS)], _HOLDS[(step - 1) % len(_HOLDS)]
        share = 1.0 if count >= _ON_THE_WAY else (count + 1) / (_ON_THE_WAY + 1)
        mixed = [share * end + (1 - share) * start for end, start in zip(to, before, strict=True)]
        held = SheetPose(math.radians(mixed[0]), math.radians(mixed[1]), *mixed[2:])
        size_px = (self._camera.width_px, self._camera.height_px)
        middle_mm = (Paper.A4.long_mm / 2, prints.BOARD_TOP_MM + prints.BOARD_ROWS * prints.SQUARE_MM / 2)
        view = held_view(held, middle_mm, self._focal_px, size_px, self._camera.lens)
        picture = np.full((size_px[1], size_px[0], 3), 90, np.uint8)
        lay_sheet(picture, self._board, np.eye(2, 3), view)
        return camera_lens.take(picture, self._camera, view, self._rng)

    @property
    def _focal_px(self) -> float:
        return self._camera.width_px / 2 / math.tan(self._camera.fov_rad / 2)

    def _draw_marks(self) -> Image:
        """Return the mat or the blocks on the cloth, without the effects of lens and sensor."""
        picture = np.full((self._camera.height_px, self._camera.width_px, 3), _CLOTH_BGR, np.uint8)
        if self._table.has_mat:
            mat = Sheet(prints.MAT_WIDTH_MM, prints.MAT_HEIGHT_MM, prints.draw_mat(self._table.seats))
            self._lay(picture, mat, (-prints.MAT_WIDTH_MM / 2, -prints.MAT_HEIGHT_MM / 2), 0.0)
        else:
            self._lay_blocks(picture)
        return picture

    def _lay_blocks(self, picture: Image) -> None:
        poses = _ON_MAT_MM if self._table.has_mat else _BLOCKS_MM
        for block, (x_mm, y_mm, turn_rad) in zip(range(prints.BLOCKS), poses, strict=True):
            sheet = Sheet(prints.BLOCK_MM, prints.BLOCK_MM, prints.block_boxes(block, 0.0, 0.0))
            self._lay(picture, sheet, (x_mm - prints.BLOCK_MM / 2, y_mm - prints.BLOCK_MM / 2), turn_rad)

    def _lay(self, picture: Image, sheet: Sheet, corner_mm: tuple[float, float], turn_rad: float) -> None:
        cos, sin = math.cos(turn_rad), math.sin(turn_rad)
        turn = np.array([[cos, -sin], [sin, cos]])
        half = np.array([sheet.width_mm / 2, sheet.height_mm / 2])
        lay_sheet(picture, sheet, np.column_stack([turn, corner_mm + half - turn @ half]), view_of(self._plain))

    def _draw_tiles(self) -> Image:
        """Return a whole set face up, with blocks in the corners, without the effects of lens and sensor."""
        pips = [(high, low) for high in range(7) for low in range(high + 1)]
        order = self._rng.permutation(_TILES)
        tiles = []
        for at, number in enumerate(order.tolist()):
            row, column = divmod(at, 7)
            center = (90.0 * (column - 3), 80.0 * (row - 1.5))
            tiles.append(PlacedTile(pips[number], center, float(self._rng.uniform(-0.5, 0.5))))
        picture = render(Rendering(tuple(tiles), CLASSIC, FELT, LAMP, self._plain), self._rng).image
        self._lay_blocks(picture)
        return picture

    @property
    def _plain(self) -> CameraLook:
        """The camera without the effects of lens and sensor."""
        return replace(self._camera, lens=0.0, blur_px=0.0, noise=0.0)

    def _photograph(self, picture: Image) -> Image:
        photo: NDArray[np.uint8] = camera_lens.take(picture, self._camera, view_of(self._camera), self._rng)
        return photo


def open_simulated_look(source: str) -> SimulatedLook:
    """Return a camera over a simulated table, as described by *source*.

    Raises:
        CameraError: If an option is invalid.
    """
    return SimulatedLook(SimulatedTable.parse(source))


def knock_sitting(seed: int, seats: int, *, hits: int = 0, knocks: Sound = Sound.KNOCK) -> NDArray[np.float32]:
    """Return the sound of a simulated table during the whole timetable, shape (N,), at 16 kHz.

    Args:
        hits: Seed for the hits on the table.
    """
    of_room, rng = np.random.default_rng([99, seed]), np.random.default_rng([98, seed, hits])
    table, hearing = plain_table(of_room), draw_microphone(of_room)
    _, tiles, *own = timetable(seats)
    samples = rng.normal(0, _NOISE, (own[-1].to_s + 1) * RATE_HZ)
    first_s, last_s = tiles.from_s + 0.5, tiles.to_s - 1.5
    times = [(float(t_s), Sound.TILE) for t_s in np.arange(first_s, last_s, _TILE_S)]
    times += [(float(t_s) + _TILE_S / 2, Sound.SLAM) for t_s in np.arange(first_s, last_s, _SLAM_S)]
    times += [(part.from_s + 1 + _KNOCK_S * at, knocks) for part in own for at in range(5)]
    for t_s, kind in times:
        sound = hit(rng, kind, table, hearing)
        first = round(t_s * RATE_HZ) - LEAD
        samples[first : first + len(sound)] += rng.uniform(*_LOUD) * sound / np.abs(sound).max()
    return np.clip(samples, -1, 1).astype(np.float32)


def modelled_sensor(detector: KnockDetector, *, seats: int, clock: Clock) -> ModelledSensor:
    """Return a knock sensor over a simulated table with *seats*, at the pace of *clock*."""
    return ModelledSensor(knock_sitting(1, seats), detector, clock)


class ModelledSensor:
    """A knock sensor that plays simulated sound in real time."""

    state = PartState()

    def __init__(self, samples: NDArray[np.float32], detector: KnockDetector, clock: Clock) -> None:
        """Feed *samples* to *detector* at the pace of *clock*."""
        self._samples, self._detector, self._clock = samples, detector, clock
        self._life = SensorLifecycle("modelled table")
        self._began_ns = self._at = 0

    def start(self) -> None:
        """Start playing now."""
        self._life.start()
        self._began_ns = self._clock()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sounds since the last call."""
        self._life.require_open()
        sounds: list[ClassifiedSound] = []
        while self._at + _BLOCK <= (self._clock() - self._began_ns) * RATE_HZ // NS_PER_S:
            block = self._samples[self._at : self._at + _BLOCK]
            if not len(block):
                break
            t_ns = self._began_ns + self._at * NS_PER_S // RATE_HZ
            sounds += self._detector.feed(SoundBlock(block, t_ns))
            self._at += len(block)
        return tuple(sounds)

    def close(self) -> None:
        """Stop playing."""
        self._life.end()
