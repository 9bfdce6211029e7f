"""Render and record a game of bones in motion like a live table, for `lab/bench/replay.py`.

The table is rendered once for each arrangement of tiles. Hands and noise are added frame by frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import BONES, Layout, MatchStart, Play
from lab.matches.game_script import ScriptStep, play_out
from lab.matches.room import DemoTable, pick_table
from lab.render.paint import render
from lab.render.reaching import paint_reach
from lab.render.scene import Reach
from lab.render.view import view_of
from tallybone.recording.format import Pictures, SittingStart
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import ByHand
from vision.arrays import Image

PLAYERS = ("Ann", "Ben")
NS_PER_FRAME = 100_000_000
# Distance of the hand in each frame of a play. A hand plays a tile in a second, then the table rests for 2.5 seconds.
_AWAY = (1.0, 0.7, 0.4, 0.15, 0.0, 0.02, 0.15, 0.4, 0.7, 1.0)
_LAID_AT, _STILL_FRAMES = 5, 25
_REACH_MM, _SKIN, _SLEEVE = 420.0, (110.0, 145.0, 200.0), (90.0, 60.0, 50.0)
_JPEG_QUALITY = 85


@dataclass(frozen=True, slots=True)
class Shown:
    """A JPEG of the camera or an input at a moment."""

    t_ns: int
    item: bytes | ByHand


def match_in_motion(seed: int, plays: int) -> Iterator[Shown]:
    """Yield a game of *plays* plays at ten frames per second."""
    rng = np.random.default_rng(seed)
    table = pick_table(rng, BONES)
    painter = _Painter(table, seed)
    picture, t_ns, left = painter.table(()), 0, plays
    for _ in range(10):
        t_ns += NS_PER_FRAME
        yield Shown(t_ns, painter.frame(picture))
    for step in play_out(rng, rules=BONES, players=PLAYERS, table=table.board, hands=9):
        if isinstance(step.event, Play) and left == 0:
            return
        if not isinstance(step.event, Play):
            if not isinstance(step.event, MatchStart):
                yield Shown(t_ns + 1, step.event)
            continue
        left -= 1
        before, picture = picture, painter.table((step,))
        for at in range(len(_AWAY) + _STILL_FRAMES):
            t_ns += NS_PER_FRAME
            hand = painter.hand(step, _AWAY[at]) if at < len(_AWAY) else None
            yield Shown(t_ns, painter.frame(before if at < _LAID_AT else picture, hand))


def write_match(path: Path, shown: Iterator[Shown]) -> int:
    """Record a match like a live table, and return the number of frames."""
    start = SittingStart(
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        players=PLAYERS,
        rules=BONES.name,
        tile_set="double-6",
        pictures=Pictures.MOVING,
    )
    frames = 0
    with RecordingWriter(path, start) as writer:
        for event in shown:
            if isinstance(event.item, bytes):
                frames += 1
                writer.frame(event.t_ns, event.item)
            else:
                write_input(writer, event.item, event.t_ns)
    return frames


class _Painter:
    """Paints frames of a table."""

    def __init__(self, table: DemoTable, seed: int) -> None:
        self._table, self._seed = table, seed
        self._rng = np.random.default_rng(seed)
        self._noise = [self._grain() for _ in range(8)]

    def table(self, steps: tuple[ScriptStep, ...]) -> Image:
        """Return a picture of the table after a step, without hands."""
        state = steps[-1].state if steps else None
        game = None if state is None else state.game
        layout = Layout() if game is None else game.layout
        scene = self._table.scene(layout, steps[-1].laid if steps else ())
        return render(scene, np.random.default_rng(self._seed)).image

    def hand(self, step: ScriptStep, away: float) -> Reach:
        """Return the hand that plays the last tile of a step. With *away* 1, it is outside the picture."""
        assert isinstance(step.event, Play)
        heading = (-math.pi / 2 if step.event.seat == 0 else math.pi / 2) + 0.2
        x_mm, y_mm = step.laid[-1].place.center
        tip = (x_mm - away * _REACH_MM * math.cos(heading), y_mm - away * _REACH_MM * math.sin(heading))
        return Reach(tip, heading, 12.0, _SKIN, _SLEEVE, 0.5, curl=0.6)

    def frame(self, table: Image, hand: Reach | None = None) -> bytes:
        """Return a JPEG of the table, with a hand over it if given."""
        shown = table.copy()
        if hand is not None:
            view = view_of(self._table.camera)
            paint_reach(shown, hand, self._table.light, view, np.random.default_rng(5))
        noisy = np.clip(shown + self._noise[int(self._rng.integers(8))], 0, 255).astype(np.uint8)
        return bytes(cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1].tobytes())

    def _grain(self) -> NDArray[np.float32]:
        """Return camera noise, as in the clips of tests/vision/moving.py."""
        width, height = self._table.camera.width_px, self._table.camera.height_px
        grain = self._rng.normal(0, 2.0, (height // 2, width // 2, 3)).astype(np.float32)
        larger = cv2.resize(grain, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(1.5 * larger + 0.5, np.float32)
