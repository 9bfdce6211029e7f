"""HTTP routes of a guided calibration: state, images, choices and drawn zones."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.phrases import phrase
from hardware.part import Clock
from tallybone.calibrate.guide.steps import MAX_CORNERS, EditableZone, Stage, StepName
from tallybone.web.access.access import Access, Author, insider_by
from tallybone.web.calibration import desk
from tallybone.web.live.app import Language, answer_to
from tallybone.web.live.feed import LiveFeed, jpeg_of_width
from tallybone.web.live.page import LivePage
from tallybone.web.live.snapshot import Lobby, as_json

if TYPE_CHECKING:
    from tallybone.calibrate.guide.course import GuideCourse


# Time limit for a request. Finding tiles in an image takes seconds, and longer on a busy machine.
ANSWERS_WITHIN_S = 30.0
_MAX_ZONES = 8
_MAX_TILES = 1000
_JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}
_Pixel = Annotated[float, Field(ge=-20_000, le=20_000, allow_inf_nan=False)]
_Pips = Annotated[int, Field(ge=0, le=18)]

_VIEW = "/#calibrate"


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PressSaid(_Said):
    """A choice made at a step and stage. It is refused if the calibration has moved on."""

    press: Annotated[str, StringConstraints(min_length=1, max_length=10)]
    step: StepName
    stage: Stage


class StepSaid(_Said):
    """A step to go to."""

    step: StepName


class ZoneSaid(_Said):
    """A zone, by its corners in the image."""

    name: Annotated[str, StringConstraints(max_length=20)]
    corners: Annotated[list[tuple[_Pixel, _Pixel]], Field(min_length=3, max_length=MAX_CORNERS)]


class ZonesSaid(_Said):
    """Drawn zones. Other zones are unchanged."""

    zones: Annotated[list[ZoneSaid], Field(min_length=1, max_length=_MAX_ZONES)]


class TileSaid(_Said):
    """The true numbers of a tile that was misread."""

    number: Annotated[int, Field(ge=1, le=_MAX_TILES)]
    pips: tuple[_Pips, _Pips]


class Taken(BaseModel):
    """Version of the state that contains the change."""

    version: int


def calibration_routes(calibrating: desk.Calibrating, access: Access) -> APIRouter:
    """Return the routes of a calibration."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/calibration", response_model=desk.CalibrationShown)
    async def calibration(lang: Language = "en") -> Response:
        """The current state of the calibration."""
        return Response(as_json(_newest(calibrating), lang), media_type="application/json")

    @router.get("/calibration/picture.jpg", responses=_JPEG, response_class=Response)
    async def picture(
        request: Request, number: Annotated[int, Query(ge=1, le=10**9)], width: Literal["320", "640", "1280"] = "640"
    ) -> Response:
        """An image by its number. The last four are kept."""
        image = calibrating.picture(number)
        if image is None:
            raise HTTPException(404, phrase("that picture no longer exists"))
        jpeg = await asyncio.to_thread(jpeg_of_width, image, int(width))
        return Response(jpeg, media_type="image/jpeg")

    @router.post("/calibration/press")
    async def press(body: Annotated[PressSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Make one of the current choices."""
        return await fulfil_calibration(desk.PressedChoice(body.press, body.step, body.stage), calibrating)

    @router.post("/calibration/step")
    async def step(body: Annotated[StepSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Go to a step, regardless of the order."""
        return await fulfil_calibration(desk.GoTo(body.step), calibrating)

    @router.put("/calibration/zones")
    async def zones(body: Annotated[ZonesSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Set zones drawn over the image. They are stored with the result of the step."""
        drawn = tuple(EditableZone(zone.name, tuple(zone.corners)) for zone in body.zones)
        return await fulfil_calibration(desk.DrawZones(drawn), calibrating)

    @router.put("/calibration/tile")
    async def tile(body: Annotated[TileSaid, Body()], author: Annotated[Author, Depends(insider)]) -> Taken:
        """Correct a tile, and learn the set again."""
        return await fulfil_calibration(desk.CorrectTile(body.number, body.pips), calibrating)

    return router


def _newest(calibrating: desk.Calibrating) -> desk.CalibrationShown:
    shown = calibrating.look()
    if shown is None:
        raise HTTPException(404, desk.NOTHING)
    return shown


async def fulfil_calibration(request: desk.CalibrationWish, calibrating: desk.Calibrating) -> Taken:
    """Submit a request and wait for it. Raises the errors of `answer_to`, and 404 if no calibration is running."""
    _newest(calibrating)
    await answer_to(request, calibrating.desk, ANSWERS_WITHIN_S, phrase("the table does not respond"))
    return Taken(version=_newest(calibrating).version)


class CalibratingPage:
    """Page of a guided calibration."""

    def __init__(self, where: str, course: "GuideCourse", camera: str, clock: Clock, *, pin: str | None = None) -> None:
        """Serve *course* at the address *where*, in the form for `serving.listen_on`. Without *pin*, create a new PIN.

        Raises:
            OSError: If the page cannot be served at *where*.
        """
        self._calibrating = desk.Calibrating(clock)
        self._calibrating.begin(course, camera)
        feed = LiveFeed(clock)
        feed.show_lobby(Lobby(f"{camera}: it is being calibrated"))
        self._page = LivePage(
            where, clock, pin=pin, feed=feed, more=lambda access: (calibration_routes(self._calibrating, access),)
        )

    @property
    def text(self) -> str:
        """Address and PIN of the page."""
        return f"page {self._page.url}{_VIEW}  {self._page.pin_text}"

    def turn(self) -> None:
        """Process pending requests and the next image."""
        self._calibrating.turn()

    def close(self) -> None:
        """Stop serving."""
        self._calibrating.end()
        self._page.close()
