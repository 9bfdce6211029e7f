"""A clock on the wall that jumps by years, as when the network says the time late, changes no order, loses nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import Adjust, MatchClose, NewHand, Seat
from tallybone.choices import TileSet
from tallybone.live_recorder import Room
from tallybone.live_start import Game, new_game, recorder_of
from tallybone.recording.errors import RecordingError
from tallybone.recording.left import Left, say_left
from tallybone.recording.set_aside import FOLDER, set_aside
from tallybone.recording.shelf import next_number, prune, recordings_in
from tallybone.recording.start import SessionStart
from tallybone.recording.writer import SessionWriter
from tallybone.resuming import newest_left
from tallybone.web.shelf import Shelf

YEARS = (2026, 1970, 2091, 2000, 1970)
"""What the clock said when one recording after the other began."""


def begun(folder: Path, year: int, *, over: bool = False, continues: str | None = None) -> Path:
    """A recording that begins after all that are there, whatever the clock says."""
    number = next_number(folder)
    start = SessionStart(
        started_at=datetime(year, 1, 1, tzinfo=UTC),
        players=("Ann", "Ben"),
        rules="bones",
        continues=continues,
        number=number,
    )
    path = folder / f"{year}-{number}.mcap"
    given = Adjust(Seat(0), number, "given")
    with SessionWriter(path, start) as writer:
        say_left(writer, Left(start, (NewHand(), given, MatchClose()) if over else (NewHand(), given)), 0)
        writer.frame(0, bytes(20_000))
    return path


def test_the_match_that_was_left_last_goes_on(tmp_path: Path) -> None:
    for year in YEARS:
        newest = begun(tmp_path, year)
        assert newest_left(tmp_path)[0] == newest


def test_a_match_that_goes_on_under_an_earlier_clock_is_not_begun_again(tmp_path: Path) -> None:
    first = begun(tmp_path, 2026)
    second = begun(tmp_path, 1970, continues=first.name)
    assert newest_left(tmp_path)[0] == second


def test_a_match_that_has_gone_on_twice_and_is_over_is_not_gone_on_with(tmp_path: Path) -> None:
    first = begun(tmp_path, 2026)
    second = begun(tmp_path, 1970, continues=first.name)
    begun(tmp_path, 2000, over=True, continues=second.name)
    with pytest.raises(RecordingError, match="not over"):
        newest_left(tmp_path)


def test_the_list_is_in_the_order_in_which_they_were_recorded(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    assert [one.path for one in recordings_in(tmp_path)[0]] == paths
    assert [one.path for one in Shelf(tmp_path).listed()[0]] == paths[::-1]


def test_a_list_that_is_too_long_leaves_out_the_oldest_and_not_those_of_an_early_name(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    shelf = Shelf(tmp_path, most=2)
    assert [one.path for one in shelf.listed()[0]] == paths[:-3:-1]
    paths.append(begun(tmp_path, min(YEARS) - 1))
    (tmp_path / "zzz.mcap").write_text("no recording")
    assert [one.path for one in shelf.listed()[0]] == paths[:-3:-1]
    paths.pop().unlink()
    assert [one.path for one in shelf.listed()[0]] == paths[:-3:-1]


def test_the_oldest_make_way_and_never_the_newest(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    assert prune(tmp_path, keep_bytes=paths[0].stat().st_size) == tuple(paths[:-1])
    assert paths[-1].is_file()


def test_the_running_one_never_makes_way(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in (2026, 2091)]
    recorder = recorder_of(_game(1970), Room(tmp_path, 1), lambda _: None, t_ns=0)
    assert not any(path.exists() for path in paths)
    (running,) = tmp_path.glob("*.mcap")
    assert running.name.startswith("1970")
    recorder.close()


def test_numbers_go_on_after_those_that_were_set_aside(tmp_path: Path) -> None:
    assert next_number(tmp_path) == 1
    begun(tmp_path, 2026)
    set_aside(begun(tmp_path, 1970))
    assert next_number(tmp_path) == 3


def test_recordings_that_nobody_has_numbered_are_older_than_all_others(tmp_path: Path) -> None:
    start = SessionStart(started_at=datetime(2030, 1, 1, tzinfo=UTC), players=("Ann", "Ben"), rules="bones")
    with SessionWriter(tmp_path / "before.mcap", start) as writer:
        say_left(writer, Left(start, (NewHand(),)), 0)
    newest = begun(tmp_path, 2026)
    assert newest_left(tmp_path)[0] == newest
    assert SessionStart.parse(replace(start, number=7).format()).number == 7


@pytest.mark.parametrize("years", [56, -56])
def test_what_was_set_aside_is_kept_for_a_week_after_the_clock_has_jumped(tmp_path: Path, years: int) -> None:
    set_aside(begun(tmp_path, 2026))
    (aside,) = (tmp_path / FOLDER).iterdir()
    then_s = aside.stat().st_mtime - years * 365 * 24 * 3600
    os.utime(aside, (then_s, then_s))
    for day in (1, 8):
        set_aside(begun(tmp_path, 2026))
        assert aside.exists() == (day == 1)
        os.utime(aside, (then := aside.stat().st_mtime - 8 * 24 * 3600, then)) if day == 1 else None


def _game(year: int) -> Game:
    began = datetime(year, 1, 1, tzinfo=UTC)
    return new_game("bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=began, software="")
