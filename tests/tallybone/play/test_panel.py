"""Tests of the virtual panel in a terminal: all parts, at every size, next to the board."""

from __future__ import annotations

import time
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from hardware.display.page import DisplayPage, ScoreLine
from hardware.leds.drivers import LedsRole
from hardware.leds.lamps import OFF
from hardware.part import Rgb
from hardware.table import LedsLook, PanelLook, VirtualLedsSettings, VirtualPanel
from tallybone.play.display import PANEL_ROWS, BoardDisplay, draw_panel
from tallybone.play.parts import buttons_of
from tallybone.session.session import Session
from tests.tallybone.play.test_display import ASKED, OPENING, SESSION, drawn, now

WHITE, GREEN = Rgb(255, 255, 255), Rgb(0, 90, 0)
SCREEN = (">Ann              35", " Ben               5", "Ann +15             ", " " * 20)
LOOK = PanelLook(
    (LedsLook(LedsRole.ALL, (WHITE, OFF, GREEN, OFF, OFF, OFF)),),
    SCREEN,
    tuple(buttons_of(2)),
    frozenset({"undo", "call 2"}),
    detects_knocks=True,
    is_knocked=True,
)


def panel(players: int) -> VirtualPanel:
    virtual = VirtualPanel(tuple(buttons_of(players)))
    virtual.open_leds(VirtualLedsSettings(driver="virtual", count=players + 4))
    virtual.open_buttons()
    virtual.open_knock()
    virtual.open_display().show(DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 5)), "Ann +15"))
    return virtual


def marked(lines: tuple[Text, ...], style: str) -> list[str]:
    """Return the texts in a style."""
    return [
        line.plain[span.start : span.end] for line in lines for span in line.spans if style in str(span.style).split()
    ]


def test_the_display_is_drawn_in_a_box() -> None:
    lines = [line.plain for line in draw_panel(LOOK, ("Ann", "Ben"))]
    assert len(lines) == PANEL_ROWS
    assert [line[1:23] for line in lines] == [f"┌{'─' * 20}┐", *(f"│{row}│" for row in SCREEN), f"└{'─' * 20}┘"]


def test_each_led_is_a_dot_of_its_colour_with_its_name() -> None:
    lines = draw_panel(LOOK, ("Ann", "Ben"))
    assert lines[0].plain[24:] == "● Ann  ○ Ben  "
    assert lines[1].plain[24:] == "● status  ○ clockwise  ○ back  ○ spell  "
    assert marked(lines, "rgb(255,255,255)") == ["●"]
    assert marked(lines, "rgb(0,90,0)") == ["●"]
    assert marked(draw_panel(LOOK, ("Ann", "Ben"), in_color=False), "rgb(255,255,255)") == []


def test_leds_of_several_sets_are_named_by_their_role() -> None:
    sets = (
        LedsLook(LedsRole.SEATS, (OFF, OFF, OFF)),
        LedsLook(LedsRole.SPELL, (OFF,)),
        LedsLook(LedsRole.DIRECTION, (OFF, WHITE)),
    )
    lines = draw_panel(PanelLook(sets, (), (), frozenset(), detects_knocks=False, is_knocked=False), ("Ann", "Ben"))
    assert [line.plain.strip() for line in lines] == [
        "○ Ann  ○ Ben  ○ -",
        "○ spell  ○ clockwise  ● back",
        "",
        "",
        "",
        "",
    ]


def test_pressed_and_heard_parts_are_highlighted() -> None:
    lines = draw_panel(LOOK, ("Ann", "Ben"))
    assert marked(lines, "reverse") == ["u undo", "C2", "b knock on the table"]
    shown = "\n".join(line.plain for line in lines)
    for text in ("space next", "h hand end", "own K1 C1 D1 O1  K2 C2 D2 O2"):
        assert text in shown


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (60, 24), (80, 18)])
@pytest.mark.parametrize("session", [SESSION, ASKED], ids=["begun", "asked"])
@pytest.mark.parametrize("wants_help", [False, True])
def test_the_board_with_the_panel_fills_the_terminal_and_no_line_is_too_long(
    columns: int, rows: int, session: Session, wants_help: bool
) -> None:
    console = Console(file=StringIO(), width=columns, height=rows, no_color=True)
    display = BoardDisplay(console, time.monotonic_ns, panel=panel(2))
    display.happened(OPENING)
    display.typed("", wants_help=wants_help)
    lines = drawn(display, now(session), console)
    assert len(lines) == rows or (rows < 20 and wants_help)
    assert max(len(line) for line in lines) <= columns
    if rows >= 24 and not wants_help:
        assert f" └{'─' * 20}┘" in "\n".join(lines)


def test_a_broken_part_is_in_the_footer_once() -> None:
    console = Console(file=StringIO(), width=80, height=24, no_color=True)
    display = BoardDisplay(console, time.monotonic_ns)
    problem = "hardware.displays: the display on /dev/ttyUSB0 does not respond: check that it is plugged in"
    display.note(problem)
    lines = drawn(display, replace(now(), parts=(problem,)), console)
    assert len(lines) == 24
    assert sum("hardware.displays" in line for line in lines) == 1
    assert "recorded in a.mcap" in "\n".join(lines)


def test_many_broken_parts_leave_room_for_the_game() -> None:
    console = Console(file=StringIO(), width=80, height=24, no_color=True)
    display = BoardDisplay(console, time.monotonic_ns, panel=panel(2))
    lines = drawn(
        display, replace(now(), parts=tuple(f"hardware.leds {number}: gone" for number in range(1, 6))), console
    )
    assert len(lines) == 24
    feet = ["hardware.leds 1: gone", "hardware.leds 2: gone", "hardware.leds 3: gone", "and 2 more parts do not work"]
    assert [line.strip() for line in lines[-5:-1]] == feet


def test_without_virtual_parts_there_is_no_panel() -> None:
    console = Console(file=StringIO(), width=80, height=24, no_color=True)
    empty = BoardDisplay(console, time.monotonic_ns, panel=VirtualPanel(()))
    none = BoardDisplay(console, time.monotonic_ns)
    assert drawn(empty, now(), console) == drawn(none, now(), console)
