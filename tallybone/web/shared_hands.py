"""The path of shared hands: one hand of a recording as a file that holds all it needs."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Response
from fastapi import Path as InPath

from tallybone.recording.format import RecordingError
from tallybone.web.one_at_a_time import OneAtATime
from tallybone.web.recordings import Name, as_file, frame_of, moment_of
from tallybone.web.recordings_shown import StepShown, steps_shown
from tallybone.web.shared_hand import MOST_STEPS, shared_hand
from tallybone.web.shelf import Opened, Shelf

_HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}


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


def _hand(one: Opened, number: int, *, has_pictures: bool) -> bytes:
    told = steps_shown(one.game, is_running=one.is_running)
    own = [at for at, step in enumerate(told.steps) if step.hand == number][:MOST_STEPS]
    if not own:
        raise HTTPException(404, "there is no such hand")
    steps = [told.steps[at] for at in own]
    jpegs = [_jpeg(one, step) if has_pictures else None for step in steps]
    title = f"{told.game}, hand {number}: {', '.join(told.players)}"
    return shared_hand(title, steps, [moment_of(one, at) for at in own], jpegs)


def _jpeg(one: Opened, step: StepShown) -> bytes | None:
    try:
        return None if step.frame is None else frame_of(one, step.frame)
    except RecordingError:
        return None
