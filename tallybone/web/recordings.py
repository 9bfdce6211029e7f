"""The paths of recordings: the list, one step by step, its pictures, other rules, files to take away, and deleting."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tallybone.plain_text import MOST_NAME, plain
from tallybone.recording.folder import put_back, set_aside
from tallybone.recording.format import ImageMessage
from tallybone.replay.export import everything, game_record, plays_table
from tallybone.replay.lines import Score
from tallybone.replay.recorded_game import rescored, story_of
from tallybone.session.zones import Zones
from tallybone.sources.source import GameWish
from tallybone.web.access import Access, insider_by
from tallybone.web.one_at_a_time import OneAtATime
from tallybone.web.recordings_shown import (
    MomentShown,
    RecordedShown,
    RecordingsShown,
    listed,
    moment_shown,
    steps_shown,
)
from tallybone.web.shelf import Opened, Shelf
from vision.errors import HeaderError
from vision.picture_header import parse_header

T = TypeVar("T")
Name = Annotated[str, InPath(max_length=255)]
Number = Annotated[int, InPath(ge=0, le=10**7)]
_USUAL_PX = (1280, 720)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}
_JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}, 304: {"description": "As before"}}
_KINDS = {"dgr": "text/plain", "csv": "text/csv", "json": "application/json"}


class OtherRules(BaseModel):
    """The rules to score a recording by: another game, or its own with *options* changed, each `key=value`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    rules: Annotated[str, StringConstraints(max_length=40)] | None = None
    options: Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(max_length=60)] = []


class ScoreShown(BaseModel):
    """Points by seat, who has won, and how many actions are irregular."""

    totals: list[int]
    winner: str | None
    hands: int
    plays: int
    problems: int


class RescoredShown(BaseModel):
    """A recording by other rules: *differences* in words, at most 500 of *count*."""

    game: str
    players: list[str]
    before: ScoreShown
    now: ScoreShown
    differences: list[str]
    count: int


def recording_routes(shelf: Shelf, access: Access, work: OneAtATime) -> APIRouter:
    """Return the paths of the recordings on a shelf; who knows the PIN may delete.

    Args:
        shelf: The folder.
        access: Who knows the PIN.
        work: Does what takes long.
    """
    router = APIRouter(prefix="/recordings")
    insider = Depends(insider_by(access))

    def opened(name: str, then: Callable[[Opened], T]) -> Callable[[], T]:
        return lambda: then(shelf.opened(name))

    @router.get("")
    async def recordings() -> RecordingsShown:
        """The recordings of this table, newest first."""
        return listed(*await work.do(shelf.listed))

    @router.get("/{name}")
    async def recording(name: Name) -> RecordedShown:
        """All that happened in a recording, step by step; none of it needs a look at a picture."""
        return await work.do(opened(name, lambda one: steps_shown(one.game, is_running=one.is_running)))

    @router.get("/{name}/steps/{number}")
    async def step(name: Name, number: Number) -> MomentShown:
        """How the table stood after a step."""
        return await work.do(opened(name, lambda one: moment_of(one, number)))

    @router.get("/{name}/frames/{number}.jpg", responses=_JPEG, response_class=Response)
    async def frame(name: Name, number: Number, request: Request) -> Response:
        """A picture as it was recorded, counted from 0."""
        jpeg = await work.do(opened(name, lambda one: frame_of(one, number)))
        headers = {"etag": f'"{zlib.crc32(jpeg):08x}-{len(jpeg)}"', "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(jpeg, media_type="image/jpeg", headers=headers)

    @router.post("/{name}/rescore")
    async def rescore(name: Name, said: Annotated[OtherRules, Body()]) -> RescoredShown:
        """What a recording would have been worth by other rules; nothing is changed."""
        wish = GameWish(said.rules, tuple(said.options))
        return await work.do(opened(name, lambda one: _rescored(one, wish)))

    @router.get("/{name}/export.{kind}", responses=_FILE, response_class=Response)
    async def export(name: Name, kind: Literal["dgr", "csv", "json"]) -> Response:
        """A recording as a file: its game record, a table of the plays, or all of it as JSON."""
        text = await work.do(opened(name, lambda one: _exported(one, kind)))
        return as_file(text.encode("utf-8", "backslashreplace"), f"{Path(name).stem}.{kind}", _KINDS[kind])

    @router.delete("/{name}", status_code=204, dependencies=[insider])
    async def delete(name: Name) -> Response:
        """Delete a recording: it is set aside for a week, and can be put back."""
        await work.do(lambda: set_aside(shelf.path_of(name)))
        return Response(status_code=204)

    @router.post("/{name}/restore", status_code=204, dependencies=[insider])
    async def restore(name: Name) -> Response:
        """Put a recording back that was deleted."""
        await work.do(lambda: put_back(shelf.folder, name))
        return Response(status_code=204)

    return router


def as_file(content: bytes, name: str, kind: str) -> Response:
    """Return an answer that a browser keeps as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{_NOT_IN_NAMES.sub("-", name)}"'}
    return Response(content, media_type=kind, headers=headers)


def moment_of(one: Opened, number: int) -> MomentShown:
    """Return how the table of a recording stood after a step."""
    game = one.game
    if number >= len(game.steps):
        raise HTTPException(404, "there is no such step")
    zones = Zones() if game.start is None else game.start.zones
    with one.path.open("rb") as file:
        places = game.places_after(number, file)
    return moment_shown(number, game.state_after(number), places, zones, _picture_px(one))


def frame_of(one: Opened, number: int) -> bytes:
    """Return a picture of a recording."""
    place = one.game.frame_place(number)
    if place is None:
        raise HTTPException(404, "there is no such picture")
    with one.path.open("rb") as file:
        payload = one.game.found.read(file, place).payload
    assert isinstance(payload, ImageMessage)  # it stands on CAMERA
    return payload.jpeg


def _picture_px(one: Opened) -> tuple[int, int]:
    """Return width and height of the pictures of a recording."""
    if one.game.frame_place(0) is None:
        return _USUAL_PX
    try:
        header = parse_header(frame_of(one, 0))
    except (HeaderError, OSError):
        return _USUAL_PX
    return (header.width_px, header.height_px)


def _rescored(one: Opened, wish: GameWish) -> RescoredShown:
    found = rescored(one.game, wish)
    return RescoredShown(
        game=found.match.rules.name,
        players=[plain(name, MOST_NAME) for name in found.match.players],
        before=_score(found.before),
        now=_score(found.now),
        differences=[plain(sentence) for sentence in found.sentences],
        count=found.count,
    )


def _score(score: Score) -> ScoreShown:
    return ScoreShown(
        totals=[points for _, points in score.totals],
        winner=None if score.winner is None else plain(score.winner, MOST_NAME),
        hands=score.hands,
        plays=score.plays,
        problems=score.problems,
    )


def _exported(one: Opened, kind: str) -> str:
    story, start = story_of(one.game), one.game.start
    match kind:
        case "dgr":
            return game_record(story, start)
        case "csv":
            return plays_table(story)
        case _:
            return everything(story, start, Score.of(story.state).figures)
