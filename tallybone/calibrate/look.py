"""Give a calibration its pictures: from a camera, a file, or a simulated table."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calibration.boards import BLOCK_MM, BLOCKS, BOARD_ROWS, SQUARE_MM, block_boxes
from calibration.mat import MAT_HEIGHT_MM, MAT_WIDTH_MM, block_places_mm, draw_mat
from calibration.prints import BOARD_TOP_MM, draw_prints
from calibration.sheet import Paper, Sheet
from calibration.shown import Held, held_view, lay_sheet
from engine import EngineError, parse_options
from hardware.camera.device import CameraDevice, CameraError, Clock, Light
from hardware.camera.open_device import is_device, open_device
from tallybone.terminal import quiet_libraries
from vision.picture import load_picture
from vision.render import lens as camera_lens
from vision.render.look_types import CameraLook
from vision.render.looks import CLASSIC, FELT, LAMP
from vision.render.paint import render
from vision.render.scene import PlacedTile
from vision.render.scene import Scene as Rendering
from vision.render.view import view_of

Image = NDArray[np.uint8]
_NS_PER_S = 1_000_000_000
# Adapting to the light takes three seconds, opening some cameras as long.
_LONGEST_S, _POLL_S = 15.0, 0.02

_KEYS = ("seats", "mat", "seed", "tilt")
# A table of 114 x 64 cm seen by a usual webcam, not quite from above.
_CAMERA = CameraLook(width_px=1280, height_px=720, px_per_mm=1.12, fov_rad=1.05, lens=0.05, blur_px=0.7, noise=2.5)
# Where blocks lie without a mat: middles in mm, y down, and their turns.
_BLOCKS_MM = ((-400.0, -195.0, 0.05), (405.0, -190.0, -0.03), (400.0, 190.0, 0.08), (-395.0, 195.0, -0.06))
_CLOTH_BGR = (60, 95, 50)
# How a person holds the board who does what is asked, in degrees, millimetres and shares of half a picture.
_HOLDS = (
    (0, 0, 300, 0.0, 0.0), (28, 0, 330, -0.35, -0.3), (-28, 0, 330, 0.35, -0.3), (0, 28, 330, -0.35, 0.35),
    (0, -28, 330, 0.35, 0.35), (20, 20, 340, -0.5, 0.0), (-20, 20, 340, 0.5, 0.0), (20, -20, 450, 0.55, 0.5),
    (-20, -20, 450, -0.55, -0.5), (25, 0, 480, 0.55, -0.5), (-25, 5, 480, -0.55, 0.5), (5, 30, 420, 0.0, 0.2),
)  # fmt: skip
# A hold is shown so often, and before it so many pictures of the way there.
_STILL, _ON_THE_WAY = 2, 1
_TILES = 28


class Scene(StrEnum):
    """What is to be seen at a step."""

    BOARD = "the board for the lens"
    TABLE = "corner blocks or mat"
    TILES = "open tiles all over the table"
    SET = "the whole set, face up"


class Onlooker(Protocol):
    """A camera while a table is measured. It never waits; only its newest picture counts."""

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures, in words."""

    @property
    def light(self) -> Light:
        """What it does about light."""

    def take(self) -> Image | None:
        """Return the newest picture, once; shape (H, W, 3), BGR."""

    def present(self, scene: Scene) -> None:
        """Show a scene, if it can make one; a real camera sees what people put before it."""

    def hold_light(self) -> None:
        """Let it adapt, then keep exposure and white balance."""

    def close(self) -> None:
        """Let it go."""


class DeviceLook:
    """A camera that is plugged in; it adapts to the light until that is held."""

    def __init__(self, device: CameraDevice) -> None:
        """Look through *device*."""
        self._device = device
        device.free_light()

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures."""
        return self._device.state.problem

    @property
    def light(self) -> Light:
        """What it does about light."""
        return self._device.state.light

    def take(self) -> Image | None:
        """Return the newest picture."""
        picture = self._device.take()
        return None if picture is None else picture.image

    def present(self, scene: Scene) -> None:
        """Do nothing: people do."""

    def hold_light(self) -> None:
        """Let it adapt, then keep the light."""
        self._device.hold_light()

    def close(self) -> None:
        """Let the camera go."""
        self._device.close()


class LentLook(DeviceLook):
    """A camera that is open before a table is measured, and stays so after it."""

    def close(self) -> None:
        """Give it back; its light is free again."""
        self._device.free_light()


class StillLook:
    """A picture that was taken, again and again."""

    problem: str | None = None
    light = Light.FREE

    def __init__(self, image: Image) -> None:
        """Show *image*."""
        self._image = image

    def take(self) -> Image | None:
        """Return it."""
        return self._image

    def present(self, scene: Scene) -> None:
        """Do nothing: it is what it is."""

    def hold_light(self) -> None:
        """Do nothing: it is what it is."""

    def close(self) -> None:
        """Do nothing."""


def open_look(source: str, clock: Clock) -> Onlooker:
    """Return what looks at the table.

    Args:
        source: `usb:0` and the like, the path of a picture, or `simulated`, `simulated:seats=3,mat=no,seed=2`.
        clock: Monotonic, in nanoseconds.

    Raises:
        CameraError: If there is no such camera, or it cannot be used.
        VisionError: If it is no picture.
        OSError: If the picture cannot be read.
    """
    if source.partition(":")[0] == "simulated":
        return open_simulated(source)
    with quiet_libraries():
        if is_device(source):
            return DeviceLook(open_device(source, clock))
        return StillLook(load_picture(Path(source)))


def wait_for_picture(look: Onlooker, clock: Clock, *, pause: Callable[[float], object] | None = None) -> Image:
    """Return the next picture, with the light held where the camera can.

    Args:
        look: What looks.
        clock: Monotonic, in nanoseconds.
        pause: Waits so many seconds; by default for nothing that comes.

    Raises:
        CameraError: If none comes for some seconds; says why.
    """
    pause = pause or threading.Event().wait
    look.hold_light()
    began_ns = clock()
    while clock() - began_ns < _LONGEST_S * _NS_PER_S:
        image = look.take()
        if image is not None:
            return image
        pause(_POLL_S)
    raise CameraError(look.problem or f"the camera gives no picture within {_LONGEST_S:.0f} seconds")


_ON_MAT_MM = tuple(
    (left_mm + (BLOCK_MM - MAT_WIDTH_MM) / 2, top_mm + (BLOCK_MM - MAT_HEIGHT_MM) / 2, 0.0)
    for left_mm, top_mm in block_places_mm()
)


@dataclass(frozen=True, slots=True)
class SimulatedTable:
    """What is before the simulated camera.

    Attributes:
        seats: On the mat.
        has_mat: Whether the mat lies there; otherwise four loose corner blocks.
        tilt_rad: How far the camera is tilted.
        seed: Of noise and tiles.
    """

    seats: int = 4
    has_mat: bool = True
    tilt_rad: float = math.radians(8)
    seed: int = 1

    @classmethod
    def parse(cls, source: str) -> SimulatedTable:
        """Return what a text means, such as `simulated:seats=2,mat=no,tilt=15,seed=3`.

        Raises:
            CameraError: If it means no table.
        """
        try:
            wished = parse_options(source.partition(":")[2])
            unknown = sorted(set(wished) - set(_KEYS))
            if unknown:
                raise ValueError(f"{unknown[0]}: expected {', '.join(_KEYS)}")
            seats, tilt = int(wished.get("seats", "4")), float(wished.get("tilt", "8"))
            if seats not in (2, 3, 4) or not 0 <= tilt <= 30 or wished.get("mat", "yes") not in ("yes", "no"):
                raise ValueError("expected 2 to 4 seats, a tilt of 0 to 30 degrees, and mat=yes or mat=no")
            return cls(seats, wished.get("mat", "yes") == "yes", math.radians(tilt), int(wished.get("seed", "1")))
        except (EngineError, ValueError) as error:
            raise CameraError(f"{source}: {error}") from error


class SimulatedLook:
    """A camera over that table."""

    problem: str | None = None

    def __init__(self, table: SimulatedTable) -> None:
        """Show the empty table first."""
        self._table = table
        self._camera = replace(_CAMERA, tilt_rad=table.tilt_rad)
        self._rng = np.random.default_rng(table.seed)
        self._scene = Scene.TABLE
        self._at = 0
        self._drawn: Image | None = None
        self._board = draw_prints(Paper.A4, table.seats)[1]
        self.light = Light.FREE

    def take(self) -> Image | None:
        """Return a new picture of what is presented."""
        if self._scene is Scene.BOARD:
            self._at += 1
            return self._held(self._at - 1)
        if self._drawn is None:
            self._drawn = self._laid() if self._scene is Scene.TABLE else self._tiles()
        return self._taken(self._drawn)

    def present(self, scene: Scene) -> None:
        """Show a scene from its begin."""
        if scene is not self._scene:
            self._scene, self._at, self._drawn = scene, 0, None

    def hold_light(self) -> None:
        """Hold it at once."""
        self.light = Light.HELD

    def close(self) -> None:
        """Do nothing."""

    def _held(self, at: int) -> Image:
        """Return the board as it is held after so many pictures."""
        step, count = divmod(at, _STILL + _ON_THE_WAY)
        to, before = _HOLDS[step % len(_HOLDS)], _HOLDS[(step - 1) % len(_HOLDS)]
        share = 1.0 if count >= _ON_THE_WAY else (count + 1) / (_ON_THE_WAY + 1)
        mixed = [share * there + (1 - share) * here for there, here in zip(to, before, strict=True)]
        held = Held(math.radians(mixed[0]), math.radians(mixed[1]), *mixed[2:])
        size_px = (self._camera.width_px, self._camera.height_px)
        middle_mm = (Paper.A4.long_mm / 2, BOARD_TOP_MM + BOARD_ROWS * SQUARE_MM / 2)
        view = held_view(held, middle_mm, self._focal_px, size_px, self._camera.lens)
        picture = np.full((size_px[1], size_px[0], 3), 90, np.uint8)
        lay_sheet(picture, self._board, np.eye(2, 3), view)
        return camera_lens.take(picture, self._camera, view, self._rng)

    @property
    def _focal_px(self) -> float:
        return self._camera.width_px / 2 / math.tan(self._camera.fov_rad / 2)

    def _laid(self) -> Image:
        """Return mat or blocks on the cloth, as a camera without a lens would see them."""
        picture = np.full((self._camera.height_px, self._camera.width_px, 3), _CLOTH_BGR, np.uint8)
        if self._table.has_mat:
            mat = Sheet(MAT_WIDTH_MM, MAT_HEIGHT_MM, draw_mat(self._table.seats))
            self._lay(picture, mat, (-MAT_WIDTH_MM / 2, -MAT_HEIGHT_MM / 2), 0.0)
        else:
            self._lay_blocks(picture)
        return picture

    def _lay_blocks(self, picture: Image) -> None:
        places = _ON_MAT_MM if self._table.has_mat else _BLOCKS_MM
        for block, (x_mm, y_mm, turn_rad) in zip(range(BLOCKS), places, strict=True):
            sheet = Sheet(BLOCK_MM, BLOCK_MM, block_boxes(block, 0.0, 0.0))
            self._lay(picture, sheet, (x_mm - BLOCK_MM / 2, y_mm - BLOCK_MM / 2), turn_rad)

    def _lay(self, picture: Image, sheet: Sheet, corner_mm: tuple[float, float], turn_rad: float) -> None:
        cos, sin = math.cos(turn_rad), math.sin(turn_rad)
        turn = np.array([[cos, -sin], [sin, cos]])
        half = np.array([sheet.width_mm / 2, sheet.height_mm / 2])
        lay_sheet(picture, sheet, np.column_stack([turn, corner_mm + half - turn @ half]), view_of(self._plain))

    def _tiles(self) -> Image:
        """Return a whole set laid open, and blocks in the corners."""
        pips = [(high, low) for high in range(7) for low in range(high + 1)]
        order = self._rng.permutation(_TILES)
        tiles = []
        for at, number in enumerate(order.tolist()):
            row, column = divmod(at, 7)
            place = (90.0 * (column - 3), 80.0 * (row - 1.5))
            tiles.append(PlacedTile(pips[number], place, float(self._rng.uniform(-0.5, 0.5))))
        picture = render(Rendering(tuple(tiles), CLASSIC, FELT, LAMP, self._plain), self._rng).image
        self._lay_blocks(picture)
        return picture

    @property
    def _plain(self) -> CameraLook:
        """The camera without what its lens and its sensor do."""
        return replace(self._camera, lens=0.0, blur_px=0.0, noise=0.0)

    def _taken(self, picture: Image) -> Image:
        seen: NDArray[np.uint8] = camera_lens.take(picture, self._camera, view_of(self._camera), self._rng)
        return seen


def open_simulated(source: str) -> SimulatedLook:
    """Return the camera over the table that a text means.

    Raises:
        CameraError: If it means none.
    """
    return SimulatedLook(SimulatedTable.parse(source))
