"""Tests of perception: placed, moved and removed tiles are reported once, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import pytest

from lab.render.looks import CLASSIC, COLORED, FELT, WALNUT
from lab.render.scene import Clutter, ClutterKind, PlacedTile
from tests.vision.tables import CAMERA, Looks, is_same, is_same_place, lay, missing, reader, table_with
from vision.arrays import Image
from vision.networks.detector import Focus
from vision.reader.candidates import Filter
from vision.reader.reader import Reader
from vision.reading import Face, Reading, SeenTile
from vision.tracking.perception import Perception, Start
from vision.tracking.table_view import ChangeKind, TableView

PLACED, REMOVED = ChangeKind.PLACED, ChangeKind.REMOVED
WALNUT_TABLE = Looks(COLORED, WALNUT)
# Rendered wider than it is cropped, to allow camera bumps. A bump of 10 px both ways is 0.6 sides.
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
    """A table under observation. Each image has its own noise."""

    def __init__(self, looks: Looks | None = None, clutter: tuple[Clutter, ...] = ()) -> None:
        self.looks, self.clutter = looks or Looks(), clutter
        self.frame = 0
        self.perception = Perception(reader())
        self.view = self.show()

    def picture(self, *tiles: PlacedTile) -> Image:
        self.frame += 1
        return table_with(tiles, self.looks, frame=self.frame, clutter=self.clutter).image

    def show(self, *tiles: PlacedTile) -> TableView:
        self.view = self.perception.feed(self.picture(*tiles))
        return self.view

    def truth(self, *tiles: PlacedTile) -> tuple[SeenTile, ...]:
        return table_with(tiles, self.looks).truth.tiles


def kinds(view: TableView) -> list[ChangeKind]:
    return sorted(change.kind for change in view.changes)


def test_the_first_image_is_the_background_whatever_is_on_it() -> None:
    image = table_with([THREE_FIVE, SIX_ONE]).image
    view = Perception(reader()).feed(image)
    assert view == TableView((), (), (), size_px=(image.shape[1], image.shape[0]))


@pytest.mark.parametrize("looks", [Looks(), pytest.param(WALNUT_TABLE, marks=pytest.mark.slow)], ids=["felt", "walnut"])
def test_a_placed_or_removed_tile_is_reported_once(looks: Looks) -> None:
    table = Table(looks)
    tiles: tuple[PlacedTile, ...] = ()
    for tile in (THREE_FIVE, SIX_ONE, DOUBLE_TWO):
        tiles = (*tiles, tile)
        view = table.show(*tiles)
        assert kinds(view) == [PLACED]
        assert is_same(table.truth(tile)[0], view.changes[0].tile)
        assert view.changes[0].before is None
        assert missing(table.truth(*tiles), view.tiles) == []
        assert len(view.tiles) == len(tiles)
    with pytest.raises(ValueError, match="same size"):
        table.perception.feed(np.zeros((240, 240, 3), np.uint8))
    view = table.show(*tiles)  # differs by its noise
    assert view.changes == ()
    assert missing(table.truth(*tiles), view.tiles) == []
    view = table.show(THREE_FIVE, DOUBLE_TWO)
    assert kinds(view) == [REMOVED]
    assert is_same(table.truth(SIX_ONE)[0], view.changes[0].tile)
    assert missing(table.truth(THREE_FIVE, DOUBLE_TWO), view.tiles) == []
    assert len(view.tiles) == 2
    assert table.show(THREE_FIVE, DOUBLE_TWO).changes == ()


@pytest.mark.slow
def test_a_pushed_turned_swapped_or_stacked_tile_is_reported_as_such() -> None:
    table = Table()
    table.show(THREE_FIVE, SIX_ONE)
    for gain in (0.8, 1.2):
        changed = cv2.convertScaleAbs(table.picture(THREE_FIVE, SIX_ONE), alpha=gain)
        view = table.perception.feed(np.asarray(changed, np.uint8))
        assert view.changes == ()
        assert missing(table.view.tiles, view.tiles) == []
    pushed = lay(6, 1, 85, 55, 80)
    reversed_tile = lay(5, 3, -70, -40, 20)
    for kind, before, after in (
        (ChangeKind.MOVED, (THREE_FIVE, SIX_ONE), (THREE_FIVE, pushed)),
        (ChangeKind.TURNED, (pushed, THREE_FIVE), (pushed, reversed_tile)),
    ):
        (change,) = table.show(*after).changes
        assert change.kind is kind
        assert change.before is not None
        assert is_same(table.truth(before[1])[0], change.before)
        assert is_same(table.truth(after[1])[0], change.tile)
        assert len(table.view.tiles) == 2
    upper = replace(lay(6, 4, 85, 55, 80), height_mm=8.0)
    (change,) = table.show(reversed_tile, pushed, upper).changes
    assert change.kind is ChangeKind.STACKED
    assert change.before is not None
    assert sorted(half.pips for half in change.tile.halves) == [4, 6]
    assert is_same(table.truth(pushed)[0], change.before)
    (change,) = table.show(reversed_tile, pushed).changes
    assert change.kind is ChangeKind.REMOVED
    assert sorted(half.pips for half in change.tile.halves) == [4, 6]
    assert missing(table.truth(reversed_tile, pushed), table.view.tiles) == []
    view = table.show(reversed_tile, lay(4, 0, 60, -60, 30))
    assert kinds(view) == [PLACED, REMOVED]


def cropped(image: Image, shift_x_px: int = 0, shift_y_px: int = 0) -> Image:
    """Return a crop of a wide image. A shift simulates a camera bump."""
    top, left = 30 - shift_y_px, 30 - shift_x_px
    return np.ascontiguousarray(image[top : top + 480, left : left + 640])


def test_a_camera_bump_reports_nothing_and_tiles_are_followed() -> None:
    table, shift = Table(WIDE), (10, -10)
    table.perception = Perception(reader())
    table.perception.feed(cropped(table.picture()))
    first = table.perception.feed(cropped(table.picture(THREE_FIVE, SIX_ONE)))
    assert kinds(first) == [PLACED, PLACED]
    bumped = table.perception.feed(cropped(table.picture(THREE_FIVE, SIX_ONE), *shift))
    assert bumped.changes == ()
    assert bumped.aim.motion[:, 2] == pytest.approx(shift, abs=1.0)
    for old in first.tiles:  # positions remain in coordinates of the first image
        x, y = old.center_px
        assert min(np.hypot(tile.center_px[0] - x, tile.center_px[1] - y) for tile in bumped.tiles) < 1.5
    after = table.perception.feed(cropped(table.picture(THREE_FIVE, SIX_ONE, DOUBLE_TWO), *shift))
    assert kinds(after) == [PLACED]
    assert sorted(half.pips for half in after.changes[0].tile.halves) == [2, 2]


def test_tiles_out_of_view_are_reported_as_lost_until_the_camera_is_back() -> None:
    table = Table(WIDE)
    table.perception = Perception(reader())
    near_border = lay(3, 5, -290, 0, 90)
    table.perception.feed(cropped(table.picture()))
    table.perception.feed(cropped(table.picture(near_border, SIX_ONE)))
    away = table.perception.feed(cropped(table.picture(near_border, SIX_ONE), -30, 0))
    assert away.changes == ()
    assert len(away.tiles) == 2
    assert away.lost is not None
    assert "put it back" in away.lost
    assert not away.is_settled
    back = table.perception.feed(cropped(table.picture(near_border, SIX_ONE), 1, 1))
    assert back.lost is None
    assert back.changes == ()


def test_a_resumed_perception_keeps_the_camera_alignment() -> None:
    table = Table(WIDE)
    table.perception = Perception(reader())
    empty = cropped(table.picture())
    table.perception.feed(empty)
    last = cropped(table.picture(THREE_FIVE), 10, -10)
    before = table.perception.feed(last)
    resumed = Perception.resumed(reader(), empty=empty, last=last, tiles=before.tiles, aim=before.aim)
    view = resumed.feed(cropped(table.picture(THREE_FIVE, SIX_ONE), 10, -10))
    assert kinds(view) == [PLACED]
    assert view.aim.farthest_px(before.aim, (640, 480)) < 1.0
    (tile,) = before.tiles
    assert any(is_same(tile, other) for other in view.tiles)


def test_printed_dominoes_are_background() -> None:
    table = Table(clutter=PRINTED)
    # The bait is realistic: without the background, the reader takes some of it for tiles.
    unaided = reader().read(table.picture())
    view = table.show(THREE_FIVE)
    assert kinds(view) == [PLACED]
    assert is_same(table.truth(THREE_FIVE)[0], view.changes[0].tile)
    second = table.show(THREE_FIVE, SIX_ONE)
    assert kinds(second) == [PLACED]
    assert not any(is_same_place(bait, tile) for bait in unaided.tiles for tile in second.tiles)


@pytest.mark.slow
def test_joins_refer_to_tiles_of_the_view() -> None:
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


def test_images_of_a_table_differ_only_by_noise() -> None:
    # The tests above rely on this.
    first, second = (table_with([THREE_FIVE], Looks(CLASSIC, FELT), frame=frame).image for frame in (1, 2))
    difference = np.abs(first.astype(int) - second.astype(int))
    assert 0 < difference.mean() < 4


def test_face_down_tiles_are_counted_separately() -> None:
    table = Table()
    view = table.show(THREE_FIVE, PlacedTile(None, (60, 40), 0.3), PlacedTile(None, (0, 90), 0.0))
    assert len(view.tiles) == 3
    assert sum(tile.face is Face.DOWN for tile in view.tiles) == 2


def test_another_look_can_correct_a_reading() -> None:
    table = Table()
    table.show(THREE_FIVE)
    (track,) = table.perception._tracks
    first, second = track.tile.halves  # type: ignore[misc]  # it lies face up
    wrong = tuple(0.5 if pips == 4 else 0.4 if pips == second.pips else 0.02 for pips in range(len(second.chances)))
    misread = replace(track.tile, halves=(first, replace(second, pips=4, confidence=0.5, chances=wrong)))
    table.perception._tracks = (replace(track, tile=misread),)
    assert table.perception.is_unsure
    (change,) = table.perception.look_again(table.picture(THREE_FIVE)).changes
    assert change.kind is ChangeKind.REREAD
    assert change.before == misread
    assert is_same(table.truth(THREE_FIVE)[0], change.tile)
    assert table.perception.look_again(table.picture(THREE_FIVE)).changes == ()


@dataclass(frozen=True, slots=True, eq=False)
class AlteredReader(Reader):
    """Reader whose first *times* readings are altered. Records the number of tiles found in each."""

    alter: Callable[[Reading], Reading] = lambda reading: reading
    times: int = 0
    seen: list[int] = field(default_factory=list)

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        reading = Reader.read(self, image, plausible, focus)
        self.seen.append(len(reading.tiles))
        return self.alter(reading) if len(self.seen) <= self.times else reading


def altered(
    alter: Callable[[Reading], Reading] = lambda reading: reading, times: int = 0, max_pips: int | None = None
) -> AlteredReader:
    base = reader()
    parts = (base.detector, base.refiner, base.halves, base.pips, base.hard_cases)
    return AlteredReader(*parts, max_pips or base.max_pips, alter=alter, times=times)


def blind(reading: Reading) -> Reading:
    return Reading(reading.width_px, reading.height_px, (), ())


def unsure(reading: Reading) -> Reading:
    return blind(reading).with_unsure(tuple(replace(tile, face=Face.UNSURE, halves=()) for tile in reading.tiles))


@pytest.mark.slow
def test_unexplained_changes_are_examined_until_read_but_a_limited_number_of_times() -> None:
    table = Table()
    table.perception = Perception(altered(blind, 1))
    table.show()
    table.show(THREE_FIVE)
    wants_more = [table.perception.is_unconfirmed]
    assert kinds(table.show(THREE_FIVE)) == [PLACED]
    assert [*wants_more, table.perception.is_unconfirmed] == [True, False]
    table.perception = Perception(altered(blind, 20))
    table.show()
    wants_more = []
    for _ in range(6):
        table.show(THREE_FIVE)
        wants_more.append(table.perception.is_unconfirmed)
    assert wants_more == [True] * 4 + [False] * 2


def test_an_unsure_object_is_reported_once_still_and_placed_once_read() -> None:
    table = Table()
    table.perception = Perception(altered(unsure, 3))
    table.show()
    first = table.show(THREE_FIVE)
    assert (first.tiles, first.changes, first.unsure) == ((), (), ())
    assert table.perception.is_unconfirmed
    second = table.show(THREE_FIVE)
    assert (second.tiles, second.changes) == ((), ())
    (seen,) = second.unsure
    assert is_same_place(replace(table.truth(THREE_FIVE)[0], face=Face.UNSURE, halves=()), seen)
    assert table.show(THREE_FIVE).unsure == (seen,)
    views = [table.show(THREE_FIVE), table.show(THREE_FIVE)]
    assert [kind for view in views for kind in kinds(view)] == [PLACED]
    assert views[-1].unsure == ()
    assert len(views[-1].tiles) == 1


def test_an_unsure_object_must_be_still_also_in_mid_game_and_is_dropped_when_removed() -> None:
    table = Table()
    table.perception = Perception(altered(unsure, 9), Start.IN_PLAY)
    view = table.show(THREE_FIVE)
    assert (view.tiles, view.changes, view.unsure) == ((), (), ())
    assert table.perception.is_unconfirmed
    assert len(table.show(THREE_FIVE).unsure) == 1
    view = table.show()
    assert (view.unsure, view.changes) == ((), ())


LINE = (lay(1, 6, -100, 60), lay(6, 3, -49.5, 60), lay(2, 5, -60, -80), lay(5, 4, -9.5, -80))


@pytest.mark.slow
def test_with_a_given_set_only_changed_regions_are_read_and_other_joins_are_kept() -> None:
    recording = altered(max_pips=6)
    table = Table(Looks(camera=replace(CAMERA, width_px=900, height_px=640)))
    table.perception = Perception(recording)
    table.show()
    for count in range(1, len(LINE) + 1):
        view = table.show(*LINE[:count])
        assert kinds(view) == [PLACED]
    assert len(view.tiles) == 4
    assert recording.seen[-1] == 2  # the other line is outside the region read
    pips = [sorted((view.tiles[join.a].halves[join.a_half or 0].pips,)) for join in view.joins]
    assert sorted(pips) == [[5], [6]]
