from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from calibration import RefusedError
from calibration.tiles import learning, tile_set
from lab.render.looks import CLASSIC
from lab.render.paint import RenderedPicture, render
from tallybone.store.calibration_file import Calibration, format_calibration, parse_calibration
from tests.vision.sign_set import VIEWS, examine, true_tiles
from tests.vision.whole_set import draw_whole_set
from vision.reader.custom_set import Restraint, Views, look
from vision.reader.reader import Reader, load_reader

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader() -> Reader:
    """Return a reader biased towards 3, like one untrained for the tiles."""
    shipped = load_reader(6)
    pips = shipped.pips
    toward_3 = (pips.biases[-1] + 10 * np.eye(19)[3]).astype(np.float32)
    return replace(shipped, pips=replace(pips, biases=(*pips.biases[:-1], toward_3)))


@pytest.fixture(scope="module")
def shown() -> RenderedPicture:
    """Return a picture of a double-six set without its 0-3."""
    rng = np.random.default_rng(5)
    return render(draw_whole_set(CLASSIC, 6, rng, left_out=(3,)), rng)


@pytest.fixture(scope="module")
def learned(reader: Reader, shown: RenderedPicture) -> learning.LearningResult:
    return learning.learn(examine(shown, reader))


@pytest.fixture(scope="module")
def kept(learned: learning.LearningResult) -> tile_set.LearnedSet:
    return tile_set.tile_set_of(learned, tile_set.measure_look(learned, None))


def logs_of(pips: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the log chances of a reader with a confidence of 0.97."""
    chances = np.full((*pips.shape, 7), 0.005)
    np.put_along_axis(chances, pips[..., None], 0.97, axis=2)
    return np.log(chances * rng.uniform(0.8, 1.2, chances.shape))


def test_a_complete_set_corrects_misread_halves() -> None:
    costs = np.array([[1.0, 2.0, 9.0], [1.0, 5.0, 9.0], [1.0, 2.0, 3.0]])
    assert learning.cheapest_columns(costs).tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="at most as many rows"):
        learning.cheapest_columns(costs.T[:, :2])
    rng = np.random.default_rng(3)
    true = learning.all_pairs(6)[rng.permutation(28)]
    seen = true.copy()
    # Three tiles are misread as others that are on the table too.
    for at in (2, 11, 20):
        seen[at, 0] = (seen[at, 0] + 1) % 7
    logs = logs_of(seen, rng)
    # Misread halves are less certain, with the true number second.
    for at in (2, 11, 20):
        logs[at, 0, seen[at, 0]], logs[at, 0, true[at, 0]] = np.log(0.6), np.log(0.3)
    assert (np.sort(logs.argmax(axis=2), axis=1) != np.sort(true, axis=1)).any(axis=1).sum() == 3
    assert (learning.label_tiles(logs) == true).all()


def test_labels_and_duplicates_are_kept() -> None:
    rng = np.random.default_rng(3)
    pips = learning.all_pairs(6)[[*range(10), 4]]
    found = learning.label_tiles(2 * logs_of(pips, rng))
    assert (found == pips).all()
    assert learning.count_tiles(found, 6).twice == ((0, 4),)
    assert len(learning.count_tiles(found, 6).missing) == 18
    pips = learning.all_pairs(6)
    found = learning.label_tiles(logs_of(pips, np.random.default_rng(3)), {0: (6, 6)})
    assert found[0].tolist() == [6, 6]
    assert (np.sort(found[1:27], axis=1) == pips[1:27]).all()
    pips = learning.all_pairs(6)[:27]  # 6-6 is missing
    logs = logs_of(pips, np.random.default_rng(3))
    logs[26, 0, :] = np.log([0.01, 0.01, 0.01, 0.01, 0.01, 0.5, 0.45])  # 5-6, or 6-6
    ahead = learning.margins(logs, learning.label_tiles(logs), [0, 26])
    assert ahead[1] < 0.5 < 4 < ahead[0]


def test_a_rendered_set_is_labelled_correctly_and_held_out_tiles_read_five_times_better(
    learned: learning.LearningResult, shown: RenderedPicture
) -> None:
    assert (learned.pips == true_tiles(learned.seen[0], shown)).all()
    assert learning.count_tiles(learned.pips, 6) == learning.TileCount(missing=((0, 3),), twice=())
    assert learned.doubtful == ()
    shipped, own = learned.misread
    assert shipped > 0.02
    assert own < shipped / 5
    assert learned.own_set is not None


def test_a_set_without_improvement_is_refused(learned: learning.LearningResult, reader: Reader) -> None:
    views = look(learned.sheet, reader.halves, reader.pips, 6, np.random.default_rng(1), views=3)
    knows = np.log(np.eye(7)[learned.pips] + 1e-9)[None].repeat(3, axis=0)
    own, (shipped, learned_share) = learning.custom_set_if_better(
        Views(views.seen, knows), learned.pips, Restraint(0.001, 0.0)
    )
    assert (own, shipped) == (None, 0.0)
    assert learned_share >= 0


def test_the_appearance_is_measured(kept: tile_set.LearnedSet) -> None:
    assert kept.look.pips is tile_set.PipColors.DARK
    assert kept.look.bar is tile_set.BarSeen.LINE
    assert kept.look.length_to_width == pytest.approx(CLASSIC.length_mm / CLASSIC.width_mm, abs=0.06)
    assert min(kept.look.face_rgb) > 150
    assert all(rgb is not None and max(rgb) < 120 for rgb in kept.look.pips_rgb)


def test_the_learned_set_round_trips_through_the_file(
    kept: tile_set.LearnedSet, learned: learning.LearningResult, reader: Reader
) -> None:
    again = parse_calibration(format_calibration(Calibration(set=kept))).set
    assert again == kept
    own = tile_set.custom_set_of(kept)
    assert own is not None
    assert learned.own_set is not None
    assert own.weights == pytest.approx(learned.own_set.weights, abs=1e-3 * np.abs(learned.own_set.weights).max())
    assert tile_set.custom_reader(reader, kept).own_set is not None


def test_another_reader_version_relearns_unless_too_much_is_doubtful(
    kept: tile_set.LearnedSet, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tile_set, "look", partial(look, views=VIEWS))
    older = replace(kept, reader="another", weights="")
    with pytest.raises(RefusedError, match="another version of the reader"):
        tile_set.custom_set_of(older)
    again = tile_set.refitted(older, reader)
    assert again.reader == kept.reader
    assert tile_set.custom_set_of(again) is not None
    doubted = replace(kept, reader="another", doubtful=6)
    assert doubted.is_too_doubtful
    assert not replace(doubted, doubtful=5).is_too_doubtful
    assert tile_set.custom_set_of(tile_set.refitted(doubted, reader)) is None
    assert tile_set.custom_reader(replace(reader, max_pips=9), kept).own_set is None
    assert tile_set.custom_reader(replace(reader, max_pips=None), kept).max_pips == 6


@pytest.mark.parametrize("field", ["weights", "sheet"])
def test_damage_is_reported(kept: tile_set.LearnedSet, reader: Reader, field: str) -> None:
    damaged = {"weights": replace(kept, weights="AAAA"), "sheet": replace(kept, sheet="AAAA", reader="another")}[field]
    with pytest.raises(RefusedError, match="damaged"):
        tile_set.custom_reader(reader, tile_set.refitted(damaged, reader))


def test_too_few_tiles_are_refused() -> None:
    rng = np.random.default_rng(5)
    few = render(draw_whole_set(CLASSIC, 6, rng, left_out=tuple(range(22))), rng)
    with pytest.raises(RefusedError, match="6 tiles are visible face up, but at least 10"):
        learning.learn_set([few.image], load_reader(6))


def test_tiles_are_drawn_with_their_labels(learned: learning.LearningResult) -> None:
    plain, doubted = learning.draw_tiles(learned), learning.draw_tiles(replace(learned, doubtful=(0,)))
    assert plain.shape == doubted.shape
    different = np.argwhere((plain != doubted).any(axis=2))
    assert len(different) > 0
    assert different[:, 0].max() < 26
    assert different[:, 1].max() < 200
