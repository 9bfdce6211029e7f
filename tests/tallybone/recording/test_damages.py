"""Tests of all commands on all kinds of damage: the result is right, or the damage is reported."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode

from tallybone.recording.format import Damage, Topic
from tallybone.recording.index import EndIndex, records_on
from tests.tallybone.recorded_game import record_game
from tests.tallybone.recording.damages import READERS, Kind, Layout, Verdict, verdict
from tests.tallybone.recording.sittings import damage_of, records_of
from tests.tallybone.recording.test_index import Index, with_index
from tests.tallybone.replay.test_log import Run

_GOOD = {Verdict.RIGHT, Verdict.REPORTED}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "game.mcap"
    record_game(path)
    return path


def test_events_with_zeroed_heads_are_reported_as_lost(game: Path, tmp_path: Path) -> None:
    layout, path = Layout.of(game), tmp_path / "game.mcap"
    data = bytearray(layout.data)
    events = [number for number, record in enumerate(records_of(game)) if record.topic is Topic.EVENT]
    for number in events:
        at = layout.chunks[number]
        data[at : at + 9] = bytes(9)
    path.write_bytes(data)
    run = Run(path)
    assert run.code == 1
    first = layout.chunks[events[0]]
    assert f"{path}: bytes {first} to " in run.err
    assert "no record of an expected kind (0x00); " in run.err
    lost = [damage for damage in records_on(path, (Topic.EVENT,)) if isinstance(damage, Damage)]
    assert sum(damage.lost or 0 for damage in lost) == len(events)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.slow
def test_damage_is_reported_or_harmless(game: Path, tmp_path: Path, kind: Kind) -> None:
    layout, path = Layout.of(game), tmp_path / "game.mcap"
    wholes = {reader: READERS[reader](game) for reader in READERS}
    assert not any(whole.is_reported for whole in wholes.values())
    for seed in range(5):
        path.write_bytes(layout.damaged(kind, random.Random(f"{kind} {seed}")))
        for reader, whole in wholes.items():
            result, error = verdict(reader, path, whole)
            assert result in _GOOD, f"{reader}, seed {seed}: {result} {error}"


def test_a_wrong_count_in_the_index_is_reported(game: Path, tmp_path: Path) -> None:
    def count_one_more(index: Index) -> None:
        at = next(at for at, record in enumerate(index) if record[0] == Opcode.STATISTICS)
        counted.write(builder := RecordBuilder())
        index[at] = bytearray(builder.end())

    with game.open("rb") as file:
        counted = EndIndex.read(file).counted
    counted.message_count += 1
    counted.channel_message_counts[Topic.EVENT.number] += 1
    path = Path(shutil.copy(game, tmp_path / "game.mcap"))
    with_index(path, count_one_more)
    whole, events = records_of(game), [record for record in records_of(game) if record.topic is Topic.EVENT]
    *found, damage = records_on(path, (Topic.EVENT,))
    assert found == events
    assert isinstance(damage, Damage)
    assert f"the index counts {len(whole) + 1} records, but there are {len(whole)}" in str(damage)
    assert [str(each) for each in damage_of(path)] == [str(damage)]
