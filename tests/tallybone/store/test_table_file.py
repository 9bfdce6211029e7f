"""Tests of table.toml: location, strict parsing, and the last valid version."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardware.leds.drivers import LedsRole
from hardware.table import HardwareSettings, VirtualSettings
from tallybone.store.house import load_valid_table
from tallybone.store.table_file import TableFile, TableFileError, load_table


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_default_file_is_used_unless_another_is_named(tmp_path: Path) -> None:
    default = written(tmp_path / "usual.toml", '[camera]\nurl = "pi:0"')
    other = written(tmp_path / "other.toml", '[hardware.knock]\ndriver = "virtual"')
    assert load_table(usual=default) == TableFile("pi:0", path=default)
    knock = HardwareSettings(knock=VirtualSettings(driver="virtual"))
    assert load_table(other, usual=default) == TableFile(None, knock, path=other)
    assert load_table(usual=tmp_path / "absent.toml") == TableFile()
    with pytest.raises(FileNotFoundError):
        load_table(tmp_path / "absent.toml")


def test_the_documented_example_is_valid(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "hardware.md").read_text()
    example = load_table(written(tmp_path / "table.toml", text.split("```toml\n")[1].split("```")[0]))
    assert example.camera == "usb:0"
    assert [part.shows for part in example.hardware.leds] == [LedsRole.SEATS, LedsRole.STATUS]
    assert example.hardware.buttons is not None
    assert example.hardware.knock is not None
    assert len(example.hardware.displays) == 1


def test_every_problem_is_reported_with_the_file_name(tmp_path: Path) -> None:
    path = written(
        tmp_path / "table.toml",
        'camra = 1\n[camera]\nurl = 5\nrate = 2\n[hardware.knock]\ndriver = "piezo"\n[page]\nnames = ["a b"]\n',
    )
    with pytest.raises(TableFileError) as error:
        load_table(path)
    assert error.value.problems == (
        f"{path}: [camera] url: expected a text, but got 5",
        f"{path}: [camera] rate: is not known; did you mean rotate?",
        f"{path}: [hardware.knock] driver: expected microphone, piezo-pin, piezo-spi, wav, virtual or none,"
        ' but got "piezo"; did you mean piezo-spi?',
        f'{path}: [page] names: expected host names, such as ["score.club.example"], but got "a b"',
        f"{path}: camra: is not known; did you mean camera?",
    )


@pytest.mark.parametrize("data", [b"[camera", b"\xff\xfe"])
def test_invalid_toml_is_reported_clearly(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "table.toml"
    path.write_bytes(data)
    with pytest.raises(TableFileError, match="this is not valid TOML"):
        load_table(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"a = {'[' * 5000}{']' * 5000}", "nested too deeply"),
        (f"{'a.' * 3000}b = 1", "nested too deeply"),
        (f"[page]\nnames = {'9' * 5000}", "a number has thousands of digits"),
        (f"[page]\nnames = 0x{'f' * 5000}", "a number has thousands of digits"),
    ],
    ids=["nested lists", "nested tables", "a huge number", "a huge number in base 16"],
)
def test_extreme_values_give_one_clear_error(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(TableFileError) as error:
        load_table(path)
    (problem,) = error.value.problems
    assert problem.startswith(f"{path}: this is not valid TOML (")
    assert reason in problem


def test_the_options_of_the_camera_are_those_of_the_command_line(tmp_path: Path) -> None:
    path = written(tmp_path / "table.toml", '[camera]\nurl = "pi:0,rate=15"\nrotate = 180\nflip = true\nmains = 50\n')
    assert load_table(path).camera == "pi:0,rate=15,rotate=180,flip=yes,mains=50"
    path = written(tmp_path / "table.toml", '[camera]\nmains = "off"\n')
    assert load_table(path).camera == "usb:0,mains=off"
    path = written(tmp_path / "table.toml", '[camera]\nrotate = 45\nmains = "55"\n')
    with pytest.raises(TableFileError) as error:
        load_table(path)
    assert error.value.problems == (
        f"{path}: [camera] rotate: expected 0, 90, 180 or 270, but got 45",
        f'{path}: [camera] mains: expected 50, 60 or off, but got "55"',
    )


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
    no_folder = written(tmp_path / "file", "")
    valid = load_valid_table(written(path, '[camera]\nurl = "pi:0"'), no_folder / "last.toml")
    assert valid == (TableFile("pi:0", path=path), ())  # as on a full disk


def test_a_removed_file_gives_no_parts_and_is_not_used_again(tmp_path: Path) -> None:
    path, last = tmp_path / "table.toml", tmp_path / "last.toml"
    load_valid_table(None, last, usual=written(path, '[camera]\nurl = "pi:0"'))
    path.unlink()
    assert load_valid_table(None, last, usual=path) == (TableFile(), ())
    written(path, "[camera")
    assert load_valid_table(None, last, usual=path)[0] == TableFile()
