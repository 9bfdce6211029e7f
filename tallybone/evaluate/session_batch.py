"""Many recordings judged, one after the other or by several processes; one that cannot be judged costs only itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import cv2
from rich.console import Console
from rich.progress import track

from engine import EngineError
from tallybone.evaluate.session_report import Figures
from tallybone.evaluate.sessions import SessionJudged, judge_session
from tallybone.evaluate.truth import TruthError
from tallybone.recording.folder import SUFFIX
from vision.errors import VisionError

Judge: TypeAlias = Callable[[Path], SessionJudged]


@dataclass(frozen=True, slots=True)
class Batch:
    """Recordings that were judged.

    Attributes:
        judged: Those that could be, in the order in which they were named.
        failures: What is wrong with the others, and what in those could not be used.
    """

    judged: tuple[SessionJudged, ...]
    failures: tuple[str, ...]

    @property
    def total(self) -> Figures:
        """The figures of all."""
        return Figures.of(self.judged)

    def by(self, name: Callable[[SessionJudged], str]) -> dict[str, Figures]:
        """Return the figures of each group that *name* gives the same name, in the order of names."""
        groups: dict[str, list[SessionJudged]] = {}
        for one in self.judged:
            groups.setdefault(name(one), []).append(one)
        return {said: Figures.of(groups[said]) for said in sorted(groups)}


def recordings_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the recordings that are named, and those in the folders that are.

    Raises:
        TruthError: If there is none in a folder.
        OSError: If a folder cannot be looked into.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(one for one in path.iterdir() if one.suffix.lower() == SUFFIX)
        if not inside:
            raise TruthError(f"{path}: expected recordings ({SUFFIX}) in it, but there are none")
        found += inside
    return tuple(found)


def judge_recordings(paths: Sequence[Path], *, jobs: int, err: Console, judge: Judge = judge_session) -> Batch:
    """Judge recordings by so many processes, and show how far it is where somebody watches.

    Args:
        paths: The recordings.
        jobs: How many are judged at once.
        err: Where the progress is shown.
        judge: What judges one; a function of a module, or a `partial` of one, to reach other processes.
    """
    found = _outcomes(paths, partial(_outcome, judge), jobs)
    outcomes = track(found, "Judging", len(paths), console=err, transient=True, disable=not err.is_terminal)
    judged: list[SessionJudged] = []
    failures: list[str] = []
    for outcome in outcomes:
        if isinstance(outcome, str):
            failures.append(outcome)
        else:
            judged.append(outcome)
            failures += outcome.complaints
    return Batch(tuple(judged), tuple(failures))


def _outcomes(
    paths: Sequence[Path], outcome: Callable[[Path], SessionJudged | str], jobs: int
) -> Iterator[SessionJudged | str]:
    if jobs == 1 or len(paths) < 2:
        yield from map(outcome, paths)
        return
    # Spawned, not forked: OpenCV's threads, once used, do not survive a fork. One thread each: they share the cores.
    with ProcessPoolExecutor(min(jobs, len(paths)), get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        yield from pool.map(outcome, paths)


def _outcome(judge: Judge, path: Path) -> SessionJudged | str:
    """Return a judged recording, or what is wrong with it."""
    try:
        return judge(path)
    except OSError as error:
        return str(error) if isinstance(error, VisionError) else f"{path}: it cannot be read: {error.strerror or error}"
    except (VisionError, EngineError) as error:
        said = str(error)
        return said if str(path) in said else f"{path}: {said}"
