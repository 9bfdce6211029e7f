"""Tests of the house settings, which persist between matches, and of the owner's password."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tallybone.choices import TileSet
from tallybone.store.house import (
    HouseFile,
    HouseSettings,
    MatchSetting,
    PasswordError,
    has_password,
    is_password,
    load_house,
    set_password,
)

GOOD = "correct horse"
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


def test_accepts_only_the_password_set_last_and_stores_it_privately(tmp_path: Path) -> None:
    path = tmp_path / "state" / "owner.json"
    set_password(GOOD, path)
    assert has_password(path)
    assert is_password(GOOD, path)
    for wrong in ("", "correct hors", "Correct horse", "correct horse\0", "\ud800", "x" * 100_000):
        assert not is_password(wrong, path)
    assert GOOD not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    set_password(GOOD, path)
    assert path.read_text() != before  # another salt
    set_password("battery staple", path)
    assert (is_password(GOOD, path), is_password("battery staple", path)) == (False, True)
    for bad in ("", "short", "x" * 201):
        with pytest.raises(PasswordError, match="8 to 200 characters"):
            set_password(bad, tmp_path / "owner.json")
    assert not (tmp_path / "owner.json").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "null",
        "[" * 4000,
        '{"salt": "zz", "hash": ""}',
        '{"salt": "", "hash": 7}',
        json.dumps({"salt": "00", "hash": "", "n": 2**40}),
        json.dumps({"salt": "00", "hash": "", "n": 3}),
        json.dumps({"salt": "00", "hash": "", "r": 10**6}),
    ],
)
def test_a_damaged_file_admits_nobody_without_expensive_hashing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "owner.json"
    path.write_text(damage)
    assert not has_password(path)
    assert not is_password("", path)
