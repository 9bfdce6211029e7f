"""Draw the live scoreboard of the terminal: names, totals, house tally, the last play with its sum, and the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine import (
    Counted,
    Game,
    HouseTally,
    Phase,
    Placed,
    Reason,
    RowsTally,
    Scored,
    Seat,
    ShowHands,
    Turn,
    describe,
    turn,
)
from engine.phrases import Phrase, listed, phrase
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Announcement
from tallybone.session.touching import Laid
from tallybone.show.layout import Canvas, draw_layout, draw_legend
from tallybone.terminal import counted, format_total, format_totals

# Title, three lines of scores, last play; question or turn, legend.
_LINES_AROUND = 7
_LEAST_TABLE_ROWS = 4


@dataclass(frozen=True, slots=True)
class Board:
    """The contents of a scoreboard.

    Attributes:
        game: The match.
        laid: Where the tiles of the layout lie, in pixels of the picture.
        picture_px: Width and height of the picture.
        last: The last event, in words.
        question: The open question; None for none.
        eye: The state of the eye, in words.
        earlier: The events before it, the newest first.
        choices: The answers to the question.
        notes: Lines below all else: where it is recorded, what the keys are.
        chosen: Which of the choices a button takes; None for none.
        is_provisional: Whether the totals rely on plays that nobody saw or confirmed.
    """

    game: Game
    laid: tuple[Laid, ...]
    picture_px: tuple[int, int]
    last: str = ""
    question: str | None = None
    eye: str = ""
    earlier: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()
    chosen: int | None = None
    is_provisional: bool = False


def draw_board(board: Board, *, columns: int, rows: int, in_color: bool = True) -> RenderableType:
    """Return the scoreboard of *rows* lines and at most *columns* cells a line."""
    lines_around = _LINES_AROUND + len(board.earlier) + len(board.choices) + len(board.notes)
    table_rows = max(_LEAST_TABLE_ROWS, rows - lines_around)
    canvas = Canvas(columns, table_rows, board.picture_px, in_color)
    return Group(
        _line(_title(board), board.eye, columns, style="bold"),
        _scores(board, columns),
        _cut(board.last),
        *(_cut(words, "dim") for words in board.earlier),
        draw_layout(board.game.layout, board.laid, canvas),
        _waits(board),
        *_choices(board),
        draw_legend(in_color=in_color),
        *board.notes,
    )


def tell(said: Sequence[Announcement], players: Sequence[str]) -> Phrase:
    """Return announcements in one line, as ``Tom plays 2-1: 3 + 2 + 5 + 5 = 15, scores 15``."""
    parts: list[Phrase] = []
    for one in said:
        match one:
            case Turn() | ShowHands():
                pass  # what the table waits for has its own line, unless nothing else happened
            case Ambiguity(words=words):
                parts.append(phrase("? {words}", words=words))
            case Counted(count=count):
                parts[-1] = phrase("{what}: {sum}", what=parts[-1], sum=count)
            case Scored(points=points, reason=Reason.PLAY) if parts:
                parts[-1] = phrase("{what}, scores {points}", what=parts[-1], points=points)
            case Scored(seat=seat, points=points):
                parts.append(phrase("{name} gets {points}", name=players[seat], points=points))
            case _:
                parts.append(describe(one, players))
    waits = [describe(one, players) for one in said if isinstance(one, Turn | ShowHands)]
    return listed(parts or waits[-1:], "; ")


def waits_for(game: Game) -> Phrase:
    """Return what the table waits for, in words."""
    whose = turn(game)
    if whose is not None:
        return describe(whose, game.players)
    match game.phase:
        case Phase.MATCH_OVER if game.winner is not None:
            return phrase("{name} wins the match", name=game.players[game.winner])
        case Phase.REVEAL:
            return phrase("the hand is over: lay your tiles open")
        case _:
            return phrase("the next hand is to be dealt")


def plain_line(number: int, said: Sequence[Announcement], game: Game, *, is_provisional: bool) -> str:
    """Return announcements and the totals, for a file or a terminal that cannot redraw."""
    totals = format_totals(zip(game.players, game.totals, strict=True), is_provisional=is_provisional)
    mark = f"{number:3d}" if any(isinstance(one, Placed | Ambiguity) for one in said) else "   "
    return f"{mark}  {tell(said, game.players)}  ({totals})"


def _title(board: Board) -> str:
    """Return the game, its target if it has one, the hand, and the reason why totals are provisional."""
    game = board.game
    aim = "" if game.rules.target is None else f" to {game.rules.target}"
    hand = "" if game.hand is None else f", hand {game.hand.number}, {game.hand.boneyard} in the boneyard"
    reason = "; ~ provisional: some plays were not seen" if board.is_provisional else ""
    return f" {game.rules.name}{aim}{hand}{reason}"


def _cut(words: str, style: str = "") -> Text:
    """Return one line that ends in dots where there is no room."""
    return Text(f" {words}", style=style, no_wrap=True, overflow="ellipsis")


def _line(left: str, right: str, columns: int, style: str) -> Text:
    """Return one line with a text at each end; the right one goes where there is no room."""
    text = Text(left, style=style, no_wrap=True, overflow="ellipsis")
    room = columns - len(left) - len(right) - 1
    if room >= 1:
        text.append(" " * room)
        text.append(right, style="not bold")
    return text


def _scores(board: Board, columns: int) -> Table:
    """Return the names, totals and marks, side by side, three lines high."""
    game = board.game
    grid = Table.grid(expand=True, padding=(0, 1))
    whose = turn(game)
    for _ in game.players:
        grid.add_column(ratio=1, no_wrap=True)
    width = columns // len(game.players) - 2
    grid.add_row(
        *(
            _score(board, Seat(seat), width, has_turn=whose is not None and whose.seat == seat)
            for seat in range(len(game.players))
        )
    )
    return grid


def _score(board: Board, seat: Seat, width: int, *, has_turn: bool) -> Text:
    """Return name and total, with the house marks to the right of them, in three lines."""
    game = board.game
    name, total = game.players[seat], format_total(game.totals[seat], is_provisional=board.is_provisional)
    hand = game.hand
    tiles = "" if hand is None else counted(hand.sizes[seat], "tile")
    marks = _marks(game.tally(seat))
    room = max(8, min(18, width - max((len(line) for line in marks), default=0)))
    left = [(f"{'>' if has_turn else ' '} {name}"[:room], "bold reverse" if has_turn else "bold")]
    left += [(f"  {total}", "bold"), (f"  {tiles}", "")]
    text = Text(no_wrap=True)
    for row, (words, style) in enumerate(left):
        if row:
            text.append("\n")
        text.append(words, style=style)
        if marks:
            text.append(" " * (room - len(words)) + marks[row])
    return text


def _marks(tally: HouseTally | RowsTally | None) -> list[str]:
    """Return the marks of a player in up to three lines; of rows the last three."""
    match tally:
        case HouseTally():
            return ["   ".join(lines) for lines in zip(*(house.lines() for house in tally.houses), strict=True)]
        case RowsTally():
            rows = tally.lines()[-3:]
            return [row.ljust(max(len(row) for row in rows)) for row in rows] + [""] * (3 - len(rows)) if rows else []
        case None:
            return []


def _choices(board: Board) -> Iterator[Text]:
    """Yield a line for each answer; the one that is chosen is marked."""
    for place, words in enumerate(board.choices):
        mark, style = (">", "bold reverse") if place == board.chosen else (" ", "bold")
        yield _cut(f" {mark} {place + 1}  {words}", style)


def _waits(board: Board) -> Text:
    if board.question is not None:
        return _cut(f"? {board.question}", "bold reverse")
    return _cut(waits_for(board.game), "bold")
