"""Draw the live scoreboard in the terminal, with totals, house tallies, the last play and the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import engine
from engine.phrases import Phrase, listed, phrase
from tallybone.plain_text import capitalized
from tallybone.session.places import Laid
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement
from tallybone.show.layout import Canvas, draw_layout, draw_legend
from tallybone.terminal import counted, format_total, format_totals

# Number of lines other than the layout: title, three lines of scores, last play, question or turn, legend.
_LINES_AROUND = 7
_MIN_TABLE_ROWS = 4


@dataclass(frozen=True, slots=True)
class Board:
    """Contents of a scoreboard.

    Attributes:
        game: The match.
        laid: Positions of the layout's tiles, in pixels of the picture.
        last: Description of the last event.
        question: The open question, or None.
        earlier: Descriptions of earlier events, newest first.
        choices: Answers to the question.
        notes: Lines at the bottom, such as the path of the recording and the keys.
        chosen: Index of the selected choice, or None.
        is_provisional: True if the totals depend on plays that were neither seen nor confirmed.
    """

    game: engine.Game
    laid: tuple[Laid, ...]
    picture_px: tuple[int, int]
    last: str = ""
    question: str | None = None
    reader: str = ""
    earlier: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()
    chosen: int | None = None
    is_provisional: bool = False


def draw_board(board: Board, *, columns: int, rows: int, in_color: bool = True) -> RenderableType:
    """Return a scoreboard with *rows* lines of *columns* cells.

    It is higher if the layout would have less than four lines.
    """
    lines_around = _LINES_AROUND + len(board.earlier) + len(board.choices) + len(board.notes)
    table_rows = max(_MIN_TABLE_ROWS, rows - lines_around)
    canvas = Canvas(columns, table_rows, board.picture_px, in_color)
    # The title: the game, its target, the hand, and the reason for provisional totals.
    game = board.game
    target = "" if game.rules.target is None else f" to {game.rules.target}"
    hand = "" if game.hand is None else f", hand {game.hand.number}, {game.hand.boneyard} in the boneyard"
    reason = "; ~ provisional: Tallybone did not see every play" if board.is_provisional else ""
    return Group(
        _line(f" {game.rules.name}{target}{hand}{reason}", board.reader, columns, style="bold"),
        _scores(board, columns),
        _cut(board.last),
        *(_cut(label, "dim") for label in board.earlier),
        draw_layout(board.game.layout, board.laid, canvas),
        _pending(board),
        *_choices(board),
        draw_legend(in_color=in_color),
        *board.notes,
    )


def summarize(announcements: Sequence[Announcement], players: Sequence[str]) -> Phrase:
    """Return announcements on a single line, such as ``Tom plays 2-1: 3 + 2 + 5 + 5 = 15, scores 15``.

    The next turn is left out, unless there is nothing else. Corrections are reported once, if they change a total.
    """
    parts: list[Phrase] = []
    revised = [each for each in announcements if isinstance(each, engine.Revised)]
    for announcement in announcements:
        match announcement:
            case engine.Turn() | engine.ShowHands():
                pass  # the pending action has its own line, unless there is nothing else to report
            case engine.Revised() if announcement is not revised[-1] or announcement.after == revised[0].before:
                pass
            case Ambiguity(text=text):
                parts.append(phrase("? {words}", words=text))
            case engine.Counted(count=count):
                parts[-1] = phrase("{what}: {sum}", what=parts[-1], sum=count)
            case engine.Scored(points=points, reason=engine.Reason.PLAY) if parts:
                parts[-1] = phrase("{what}, scores {points}", what=parts[-1], points=points)
            case engine.Scored(seat=seat, points=points):
                parts.append(phrase("{name} gets {points}", name=players[seat], points=points))
            case _:
                parts.append(engine.describe(announcement, players))
    pending = [
        engine.describe(each, players) for each in announcements if isinstance(each, engine.Turn | engine.ShowHands)
    ]
    return listed(parts or pending[-1:], "; ")


def describe_pending(game: engine.Game) -> Phrase:
    """Describe the action that the table waits for, or name the winner of the match."""
    current = engine.turn(game)
    if current is not None:
        return engine.describe(current, game.players)
    match game.phase:
        case engine.Phase.MATCH_OVER if game.winner is not None:
            return phrase("{name} wins the match", name=game.players[game.winner])
        case engine.Phase.REVEAL:
            return phrase("the hand is over: lay your tiles open")
        case _:
            return phrase("deal the next hand")


def plain_line(number: int, announcements: Sequence[Announcement], game: engine.Game, *, is_provisional: bool) -> str:
    """Return announcements and totals as a line for a file or a terminal that cannot redraw.

    The line starts with *number* only if the announcements include a play or a question.
    """
    totals = format_totals(zip(game.players, game.totals, strict=True), is_provisional=is_provisional)
    mark = f"{number:3d}" if any(isinstance(each, engine.Placed | Ambiguity) for each in announcements) else "   "
    return f"{mark}  {summarize(announcements, game.players)}  ({totals})"


def _cut(label: str, style: str = "") -> Text:
    """Return a line that ends in an ellipsis if it is too long for the terminal."""
    return Text(f" {label}", style=style, no_wrap=True, overflow="ellipsis")


def _line(left: str, right: str, columns: int, style: str) -> Text:
    """Return a line with a text at each end. The right text is dropped if there is no room."""
    text = Text(left, style=style, no_wrap=True, overflow="ellipsis")
    room = columns - len(left) - len(right) - 1
    if room >= 1:
        text.append(" " * room)
        text.append(right, style="not bold")
    return text


def _scores(board: Board, columns: int) -> Table:
    """Return the scores of all players side by side, three lines high."""
    game = board.game
    grid = Table.grid(expand=True, padding=(0, 1))
    current = engine.turn(game)
    for _ in game.players:
        grid.add_column(ratio=1, no_wrap=True)
    width = columns // len(game.players) - 2
    grid.add_row(
        *(
            _score(board, engine.Seat(seat), width, has_turn=current is not None and current.seat == seat)
            for seat in range(len(game.players))
        )
    )
    return grid


def _score(board: Board, seat: engine.Seat, width: int, *, has_turn: bool) -> Text:
    """Return a player's name, total and number of tiles in three lines, with tally marks to the right."""
    game = board.game
    name, total = game.players[seat], format_total(game.totals[seat], is_provisional=board.is_provisional)
    hand = game.hand
    tiles = "" if hand is None else counted(hand.sizes[seat], "tile")
    marks = _marks(game.tally(seat))
    room = max(8, min(18, width - max((len(line) for line in marks), default=0)))
    left = [(f"{'>' if has_turn else ' '} {name}"[:room], "bold reverse" if has_turn else "bold")]
    left += [(f"  {total}", "bold"), (f"  {tiles}", "")]
    text = Text(no_wrap=True)
    for row, (label, style) in enumerate(left):
        if row:
            text.append("\n")
        text.append(label, style=style)
        if marks:
            text.append(" " * (room - len(label)) + marks[row])
    return text


def _marks(tally: engine.HouseTally | engine.RowsTally | None) -> list[str]:
    """Return a player's tally marks as three lines, or no lines. Of a tally in rows, only the last three are shown."""
    match tally:
        case engine.HouseTally():
            return ["   ".join(lines) for lines in zip(*(house.lines() for house in tally.houses), strict=True)]
        case engine.RowsTally():
            rows = tally.lines()[-3:]
            return [row.ljust(max(len(row) for row in rows)) for row in rows] + [""] * (3 - len(rows)) if rows else []
        case None:
            return []


def _choices(board: Board) -> Iterator[Text]:
    """Yield a line for each answer. The selected answer is highlighted."""
    for place, label in enumerate(board.choices):
        mark, style = (">", "bold reverse") if place == board.chosen else (" ", "bold")
        yield _cut(f" {mark} {place + 1}  {capitalized(label)}", style)


def _pending(board: Board) -> Text:
    if board.question is not None:
        return _cut(f"? {capitalized(board.question)}", "bold reverse")
    return _cut(describe_pending(board.game), "bold")
