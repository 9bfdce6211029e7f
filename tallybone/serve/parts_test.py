"""Interactive test of the parts of a table, from the page or the terminal."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, NoReturn

from hardware import table
from hardware.buttons.panel import ButtonError, Buttons
from hardware.display.display import DisplayError, ScoreDisplay
from hardware.display.page import DisplayPage, ScoreLine
from hardware.knock.sensor import NS_PER_S, ClassifiedSound, KnockError, KnockSensor, Sound
from hardware.leds.drivers import LedsDriver
from hardware.leds.lamps import OFF, Lamps, LedError, off_at_exit
from hardware.libraries import PinError
from hardware.part import Rgb
from tallybone.play.keys import Typed
from tallybone.play.parts import LiveParts

# The test ends if nobody has polled its state for this time, for example because the page was closed.
_NOBODY_AFTER_NS = 60 * NS_PER_S
_MAX_CHARACTERS = 20_000
LEAVES = "q"
"""Key that ends the test."""

# An LED under test blinks, but not faster than allowed in hardware/leds/lamps.py.
_BLINK_S = 0.4
_TICK_S = 0.02
_WHITE = Rgb(255, 255, 255)
_COLOURS = (Rgb(255, 0, 0), Rgb(0, 255, 0), Rgb(0, 0, 255))
_KNOCKS = 3
_ANSWERS = {"y": "seen", "n": "not seen", "a": "again", "s": "skipped"}
SOUND_WORDS = {
    Sound.KNOCK: "a knock",
    Sound.FINGER: "a finger tapping",
    Sound.NAIL: "a nail tapping",
    Sound.NAIL_TIP: "the tip of a nail tapping",
    Sound.TILE: "a tile put down",
    Sound.SLAM: "a tile slammed down",
    Sound.SHUFFLE: "tiles being shuffled",
    Sound.GLASS: "a glass or cup",
    Sound.CLAP: "hands being clapped",
    Sound.COUGH: "a cough or laugh",
    Sound.CHAIR: "a chair or steps",
    Sound.DOOR: "a door or drawer",
    Sound.KEYS: "keys or coins",
    Sound.TYPING: "typing or a click",
    Sound.SPEECH: "somebody speaking",
    Sound.NOTHING: "nothing that counts",
}
"""Description of each kind of sound."""
TEST_PAGE = DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 128, is_turn=True)), "Can you read this?")

_CANNOT = (LedError, ButtonError, KnockError, DisplayError, PinError)


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """Progress of a test.

    Attributes:
        text: Text shown so far, limited to the last 20,000 characters.
        keys: Keys that the test accepts now, without the one that ends it.
    """

    is_running: bool = False
    text: str = ""
    keys: str = ""
    results: tuple[PartResult, ...] = ()


class PartsTest:
    """A test that runs in the table's thread, while other threads poll its state and answer."""

    def __init__(self, clock: Callable[[], int]) -> None:
        """Start without a test. *clock* is monotonic, in nanoseconds."""
        self._clock, self._lock = clock, threading.Lock()
        self._state, self._typed = WalkProgress(), queue.SimpleQueue[str]()
        self._asked_ns = 0

    @property
    def state(self) -> WalkProgress:
        """Current progress. Polling it keeps the test alive."""
        self._asked_ns = self._clock()
        return self._state

    def answer(self, key: str) -> bool:
        """Answer with a key. Return False if the test does not accept the key now."""
        with self._lock:
            state = self._state
            if not state.is_running or key not in (*state.keys, LEAVES):
                return False
            self._typed.put(key)
            return True

    def run(self, hardware: table.HardwareSettings, opener: table.OpensParts, meanwhile: Callable[[], bool]) -> None:
        """Test all parts of *hardware*. *meanwhile* is called often. If it returns False, the test ends.

        The test also ends if nobody has polled its state for a minute.
        """
        self._typed = queue.SimpleQueue()
        self._asked_ns = self._clock()
        self._change(WalkProgress(is_running=True))
        results: list[PartResult] = []

        def continues() -> bool:
            return meanwhile() and self._clock() - self._asked_ns < _NOBODY_AFTER_NS

        walk = Walk(_Answers(self._typed, continues), self._say, self._ask)
        try:
            for result in walked(hardware, opener, walk, self._clock):
                results.append(result)
                self._change(replace(self._state, keys="", results=tuple(results)))
        finally:
            self._change(WalkProgress(text=self._state.text, results=tuple(results)))

    def _say(self, text: str) -> None:
        self._change(replace(self._state, text=(self._state.text + text)[-_MAX_CHARACTERS:]))

    def _ask(self, keys: str) -> None:
        self._change(replace(self._state, keys=keys))

    def _change(self, state: WalkProgress) -> None:
        with self._lock:
            self._state = state


class _Answers:
    """Keys pressed on the page."""

    def __init__(self, typed: queue.SimpleQueue[str], continues: Callable[[], bool]) -> None:
        self._typed, self._continues = typed, continues
        self.is_over = False

    def pressed(self, wait_s: float) -> str:
        """Wait up to *wait_s* seconds for a key. Return "" if no key was pressed."""
        self.is_over = not self._continues()
        try:
            return self._typed.get(timeout=wait_s)
        except queue.Empty:
            return ""


class ServedParts:
    """Parts of a table, which can be lent to a test and are reopened afterwards."""

    def __init__(
        self, hardware: table.HardwareSettings, open_all: Callable[[], LiveParts], clock: Callable[[], int]
    ) -> None:
        """Open the parts of *hardware* with *open_all*."""
        self.hardware = hardware
        self._open_all, self._clock = open_all, clock
        self.now = open_all()
        """Currently open parts. Thread-safe."""

    @contextmanager
    def lent(self) -> Iterator[table.OpensParts]:
        """Close all parts and yield an opener for single parts. All parts are reopened at the end of the block."""
        panel = self.now.panel
        self.now.close()
        try:
            yield table.PartOpener(self.hardware.pins, panel, self._clock)
        finally:
            self.now = self._open_all()

    def close(self) -> None:
        """Close all parts."""
        self.now.close()


class PartVerdict(StrEnum):
    """Outcome of a test step."""

    WELL = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of testing a part. *text* describes what was seen, pressed or heard."""

    part: str
    outcome: PartVerdict
    text: str


class Leaves(Exception):  # noqa: N818 - a request of the user, not an error
    """The user ended the test."""


class Walk:
    """Dialogue of a test: asks the user to watch, press and knock."""

    def __init__(
        self, keyboard: Typed, write: Callable[[str], None], asks: Callable[[str], None] = lambda keys: None
    ) -> None:
        """Read answers from *keyboard*, and pass instructions to *write* and the allowed keys to *asks*."""
        self._keyboard, self._write, self._asks = keyboard, write, asks
        self._typed: deque[str] = deque()

    def leds(self, part: str, lamps: Lamps, *, has_colours: bool) -> PartResult:
        """Blink each LED and ask whether it is visible."""
        looks = "goes red, green and blue" if has_colours else "goes on and off"
        self._begin(part, f"each {looks}. y seen, n not seen, a again from 1, s skip")
        unseen: list[int] = []
        number = 0
        while number < lamps.count:
            self._write(f"  LED {number + 1} of {lamps.count}: ")
            phases = _phases(lamps.count, number, has_colours=has_colours)
            answer = self._answer("ynas", partial(_shine, lamps, phases), _BLINK_S)
            self._write(f"{_ANSWERS[answer]}\n")
            if answer == "s":
                return PartResult(part, PartVerdict.SKIPPED, f"skipped at LED {number + 1}")
            if answer == "a":
                number, unseen = 0, []
                continue
            unseen += [number + 1] if answer == "n" else []
            number += 1
        if lamps.state.problem is not None:
            return PartResult(part, PartVerdict.FAILED, lamps.state.problem)
        if unseen:
            text = f"not seen: {', '.join(map(str, unseen))}; check for swapped legs or a loose wire"
            return PartResult(part, PartVerdict.FAILED, text)
        return PartResult(part, PartVerdict.WELL, f"{lamps.count} seen")

    def buttons(self, part: str, buttons: Buttons, pins: Mapping[str, int]) -> PartResult:
        """Ask the user to press each button, and check that the right one is pressed."""
        self._begin(part, "press each when asked. n nothing happens, s skip")
        odd: list[str] = []
        skipped = 0
        for name in buttons.names:
            prompt = f"  {name} (GPIO {pins[name]}): " if name in pins else f"  {name}: "
            others: list[str] = []
            buttons.read()  # Discard earlier presses.
            self._write(prompt)
            answer = self._answer("ns", partial(self._was_pressed, buttons, name, prompt, others), _TICK_S)
            if answer:
                self._write(f"{'skipped' if answer == 's' else 'nothing'}\n")
            if answer == "s":
                skipped += 1
            elif answer == "n":
                odd.append(f"{name}: {' and '.join(others) + ' came' if others else 'nothing came'}")
            elif others:
                odd.append(f"{name}: {' and '.join(others)} came first")
        if odd:
            return PartResult(part, PartVerdict.FAILED, "; ".join(odd))
        if skipped:
            return PartResult(part, PartVerdict.SKIPPED, f"{skipped} of {len(buttons.names)} skipped")
        return PartResult(part, PartVerdict.WELL, f"all {len(buttons.names)} arrived correctly")

    def _was_pressed(self, buttons: Buttons, name: str, prompt: str, others: list[str]) -> bool:
        """Return True if the button *name* was pressed. Other pressed buttons are reported and added to *others*."""
        for pressed in buttons.read():
            if pressed.button == name:
                self._write(f"{pressed.press.kind}\n")
                return True
            self._write(f"that was {pressed.button}: check for swapped wires\n")
            self._write(prompt)
            others += [] if pressed.button in others else [pressed.button]
        return False

    def knock(self, part: str, sensor: KnockSensor, now_ns: int) -> PartResult:
        """Ask for three knocks, and report the strength of each. Other sounds are reported but not counted."""
        self._begin(part, f"knock {_KNOCKS} times, as in a game. n not heard, s skip")
        strengths: list[float] = []

        def heard() -> bool:
            for sound in sensor.read():
                self._write(f"{sentence(replace(sound, t_ns=max(0, sound.t_ns - now_ns)))}\n")
                strengths.extend([sound.strength] if sound.kind is Sound.KNOCK else [])
            return len(strengths) >= _KNOCKS

        answer = self._answer("ns", heard, _TICK_S)
        if answer == "s":
            return PartResult(part, PartVerdict.SKIPPED, "skipped")
        text = f"{len(strengths)} of {_KNOCKS} heard"
        if strengths:
            text += f", strength {min(strengths):.2f} to {max(strengths):.2f}"
        if answer == "n":
            trouble = sensor.state.trouble
            return PartResult(part, PartVerdict.FAILED, text if trouble is None else f"{text}; {trouble}")
        return PartResult(part, PartVerdict.WELL, text)

    def display(self, part: str, display: ScoreDisplay) -> PartResult:
        """Show a test page, and ask whether it is readable."""
        display.show(TEST_PAGE)
        self._begin(part, f'Ann 35, Ben 128, "{TEST_PAGE.message}". y yes, n no, s skip')
        self._write("  what it shows: ")
        answer = self._answer("yns", lambda: False, _TICK_S)
        self._write(f"{_ANSWERS[answer]}\n")
        if answer == "s":
            return PartResult(part, PartVerdict.SKIPPED, "skipped")
        if answer == "n":
            text = display.state.problem or "not seen: check its speed (baud), and RX and TX"
            return PartResult(part, PartVerdict.FAILED, text)
        return PartResult(part, PartVerdict.WELL, "seen")

    def _begin(self, part: str, text: str) -> None:
        self._write(f"{part}: {text}\n")

    def _answer(self, keys: str, step: Callable[[], bool | None], every_s: float) -> str:
        """Repeat *step* until it returns True or a key is typed.

        Returns:
            The key, or "" if *step* returned True.

        Raises:
            Leaves: If the key is q, or the keyboard is closed.
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
    """Yield colours of all LEDs in an endless cycle."""
    # Only the LED with index *number* is lit, in turn with each colour.
    while True:
        for colour in (*(_COLOURS if has_colours else (_WHITE,)), OFF):
            yield tuple(colour if place == number else OFF for place in range(count))


def sentence(heard: ClassifiedSound) -> str:
    """Describe a sound in a line: its time, kind, strength and confidence."""
    again = ", again" if heard.in_row > 1 else ""
    how = f"strength {heard.strength:.2f}, {heard.confidence:.0%} sure"
    return f"{heard.t_ns / NS_PER_S:8.3f} s  {SOUND_WORDS[heard.kind]}{again} ({how})"


def walked(
    hardware: table.HardwareSettings, opener: table.OpensParts, walk: Walk, clock: Callable[[], int]
) -> Iterator[PartResult]:
    """Open and test each part. Yield the result of each, and if the user ends the test, a result for the rest.

    A part that cannot be opened, read or driven has failed. *clock* is monotonic, in nanoseconds.
    """

    def leds(name: str, part: LedsDriver) -> PartResult:
        with off_at_exit(opener.leds(part)) as lamps:
            return walk.leds(name, lamps, has_colours=part.has_colours)

    def buttons(name: str, part: table.ButtonsSettings) -> PartResult:
        with closing(opener.buttons(part)) as opened:
            return walk.buttons(name, opened, {} if isinstance(part, table.VirtualSettings) else part.wired)

    def knock(name: str, part: table.KnockSettings) -> PartResult:
        with closing(opener.knock(part)) as sensor:
            return walk.knock(name, sensor, clock())

    def display(name: str, part: table.DisplaySettings) -> PartResult:
        with closing(opener.display(part)) as opened:
            return walk.display(name, opened)

    tests: list[tuple[str, Callable[[str, Any], PartResult], Any]] = [
        *((f"LEDs ({part.shows})", leds, part) for part in hardware.leds),
        ("buttons", buttons, hardware.buttons),
        ("knock", knock, hardware.knock),
        *((f"display {part.driver}", display, part) for part in hardware.displays),
    ]
    for name, test, part in tests:
        try:
            if part is not None:
                yield test(name, part)
        except Leaves:
            yield PartResult("the rest", PartVerdict.SKIPPED, "ended with q")
            return
        except _CANNOT as error:
            yield PartResult(name, PartVerdict.FAILED, str(error))
