"""Tests of `tallybone config`: effective and changed settings, and a schema consistent with validation."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from hardware.part import schema_of
from tallybone.cli.config import ConfigOptions, print_config
from tallybone.cli.play import PlayOptions, play
from tallybone.store.table_file import TableSettings, load_table

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = jsonschema_rs.Draft202012Validator(schema_of(TableSettings))
FILES = ("systemd/table.toml", "docs/wiring-table.toml")


def examples() -> dict[str, str]:
    """Return every table.toml of the project, including the commented-out parts of the installed one."""
    found = {name: (ROOT / name).read_text() for name in FILES}
    found["systemd/table.toml, all of it"] = re.sub(
        r"^#(?=[\[a-z])", "", found["systemd/table.toml"], flags=re.MULTILINE
    )
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, text in enumerate(re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)):
            found[f"{page.name} {number}"] = text
    return found


def printed(*, path: Path | None = None, changed: bool = False, schema: bool = False) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert print_config(ConfigOptions(config=path, changed=changed, schema=schema), out=out, err=err) == 0
    assert err.getvalue() == ""
    return out.getvalue()


assert {"hardware.md 0", "mqtt.md 0"} < set(examples())


@pytest.mark.parametrize("name", examples())
def test_the_schema_accepts_every_example(name: str) -> None:
    SCHEMA.validate(tomllib.loads(examples()[name]))


@pytest.mark.parametrize("name", [name for name in examples() if "mqtt" not in name])
def test_the_output_is_equivalent_to_the_file(name: str, tmp_path: Path) -> None:
    path, other = tmp_path / "table.toml", tmp_path / "other.toml"
    path.write_text(examples()[name])
    for changed in (False, True):
        other.write_text(printed(path=path, changed=changed))
        SCHEMA.validate(tomllib.loads(other.read_text()))
        assert load_table(other).hardware == load_table(path).hardware
        assert load_table(other).page == load_table(path).page


def test_defaults_are_omitted_with_the_changed_option(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[[hardware.displays]]\ndriver = "segment"\nurl = "/dev/ttyUSB0"\nbrightness = 40\n')
    assert tomllib.loads(printed(path=path)) == {
        "camera": {"url": "usb:0", "rotate": 0, "flip": False},
        "hardware": {
            "leds": [],
            "displays": [{"driver": "segment", "url": "/dev/ttyUSB0", "baud": 9600, "brightness": 40}],
            "pins": "auto",
        },
        "page": {"names": []},
        "webhooks": [],
    }
    assert tomllib.loads(printed(path=path, changed=True)) == {
        "hardware": {"displays": [{"driver": "segment", "url": "/dev/ttyUSB0", "brightness": 40}]}
    }


def test_an_invalid_file_is_not_printed(tmp_path: Path) -> None:
    path, err = tmp_path / "table.toml", io.StringIO()
    path.write_text("[page]\nname = 1\n[camera]\nurl = 1\n")
    assert print_config(ConfigOptions(config=path), out=io.StringIO(), err=err) == 1
    assert "[camera] url: expected a text, but got 1" in err.getvalue()
    assert "[page] name: is not known; did you mean names?" in err.getvalue()


def test_the_printed_schema_is_the_tested_one() -> None:
    assert json.loads(printed(schema=True)) == schema_of(TableSettings)


def test_every_key_has_a_description() -> None:
    keys = [
        (name, key, node)
        for name, table in schema_of(TableSettings)["$defs"].items()
        for key, node in table.get("properties", {}).items()
    ]
    assert [(name, key) for name, key, node in keys if not _is_described(name, key, node)] == []


def _is_described(table: str, key: str, node: dict[str, Any]) -> bool:
    is_named = key == "driver" or table in ("HardwareSettings", "GpioSettings") or table.startswith("No")
    return is_named or "description" in node


WRONG = {
    "leds single": "pins=[1, 6]; pins=5; pin=[5]",
    "leds strip": "percent=101; count=0; count=301; spi='2.0'; shows='seat'; pins=[4]",
    "leds rgb": "pins=[5, 6, 12]; pins=[[5, 6]]",
    "leds strp": "count=1",
    "buttons gpio": "next='22'; call=[true]; cal=[5]",
    "buttons virtual": "call=[5]",
    "knock piezo-spi": "channel=8; channels=[0, 1, 1]; pin=4",
    "knock piezo-pin": "seat=16",
    "knock microphone": "device=-1",
    "displays segment": "seat=true; brightness=101; backlight=[1, 2, 3]",
    "displays serlcd-16x2": "backlight=[0, 0, 256]",
    "displays nextion": "baud=300",
    "displays terminal": "baud=9600",
}


@pytest.mark.parametrize(
    ("table", "setting"), [(table, setting) for table, settings in WRONG.items() for setting in settings.split("; ")]
)
def test_schema_and_program_reject_the_same_parts(table: str, setting: str) -> None:
    kind, _, driver = table.partition(" ")
    ((key, value),) = tomllib.loads(setting).items()
    good: dict[str, dict[str, object]] = {"single": {"pins": [5]}, "strip": {"count": 4}, "rgb": {"pins": [[5, 6, 12]]}}
    more: dict[str, object] = {"url": "x"} if kind == "displays" else {"pin": 4} if driver == "piezo-pin" else {}
    part = {"driver": driver, **good.get(driver, more)}

    def file_with(settings: dict[str, object]) -> dict[str, object]:
        return {"hardware": {kind: [settings] if kind in ("leds", "displays") else settings}}

    assert SCHEMA.is_valid(file_with(part)) is (driver != "strp")
    assert not SCHEMA.is_valid(file_with({**part, key: value}))
    with pytest.raises(ValueError, match=key if driver != "strp" else "driver"):
        TableSettings.model_validate(file_with({**part, key: value}))


@pytest.mark.parametrize(
    "text",
    [
        "camra = 1",
        "[camera]\nurl = ''",
        '[page]\nnames = ["a b"]',
        '[mqtt]\nbroker = "http://club"\ntable = "a"',
        '[mqtt]\nbroker = "mqtt://club"\ntable = "Table 3"',
        '[mqtt]\nbroker = "mqtt://club"\ntable = "a"\nprefix = "a/+/b"',
        '[mqtt]\nbroker = "mqtt://club"\ntable = "a"\ndiscovery = "yes"',
        '[mqtt]\nbroker = "mqtt://tom:sesame@club"\ntable = "a"',
        '[[webhooks]]\nurl = "ftp://a"',
        '[[webhooks]]\nurl = "http://a b/"',
        '[[webhooks]]\nurl = "http://a/"\nevents = ["goals"]',
        '[[webhooks]]\nurl = "http://a/"\nevents = []',
        "[[webhooks]]\n",
    ],
)
def test_schema_and_program_reject_the_same_other_settings(text: str) -> None:
    settings = tomllib.loads(text)
    assert not SCHEMA.is_valid(settings)
    with pytest.raises(ValueError):  # noqa: PT011 - pydantic's messages are tested elsewhere
        TableSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("camera", "reason"),
    [
        ('url = "usb:front"', "usb:front: expected pi:0, usb:0"),
        ('url = "usb:0,colour=red"', "got colour=red"),
        ('url = "nowhere.mp4"', "nowhere.mp4: there is no such camera or file"),
        ('url = "simulated:table=2"', "simulated:table=2: table: expected seed, hands, look, difficulty"),
        ('url = "http://phone/video"\nmains = 50', "can be set only for cameras of this computer"),
        ('url = "http://phone/video"', "a network camera needs av"),
    ],
)
def test_config_and_play_refuse_the_same_cameras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, camera: str, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    path = tmp_path / "table.toml"
    path.write_text(f"[camera]\n{camera}\n")
    err, play_err = io.StringIO(), io.StringIO()
    code = print_config(ConfigOptions(config=path), out=io.StringIO(), err=err)
    assert code == (2 if "simulated" in camera else 1)
    assert reason in err.getvalue()
    options = PlayOptions(config=path, record="none")
    assert play(options, out=io.StringIO(), err=play_err, keys_fd=0) == code
    hint = "; `--camera simulated` needs no camera"
    assert err.getvalue().partition(": ")[2] == play_err.getvalue().replace(hint, "").partition(": ")[2]
