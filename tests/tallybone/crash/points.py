"""Follows a match by processes that are killed one after the other, and compares recorded with displayed scores."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from engine import Phase, State
from tallybone.play.start import newest_left, state_of
from tallybone.recording.folder import recording_files
from tallybone.recording.format import RecordingError
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tests.tallybone.crash.disk import Death, Disk
from tests.tallybone.crash.game import Match, lines_on, scored, scored_on
from tests.tallybone.crash.life import Plan, run_and_exit

_SCREEN = "screen.jsonl"
# Limits of calls and processor time per process. Every fifth process ends soon after its start.
_MAX_CALLS, _FIRST_CALLS = 300, 40
_MAX_S = 0.6
# The limits increase after this number of processes without progress, as resuming also takes time.
_PATIENCE = 3
_MAX_LIVES = 2000


class Way(Enum):
    """Ways to end a process."""

    ANY_MOMENT = "kill -9 at any moment"
    IN_A_CALL = "kill -9 in the middle of a call to the disk"
    POWER = "power cut in the middle of a call to the disk"


@dataclass(slots=True)
class Tally:
    """Results.

    Attributes:
        points: Number of killed processes by way.
        matches: Number of completed matches.
        scores: Number of scores in these matches.
        problems: Lost, changed or doubled scores.
    """

    points: Counter[Way] = field(default_factory=Counter)
    matches: int = 0
    scores: int = 0
    problems: list[str] = field(default_factory=list)


def follow(match: Match, folder: Path, tally: Tally, seed: int, *, keep_bytes: int = 10**12) -> None:
    """Follow a match to its end, with a new process after each kill."""
    chance = random.Random(seed)
    folder.mkdir(parents=True)
    kept: tuple[tuple[int, int], ...] = ()
    logged = stalled = 0
    for number in range(_MAX_LIVES):
        way = chance.choice(list(Way))
        longer = 1 + stalled // _PATIENCE
        plan = Plan(folder, keep_bytes, folder / _SCREEN, _disk(way, chance, longer), chance.getrandbits(32))
        code = _run_process(match, plan, chance.uniform(0.0, _MAX_S * longer) if way is Way.ANY_MOMENT else None)
        where = f"{match.rules}, life {number} of seed {seed} ({way.value})"
        state = state_in(folder)
        tally.problems += (f"{where}: {text}" for text in wrong_with(match, state, (*kept, *scored_on(plan.shown))))
        tally.points[way] += code == -signal.SIGKILL
        if code == 0:
            tally.problems += _wrong_totals(match, plan.shown, where)
        if code not in (0, -signal.SIGKILL):
            tally.problems.append(f"{where}: it failed with {code}")
            return
        # After the end there is no match to resume.
        if code == 0 or is_over(state):
            tally.problems += () if state.log == match.state.log else (f"{where}: it ends with something left out",)
            break
        kept = scored(state)
        stalled = stalled + 1 if len(state.log) == logged else 0
        logged = len(state.log)
    else:
        tally.problems.append(f"{match.rules} of seed {seed}: it does not end")
    tally.matches += 1
    tally.scores += len(scored(match.state))


def state_in(folder: Path) -> State:
    """Return the match as resumed by the next process, or its final state."""
    try:
        return state_of(newest_left(folder)[1])
    except (RecordingError, FileNotFoundError):
        return next((state for state in _states_in(folder) if is_over(state)), State())


def is_over(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.MATCH_OVER


def _states_in(folder: Path) -> Iterator[State]:
    for path in recording_files(folder):
        with suppress(RecordingError):
            yield state_of(left_in(read_recording(path)))


def wrong_with(match: Match, state: State, shown: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield lost, changed and doubled scores in the recorded match."""
    kept, true = scored(state), scored(match.state)
    if kept[: len(shown)] != shown:
        yield f"{len(shown)} scores were shown, but {len(kept)} are kept: {shown[-3:]}, {kept[-3:]}"
    if kept != true[: len(kept)] or state.log != match.state.log[: len(state.log)]:
        yield "what is kept is not what happened"


def _wrong_totals(match: Match, screen: Path, where: str) -> Iterator[str]:
    """Yield a wrong final total of the last process."""
    totals = [line["totals"] for line in lines_on(screen) if line.get("totals")]
    assert match.state.game is not None
    if totals and tuple(totals[-1]) != match.state.game.totals:
        yield f"{where}: it ends with {totals[-1]} instead of {match.state.game.totals}"


def _disk(way: Way, chance: random.Random, longer: int) -> Disk | None:
    if way is Way.ANY_MOMENT:
        return None
    most = _FIRST_CALLS if chance.random() < 0.2 else _MAX_CALLS * longer
    death = Death.POWER if way is Way.POWER else Death.KILL
    return Disk(chance.randint(1, most), death, random.Random(chance.getrandbits(32)))


def _processor_s(pid: int) -> float:
    """Return the processor time of a process, so that its end does not depend on the load of the machine."""
    return time.clock_gettime((~pid << 3) | 2)


def _run_process(match: Match, plan: Plan, dies_after_s: float | None) -> int:
    """Run a process, and return its exit code, or a negative signal number."""
    plan.shown.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        run_and_exit(match, plan)
    if dies_after_s is not None:
        while _processor_s(pid) < dies_after_s:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)  # noqa: TID251 - the time of the kill is random
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
