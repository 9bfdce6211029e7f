"""Who asks: what a path depends on that somebody knows, or that only those who know the PIN may use."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

from collections.abc import Awaitable, Callable

from fastapi import HTTPException, Request, Response

from engine.phrases import Phrase, phrase
from tallybone.web.access import COOKIE, LASTS_S, Access, Author


def author_by(access: Access) -> Callable[[Request], Awaitable[Author | None]]:
    """Return what says who asks; None for somebody who does not know the PIN."""

    async def author_of(request: Request) -> Author | None:
        return access.author_of(request.cookies.get(COOKIE))

    return author_of


def insider_by(access: Access) -> Callable[[Request], Awaitable[Author]]:
    """Return what says who asks, and lets nobody else pass."""

    async def insider(request: Request) -> Author:
        author = access.author_of(request.cookies.get(COOKIE))
        if author is None:
            raise HTTPException(401, phrase("type the PIN that the table shows"))
        return author

    return insider


def keep_in(response: Response, cookie: str) -> None:
    """Let the browser of somebody who knows the PIN keep the cookie that says so."""
    response.set_cookie(COOKIE, cookie, max_age=LASTS_S, httponly=True, samesite="strict", path="/")


def patient(wait_s: int) -> None:
    """Send whoever has guessed too often away for some seconds; 0 for none."""
    if wait_s:
        raise HTTPException(
            429, phrase("too many tries: wait {seconds} s", seconds=wait_s), {"Retry-After": str(wait_s)}
        )


def come_in(request: Request, access: Access, tried: Callable[[str], str | None], refused: Phrase) -> Response:
    """Return the answer to somebody who may come in: the cookie that says so.

    Args:
        request: What was sent.
        access: Counts the tries.
        tried: Tries what was said, from an address; returns the cookie, or None where it was wrong.
        refused: What is said then.

    Raises:
        HTTPException: 403 if it was wrong, 429 where too much was tried.
    """
    address = address_of(request)
    patient(access.wait_s(address))
    cookie = tried(address)
    if cookie is None:
        raise HTTPException(403, refused)
    response = Response(status_code=204)
    keep_in(response, cookie)
    return response


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return "" if request.client is None else request.client.host
