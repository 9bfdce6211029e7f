"""Tests of a live game's output: the board and virtual panel in a terminal, plain lines elsewhere, and JSON."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from engine import BONES, Inferred, NewHand, Play, Seat, Seq, Tile, replay
from hardware.display.page import DisplayPage, ScoreLine
from hardware.leds.drivers import LedsRole
from hardware.leds.lamps import OFF
from hardware.part import Rgb
from hardware.table import LedsLook, PanelLook, VirtualLedsSettings, VirtualPanel
from tallybone.plain_text import capitalized
from tallybone.play.display import PANEL_ROWS, BoardDisplay, JsonDisplay, PlainDisplay, display_for, draw_panel
from tallybone.play.game import LiveState
from tallybone.play.parts import buttons_of
from tallybone.session.feeding import feed
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import Step, opened
from tallybone.terminal import Output
from tests.tallybone.in_question import asked
from tests.tallybone.sources.test_camera import Clock

SESSION, SAID = opened(BONES, ("Ann", "Ben"))
OPENING = Step(0, SESSION, SAID)
ASKED = asked()


def now(session: Session = SESSION, *, is_healthy: bool = True) -> LiveState:
    return LiveState(session, (1280, 720), "10 a second, settled", "recorded in a.mcap", is_healthy)


def drawn(display: BoardDisplay, at: LiveState, console: Console) -> list[str]:
    """Return the lines of the whole terminal."""
    with console.capture() as shown:
        console.print(display._drawn(at))
    return shown.get().splitlines()


def board(columns: int = 80, rows: int = 24) -> tuple[BoardDisplay, Console]:
    console = Console(file=StringIO(), width=columns, height=rows, no_color=True)
    return BoardDisplay(console, Clock()), console


def test_lines_and_totals_are_marked_as_provisional() -> None:
    lead = Play(Seat(0), Tile.parse("5-5"))
    marked = replace(SESSION, state=replay((*SESSION.state.log, NewHand(), lead, Inferred((Seq(2),)))))
    assert [line["provisional"] for line in Step(0, marked, SAID).lines] == [True] * len(SAID)
    assert [line["provisional"] for line in OPENING.lines] == [False] * len(SAID)
    display, console = board()
    assert "~10" in "\n".join(drawn(display, now(marked), console))
    plain = Console(file=StringIO(), width=80)
    PlainDisplay(plain).continues(marked)
    assert plain.file.getvalue() == "     the match goes on  (Ann ~10, Ben ~0)\n"  # type: ignore[attr-defined]


def test_a_question_is_shown_with_its_numbered_answers() -> None:
    display, console = board()
    shown = "\n".join(drawn(display, now(ASKED), console))
    question = ASKED.open_question
    assert question is not None
    assert "? What is the score?" in shown
    for number, choice in enumerate(question.choices, start=1):
        assert f"{number}  {capitalized(choice)}" in shown
    assert "1-9: answer" in shown


def test_the_newest_event_is_at_the_top() -> None:
    display, console = board(rows=40)
    dealt, announcements = feed(SESSION, Press(Button.NEXT))
    display.happened(OPENING)
    display.happened(Step(1, dealt, announcements))
    lines = drawn(display, now(dealt), console)
    first = next(at for at, line in enumerate(lines) if "match: Ann, Ben" in line)
    assert any("hand 1" in line for line in lines[4:first])


def test_a_note_replaces_the_recording_until_the_next_event() -> None:
    display, console = board()
    display.note("usb:0 gives no pictures")
    shown = "\n".join(drawn(display, now(is_healthy=False), console))
    assert "usb:0 gives no pictures" in shown
    assert "recorded in" not in shown
    display.happened(OPENING)
    assert "recorded in a.mcap" in "\n".join(drawn(display, now(), console))
    assert "recorded in a.mcap    page http://x  PIN 1" in "\n".join(
        drawn(display, replace(now(), page="page http://x  PIN 1"), console)
    )
    display.note("bad\x1b[31mname")
    assert "\x1b[31m" not in "\n".join(drawn(display, now(), console))


def test_a_prompt_takes_precedence_over_the_help() -> None:
    display, console = board()
    display.typed("", wants_help=True)
    assert "answer the question" in "\n".join(drawn(display, now(), console))
    display.typed("knock: who? 1 Ann", wants_help=True)
    assert drawn(display, now(), console)[-1].startswith(" knock: who?")


def test_without_a_terminal_announcements_are_lines_and_the_board_is_last() -> None:
    out = StringIO()
    console = Console(file=out, width=80)
    with display_for(console, Output("play", out, out), Clock(), as_json=False) as display:
        assert isinstance(display, PlainDisplay)
        display.happened(OPENING)
        display.show(now())
        display.continues(SESSION)
        display.note("the camera is back")
    shown = out.getvalue()
    lines = shown.splitlines()
    assert lines[0].strip() == "match: Ann, Ben  (Ann 0, Ben 0)"
    assert "the match goes on  (Ann 0, Ben 0)" in lines[1]
    assert lines[2].strip() == "the camera is back"
    assert "bones to 150" in shown


def test_json_output_has_a_line_per_announcement_and_no_notes() -> None:
    out, notes = StringIO(), StringIO()
    display = JsonDisplay(Output("play", out, notes))
    ambiguity = ASKED.open_question
    assert ambiguity is not None
    display.happened(replace(OPENING, announcements=(*SAID, ambiguity)))
    display.continues(SESSION)
    display.note("the camera is back")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[0]["event"] == "match_started"
    assert "unclear" in [line["event"] for line in lines]
    resumed = {"t_ns": 0, "event": "resumed", "text": "the match goes on", "totals": [0, 0], "provisional": False}
    assert lines[-1] == resumed
    assert "the camera is back" in notes.getvalue()


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


def test_the_display_and_leds_are_drawn() -> None:
    lines = draw_panel(LOOK, ("Ann", "Ben"))
    assert len(lines) == PANEL_ROWS
    assert [line.plain[1:23] for line in lines] == [f"┌{'─' * 20}┐", *(f"│{row}│" for row in SCREEN), f"└{'─' * 20}┘"]
    assert lines[0].plain[24:] == "● Ann  ○ Ben  "
    assert lines[1].plain[24:] == "● status  ○ clockwise  ○ back  ○ spell  "
    assert marked(lines, "rgb(255,255,255)") == ["●"]
    assert marked(lines, "rgb(0,90,0)") == ["●"]
    assert marked(draw_panel(LOOK, ("Ann", "Ben"), in_color=False), "rgb(255,255,255)") == []
    assert marked(lines, "reverse") == ["u undo", "C2", "b knock on the table"]
    shown = "\n".join(line.plain for line in lines)
    for text in ("space next", "h hand end", "own K1 C1 D1 O1  K2 C2 D2 O2"):
        assert text in shown


def test_leds_of_several_sets_are_named_by_their_role() -> None:
    sets = (
        LedsLook(LedsRole.SEATS, (OFF, OFF, OFF)),
        LedsLook(LedsRole.SPELL, (OFF,)),
        LedsLook(LedsRole.DIRECTION, (OFF, WHITE)),
    )
    lines = draw_panel(PanelLook(sets, (), (), frozenset(), detects_knocks=False, is_knocked=False), ("Ann", "Ben"))
    rows = ["○ Ann  ○ Ben  ○ -", "○ spell  ○ clockwise  ● back", *[""] * 4]
    assert [line.plain.strip() for line in lines] == rows


@pytest.mark.parametrize("has_panel", [False, True])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (60, 24), (80, 18)])
def test_the_board_fills_the_terminal_and_no_line_is_too_long(columns: int, rows: int, has_panel: bool) -> None:
    for session, wants_help in ((SESSION, False), (SESSION, True), (ASKED, False), (ASKED, True)):
        console = Console(file=StringIO(), width=columns, height=rows, no_color=True)
        display = BoardDisplay(console, time.monotonic_ns, panel=panel(2) if has_panel else None)
        display.happened(OPENING)
        display.typed("", wants_help=wants_help)
        lines = drawn(display, now(session), console)
        assert len(lines) == rows or (rows < 20 and wants_help)
        assert max(len(line) for line in lines) <= columns
        if has_panel and rows >= 24 and not wants_help:
            assert f" └{'─' * 20}┘" in "\n".join(lines)


def test_a_broken_part_is_in_the_footer_once() -> None:
    display, console = board()
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
