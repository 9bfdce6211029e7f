"""Export a replay as a game record (.dgr), a table (.csv), JSON, or the input of a video."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import (
    Counted,
    Event,
    HandStarted,
    NodeId,
    Placed,
    Reason,
    Redealt,
    Scored,
    Seat,
    Stacked,
    State,
    format_record,
    history,
    record_of,
)
from engine.record.values import Tag
from tallybone.files import ExportError, require_free, whole_file
from tallybone.json_values import to_json
from tallybone.plain_text import plain
from tallybone.recording.format import SittingStart
from tallybone.replay.lines import clock_time, format_change
from tallybone.replay.run import ReplayStep
from tallybone.sources.source import Item

if TYPE_CHECKING:
    from tallybone.replay.video import Video

VIDEO = ".mp4"
TEXTS = (".dgr", ".csv", ".json")

_COLUMNS = ("time", "hand", "seat", "player", "tile", "at", "count", "points")
# A spreadsheet obeys a text that begins so, also in the wide letters of East Asia; an apostrophe before it stops that
# (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class ExportFiles:
    """The files to write: *paths*, each by the end of its name; *is_forced* overwrites files."""

    paths: tuple[Path, ...] = ()
    is_forced: bool = False


class Exports:
    """Takes in a replay and writes it down."""

    def __init__(self, wish: ExportFiles, videos: Sequence[Video]) -> None:
        """Write *videos* as it goes, and the rest at the end."""
        self._wish, self._videos = wish, videos
        self._story = Transcript()

    def through(self, items: Iterator[Item]) -> Iterable[Item]:
        """Let items pass."""
        for video in self._videos:
            items = video.through(items)
        return items

    def add(self, seen: ReplayStep) -> None:
        """Take the step of one item."""
        self._story.add(seen)
        for video in self._videos:
            video.add(seen)

    def write_texts(self, start: SittingStart | None, result: Mapping[str, Any]) -> None:
        """Write those of the files that are text.

        Raises:
            ExportError: If there is no game to write down, or a file is there already.
            OSError: If one cannot be written.
        """
        for path in self._wish.paths:
            match path.suffix.lower():
                case ".dgr":
                    text = game_record(self._story, start)
                case ".csv":
                    text = plays_table(self._story)
                case ".json":
                    text = everything(self._story, start, result)
                case _:
                    continue
            with whole_file(path, is_forced=self._wish.is_forced) as part:
                part.write_text(text, encoding="utf-8")


@contextmanager
def exporting(wish: ExportFiles, *, has_pictures: bool) -> Iterator[Exports]:
    """Give the exports that take a replay; videos appear when all has gone well.

    Raises:
        ExportError: If a file is there already, or its name says nothing that can be written.
    """
    from tallybone.replay.video import Video  # a page, which writes none, does not load what draws

    for path in wish.paths:
        if path.suffix.lower() not in (*TEXTS, VIDEO):
            raise ExportError(f"{path}: expected a name that ends in {', '.join(TEXTS)} or {VIDEO}")
        if path.suffix.lower() == VIDEO and not has_pictures:
            raise ExportError(f"{path}: a video needs pictures, so not with --log-only")
        require_free(path, is_forced=wish.is_forced)
    with ExitStack() as files:
        named = [path for path in wish.paths if path.suffix.lower() == VIDEO]
        videos = [Video(files.enter_context(whole_file(path, is_forced=wish.is_forced))) for path in named]
        yield Exports(wish, videos)
        for video in videos:
            video.close()


def game_record(story: Transcript, start: SittingStart | None) -> str:
    """Return the match as a game record (docs/game_record.md), with its date where that is known.

    Raises:
        ExportError: If there was no game.
    """
    if story.state.game is None:
        raise ExportError("expected a game to write down, but no score was kept")
    record = record_of(story.state)
    if start is not None:
        record = replace(record, tags=(*record.tags, Tag("Date", f"{start.started_at:%Y-%m-%d}")))
    return format_record(record)


def plays_table(story: Transcript) -> str:
    """Return a row for each play that is in force at the end, below a row of headings."""
    players = () if story.state.game is None else story.state.game.players
    rows: list[tuple[str | int, ...]] = [(*_COLUMNS, *(f"total {name}" for name in players))]
    for play in story.plays:
        count = "" if play.count is None else play.count
        who = (play.seat + 1, players[play.seat])
        time = clock_time(play.since_ns)
        rows.append((time, play.hand, *who, play.tile, play.at, count, play.points, *play.totals))
    return format_csv(rows)


def format_csv(rows: Iterable[Iterable[str | int]]) -> str:
    r"""Return rows as a CSV file in which no spreadsheet finds a formula; numbers stay numbers.

    >>> format_csv([("Ann", 5), ("=1+1", -5)])
    "Ann,5\n'=1+1,-5\n"
    """
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    for row in rows:
        table.writerow([_harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _harmless(cell: str) -> str:
    text = plain(cell)  # the csv module leaves a lone CR unquoted, where a spreadsheet begins a row
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def everything(story: Transcript, start: SittingStart | None, result: Mapping[str, Any]) -> str:
    """Return all events, outcomes and changes of the table as one JSON document."""
    said = {
        "sitting": None if start is None else start.format(),
        "events": story.events,
        "outcomes": story.outcomes,
        "changes": story.changes,
        "result": result,
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class ExportedPlay:
    """A play that is in force at the end.

    Attributes:
        since_ns: When it was seen, from the beginning.
        hand: The hand it belongs to, from 1.
        seat: Who laid it.
        tile: The name of its tile.
        at: Where: the port and the tile there; empty for the first of a hand.
        count: The sum of the open ends; None where they do not count.
        points: Its points, paid at once or when they were called.
        totals: The points of each seat after it.
    """

    since_ns: int
    hand: int
    seat: Seat
    tile: str
    at: str
    count: int | None
    points: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class Transcript:
    """Keeps all that happens in a replay, for the files that are written at its end."""

    state: State = field(default_factory=State)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Mapping[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)

    def add(self, seen: ReplayStep) -> None:
        """Take the step of one item."""
        for change in () if seen.view is None else seen.view.changes:
            self.changes.append(json.loads(format_change(change, seen)))
        if seen.happened is None:
            return
        self.state = seen.happened.session.state
        self._times += [max(0, seen.since_ns)] * (len(self.state.log) - len(self._times))
        self.events += ({"t_ns": seen.t_ns, **to_json(event, Event)} for event in seen.happened.events)
        self.outcomes += seen.happened.lines

    @property
    def plays(self) -> list[ExportedPlay]:
        """The plays that are in force at the end, in order."""
        return _Plays(self.state, self._times).found


class _Plays:
    """Goes through the actions in force and keeps the plays."""

    def __init__(self, state: State, times: list[int]) -> None:
        self.found: list[ExportedPlay] = []
        seats = 0 if state.game is None else len(state.game.players)
        self._totals = self._at_deal = (0,) * seats
        self._hand = 0
        self._tiles: dict[NodeId, str] = {}
        for told in history(state):
            before = len(self.found)
            spot = getattr(told.entry.action, "at", None)
            for outcome in told.outcomes:
                match outcome:
                    case HandStarted(number=number):
                        self._hand, self._at_deal = number, self._totals
                    case Redealt():
                        self._totals = self._at_deal
                    case Placed(seat=seat, tile=tile, node=node):
                        at = "" if spot is None else f"{spot.port} of {self._tiles.get(spot.host, '?')}"
                        self._lay(times[told.entry.seq], seat, str(tile), at)
                        self._tiles[node] = str(tile)
                    case Stacked(seat=seat, tile=tile, node=node):
                        self._lay(times[told.entry.seq], seat, str(tile), f"on {self._tiles.get(node, '?')}")
                    case Counted(count=count) if len(self.found) > before:
                        self._change(count=count.total)
                    case Scored():
                        self._pay(outcome)
                    case _:
                        pass

    def _lay(self, since_ns: int, seat: Seat, tile: str, at: str) -> None:
        self.found.append(ExportedPlay(since_ns, self._hand, seat, tile, at, None, 0, self._totals))

    def _pay(self, scored: Scored) -> None:
        """Pay a seat; what is paid for a play counts for the last one of that seat."""
        totals = list(self._totals)
        totals[scored.seat] += scored.points
        self._totals = tuple(totals)
        last = self.found[-1] if self.found else None
        if last is not None and last.seat == scored.seat and scored.reason in (Reason.PLAY, Reason.STEAL):
            self._change(points=last.points + scored.points)
        if last is not None and scored.reason in (Reason.PLAY, Reason.STEAL):
            self._change(totals=self._totals)

    def _change(self, **values: Any) -> None:
        self.found[-1] = replace(self.found[-1], **values)
