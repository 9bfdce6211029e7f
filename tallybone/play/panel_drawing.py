"""The virtual panel in a terminal: the display in a box, LEDs as dots, buttons with the keys that press them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from hardware.colour import Rgb
from hardware.config.config import Shows
from hardware.leds.patterns import OFF
from hardware.virtual.drivers import COLUMNS, ROWS
from hardware.virtual.panel import LedsLook, PanelLook
from tallybone.play.keys import KNOCKS, OF_A_SEAT, SHARED
from tallybone.play.parts import name_of
from tallybone.session.inputs import Button, Press
from tallybone.terminal import printable

PANEL_ROWS = ROWS + 2
_LIT, _DARK = "●", "○"
_KEY_NAMES = {" ": "space"}
_NAME_COLUMNS = 9
_LABELS = {
    Shows.STATUS: ("status",),
    Shows.DIRECTION: ("clockwise", "back"),
    Shows.SPELL: ("spell",),
}
_AFTER_SEATS = (*_LABELS[Shows.STATUS], *_LABELS[Shows.DIRECTION], *_LABELS[Shows.SPELL])
_ROW_OF_BUTTONS = 5


def draw_panel(look: PanelLook, players: Sequence[str], *, in_color: bool = True) -> tuple[Text, ...]:
    """Return `PANEL_ROWS` lines; *players* are the names by seat."""
    screen = _screen(look.screen)
    seats, others = _leds(look, players)
    beside = [_dots(seats, in_color), _dots(others, in_color), *_buttons(look, len(players))]
    lines = []
    for row in range(PANEL_ROWS):
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append_text(screen[row])
        if row < len(beside):
            line.append_text(beside[row])
        lines.append(line)
    return tuple(lines)


def _screen(rows: Sequence[str]) -> list[Text]:
    """Return the display in its box, and a gap."""
    if not rows:
        return [Text(" ")] * PANEL_ROWS
    edge = "─" * COLUMNS
    lines = [Text(f" ┌{edge}┐ ", style="dim")]
    for row in rows:
        line = Text(" │", style="dim")
        line.append(row, style="not dim bold")
        lines.append(line.append("│ "))
    return [*lines, Text(f" └{edge}┘ ", style="dim")]


Labelled = tuple[str, Rgb]


def _leds(look: PanelLook, players: Sequence[str]) -> tuple[list[Labelled], list[Labelled]]:
    """Return the LEDs of seats, and all others, with what is written beside them."""
    seats: list[Labelled] = []
    others: list[Labelled] = []
    for leds in look.leds:
        of_seats, rest = _apart(leds)
        seats += [(_name(players, seat), colour) for seat, colour in enumerate(of_seats)]
        others += zip(_LABELS.get(leds.shows, _AFTER_SEATS), rest, strict=False)
    return seats, others


def _apart(leds: LedsLook) -> tuple[tuple[Rgb, ...], tuple[Rgb, ...]]:
    """Return which LEDs of a set are those of seats, and which are not."""
    match leds.shows:
        case Shows.SEATS:
            return leds.colours, ()
        case Shows.ALL:
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
    """Yield the buttons that all share, in two rows, those of the seats, and what hears knocks."""
    shared = [
        (key, press) for key, press in SHARED.items() if key not in "\r\n" and name_of(Press(press)) in look.buttons
    ]
    for begin in range(0, len(shared), _ROW_OF_BUTTONS):
        line = Text()
        for key, button in shared[begin : begin + _ROW_OF_BUTTONS]:
            words = f"{_KEY_NAMES.get(key, key)} {button.value.replace('_', ' ')}"
            line.append(words, style=_style(name_of(Press(button)), look)).append("  ")
        yield line
    yield _own(look, seats)
    if look.hears:
        yield Text().append(f"{KNOCKS} knock on the table", style="bold reverse" if look.is_knocked else "")


def _own(look: PanelLook, seats: int) -> Text:
    """Return the buttons of each seat: the letter is the key before the number of the seat."""
    line = Text("own " if _own_name(Button.CALL, 0) in look.buttons else "")
    for seat in range(seats):
        own = [(key, button) for key, button in OF_A_SEAT.items() if _own_name(button, seat) in look.buttons]
        for key, button in own:
            line.append(f"{key}{seat + 1}", style=_style(_own_name(button, seat), look)).append(" ")
        line.append(" " if own else "")
    return line


def _own_name(button: Button, seat: int) -> str:
    return f"{button.value} {seat + 1}"


def _style(name: str, look: PanelLook) -> str:
    return "bold reverse" if name in look.pressed else ""
