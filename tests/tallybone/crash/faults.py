"""Short matches on a disk whose calls fail for a while, reads included: no older score comes back unnoticed."""

from __future__ import annotations

import errno
import io
import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from engine import Adjust, EngineError, MatchClose, Seat
from tallybone.choices import TileSet
from tallybone.play.recorder import LastingRecorder, Recorder, RecordingQuota
from tallybone.play.start import MatchPlan, new_game, recorder_of, resumed_game, session_of
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.crash.game import NumberReader, jpeg_of, picture_of
from vision.tracking.watch import Frame

SECOND = 1_000_000_000
_BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)
_CALLS = ("open", "write", "fsync", "ftruncate", "fstat", "unlink", "listdir")
_READS = ("file open", "file read", "fstat")
_STOPPED, _AGAIN = "WITHOUT a recording", "recording again, with all scores"
_IMAGE = picture_of(0)
_JPEG = jpeg_of(_IMAGE)
_MAX_LIVES, _MAX_STEPS, _MAX_CALLS, _MAX_FAILING = 4, 6, 400, 120


@dataclass(slots=True)
class Faults:
    """Calls to the disk, some of which fail.

    Attributes:
        failing: Names of failing calls, while *count* is in *during*.
        during: Range of numbers of failing calls.
        problem: Error number.
        count: Number of calls so far.
    """

    failing: frozenset[str] = frozenset()
    during: range = range(0)
    problem: int = errno.EIO
    count: int = 0

    def check(self, name: str) -> None:
        """Count a call, and let it fail if its time has come."""
        self.count += 1
        if self.count in self.during and name in self.failing:
            raise OSError(self.problem, os.strerror(self.problem))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Intercept the calls of this process."""
        faults, real_open = self, io.open

        class Raw(io.FileIO):
            def readinto(self, buffer: Any) -> Any:
                faults.check("file read")
                return super().readinto(buffer)

            def readall(self) -> Any:
                faults.check("file read")
                return super().readall()

        def opened_file(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
            faults.check("file open")
            return io.BufferedReader(Raw(file)) if mode == "rb" else real_open(file, mode, *args, **named)

        def faulty(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
            def checked(*args: Any, **named: Any) -> Any:
                faults.check(name)
                return call(*args, **named)

            return checked

        with ExitStack() as stack:
            stack.enter_context(patch.object(io, "open", opened_file))
            for name in _CALLS:
                stack.enter_context(patch.object(os, name, faulty(name, getattr(os, name))))
            yield


@dataclass(slots=True)
class FaultTally:
    """Results.

    Attributes:
        lives: Number of processes.
        resumed: Number of matches that were resumed with the right score.
        warned: Number of scores that were lost with a warning.
        silent: Scores that were lost or resumed wrong without a warning.
    """

    lives: int = 0
    resumed: int = 0
    warned: int = 0
    silent: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Left:
    """What the players know when a life ends: the match, its totals, and whether a warning holds."""

    match: str
    totals: tuple[int, ...]
    is_over: bool
    is_warned: bool


def follow_with_faults(folder: Path, seed: int, tally: FaultTally) -> None:
    """Play short matches in an empty folder, one process after the other, each with faults of the disk."""
    chance = random.Random(seed)
    lefts: list[_Left] = []
    for life in range(chance.randint(2, _MAX_LIVES)):
        with (faults := _faults(chance)).installed():
            game = _game_after(lefts, folder, f"seed {seed}, life {life}", tally)
            lefts.append(_played(game, folder, chance, faults, calm_s=None))
        tally.lives += 1
    _game_after(lefts, folder, f"seed {seed}, at the end", tally)


def end_after_fault(folder: Path, seed: int, tally: FaultTally) -> None:
    """Play in an empty folder with a failing disk, and end in order within 5 s after it has recovered."""
    chance = random.Random(seed)
    failing = frozenset(chance.sample(["write", "fsync", "ftruncate"], chance.randint(1, 3)))
    faults = Faults(failing | {chance.choice(["write", "fsync"])}, range(chance.randint(20, 60), 10**9))
    with faults.installed():
        left = _played(_new_game(), folder, chance, faults, calm_s=chance.uniform(0, 5))
    tally.lives += 1
    _game_after([replace(left, is_warned=False)], folder, f"seed {seed}", tally)


def _faults(chance: random.Random) -> Faults:
    kinds = [*_CALLS, *_READS]
    if chance.random() < 0.25:
        return Faults()
    failing = frozenset(chance.sample(kinds, chance.randint(1, len(kinds))))
    first = chance.randint(1, _MAX_CALLS)
    problem = chance.choice([errno.EIO, errno.EIO, errno.ENOSPC, errno.EROFS])
    return Faults(failing, range(first, first + chance.randint(1, _MAX_FAILING)), problem)


def _game_after(lefts: list[_Left], folder: Path, where: str, tally: FaultTally) -> MatchPlan:
    """Resume the newest unfinished match of *lefts*, and compare it. Without one, return a new match."""
    last = {left.match: left for left in lefts}
    open_lefts = [left for left in lefts if left is last[left.match] and not left.is_over]
    newest = open_lefts[-1] if open_lefts else None
    warned = {left.match for left in (*lefts[-1:], *last.values()) if left.is_warned}
    try:
        game = resumed_game(None, folder, began=_BEGAN, software="tallybone")
    except (OSError, EngineError) as error:
        if (
            newest is not None
            and not {newest.match, lefts[-1].match} & warned
            and str(error).endswith("of an unfinished match")
        ):
            tally.silent.append(f"{where}: {newest} is not resumed")
        tally.warned += newest is not None
        return _new_game()
    assert game.left is not None
    resumed = session_of(game.left, t_ns=0).state.game
    assert resumed is not None
    if newest is not None and (game.start.match, resumed.totals) == (newest.match, newest.totals):
        tally.resumed += 1
    elif {game.start.match, lefts[-1].match, newest and newest.match} & warned or game.left.passed_over:
        tally.warned += 1
    else:
        tally.silent.append(f"{where}: {resumed.totals} is resumed, but {newest} was shown")
    return game


def _new_game() -> MatchPlan:
    return new_game(
        "bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=_BEGAN, software="tallybone"
    )


def _played(game: MatchPlan, folder: Path, chance: random.Random, faults: Faults, *, calm_s: float | None) -> _Left:
    """Give points in a life, and end it.

    With *calm_s*, the disk recovers, so many seconds pass, and the life ends in order. Without, every second life is
    killed.
    """
    session = opened(game.rules, game.start.players)[0] if game.left is None else session_of(game.left, t_ns=0)
    sitting = Sitting(NumberReader(((),)).look, session)
    notes: list[str] = []
    with _open_descriptors() as descriptors:
        recorder = recorder_of(game, RecordingQuota(folder, 10**12), notes.append, t_ns=0)
        t_ns = 0
        for _ in range(chance.randint(1, _MAX_STEPS)):
            t_ns += chance.randint(1, 3) * SECOND
            _fed(recorder, sitting, Frame(_IMAGE, t_ns), t_ns)
            _fed(recorder, sitting, Adjust(Seat(chance.randint(0, 1)), chance.randint(1, 9), "given"), t_ns)
        if is_over := calm_s is None and chance.random() < 0.15:
            _fed(recorder, sitting, MatchClose(), t_ns)
        if calm_s is not None:
            faults.during = range(0)
            for _ in range(int(calm_s)):
                t_ns += SECOND
                _fed(recorder, sitting, Frame(_IMAGE, t_ns), t_ns)
        if calm_s is not None or chance.random() < 0.5:
            recorder.close()
        for descriptor in tuple(descriptors):  # the locks of a killed process end with it
            with suppress(OSError):
                os.close(descriptor)
    states = [_STOPPED in note for note in notes if _STOPPED in note or note == _AGAIN]
    assert sitting.session.state.game is not None
    assert isinstance(recorder, LastingRecorder)
    match = recorder._left.start.match
    return _Left(match, sitting.session.state.game.totals, is_over, is_warned=states[-1:] == [True])


def _fed(recorder: Recorder, sitting: Sitting, item: Frame | Adjust | MatchClose, t_ns: int) -> None:
    if isinstance(item, Frame):
        recorder.frame(t_ns, _JPEG, None)
    else:
        recorder.input(item, t_ns)
    recorder.happened(sitting.feed(item, t_ns))


@contextmanager
def _open_descriptors() -> Iterator[set[int]]:
    """Yield the set of descriptors that were opened for new files and not closed."""
    descriptors: set[int] = set()
    opening, closing = os.open, os.close

    def opened_to_write(path: Any, flags: int, *args: Any, **named: Any) -> int:
        descriptor: int = opening(path, flags, *args, **named)
        if flags & os.O_CREAT:
            descriptors.add(descriptor)
        return descriptor

    def closed(descriptor: int) -> None:
        descriptors.discard(descriptor)
        closing(descriptor)

    with patch.multiple(os, open=opened_to_write, close=closed):
        yield descriptors
