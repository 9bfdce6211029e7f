"""Replay many recordings at once, on the cores of this machine or on a Dask cluster; a broken one costs only itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from rich.progress import track

from engine import EngineError
from tallybone.recording.folder import SUFFIX
from tallybone.recording.format import RecordingError
from tallybone.replay.lines import Tally
from tallybone.replay.log import logged_steps
from tallybone.replay.pace import run_command
from tallybone.replay.run import ReplaySettings, opened_replay
from tallybone.terminal import Output, printable
from vision.errors import VisionError


@dataclass(frozen=True, slots=True)
class ReplayedRecording:
    """The result of one recording.

    Attributes:
        result: Its figures, for JSON; None where it could not be replayed.
        words: The same for people.
        problems: All that was wrong with it.
    """

    result: dict[str, Any] | None
    words: str
    problems: tuple[str, ...]


_SUMMED = "{recordings} recordings, {failed} could not be replayed, {damaged} damaged: {hands} hands, {plays} plays"
Task: TypeAlias = Callable[[Path], ReplayedRecording]
Spread: TypeAlias = Callable[[Task, Sequence[Path]], Iterator[ReplayedRecording]]
"""Runs a task for each path, somewhere, and yields the results in their order."""


class SpreadError(OSError):
    """The package that would spread the work is not installed."""

    def __init__(self, missing: ModuleNotFoundError, extra: str) -> None:
        """Say with which *extra* it comes."""
        super().__init__(f"{missing.name} is missing; it comes with: pip install 'tallybone[{extra}]'")


def replay_many(
    folder: Path,
    spread: Spread,
    wishes: ReplaySettings | None = None,
    *,
    is_log_only: bool = False,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Replay all recordings of a folder and print a line for each, in name order, and one for all.

    Args:
        folder: Where they are.
        spread: Where the work is done: `over_cores` or `over_cluster`.
        wishes: How each is followed.
        is_log_only: Give only their logs to the rules.
        as_json: Print lines of JSON.
        out: Where lines go, by default stdout.
        err: Where progress and complaints go, by default stderr.

    Returns:
        The exit code: 0, or 1 if anything was wrong with any of them.
    """
    task = partial(replay_quietly, wishes=wishes or ReplaySettings(), is_log_only=is_log_only)

    def work(output: Output) -> int:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX)
        if not paths:
            raise RecordingError(f"{folder}: expected recordings (*{SUFFIX}), but there is none")
        console = output.err_console
        quiet = not console.is_terminal
        done = track(spread(task, paths), "Replaying", len(paths), console=console, transient=True, disable=quiet)
        every = []
        for path, one in zip(paths, done, strict=True):
            every.append(one)
            for problem in one.problems:
                output.complain(problem)
            line = {"file": path.name, "result": one.result, "problems": list(one.problems)}
            output.write(json.dumps(line) if as_json else f"{printable(path.name)}: {one.words}")
        output.write(json.dumps({"result": _sum(every)}) if as_json else _SUMMED.format(**_sum(every)))
        return 0

    return run_command(work, out, err)


def replay_quietly(path: Path, *, wishes: ReplaySettings, is_log_only: bool) -> ReplayedRecording:
    """Replay one recording and return its result, whatever is wrong with it."""
    problems: list[str] = []
    tally = Tally()
    try:
        if is_log_only:
            for seen in logged_steps(path, wishes.game, problems.append):
                tally.add(seen)
            return ReplayedRecording(tally.score.figures, tally.score.words, tuple(problems))
        with opened_replay(path, wishes, problems.append) as run:
            for seen in run.steps:
                tally.add(seen)
        return ReplayedRecording(tally.result, tally.words, tuple(problems))
    except (EngineError, VisionError, OSError, ValueError) as error:
        return _failed(path, error, problems)


def over_cores(jobs: int) -> Spread:
    """Return a function that spreads work over so many processes of this machine."""

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
    """Return a function that spreads work over a Dask cluster, whose workers have Tallybone and see the same files."""

    def spread(task: Task, paths: Sequence[Path]) -> Iterator[ReplayedRecording]:
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise SpreadError(error, "dask") from None
        with Client(address) as client:
            waiting = [client.submit(task, path.absolute(), pure=False) for path in paths]
            for path, future in zip(paths, waiting, strict=True):
                wrong = future.exception()
                yield future.result() if wrong is None else _failed(path, wrong, ())

    return spread


def _failed(path: Path, error: BaseException, problems: Sequence[str]) -> ReplayedRecording:
    why = str(error) or type(error).__name__
    why = why if str(path) in why else f"{path}: {why}"
    return ReplayedRecording(None, "it could not be replayed", (*problems, why))


def _sum(every: Sequence[ReplayedRecording]) -> dict[str, int]:
    """Return how many there were, how many of them failed or had problems, and what is in them."""
    results = [one.result for one in every if one.result is not None]
    return {
        "recordings": len(every),
        "failed": len(every) - len(results),
        "damaged": sum(one.result is not None and bool(one.problems) for one in every),
        **{name: sum(result.get(name, 0) for result in results) for name in ("frames", "hands", "plays")},
    }
