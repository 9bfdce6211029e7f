"""A table directly below a camera, with corner blocks as on the mat, for tests without pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import numpy as np

from calibration.lens.lens import Lens, LensSource
from calibration.sheets.prints import BLOCK_MM, MAT_HEIGHT_MM, MAT_WIDTH_MM, block_places_mm
from calibration.table.table import BlockPose, Table, TableSource
from hardware.camera.device import Light
from tallybone.calibrate.look import AskedScene
from vision.arrays import Image

LENS = Lens(1280, 720, (1000.0, 1000.0), (639.5, 359.5), source=LensSource.MEASURED, error_px=0.1, views=9)
MARKS = tuple(
    BlockPose(at, left_mm + (BLOCK_MM - MAT_WIDTH_MM) / 2, (MAT_HEIGHT_MM - BLOCK_MM) / 2 - top_mm, 0.0)
    for at, (left_mm, top_mm) in enumerate(block_places_mm())
)


def table_below(height_mm: float = 1200.0, *, marks: tuple[BlockPose, ...] = MARKS) -> Table:
    """Return a table at this distance below the camera, with its centre in the centre of the picture."""
    axes = (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
    return Table(axes, (0.0, 0.0, height_mm), 10.0, TableSource.MARKERS, 0.1, 0.0005, marks)


@dataclass(slots=True)
class GreyLook:
    """A camera with uniform grey pictures, each different."""

    problem: str | None = None
    light: Light = Light.FREE
    scenes: list[AskedScene] = field(default_factory=list)
    taken: count[int] = field(default_factory=count)

    def take(self) -> Image | None:
        return np.full((720, 1280, 3), next(self.taken) % 200, np.uint8)

    def present(self, scene: AskedScene) -> None:
        self.scenes.append(scene)

    def hold_light(self) -> None:
        self.light = Light.HELD

    def close(self) -> None:
        pass
