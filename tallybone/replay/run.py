"""Run a replay: load ahead, look at each picture, feed the game, item by item as a live table does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from engine import MatchStart
from tallybone.choices import TileSet
from tallybone.json_values import JsonValueError
from tallybone.play.start import perception_of, session_of
from tallybone.recording.format import Pictures, RecordingError
from tallybone.recording.reader import whole_only
from tallybone.session.sitting import Look, Sitting, Step, opened
from tallybone.sources.shots import Shot
from tallybone.sources.source import GameOverrides, Item, RecordedInput, Source, match_of, recording, source_at
from vision.arrays import Image
from vision.errors import VisionError
from vision.tracking.changes import PictureSizeError
from vision.tracking.perception import Perception, Start
from vision.tracking.settle import small_grey
from vision.tracking.table_view import TableView
from vision.tracking.watch import Watch

Through: TypeAlias = Callable[[Source, Iterator[Item]], Iterable[Item]]
"""Items pass through it on their way: it shows progress, or waits."""

_NO_EMPTY_TABLE = "it should show the empty table; without it nothing can be told from what is printed"

# So much memory do loaded pictures wait in: 24 of 1280 x 720, about as many as pass while one is read.
_WAITING_BYTES = 64 << 20
_MOST_WAITING = 64


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How a table is to be followed.

    Attributes:
        game: Which game is kept score of.
        tile_set: The set on the table; None for what the recording says. Where neither says it, it is that of the game.
        start: How the table lies in the first picture, or the first that is settled; None for what the recording says.
        record: Make a recording here of all that comes in, and follow what is in it.
    """

    game: GameOverrides = field(default_factory=GameOverrides)
    tile_set: TileSet | None = None
    start: Start | None = None
    record: Path | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that is ready to run.

    Attributes:
        source: The source of its items.
        match: The match; None where no score is kept.
        steps: A step for each item, once.
    """

    source: Source
    match: MatchStart | None
    steps: Iterator[ReplayStep]


@contextmanager
def opened_replay(
    path: Path,
    wishes: ReplaySettings,
    complain: Callable[[str], object],
    *,
    perception: Perception | None = None,
    through: Through = lambda _, items: items,
) -> Iterator[Replay]:
    """Give a replay; while it runs it complains of items that cannot be used.

    Args:
        path: A folder of pictures, a video or a recording.
        wishes: How it is to be followed.
        complain: Takes each complaint.
        perception: Reads the table; by default one with the shipped reader.
        through: Items pass through it on their way.

    Raises:
        EngineError: If there is no such game.
        VisionError: If there is no picture, or the reader cannot be loaded.
        OSError: If it cannot be opened, or not be recorded.
    """
    source = source_at(path)
    match = match_of(wishes.game, source.start)
    tile_set, begins = _set_of(wishes, source), _start_of(wishes, source)
    perception = perception or _shipped_perception(tile_set, match, begins, source, complain)
    look = look_at_kind(perception, source.pictures)
    needs_first = source.pictures is Pictures.SETTLED and begins is Start.EMPTY
    with recording(source, wishes.record, tile_set, match) as tapped, _loaded(tapped.items, source, wishes) as loaded:
        came = through(source, loaded)
        if match is None:
            yield Replay(source, None, follow_items(came, _table_only(look), path, complain, needs_first=needs_first))
            return
        game, opening = _whole_game(look, match, source)
        steps = follow_items(came, game, path, complain, needs_first=needs_first)

        def record(seen: ReplayStep) -> None:
            if seen.happened is not None:
                tapped.note(seen.happened)

        yield Replay(source, match, passing(chain((opening,), steps), record))


def passing(steps: Iterable[ReplayStep], take: Callable[[ReplayStep], None]) -> Iterator[ReplayStep]:
    """Yield steps after *take* has had each."""
    for seen in steps:
        take(seen)
        yield seen


def _loaded(items: Iterator[Item], source: Source, wishes: ReplaySettings) -> AbstractContextManager[Iterator[Item]]:
    """Return items that are loaded ahead; those to record only when they are fed, so that the file holds no more."""
    return closing(ahead(items, source.pictures)) if wishes.record is None else nullcontext(items)


def _set_of(wishes: ReplaySettings, source: Source) -> TileSet:
    """Return the set on the table: as wished, or else as the recording says."""
    if wishes.tile_set is not None:
        return wishes.tile_set
    return TileSet.AUTO if source.start is None else TileSet.named(source.start.tile_set)


def _start_of(wishes: ReplaySettings, source: Source) -> Start:
    """Return how the table lies in the first picture: as wished, or else as the recording says."""
    if wishes.start is not None:
        return wishes.start
    return Start.IN_PLAY if source.start is not None and source.start.in_play else Start.EMPTY


def _shipped_perception(
    tile_set: TileSet, match: MatchStart | None, start: Start, source: Source, complain: Callable[[str], object]
) -> Perception:
    from tallybone.recording.own_tiles import as_recorded
    from vision.reader.reader import load_reader

    # A set that nobody named is that of the game, as at a live table.
    of_game = None if match is None else match.rules.max_pips
    reader = load_reader(tile_set.max_pips or of_game)
    if source.start is not None and source.start.own_set is not None:
        reader = as_recorded(reader, source.start.own_set, complain)
    return Perception(reader, start) if source.left is None else perception_of(source.left, reader)


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The effects of one item.

    Attributes:
        t_ns: When it came in.
        since_ns: The same, from the first item on.
        frame: The name of the picture; empty for another item.
        view: The table after it, if it was a picture that could be looked at.
        happened: Its effects on the game, if there is one.
    """

    t_ns: int
    since_ns: int
    frame: str
    view: TableView | None = None
    happened: Step | None = None


ItemFollower: TypeAlias = Callable[[Shot | RecordedInput], TableView | Step | None]
"""Loads an item and returns its effects; None where it is of no use without a game."""


def look_at_kind(perception: Perception, pictures: Pictures) -> Look:
    """Return a look at pictures of a kind: it reads each of them, or those on which nothing moves any more."""
    match pictures:
        case Pictures.SETTLED:
            return lambda frame: perception.feed(frame.image)
        case Pictures.MOVING:
            return Watch(perception).feed


def _table_only(look: Look) -> ItemFollower:
    """Return a follower of the tiles on the table, which keeps no score."""
    return lambda item: None if isinstance(item, RecordedInput) else look(item.frame)


def _whole_game(look: Look, match: MatchStart, source: Source) -> tuple[ItemFollower, ReplayStep]:
    """Return a follower of a match that begins, or goes on where it was left; and its step before the first item."""
    left, zones = source.left, None if source.start is None else source.start.zones
    t_ns = 0 if left is None else left.t_ns
    if left is None:
        session, said = opened(match.rules, match.players, zones)
    else:
        session, said = session_of(left, match, t_ns=t_ns), ()
    sitting = Sitting(look, session)

    def feed(item: Shot | RecordedInput) -> Step:
        return sitting.feed(item.load() if isinstance(item, RecordedInput) else item.frame, item.t_ns)

    return feed, ReplayStep(t_ns, 0, "", None, Step(t_ns, session, said, session.state.log))


def follow_items(
    items: Iterable[Item], follower: ItemFollower, path: Path, complain: Callable[[str], object], *, needs_first: bool
) -> Iterator[ReplayStep]:
    """Yield a step for each item, and complain of those that cannot be used.

    Args:
        items: The items, in feeding order.
        follower: Follows them.
        path: Their source, for complaints.
        complain: Takes each complaint.
        needs_first: Whether all is over where the first picture cannot be looked at.

    Raises:
        RecordingError: If it cannot be recorded.
    """
    begins_ns: int | None = None
    is_first = needs_first
    whole: Iterator[Shot | RecordedInput] = whole_only(items, path, complain)
    for item in whole:
        begins_ns = item.t_ns if begins_ns is None else begins_ns
        seen = _fed(item, begins_ns, follower, complain)
        if seen is None:
            continue
        yield seen
        if is_first and isinstance(item, Shot):
            if seen.view is None:
                complain(f"{item.where}: {_NO_EMPTY_TABLE}")
                return
            is_first = False


def _fed(
    item: Shot | RecordedInput, begins_ns: int, follower: ItemFollower, complain: Callable[[str], object]
) -> ReplayStep | None:
    """Return the step of an item; None for one that does not count."""
    seen = ReplayStep(item.t_ns, item.t_ns - begins_ns, item.name if isinstance(item, Shot) else "")
    try:
        found = follower(item)
    except RecordingError:
        raise
    except (VisionError, OSError, JsonValueError) as error:
        says_where = not isinstance(error, PictureSizeError | JsonValueError)
        complain(str(error) if says_where else f"{item.where}: {error}")
        return seen if isinstance(item, Shot) else None
    if isinstance(found, Step):
        return replace(seen, view=found.view, happened=found)
    return None if found is None else replace(seen, view=found)


def ahead(items: Iterator[Item], pictures: Pictures) -> Generator[Item, None, None]:
    """Yield the same items in the same order; pictures are loaded before they are asked for.

    A picture that cannot be loaded raises when it is asked for, as it would have. Close it to stop early.
    """
    waiting: deque[Future[tuple[Item | None, int]]] = deque()
    most = 1
    pool = ThreadPoolExecutor(1, thread_name_prefix="pictures")
    try:
        while True:
            while len(waiting) < most:
                waiting.append(pool.submit(_next_loaded, items, is_moving=pictures is Pictures.MOVING))
            item, size_bytes = waiting.popleft().result()
            if item is None:
                return
            if size_bytes:
                most = max(1, min(_MOST_WAITING, _WAITING_BYTES // size_bytes))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _next_loaded(items: Iterator[Item], *, is_moving: bool) -> tuple[Item | None, int]:
    """Return the next item, None after the last, and how many bytes its picture has."""
    item = next(items, None)
    if not isinstance(item, Shot):
        return item, 0
    try:
        image = item.load()
    except (VisionError, OSError) as error:
        return replace(item, load=_raising(error)), 0
    return replace(item, load=lambda: image, grey=small_grey(image) if is_moving else None), image.nbytes


def _raising(error: Exception) -> Callable[[], Image]:
    def load() -> Image:
        raise error

    return load
