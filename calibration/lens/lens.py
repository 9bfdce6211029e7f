"""Lens of a camera: the model, nominal lenses of Raspberry Pi cameras, and fitting a lens to views of the board.

The nominal angles and focal lengths are from the table "Hardware specification" on the page "Camera" of Raspberry Pi's
documentation. They do not include distortion, and individual cameras deviate by a few percent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import cv2
import numpy as np
from cv2 import aruco
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.sheets.prints import BOARD_CORNERS, lens_board
from engine.phrases import phrase, plural
from vision.arrays import GreyImage, Image, Points

# Sensor width of the HQ camera, which is sold with two lenses.
_HQ_WIDTH_MM = 6.287


class PiCamera(StrEnum):
    """A camera with a known lens."""

    MODULE_2 = "module-2"
    MODULE_3 = "module-3"
    MODULE_3_WIDE = "module-3-wide"
    HQ_6_MM = "hq-6mm"
    HQ_16_MM = "hq-16mm"

    @property
    def width_rad(self) -> float:
        """Horizontal angle of view for pictures of the full width of the sensor.

        Cropping modes, such as 1920 x 1080 of the Camera Module 2, have a smaller angle: for these, calibrate the lens.
        """
        return {
            PiCamera.MODULE_2: math.radians(62.2),
            PiCamera.MODULE_3: math.radians(66.0),
            PiCamera.MODULE_3_WIDE: math.radians(102.0),
            PiCamera.HQ_6_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 6.0),
            PiCamera.HQ_16_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 16.0),
        }[self]


class LensSource(StrEnum):
    """Origin of lens parameters."""

    MEASURED = "measured"
    KNOWN_CAMERA = "known camera"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Lens:
    """Lens of a camera.

    Attributes:
        width_px, height_px: Size of the pictures.
        focal_px: Horizontal and vertical focal length.
        center_px: Principal point. (0, 0) is the centre of the first pixel.
        distortion: k1, k2, p1, p2 and k3 of OpenCV's model.
        source: Origin of the parameters.
        error_px: Root mean square reprojection error of the board corners. None if not measured.
        views: Number of views of the board used for the fit.
    """

    width_px: int
    height_px: int
    focal_px: tuple[float, float]
    center_px: tuple[float, float]
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    source: LensSource = LensSource.MEASURED
    error_px: float | None = None
    views: int = 0

    def __post_init__(self) -> None:
        if self.width_px < 1 or self.height_px < 1:
            raise ValueError(f"size: expected 1 px or more each way, got {self.width_px} x {self.height_px}")
        if not all(math.isfinite(f) and f > 0 for f in self.focal_px):
            raise ValueError(f"focal_px: expected two numbers above 0, got {self.focal_px}")
        if not all(math.isfinite(value) for value in (*self.center_px, *self.distortion)):
            raise ValueError(f"center_px and distortion: expected numbers, got {self.center_px}, {self.distortion}")

    @property
    def width_rad(self) -> float:
        """Horizontal angle of view, ignoring distortion."""
        return 2 * math.atan(self.width_px / 2 / self.focal_px[0])

    def at(self, width_px: int, height_px: int) -> Lens:
        """Return the lens for pictures of another size with the same aspect ratio.

        Raises:
            ValueError: If the aspect ratio differs by more than 1 %, which means that the field of view differs.
        """
        across, down = width_px / self.width_px, height_px / self.height_px
        if abs(across / down - 1) > 0.01:
            raise ValueError(
                f"the lens is known for pictures of {self.width_px} x {self.height_px}, whose aspect ratio differs from"
                f" {width_px} x {height_px}"
            )
        center_px = ((self.center_px[0] + 0.5) * across - 0.5, (self.center_px[1] + 0.5) * down - 0.5)
        focal_px = (self.focal_px[0] * across, self.focal_px[1] * down)
        return replace(self, width_px=width_px, height_px=height_px, focal_px=focal_px, center_px=center_px)

    def matrix(self) -> NDArray[np.float64]:
        """Return the camera matrix, shape (3, 3)."""
        (fx, fy), (cx, cy) = self.focal_px, self.center_px
        return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]])

    def to_rays(self, points_px: Points) -> Points:
        """Return the rays through pixels as their intersections with the plane at distance 1, shape (N, 2)."""
        points = np.ascontiguousarray(points_px, np.float64).reshape(-1, 1, 2)
        # OpenCV's default of five iterations is less exact than a thousandth of a pixel.
        criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-9)
        rays = cv2.undistortPoints(
            points, self.matrix(), np.array(self.distortion), R=np.eye(3), P=np.eye(3), criteria=criteria
        )
        return np.asarray(rays, np.float64).reshape(-1, 2)

    def to_picture(self, rays: Points) -> Points:
        """Return the pixels at which rays appear, shape (N, 2).

        Each ray is given by its intersection with the plane at distance 1.
        """
        points = np.column_stack([rays, np.ones(len(rays))])
        zero = np.zeros(3)
        pixels = cv2.projectPoints(points, zero, zero, self.matrix(), np.array(self.distortion))[0]
        return np.asarray(pixels, np.float64).reshape(-1, 2)


def lens_of_angle(width_px: int, height_px: int, width_rad: float, source: LensSource) -> Lens:
    """Return a lens without distortion that has the given horizontal angle of view."""
    focal_px = width_px / 2 / math.tan(width_rad / 2)
    return Lens(width_px, height_px, (focal_px, focal_px), ((width_px - 1) / 2, (height_px - 1) / 2), source=source)


def guessed_lens(width_px: int, height_px: int) -> Lens:
    """Return a lens with a typical angle of view for an unknown camera. Most have 60 to 70 degrees."""
    return lens_of_angle(width_px, height_px, math.radians(65), LensSource.GUESS)


def known_lens(camera: PiCamera, width_px: int, height_px: int) -> Lens:
    """Return the nominal lens of a Pi camera, for pictures of the full width of its sensor."""
    return lens_of_angle(width_px, height_px, camera.width_rad, LensSource.KNOWN_CAMERA)


# A view with fewer corners is ignored, because a false detection is likely and the view would contribute little.
MIN_CORNERS = 8


@dataclass(frozen=True, slots=True)
class SeenCorner:
    """A detected corner of the board: its number, and its position in the picture."""

    number: int
    x_px: float
    y_px: float

    def __post_init__(self) -> None:
        if not 0 <= self.number < BOARD_CORNERS:
            raise ValueError(f"number: expected 0 to {BOARD_CORNERS - 1}, got {self.number}")


@dataclass(frozen=True, slots=True)
class LensView:
    """View of the board in a picture."""

    width_px: int
    height_px: int
    corners: tuple[SeenCorner, ...]

    @property
    def is_useful(self) -> bool:
        """True if there are enough corners, and they are not collinear."""
        if len(self.corners) < MIN_CORNERS:
            return False
        spread = np.linalg.svd(self.board_mm() - self.board_mm().mean(axis=0), compute_uv=False)
        return bool(spread[1] > 1.0)

    def points_px(self) -> Points:
        """Return the positions of the corners in the picture, shape (N, 2)."""
        return np.array([(corner.x_px, corner.y_px) for corner in self.corners]).reshape(-1, 2)

    def board_mm(self) -> Points:
        """Return the positions of the corners on the board, shape (N, 2)."""
        all_mm = np.asarray(lens_board().getChessboardCorners(), np.float64)[:, :2]
        return all_mm[[corner.number for corner in self.corners]]


@dataclass(frozen=True, slots=True)
class BoardPose:
    """Pose of the board relative to the camera.

    Attributes:
        tilt_right_rad: Tilt of the right side away from the camera. Negative if the left side is farther.
        tilt_top_rad: Tilt of the upper side away from the camera. Negative if the lower side is farther.
        distance_mm: Distance of the nearest detected corner.
    """

    tilt_right_rad: float
    tilt_top_rad: float
    distance_mm: float

    @property
    def tilt_rad(self) -> float:
        """Total tilt relative to facing the camera."""
        return math.hypot(self.tilt_right_rad, self.tilt_top_rad)


def find_view(picture: Image | GreyImage) -> LensView:
    """Detect the corners of the board in a picture of shape (H, W, 3) or (H, W)."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height_px, width_px = grey.shape
    found_px, numbers, _, _ = aruco.CharucoDetector(lens_board()).detectBoard(grey)
    # Without corners OpenCV returns None or empty arrays, depending on its version. The type stub lacks None.
    detected: tuple[object, object] = (found_px, numbers)
    if detected[0] is None or detected[1] is None:
        return LensView(width_px, height_px, ())
    points = np.asarray(found_px, np.float64).reshape(-1, 2)
    corners = [
        SeenCorner(int(number), float(x), float(y))
        for number, (x, y) in zip(np.asarray(numbers).ravel(), points, strict=True)
    ]
    return LensView(width_px, height_px, tuple(sorted(corners, key=lambda corner: corner.number)))


def board_pose(view: LensView, lens: Lens | None = None) -> BoardPose:
    """Estimate the pose of the board in a useful view. Without a *lens*, a typical one is assumed."""
    lens = lens or guessed_lens(view.width_px, view.height_px)
    board = np.column_stack([view.board_mm(), np.zeros(len(view.corners))])
    rays = lens.to_rays(view.points_px())
    _, rotation, translation = cv2.solvePnP(board, rays, np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_ITERATIVE)
    matrix = np.asarray(cv2.Rodrigues(rotation)[0], np.float64)
    points = board @ matrix.T + np.asarray(translation, np.float64).reshape(3)
    # The normal pointing away from the camera. If it points right, the right side is nearer.
    normal = matrix[:, 2] * np.sign(matrix[2, 2])
    return BoardPose(-math.asin(float(normal[0])), math.asin(float(normal[1])), float(points[:, 2].min()))


MIN_VIEWS = 5
# Minimum tilt of two views, and minimum range of tilts. With less, focal length and distance are ambiguous. Distortion
# makes a shifted board appear to tilt, hence the range.
_MIN_TILT_RAD = math.radians(8)
_MIN_SPREAD_RAD = math.radians(15)
_MAX_ERROR_PX = 1.0
# Maximum relative standard deviation of the focal length. Good views reach 0.1 % or less.
_MAX_DOUBT = 0.005
_MAX_FOCAL_RATIO = 1.05


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
    if len(useful) < MIN_VIEWS:
        raise RefusedError(
            phrase(
                "too few views: the board is clear enough in {useful} of {shown} pictures, but at least {least}"
                " are needed",
                useful=len(useful),
                shown=shown,
                least=MIN_VIEWS,
            )
        )
    sizes = sorted({(view.width_px, view.height_px) for view in useful})
    if len(sizes) > 1:
        listed = ", ".join(f"{width_px} x {height_px}" for width_px, height_px in sizes)
        raise RefusedError(f"the pictures have different sizes ({listed}): take all with the same camera and mode")
    poses = [board_pose(view) for view in useful]
    if sum(pose.tilt_rad > _MIN_TILT_RAD for pose in poses) < 2:
        raise RefusedError(
            phrase("all views are alike: the board always faces the camera; tilt each side away by 30 degrees")
        )
    tilts = np.array([(pose.tilt_right_rad, pose.tilt_top_rad) for pose in poses])
    if np.ptp(tilts, axis=0).max() < _MIN_SPREAD_RAD:
        raise RefusedError(
            phrase("all views are alike: the board always has the same tilt; tilt the other sides away too")
        )


def _require_fit(error_px: float, focal_px: tuple[float, float], doubt: float, each_px: np.ndarray) -> None:
    """Reject a lens that does not fit the views, or that the views do not determine."""
    if not math.isfinite(error_px) or error_px > _MAX_ERROR_PX:
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
    if doubt > _MAX_DOUBT or ratio > _MAX_FOCAL_RATIO:
        raise RefusedError(
            phrase(
                "the views are too similar to determine the focal length (it may be {percent} % off): tilt the"
                " board more, to all four sides",
                percent=f"{100 * max(doubt, ratio - 1):.1f}",
            )
        )


_ENOUGH_VIEWS = 8
# Grid of picture cells, and the number of board corners that each of them needs.
_ACROSS = 3
_DOWN = 3
_MIN_IN_CELL = 3
_TILT_RAD = math.radians(15)
# Minimum ratio of the farthest to the nearest view. At a single distance, focal length and distance are ambiguous.
_MIN_DEPTH = 1.25
CELLS = (
    "top left", "top middle", "top right", "left middle", "middle", "right middle", "bottom left", "bottom middle",
    "bottom right",
)  # fmt: skip
_PARTS = {
    "top left": phrase("top left"),
    "top middle": phrase("top centre"),
    "top right": phrase("top right"),
    "left middle": phrase("left centre"),
    "middle": phrase("centre"),
    "right middle": phrase("right centre"),
    "bottom left": phrase("bottom left"),
    "bottom middle": phrase("bottom centre"),
    "bottom right": phrase("bottom right"),
}
_SIDES = {"right": phrase("right"), "left": phrase("left"), "upper": phrase("upper"), "lower": phrase("lower")}


@dataclass(frozen=True, slots=True)
class Guide:
    """Coverage of the views so far.

    Attributes:
        useful: Number of views that show enough of the board.
        empty_cells: Names of the picture cells in which fewer than three board corners were seen.
        lacking_tilts: Sides of the board that have not been tilted away from the camera.
        depth: Distance of the board in the farthest view, divided by that in the nearest. 0 without views.
    """

    useful: int
    empty_cells: tuple[str, ...]
    lacking_tilts: tuple[str, ...]
    depth: float

    @property
    def coverage(self) -> float:
        """Share of the nine picture cells in which at least three board corners were seen."""
        return 1 - len(self.empty_cells) / (_ACROSS * _DOWN)

    @property
    def is_enough(self) -> bool:
        """True if no more views are needed."""
        return not self.instructions()

    def instructions(self) -> tuple[str, ...]:
        """Return instructions for more views, most important first. Empty if no more are needed."""
        instructions = [
            phrase("Tilt the {side} side of the board about 30 degrees away from the camera.", side=_SIDES[side])
            for side in self.lacking_tilts
        ]
        instructions += [
            phrase("Move the board into the {part} of the picture.", part=_PARTS[cell]) for cell in self.empty_cells
        ]
        if self.useful and self.depth < _MIN_DEPTH:
            nearer = phrase("Hold the board close once, to nearly fill the picture, and farther away once.")
            instructions.append(nearer)
        if self.useful < _ENOUGH_VIEWS:
            more = plural(
                "One more view of the board is needed, at a different tilt or place.",
                "{number} more views of the board are needed, each at a different tilt or place.",
                number=_ENOUGH_VIEWS - self.useful,
            )
            instructions.append(more)
        return tuple(instructions)


def guide(views: Sequence[LensView]) -> Guide:
    """Return the coverage of views. Views with too little of the board are ignored."""
    useful = [view for view in views if view.is_useful]
    poses = [board_pose(view) for view in useful]
    nearest, farthest = (pick((pose.distance_mm for pose in poses), default=0.0) for pick in (min, max))
    count = np.zeros((_DOWN, _ACROSS), int)
    for view in useful:
        share = view.points_px() / (view.width_px, view.height_px)
        column, row = np.clip((share * (_ACROSS, _DOWN)).astype(int), 0, (_ACROSS - 1, _DOWN - 1)).T
        np.add.at(count, (row, column), 1)
    empty = tuple(name for name, seen in zip(CELLS, count.ravel().tolist(), strict=True) if seen < _MIN_IN_CELL)
    tilts = {
        "right": max((pose.tilt_right_rad for pose in poses), default=0.0),
        "left": max((-pose.tilt_right_rad for pose in poses), default=0.0),
        "upper": max((pose.tilt_top_rad for pose in poses), default=0.0),
        "lower": max((-pose.tilt_top_rad for pose in poses), default=0.0),
    }
    lacking = tuple(side for side, tilt_rad in tilts.items() if tilt_rad < _TILT_RAD)
    return Guide(len(useful), empty, lacking, farthest / nearest if nearest > 0 else 0.0)
