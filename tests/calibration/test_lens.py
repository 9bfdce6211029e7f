"""Tests of measuring the lens from views of the board, of refusals, and of the guidance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration import RefusedError
from calibration.lens.lens import (
    Lens,
    LensView,
    PiCamera,
    SeenCorner,
    board_pose,
    find_view,
    fit_lens,
    guide,
    known_lens,
)
from tests.calibration.held import FOCAL_PX, GOOD, LENS, SIZE_PX, board_view_of, held, picture_of, views
from vision.arrays import Points

# The renderer enlarges the picture by this factor to fill the frame.
TRUE_FOCAL_PX = FOCAL_PX * (1 + LENS)
FACING = tuple((0.0, 0.0, 330.0 + 30 * at, 0.1 * at, 0.0) for at in range(8))
ALIKE = tuple((25.0, 0.0, 330.0 + 4 * at, 0.02 * at, 0.0) for at in range(8))


@pytest.fixture(scope="module")
def measured() -> Lens:
    return fit_lens(views())


@pytest.mark.slow
def test_the_focal_length_and_distortion_are_measured_everywhere(measured: Lens) -> None:
    assert measured.focal_px == pytest.approx((TRUE_FOCAL_PX, TRUE_FOCAL_PX), rel=0.005)
    assert measured.error_px is not None
    assert measured.error_px < 0.3
    assert measured.views == len(GOOD)
    straight = _grid(-60, -40, 1340, 760)
    seen = held(*GOOD[0]).distort(straight)
    inside = ((seen >= 0) & (seen <= np.array(SIZE_PX) - 1)).all(axis=1)
    rays = (straight - np.array(held(*GOOD[0]).center_px)) / FOCAL_PX
    assert np.linalg.norm(measured.to_picture(rays) - seen, axis=1)[inside].max() < 1.0
    assert np.abs(measured.to_rays(seen[inside]) - rays[inside]).max() * FOCAL_PX < 1.0


def test_rays_round_trip_through_a_distorted_picture(measured: Lens) -> None:
    straight = replace(measured, distortion=(0.0, 0.0, 0.0, 0.0, 0.0))
    corner = np.array([[20.0, 20.0]])
    assert np.linalg.norm(straight.to_rays(corner) - measured.to_rays(corner)) * FOCAL_PX > 30
    spots = _grid(0, 0, SIZE_PX[0] - 1, SIZE_PX[1] - 1)
    assert measured.to_picture(measured.to_rays(spots)) == pytest.approx(spots, abs=1e-3)


def test_the_rays_of_a_pinhole_camera() -> None:
    lens = Lens(100, 80, (50.0, 50.0), (49.5, 39.5))
    assert lens.to_rays(np.array([[99.5, 39.5]])) == pytest.approx(np.array([[1.0, 0.0]]))
    with pytest.raises(ValueError, match="focal_px"):
        Lens(100, 80, (0.0, 50.0), (49.5, 39.5))


def test_a_lens_scales_to_half_the_picture_size(measured: Lens) -> None:
    half = measured.at(SIZE_PX[0] // 2, SIZE_PX[1] // 2)
    # The centre of pixel 10 in the small picture is between pixels 20 and 21 of the large one.
    assert half.to_rays(np.array([[10.0, 30.0]])) == pytest.approx(measured.to_rays(np.array([[20.5, 60.5]])), abs=1e-9)
    with pytest.raises(ValueError, match="whose aspect ratio differs"):
        measured.at(640, 480)


def test_views_that_are_few_small_or_contradict_are_refused() -> None:
    with pytest.raises(RefusedError, match="in 3 of 4 pictures, but at least 5"):
        fit_lens([*views()[:3], LensView(*SIZE_PX, ())])
    small = replace(views()[0], width_px=640, height_px=480)
    with pytest.raises(RefusedError, match="640 x 480, 1280 x 720"):
        fit_lens([small, *views()])
    good = [board_view_of(place) for place in GOOD]
    rng = np.random.default_rng(1)
    good[4] = _moved(good[4], rng.normal(0, 12, (len(good[4].corners), 2)))
    with pytest.raises(RefusedError, match="with view 5 the worst"):
        fit_lens(good)


@pytest.mark.parametrize(
    ("places", "reason"), [(FACING, "always faces the camera"), (ALIKE, "always has the same tilt")]
)
def test_similar_views_are_refused(places: tuple[tuple[float, float, float, float, float], ...], reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        fit_lens([board_view_of(place) for place in places])


def test_the_guide_lists_missing_tilts_and_picture_parts() -> None:
    assert guide(views()).instructions() == ()
    assert guide(views()).coverage == 1.0
    only = guide([board_view_of((28, 0, 330, -0.4, -0.3)), board_view_of((0, 28, 330, -0.4, -0.3))])
    assert only.lacking_tilts == ("left", "lower")
    assert "bottom right" in only.empty_cells
    assert "top left" not in only.empty_cells
    assert only.instructions()[0] == "Tilt the left side of the board about 30 degrees away from the camera."
    assert only.instructions()[-1].startswith("6 more views")
    nothing = guide([find_view(np.full((90, 160, 3), 128, np.uint8))])
    assert nothing.useful == 0
    assert nothing.coverage == 0.0
    assert len(nothing.instructions()) == 4 + 9 + 1


def test_the_board_is_found_with_its_pose() -> None:
    seen = board_pose(board_view_of((20, -15, 400, 0.0, 0.0)))
    assert math.degrees(seen.tilt_right_rad) == pytest.approx(20, abs=4)
    assert math.degrees(seen.tilt_top_rad) == pytest.approx(-15, abs=4)
    found, true = find_view(picture_of(GOOD[1])), board_view_of(GOOD[1])
    places = {corner.number: (corner.x_px, corner.y_px) for corner in true.corners}
    off = found.points_px() - np.array([places[corner.number] for corner in found.corners])
    assert len(found.corners) >= 28
    assert np.abs(off).max() < 0.2
    assert np.sqrt((off**2).mean()) < 0.1


def test_the_field_of_view_of_camera_module_2_matches_its_data_sheet() -> None:
    lens = known_lens(PiCamera.MODULE_2, 3280, 2464)
    assert math.degrees(lens.width_rad) == pytest.approx(62.2)
    # This agrees with 3.04 mm and 1.12 micrometres, also from the data sheet.
    assert lens.focal_px[0] == pytest.approx(3.04 / 0.00112, rel=0.005)
    assert math.degrees(2 * math.atan(2464 / 2 / lens.focal_px[1])) == pytest.approx(48.8, abs=0.4)


def _grid(left: float, top: float, right: float, low: float) -> Points:
    return np.stack(np.meshgrid(np.linspace(left, right, 12), np.linspace(top, low, 9)), -1).reshape(-1, 2)


def _moved(view: LensView, by_px: Points) -> LensView:
    corners = zip(view.corners, by_px.tolist(), strict=True)
    return replace(
        view, corners=tuple(SeenCorner(corner.number, corner.x_px + x, corner.y_px + y) for corner, (x, y) in corners)
    )
