"""Measure the speed, the parts and the memory of a replay of a recorded sitting at 1280 x 720.

    python -m lab.bench.replay [--plays 12] [--frames 10000]

A rendered game of bones is recorded at ten frames per second, with a tile every 3.5 seconds and JPEG quality 85.
"Bound" is the speed that the CPU time of the busier of two cores would allow without other load.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from engine import BONES
from lab.bench.material.recorded_match import NS_PER_FRAME, Shown, match_in_motion, write_match
from tallybone.recording.format import ImageMessage
from tallybone.recording.reader import RecordedMessage, input_of, read_recording
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

_FPS = 1_000_000_000 // NS_PER_FRAME
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main() -> None:
    """Print the speed of a replay, its parts, and the memory of a long one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=12)
    parser.add_argument("--frames", type=int, default=1000, help="of the long recording")
    options = parser.parse_args()
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
            session, _ = feed(session, _input_of(record), t_ns=record.t_ns)
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


def _input_of(record: RecordedMessage) -> ByHand:
    item = input_of(record)
    assert item is not None  # pictures aside there is nothing else in it
    return item


def _again_and_again(shown: list[Shown], frames: int) -> Iterator[Shown]:
    """Yield the pictures in a loop, with increasing times."""
    pictures = [event.item for event in shown if isinstance(event.item, bytes)]
    for at, picture in enumerate(islice(cycle(pictures), frames)):
        yield Shown((at + 1) * NS_PER_FRAME, picture)


if __name__ == "__main__":
    main()
