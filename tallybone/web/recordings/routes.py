"""HTTP routes for recordings: list, steps, images, rescoring, statistics, shared hands and deletion."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

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
from engine.phrases import listed, phrase
from tallybone.plain_text import MAX_NAME, names_of, plain
from tallybone.recording.folder import put_back, set_aside
from tallybone.recording.format import ImageMessage, RecordingError
from tallybone.replay.export import everything, game_record, plays_table
from tallybone.replay.figures import GameFigures, PairFigures, PlayerFigures, figures_of, people_in
from tallybone.replay.lines import Score
from tallybone.replay.recorded_game import rescored, transcript_of
from tallybone.session.observations import Zones
from tallybone.sources.source import GameOverrides
from tallybone.web.access.access import Access, insider_by
from tallybone.web.live.actions import StrictModel
from tallybone.web.live.app import JPEG, Language, etag_of, picture_answer
from tallybone.web.live.snapshot import as_json
from tallybone.web.recordings import shown as recorded
from tallybone.web.recordings.shown import NoRecordingError, OpenRecording, Shelf
from vision import HeaderError
from vision.image.picture import parse_header

T = TypeVar("T")
Name = Annotated[str, InPath(max_length=255)]
RecordNumber = Annotated[int, InPath(ge=0, le=10**7)]
_USUAL_PX = (1280, 720)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_KINDS = {"dgr": "text/plain", "csv": "text/csv", "json": "application/json"}
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in _KINDS.values()}}}

# Time after which a request for statistics starts no further recording. The next request continues.
_WORKS_NS = 1_500_000_000
# Shorter matches without points were begun by mistake. Statistics leave them out.
_MIN_MATCH_NS = 60_000_000_000
_PLACES = 2

_HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}

# Maximum number of running and queued requests. Further ones get 503 and may retry.
_MAX_WAITING = 30


class OtherRules(StrictModel):
    """Rules for rescoring a recording: another game, or changed *options*, each as `key=value`."""

    rules: Annotated[str, StringConstraints(max_length=40)] | None = None
    options: Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(max_length=60)] = []  # noqa: RUF012 - pydantic copies it


class ScoreShown(BaseModel):
    """Totals by seat, the winner's name, and the numbers of hands, plays and irregular actions."""

    totals: list[int]
    winner: str | None
    hands: int
    plays: int
    problems: int


class RescoredShown(BaseModel):
    """A recording scored by other rules; *differences* lists at most 500 of *count* differences."""

    game: str
    players: list[str]
    before: ScoreShown
    now: ScoreShown
    differences: list[str]
    count: int


class OneAtATime:
    """Runs blocking functions in a thread, one at a time, in the order of the calls."""

    def __init__(self) -> None:
        self._lock, self._waiting = asyncio.Lock(), 0

    async def do(self, work: Callable[[], T]) -> T:
        """Return the result of *work*.

        Raises:
            HTTPException: 503 if the queue is full, 404 if there is no such recording, 422 for another error in game or
                file.
        """
        if self._waiting >= _MAX_WAITING:
            raise HTTPException(503, phrase("too many requests: try again in a moment"), {"Retry-After": "2"})
        self._waiting += 1
        try:
            async with self._lock:
                return await asyncio.to_thread(work)
        except (NoRecordingError, FileNotFoundError):
            raise HTTPException(404, phrase("no such recording")) from None
        except OptionsError as error:
            raise HTTPException(422, plain(listed(error.faults, "; "))) from None
        except (EngineError, OSError) as error:
            # Remove a leading file path from an error message, so that viewers do not see it.
            text = str(error)
            head, between, rest = text.partition(": ")
            raise HTTPException(422, plain(rest if between and "/" in head else text)) from None
        finally:
            self._waiting -= 1


def recording_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the routes for viewing the recordings of *shelf*. *work* runs slow operations."""
    router = APIRouter(prefix="/recordings")

    @router.get("")
    async def recordings() -> recorded.RecordingsShown:
        """List the recordings of this table, newest first."""
        return recorded.list_recordings(*await work.do(shelf.listed))

    @router.get("/{name}", response_model=recorded.RecordedShown)
    async def recording(name: Name, lang: Language = "en") -> Response:
        """Return all steps of a recording. No image is decoded for this."""
        shown = await work.do(lambda: as_json(steps_of(shelf.opened(name)), lang))
        return Response(shown, media_type="application/json")

    @router.get("/{name}/steps/{number}")
    async def step(name: Name, number: RecordNumber) -> recorded.MomentShown:
        """Return the match and the layout after a step."""
        return await work.do(lambda: moment_of(shelf.opened(name), number))

    @router.get("/{name}/frames/{number}.jpg", responses=JPEG, response_class=Response)
    async def frame(name: Name, number: RecordNumber, request: Request) -> Response:
        """Return a recorded image; numbers start at 0."""
        jpeg = await work.do(lambda: frame_of(shelf.opened(name), number))
        return picture_answer(jpeg, etag_of(jpeg), request)

    @router.get("/{name}/steps/{number}/evidence.jpg", responses=JPEG, response_class=Response)
    async def evidence(name: Name, number: RecordNumber, request: Request) -> Response:
        """Return the image region from which a step was read, with its tile outlined."""
        jpeg = await work.do(lambda: step_crop(shelf.opened(name), number))
        return picture_answer(jpeg, etag_of(jpeg), request)

    return router


def scoring_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the routes for rescoring and exporting a recording. *work* runs slow operations."""
    router = APIRouter(prefix="/recordings")

    @router.post("/{name}/rescore")
    async def rescore(name: Name, body: Annotated[OtherRules, Body()]) -> RescoredShown:
        """Score a recording by other rules. The recording is not changed."""
        request = GameOverrides(body.rules, tuple(body.options))
        return await work.do(lambda: _rescored(shelf.opened(name), request))

    @router.get("/{name}/export.{kind}", responses=_FILE, response_class=Response)
    async def export(name: Name, kind: Literal["dgr", "csv", "json"]) -> Response:
        """Download a recording as a game record (dgr), a table of its plays (csv), or complete (json)."""
        text = await work.do(lambda: _exported(shelf.opened(name), kind))
        return as_file(text.encode("utf-8", "backslashreplace"), f"{Path(name).stem}.{kind}", _KINDS[kind])

    return router


def deletion_routes(shelf: Shelf, access: Access, work: OneAtATime) -> APIRouter:
    """Return the routes for deleting and restoring recordings, which require the PIN."""
    router = APIRouter(prefix="/recordings")
    insider = Depends(insider_by(access))

    @router.delete("/{name}", status_code=204, dependencies=[insider])
    async def delete(name: Name) -> Response:
        """Delete a recording. It can be restored for a week."""
        await work.do(lambda: set_aside(shelf.path_of(name)))
        return Response(status_code=204)

    @router.post("/{name}/restore", status_code=204, dependencies=[insider])
    async def restore(name: Name) -> Response:
        """Restore a deleted recording."""
        await work.do(lambda: put_back(shelf.folder, name))
        return Response(status_code=204)

    return router


def as_file(content: bytes, name: str, kind: str) -> Response:
    """Return a response that a browser saves as a file named *name*."""
    headers = {"content-disposition": f'attachment; filename="{_NOT_IN_NAMES.sub("-", name)}"'}
    return Response(content, media_type=kind, headers=headers)


def steps_of(one: OpenRecording) -> recorded.RecordedShown:
    """Convert all steps of a recording."""
    return recorded.steps_shown(one.game, is_running=one.is_running)


def moment_of(one: OpenRecording, number: int) -> recorded.MomentShown:
    """Return the match and layout after a step of a recording. Raises HTTPException 404 if there is no such step."""
    game = one.game
    if number >= len(game.steps):
        raise HTTPException(404, phrase("no such step"))
    zones = Zones() if game.start is None else game.start.zones
    with one.path.open("rb") as file:
        places = game.places_after(number, file)
    return recorded.moment_shown(number, game.state_after(number), places, zones, _picture_px(one))


def frame_of(one: OpenRecording, number: int) -> bytes:
    """Return an image of a recording as JPEG. Raises HTTPException 404 if there is no such image."""
    place = one.game.frame_place(number)
    if place is None:
        raise HTTPException(404, phrase("no such picture"))
    with one.path.open("rb") as file:
        payload = one.game.found.read(file, place).payload
    assert isinstance(payload, ImageMessage)  # the topic is CAMERA
    return payload.jpeg


def step_crop(one: OpenRecording, number: int) -> bytes:
    """Return the image region from which a step was read, as JPEG. Raises HTTPException 404 if there is none."""
    with one.path.open("rb") as file:
        found = one.game.crop_of(number, file)
    if found is None:
        raise HTTPException(404, phrase("no such picture"))
    return found.jpeg


def _picture_px(one: OpenRecording) -> tuple[int, int]:
    """Return the width and height of the first recorded image, or the usual size if it is unknown."""
    if one.game.frame_place(0) is None:
        return _USUAL_PX
    try:
        header = parse_header(frame_of(one, 0))
    except (HeaderError, OSError):
        return _USUAL_PX
    return (header.width_px, header.height_px)


def _rescored(one: OpenRecording, request: GameOverrides) -> RescoredShown:
    found = rescored(one.game, request)
    return RescoredShown(
        game=found.match.rules.name,
        players=[plain(name, MAX_NAME) for name, _ in found.now.totals],
        before=_score(found.before),
        now=_score(found.now),
        differences=[plain(sentence) for sentence in found.sentences],
        count=found.count,
    )


def _score(score: Score) -> ScoreShown:
    return ScoreShown(
        totals=[points for _, points in score.totals],
        winner=None if score.winner is None else plain(score.winner, MAX_NAME),
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
    """Return all routes for the recordings in *folder*, which need not exist yet. *clock* is monotonic, in ns."""
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
    """Totals of a player over all games, and averages with two decimals.

    *rating* and *deviation* are null before the first finished match. *streak* counts the last matches won in a row,
    or those lost as a negative number.
    """

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
    best_tile: str | None
    rating: int | None
    deviation: int | None
    streak: int
    longest_streak: int


@dataclass(frozen=True, slots=True)
class StatisticsShown:
    """Statistics of all players; *left* recordings are not included yet: repeat the request."""

    players: tuple[PlayerFiguresShown, ...]
    pairs: tuple[PairFigures, ...]
    games: int
    left: int


class Counting:
    """Computes the figures of recordings, and caches those of each until its size changes. Not thread-safe."""

    def __init__(self, shelf: Shelf, clock: Callable[[], int]) -> None:
        """Use the recordings of *shelf*. *clock* is monotonic, in nanoseconds."""
        self._shelf, self._clock = shelf, clock
        self._known: dict[tuple[str, int], GameFigures | None] = {}

    def one(self, name: str) -> GameFigures:
        """Return the figures of a recording, with display names."""
        found = figures_of(self._shelf.opened(name).game)
        return replace(found, players=names_of(found.players))

    def all(self) -> StatisticsShown:
        """Process recordings for up to _WORKS_NS, and return the statistics of all that have been processed so far."""
        surveys, _ = self._shelf.listed()
        # A recording that continues another contains the other's complete log, so the other is skipped.
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
        counted = (known.get(key) for key in reversed(wanted))  # oldest first
        games = [one for one in counted if one is not None]
        people = people_in(games)
        players = tuple(_shown(one) for one in people.players)
        return StatisticsShown(players, people.pairs, len(games), len(wanted) - len(known))

    def _counted(self, name: str) -> GameFigures | None:
        try:
            found, steps = self.one(name), self._shelf.opened(name).game.steps
        except (EngineError, NoRecordingError, OSError):
            return None
        is_short = not steps or steps[-1].since_ns < _MIN_MATCH_NS
        return None if is_short and not any(any(hand.points) for hand in found.hands) else found


def statistics_routes(shelf: Shelf, work: OneAtATime, clock: Callable[[], int]) -> APIRouter:
    """Return the routes for statistics."""
    router = APIRouter()
    counting = Counting(shelf, clock)

    @router.get("/statistics")
    async def statistics() -> StatisticsShown:
        """Return statistics of all players over all recordings of this table."""
        return await work.do(counting.all)

    @router.get("/recordings/{name}/statistics")
    async def statistics_of(name: Name) -> GameFigures:
        """Return the figures of one recorded game."""
        return await work.do(lambda: counting.one(name))

    return router


def _shown(one: PlayerFigures) -> PlayerFiguresShown:
    averages = (one.points_per_hand, one.points_per_play, one.knocks_per_hand)
    per_hand, per_play, knocks = (round(average, _PLACES) for average in averages)
    return PlayerFiguresShown(
        one.name,
        one.games,
        one.won,
        one.hands,
        one.plays,
        one.points,
        per_hand,
        per_play,
        knocks,
        0 if one.best is None else one.best.points,
        None if one.best is None else one.best.tile,
        None if one.rating is None else round(one.rating.value),
        None if one.rating is None else round(one.rating.deviation),
        one.streak,
        one.longest,
    )


def shared_hand_routes(shelf: Shelf, work: OneAtATime) -> APIRouter:
    """Return the route for shared hands."""
    router = APIRouter(prefix="/recordings")

    @router.get("/{name}/hand/{number}.html", responses=_HTML, response_class=Response)
    async def hand(
        name: Name,
        number: Annotated[int, InPath(ge=0, le=10**6)],
        pictures: Literal["with", "without"] = "with",
    ) -> Response:
        """Download a hand, numbered from 1, as one self-contained HTML file of at most 2 MB."""
        page = await work.do(lambda: _hand(shelf.opened(name), number, has_pictures=pictures == "with"))
        return as_file(page, f"{Path(name).stem}-hand-{number}.html", "text/html")

    return router


def _hand(one: OpenRecording, number: int, *, has_pictures: bool) -> bytes:
    shown = steps_of(one)
    own = [at for at, step in enumerate(shown.steps) if step.hand == number][: recorded.MAX_STEPS]
    if not own:
        raise HTTPException(404, phrase("no such hand"))
    steps = [shown.steps[at] for at in own]
    jpegs = [_jpeg(one, step) if has_pictures else None for step in steps]
    title = f"{shown.game}, hand {number}: {', '.join(shown.players)}"
    return recorded.shared_hand(title, steps, [moment_of(one, at) for at in own], jpegs)


def _jpeg(one: OpenRecording, step: recorded.RecordedStepShown) -> bytes | None:
    try:
        return None if step.frame is None else frame_of(one, step.frame)
    except RecordingError:
        return None
