"""Tiles of a hand in a photo or on the table, and doubts about a counted hand. Pure."""

from __future__ import annotations

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine import Game, ProblemKind, Reveal, Seat, Tile
from engine.game.judge import problems_with
from engine.phrases import phrase
from tallybone.plain_text import plain
from tallybone.session.belief import HandTile, hand_tiles
from tallybone.session.places import halves_of
from tallybone.session.session import Session
from tallybone.web.feed import cut
from vision.arrays import Image
from vision.reading import Face, SeenTile
from vision.tracking.table_view import TableView

# Shown around a tile, as a share of its size.
_MARGIN = 0.1
_MIN_CHANCE = 1e-6


@dataclass(frozen=True, slots=True)
class CountedTile:
    """A tile in a picture of a hand, in the order of reading; *picture* is its crop as a data URL, first half left.

    *pips* are null if it is face down or cannot be read. *sure* is false for each half that should be checked.
    """

    pips: tuple[int, int] | None
    sure: tuple[bool, bool]
    picture: str


def counted_tiles(game: Game, seat: Seat, tiles: Sequence[SeenTile], image: Image) -> list[CountedTile]:
    """Return the tiles of a seat's hand. Uncertain ones are read with the rules: copies of a tile are limited.

    Args:
        game: The match.
        seat: Seat of the hand.
        tiles: Tiles as read, including unreadable ones.
        image: Picture that shows them, shape (H, W, 3), BGR.
    """
    known = {one.seen: one for one in hand_tiles(game, seat, [tile for tile in tiles if tile.face is Face.UP])}
    return [_counted(tile, known.get(tile), image) for tile in tiles]


def beside_layout(session: Session, view: TableView, seat: Seat) -> Iterator[SeenTile]:
    """Yield the tiles on the table that can be a seat's hand: not face down, outside the layout and others' zones."""
    zones, laid = session.zones, [known.place for known in session.places.known]
    width_px, height_px = view.size_px or (1, 1)
    for tile in (*view.tiles, *view.unsure):
        x, y = tile.center_px
        share = (x / width_px, y / height_px)
        is_others = bool(zones) and (zones.is_boneyard(*share) or zones.seat_at(*share) not in (None, seat))
        is_laid = any(math.dist(place.center, (x, y)) < place.side for place in laid)
        if tile.face is not Face.DOWN and not is_others and not is_laid:
            yield tile


def doubts_about(game: Game, seat: Seat, tiles: tuple[Tile, ...]) -> tuple[str, ...]:
    """Return reasons why a counted hand may be wrong, as text: another number of tiles, or tiles seen elsewhere."""
    copies = game.rules.copies
    repeated = {tile: times for tile, times in Counter(tiles).items() if times > copies}
    text = [phrase("the {tile} is counted {times} times", tile=tile, times=times) for tile, times in repeated.items()]
    once = tuple(tile for tile in tiles if tile not in repeated)
    problems = [one for one in problems_with(game, Reveal(seat, tiles)) if one.kind is not ProblemKind.ALREADY_USED]
    problems += [one for one in problems_with(game, Reveal(seat, once)) if one.kind is ProblemKind.ALREADY_USED]
    return tuple(plain(one) for one in (*text, *(problem.text for problem in problems)))


def _counted(tile: SeenTile, read: HandTile | None, image: Image) -> CountedTile:
    picture = f"data:image/jpeg;base64,{b64encode(cut(image, _corners(tile))).decode('ascii')}"
    if read is None:
        return CountedTile(None, (False, False), picture)
    first, second = halves_of(tile)
    if first.is_sure and second.is_sure:  # Clear pips are shown as they are, even if the tile lies elsewhere too.
        return CountedTile((first.pips, second.pips), (True, True), picture)
    pips = _in_order(read.tiles[0], tile)
    sure = (read.is_sure or (half.is_sure and half.pips == n) for half, n in zip((first, second), pips, strict=True))
    return CountedTile(pips, (next(sure), next(sure)), picture)


def _in_order(tile: Tile, seen: SeenTile) -> tuple[int, int]:
    """Return the numbers of a tile in the likelier order of the halves of its reading."""

    def log_weight(pips: tuple[int, int]) -> float:
        halves = zip(seen.halves, pips, strict=True)
        return sum(math.log(max(_MIN_CHANCE, *half.chances[number : number + 1])) for half, number in halves)

    return max((tile.low, tile.high), (tile.high, tile.low), key=log_weight)


def _corners(tile: SeenTile) -> NDArray[np.float32]:
    """Return three corners of a tile with a margin, beginning at its first half: two along the tile, then one across.

    Shape (3, 2).
    """
    corners = np.array(tile.corners_px, np.float32)
    first, second = np.array(tile.half_centers_px, np.float32)
    ends = (corners + np.roll(corners, 1, axis=0)) / 2
    start = int(np.linalg.norm(ends - (1.5 * first - 0.5 * second), axis=1).argmin())
    middle = corners.mean(axis=0)
    return np.asarray((middle + (np.roll(corners, -start, axis=0) - middle) * (1 + _MARGIN))[:3], np.float32)
