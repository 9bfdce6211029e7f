"""Photographed surfaces from Debian packages, as table tops for training. None shows dominoes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from synthetic.library.packages import Collection, files_of, require_packages
from synthetic.render.look_types import TableLook
from vision.arrays import Image

# Photographed and painted textures of walls, floors, machines and rocks (CC-BY-SA, CC-BY, CC0), and photographs of
# landscapes and plants (CC-BY-SA).
_COLLECTIONS = (
    Collection("redeclipse-data", "games/redeclipse/data/**/*.jpg"),
    Collection("redeclipse-data", "games/redeclipse/data/**/*.png"),
    Collection("mate-backgrounds", "backgrounds/mate/**/*.jpg"),
)
# Width of the shown part of a picture, relative to its size, and the longest side that is kept in memory.
_SHOWN = (0.2, 1.0)
_LONGEST_PX = 1024


def find_photographs(root: Path) -> tuple[Path, ...]:
    """Return the image files of the installed packages below *root*, in order."""
    return tuple(file for collection in _COLLECTIONS for file in files_of(root, collection))


def require_photographs(root: Path) -> None:
    """Check that all packages with photographs are installed below *root*.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    require_packages(root, _COLLECTIONS, "photographs")


@lru_cache(maxsize=64)
def _load(path: Path) -> Image:
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise OSError(f"{path}: not a readable picture; reinstall its package")
    shrink = max(1.0, max(picture.shape[:2]) / _LONGEST_PX)
    size = (max(1, round(picture.shape[1] / shrink)), max(1, round(picture.shape[0] / shrink)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def photographed(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Return a part of the look's photograph, enlarged or repeated with alternate mirroring to fill *shape*.

    Args:
        look: Table with a photograph. The part is four times as wide as the pattern size.
        shape: Height and width of the result.
        scale: Pixels per millimetre.
        rng: Random generator for the shown part.
    """
    if look.photograph is None:
        raise ValueError("photograph: a table of kind PHOTOGRAPH needs one")
    picture = _load(look.photograph)
    height, width = picture.shape[:2]
    side = max(1, round(min(height, width) * rng.uniform(*_SHOWN)))
    top, left = int(rng.integers(height - side + 1)), int(rng.integers(width - side + 1))
    part: Image = picture[top : top + side, left : left + side]
    repeat_px = max(32, round(4 * look.pattern_mm * scale))
    interpolation = cv2.INTER_AREA if repeat_px < side else cv2.INTER_CUBIC
    part = np.asarray(cv2.resize(part, (repeat_px, repeat_px), interpolation=interpolation), np.uint8)
    rows, columns = -(-shape[0] // repeat_px), -(-shape[1] // repeat_px)
    both = np.concatenate([part, part[:, ::-1]], axis=1)
    motif = np.concatenate([both, both[::-1]], axis=0)
    tiled = np.tile(motif, (rows // 2 + 1, columns // 2 + 1, 1))
    return np.ascontiguousarray(tiled[: shape[0], : shape[1]], np.uint8)
