"""Implement `tallybone replay`: process recorded input again, and print changes of the table or the game."""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TextIO

from engine import State
from tallybone.play.news import News
from tallybone.recording.format import RecordingError
from tallybone.recording.reader import read_recording
from tallybone.replay.export import ExportFiles, exporting
from tallybone.replay.lines import (
    Tally,
    by_play,
    differences,
    has_other_rules,
    narrator_for,
    recorded_facts,
    replayed_facts,
)
from tallybone.replay.recorded_game import logged_steps
from tallybone.replay.run import (
    Pace,
    ReplaySettings,
    ReplayStep,
    at_pace,
    opened_replay,
    passing,
    progress,
    run_command,
)
from tallybone.sources.source import GameOverrides, Item, Source
from tallybone.terminal import Output
from vision.tracking.perception import Perception


def replay(
    path: Path,
    settings: ReplaySettings | None = None,
    *,
    pace: Pace | None = None,
    as_json: bool = False,
    exports: ExportFiles | None = None,
    perception: Perception | None = None,
    clock: ReplayClock | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Replay a table and print its events.

    Args:
        path: A recording (.mcap), a video, or a folder of pictures, replayed in the order of their names. Moving
            pictures are read when they have settled.
        settings: Settings of the replay. By default those of the recording.
        pace: Start time of the output, and speed. By default everything, at full speed.
        as_json: Print a line of JSON for each event and for the result, instead of sentences.
        exports: Files to write.
        perception: Reads the table. By default with the shipped reader.
        clock: Clock for the pace. By default that of the machine.
        out: Stream for events. By default stdout.
        err: Stream for progress and errors. By default stderr.

    Returns:
        The exit code: 0, 1 if anything cannot be read or recorded, or 2 if there is no such game.
    """
    settings, pace, clock = settings or ReplaySettings(), pace or Pace(), clock or ReplayClock()
    files = exports or ExportFiles()

    def work(output: Output) -> int:
        def through(source: Source, items: Iterator[Item]) -> Iterable[Item]:
            return written.through(at_pace(progress(output, source, items), pace, clock.now_ns, clock.wait))

        with (
            exporting(files, has_pictures=True) as written,
            opened_replay(path, settings, output.complain, perception=perception, through=through) as run,
        ):
            steps = passing(run.steps, written.add)
            tally = _print(steps, output, has_game=run.match is not None, as_json=as_json, from_ns=pace.from_ns)
            written.write_texts(run.source.start, tally.result)
        output.write(json.dumps({"result": tally.result}) if as_json else tally.text)
        return 0

    return run_command(work, out, err)


def replay_log(
    path: Path,
    settings: ReplaySettings | None = None,
    *,
    from_ns: int = 0,
    as_json: bool = False,
    exports: ExportFiles | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Apply the rules to the log of a recording again, without reading its pictures.

    Args:
        path: The recording.
        settings: Game and rules. By default those of the recording.
        from_ns: Print events from this time on, in nanoseconds since the first input.
        as_json: As for `replay`.
        exports: As for `replay`.
        out: As for `replay`.
        err: As for `replay`.

    Returns:
        The exit code, as for `replay`.
    """

    def work(output: Output) -> int:
        with exporting(exports or ExportFiles(), has_pictures=False) as written:
            steps = passing(logged_steps(path, (settings or ReplaySettings()).game, output.complain), written.add)
            score = _print(steps, output, has_game=True, as_json=as_json, from_ns=from_ns).score
            written.write_texts(read_recording(path).start, score.figures)
        output.write(json.dumps({"result": score.figures}) if as_json else score.text)
        return 0

    return run_command(work, out, err)


def compare(
    path: Path,
    settings: ReplaySettings | None = None,
    *,
    as_json: bool = False,
    perception: Perception | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Replay a recording and print the differences. Under other rules, compare only the points of each play.

    Args:
        path: The recording.
        settings: As for `replay`.
        as_json: As for `replay`.
        perception: As for `replay`.
        out: As for `replay`.
        err: As for `replay`.

    Returns:
        The exit code as for `replay`, or 1 if there are differences.
    """
    settings = settings or ReplaySettings()

    def work(output: Output) -> int:
        recorded = recorded_facts(path, output.complain)
        starts_ns: set[int] = set()  # time of the first item, and 0 for the step before that item
        through = partial(progress, output)
        with opened_replay(path, settings, output.complain, perception=perception, through=through) as run:
            steps = passing(run.steps, lambda step: starts_ns.add(step.t_ns - step.since_ns))
            now = list(replayed_facts(steps))
        if has_other_rules(path, settings.game):
            recorded, now = by_play(recorded), by_play(now)
        found = differences(recorded, now)
        equal = f"equal: {len(recorded)} events and outcomes"
        head = {"equal": not found, "differences": len(found), "recorded": len(recorded), "now": len(now)}
        output.write(json.dumps(head) if as_json else f"{len(found)} differences" if found else equal)
        for difference in found:
            output.write(difference.line() if as_json else difference.sentence(max(starts_ns, default=0)))
        return 1 if found else 0

    return run_command(work, out, err)


def replay_recording(path: str | PathLike[str], *, from_log: bool = False) -> State:
    """Return the match of a recording, with its log, after its pictures are read and scored again.

    Unusable parts of the recording are warnings.

    Args:
        path: A recording (.mcap), or a video or folder of pictures beside which a game is recorded.
        from_log: Apply the rules to the recorded log instead, which takes milliseconds.

    Raises:
        RecordingError: If it is no recording, or no score was kept.
        VisionError: If there is no picture.
        OSError: If it cannot be read.
    """
    tally = Tally()
    if from_log:
        for step in logged_steps(Path(path), GameOverrides(), warnings.warn):
            tally.add(step)
    else:
        with opened_replay(Path(path), ReplaySettings(), warnings.warn) as run:
            for step in run.steps:
                tally.add(step)
    if tally.session is None:
        raise RecordingError(f"{path}: expected a recording with a score")
    return tally.session.state


def _print(steps: Iterable[ReplayStep], output: Output, *, has_game: bool, as_json: bool, from_ns: int) -> Tally:
    """Print the steps from *from_ns* after the first input on, and return the tally of all steps."""
    tally, news, narrate = Tally(), News(), narrator_for(has_game=has_game, as_json=as_json)
    for step in steps:
        tally.add(step)
        zones = None if step.effects is None else step.effects.session.zones
        notes = news.of(step.view, zones)  # also for steps that are not printed
        for line in narrate(step, notes) if step.since_ns >= from_ns else ():
            output.write(line)
    return tally


class ReplayClock:
    """The clock of the machine."""

    def now_ns(self) -> int:
        """Return the time in nanoseconds of a monotonic clock."""
        return time.monotonic_ns()

    def wait(self, seconds: float) -> None:
        """Wait for *seconds*."""
        threading.Event().wait(seconds)
