"""HTTP routes of games and matches (list, start, resume and end), and of the calibration while no match runs."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Response
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from calibration import CalibrationError
from engine import EngineError
from engine.game.closing import name_problems
from engine.phrases import either, fault_of, listed, phrase
from tallybone.calibrate.known import calibrated_parts, calibration_texts
from tallybone.choices import TileSet
from tallybone.clock import software, wall_time
from tallybone.finding import Finding, Grade
from tallybone.plain_text import MAX_NAME, plain
from tallybone.play.start import MatchPlan, new_game
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.page import PlainRequest, Requests, RestoreCalibration, TableRequest
from tallybone.store.calibration_file import KEPT, Calibration, earlier_path, load_calibration
from tallybone.store.house import HouseFile, MatchSetting
from tallybone.store.learned_file import load_table_knocks
from tallybone.web.access.access import Access, Author, insider_by, let_in
from tallybone.web.calibration.desk import EndCalibration
from tallybone.web.calibration.routes import ANSWERS_WITHIN_S, fulfil_calibration
from tallybone.web.live.actions import StrictModel
from tallybone.web.live.app import Error, Language, answer_to
from tallybone.web.live.games import CheckedShown, FaultShown, GamesShown, checked, faults_of, games_shown
from tallybone.web.live.snapshot import as_json

log = logging.getLogger(__name__)

# Time limit for a request. Starting a match loads the networks that read tiles. Resuming one also reads its recording.
_ANSWERS_WITHIN_S = 60.0
_MAX_OPTIONS = 60
_MAX_PLAYERS = 16
_Key = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z_\-]+$")]
_Value = Annotated[str, StringConstraints(max_length=80, pattern=r"^[\w.:,+\-]+$")]
_Name = Annotated[str, StringConstraints(max_length=200)]


class NewMatch(StrictModel):
    """Settings of a new match. Omitted options have the defaults of the game."""

    game: Annotated[str, StringConstraints(max_length=40)]
    options: Annotated[dict[_Key, _Value], Field(max_length=_MAX_OPTIONS)] = {}  # noqa: RUF012 - pydantic copies it
    players: Annotated[list[_Name], Field(min_length=1, max_length=_MAX_PLAYERS)]
    set: Annotated[str, StringConstraints(max_length=20)] = TileSet.AUTO.value


@dataclass(frozen=True, slots=True)
class NotBegun:
    """Reason why a match was not started. *faults* lists the problems by field."""

    error: str
    faults: tuple[FaultShown, ...]


# A request that cannot be parsed gets an error without problems by field.
NOT_BEGUN: dict[int | str, dict[str, Any]] = {422: {"model": NotBegun | Error}}


class LeftShown(BaseModel):
    """An unfinished match."""

    game: str
    players: list[str]
    totals: list[int]
    left_at: str


class Offered(BaseModel):
    """Possible actions: *usual* is the match offered first, *left* the latest unfinished one.

    While *is_looking*, the search for an unfinished match is not complete.
    """

    playing: bool
    over: bool
    usual: NewMatch | None
    left: LeftShown | None
    is_looking: bool = False


def rules_routes() -> APIRouter:
    """Return the routes that describe games and check options."""
    router = APIRouter()

    @router.get("/games")
    async def games() -> GamesShown:
        """All games and their options."""
        return games_shown()

    @router.get("/games/{game}", response_model=CheckedShown)
    async def game_with(
        game: Annotated[str, StringConstraints(max_length=40)],
        option: Annotated[list[Annotated[str, StringConstraints(max_length=121)]], Query(max_length=_MAX_OPTIONS)] = [],  # noqa: B006
        players: Annotated[int | None, Query(ge=1, le=_MAX_PLAYERS)] = None,
        lang: Language = "en",
    ) -> Response:
        """The rules of a game with options (each key=value), or the problems with them."""
        found = checked(game, dict(_pair(pair) for pair in option), players)
        return Response(as_json(found, lang), media_type="application/json")

    return router


def match_routes(
    access: Access, desk: Requests, house: HouseFile, *, offered: Callable[[], Offered], publish: Callable[[], object]
) -> APIRouter:
    """Return the routes of matches.

    Args:
        access: Checks the PIN.
        desk: Queues requests from pages.
        house: Stores the settings of each match.
        offered: Returns the current choices.
        publish: Publishes the state of the table. Called in the page's thread before a request to begin is answered.
    """
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/match")
    async def match() -> Offered:
        """Possible actions: start a match, resume one, or end the current one."""
        return offered()

    @router.post("/match", status_code=204, responses=NOT_BEGUN)
    async def begin(
        body: Annotated[NewMatch, Body()], author: Annotated[Author, Depends(insider)], lang: Language = "en"
    ) -> Response:
        """Start a match. The table gets a new PIN, and the sender of the request stays signed in."""
        setting, faults = setting_of(body)
        if setting is None:
            return not_begun(faults, lang)
        plan = _planned(setting)
        if not isinstance(plan, MatchPlan):
            return not_begun(plan, lang)
        await fulfil(plan, desk)
        publish()
        await asyncio.to_thread(_keep, house, setting)
        return let_in(access.cookie_for(author.name))

    @router.post("/match/goes_on", status_code=204)
    async def continues(author: Annotated[Author, Depends(insider)]) -> Response:
        """Resume the latest unfinished match."""
        await fulfil(PlainRequest.RESUME_MATCH, desk)
        publish()
        return let_in(access.cookie_for(author.name))

    @router.post("/match/end", status_code=204)
    async def end(author: Annotated[Author, Depends(insider)]) -> Response:
        """End the match. An unfinished match can be resumed later."""
        await fulfil(PlainRequest.END_MATCH, desk)
        return Response(status_code=204)

    return router


def _keep(house: HouseFile, setting: MatchSetting) -> None:
    """Store the settings of a match. A failure is logged and does not affect the match."""
    try:
        house.change(lambda kept: replace(kept, last=setting))
    except OSError as error:
        log.warning("the settings of the match could not be stored: %s", error)


def _planned(setting: MatchSetting) -> MatchPlan | tuple[FaultShown, ...]:
    """Return the plan of a match, or its problems."""
    try:
        return new_game(
            setting.game,
            tuple(f"{key}={value}" for key, value in setting.options),
            setting.players,
            tile_set=setting.tile_set,
            in_play=False,
            began=wall_time(),
            software=software(),
        )
    except EngineError as error:
        return faults_of(error)


def setting_of(body: NewMatch) -> tuple[MatchSetting | None, tuple[FaultShown, ...]]:
    """Return the settings of a match and no problems, or None and the problems."""
    players = tuple(plain(name, MAX_NAME).strip() for name in body.players)
    faults = _faults_of(body, players)
    if faults:
        return None, faults
    return MatchSetting(body.game, tuple(body.options.items()), players, TileSet(body.set)), ()


def shown_setting(setting: MatchSetting | None) -> NewMatch | None:
    """Convert settings to the request model. None if they are not valid for it."""
    if setting is None:
        return None
    with contextlib.suppress(ValidationError):
        return NewMatch(
            game=setting.game, options=dict(setting.options), players=list(setting.players), set=setting.tile_set.value
        )
    return None


def _faults_of(body: NewMatch, players: tuple[str, ...]) -> tuple[FaultShown, ...]:
    faults = list(checked(body.game, body.options, len(players)).faults)
    if not all(players):
        faults.append(FaultShown("players", phrase("each player needs a name")))
    faults += (FaultShown("players", text) for text in name_problems(players))
    if body.set not in {tile_set.value for tile_set in TileSet}:
        faults.append(FaultShown("set", phrase("expected {allowed}", allowed=either(TileSet))))
    return tuple(faults)


def not_begun(faults: tuple[FaultShown, ...], language: str) -> Response:
    """Return a response with status 422 and the problems with a match, in a language."""
    shown = tuple(FaultShown(fault.field, plain(fault.text)) for fault in faults)
    text = listed((fault_of(fault.field, fault.text) if fault.field else fault.text for fault in shown), "; ")
    return Response(as_json(NotBegun(plain(text), shown), language), 422, media_type="application/json")


async def fulfil(request: TableRequest, desk: Requests) -> None:
    """Submit a request and wait until the table has handled it. Raises the errors of `answer_to`."""
    await answer_to(request, desk, _ANSWERS_WITHIN_S, phrase("the table does not respond"))


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


@dataclass(frozen=True, slots=True)
class EarlierShown:
    """A calibration backup: its calibrated parts, or the reason why it cannot be read."""

    number: int
    written_at: str
    parts: tuple[str, ...]
    problem: str | None


@dataclass(frozen=True, slots=True)
class StoredShown:
    """Stored calibration of the table's camera. *written_at* is null if there is none.

    While a calibration *is_running*, `GET calibration` returns its progress. *learned* describes the knocks learned in
    matches.
    """

    camera: str
    is_running: bool
    written_at: str | None
    known: tuple[str, ...]
    learned: tuple[str, ...]
    problem: str | None
    earlier: tuple[EarlierShown, ...]


@dataclass(frozen=True, slots=True)
class FoundShown:
    """Result of a check: whether it passed, and a description."""

    well: bool
    text: str


class RestoreSaid(StrictModel):
    """Backup to restore: 1 is the newest."""

    number: Annotated[int, Field(ge=1, le=KEPT)]


def sight_routes(sight: Callable[[], tuple[Finding, ...]]) -> APIRouter:
    """Return the route of *sight*, which judges the newest camera image and must be thread-safe."""
    router = APIRouter()

    @router.get("/calibration/sight", response_model=list[Finding])
    async def sight_now(lang: Language = "en") -> Response:
        """Findings about the camera, the light and sharpness of its newest image, and its tilt."""
        return Response(as_json(await asyncio.to_thread(sight), lang), media_type="application/json")

    return router


def stored_calibration_routes(calibration: ServedCalibration, desk: Requests, access: Access) -> APIRouter:
    """Return the routes of the stored calibration, and to start, end and check a calibration."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/calibration/stored", response_model=StoredShown)
    async def stored(lang: Language = "en") -> Response:
        """The stored calibration and its five backups."""
        shown = await asyncio.to_thread(_stored, calibration)
        return Response(as_json(shown, lang), media_type="application/json")

    @router.post("/calibration", status_code=204)
    async def begin(author: Annotated[Author, Depends(insider)]) -> Response:
        """Start the guided calibration of camera and table. It ends if nobody watches for five minutes."""
        await fulfil(PlainRequest.CALIBRATE, desk)
        return Response(status_code=204)

    @router.post("/calibration/end", status_code=204)
    async def end(author: Annotated[Author, Depends(insider)]) -> Response:
        """End the calibration. Parts already stored are kept."""
        await fulfil_calibration(EndCalibration(), calibration.calibrating)
        if not await asyncio.to_thread(calibration.calibrating.wait_for_end, ANSWERS_WITHIN_S):
            raise HTTPException(503, phrase("the table does not respond"), {"Retry-After": "5"})
        return Response(status_code=204)

    @router.post("/calibration/check", response_model=list[FoundShown])
    async def check(author: Annotated[Author, Depends(insider)], lang: Language = "en") -> Response:
        """Compare the current camera image with the stored calibration."""
        await fulfil(PlainRequest.CHECK_CALIBRATION, desk)
        found = tuple(FoundShown(each.grade is Grade.OK, plain(each.text)) for each in calibration.findings)
        return Response(as_json(found, lang), media_type="application/json")

    @router.post("/calibration/restore", status_code=204)
    async def restore(body: Annotated[RestoreSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Restore a backup. The current calibration becomes backup 1."""
        await fulfil(RestoreCalibration(body.number), desk)
        return Response(status_code=204)

    @router.post("/calibration/forget", status_code=204)
    async def forget(author: Annotated[Author, Depends(insider)]) -> Response:
        """Delete the knocks learned in matches."""
        await fulfil(PlainRequest.FORGET_KNOCKS, desk)
        return Response(status_code=204)

    return router


def _stored(calibration: ServedCalibration) -> StoredShown:
    path = calibration.path()
    written_at, now, problem = _read(path)
    knocks = load_table_knocks(path)
    earlier = ((number, earlier_path(path, number)) for number in range(1, KEPT + 1))
    return StoredShown(
        plain(calibration.camera),
        calibration.calibrating.newest is not None,
        written_at,
        () if now is None else tuple(plain(text) for text in calibration_texts(now)),
        tuple(plain(text) for text in knocks.text),
        problem,
        tuple(_earlier(number, backup) for number, backup in earlier if backup.exists()),
    )


def _earlier(number: int, path: Path) -> EarlierShown:
    written_at, calibration, problem = _read(path)
    return EarlierShown(number, written_at or "", () if calibration is None else calibrated_parts(calibration), problem)


def _read(path: Path) -> tuple[str | None, Calibration | None, str | None]:
    """Return the time of a file, its calibration, and the reason why it cannot be read. All are None without a file."""
    try:
        if not path.exists():
            return None, None, None
        at = datetime.fromtimestamp(path.stat().st_mtime, wall_time().tzinfo).isoformat(timespec="seconds")
        return at, load_calibration(path), None
    except (CalibrationError, OSError) as error:
        return None, None, plain(str(error).removeprefix(f"{path}: "))
