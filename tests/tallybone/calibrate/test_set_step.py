"""Tests of the guide step for the user's own tiles, with a simulated camera."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from calibration import RefusedError
from calibration.tiles import learning
from calibration.tiles.learning import all_pairs
from lab.matches.calibration import open_simulated_look
from lab.render.paint import render
from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
from tallybone.calibrate.guide.steps import GO_ON, SKIP, Stage, StepName
from tallybone.calibrate.look import CalibrationCamera, StillLook
from tallybone.store.calibration_file import Calibration, load_calibration
from tests.tallybone.calibrate.bare_table import GreyLook
from tests.vision.sign_set import SHAPES, VIEWS, examine, named_doubles, true_tiles
from tests.vision.whole_set import draw_whole_set
from vision.reader.custom_set import look
from vision.reader.reader import load_reader

pytestmark = pytest.mark.slow

PATIENCE_S = 900


@pytest.fixture(scope="module", autouse=True)
def few_views() -> Iterator[None]:
    """Learn from a quarter of the usual views of each tile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "look", partial(look, views=VIEWS))
        yield


def course_over(look: CalibrationCamera, into: Path) -> GuideCourse:
    course = GuideCourse(
        GuideSettings("simulated", into, asks_always=True), look, Calibration(), lambda _: (), lambda: 0
    )
    course.go_to(StepName.SET)
    course.turn()
    return course


def until_measured(course: GuideCourse) -> None:
    pause, end_s = threading.Event(), time.monotonic() + PATIENCE_S
    while course.view.stage is Stage.MEASURES:
        assert time.monotonic() < end_s, course.view
        course.turn()
        pause.wait(0.01)


@pytest.fixture(scope="module", name="into")
def a_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("set") / "c.json"


@pytest.fixture(scope="module", name="learned")
def learned_course(into: Path) -> Iterator[GuideCourse]:
    """Yield a course with a learned double-six set, with corner blocks around it."""
    with closing(course_over(open_simulated_look("simulated:seed=2"), into)) as course:
        course.press(GO_ON)
        taken = course.image
        until_measured(course)
        assert course.image is taken, "the drawing belongs to the picture used for learning"
        yield course


def test_a_set_is_learned_corrected_and_stored(learned: GuideCourse, into: Path) -> None:
    view = learned.view
    assert (view.stage, view.seen) == (Stage.RESULT, ())
    assert view.todo[0].startswith("Result: 28 tiles of a set to double-6; ")
    assert "misread halves" in view.todo[0]
    assert sorted(tuple(sorted(tile.pips)) for tile in learned.tiles) == [tuple(pair) for pair in all_pairs(6).tolist()]
    assert [shape.label for shape in learned.drawn] == [f"{tile.pips[0]}-{tile.pips[1]}" for tile in learned.tiles]
    with pytest.raises(RefusedError, match="there is no tile 29"):
        learned.correct_tile(29, (1, 2))
    with pytest.raises(RefusedError, match="this set has no 7: its highest number is 6"):
        learned.correct_tile(1, (7, 2))
    first = learned.tiles[0].pips
    # Both halves differ. A tile with one different half could be read as the then missing tile.
    other = next(tile.pips for tile in learned.tiles if not set(tile.pips) & set(first))
    learned.correct_tile(1, other)
    assert (learned.view.stage, learned.tiles) == (Stage.MEASURES, ())
    until_measured(learned)
    assert sorted(learned.tiles[0].pips) == sorted(other)
    assert any(text.startswith("Missing: ") for text in learned.view.seen)
    learned.press(GO_ON)
    assert learned.is_over
    kept = load_calibration(into).set
    assert kept is not None
    assert len(kept.tiles) == 28
    assert into.with_suffix("").joinpath("set.png").exists()


def test_a_set_of_signs_is_learned_with_labelled_doubles(tmp_path: Path) -> None:
    """Label the doubles one by one, as on the page. They determine all other tiles."""
    rng = np.random.default_rng(12)
    rendered = render(draw_whole_set(SHAPES, 6, rng), rng)
    with closing(course_over(StillLook(rendered.image), tmp_path / "c.json")) as course:
        course.turn()
        course.press(GO_ON)
        until_measured(course)
        shown = examine(rendered, load_reader())
        true = true_tiles(shown.seen[0], rendered)
        assert [sorted(tile.pips) for tile in course.tiles] != np.sort(true, axis=1).tolist()
        for at, pips in named_doubles(true).items():
            course.correct_tile(at + 1, pips)
            until_measured(course)
        assert [sorted(tile.pips) for tile in course.tiles] == np.sort(true, axis=1).tolist()
        assert not any(tile.is_doubtful for tile in course.tiles)
        assert "misread halves in worse light" in course.view.todo[0]


def test_the_step_can_be_skipped_during_learning(tmp_path: Path) -> None:
    with closing(course_over(open_simulated_look("simulated"), tmp_path / "c.json")) as course:
        course.press(GO_ON)
        course.turn()
        assert course.view.stage is Stage.MEASURES
        assert "Learning your tiles" in course.view.seen[0]
        course.press(SKIP)
        assert course.is_over
        assert [thread.name for thread in threading.enumerate() if thread.name == "tile set"] == []
    assert not (tmp_path / "c.json").exists()


def test_a_table_without_tiles_is_refused_with_instructions(tmp_path: Path) -> None:
    with closing(course_over(GreyLook(), tmp_path / "c.json")) as course:
        with pytest.raises(RefusedError, match="the current step does not calibrate tiles"):
            course.correct_tile(1, (1, 2))
        course.press(GO_ON)
        until_measured(course)
        assert course.view.stage is Stage.LOOKS
        assert course.view.refused == "0 tiles are visible face up, but at least 10 are needed: lay out the whole set"
