"""A game as a stream of frames with hands and timed inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from engine import MatchStart, State
from lab.render.cover import paint_reach
from lab.render.paint import render
from lab.render.view import view_of
from tallybone.recording.format import Pictures, SittingStart
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import ByHand
from tests.tallybone.truth_eye import script
from tests.vision.moving import hand_at
from vision.arrays import Image
from vision.tracking.settle import Side
from vision.tracking.watch import Frame

NS_PER_FRAME = 100_000_000
STILL_FRAMES = 6
_SIDES = (Side.BOTTOM, Side.TOP)
_WAY = (0.8, 0.3, 0.02, 0.3, 0.8)


@dataclass(frozen=True, slots=True)
class Timed:
    """An input with its time."""

    item: ByHand
    t_ns: int


@cache
def game_clip(seed: int, plays: int) -> tuple[tuple[Frame | Timed, ...], State]:
    """Return the first plays of a game of bones at 10 frames per second, 1280x720, and the state after them."""
    return tuple(_items(seed, plays)), _states(seed, plays)[-1]


def write_recording(path: Path, items: Sequence[Frame | Timed], *, pictures: Pictures = Pictures.MOVING) -> Path:
    """Write a recording of the stream, for use as a camera."""
    start = SittingStart(started_at=datetime(2026, 11, 21, tzinfo=UTC), pictures=pictures)
    with RecordingWriter(path, start) as writer:
        for number, item in enumerate(items):
            if isinstance(item, Timed):
                write_input(writer, item.item, item.t_ns)
            else:
                writer.frame(item.t_ns, jpeg_of(item.image), name=str(number))
    return path


@cache
def _states(seed: int, plays: int) -> list[State]:
    states, seen = [], 0
    for step in script(seed)[1]:
        states.append(step.state)
        seen += step.is_seen
        if seen == plays:
            break
    return states


def _items(seed: int, plays: int) -> Iterator[Frame | Timed]:
    table, steps = script(seed)
    noise = np.random.default_rng(seed)
    view = view_of(table.camera)
    t_ns = 0

    def seen(picture: Image) -> Frame:
        nonlocal t_ns
        t_ns += NS_PER_FRAME
        grain = cv2.resize(noise.normal(0, 2, (360, 640, 3)).astype(np.float32), (1280, 720))
        return Frame(np.clip(picture + grain + 0.5, 0, 255).astype(np.uint8), t_ns)

    picture: Image | None = None
    for step in islice(steps, len(_states(seed, plays))):
        assert step.state.game is not None
        if picture is None:
            scene = table.scene(step.state.game.layout, step.laid)
            picture = render(scene, np.random.default_rng(seed)).image
            yield from (seen(picture) for _ in range(STILL_FRAMES))
        if not step.is_seen:
            if not isinstance(step.event, MatchStart):
                yield Timed(step.event, t_ns)
            continue
        before = picture
        scene = table.scene(step.state.game.layout, step.laid)
        picture = render(scene, np.random.default_rng(seed)).image
        side = _SIDES[getattr(step.event, "seat", 0) % 2]
        for index, away in enumerate(_WAY):
            shown = (before if index < 3 else picture).copy()
            hand = hand_at(step.laid[-1].place.center, side, away)
            paint_reach(shown, hand, table.light, view, np.random.default_rng(5))
            yield seen(shown)
        yield from (seen(picture) for _ in range(STILL_FRAMES))


def jpeg_of(image: Image) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()


__all__ = ["Timed", "game_clip", "jpeg_of", "write_recording"]
