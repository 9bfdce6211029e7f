"""Run `tallybone calibrate guide`: a guided calibration at the terminal or on a page."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Protocol, TextIO

from rich.console import Console

from calibration.errors import CalibrationError
from hardware.camera.open_device import is_device
from hardware.clock import Clock
from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
from tallybone.calibrate.guide.screen import GuideScreen, Screen, parts_of, screen_on
from tallybone.calibrate.guide.steps import AGAIN, GO_ON, SKIP, CourseView, Drawn
from tallybone.calibrate.lens_and_table import ReadTiles, Talk, shipped_eye
from tallybone.calibrate.look import open_look
from tallybone.calibrate.stored import say_calibration
from tallybone.play.keys import keyboard_on
from tallybone.sources.camera import SIMULATED
from tallybone.store.calibration_file import Calibration, load_calibration
from vision.errors import VisionError

_WAIT_S = 0.02
_LEAVE = "q"
_PRESSES = {"\n": GO_ON, "\r": GO_ON, " ": GO_ON, "s": SKIP, "a": AGAIN}
_KEYS = {GO_ON: "Enter", SKIP: "s", AGAIN: "a"}


class Keys(Protocol):
    """What somebody types."""

    @property
    def is_over(self) -> bool:
        """Whether no key will ever come."""

    def pressed(self, wait_s: float) -> str:
        """Return the keys that were pressed since the last call, after up to so many seconds."""


def guide_through(
    wish: GuideSettings,
    *,
    serve: str | None = None,
    pin: str | None = None,
    keys: Keys | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Lead somebody through the calibration, from where it stopped the last time.

    Args:
        wish: What is calibrated.
        serve: Where its page is, as `serving.listen_on` takes it; None for no page.
        pin: Of that page; a new one if none is given.
        keys: What is typed, by default at the terminal.
        read_tiles: What finds tiles, by default the shipped eye.
        clock: Monotonic, in nanoseconds.
        out: Where it is shown, by default stdout.
        err: Where errors go, by default stderr.

    Returns:
        The exit code: 0, also where it is left before the end, or 1 if camera or file cannot be used.
    """
    talk = Talk(out or sys.stdout, err or sys.stderr)
    console = Console(file=talk.out, highlight=False)
    try:
        calibration = load_calibration(wish.into)
        with closing(open_look(wish.source, clock)) as look:
            typing = keyboard_on(sys.stdin.fileno()) if keys is None else nullcontext(keys)
            with screen_on(console) as screen, typing as typed:
                course = GuideCourse(wish, look, calibration, read_tiles or shipped_eye, clock)
                with closing(course), open_guide_page(serve, course, wish.source, clock, pin=pin) as page:
                    _go_through(course, page, wish.source, screen, typed)
    except (CalibrationError, VisionError, OSError) as error:
        return talk.complain(str(error))
    _say_end(course.calibration, wish, talk)
    return 0


def _go_through(course: GuideCourse, page: GuidePage, source: str, screen: Screen, keys: Keys) -> None:
    """Go through a course until it is over or somebody leaves at the terminal; with a page, only then."""
    typed: deque[str] = deque()
    is_served = bool(page.words)
    while is_served or not course.is_over:
        page.turn()
        screen.show(board_of(course.view, course.drawn, source, page.words))
        if not typed:
            typed.extend(keys.pressed(_WAIT_S).lower())
        if not typed and keys.is_over and not is_served:
            return
        key = typed.popleft() if typed else ""
        if key == _LEAVE:
            return
        if key:
            course.press(_PRESSES.get(key, key))


def board_of(view: CourseView, drawn: tuple[Drawn, ...], source: str, note: str = "") -> GuideScreen:
    """Return what a terminal shows of a course; *note* says where else it can be followed."""
    names = [progress.name for progress in view.steps]
    at = len(names) if view.step is None else names.index(view.step)
    done = tuple(
        (one.name.value, f"{one.outcome}, {one.note}" if one.note else one.outcome)
        for one in view.steps[:at]
        if one.outcome is not None
    )
    step = "" if view.step is None else view.step.value
    title = f"Calibration of {source}" + ("" if view.step is None else f", step {at + 1} of {len(names)}")
    seen = view.seen if view.problem is None else (view.problem,)
    said = (
        *((f"The picture is {view.note}.",) if view.note else ()),
        *((f"Not yet: {view.refused}.",) if view.refused else ()),
    )
    choices = (*((_KEYS.get(one.press, one.press), one.words) for one in view.choices), (_LEAVE, "end"))
    keys = "   ".join(f"{key}: {words}" for key, words in choices)
    waiting = tuple(name.value for name in names[at + 1 :])
    return GuideScreen(title, note, done, step, view.todo, (*parts_of(drawn), *seen, *said), waiting, keys)


def _say_end(calibration: Calibration, wish: GuideSettings, talk: Talk) -> None:
    say_calibration(calibration, talk)
    if not wish.into.exists():
        talk.say("Nothing was kept.")
        return
    if wish.source.partition(":")[0] == SIMULATED:
        talk.say(
            f"Kept in {wish.into}, for trying: simulated matches have other tables. A camera of your own:"
            " tallybone calibrate guide --camera usb:0"
        )
        return
    play = f"--camera {wish.source}" if is_device(wish.source) else f"--calibration {wish.into}"
    talk.say(f"Kept in {wish.into}. Play with it: tallybone play {play}")


class GuidePage(Protocol):
    """What the guide has to do with its page."""

    @property
    def words(self) -> str:
        """Where it is and its PIN; "" for no page."""

    def turn(self) -> None:
        """Let the course look once, and do what people want."""


class NoGuidePage:
    """A guide at the terminal alone."""

    words = ""

    def __init__(self, course: GuideCourse) -> None:
        """Guide through *course*."""
        self._course = course

    def turn(self) -> None:
        """Let the course look once."""
        self._course.turn()


@contextmanager
def open_guide_page(
    where: str | None, course: GuideCourse, camera: str, clock: Clock, *, pin: str | None = None
) -> Iterator[GuidePage]:
    """Serve the page of a course until the end of the block; None for no page.

    Args:
        where: A port, or an address and a port; "" for the usual port of the whole network.
        course: What is shown.
        camera: What its camera is called.
        clock: Monotonic, in nanoseconds.
        pin: A new one if none is given.

    Raises:
        OSError: If it cannot be served there, or what serves it is not installed.
    """
    if where is None:
        yield NoGuidePage(course)
        return
    try:
        from tallybone.web.calibration import CalibratingPage
    except ModuleNotFoundError as error:
        words = f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'"
        raise OSError(words) from error
    page = CalibratingPage(where, course, camera, clock, pin=pin)
    try:
        yield page
    finally:
        page.close()
