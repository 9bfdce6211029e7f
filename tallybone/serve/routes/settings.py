"""HTTP routes of the table's settings, its parts and pairing."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import cv2
import numpy as np
from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from pydantic import Field, StringConstraints

from engine.phrases import phrase
from hardware.buttons.panel import ButtonError
from hardware.knock.sensor import KnockError
from hardware.part import Clock
from tallybone.plain_text import plain
from tallybone.serve.page import PlainRequest, Requests
from tallybone.serve.parts_test import LEAVES, PartResult, PartsTest, ServedParts
from tallybone.serve.routes.matches import NOT_BEGUN, NewMatch, fulfil, not_begun, setting_of, shown_setting
from tallybone.store.house import MAX_KEEP_BYTES, MIN_KEEP_BYTES, HouseFile, has_password, is_password
from tallybone.web.access.access import (
    CODE_LASTS_S,
    Access,
    Author,
    Cookies,
    address_of,
    check_wait,
    come_in_by_code,
    insider_by,
    let_in,
)
from tallybone.web.access.serving import Address
from tallybone.web.access.visitors import Tries
from tallybone.web.live.actions import StrictModel
from tallybone.web.live.app import Language

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
        body: Annotated[Settings, Body()],
        author: Annotated[Author, Depends(only_owner)],
        lang: Language = "en",
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


class Pair(StrictModel):
    """A scanned code, and the name of the person."""

    code: Annotated[str, StringConstraints(max_length=40)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


@dataclass(frozen=True, slots=True)
class PairingShown:
    """A QR code: its URL, its rows ("1" is dark), and its validity in seconds."""

    address: str
    rows: tuple[str, ...]
    lasts_s: int


@dataclass(frozen=True, slots=True)
class AddressShown:
    """URL of the page for phones and its QR code. Null and empty if phones cannot reach it.

    *is_closed* is true if the page is served to its own machine only, at *port*.
    """

    url: str | None
    rows: tuple[str, ...]
    is_closed: bool
    port: int


def pairing_routes(access: Access, address: Address) -> APIRouter:
    """Return the routes of pairing, and of the *address* of the page."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/address")
    async def address_now() -> AddressShown:
        """Current URL of the page for phones in the same network, and its QR code."""
        url = None if address.is_closed or address.is_alone else address.url
        return AddressShown(url, () if url is None else qr_rows(f"{url}/"), address.is_closed, address.port)

    @router.post("/pairing")
    async def pairing(author: Annotated[Author, Depends(insider)]) -> PairingShown:
        """Create a code that admits one device once. It is in the URL fragment, which is never sent to a server."""
        url = f"{address.url}/#pair/{access.new_code()}"
        return PairingShown(url, qr_rows(url), CODE_LASTS_S)

    @router.post("/pair", status_code=204)
    async def pair(body: Annotated[Pair, Body()], request: Request) -> Response:
        """Enter with a code."""
        return come_in_by_code(request, access, body.code, body.name)

    return router


def qr_rows(text: str) -> tuple[str, ...]:
    """Return the rows of a QR code, "1" for a dark module, without the quiet zone of four modules.

    >>> len(qr_rows("http://192.168.1.5:8080/")) == len(qr_rows("http://192.168.1.5:8080/")[0])
    True
    """
    dark = np.asarray(cv2.QRCodeEncoder.create().encode(text)) == 0
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    inner = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return tuple("".join("1" if is_dark else "0" for is_dark in row) for row in inner)


_MAX_WORDS = 20_000


class Answer(StrictModel):
    """Answer to the test: y yes, n no, a again, s skip, q end."""

    key: Annotated[str, StringConstraints(pattern=r"^[ynasq]$")]


class PanelPress(StrictModel):
    """Input on the virtual panel: the name of a button, or null for a knock on the table."""

    button: Annotated[str, StringConstraints(max_length=40)] | None


@dataclass(frozen=True, slots=True)
class LedsShown:
    """A group of virtual LEDs: its purpose, and the colour of each as #rrggbb."""

    shows: str
    colours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PanelShown:
    """State of the virtual parts. Empty if there are none."""

    leds: tuple[LedsShown, ...]
    screen: tuple[str, ...]
    buttons: tuple[str, ...]
    pressed: tuple[str, ...]
    detects_knocks: bool
    knocked: bool


@dataclass(frozen=True, slots=True)
class TestProgress:
    """Progress of the test: its text line by line, the *keys* that it accepts now, and the results so far."""

    __test__ = False  # not a pytest class

    running: bool
    lines: tuple[str, ...]
    keys: tuple[str, ...]
    results: tuple[PartResult, ...]


def panel_routes(access: Access, parts: ServedParts, clock: Callable[[], int]) -> APIRouter:
    """Return the routes of the virtual panel. *clock* is monotonic, in nanoseconds."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/panel")
    async def panel(author: Annotated[Author, Depends(insider)]) -> PanelShown:
        """Current state of the virtual parts. Requires the PIN, because the virtual display shows it."""
        look = parts.now.panel.look(clock())
        leds = tuple(
            LedsShown(
                group.shows.value,
                tuple(f"#{colour.red:02x}{colour.green:02x}{colour.blue:02x}" for colour in group.colours),
            )
            for group in look.leds
        )
        return PanelShown(
            leds,
            look.screen,
            look.buttons,
            tuple(sorted(look.pressed)),
            detects_knocks=look.detects_knocks,
            knocked=look.is_knocked,
        )

    @router.post("/panel", status_code=204)
    async def press(body: Annotated[PanelPress, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Press a virtual button, or knock on the table."""
        try:
            if body.button is None and parts.now.panel.detects_knocks:
                parts.now.panel.knock(clock())
            elif body.button is not None and parts.now.panel.has_button(body.button):
                parts.now.panel.press(body.button, clock())
            else:
                raise HTTPException(404, phrase("there is no such virtual part"))
        except (ButtonError, KnockError) as error:
            raise HTTPException(409, str(error)) from error
        return Response(status_code=204)

    return router


def parts_test_routes(access: Access, test: PartsTest, desk: Requests) -> APIRouter:
    """Return the routes of the test of the parts."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/parts/test")
    async def state() -> TestProgress:
        """Progress of the test of the parts, or the result of the last one."""
        now = test.state
        lines = tuple(plain(line) for line in now.text[-_MAX_WORDS:].split("\n") if line.strip())
        results = tuple(replace(result, text=plain(result.text)) for result in now.results)
        keys = (*now.keys, LEAVES) if now.is_running else ()
        return TestProgress(now.is_running, lines, keys, results)

    @router.post("/parts/test", status_code=204)
    async def begin(author: Annotated[Author, Depends(insider)]) -> Response:
        """Start the test of the parts. It ends if its progress is not polled for a minute."""
        await fulfil(PlainRequest.TEST_PARTS, desk)
        return Response(status_code=204)

    @router.post("/parts/test/answer", status_code=204)
    async def answer(body: Annotated[Answer, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Answer the current question of the parts test. 409 if this answer is not accepted now."""
        if not test.answer(body.key):
            raise HTTPException(409, phrase("this is not the current question"))
        return Response(status_code=204)

    return router
