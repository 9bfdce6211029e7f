"""Routes that count a hand: read its tiles from a photo or from the table, and check them."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from starlette.requests import ClientDisconnect

from engine import Game, Reveal, Seat, Tile, Weight, problem_with
from engine.phrases import phrase
from tallybone.plain_text import plain
from tallybone.play.game import LiveState
from tallybone.web.access import MAX_PHOTO, Access, Author, insider_by
from tallybone.web.actions import MAX_COUNTED, PipNumber
from tallybone.web.feed import LiveFeed, aligned
from tallybone.web.hand_count import CountedTile, beside_layout, counted_tiles, doubts_about
from tallybone.web.photo import PhotoError, read_photo
from tallybone.web.snapshot import as_json
from vision.reader.custom_set import RecordedSet

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
        """Start without photos."""
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
    """Return the state of the game, if a seat's hand can be counted now.

    Raises:
        HTTPException: 404 without a game, 409 if the hand is not over, or the player has no tiles to show.
    """
    now = feed.now
    game = None if now is None else now.session.state.game
    if now is None or game is None:
        raise HTTPException(404, phrase("no match is being played"))
    problem = problem_with(now.session.state, Reveal(Seat(seat), ()))
    if problem is not None and problem.weight is Weight.IMPOSSIBLE:
        raise HTTPException(409, plain(problem.text))
    return now, game
