"""Routes that count a hand: read its tiles from a photo or from the table, and check them."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from numpy.typing import NDArray
from starlette.requests import ClientDisconnect

from engine import Game, ProblemKind, Reveal, Seat, Tile, Weight, problem_with
from engine.game.judge import problems_with
from engine.phrases import phrase
from tallybone.plain_text import plain
from tallybone.play.game import LiveState
from tallybone.session.belief import HandTile, hand_tiles
from tallybone.session.places import halves_of
from tallybone.session.session import Session
from tallybone.web.access.access import MAX_PHOTO, Access, Author, insider_by
from tallybone.web.live.actions import MAX_COUNTED, PipNumber
from tallybone.web.live.feed import LiveFeed, aligned, cut
from tallybone.web.live.photo import PhotoError, read_photo
from tallybone.web.live.snapshot import as_json
from vision.arrays import Image
from vision.reader.custom_set import RecordedSet
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
    """Return the tiles of a seat's hand. Uncertain ones are read with the rules: copies of a tile are limited."""
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
    """Return three corners of a tile with a margin, (3, 2), from its first half: two along it, then one across."""
    corners = np.array(tile.corners_px, np.float32)
    first, second = np.array(tile.half_centers_px, np.float32)
    ends = (corners + np.roll(corners, 1, axis=0)) / 2
    start = int(np.linalg.norm(ends - (1.5 * first - 0.5 * second), axis=1).argmin())
    middle = corners.mean(axis=0)
    return np.asarray((middle + (np.roll(corners, -start, axis=0) - middle) * (1 + _MARGIN))[:3], np.float32)


SeatPath: TypeAlias = Annotated[int, Path(ge=0, le=15)]
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
# Photos wait for each other, because two at once would take the memory of a small computer.
_MAX_WAITING = 4
# Photos that are arriving may take this much memory together. Phones send at most 2 MB, as the page shrinks photos.
_MAX_ARRIVING = 2 * MAX_PHOTO


class PhotoReader:
    """Reads photos one after another."""

    def __init__(self) -> None:
        self._turn, self._waiting = asyncio.Lock(), 0
        self._arriving: dict[int, bytearray] = {}

    async def read(self, request: Request, seat: Seat, game: Game, own_set: RecordedSet | None) -> list[CountedTile]:
        """Return the tiles of a seat's hand in the photo of a request.

        *own_set* is the custom tile set of the match, or None.

        Raises:
            HTTPException: 400 if the photo does not arrive, 422 if it is not a readable picture, 429 if too many photos
                wait or arrive.
        """
        photo = await self._body(request)
        if self._waiting >= _MAX_WAITING:
            raise _too_many()
        self._waiting += 1
        try:
            async with self._turn:
                tiles, image = await asyncio.to_thread(read_photo, photo, game.rules.max_pips, own_set)
        except PhotoError as error:
            raise HTTPException(422, error.text) from None
        finally:
            self._waiting -= 1
        return counted_tiles(game, seat, tiles[:MAX_COUNTED], image)

    async def _body(self, request: Request) -> bytes:
        """Return the body of a request. If all that arrive take too much memory, the largest is given up."""
        body, arriving = bytearray(), self._arriving
        arriving[id(body)] = body
        try:
            async for part in request.stream():
                body += part
                if sum(map(len, arriving.values())) > _MAX_ARRIVING:
                    arriving.pop(id(max(arriving.values(), key=len))).clear()
                if id(body) not in arriving:
                    raise _too_many()
            return bytes(body)
        except ClientDisconnect:
            raise HTTPException(400) from None
        finally:
            arriving.pop(id(body), None)


def _too_many() -> HTTPException:
    return HTTPException(429, phrase("too many requests: try again in a moment"), {"Retry-After": "5"})


def hand_routes(feed: LiveFeed, access: Access) -> APIRouter:
    """Return the routes that count the hands after a hand has ended."""
    router, insider, photos = APIRouter(prefix="/hands/{seat}"), insider_by(access), PhotoReader()

    @router.post("/photo", openapi_extra=_BODY)
    async def photo(seat: SeatPath, request: Request, author: Annotated[Author, Depends(insider)]) -> list[CountedTile]:
        """Read the tiles left in a player's hand from a photo: JPEG, PNG, WebP, BMP, TIFF or HEIC, at most 16 MB."""
        now, game = _ended(feed, seat)
        return await photos.read(request, Seat(seat), game, now.own_set)

    @router.get("/table")
    async def table(seat: SeatPath, author: Annotated[Author, Depends(insider)]) -> list[CountedTile]:
        """Return the tiles on the table that may be left in a player's hand."""
        now, game = _ended(feed, seat)
        view, taken = now.view, feed.picture
        if view is None or taken is None:
            raise HTTPException(404, phrase("there is no picture yet"))
        image = await asyncio.to_thread(aligned, replace(taken, aim=view.aim))
        if image is None:
            raise HTTPException(404, phrase("no such picture"))
        return counted_tiles(game, Seat(seat), tuple(beside_layout(now.session, view, Seat(seat))), image)

    @router.get("/doubts", response_model=list[str])
    async def doubts(
        seat: SeatPath,
        pips: Annotated[list[PipNumber] | None, Query(max_length=2 * MAX_COUNTED)] = None,
        lang: Literal["en", "es", "pt", "fr"] = "en",
    ) -> Response:
        """Return reasons why tiles may not be the player's whole hand. `pips` has two numbers for each tile."""
        _, game = _ended(feed, seat)
        halves = iter(pips or ())
        tiles = tuple(Tile.of(first, second) for first, second in zip(halves, halves, strict=False))
        return Response(as_json(doubts_about(game, Seat(seat), tiles), lang), media_type="application/json")

    return router


def _ended(feed: LiveFeed, seat: int) -> tuple[LiveState, Game]:
    """Return the state of the game, if a seat's hand can be counted now."""
    now = feed.now
    game = None if now is None else now.session.state.game
    if now is None or game is None:
        raise HTTPException(404, phrase("no match is being played"))
    problem = problem_with(now.session.state, Reveal(Seat(seat), ()))
    if problem is not None and problem.weight is Weight.IMPOSSIBLE:
        raise HTTPException(409, plain(problem.text))
    return now, game
