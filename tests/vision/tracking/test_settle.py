"""Tests of the settle gate: motion, changes of light, and the side from which hands enter."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.shapes import blank
from vision.arrays import GreyImage
from vision.tracking.settle import HEIGHT_PX, WIDTH_PX, EntrySide, SettleGate, Side, Stillness, small_grey

MS = 1_000_000
FRAME_MS = 33


Picture = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


class Film:
    """A grainy table with bright tiles, filmed at 30 Hz with noise."""

    def __init__(self, seed: int = 0, noise: float = 3.0) -> None:
        rng, self.t_ns, self.frame = np.random.default_rng(seed), 0, 0
        self.noise = rng.normal(0, noise, (7, HEIGHT_PX, WIDTH_PX)).astype(np.float32)
        grain = rng.normal(90, 12, (HEIGHT_PX // 6, WIDTH_PX // 6)).astype(np.float32)
        self.table: Picture = np.asarray(cv2.resize(grain, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_CUBIC))
        for x, y in ((100, 80), (300, 200), (420, 120)):
            self.table[y : y + 30, x : x + 60] = 215
            self.table[y : y + 30, x + 28 : x + 31] = 40
        self.gate = SettleGate()

    def show(self, shown: Picture | None = None) -> Stillness:
        picture = (self.table if shown is None else shown) + self.noise[self.frame % len(self.noise)]
        stillness = self.gate.feed(np.clip(picture, 0, 255).astype(np.uint8), self.t_ns)
        self.t_ns += FRAME_MS * MS
        self.frame += 1
        return stillness

    def rest(self, frames: int = 9) -> Stillness:
        return [self.show() for _ in range(frames)][-1]

    def with_arm(self, side: Side, length_px: int, grey: float = 30) -> Picture:
        shown = self.table.copy()
        turned = {Side.LEFT: shown, Side.RIGHT: shown[:, ::-1], Side.TOP: shown.T, Side.BOTTOM: shown[::-1].T}[side]
        turned[140:210, :length_px] = grey
        return shown


def test_a_table_is_settled_after_a_seventh_of_a_second_without_motion() -> None:
    film = Film()
    settled = [film.show().is_settled for _ in range(10)]
    assert settled == [False] * 5 + [True] * 5  # the frames at 0 to 132 ms, and from 165 ms on
    gate, grey = SettleGate(), np.full((HEIGHT_PX, WIDTH_PX), 90, np.uint8)
    assert not gate.feed(grey, 0).is_settled
    assert gate.feed(grey, 1000 * MS).is_settled
    gate = SettleGate()
    for index, level in enumerate([0, 255, 0, 0, 255, 255, 255]):
        stillness = gate.feed(np.full((HEIGHT_PX, WIDTH_PX), level, np.uint8), index * 100 * MS)
    assert stillness.is_settled  # a uniform change of light


@pytest.mark.parametrize("noise", [0.0, 3.0, 9.0])
def test_noise_is_no_motion(noise: float) -> None:
    film = Film(noise=noise)
    film.rest()
    for _ in range(100):
        stillness = film.show()
        assert stillness.is_settled
        assert stillness.moved_since_ns is None


@pytest.mark.parametrize("gain", [0.6, 0.8, 1.25])
def test_the_gate_settles_after_a_step_of_exposure_without_occlusion(gain: float) -> None:
    film = Film()
    film.rest()
    stillness = [film.show(film.table * np.float32(gain)) for _ in range(9)][-1]
    assert stillness.is_settled
    assert not stillness.is_covered
    assert stillness.came_from == ()


def test_changes_of_light_are_no_motion_and_no_occlusion() -> None:
    film = Film()
    rows = np.arange(HEIGHT_PX)[:, None]
    for frame in range(60):
        bands = (1 + 0.05 * np.sin(rows / 40 + 1.7 * frame)).astype(np.float32)
        stillness = film.show(film.table * bands)
    assert stillness.is_settled
    assert stillness.moved_since_ns is None
    film = Film()
    film.rest()
    across = np.linspace(-1, 1, WIDTH_PX, dtype=np.float32)
    for step in range(300):  # ten seconds, after which one side is a third darker than the other
        stillness = film.show(film.table * (1 + 0.17 * step / 300 * across))
        assert stillness.is_settled
        assert not stillness.is_covered


def test_a_camera_bump_is_motion_but_no_occlusion() -> None:
    film = Film()
    film.rest()
    bumped = np.roll(film.table, (2, 3), axis=(0, 1))
    first = film.show(bumped)
    assert not first.is_settled
    assert first.moved_since_ns == film.t_ns - FRAME_MS * MS
    film.table = bumped
    last = film.rest()
    assert last.is_settled
    assert not last.is_covered


def test_nudging_a_tile_and_a_slow_hand_are_motion() -> None:
    film = Film()
    film.rest()
    film.table[200:230, 300:360] = film.table[240:270, 300:360]
    film.table[200:230, 304:364] = 215
    stillness = film.show()
    assert not stillness.is_settled
    assert stillness.moved[10:12, 15:19].any()
    assert stillness.moved.sum() <= 6
    assert film.rest().is_settled
    film = Film()
    film.rest()
    settled = [film.show(film.with_arm(Side.LEFT, 100 + step)).is_settled for step in range(60)]
    assert not any(settled[5:])


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("grey", [25, 150])
def test_the_entry_side_of_a_hand_is_kept_until_the_next_motion(side: Side, grey: float) -> None:
    film = Film()
    film.rest()
    for length_px in (40, 120, 200, 200, 120, 40):
        stillness = film.show(film.with_arm(side, length_px, grey))
        assert not stillness.is_settled
    assert stillness.came_from == (EntrySide(side, 1.0),)
    assert film.rest().came_from == (EntrySide(side, 1.0),)
    stillness = film.rest(20)
    assert stillness.is_settled
    assert not stillness.is_covered
    assert stillness.moved_since_ns == 9 * FRAME_MS * MS
    # A later bump has no entry side.
    film.table = np.roll(film.table, 3, axis=1)
    assert film.rest().came_from == ()


def test_a_resting_hand_covers_and_is_no_evidence_for_later_motion() -> None:
    film = Film()
    film.rest()
    resting = film.with_arm(Side.TOP, 150)
    stillness = [film.show(resting) for _ in range(20)][-1]
    assert not stillness.is_settled  # it may move again in a moment
    stillness = [film.show(resting) for _ in range(20)][-1]
    assert stillness.is_settled
    assert stillness.is_covered
    assert stillness.covered[0:6, 8:10].any()
    assert not stillness.covered[12:].any()
    for length_px in (60, 150, 150, 60):
        film.table = resting
        stillness = film.show(film.with_arm(Side.RIGHT, length_px))
    assert stillness.came_from == (EntrySide(Side.RIGHT, 1.0),)


def test_objects_across_the_border_become_background_despite_hands_elsewhere() -> None:
    film = Film()
    film.rest()
    film.table = film.with_arm(Side.LEFT, 160)
    for _ in range(6):  # a hand every second: five seconds never pass without one
        for length_px in (60, 150, 150, 60):
            film.show(film.with_arm(Side.RIGHT, length_px))
        stillness = film.rest(30)
    assert not stillness.is_covered
    for length_px in (60, 150, 60):
        film.show(film.with_arm(Side.RIGHT, length_px))
    assert film.rest(8).is_settled
    film = Film()
    film.rest()
    mat = film.with_arm(Side.LEFT, 160)
    assert [film.show(mat) for _ in range(60)][-1].is_covered
    assert not [film.show(mat) for _ in range(120)][-1].is_covered
    film = Film()
    film.rest()
    film.table[100:130, 0:60] = 215
    stillness = film.rest()
    assert stillness.is_settled
    assert not stillness.is_covered
    assert stillness.came_from == ()


@pytest.mark.parametrize("grey", [np.zeros((640, 360), np.uint8), np.zeros((360, 640), np.float32)])
def test_rejects_an_image_of_another_shape(grey: GreyImage) -> None:
    with pytest.raises(ValueError, match="grey must have shape"):
        SettleGate().feed(grey, 0)


@pytest.mark.parametrize(("width_px", "height_px"), [(1280, 720), (1920, 1080), (640, 480), (320, 200)])
def test_images_are_reduced_to_small_greyscale(width_px: int, height_px: int) -> None:
    image = blank(width_px, height_px, (10, 10, 10))
    image[:, : width_px // 2] = 200
    grey = small_grey(image)
    assert grey.shape == (HEIGHT_PX, WIDTH_PX)
    assert (grey[:, :300] == 200).all()
    assert (grey[:, 340:] == 10).all()


def test_following_the_camera_removes_occlusion_after_a_bump() -> None:
    film = Film()
    film.table = np.asarray(81 + film.table / 10, np.float32)
    film.table = film.with_arm(Side.LEFT, 300)  # printed on the table
    film.rest()
    shifted = np.roll(film.table, 48, axis=0)
    stillness = [film.show(shifted) for _ in range(40)][-1]
    assert stillness.is_settled
    assert stillness.is_covered
    film.gate.follow_camera(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 96.0]]), 2 * WIDTH_PX)
    assert not film.show(shifted).is_covered
