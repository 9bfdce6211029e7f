"""Measure the delay of a live game from the last motion to the score, in wall-clock time, and its parts.

    python -m lab.bench.live [--plays 12] [--fps 10] [--camera-fps 30] [--seed 4]

A rendered game at 1280x720 is shown in real time: a hand comes, plays a tile and leaves, then the table rests for a
second. Each picture passes through all of `tallybone play`: JPEG, recording to disk, decoding, settle gate, reading,
rules, output. The last motion is the first picture without the hand, which is the last to differ from the one before.
`turn` is the time between two checks of the keys, and thus the maximum delay of a key.
"""

from __future__ import annotations

import os

from vision.arrays import Image

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # like the command, before numpy is imported

import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import cv2
import numpy as np
from rich.console import Console

from engine import BONES, Event, Layout, Placed
from lab.bench.material.harness import options_of
from lab.render.paint import Film, Moment
from tallybone.play.display import PlainDisplay
from tallybone.play.game import LiveGame
from tallybone.play.recorder import FileRecorder, RecordingQuota
from tallybone.play.start import MatchPlan, sitting_of
from tallybone.recording.format import Pictures, SittingStart
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import Step
from tallybone.sources.camera import PacedCamera, Shown
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.truth_eye import script
from tests.vision.moving import hand_at
from vision.image.picture import decode_picture
from vision.reader.reader import load_reader
from vision.tracking.settle import Side

_NS_PER_S = 1_000_000_000
_PLAYERS = ("Ann", "Ben")
_HAND_S = 0.8
_REST_S = 1.2
_SEED = 4
# Minimum difference in grey levels above noise, and minimum share of changed pixels.
_SEEN = 40
_MIN_SEEN = 0.0005


@dataclass(slots=True)
class Stopwatch(PlainDisplay):
    """A display that records when plays were shown, in nanoseconds since the start of the camera."""

    began_ns: int = 0
    shown_ns: list[int] = field(default_factory=list)
    settled_ns: list[int] = field(default_factory=list)

    def happened(self, happened: Step) -> None:
        """Record the times of a play."""
        if any(isinstance(event, Placed) for event in happened.announcements):
            self.shown_ns.append(time.monotonic_ns() - self.began_ns)
            self.settled_ns.append(happened.t_ns)


def main() -> None:
    options = options_of(__doc__, plays=12, fps=10.0, camera_fps=30.0, seed=_SEED)
    items, ended_ns = _clip(options.seed, options.plays, options.camera_fps)
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        watch, turns_ms = _play(items, Path(folder), options.fps, nowhere)
    if len(watch.shown_ns) != len(ended_ns):
        raise SystemExit(f"expected {len(ended_ns)} plays, but {len(watch.shown_ns)} were seen")
    shown, settled, ended = (np.array(times) / 1e6 for times in (watch.shown_ns, watch.settled_ns, ended_ns))
    _print("last motion to score", shown - ended)
    _print("  until a settled picture", settled - ended)
    _print("  read, scored, recorded, shown", shown - settled)
    _print("turn", np.array(turns_ms))


def _play(items: list[Shown], folder: Path, per_s: float, nowhere: IO[str]) -> tuple[Stopwatch, list[float]]:
    """Play the game live. Return the recorded times, and the times between two checks of the keys."""
    start = SittingStart(
        started_at=datetime(2026, 11, 21, tzinfo=UTC), players=_PLAYERS, rules="bones", pictures=Pictures.MOVING
    )
    sitting, _ = sitting_of(MatchPlan(start, BONES), load_reader(BONES.max_pips), t_ns=0)
    path = folder / "live.mcap"
    recorder = FileRecorder(path, RecordingWriter(path, start), RecordingQuota(folder, 10**12), print, settled=None)
    watch = Stopwatch(Console(file=nowhere))
    camera = PacedCamera(iter(items), time.monotonic_ns)
    live = LiveGame(camera, sitting, recorder, watch, clock=time.monotonic_ns, max_per_s=per_s)
    watch.began_ns = time.monotonic_ns()
    turns_ms: list[float] = []
    nothing = threading.Event()
    last = time.perf_counter()

    def keys(wait_s: float) -> bool:
        nonlocal last
        turns_ms.append(1e3 * (time.perf_counter() - last))
        nothing.wait(wait_s)
        last = time.perf_counter()
        return True

    live.run(keys, lambda: False)
    recorder.close()
    return watch, turns_ms


def _clip(seed: int, plays: int, per_s: float) -> tuple[list[Shown], list[int]]:
    """Return the items of the camera from time 0 on, and the time of the last motion of each play."""
    table, steps = script(seed, hands=1)
    scene = table.scene(Layout(), ())
    film = Film(
        replace(scene, camera=replace(scene.camera, noise=2.0)), seed=seed, margin_px=0, rng=np.random.default_rng(seed)
    )
    period_ns = round(_NS_PER_S / per_s)
    items: list[Shown] = []
    ended_ns: list[int] = []
    t_ns = 0

    def show(moment: Moment) -> Image:
        nonlocal t_ns
        picture = film.picture(moment)
        data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()

        def encode() -> bytes:
            # A camera delivers JPEG, which its thread decodes and encodes again.
            return cv2.imencode(".jpg", decode_picture(data, "clip"), [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()

        shot = Shot(t_ns, "", "clip", lambda: decode_picture(data, "clip"), encode)
        items.append(shot)
        t_ns += period_ns
        return picture

    tiles = scene.tiles
    for _ in range(int(_REST_S * per_s)):
        show(Moment(tiles))
    for step in steps:
        assert step.state.game is not None
        if not step.is_seen:
            if len(step.state.log) > 1:  # starting the match is not an input
                items.append(_recorded(t_ns, step.event))
            continue
        before, tiles = tiles, table.scene(step.state.game.layout, step.laid).tiles
        rest, moved_ns = film.picture(Moment(tiles)), 0
        for away in _way(int(_HAND_S * per_s)):
            hand = hand_at(step.laid[-1].place.center, (Side.BOTTOM, Side.TOP)[len(ended_ns) % 2], abs(away))
            picture = show(Moment(before if away < 0 else tiles, (hand,)))
            if (cv2.absdiff(picture, rest) > _SEEN).mean() > _MIN_SEEN:
                moved_ns = t_ns
        ended_ns.append(moved_ns)
        for _ in range(int(_REST_S * per_s)):
            show(Moment(tiles))
        if len(ended_ns) == plays:
            break
    return items, ended_ns


def _way(frames: int) -> Iterator[float]:
    """Yield the distance of the hand in each frame, negative while it approaches."""
    for index in range(frames):
        share = 2 * (index + 0.5) / frames - 1
        yield -max(0.02, -share) if share < 0 else max(0.02, share)


def _recorded(t_ns: int, event: Event) -> RecordedInput:
    return RecordedInput(t_ns, "script", lambda: event)


def _print(name: str, values_ms: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    middle, high = np.percentile(values_ms, (50, 95))
    print(f"{name}: median {middle:.0f} ms p95 {high:.0f} ms max {values_ms.max():.0f} ms")


if __name__ == "__main__":
    main()
