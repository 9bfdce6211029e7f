"""Tests of a live game's output: the board in a terminal, plain lines elsewhere, and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from engine import BONES, Inferred, NewHand, Play, Seat, Seq, Tile, replay
from tallybone.plain_text import capitalized
from tallybone.play.display import BoardDisplay, JsonDisplay, PlainDisplay, display_for
from tallybone.play.game import LiveState
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


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (60, 24)])
@pytest.mark.parametrize("session", [SESSION, ASKED], ids=["begun", "asked"])
@pytest.mark.parametrize("wants_help", [False, True])
def test_the_board_fills_the_terminal_and_no_line_is_too_long(
    columns: int, rows: int, session: Session, wants_help: bool
) -> None:
    display, console = board(columns, rows)
    display.happened(OPENING)
    display.typed("", wants_help=wants_help)
    lines = drawn(display, now(session), console)
    assert len(lines) == rows
    assert max(len(line) for line in lines) <= columns


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


def test_the_footer_shows_the_address_of_the_page() -> None:
    display, console = board()
    assert "recorded in a.mcap    page http://x  PIN 1" in "\n".join(
        drawn(display, replace(now(), page="page http://x  PIN 1"), console)
    )


def test_a_prompt_takes_precedence_over_the_help() -> None:
    display, console = board()
    display.typed("", wants_help=True)
    assert "answer the question" in "\n".join(drawn(display, now(), console))
    display.typed("knock: who? 1 Ann", wants_help=True)
    assert drawn(display, now(), console)[-1].startswith(" knock: who?")


def test_control_characters_are_removed() -> None:
    display, console = board()
    display.note("bad\x1b[31mname")
    assert "\x1b[31m" not in "\n".join(drawn(display, now(), console))


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
    assert lines[-1] == {
        "t_ns": 0,
        "event": "resumed",
        "text": "the match goes on",
        "totals": [0, 0],
        "provisional": False,
    }
    assert "the camera is back" in notes.getvalue()
