"""Export a replay as a game record (.dgr), a table of plays (.csv), JSON or a video."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engine
from engine.record.text import Tag
from tallybone.choices import OptionError
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
# First characters that make a spreadsheet interpret a text as a formula, including full-width forms. A leading
# apostrophe prevents that (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class ExportFiles:
    """Files to write. The suffix of each path determines its format. *is_forced* overwrites existing files."""

    paths: tuple[Path, ...] = ()
    is_forced: bool = False


class Exports:
    """Exports a replay step by step."""

    def __init__(self, files: ExportFiles, videos: Sequence[Video]) -> None:
        """Write *videos* during the replay, and the other *files* at the end."""
        self._files, self._videos = files, videos
        self._transcript = Transcript()

    def through(self, items: Iterator[Item]) -> Iterable[Item]:
        """Return the items for the replay, changed so that videos keep each picture when it is loaded."""
        for video in self._videos:
            items = video.through(items)
        return items

    def add(self, step: ReplayStep) -> None:
        """Add the next step."""
        self._transcript.add(step)
        for video in self._videos:
            video.add(step)

    def write_texts(self, start: SittingStart | None, result: Mapping[str, Any]) -> None:
        """Write all files except videos.

        Raises:
            ExportError: If a game record is requested but no score was kept, or a file exists and must not be replaced.
            OSError: If a file cannot be written.
        """
        for path in self._files.paths:
            match path.suffix.lower():
                case ".dgr":
                    text = game_record(self._transcript, start)
                case ".csv":
                    text = plays_table(self._transcript)
                case ".json":
                    text = everything(self._transcript, start, result)
                case _:
                    continue
            with whole_file(path, is_forced=self._files.is_forced) as part:
                part.write_text(text, encoding="utf-8")


@contextmanager
def exporting(files: ExportFiles, *, has_pictures: bool) -> Iterator[Exports]:
    """Yield the exporter for a replay. Videos get their final names only if no error occurs.

    Raises:
        OptionError: If the suffix of a file is unknown, or a video is requested without pictures.
        ExportError: If a file exists and must not be replaced, its folder is missing or not writable, or PyAV is
            missing.
    """
    from tallybone.replay.video import Video, VideoFile  # imported late, because pages never draw videos

    for path in files.paths:
        if path.suffix.lower() not in (*TEXTS, VIDEO):
            raise OptionError(f"{path}: expected a name that ends in {', '.join(TEXTS)} or {VIDEO}")
        if path.suffix.lower() == VIDEO and not has_pictures:
            raise OptionError(f"{path}: a video needs pictures: omit --log-only")
        require_free(path, is_forced=files.is_forced)
    with ExitStack() as stack:
        paths = [path for path in files.paths if path.suffix.lower() == VIDEO]
        parts = [stack.enter_context(whole_file(path, is_forced=files.is_forced)) for path in paths]
        videos = [Video(VideoFile(part)) for part in parts]
        yield Exports(files, videos)
        for video in videos:
            video.close()


def game_record(transcript: Transcript, start: SittingStart | None) -> str:
    """Return the match as a game record (docs/reference/game_record.md), with its date if *start* is given.

    Raises:
        ExportError: If no score was kept.
    """
    if transcript.state.game is None:
        raise ExportError("expected a game for the record, but it has no score")
    record = engine.record_of(transcript.state)
    if start is not None:
        record = replace(record, tags=(*record.tags, Tag("Date", f"{start.started_at:%Y-%m-%d}")))
    return engine.format_record(record)


def plays_table(transcript: Transcript) -> str:
    """Return a CSV table with a row of headings, and a row for each play and stack in force at the end."""
    players = () if transcript.state.game is None else transcript.state.game.players
    rows: list[tuple[str | int, ...]] = [(*_COLUMNS, *(f"total {name}" for name in players))]
    for play in transcript.plays:
        count = "" if play.count is None else play.count
        player = (play.seat + 1, players[play.seat])
        time = clock_time(play.since_ns)
        rows.append((time, play.hand, *player, play.tile, play.at, count, play.points, *play.totals))
    return format_csv(rows)


def format_csv(rows: Iterable[Iterable[str | int]]) -> str:
    r"""Return rows as a CSV file. Texts that a spreadsheet would take for a formula are escaped with an apostrophe.

    >>> format_csv([("Ann", 5), ("=1+1", -5)])
    "Ann,5\n'=1+1,-5\n"
    """
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    for row in rows:
        table.writerow([_escaped(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _escaped(cell: str) -> str:
    text = plain(cell)  # removes lone CRs, which the csv module leaves unquoted and spreadsheets treat as row ends
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def everything(transcript: Transcript, start: SittingStart | None, result: Mapping[str, Any]) -> str:
    """Return all events, outcomes and changes of the table as a JSON document."""
    document = {
        "sitting": None if start is None else start.format(),
        "events": transcript.events,
        "outcomes": transcript.outcomes,
        "changes": transcript.changes,
        "result": result,
    }
    return json.dumps(document, allow_nan=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class ExportedPlay:
    """A play or stack that is in force at the end.

    Attributes:
        since_ns: Time at which it was recorded, in nanoseconds since the start.
        hand: Number of its hand, from 1.
        seat: Seat of its player at the end of the match.
        tile: Name of its tile.
        at: Port and tile that it joins, or tile that it is stacked on. Empty for the first tile of a hand.
        count: Sum of the open ends after it, or None if the rules do not count them.
        points: Points of its player for it, scored at once or when called.
        totals: Totals after it and its points, by seat at the end of the match.
    """

    since_ns: int
    hand: int
    seat: engine.Seat
    tile: str
    at: str
    count: int | None
    points: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class Transcript:
    """Collects the events, outcomes and changes of a replay for the exports at its end."""

    state: engine.State = field(default_factory=engine.State)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Mapping[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)

    def add(self, step: ReplayStep) -> None:
        """Add the next step."""
        for change in () if step.view is None else step.view.changes:
            self.changes.append(json.loads(format_change(change, step)))
        if step.effects is None:
            return
        self.state = step.effects.session.state
        self._times += [max(0, step.since_ns)] * (len(self.state.log) - len(self._times))
        self.events += ({"t_ns": step.t_ns, **to_json(event, engine.Event)} for event in step.effects.events)
        self.outcomes += step.effects.lines

    @property
    def plays(self) -> list[ExportedPlay]:
        """The plays and stacks in force at the end, in order."""
        return _Plays(self.state, self._times).plays


class _Plays:
    """Collects the plays among the actions in force."""

    def __init__(self, state: engine.State, times: list[int]) -> None:
        self.plays: list[ExportedPlay] = []
        seats = 0 if state.game is None else len(state.game.players)
        self._totals = self._at_deal = (0,) * seats
        self._hand = 0
        self._tiles: dict[engine.NodeId, str] = {}
        results = engine.history(state)
        for step, self._seats in zip(results, engine.last_seats(results, seats), strict=True):
            before = len(self.plays)
            spot = getattr(step.entry.action, "at", None)
            for outcome in step.outcomes:
                match outcome:
                    case engine.HandStarted(number=number):
                        self._hand, self._at_deal = number, self._totals
                    case engine.Redealt():
                        self._totals = self._at_deal
                    case engine.Placed(seat=seat, tile=tile, node=node):
                        at = "" if spot is None else f"{spot.port} of {self._tiles.get(spot.host, '?')}"
                        self._lay(times[step.entry.seq], seat, str(tile), at)
                        self._tiles[node] = str(tile)
                    case engine.Stacked(seat=seat, tile=tile, node=node):
                        self._lay(times[step.entry.seq], seat, str(tile), f"on {self._tiles.get(node, '?')}")
                    case engine.Counted(count=count) if len(self.plays) > before:
                        self._change(count=count.total)
                    case engine.Scored():
                        self._pay(outcome)
                    case _:
                        pass

    def _lay(self, since_ns: int, seat: engine.Seat, tile: str, at: str) -> None:
        seat = self._seats[seat]
        self.plays.append(ExportedPlay(since_ns, self._hand, seat, tile, at, None, 0, self._totals))

    def _pay(self, scored: engine.Scored) -> None:
        """Add points to a total, and points for a play or steal also to the last play if it is of that seat."""
        totals, seat = list(self._totals), self._seats[scored.seat]
        totals[seat] += scored.points
        self._totals = tuple(totals)
        last = self.plays[-1] if self.plays else None
        if last is not None and last.seat == seat and scored.reason in (engine.Reason.PLAY, engine.Reason.STEAL):
            self._change(points=last.points + scored.points)
        if last is not None and scored.reason in (engine.Reason.PLAY, engine.Reason.STEAL):
            self._change(totals=self._totals)

    def _change(self, **values: Any) -> None:
        self.plays[-1] = replace(self.plays[-1], **values)
