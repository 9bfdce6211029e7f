"""Pass the newest state from the game's thread to the page's, and wishes back.

The game's thread hands over values that nobody changes, and waits for nothing. The page's thread makes snapshots of
them, at most twenty times a second.
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
from hardware.clock import Clock
from tallybone.plain_text import names_of
from tallybone.play.counts import Times
from tallybone.play.game import LiveState
from tallybone.recording.evidence import Crops
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.session.touching import Footprint
from tallybone.web.actions import PageAction, Refused, TakeBack
from tallybone.web.plays_shown import plays_of, told_of
from tallybone.web.shapes import PlayShown, Snapshot, ToldShown
from tallybone.web.snapshot import Lobby, as_json, lobby_snapshot, snapshot_of
from tallybone.web.story import Story
from vision.arrays import Image
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment

W = TypeVar("W")
R = TypeVar("R")

_NS_PER_S = 1_000_000_000
# Twenty changes a second are more than anybody sees.
_PACE_S = 0.05
_MOST_EVENTS = 500
_MOST_WANTED = 50
# For changes of the camera's pace alone.
_EYE_EVERY_NS = _NS_PER_S
_VERSIONS_KEPT = 2000
_ANOTHER = object()
"""Separates the words of one game from those of the next."""
Follower: TypeAlias = Callable[[Snapshot, int], None]
"""Takes every snapshot and the number of its match; it is called in the page's thread, and must not wait."""

WIDTHS = (320, 640, 1280)
CROP_PX = (240, 120)
# At most four a second are made, however many look.
_EVERY_NS = 250_000_000
_QUALITY = 75
_MARGIN_SIDES = 0.15
_CROP_CORNERS = np.array([[0, 0], [CROP_PX[0], 0], [CROP_PX[0], CROP_PX[1]]], np.float32)


@dataclass(frozen=True, slots=True)
class Acted:
    """Something was done; *back* takes it back, None where nothing can."""

    back: TakeBack | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Something that a page asks for.

    Attributes:
        action: The action.
        by: Its author.
        if_version: The snapshot that they have seen; None where they name none.
    """

    action: PageAction
    by: str
    if_version: int | None


@dataclass(frozen=True, slots=True)
class Wanted(Generic[W, R]):
    """A wish, and the future that gets its outcome."""

    wish: W
    done: Future[R | Refused] = field(default_factory=Future)

    def answer(self, outcome: R | Refused) -> None:
        """Set the outcome, if somebody still waits for it."""
        if not self.done.done() and self.done.set_running_or_notify_cancel():
            self.done.set_result(outcome)


class Desk(Generic[W, R]):
    """Wishes that wait for another thread to come for them."""

    def __init__(self, most: int = 8) -> None:
        """Let so many wait at *most*."""
        self._most, self._waiting = most, deque[Wanted[W, R]]()

    def ask(self, wish: W) -> Future[R | Refused] | None:
        """Hand over a wish, and return the future of its outcome; None where too many wait already."""
        if len(self._waiting) >= self._most:
            return None
        wanted: Wanted[W, R] = Wanted(wish)
        self._waiting.append(wanted)
        return wanted.done

    def came(self) -> Iterator[Wanted[W, R]]:
        """Yield the wishes in the order in which they came."""
        while self._waiting:
            yield self._waiting.popleft()


@dataclass(frozen=True, slots=True)
class Published:
    """A snapshot as it is sent; before the first one its version is 0.

    Attributes:
        version: Rises with every change.
        snapshot: The snapshot; None before the first one.
        bodies: It as JSON, made once for each language that somebody reads.
    """

    version: int = 0
    snapshot: Snapshot | None = None
    bodies: dict[str, bytes] = field(default_factory=dict, compare=False)

    def body(self, language: str) -> bytes:
        """Return the snapshot in a language."""
        if language not in self.bodies:
            self.bodies[language] = as_json(self.snapshot, language)
        return self.bodies[language]

    def message(self, language: str) -> str:
        """Return the snapshot as a message to viewers, with which a page also begins."""
        return f'{{"type":"snapshot",{self.body(language)[1:].decode("ascii")}'


class LiveFeed:
    """The newest of a live game for its viewers. Without a loop it only keeps the values."""

    def __init__(self, clock: Clock, times: Times | None = None) -> None:
        """Start with nothing; *clock* is monotonic, in nanoseconds; *times* gets how long each new snapshot took."""
        self._clock, self._times = clock, times
        self._loop: asyncio.AbstractEventLoop | None = None
        self._dirty, self._changed = asyncio.Event(), asyncio.Event()
        self._now: LiveState | Lobby | None = None
        self._shown_ns = 0
        self._said: deque[Step | str | object] = deque(maxlen=_MOST_EVENTS)
        self._seen_logs: deque[tuple[int, int]] = deque(maxlen=_VERSIONS_KEPT)
        self._story, self._told = Story(), deque[ToldShown](maxlen=_MOST_EVENTS)
        self._ids = 0
        self._match = 0
        self._follower: Follower | None = None
        self.desk = Desk[PageRequest, Acted](_MOST_WANTED)
        self.newest = Published()
        self.picture: CameraPicture | None = None
        self.crops = Crops()
        self.seen_ns: int | None = None
        self.viewers = 0

    # Called by the game's thread.

    def show(self, now: LiveState) -> None:
        """Take the state of the game; called often, and mostly with nothing new."""
        if not isinstance(self._now, LiveState) or _matters(self._now, now):
            self._now = now
            self._wake()
        elif now.eye != self._now.eye and self._clock() - self._shown_ns >= _EYE_EVERY_NS:
            self._now, self._shown_ns = now, self._clock()
            self._wake()

    def show_lobby(self, lobby: Lobby) -> None:
        """Take the state of a table without a game; called often, and mostly with nothing new."""
        if lobby != self._now:
            self._now = lobby
            self._wake()

    def begin_anew(self) -> None:
        """Forget the words and crops of the last game: another one begins."""
        self._said.append(_ANOTHER)
        self.crops = Crops()

    def see(self, picture: CameraPicture) -> None:
        """Take the newest picture of the camera."""
        self.picture, self.seen_ns = picture, self._clock()

    def say(self, said: Step | str) -> None:
        """Take words for the table; the state that belongs to them is shown right after."""
        self._said.append(said)
        if isinstance(said, str):
            self._wake()

    def follow(self, follower: Follower | None) -> None:
        """Hand every snapshot to *follower* too, from the newest on; None for nobody."""
        self._follower = follower
        self.answer(lambda: self._tell(self.newest.snapshot))

    def answer(self, do: Callable[[], object]) -> None:
        """Have the page's thread *do* something as soon as it can; nothing where no page is served."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it was closed just now
                loop.call_soon_threadsafe(do)

    def log_since(self, version: int | None, log: tuple[Event, ...]) -> tuple[Event, ...]:
        """Return the events in the log after a snapshot; all of them for one that is not known any more."""
        if version is None:
            return ()
        length = next((length for known, length in reversed(tuple(self._seen_logs)) if known <= version), 0)
        return log[length:]

    # Called by both threads.

    def story_of(self, state: State) -> Story:
        """Return the results of each action of a match; only new ones are computed."""
        self._story = self._story.after(state)
        return self._story

    # Called by the page's thread.

    async def run(self) -> None:
        """Publish changes until it is cancelled."""
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
        """Make the snapshot of this moment; return its version, which is the old one where nothing has changed."""
        now, began_s = self._now, perf_counter()
        if now is None:
            return self.newest.version
        session = now.session
        self._hear(() if session is None or session.state.game is None else session.state.game.players)
        if session is not None:
            self.story_of(session.state)
        known = self.newest
        told = tuple(self._told)
        if isinstance(now, Lobby):
            snapshot: Snapshot | None = lobby_snapshot(now, told, self._story, version=known.version)
        else:
            snapshot = snapshot_of(now, told, self._story, version=known.version)
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
        """Return the first message of a page; None before there is a snapshot."""
        return self.newest.message(language) if self.newest.version else None

    async def after(self, version: int) -> Published:
        """Return the newest snapshot once it is another than *version*."""
        while self.newest.version == version:
            await self._changed.wait()
        return self.newest

    def told_after(self, number: int) -> tuple[ToldShown, ...]:
        """Return the words after those with this number, the oldest first."""
        return tuple(one for one in reversed(self._told) if one.id > number)

    def plays_of(self, hand: int) -> tuple[PlayShown, ...]:
        """Return the actions of a hand, counted from 1; nothing where there was none."""
        hands, game = self._story.hands(), self._story.state.game
        if game is None or hand > len(hands):
            return ()
        return plays_of(hands[hand - 1], self._story, names_of(game.players))

    @property
    def now(self) -> LiveState | None:
        """The state of the game; None where none is played."""
        return self._now if isinstance(self._now, LiveState) else None

    def _hear(self, players: tuple[str, ...]) -> None:
        """Turn words of the game's thread into sentences."""
        while self._said:
            said = self._said.popleft()
            if not isinstance(said, Step | str):
                self._told.clear()
                self._seen_logs.clear()
                self._match += 1
                continue
            for one in told_of(said, players, self._ids + 1):
                self._ids = one.id
                self._told.appendleft(one)

    def _tell(self, snapshot: Snapshot | None) -> None:
        follower = self._follower
        if follower is not None and snapshot is not None:
            follower(snapshot, self._match)

    def _wake(self) -> None:
        self.answer(self._dirty.set)


def _matters(before: LiveState, now: LiveState) -> bool:
    """Return whether more has changed than the pace of the camera. Values that are the same object are not compared."""
    old, new = before.session, now.session
    is_same = old.state is new.state and old.places is new.places and old.questions is new.questions
    return not is_same or _words(before) != _words(now)


def _words(now: LiveState) -> tuple[Any, ...]:
    seen = None if now.view is None else (now.view.lost, now.view.unsure)
    return (now.recording, now.parts, now.picture_px, seen, now.eye == "no camera", now.chosen)


@dataclass(frozen=True, slots=True)
class CameraPicture:
    """A picture of the camera: a JPEG, when it was taken, and where the camera points as far as the eye knows."""

    jpeg: bytes
    t_ns: int
    aim: Alignment = STRAIGHT_ON


@dataclass(frozen=True, slots=True)
class Made:
    """A picture for a page, with a name that no other content has."""

    jpeg: bytes
    etag: str


@dataclass(slots=True)
class PagePictures:
    """Makes pictures for pages, and keeps the newest of each width."""

    clock: Clock
    kept: dict[int, tuple[int, Made]] = field(default_factory=dict)

    def of_width(self, taken: CameraPicture, width_px: int) -> Made | None:
        """Return a picture of one of `WIDTHS`; one that is a quarter of a second old is as good as new.

        None where the bytes of the camera are no picture.
        """
        made_ns, made = self.kept.get(width_px, (0, None))
        name = f'"{taken.t_ns}-{width_px}"'
        now_ns = self.clock()
        if made is not None and (made.etag == name or now_ns - made_ns < _EVERY_NS):
            return made
        image = _decoded(taken)
        if image is None:
            return None
        fresh = Made(jpeg_of_width(image, width_px), name)
        self.kept[width_px] = (now_ns, fresh)
        return fresh


def crop_of(taken: CameraPicture, session: Session, seq: int) -> Made | None:
    """Return a tile of the layout as the camera sees it, W on the left; None where nobody knows where it lies."""
    known = session.places.find(NodeId(seq))
    if known is None:
        return None
    image = _decoded(taken)
    if image is None:
        return None
    to_crop = cv2.getAffineTransform(_corners(known.place), _CROP_CORNERS)
    return Made(_jpeg(np.asarray(cv2.warpAffine(image, to_crop, CROP_PX), np.uint8)), f'"{taken.t_ns}-tile-{seq}"')


def _corners(place: Footprint) -> NDArray[np.float32]:
    """Return three corners of the crop, shape (3, 2): two along the tile from its first half, one across."""
    a, b, c, d = place.outline(_MARGIN_SIDES)
    return np.array((a, b, c) if place.lies_along else (b, c, d), np.float32)


def _decoded(taken: CameraPicture) -> Image | None:
    """Return a picture as the camera would show it had it never moved: all places of a game refer to that."""
    found = cv2.imdecode(np.frombuffer(taken.jpeg, np.uint8), cv2.IMREAD_COLOR) if taken.jpeg else None
    return None if found is None else taken.aim.straightened(np.asarray(found, np.uint8))


def jpeg_of_width(image: Image, width_px: int) -> bytes:
    """Return a picture as JPEG, made smaller where it is wider than that."""
    height, width = image.shape[:2]
    if width <= width_px:
        return _jpeg(image)
    size = (width_px, max(1, round(height * width_px / width)))
    return _jpeg(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8))


def _jpeg(image: Image) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1].tobytes()
