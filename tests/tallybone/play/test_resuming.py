"""Tests of resuming the newest unfinished match, after changes on its table or jumps of the clock by years."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from engine import BONES, Adjust, MatchClose, NewHand, Play, Seat
from hardware.table import HardwareSettings
from tallybone import clock as wall_clock
from tallybone.calibrate.stored import show
from tallybone.cli.play import PlayOptions, play
from tallybone.play.game import Listener
from tallybone.play.parts import open_parts
from tallybone.play.start import MatchPlan, PreparedMatch, newest_left, state_of
from tallybone.play.table import LiveTable, NoPage, TableParts
from tallybone.recording.folder import next_number, recordings_in
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.resume import Evidence, Left, left_in, write_left
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import compare, replay
from tallybone.sources.camera import PacedCamera
from tallybone.store.calibration_file import Calibration, LightKept, earlier_path, load_calibration, save_calibration
from tallybone.store.house import OWNER_NAME as OWNER_FILE
from tallybone.store.house import set_password
from tallybone.terminal import Output
from tallybone.web.access.access import LASTS_S
from tallybone.web.recordings.shown import Shelf
from tests.tallybone.live_clips import game_clip, write_recording
from tests.tallybone.serve.conftest import PASSWORD
from tests.tallybone.serve.served import Blind, at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.serve.test_settings import log_in_as_owner
from tests.tallybone.web.true_table import PIN
from vision.tracking.watch import Frame

START = SittingStart(started_at=datetime(2026, 11, 1, tzinfo=UTC), players=("Ann", "Ben"), rules="bones")


def write(path: Path, day: int, *, over: bool = False, **fields: Any) -> Path:
    """Write a recording of that day with only the log of its match, and other *fields* of its metadata."""
    start = replace(START, started_at=datetime(2026, 11, day, tzinfo=UTC), **fields)
    with RecordingWriter(path, start) as writer:
        events = (NewHand(), MatchClose()) if over else (NewHand(),)
        write_left(writer, Left(start, events), 0)
    return path


def test_the_newest_unfinished_match_is_resumed(tmp_path: Path) -> None:
    write(tmp_path / "c.mcap", 1)
    newest = write(tmp_path / "a.mcap", 3)
    write(tmp_path / "b.mcap", 4, over=True)
    (tmp_path / "other.mcap").write_bytes(b"no recording")
    path, left = newest_left(tmp_path)
    assert path == newest
    assert left.events == (NewHand(),)


def test_a_continued_recording_is_not_resumed(tmp_path: Path) -> None:
    first = write(tmp_path / "first.mcap", 1)
    second = write(tmp_path / "second.mcap", 2, over=True, continues=first.name)
    with pytest.raises(RecordingError, match="unfinished match"):
        newest_left(tmp_path)
    # The second is truncated within its head, so the first is used.
    data = second.read_bytes()
    second.write_bytes(data[: data.index(b'"continued"')])
    assert newest_left(tmp_path)[0] == first


def test_a_later_unreadable_recording_is_named(tmp_path: Path) -> None:
    """Resuming an older match instead must not go unnoticed."""
    older, later = write(tmp_path / "a.mcap", 1), write(tmp_path / "b.mcap", 2)
    os.utime(older, (0, 0))
    whole = later.read_bytes()
    for spoiled, why in (
        (bytes(512) + whole[512:], "it is not an MCAP file"),
        (whole.replace(b'["Ann", "Ben"]', b'["Ann", "Bzn"]'), "its match data is damaged"),
    ):
        later.write_bytes(spoiled)
        path, left = newest_left(tmp_path)
        assert path == older
        (message,) = left.passed_over
        assert message.startswith(f"a newer recording cannot be read, so an older match is resumed: {later}: ")
        assert why in message
    later.write_bytes(whole)
    os.utime(later, (0, 0))
    older.write_bytes(b"no recording")
    os.utime(older, (-9, -9))
    assert newest_left(tmp_path)[1].passed_over == ()


def test_of_two_recordings_with_one_number_the_continuation_is_resumed(tmp_path: Path) -> None:
    """Version 0.3.0 gave a recording this number if its predecessor could not be read at that moment."""
    first = write(tmp_path / "2026-ann-ben.mcap", 1, number=7)
    second = write(tmp_path / "2026-ann-ben-2.mcap", 1, number=7, continues=first.name)
    path, left = newest_left(tmp_path)
    assert (path, left.passed_over) == (second, ())


def test_of_two_matches_with_one_number_none_is_resumed_silently(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap", 1, number=7)
    resumed = write(tmp_path / "b.mcap", 2, number=7)
    path, left = newest_left(tmp_path)
    assert path == resumed
    assert left.passed_over == ("two matches may be the newest: b.mcap is resumed, not a.mcap; check the score",)


def test_a_finished_match_hides_its_other_recordings_even_if_one_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap", 1, number=1, match="m")
    write(tmp_path / "c.mcap", 1, number=5, match="m", continues="b.mcap", over=True)
    with pytest.raises(RecordingError, match="unfinished match"):
        newest_left(tmp_path)


def test_a_recording_in_progress_is_not_resumed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", 1)
    with RecordingWriter(tmp_path / "b.mcap", START):
        assert newest_left(tmp_path)[0] == path


class _CropListener(Listener):
    def __init__(self) -> None:
        self.crops: list[Evidence] = []

    def evidence(self, crop: Evidence) -> None:
        self.crops.append(crop)


class _NoKeys:
    is_over = True

    def pressed(self, wait_s: float) -> str:
        return ""


def test_a_resumed_match_shows_the_crops_of_its_recording() -> None:
    crops = (Evidence(3, 1, b"a play"), Evidence("the 5-4 / the 6-4", 2, b"a question"))
    game = MatchPlan(START, BONES, Left(START, (NewHand(),), evidence=crops))
    shown = _CropListener()
    around = TableParts(
        camera=PacedCamera(iter(()), lambda: 0, speed=0),
        parts=open_parts(HardwareSettings(), seats=2, clock=lambda: 0, has_panel=False),
        page=NoPage(),
        clock=lambda: 0,
        room=None,
        max_per_s=10.0,
    )
    LiveTable(PreparedMatch(game, Blind()), around).run(shown, _NoKeys(), lambda: False)
    assert shown.crops == list(crops)


@pytest.mark.slow
@pytest.mark.parametrize("is_readable", [True, False], ids=["from the recording", "from the journal"])
def test_a_tile_laid_while_off_is_found_after_resuming(tmp_path: Path, *, is_readable: bool) -> None:
    items, truth = game_clip(4, 4)
    frames = [at for at, item in enumerate(items) if isinstance(item, Frame)]
    # The program ends after the second play, and the third tile is laid before it starts again.
    off, on = frames[28], frames[33]
    folder = tmp_path / "sessions"
    first = _play(tmp_path, items[:off], PlayOptions(players="Ann,Ben", record=str(folder)))
    assert [line["text"] for line in first if line.get("event") == "played"] == ["Ann plays 4-4", "Ben plays 4-3"]
    if not is_readable:
        (recording,) = folder.glob("*.mcap")
        recording.write_bytes(bytes(recording.stat().st_size))
    second = _play(tmp_path, items[on:], PlayOptions(resume=True, record=str(folder)))
    assert second[0]["event"] == "resumed"
    assert [line["text"] for line in second if line.get("event") == "played"] == ["Ann plays 3-2", "Ben plays 5-4"]
    newest = sorted(folder.glob("*.mcap"), key=lambda path: path.stat().st_mtime_ns)[-1]
    left = left_in(read_recording(newest))
    assert state_of(left).game == truth.game
    plays = [seq for seq, event in enumerate(state_of(left).log) if isinstance(event, Play)]
    assert [evidence.of for evidence in left.evidence] == plays[0 if is_readable else 2 :]
    assert len(plays) == 4
    assert _replayed(newest) == [line for line in second[1:] if "event" in line]
    for recording in folder.glob("*.mcap") if is_readable else [newest]:
        out = StringIO()
        assert compare(recording, out=out) == 0
        assert out.getvalue().startswith("equal")


def _play(tmp_path: Path, items: tuple[Any, ...], options: PlayOptions) -> list[dict[str, Any]]:
    """Return the lines printed by a live game without key input."""
    source = write_recording(tmp_path / f"{len(list(tmp_path.iterdir()))}.mcap", items)
    out, err = StringIO(), StringIO()
    reading, writing = os.pipe()
    os.close(writing)
    options = replace(options, camera=str(source), speed=0.0, as_json=True)
    assert play(options, out=out, err=err, keys_fd=reading) == 0, err.getvalue()
    os.close(reading)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _replayed(path: Path) -> list[dict[str, Any]]:
    """Return the game events of a full replay of a continuation, from that file alone."""
    out = StringIO()
    assert replay(path, as_json=True, out=out) == 0
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return [line for line in lines if "event" in line and "frame" not in line]


YEARS = (2026, 1970, 2091, 2000, 1970)
"""Years of the wall clock at the start of successive recordings."""


def begun(folder: Path, year: int, *, over: bool = False, continues: str | None = None) -> Path:
    """Write a recording that is newer than all others, regardless of its *year*."""
    number = next_number(folder)
    start = replace(START, started_at=datetime(year, 1, 1, tzinfo=UTC), continues=continues, number=number)
    path = folder / f"{year}-{number}.mcap"
    given = Adjust(Seat(0), number, "given")
    with RecordingWriter(path, start) as writer:
        write_left(writer, Left(start, (NewHand(), given, MatchClose()) if over else (NewHand(), given)), 0)
        writer.frame(0, bytes(20_000))
    return path


def test_a_continuation_with_an_earlier_date_is_resumed_until_it_has_finished(tmp_path: Path) -> None:
    first = begun(tmp_path, 2026)
    second = begun(tmp_path, 1970, continues=first.name)
    assert newest_left(tmp_path)[0] == second
    begun(tmp_path, 2000, over=True, continues=second.name)
    with pytest.raises(RecordingError, match="unfinished match"):
        newest_left(tmp_path)


def test_the_last_match_is_resumed_and_the_list_is_in_the_order_of_recording(tmp_path: Path) -> None:
    paths = []
    for year in YEARS:
        paths.append(begun(tmp_path, year))
        assert newest_left(tmp_path)[0] == paths[-1]
    assert [listed.path for listed in recordings_in(tmp_path)[0]] == paths
    assert [listed.path for listed in Shelf(tmp_path).listed()[0]] == paths[::-1]
    shelf = Shelf(tmp_path, most=2)
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]
    paths.append(begun(tmp_path, min(YEARS) - 1))
    (tmp_path / "zzz.mcap").write_text("no recording")
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]
    paths.pop().unlink()
    assert [listed.path for listed in shelf.listed()[0]] == paths[:-3:-1]


def test_recordings_without_a_number_are_the_oldest(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "before.mcap", START) as writer:
        write_left(writer, Left(START, (NewHand(),)), 0)
    newest = begun(tmp_path, 2026)
    assert newest_left(tmp_path)[0] == newest
    assert SittingStart.parse(replace(START, number=7).format()).number == 7


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
