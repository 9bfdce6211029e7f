"""Rendered tables with corner blocks and tiles, and their cameras."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.lens.lens import Lens, LensSource
from calibration.sheets.prints import BLOCK_MM, Sheet, block_boxes
from lab.render import view as camera_lens
from lab.render.prints import lay_sheet
from lab.render.scene import CameraLook
from lab.render.view import View, view_of
from vision.arrays import Image

# Centres and rotations of the corner blocks. The y axis points down, as in the renderer.
BLOCKS_MM = ((-340, -170, 0.05), (345, -165, -0.03), (340, 160, 0.1), (-335, 165, -0.08))
CAMERA = CameraLook(
    width_px=2304, height_px=1296, px_per_mm=2.6, fov_rad=1.0, tilt_rad=math.radians(25), blur_px=0.8, noise=3.0
)


@dataclass(frozen=True, slots=True)
class Laid:
    """A table with its camera.

    Attributes:
        print_scale: Scale of the printed blocks.
        blocks: Numbers of the blocks on the table.
        hidden: Centres and side lengths in mm of dark squares on top.
    """

    camera: CameraLook = CAMERA
    print_scale: float = 1.0
    blocks: tuple[int, ...] = (0, 1, 2, 3)
    hidden: tuple[tuple[float, float, float], ...] = ()


def true_lens(camera: CameraLook) -> Lens:
    """Return the lens of a rendered camera without distortion."""
    assert camera.lens == 0
    focal_px = camera.width_px / 2 / math.tan(camera.fov_rad / 2)
    size = (camera.width_px, camera.height_px)
    return Lens(*size, (focal_px, focal_px), ((size[0] - 1) / 2, (size[1] - 1) / 2), source=LensSource.MEASURED)


def picture_of(laid: Laid, seed: int = 3) -> Image:
    view = view_of(laid.camera)
    picture = np.full((laid.camera.height_px, laid.camera.width_px, 3), (60, 95, 50), np.uint8)
    for block in laid.blocks:
        lay_block(picture, block, laid.print_scale, view)
    for x_mm, y_mm, side_mm in laid.hidden:
        _cover(picture, (x_mm, y_mm), side_mm, view)
    return camera_lens.take(picture, laid.camera, view, np.random.default_rng(seed))


def lay_block(picture: Image, block: int, print_scale: float, view: View) -> None:
    x_mm, y_mm, turn_rad = BLOCKS_MM[block]
    cos, sin = math.cos(turn_rad) * print_scale, math.sin(turn_rad) * print_scale
    turn = np.array([[cos, -sin], [sin, cos]])
    sheet = Sheet(BLOCK_MM, BLOCK_MM, block_boxes(block, 0.0, 0.0))
    lay_sheet(picture, sheet, np.column_stack([turn, (x_mm, y_mm) - turn @ (BLOCK_MM / 2, BLOCK_MM / 2)]), view)


def _cover(picture: Image, middle_mm: tuple[float, float], side_mm: float, view: View) -> None:
    square = np.array(middle_mm) + side_mm / 2 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    cv2.fillConvexPoly(picture, np.round(view.project(square, 0.0)).astype(np.int32), (40, 45, 60))


def grid_mm(half_width_mm: float = 400.0, half_depth_mm: float = 220.0) -> np.ndarray:
    """Return points all over the table, with the y axis down."""
    return np.stack(
        np.meshgrid(np.linspace(-half_width_mm, half_width_mm, 9), np.linspace(-half_depth_mm, half_depth_mm, 7)), -1
    ).reshape(-1, 2)


def worst_mm(found: np.ndarray, true_down: np.ndarray) -> float:
    """Return the largest error after aligning both frames by translation and rotation without scaling."""
    a = found[:, 0] + 1j * found[:, 1]
    b = true_down[:, 0] - 1j * true_down[:, 1]
    a, b = a - a.mean(), b - b.mean()
    turn = np.vdot(a, b)
    return float(np.abs(b - a * turn / abs(turn)).max())
