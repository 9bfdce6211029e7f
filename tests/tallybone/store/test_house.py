"""Tests of the house settings, which persist between matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tallybone.choices import TileSet
from tallybone.store.house import HouseFile, HouseSettings, MatchSetting, load_house

LAST = MatchSetting("block", (("target", "75"),), ("Ann", "Zoë"), TileSet.DOUBLE_9)


def test_a_missing_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load_house(tmp_path / "house.json") == (HouseSettings(), None)


def test_changes_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state" / "house.json"
    house_file = HouseFile(path)
    house_file.change(lambda house: replace(house, last=LAST))
    house_file.change(lambda house: replace(house, keep_bytes=5 * 10**9))
    assert HouseFile(path).house == house_file.house == HouseSettings(keep_bytes=5 * 10**9, last=LAST)
    assert '"Zoë"' in path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["house.json"]


@pytest.mark.parametrize("damage", ['{"last": 7}', "\x00", "[" * 50_000, '{"keep_bytes": 1}', '{"language": [', "null"])
def test_a_damaged_file_is_reported_and_replaced_by_the_next_change(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "house.json"
    path.write_text(damage)
    house_file = HouseFile(path)
    assert house_file.house == HouseSettings()
    assert str(path) in str(house_file.problem)
    house_file.change(lambda house: replace(house, last=LAST))
    assert house_file.problem is None
    assert load_house(path) == (HouseSettings(last=LAST), None)


def test_a_failed_write_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "in_the_way").write_text("")
    house_file = HouseFile(tmp_path / "in_the_way" / "house.json")
    with pytest.raises(OSError, match="in_the_way"):
        house_file.change(lambda house: replace(house, last=LAST))
    assert house_file.house == HouseSettings()
