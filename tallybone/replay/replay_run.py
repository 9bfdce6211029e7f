"""One replay, put together: what came in, who looks at it, and which game is kept score of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from engine import MatchStart
from tallybone.choices import TileSet
from tallybone.play.start import perception_of
from tallybone.recording.format import Pictures
from tallybone.replay.replay_ahead import ahead
from tallybone.replay.run import Seen, TableOnly, WholeGame, follow, look_of
from tallybone.sources.source import GameWish, Item, Source, Tapped, match_of, recording, source_at
from vision.perception import Perception, Start

Through: TypeAlias = Callable[[Source, Iterator[Item]], Iterable[Item]]
"""What items pass on their way: it shows progress, or waits."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a table is to be followed.

    Attributes:
        game: Which game is kept score of.
        tile_set: The set on the table; None for what the recording says. Where neither says it, it is that of the game.
        start: What the first picture shows, or the first that is settled; None for what the recording says.
        record: Make a recording here of all that comes in, and follow what is in it.
    """

    game: GameWish = field(default_factory=GameWish)
    tile_set: TileSet | None = None
    start: Start | None = None
    record: Path | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that is ready to run.

    Attributes:
        source: What is replayed.
        match: The match; None where no score is kept.
        steps: What comes of each item, once.
    """

    source: Source
    match: MatchStart | None
    steps: Iterator[Seen]


@contextmanager
def opened_replay(
    path: Path,
    wishes: Wishes,
    complain: Callable[[str], None],
    *,
    perception: Perception | None = None,
    through: Through = lambda _, items: items,
) -> Iterator[Replay]:
    """Give a replay; while it runs it complains of what cannot be used.

    Args:
        path: A folder of pictures, a video or a recording.
        wishes: How it is to be followed.
        complain: Takes each complaint.
        perception: What reads the table; by default one with the shipped reader.
        through: What items pass on their way.

    Raises:
        EngineError: If there is no such game.
        VisionError: If there is no picture, or the reader cannot be loaded.
        OSError: If it cannot be opened, or not be recorded.
    """
    source = source_at(path)
    match = match_of(wishes.game, source.start)
    tile_set, begins = _set_of(wishes, source), _start_of(wishes, source)
    perception = perception or _shipped_perception(tile_set, match, begins, source, complain)
    look = look_of(perception, source.pictures)
    needs_first = source.pictures is Pictures.SETTLED and begins is Start.EMPTY
    with recording(source, wishes.record, tile_set, match) as tapped, _loaded(tapped.items, source, wishes) as loaded:
        came = through(source, loaded)
        if match is None:
            yield Replay(source, None, follow(came, TableOnly(look), path, complain, needs_first=needs_first))
            return
        game = WholeGame(look, match, None if source.start is None else source.start.zones, left=source.left)
        steps = follow(came, game, path, complain, needs_first=needs_first)
        yield Replay(source, match, _noted(chain((game.opening,), steps), tapped))


def _noted(steps: Iterable[Seen], tapped: Tapped) -> Iterator[Seen]:
    """Yield steps, each once what followed is recorded."""
    for seen in steps:
        if seen.happened is not None:
            tapped.note(seen.happened)
        yield seen


def _loaded(items: Iterator[Item], source: Source, wishes: Wishes) -> AbstractContextManager[Iterator[Item]]:
    """Return items that are loaded ahead; those to record only when they are fed, so that the file holds no more."""
    return closing(ahead(items, source.pictures)) if wishes.record is None else nullcontext(items)


def _set_of(wishes: Wishes, source: Source) -> TileSet:
    """Return the set on the table: what was wished, or else what the recording says."""
    if wishes.tile_set is not None:
        return wishes.tile_set
    return TileSet.AUTO if source.start is None else TileSet.named(source.start.tile_set)


def _start_of(wishes: Wishes, source: Source) -> Start:
    """Return what the first picture shows: what was wished, or else what the recording says."""
    if wishes.start is not None:
        return wishes.start
    return Start.IN_PLAY if source.start is not None and source.start.in_play else Start.EMPTY


def _shipped_perception(
    tile_set: TileSet, match: MatchStart | None, start: Start, source: Source, complain: Callable[[str], None]
) -> Perception:
    from tallybone.recording.own_tiles import as_recorded
    from vision.reader import load_reader

    # What nobody said is the set that the game is played with, as at a live table.
    of_game = None if match is None else match.rules.max_pips
    reader = load_reader(tile_set.max_pips or of_game)
    if source.start is not None and source.start.own_set is not None:
        reader = as_recorded(reader, source.start.own_set, complain)
    return Perception(reader, start) if source.left is None else perception_of(source.left, reader)
