"""Test of following a hand with a learned set of signs."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import vision.reader.reader
from calibration.tiles.learning import learn
from calibration.tiles.tile_set import custom_reader, measure_look, tile_set_of
from lab.commands import simulate
from lab.evaluate.session_report import Figures, judge_recordings
from lab.matches.room import LOOKS
from lab.matches.simulation import simulation_settings
from lab.render.looks import FELT
from lab.render.paint import render
from tallybone.choices import Difficulty
from tallybone.recording.own_tiles import recorded_set
from tests.vision.sign_set import SHAPES, examine, named_doubles, true_tiles
from tests.vision.whole_set import draw_whole_set
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader, load_reader

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", name="recorded")
def learned_set_of_signs() -> RecordedSet:
    rng = np.random.default_rng(12)
    rendered = render(draw_whole_set(SHAPES, 6, rng), rng)
    shown = examine(rendered, load_reader())
    learned = learn(shown, named_doubles(true_tiles(shown.seen[0], rendered)))
    recorded = recorded_set(tile_set_of(learned, measure_look(learned, None)), load_reader(6))
    assert recorded is not None
    return recorded


@pytest.fixture(scope="module", name="hand")
def recorded_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into, complaints = tmp_path_factory.mktemp("signs") / "hand.mcap", StringIO()
    settings = simulation_settings(
        "bones", players=2, seed=500, options="set=6 hand=4", hands=1, look="classic-felt", difficulty=Difficulty.NORMAL
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LOOKS, "classic-felt", (SHAPES, FELT))
        assert simulate(into, settings, out=StringIO(), err=complaints) == 0, complaints.getvalue()
    return into


def figures_of(hand: Path, reader: Reader) -> Figures:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vision.reader.reader, "load_reader", lambda _: reader)
        return judge_recordings([hand], jobs=1, err=Console(file=StringIO())).total


def test_all_plays_are_right_with_the_learned_set_only(hand: Path, recorded: RecordedSet) -> None:
    before = figures_of(hand, load_reader(6))
    after = figures_of(hand, custom_reader(load_reader(6), recorded))
    assert before.tiles_right <= 0.75 * before.plays  # The rules tell some of the tiles.
    assert (after.wholly_right, after.totals_right, after.spare, after.unflagged) == (after.plays, 1, 0, 0)
