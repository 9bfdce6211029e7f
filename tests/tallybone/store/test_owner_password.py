"""Tests of the owner's password."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tallybone.store.house import PasswordError, has_password, is_password, set_password

GOOD = "correct horse"


def test_accepts_only_the_password_set(tmp_path: Path) -> None:
    path = tmp_path / "state" / "owner.json"
    set_password(GOOD, path)
    assert has_password(path)
    assert is_password(GOOD, path)
    for wrong in ("", "correct hors", "Correct horse", "correct horse\0", "\ud800", "x" * 100_000):
        assert not is_password(wrong, path)


def test_a_new_password_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    set_password(GOOD, path)
    set_password("battery staple", path)
    assert not is_password(GOOD, path)
    assert is_password("battery staple", path)


def test_the_file_is_private_and_does_not_contain_the_password(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    set_password(GOOD, path)
    assert GOOD not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_equal_passwords_have_different_hashes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        set_password(GOOD, tmp_path / name)
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()


@pytest.mark.parametrize("bad", ["", "short", "x" * 201])
def test_rejects_short_and_long_passwords(tmp_path: Path, bad: str) -> None:
    with pytest.raises(PasswordError, match="8 to 200 characters"):
        set_password(bad, tmp_path / "owner.json")
    assert list(tmp_path.iterdir()) == []


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
