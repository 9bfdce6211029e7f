"""The steps of `tallybone hardware test`: each asks for one part, and says what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import NoReturn, Protocol

from hardware.buttons.panel import Buttons
from hardware.colour import Rgb
from hardware.display.display import ScoreDisplay
from hardware.display.page import Page, Score
from hardware.knock.heard import NS_PER_S, KnockHeard, Sound
from hardware.knock.sensor import KnockSensor
from hardware.leds.lamps import Lamps
from hardware.leds.patterns import OFF

_WORDS = {
    Sound.KNOCK: "a knock",
    Sound.FINGER: "a finger tapping",
    Sound.NAIL: "a nail tapping",
    Sound.NAIL_TIP: "the tip of a nail tapping",
    Sound.TILE: "a tile put down",
    Sound.SLAM: "a tile slammed down",
    Sound.SHUFFLE: "tiles being shuffled",
    Sound.GLASS: "a glass put down",
    Sound.SPEECH: "somebody speaking",
    Sound.NOTHING: "nothing that counts",
}

# An LED goes on and off so that it is noticed: twice a second at most (hardware/leds/patterns.py says why).
_BLINK_S, _TICK_S = 0.4, 0.02
_WHITE = Rgb(255, 255, 255)
_COLOURS = (Rgb(255, 0, 0), Rgb(0, 255, 0), Rgb(0, 0, 255))
_KNOCKS = 3
_ANSWERS = {"y": "seen", "n": "not seen", "a": "again", "s": "skipped"}
TEST_PAGE = Page((Score("Ann", 35), Score("Ben", 128, is_turn=True)), "Can you read this?")


class Outcome(StrEnum):
    """What came of a step."""

    WELL = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a part.

    Attributes:
        part: Which one.
        outcome: How it went.
        words: What was seen, pressed or heard.
    """

    part: str
    outcome: Outcome
    words: str


class Typed(Protocol):
    """What is typed, such as `tallybone.play.keyboard.Keyboard`."""

    @property
    def is_over(self) -> bool:
        """Whether no key will ever come."""

    def pressed(self, wait_s: float) -> str:
        """Return the keys that were pressed since the last call, after up to so many seconds; "" for none."""


class Leaves(Exception):  # noqa: N818 - somebody's wish, no error
    """Somebody has typed q."""


class Walk:
    """A walk through the parts with somebody who sees, presses and knocks."""

    def __init__(
        self, keyboard: Typed, write: Callable[[str], None], asks: Callable[[str], None] = lambda keys: None
    ) -> None:
        """Read answers from *keyboard*, *write* what to do, with its line ends; *asks* gets the keys it may be."""
        self._keyboard, self._write, self._asks = keyboard, write, asks
        self._typed: deque[str] = deque()

    def leds(self, part: str, lamps: Lamps, *, has_colours: bool) -> Result:
        """Let each LED blink until somebody says whether they see it."""
        looks = "goes red, green and blue" if has_colours else "goes on and off"
        self._begin(part, f"each {looks}. y seen, n not, a again from 1, s skip")
        unseen: list[int] = []
        number = 0
        while number < lamps.count:
            self._write(f"  LED {number + 1} of {lamps.count}: ")
            phases = _phases(lamps.count, number, has_colours=has_colours)
            answer = self._answer("ynas", partial(_shine, lamps, phases), _BLINK_S)
            self._write(f"{_ANSWERS[answer]}\n")
            if answer == "s":
                return Result(part, Outcome.SKIPPED, f"skipped at LED {number + 1}")
            if answer == "a":
                number, unseen = 0, []
                continue
            unseen += [number + 1] if answer == "n" else []
            number += 1
        if lamps.problem is not None:
            return Result(part, Outcome.FAILED, lamps.problem)
        if unseen:
            words = f"not seen: {', '.join(map(str, unseen))}; legs swapped, or a wire off?"
            return Result(part, Outcome.FAILED, words)
        return Result(part, Outcome.WELL, f"{lamps.count} seen")

    def buttons(self, buttons: Buttons, pins: Mapping[str, int]) -> Result:
        """Ask for each button, and compare what comes."""
        self._begin("buttons", "press each when it is named. n nothing happens, s skip it")
        odd: list[str] = []
        skipped = 0
        for name in buttons.names:
            prompt = f"  {name} (GPIO {pins[name]}): " if name in pins else f"  {name}: "
            others: list[str] = []
            buttons.read()  # what was pressed before does not count
            self._write(prompt)
            answer = self._answer("ns", partial(self._came, buttons, name, prompt, others), _TICK_S)
            if answer:
                self._write(f"{'skipped' if answer == 's' else 'nothing'}\n")
            if answer == "s":
                skipped += 1
            elif answer == "n":
                odd.append(f"{name}: {' and '.join(others) + ' came' if others else 'nothing came'}")
            elif others:
                odd.append(f"{name}: {' and '.join(others)} came first")
        if odd:
            return Result("buttons", Outcome.FAILED, "; ".join(odd))
        if skipped:
            return Result("buttons", Outcome.SKIPPED, f"{skipped} of {len(buttons.names)} skipped")
        return Result("buttons", Outcome.WELL, f"all {len(buttons.names)} came as they should")

    def _came(self, buttons: Buttons, name: str, prompt: str, others: list[str]) -> bool:
        """Return whether the button was pressed; say which others were instead."""
        for pressed in buttons.read():
            if pressed.button == name:
                self._write(f"{pressed.press.kind}\n")
                return True
            self._write(f"that was {pressed.button}: are their wires swapped?\n")
            self._write(prompt)
            others += [] if pressed.button in others else [pressed.button]
        return False

    def knock(self, sensor: KnockSensor, now_ns: int) -> Result:
        """Ask for three knocks, and say how hard each was heard."""
        self._begin("knock", f"knock {_KNOCKS} times, as in a game. n it does not hear me, s skip")
        strengths: list[float] = []

        def heard() -> bool:
            for one in sensor.read():
                self._write(f"{sentence(replace(one, t_ns=max(0, one.t_ns - now_ns)))}\n")
                strengths.extend([one.strength] if one.kind is Sound.KNOCK else [])
            return len(strengths) >= _KNOCKS

        answer = self._answer("ns", heard, _TICK_S)
        if answer == "s":
            return Result("knock", Outcome.SKIPPED, "skipped")
        words = f"{len(strengths)} of {_KNOCKS} heard"
        if strengths:
            words += f", strength {min(strengths):.2f} to {max(strengths):.2f}"
        if answer == "n":
            trouble = sensor.state.problem
            return Result("knock", Outcome.FAILED, words if trouble is None else f"{words}; {trouble}")
        return Result("knock", Outcome.WELL, words)

    def display(self, part: str, display: ScoreDisplay) -> Result:
        """Show a page, and ask whether it can be read."""
        display.show(TEST_PAGE)
        self._begin(part, f'Ann 35, Ben 128, "{TEST_PAGE.message}". y yes, n no, s skip')
        self._write("  what it shows: ")
        answer = self._answer("yns", lambda: False, _TICK_S)
        self._write(f"{_ANSWERS[answer]}\n")
        if answer == "s":
            return Result(part, Outcome.SKIPPED, "skipped")
        if answer == "n":
            words = display.state.problem or "not seen; its speed (baud), or RX and TX swapped?"
            return Result(part, Outcome.FAILED, words)
        return Result(part, Outcome.WELL, "seen")

    def _begin(self, part: str, words: str) -> None:
        self._write(f"{part}: {words}\n")

    def _answer(self, keys: str, step: Callable[[], bool | None], every_s: float) -> str:
        """Do a step again and again until it says that all is done, "", or one of *keys* is typed.

        Raises:
            Leaves: If it is q, or nobody can type any more.
        """
        self._asks(keys)
        while True:
            if step():
                return ""
            self._typed.extend(self._keyboard.pressed(every_s).lower())
            while self._typed:
                key = self._typed.popleft()
                if key == "q":
                    self._leave()
                if key in keys:
                    return key
            if self._keyboard.is_over:
                self._leave()

    def _leave(self) -> NoReturn:
        self._write("\n")
        raise Leaves


def _shine(lamps: Lamps, phases: Iterator[tuple[Rgb, ...]]) -> None:
    lamps.light(next(phases))


def _phases(count: int, number: int, *, has_colours: bool) -> Iterator[tuple[Rgb, ...]]:
    """Yield without end what a set shows while one of its LEDs is asked about."""
    while True:
        for colour in (*(_COLOURS if has_colours else (_WHITE,)), OFF):
            yield tuple(colour if place == number else OFF for place in range(count))


def sentence(heard: KnockHeard) -> str:
    """Return what was heard in words."""
    again = ", again" if heard.in_row > 1 else ""
    how = f"strength {heard.strength:.2f}, {heard.confidence:.0%} sure"
    return f"{heard.t_ns / NS_PER_S:8.3f} s  {_WORDS[heard.kind]}{again} ({how})"
