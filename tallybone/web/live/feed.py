"""Exchange the live state and requests between the game's thread and the page's thread.

The game's thread passes immutable values without waiting. The page's thread creates snapshots from them, at most twenty
times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import Event, NodeId, State
from engine.value import Trail
from hardware.part import Clock
from tallybone.plain_text import names_of
from tallybone.play.counts import Times
from tallybone.play.game import LiveState
from tallybone.recording.resume import Crops
from tallybone.session.places import Footprint
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.web.live.actions import PageAction, Refused, TakeBack
from tallybone.web.live.plays import Story, message_of, plays_of
from tallybone.web.live.shapes import MessageShown, PlayShown, Snapshot
from tallybone.web.live.snapshot import Lobby, as_json, lobby_snapshot, snapshot_of
from vision.arrays import Image
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment

W = TypeVar("W")
R = TypeVar("R")

_NS_PER_S = 1_000_000_000
# Minimum time between two snapshots. More than twenty changes a second would not be visible.
_PACE_S = 0.05
_MAX_EVENTS = 500
_MAX_WANTED = 50
# Minimum interval for updates if only the status of the camera has changed, such as its frame rate.
_READER_EVERY_NS = _NS_PER_S
_VERSIONS_KEPT = 2000
_ANOTHER = object()
"""Entry of the queue that separates the words of two games."""
Follower: TypeAlias = Callable[[Snapshot, int], None]
"""Called with every snapshot and the number of its match, in the page's thread. It must not block."""

WIDTHS = (320, 640, 1280)
CROP_PX = (240, 120)
# Each size of the image is made at most four times a second, regardless of the number of viewers.
_EVERY_NS = 250_000_000
_QUALITY = 75
_MARGIN_SIDES = 0.15
_CROP_CORNERS = np.array([[0, 0], [CROP_PX[0], 0], [CROP_PX[0], CROP_PX[1]]], np.float32)


@dataclass(frozen=True, slots=True)
class Acted:
    """Result of an action. *back* is the action that reverts it, or None if it cannot be reverted."""

    back: TakeBack | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request from a page.

    Attributes:
        by: Name of its author.
        if_version: Version of the snapshot on which it is based, or None.
    """

    action: PageAction
    by: str
    if_version: int | None


@dataclass(frozen=True, slots=True)
class Wanted(Generic[W, R]):
    """A pending request (*request*), and the future for its outcome (*done*)."""

    request: W
    done: Future[R | Refused] = field(default_factory=Future)

    def answer(self, outcome: R | Refused) -> None:
        """Set the outcome, unless the request was cancelled."""
        if not self.done.done() and self.done.set_running_or_notify_cancel():
            self.done.set_result(outcome)


class Desk(Generic[W, R]):
    """Queue of requests to another thread."""

    def __init__(self, most: int = 8) -> None:
        """Create a queue for at most *most* pending requests."""
        self._max, self._waiting = most, deque[Wanted[W, R]]()

    def ask(self, request: W) -> Future[R | Refused] | None:
        """Queue a request. Return the future of its outcome, or None if the queue is full."""
        if len(self._waiting) >= self._max:
            return None
        wanted: Wanted[W, R] = Wanted(request)
        self._waiting.append(wanted)
        return wanted.done

    def pending(self) -> Iterator[Wanted[W, R]]:
        """Remove and yield the pending requests in order."""
        while self._waiting:
            yield self._waiting.popleft()


@dataclass(frozen=True, slots=True)
class Published:
    """A published snapshot.

    Attributes:
        version: Version, increasing with every change. 0 before the first snapshot.
        snapshot: The snapshot. None before the first.
        bodies: Cache of the snapshot's JSON by language.
    """

    version: int = 0
    snapshot: Snapshot | None = None
    bodies: dict[str, bytes] = field(default_factory=dict, compare=False)

    def body(self, language: str) -> bytes:
        """Return the snapshot as JSON in a language."""
        if language not in self.bodies:
            self.bodies[language] = as_json(self.snapshot, language)
        return self.bodies[language]

    def message(self, language: str) -> str:
        """Return the snapshot as a JSON message for viewers. The page also embeds this message."""
        return f'{{"type":"snapshot",{self.body(language)[1:].decode("ascii")}'


class LiveFeed:
    """Latest state of a live game for viewers. Until `run` is called, it only stores the values."""

    def __init__(self, clock: Clock, times: Times | None = None) -> None:
        """Start without a state.

        *clock* is monotonic, in nanoseconds. *times* collects the durations of making snapshots.
        """
        self._clock, self._times = clock, times
        self._loop: asyncio.AbstractEventLoop | None = None
        self._dirty, self._changed = asyncio.Event(), asyncio.Event()
        self._now: LiveState | Lobby | None = None
        self._shown_ns = 0
        self._said: deque[Step | str | object] = deque(maxlen=_MAX_EVENTS)
        self._seen_logs: deque[tuple[int, int]] = deque(maxlen=_VERSIONS_KEPT)
        self._story, self._messages = Story(), deque[MessageShown](maxlen=_MAX_EVENTS)
        self._ids = 0
        self._match = 0
        self._follower: Follower | None = None
        self.desk = Desk[PageRequest, Acted](_MAX_WANTED)
        self.newest = Published()
        self.picture: CameraPicture | None = None
        self.crops = Crops()
        self.seen_ns: int | None = None
        self.viewers = 0

    # Called by the game's thread.

    def show(self, now: LiveState) -> None:
        """Set the state of the game. Cheap if nothing has changed."""
        if not isinstance(self._now, LiveState) or _matters(self._now, now):
            self._now = now
            self._wake()
        elif now.reader != self._now.reader and self._clock() - self._shown_ns >= _READER_EVERY_NS:
            self._now, self._shown_ns = now, self._clock()
            self._wake()

    def show_lobby(self, lobby: Lobby) -> None:
        """Set the state of a table without a game. Cheap if nothing has changed."""
        if lobby != self._now:
            self._now = lobby
            self._wake()

    def restart(self) -> None:
        """Discard the words and crops of the last game before another begins."""
        self._said.append(_ANOTHER)
        self.crops = Crops()

    def see(self, picture: CameraPicture) -> None:
        """Set the latest camera image."""
        self.picture, self.seen_ns = picture, self._clock()

    @property
    def picture_age_s(self) -> float | None:
        """Time since the latest camera image, in seconds. None if there is none."""
        return None if self.seen_ns is None else max(0, self._clock() - self.seen_ns) / 1e9

    def say(self, news: Step | str) -> None:
        """Queue a step or a note, as words for viewers. The state that belongs to a step follows by `show`."""
        self._said.append(news)
        if isinstance(news, str):
            self._wake()

    def follow(self, follower: Follower | None) -> None:
        """Pass every snapshot to *follower*, starting with the latest, in place of an earlier follower.

        None to stop.
        """
        self._follower = follower
        self.answer(lambda: self._tell(self.newest.snapshot))

    def answer(self, do: Callable[[], object]) -> None:
        """Schedule *do* in the page's thread. Do nothing if no page is served."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(do)

    def log_since(self, version: int | None, log: Trail[Event]) -> tuple[Event, ...]:
        """Return the events added to the log since snapshot *version*. Empty for None, all events if it is too old."""
        if version is None:
            return ()
        length = next((length for known, length in reversed(tuple(self._seen_logs)) if known <= version), 0)
        return log[length:]

    # Called by both threads.

    def story_of(self, state: State) -> Story:
        """Return the outcomes of each action of a match. Only those of new events are computed, if possible."""
        self._story = self._story.after(state)
        return self._story

    # Called by the page's thread.

    async def run(self) -> None:
        """Publish changes until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._dirty.set()
        try:
            while True:
                await self._dirty.wait()
                self._dirty.clear()
                self.publish()
                await asyncio.sleep(_PACE_S)
        finally:
            self._loop = None

    def publish(self) -> int:
        """Publish a snapshot if anything has changed. Return the current version."""
        now, began_s = self._now, perf_counter()
        if now is None:
            return self.newest.version
        session = now.session
        self._hear(() if session is None or session.state.game is None else session.state.game.players)
        if session is not None:
            self.story_of(session.state)
        known = self.newest
        messages = tuple(self._messages)
        if isinstance(now, Lobby):
            snapshot: Snapshot | None = lobby_snapshot(now, messages, self._story, version=known.version)
        else:
            snapshot = snapshot_of(now, messages, self._story, version=known.version)
        if snapshot is not None and snapshot.question is not None:
            is_kept = self.crops.find(snapshot.question.topic) is not None
            snapshot = replace(snapshot, question=replace(snapshot.question, evidence=is_kept))
        if snapshot is None or snapshot == known.snapshot:
            return known.version
        version = known.version + 1
        self._seen_logs.append((version, 0 if session is None else len(session.state.log)))
        self.newest = Published(version, replace(snapshot, version=version))
        self._changed.set()
        self._changed = asyncio.Event()
        self._tell(self.newest.snapshot)
        if self._times is not None:
            self._times.add(perf_counter() - began_s)
        return version

    def first(self, language: str) -> str | None:
        """Return the message embedded in the page, or None before the first snapshot."""
        return self.newest.message(language) if self.newest.version else None

    async def after(self, version: int) -> Published:
        """Wait for a version other than *version*, and return it."""
        while self.newest.version == version:
            await self._changed.wait()
        return self.newest

    def messages_after(self, number: int) -> tuple[MessageShown, ...]:
        """Return the messages after the one with the id *number*, oldest first. Only the last 500 are kept."""
        return tuple(text for text in reversed(self._messages) if text.id > number)

    def plays_of(self, hand: int) -> tuple[PlayShown, ...]:
        """Return the actions of a hand, numbered from 1. Empty if there is no such hand."""
        hands, game = self._story.hands(), self._story.state.game
        if game is None or hand > len(hands):
            return ()
        return plays_of(hands[hand - 1], self._story, names_of(game.players))

    @property
    def now(self) -> LiveState | None:
        """State of the game, or None without a game."""
        return self._now if isinstance(self._now, LiveState) else None

    def _hear(self, players: tuple[str, ...]) -> None:
        """Convert the steps and notes queued by the game's thread to messages."""
        while self._said:
            news = self._said.popleft()
            if not isinstance(news, Step | str):
                self._messages.clear()
                self._seen_logs.clear()
                self._match += 1
                continue
            for text in message_of(news, players, self._ids + 1):
                self._ids = text.id
                self._messages.appendleft(text)

    def _tell(self, snapshot: Snapshot | None) -> None:
        follower = self._follower
        if follower is not None and snapshot is not None:
            follower(snapshot, self._match)

    def _wake(self) -> None:
        self.answer(self._dirty.set)


def _matters(before: LiveState, now: LiveState) -> bool:
    """Return True if more than the camera's status text has changed. Most values are compared by identity."""
    old, new = before.session, now.session
    is_same = old.state is new.state and old.places is new.places and old.questions is new.questions
    return not is_same or _text(before) != _text(now)


def _text(now: LiveState) -> tuple[Any, ...]:
    seen = None if now.view is None else (now.view.lost, now.view.unsure)
    return (now.recording, now.parts, now.picture_px, seen, now.reader == "no camera", now.chosen, now.own_set)


@dataclass(frozen=True, slots=True)
class CameraPicture:
    """A camera image: JPEG data, time, and alignment of the camera, unmoved if unknown."""

    jpeg: bytes
    t_ns: int
    aim: Alignment = STRAIGHT_ON


@dataclass(frozen=True, slots=True)
class Made:
    """An encoded image for a page, with its entity tag."""

    jpeg: bytes
    etag: str


@dataclass(slots=True)
class PagePictures:
    """Scales images for pages, and caches the latest of each width."""

    clock: Clock
    kept: dict[int, tuple[int, Made]] = field(default_factory=dict)

    def of_width(self, taken: CameraPicture, width_px: int) -> Made | None:
        """Return *taken* as a JPEG of one of `WIDTHS`.

        If the last image of that width is less than 0.25 s old, return that instead. None if *taken* cannot be decoded.
        """
        made_ns, made = self.kept.get(width_px, (0, None))
        name = f'"{taken.t_ns}-{width_px}"'
        now_ns = self.clock()
        if made is not None and (made.etag == name or now_ns - made_ns < _EVERY_NS):
            return made
        image = aligned(taken)
        if image is None:
            return None
        fresh = Made(jpeg_of_width(image, width_px), name)
        self.kept[width_px] = (now_ns, fresh)
        return fresh


def crop_of(taken: CameraPicture, session: Session, seq: int) -> Made | None:
    """Return the crop of a tile of the layout.

    The line runs from left (W) to right for a tile along it, from top to bottom for a crosswise one. None if its
    position is unknown or the image cannot be decoded.
    """
    known = session.places.find(NodeId(seq))
    if known is None:
        return None
    image = aligned(taken)
    if image is None:
        return None
    return Made(cut(image, _corners(known.place)), f'"{taken.t_ns}-tile-{seq}"')


def cut(image: Image, corners: NDArray[np.float32]) -> bytes:
    """Return a JPEG of the part of an image with these corners, shape (3, 2): top left, top right, bottom right."""
    to_crop = cv2.getAffineTransform(corners, _CROP_CORNERS)
    return _jpeg(np.asarray(cv2.warpAffine(image, to_crop, CROP_PX), np.uint8))


def _corners(place: Footprint) -> NDArray[np.float32]:
    """Return three corners of the tile with a margin, (3, 2), from its first half: two along it, then one across."""
    a, b, c, d = place.outline(_MARGIN_SIDES)
    return np.array((a, b, c) if place.lies_along else (b, c, d), np.float32)


def aligned(taken: CameraPicture) -> Image | None:
    """Decode an image and align it with the first one, to which all positions refer. None if it cannot be decoded."""
    found = cv2.imdecode(np.frombuffer(taken.jpeg, np.uint8), cv2.IMREAD_COLOR) if taken.jpeg else None
    return None if found is None else taken.aim.straightened(np.asarray(found, np.uint8))


def jpeg_of_width(image: Image, width_px: int) -> bytes:
    """Encode an image as JPEG, reduced in width to at most *width_px*."""
    height, width = image.shape[:2]
    if width <= width_px:
        return _jpeg(image)
    size = (width_px, max(1, round(height * width_px / width)))
    return _jpeg(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8))


def _jpeg(image: Image) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1].tobytes()
