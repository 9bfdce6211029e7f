"""Connect the parts of a table to a live game: LEDs, buttons, knock sensor and score displays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine import Call, Decline, Draw, Game, Knock, Phase, Play, Scored, Seat, turn
from hardware.buttons.panel import SEAT_BUTTONS, ButtonPress, PressKind, button_name
from hardware.display.page import DisplayPage, ScoreLine
from hardware.knock.classifier import Classifier
from hardware.knock.sensor import ClassifiedSound
from hardware.leds.drivers import MIN_FOR_ALL
from hardware.leds.lamps import Gain, Mood, TableState
from hardware.part import Clock
from hardware.table import HardwareSettings, PartOpener, Parts, VirtualLedsSettings, VirtualPanel, VirtualSettings
from tallybone.plain_text import capitalized
from tallybone.play.game import Listener, LiveState, Pressable
from tallybone.play.keys import choice_words
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import ByHand, Step
from tallybone.show.scoreboard import describe_pending, summarize

# Time for which score displays show the first message, unless a question is open.
_FIRST_NS = 60_000_000_000
# Maximum time for which the game waits to read a simulated press on the panel.
_PRESS_DELAY_NS = 200_000_000
# Maximum number of sounds that are kept until a match takes them.
_MAX_SOUNDS = 64
# Meanings of a call button. A long press knocks and a double press draws, so a player needs only one button.
_OF_CALLS = {PressKind.SHORT: Button.CALL, PressKind.LONG: Button.KNOCK, PressKind.DOUBLE: Button.DRAW}


@dataclass(frozen=True, slots=True)
class FromTable:
    """A press or knock at the table, the time since it happened, and whether the button was held."""

    item: ByHand
    ago_ns: int
    is_held: bool = False


class LiveParts(Pressable):
    """Open parts of a table, and the panel with its virtual parts."""

    def __init__(
        self,
        parts: Parts,
        panel: VirtualPanel,
        seats: int,
        clock: Clock,
        use: Callable[[Classifier], None] = lambda classifier: None,
    ) -> None:
        """Use *parts* for a game of *seats* players.

        Args:
            parts: The parts.
            panel: The virtual ones among them.
            seats: Number of players.
            clock: Monotonic clock, in nanoseconds.
            use: Sets the classifier of sensors that record sound.
        """
        self.panel, self.use = panel, use
        self._parts, self._seats, self._clock = parts, seats, clock
        self._pressed_ns: int | None = None
        self._sounds = deque[tuple[ClassifiedSound, int]](maxlen=_MAX_SOUNDS)

    def read(self) -> tuple[FromTable, ...]:
        """Return the presses and knocks since the last call, without waiting."""
        inputs: list[FromTable] = []
        for item in self._parts.read():
            if isinstance(item, ButtonPress):
                ago_ns = self._clock() - item.press.t_ns
                is_held = item.press.kind is PressKind.LONG
                inputs += [FromTable(press, ago_ns, is_held) for press in presses_of(item, self._seats)]
            else:
                ago_ns = self._clock() - item.t_ns
                if item.is_learnable:
                    self._sounds.append((item, ago_ns))
                if item.may_be_pass:
                    inputs.append(FromTable(knock_of(item, self._seats), ago_ns))
        if inputs:
            self._pressed_ns = None
        return tuple(inputs)

    def take_sounds(self) -> tuple[tuple[ClassifiedSound, int], ...]:
        """Return the sounds that the table may learn from, each with the time since, and clear them."""
        sounds = tuple(self._sounds)
        self._sounds.clear()
        return sounds

    @property
    def is_pressed(self) -> bool:
        """True after a simulated press on the panel, until an input has been read or 200 ms have passed."""
        return self._pressed_ns is not None and self._clock() - self._pressed_ns < _PRESS_DELAY_NS

    def pressed(self, item: ByHand) -> bool:
        """Simulate a press or knock on the panel. Return False if the panel has no part for *item*."""
        match item:
            case Press() if self.panel.has_button(configured_name(item)):
                self.panel.press(configured_name(item), self._clock())
            case KnockHeard() if self.panel.detects_knocks:
                strength = min(1.0, item.strength)
                self.panel.knock(self._clock(), item.seat, strength=strength, confidence=item.confidence)
            case _:
                return False
        self._pressed_ns = self._clock()
        return True

    def listener(self, first: str = "") -> ShownOnParts:
        """Return a listener that shows a game on the parts. Score displays start with the message *first*."""
        return ShownOnParts(self._parts, self._clock, first)

    def for_seats(self, seats: int) -> LiveParts:
        """Return the same open parts for a game of *seats* players."""
        return LiveParts(self._parts, self.panel, seats, self._clock, self.use)

    def rest(self, message: str) -> None:
        """Show on the LEDs that no game is running, and *message* on the score displays."""
        self._parts.show(TableState(self._seats), DisplayPage(message=message))

    @property
    def problems(self) -> dict[str, str]:
        """Problems of the failing parts, by name."""
        return self._parts.problems

    def close(self) -> None:
        """Turn off the LEDs and close all parts."""
        self._parts.close()


def open_parts(
    config: HardwareSettings, *, seats: int, clock: Clock, has_panel: bool, classifier: Classifier | None = None
) -> LiveParts:
    """Open the parts of a table.

    Args:
        config: Settings of the parts.
        seats: Number of players.
        clock: Monotonic clock, in nanoseconds.
        has_panel: Add a complete panel of virtual parts.
        classifier: Knock classifier for sensors that hear sound. None for the shipped one.
    """
    panel = VirtualPanel(tuple(buttons_of(seats)))
    settings = with_panel(config, seats) if has_panel else config
    opener = PartOpener(settings.pins, panel, clock, classifier)
    return LiveParts(Parts(settings, opener, clock=clock), panel, seats, clock, opener.use)


def with_panel(config: HardwareSettings, seats: int) -> HardwareSettings:
    """Return settings with virtual LEDs and display added, and a virtual kind of buttons or knock sensor if unset."""
    leds = VirtualLedsSettings(driver="virtual", count=seats + MIN_FOR_ALL - 1).named("the panel's LEDs")
    part = VirtualSettings(driver="virtual")
    parts = {
        "leds": (*config.leds, leds),
        "buttons": config.buttons or part.named("hardware.buttons"),
        "knock": config.knock or part.named("hardware.knock"),
        "displays": (*config.displays, part.named("the panel's display")),
    }
    return config.model_copy(update=parts)


class ShownOnParts(Listener):
    """Shows a game on the LEDs and score displays of a table."""

    def __init__(self, parts: Parts, clock: Clock, first: str = "") -> None:
        """Show on *parts*. Score displays show *first* for a minute, unless a question is open."""
        self._parts, self._clock = parts, clock
        self._first, self._until_ns = first, clock() + _FIRST_NS
        self._last = ""
        self._gain: Gain | None = None

    def happened(self, step: Step) -> None:
        """Keep the last announcements, as text, and the last points, to be shown."""
        game = step.session.state.game
        self._last = ("" if game is None else summarize(step.announcements, game.players)) or self._last
        self._gain = gain_of(step.announcements, self._clock()) or self._gain

    def show(self, now: LiveState) -> None:
        """Show the state of the game."""
        state = table_state(now, self._gain)
        if state is not None:
            self._parts.show(state, self._page(now))

    def _page(self, now: LiveState) -> DisplayPage:
        page = page_of(now.session, self._last, chosen=now.chosen)
        is_first = bool(self._first) and now.session.open_question is None and self._clock() < self._until_ns
        return replace(page, message=self._first) if is_first else page


def table_state(now: LiveState, gain: Gain | None) -> TableState | None:
    """Return the state for the LEDs, or None before the match. *gain* are the last points."""
    game = now.session.state.game
    if game is None:
        return None
    current = turn(game)
    mood = _mood(now, game)
    course = None if game.hand is None else game.hand.course
    return TableState(
        seats=len(game.players),
        turn=None if current is None else current.seat,
        mood=mood,
        concerns=_concerned_seat(now.session, mood),
        gain=gain,
        is_clockwise=None if game.rules.effects is None or course is None else course.direction > 0,
        is_spell=course is not None and course.spell is not None,
    )


def page_of(session: Session, last: str, *, chosen: int | None = None) -> DisplayPage:
    """Return the page for the score displays.

    *chosen* is the index of the choice to show, or None for the question itself.
    """
    game = session.state.game
    if game is None:
        return DisplayPage(message=last)
    current = turn(game)
    scores = tuple(
        ScoreLine(
            name,
            total,
            is_turn=current is not None and current.seat == seat,
            is_provisional=session.is_provisional,
        )
        for seat, (name, total) in enumerate(zip(game.players, game.totals, strict=True))
    )
    return DisplayPage(scores, _message(session, game, last, chosen))


def gain_of(announcements: Sequence[Announcement], t_ns: int) -> Gain | None:
    """Return the last positive points among *announcements*, or None."""
    gains = [
        Gain(item.seat, item.points, t_ns) for item in announcements if isinstance(item, Scored) and item.points > 0
    ]
    return gains[-1] if gains else None


def _mood(now: LiveState, game: Game) -> Mood:
    """Return the mood of the game. A question has priority over a problem, because its answer may solve it."""
    if now.session.open_question is not None:
        return Mood.ASKING
    if _is_mistake(now.session) or not now.is_healthy:
        return Mood.PROBLEM
    return Mood.PLAYING if game.phase in (Phase.LEAD, Phase.PLAY) else Mood.WAITING


def _is_mistake(session: Session) -> bool:
    """Return True if the last event is irregular. Earlier ones are ignored once the players go on."""
    state = session.state
    return bool(state.irregular) and state.irregular[-1] == len(state.log) - 1


def _concerned_seat(session: Session, mood: Mood) -> int | None:
    """Return the seat that the last mistake concerns, or None for the whole table."""
    return _last_seat(session) if mood is Mood.PROBLEM and _is_mistake(session) else None


def _last_seat(session: Session) -> int | None:
    """Return the seat of the last event, or None if it is not a play, knock, draw, call or end of a turn."""
    last = session.state.log[-1]
    return last.seat if isinstance(last, Play | Knock | Draw | Call | Decline) else None


def _message(session: Session, game: Game, last: str, chosen: int | None) -> str:
    # The open question or its choice shown, else during a hand the last announcements, else the next expected action.
    asked = session.open_question
    if asked is not None:
        return capitalized(asked.text) if chosen is None else choice_words(asked, chosen)
    is_played = game.phase in (Phase.LEAD, Phase.PLAY)
    return last if last and is_played else describe_pending(game)


def configured_name(press: Press) -> str:
    """Return the name of a button in the configuration.

    >>> configured_name(Press(Button.CALL, Seat(0))), configured_name(Press(Button.UNDO))
    ('call 1', 'undo')
    """
    return button_name(press.button.value, press.seat)


def buttons_of(seats: int) -> dict[str, Press]:
    """Return all possible buttons of a table with *seats* seats, shared ones first, by name."""
    own = (Press(Button(button), Seat(seat)) for seat in range(seats) for button in SEAT_BUTTONS)
    return {configured_name(press): press for press in (*(Press(button) for button in Button), *own)}


def presses_of(pressed: ButtonPress, seats: int) -> tuple[Press, ...]:
    """Return the presses that a button press means. Empty if nobody sits at its seat.

    A call button knocks if held, and draws if double-pressed. A double press of any other button counts as two presses.
    """
    press = buttons_of(seats).get(pressed.button)
    if press is None:
        return ()
    kind = pressed.press.kind
    if press.button is Button.CALL:
        return (Press(_OF_CALLS[kind], press.seat),)
    return (press, press) if kind is PressKind.DOUBLE else (press,)


def knock_of(heard: ClassifiedSound, seats: int) -> KnockHeard:
    """Return a knock or doubtful sound for the game. Its seat is unknown if it came from a side where nobody sits."""
    seat = None if heard.seat is None or heard.seat >= seats else Seat(heard.seat)
    return KnockHeard(seat, heard.strength, heard.hit)
