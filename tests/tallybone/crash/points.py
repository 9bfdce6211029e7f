"""Lets a match be followed by processes that die one after the other, and compares what is kept with what was shown."""

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
from tests.tallybone.crash.life import Plan, die_some_day

_SCREEN = "screen.jsonl"
# A life has so many calls, or so much time of the processor, at most; every fifth one ends soon after its beginning.
_MOST_CALLS, _FIRST_CALLS = 300, 40
_MOST_S = 0.6
# After each so many lives that got no further the next may be longer by as much again: going on takes time as well.
_PATIENCE = 3
_MOST_LIVES = 2000


class Way(Enum):
    """How a process dies."""

    ANY_MOMENT = "kill -9 at any moment"
    IN_A_CALL = "kill -9 in the middle of a call to the disk"
    POWER = "power cut in the middle of a call to the disk"


@dataclass(slots=True)
class Tally:
    """What came of it.

    Attributes:
        points: How many processes died, by how.
        matches: How many matches were followed to their end.
        scores: How many scores these had.
        problems: What was lost, changed or doubled.
    """

    points: Counter[Way] = field(default_factory=Counter)
    matches: int = 0
    scores: int = 0
    problems: list[str] = field(default_factory=list)


def follow(match: Match, folder: Path, tally: Tally, seed: int, *, keep_bytes: int = 10**12) -> None:
    """Follow a match to its end through as many deaths as it takes."""
    chance = random.Random(seed)
    folder.mkdir(parents=True)
    kept: tuple[tuple[int, int], ...] = ()
    logged = no_further = 0
    for number in range(_MOST_LIVES):
        way = chance.choice(list(Way))
        longer = 1 + no_further // _PATIENCE
        plan = Plan(folder, keep_bytes, folder / _SCREEN, _disk(way, chance, longer), chance.getrandbits(32))
        code = _live(match, plan, chance.uniform(0.0, _MOST_S * longer) if way is Way.ANY_MOMENT else None)
        where = f"{match.rules}, life {number} of seed {seed} ({way.value})"
        state = state_in(folder)
        tally.problems += (f"{where}: {words}" for words in wrong_with(match, state, (*kept, *scored_on(plan.shown))))
        tally.points[way] += code == -signal.SIGKILL
        if code == 0:
            tally.problems += _wrong_totals(match, plan.shown, where)
        if code not in (0, -signal.SIGKILL):
            tally.problems.append(f"{where}: it failed with {code}")
            return
        # Who dies after the end has no match to go on with.
        if code == 0 or is_over(state):
            tally.problems += () if state.log == match.state.log else (f"{where}: it ends with something left out",)
            break
        kept = scored(state)
        no_further = no_further + 1 if len(state.log) == logged else 0
        logged = len(state.log)
    else:
        tally.problems.append(f"{match.rules} of seed {seed}: it does not come to its end")
    tally.matches += 1
    tally.scores += len(scored(match.state))


def state_in(folder: Path) -> State:
    """Return the match as the next process goes on with it, or as it is at its end."""
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
    """Yield what is lost, changed or doubled in what is kept."""
    kept, true = scored(state), scored(match.state)
    if kept[: len(shown)] != shown:
        yield f"{len(shown)} scores were shown, but {len(kept)} are kept: {shown[-3:]}, {kept[-3:]}"
    if kept != true[: len(kept)] or state.log != match.state.log[: len(state.log)]:
        yield "what is kept is not what happened"


def _wrong_totals(match: Match, screen: Path, where: str) -> Iterator[str]:
    """Yield what is wrong with the totals that the last process has shown last."""
    totals = [line["totals"] for line in lines_on(screen) if line.get("totals")]
    assert match.state.game is not None
    if totals and tuple(totals[-1]) != match.state.game.totals:
        yield f"{where}: it ends with {totals[-1]} instead of {match.state.game.totals}"


def _disk(way: Way, chance: random.Random, longer: int) -> Disk | None:
    if way is Way.ANY_MOMENT:
        return None
    most = _FIRST_CALLS if chance.random() < 0.2 else _MOST_CALLS * longer
    death = Death.POWER if way is Way.POWER else Death.KILL
    return Disk(chance.randint(1, most), death, random.Random(chance.getrandbits(32)))


def _lived_s(pid: int) -> float:
    """Return how much time of the processor a process has had: a busy machine must not change when it dies."""
    return time.clock_gettime((~pid << 3) | 2)


def _live(match: Match, plan: Plan, dies_after_s: float | None) -> int:
    """Let a process live, and return how it ended: its exit code, or less than 0 for a signal."""
    plan.shown.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        die_some_day(match, plan)
    if dies_after_s is not None:
        while _lived_s(pid) < dies_after_s:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)  # noqa: TID251 - the moment is what is chosen here
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
