"""HTTP routes of the virtual panel and the test of the parts."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Response
from pydantic import StringConstraints

from engine.phrases import phrase
from hardware.buttons.panel import ButtonError
from hardware.colour import Rgb
from hardware.knock.sensor import KnockError
from tallybone.plain_text import plain
from tallybone.serve.page import PlainRequest, Requests
from tallybone.serve.parts_test import LEAVES, PartResult, PartsTest, ServedParts
from tallybone.serve.routes.matches import fulfil
from tallybone.web.access import Access, Author, insider_by
from tallybone.web.actions import StrictModel

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
class TestShown:
    """Progress of the test: its text by lines, the *keys* that it accepts now, and the results so far."""

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
            LedsShown(group.shows.value, tuple(_hex(colour) for colour in group.colours)) for group in look.leds
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
    async def state() -> TestShown:
        """Progress of the test of the parts, or the result of the last one."""
        now = test.state
        lines = tuple(plain(line) for line in now.text[-_MAX_WORDS:].split("\n") if line.strip())
        results = tuple(replace(result, text=plain(result.text)) for result in now.results)
        keys = (*now.keys, LEAVES) if now.is_running else ()
        return TestShown(now.is_running, lines, keys, results)

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


def _hex(colour: Rgb) -> str:
    return f"#{colour.red:02x}{colour.green:02x}{colour.blue:02x}"
