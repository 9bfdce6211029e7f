"""The paths of matches: which games there are, and beginning one, going on with the last, ending it."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from engine import EngineError
from engine.phrases import phrase
from tallybone.choices import TileSet
from tallybone.plain_text import MOST_NAME, plain
from tallybone.play.start import Game
from tallybone.serve.page import Begin, End, GoOn, MatchDesk, MatchWanted, MatchWish
from tallybone.store.house import MatchSetting
from tallybone.web.access import Access, Author, insider_by, keep_in
from tallybone.web.actions import Refusal, Refused
from tallybone.web.games_shown import CheckedShown, FaultShown, GamesShown, checked, faults_of, games_shown

# Before a match begins, the networks that read tiles are loaded, and the recording that goes on is read.
_ANSWERS_WITHIN_S = 60.0
_MOST_OPTIONS, _MOST_PLAYERS = 60, 16
_STATUS = {Refusal.CHANGED: 409, Refusal.SENSELESS: 422}

_Key = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z_\-]+$")]
_Value = Annotated[str, StringConstraints(max_length=80, pattern=r"^[\w.:,+\-]+$")]
_Name = Annotated[str, StringConstraints(max_length=200)]


class NewMatch(BaseModel):
    """How a match is begun: what is not given is as usual in the game."""

    model_config = ConfigDict(extra="forbid", strict=True)

    game: Annotated[str, StringConstraints(max_length=40)]
    options: Annotated[dict[_Key, _Value], Field(max_length=_MOST_OPTIONS)] = {}
    players: Annotated[list[_Name], Field(min_length=1, max_length=_MOST_PLAYERS)]
    set: Annotated[str, StringConstraints(max_length=20)] = TileSet.AUTO.value


class NotBegun(BaseModel):
    """Why a match was not begun; *faults* say it of each field."""

    error: str
    faults: list[FaultShown]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What these paths ask of the table; all of it may be called from any thread.

    Attributes:
        desk: Where wishes go.
        new_game: Makes a game of how a match is begun; raises EngineError.
        offered: Says what can be done now.
        keep: Remembers how a match was begun.
    """

    desk: MatchDesk
    new_game: Callable[[MatchSetting], Game]
    offered: Callable[[], Offered]
    keep: Callable[[MatchSetting], None]


def match_routes(access: Access, table: Table) -> APIRouter:
    """Return the paths of matches."""
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
        return table.offered()

    @router.post("/match", responses={422: {"model": NotBegun}})
    async def begin(said: Annotated[NewMatch, Body()], author: Annotated[Author, Depends(insider)]) -> Response:
        """Begin a match. The table has a new PIN from then on; whoever began it is in."""
        setting, faults = setting_of(said)
        if setting is None:
            return not_begun(faults)
        try:
            game = table.new_game(setting)
        except EngineError as error:
            return not_begun(faults_of(error))
        await done(Begin(game), table.desk)
        await asyncio.to_thread(table.keep, setting)
        return _again_in(access, author)

    @router.post("/match/goes_on", status_code=204)
    async def goes_on(author: Annotated[Author, Depends(insider)]) -> Response:
        """Go on with the newest match that is not over."""
        await done(GoOn(), table.desk)
        return _again_in(access, author)

    @router.post("/match/end", status_code=204)
    async def end(author: Annotated[Author, Depends(insider)]) -> Response:
        """End the match; one that is not over can go on another time."""
        await done(End(), table.desk)
        return Response(status_code=204)

    return router


def setting_of(said: NewMatch) -> tuple[MatchSetting | None, tuple[FaultShown, ...]]:
    """Return how a match is begun, or None and what is wrong with it."""
    players = tuple(plain(name, MOST_NAME).strip() for name in said.players)
    faults = _faults_of(said, players)
    if faults:
        return None, faults
    return MatchSetting(said.game, tuple(said.options.items()), players, TileSet(said.set)), ()


def shown_setting(setting: MatchSetting | None) -> NewMatch | None:
    """Return how a match was begun, as a page says it; None for what no page could have said."""
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
    """Return the answer that says what is wrong with a match."""
    shown = [FaultShown(one.field, plain(one.words)) for one in faults]
    words = "; ".join(f"{one.field}: {one.words}" if one.field else one.words for one in shown)
    return JSONResponse(NotBegun(error=plain(words), faults=shown).model_dump(), 422)


def _again_in(access: Access, author: Author) -> Response:
    """Return the answer to whoever has begun a match: its PIN is new, and he need not type it."""
    response = Response(status_code=204)
    keep_in(response, access.cookie_for(author.name))
    return response


async def done(wish: MatchWish, desk: MatchDesk) -> None:
    """Wait until the table has done something; say so where it has not."""
    wanted = MatchWanted(wish)
    if not desk.ask(wanted):
        raise HTTPException(429, phrase("too much is asked of the table at once"), {"Retry-After": "1"})
    try:
        outcome: Any = await asyncio.wait_for(asyncio.wrap_future(wanted.done), _ANSWERS_WITHIN_S)
    except TimeoutError:
        raise HTTPException(503, phrase("the table does not answer"), {"Retry-After": "5"}) from None
    if isinstance(outcome, Refused):
        raise HTTPException(_STATUS[outcome.kind], plain(outcome.words))


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value
