"""Tests of sets with signs instead of pips: the doubles are labelled by hand, and the rest is learned."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from calibration import RefusedError
from calibration.tiles import tile_set
from calibration.tiles.learning import LearningResult, SetPictures, are_signs, learn
from lab.render.looks import CLASSIC
from lab.render.paint import RenderedPicture, render
from tests.vision.sign_set import SHAPES, VIEWS, examine, named_doubles, true_tiles
from tests.vision.whole_set import draw_whole_set
from vision.reader.custom_set import look
from vision.reader.reader import Reader, load_reader

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader()


@pytest.fixture(scope="module")
def rendered() -> RenderedPicture:
    rng = np.random.default_rng(12)
    return render(draw_whole_set(SHAPES, 6, rng), rng)


@pytest.fixture(scope="module")
def shown(reader: Reader, rendered: RenderedPicture) -> SetPictures:
    return examine(rendered, reader)


@pytest.fixture(scope="module")
def pips(shown: SetPictures, rendered: RenderedPicture) -> np.ndarray:
    return true_tiles(shown.seen[0], rendered)


@pytest.fixture(scope="module")
def learned(shown: SetPictures, pips: np.ndarray) -> LearningResult:
    return learn(shown, named_doubles(pips))


def test_the_doubles_determine_all_other_tiles(learned: LearningResult, pips: np.ndarray) -> None:
    assert len(pips) == 28
    assert learned.max_pips == 6
    assert (np.sort(learned.pips, axis=1) == np.sort(pips, axis=1)).all()
    assert learned.doubtful == ()
    shipped, own = learned.misread
    assert shipped > 0.5, "the shipped reader is not trained for these signs"
    assert own < shipped / 10
    assert learned.own_set is not None
    assert learned.own_set.believed == 0, "the shipped reader only guesses signs"


def test_another_picture_is_read_with_the_learned_set(
    learned: LearningResult, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(13)
    rendered = render(draw_whole_set(SHAPES, 6, rng), rng)
    kept = tile_set.tile_set_of(learned, tile_set.measure_look(learned, None))
    read = tile_set.custom_reader(reader, kept).read(rendered.image)
    assert sorted(tuple(sorted(half.pips for half in tile.halves)) for tile in read.tiles) == [
        (low, high) for low in range(7) for high in range(low, 7)
    ]
    monkeypatch.setattr(tile_set, "look", partial(look, views=VIEWS))
    again = tile_set.refitted(replace(kept, reader="another", weights="", misread=(0.0, 1.0)), reader)
    assert again.weights
    assert again.misread[1] < again.misread[0] / 10


def test_unlabelled_signs_are_not_learned(shown: SetPictures, pips: np.ndarray) -> None:
    with_size = replace(shown, max_pips=6, is_given=True)
    boat = next(at for at, pair in named_doubles(pips).items() if pair == (3, 3))
    learned = learn(with_size, {boat: (3, 3)})
    assert learned.own_set is None
    assert len(learned.doubtful) == 27


def test_signs_are_detected_only_with_all_numbers_labelled(shown: SetPictures, pips: np.ndarray) -> None:
    doubles, views = named_doubles(pips), shown.views.up_to(6)
    assert are_signs(views, doubles)
    five = next(at for at, pair in doubles.items() if pair == (5, 5))
    without = {at: pair for at, pair in doubles.items() if at != five}
    assert not are_signs(views, without)
    not_yet = learn(shown, without)
    assert not_yet.own_set is None
    assert set(not_yet.doubtful) == set(range(28)) - set(without)
    assert [tuple(not_yet.pips[at]) for at in without] == list(without.values())
    next_to_known = next(at for at, pair in enumerate(pips.tolist()) if sorted(pair) == [2, 5])
    assert are_signs(views, {**without, next_to_known: (2, 5)})


def test_a_readable_set_has_no_signs(reader: Reader) -> None:
    rng = np.random.default_rng(5)
    rendered = render(draw_whole_set(CLASSIC, 6, rng), rng)
    shown = examine(rendered, reader)
    assert not are_signs(shown.views.up_to(6), named_doubles(true_tiles(shown.seen[0], rendered)))


def test_impossible_labels_are_refused(shown: SetPictures) -> None:
    with pytest.raises(RefusedError, match="there is no tile 29"):
        learn(shown, {28: (1, 1)})
    with_size = replace(shown, max_pips=6, is_given=True)
    with pytest.raises(RefusedError, match="this set has no 7: its highest number is 6"):
        learn(with_size, {0: (7, 1)})
