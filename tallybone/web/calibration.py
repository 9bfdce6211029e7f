"""Serve a guided calibration: its state, its picture, choices and drawn zones."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.calibrate.guide.steps import Stage, StepName
from tallybone.calibrate.zone_edit import MOST_CORNERS, EditableZone
from tallybone.web.access import Access, Author, insider_by
from tallybone.web.app import Language, answer_to
from tallybone.web.calibration_desk import (
    NOTHING,
    Calibrating,
    CalibrationShown,
    CalibrationWish,
    CorrectTile,
    DrawZones,
    GoTo,
    PressedChoice,
)
from tallybone.web.feed import LiveFeed, jpeg_of_width
from tallybone.web.live_page import LivePage
from tallybone.web.snapshot import Lobby, as_json

if TYPE_CHECKING:
    from tallybone.calibrate.guide.course import GuideCourse

# To find tiles in a picture takes seconds, and on a busy machine more.
ANSWERS_WITHIN_S = 30.0
_MOST_ZONES = 8
_MOST_TILES = 1000
_JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}
_Pixel = Annotated[float, Field(ge=-20_000, le=20_000, allow_inf_nan=False)]
_Pips = Annotated[int, Field(ge=0, le=18)]

_VIEW = "/#calibrate"


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PressSaid(_Said):
    """A choice, by somebody who has seen this step at this stage: if they have changed, nothing is done."""

    press: Annotated[str, StringConstraints(min_length=1, max_length=10)]
    step: StepName
    stage: Stage


class StepSaid(_Said):
    """A step that is done now."""

    step: StepName


class ZoneSaid(_Said):
    """A zone by its corners in the picture."""

    name: Annotated[str, StringConstraints(max_length=20)]
    corners: Annotated[list[tuple[_Pixel, _Pixel]], Field(min_length=3, max_length=MOST_CORNERS)]


class ZonesSaid(_Said):
    """Zones that were drawn; the others stay as they are."""

    zones: Annotated[list[ZoneSaid], Field(min_length=1, max_length=_MOST_ZONES)]


class TileSaid(_Said):
    """What a tile shows that was taken for another one."""

    number: Annotated[int, Field(ge=1, le=_MOST_TILES)]
    pips: tuple[_Pips, _Pips]


class Taken(BaseModel):
    """It was done: it is in what is shown from this version on."""

    version: int


def calibration_routes(calibrating: Calibrating, access: Access) -> APIRouter:
    """Return the paths of calibrations."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/calibration", response_model=CalibrationShown)
    async def calibration(lang: Language = "en") -> Response:
        """How the calibration stands at this moment."""
        return Response(as_json(_newest(calibrating), lang), media_type="application/json")

    @router.get("/calibration/picture.jpg", responses=_JPEG, response_class=Response)
    async def picture(
        request: Request, number: Annotated[int, Query(ge=1, le=10**9)], width: Literal["320", "640", "1280"] = "640"
    ) -> Response:
        """The picture with a number; the last four are kept."""
        image = calibrating.picture(number)
        if image is None:
            raise HTTPException(404, phrase("there is no such picture any more"))
        jpeg = await asyncio.to_thread(jpeg_of_width, image, int(width))
        return Response(jpeg, media_type="image/jpeg")

    @router.post("/calibration/press")
    async def press(said: Annotated[PressSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Make one of the choices that there are now."""
        return await fulfil_calibration(PressedChoice(said.press, said.step, said.stage), calibrating)

    @router.post("/calibration/step")
    async def step(said: Annotated[StepSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Do a step now, whatever was done before."""
        return await fulfil_calibration(GoTo(said.step), calibrating)

    @router.put("/calibration/zones")
    async def zones(said: Annotated[ZonesSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Take zones as they were drawn over the picture; they are kept when the step's result is."""
        drawn = tuple(EditableZone(zone.name, tuple(zone.corners)) for zone in said.zones)
        return await fulfil_calibration(DrawZones(drawn), calibrating)

    @router.put("/calibration/tile")
    async def tile(said: Annotated[TileSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Learn the set anew, with what a tile truly shows."""
        return await fulfil_calibration(CorrectTile(said.number, said.pips), calibrating)

    return router


def _newest(calibrating: Calibrating) -> CalibrationShown:
    shown = calibrating.look()
    if shown is None:
        raise HTTPException(404, NOTHING)
    return shown


async def fulfil_calibration(wish: CalibrationWish, calibrating: Calibrating) -> Taken:
    """Hand over a wish; the errors are those of `answer_to`, and 404 where nothing is calibrated."""
    _newest(calibrating)
    await answer_to(wish, calibrating.desk, ANSWERS_WITHIN_S, phrase("the table does not answer"))
    return Taken(version=_newest(calibrating).version)


class CalibratingPage:
    """A page that is served until it is closed."""

    def __init__(self, where: str, course: "GuideCourse", camera: str, clock: Clock, *, pin: str | None = None) -> None:
        """Serve *course* at *where*, as `serving.listen_on` takes it; *pin* is a new one if none is given.

        Raises:
            OSError: If it cannot be served there.
        """
        self._calibrating = Calibrating(clock)
        self._calibrating.begin(course, camera)
        feed = LiveFeed(clock)
        feed.show_lobby(Lobby(f"{camera}: it is being calibrated"))
        self._page = LivePage(
            where, clock, pin=pin, feed=feed, more=lambda access: (calibration_routes(self._calibrating, access),)
        )

    @property
    def words(self) -> str:
        """Where it is and its PIN."""
        return f"page {self._page.url}{_VIEW}  {self._page.pin_words}"

    def turn(self) -> None:
        """Let the course look once, and fulfil the wishes of pages."""
        self._calibrating.turn()

    def close(self) -> None:
        """Serve no more."""
        self._calibrating.end()
        self._page.close()
