"""Rendered tables for the detector: many small ones, kept as JPEG so that thousands fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.training.detector.crops import LabelledPicture
from synthetic.training.processes import drawn_by_processes
from synthetic.training.tables import draw_learning_table, draw_max_pips
from vision.arrays import Points
from vision.geometry.poses import Poses

_WIDTH_PX = (720, 960)
# Short sides of tiles over the width of the picture.
_SIDES = (0.014, 0.11)
_JPEG_QUALITY = 95


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A `LabelledPicture` whose image is encoded, shape (B,)."""

    encoded: NDArray[np.uint8]
    poses: Poses
    faces: NDArray[np.int64]
    unread_px: tuple[Points, ...]

    def opened(self) -> LabelledPicture:
        """Return it with its pixels; takes 5 ms."""
        image = np.asarray(cv2.imdecode(self.encoded, cv2.IMREAD_COLOR), np.uint8)
        return LabelledPicture(image, self.poses, self.faces, self.unread_px)


def draw_pictures(seed: int, count: int, jobs: int, progress: Callable[[float], None]) -> Iterator[StoredPicture]:
    """Return rendered tables one by one, the same for the same seed whatever the number of processes."""
    return drawn_by_processes(partial(draw_picture, seed), count, jobs, progress)


def draw_picture(seed: int, index: int) -> StoredPicture:
    """Return one rendered table."""
    rng = np.random.default_rng([seed, index])
    max_pips = draw_max_pips(rng)
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    _, encoded = cv2.imencode(".jpg", table.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return StoredPicture(np.asarray(encoded, np.uint8), table.poses, table.faces, table.unread_px)
