"""Open a source to replay: its pictures and recorded inputs in feeding order, and its game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from engine import (
    Lead,
    MatchStart,
    NewHand,
    OptionsError,
    Rules,
    Seat,
    changed_options,
    deal_problems,
    parse_options,
    profile,
    with_options,
)
from tallybone.choices import TileSet
from tallybone.clock import software
from tallybone.recording.folder import SUFFIX
from tallybone.recording.format import Damage, Pictures, RecordingError, SittingStart, Topic
from tallybone.recording.messages import input_of, write_input, write_step
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.resume import Left, left_in_head
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import ByHand, Step
from tallybone.sources.shots import (
    VIDEOS,
    Shot,
    pictures_in,
    recorded,
    shot_of_record,
    shots_of_pictures,
    shots_of_video,
)

_INPUTS = (Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION)
NO_GAME = "free"
# The last picture of a film is shown on for as long as a hand in it would have to rest, and so often.
_HELD_NS, _HELD_EVERY_NS = 1_600_000_000, 200_000_000


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """A press, a knock, an answer or a correction.

    Attributes:
        t_ns: Its time.
        where: Its name in errors.
        load: Returns it. Raises JsonValueError where it is of a later version.
    """

    t_ns: int
    where: str
    load: Callable[[], ByHand]


Item: TypeAlias = Shot | RecordedInput | Damage
"""A picture, an input, or damage in place of one."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source to replay.

    Attributes:
        items: Pictures and inputs, in feeding order.
        pictures: Whether they are a moving picture.
        count: Number of items, if it is known.
        dated: Which file has the date of a recording of them: the first picture or the video; None if they are a
            recording.
        start: The start of a recording.
        left: The state in which its sitting continues another one; the head with that state is no item.
    """

    items: Iterator[Item]
    pictures: Pictures
    count: int | None = None
    dated: Path | None = None
    start: SittingStart | None = None
    left: Left | None = None


def source_at(path: Path) -> Source:
    """Return the source at a path: a recording, a video or a folder of pictures.

    Raises:
        OSError: If it is none of these.
        VisionError: If there is no picture in it.
    """
    if path.suffix.lower() == SUFFIX and not path.is_dir():
        recording = read_recording(path)
        pictures = Pictures.SETTLED if recording.start is None else recording.start.pictures
        records, start = iter(recording), recording.start
        left = None if start is None or start.continues is None else left_in_head(start, records, path)
        return Source(_items_of_recording(records, path), pictures, start=start, left=left)
    if path.suffix.lower() in VIDEOS and path.is_file():
        return Source(_held(shots_of_video(path)), Pictures.MOVING, dated=path)
    if not path.is_dir():
        wanted = f"expected a recording ({SUFFIX}), a video ({', '.join(sorted(VIDEOS))}) or a folder of pictures"
        raise RecordingError(
            f"{path}: {wanted}, but {'it is something else' if path.exists() else 'there is no such file'}"
        )
    paths = pictures_in(path)
    return Source(shots_of_pictures(paths), Pictures.SETTLED, len(paths), paths[0])


def _held(shots: Iterator[Shot]) -> Iterator[Shot]:
    """Yield the pictures of a film, and its last one until whatever was laid or rests in it counts as settled.

    Nobody films on for the sake of the last tile, and no later picture could contradict it.
    """
    last: Shot | None = None
    for shot in shots:
        yield shot
        last = shot
    if last is not None:
        for after_ns in range(_HELD_EVERY_NS, _HELD_NS + 1, _HELD_EVERY_NS):
            yield replace(last, t_ns=last.t_ns + after_ns)


def dealt_by_itself(items: Iterable[Item]) -> Iterator[Item]:
    """Yield pictures at which nobody pressed a button: a hand was dealt before them, and the first player leads it."""
    waiting = iter(items)
    first = next(waiting, None)
    if first is None:
        return
    t_ns = 0 if isinstance(first, Damage) else first.t_ns
    yield RecordedInput(t_ns, "the deal", NewHand)
    yield RecordedInput(t_ns, "the lead", lambda: Lead(Seat(0)))
    yield from chain((first,), waiting)


@dataclass(frozen=True, slots=True)
class Tapped:
    """Items, each recorded when it is loaded, and a function that records the steps; without a recording, neither."""

    items: Iterator[Item]
    note: Callable[[Step], None]


@contextmanager
def recording(
    source: Source, record: Path | None, tile_set: TileSet, match: MatchStart | None = None
) -> Iterator[Tapped]:
    """Tap a source while the context lasts: its items, recorded if there is a file for them.

    Raises:
        RecordingError: If the source is a recording already, or none can be made.
    """
    items = source.items if match is None or source.start is not None else dealt_by_itself(source.items)
    if record is None:
        yield Tapped(items, lambda _: None)
        return
    if source.dated is None:
        raise RecordingError(f"{record}: only pictures and videos are recorded, and this is a recording already")
    start = SittingStart(
        started_at=datetime.fromtimestamp(source.dated.stat().st_mtime, UTC),
        players=() if match is None else match.players,
        rules=NO_GAME if match is None else match.rules.name,
        options=() if match is None else tuple(changed_options(match.rules).items()),
        tile_set=tile_set.value,
        software=software(),
        pictures=source.pictures,
    )
    with RecordingWriter(record, start) as writer:
        yield Tapped((_recorded(one, writer) for one in items), partial(write_step, writer))


def _items_of_recording(records: Iterable[RecordedMessage | Damage], path: Path) -> Iterator[Item]:
    for one in records:
        if isinstance(one, Damage):
            yield one
            continue
        shot = shot_of_record(one, path)
        if shot is not None:
            yield shot
        elif one.topic in _INPUTS:
            yield _given(one, path)


def _given(record: RecordedMessage, path: Path) -> RecordedInput:
    def load() -> ByHand:
        said = input_of(record)
        assert said is not None  # it is of one of _INPUTS
        return said

    return RecordedInput(record.t_ns, f"{path}: record {record.number}", load)


def _recorded(item: Item, writer: RecordingWriter) -> Item:
    match item:
        case Shot():
            return recorded(item, writer)
        case RecordedInput(t_ns=t_ns, where=where, load=load):

            def say() -> ByHand:
                said = load()
                write_input(writer, said, t_ns)
                return said

            return RecordedInput(t_ns, where, say)
        case Damage():
            return item


@dataclass(frozen=True, slots=True)
class GameOverrides:
    """Changes to the game of a recording; fields that are not given stay as recorded.

    Attributes:
        rules: Name of the game, "free" for none; with it nothing else is taken over from the recording.
        options: Changed rules, each key=value; without *rules* they change those of the recording.
        players: Names by seat.
    """

    rules: str | None = None
    options: tuple[str, ...] = ()
    players: tuple[str, ...] = ()


def parse_players(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list, without blank ones.

    Raises:
        OptionsError: If a name occurs twice.
    """
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise OptionsError([f"two players are called {repeated}: give each player a different name"])
    return names


def match_of(wish: GameOverrides, start: SittingStart | None) -> MatchStart | None:
    """Return the start of the match, None where no score is kept.

    Raises:
        EngineError: If there is no such game, it cannot be played so, or not by so many.
    """
    said = start if wish.rules is None else None
    name = wish.rules or (NO_GAME if said is None else said.rules)
    wished = parse_options(" ".join(wish.options))
    if name == NO_GAME:
        if wished:
            raise OptionsError([f"{next(iter(wished))}: without rules there is nothing to agree on; give --rules too"])
        return None
    rules = with_options(profile(name), (dict(said.options) if said else {}) | wished)
    players = wish.players or (start.players if start is not None else ()) or _nameless(rules)
    problems = deal_problems(rules, len(players))
    if problems:
        raise OptionsError(problems)
    return MatchStart(rules, players)


def _nameless(rules: Rules) -> tuple[str, ...]:
    return tuple(f"Player {seat + 1}" for seat in range(rules.seats_min))
