"""Tests of the folder of recordings: the list, and pruning."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.writer import Writer

from tallybone.recording.folder import (
    FOLDER,
    JOURNAL_SUFFIX,
    default_folder,
    journal_path,
    journals_in,
    next_number,
    prune,
    put_back,
    recording_files,
    recordings_in,
    set_aside,
)
from tallybone.recording.format import RecordingError, SittingStart, Topic
from tallybone.recording.survey import survey
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import SECOND, START, jpeg, write


def started_later(days: int) -> SittingStart:
    return replace(START, started_at=START.started_at + timedelta(days=days))


def write_large(folder: Path, days: int) -> Path:
    path = folder / f"{days}.mcap"
    with RecordingWriter(path, started_later(days)) as writer:
        writer.frame(1, jpeg(days, 10_000))
    return path


def test_the_list_describes_recordings_from_oldest_to_newest(tmp_path: Path) -> None:
    second = write(tmp_path / "a.mcap")
    (tmp_path / "folder.mcap").mkdir()
    with RecordingWriter(tmp_path / "b.mcap", started_later(-1)) as writer:
        writer.write(Topic.OUTCOME, 3 * SECOND, {"totals": [1, 2]})
        writer.write(Topic.OUTCOME, 9 * SECOND, {"outcome": "turn"})
        writer.write(Topic.KNOCK, 2 * SECOND, {"totals": [3, 4]})  # it came late, and is no outcome
        first, is_running = survey(tmp_path / "b.mcap"), recordings_in(tmp_path)[0][0].is_running
    assert is_running
    assert (first.facts.totals, first.facts.length_ns) == ((1, 2), 7 * SECOND)
    found, others = recordings_in(tmp_path)
    assert [finding.path.name for finding in found] == ["b.mcap", "a.mcap"]
    assert not found[0].is_running
    assert (found[0].facts.totals, found[0].facts.length_ns, found[0].facts.frames) == ((1, 2), 7 * SECOND, 0)
    assert (found[1].facts.totals, found[1].facts.length_ns, found[1].facts.frames) == ((10, 10), 2 * SECOND + 2, 3)
    assert (found[1].start, found[1].size_bytes, found[1].facts.damage) == (START, second.stat().st_size, ())
    assert others == []


def test_the_list_has_the_winner(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        writer.write(Topic.OUTCOME, 1, {"event": "scored", "totals": [90, 200]})
        for winner in (0, 1):  # the first is corrected
            writer.write(Topic.OUTCOME, 2, {"event": "match_over", "winner": winner})
        writer.write(Topic.OUTCOME, 3, {"event": "turn"})
        running = survey(path).facts
    for facts in (running, survey(path).facts):
        assert (facts.totals, facts.winner, facts.players) == ((90, 200), 1, None)


@pytest.mark.parametrize(("later", "totals"), [(0, (90, 200)), (49, (90, 200)), (50, None)])
@pytest.mark.parametrize("winner", [None, 1])
def test_a_match_that_went_on_after_its_end_has_no_winner(
    tmp_path: Path, later: int, totals: tuple[int, ...] | None, winner: int | None
) -> None:
    with RecordingWriter(path := tmp_path / "a.mcap", START) as writer:
        writer.write(Topic.OUTCOME, 1, {"event": "match_over", "winner": 0, "totals": [95, 200]})
        writer.write(
            Topic.OUTCOME,
            2,
            {"event": "match_over" if winner else "played", "totals": [90, 200]}
            | ({"winner": winner} if winner else {}),
        )
        for _ in range(later):
            writer.write(Topic.OUTCOME, 3, {"event": "turn", "totals": ["?"]})
    assert (survey(path).facts.totals, survey(path).facts.winner) == (totals, winner if totals else None)


@pytest.mark.parametrize(
    ("named", "players"),
    [(["Ann", "Zoe"], ("Ann", "Zoe")), *((wrong, START.players) for wrong in (None, ["Zoe"], ["Ann", 3], "AZ"))],
)
def test_the_list_has_the_names_at_the_end(tmp_path: Path, named: object, players: tuple[str, ...]) -> None:
    with RecordingWriter(path := tmp_path / "a.mcap", START) as writer:
        writer.write(Topic.OUTCOME, 1, {"totals": [5, 0], "players": ["Amy", "Bob"]})
        writer.write(Topic.OUTCOME, 2, {"totals": [5, 5], "players": named})
    assert survey(path).players == players


def test_a_recording_without_index_is_listed_and_other_files_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    whole = survey(path).facts
    path.write_bytes(path.read_bytes()[:-1500])
    cut = survey(path).facts
    assert (cut.frames, cut.totals, cut.length_ns) == (whole.frames, whole.totals, whole.length_ns)
    assert len(cut.damage) == 1
    path.write_text("no recording")
    found, (problem,) = recordings_in(tmp_path)
    assert (found, "a.mcap" in str(problem)) == ([], True)


def test_pruning_deletes_the_oldest_recordings_first_but_not_the_running_one(tmp_path: Path) -> None:
    paths = [write_large(tmp_path, days) for days in (3, 1, 2, 4)]
    size_bytes = paths[0].stat().st_size
    assert prune(tmp_path, keep_bytes=4 * size_bytes) == ()
    assert prune(tmp_path, keep_bytes=2 * size_bytes) == (paths[1], paths[2])
    assert sorted(tmp_path.iterdir()) == sorted([paths[0], paths[3]])
    with RecordingWriter(tmp_path / "0.mcap", START) as writer:  # it is running
        writer.frame(1, jpeg(1, 50_000))
        assert prune(tmp_path, keep_bytes=0) == (paths[0], paths[3])
    assert [path.name for path in tmp_path.iterdir()] == ["0.mcap"]


def test_recordings_are_sorted_by_number_rather_than_by_a_clock_that_jumps(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("d.mcap", "c.mcap", "b.mcap", "a.mcap")]
    for path, number, days in zip(paths, (0, 3, 9, 10), (4, 3, 2, 1), strict=True):
        RecordingWriter(path, replace(started_later(days), number=number)).close()
    assert [found.path for found in recordings_in(tmp_path)[0]] == paths
    assert prune(tmp_path, keep_bytes=0) == tuple(paths)


def test_the_number_of_a_recording_or_journal_is_not_used_again(tmp_path: Path) -> None:
    for state, folder in (("/state", "/state"), ("", "/a/.local/state"), ("state", "/a/.local/state")):
        environment = {"XDG_STATE_HOME": state} if state else {}
        assert default_folder(environment, Path("/a")) == Path(folder) / "tallybone" / "sessions"
    assert next_number(tmp_path) == 1
    RecordingWriter(tmp_path / "a.mcap", replace(START, number=7)).close()
    set_aside(tmp_path / "a.mcap")
    RecordingWriter(tmp_path / "b.mcap", replace(START, number=6)).close()
    assert next_number(tmp_path) == 8
    for name in ("match-010", "match-0", "match-99x", "a match-99"):
        (tmp_path / f"{name}{JOURNAL_SUFFIX}").touch()
    paths = [journal_path(tmp_path, number) for number in (2, 9, 10)]
    for path in paths:
        path.touch()
    assert journals_in(tmp_path) == paths
    assert next_number(tmp_path) == 11


def test_pruning_deletes_only_recordings(tmp_path: Path) -> None:
    shelf, elsewhere = tmp_path / "shelf", tmp_path / "elsewhere"
    shelf.mkdir()
    elsewhere.mkdir()
    (shelf / "letter.txt").write_text("x" * 9999)
    (shelf / "other.mcap").write_text("x" * 9999)
    (shelf / "folder.mcap").mkdir()
    (shelf / "link.mcap").symlink_to(write_large(elsewhere, 1))
    write_large(shelf, 2).rename(shelf / "renamed.bak")
    assert prune(shelf, keep_bytes=0) == ()
    assert len(list(shelf.iterdir())) == 5
    assert len(list(elsewhere.iterdir())) == 1


def test_the_age_of_a_damaged_recording_is_its_modification_time(tmp_path: Path) -> None:
    new, damaged = write_large(tmp_path, 3), write_large(tmp_path, 9)
    data = damaged.read_bytes()
    damaged.write_bytes(data.replace(b'["Ann", "Bob"]', b'["Ann", "Rob"]'))
    os.utime(damaged, (0, 0))
    assert prune(tmp_path, keep_bytes=new.stat().st_size) == (damaged,)


def test_the_list_includes_a_repacked_recording(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap", frames=40)
    with (tmp_path / "a.mcap").open("rb") as old, (tmp_path / "b.mcap").open("wb") as new:
        writer = Writer(new, chunk_size=700)
        writer.start("tallybone")
        writer.add_metadata("tallybone.sitting", START.format())
        channels = {
            topic.path: writer.register_channel(
                topic.path, "json", writer.register_schema(topic.path, "jsonschema", b"")
            )
            for topic in Topic
        }
        for _, channel, message in make_reader(old).iter_messages():
            sequence = message.sequence
            writer.add_message(channels[channel.topic], message.log_time, message.data, message.publish_time, sequence)
        writer.finish()
    whole = (tmp_path / "b.mcap").read_bytes()
    (tmp_path / "c.mcap").write_bytes(whole[:-1])  # without a usable index, all records are read
    facts, packed, cut = (survey(tmp_path / name).facts for name in ("a.mcap", "b.mcap", "c.mcap"))
    assert (
        (packed.totals, packed.frames, packed.length_ns)
        == (cut.totals, cut.frames, cut.length_ns)
        == (facts.totals, facts.frames, facts.length_ns)
        == ((195, 10), 40, 39 * SECOND + 2)
    )
    assert (packed.damage, len(cut.damage)) == ((), 1)


def test_a_deleted_recording_can_be_restored(tmp_path: Path) -> None:
    first = write_large(tmp_path, 1)
    set_aside(first)
    assert recording_files(tmp_path) == []
    write_large(tmp_path, 1)
    with pytest.raises(RecordingError, match="already deleted this week"):
        set_aside(first)
    with pytest.raises(RecordingError, match="another recording has that name now"):
        put_back(tmp_path, first.name)
    first.unlink()
    assert put_back(tmp_path, first.name) == first
    (tmp_path / FOLDER / "folder.mcap").mkdir()
    for name in (first.name, "folder.mcap"):
        with pytest.raises(FileNotFoundError, match=name):
            put_back(tmp_path, name)
    with pytest.raises(FileNotFoundError):
        put_back(tmp_path / "empty", first.name)
    with RecordingWriter(tmp_path / "now.mcap", START), pytest.raises(RecordingError, match="is being recorded"):
        set_aside(tmp_path / "now.mcap")


def test_deleted_recordings_are_removed_after_a_week_despite_clock_jumps(tmp_path: Path) -> None:
    aside = tmp_path / FOLDER
    (aside / "no recording").mkdir(parents=True)
    (aside / "link.mcap").symlink_to(write_large(tmp_path, 2))
    now_s, day_s = time.clock_gettime(time.CLOCK_REALTIME), 24 * 3600
    ages_days = {"a": 6.999, "b": 7.001, "c": 89.99, "d": 90.01, "e": -6.99, "f": -7.01}
    deleted = write_large(tmp_path, 1)
    for path, age_days in ((deleted, 8), *((aside / name, age) for name, age in ages_days.items())):
        path.touch()
        os.utime(path, (now_s - age_days * day_s,) * 2)
    set_aside(deleted)
    begun_days = {path.name: (path.lstat().st_mtime - now_s) / day_s for path in aside.iterdir() if path.suffix != ""}
    begun_days |= {name: (now_s - (aside / name).stat().st_mtime) / day_s for name in "aedf"}
    assert begun_days == pytest.approx({"1.mcap": 0, "link.mcap": 0, "a": 6.999, "e": -6.99, "d": 0, "f": 0}, abs=1e-3)
    assert not (aside / "b").exists()
    assert not (aside / "c").exists()
