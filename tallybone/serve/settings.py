"""The paths of settings, which only the owner of the table may change."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.phrases import phrase
from tallybone.serve.routes import NewMatch, NotBegun, not_begun, setting_of, shown_setting
from tallybone.store.house import LEAST_KEEP_BYTES, MOST_KEEP_BYTES, HouseKept, has_password, is_password
from tallybone.web.access import Author, Clock, Cookies, Tries, address_of, patient

COOKIE = "tallybone-owner"
LASTS_S = 1800
_GB = 10**9


class Password(BaseModel):
    """The owner's password."""

    model_config = ConfigDict(extra="forbid", strict=True)

    password: Annotated[str, StringConstraints(max_length=200)]


class Settings(BaseModel):
    """What holds at the table. Null is: 20 GB; the language of each browser; the match that was begun last."""

    model_config = ConfigDict(extra="forbid", strict=True)

    keep_gb: Annotated[int, Field(ge=LEAST_KEEP_BYTES // _GB, le=MOST_KEEP_BYTES // _GB)] | None = None
    language: Literal["en", "es", "pt", "fr"] | None = None
    usual: NewMatch | None = None


class SettingsShown(Settings):
    """The settings; whether there is a password at all, and whether whoever asks has given it."""

    has_password: bool
    is_owner: bool


@dataclass(frozen=True, slots=True)
class _Door:
    """Where the owner comes in."""

    cookies: Cookies
    tries: Tries
    # One password is tried at a time: each takes 16 MB.
    trying: asyncio.Lock


def settings_routes(house: HouseKept, password_file: Path, clock: Clock) -> APIRouter:
    """Return the paths; *clock* is monotonic, in nanoseconds."""
    router = APIRouter()
    door = _Door(Cookies(secrets.token_bytes(32), clock, LASTS_S), Tries(clock), asyncio.Lock())

    async def owner(request: Request) -> Author:
        author = door.cookies.author_of(request.cookies.get(COOKIE))
        if author is None:
            raise HTTPException(401, phrase("only the owner of the table may change this"))
        return author

    @router.post("/owner/login", status_code=204)
    async def login(said: Annotated[Password, Body()], request: Request) -> Response:
        """Come in with the owner's password, for half an hour."""
        if not await asyncio.to_thread(has_password, password_file):
            raise HTTPException(
                409, phrase("there is no owner's password yet: `tallybone serve --set-password` at the table")
            )
        address = address_of(request)
        async with door.trying:
            patient(door.tries.wait_s(address))
            if not await asyncio.to_thread(is_password, said.password, password_file):
                door.tries.failed(address)
                raise HTTPException(403, phrase("that is not the owner's password"))
        response = Response(status_code=204)
        cookie = door.cookies.issue("")
        response.set_cookie(COOKIE, cookie, max_age=LASTS_S, httponly=True, samesite="strict", path="/")
        return response

    @router.get("/settings")
    async def settings(request: Request) -> SettingsShown:
        """What holds at the table."""
        held = house.house
        return SettingsShown(
            keep_gb=None if held.keep_bytes is None else held.keep_bytes // _GB,
            language=held.language,  # type: ignore[arg-type]  # it was checked when it was set, and is again
            usual=shown_setting(held.usual),
            has_password=await asyncio.to_thread(has_password, password_file),
            is_owner=door.cookies.author_of(request.cookies.get(COOKIE)) is not None,
        )

    @router.put("/settings", status_code=204, responses={422: {"model": NotBegun}})
    async def change(said: Annotated[Settings, Body()], author: Annotated[Author, Depends(owner)]) -> Response:
        """Change what holds at the table, from the next match on."""
        setting, faults = (None, ()) if said.usual is None else setting_of(said.usual)
        if faults:
            return not_begun(faults)
        keep_bytes = None if said.keep_gb is None else said.keep_gb * _GB
        try:
            await asyncio.to_thread(
                house.change,
                lambda held: replace(held, keep_bytes=keep_bytes, language=said.language, usual=setting),
            )
        except OSError as error:
            raise HTTPException(503, phrase("it cannot be kept: {why}", why=error.strerror or error)) from error
        return Response(status_code=204)

    return router
