"""Tests of finding the match that a table can resume."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine import Adjust, Event, Seat
from tallybone.choices import TileSet
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import new_game, recorder_of, sitting_of
from tallybone.serve.page import LeftMatches
from tallybone.session.sitting import Step
from tests.tallybone.serve.served import Blind
from tests.waiting import until

BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)


def leave(folder: Path, *players: str, points: int = 0, hours: int = 0) -> None:
    """Record an unfinished match with an adjustment of *points*."""
    began = BEGAN + timedelta(hours=hours)
    game = new_game("bones", ("target=100",), players, tile_set=TileSet.AUTO, in_play=False, began=began, software="")
    sitting, announcements = sitting_of(game, Blind(), t_ns=0)
    recorder = recorder_of(game, RecordingQuota(folder, 10**12), lambda text: None, t_ns=0)
    recorder.happened(Step(0, sitting.session, announcements))
    event: Event = Adjust(Seat(0), points, "given")
    recorder.input(event, 1)
    recorder.happened(sitting.feed(event, 1))
    recorder.close()


def known(folder: Path) -> LeftMatches:
    left = LeftMatches(folder)
    left.look()
    until(lambda: left.is_known)
    return left


def test_the_newest_match_is_found_and_forgotten_when_another_starts(tmp_path: Path) -> None:
    leave(tmp_path, "Ann", "Ben", points=20)
    leave(tmp_path, "Cleo", "Dora", points=35, hours=1)
    left = known(tmp_path)
    assert left.newest is not None
    assert (left.newest.players, left.newest.totals) == (("Cleo", "Dora"), (35, 0))
    left.forget()
    assert left.is_known
    assert left.newest is None


def test_nothing_is_known_before_the_first_search_has_ended(tmp_path: Path) -> None:
    assert known(tmp_path / "absent").newest is None
    left = LeftMatches(tmp_path)
    assert not left.is_known, "the page may ask before the first search"
    assert left.newest is None
    threads = threading.active_count()
    left.look()
    until(lambda: left.is_known)
    assert left.newest is None
    until(lambda: threading.active_count() <= threads)


def test_only_the_last_three_recordings_are_searched(tmp_path: Path) -> None:
    leave(tmp_path, "Ann", "Ben", points=20)
    for hours in (1, 2):
        leave(tmp_path, "Cleo", "Dora", points=100, hours=hours)
    found = known(tmp_path).newest
    assert found is not None
    assert found.players == ("Ann", "Ben"), "the later matches are over"
    leave(tmp_path, "Cleo", "Dora", points=100, hours=3)
    assert known(tmp_path).newest is None
