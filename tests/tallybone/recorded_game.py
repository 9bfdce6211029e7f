"""A recorded game, with the truth instead of a camera."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from engine import BONES, Event, MatchStart, NewHand, Redeal, Rules
from tallybone.recording.format import SittingStart
from tallybone.recording.reader import write_input, write_step
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import ByHand, Look, Sitting, Step, opened
from tests.tallybone.recording.sittings import START
from tests.tallybone.truth_eye import PLAYERS, script, views
from vision.arrays import Image
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

SECOND = 1_000_000_000
BEGINS_NS = 7_000 * SECOND
"""Start time, as a monotonic clock has no fixed origin."""


class TruthReader(Perception):
    """A reader that returns the true views of a game one after the other."""

    def __init__(self, left: Sequence[TableView]) -> None:
        self.left = list(left)

    def feed(self, image: Image) -> TableView:
        return self.left.pop(0)


def truth_reader(seed: int = 1, hands: int = 1) -> TruthReader:
    """Return a reader for the game of `record_game`."""
    return TruthReader(_views(seed, hands))


@cache
def _views(seed: int, hands: int) -> tuple[TableView, ...]:
    return tuple(views(seed, hands))


def inputs(seed: int = 1, hands: int = 1) -> Iterator[Event | None]:
    """Yield the inputs, None for a picture."""
    is_covered = False
    yield None
    for step in script(seed, hands)[1]:
        if step.is_seen:
            is_covered = True
            yield None
        elif not isinstance(step.event, MatchStart):
            yield step.event
            if isinstance(step.event, NewHand | Redeal) and is_covered:
                is_covered = False
                yield None


def record_game(
    path: Path,
    seed: int = 1,
    hands: int = 1,
    rules: Rules = BONES,
    *,
    before: Mapping[int, Sequence[ByHand]] | None = None,
) -> list[Step]:
    """Record a live game with one input per second, and return all steps. *before* has more inputs before others."""
    start = SittingStart(started_at=START.started_at, players=PLAYERS, rules=rules.name, tile_set="double-6")
    session, announcements = opened(rules, PLAYERS)
    steps = [Step(0, session, announcements, tuple(session.state.log))]
    sitting = Sitting(_look(truth_reader(seed, hands)), session)
    with RecordingWriter(path, start) as writer:
        more = before or {}
        every: Iterator[ByHand | None] = (
            one for at, item in enumerate(inputs(seed, hands)) for one in (*more.get(at, ()), item)
        )
        for at, item in enumerate(every):
            t_ns = BEGINS_NS + at * SECOND
            if item is None:
                writer.frame(t_ns, _jpeg(at))
            else:
                write_input(writer, item, t_ns)
            steps.append(sitting.feed(Frame(_GREY, t_ns) if item is None else item, t_ns))
            write_step(writer, steps[-1], picture=at)
    return steps


def write_pictures(folder: Path, count: int) -> Path:
    """Write a number of pictures into a folder."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03}.jpg").write_bytes(_jpeg(number))
    return folder


_GREY = np.full((48, 64, 3), 90, np.uint8)


def _look(perception: Perception) -> Look:
    return lambda frame: perception.feed(frame.image)


def _jpeg(number: int) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((48, 64, 3), number % 200, np.uint8))[1].tobytes())
