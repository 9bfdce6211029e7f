"""Replay many recordings in parallel, on the cores of this machine or on a Dask cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from rich.progress import track

from engine import EngineError
from hardware.libraries.installing import install_command
from tallybone.recording.folder import SUFFIX
from tallybone.recording.format import RecordingError
from tallybone.replay.lines import Tally
from tallybone.replay.recorded_game import logged_steps
from tallybone.replay.run import ReplaySettings, opened_replay, run_command
from tallybone.terminal import Output, printable
from vision.errors import VisionError


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
    tally = Tally()
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
