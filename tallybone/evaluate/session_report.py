"""Judge many recordings; add up and print their figures and mistakes."""

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
from tallybone.evaluate.hands import HandJudged
from tallybone.evaluate.sessions import SessionJudged, judge_session
from tallybone.evaluate.truth import TruthError
from tallybone.files import sentence_of
from tallybone.recording.folder import SUFFIX
from tallybone.terminal import TableStyle, add_row, percent, print_table, printable
from vision.errors import VisionError

_STYLE = TableStyle(least_name=20, most_name=32, gap=1)
_NS_PER_S = 1_000_000_000

Judge: TypeAlias = Callable[[Path], SessionJudged]


@dataclass(frozen=True, slots=True)
class Figures:
    """How recordings were followed, added up.

    Attributes:
        sessions, winners_right: Recordings, and those with the right winner.
        hands, totals_right, ends_right: Hands, those with all totals right, and those that ended as they did.
        unflagged: Hands that were left with a wrong score of which nothing was asked, irregular or inferred.
        plays: Tiles that were laid.
        tiles_right, places_right, seats_right, points_right, wholly_right: Those of them that were scored so.
        spare: Tiles that were scored and never laid.
        asked, answered: Questions.
        eye_found, eye_right, eye_spare: The tiles as the eye alone read them.
        latencies_ms: From the last motion to the score, of each play.
        settling_ms: The part of it until the frame that showed the play.
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
        """Return the figures of recordings."""
        judged = tuple(sessions)
        hands = [hand for one in judged for hand in one.hands]
        plays = [play for hand in hands for play in hand.plays]
        latencies = [latency for one in judged for latency in one.latencies]
        return cls(
            sessions=len(judged),
            winners_right=sum(one.is_winner_right for one in judged),
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
            asked=sum(one.asked for one in judged),
            answered=sum(one.answered for one in judged),
            eye_found=sum(one.eye.found for one in judged),
            eye_right=sum(one.eye.right for one in judged),
            eye_spare=sum(one.eye.spare for one in judged),
            latencies_ms=tuple(one.whole_ms for one in latencies),
            settling_ms=tuple(one.settled_ms for one in latencies),
        )

    def share(self, right: int) -> float | None:
        """Return the share of right plays, spare ones counted as wrong; None without any."""
        plays = self.plays + self.spare
        return right / plays if plays else None

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it, for JSON, latencies as median and 95th percentile."""
        said = asdict(self)
        for name in ("latencies_ms", "settling_ms"):
            middle, late = percentiles(said.pop(name))
            said[name] = {"median": middle, "p95": late}
        return said


def percentiles(values: Iterable[float]) -> tuple[float | None, float | None]:
    """Return the median and the 95th percentile; None of nothing."""
    listed = list(values)
    if not listed:
        return None, None
    return round(median(listed), 1), round(float(np.percentile(listed, 95)), 1)


def is_unflagged(hand: HandJudged) -> bool:
    """Return whether a hand was left with a wrong score, and nothing of it was asked or called irregular."""
    return not hand.is_score_right and not hand.is_flagged


@dataclass(frozen=True, slots=True)
class WrongPlay:
    """Something that was scored wrongly.

    Attributes:
        t_ns: When it was left so.
        words: The fault in words.
        is_flagged: Whether something of the hand was asked, irregular or inferred then.
    """

    t_ns: int
    words: str
    is_flagged: bool


def wrong_in(session: SessionJudged) -> Iterator[WrongPlay]:
    """Yield all that was scored wrongly."""
    for hand in session.hands:
        for play in hand.plays:
            if not play.is_wholly_right:
                yield WrongPlay(hand.closed_ns, str(play), hand.is_flagged)
        for spare in hand.spare:
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: {spare} was never laid", hand.is_flagged)
        if hand.seen is None:
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: nobody noticed that it was played", hand.is_flagged)
        elif not (hand.are_totals_right and hand.is_end_right):
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: {_end(hand)}", hand.is_flagged)


def _end(hand: HandJudged) -> str:
    assert hand.seen is not None  # the caller looks
    ended, scored = (
        "it is not over" if one.over is None else f"{one.over.ending.value}, {one.over.result.points} points"
        for one in (hand.truth, hand.seen)
    )
    return f"{_points(hand.truth.gained)} to gain, {ended}; scored: {_points(hand.seen.gained)}, {scored}"


def _points(gained: tuple[int, ...]) -> str:
    return " : ".join(map(str, gained))


def session_line(session: SessionJudged) -> dict[str, Any]:
    """Return all figures of a recording, for JSON."""
    rules = session.match.rules
    wrong = [{"t_ns": one.t_ns, "what": one.words, "flagged": one.is_flagged} for one in wrong_in(session)]
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
    """Print all figures, the most general last, and each mistake."""
    total = batch.total
    for title, groups in (
        ("By game", batch.by(lambda one: one.game)),
        ("By look", batch.by(lambda one: one.look or "not said")),
        ("By difficulty", {**batch.by(lambda one: one.difficulty or "not said"), "all": total}),
    ):
        print_table(console, f"{title}: plays with rules, in per cent", _plays(groups))
    title = "Hands, what was asked, and how long it took from the last motion to the score"
    print_table(console, title, _rest({**batch.by(lambda one: one.game), "all": total}))
    _print_wrong(console, batch)


def _plays(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "plays", "wholly\nright", "\ntile", "\nplace", "\nseat", "\npoints", "eye:\nfound", "tile\nright"
    )
    for name, one in groups.items():
        right = (one.wholly_right, one.tiles_right, one.places_right, one.seats_right, one.points_right)
        eye = (one.eye_found / one.plays, one.eye_right / one.plays) if one.plays else (None, None)
        add_row(table, name, str(one.plays), *(percent(one.share(count)) for count in right), *map(percent, eye))
    return table


def _rest(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "\nhands", "totals\nright", "ended\nright", "not\nflagged", "\nasked", "median\nms", "95 %\nms"
    )
    for name, one in groups.items():
        counts = (one.hands, one.totals_right, one.ends_right, one.unflagged, one.asked)
        times = ("-" if ms is None else f"{ms:.0f}" for ms in percentiles(one.latencies_ms))
        add_row(table, name, *map(str, counts), *times)
    return table


def _print_wrong(console: Console, batch: JudgedBatch) -> None:
    """Print each mistake as a line."""
    wrong = [(session.path.name, one) for session in batch.judged for one in wrong_in(session)]
    console.print(f"Wrong: {len(wrong)}" if wrong else "Nothing was wrong", style="bold")
    for name, one in wrong:
        seconds = one.t_ns // _NS_PER_S
        flag = "flagged" if one.is_flagged else "NOT FLAGGED"
        line = f"{printable(name)} {seconds // 60}:{seconds % 60:02}: {printable(one.words)} ({flag})"
        console.print(Text(line), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """Recordings that were judged.

    Attributes:
        judged: Those that could be, in the order in which they were named.
        failures: The faults of the others, and the parts of the judged ones that could not be used.
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


def recordings_named(paths: Sequence[Path]) -> tuple[Path, ...]:
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


def judge_recordings(paths: Sequence[Path], *, jobs: int, err: Console, judge: Judge = judge_session) -> JudgedBatch:
    """Judge recordings in several processes, and show the progress on a terminal.

    Args:
        paths: The recordings.
        jobs: How many are judged at once.
        err: Where the progress is shown.
        judge: Judges one; a function of a module, or a `partial` of one, to reach other processes.
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
    return JudgedBatch(tuple(judged), tuple(failures))


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
    """Return a judged recording, or its fault in words."""
    try:
        return judge(path)
    except (OSError, VisionError, EngineError) as error:
        said = sentence_of(error)
        return said if str(path) in said else f"{path}: {said}"
