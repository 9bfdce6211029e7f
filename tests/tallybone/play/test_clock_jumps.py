"""Tests of wall clock jumps by years, as after a late time sync: order and data are preserved."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from io import StringIO
from pathlib import Path

import pytest

from engine import Adjust, MatchClose, NewHand, Seat
from tallybone import clock as wall_clock
from tallybone.calibrate.stored import show
from tallybone.choices import TileSet
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import MatchPlan, new_game, newest_left, recorder_of, state_of
from tallybone.recording.folder import FOLDER, next_number, prune, recordings_in, set_aside
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.resume import Left, write_left
from tallybone.recording.writer import RecordingWriter
from tallybone.store.calibration_file import Calibration, LightKept, earlier_path, load_calibration, save_calibration
from tallybone.store.house import OWNER_NAME as OWNER_FILE
from tallybone.store.house import set_password
from tallybone.terminal import Output
from tallybone.web.access.access import LASTS_S
from tallybone.web.recordings.shelf import Shelf
from tests.tallybone.serve.conftest import PASSWORD
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.serve.test_settings import log_in_as_owner
from tests.tallybone.web.true_table import PIN

YEARS = (2026, 1970, 2091, 2000, 1970)
"""Years of the wall clock at the start of successive recordings."""


def begun(folder: Path, year: int, *, over: bool = False, continues: str | None = None) -> Path:
    """Write a recording that is newer than all others, regardless of its *year*."""
    number = next_number(folder)
    start = SittingStart(
        started_at=datetime(year, 1, 1, tzinfo=UTC),
        players=("Ann", "Ben"),
        rules="bones",
        continues=continues,
        number=number,
    )
    path = folder / f"{year}-{number}.mcap"
    given = Adjust(Seat(0), number, "given")
    with RecordingWriter(path, start) as writer:
        write_left(writer, Left(start, (NewHand(), given, MatchClose()) if over else (NewHand(), given)), 0)
        writer.frame(0, bytes(20_000))
    return path


def test_the_last_match_is_resumed(tmp_path: Path) -> None:
    for year in YEARS:
        newest = begun(tmp_path, year)
        assert newest_left(tmp_path)[0] == newest


def test_a_continuation_with_an_earlier_date_is_resumed(tmp_path: Path) -> None:
    first = begun(tmp_path, 2026)
    second = begun(tmp_path, 1970, continues=first.name)
    assert newest_left(tmp_path)[0] == second


def test_a_finished_match_is_not_resumed_from_its_earlier_recordings(tmp_path: Path) -> None:
    first = begun(tmp_path, 2026)
    second = begun(tmp_path, 1970, continues=first.name)
    begun(tmp_path, 2000, over=True, continues=second.name)
    with pytest.raises(RecordingError, match="unfinished match"):
        newest_left(tmp_path)


def test_the_list_is_in_the_order_of_recording(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    assert [listed.path for listed in recordings_in(tmp_path)[0]] == paths
    assert [listed.path for listed in Shelf(tmp_path).listed()[0]] == paths[::-1]


def test_a_long_list_omits_the_oldest_recordings(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    shelf = Shelf(tmp_path, most=2)
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]
    paths.append(begun(tmp_path, min(YEARS) - 1))
    (tmp_path / "zzz.mcap").write_text("no recording")
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]
    paths.pop().unlink()
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]


def test_the_oldest_recordings_are_pruned_first(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in YEARS]
    assert prune(tmp_path, keep_bytes=paths[0].stat().st_size) == tuple(paths[:-1])
    assert paths[-1].is_file()


def test_the_running_recording_is_never_pruned(tmp_path: Path) -> None:
    paths = [begun(tmp_path, year) for year in (2026, 2091)]
    recorder = recorder_of(_game(1970), RecordingQuota(tmp_path, 1), lambda _: None, t_ns=0)
    assert not any(path.exists() for path in paths)
    (running,) = tmp_path.glob("*.mcap")
    assert running.name.startswith("1970")
    recorder.close()


def test_numbers_continue_after_deleted_recordings(tmp_path: Path) -> None:
    assert next_number(tmp_path) == 1
    begun(tmp_path, 2026)
    set_aside(begun(tmp_path, 1970))
    assert next_number(tmp_path) == 3


def test_recordings_without_a_number_are_the_oldest(tmp_path: Path) -> None:
    start = SittingStart(started_at=datetime(2030, 1, 1, tzinfo=UTC), players=("Ann", "Ben"), rules="bones")
    with RecordingWriter(tmp_path / "before.mcap", start) as writer:
        write_left(writer, Left(start, (NewHand(),)), 0)
    newest = begun(tmp_path, 2026)
    assert newest_left(tmp_path)[0] == newest
    assert SittingStart.parse(replace(start, number=7).format()).number == 7


@pytest.mark.parametrize("years", [56, -56])
def test_deleted_recordings_are_kept_for_a_week_after_a_clock_jump(tmp_path: Path, years: int) -> None:
    set_aside(begun(tmp_path, 2026))
    (aside,) = (tmp_path / FOLDER).iterdir()
    then_s = aside.stat().st_mtime - years * 365 * 24 * 3600
    os.utime(aside, (then_s, then_s))
    for day in (1, 8):
        set_aside(begun(tmp_path, 2026))
        assert aside.exists() == (day == 1)
        os.utime(aside, (then := aside.stat().st_mtime - 8 * 24 * 3600, then)) if day == 1 else None


def _game(year: int) -> MatchPlan:
    began = datetime(year, 1, 1, tzinfo=UTC)
    return new_game("bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=began, software="")


class Wall:
    """A wall clock that can jump, and a monotonic clock that can be advanced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off_s, self.passed_s = 0.0, 0
        wall = self

        class Shifted(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # returns a plain datetime
                return super().now(tz) + timedelta(seconds=wall.off_s)

        monkeypatch.setattr(wall_clock, "datetime", Shifted)

    def jumps_to(self, year: int) -> None:
        self.off_s += (year - wall_clock.wall_time().year) * 365.25 * 86_400

    def monotonic_ns(self) -> int:
        return time.monotonic_ns() + self.passed_s * 10**9


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    return Wall(monkeypatch)


def test_a_clock_jump_in_a_match_affects_neither_scores_nor_logins(wall: Wall, tmp_path: Path) -> None:
    set_password(PASSWORD, tmp_path / "tallybone" / OWNER_FILE)
    wall.jumps_to(1970)
    with at_served_table(tmp_path, clock=wall.monotonic_ns) as table, table.client() as client:
        log_in_as_owner(client)
        assert client.post("/match", json=NEW).status_code == 204
        assert client.post("/login", json={"pin": PIN}).status_code == 204
        wait_for_match(client)
        for number, year in enumerate((1970, 2026, 2091, 1999), start=1):
            wall.jumps_to(year)
            table.plugs.show()
            assert act(client, type="points", seat=0, points=5).status_code == 200
            assert client.put("/settings", json={}).status_code == 204
            shown = client.get("/state").json()
            assert [player["total"] for player in shown["players"]] == [5 * number, 0]
            ids = [entry["id"] for entry in shown["messages"]]
            assert ids == list(range(len(ids), 0, -1)), "newest first"
        for passed_s, status in ((LASTS_S - 60, 200), (120, 401)):
            wall.passed_s += passed_s
            assert act(client, type="points", seat=1, points=5).status_code == status, "cookies expire by elapsed time"
        assert client.put("/settings", json={}).status_code == 401
    path, left = newest_left(tmp_path / "tallybone" / "sessions")
    game = state_of(left).game
    assert game is not None
    assert game.totals == (20, 5)
    times_ns = [record.t_ns for record in read_recording(path) if isinstance(record, RecordedMessage)]
    assert times_ns == sorted(times_ns)


def test_earlier_calibrations_are_in_the_order_of_storing(tmp_path: Path) -> None:
    path = tmp_path / "usb-0.json"
    for number, year in enumerate(YEARS):
        save_calibration(Calibration(light=LightKept((float(number),) * 3, (1.0, 2.0), is_held=True)), path)
        at_s = datetime(year, 6, 1, tzinfo=UTC).timestamp()
        os.utime(path, (at_s, at_s))
    kept = [
        load_calibration(stored).light for stored in (path, *(earlier_path(path, number) for number in range(1, 5)))
    ]
    assert [light.levels[0] for light in kept if light is not None] == [4.0, 3.0, 2.0, 1.0, 0.0]
    out = StringIO()
    assert show(path, now=lambda: 0.0, output=Output("calibrate", out)) == 0
    assert out.getvalue().count("ago") == 5
