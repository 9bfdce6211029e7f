"""Serve recordings: the list, each step, pictures, other rules, statistics, shared hands, deleting."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Body, Depends, HTTPException, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel, Field, StringConstraints

from engine import EngineError, OptionsError
from tallybone.plain_text import MOST_NAME, names_of, plain
from tallybone.recording.folder import put_back, set_aside
from tallybone.recording.format import ImageMessage, RecordingError
from tallybone.replay.export import everything, game_record, plays_table
from tallybone.replay.figures import GameFigures, PlayerFigures, figures_of, players_in
from tallybone.replay.lines import Score
from tallybone.replay.recorded_game import rescored, transcript_of
from tallybone.session.zones import Zones
from tallybone.sources.source import GameOverrides
from tallybone.web.access import Access, insider_by
from tallybone.web.actions import StrictModel
from tallybone.web.app import JPEG, etag_of, picture_answer
from tallybone.web.recordings_shown import (
    MOST_STEPS,
    MomentShown,
    RecordedShown,
    RecordedStepShown,
    RecordingsShown,
    list_recordings,
    moment_shown,
    shared_hand,
    steps_shown,
)
from tallybone.web.shelf import NoRecordingError, OpenRecording, Shelf
from vision.errors import HeaderError
from vision.image.header import parse_header

T = TypeVar("T")
Name = Annotated[str, InPath(max_length=255)]
RecordNumber = Annotated[int, InPath(ge=0, le=10**7)]
_USUAL_PX = (1280, 720)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_KINDS = {"dgr": "text/plain", "csv": "text/csv", "json": "application/json"}
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in _KINDS.values()}}}

# So long is counted for one answer; the next one goes on.
_WORKS_NS = 1_500_000_000
_PLACES = 2

_HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}

# Later requests are told to retry.
_MOST_WAITING = 30


class OtherRules(StrictModel):
    """The rules to score a recording by: another game, or its own with *options* changed, each `key=value`."""

    rules: Annotated[str, StringConstraints(max_length=40)] | None = None
    options: Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(max_length=60)] = []  # noqa: RUF012 - pydantic copies it


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


class OneAtATime:
    """Does one piece of work after the other, in their order."""

    def __init__(self) -> None:
        """Have nothing to do."""
        self._lock, self._waiting = asyncio.Lock(), 0

    async def do(self, work: Callable[[], T]) -> T:
        """Return the result of *work*; a fault of a recording becomes an answer in plain words."""
        if self._waiting >= _MOST_WAITING:
            raise HTTPException(503, "too much is asked of the table at once", {"Retry-After": "2"})
        self._waiting += 1
        try:
            async with self._lock:
                return await asyncio.to_thread(work)
        except (NoRecordingError, FileNotFoundError):
            raise HTTPException(404, "there is no such recording") from None
        except OptionsError as error:
            raise HTTPException(422, plain("; ".join(error.faults))) from None
        except (EngineError, OSError) as error:
            raise HTTPException(422, plain(_without_folder(str(error)))) from None
        finally:
            self._waiting -= 1


def recording_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the paths that show the recordings on a shelf; *work* does what is slow."""
    router = APIRouter(prefix="/recordings")

    @router.get("")
    async def recordings() -> RecordingsShown:
        """The recordings of this table, newest first."""
        return list_recordings(*await work.do(shelf.listed))

    @router.get("/{name}")
    async def recording(name: Name) -> RecordedShown:
        """All that happened in a recording, step by step; none of it needs a look at a picture."""
        return await work.do(lambda: steps_of(shelf.opened(name)))

    @router.get("/{name}/steps/{number}")
    async def step(name: Name, number: RecordNumber) -> MomentShown:
        """How the table stood after a step."""
        return await work.do(lambda: moment_of(shelf.opened(name), number))

    @router.get("/{name}/frames/{number}.jpg", responses=JPEG, response_class=Response)
    async def frame(name: Name, number: RecordNumber, request: Request) -> Response:
        """A picture as it was recorded, counted from 0."""
        jpeg = await work.do(lambda: frame_of(shelf.opened(name), number))
        return picture_answer(jpeg, etag_of(jpeg), request)

    @router.get("/{name}/steps/{number}/evidence.jpg", responses=JPEG, response_class=Response)
    async def evidence(name: Name, number: RecordNumber, request: Request) -> Response:
        """The tile of a step in the picture from which it was read, outlined."""
        jpeg = await work.do(lambda: step_crop(shelf.opened(name), number))
        return picture_answer(jpeg, etag_of(jpeg), request)

    return router


def scoring_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the paths that score and export a recording; *work* does what is slow."""
    router = APIRouter(prefix="/recordings")

    @router.post("/{name}/rescore")
    async def rescore(name: Name, said: Annotated[OtherRules, Body()]) -> RescoredShown:
        """What a recording would have been worth by other rules; nothing is changed."""
        wish = GameOverrides(said.rules, tuple(said.options))
        return await work.do(lambda: _rescored(shelf.opened(name), wish))

    @router.get("/{name}/export.{kind}", responses=_FILE, response_class=Response)
    async def export(name: Name, kind: Literal["dgr", "csv", "json"]) -> Response:
        """A recording as a file: its game record, a table of the plays, or all of it as JSON."""
        text = await work.do(lambda: _exported(shelf.opened(name), kind))
        return as_file(text.encode("utf-8", "backslashreplace"), f"{Path(name).stem}.{kind}", _KINDS[kind])

    return router


def deletion_routes(shelf: Shelf, access: Access, work: OneAtATime) -> APIRouter:
    """Return the paths that delete and restore recordings, for people who know the PIN; *work* does what is slow."""
    router = APIRouter(prefix="/recordings")
    insider = Depends(insider_by(access))

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


def steps_of(one: OpenRecording) -> RecordedShown:
    """Return all steps of a recording."""
    return steps_shown(one.game, is_running=one.is_running)


def moment_of(one: OpenRecording, number: int) -> MomentShown:
    """Return the table of a recording after a step."""
    game = one.game
    if number >= len(game.steps):
        raise HTTPException(404, "there is no such step")
    zones = Zones() if game.start is None else game.start.zones
    with one.path.open("rb") as file:
        places = game.places_after(number, file)
    return moment_shown(number, game.state_after(number), places, zones, _picture_px(one))


def frame_of(one: OpenRecording, number: int) -> bytes:
    """Return a picture of a recording."""
    place = one.game.frame_place(number)
    if place is None:
        raise HTTPException(404, "there is no such picture")
    with one.path.open("rb") as file:
        payload = one.game.found.read(file, place).payload
    assert isinstance(payload, ImageMessage)  # the topic is CAMERA
    return payload.jpeg


def step_crop(one: OpenRecording, number: int) -> bytes:
    """Return the crop of the picture from which a step of a recording was read."""
    with one.path.open("rb") as file:
        found = one.game.crop_of(number, file)
    if found is None:
        raise HTTPException(404, "there is no such picture")
    return found.jpeg


def _picture_px(one: OpenRecording) -> tuple[int, int]:
    """Return width and height of the pictures of a recording."""
    if one.game.frame_place(0) is None:
        return _USUAL_PX
    try:
        header = parse_header(frame_of(one, 0))
    except (HeaderError, OSError):
        return _USUAL_PX
    return (header.width_px, header.height_px)


def _rescored(one: OpenRecording, wish: GameOverrides) -> RescoredShown:
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


def _exported(one: OpenRecording, kind: str) -> str:
    story, start = transcript_of(one.game), one.game.start
    match kind:
        case "dgr":
            return game_record(story, start)
        case "csv":
            return plays_table(story)
        case _:
            return everything(story, start, Score.of(story.state).figures)


def recording_pages(
    folder: Path, access: Access, clock: Callable[[], int] = time.monotonic_ns
) -> tuple[APIRouter, ...]:
    """Return the paths of the recordings in a folder, which need not exist yet; *clock* is monotonic."""
    shelf, work = Shelf(folder), OneAtATime()
    return (
        recording_routes(shelf, work),
        scoring_routes(shelf, work),
        deletion_routes(shelf, access, work),
        statistics_routes(shelf, work, clock),
        shared_hand_routes(shelf, work),
    )


@dataclass(frozen=True, slots=True)
class PlayerFiguresShown:
    """A player over all games: sums, and averages with two places."""

    name: str
    games: int
    won: int
    hands: int
    plays: int
    points: int
    points_per_hand: float
    points_per_play: float
    knocks_per_hand: float
    best: int


@dataclass(frozen=True, slots=True)
class StatisticsShown:
    """Everybody who played; *left* recordings are not counted yet: ask again."""

    players: tuple[PlayerFiguresShown, ...]
    games: int
    left: int


class Counting:
    """Counts the games on a shelf, each once until it changes. Not for several threads."""

    def __init__(self, shelf: Shelf, clock: Callable[[], int]) -> None:
        """Count the recordings on *shelf*; *clock* is monotonic, in nanoseconds."""
        self._shelf, self._clock = shelf, clock
        self._known: dict[tuple[str, int], GameFigures | None] = {}

    def one(self, name: str) -> GameFigures:
        """Return the figures of a recording, with names as they are shown."""
        found = figures_of(self._shelf.opened(name).game)
        return replace(found, players=names_of(found.players))

    def all(self) -> StatisticsShown:
        """Return the figures of all games that were counted, and count more until it is time to answer."""
        surveys, _ = self._shelf.listed()
        # A recording that continues another holds all of its log.
        whole = {one.start.continues for one in surveys if one.start is not None}
        wanted = [(one.path.name, one.size_bytes) for one in surveys if one.path.name not in whole]
        until_ns = self._clock() + _WORKS_NS
        known = {key: self._known[key] for key in wanted if key in self._known}
        for key in wanted:
            if self._clock() > until_ns:
                break
            if key not in known:
                known[key] = self._counted(key[0])
        self._known = known
        games = [one for one in known.values() if one is not None]
        return StatisticsShown(tuple(_shown(one) for one in players_in(games)), len(games), len(wanted) - len(known))

    def _counted(self, name: str) -> GameFigures | None:
        try:
            return self.one(name)
        except (EngineError, NoRecordingError, OSError):
            return None


def statistics_routes(shelf: Shelf, work: OneAtATime, clock: Callable[[], int]) -> APIRouter:
    """Return the paths of statistics."""
    router = APIRouter()
    counting = Counting(shelf, clock)

    @router.get("/statistics")
    async def statistics() -> StatisticsShown:
        """Everybody who played at this table, over all its recordings."""
        return await work.do(counting.all)

    @router.get("/recordings/{name}/statistics")
    async def statistics_of(name: Name) -> GameFigures:
        """The figures of one recorded game."""
        return await work.do(lambda: counting.one(name))

    return router


def _shown(one: PlayerFigures) -> PlayerFiguresShown:
    averages = (one.points_per_hand, one.points_per_play, one.knocks_per_hand)
    per_hand, per_play, knocks = (round(average, _PLACES) for average in averages)
    return PlayerFiguresShown(
        one.name, one.games, one.won, one.hands, one.plays, one.points, per_hand, per_play, knocks, one.best
    )


def shared_hand_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the path of shared hands."""
    router = APIRouter(prefix="/recordings")

    @router.get("/{name}/hand/{number}.html", responses=_HTML, response_class=Response)
    async def hand(
        name: Name,
        number: Annotated[int, InPath(ge=0, le=10**6)],
        pictures: Literal["with", "without"] = "with",
    ) -> Response:
        """A hand, counted from 1, as one file without anything from elsewhere; at most 2 MB."""
        page = await work.do(lambda: _hand(shelf.opened(name), number, has_pictures=pictures == "with"))
        return as_file(page, f"{Path(name).stem}-hand-{number}.html", "text/html")

    return router


def _hand(one: OpenRecording, number: int, *, has_pictures: bool) -> bytes:
    told = steps_of(one)
    own = [at for at, step in enumerate(told.steps) if step.hand == number][:MOST_STEPS]
    if not own:
        raise HTTPException(404, "there is no such hand")
    steps = [told.steps[at] for at in own]
    jpegs = [_jpeg(one, step) if has_pictures else None for step in steps]
    title = f"{told.game}, hand {number}: {', '.join(told.players)}"
    return shared_hand(title, steps, [moment_of(one, at) for at in own], jpegs)


def _jpeg(one: OpenRecording, step: RecordedStepShown) -> bytes | None:
    try:
        return None if step.frame is None else frame_of(one, step.frame)
    except RecordingError:
        return None


def _without_folder(words: str) -> str:
    """Return an error without the place of its file, which is nobody's business on the network."""
    head, between, rest = words.partition(": ")
    return rest if between and "/" in head else words
