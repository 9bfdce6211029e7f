"""Measure the speed, the parts and the memory of a replay of a recorded sitting at 1280 x 720.

    python -m lab.bench.replay [--plays 12] [--frames 10000]

A rendered game of bones is recorded at ten frames per second, with a tile every 3.5 seconds and JPEG quality 85.
"Bound" is the speed that the CPU time of the busier of two cores would allow without other load.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import BONES, Layout, MatchStart, Play
from lab.bench.material.harness import options_of
from lab.matches.game_script import ScriptStep, play_out
from lab.matches.room import DemoTable, pick_table
from lab.render.cover import paint_reach
from lab.render.paint import render
from lab.render.scene import Reach
from lab.render.view import view_of
from tallybone.recording.format import ImageMessage, Pictures, SittingStart
from tallybone.recording.reader import RecordedMessage, input_of, read_recording, write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.run import ReplaySettings, opened_replay
from tallybone.session.feeding import feed
from tallybone.session.sitting import ByHand, opened
from tallybone.sources.source import GameOverrides
from vision.arrays import Image
from vision.image.picture import decode_picture
from vision.reader.reader import load_reader
from vision.tracking.perception import Perception
from vision.tracking.settle import SettleGate, small_grey
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame, Watch

# Render and record a game of bones in motion like a live table, for `lab/bench/replay.py`.
#
# The table is rendered once for each arrangement of tiles. Hands and noise are added frame by frame.


PLAYERS = ("Ann", "Ben")
NS_PER_FRAME = 100_000_000
# Distance of the hand in each frame of a play. A hand plays a tile in a second, then the table rests for 2.5 seconds.
_AWAY = (1.0, 0.7, 0.4, 0.15, 0.0, 0.02, 0.15, 0.4, 0.7, 1.0)
_LAID_AT = 5
_STILL_FRAMES = 25
_REACH_MM = 420.0
_SKIN = (110.0, 145.0, 200.0)
_SLEEVE = (90.0, 60.0, 50.0)
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


_FPS = 1_000_000_000 // NS_PER_FRAME
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main() -> None:
    options = options_of(__doc__, plays=12, frames=1000)
    shown = list(match_in_motion(3, options.plays))
    with tempfile.TemporaryDirectory() as folder:
        path, long = Path(folder, "match.mcap"), Path(folder, "long.mcap")
        frames = write_match(path, iter(shown))
        print_speed(path, frames)
        print_parts(path, frames)
        write_match(long, _again_and_again(shown, options.frames))
        print_memory(long, options.frames)


def print_speed(path: Path, frames: int) -> None:
    with opened_replay(path, ReplaySettings(), print) as warm:  # the networks are loaded, as at a table
        next(warm.steps)
    start, process, thread = time.perf_counter(), time.process_time(), time.thread_time()
    with opened_replay(path, ReplaySettings(), print) as run:
        plays = sum(len(seen.view.changes) for seen in run.steps if seen.view is not None)
    took, thread = time.perf_counter() - start, time.thread_time() - thread
    busier = max(thread, time.process_time() - process - thread)
    length_s = frames / _FPS
    print(f"{frames} frames, {length_s:.0f} s, {plays} tiles, {path.stat().st_size // frames // 1000} kB a frame")
    print(f"replay: {length_s / took:.1f} x real time, bound {length_s / busier:.1f} x")


def print_parts(path: Path, frames: int) -> None:
    """Print the CPU time of each part, run sequentially on one thread."""
    clock = _Clock()
    reader = _TimedEye(clock)
    watch, gate, session = Watch(reader), SettleGate(), opened(BONES, ("Ann", "Ben"))[0]
    records = iter(read_recording(path))
    while True:
        with clock("read the file"):
            record = next(records, None)
        if not isinstance(record, RecordedMessage):
            break
        if not isinstance(record.payload, ImageMessage):
            item = input_of(record)
            assert item is not None  # pictures aside there is nothing else in it
            session, _ = feed(session, item, t_ns=record.t_ns)
            continue
        with clock("decode"):
            image = decode_picture(record.payload.jpeg, "")
        with clock("small grey"):
            grey = small_grey(image)
        with clock("gate"):
            gate.feed(grey, record.t_ns)
        view = watch.feed(Frame(image, record.t_ns, grey))
        with clock("game"):
            session, _ = feed(session, view, t_ns=record.t_ns)
    for name, seconds in clock.seconds.items():
        print(f"{name:14} {seconds / frames * 1e3:6.2f} ms a frame")
    print(f"{reader.looks} looks, {clock.seconds['look'] / max(1, reader.looks) * 1e3:.0f} ms each")


def print_memory(path: Path, frames: int) -> None:
    """Print the memory of a long replay after a tenth, half and all of the frames."""
    marks = {frames // 10: "start", frames // 2: "middle", frames: "end"}
    seen = 0
    with opened_replay(path, ReplaySettings(game=GameOverrides("free")), print) as run:
        for _ in run.steps:
            seen += 1
            if seen in marks:
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                print(f"memory {marks[seen]:6} {pages * _PAGE_MB:.0f} MB (frame {seen})")


class _Clock:
    """Adds up CPU time by name."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = time.thread_time()
        yield
        self.seconds[name] += time.thread_time() - start


class _TimedEye(Perception):
    """The shipped reader, timed."""

    def __init__(self, clock: _Clock) -> None:
        super().__init__(load_reader(6))
        self._clock, self.looks = clock, 0

    def feed(self, image: Image) -> TableView:
        self.looks += 1
        with self._clock("look"):
            return super().feed(image)

    def look_again(self, image: Image) -> TableView:
        self.looks += 1
        with self._clock("look"):
            return super().look_again(image)


def _again_and_again(shown: list[Shown], frames: int) -> Iterator[Shown]:
    """Yield the pictures in a loop, with increasing times."""
    pictures = [event.item for event in shown if isinstance(event.item, bytes)]
    for at, picture in enumerate(islice(cycle(pictures), frames)):
        yield Shown((at + 1) * NS_PER_FRAME, picture)


if __name__ == "__main__":
    main()
