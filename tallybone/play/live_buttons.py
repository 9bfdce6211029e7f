"""What the buttons of a table are called, and what pressing one, or knocking, means for the game."""

from __future__ import annotations

from typing import assert_never

from engine import Seat
from hardware.buttons.debounce import PressKind
from hardware.buttons.panel import Pressed
from hardware.config.config import ButtonPin
from hardware.config.read import OF_SEATS
from hardware.knock.heard import KnockHeard as Sounded
from tallybone.session.inputs import Button, KnockHeard, Press


def name_of(press: Press) -> str:
    """Return the name of a button, as a configuration calls it.

    >>> name_of(Press(Button.CALL, Seat(0))), name_of(Press(Button.UNDO))
    ('call 1', 'undo')
    """
    return ButtonPin(press.button.value, press.seat, 0).name


def buttons_of(seats: int) -> dict[str, Press]:
    """Return every button that a table of so many seats can have, by its name."""
    own = (Press(Button(button), Seat(seat)) for seat in range(seats) for button in OF_SEATS)
    return {name_of(press): press for press in (*(Press(button) for button in Button), *own)}


def meant_by(pressed: Pressed, seats: int) -> tuple[Press, ...]:
    """Return what was meant by a button of the table; nothing by that of a seat where nobody sits.

    A button for calls says more when it is held (a pass) or pressed twice at once (a draw), so that one button each is
    enough. Any other that is pressed twice is pressed twice.
    """
    press = buttons_of(seats).get(pressed.button)
    if press is None:
        return ()
    kind = pressed.press.kind
    match kind:
        case PressKind.SHORT:
            return (press,)
        case PressKind.LONG:
            return (Press(Button.KNOCK, press.seat),) if press.button is Button.CALL else (press,)
        case PressKind.DOUBLE:
            return (Press(Button.DRAW, press.seat),) if press.button is Button.CALL else (press, press)
        case _:
            assert_never(kind)


def knock_meant(heard: Sounded, seats: int) -> KnockHeard:
    """Return a knock for the game; from a side where nobody sits it is one that nobody can tell."""
    seat = None if heard.seat is None or heard.seat >= seats else Seat(heard.seat)
    return KnockHeard(seat, heard.strength, heard.confidence)
