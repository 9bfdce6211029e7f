"""Connect the parts of a table to a live game: LEDs, buttons, knock sensor and score displays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine import Call, Decline, Draw, Game, Knock, Phase, Play, Scored, Seat, turn
from hardware.buttons.debounce import PressKind
from hardware.buttons.panel import SEAT_BUTTONS, ButtonPress, button_name
from hardware.clock import Clock
from hardware.display.page import DisplayPage, ScoreLine
from hardware.knock.classifier import Classifier
from hardware.knock.heard import ClassifiedSound
from hardware.leds.patterns import Gain, Mood, TableState
from hardware.leds.shown import LEAST_FOR_ALL
from hardware.table.open_parts import PartOpener
from hardware.table.parts import Parts
from hardware.table.settings import HardwareSettings
from hardware.virtual.drivers import VirtualLedsSettings, VirtualSettings
from hardware.virtual.panel import VirtualPanel
from tallybone.play.game import Listener, LiveState, Pressable, choice_words
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import ByHand, Step
from tallybone.show.scoreboard import describe_pending, summarize

# Score displays show the first message for so long.
_FIRST_NS = 60_000_000_000
# A press on the panel has come by then.
_COMES_WITHIN_NS = 200_000_000
# A button for calls says more when it is held or pressed twice at once, so that one button each is enough.
_OF_CALLS = {PressKind.SHORT: Button.CALL, PressKind.LONG: Button.KNOCK, PressKind.DOUBLE: Button.DRAW}


@dataclass(frozen=True, slots=True)
class FromTable:
    """A press or knock at the table, how long ago it was, and whether the button was held."""

    item: ByHand
    ago_ns: int
    is_held: bool = False


class LiveParts(Pressable):
    """Parts that are open until they are closed, and the panel with the virtual ones among them."""

    def __init__(self, parts: Parts, panel: VirtualPanel, seats: int, clock: Clock) -> None:
        """Use *parts* at a table of so many seats; *panel* are the virtual ones, empty where there are none."""
        self.panel = panel
        self._parts, self._seats, self._clock = parts, seats, clock
        self._pressed_ns: int | None = None

    def came(self) -> tuple[FromTable, ...]:
        """Return the presses and knocks since the last call, at once."""
        came: list[FromTable] = []
        for one in self._parts.read():
            if isinstance(one, ButtonPress):
                ago_ns = self._clock() - one.press.t_ns
                is_held = one.press.kind is PressKind.LONG
                came += [FromTable(press, ago_ns, is_held) for press in presses_meant(one, self._seats)]
            else:
                came.append(FromTable(knock_meant(one, self._seats), self._clock() - one.t_ns))
        if came:
            self._pressed_ns = None
        return tuple(came)

    @property
    def is_pressed(self) -> bool:
        """Whether something was just pressed on the panel and has not come yet."""
        return self._pressed_ns is not None and self._clock() - self._pressed_ns < _COMES_WITHIN_NS

    def pressed(self, item: ByHand) -> bool:
        """Press or knock on the panel as *item* says; return whether that is possible there."""
        match item:
            case Press() if self.panel.has_button(configured_name(item)):
                self.panel.press(configured_name(item), self._clock())
            case KnockHeard() if self.panel.hears:
                strength = min(1.0, item.strength)
                self.panel.knock(self._clock(), item.seat, strength=strength, confidence=item.confidence)
            case _:
                return False
        self._pressed_ns = self._clock()
        return True

    def listener(self, first: str = "") -> ShownOnParts:
        """Return the listener that shows a game on the parts; score displays begin with the words *first*."""
        return ShownOnParts(self._parts, self._clock, first)

    def for_seats(self, seats: int) -> LiveParts:
        """Return the same parts for a game of so many; they stay open after it."""
        return LiveParts(self._parts, self.panel, seats, self._clock)

    def rest(self, message: str) -> None:
        """Show on lights and displays that no game is played, and a *message*."""
        self._parts.show(TableState(self._seats), DisplayPage(message=message))

    @property
    def problems(self) -> dict[str, str]:
        """The problems of the parts that do not work as they should, by name."""
        return self._parts.problems

    def close(self) -> None:
        """Turn the lights off and let every part go."""
        self._parts.close()


def open_parts(
    config: HardwareSettings, *, seats: int, clock: Clock, has_panel: bool, classifier: Classifier | None = None
) -> LiveParts:
    """Return the parts of a table, with a whole panel of virtual ones beside them if that is wished.

    A sensor that hears sound tells knocks by *classifier*, or by the one that is shipped.
    """
    panel = VirtualPanel(tuple(buttons_of(seats)))
    wanted = with_panel(config, seats) if has_panel else config
    return LiveParts(Parts(wanted, PartOpener(wanted.pins, panel, clock, classifier), clock=clock), panel, seats, clock)


def with_panel(config: HardwareSettings, seats: int) -> HardwareSettings:
    """Return a table with virtual LEDs and a virtual display too, and such buttons and knock sensor if it has none."""
    leds = VirtualLedsSettings(driver="virtual", count=seats + LEAST_FOR_ALL - 1).named("the panel's LEDs")
    part = VirtualSettings(driver="virtual")
    wanted = {
        "leds": (*config.leds, leds),
        "buttons": config.buttons or part.named("hardware.buttons"),
        "knock": config.knock or part.named("hardware.knock"),
        "displays": (*config.displays, part.named("the panel's display")),
    }
    return config.model_copy(update=wanted)


class ShownOnParts(Listener):
    """Lights the LEDs of a table and fills its score displays as a game goes on."""

    def __init__(self, parts: Parts, clock: Clock, first: str = "") -> None:
        """Show on *parts*, blinking by *clock*; score displays say *first* for a while, unless something is asked."""
        self._parts, self._clock = parts, clock
        self._first, self._until_ns = first, clock() + _FIRST_NS
        self._last = ""
        self._gain: Gain | None = None

    def happened(self, happened: Step) -> None:
        """Keep the announcements in words, and let points flash."""
        game = happened.session.state.game
        self._last = ("" if game is None else summarize(happened.announcements, game.players)) or self._last
        self._gain = gain_of(happened.announcements, self._clock()) or self._gain

    def show(self, now: LiveState) -> None:
        """Show where the game stands."""
        state = table_state(now, self._gain)
        if state is not None:
            self._parts.show(state, self._page(now))

    def _page(self, now: LiveState) -> DisplayPage:
        """Return the page of the score displays."""
        page = page_of(now.session, self._last, chosen=now.chosen)
        is_first = bool(self._first) and now.session.open_question is None and self._clock() < self._until_ns
        return replace(page, message=self._first) if is_first else page


def table_state(now: LiveState, gain: Gain | None) -> TableState | None:
    """Return the state that the LEDs show; None before a match has begun. *gain* are the points that were made last."""
    game = now.session.state.game
    if game is None:
        return None
    whose = turn(game)
    mood = _mood(now, game)
    course = None if game.hand is None else game.hand.course
    return TableState(
        seats=len(game.players),
        turn=None if whose is None else whose.seat,
        mood=mood,
        concerns=_whose(now.session) if mood is Mood.PROBLEM and _is_mistake(now.session) else None,
        gain=gain,
        is_clockwise=None if game.rules.effects is None or course is None else course.direction > 0,
        is_spell=course is not None and course.spell is not None,
    )


def page_of(session: Session, last: str, *, chosen: int | None = None) -> DisplayPage:
    """Return the page that the displays show.

    Args:
        session: Where the sitting stands.
        last: The last event, in words.
        chosen: Which choice of the question is shown; None for the question itself.
    """
    game = session.state.game
    if game is None:
        return DisplayPage(message=last)
    whose = turn(game)
    scores = tuple(
        ScoreLine(
            name,
            total,
            is_turn=whose is not None and whose.seat == seat,
            is_provisional=session.state.is_provisional,
        )
        for seat, (name, total) in enumerate(zip(game.players, game.totals, strict=True))
    )
    return DisplayPage(scores, _message(session, game, last, chosen))


def gain_of(said: Sequence[Announcement], t_ns: int) -> Gain | None:
    """Return the last points that somebody has just made; None for none."""
    gains = [Gain(one.seat, one.points, t_ns) for one in said if isinstance(one, Scored) and one.points > 0]
    return gains[-1] if gains else None


def _mood(now: LiveState, game: Game) -> Mood:
    """Return how the game stands. A question goes before a problem: it may be what solves it."""
    if now.session.open_question is not None:
        return Mood.ASKING
    if _is_mistake(now.session) or not now.is_healthy:
        return Mood.PROBLEM
    return Mood.PLAYING if game.phase in (Phase.LEAD, Phase.PLAY) else Mood.WAITING


def _is_mistake(session: Session) -> bool:
    """Return whether the last event is not as the rules say. Earlier mistakes are forgotten once the table plays on."""
    state = session.state
    return bool(state.irregular) and state.irregular[-1] == len(state.log) - 1


def _whose(session: Session) -> int | None:
    """Return the seat of the last event; None where it is nobody's in particular."""
    last = session.state.log[-1]
    return last.seat if isinstance(last, Play | Knock | Draw | Call | Decline) else None


def _message(session: Session, game: Game, last: str, chosen: int | None) -> str:
    """Return the question, else the last event while a hand is played, else what the table waits for."""
    asked = session.open_question
    if asked is not None:
        return asked.words if chosen is None else choice_words(asked, chosen)
    is_played = game.phase in (Phase.LEAD, Phase.PLAY)
    return last if last and is_played else describe_pending(game)


def configured_name(press: Press) -> str:
    """Return the name of a button, as a configuration calls it.

    >>> name_of(Press(Button.CALL, Seat(0))), name_of(Press(Button.UNDO))
    ('call 1', 'undo')
    """
    return button_name(press.button.value, press.seat)


def buttons_of(seats: int) -> dict[str, Press]:
    """Return every button that a table of so many seats can have, by its name."""
    own = (Press(Button(button), Seat(seat)) for seat in range(seats) for button in SEAT_BUTTONS)
    return {configured_name(press): press for press in (*(Press(button) for button in Button), *own)}


def presses_meant(pressed: ButtonPress, seats: int) -> tuple[Press, ...]:
    """Return the presses that a button of the table means; none for that of a seat where nobody sits.

    A button for calls passes when it is held and draws when it is pressed twice at once; any other that is pressed
    twice is pressed twice.
    """
    press = buttons_of(seats).get(pressed.button)
    if press is None:
        return ()
    kind = pressed.press.kind
    if press.button is Button.CALL:
        return (Press(_OF_CALLS[kind], press.seat),)
    return (press, press) if kind is PressKind.DOUBLE else (press,)


def knock_meant(heard: ClassifiedSound, seats: int) -> KnockHeard:
    """Return a knock for the game; from a side where nobody sits it is one that nobody can tell."""
    seat = None if heard.seat is None or heard.seat >= seats else Seat(heard.seat)
    return KnockHeard(seat, heard.strength, heard.confidence)
