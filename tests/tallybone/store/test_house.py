"""What holds at a table from one match to the next, in its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tallybone.choices import TileSet
from tallybone.store.house import HouseFile, HouseSettings, MatchSetting, load_house

LAST = MatchSetting("block", (("target", "75"),), ("Ann", "Zoë"), TileSet.DOUBLE_9)


def test_without_a_file_nothing_is_set(tmp_path: Path) -> None:
    assert load_house(tmp_path / "house.json") == (HouseSettings(), None)


def test_what_is_changed_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state" / "house.json"
    kept = HouseFile(path)
    kept.change(lambda house: replace(house, last=LAST))
    kept.change(lambda house: replace(house, keep_bytes=5 * 10**9))
    assert HouseFile(path).house == kept.house == HouseSettings(keep_bytes=5 * 10**9, last=LAST)
    assert '"Zoë"' in path.read_text(encoding="utf-8")
    assert [one.name for one in path.parent.iterdir()] == ["house.json"]


@pytest.mark.parametrize("damage", ['{"last": 7}', "\x00", "[" * 50_000, '{"keep_bytes": 1}', '{"language": [', "null"])
def test_a_damaged_file_is_said_and_mended_by_the_next_change(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "house.json"
    path.write_text(damage)
    kept = HouseFile(path)
    assert kept.house == HouseSettings()
    assert str(path) in str(kept.problem)
    kept.change(lambda house: replace(house, last=LAST))
    assert kept.problem is None
    assert load_house(path) == (HouseSettings(last=LAST), None)


def test_what_cannot_be_written_has_not_changed(tmp_path: Path) -> None:
    (tmp_path / "in_the_way").write_text("")
    kept = HouseFile(tmp_path / "in_the_way" / "house.json")
    with pytest.raises(OSError, match="in_the_way"):
        kept.change(lambda house: replace(house, last=LAST))
    assert kept.house == HouseSettings()
