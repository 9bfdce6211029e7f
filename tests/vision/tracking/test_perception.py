"""The table over time: what is placed, moved and removed is said once, and nothing else is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import pytest

from synthetic.render.looks import CLASSIC, COLORED, FELT, WALNUT
from synthetic.render.scene import Clutter, ClutterKind, PlacedTile
from tests.vision.tables import CAMERA, Looks, is_same, is_same_place, lay, missing, reader, table_with
from vision.arrays import Image
from vision.networks.detector import Focus
from vision.reader.candidates import Filter
from vision.reader.reader import Reader
from vision.reading import Face, Reading, SeenTile
from vision.tracking.perception import Perception, Start
from vision.tracking.table_view import ChangeKind, TableView

PLACED, MOVED, REMOVED = ChangeKind.PLACED, ChangeKind.MOVED, ChangeKind.REMOVED
WALNUT_TABLE = Looks(COLORED, WALNUT)
# Seen wider than it is shown, so that the camera can be bumped; a bump of 10 px both ways is 0.6 sides here.
WIDE = Looks(camera=replace(CAMERA, width_px=700, height_px=540, px_per_mm=1.0))

THREE_FIVE = lay(3, 5, -70, -40, 20)
SIX_ONE = lay(6, 1, 60, 40, 100)
DOUBLE_TWO = lay(2, 2, 80, -60, 0)
PRINTED = (
    Clutter(ClutterKind.PRINTED_TILE, (-150.0, 80.0), 0.0, 48.0, 24.0, 0.0, (205.0, 226.0, 232.0)),
    Clutter(ClutterKind.PRINTED_TILE, (-150.0, -20.0), 1.2, 48.0, 24.0, 0.0, (205.0, 226.0, 232.0)),
    Clutter(ClutterKind.PRINTED_TILE, (150.0, 90.0), 0.4, 48.0, 24.0, 0.0, (205.0, 226.0, 232.0)),
)


class Table:
    """A table that is watched: every picture of it has noise of its own."""

    def __init__(self, looks: Looks | None = None, clutter: tuple[Clutter, ...] = ()) -> None:
        self.looks, self.clutter = looks or Looks(), clutter
        self.frame = 0
        self.eye = Perception(reader())
        self.view = self.show()

    def picture(self, *tiles: PlacedTile) -> Image:
        self.frame += 1
        return table_with(tiles, self.looks, frame=self.frame, clutter=self.clutter).image

    def show(self, *tiles: PlacedTile) -> TableView:
        self.view = self.eye.feed(self.picture(*tiles))
        return self.view

    def truth(self, *tiles: PlacedTile) -> tuple[SeenTile, ...]:
        return table_with(tiles, self.looks).truth.tiles


def kinds(view: TableView) -> list[ChangeKind]:
    return sorted(change.kind for change in view.changes)


def test_the_first_picture_is_the_table_whatever_lies_on_it() -> None:
    image = table_with([THREE_FIVE, SIX_ONE]).image
    view = Perception(reader()).feed(image)
    assert view == TableView((), (), (), size_px=(image.shape[1], image.shape[0]))


@pytest.mark.parametrize("looks", [Looks(), pytest.param(WALNUT_TABLE, marks=pytest.mark.slow)], ids=["felt", "walnut"])
def test_each_tile_is_said_once_when_it_is_placed(looks: Looks) -> None:
    table = Table(looks)
    laid: tuple[PlacedTile, ...] = ()
    for tile in (THREE_FIVE, SIX_ONE, DOUBLE_TWO):
        laid = (*laid, tile)
        view = table.show(*laid)
        assert kinds(view) == [PLACED]
        assert is_same(table.truth(tile)[0], view.changes[0].tile)
        assert view.changes[0].before is None
        assert missing(table.truth(*laid), view.tiles) == []
        assert len(view.tiles) == len(laid)


@pytest.mark.slow
def test_noise_alone_says_nothing() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE, DOUBLE_TWO)
    for _ in range(2):
        view = table.show(THREE_FIVE, SIX_ONE, DOUBLE_TWO)
        assert view.changes == ()
        assert missing(table.truth(THREE_FIVE, SIX_ONE, DOUBLE_TWO), view.tiles) == []


def test_a_tile_taken_away_is_said_where_it_lay() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    view = table.show(THREE_FIVE)
    assert kinds(view) == [REMOVED]
    assert is_same(table.truth(SIX_ONE)[0], view.changes[0].tile)
    assert [tile for tile in view.tiles if is_same(table.truth(SIX_ONE)[0], tile)] == []
    assert len(view.tiles) == 1
    assert table.show(THREE_FIVE).changes == ()


@pytest.mark.slow
def test_a_tile_that_is_pushed_is_said_to_have_moved() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    pushed = lay(6, 1, 85, 55, 80)
    view = table.show(THREE_FIVE, pushed)
    assert kinds(view) == [MOVED]
    (change,) = view.changes
    assert change.before is not None
    assert is_same(table.truth(SIX_ONE)[0], change.before)
    assert is_same(table.truth(pushed)[0], change.tile)
    assert len(view.tiles) == 2


@pytest.mark.slow
def test_a_tile_swapped_for_another_is_one_gone_and_one_placed() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    other = lay(4, 0, 60, -60, 30)
    view = table.show(THREE_FIVE, other)
    assert kinds(view) == [PLACED, REMOVED]


@pytest.mark.parametrize("gain", [0.8, pytest.param(1.2, marks=pytest.mark.slow)])
def test_exposure_says_nothing(gain: float) -> None:
    table = Table()
    before = table.show(THREE_FIVE, SIX_ONE)
    changed = cv2.convertScaleAbs(table.picture(THREE_FIVE, SIX_ONE), alpha=gain)
    view = table.eye.feed(np.asarray(changed, np.uint8))
    assert view.changes == ()
    assert missing(before.tiles, view.tiles) == []


def cropped(image: Image, shift_x_px: int = 0, shift_y_px: int = 0) -> Image:
    """What a camera sees of a wide picture; with a shift, after it was bumped."""
    top, left = 30 - shift_y_px, 30 - shift_x_px
    return np.ascontiguousarray(image[top : top + 480, left : left + 640])


@pytest.mark.parametrize("shift", [(10, -10), pytest.param((-10, 4), marks=pytest.mark.slow)])
def test_a_bump_of_the_camera_says_nothing_and_tiles_are_followed(shift: tuple[int, int]) -> None:
    table = Table(WIDE)
    table.eye = Perception(reader())
    table.eye.feed(cropped(table.picture()))
    first = table.eye.feed(cropped(table.picture(THREE_FIVE, SIX_ONE)))
    assert kinds(first) == [PLACED, PLACED]
    bumped = table.eye.feed(cropped(table.picture(THREE_FIVE, SIX_ONE), *shift))
    assert bumped.changes == ()
    assert bumped.aim.motion[:, 2] == pytest.approx(shift, abs=1.0)
    for old in first.tiles:  # places stay those of the first picture
        x, y = old.center_px
        assert min(np.hypot(tile.center_px[0] - x, tile.center_px[1] - y) for tile in bumped.tiles) < 1.5
    after = table.eye.feed(cropped(table.picture(THREE_FIVE, SIX_ONE, DOUBLE_TWO), *shift))
    assert kinds(after) == [PLACED]
    assert sorted(half.pips for half in after.changes[0].tile.halves) == [2, 2]


def test_tiles_that_went_out_of_the_picture_are_said_to_be_out_of_sight_until_it_is_put_back() -> None:
    table = Table(WIDE)
    table.eye = Perception(reader())
    near_border = lay(3, 5, -290, 0, 90)
    table.eye.feed(cropped(table.picture()))
    table.eye.feed(cropped(table.picture(near_border, SIX_ONE)))
    away = table.eye.feed(cropped(table.picture(near_border, SIX_ONE), -30, 0))
    assert away.changes == ()
    assert len(away.tiles) == 2
    assert away.lost is not None
    assert "put it back" in away.lost
    assert not away.is_settled
    back = table.eye.feed(cropped(table.picture(near_border, SIX_ONE), 1, 1))
    assert back.lost is None
    assert back.changes == ()


def test_a_sitting_that_goes_on_knows_where_the_camera_pointed() -> None:
    table = Table(WIDE)
    table.eye = Perception(reader())
    empty = cropped(table.picture())
    table.eye.feed(empty)
    last = cropped(table.picture(THREE_FIVE), 10, -10)
    before = table.eye.feed(last)
    again = Perception.resumed(reader(), empty=empty, last=last, tiles=before.tiles, aim=before.aim)
    view = again.feed(cropped(table.picture(THREE_FIVE, SIX_ONE), 10, -10))
    assert kinds(view) == [PLACED]
    assert view.aim.farthest_px(before.aim, (640, 480)) < 1.0
    (tile,) = before.tiles
    assert any(is_same(tile, other) for other in view.tiles)


def test_printed_dominoes_are_table() -> None:
    table = Table(clutter=PRINTED)
    # They look enough like tiles: without knowing the table, the reader takes some for tiles.
    alone = reader().read(table.picture())
    view = table.show(THREE_FIVE)
    assert kinds(view) == [PLACED]
    assert is_same(table.truth(THREE_FIVE)[0], view.changes[0].tile)
    again = table.show(THREE_FIVE, SIX_ONE)
    assert kinds(again) == [PLACED]
    assert not any(is_same_place(bait, tile) for bait in alone.tiles for tile in again.tiles)


@pytest.mark.slow
def test_joins_name_tiles_of_the_view() -> None:
    table = Table()
    along = np.array([np.cos(np.radians(25)), np.sin(np.radians(25))]) * 48.5
    places = [(float(along[0] * i), float(along[1] * i)) for i in (-1, 0, 1)]
    chain = tuple(lay(*pips, *place, 25) for pips, place in zip([(3, 5), (5, 2), (2, 6)], places, strict=True))
    table.show(DOUBLE_TWO, chain[0])
    table.show(DOUBLE_TWO, *chain[:2])
    view = table.show(DOUBLE_TWO, *chain)
    named = {
        frozenset(tuple(sorted(half.pips for half in view.tiles[index].halves)) for index in (join.a, join.b))
        for join in view.joins
    }
    assert named == {frozenset([(3, 5), (2, 5)]), frozenset([(2, 5), (2, 6)])}


@pytest.mark.slow
def test_two_eyes_that_see_the_same_say_the_same() -> None:
    first, second = Table(), Table()
    for laid in ((THREE_FIVE,), (THREE_FIVE, SIX_ONE)):
        assert first.show(*laid) == second.show(*laid)


def test_a_picture_of_another_size_is_refused_and_the_table_is_still_followed() -> None:
    table = Table()
    table.show(THREE_FIVE)
    with pytest.raises(ValueError, match="same size"):
        table.eye.feed(np.zeros((240, 240, 3), np.uint8))
    view = table.show(THREE_FIVE, SIX_ONE)
    assert Counter(kinds(view)) == {PLACED: 1}


def test_the_looks_of_the_table_do_not_change_between_pictures() -> None:
    # What the tests above stand on: frames differ by noise alone.
    first, second = (table_with([THREE_FIVE], Looks(CLASSIC, FELT), frame=frame).image for frame in (1, 2))
    difference = np.abs(first.astype(int) - second.astype(int))
    assert 0 < difference.mean() < 4


@pytest.mark.slow
def test_a_tile_turned_round_where_it_lies_is_said_to_be_turned() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    turned = lay(5, 3, -70, -40, 20)
    (change,) = table.show(turned, SIX_ONE).changes
    assert change.kind is ChangeKind.TURNED
    assert change.before is not None
    assert is_same(table.truth(THREE_FIVE)[0], change.before)
    assert is_same(table.truth(turned)[0], change.tile)


@pytest.mark.slow
def test_a_tile_laid_on_another_is_stacked_and_below_it_the_other_still_lies() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    upper = replace(lay(6, 4, 60, 40, 100), height_mm=8.0)
    (change,) = table.show(THREE_FIVE, SIX_ONE, upper).changes
    assert change.kind is ChangeKind.STACKED
    assert change.before is not None
    assert sorted(half.pips for half in change.tile.halves) == [4, 6]
    assert is_same(table.truth(SIX_ONE)[0], change.before)
    (change,) = table.show(THREE_FIVE, SIX_ONE).changes
    assert change.kind is ChangeKind.REMOVED
    assert sorted(half.pips for half in change.tile.halves) == [4, 6]
    assert missing(table.truth(THREE_FIVE, SIX_ONE), table.view.tiles) == []


def test_tiles_that_lie_face_down_are_counted_by_themselves() -> None:
    table = Table()
    view = table.show(THREE_FIVE, PlacedTile(None, (60, 40), 0.3), PlacedTile(None, (0, 90), 0.0))
    assert len(view.tiles) == 3
    assert view.face_down_count == 2


def test_another_look_can_put_a_reading_right() -> None:
    table = Table()
    table.show(THREE_FIVE)
    (track,) = table.eye._tracks
    first, second = track.tile.halves  # type: ignore[misc]  # it lies face up
    wrong = tuple(0.5 if pips == 4 else 0.4 if pips == second.pips else 0.02 for pips in range(len(second.chances)))
    misread = replace(track.tile, halves=(first, replace(second, pips=4, confidence=0.5, chances=wrong)))
    table.eye._tracks = (replace(track, tile=misread),)
    assert table.eye.is_unsure
    (change,) = table.eye.look_again(table.picture(THREE_FIVE)).changes
    assert change.kind is ChangeKind.REREAD
    assert change.before == misread
    assert is_same(table.truth(THREE_FIVE)[0], change.tile)
    assert table.eye.look_again(table.picture(THREE_FIVE)).changes == ()


@dataclass(frozen=True, slots=True, eq=False)
class Blinking(Reader):
    """Sees no tile in its first reads; *blind* has an item for each of those."""

    blind: list[bool] = field(default_factory=list)

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        reading = Reader.read(self, image, plausible, focus)
        if not self.blind:
            return reading
        self.blind.pop()
        return Reading(reading.width_px, reading.height_px, (), ())


def blinking(reads: int) -> Perception:
    whole = reader()
    return Perception(
        Blinking(
            whole.detector,
            whole.refiner,
            whole.halves,
            whole.pips,
            whole.hard_cases,
            whole.max_pips,
            blind=[True] * reads,
        )
    )


@pytest.mark.slow
def test_a_tile_that_was_overlooked_is_placed_when_it_is_looked_for_again() -> None:
    table = Table()
    table.eye = blinking(1)
    table.show()
    table.show(THREE_FIVE)
    assert table.eye.is_unconfirmed
    assert kinds(table.show(THREE_FIVE)) == [PLACED]
    assert not table.eye.is_unconfirmed


@pytest.mark.slow
def test_what_is_never_a_tile_is_looked_for_only_so_often() -> None:
    table = Table()
    table.eye = blinking(20)
    table.show()
    wants_more = []
    for _ in range(8):
        table.show(THREE_FIVE)
        wants_more.append(table.eye.is_unconfirmed)
    assert wants_more == [True] * 4 + [False] * 4


@dataclass(frozen=True, slots=True, eq=False)
class Doubting(Reader):
    """Cannot read what it sees in its first reads; *doubts* has an item for each of those."""

    doubts: list[bool] = field(default_factory=list)

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        reading = Reader.read(self, image, plausible, focus)
        if not self.doubts:
            return reading
        self.doubts.pop()
        unsure = tuple(replace(tile, face=Face.UNSURE, halves=()) for tile in reading.tiles)
        return Reading(reading.width_px, reading.height_px, (), ()).with_unsure(unsure)


def doubting(reads: int, start: Start = Start.EMPTY) -> Perception:
    whole = reader()
    eye = Doubting(
        whole.detector, whole.refiner, whole.halves, whole.pips, whole.hard_cases, whole.max_pips, doubts=[True] * reads
    )
    return Perception(eye, start)


def test_what_cannot_be_read_is_no_tile_and_said_once_it_lies_still() -> None:
    table = Table()
    table.eye = doubting(3)
    table.show()
    first = table.show(THREE_FIVE)
    assert (first.tiles, first.changes, first.unsure) == ((), (), ())
    assert table.eye.is_unconfirmed
    second = table.show(THREE_FIVE)
    assert (second.tiles, second.changes, second.face_down_count) == ((), (), 0)
    (asked,) = second.unsure
    assert is_same_place(replace(table.truth(THREE_FIVE)[0], face=Face.UNSURE, halves=()), asked)
    assert table.show(THREE_FIVE).unsure == (asked,)


def test_what_is_read_in_the_end_is_placed_and_asked_about_no_more() -> None:
    table = Table()
    table.eye = doubting(2)
    table.show()
    table.show(THREE_FIVE)
    assert len(table.show(THREE_FIVE).unsure) == 1
    views = [table.show(THREE_FIVE), table.show(THREE_FIVE)]
    assert [kind for view in views for kind in kinds(view)] == [PLACED]
    assert views[-1].unsure == ()
    assert len(views[-1].tiles) == 1


def test_what_cannot_be_read_and_is_taken_away_is_asked_about_no_more() -> None:
    table = Table()
    table.eye = doubting(9)
    table.show()
    table.show(THREE_FIVE)
    assert len(table.show(THREE_FIVE).unsure) == 1
    view = table.show()
    assert (view.unsure, view.changes) == ((), ())


def test_in_the_middle_of_a_game_what_cannot_be_read_has_to_lie_still_too() -> None:
    table = Table()
    table.eye = doubting(2, Start.IN_PLAY)
    view = table.show(THREE_FIVE)
    assert (view.tiles, view.changes, view.unsure) == ((), (), ())
    assert table.eye.is_unconfirmed
    assert len(table.show(THREE_FIVE).unsure) == 1


@dataclass(frozen=True, slots=True, eq=False)
class Noting(Reader):
    """Notes how many tiles each read has seen."""

    seen: list[int] = field(default_factory=list)

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        reading = Reader.read(self, image, plausible, focus)
        self.seen.append(len(reading.tiles))
        return reading


LINE = (lay(1, 6, -100, 60), lay(6, 3, -49.5, 60), lay(2, 5, -60, -80), lay(5, 4, -9.5, -80))


@pytest.mark.slow
def test_where_the_set_is_known_only_what_changed_is_read_again_and_joins_elsewhere_stay() -> None:
    whole = reader()
    eye = Noting(whole.detector, whole.refiner, whole.halves, whole.pips, whole.hard_cases, 6)
    table = Table(Looks(camera=replace(CAMERA, width_px=900, height_px=640)))
    table.eye = Perception(eye)
    table.show()
    for count in range(1, len(LINE) + 1):
        view = table.show(*LINE[:count])
        assert kinds(view) == [PLACED]
    assert len(view.tiles) == 4
    assert eye.seen[-1] == 2  # the other line is too far away to be looked at
    pips = [sorted((view.tiles[join.a].halves[join.a_half or 0].pips,)) for join in view.joins]
    assert sorted(pips) == [[5], [6]]
