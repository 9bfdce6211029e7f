"""Tests of the terminal scoreboard: legible at every size, with and without colour."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from io import StringIO

import pytest
from rich.console import Console

from engine import (
    BONES,
    Counted,
    Draw,
    Lead,
    MatchStart,
    Must,
    NewHand,
    Phase,
    Placed,
    Play,
    Port,
    Revised,
    Scored,
    Seat,
    Spot,
    Tile,
    Turn,
    apply,
    replay,
)
from engine import NodeId as Id
from engine.phrases import listed, phrase
from tallybone.session.feeding import feed
from tallybone.session.places import Footprint, Laid
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Input, Session
from tallybone.show.layout import Canvas, draw_layout
from tallybone.show.scoreboard import Board, describe_pending, draw_board, plain_line, summarize
from tests.tallybone.session.test_referee import seen
from tests.tallybone.truth_eye import game, game_of, newest_tile, placed
from vision.reading import SeenTile

PICTURE_PX = (1280, 720)
SEEDS = (1, 2, 34)


@cache
def boards(seed: int) -> tuple[Board, ...]:
    """Return the scoreboard of a demo after each step."""
    table, steps = game(seed)
    session, shown, outside = Session(), [], tuple[SeenTile, ...]()
    for step in steps:
        event: Input = step.event
        if step.is_seen:
            event = placed(tile := newest_tile(table, step), before=outside)
            outside = (*outside, tile)
        session, outcomes = feed(session, event, t_ns=session.t_ns + 3_000_000_000)
        live = game_of(session)
        summary = summarize(outcomes, live.players)
        shown.append(Board(live, session.places.laid, PICTURE_PX, summary, reader="picture 3, read in 300 ms"))
    return tuple(shown)


def printed(board: Board, columns: int, rows: int, *, in_color: bool) -> str:
    out = StringIO()
    console = Console(file=out, width=columns, force_terminal=in_color, color_system="truecolor" if in_color else None)
    console.print(draw_board(board, columns=columns, rows=rows, in_color=in_color))
    return out.getvalue()


@pytest.mark.parametrize(("columns", "rows"), [(80, 23), (120, 39), (200, 60), (40, 14)])
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_the_board_fits_the_terminal(seed: int, columns: int, rows: int) -> None:
    for board in boards(seed)[::4]:
        lines = printed(board, columns, rows, in_color=False).splitlines()
        assert len(lines) == rows
        assert max(len(line) for line in lines) <= columns


@pytest.mark.parametrize(("columns", "rows"), [(80, 16), (100, 24), (120, 32), (200, 53)])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_number_on_the_table_is_legible(seed: int, columns: int, rows: int) -> None:
    for board in boards(seed)[2::2]:
        drawn = draw_layout(board.game.layout, board.laid, Canvas(columns, rows, PICTURE_PX, in_color=False)).plain
        numbers = sorted(int(character) for character in drawn if character.isdigit())
        assert numbers == sorted(pips for tile in board.game.layout.tiles for pips in (tile.low, tile.high))


def test_a_small_terminal_shows_the_newest_tile() -> None:
    for board in boards(1):
        drawn = draw_layout(board.game.layout, board.laid, Canvas(30, 6, PICTURE_PX, in_color=False)).plain
        if board.game.layout.nodes:
            newest = board.game.layout.nodes[-1].tile
            assert {str(newest.low), str(newest.high)} <= set(drawn)


def layout_in_plain_text(*plays: Play, places: tuple[Footprint, ...], columns: int = 40, rows: int = 9) -> list[str]:
    state = replay([MatchStart(BONES, ("Brian", "Tom")), NewHand(), *plays])
    laid = tuple(Laid(node.id, place) for node, place in zip(game_of(state).layout.nodes, places, strict=True))
    canvas = Canvas(columns, rows, (560, 320), in_color=False)
    return [
        line.strip() for line in draw_layout(game_of(state).layout, laid, canvas).plain.splitlines() if line.strip()
    ]


def place_at(a: float, c: float, *, lies_along: bool = True) -> Footprint:
    return Footprint.square((280 + 40 * a, 160 + 40 * c), 0.0, 40.0, lies_along=lies_along)


def test_draws_a_line_with_its_spinner() -> None:
    five = Play(Seat(0), Tile.parse("5-5"))
    west = Play(Seat(1), Tile.parse("5-4"), Spot(Id(2), Port.W))
    east = Play(Seat(0), Tile.parse("5-3"), Spot(Id(2), Port.E))
    west_place = place_at(-1.5, 0).reversed()
    places = (place_at(0, 0, lies_along=False), west_place, place_at(1.5, 0))
    assert layout_in_plain_text(five, west, east, places=places) == ["(4|5] {5}[5|3)", "{5}"]


def test_an_elbow_is_upright() -> None:
    five = Play(Seat(0), Tile.parse("5-5"))
    down = Play(Seat(1), Tile.parse("5-4"), Spot(Id(2), Port.E))
    place = Footprint.square((280, 240), 1.5708, 40.0)
    spinner = Footprint.square((280, 160), 1.5708, 40.0, lies_along=False)
    assert layout_in_plain_text(five, down, places=(spinner, place)) == ["{5|5}", "[5]", "(4)"]


def test_colour_marks_ends_the_spinner_and_the_newest_tile() -> None:
    board = next(board for board in boards(2) if len(board.game.layout.nodes) == 3)
    text = printed(board, 80, 23, in_color=True)
    for rgb in ("255;205;70", "190;20;20", "255;255;255", "28;74;50"):
        assert rgb in text
    assert "\x1b" not in printed(boards(2)[-1], 80, 23, in_color=False)


def test_shows_names_totals_tally_and_turn() -> None:
    # Seed 2: Ann 30 as X, O; Ben 75 as a full house and a half.
    text = printed(boards(2)[-1], 80, 23, in_color=False)
    (ann, ben) = boards(2)[-1].game.totals
    for word in ("Ann", "Ben", str(ann), str(ben), "-+-", "bones to 150", "picture 3, read in 300 ms"):
        assert word in text
    assert "> " in printed(boards(2)[5], 80, 23, in_color=False)


def test_totals_are_marked_if_plays_were_missed() -> None:
    board = boards(2)[-1]
    (ann, ben) = board.game.totals
    text = printed(replace(board, is_provisional=True), 100, 23, in_color=False)
    for word in (f"  ~{ann} ", f"  ~{ben} ", "; ~ provisional: Tallybone did not see every play"):
        assert word in text
    assert "~" not in printed(board, 100, 23, in_color=False)


def test_a_question_replaces_the_turn() -> None:
    board = boards(2)[6]
    with_question = Board(board.game, board.laid, PICTURE_PX, question="does the 3-3 touch the 5-3 or the 4-3?")
    text = printed(with_question, 80, 23, in_color=False)
    assert "? Does the 3-3 touch the 5-3 or the 4-3?" in text
    assert describe_pending(board.game) in printed(board, 80, 23, in_color=False)
    assert describe_pending(board.game) not in text


def test_a_play_is_summarised_with_its_sum_and_a_plain_line_has_all_totals() -> None:
    state = replay([MatchStart(BONES, ("Brian", "Tom")), NewHand(), Play(Seat(0), Tile.parse("5-5"))])
    _, outcomes = apply(state, Play(Seat(1), Tile.parse("5-0"), Spot(Id(2), Port.E)))
    assert [type(outcome) for outcome in outcomes][:3] == [Placed, Counted, Scored]
    assert summarize(outcomes, ("Brian", "Tom")) == "Tom plays 5-0: 5 + 5 + 0 = 10, scores 10"
    after, outcomes = apply(state, Play(Seat(1), Tile.parse("5-1"), Spot(Id(2), Port.E)))
    line = plain_line(2, outcomes, game_of(after), is_provisional=False)
    assert line == "  2  Tom plays 5-1: 5 + 5 + 1 = 11  (Brian 10, Tom 0)"
    after, outcomes = apply(after, Draw(Seat(0)))
    line = plain_line(2, outcomes, game_of(after), is_provisional=True)
    assert line == "     Brian draws 1 tile, 13 left  (Brian ~10, Tom ~0)"


def test_corrections_are_summarised_once_and_only_if_a_total_changes() -> None:
    revised = (Revised((10, 0), (0, 0)), Revised((0, 0), (10, 5)))
    assert summarize(revised, ("Brian", "Tom")) == "corrected: Brian 10, Tom 5"
    turn = Turn(Seat(1), Must.LEAD_ANY)
    assert summarize((revised[0], Revised((0, 0), (10, 0)), turn), ("Brian", "Tom")) == "Tom: lead any tile"
    _, outcomes = apply(replay([MatchStart(BONES, ("Brian", "Tom")), NewHand()]), Lead(Seat(1)))
    assert summarize(outcomes, ("Brian", "Tom")) == "Tom: lead the highest double"
    assert summarize([Ambiguity(seen((3, 3), (0, 0)), "which one?")], ("Brian", "Tom")) == "? which one?"


def test_choices_start_with_a_capital_letter_but_names_stay() -> None:
    choices = (phrase("something else"), listed((phrase("{name} {total}", name="de Vries", total=5), "as it is")))
    board = replace(boards(2)[6], question="what is the score?", choices=choices)
    text = printed(board, 80, 23, in_color=False)
    for line in ("? What is the score?", "1  Something else", "2  de Vries 5, as it is"):
        assert line in text


def test_every_phase_has_a_pending_action() -> None:
    shown = {board.game.phase: describe_pending(board.game) for seed in SEEDS for board in boards(seed)}
    assert set(shown) >= {Phase.DEAL, Phase.LEAD, Phase.PLAY, Phase.REVEAL}
    assert shown[Phase.REVEAL] == "the hand is over: lay your tiles open"
