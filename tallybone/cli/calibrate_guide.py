"""Run `tallybone calibrate guide`: a guided calibration on the screen of a terminal, or on a page."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from calibration import CalibrationError
from hardware.camera.open_device import is_device
from hardware.libraries import install_command
from hardware.part import Clock
from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
from tallybone.calibrate.guide.steps import AGAIN, GO_ON, SKIP, CourseView, Drawn, Kind
from tallybone.calibrate.lens_and_table import ReadTiles, detect_tiles
from tallybone.calibrate.look import open_look
from tallybone.calibrate.stored import print_calibration
from tallybone.laboratory import SIMULATED
from tallybone.play.keys import Typed, keyboard_on
from tallybone.store.calibration_file import Calibration, load_calibration
from tallybone.terminal import Output, printable
from vision import VisionError

if TYPE_CHECKING:
    from tallybone.web.calibration.routes import CalibratingPage


@dataclass(frozen=True, slots=True)
class GuideScreen:
    """Text on the screen. *note* is the address of the page with the same calibration, or ""."""

    title: str
    note: str
    done: tuple[tuple[str, str], ...]
    step: str
    todo: tuple[str, ...]
    seen: tuple[str, ...]
    waiting: tuple[str, ...]
    keys: str


Screen: TypeAlias = Callable[[GuideScreen], None]
"""Shows a screen. Called after each change."""


@contextmanager
def screen_on(console: Console) -> Iterator[Screen]:
    """Yield a function that redraws the screen in place on a terminal, and otherwise prints new lines."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield LineScreen(console).show
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        yield lambda board: live.update(draw_guide(board), refresh=True)


class LineScreen:
    """Prints each step, its instructions and its result once."""

    def __init__(self, console: Console) -> None:
        """Print on *console*."""
        self._console = console
        self._printed: tuple[str, ...] = ()
        self._note = ""
        self._done = 0

    def show(self, board: GuideScreen) -> None:
        """Print the lines that have not been printed for this step. Changed observations alone are not printed."""
        if board.note != self._note:
            self._note = board.note
            self._print(board.note)
        for name, text in board.done[self._done :]:
            self._print(f"{name}: {text}")
        self._done = len(board.done)
        content = (board.step, *board.todo, board.keys)
        if content != self._printed:
            self._printed = content
            title = f"{board.title}: {board.step}" if board.step else board.title
            for line in (title, *board.todo, *board.seen, board.keys):
                self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(printable(line), markup=False, soft_wrap=True)


def coverage_lines(drawn: Sequence[Drawn]) -> tuple[str, ...]:
    """Return the nine picture cells as three lines, with # for covered cells. Empty if *drawn* contains no cells."""
    cells = ["#" if shape.is_good else "." for shape in drawn if shape.kind is Kind.CELL]
    return tuple("    " + " ".join(cells[at : at + 3]) for at in range(0, len(cells), 3))


def draw_guide(board: GuideScreen) -> Padding:
    """Return the screen as a renderable for rich."""
    parts: list[RenderableType] = [Text(printable(board.title), style="bold"), Text(printable(board.note)), Text()]
    for name, text in board.done:
        is_skipped = text == "skipped"
        line = Text(f"{'-' if is_skipped else '✓'} {name:<6} ", style="dim" if is_skipped else "green")
        parts.append(Padding(line.append(printable(text), style="default"), (0, 0, 0, 2)))
    if board.step:
        parts.append(Padding(Text(f"> {board.step}", style="bold yellow"), (0, 0, 0, 2)))
    parts += [Padding(Text(printable(line)), (0, 0, 0, 6)) for line in board.todo]
    parts.append(Text())
    parts += [Padding(Text(printable(line), style="cyan"), (0, 0, 0, 6)) for line in board.seen]
    parts.append(Text())
    parts += [Padding(Text(name, style="dim"), (0, 0, 0, 4)) for name in board.waiting]
    parts.append(Text(f"\n  {board.keys}", style="bold"))
    return Padding(Group(*parts), (1, 2))


_WAIT_S = 0.02
_LEAVE = "q"
_PRESSES = {"\n": GO_ON, "\r": GO_ON, " ": GO_ON, "s": SKIP, "a": AGAIN}
_KEYS = {GO_ON: "Enter", SKIP: "s", AGAIN: "a"}


@dataclass(frozen=True, slots=True)
class PageAt:
    """Address of a page, as port or ADDRESS:PORT, and its PIN. None for a new PIN."""

    where: str
    pin: str | None = None


def guide_through(
    settings: GuideSettings,
    *,
    page_at: PageAt | None = None,
    keys: Typed | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    output: Output | None = None,
) -> int:
    """Guide a person through the calibration, continuing where the last one stopped.

    Args:
        settings: Camera, calibration file, and facts about the table.
        page_at: Address of the page. None for no page.
        keys: Source of typed keys, by default the terminal.
        read_tiles: Finds tiles in an image, by default with the shipped reader.
        clock: Monotonic, in nanoseconds.
        output: Receives the display and errors, by default standard output and standard error.

    Returns:
        The exit code: 0, also if the person quits early, or 1 if the camera or file cannot be used.
    """
    output = output or Output("calibrate")
    try:
        calibration = load_calibration(settings.into)
        with closing(open_look(settings.source, clock)) as look:
            typing = keyboard_on(sys.stdin.fileno()) if keys is None else nullcontext(keys)
            with screen_on(output.console) as screen, typing as typed:
                course = GuideCourse(settings, look, calibration, read_tiles or detect_tiles, clock)
                with closing(course), _page_on(page_at, course, settings.source, clock) as page:
                    _go_through(course, page, settings.source, screen, typed)
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    _print_end(course.calibration, settings, output)
    return 0


def _go_through(course: GuideCourse, page: CalibratingPage | None, source: str, screen: Screen, keys: Typed) -> None:
    """Run a course until the person quits in the terminal. Without a page, also end when it is complete or keys end."""
    typed: deque[str] = deque()
    shown: GuideScreen | None = None
    while page is not None or not course.is_over:
        (page or course).turn()
        board = guide_board(course.view, course.drawn, source, "" if page is None else page.text)
        if board != shown:
            screen(board)
            shown = board
        if not typed:
            typed.extend(keys.pressed(_WAIT_S).lower())
        if not typed and keys.is_over and page is None:
            return
        key = typed.popleft() if typed else ""
        if key == _LEAVE:
            return
        if key:
            course.press(_PRESSES.get(key, key))


def guide_board(view: CourseView, drawn: tuple[Drawn, ...], source: str, note: str = "") -> GuideScreen:
    """Return the terminal screen of a course. *note* contains the address and PIN of its page, if any."""
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
    advice = (
        *((f"The picture is {view.note}.",) if view.note else ()),
        *((f"Not yet: {view.refused}.",) if view.refused else ()),
    )
    choices = (*((_KEYS.get(one.press, one.press), one.text) for one in view.choices), (_LEAVE, "end"))
    keys = "   ".join(f"{key}: {text}" for key, text in choices)
    waiting = tuple(name.value for name in names[at + 1 :])
    return GuideScreen(title, note, done, step, view.todo, (*coverage_lines(drawn), *seen, *advice), waiting, keys)


def _print_end(calibration: Calibration, settings: GuideSettings, output: Output) -> None:
    print_calibration(calibration, output)
    if not settings.into.exists():
        output.say("Nothing was saved.")
        return
    if settings.source.partition(":")[0] == SIMULATED:
        output.say(
            f"Saved in {settings.into}, for testing: simulated matches have other tables. With your own camera:"
            " tallybone calibrate guide --camera usb:0"
        )
        return
    play = f"--camera {settings.source}" if is_device(settings.source) else f"--calibration {settings.into}"
    output.say(f"Saved in {settings.into}. To play: tallybone play {play}")


def _page_on(
    page_at: PageAt | None, course: GuideCourse, camera: str, clock: Clock
) -> AbstractContextManager[CalibratingPage | None]:
    """Serve the page of a course until the end of the block, if *page_at* is given."""
    if page_at is None:
        return nullcontext()
    try:
        from tallybone.web.calibration.routes import CalibratingPage
    except ModuleNotFoundError as error:
        text = f"a page needs {error.name}, which is not installed: {install_command('web')}"
        raise OSError(text) from error
    return closing(CalibratingPage(page_at.where, course, camera, clock, pin=page_at.pin))
