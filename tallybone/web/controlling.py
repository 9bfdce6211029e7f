"""What needs the PIN of the table: coming in, and putting things right."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from pydantic import BaseModel

from engine.phrases import phrase
from tallybone.web.access import COOKIE, Access, Author, author_by, come_in, insider_by
from tallybone.web.actions import Asked, Login, Refusal, Refused, TakeBack
from tallybone.web.feed import Acted, Hub, Wanted

# The game looks for wishes a hundred times a second, but not while it reads a picture.
_ANSWERS_WITHIN_S = 10.0
_STATUS = {Refusal.CHANGED: 409, Refusal.SENSELESS: 422}


class Done(BaseModel):
    """What was done is in the snapshot with this version; *back* is the action that takes it back, if one can."""

    version: int
    back: TakeBack | None = None


class Me(BaseModel):
    """Whether whoever asks may put things right, and what he calls himself."""

    controls: bool
    name: str


def controlling(hub: Hub, access: Access) -> APIRouter:
    """Return the paths that know who is there."""
    router = APIRouter()
    author_of, insider = author_by(access), insider_by(access)

    @router.get("/me")
    async def me(author: Annotated[Author | None, Depends(author_of)]) -> Me:
        """Whether whoever asks may put things right."""
        return Me(controls=author is not None, name="" if author is None else author.name)

    @router.post("/login", status_code=204)
    async def login(said: Annotated[Login, Body()], request: Request) -> Response:
        """Come in with the PIN that the table shows."""
        refused = phrase("that is not the PIN of this table")
        return come_in(request, access, lambda address: access.try_pin(said.pin, said.name, address), refused)

    @router.post("/logout", status_code=204)
    async def logout(author: Annotated[Author | None, Depends(author_of)]) -> Response:
        """Leave: the cookie opens nothing any more."""
        if author is not None:
            access.leave(author)
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
        return response

    @router.post("/actions")
    async def actions(said: Annotated[Asked, Body()], author: Annotated[Author, Depends(insider)]) -> Done:
        """Do something at the table. It is kept in the recording with who did it."""
        acted = await _acted(Wanted(said.action, author.name or "page", said.if_version), hub)
        return Done(version=hub.publish(), back=acted.back)

    return router


async def _acted(wanted: Wanted, hub: Hub) -> Acted:
    """Return what the game has done of what is wanted; say so where it has not."""
    if not hub.ask(wanted):
        raise HTTPException(429, phrase("too much is asked of the table at once"), {"Retry-After": "1"})
    try:
        outcome = await asyncio.wait_for(asyncio.wrap_future(wanted.done), _ANSWERS_WITHIN_S)
    except TimeoutError:
        raise HTTPException(503, phrase("the game does not answer"), {"Retry-After": "5"}) from None
    if isinstance(outcome, Refused):
        raise HTTPException(_STATUS[outcome.kind], outcome.words)
    return outcome
