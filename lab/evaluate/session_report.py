"""Evaluate recordings, and report their combined figures and mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import cv2
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from engine import EngineError
from lab.evaluate.sessions import SessionJudged, TruthError, judge_session
from lab.evaluate.shadow import print_table
from lab.matches.judged_hands import is_unflagged, wrong_plays_in
from tallybone.files import sentence_of
from tallybone.recording.folder import SUFFIX
from tallybone.terminal import printable
from vision import VisionError

_NS_PER_S = 1_000_000_000

Judge: TypeAlias = Callable[[Path], SessionJudged]


@dataclass(frozen=True, slots=True)
class TableStyle:
    """Column widths of a table.

    Attributes:
        min_name, max_name: Minimum and maximum width of names, in cells. Longer names are cut.
        gap: Number of cells between columns.
    """

    min_name: int
    max_name: int
    gap: int

    def table(self, first: str, *others: str) -> Table:
        """Return an empty table with headings."""
        table = Table(box=None, pad_edge=False, padding=(0, self.gap, 0, 0), header_style="dim")
        table.add_column(first, min_width=self.min_name, max_width=self.max_name, no_wrap=True, overflow="ellipsis")
        for heading in others:
            table.add_column(heading, justify="right", no_wrap=True)
        return table


_STYLE = TableStyle(min_name=20, max_name=32, gap=1)


def add_row(table: Table, name: str, *cells: str) -> None:
    """Add a row. A row named "all" is bold."""
    table.add_row(Text(printable(name)), *cells, style="bold" if name == "all" else None)


def percent(share: float | None) -> str:
    """Return a fraction as a percentage without the sign, "-" for None.

    >>> percent(0.995), percent(None)
    ('99.5', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}"


@dataclass(frozen=True, slots=True)
class Figures:
    """Combined figures of recordings.

    Attributes:
        sessions, winners_right: Recordings, and those with the right winner.
        hands, totals_right, ends_right: Hands, those with the right points for all players, and those with the right
            outcome.
        unflagged: Hands with a wrong score but without an open question or an irregular or inferred action at their
            end.
        plays: True plays and stacks.
        tiles_right, places_right, seats_right, points_right, wholly_right: Plays scored correctly in each respect.
        eye_found, eye_right, eye_spare: Accuracy of the reader without the rules.
        latencies_ms: Delay of each play from the last motion to the score.
        settling_ms: Part of each delay, up to the frame in which the play was detected.
    """

    sessions: int
    winners_right: int
    hands: int
    totals_right: int
    ends_right: int
    unflagged: int
    plays: int
    tiles_right: int
    places_right: int
    seats_right: int
    points_right: int
    wholly_right: int
    spare: int
    asked: int
    answered: int
    eye_found: int
    eye_right: int
    eye_spare: int
    latencies_ms: tuple[float, ...]
    settling_ms: tuple[float, ...]

    @classmethod
    def of(cls, sessions: Iterable[SessionJudged]) -> Figures:
        """Return the combined figures of *sessions*."""
        judged = tuple(sessions)
        hands = [hand for session in judged for hand in session.hands]
        plays = [play for hand in hands for play in hand.plays]
        latencies = [latency for session in judged for latency in session.latencies]
        return cls(
            sessions=len(judged),
            winners_right=sum(session.is_winner_right for session in judged),
            hands=len(hands),
            totals_right=sum(hand.are_totals_right for hand in hands),
            ends_right=sum(hand.is_end_right for hand in hands),
            unflagged=sum(is_unflagged(hand) for hand in hands),
            plays=len(plays),
            tiles_right=sum(play.is_tile_right for play in plays),
            places_right=sum(play.is_place_right for play in plays),
            seats_right=sum(play.is_seat_right for play in plays),
            points_right=sum(play.are_points_right for play in plays),
            wholly_right=sum(play.is_wholly_right for play in plays),
            spare=sum(len(hand.spare) for hand in hands),
            asked=sum(session.asked for session in judged),
            answered=sum(session.answered for session in judged),
            eye_found=sum(session.reader.found for session in judged),
            eye_right=sum(session.reader.right for session in judged),
            eye_spare=sum(session.reader.spare for session in judged),
            latencies_ms=tuple(latency.whole_ms for latency in latencies),
            settling_ms=tuple(latency.settled_ms for latency in latencies),
        )

    def share(self, right: int) -> float | None:
        """Return *right* as a share of plays, with spare tiles counted as wrong plays.

        None without plays and spare tiles.
        """
        plays = self.plays + self.spare
        return right / plays if plays else None

    @property
    def as_json(self) -> dict[str, Any]:
        """All figures as a JSON object, with the median and 95th percentile of delays."""
        values = asdict(self)
        for name in ("latencies_ms", "settling_ms"):
            middle, late = percentiles(values.pop(name))
            values[name] = {"median": middle, "p95": late}
        return values


def percentiles(values: Iterable[float]) -> tuple[float | None, float | None]:
    """Return the median and the 95th percentile, rounded to 0.1. Both are None without values."""
    listed = list(values)
    if not listed:
        return None, None
    return round(median(listed), 1), round(float(np.percentile(listed, 95)), 1)


def session_line(session: SessionJudged) -> dict[str, Any]:
    """Return all figures of a recording as a JSON object."""
    rules = session.match.rules
    wrong = [
        {"t_ns": wrong.t_ns, "what": wrong.text, "flagged": wrong.is_flagged} for wrong in wrong_plays_in(session.hands)
    ]
    return {
        "file": session.path.name,
        "game": rules.name,
        "players": len(session.match.players),
        "highest_double": rules.max_pips,
        "look": session.look,
        "difficulty": session.difficulty,
        "seconds": round(session.seconds, 3),
        **Figures.of([session]).as_json,
        "true_totals": session.true_totals,
        "totals": session.seen_totals,
        "wrong": wrong,
        "complaints": session.complaints,
    }


def print_batch(console: Console, batch: JudgedBatch) -> None:
    """Print tables of all figures, the most general last, then a line for each mistake."""
    total = batch.total
    for title, groups in (
        ("By game", batch.by(lambda session: session.game)),
        ("By look", batch.by(lambda session: session.look or "not said")),
        ("By difficulty", {**batch.by(lambda session: session.difficulty or "not said"), "all": total}),
    ):
        print_table(console, f"{title}: plays with rules, in per cent", _plays(groups))
    title = "Hands, what was asked, and how long it took from the last motion to the score"
    print_table(console, title, _rest({**batch.by(lambda session: session.game), "all": total}))
    # Print each mistake on a line.
    mistakes = [(session.path.name, wrong) for session in batch.judged for wrong in wrong_plays_in(session.hands)]
    console.print(f"Wrong: {len(mistakes)}" if mistakes else "Nothing was wrong", style="bold")
    for name, wrong in mistakes:
        seconds = wrong.t_ns // _NS_PER_S
        flag = "flagged" if wrong.is_flagged else "NOT FLAGGED"
        line = f"{printable(name)} {seconds // 60}:{seconds % 60:02}: {printable(wrong.text)} ({flag})"
        console.print(Text(line), soft_wrap=True)


def _plays(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "plays", "wholly\nright", "\ntile", "\nplace", "\nseat", "\npoints", "eye:\nfound", "tile\nright"
    )
    for name, each in groups.items():
        right = (each.wholly_right, each.tiles_right, each.places_right, each.seats_right, each.points_right)
        reader = (each.eye_found / each.plays, each.eye_right / each.plays) if each.plays else (None, None)
        add_row(table, name, str(each.plays), *(percent(each.share(count)) for count in right), *map(percent, reader))
    return table


def _rest(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "\nhands", "totals\nright", "ended\nright", "not\nflagged", "\nasked", "median\nms", "95 %\nms"
    )
    for name, each in groups.items():
        counts = (each.hands, each.totals_right, each.ends_right, each.unflagged, each.asked)
        times = ("-" if ms is None else f"{ms:.0f}" for ms in percentiles(each.latencies_ms))
        add_row(table, name, *map(str, counts), *times)
    return table


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """Evaluated recordings.

    Attributes:
        judged: Evaluations, in the order of the given paths.
        failures: Messages about recordings that could not be evaluated, and about unusable parts of the others.
    """

    judged: tuple[SessionJudged, ...]
    failures: tuple[str, ...]

    @property
    def total(self) -> Figures:
        """Combined figures of all recordings."""
        return Figures.of(self.judged)

    def by(self, name: Callable[[SessionJudged], str]) -> dict[str, Figures]:
        """Return the combined figures of each group of recordings with the same *name*, sorted by it."""
        groups: dict[str, list[SessionJudged]] = {}
        for session in self.judged:
            groups.setdefault(name(session), []).append(session)
        return {group: Figures.of(groups[group]) for group in sorted(groups)}


def expand_folders(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return *paths* with each folder replaced by its recordings, sorted by name.

    Raises:
        TruthError: If a folder contains no recordings.
        OSError: If a folder cannot be read.
    """
    recordings: list[Path] = []
    for path in paths:
        if not path.is_dir():
            recordings.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix.lower() == SUFFIX)
        if not inside:
            raise TruthError(f"{path}: expected recordings ({SUFFIX}) in it, but there are none")
        recordings += inside
    return tuple(recordings)


def judge_recordings(paths: Sequence[Path], *, jobs: int, err: Console, judge: Judge = judge_session) -> JudgedBatch:
    """Evaluate recordings in up to *jobs* processes, with a progress bar on a terminal.

    Args:
        judge: Picklable function that evaluates a recording: a module-level function or a `partial` of one. If it
            raises OSError, VisionError or EngineError, the message goes to `JudgedBatch.failures`.
    """
    outcomes = _outcomes(paths, partial(_outcome, judge), jobs)
    judged: list[SessionJudged] = []
    failures: list[str] = []
    for outcome in track(outcomes, "Judging", len(paths), console=err, transient=True, disable=not err.is_terminal):
        if isinstance(outcome, str):
            failures.append(outcome)
        else:
            judged.append(outcome)
            failures += outcome.complaints
    return JudgedBatch(tuple(judged), tuple(failures))


def _outcomes(
    paths: Sequence[Path], outcome: Callable[[Path], SessionJudged | str], jobs: int
) -> Iterator[SessionJudged | str]:
    if jobs == 1 or len(paths) < 2:
        yield from map(outcome, paths)
        return
    # Start processes by spawning, because OpenCV's threads do not survive a fork. Each process uses a single OpenCV
    # thread, because the processes already share the cores.
    with ProcessPoolExecutor(min(jobs, len(paths)), get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        yield from pool.map(outcome, paths)


def _outcome(judge: Judge, path: Path) -> SessionJudged | str:
    """Return the evaluation of a recording, or an error message."""
    try:
        return judge(path)
    except (OSError, VisionError, EngineError) as error:
        message = sentence_of(error)
        return message if str(path) in message else f"{path}: {message}"
