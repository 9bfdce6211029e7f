"""Implement `tallybone replay`: process recorded input again, and print changes of the table or the game."""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from rich.progress import track

from engine import EngineError, State
from hardware.libraries import install_command
from tallybone.play.game import News
from tallybone.recording.folder import SUFFIX
from tallybone.recording.format import RecordingError
from tallybone.recording.reader import read_recording
from tallybone.replay import lines
from tallybone.replay.export import ExportFiles, exporting
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
from tallybone.terminal import Output, printable
from vision import VisionError
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

    Returns:
        The exit code as for `replay`, or 1 if there are differences.
    """
    settings = settings or ReplaySettings()

    def work(output: Output) -> int:
        recorded = lines.recorded_facts(path, output.complain)
        starts_ns: set[int] = set()  # time of the first item, and 0 for the step before that item
        through = partial(progress, output)
        with opened_replay(path, settings, output.complain, perception=perception, through=through) as run:
            steps = passing(run.steps, lambda step: starts_ns.add(step.t_ns - step.since_ns))
            now = list(lines.replayed_facts(steps))
        if lines.has_other_rules(path, settings.game):
            recorded, now = lines.by_play(recorded), lines.by_play(now)
        found = lines.differences(recorded, now)
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
    tally = lines.Tally()
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


def _print(steps: Iterable[ReplayStep], output: Output, *, has_game: bool, as_json: bool, from_ns: int) -> lines.Tally:
    tally, news, narrate = lines.Tally(), News(), lines.narrator_for(has_game=has_game, as_json=as_json)
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


@dataclass(frozen=True, slots=True)
class ReplayedRecording:
    """Result of the replay of a recording.

    Attributes:
        result: Figures for JSON, or None if the recording could not be replayed.
        text: Result for people.
        problems: Problems of the recording and its replay.
    """

    result: dict[str, Any] | None
    text: str
    problems: tuple[str, ...]


_SUMMED = "{recordings} recordings, {failed} could not be replayed, {damaged} damaged: {hands} hands, {plays} plays"
Task: TypeAlias = Callable[[Path], ReplayedRecording]
Spread: TypeAlias = Callable[[Task, Sequence[Path]], Iterator[ReplayedRecording]]
"""Function that runs a task for each path, and yields the results in the same order."""


class SpreadError(OSError):
    """A package for parallel or distributed work is not installed."""

    def __init__(self, missing: ModuleNotFoundError, extra: str) -> None:
        """Create the error, with the *extra* of Tallybone that installs the package."""
        super().__init__(f"{missing.name} is missing; it comes with: {install_command(extra)}")


def replay_many(
    folder: Path,
    spread: Spread,
    settings: ReplaySettings | None = None,
    *,
    is_log_only: bool = False,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Replay all recordings of a folder. Print a line for each, in the order of their names, and one with the sums.

    Args:
        folder: Folder of the recordings.
        spread: Function that distributes the work, from `over_cores` or `over_cluster`.
        settings: Settings of each replay.
        is_log_only: Apply only the rules to the logs.
        as_json: Print lines of JSON.
        out: Stream for the lines. By default stdout.
        err: Stream for progress and errors. By default stderr.

    Returns:
        The exit code: 0, or 1 if any recording had problems, or there is none.
    """
    task = partial(replay_quietly, settings=settings or ReplaySettings(), is_log_only=is_log_only)

    def work(output: Output) -> int:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX)
        if not paths:
            raise RecordingError(f"{folder}: expected recordings (*{SUFFIX}), but there is none")
        console = output.err_console
        quiet = not console.is_terminal
        done = track(spread(task, paths), "Replaying", len(paths), console=console, transient=True, disable=quiet)
        results = []
        for path, replayed in zip(paths, done, strict=True):
            results.append(replayed)
            for problem in replayed.problems:
                output.complain(problem)
            line = {"file": path.name, "result": replayed.result, "problems": list(replayed.problems)}
            output.write(json.dumps(line) if as_json else f"{printable(path.name)}: {replayed.text}")
        output.write(json.dumps({"result": _sum(results)}) if as_json else _SUMMED.format(**_sum(results)))
        return 0

    return run_command(work, out, err)


def replay_quietly(path: Path, *, settings: ReplaySettings, is_log_only: bool) -> ReplayedRecording:
    """Replay a recording without output. Errors are listed in the problems of the result."""
    problems: list[str] = []
    tally = lines.Tally()
    try:
        if is_log_only:
            for step in logged_steps(path, settings.game, problems.append):
                tally.add(step)
            return ReplayedRecording(tally.score.figures, tally.score.text, tuple(problems))
        with opened_replay(path, settings, problems.append) as run:
            for step in run.steps:
                tally.add(step)
        return ReplayedRecording(tally.result, tally.text, tuple(problems))
    except (EngineError, VisionError, OSError, ValueError) as error:
        return _failed(path, error, problems)


def over_cores(jobs: int) -> Spread:
    """Return a function that distributes work over *jobs* processes of this machine, or runs it in this one for 1."""

    def spread(task: Task, paths: Sequence[Path]) -> Iterator[ReplayedRecording]:
        if jobs == 1:
            yield from map(task, paths)
            return
        try:
            from joblib import Parallel, delayed
        except ModuleNotFoundError as error:
            raise SpreadError(error, "many") from None
        yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(task)(path) for path in paths)

    return spread


def over_cluster(address: str) -> Spread:
    """Return a function that distributes work over a Dask cluster.

    The workers need Tallybone and access to the same files.
    """

    def spread(task: Task, paths: Sequence[Path]) -> Iterator[ReplayedRecording]:
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise SpreadError(error, "dask") from None
        with Client(address) as client:
            waiting = [client.submit(task, path.absolute(), pure=False) for path in paths]
            for path, future in zip(paths, waiting, strict=True):
                failure = future.exception()
                yield future.result() if failure is None else _failed(path, failure, ())

    return spread


def _failed(path: Path, error: BaseException, problems: Sequence[str]) -> ReplayedRecording:
    reason = str(error) or type(error).__name__
    reason = reason if str(path) in reason else f"{path}: {reason}"
    return ReplayedRecording(None, "it could not be replayed", (*problems, reason))


def _sum(recordings: Sequence[ReplayedRecording]) -> dict[str, int]:
    """Return the sums over all recordings, and the numbers that failed, and that were replayed with problems."""
    results = [recording.result for recording in recordings if recording.result is not None]
    return {
        "recordings": len(recordings),
        "failed": len(recordings) - len(results),
        "damaged": sum(recording.result is not None and bool(recording.problems) for recording in recordings),
        **{name: sum(result.get(name, 0) for result in results) for name in ("frames", "hands", "plays")},
    }
