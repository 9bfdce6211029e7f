"""What a replay prints of what happened: lines of JSON, or sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Protocol

from tallybone.play.camera_news import CameraNews
from tallybone.replay.replay_sentences import sentences_of
from tallybone.replay.run import Seen
from tallybone.terminal import printable
from vision.reading import Tile
from vision.table_view import Change

_NS_PER_S = 1_000_000_000


class Narrator(Protocol):
    """Puts what happened in lines, one thing after the other."""

    def lines(self, seen: Seen) -> Iterator[str]:
        """Yield what is to be printed of it, without line ends."""


class JsonLines:
    """Says everything as JSON: the table, then the game."""

    def __init__(self) -> None:
        """Begin before the first picture."""
        self._camera = CameraNews()

    def lines(self, seen: Seen) -> Iterator[str]:
        """Yield a line of JSON for each thing."""
        news = self._camera.news(seen.view)
        if news is not None:
            line = {"t_ns": seen.t_ns, "event": news.event, "frame": seen.frame, "words": news.words}
            yield json.dumps(line if news.event != "shifted" else line | {"aim": news.aim.numbers})
        for change in () if seen.view is None else seen.view.changes:
            yield format_change(change, seen)
        for line in () if seen.happened is None else seen.happened.lines:
            yield json.dumps(line, allow_nan=False)


class TableSentences:
    """Says what lies on the table in sentences."""

    def __init__(self) -> None:
        """Begin before the first picture."""
        self._camera = CameraNews()

    def lines(self, seen: Seen) -> Iterator[str]:
        """Yield a sentence for each change."""
        news = self._camera.news(seen.view)
        if news is not None:
            yield f"{printable(seen.frame)}: {news.words}"
        for change in () if seen.view is None else seen.view.changes:
            yield _describe(change, seen.frame)


class GameSentences:
    """Says what was played in sentences, each with its time from the beginning."""

    def __init__(self) -> None:
        """Begin before the first item."""
        self._camera = CameraNews()

    def lines(self, seen: Seen) -> Iterator[str]:
        """Yield a sentence for each play, and for whatever else was said."""
        time = clock_time(seen.since_ns)
        news = self._camera.news(seen.view)
        if news is not None:
            yield f"{time} {news.words}"
        for sentence in () if seen.happened is None else sentences_of(seen.happened):
            yield f"{time} {printable(sentence)}"


def narrator_for(*, has_game: bool, as_json: bool) -> Narrator:
    """Return what puts a replay in lines."""
    return JsonLines() if as_json else GameSentences() if has_game else TableSentences()


def clock_time(since_ns: int) -> str:
    """Return a time from the beginning as minutes and seconds.

    >>> clock_time(83_900_000_000)
    '1:23'
    """
    seconds = max(0, since_ns) // _NS_PER_S
    return f"{seconds // 60}:{seconds % 60:02d}"


def format_change(change: Change, seen: Seen) -> str:
    """Return a change of the table as one line of JSON, without a line end."""
    said: dict[str, object] = {"t_ns": seen.t_ns, "event": change.kind.value, "frame": seen.frame}
    said |= _tile(change.tile)
    if change.before is not None:
        said["before"] = _tile(change.before)
    return json.dumps(said, allow_nan=False)


def _describe(change: Change, frame: str) -> str:
    tile = change.tile
    name = "-".join(str(half.pips) for half in tile.halves) or "a face-down tile"
    x, y = tile.center_px
    return f"{printable(frame)}: {name} {change.kind.value} at {x:.0f}, {y:.0f}"


def _tile(tile: Tile) -> dict[str, object]:
    """Return a tile for JSON; one that lies face down has a place but no pips."""
    return {
        "pips": [half.pips for half in tile.halves],
        "confidence": [round(half.confidence, 4) for half in tile.halves],
        "halves_px": _rounded(tile.half_centers_px),
        "corners_px": _rounded(tile.corners_px),
    }


def _rounded(points: tuple[tuple[float, float], ...]) -> list[list[float]]:
    return [[round(x, 1) + 0.0, round(y, 1) + 0.0] for x, y in points]  # + 0.0: never "-0.0"
