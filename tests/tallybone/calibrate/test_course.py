"""Tests of the steps of a guided calibration: nothing is skipped, stored or lost without a decision."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from calibration import RefusedError
from calibration.table.zones import ZoneSource, zones_on
from tallybone.calibrate.guide.camera_steps import TableStep
from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
from tallybone.calibrate.guide.steps import AGAIN, GO_ON, SKIP, EditableZone, Stage, StepName, points_of
from tallybone.calibrate.lens_and_table import TableGiven
from tallybone.calibrate.look import AskedScene
from tallybone.store.calibration_file import Calibration, load_calibration
from tests.tallybone.calibrate.bare_table import LENS, MARKS, GreyLook, table_below
from vision.reading import Face, SeenTile

MEASURED = Calibration(LENS, table_below())


def course_of(into: Path, calibration: Calibration = MEASURED, *, asks_always: bool = True) -> GuideCourse:
    settings = GuideSettings("simulated", into, asks_always=asks_always)
    return GuideCourse(settings, GreyLook(), calibration, lambda _: (), lambda: 0)


def measured_zones(course: GuideCourse) -> GuideCourse:
    """Go to the zones, and measure them."""
    course.go_to(StepName.ZONES)
    course.turn()
    course.press(GO_ON)
    course.turn()
    return course


def presses_of(course: GuideCourse) -> list[str]:
    return [choice.press for choice in course.view.choices]


def test_earlier_results_raise_a_question(tmp_path: Path) -> None:
    course = course_of(tmp_path / "c.json")
    assert (course.view.stage, course.view.step, presses_of(course)) == (Stage.BEFORE, StepName.LENS, [GO_ON, AGAIN])
    course.press(GO_ON)
    assert (course.view.step, course.view.steps[0].outcome) == (StepName.TABLE, "unchanged")
    course.press(AGAIN)
    assert (course.view.stage, course.view.step) == (Stage.LOOKS, StepName.TABLE)


def test_a_result_waits_until_it_is_accepted_if_configured(tmp_path: Path) -> None:
    course = course_of(tmp_path / "c.json")
    course.go_to(StepName.ZONES)
    course.turn()
    course.press(GO_ON)
    assert course.view.stage is Stage.MEASURES
    course.turn()
    assert (course.view.stage, presses_of(course)) == (Stage.RESULT, [GO_ON, AGAIN, SKIP])
    before = course.view
    for press in ("9", "l", ""):
        course.press(press)
        assert course.view == before
    assert "4 seats, from the mat" in course.view.todo[0]
    assert not (tmp_path / "c.json").exists()
    course.press(AGAIN)
    assert (course.view.stage, course.view.seen[0][:7]) == (Stage.LOOKS, "4 seats")
    course.press("2")
    assert course.view.seen[0].startswith("2 seats")
    course.press("4")
    course.turn()
    course.press(GO_ON)
    course.turn()
    course.press(GO_ON)
    assert load_calibration(tmp_path / "c.json").zones == zones_on(MARKS, 4)
    unasked = measured_zones(course_of(tmp_path / "d.json", asks_always=False))
    assert unasked.view.step is StepName.LIGHT
    assert load_calibration(tmp_path / "d.json").zones is not None


def test_a_refusal_is_shown_without_an_automatic_retry(tmp_path: Path) -> None:
    course = course_of(tmp_path / "c.json", Calibration())
    course.turn()
    course.press(GO_ON)
    course.turn()
    assert course.view.stage is Stage.LOOKS
    assert "too few views" in course.view.refused
    course.turn()
    assert "too few views" in course.view.refused
    assert AGAIN in presses_of(course)


def test_tiles_of_the_usual_size_measure_a_table_without_blocks() -> None:
    table, tiles = table_below(), list[SeenTile]()
    for x, y in product((-240, 0, 240), (-110, 110)):
        corners = np.array([(x - 24, y + 12), (x + 24, y + 12), (x + 24, y - 12), (x - 24, y - 12)], float)
        a, b, c, d = points_of(table.to_picture(corners, LENS, height_mm=table.thickness_mm))
        tiles.append(SeenTile(Face.DOWN, (a, b, c, d), ()))
    step = TableStep(Calibration(LENS), TableGiven(), lambda _: tiles)
    step.see(np.full((720, 1280, 3), 90, np.uint8))
    result = step.result()
    assert result.calibration.table is not None
    assert result.calibration.table.height_mm == pytest.approx(table.height_mm, rel=0.01)
    assert any("assumed to be 48 x 24 mm" in warning for warning in result.warnings)


def test_steps_can_be_done_in_any_order(tmp_path: Path) -> None:
    look = GreyLook()
    course = GuideCourse(GuideSettings("simulated", tmp_path / "c.json"), look, MEASURED, lambda _: (), lambda: 0)
    course.go_to(StepName.ZONES)
    course.go_to(StepName.LIGHT)
    assert (course.view.step, course.view.stage) == (StepName.LIGHT, Stage.LOOKS)
    assert look.scenes == [AskedScene.TABLE, AskedScene.TILES]
    course.go_to(StepName.LENS)
    assert course.view.step is StepName.LENS
    with pytest.raises(RefusedError, match="this step needs a microphone"):
        course.go_to(StepName.KNOCK)
    assert course.view.step is StepName.LENS


def test_the_guide_ends_after_the_last_step(tmp_path: Path) -> None:
    course = course_of(tmp_path / "c.json")
    course.go_to(StepName.SET)
    course.press(SKIP)
    assert course.is_over
    assert (course.view.step, course.view.choices) == (None, ())
    assert course.view.steps[-1].is_skipped
    course.turn()
    course.go_to(StepName.ZONES)
    assert not course.is_over


def test_a_failed_write_is_reported_without_losing_results(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("a file where a folder should be")
    course = measured_zones(course_of(tmp_path / "in the way" / "c.json", asks_always=False))
    assert course.view.step is StepName.ZONES
    assert "cannot save: Not a directory" in course.view.refused
    assert course.calibration.zones is None


def test_drawn_zones_are_stored(tmp_path: Path) -> None:
    course = course_of(tmp_path / "c.json")
    assert list(course.zones) == []
    with pytest.raises(RefusedError, match="the current step does not calibrate zones"):
        course.edit_zones(())
    course.go_to(StepName.ZONES)
    course.turn()
    course.edit_zones((EditableZone("boneyard", ((700.0, 200.0), (900.0, 200.0), (900.0, 500.0))),))
    course.press(GO_ON)
    course.turn()
    course.press(GO_ON)
    kept = load_calibration(tmp_path / "c.json").zones
    assert kept is not None
    assert kept.source is ZoneSource.GIVEN
    # 60 pixels right of the centre, at 1190 mm with a focal length of 1000 px.
    assert kept.boneyard is not None
    assert kept.boneyard[0] == pytest.approx((60.5 * 1.19, 159.5 * 1.19), abs=0.01)
    assert kept.seats == zones_on(MARKS, 4).seats
    course.go_to(StepName.ZONES)  # to edit them again
    assert "boneyard" in {zone.name for zone in course.zones}
    before = course.zones
    course.press("4")
    assert course.zones != before
