"""Buttons of a table: their names, and what each press means for the game."""

from __future__ import annotations

import pytest

from engine import Seat
from hardware.buttons.debounce import PinPress, PressKind
from hardware.buttons.drivers.gpio import GpioSettings
from hardware.buttons.panel import SEAT_BUTTONS, SHARED_BUTTONS, ButtonPress
from hardware.knock.heard import ClassifiedSound
from tallybone.play.parts import buttons_of, configured_name, knock_meant, presses_meant
from tallybone.session.inputs import Button, KnockHeard, Press
from tests.hardware.table.reading import read_hardware


def meant(name: str, kind: PressKind = PressKind.SHORT) -> tuple[Press, ...]:
    return presses_meant(ButtonPress(name, PinPress(5, 5, kind)), 2)


def test_every_button_that_can_be_configured_means_something() -> None:
    pins = {button: pin for pin, button in enumerate((*SEAT_BUTTONS, *SHARED_BUTTONS), start=2)}
    shared = read_hardware({"buttons": {"driver": "gpio", **pins}})
    own = read_hardware({"buttons": {"driver": "gpio", "call": [2, 3], "knock": [4, 5], "draw": [6, 7], "done": [8]}})
    assert isinstance(shared.buttons, GpioSettings)
    assert isinstance(own.buttons, GpioSettings)
    for config in (shared.buttons, own.buttons):
        for name in config.wired:
            button, _, player = name.partition(" ")
            assert meant(name) == (Press(Button(button), Seat(int(player) - 1) if player else None),)
    assert set(shared.buttons.wired) == set(Button)


def test_a_name_is_found_again() -> None:
    buttons = buttons_of(3)
    assert all(configured_name(press) == name for name, press in buttons.items())
    assert buttons["draw 3"] == Press(Button.DRAW, Seat(2))


def test_the_button_of_a_seat_where_nobody_sits_means_nothing() -> None:
    assert meant("call 3") == ()


@pytest.mark.parametrize(
    ("kind", "button"),
    [(PressKind.SHORT, Button.CALL), (PressKind.LONG, Button.KNOCK), (PressKind.DOUBLE, Button.DRAW)],
)
def test_one_button_for_each_player_is_enough(kind: PressKind, button: Button) -> None:
    assert meant("call 2", kind) == (Press(button, Seat(1)),)
    assert meant("call", kind) == (Press(button),)


def test_any_other_button_that_is_pressed_twice_is_pressed_twice() -> None:
    assert meant("undo", PressKind.DOUBLE) == (Press(Button.UNDO), Press(Button.UNDO))
    assert meant("undo", PressKind.LONG) == (Press(Button.UNDO),)


def test_a_knock_is_that_of_its_side_where_somebody_sits_there() -> None:
    assert knock_meant(ClassifiedSound(5, 1, 0.25, 0.75), 2) == KnockHeard(Seat(1), 0.25, 0.75)
    assert knock_meant(ClassifiedSound(5, 2, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)
    assert knock_meant(ClassifiedSound(5, None, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)
