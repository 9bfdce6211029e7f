"""HTTP routes of the calibration: show, start, end, check and restore."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Response
from pydantic import Field

from calibration.errors import CalibrationError
from engine.phrases import phrase
from tallybone.calibrate.known import calibrated_parts, known_words
from tallybone.clock import wall_time
from tallybone.finding import Finding, Grade
from tallybone.plain_text import plain
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.page import PlainRequest, Requests, RestoreCalibration
from tallybone.serve.routes.matches import fulfil
from tallybone.store.calibration_file import KEPT, Calibration, earlier_path, load_calibration
from tallybone.store.learned_file import load_table_knocks
from tallybone.web.access import Access, Author, insider_by
from tallybone.web.actions import StrictModel
from tallybone.web.app import Language
from tallybone.web.calibration import ANSWERS_WITHIN_S, fulfil_calibration
from tallybone.web.calibration_desk import EndCalibration
from tallybone.web.snapshot import as_json


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
        () if now is None else tuple(plain(text) for text in known_words(now)),
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
