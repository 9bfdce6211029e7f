"""Read single keys from a terminal, and translate them to presses, answers, pip counts and choices."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeAlias

from engine import Adjust, Phase, Rename, RevealPips, Seat, Swap
from engine.phrases import Phrase, phrase
from tallybone.plain_text import MAX_NAME, capitalized
from tallybone.session.inputs import Answer, Button, KnockHeard, Press, event_of
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand

SHARED = {
    " ": Button.NEXT,
    "\n": Button.NEXT,
    "\r": Button.NEXT,
    "k": Button.KNOCK,
    "c": Button.CALL,
    "d": Button.DRAW,
    "o": Button.DONE,
    "u": Button.UNDO,
    "s": Button.STANDS,
    "h": Button.HAND_END,
    "r": Button.REDEAL,
    "t": Button.STACK,
    "a": Button.TABLE,
}
OF_A_SEAT = {"K": Button.KNOCK, "C": Button.CALL, "D": Button.DRAW, "O": Button.DONE}
KNOCKS = "b"
"""Key for a knock on the table, if the knock sensor is virtual."""
# Letters that are followed by the key of a seat and by a number or name, with the prompt for each.
_TYPED = {"p": "pips left in the hand", "e": "correct the total", "w": "change places with", "n": "rename"}
_NAME = "n"
_MAX_DIGITS = 3
_HINTS = {
    Phase.DEAL: "space: hand is dealt    ? help  q quit",
    Phase.REVEAL: "p: enter the pips left in each hand    u undo  ? help  q quit",
}
_ASKED = "1-9: answer  s first answer    play may go on meanwhile    ? help  q quit"
FOOTER = "space next  k knock  d draw  c call  u undo  s accept  p pips  ? help  q quit"
HELP = (
    "space  a hand was dealt, or another player leads    1-9  answer the question",
    "k  knock      d  draw       c  call points    o  end turn after an extra turn",
    "K D C O then 1-9: the same for another player",
    "u  undo    s  accept    h  hand is over    r  redeal    t  stack on same tile",
    "p pips left, e total, n name, w change places: then 1-9, the value and Enter",
    "q  quit       ?  show or hide help          a  put it right",
)
"""Help for the keys."""

_MAX_BYTES = 256
_ESCAPE = "\x1b"


class KeyCommand(Enum):
    """A command that is not an input of the game."""

    QUIT = auto()
    HELP = auto()


KeyMeaning: TypeAlias = ByHand | KeyCommand


@dataclass(frozen=True, slots=True)
class Keys:
    """State of a multi-key input. Immutable.

    Attributes:
        waiting: Keys so far: a letter, then the seat, and the digits of a number or the letters of a name.
        prompt: Prompt for the next key, or "".
    """

    waiting: str = ""
    prompt: str = ""

    def after(self, key: str, session: Session) -> tuple[Keys, KeyMeaning | None]:
        """Return the state after another key, and the meaning of the keys, None if they are incomplete or invalid."""
        if not self.waiting:
            return _first(key, session)
        if self.waiting == "q":
            return (Keys(), KeyCommand.QUIT) if key in "qyY" else (Keys(), None)
        if self.waiting in _TYPED:
            seat = _seat(key, session)
            return (Keys(), None) if seat is None else (_typing(self.waiting + key, session), None)
        if self.waiting[0] in _TYPED:
            return _text(self.waiting, key, session)
        seat = _seat(key, session)
        return Keys(), None if seat is None else Press(OF_A_SEAT[self.waiting], seat)


def footer(session: Session) -> str:
    """Return a line with the keys that are useful in this state."""
    asked = session.open_question
    if asked is not None and asked.choices:
        return _ASKED
    game = session.state.game
    return FOOTER if game is None else _HINTS.get(game.phase, FOOTER)


def _first(key: str, session: Session) -> tuple[Keys, KeyMeaning | None]:
    """Return the state after a first key, and its meaning, None if more keys must follow or the key is invalid."""
    if key in SHARED:
        return Keys(), Press(SHARED[key])
    if key == "?":
        return Keys(), KeyCommand.HELP
    if key == KNOCKS:
        return Keys(), KnockHeard()
    if key == "q":
        return Keys(key, "quit? q or y: yes, any other key: no (resume later with --resume)"), None
    if key in _TYPED:
        return Keys(key, f"{_TYPED[key]}: who? {_names(session)}"), None
    if key in OF_A_SEAT:
        return Keys(key, f"{OF_A_SEAT[key].value}: who? {_names(session)}"), None
    question = session.open_question
    if key.isdecimal() and question is not None and 1 <= int(key) <= len(question.choices):
        return Keys(), Answer(int(key) - 1, question.topic)
    return Keys(), None


def _text(waiting: str, key: str, session: Session) -> tuple[Keys, KeyMeaning | None]:
    """Return the state and meaning after another key of a number or name."""
    # *waiting* is its letter, seat (from 1) and the text so far.
    text, seat = waiting[2:], Seat(int(waiting[1]) - 1)
    is_name = waiting[0] == _NAME
    if key in "\r\n" and text.strip():
        return Keys(), Rename(seat, text.strip()) if is_name else _counted(waiting[0], seat, int(text), session)
    if key in "\x08\x7f":
        return _typing(waiting[:2] + text[:-1], session), None
    is_next = key.isprintable() if is_name else key.isascii() and key.isdecimal()
    if is_next and len(text) < (MAX_NAME if is_name else _MAX_DIGITS):
        return _typing(waiting + key, session), None
    return Keys(), None


def _counted(letter: str, seat: Seat, number: int, session: Session) -> KeyMeaning | None:
    """Return the event for a number of pips, a total or a seat typed for a player. None if the total is right."""
    game = session.state.game
    if letter == "p":
        return RevealPips(seat, number)
    if letter == "w":
        return Swap(seat, Seat(number - 1))
    more = 0 if game is None else number - game.totals[seat]
    return Adjust(seat, more, "corrected total") if more else None


def _typing(waiting: str, session: Session) -> Keys:
    name = _players(session)[int(waiting[1]) - 1]
    return Keys(waiting, f"{_TYPED[waiting[0]]}: {name}: {waiting[2:]}_  (Enter)")


def _seat(key: str, session: Session) -> Seat | None:
    is_seat = key.isascii() and key.isdecimal() and 1 <= int(key) <= len(_players(session))
    return Seat(int(key) - 1) if is_seat else None


def _names(session: Session) -> str:
    return "  ".join(f"{number} {name}" for number, name in enumerate(_players(session), start=1))


def _players(session: Session) -> tuple[str, ...]:
    return () if session.state.game is None else session.state.game.players


class Typed(Protocol):
    """A source of keys, such as `Keyboard`."""

    @property
    def is_over(self) -> bool:
        """True if there will be no more keys."""

    def pressed(self, wait_s: float) -> str:
        """Return the keys since the last call, waiting up to *wait_s* seconds. "" if there are none."""


class Keyboard:
    """Keys from the file descriptor of a terminal or pipe."""

    def __init__(self, fd: int) -> None:
        """Read from *fd*. The caller opens and closes it."""
        self._fd = fd
        self.is_over = False

    def pressed(self, wait_s: float) -> str:
        """Return the keys since the last call, waiting up to *wait_s* seconds. "" if there are none.

        Ignores escape sequences, such as arrow keys, and all keys read together with and after one.
        """
        ready, _, _ = select.select([] if self.is_over else [self._fd], [], [], wait_s)
        if not ready:
            return ""
        try:
            data = os.read(self._fd, _MAX_BYTES)
        except OSError:  # The terminal was closed.
            data = b""
        self.is_over = not data
        return data.decode(errors="ignore").partition(_ESCAPE)[0]


@contextmanager
def keyboard_on(fd: int) -> Iterator[Keyboard]:
    """Yield the keyboard for a terminal or pipe. Within the context, the terminal delivers each key immediately."""
    if not os.isatty(fd):
        yield Keyboard(fd)
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)  # keeps Ctrl-C working
        yield Keyboard(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


# Time for which a choice is shown on a small display. Afterwards, the call button no longer confirms the choice.
SHOWN_NS = 20_000_000_000
ButtonMeaning: TypeAlias = Press | Answer | None


@dataclass(frozen=True, slots=True)
class Choosing:
    """The choice of a question that is shown on displays. Only the answer is an input of the game.

    Attributes:
        topic: Topic of the question, or None if no choice is shown.
        until_ns: Time at which the display stops showing the choice.
    """

    topic: str | None = None
    choice: int = 0
    until_ns: int = 0

    def shown(self, session: Session, t_ns: int) -> int | None:
        """Return the index of the choice that is shown. None if no choice is shown, or the question has changed."""
        asked = _asked(session)
        is_shown = asked is not None and asked.topic == self.topic and t_ns < self.until_ns
        return self.choice if is_shown else None

    def after(
        self, press: Press, session: Session, t_ns: int, *, is_held: bool = False
    ) -> tuple[Choosing, ButtonMeaning]:
        """Return the choice to show after a press, and the input that the press means.

        The input is None if the press only shows another choice. Without an open question, it is the press itself.
        A held `next` always shows a choice, even if it could deal or lead.
        """
        asked = _asked(session)
        if asked is None:
            return Choosing(), press
        shown = self.shown(session, t_ns)
        match press.button:
            case Button.NEXT if is_held or event_of(press, session.state) is None:
                following = 0 if shown is None else (shown + 1) % len(asked.choices)
                return Choosing(asked.topic, following, t_ns + SHOWN_NS), None
            case Button.CALL if shown is not None:
                return Choosing(), Answer(shown, asked.topic)
            case Button.STANDS:  # the likeliest answer is the first
                return Choosing(), Answer(shown or 0, asked.topic)
            case _:
                return self, press


def choice_words(asked: Ambiguity, shown: int) -> Phrase:
    """Return the choice at index *shown* as text for a display. A single choice has neither a number nor "Next".

    >>> choice_words(Ambiguity(None, "is this the 5-4 or the 6-4?", choices=("the 5-4", "the 6-4")), 1)
    '2/2 The 6-4? Call: yes. Next: another answer.'
    """
    count, choice = len(asked.choices), capitalized(asked.choices[shown])
    if count == 1:
        return phrase("{choice}? Call: yes.", choice=choice)
    return phrase("{number} {choice}? Call: yes. Next: another answer.", number=f"{shown + 1}/{count}", choice=choice)


def _asked(session: Session) -> Ambiguity | None:
    """Return the open question if it has choices, or None."""
    asked = session.open_question
    return asked if asked is not None and asked.choices else None
