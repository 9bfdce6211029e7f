"""A live game with its page, a perfect reader and drawn pictures, at any speed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

import cv2
import numpy as np

from engine import BONES, Inferred, MatchStart, NewHand, Redeal, Rules, Seq
from tallybone.play.game import Listener, Listeners, LiveGame, LiveState
from tallybone.play.recorder import FileRecorder, Recorder, RecordingQuota
from tallybone.recording.format import SittingStart
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput, Shot
from tallybone.web.live.page import LivePage
from tallybone.web.recordings.routes import recording_pages
from tests.tallybone.live_clips import jpeg_of
from tests.tallybone.truth_eye import PLAYERS, script, views
from vision.arrays import Image
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

SECOND = 1_000_000_000
PIN = "246813"
_SIZE_PX = (1280, 720)


@dataclass(slots=True)
class Silent(Listener):
    """A display that shows nothing and records its notes."""

    notes: list[str] = field(default_factory=list)
    now: LiveState | None = None

    def happened(self, happened: Step) -> None:
        pass

    def continues(self, session: Session) -> None:
        pass

    def show(self, now: LiveState) -> None:
        self.now = now

    def note(self, text: str) -> None:
        self.notes.append(text)

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        pass


class TrueCamera:
    """A camera that plays a scripted game: the items allowed by `allow`, or one every *pace_ns*."""

    problem: str | None = None
    is_over = False
    pictures = 0

    def __init__(self, items: Iterator[Shown], clock: Callable[[], int], pace_ns: int | None) -> None:
        self._items, self._clock, self._pace_ns = items, clock, pace_ns
        self._due_ns, self._allowed, self._taken, self._settled = clock(), 0, 0, 0
        self.t_ns = 0
        self.is_done = False

    def allow(self, count: int) -> None:
        """Allow *count* more items."""
        self._allowed += count

    def give(self, event: ByHand) -> None:
        """Insert an input before the other items, and allow it at once."""
        self._items = chain((_given(self.t_ns + 1, event),), self._items)
        self._allowed += 1

    @property
    def is_idle(self) -> bool:
        """True once the game asked for more than the allowed items, so it has processed them all."""
        return self._settled == self._allowed

    def take(self, since_ns: int = 0) -> Shown | None:
        allowed = self._allowed
        if self.is_done or self._taken >= allowed:
            self._settled = allowed
        is_due = self._taken < allowed if self._pace_ns is None else self._clock() >= self._due_ns
        if not is_due:
            return None
        self._taken += 1
        self._due_ns += self._pace_ns or 0
        given = next(self._items, None)
        self.is_done = given is None
        if given is not None:
            self.t_ns = given.t_ns
        return given

    def now_ns(self) -> int:
        return self.t_ns

    def close(self) -> None:
        pass


@dataclass(slots=True)
class TrueTable:
    """A game that runs in its own thread."""

    live: LiveGame
    camera: TrueCamera
    page: LivePage
    display: Silent
    announcements: tuple[Announcement, ...]
    shown: Listener
    ended: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def begin(self) -> None:
        self.thread = threading.Thread(target=self._run, name="game")
        self.thread.start()

    def play(self, count: int) -> None:
        """Play *count* items, and wait until the game has processed them."""
        self.camera.allow(count)
        until = time.monotonic() + 60
        while not self.camera.is_idle and time.monotonic() < until:
            self.ended.wait(0.002)

    def mark(self, *seqs: int) -> None:
        """Mark actions as inferred, and wait until the game has done so."""
        self.camera.give(Inferred(tuple(Seq(seq) for seq in seqs)))
        self.play(0)

    def end(self) -> None:
        self.ended.set()
        if self.thread is not None:
            self.thread.join()
        self.page.close()

    def _run(self) -> None:
        self.shown.happened(Step(0, self.live.session, self.announcements))

        def keys(wait_s: float) -> bool:
            self.page.see_to(self.live)
            self.ended.wait(wait_s)
            return True

        self.live.run(keys, self.ended.is_set)


def true_table(
    seed: int = 1,
    *,
    hands: int = 1,
    rules: Rules = BONES,
    players: tuple[str, ...] = PLAYERS,
    pace_ns: int | None = None,
    recorder: Recorder | None = None,
    display: Silent | None = None,
    recordings: Path | None = None,
    reader: Callable[[TableView], TableView] = lambda view: view,
) -> TrueTable:
    """Return a table that has not begun. Its items come when allowed or every *pace_ns*, seen through *reader*."""
    items, seen = items_of(seed, hands, rules, players)
    clock = time.monotonic_ns
    more = partial(recording_pages, recordings or Path("no-recordings"))
    page = LivePage("127.0.0.1:0", clock, pin=PIN, more=more)
    session, announcements = opened(rules, players)
    camera = TrueCamera(items, clock, pace_ns)
    sitting = Sitting(lambda frame: reader(look_at(seen, frame)), session)
    display = display or Silent()
    display.note(page.text)
    shown = Listeners((page.listener, display))
    live = LiveGame(camera, sitting, recorder or Recorder(), shown, clock=clock, max_per_s=1000, page=page.text)
    return TrueTable(live, camera, page, display, announcements, shown)


def file_recorder(room: RecordingQuota, path: Path) -> FileRecorder:
    """Return a recorder that writes a game of bones to *path*."""
    start = SittingStart(started_at=datetime(2026, 11, 21, tzinfo=UTC), players=PLAYERS, rules=BONES.name)
    writer = RecordingWriter(path, start)
    return FileRecorder(path, writer, room, lambda _: None, settled=None)


def look_at(seen: dict[int, TableView], frame: Frame) -> TableView:
    return seen[frame.t_ns]


def items_of(
    seed: int, hands: int, rules: Rules, players: tuple[str, ...]
) -> tuple[Iterator[Shown], dict[int, TableView]]:
    """Return the items of a game, a second apart, and a perfect reading of each picture by its time."""
    seen: dict[int, TableView] = {}

    def shots() -> Iterator[Shown]:
        looks = views(seed, hands, rules=rules, players=players)
        t_ns = SECOND
        known = next(looks)
        yield _shot(t_ns, known, seen)
        for step in script(seed, hands, rules, players)[1]:
            t_ns += SECOND
            if step.is_seen:
                known = next(looks)
                yield _shot(t_ns, known, seen)
            elif not isinstance(step.event, MatchStart):
                yield _given(t_ns, step.event)
                if isinstance(step.event, NewHand | Redeal) and known.tiles:
                    t_ns += SECOND
                    known = next(looks)
                    yield _shot(t_ns, known, seen)

    return shots(), seen


def _given(t_ns: int, event: ByHand) -> RecordedInput:
    return RecordedInput(t_ns, "table", lambda: event)


def _shot(t_ns: int, view: TableView, seen: dict[int, TableView]) -> Shot:
    seen[t_ns] = view
    image = _drawn(view)
    return Shot(t_ns, "", "table", lambda: image, lambda: jpeg_of(image))


def _drawn(view: TableView) -> Image:
    """Draw a simple picture: ivory tiles on green felt, with numbers."""
    image = np.full((_SIZE_PX[1], _SIZE_PX[0], 3), (50, 74, 28), np.uint8)
    for tile in view.tiles:
        cv2.fillPoly(image, [np.array(tile.corners_px, np.int32)], (210, 229, 236))
        for half in tile.halves:
            at = (int(half.center_px[0]) - 9, int(half.center_px[1]) + 10)
            cv2.putText(image, str(half.pips), at, cv2.FONT_HERSHEY_SIMPLEX, 0.9, (25, 25, 25), 2)
    return image
