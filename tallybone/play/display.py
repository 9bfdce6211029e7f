"""Show a live game in a terminal, as a scoreboard with the virtual panel, as plain lines or as JSON."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from engine import Game, Placed
from hardware.display.display import COLUMNS, ROWS
from hardware.leds.drivers import LedsRole
from hardware.leds.lamps import OFF
from hardware.part import Clock, Rgb
from hardware.table import LedsLook, PanelLook, VirtualPanel
from tallybone.play.game import Listener, LiveState
from tallybone.play.keys import HELP, KNOCKS, OF_A_SEAT, SHARED, footer
from tallybone.play.parts import configured_name
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.show.scoreboard import Board, draw_board, plain_line, summarize
from tallybone.terminal import Output, format_totals, printable

# Redraw interval when only status changes, such as the camera's frame rate.
_REDRAW_NS = 250_000_000
# Maximum number of failing parts listed at the bottom.
_MAX_PARTS = 3
# Redraw interval with virtual LEDs, which blink twice a second.
_REDRAW_LEDS_NS = 100_000_000
_MAX_EARLIER = 8
_CONTINUES = "the match goes on"
# Minimum height of the terminal in lines without the panel, and number of earlier announcements shown from this height.
_EARLIER = ((40, 6), (30, 4), (22, 2), (0, 0))
_PLAIN_COLUMNS = 120

PANEL_ROWS = ROWS + 2
_LIT = "●"
_DARK = "○"
_KEY_NAMES = {" ": "space"}
_NAME_COLUMNS = 9
_LABELS = {
    LedsRole.STATUS: ("status",),
    LedsRole.DIRECTION: ("clockwise", "back"),
    LedsRole.SPELL: ("spell",),
}
_AFTER_SEATS = (*_LABELS[LedsRole.STATUS], *_LABELS[LedsRole.DIRECTION], *_LABELS[LedsRole.SPELL])
_ROW_OF_BUTTONS = 6
Labelled = tuple[str, Rgb]

# Minimum number of lines, without answers and notes, for the panel to be shown: seven around the table, four for the
# table and the panel.
_MIN_ROWS_WITH_PANEL = 11 + PANEL_ROWS


@contextmanager
def display_for(
    console: Console, output: Output, clock: Clock, *, as_json: bool, panel: VirtualPanel | None = None
) -> Iterator[Listener]:
    """Yield the display for a game: JSON lines, a scoreboard, or plain lines if the terminal cannot redraw.

    The scoreboard shows the virtual parts of *panel*, if the terminal is high enough. The other displays do not.
    """
    if as_json:
        yield JsonDisplay(output)
        return
    if not console.is_terminal or console.is_dumb_terminal:
        plain = PlainDisplay(console)
        yield plain
        plain.finish()
        return
    board = BoardDisplay(console, clock, panel=panel)
    with Live(console=console, auto_refresh=False, screen=True) as live:
        board.live = live
        yield board
    board.finish()


@dataclass(slots=True)
class JsonDisplay(Listener):
    """Prints each announcement as a line of JSON."""

    output: Output

    def happened(self, step: Step) -> None:
        """Print the announcements as JSON, one a line."""
        for line in step.lines:
            self.output.write(json.dumps(line, allow_nan=False))

    def continues(self, session: Session) -> None:
        """Print the score of a resumed match."""
        totals = [] if session.state.game is None else list(session.state.game.totals)
        line = {"t_ns": session.t_ns, "event": "resumed", "text": _CONTINUES, "totals": totals}
        self.output.write(json.dumps({**line, "provisional": session.is_provisional}))

    def note(self, text: str) -> None:
        """Print a note to the error stream."""
        self.output.complain(text)


@dataclass(slots=True)
class PlainDisplay(Listener):
    """Prints a line for each step with announcements, and the layout at the end."""

    console: Console
    plays: int = 0
    now: LiveState | None = None

    def happened(self, step: Step) -> None:
        """Print the announcements and the totals."""
        game = step.session.state.game
        if game is not None:
            self.plays += sum(isinstance(item, Placed) for item in step.announcements)
            line = plain_line(self.plays, step.announcements, game, is_provisional=step.session.is_provisional)
            _print(self.console, line)

    def continues(self, session: Session) -> None:
        """Print the score of a resumed match."""
        game = session.state.game
        if game is not None:
            scores = zip(game.players, game.totals, strict=True)
            totals = format_totals(scores, is_provisional=session.is_provisional)
            _print(self.console, f"     {_CONTINUES}  ({totals})")

    def show(self, now: LiveState) -> None:
        """Keep the state for the final board."""
        self.now = now

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Print the prompt, or the help if *wants_help*."""
        for line in HELP if wants_help else (prompt,) if prompt else ():
            _print(self.console, f"     {line}")

    def note(self, text: str) -> None:
        """Print a note."""
        _print(self.console, f"     {text}")

    def finish(self) -> None:
        """Print the final board, unless no match was shown."""
        if self.now is not None and self.now.session.state.game is not None:
            columns = min(self.console.width, _PLAIN_COLUMNS)
            board = _board(self.now, self.now.session.state.game)
            self.console.print()
            self.console.print(draw_board(board, columns=columns, rows=max(24, columns // 4), in_color=False))


@dataclass(slots=True)
class BoardDisplay(Listener):
    """A full-screen scoreboard that is redrawn when something changes."""

    console: Console
    clock: Clock
    live: Live | None = None
    panel: VirtualPanel | None = None
    announced: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_EARLIER))
    noted: str = ""
    prompt: str = ""
    wants_help: bool = False
    now: LiveState | None = None
    is_stale: bool = True
    drawn_ns: int = 0

    def happened(self, step: Step) -> None:
        """Add the announcements to the board."""
        game = step.session.state.game
        text = "" if game is None else summarize(step.announcements, game.players)
        if text:
            self.announced.appendleft(text)
        self.noted, self.is_stale = "", True

    def continues(self, session: Session) -> None:
        """Add to the board that the match was resumed."""
        self.announced.appendleft(_CONTINUES)

    def note(self, text: str) -> None:
        """Show a note until the next step."""
        self.noted, self.is_stale = text, True

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Show the prompt if any, or the help if *wants_help*, in place of the key hints."""
        self.prompt, self.wants_help, self.is_stale = prompt, wants_help, True

    def show(self, now: LiveState) -> None:
        """Redraw the board if it has changed, or if the redraw interval is over."""
        at_ns = self.clock()
        self.now = now
        every_ns = _REDRAW_NS if self._look() is None else _REDRAW_LEDS_NS
        if self.live is not None and (self.is_stale or at_ns - self.drawn_ns >= every_ns):
            self.live.update(self._drawn(now), refresh=True)
            self.is_stale, self.drawn_ns = False, at_ns

    def finish(self) -> None:
        """Print the last board to the normal screen of the terminal."""
        if self.now is not None:
            self.wants_help, self.prompt, self.noted, self.panel = False, "", "", None
            self.console.print(self._drawn(self.now, spare_rows=2))

    def _drawn(self, now: LiveState, *, spare_rows: int = 0) -> RenderableType:
        size = self.console.size
        game = now.session.state.game
        if game is None:
            return Group()
        in_color, rows = not self.console.no_color, size.height - spare_rows
        notes, look = self._notes(now), self._look()
        panel: tuple[Text, ...] = ()
        if look is not None and rows - _choices(now) - len(notes) >= _MIN_ROWS_WITH_PANEL:
            panel = draw_panel(look, game.players, in_color=in_color)
        earlier = next(count for least, count in _EARLIER if size.height - len(panel) >= least)
        lines = (*self.announced, *[""] * (earlier + 1))
        board = _board(now, game, lines[0], lines[1 : earlier + 1], (*panel, *notes))
        return draw_board(board, columns=size.width, rows=rows, in_color=in_color)

    def _look(self) -> PanelLook | None:
        """Return the state of the virtual panel, or None if it has no parts."""
        look = None if self.panel is None else self.panel.look(self.clock())
        return None if look is None or not (look.leds or look.screen or look.buttons or look.detects_knocks) else look

    def _notes(self, now: LiveState) -> tuple[Text, ...]:
        """Return the bottom lines: a note or the recording and page, up to _MAX_PARTS failing parts, and the keys."""
        noted = "" if self.noted in now.parts else self.noted
        text = noted or "    ".join(filter(None, (now.recording, now.page)))
        style = "bold red" if noted or not now.is_healthy else "dim"
        keys = (self.prompt,) if self.prompt else HELP if self.wants_help else (footer(now.session),)
        key_style = "bold" if self.wants_help or self.prompt else "dim"
        more = len(now.parts) - _MAX_PARTS
        parts = (*now.parts[:_MAX_PARTS], *([f"and {more} more parts do not work"] if more > 0 else []))
        failing = (_line(part, "bold red") for part in parts)
        return (_line(text, style), *failing, *(_line(line, key_style) for line in keys))


def _choices(now: LiveState) -> int:
    """Return the number of choices of the open question, 0 without a question."""
    asked = now.session.open_question
    return 0 if asked is None else len(asked.choices)


def _board(
    now: LiveState, game: Game, last: str = "", earlier: tuple[str, ...] = (), notes: tuple[Text, ...] = ()
) -> Board:
    asked = now.session.open_question
    return Board(
        game,
        now.session.places.laid,
        now.picture_px,
        last,
        None if asked is None else asked.text,
        f"{now.reader} ",
        earlier,
        () if asked is None else asked.choices,
        notes,
        now.chosen,
        now.session.is_provisional,
    )


def _line(text: str, style: str) -> Text:
    return Text(f" {printable(text)}", style=style, no_wrap=True, overflow="ellipsis")


def _print(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def draw_panel(look: PanelLook, players: Sequence[str], *, in_color: bool = True) -> tuple[Text, ...]:
    """Return the virtual panel as `PANEL_ROWS` lines. *players* are the names by seat."""
    seats, others = _leds(look, players)
    beside = [_dots(seats, in_color), _dots(others, in_color), *_buttons(look, len(players))]
    # The lines of the virtual display in a box with a margin, or blank lines if there is none.
    if not look.screen:
        screen = [Text(" ")] * PANEL_ROWS
    else:
        edge = "─" * COLUMNS
        lines = [Text(f" ┌{edge}┐ ", style="dim")]
        for row in look.screen:
            line = Text(" │", style="dim")
            line.append(row, style="not dim bold")
            lines.append(line.append("│ "))
        screen = [*lines, Text(f" └{edge}┘ ", style="dim")]
    rows = islice(zip_longest(screen, beside, fillvalue=""), PANEL_ROWS)
    return tuple(Text.assemble(*row, no_wrap=True, overflow="ellipsis") for row in rows)


def _leds(look: PanelLook, players: Sequence[str]) -> tuple[list[Labelled], list[Labelled]]:
    """Return the LEDs of the seats, and all others, with their labels."""
    seats: list[Labelled] = []
    others: list[Labelled] = []
    for leds in look.leds:
        of_seats, rest = _split(leds)
        seats += [(_name(players, seat), colour) for seat, colour in enumerate(of_seats)]
        others += zip(_LABELS.get(leds.shows, _AFTER_SEATS), rest, strict=False)
    return seats, others


def _split(leds: LedsLook) -> tuple[tuple[Rgb, ...], tuple[Rgb, ...]]:
    """Split a strip into the LEDs of seats and the others."""
    match leds.shows:
        case LedsRole.SEATS:
            return leds.colours, ()
        case LedsRole.ALL:
            count = len(leds.colours) - len(_AFTER_SEATS)
            return leds.colours[:count], leds.colours[count:]
        case _:
            return (), leds.colours


def _name(players: Sequence[str], seat: int) -> str:
    return printable(players[seat])[:_NAME_COLUMNS] if seat < len(players) else "-"


def _dots(leds: Sequence[Labelled], in_color: bool) -> Text:  # noqa: FBT001 - private, and always named the same
    line = Text()
    for label, colour in leds:
        if colour == OFF:
            line.append(_DARK, style="dim")
        else:
            line.append(_LIT, style=f"rgb({colour.red},{colour.green},{colour.blue})" if in_color else "bold")
        line.append(f" {label}  ")
    return line


def _buttons(look: PanelLook, seats: int) -> Iterator[Text]:
    """Yield lines for the shared buttons, six a line, for the seats' own buttons, and for the knock sensor, if any."""
    shared = [
        (key, press)
        for key, press in SHARED.items()
        if key not in "\r\n" and configured_name(Press(press)) in look.buttons
    ]
    for begin in range(0, len(shared), _ROW_OF_BUTTONS):
        line = Text()
        for key, button in shared[begin : begin + _ROW_OF_BUTTONS]:
            text = f"{_KEY_NAMES.get(key, key)} {button.value.replace('_', ' ')}"
            line.append(text, style=_style(configured_name(Press(button)), look)).append("  ")
        yield line
    # The buttons of each seat, labelled with the two keys that press them: a letter and the seat's number.
    line = Text("own " if _own_name(Button.CALL, 0) in look.buttons else "")
    for seat in range(seats):
        own = [(key, button) for key, button in OF_A_SEAT.items() if _own_name(button, seat) in look.buttons]
        for key, button in own:
            line.append(f"{key}{seat + 1}", style=_style(_own_name(button, seat), look)).append(" ")
        line.append(" " if own else "")
    yield line
    if look.detects_knocks:
        yield Text().append(f"{KNOCKS} knock on the table", style="bold reverse" if look.is_knocked else "")


def _own_name(button: Button, seat: int) -> str:
    return f"{button.value} {seat + 1}"


def _style(name: str, look: PanelLook) -> str:
    return "bold reverse" if name in look.pressed else ""
