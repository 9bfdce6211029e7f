"""The paths of the table's parts: the virtual ones are seen and pressed, all are tested with somebody at the page."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Response
from pydantic import BaseModel, ConfigDict, StringConstraints

from hardware.buttons.panel import ButtonError
from hardware.colour import Rgb
from hardware.knock.errors import KnockError
from tallybone.plain_text import plain
from tallybone.serve.page import MatchDesk, TestParts
from tallybone.serve.parts_test import LEAVES, PartsTest
from tallybone.serve.routes import done
from tallybone.serve.served_parts import ServedParts
from tallybone.web.access import Access, Author, insider_by

_MOST_WORDS = 20_000


class Answer(BaseModel):
    """The answer to what the test asks: y yes, n no, a again, s skip, q end."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: Annotated[str, StringConstraints(pattern=r"^[ynasq]$")]


class PanelPress(BaseModel):
    """What is pressed on the virtual panel: a button by its name, null for a knock on the table."""

    model_config = ConfigDict(extra="forbid", strict=True)

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
        look = parts.panel.look(clock())
        leds = tuple(LedsShown(one.shows.value, tuple(_hex(colour) for colour in one.colours)) for one in look.leds)
        return PanelShown(
            leds, look.screen, look.buttons, tuple(sorted(look.pressed)), hears=look.hears, knocked=look.is_knocked
        )

    @router.post("/panel", status_code=204)
    async def press(said: Annotated[PanelPress, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Press a virtual button, or knock on the table."""
        try:
            if said.button is None and parts.panel.hears:
                parts.panel.knock(clock())
            elif said.button is not None and parts.panel.has_button(said.button):
                parts.panel.press(said.button, clock())
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
        await done(TestParts(), desk)
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
