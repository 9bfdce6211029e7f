"""`tallybone demo`: a rendered game, seen picture by picture by the reader, scored by the rules, shown as it goes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from engine import BONES, Layout, Rules
from tallybone.cli.demo_display import Display, Wait, display_on
from tallybone.cli.demo_truth import Comparison
from tallybone.session.session import Said, Session, feed
from tallybone.session.touching import Laid
from tallybone.show.scoreboard import Board, tell
from tallybone.simulate.game_script import Step, play_out
from tallybone.simulate.players import answer_of
from tallybone.simulate.scenes import pick_table
from tallybone.terminal import printable
from vision.annotate import annotate
from vision.errors import VisionError
from vision.reading import Reading
from vision.render.paint import render
from vision.table_view import TableView

Image: TypeAlias = NDArray[np.uint8]
Eye: TypeAlias = Callable[[Image], TableView]

_NAMES = ("Ann", "Ben", "Cleo", "Dora")
# Fewer players show more of most games; six arms turn round and skip only among three.
_LEAST_PLAYERS = {"super": 3}
_JPEG_QUALITY = 92


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a demo is asked for.

    Attributes:
        rules: The game.
        seed: Picks how it goes, and the looks.
        hands: How many hands are played at most.
        plays: Stop after so many plays; None for whole hands.
        speed: Factor on the pace for people; nothing is waited for where nobody watches.
        out: Folder for the pictures, with and without what was read; None for none.
    """

    rules: Rules = BONES
    seed: int = 1
    hands: int = 1
    plays: int | None = None
    speed: float = 1.0
    out: Path | None = None


def show_demo(
    wishes: Wishes,
    *,
    eye: Eye | None = None,
    console: Console | None = None,
    wait: Wait | None = None,
) -> int:
    """Play a demo.

    Args:
        wishes: What to play.
        eye: What sees the table; by default perception with the shipped reader.
        console: Where it is shown, by default stdout.
        wait: What lets a number of seconds pass.

    Returns:
        The exit code: 0, or 1 if the totals are not those of the game that was played, or something was not to be had.
    """
    console = console or Console(highlight=False)
    try:
        demo = _Demo(wishes, eye or shipped_eye(wishes.rules), console)
        demo.introduce()
        with display_on(console, wishes.speed, wait or threading.Event().wait) as display:
            demo.run(display)
    except (VisionError, OSError) as error:
        Console(stderr=True).print(f"tallybone demo: {printable(str(error))}", markup=False, soft_wrap=True)
        return 1
    return demo.sum_up()


def players_of(rules: Rules) -> tuple[str, ...]:
    """Return who plays a game in a demo."""
    return _NAMES[: max(rules.seats_min, _LEAST_PLAYERS.get(rules.name, rules.seats_min))]


def shipped_eye(rules: Rules) -> Eye:
    """Return perception with the classifiers that the package ships, for the set of a game.

    Raises:
        ModelError: If their file is absent or of another version.
    """
    from vision.perception import Perception
    from vision.reader import load_reader

    return Perception(load_reader(rules.max_pips)).feed


class _Demo:
    """One run: the table, what is made of it, and how both compare."""

    def __init__(self, wishes: Wishes, eye: Eye, console: Console) -> None:
        self._wishes, self._eye, self._console = wishes, eye, console
        rng = np.random.default_rng(wishes.seed)
        self._table = pick_table(rng, wishes.rules)
        self._players = players_of(wishes.rules)
        self._steps = play_out(
            rng, rules=wishes.rules, players=self._players, table=self._table.board, hands=wishes.hands
        )
        self._session = Session()
        self._comparison = Comparison()
        self._album = _Album(wishes.out)
        self._eye_ms: list[float] = []
        self._true_totals: tuple[int, ...] = ()
        self._is_covered = False
        self._answers = 0
        self._started_ns = time.perf_counter_ns()

    def introduce(self) -> None:
        """Say what is going to be seen."""
        name, seed = self._wishes.rules.name, self._wishes.seed
        self._say(f"A game of {name} on a rendered table (--seed {seed}), seen picture by picture.")
        self._say("")

    def run(self, display: Display) -> None:
        """Play and watch until the game, or what was asked for, is over."""
        self._look(Layout(), ())  # how the table looks before the first tile
        for step in self._steps:
            said = (*self._take(step), *self._answer(step))
            game = self._session.state.game
            if game is not None:
                question = self._session.open_question
                board = Board(
                    game,
                    self._session.places.laid,
                    (self._table.camera.width_px, self._table.camera.height_px),
                    tell(said, game.players),
                    None if question is None else question.words,
                    f"picture {len(self._eye_ms)}, read in {self._eye_ms[-1]:.0f} ms ",
                )
                display.show(board, said, is_seen=step.is_seen)
            if self._wishes.plays is not None and len(self._comparison.plays) >= self._wishes.plays:
                break

    def _take(self, step: Step) -> tuple[Said, ...]:
        """Feed one step to the session, as a picture or as a button."""
        assert step.state.game is not None  # the first step starts the match
        layout, points = step.state.game.layout, sum(step.state.game.totals) - sum(self._true_totals)
        self._true_totals = step.state.game.totals
        if not step.is_seen:
            self._session, said = feed(self._session, step.event)
            if self._is_covered and not step.laid:  # the tiles are taken off the table
                self._session, _ = feed(self._session, self._look(layout, step.laid))
                self._comparison.begin_hand()
            self._is_covered = bool(step.laid)
            self._note(said)
            return said
        self._is_covered = True
        self._comparison.add_truth(layout, self._table.center_px(step.laid[-1]), points)
        self._session, said = feed(self._session, self._look(layout, step.laid))
        self._note(said)
        return said

    def _answer(self, step: Step) -> tuple[Said, ...]:
        """Let the players answer what holds up their game."""
        said: tuple[Said, ...] = ()
        while (answer := answer_of(self._session, step.state)) is not None:
            self._session, more = feed(self._session, answer)
            self._answers += 1
            self._note(more)
            said = (*said, *more)
        return said

    def _note(self, said: Sequence[Said]) -> None:
        """Keep what was said for the comparison."""
        game = self._session.state.game
        if game is not None:
            self._comparison.add_seen(game.layout, self._session.places.laid, said)

    def _look(self, layout: Layout, laid: Sequence[Laid]) -> TableView:
        """Render the table and let the eye see it."""
        # The same state for every picture: the table keeps its grain.
        image = render(self._table.scene(layout, laid), np.random.default_rng(self._wishes.seed)).image
        start_ns = time.perf_counter_ns()
        view = self._eye(image)
        self._eye_ms.append((time.perf_counter_ns() - start_ns) / 1e6)
        self._album.add(image, view)
        return view

    def sum_up(self) -> int:
        """Say how what was seen compares with the truth, and how to go on; return the exit code."""
        say = self._say
        plays, game = self._comparison.plays, self._session.state.game
        totals = () if game is None else game.totals
        say("")
        say("What was seen against what was played", style="bold")
        tiles, places = sum(p.is_tile_right for p in plays), sum(p.is_place_right for p in plays)
        points = sum(p.are_points_right for p in plays)
        say(f"  plays   {len(plays)}: tile right {tiles}, place right {places}, points right {points}")
        for play in self._comparison.wrong():
            say(f"          {play}")
        if self._comparison.questions:
            asked = self._comparison.questions
            say(f"  asked   {len(asked)}, answered {self._answers}: {' '.join(asked)}")
        are_equal = totals == self._true_totals
        verdict = "as they should be" if are_equal else f"but it should be {self._totals(self._true_totals)}"
        say(f"  totals  {self._totals(totals)}: {verdict}")
        seconds = (time.perf_counter_ns() - self._started_ns) / 1e9
        say(
            f"  time    {median(self._eye_ms):.0f} ms a picture (median of {len(self._eye_ms)}), {seconds:.0f} s in all"
        )
        say("The plays were for the camera alone. Buttons said who led, drew, knocked, called or")
        say("stacked, and what was left in the hands at the end.")
        say("")
        say("Now with your own table, photographed from above:")
        say(f"  {_program()} read photo.jpg --annotate out")
        if self._album.folder is not None:
            seen = printable(str(self._album.folder / "seen"))
            say(f"Or with the pictures of this game: {_program()} replay {seen}")
        return 0 if are_equal else 1

    def _totals(self, totals: Sequence[int]) -> str:
        return ", ".join(f"{name} {total}" for name, total in zip(self._players, totals, strict=False))

    def _say(self, words: str, style: str = "") -> None:
        self._console.print(words, style=style, markup=False, highlight=False, soft_wrap=True)


@dataclass(slots=True)
class _Album:
    """A folder of the pictures that were seen, and of the same with what was read.

    Attributes:
        folder: Where they go; None to keep none.
    """

    folder: Path | None
    _count: int = field(default=0)

    def add(self, image: Image, view: TableView) -> None:
        """Write the next picture twice.

        Raises:
            OSError: If it cannot be written.
        """
        if self.folder is None:
            return
        height, width = image.shape[:2]
        drawn = annotate(image, Reading(width, height, view.shown_tiles, view.joins))
        for name, picture in (("seen", image), ("read", drawn)):
            path = self.folder / name / f"{self._count:02d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
            path.write_bytes(data.tobytes())
        self._count += 1


def _program() -> str:
    """Return what to type: this program as it was called, which need not be on the path."""
    called = Path(sys.argv[0])
    return printable(str(called)) if called.name == "tallybone" else "tallybone"
