"""Rendered tables for the detector, stored as small JPEGs to keep thousands in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.training.detector.crops import LabelledPicture
from synthetic.training.processes import draw_in_processes
from synthetic.training.tables import draw_learning_table, draw_max_pips
from vision.arrays import Points
from vision.geometry.poses import Poses

_WIDTH_PX = (720, 960)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.014, 0.11)
_JPEG_QUALITY = 95
# Share of tables without tiles.
_BARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A `LabelledPicture` with its image encoded as JPEG, shape (B,)."""

    encoded: NDArray[np.uint8]
    poses: Poses
    faces: NDArray[np.int64]
    unread_px: tuple[Points, ...]

    def decode(self) -> LabelledPicture:
        """Return the picture with its decoded image. Takes 5 ms."""
        image = np.asarray(cv2.imdecode(self.encoded, cv2.IMREAD_COLOR), np.uint8)
        return LabelledPicture(image, self.poses, self.faces, self.unread_px)


def draw_pictures(seed: int, count: int, jobs: int, progress: Callable[[float], None]) -> Iterator[StoredPicture]:
    """Yield *count* rendered tables, which depend on the seed but not on the number of processes."""
    return draw_in_processes(partial(draw_picture, seed), count, jobs, progress)


def draw_picture(seed: int, index: int) -> StoredPicture:
    """Return a rendered table."""
    rng = np.random.default_rng([seed, index])
    max_pips = draw_max_pips(rng)
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, bare=_BARE
    )
    _, encoded = cv2.imencode(".jpg", table.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return StoredPicture(np.asarray(encoded, np.uint8), table.poses, table.faces, table.unread_px)
