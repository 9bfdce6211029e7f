"""Fit a lens to views of the board, or reject them with a reason."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from calibration.errors import RefusedError
from calibration.lens.model import Lens, LensSource, guessed_lens
from calibration.lens.views import LensView, board_pose
from engine.phrases import phrase

LEAST_VIEWS = 5
# Minimum tilt of two views, and minimum range of tilts. With less, focal length and distance are ambiguous. Distortion
# makes a shifted board appear to tilt, hence the range.
_LEAST_TILT_RAD, _LEAST_SPREAD_RAD = math.radians(8), math.radians(15)
_MOST_ERROR_PX = 1.0
# Maximum relative standard deviation of the focal length. Good views reach 0.1 % or less.
_MOST_DOUBT = 0.005
_MOST_FOCAL_RATIO = 1.05


def fit_lens(views: Sequence[LensView]) -> Lens:
    """Return the lens fitted to views of the board.

    Args:
        views: Views of a single camera. Views with too little of the board are ignored.

    Raises:
        RefusedError: If there are too few views, their sizes differ, or they do not determine a lens or contradict it.
    """
    useful = [view for view in views if view.is_useful]
    _require_variety(useful, len(views))
    size_px = (useful[0].width_px, useful[0].height_px)
    board = [np.column_stack([view.board_mm(), np.zeros(len(view.corners))]).astype(np.float32) for view in useful]
    points = [view.points_px().astype(np.float32) for view in useful]
    start = guessed_lens(*size_px).matrix()
    error_px, matrix, distortion, _, _, spread, _, each_px = cv2.calibrateCameraExtended(
        board, points, size_px, start, np.zeros(5), flags=cv2.CALIB_USE_INTRINSIC_GUESS
    )
    focal_px = (float(matrix[0, 0]), float(matrix[1, 1]))
    doubt = max(np.asarray(spread).ravel()[:2] / focal_px)
    _require_fit(float(error_px), focal_px, float(doubt), np.asarray(each_px).ravel())
    k1, k2, p1, p2, k3 = np.asarray(distortion, np.float64).ravel()[:5].tolist()
    center_px = (float(matrix[0, 2]), float(matrix[1, 2]))
    return Lens(*size_px, focal_px, center_px, (k1, k2, p1, p2, k3), LensSource.MEASURED, float(error_px), len(useful))


def _require_variety(useful: Sequence[LensView], shown: int) -> None:
    """Reject too few views, views of different sizes, and views with similar poses of the board."""
    if len(useful) < LEAST_VIEWS:
        raise RefusedError(
            phrase(
                "too few views: the board is clear enough in {useful} of {shown} pictures, but at least {least}"
                " are needed",
                useful=len(useful),
                shown=shown,
                least=LEAST_VIEWS,
            )
        )
    sizes = sorted({(view.width_px, view.height_px) for view in useful})
    if len(sizes) > 1:
        listed = ", ".join(f"{width_px} x {height_px}" for width_px, height_px in sizes)
        raise RefusedError(f"the pictures have different sizes ({listed}): take all with the same camera and mode")
    poses = [board_pose(view) for view in useful]
    if sum(pose.tilt_rad > _LEAST_TILT_RAD for pose in poses) < 2:
        raise RefusedError(
            phrase("all views are alike: the board always faces the camera; tilt each side away by 30 degrees")
        )
    tilts = np.array([(pose.tilt_right_rad, pose.tilt_top_rad) for pose in poses])
    if np.ptp(tilts, axis=0).max() < _LEAST_SPREAD_RAD:
        raise RefusedError(
            phrase("all views are alike: the board always has the same tilt; tilt the other sides away too")
        )


def _require_fit(error_px: float, focal_px: tuple[float, float], doubt: float, each_px: np.ndarray) -> None:
    """Reject a lens that does not fit the views, or that the views do not determine."""
    if not math.isfinite(error_px) or error_px > _MOST_ERROR_PX:
        worst = int(np.argmax(each_px)) + 1
        raise RefusedError(
            phrase(
                "the views do not agree: corners are off by {error} px, with view {worst} the worst; check that"
                " the board is flat, and keep the board and the camera still",
                error=f"{error_px:.1f}",
                worst=worst,
            )
        )
    ratio = max(focal_px) / min(focal_px)
    if doubt > _MOST_DOUBT or ratio > _MOST_FOCAL_RATIO:
        raise RefusedError(
            phrase(
                "the views are too similar to determine the focal length (it may be {percent} % off): tilt the"
                " board more, to all four sides",
                percent=f"{100 * max(doubt, ratio - 1):.1f}",
            )
        )
