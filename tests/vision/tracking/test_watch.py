"""Tests of watching a table: changes are reported once, after all motion ends, and hands are no tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lab.render.looks import COLORED, WALNUT
from lab.render.scene import PlacedTile
from tests.vision.moving import CAMERA, Bump, Clip, Moment, hand_at, play, still
from tests.vision.seen import unsure_tile
from tests.vision.tables import Looks, false_positives, is_same, is_same_place, lay, missing, reader
from vision.arrays import Image
from vision.reader.reader import Reader
from vision.reading import SeenTile
from vision.tracking.perception import Perception, Start
from vision.tracking.settle import SettleGate, Side, Stillness
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.watch import Frame, Watch

MS = 1_000_000
THREE_FIVE, SIX_ONE, DOUBLE_TWO = lay(3, 5, -110, -40, 20), lay(6, 1, 60, 40, 100), lay(2, 2, 110, -70, 0)
FOUR_NOUGHT = lay(4, 0, -20, 70, 160)
THREE = (THREE_FIVE, SIX_ONE, DOUBLE_TWO)


class Sitting:
    """A clip, its watch, and all views."""

    def __init__(self, looks: Looks | None = None, start: Start = Start.EMPTY, reader_: Reader | None = None) -> None:
        self.clip = Clip(looks or Looks(camera=CAMERA), seed=3)
        self.watch = Watch(Perception(reader_ or reader(), start))
        self.views: list[TableView] = []

    def show(self, moments: Sequence[Moment]) -> list[Change]:
        """Return all changes reported while the moments are shown."""
        shown = [self.watch.feed(frame) for frame in self.clip.frames(moments)]
        self.views += shown
        return [change for view in shown for change in view.changes]

    def truth(self, *tiles: PlacedTile, bump: Bump = (0.0, 0.0, 0.0)) -> tuple[SeenTile, ...]:
        return self.clip.truth(tiles, bump)


@pytest.mark.parametrize(
    "looks",
    [Looks(camera=CAMERA), pytest.param(Looks(COLORED, WALNUT, camera=CAMERA), marks=pytest.mark.slow)],
    ids=["felt", "walnut"],
)
def test_a_placed_tile_is_reported_once_with_its_entry_side_after_the_hand_leaves(looks: Looks) -> None:
    sitting = Sitting(looks)
    assert sitting.show(still((), 4)) == []
    during = play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.LEFT)
    (change,) = sitting.show([*during, *still((THREE_FIVE,), 4)])
    # The hand is visible from the eighth to the eleventh frame. All is settled a fifth of a second later.
    assert not any(view.is_settled for view in sitting.views[7:13])
    began_ns = sitting.views[8].moved_since_ns
    assert began_ns is not None
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(THREE_FIVE)[0], change.tile)
    view = next(view for view in sitting.views if view.changes)
    assert view.is_settled
    assert view.moved_since_ns == began_ns
    assert [origin.side for origin in view.came_from] == [Side.LEFT]
    assert sitting.views[-1].changes == ()
    assert len(sitting.views[-1].tiles) == 1


@pytest.mark.parametrize(("gain", "is_left_first"), [(1.0, True), (0.85, False)])
def test_two_tiles_placed_in_quick_succession_are_dated_separately(gain: float, *, is_left_first: bool) -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    order = [(THREE_FIVE, Side.LEFT), (DOUBLE_TWO, Side.RIGHT)]
    (first, one_side), (second, other_side) = order if is_left_first else order[::-1]
    during = play((), (first,), first.center_mm, one_side)
    after = play((first,), (first, second), second.center_mm, other_side)
    moments = [*during, *(replace(moment, gain=gain) for moment in (*after, *still((first, second), 4)))]
    begun_ns = sitting.clip.t_ns
    changes = sitting.show(moments)
    since = {change.tile.half_centers_px[0][0] < 480: change.since_ns for change in changes}
    one_ns, other_ns = since[is_left_first], since[not is_left_first]
    assert one_ns is not None
    assert other_ns is not None
    # A hand releases its tile in the sixth image, and no longer covers it two images later.
    assert 500 * MS <= one_ns - begun_ns <= 800 * MS
    assert 500 * MS <= other_ns - begun_ns - len(during) * 100 * MS <= 800 * MS


def test_tiles_without_a_preceding_motion_have_no_date() -> None:
    sitting = Sitting(start=Start.IN_PLAY)
    (change,) = sitting.show(still((THREE_FIVE,), 4))
    assert change.since_ns is None


@pytest.mark.slow
def test_a_resting_hand_is_no_tile_and_hides_tiles_only_temporarily() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still(THREE, 4))
    hand = hand_at(SIX_ONE.center_mm, Side.BOTTOM, 0.0)
    resting = [Moment(THREE, (hand,))] * 16
    assert sitting.show(resting) == []
    assert sitting.views[-1].is_settled
    assert [view.is_covered for view in sitting.views[-len(resting) - 1 :: len(resting)]] == [False, True]
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    assert false_positives(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    # A tile under the hand is removed.
    remaining = (THREE_FIVE, DOUBLE_TWO)
    assert sitting.show([Moment(remaining, (hand,))] * 4) == []
    (change,) = sitting.show(still(remaining, 5))
    assert change.kind is ChangeKind.REMOVED
    assert is_same(sitting.truth(SIX_ONE)[0], change.tile)


@pytest.mark.slow
def test_a_tile_placed_beside_a_resting_hand_is_read() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 4))
    hand = hand_at(SIX_ONE.center_mm, Side.BOTTOM, 0.0)
    (change,) = sitting.show([Moment((THREE_FIVE, DOUBLE_TWO), (hand,))] * 13)
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(DOUBLE_TWO)[0], change.tile)


@pytest.mark.slow
def test_simultaneous_tiles_are_all_reported_but_no_light_noise_bump_or_new_aim() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    changes = sitting.show(still(THREE, 4))
    assert [change.kind for change in changes] == [ChangeKind.PLACED] * 3
    assert missing(sitting.truth(*THREE), [change.tile for change in changes]) == []
    assert sitting.show([replace(moment, gain=0.8) for moment in still(THREE, 4)]) == []
    assert sitting.show(still(THREE, 4, (5.0, -4.0, 0.0))) == []
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    assert sitting.views[-1].aim.motion[:, 2] == pytest.approx((5.0, -4.0), abs=0.5)
    # Tiles that did not move tell where the camera points now.
    aimed: Bump = (60.0, -40.0, 4.0)  # a tile is 91 px long
    assert sitting.show(still(THREE, 4, aimed)) == []
    assert sitting.views[-1].lost is None
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    (change,) = sitting.show(still((*THREE, FOUR_NOUGHT), 4, aimed))
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(FOUR_NOUGHT)[0], change.tile)


def test_a_bump_during_a_play_is_detected_and_makes_entry_sides_uncertain() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    moments = play((), (FOUR_NOUGHT,), FOUR_NOUGHT.center_mm, Side.LEFT)
    aimed: Bump = (22.0, -17.0, 1.5)
    bumped = [replace(moment, bump=aimed) for moment in moments[4:]]
    (change,) = sitting.show([*moments[:4], *bumped, *still((FOUR_NOUGHT,), 4, aimed)])
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(FOUR_NOUGHT)[0], change.tile)
    (view,) = [view for view in sitting.views if view.changes]
    assert not view.aim.is_straight
    assert max(origin.weight for origin in view.came_from) < 0.5
    seen_before = len(sitting.views)
    aside = play((FOUR_NOUGHT,), (FOUR_NOUGHT, SIX_ONE), SIX_ONE.center_mm, Side.BOTTOM)
    after = sitting.show([*(replace(moment, bump=aimed) for moment in aside), *still((FOUR_NOUGHT, SIX_ONE), 4, aimed)])
    assert [change.kind for change in after] == [ChangeKind.PLACED]
    (view,) = [view for view in sitting.views[seen_before:] if view.changes]
    assert view.came_from[0].side is Side.BOTTOM


@pytest.mark.slow
def test_a_slow_slip_is_detected_without_other_motion() -> None:
    sitting = Sitting()
    sitting.show(still((THREE_FIVE,), 4))
    slip = [Moment((THREE_FIVE,), bump=(0.09 * step, 0.045 * step, 0.0)) for step in range(40)]
    assert sitting.show(slip) == []
    assert not sitting.views[-1].aim.is_straight
    assert sitting.views[-1].aim.motion[:, 2] == pytest.approx((3.5, 1.8), abs=2.0)


@pytest.mark.slow
def test_an_unrecognisable_table_is_reported_as_lost_and_found_again() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 4))
    rng = np.random.default_rng(1)
    other_view = rng.integers(0, 255, (60, 80, 3), np.uint8).repeat(9, axis=0).repeat(12, axis=1)
    for _ in range(14):
        sitting.clip.t_ns += 100 * MS
        view = sitting.watch.feed(Frame(other_view, sitting.clip.t_ns))
    assert not view.is_settled
    assert view.lost is not None
    assert "camera" in view.lost
    assert view.changes == ()
    assert len(view.tiles) == 1
    assert sitting.show(still((THREE_FIVE,), 13)) == []
    assert sitting.views[-1].lost is None


@pytest.mark.slow
def test_starting_in_play_adopts_the_tiles_on_the_table() -> None:
    sitting = Sitting(start=Start.IN_PLAY)
    changes = sitting.show(still(THREE, 4))
    assert [change.kind for change in changes] == [ChangeKind.PLACED] * 3
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    (change,) = sitting.show(still((*THREE, FOUR_NOUGHT), 4))
    assert is_same_place(sitting.truth(FOUR_NOUGHT)[0], change.tile)


def test_nothing_is_read_during_motion() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.watch._reader = None  # type: ignore[assignment]  # any read now fails
    sitting.show(play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.RIGHT)[1:])
    assert not sitting.views[-1].is_settled


def test_a_settled_table_is_read_once_and_again_only_while_unsure() -> None:
    sitting = Sitting()
    counts = {"feed": 0, "look_again": 0}
    perception = sitting.watch._reader

    class Counting(Perception):
        def feed(self, image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> TableView:
            counts["feed"] += 1
            return perception.feed(image)

        def look_again(self, image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> TableView:
            counts["look_again"] += 1
            return perception.look_again(image)

        @property
        def is_unsure(self) -> bool:
            return perception.is_unsure

    sitting.watch._reader = Counting(reader())
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 30))
    assert counts["feed"] == 2
    assert counts["look_again"] <= 4


class UnsurePerception:
    """Perception with the same two unsure objects in each look, the second of them from a given look on."""

    is_unconfirmed = is_unsure = False

    def __init__(self, *, second_from: int) -> None:
        self.looks, self.second_from = 0, second_from

    @property
    def view(self) -> TableView:
        unsure = HERE if self.looks < self.second_from else (*HERE, *THERE)
        return TableView((), (), (), unsure=unsure, size_px=(160, 120))

    def feed(self, image: Image) -> TableView:
        self.looks += 1
        return self.view

    def look_again(self, image: Image) -> TableView:
        raise AssertionError("no tile was read, so no pips can be uncertain")

    def is_aimed_elsewhere(self, image: Image) -> bool:
        return False


HERE, THERE = (unsure_tile(x_px=40),), (unsure_tile(x_px=120),)


@pytest.mark.parametrize(("is_covered", "reported"), [(False, (*HERE, *THERE)), (True, HERE)])
def test_an_object_first_seen_under_a_resting_hand_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, *, is_covered: bool, reported: tuple[SeenTile, ...]
) -> None:
    watch = Watch(UnsurePerception(second_from=2))
    empty_mask, points = np.zeros((18, 32), bool), np.zeros((90, 160), np.uint8)
    calm = Stillness(True, 0, None, empty_mask, empty_mask, (), points)
    states = iter((calm, replace(calm, still_since_ns=MS, covered=np.full((18, 32), is_covered))))
    monkeypatch.setattr(SettleGate, "feed", lambda *_: next(states))
    image = np.zeros((120, 160, 3), np.uint8)
    assert watch.feed(Frame(image, 0)).unsure == HERE
    assert watch.feed(Frame(image, MS)).unsure == reported
