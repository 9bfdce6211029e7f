"""Tests of the virtual panel: output, presses and knocks, from any thread."""

from __future__ import annotations

import threading

import pytest

from hardware.buttons.panel import ButtonError, PressKind
from hardware.display.page import DisplayPage, ScoreLine
from hardware.leds.drivers import LedsRole
from hardware.leds.lamps import OFF, LedError
from hardware.part import Rgb
from hardware.table import LedsLook, PanelLook, VirtualLedsSettings, VirtualPanel

S = 1_000_000_000
RED = Rgb(255, 0, 0)
LEDS = VirtualLedsSettings(driver="virtual", shows=LedsRole.SEATS, count=2)


def test_unopened_parts_are_not_on_the_panel() -> None:
    panel = VirtualPanel(("undo",))
    assert panel.look(0) == PanelLook((), (), (), frozenset(), detects_knocks=False, is_knocked=False)
    assert not panel.has_button("undo")
    panel.press("undo", 0)
    panel.knock(0)
    assert panel.open_buttons().read() == ()
    sensor = panel.open_knock()
    sensor.start()
    assert sensor.read() == ()


def test_leds_are_dark_until_lit_and_the_display_shows_a_page() -> None:
    panel = VirtualPanel(())
    leds = panel.open_leds(LEDS)
    assert panel.look(0).leds == (LedsLook(LedsRole.SEATS, (OFF, OFF)),)
    leds.write((RED, OFF))
    assert panel.look(0).leds == (LedsLook(LedsRole.SEATS, (RED, OFF)),)
    leds.release()
    with pytest.raises(LedError, match="are closed"):
        leds.write((OFF, RED))
    panel = VirtualPanel(())
    panel.open_display().show(DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 5)), "Ann +15"))
    assert panel.look(0).screen == (
        ">Ann              35",
        " Ben               5",
        "Ann +15             ",
        "                    ",
    )


def test_a_press_is_read_and_briefly_visible() -> None:
    panel = VirtualPanel(("call 1", "undo"))
    buttons = panel.open_buttons()
    assert panel.has_button("call 1")
    assert not panel.has_button("call 3")
    panel.press("call 1", 5 * S, PressKind.LONG)
    assert [(pressed.button, pressed.press.kind, pressed.press.t_ns) for pressed in buttons.read()] == [
        ("call 1", "long", 5 * S)
    ]
    assert panel.look(5 * S).pressed == {"call 1"}
    assert panel.look(6 * S).pressed == set()
    with pytest.raises(ButtonError, match="no button redeal"):
        panel.press("redeal", 6 * S)


def test_a_knock_is_read_once_and_briefly_visible() -> None:
    panel = VirtualPanel(())
    sensor = panel.open_knock()
    sensor.start()
    panel.knock(2 * S, 1, strength=0.25, confidence=0.75)
    panel.knock(1 * S)
    assert [(knock.t_ns, knock.seat, knock.confidence) for knock in sensor.read()] == [(S, None, 1.0), (2 * S, 1, 0.75)]
    assert sensor.read() == ()
    assert panel.look(S).is_knocked
    assert not panel.look(3 * S).is_knocked


def test_the_panel_is_thread_safe() -> None:
    panel = VirtualPanel(("a", "b", "c", "d"))
    buttons = panel.open_buttons()

    def press(name: str) -> None:
        for number in range(500):
            panel.press(name, number)
            panel.look(number)

    threads = [threading.Thread(target=press, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = buttons.read()
    assert len(read) == 2000
    for name in "abcd":
        assert [pressed.press.t_ns for pressed in read if pressed.button == name] == list(range(500))
