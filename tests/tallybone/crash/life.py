"""A process that follows a match from the end of its predecessor to its own end."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from hardware.table import HardwareSettings
from tallybone.choices import TileSet
from tallybone.play.counts import Counts
from tallybone.play.display import JsonDisplay
from tallybone.play.parts import open_parts
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import MatchPlan, PreparedMatch, new_game, resumed_game, session_of
from tallybone.play.table import LiveTable, NoPage, TableParts
from tallybone.recording.format import RecordingError
from tallybone.session.session import Announcement
from tallybone.session.sitting import Sitting, opened
from tallybone.sources.camera import PacedCamera
from tallybone.terminal import Output
from tests.tallybone.crash.disk import Disk
from tests.tallybone.crash.game import Match, NumberReader
from tests.tallybone.serve.served import Blind
from vision.reader.reader import Reader

_YEAR_S = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Plan:
    """Parameters of a process.

    Attributes:
        folder: The folder of recordings.
        keep_bytes: Size limit of the recordings.
        shown: The file that replaces the screen.
        disk: Kills the process. None without a kill by the disk.
        seed: Random seed for the clocks.
    """

    folder: Path
    keep_bytes: int
    shown: Path
    disk: Disk | None
    seed: int


def run_match(match: Match, plan: Plan) -> None:
    """Follow the match to its end in this process, like `tallybone play --resume`."""
    chance = random.Random(plan.seed)
    # Until the network is up, the wall clock may be wrong by years. The monotonic clock restarts with each start.
    began = datetime.fromtimestamp(1_800_000_000 + chance.randint(-30, 30) * _YEAR_S, UTC)
    t_ns = chance.randint(0, 10**15)
    game = _game(match, plan.folder, began)
    logged = 0 if game.left is None else len(game.left.events)
    items = match.shown(match.resumes_at(logged), t_ns, is_again=True)
    clock = partial(int, t_ns)
    around = TableParts(
        camera=PacedCamera(items, clock, speed=0),
        parts=open_parts(HardwareSettings(), seats=len(match.players), clock=clock, has_panel=False),
        page=NoPage(),
        clock=clock,
        room=RecordingQuota(plan.folder, plan.keep_bytes),
        max_per_s=10.0,
    )
    with plan.shown.open("w", encoding="utf-8") as out, patch("tallybone.play.table.sitting_of", _sitting_with(match)):
        if plan.disk is not None:
            plan.disk.install()
        table = LiveTable(PreparedMatch(game, Blind()), around)
        table.run(JsonDisplay(Output("play", out, out)), _NoKeys(), lambda: False)


def run_and_exit(match: Match, plan: Plan) -> NoReturn:
    """Follow the match in a process of its own, and exit."""
    code = 1
    try:
        run_match(match, plan)
        code = 0
    finally:
        os._exit(code)


def _game(match: Match, folder: Path, began: datetime) -> MatchPlan:
    try:
        return resumed_game(None, folder, began=began, software="tallybone")
    except (RecordingError, FileNotFoundError):
        return new_game(
            match.rules, (), match.players, tile_set=TileSet.AUTO, in_play=False, began=began, software="tallybone"
        )


def _sitting_with(match: Match) -> Callable[..., tuple[Sitting, tuple[Announcement, ...]]]:
    def sitting_of(
        game: MatchPlan, reader: Reader, *, t_ns: int, counts: Counts
    ) -> tuple[Sitting, tuple[Announcement, ...]]:
        if game.left is not None:
            return Sitting(NumberReader(match.looks, game.left.tiles).look, session_of(game.left, t_ns=t_ns)), ()
        session, announcements = opened(game.rules, game.start.players)
        return Sitting(NumberReader(match.looks).look, session), announcements

    return sitting_of


class _NoKeys:
    is_over = True

    def pressed(self, wait_s: float) -> str:
        return ""
