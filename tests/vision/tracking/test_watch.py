"""A watched table: what happens on it is said once, when nothing moves any more, and hands are no tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from synthetic.render.looks import COLORED, WALNUT
from synthetic.render.scene import PlacedTile
from tests.vision.moving import CAMERA, Bump, Clip, Moment, hand_at, play, still
from tests.vision.seen import unsure_tile
from tests.vision.tables import Looks, is_same, is_same_place, lay, missing, reader, spare
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
    """A clip, what watches it, and all that was said."""

    def __init__(self, looks: Looks | None = None, start: Start = Start.EMPTY, eye: Reader | None = None) -> None:
        self.clip = Clip(looks or Looks(camera=CAMERA), seed=3)
        self.watch = Watch(Perception(eye or reader(), start))
        self.views: list[TableView] = []

    def show(self, moments: Sequence[Moment]) -> list[Change]:
        """All that is said while something is shown."""
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
def test_a_tile_that_a_hand_lays_is_said_once_when_the_hand_is_gone_with_the_side_it_came_from(looks: Looks) -> None:
    sitting = Sitting(looks)
    assert sitting.show(still((), 4)) == []
    during = play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.LEFT)
    (change,) = sitting.show([*during, *still((THREE_FIVE,), 4)])
    # The hand is in the picture from the eighth to the eleventh frame; a fifth of a second later all is settled.
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


@pytest.mark.parametrize("gain", [1.0, 0.85])
@pytest.mark.parametrize("is_left_first", [True, False])
def test_of_two_tiles_that_hands_laid_one_right_after_the_other_it_is_said_since_when_each_has_lain(
    gain: float, *, is_left_first: bool
) -> None:
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
    # A hand lets its tile go in the sixth picture, and is off it two pictures later.
    assert 500 * MS <= one_ns - begun_ns <= 800 * MS
    assert 500 * MS <= other_ns - begun_ns - len(during) * 100 * MS <= 800 * MS


def test_of_tiles_that_no_motion_brought_nobody_knows_since_when_they_have_lain() -> None:
    sitting = Sitting(start=Start.IN_PLAY)
    (change,) = sitting.show(still((THREE_FIVE,), 4))
    assert change.since_ns is None


@pytest.mark.slow
def test_a_hand_that_rests_hides_nothing_for_good_and_is_no_tile() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still(THREE, 4))
    hand = hand_at(SIX_ONE.center_mm, Side.BOTTOM, 0.0)
    resting = [Moment(THREE, (hand,))] * 16
    assert sitting.show(resting) == []
    assert sitting.views[-1].is_settled
    assert [view.is_covered for view in sitting.views[-len(resting) - 1 :: len(resting)]] == [False, True]
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    assert spare(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    # Under the hand one tile is taken away.
    left = (THREE_FIVE, DOUBLE_TWO)
    assert sitting.show([Moment(left, (hand,))] * 4) == []
    (change,) = sitting.show(still(left, 5))
    assert change.kind is ChangeKind.REMOVED
    assert is_same(sitting.truth(SIX_ONE)[0], change.tile)


@pytest.mark.slow
def test_what_is_laid_beside_a_hand_that_rests_is_read_without_it() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 4))
    hand = hand_at(SIX_ONE.center_mm, Side.BOTTOM, 0.0)
    (change,) = sitting.show([Moment((THREE_FIVE, DOUBLE_TWO), (hand,))] * 13)
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(DOUBLE_TWO)[0], change.tile)


@pytest.mark.slow
def test_light_noise_and_a_bump_say_nothing_and_several_tiles_at_once_are_all_said() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    changes = sitting.show(still(THREE, 4))
    assert [change.kind for change in changes] == [ChangeKind.PLACED] * 3
    assert missing(sitting.truth(*THREE), [change.tile for change in changes]) == []
    assert sitting.show([replace(moment, gain=0.8) for moment in still(THREE, 4)]) == []
    assert sitting.show(still(THREE, 4, (5.0, -4.0, 0.0))) == []
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    assert sitting.views[-1].aim.motion[:, 2] == pytest.approx((5.0, -4.0), abs=0.5)


@pytest.mark.slow
def test_a_camera_that_points_elsewhere_is_followed_by_the_tiles_that_did_not_move() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still(THREE, 4))
    aimed: Bump = (60.0, -40.0, 4.0)  # a tile is 91 px long
    assert sitting.show(still(THREE, 4, aimed)) == []
    assert sitting.views[-1].lost is None
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    (change,) = sitting.show(still((*THREE, FOUR_NOUGHT), 4, aimed))
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(FOUR_NOUGHT)[0], change.tile)


def test_a_bump_is_noticed_while_a_hand_lays_a_tile_and_hands_seem_to_come_from_everywhere() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    laid = play((), (FOUR_NOUGHT,), FOUR_NOUGHT.center_mm, Side.LEFT)
    aimed: Bump = (22.0, -17.0, 1.5)
    bumped = [replace(moment, bump=aimed) for moment in laid[4:]]
    (change,) = sitting.show([*laid[:4], *bumped, *still((FOUR_NOUGHT,), 4, aimed)])
    assert change.kind is ChangeKind.PLACED
    assert is_same(sitting.truth(FOUR_NOUGHT)[0], change.tile)
    (view,) = [view for view in sitting.views if view.changes]
    assert not view.aim.is_straight
    assert max(came.weight for came in view.came_from) < 0.5
    seen_before = len(sitting.views)
    aside = play((FOUR_NOUGHT,), (FOUR_NOUGHT, SIX_ONE), SIX_ONE.center_mm, Side.BOTTOM)
    after = sitting.show([*(replace(moment, bump=aimed) for moment in aside), *still((FOUR_NOUGHT, SIX_ONE), 4, aimed)])
    assert [one.kind for one in after] == [ChangeKind.PLACED]
    (view,) = [view for view in sitting.views[seen_before:] if view.changes]
    assert view.came_from[0].side is Side.BOTTOM


def test_a_slow_slip_is_noticed_though_nothing_else_moves() -> None:
    sitting = Sitting()
    sitting.show(still((THREE_FIVE,), 4))
    slip = [Moment((THREE_FIVE,), bump=(0.06 * step, 0.03 * step, 0.0)) for step in range(60)]
    assert sitting.show(slip) == []
    assert not sitting.views[-1].aim.is_straight
    assert sitting.views[-1].aim.motion[:, 2] == pytest.approx((3.5, 1.8), abs=2.0)


@pytest.mark.slow
def test_a_table_that_cannot_be_made_out_is_said_and_found_again() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 4))
    rng = np.random.default_rng(1)
    elsewhere = rng.integers(0, 255, (60, 80, 3), np.uint8).repeat(9, axis=0).repeat(12, axis=1)
    for _ in range(14):
        sitting.clip.t_ns += 100 * MS
        view = sitting.watch.feed(Frame(elsewhere, sitting.clip.t_ns))
    assert not view.is_settled
    assert view.lost is not None
    assert "camera" in view.lost
    assert view.changes == ()
    assert len(view.tiles) == 1
    assert sitting.show(still((THREE_FIVE,), 13)) == []
    assert sitting.views[-1].lost is None


@pytest.mark.slow
def test_a_game_that_goes_on_is_taken_as_it_lies() -> None:
    sitting = Sitting(start=Start.IN_PLAY)
    changes = sitting.show(still(THREE, 4))
    assert [change.kind for change in changes] == [ChangeKind.PLACED] * 3
    assert missing(sitting.truth(*THREE), sitting.views[-1].tiles) == []
    (change,) = sitting.show(still((*THREE, FOUR_NOUGHT), 4))
    assert is_same_place(sitting.truth(FOUR_NOUGHT)[0], change.tile)


def test_while_something_moves_nothing_is_read() -> None:
    sitting = Sitting()
    sitting.show(still((), 4))
    sitting.watch._eye = None  # type: ignore[assignment]  # whoever reads now fails
    sitting.show(play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.RIGHT)[1:])
    assert not sitting.views[-1].is_settled


def test_a_settled_table_is_read_once_and_looked_at_again_only_while_that_tells_more() -> None:
    sitting = Sitting()
    counts = {"feed": 0, "look_again": 0}
    perception = sitting.watch._eye

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

    sitting.watch._eye = Counting(reader())
    sitting.show(still((), 4))
    sitting.show(still((THREE_FIVE,), 30))
    assert counts["feed"] == 2
    assert counts["look_again"] <= 4


class Unreading:
    """An eye that cannot read the same two things in every look, the second of them from some look on."""

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
        raise AssertionError("nothing is read, so no pips leave doubt")

    def is_aimed_elsewhere(self, image: Image) -> bool:
        return False


HERE, THERE = (unsure_tile(x_px=40),), (unsure_tile(x_px=120),)


@pytest.mark.parametrize(("is_covered", "asked"), [(False, (*HERE, *THERE)), (True, HERE)])
def test_what_cannot_be_read_first_under_a_hand_that_rests_may_be_that_hand(
    monkeypatch: pytest.MonkeyPatch, *, is_covered: bool, asked: tuple[SeenTile, ...]
) -> None:
    watch = Watch(Unreading(second_from=2))
    nowhere, points = np.zeros((18, 32), bool), np.zeros((90, 160), np.uint8)
    calm = Stillness(True, 0, None, nowhere, nowhere, (), points)
    states = iter((calm, replace(calm, still_since_ns=MS, covered=np.full((18, 32), is_covered))))
    monkeypatch.setattr(SettleGate, "feed", lambda *_: next(states))
    image = np.zeros((120, 160, 3), np.uint8)
    assert watch.feed(Frame(image, 0)).unsure == HERE
    assert watch.feed(Frame(image, MS)).unsure == asked
