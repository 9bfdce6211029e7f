"""Images of a complete set, laid out in any order in good light."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look
from lab.render.placements import all_pip_pairs, blocks
from lab.render.scene import CameraLook, PlacedTile, Scene, TileLook

_SIZE_PX = (2304, 1296)  # image size of a Raspberry Pi camera


def draw_whole_set(look: TileLook, max_pips: int, rng: np.random.Generator, left_out: tuple[int, ...] = ()) -> Scene:
    """Return shuffled rows of tiles that fill the image, seen from above, without glare.

    Args:
        left_out: Indices of the missing tiles in `all_pip_pairs`.
    """
    tiles_of_set = [tile for index, tile in enumerate(all_pip_pairs(max_pips)) if index not in left_out]
    order = [
        tiles_of_set[index] if rng.random() < 0.5 else tiles_of_set[index][::-1]
        for index in rng.permutation(len(tiles_of_set))
    ]
    columns = max(2, round(math.sqrt(len(order) * 0.9)))
    tiles = blocks(rng, list(order), look, columns=columns, theta_rad=rng.normal(0, 0.04), largest_gap_mm=6.0).tiles
    at_mm = np.array([tile.center_mm for tile in tiles])
    low, high = at_mm.min(axis=0) - look.length_mm, at_mm.max(axis=0) + look.length_mm
    centre, size_mm = (low + high) / 2, high - low
    if size_mm[1] > size_mm[0]:
        size_mm = size_mm[::-1]
        tiles = tuple(_rotated(tile, centre) for tile in tiles)
    else:
        tiles = tuple(replace(tile, center_mm=_minus(tile.center_mm, centre)) for tile in tiles)
    light = draw_light_look(rng)
    light = replace(
        light,
        exposure=rng.uniform(0.95, 1.1),
        ambient=max(light.ambient, 0.5),
        shadow=min(light.shadow, 0.4),
        spot=min(light.spot, 0.15),
        band=0.0,
        contrast=1.0,
        glare=0.0,
    )
    scale = 0.93 * min(_SIZE_PX[0] / size_mm[0], _SIZE_PX[1] / size_mm[1])
    return Scene(tiles, look, draw_table_look(rng, look.face_bgr), light, _calm_camera(rng, float(scale)))


def _calm_camera(rng: np.random.Generator, px_per_mm: float) -> CameraLook:
    camera = draw_camera_look(
        rng, width_px=_SIZE_PX[0], height_px=_SIZE_PX[1], px_per_mm=px_per_mm, largest_tilt_rad=0.12
    )
    return replace(
        camera,
        lens=0.0,
        noise=min(camera.noise, 2.5),
        blur_px=min(camera.blur_px, 0.8),
        motion_px=0.0,
        bloom=0.0,
        fringe_px=0.0,
        metering=min(camera.metering, 0.4),
        jpeg_quality=90,
    )


def _minus(at_mm: tuple[float, float], centre: np.ndarray) -> tuple[float, float]:
    return (at_mm[0] - float(centre[0]), at_mm[1] - float(centre[1]))


def _rotated(tile: PlacedTile, centre: np.ndarray) -> PlacedTile:
    """Return the tile on the table rotated by 90 degrees."""
    x, y = _minus(tile.center_mm, centre)
    return replace(tile, center_mm=(y, -x), theta_rad=tile.theta_rad - math.pi / 2)
