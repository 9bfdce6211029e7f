"""HTTP paths of the virtual panel and the test of the parts."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Response
from pydantic import StringConstraints

from hardware.buttons.panel import ButtonError
from hardware.colour import Rgb
from hardware.knock.errors import KnockError
from tallybone.plain_text import plain
from tallybone.serve.page import PlainRequest, Requests
from tallybone.serve.parts_test import LEAVES, PartResult, PartsTest, ServedParts
from tallybone.serve.routes.matches import fulfil
from tallybone.web.access import Access, Author, insider_by
from tallybone.web.actions import StrictModel

_MOST_WORDS = 20_000


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
class TestShown:
    """How the test stands: all that it said, a line each; the *keys* that it takes now; what came of each part."""

    __test__ = False  # it is no test of pytest

    running: bool
    lines: tuple[str, ...]
    keys: tuple[str, ...]
    results: tuple[PartResult, ...]


def panel_routes(access: Access, parts: ServedParts, clock: Callable[[], int]) -> APIRouter:
    """Return the paths of the virtual panel; *clock* is monotonic, in nanoseconds."""
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

    return router


def parts_test_routes(access: Access, test: PartsTest, desk: Requests) -> APIRouter:
    """Return the paths of the test of the parts."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/parts/test")
    async def state() -> TestShown:
        """How the test of the parts stands, or how the last one ended."""
        now = test.state
        lines = tuple(plain(line) for line in now.words[-_MOST_WORDS:].split("\n") if line.strip())
        results = tuple(replace(one, words=plain(one.words)) for one in now.results)
        keys = (*now.keys, LEAVES) if now.is_running else ()
        return TestShown(now.is_running, lines, keys, results)

    @router.post("/parts/test", status_code=204)
    async def begin(author: Annotated[Author, Depends(insider)]) -> Response:
        """Test the parts, one after the other; it ends by itself when nobody asks for a minute how it stands."""
        await fulfil(PlainRequest.TEST_PARTS, desk)
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
