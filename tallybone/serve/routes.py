"""Serve the paths of an always-on table: matches, settings, pairing, parts, stored calibration."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import cv2
import numpy as np
from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from calibration.errors import CalibrationError
from engine import EngineError
from engine.phrases import phrase
from hardware.buttons.panel import ButtonError
from hardware.clock import Clock
from hardware.colour import Rgb
from hardware.knock.errors import KnockError
from tallybone.calibrate.known import known_words, parts_of
from tallybone.choices import TileSet
from tallybone.clock import wall_time
from tallybone.plain_text import MOST_NAME, plain
from tallybone.play.start import MatchPlan
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.page import MatchDesk, MatchWish, RestoreCalibration, StartMatch, Wish
from tallybone.serve.parts_test import LEAVES, PartsTest, ServedParts
from tallybone.store.calibration_file import KEPT, Calibration, earlier_path, load_calibration
from tallybone.store.house import LEAST_KEEP_BYTES, MOST_KEEP_BYTES, HouseFile, MatchSetting, has_password, is_password
from tallybone.web.access import (
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
from tallybone.web.actions import StrictModel
from tallybone.web.app import Error, Language, answer_to
from tallybone.web.calibration import ANSWERS_WITHIN_S, fulfil_calibration
from tallybone.web.calibration_desk import EndCalibration
from tallybone.web.games_shown import CheckedShown, FaultShown, GamesShown, checked, faults_of, games_shown
from tallybone.web.snapshot import as_json
from tallybone.web.tries import Tries

# Before a match begins, the networks that read tiles are loaded, and the recording that goes on is read.
_ANSWERS_WITHIN_S = 60.0
_MOST_OPTIONS, _MOST_PLAYERS = 60, 16
_Key = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z_\-]+$")]
_Value = Annotated[str, StringConstraints(max_length=80, pattern=r"^[\w.:,+\-]+$")]
_Name = Annotated[str, StringConstraints(max_length=200)]

COOKIE = "tallybone-owner"
LASTS_S = 1800
_GB = 10**9

_MOST_WORDS = 20_000


class NewMatch(StrictModel):
    """How a match is begun: what is not given is as usual in the game."""

    game: Annotated[str, StringConstraints(max_length=40)]
    options: Annotated[dict[_Key, _Value], Field(max_length=_MOST_OPTIONS)] = {}  # noqa: RUF012 - pydantic copies it
    players: Annotated[list[_Name], Field(min_length=1, max_length=_MOST_PLAYERS)]
    set: Annotated[str, StringConstraints(max_length=20)] = TileSet.AUTO.value


class NotBegun(BaseModel):
    """Why a match was not begun; *faults* say it of each field."""

    error: str
    faults: list[FaultShown]


# What is not even understood has no faults of fields.
_NOT_BEGUN: dict[int | str, dict[str, Any]] = {422: {"model": NotBegun | Error}}


class LeftShown(BaseModel):
    """A match that was left before it was over."""

    game: str
    players: list[str]
    totals: list[int]
    left_at: str


class Offered(BaseModel):
    """What can be done now: *usual* is the match that is offered first, *left* the newest that is not over.

    While *is_looking*, nobody knows yet whether there is one.
    """

    playing: bool
    over: bool
    usual: NewMatch | None
    left: LeftShown | None
    is_looking: bool = False


def match_routes(
    access: Access,
    desk: MatchDesk,
    *,
    new_game: Callable[[MatchSetting], MatchPlan],
    offered: Callable[[], Offered],
    keep: Callable[[MatchSetting], None],
    publish: Callable[[], object],
) -> APIRouter:
    """Return the paths of matches; any thread may call the functions but *publish*.

    Args:
        access: Checks the PIN.
        desk: Where wishes go.
        new_game: Makes a game of a setting; raises EngineError.
        offered: Returns the choices that there are now.
        keep: Remembers the setting of a match.
        publish: Has the page show how the table stands now; called before a wish is answered, in the page's thread.
    """
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/games")
    async def games() -> GamesShown:
        """Every game that the score can be kept of, and what can be agreed on."""
        return games_shown()

    @router.get("/games/{game}")
    async def game_with(
        game: Annotated[str, StringConstraints(max_length=40)],
        option: Annotated[
            list[Annotated[str, StringConstraints(max_length=121)]], Query(max_length=_MOST_OPTIONS)
        ] = [],  # noqa: B006
        players: Annotated[int | None, Query(ge=1, le=_MOST_PLAYERS)] = None,
    ) -> CheckedShown:
        """What holds in a game with options, each key=value; or what is wrong with them."""
        return checked(game, dict(_pair(one) for one in option), players)

    @router.get("/match")
    async def match() -> Offered:
        """What can be done now: begin a match, and which one; go on with one; or end the one that is played."""
        return offered()

    @router.post("/match", status_code=204, responses=_NOT_BEGUN)
    async def begin(said: Annotated[NewMatch, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Begin a match. The table has a new PIN from then on; whoever began it is in."""
        setting, faults = setting_of(said)
        if setting is None:
            return not_begun(faults)
        try:
            game = new_game(setting)
        except EngineError as error:
            return not_begun(faults_of(error))
        await fulfil(StartMatch(game), desk)
        publish()
        await asyncio.to_thread(keep, setting)
        return let_in(access.cookie_for(author.name))

    @router.post("/match/goes_on", status_code=204)
    async def goes_on(author: Annotated[Author, Depends(insider)]) -> Response:
        """Go on with the newest match that is not over."""
        await fulfil(Wish.RESUME_MATCH, desk)
        publish()
        return let_in(access.cookie_for(author.name))

    @router.post("/match/end", status_code=204)
    async def end(author: Annotated[Author, Depends(insider)]) -> Response:
        """End the match; one that is not over can go on another time."""
        await fulfil(Wish.END_MATCH, desk)
        return Response(status_code=204)

    return router


def setting_of(said: NewMatch) -> tuple[MatchSetting | None, tuple[FaultShown, ...]]:
    """Return the setting of a match, or None and its faults."""
    players = tuple(plain(name, MOST_NAME).strip() for name in said.players)
    faults = _faults_of(said, players)
    if faults:
        return None, faults
    return MatchSetting(said.game, tuple(said.options.items()), players, TileSet(said.set)), ()


def shown_setting(setting: MatchSetting | None) -> NewMatch | None:
    """Return a setting as a page sends it; None for one that no page can send."""
    if setting is None:
        return None
    with contextlib.suppress(ValidationError):
        return NewMatch(
            game=setting.game, options=dict(setting.options), players=list(setting.players), set=setting.tile_set.value
        )
    return None


def _faults_of(said: NewMatch, players: tuple[str, ...]) -> tuple[FaultShown, ...]:
    faults = list(checked(said.game, said.options, len(players)).faults)
    if not all(players):
        faults.append(FaultShown("players", "each player needs a name"))
    if len(set(players)) < len(players):
        faults.append(FaultShown("players", "two players have the same name"))
    if said.set not in {one.value for one in TileSet}:
        faults.append(FaultShown("set", f"expected {', '.join(TileSet)}"))
    return tuple(faults)


def not_begun(faults: tuple[FaultShown, ...]) -> Response:
    """Return the answer with the faults of a match."""
    shown = [FaultShown(one.field, plain(one.words)) for one in faults]
    words = "; ".join(f"{one.field}: {one.words}" if one.field else one.words for one in shown)
    return JSONResponse(NotBegun(error=plain(words), faults=shown).model_dump(), 422)


async def fulfil(wish: MatchWish, desk: MatchDesk) -> None:
    """Wait until the table has done something; the errors are those of `answer_to`."""
    await answer_to(wish, desk, _ANSWERS_WITHIN_S, phrase("the table does not answer"))


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


class Password(StrictModel):
    """The owner's password."""

    password: Annotated[str, StringConstraints(max_length=200)]


class Settings(StrictModel):
    """What holds at the table. Null is: 20 GB; the language of each browser; the match that was begun last."""

    keep_gb: Annotated[int, Field(ge=LEAST_KEEP_BYTES // _GB, le=MOST_KEEP_BYTES // _GB)] | None = None
    language: Literal["en", "es", "pt", "fr"] | None = None
    usual: NewMatch | None = None


class SettingsShown(Settings):
    """The settings; whether there is a password at all, and whether whoever asks has given it."""

    has_password: bool
    is_owner: bool


def settings_routes(house: HouseFile, password_file: Path, clock: Clock) -> APIRouter:
    """Return the paths; *clock* is monotonic, in nanoseconds."""
    router = APIRouter()
    cookies, tries = Cookies(secrets.token_bytes(32), clock, LASTS_S), Tries(clock)
    trying = asyncio.Lock()  # one password is tried at a time: each takes 16 MB

    async def owner(request: Request) -> Author:
        author = cookies.author_of(request.cookies.get(COOKIE))
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
        async with trying:
            check_wait(tries.wait_s(address))
            if not await asyncio.to_thread(is_password, said.password, password_file):
                tries.failed(address)
                raise HTTPException(403, phrase("that is not the owner's password"))
            tries.succeeded(address)
        return let_in(cookies.issue(""), COOKIE, LASTS_S)

    @router.get("/settings")
    async def settings(request: Request) -> SettingsShown:
        """What holds at the table."""
        held = house.house
        return SettingsShown(
            keep_gb=None if held.keep_bytes is None else held.keep_bytes // _GB,
            language=held.language,  # type: ignore[arg-type]  # it was checked when it was set, and is again
            usual=shown_setting(held.usual),
            has_password=await asyncio.to_thread(has_password, password_file),
            is_owner=cookies.author_of(request.cookies.get(COOKIE)) is not None,
        )

    @router.put("/settings", status_code=204, responses=_NOT_BEGUN)
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


class Pair(StrictModel):
    """A code that was scanned, and who scanned it."""

    code: Annotated[str, StringConstraints(max_length=40)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


@dataclass(frozen=True, slots=True)
class PairingShown:
    """A code to scan: its address, the rows of its squares ("1" is dark), and how long it lets one in."""

    address: str
    rows: tuple[str, ...]
    lasts_s: int


def pairing_routes(access: Access, url: Callable[[], str]) -> APIRouter:
    """Return the paths; *url* returns the address of the page."""
    router = APIRouter()
    insider = insider_by(access)

    @router.post("/pairing")
    async def pairing(author: Annotated[Author, Depends(insider)]) -> PairingShown:
        """Get a code that lets one more in, once. It stands behind the #, so that no server is ever sent it."""
        address = f"{url()}/#pair/{access.new_code()}"
        return PairingShown(address, qr_rows(address), CODE_LASTS_S)

    @router.post("/pair", status_code=204)
    async def pair(said: Annotated[Pair, Body()], request: Request) -> Response:
        """Come in with a code."""
        return come_in_by_code(request, access, said.code, said.name)

    return router


def qr_rows(text: str) -> tuple[str, ...]:
    """Return the rows of a QR code, "1" for a dark square, without the margin; a page leaves four squares around it.

    >>> len(qr_rows("http://192.168.1.5:8080/")) == len(qr_rows("http://192.168.1.5:8080/")[0])
    True
    """
    dark = np.asarray(cv2.QRCodeEncoder.create().encode(text)) == 0
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    inner = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return tuple("".join("1" if one else "0" for one in row) for row in inner)


class Answer(StrictModel):
    """The answer to what the test asks: y yes, n no, a again, s skip, q end."""

    key: Annotated[str, StringConstraints(pattern=r"^[ynasq]$")]


class PanelPress(StrictModel):
    """What is pressed on the virtual panel: a button by its name, null for a knock on the table."""

    button: Annotated[str, StringConstraints(max_length=40)] | None


@dataclass(frozen=True, slots=True)
class LedsShown:
    """A set of virtual LEDs: what it is for, and the colour of each, as #rrggbb."""

    shows: str
    colours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PanelShown:
    """What is seen of the virtual parts; all of it is empty where there are none."""

    leds: tuple[LedsShown, ...]
    screen: tuple[str, ...]
    buttons: tuple[str, ...]
    pressed: tuple[str, ...]
    hears: bool
    knocked: bool


@dataclass(frozen=True, slots=True)
class ResultShown:
    """What came of a part: *outcome* is ok, failed or skipped."""

    part: str
    outcome: str
    words: str


@dataclass(frozen=True, slots=True)
class TestShown:
    """How the test stands: all that it said, a line each; the *keys* that it takes now; what came of each part."""

    __test__ = False  # it is no test of pytest

    running: bool
    lines: tuple[str, ...]
    keys: tuple[str, ...]
    results: tuple[ResultShown, ...]


def parts_routes(
    access: Access, parts: ServedParts, test: PartsTest, desk: MatchDesk, clock: Callable[[], int]
) -> APIRouter:
    """Return the paths; *clock* is monotonic, in nanoseconds."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/panel")
    async def panel(author: Annotated[Author, Depends(insider)]) -> PanelShown:
        """What is seen of the virtual parts now. The display among them shows the PIN, and so not everybody sees it."""
        look = parts.now.panel.look(clock())
        leds = tuple(LedsShown(one.shows.value, tuple(_hex(colour) for colour in one.colours)) for one in look.leds)
        return PanelShown(
            leds, look.screen, look.buttons, tuple(sorted(look.pressed)), hears=look.hears, knocked=look.is_knocked
        )

    @router.post("/panel", status_code=204)
    async def press(said: Annotated[PanelPress, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Press a virtual button, or knock on the table."""
        try:
            if said.button is None and parts.now.panel.hears:
                parts.now.panel.knock(clock())
            elif said.button is not None and parts.now.panel.has_button(said.button):
                parts.now.panel.press(said.button, clock())
            else:
                raise HTTPException(404, "there is no such virtual part")
        except (ButtonError, KnockError) as error:
            raise HTTPException(409, str(error)) from error
        return Response(status_code=204)

    @router.get("/parts/test")
    async def state() -> TestShown:
        """How the test of the parts stands, or how the last one ended."""
        now = test.state
        lines = tuple(plain(line) for line in now.words[-_MOST_WORDS:].split("\n") if line.strip())
        results = tuple(ResultShown(one.part, one.outcome.value, plain(one.words)) for one in now.results)
        keys = (*now.keys, LEAVES) if now.is_running else ()
        return TestShown(now.is_running, lines, keys, results)

    @router.post("/parts/test", status_code=204)
    async def begin(author: Annotated[Author, Depends(insider)]) -> Response:
        """Test the parts, one after the other; it ends by itself when nobody asks for a minute how it stands."""
        await fulfil(Wish.TEST_PARTS, desk)
        return Response(status_code=204)

    @router.post("/parts/test/answer", status_code=204)
    async def answer(said: Annotated[Answer, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Answer what the test asks."""
        if not test.answer(said.key):
            raise HTTPException(409, "that is not asked now")
        return Response(status_code=204)

    return router


def _hex(colour: Rgb) -> str:
    return f"#{colour.red:02x}{colour.green:02x}{colour.blue:02x}"


@dataclass(frozen=True, slots=True)
class EarlierShown:
    """A calibration that was replaced: which parts of it are known, or why it cannot be read."""

    number: int
    written_at: str
    parts: tuple[str, ...]
    problem: str | None


@dataclass(frozen=True, slots=True)
class StoredShown:
    """What is stored for the camera of this table; *written_at* is null for nothing.

    While one *is_running*, `GET calibration` says how it stands.
    """

    camera: str
    is_running: bool
    written_at: str | None
    known: tuple[str, ...]
    problem: str | None
    earlier: tuple[EarlierShown, ...]


@dataclass(frozen=True, slots=True)
class FoundShown:
    """Something that a check has found: whether all is well with it, and what it is, in words."""

    well: bool
    words: str


class RestoreSaid(StrictModel):
    """Which calibration is brought back: 1 is the one before this."""

    number: Annotated[int, Field(ge=1, le=KEPT)]


def stored_calibration_routes(calibration: ServedCalibration, desk: MatchDesk, access: Access) -> APIRouter:
    """Return the paths."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/calibration/stored", response_model=StoredShown)
    async def stored(lang: Language = "en") -> Response:
        """What is stored, and the last five before it."""
        shown = await asyncio.to_thread(_stored, calibration)
        return Response(as_json(shown, lang), media_type="application/json")

    @router.post("/calibration", status_code=204)
    async def begin(author: Annotated[Author, Depends(insider)]) -> Response:
        """Calibrate camera and table, step by step; it ends by itself when nobody looks for five minutes."""
        await fulfil(Wish.CALIBRATE, desk)
        return Response(status_code=204)

    @router.post("/calibration/end", status_code=204)
    async def end(author: Annotated[Author, Depends(insider)]) -> Response:
        """End it; what was kept stays."""
        await fulfil_calibration(EndCalibration(), calibration.calibrating)
        if not await asyncio.to_thread(calibration.calibrating.wait_for_end, ANSWERS_WITHIN_S):
            raise HTTPException(503, phrase("the table does not answer"), {"Retry-After": "5"})
        return Response(status_code=204)

    @router.post("/calibration/check", response_model=list[FoundShown])
    async def check(author: Annotated[Author, Depends(insider)], lang: Language = "en") -> Response:
        """Compare what the camera sees now with what is stored."""
        await fulfil(Wish.CHECK_CALIBRATION, desk)
        found = tuple(FoundShown(one.is_well, plain(one.words)) for one in calibration.findings)
        return Response(as_json(found, lang), media_type="application/json")

    @router.post("/calibration/restore", status_code=204)
    async def restore(said: Annotated[RestoreSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Bring an earlier one back; what is stored now becomes the one before it."""
        await fulfil(RestoreCalibration(said.number), desk)
        return Response(status_code=204)

    return router


def _stored(calibration: ServedCalibration) -> StoredShown:
    path = calibration.path()
    written_at, now, problem = _read(path)
    earlier = ((number, earlier_path(path, number)) for number in range(1, KEPT + 1))
    return StoredShown(
        plain(calibration.camera),
        calibration.calibrating.newest is not None,
        written_at,
        () if now is None else tuple(plain(words) for words in known_words(now)),
        problem,
        tuple(_earlier(number, one) for number, one in earlier if one.exists()),
    )


def _earlier(number: int, path: Path) -> EarlierShown:
    written_at, calibration, problem = _read(path)
    return EarlierShown(number, written_at or "", () if calibration is None else parts_of(calibration), problem)


def _read(path: Path) -> tuple[str | None, Calibration | None, str | None]:
    """Return when a file was written, its calibration, and its problem; None for each that there is not."""
    try:
        if not path.exists():
            return None, None, None
        at = datetime.fromtimestamp(path.stat().st_mtime, wall_time().tzinfo).isoformat(timespec="seconds")
        return at, load_calibration(path), None
    except (CalibrationError, OSError) as error:
        return None, None, plain(str(error).removeprefix(f"{path}: "))
