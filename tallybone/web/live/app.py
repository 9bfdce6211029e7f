"""HTTP and WebSocket routes of the page. Everybody can view it. Corrections require the PIN."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import zlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from fastapi import (
    APIRouter,
    Body,
    Depends,
    FastAPI,
    HTTPException,
    Query,
    Request,
    Response,
    WebSocket,
    WebSocketDisconnect,
)
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException as AnyHTTPException

from engine import Tile
from engine.phrases import Phrase, phrase
from tallybone.plain_text import plain
from tallybone.texts import LANGUAGES, in_language
from tallybone.web.access.access import COOKIE, Access, Author, Guard, author_by, come_in_by_pin, insider_by
from tallybone.web.access.files import FirstSnapshot, PageServed
from tallybone.web.access.visitors import THIS_MACHINE, KnownHosts, is_console
from tallybone.web.live.actions import Asked, Login, PipNumber, Refusal, Refused, TakeBack
from tallybone.web.live.feed import CameraPicture, Desk, LiveFeed, Made, PagePictures, PageRequest, R, W, crop_of
from tallybone.web.live.hands import hand_routes
from tallybone.web.live.plays import EndOffered, ScoringShown, ends_before, most_scoring
from tallybone.web.live.shapes import MessageShown, PlayShown, Snapshot
from tallybone.web.live.snapshot import as_json

_API = "/api/v1"

Language: TypeAlias = Literal["en", "es", "pt", "fr"]
"""Language of a viewer."""
MAX_VIEWERS = 200
"""Maximum number of viewers. A tenth of them is reserved for this machine itself."""
JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}, 304: {"description": "As before"}}

# Time limit for a request. The game polls requests a hundred times a second, but not while it reads an image.
_ANSWERS_WITHIN_S = 10.0
_STATUS = {Refusal.CHANGED: 409, Refusal.SENSELESS: 422}

_ROOMS = ("live", "recordings", "calibration", "access")
STATIC = (Path(__file__).parents[1] / "static", *(Path(__file__).parents[1] / room / "static" for room in _ROOMS))
"""Folders with the files of the page: what all rooms share, and those of each room. No two files share a name."""


class Error(BaseModel):
    """Reason why a request failed, as text."""

    error: str


_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": Error}}


class AtRoot(APIRouter):
    """Routes at the root instead of below `/api`, where other programs expect them."""


def make_app(
    feed: LiveFeed,
    access: Access,
    pictures: PagePictures,
    *,
    more: Iterable[APIRouter] = (),
    language: Callable[[], str | None] = lambda: None,
    static: Sequence[Path] = STATIC,
    hosts: KnownHosts = THIS_MACHINE,
) -> Guard:
    """Return the web application of a table.

    Args:
        feed: Provides snapshots and queues requests.
        access: Checks who can correct the game.
        pictures: Scales images.
        more: Routes in addition to those of the game, its images and signing in.
        language: Returns the default language of the table.
        static: Folders with the static files of the page.
        hosts: Allowed host names.
    """
    making = asyncio.Lock()  # Viewers together occupy only one worker thread at a time.
    own = (game_routes(feed, making), picture_routes(feed, pictures, making), author_routes(feed, access))
    routers = (*own, hand_routes(feed, access), *more)
    about = "A domino table keeps its score. Everybody can watch; viewers with the table's PIN can make corrections."
    return guarded(routers, about, *static, language=language, snapshot=feed.first, hosts=hosts)


def guarded(
    routers: Iterable[APIRouter],
    about: str,
    *static: Path,
    snapshot: FirstSnapshot,
    language: Callable[[], str | None] = lambda: None,
    hosts: KnownHosts = THIS_MACHINE,
) -> Guard:
    """Return a web application behind a `Guard`.

    Args:
        routers: Routes of the API.
        about: Description of the API.
        static: Folders with static files. The first folder that contains a file is used.
        snapshot: Returns the first snapshot, which is embedded in the page.
        language: Returns the default language of the table.
        hosts: Allowed host names.
    """
    app = FastAPI(
        title="Tallybone",
        version=version("tallybone"),
        description=about,
        openapi_url=f"{_API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,
    )
    for router in routers:
        app.include_router(router, prefix="" if isinstance(router, AtRoot) else _API)
    app.add_exception_handler(AnyHTTPException, _say_status)
    app.add_exception_handler(RequestValidationError, _say_invalid)
    # API responses are not compressed, because compressing secrets together with foreign text can leak them (BREACH).
    app.mount("/", PageServed(static, language, snapshot))
    return Guard(app, hosts)


async def _say_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, AnyHTTPException)
    language = request.query_params.get("lang", "en")
    detail: str = error.detail
    language = language if language in LANGUAGES else "en"
    text = in_language(detail, language) if isinstance(detail, Phrase) else detail.lower()
    return JSONResponse({"error": text}, error.status_code, error.headers)


async def _say_invalid(request: Request, error: Exception) -> Response:
    """Return a response with status 422 and the first problem with a request, without repeating its content."""
    assert isinstance(error, RequestValidationError)
    first = next(iter(error.errors()), {"loc": (), "msg": "not understood"})
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return JSONResponse({"error": plain(f"{where}: {first['msg']}".lstrip(": "))}, 422)


def game_routes(feed: LiveFeed, making: asyncio.Lock) -> APIRouter:
    """Return the routes of the game state, which need no PIN. The lock *making* is held while a worker thread runs."""
    router = APIRouter()

    @router.get("/state", response_model=Snapshot)
    async def state(lang: Language = "en") -> Response:
        """The current state, as shown on the page."""
        if not feed.newest.version:
            raise HTTPException(404, phrase("no match has begun"))
        return Response(feed.newest.body(lang), media_type="application/json")

    @router.get("/events", response_model=list[MessageShown])
    async def events(after: Annotated[int, Query(ge=0, le=10**9)] = 0, lang: Language = "en") -> Response:
        """Events after the one with this id, oldest first. The last 500 are kept."""
        return Response(as_json(feed.messages_after(after), lang), media_type="application/json")

    @router.get("/plays", response_model=list[PlayShown])
    async def plays(hand: Annotated[int, Query(ge=1, le=10**6)], lang: Language = "en") -> Response:
        """Actions of a hand. Hands are numbered from 1."""
        return Response(as_json(feed.plays_of(hand), lang), media_type="application/json")

    @router.get("/ends")
    async def ends(
        before: Annotated[int, Query(ge=0, le=10**6)],
        pips: Annotated[list[PipNumber], Query(min_length=2, max_length=2)],
    ) -> list[EndOffered]:
        """Open ends before the action *before* at which a tile with these numbers can be played."""
        now = feed.now
        async with making:
            found = None if now is None else await asyncio.to_thread(ends_before, now.session, before, Tile.of(*pips))
        if found is None:
            raise HTTPException(404, phrase("that is no longer part of the game"))
        return list(found)

    @router.get("/coach")
    async def coach() -> list[ScoringShown] | None:
        """The tiles not on the table that would score most now, at most three. Null if plays do not score."""
        now = feed.now
        async with making:
            return None if now is None else await asyncio.to_thread(most_scoring, now.session.state)

    @router.websocket("/live")
    async def live(socket: WebSocket, lang: Language = "en") -> None:
        """Send the snapshot now and after each change. A slow viewer gets only the latest."""
        await watch(socket, feed, lambda: _send_newest(socket, feed, lang))

    return router


def picture_routes(feed: LiveFeed, pictures: PagePictures, making: asyncio.Lock) -> APIRouter:
    """Return the routes of images, which need no PIN. The lock *making* is held while a worker thread runs."""
    router = APIRouter()

    @router.get("/picture.jpg", responses=JPEG, response_class=Response)
    async def picture(request: Request, width: Literal["320", "640", "1280"] = "640") -> Response:
        """The latest camera image, with its age in seconds in the header Age."""
        taken = _taken(feed)
        async with making:
            made = await asyncio.to_thread(pictures.of_width, taken, int(width))
        answer = _picture(made, request)
        answer.headers["age"] = str(int(feed.picture_age_s or 0))
        return answer

    @router.get("/tiles/{seq}.jpg", responses=JPEG, response_class=Response)
    async def tile(seq: int, request: Request) -> Response:
        """Crop of a played tile from the current camera image."""
        taken, now = _taken(feed), feed.now
        async with making:
            made = None if now is None else await asyncio.to_thread(crop_of, taken, now.session, seq)
        return _picture(made, request)

    @router.get("/evidence/question.jpg", responses=JPEG, response_class=Response)
    async def question_evidence(topic: str, request: Request) -> Response:
        """Image that raised the question with this topic, with the tiles concerned outlined."""
        return _picture(_kept(feed, topic), request)

    @router.get("/evidence/{seq}.jpg", responses=JPEG, response_class=Response)
    async def evidence(seq: int, request: Request) -> Response:
        """Image from which a play was read, with its tile outlined, or its crop from the current image."""
        kept = _kept(feed, seq)
        return await tile(seq, request) if kept is None else _picture(kept, request)

    return router


class Watched(Protocol):
    """An object with a number of current viewers."""

    viewers: int


async def watch(socket: WebSocket, watched: Watched, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Accept a viewer unless there are too many, and run *send* until the viewer disconnects."""
    is_own = socket.client is not None and is_console(socket.client.host)
    if watched.viewers >= MAX_VIEWERS - (0 if is_own else MAX_VIEWERS // 10):
        await socket.close(1013)
        return
    await socket.accept()
    watched.viewers += 1
    sending = asyncio.create_task(send())
    try:
        # Answer the pings of a viewer until they disconnect.
        with suppress(WebSocketDisconnect):  # The viewer may disconnect while a reply is sent.
            while (message := await socket.receive())["type"] != "websocket.disconnect":
                if message.get("text") == "ping":
                    await socket.send_text('{"type":"pong"}')
    finally:
        watched.viewers -= 1
        sending.cancel()
        # A viewer who disconnects during a send is not an error.
        with suppress(asyncio.CancelledError, RuntimeError, OSError, WebSocketDisconnect):
            await sending


async def _send_newest(socket: WebSocket, feed: LiveFeed, language: str) -> None:
    version = 0
    while True:
        newest = await feed.after(version)
        await socket.send_text(newest.message(language))
        version = newest.version


def _taken(feed: LiveFeed) -> CameraPicture:
    if feed.picture is None:
        raise HTTPException(404, phrase("there is no picture yet"))
    view = None if feed.now is None else feed.now.view
    return feed.picture if view is None else replace(feed.picture, aim=view.aim)


def _kept(feed: LiveFeed, of: int | str) -> Made | None:
    """Return the stored crop of a play or question, or None."""
    crop = feed.crops.find(of)
    return None if crop is None else Made(crop.jpeg, etag_of(crop.jpeg))


def etag_of(jpeg: bytes) -> str:
    """Return an entity tag for an image, from its checksum and length."""
    return f'"{zlib.crc32(jpeg):08x}-{len(jpeg)}"'


def _picture(made: Made | None, request: Request) -> Response:
    if made is None:
        raise HTTPException(404, phrase("no such picture"))
    return picture_answer(made.jpeg, made.etag, request)


def picture_answer(jpeg: bytes, etag: str, request: Request) -> Response:
    """Return a response with an image that browsers revalidate, or 304 if the browser already has this version."""
    headers = {"etag": etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(jpeg, media_type="image/jpeg", headers=headers)


class Done(BaseModel):
    """Version of the snapshot that contains the change, and the action that reverts it (*back*), if possible."""

    version: int
    back: TakeBack | None = None


class Me(BaseModel):
    """Whether the visitor can correct the game, and the name they entered."""

    controls: bool
    name: str


def author_routes(feed: LiveFeed, access: Access) -> APIRouter:
    """Return the routes for signing in and for actions."""
    router = APIRouter()
    author_of, insider = author_by(access), insider_by(access)

    @router.get("/me")
    async def me(author: Annotated[Author | None, Depends(author_of)]) -> Me:
        """Whether the sender of the request can correct the game."""
        return Me(controls=author is not None, name="" if author is None else author.name)

    @router.post("/login", status_code=204)
    async def login(body: Annotated[Login, Body()], request: Request) -> Response:
        """Sign in with the PIN that the table shows."""
        return come_in_by_pin(request, access, body.pin, body.name)

    @router.post("/logout", status_code=204)
    async def logout(author: Annotated[Author | None, Depends(author_of)]) -> Response:
        """Sign out and invalidate the cookie."""
        if author is not None:
            access.leave(author)
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
        return response

    @router.post("/actions")
    async def actions(body: Annotated[Asked, Body()], author: Annotated[Author, Depends(insider)]) -> Done:
        """Perform an action at the table. It is recorded with the name of its author."""
        request = PageRequest(body.action, author.name or "page", body.if_version)
        acted = await answer_to(request, feed.desk, _ANSWERS_WITHIN_S, phrase("the game does not respond"))
        return Done(version=feed.publish(), back=acted.back)

    return router


async def answer_to(request: W, desk: Desk[W, R], within_s: float, silence: Phrase) -> R:
    """Submit a request to the table and wait for the result.

    Raises:
        HTTPException: 409 or 422 if the request is refused, 429 if too many are pending, 503 with the text *silence*
            without a result within *within_s* seconds.
    """
    asked = desk.ask(request)
    if asked is None:
        raise HTTPException(429, phrase("too many requests: try again in a moment"), {"Retry-After": "1"})
    try:
        outcome = await asyncio.wait_for(asyncio.wrap_future(asked), within_s)
    except TimeoutError:
        raise HTTPException(503, silence, {"Retry-After": "5"}) from None
    if isinstance(outcome, Refused):
        raise HTTPException(_STATUS[outcome.kind], plain(outcome.text))
    return outcome
