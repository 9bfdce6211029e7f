"""Find the contrast and glare at which the reader fails on rendered tiles; calibration/table/picture.py warns of them.

    python -m lab.bench.light [--pictures 40]

Contrast: tiles of five looks in light from 3 % to 100 % of a lamp, with noise of 2, 4 and 7 grey levels. Glare: tiles
in good light with round reflections of random size and strength. Takes about two minutes on one core.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np

from calibration.table.picture import examine_light
from lab.bench.material.harness import options_of
from lab.matches.room import LOOKS
from lab.render.looks import LAMP, OVERHEAD
from lab.render.paint import RenderedPicture, render
from lab.render.scene import CameraLook, PlacedTile, Scene
from vision.reader.reader import Reader, load_reader
from vision.reading import SeenTile

_CAMERA = replace(OVERHEAD, width_px=1280, height_px=720, px_per_mm=1.667, blur_px=0.8)
_EXPOSURES = (0.03, 0.05, 0.07, 0.1, 0.13, 0.17, 0.22, 0.3, 0.45, 0.7, 1.0)
_NOISES = (2.0, 4.0, 7.0)
_CONTRASTS = (0, 8, 12, 16, 20, 25, 30, 40, 60, 256)
_SHARES = (0, 0.001, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.01)
_FOUND_PX = 15.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A tile: its contrast, saturated share, camera noise, and number of halves that are misread or not found."""

    contrast: float
    saturated: float
    noise: float
    wrong: int


def main() -> None:
    """Print both tables."""
    pictures = options_of(__doc__, pictures=40).pictures
    cv2.setNumThreads(1)
    reader = load_reader(6)
    dim = [tile for seed in range(pictures) for tile in _dim(reader, seed)]
    print("halves misread or not found, by grey levels between face and pips")
    for noise in _NOISES:
        of_noise = [tile for tile in dim if tile.noise == noise]
        print(f"  noise {noise:.0f}: {_table(of_noise, [tile.contrast for tile in of_noise], _CONTRASTS)}")
    glaring = [tile for seed in range(pictures) for tile in _glaring(reader, seed)]
    print("the same, by the share of the tile that is pure white")
    print(f"  {_table(glaring, [tile.saturated for tile in glaring], _SHARES)}")


def _dim(reader: Reader, seed: int) -> Iterator[Judged]:
    noise, exposure = _NOISES[seed % len(_NOISES)], _EXPOSURES[seed % len(_EXPOSURES)]
    rendered = _rendered(seed, exposure, replace(_CAMERA, noise=noise))
    yield from _judged(reader, rendered, rendered.image, noise)


def _glaring(reader: Reader, seed: int) -> Iterator[Judged]:
    """Yield tiles with reflections of lamps."""
    rng = np.random.default_rng(seed)
    rendered = _rendered(1000 + seed, 0.9, replace(_CAMERA, noise=3.0))
    down, across = np.mgrid[: _CAMERA.height_px, : _CAMERA.width_px].astype(np.float32)
    light = np.zeros((_CAMERA.height_px, _CAMERA.width_px), np.float32)
    for tile in rendered.truth.tiles:
        if rng.random() < 0.8:
            x, y = np.array(tile.center_px) + rng.normal(0, 15, 2)
            size_px, strength = rng.uniform(4, 30), rng.uniform(60, 500)
            light += strength * np.exp(-((across - x) ** 2 + (down - y) ** 2) / (2 * size_px**2))
    image = np.clip(rendered.image + light[..., None], 0, 255).astype(np.uint8)
    yield from _judged(reader, rendered, image, 3.0)


def _rendered(seed: int, exposure: float, camera: CameraLook) -> RenderedPicture:
    rng = np.random.default_rng(seed)
    pips = rng.permutation([(high, low) for high in range(7) for low in range(high + 1)]).tolist()
    tiles = []
    for at in range(20):
        place = ((at % 5 - 2) * 120 + rng.uniform(-15, 15), (at // 5 - 1.5) * 90 + rng.uniform(-8, 8))
        tiles.append(PlacedTile((pips[at][0], pips[at][1]), place, float(rng.uniform(-3, 3))))
    look, surface = list(LOOKS.values())[seed % len(LOOKS)]
    return render(Scene(tuple(tiles), look, surface, replace(LAMP, exposure=exposure), camera), rng)


def _judged(reader: Reader, rendered: RenderedPicture, image: np.ndarray, noise: float) -> Iterator[Judged]:
    read = reader.read(image).without_unsure().tiles
    true = rendered.truth.tiles
    for tile, spot in zip(true, examine_light(image, [tile.corners_px for tile in true]).samples, strict=True):
        yield Judged(spot.contrast, spot.saturated, noise, _misread(tile, read))


def _misread(tile: SeenTile, read: Sequence[SeenTile]) -> int:
    seen = min(read, key=lambda other: math.dist(other.center_px, tile.center_px), default=None)
    if seen is None or math.dist(seen.center_px, tile.center_px) > _FOUND_PX or not seen.halves:
        return 2
    nearest = [min(seen.halves, key=lambda other: math.dist(other.center_px, half.center_px)) for half in tile.halves]
    return sum(half.pips != other.pips for half, other in zip(tile.halves, nearest, strict=True))


def _table(tiles: Sequence[Judged], values: Sequence[float], bounds: Sequence[float]) -> str:
    """Return the share of wrong halves in each range of *bounds*."""
    parts = []
    for low, high in pairwise(bounds):
        own = [tile.wrong for tile, value in zip(tiles, values, strict=True) if low <= value < high]
        if own:
            parts.append(f"{low:g}-{high:g}: {sum(own) / (2 * len(own)):.3f} of {2 * len(own)}")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
