"""`tallybone simulate`: a whole match at a rendered table, recorded with its truth."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.status import Status

from engine import EngineError, parse_options, profile, with_options
from tallybone.choices import Difficulty
from tallybone.recording.format import RecordingError
from tallybone.recording.writer import SessionWriter
from tallybone.simulate.pushes import CameraPush
from tallybone.simulate.recorder import Recorded, record, start_of
from tallybone.simulate.scenes import LOOKS
from tallybone.simulate.simulation import Simulation, Wishes
from tallybone.terminal import printable

_NAMES = ("Ann", "Ben", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hana")
# The look that the seed picks.
BY_SEED = "seed"


def wishes_of(
    game: str,
    *,
    players: int,
    seed: int,
    options: str = "",
    hands: int | None = None,
    look: str = BY_SEED,
    difficulty: Difficulty = Difficulty.NORMAL,
    fps: int = 10,
    plays: int | None = None,
    pushes: tuple[CameraPush, ...] = (),
) -> Wishes:
    """Return what a command asks for.

    Raises:
        EngineError: If so many cannot play this, an option cannot be, or there is no such look; all in plain words.
    """
    if look not in (BY_SEED, *LOOKS):
        raise EngineError(f'no look is called "{look}"; known: {", ".join((BY_SEED, *LOOKS))}')
    if not 1 <= players <= len(_NAMES):
        raise EngineError(f"players: expected 1 to {len(_NAMES)}, got {players}")
    rules = with_options(profile(game), parse_options(options))
    return Wishes(
        rules=rules,
        players=_NAMES[:players],
        seed=seed,
        hands=hands,
        look=None if look == BY_SEED else look,
        difficulty=difficulty,
        fps=fps,
        plays=plays,
        pushes=pushes,
    )


def simulate(
    path: Path, wishes: Wishes, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None
) -> int:
    """Record a simulated sitting.

    Args:
        path: Where the recording goes; it must not exist.
        wishes: What is played.
        as_json: Print one line of JSON instead of a sentence.
        out: Where the summary goes, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if it could not be recorded.
    """
    complaints = Console(file=err or sys.stderr, stderr=True, highlight=False)
    simulation = Simulation(wishes)
    done = Recorded()
    try:
        with SessionWriter(path, start_of(simulation, wishes)) as writer, _progress(complaints) as status:
            for done in record(simulation.items(), writer):
                if done.frames % wishes.fps == 0:
                    status.update(f"Simulating: {_words(done)}")
    except RecordingError as error:
        complaints.print(f"tallybone simulate: {printable(str(error))}", markup=False, soft_wrap=True)
        return 1
    summary = {"file": str(path), **asdict(done)}
    said = json.dumps(summary) if as_json else f"{printable(str(path))}: {_words(done)}"
    (out or sys.stdout).write(said + "\n")
    return 0


@contextmanager
def _progress(console: Console) -> Iterator[Status]:
    """Show how far it is where somebody watches."""
    status = Status("Simulating", console=console)
    if console.is_terminal:
        status.start()
    try:
        yield status
    finally:
        status.stop()


def _words(done: Recorded) -> str:
    hands = "hand" if done.hands == 1 else "hands"
    return f"{done.hands} {hands}, {done.plays} plays, {done.frames} pictures, {done.seconds:.0f} s at the table"
