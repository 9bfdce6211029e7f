"""Tests of the last valid version of table.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallybone.store.house import load_valid_table
from tallybone.store.table_file import TableFile
from tests.tallybone.store.test_table_file import written


@pytest.mark.parametrize("broken", ["[camera", "[camera]\nurl = 5"])
def test_the_last_valid_version_replaces_a_broken_file(tmp_path: Path, broken: str) -> None:
    path, last = tmp_path / "table.toml", tmp_path / "state" / "last.toml"
    written(path, broken)
    table, faults = load_valid_table(path, last)
    assert table == TableFile(), "no version was valid"
    assert str(path) in faults[0]
    valid = load_valid_table(written(path, '[camera]\nurl = "pi:0"'), last)
    assert valid == (TableFile("pi:0", path=path), ())
    assert last.stat().st_mode & 0o777 == 0o600
    written(path, broken)
    assert load_valid_table(path, last) == (TableFile("pi:0", path=last), faults)


def test_a_removed_file_gives_no_parts_and_is_not_used_again(tmp_path: Path) -> None:
    path, last = tmp_path / "table.toml", tmp_path / "last.toml"
    load_valid_table(None, last, usual=written(path, '[camera]\nurl = "pi:0"'))
    path.unlink()
    assert load_valid_table(None, last, usual=path) == (TableFile(), ())
    written(path, "[camera")
    assert load_valid_table(None, last, usual=path)[0] == TableFile()


def test_a_full_disk_does_not_keep_a_table_from_its_settings(tmp_path: Path) -> None:
    path, no_folder = written(tmp_path / "table.toml", '[camera]\nurl = "pi:0"'), written(tmp_path / "file", "")
    assert load_valid_table(path, no_folder / "last.toml") == (TableFile("pi:0", path=path), ())
