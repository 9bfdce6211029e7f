"""A whole match as numbered pictures, and the inputs between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np

from engine import Adjust, MatchStart, NewHand, Redeal, Scored, Seat, State, Undo, history, profile
from lab.matches.game_script import answer_of
from tallybone.session.sitting import ByHand, Sitting, opened
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.truth_eye import PLAYERS_OF, script, views
from vision.arrays import Image
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.watch import Frame

SECOND = 1_000_000_000
GAMES = tuple(PLAYERS_OF)
_MAX_HANDS = 60
# Interval of steps after which points are given by mistake and taken back.
_MISTAKE_EVERY, _MISTAKE = 25, -777
_BITS, _BLOCK_PX = 12, 8
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Match:
    """A match from its first picture to its end.

    Attributes:
        rules: Name of the game.
        players: Names of the players, by seat.
        items: Inputs: the number of a picture, or an input by hand.
        looks: Tiles on the table, by picture number.
        logged: Number of events in the log after each item.
        state: The final state without any failure.
    """

    rules: str
    players: tuple[str, ...]
    items: tuple[int | ByHand, ...]
    looks: tuple[tuple[SeenTile, ...], ...]
    logged: tuple[int, ...]
    state: State

    def resumes_at(self, logged: int) -> int:
        """Return the index of the next item after a number of logged events."""
        if logged == 0:
            return 0
        assert logged in self.logged, f"a log with {logged} events ends within the results of an input"
        # The last match, as a cleared table does not return.
        return len(self.logged) - self.logged[::-1].index(logged)

    def shown(self, first: int, t_ns: int, *, is_again: bool) -> Iterator[Shown]:
        """Yield the inputs from an item on, a second apart. *is_again* repeats the picture before it."""
        before = [item for item in self.items[:first] if isinstance(item, int)]
        again = before[-1:] if is_again else []
        for at, item in enumerate((*again, *self.items[first:])):
            at_ns = t_ns + at * SECOND
            if isinstance(item, int):
                image = picture_of(item)
                yield Shot(at_ns, str(item), "table", partial(_same, image), partial(jpeg_of, image))
            else:
                yield RecordedInput(at_ns, "table", partial(_same, item))


class NumberReader:
    """A reader of numbered pictures, which returns their tiles and changes."""

    def __init__(self, looks: tuple[tuple[SeenTile, ...], ...], known: tuple[SeenTile, ...] = ()) -> None:
        """Start with the tiles *known* on the table."""
        self._looks, self._known = looks, known

    def look(self, frame: Frame) -> TableView:
        tiles = self._looks[number_in(frame.image)]
        placed = tuple(Change(ChangeKind.PLACED, tile) for tile in tiles if tile not in self._known)
        removed = tuple(Change(ChangeKind.REMOVED, tile) for tile in self._known if tile not in tiles)
        self._known = tiles
        return TableView(tiles, (), removed + placed)


def match_of(name: str, seed: int, noise_px: float = 1.5) -> Match:
    """Play a match to its end without any failure."""
    rules, players = profile(name), PLAYERS_OF[name]
    seen = tuple(views(seed, _MAX_HANDS, noise_px, rules, players))
    looks = tuple(view.tiles for view in seen)
    reader = NumberReader(looks)
    sitting = Sitting(reader.look, opened(rules, players)[0])
    items: list[int | ByHand] = []
    logged: list[int] = []

    def feed(item: int | ByHand) -> None:
        fed = Frame(picture_of(item), 0) if isinstance(item, int) else item
        sitting.feed(fed, len(items) * SECOND)
        items.append(item)
        logged.append(len(sitting.session.state.log) - 1)

    look = 0
    feed(look)
    for number, step in enumerate(script(seed, _MAX_HANDS, rules, players)[1]):
        if number % _MISTAKE_EVERY == _MISTAKE_EVERY - 1:
            mistake = sitting.session.state.next_seq
            feed(Adjust(Seat(0), _MISTAKE, "by mistake"))
            feed(Undo(mistake))
        if step.is_seen:
            look += 1
            feed(look)
        elif not isinstance(step.event, MatchStart):
            feed(step.event)
            if isinstance(step.event, NewHand | Redeal) and looks[look]:
                look += 1
                feed(look)
        while (answer := answer_of(sitting.session, step.state)) is not None:
            feed(answer)
    return Match(name, players, tuple(items), looks, tuple(logged), sitting.session.state)


def scored(state: State) -> tuple[tuple[int, int], ...]:
    """Return seat and points of all scores in order of announcement."""
    outcomes = (outcome for entry in history(state) for outcome in entry.outcomes)
    return tuple(
        (outcome.seat, outcome.points)
        for outcome in outcomes
        if isinstance(outcome, Scored) and outcome.points != _MISTAKE
    )


def scored_on(screen: Path) -> tuple[tuple[int, int], ...]:
    """Return seat and points of all displayed scores in order."""
    scores = (line for line in lines_on(screen) if line.get("event") == "scored")
    return tuple((line["seat"], line["points"]) for line in scores if line["points"] != _MISTAKE)


def lines_on(screen: Path) -> list[dict[str, Any]]:
    """Return the displayed JSON lines. The last line may be incomplete after a crash."""
    text = screen.read_bytes() if screen.exists() else b""
    whole = (line for line in text.splitlines(keepends=True) if line.startswith(b"{") and line.endswith(b"\n"))
    return [json.loads(line) for line in whole]


def picture_of(number: int) -> Image:
    """Draw a picture with its number in black and white, which survives JPEG compression."""
    image = np.full((_BLOCK_PX * 2, _BLOCK_PX * _BITS, 3), 90, np.uint8)
    for bit in range(_BITS):
        image[:, bit * _BLOCK_PX : (bit + 1) * _BLOCK_PX] = 230 if number >> bit & 1 else 20
    return image


def number_in(image: Image) -> int:
    """Return the number in a picture."""
    means = image.reshape(image.shape[0], _BITS, _BLOCK_PX, 3).mean(axis=(0, 2, 3))
    return sum(1 << bit for bit in range(_BITS) if means[bit] > 125)


def jpeg_of(image: Image) -> bytes:
    return bytes(cv2.imencode(".jpg", image)[1].tobytes())


def _same(value: _Value) -> _Value:
    return value
