"""HTTP routes of the table's settings, which only the owner can change."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from pydantic import Field, StringConstraints

from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.serve.routes.matches import NOT_BEGUN, NewMatch, not_begun, setting_of, shown_setting
from tallybone.store.house import MAX_KEEP_BYTES, MIN_KEEP_BYTES, HouseFile, has_password, is_password
from tallybone.web.access import Author, Cookies, address_of, check_wait, let_in
from tallybone.web.actions import StrictModel
from tallybone.web.app import Language
from tallybone.web.tries import Tries

COOKIE = "tallybone-owner"
LASTS_S = 1800
_GB = 10**9


class Password(StrictModel):
    """The owner's password."""

    password: Annotated[str, StringConstraints(max_length=200)]


class Settings(StrictModel):
    """Settings of the table. Defaults for null: 20 GB, the language of the browser, the last match."""

    keep_gb: Annotated[int, Field(ge=MIN_KEEP_BYTES // _GB, le=MAX_KEEP_BYTES // _GB)] | None = None
    language: Literal["en", "es", "pt", "fr"] | None = None
    usual: NewMatch | None = None


class SettingsShown(Settings):
    """Settings, whether there is a password, and whether the sender of the request has entered it."""

    has_password: bool
    is_owner: bool


class Owner:
    """Checks the owner's password, and issues cookies to browsers that entered it."""

    def __init__(self, password_file: Path, clock: Clock) -> None:
        """Check against the hash in *password_file*. *clock* is monotonic, in nanoseconds."""
        self._file = password_file
        self._cookies, self._tries = Cookies(secrets.token_bytes(32), clock, LASTS_S), Tries(clock)
        self._trying = asyncio.Lock()  # Only one check at a time, because each takes 16 MB of memory.

    async def has_password(self) -> bool:
        """Return True if an owner's password is set."""
        return await asyncio.to_thread(has_password, self._file)

    def author(self, request: Request) -> Author | None:
        """Return the owner if the request has a valid cookie, else None."""
        return self._cookies.author_of(request.cookies.get(COOKIE))

    async def let_in(self, password: str, request: Request) -> Response:
        """Check the password, and return a response that sets the owner's cookie.

        Raises:
            HTTPException: 409 if no password is set, 403 if *password* is wrong, 429 after too many tries.
        """
        if not await self.has_password():
            raise HTTPException(
                409, phrase("no owner's password is set: run `tallybone serve --set-password` on the table's computer")
            )
        address = address_of(request)
        async with self._trying:
            check_wait(self._tries.wait_s(address))
            if not await asyncio.to_thread(is_password, password, self._file):
                self._tries.failed(address)
                raise HTTPException(403, phrase("incorrect owner password"))
            self._tries.succeeded(address)
        return let_in(self._cookies.issue(""), COOKIE, LASTS_S)


def settings_routes(house: HouseFile, owner: Owner) -> APIRouter:
    """Return the routes of the settings in *house*."""
    router = APIRouter()

    async def only_owner(request: Request) -> Author:
        author = owner.author(request)
        if author is None:
            raise HTTPException(401, phrase("only the owner of the table may change this"))
        return author

    @router.post("/owner/login", status_code=204)
    async def login(body: Annotated[Password, Body()], request: Request) -> Response:
        """Sign in with the owner's password for half an hour."""
        return await owner.let_in(body.password, request)

    @router.get("/settings")
    async def settings(request: Request) -> SettingsShown:
        """The settings of the table."""
        held = house.house
        return SettingsShown(
            keep_gb=None if held.keep_bytes is None else held.keep_bytes // _GB,
            language=held.language,  # type: ignore[arg-type]  # validated when it was set, and again here
            usual=shown_setting(held.usual),
            has_password=await owner.has_password(),
            is_owner=owner.author(request) is not None,
        )

    @router.put("/settings", status_code=204, responses=NOT_BEGUN)
    async def change(
        body: Annotated[Settings, Body()], author: Annotated[Author, Depends(only_owner)], lang: Language = "en"
    ) -> Response:
        """Change the settings, with effect from the next match."""
        setting, faults = (None, ()) if body.usual is None else setting_of(body.usual)
        if faults:
            return not_begun(faults, lang)
        keep_bytes = None if body.keep_gb is None else body.keep_gb * _GB
        try:
            await asyncio.to_thread(
                house.change,
                lambda held: replace(held, keep_bytes=keep_bytes, language=body.language, usual=setting),
            )
        except OSError as error:
            raise HTTPException(503, phrase("cannot save: {why}", why=error.strerror or error)) from error
        return Response(status_code=204)

    return router
