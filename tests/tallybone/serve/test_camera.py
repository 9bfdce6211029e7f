"""Tests of the camera of a served table."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from hardware.camera.device import CameraDevice, CameraError, CameraMode, Light, Picture
from hardware.part import Clock
from tallybone.choices import TileSet
from tallybone.play.start import MatchPlan, new_game
from tallybone.serve.camera import TableCamera
from tests.hardware.fakes import FakeCamera

SECOND = 1_000_000_000


class SettableClock:
    """A clock that only advances when set."""

    t_ns = SECOND

    def __call__(self) -> int:
        return self.t_ns


class Plug:
    """Opens a camera once it is present, and counts the attempts."""

    def __init__(self) -> None:
        self.device: FakeCamera | None = None
        self.tries = 0

    def open(self, source: str, clock: Clock) -> CameraDevice:
        self.tries += 1
        if self.device is None:
            raise CameraError(f"{source}: there is no such camera")
        return self.device


def fake() -> FakeCamera:
    return FakeCamera(CameraMode(128, 72, 20.0, "MJPG"))


def game() -> MatchPlan:
    began = datetime(2026, 11, 21, tzinfo=UTC)
    return new_game("bones", (), (), tile_set=TileSet.AUTO, in_play=False, began=began, software="a test")


def see(device: FakeCamera, t_ns: int) -> None:
    image = np.full((72, 128, 3), 90, np.uint8)
    device.show(Picture(t_ns, image, image[:, :, 0]))


def test_a_missing_camera_is_retried_every_five_seconds() -> None:
    clock, plug = SettableClock(), Plug()
    camera = TableCamera("usb:0", clock, opener=plug.open)
    for _ in range(10):
        assert camera.look() is None
        clock.t_ns += SECOND
    assert plug.tries == 2
    assert (camera.problem, camera.text) == ("usb:0: there is no such camera",) * 2
    with pytest.raises(CameraError, match="no such camera"):
        camera.for_game(game())
    plug.device = fake()
    camera.look()
    assert (str(camera.problem), camera.text) == ("None", "usb:0, 128 x 72")


def test_a_game_locks_the_exposure_and_leaves_the_camera_open() -> None:
    plug = Plug()
    plug.device = device = fake()
    camera = TableCamera("usb:0", SettableClock(), opener=plug.open)
    lent, _ = camera.for_game(game())
    lights = [device.light]
    lent.close()
    lights.append(device.light)
    assert lights == [Light.HELD, Light.FREE]
    camera.for_game(game())
    assert plug.tries == 1
    camera.close()
    assert device.is_closed


def test_viewers_get_two_pictures_a_second() -> None:
    clock, plug = SettableClock(), Plug()
    plug.device = device = fake()
    camera = TableCamera("usb:0", clock, opener=plug.open)
    camera.look()
    seen = 0
    for _ in range(40):
        clock.t_ns += SECOND // 20
        see(device, clock.t_ns)
        seen += camera.look() is not None
    assert seen == 4


def test_a_simulated_table_starts_with_the_match() -> None:
    camera = TableCamera("simulated", SettableClock())
    assert (camera.look(), camera.problem, camera.text) == (None, None, "simulated: starts with the match")
    first, _ = camera.for_game(game())
    second, _ = camera.for_game(game())
    assert first is not second
