"""Damage of every kind, read by every command: the result is right, or it is said that something is wrong."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

import pytest
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.format import Damage, Topic
from tallybone.recording.index import EndIndex, records_on
from tests.tallybone.recorded_game import record_game
from tests.tallybone.recording.damages import READERS, Kind, Layout, Verdict, verdict
from tests.tallybone.recording.sittings import damage_of, records_of
from tests.tallybone.replay.test_log import Run

_FOOTER_BYTES, _CRC_AND_MAGIC_BYTES = 37, 12
_GOOD = {Verdict.RIGHT, Verdict.SAID}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "game.mcap"
    record_game(path)
    return path


def test_events_whose_heads_were_zeroed_are_missed_and_not_passed_over(game: Path, tmp_path: Path) -> None:
    layout, path = Layout.of(game), tmp_path / "game.mcap"
    data = bytearray(layout.data)
    events = [number for number, one in enumerate(records_of(game)) if one.topic is Topic.EVENT]
    for number in events:
        at = layout.chunks[number]
        data[at : at + 9] = bytes(9)
    path.write_bytes(data)
    run = Run(path)
    assert run.code == 1
    first = layout.chunks[events[0]]
    assert f"{path}: bytes {first} to " in run.err
    assert "no record of a kind that belongs there (0x00); " in run.err
    lost = [one for one in records_on(path, (Topic.EVENT,)) if isinstance(one, Damage)]
    assert sum(one.lost or 0 for one in lost) == len(events)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.slow
def test_damage_is_said_or_changes_nothing(game: Path, tmp_path: Path, kind: Kind, reader: str) -> None:
    whole, layout, path = READERS[reader](game), Layout.of(game), tmp_path / "game.mcap"
    assert not whole.is_said
    for seed in range(12):
        path.write_bytes(layout.damaged(kind, random.Random(f"{kind} {seed}")))
        came, why = verdict(reader, path, whole)
        assert came in _GOOD, f"seed {seed}: {came} {why}"


@pytest.mark.slow
def test_no_bit_of_the_index_changes_what_the_log_says(game: Path, tmp_path: Path) -> None:
    layout, path, rng = Layout.of(game), tmp_path / "game.mcap", random.Random(8)
    topics = (Topic.EVENT, Topic.OUTCOME)
    whole = list(records_on(game, topics))
    for at in rng.sample(range(layout.index_byte, len(layout.data)), 200):
        data = bytearray(layout.data)
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        found = list(records_on(path, topics))
        assert [one for one in found if not isinstance(one, Damage)] == whole, at
        assert [one for one in found if isinstance(one, Damage)] != [], at


def _counting_one_more(path: Path) -> bytes:
    """The recording of a writer with a mistake: each checksum fits, but a record is counted that is not there."""
    layout = Layout.of(path)
    index, at = bytearray(layout.data[layout.index_byte : -_FOOTER_BYTES]), 0
    while index[at] != Opcode.STATISTICS:
        at += 9 + int.from_bytes(index[at + 1 : at + 9], "little")
    with path.open("rb") as file:
        counted = EndIndex.read(file).counted
    counted.message_count += 1
    counted.channel_message_counts[Topic.EVENT.number] += 1
    builder = RecordBuilder()
    counted.write(builder)
    changed = builder.end()
    index[at : at + len(changed)] = changed
    footer = layout.data[-_FOOTER_BYTES:-_CRC_AND_MAGIC_BYTES]
    crc = zlib.crc32(footer, zlib.crc32(index))
    return layout.data[: layout.index_byte] + index + footer + struct.pack("<I", crc) + MCAP0_MAGIC


def test_an_index_that_counts_otherwise_is_said(game: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    path.write_bytes(_counting_one_more(game))
    whole, events = records_of(game), [one for one in records_of(game) if one.topic is Topic.EVENT]
    *found, damage = records_on(path, (Topic.EVENT,))
    assert found == events
    assert isinstance(damage, Damage)
    assert f"the index counts {len(whole) + 1} records, but there are {len(whole)}" in str(damage)
    assert [str(one) for one in damage_of(path)] == [str(damage)]
