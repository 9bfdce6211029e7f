"""Run `tallybone demo`: read and score a rendered game, and compare it with the ground truth."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Annotated, Protocol, TypeAlias

import cv2
import numpy as np
import typer
from rich.console import Console
from rich.live import Live

from engine import Layout, Rules, State, profile
from lab.matches.game_script import ScriptStep, answer_of, play_out
from lab.matches.judged_hands import NO_HAND, judge_hand, true_hands, wrong_plays_in
from lab.matches.room import pick_table
from lab.render.paint import render
from tallybone.cli.app import command, commands_of
from tallybone.cli.games import game_option
from tallybone.session.feeding import feed
from tallybone.session.places import Laid
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement, Session
from tallybone.show.scoreboard import Board, draw_board, plain_line, summarize
from tallybone.terminal import Output, printable
from vision import VisionError
from vision.arrays import Image
from vision.image.annotate import annotate
from vision.reading import Reading
from vision.tracking.table_view import TableView

TableReader: TypeAlias = Callable[[Image], TableView]
_NAMES = ("Ann", "Ben", "Cleo", "Dora")
# Two players suit most games; reversing and skipping turns (super) need three.
_MIN_PLAYERS = {"super": 3}
_JPEG_QUALITY = 92
commands = commands_of()

Wait: TypeAlias = Callable[[float], object]
# Pauses after a play and after a button press, at normal speed.
_PLAY_S = 0.7
_BUTTON_S = 0.35
# Time between two actions for the session.
_STEP_NS = 3_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """Options of `tallybone demo`."""

    rules: Annotated[str, game_option("Game to play.")] = "bones"
    seed: Annotated[int, typer.Option(help="Random seed of the game, tiles, table and light.", min=0)] = 1
    hands: Annotated[int, typer.Option(help="Maximum number of hands.", min=1)] = 1
    plays: Annotated[int | None, typer.Option(help="Maximum number of plays.", min=1)] = None
    speed: Annotated[float, typer.Option(help="Speed; 2 is twice as fast.", min=0.1)] = 1.0
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="Write the images and the annotated readings to this folder."
        ),
    ] = None


@command(commands, "demo", DemoOptions)
def _demo(options: DemoOptions) -> int:
    return show_demo(options)


def show_demo(
    options: DemoOptions, *, reader: TableReader | None = None, console: Console | None = None, wait: Wait | None = None
) -> int:
    """Run a demo.

    Args:
        reader: Reads images of the table, by default perception with the shipped reader.
        console: Shows the demo, by default on stdout.
        wait: Sleeps for a number of seconds. None to use the real time.

    Returns:
        The exit code: 0, or 1 if the totals differ from the ground truth or a model or file is missing.
    """
    console = console or Console(highlight=False)
    try:
        demo = _Demo(options, reader or shipped_perception(profile(options.rules)), console)
        demo.introduce()
        with display_on(console, options.speed, wait or threading.Event().wait) as display:
            demo.run(display)
    except (VisionError, OSError) as error:
        return Output("demo").complain(error)
    return demo.sum_up()


def players_of(rules: Rules) -> tuple[str, ...]:
    """Return the names of the players in a demo of a game, as few as can use all its rules."""
    return _NAMES[: max(rules.seats_min, _MIN_PLAYERS.get(rules.name, rules.seats_min))]


def shipped_perception(rules: Rules) -> TableReader:
    """Return perception with the shipped reader, for the set of a game.

    Raises:
        ModelError: If a model file is missing or of another version.
    """
    from vision.reader.reader import load_reader
    from vision.tracking.perception import Perception

    return Perception(load_reader(rules.max_pips)).feed


class _Demo:
    """A run of the demo: the table, the session that reads it, and their comparison."""

    def __init__(self, options: DemoOptions, reader: TableReader, console: Console) -> None:
        self._options, self._reader, self._console = options, reader, console
        self._rules = profile(options.rules)
        rng = np.random.default_rng(options.seed)
        self._table = pick_table(rng, self._rules)
        self._players = players_of(self._rules)
        self._steps = play_out(
            rng, rules=self._rules, players=self._players, table=self._table.board, hands=options.hands
        )
        self._session = Session()
        self._true_state = State()
        self._questions: list[str] = []
        self._album = _Album(options.out)
        self._eye_ms: list[float] = []
        self._is_covered = False
        self._answers = 0
        self._t_ns = 0
        self._started_ns = time.perf_counter_ns()

    def introduce(self) -> None:
        """Print the game and its seed."""
        name, seed = self._rules.name, self._options.seed
        self._say(f"A game of {name} on a rendered table (--seed {seed}), read image by image.")
        self._say("")

    def run(self, display: Display) -> None:
        """Play and read the game until it ends or reaches the limits of the options."""
        self._look(Layout(), ())  # the empty table
        plays = 0
        for step in self._steps:
            self._true_state = step.state
            announcements = (*self._take(step), *self._answer(step))
            self._questions += [one.text for one in announcements if isinstance(one, Ambiguity)]
            game = self._session.state.game
            if game is not None:
                question = self._session.open_question
                board = Board(
                    game,
                    self._session.places.laid,
                    (self._table.camera.width_px, self._table.camera.height_px),
                    summarize(announcements, game.players),
                    None if question is None else question.text,
                    f"picture {len(self._eye_ms)}, read in {self._eye_ms[-1]:.0f} ms ",
                    is_provisional=self._session.is_provisional,
                )
                display(board, announcements, is_seen=step.is_seen)
            plays += step.is_seen
            if self._options.plays is not None and plays >= self._options.plays:
                break

    def _take(self, step: ScriptStep) -> tuple[Announcement, ...]:
        """Feed a step to the session, as an image or as a button press, and return the announcements."""
        assert step.state.game is not None  # the first step starts the match
        layout = step.state.game.layout
        self._t_ns += _STEP_NS
        if not step.is_seen:
            self._session, announcements = feed(self._session, step.event, t_ns=self._t_ns)
            if self._is_covered and not step.laid:  # the table was cleared
                self._session, _ = feed(self._session, self._look(layout, step.laid))
            self._is_covered = bool(step.laid)
            return announcements
        self._is_covered = True
        self._session, announcements = feed(self._session, self._look(layout, step.laid), t_ns=self._t_ns)
        return announcements

    def _answer(self, step: ScriptStep) -> tuple[Announcement, ...]:
        """Let the players answer the session's questions, as far as they can, and return the announcements."""
        announcements: tuple[Announcement, ...] = ()
        while (answer := answer_of(self._session, step.state)) is not None:
            self._session, more = feed(self._session, answer)
            self._answers += 1
            announcements = (*announcements, *more)
        return announcements

    def _look(self, layout: Layout, laid: Sequence[Laid]) -> TableView:
        """Render the table, read it, and add the image and the reading to the album."""
        # The same random state for every image keeps the grain of the table.
        image = render(self._table.scene(layout, laid), np.random.default_rng(self._options.seed)).image
        start_ns = time.perf_counter_ns()
        view = self._reader(image)
        self._eye_ms.append((time.perf_counter_ns() - start_ns) / 1e6)
        self._album.add(image, view)
        return view

    def sum_up(self) -> int:
        """Print the comparison with the ground truth and next steps, and return the exit code."""
        say = self._say
        pairs = zip_longest(true_hands(self._true_state.log), true_hands(self._session.state.log))
        hands = [
            judge_hand(at, true or NO_HAND, seen, closed_ns=0, is_flagged=False)
            for at, (true, seen) in enumerate(pairs, start=1)
        ]
        plays = [play for hand in hands for play in hand.plays]
        true_totals, totals = (
            () if state.game is None else state.game.totals for state in (self._true_state, self._session.state)
        )
        say("")
        say("Compared with the game that was played", style="bold")
        tiles, places = sum(p.is_tile_right for p in plays), sum(p.is_place_right for p in plays)
        points = sum(p.are_points_right for p in plays)
        say(f"  plays   {len(plays)}; correct: {tiles} tiles, {places} positions, {points} scores")
        for wrong in wrong_plays_in(hands):
            say(f"          {wrong.text}")
        if asked := self._questions:
            say(f"  asked   {len(asked)} questions, answered {self._answers}: {' '.join(asked)}")
        are_equal = totals == true_totals
        verdict = "correct" if are_equal else f"should be {self._totals(true_totals)}"
        say(f"  totals  {self._totals(totals)}: {verdict}")
        seconds = (time.perf_counter_ns() - self._started_ns) / 1e9
        count, median_ms = len(self._eye_ms), median(self._eye_ms)
        say(f"  time    {median_ms:.0f} ms per image (median of {count}), {seconds:.0f} s in total")
        say("Plays were detected by the camera alone. Buttons were pressed to lead, draw, knock, call")
        say("and stack, and to enter the hands at the end.")
        say("")
        say("Try it with a photograph of your own table, from above:")
        say(f"  {_program()} read photo.jpg --annotate out")
        if self._album.folder is not None:
            seen = printable(str(self._album.folder / "seen"))
            say(f"Or with the images of this game: {_program()} replay {seen}")
        return 0 if are_equal else 1

    def _totals(self, totals: Sequence[int]) -> str:
        return ", ".join(f"{name} {total}" for name, total in zip(self._players, totals, strict=False))

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


@dataclass(slots=True)
class _Album:
    """Writes the images of a demo, plain and annotated with the readings.

    Attributes:
        folder: Folder to write to. None to write nothing.
    """

    folder: Path | None
    _count: int = field(default=0)

    def add(self, image: Image, view: TableView) -> None:
        """Write the next image, plain and annotated.

        Raises:
            OSError: If an image cannot be written.
        """
        if self.folder is None:
            return
        height, width = image.shape[:2]
        drawn = annotate(image, Reading(width, height, view.shown_tiles, view.joins).with_unsure(view.shown_unsure))
        for name, picture in (("seen", image), ("read", drawn)):
            path = self.folder / name / f"{self._count:02d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
            path.write_bytes(data.tobytes())
        self._count += 1


def _program() -> str:
    """Return the command to type: the path by which this program was called, or "tallybone" if it has another name."""
    called = Path(sys.argv[0])
    return printable(str(called)) if called.name == "tallybone" else "tallybone"


class Display(Protocol):
    """Shows the state of a game."""

    def __call__(self, board: Board, announcements: Sequence[Announcement], *, is_seen: bool) -> None:
        """Show the state of the game after a step and its announcements. *is_seen* is False for button presses."""


@contextmanager
def display_on(console: Console, speed: float, wait: Wait) -> Iterator[Display]:
    """Yield a display that redraws in place on capable terminals, and otherwise prints a line per event."""
    if not console.is_terminal or console.is_dumb_terminal or console.no_color:
        plain = _PlainDisplay(console)
        yield plain.show
        plain.finish()
        return
    with Live(console=console, auto_refresh=False) as live:

        def show(board: Board, announcements: Sequence[Announcement], *, is_seen: bool) -> None:
            del announcements  # the board contains the announcements
            size = console.size
            # One row less, because the cursor below must not scroll the terminal.
            live.update(draw_board(board, columns=size.width, rows=size.height - 1), refresh=True)
            wait((_PLAY_S if is_seen else _BUTTON_S) / speed)

        yield show


@dataclass(slots=True)
class _PlainDisplay:
    """Prints a line per event without pausing, and the layout at the end."""

    console: Console
    plays: int = 0
    board: Board | None = None

    def show(self, board: Board, announcements: Sequence[Announcement], *, is_seen: bool) -> None:
        self.plays += is_seen
        self.board = board
        line = plain_line(self.plays, announcements, board.game, is_provisional=board.is_provisional)
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def finish(self) -> None:
        if self.board is not None:
            columns = min(self.console.width, 120)
            self.console.print()
            self.console.print(draw_board(self.board, columns=columns, rows=max(24, columns // 4), in_color=False))
