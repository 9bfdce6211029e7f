"""Print the score sheet of a game record, with each move, its count, points and problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from engine.record.play import Line, PlayedRecord
from engine.rules.options import changed_options
from engine.state import outcomes
from engine.state.descriptions import describe
from engine.state.outcomes import Outcome
from tallybone.show.layout import draw_text
from tallybone.terminal import printable

# Outcomes that need a remark, because the row of their move does not show them.
_REMARKED = (
    outcomes.Blocked,
    outcomes.Declined,
    outcomes.ForcedDraw,
    outcomes.Forfeited,
    outcomes.HandOver,
    outcomes.MatchOver,
    outcomes.Redealt,
    outcomes.Renamed,
    outcomes.Skipped,
    outcomes.Spelled,
    outcomes.Swapped,
    outcomes.Turned,
)
_FOLLOW_UPS = ("=", "~", "x")  # first characters of moves that repeat or correct the score of the previous tile
_INDENT = 2
_NAME_WIDTH = 12
_MOVE_WIDTH = 16
_NUMBER_WIDTH = 5
_LINES_AT_ONCE = 2000
_MAX_TOTALS = 6  # columns; with more players, each row shows only the total of its player


@dataclass(frozen=True, slots=True)
class _Row:
    """A move and its follow-up lines."""

    lines: tuple[Line, ...]

    @property
    def last(self) -> Line:
        return self.lines[-1]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(outcome for line in self.lines for outcome in line.outcomes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names by seat after the move."""
        return tuple(printable(name) for name in self.last.game.players)

    @property
    def is_play(self) -> bool:
        """True if a tile was played or stacked."""
        return any(isinstance(outcome, outcomes.Placed | outcomes.Stacked) for outcome in self.outcomes)


def print_sheet(console: Console, played: PlayedRecord, *, show: bool = False) -> None:
    """Print the score sheet of a record. With *show*, print the layout after every play as well."""
    names = tuple(printable(name) for name in played.opening.players)
    rules = played.opening.rules
    options = " ".join(f"{key}={value}" for key, value in changed_options(rules).items())
    console.print(Text(rules.name, style="bold"), Text(options), soft_wrap=True)
    sheet = _Sheet(console, names)
    # Consecutive hands with the same number are printed as one, because they cannot be distinguished.
    for number, hand in groupby(_rows(played.lines), key=lambda row: row.last.hand):
        rows = list(hand)
        sheet.add(Text())
        headings = [Text(text) for text in _total_headings(played.opening.letters, rows[0].names)]
        sheet.add_row((Text(f"Hand {number}"), Text(), Text(), Text(), *headings), style="bold")
        # Print rows and their remarks. Totals are printed only when they change.
        totals: tuple[int, ...] | None = None
        for row in rows:
            sheet.add_row(tuple(_cells(row, is_news=row.last.totals != totals)))
            totals = row.last.totals
            for remark in _remarks(row):
                sheet.add(remark, left=_name_width(names) + 2)
            if show and row.is_play:
                layout = draw_text(row.last.game.layout, sheet.width - 2 * _INDENT)
                sheet.add(layout, left=2 * _INDENT, below=1)
    sheet.print_lines()
    console.print()
    _print_result(console, played, rows[-1].names if played.lines else names)


class _Sheet:
    """Prints rows and texts.

    On a wide terminal, rows are plain lines, printed 2,000 at a time, because a table takes 0.5 ms per row. On a
    narrow terminal, they are tables.
    """

    def __init__(self, console: Console, names: tuple[str, ...]) -> None:
        self._console, self._names = console, names
        columns = _grid(console, names).columns
        total = sum((column.width or 0) + 2 for column in columns) - 2
        self._columns = columns if total <= console.width else []
        self._lines: list[Text] = []

    @property
    def width(self) -> int:
        """Width of the terminal in cells."""
        return self._console.width

    def add_row(self, cells: tuple[Text, ...], style: str = "") -> None:
        """Add a row of cells."""
        if not self._columns:
            table = _grid(self._console, self._names)
            table.add_row(*cells, style=style)
            self._print(table)
            return
        columns = [(self._wrapped(cell, column), column) for cell, column in zip(cells, self._columns, strict=False)]
        for at in range(max(len(lines) for lines, _ in columns)):
            line = Text(style=style)
            for lines, column in columns:
                shown = lines[at] if at < len(lines) else Text()
                missing = " " * ((column.width or 0) - shown.cell_len)
                line.append(missing if column.justify == "right" else "")
                if shown.plain:
                    line.append_text(shown)
                line.append("  " if column.justify == "right" else f"{missing}  ")
            line.rstrip()
            self._add_line(line)

    def add(self, text: Text, left: int = 0, below: int = 0) -> None:
        """Add a text, indented by *left* columns and followed by *below* blank lines."""
        if below:
            self._print(Padding(text, (0, 0, below, left), expand=False))
            return
        width = self.width - left
        for line in [text] if _fits(text, width) else text.wrap(self._console, width):
            self._add_line(Text(" " * left).append_text(line))

    def _wrapped(self, cell: Text, column: Column) -> Sequence[Text]:
        """Return the lines of a cell, wrapped or truncated to the width of its column."""
        width = column.width or 0
        if _fits(cell, width):
            return (cell,)
        if not column.no_wrap:
            return list(cell.wrap(self._console, width, overflow=column.overflow))
        cut = cell.copy()
        cut.truncate(width, overflow=column.overflow)
        return (cut,)

    def print_lines(self) -> None:
        """Print the buffered lines."""
        if self._lines:
            self._console.print(Text("\n").join(self._lines), soft_wrap=True)
            self._lines.clear()

    def _add_line(self, line: Text) -> None:
        self._lines.append(line)
        if len(self._lines) >= _LINES_AT_ONCE:
            self.print_lines()

    def _print(self, drawn: RenderableType) -> None:
        self.print_lines()
        self._console.print(drawn)


def _fits(text: Text, width: int) -> bool:
    """Return True if a text is a single line of at most *width* cells."""
    return text.cell_len <= width and "\n" not in text.plain


def _rows(lines: Sequence[Line]) -> Iterator[_Row]:
    """Yield moves, each with its follow-up lines by the same seat."""
    row: list[Line] = []
    for line in lines:
        same = row and (row[-1].hand, row[-1].seat) == (line.hand, line.seat)
        if row and not (same and line.action.startswith(_FOLLOW_UPS)):
            yield _Row(tuple(row))
            row = []
        row.append(line)
    if row:
        yield _Row(tuple(row))


def _grid(console: Console, names: tuple[str, ...]) -> Table:
    """Return an empty table with the columns of the sheet."""
    table = Table.grid(padding=(0, 2, 0, 0))
    name_width = _name_width(names)
    totals = min(len(names), _MAX_TOTALS + 1)
    totals = totals if totals <= _MAX_TOTALS else 1
    fixed = name_width + _MOVE_WIDTH + (1 + totals) * (_NUMBER_WIDTH + 2) + 4
    table.add_column(width=name_width, no_wrap=True, overflow="ellipsis")
    table.add_column(width=_MOVE_WIDTH, overflow="fold")
    table.add_column(width=max(12, min(44, console.width - fixed - 2)))
    for _ in range(1 + totals):
        table.add_column(width=_NUMBER_WIDTH, no_wrap=True, overflow="ellipsis", justify="right")
    return table


def _name_width(names: tuple[str, ...]) -> int:
    """Return the width of the first column, for names and hand numbers."""
    return max(_INDENT + min(_NAME_WIDTH, max(map(len, names))), len("Hand 10"))


def _total_headings(letters: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings of the totals: each name if it fits, else its letter. Or one heading for too many players."""
    if len(names) > _MAX_TOTALS:
        return ("total",)
    return tuple(name if len(name) <= _NUMBER_WIDTH else letter for name, letter in zip(names, letters, strict=True))


def _cells(row: _Row, *, is_news: bool) -> Iterator[Text]:
    """Yield the cells of a row. Totals are included only if *is_news*."""
    last = row.last
    game = last.game
    seat = last.seat_at
    yield Text(" " * _INDENT + row.names[seat])
    yield Text(" ".join(line.action for line in row.lines))
    counts = row.is_play and game.rules.unit is not None and last.summed is not None
    yield Text(str(last.summed) if counts else "")
    points = sum(line.points for line in row.lines)
    yield Text(f"{points:+}" if points else "", style="bold green" if points > 0 else "bold red")
    if not is_news:
        return
    if len(last.totals) > _MAX_TOTALS:
        yield Text(str(last.totals[seat]))
    else:
        yield from (Text(str(total)) for total in last.totals)


def _remarks(row: _Row) -> Iterator[Text]:
    """Yield the problems of a move, then its outcomes that need a remark."""
    for line in row.lines:
        if line.problem is not None:
            place = f"line {line.place.line}, column {line.place.column}: " if line.place.line else ""
            yield Text(f"! {place}{printable(line.problem)}", style="red")
    for outcome in row.outcomes:
        if isinstance(outcome, _REMARKED) or (isinstance(outcome, outcomes.ShowHands) and outcome.out is None):
            style = "bold" if isinstance(outcome, outcomes.HandOver | outcomes.MatchOver) else "dim"
            yield Text(f"{describe(outcome, row.names)}", style=style)


def _print_result(console: Console, played: PlayedRecord, names: tuple[str, ...]) -> None:
    result = played.result
    totals = ", ".join(f"{name} {total}" for name, total in zip(names, result.totals, strict=True))
    console.print(Text(totals, style="bold"))
    console.print(Text(printable(result.reason)))
    if result.problems:
        moves = "1 move has" if result.problems == 1 else f"{result.problems} moves have"
        console.print(Text(f"{moves} a problem", style="red"))
