"""The page's address book: what a browser gets from each path, as documented JSON over HTTP and WebSocket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from engine.phrases import Phrase
from tallybone.plain_text import plain
from tallybone.texts import LANGUAGES, in_language
from tallybone.web.access import Access, Guard
from tallybone.web.controlling import controlling
from tallybone.web.feed import Hub, Pictures
from tallybone.web.looking import Error, looking
from tallybone.web.page_files import FirstSnapshot, PageServed

STATIC = Path(__file__).with_name("static")
_API = "/api/v1"

_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": Error}}


class AtRoot(APIRouter):
    """Paths where programs of others look for them, and not below those of this one."""


def make_app(
    hub: Hub,
    access: Access,
    pictures: Pictures,
    *,
    more: Iterable[APIRouter] = (),
    language: Callable[[], str | None] = lambda: None,
    static: Path = STATIC,
) -> Guard:
    """Return the page of a table.

    Args:
        hub: What is shown, and where wishes go.
        access: Who may put things right.
        pictures: Makes them small.
        more: Paths beside those of a game.
        language: Says that of the table, for those who have chosen none.
        static: The folder of the page itself.
    """
    routers = (looking(hub, pictures), controlling(hub, access), *more)
    about = "A domino table keeps its score. Everybody may look; who knows the table's PIN may put right."
    return guarded(routers, about, static, language=language, snapshot=hub.first)


def guarded(
    routers: Iterable[APIRouter],
    about: str,
    *static: Path,
    snapshot: FirstSnapshot,
    language: Callable[[], str | None] = lambda: None,
) -> Guard:
    """Return an app behind its guard.

    Args:
        routers: The paths of its API.
        about: What it is for, in its description.
        static: The folders of its page; the first that has a file gives it.
        snapshot: What the page shows first.
        language: Says that of the table, for those who have chosen none.
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
    app.add_exception_handler(HTTPException, _say_status)
    app.add_exception_handler(RequestValidationError, _say_invalid)
    # What the API says is sent as it is: secrets beside words of a stranger must not be packed together.
    app.mount("/", PageServed(static, language, snapshot))
    return Guard(app)


async def _say_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    language = request.query_params.get("lang", "en")
    said: str = error.detail
    words = in_language(said, language if language in LANGUAGES else "en") if isinstance(said, Phrase) else said.lower()
    return JSONResponse({"error": words}, error.status_code, error.headers)


async def _say_invalid(request: Request, error: Exception) -> Response:
    """Say what is wrong with a request, without what it said itself."""
    assert isinstance(error, RequestValidationError)
    first = next(iter(error.errors()), {"loc": (), "msg": "not understood"})
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return JSONResponse({"error": plain(f"{where}: {first['msg']}".lstrip(": "))}, 422)
