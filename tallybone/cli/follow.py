"""Report the tiles on a live table, without a game: `tallybone play --rules free`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallybone.sources.camera import Camera
    from tallybone.sources.source import Shot
    from tallybone.terminal import Output
    from vision.reader.reader import Reader

_WAIT_S = 0.01


def follow(camera: Camera, reader: Reader, output: Output, *, is_in_play: bool, max_per_s: float, as_json: bool) -> int:
    """Report every tile that is placed, moved or removed, until the images end or the program is stopped.

    Nothing is recorded; use `tallybone replay --record` to record images and videos.

    Args:
        camera: Source of images.
        reader: Reads the tiles in them.
        output: Receives results and errors.
        is_in_play: Report the tiles in the first image as placed, instead of as part of the table.
        max_per_s: Maximum number of images processed per second. It doubles while something moves.
        as_json: Print a line of JSON per change and one with the result, instead of text.

    Returns:
        The exit code, always 0.
    """
    from tallybone.play.news import News
    from tallybone.replay.lines import Tally, clock_time, narrator_for
    from tallybone.replay.run import ReplayStep
    from tallybone.sources.camera import FrameLimiter
    from tallybone.terminal import stop_requested
    from vision.errors import VisionError
    from vision.tracking.perception import Perception, Start
    from vision.tracking.watch import Watch

    tally, news, narrate = Tally(), News(), narrator_for(has_game=False, as_json=as_json)
    watch = Watch(Perception(reader, Start.IN_PLAY if is_in_play else Start.EMPTY))
    limiter, numbers, begins_ns, is_moving = FrameLimiter(max_per_s), count(), None, False
    with stop_requested() as stop:
        shots = _shots(camera, output.complain, lambda: stop.is_requested, lambda: limiter.due_ns(is_moving=is_moving))
        for shot in shots:
            if not limiter.is_due(shot.t_ns, is_moving=is_moving):
                continue
            try:
                view = watch.feed(shot.frame)
            except (VisionError, OSError) as error:
                output.complain(error)
                continue
            is_moving = not view.is_settled
            begins_ns = shot.t_ns if begins_ns is None else begins_ns
            seen = ReplayStep(shot.t_ns, shot.t_ns - begins_ns, shot.name or str(next(numbers)), view)
            tally.add(seen)
            # Images of a camera have no names; use the time instead.
            for line in narrate(replace(seen, frame=shot.name or clock_time(seen.since_ns)), news.of(view)):
                output.write(line)
    output.write(json.dumps({"result": tally.result}) if as_json else tally.text)
    return 0


def _shots(
    camera: Camera, complain: Callable[[str], object], is_stopped: Callable[[], bool], due_ns: Callable[[], int]
) -> Iterator[Shot]:
    """Yield the images that are due, until the last one or a stop.

    Report a problem of the camera only when it changes.
    """
    from tallybone.sources.source import Shot

    problem, waiting = None, Event()
    while not is_stopped():
        given = camera.take(due_ns())
        if camera.problem is not None and camera.problem != problem:
            complain(camera.problem)
        problem = camera.problem
        if isinstance(given, Shot):
            yield given
        elif given is None and camera.is_over:
            return
        elif given is None:
            waiting.wait(_WAIT_S)
