"""Tests of the table's buttons: names and meanings."""

from __future__ import annotations

import pytest

from engine import Seat
from hardware.buttons.drivers.gpio import GpioSettings
from hardware.buttons.panel import SEAT_BUTTONS, SHARED_BUTTONS, ButtonPress, PinPress, PressKind
from hardware.knock.sensor import ClassifiedSound, Sound
from tallybone.play.parts import buttons_of, configured_name, knock_meant, presses_meant
from tallybone.session.inputs import Button, KnockHeard, Press
from tests.hardware.table.reading import read_hardware


def intended(name: str, kind: PressKind = PressKind.SHORT) -> tuple[Press, ...]:
    return presses_meant(ButtonPress(name, PinPress(5, 5, kind)), 2)


def test_every_configurable_button_has_a_meaning() -> None:
    pins = {button: pin for pin, button in enumerate((*SEAT_BUTTONS, *SHARED_BUTTONS), start=2)}
    shared = read_hardware({"buttons": {"driver": "gpio", **pins}})
    own = read_hardware({"buttons": {"driver": "gpio", "call": [2, 3], "knock": [4, 5], "draw": [6, 7], "done": [8]}})
    assert isinstance(shared.buttons, GpioSettings)
    assert isinstance(own.buttons, GpioSettings)
    for config in (shared.buttons, own.buttons):
        for name in config.wired:
            button, _, player = name.partition(" ")
            assert intended(name) == (Press(Button(button), Seat(int(player) - 1) if player else None),)
    assert set(shared.buttons.wired) == set(Button)


def test_names_of_buttons_round_trip() -> None:
    buttons = buttons_of(3)
    assert all(configured_name(press) == name for name, press in buttons.items())
    assert buttons["draw 3"] == Press(Button.DRAW, Seat(2))


def test_the_button_of_an_unoccupied_seat_is_ignored() -> None:
    assert intended("call 3") == ()


@pytest.mark.parametrize(
    ("kind", "button"),
    [(PressKind.SHORT, Button.CALL), (PressKind.LONG, Button.KNOCK), (PressKind.DOUBLE, Button.DRAW)],
)
def test_a_single_button_per_player_has_three_meanings(kind: PressKind, button: Button) -> None:
    assert intended("call 2", kind) == (Press(button, Seat(1)),)
    assert intended("call", kind) == (Press(button),)


def test_a_double_press_of_another_button_counts_twice() -> None:
    assert intended("undo", PressKind.DOUBLE) == (Press(Button.UNDO), Press(Button.UNDO))
    assert intended("undo", PressKind.LONG) == (Press(Button.UNDO),)


def test_a_knock_belongs_to_the_seat_at_its_side() -> None:
    assert knock_meant(ClassifiedSound(5, 1, 0.25, 0.75), 2) == KnockHeard(Seat(1), 0.25, 0.75)
    assert knock_meant(ClassifiedSound(5, 2, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)
    assert knock_meant(ClassifiedSound(5, None, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)


def test_another_sound_has_the_probability_of_a_pass() -> None:
    nail = ClassifiedSound(5, None, 0.25, 0.75, Sound.NAIL, 0, hit=0.3)
    assert knock_meant(nail, 2) == KnockHeard(None, 0.25, 0.3)
