"""Tests of the support bundle: it describes the table without secrets."""

from __future__ import annotations

import json
import stat
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from tallybone.doctor import examine
from tallybone.finding import ok, problem
from tallybone.store.calibration_file import Calibration, LightKept, format_calibration
from tallybone.store.table_file import TableFile, load_table
from tests.tallybone.doctor.fake_table import PI, FakeProbes

# Each has a mark, so that parts of it are found too.
MARK = "zq"
SECRETS = {name: f"{MARK}{name}{MARK}7" for name in ("password", "user", "player", "host", "cookie", "token", "wifi")}
PASS_PHRASE = "camera-table-display"
"""A pass phrase with words of the program."""
PIN = "493817"
TOML = f"""
# {SECRETS["wifi"]}
[camera]
url = "/home/{SECRETS["user"]}/evening.mp4"
[hardware.knock]
driver = "wav"
file = "/home/{SECRETS["user"]}/knock.wav"
[[hardware.displays]]
driver = "serlcd-20x4"
url = "socket://{SECRETS["user"]}:{SECRETS["password"]}@display:7000"
"""
LOG = f"""\
2026-11-21T20:15:01+0100 {SECRETS["host"]} tallybone[812]: page http://192.168.7.1:8080  PIN {PIN}
2026-11-21T20:15:02+0100 {SECRETS["host"]} tallybone[812]: {SECRETS["player"]} plays 5-3, 10 points
2026-11-21T20:15:03+0100 {SECRETS["host"]} tallybone[812]: tallybone_session={SECRETS["cookie"]}; {PASS_PHRASE}
2026-11-21T20:15:04+0100 {SECRETS["host"]} systemd[1]: tallybone.service: Watchdog timeout
{SECRETS["token"]} and no line of the journal
"""


def table_with_secrets(folder: Path) -> examine.BundleSources:
    """Return a table with secrets everywhere."""
    sessions, config = folder / SECRETS["user"] / "tallybone" / "sessions", folder / "table.toml"
    sessions.mkdir(parents=True)
    (sessions / f"2026-11-21T20-15-00-{SECRETS['player']}.mcap").write_bytes(SECRETS["token"].encode())
    (sessions / f"{SECRETS['player']}.mcap").write_bytes(b"")
    (sessions.parent / "owner.json").write_text(json.dumps({"hash": SECRETS["password"], "note": PASS_PHRASE}))
    (sessions.parent / "house.json").write_text(json.dumps({"last": {"players": [SECRETS["player"]]}}))
    (sessions.parent / "calibration").mkdir()
    kept = Calibration(light=LightKept((1.0, 2.0, 3.0), warnings=(f"too dark for {SECRETS['player']}",)))
    (sessions.parent / "calibration" / "table.json").write_text(format_calibration(kept))
    config.write_text(TOML)
    home = folder / SECRETS["user"]
    return examine.BundleSources(
        table=replace(load_table(config), camera="usb:0"),
        config=config,
        folder=sessions,
        findings=(
            ok("camera", "usb:0, 1280 x 720"),
            problem("table.toml", f"{home}/table.toml: [mqtt] password: got '{SECRETS['password']}'", "", "mend it"),
            problem("display", f"{PASS_PHRASE} does not answer"),
        ),
        machine=PI,
        environment={"XDG_STATE_HOME": str(home), "TALLYBONE_TOKEN": SECRETS["token"], "LANG": "de_DE.UTF-8"},
        home=home,
        run=lambda command: LOG,
        ask=answer,
    )


def answer(url: str) -> str:
    if url.endswith("/health"):
        return json.dumps(
            {"ok": False, "reasons": [f"camera: {SECRETS['host']} gives no pictures"], "x": SECRETS["cookie"]}
        )
    return f'tallybone_viewers 3\ntallybone_part_up{{part="{SECRETS["player"]}"}} 1\n{SECRETS["token"]} 1\n'


@pytest.fixture(name="members")
def all_members(tmp_path: Path) -> dict[str, str]:
    with zipfile.ZipFile(BytesIO(examine.packed(examine.bundle_texts(table_with_secrets(tmp_path))))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_a_bundle_contains_no_secret(members: dict[str, str]) -> None:
    for name, text in members.items():
        assert MARK not in name + text, name
        assert PIN not in text, name
        assert PASS_PHRASE not in text, name


def test_the_sources_contain_the_secrets(tmp_path: Path) -> None:
    sources = replace(table_with_secrets(tmp_path), findings=(ok("camera", SECRETS["password"]),))
    assert MARK in "".join(finding.text for finding in sources.findings)
    assert MARK in sources.run(("journalctl",))
    assert MARK in sources.ask("/health")
    assert MARK in sources.folder.parent.joinpath("owner.json").read_text()


def test_a_bundle_contains_useful_information(members: dict[str, str]) -> None:
    assert json.loads(members["about.json"])["system"]["model"] == "Raspberry Pi 4 Model B Rev 1.5"
    assert "numpy" in json.loads(members["about.json"])["packages"]
    found = json.loads(members["doctor.json"])["findings"]
    assert [finding["part"] for finding in found] == ["camera", "table.toml", "display"]
    assert found[0]["text"] == "usb:0, 1280 x 720"
    assert "password: got '…'" in found[1]["text"]
    config = json.loads(members["config.json"])
    assert config["camera"] == "usb:0"
    assert config["hardware"]["displays"][0] == {
        "driver": "serlcd-20x4", "url": "…", "baud": 9600, "backlight": None, "name": "hardware.displays",
    }  # fmt: skip
    assert json.loads(members["calibration.json"])["light"]["levels"] == [1.0, 2.0, 3.0]
    assert json.loads(members["recordings.json"]) == [
        {"name": "2026-11-21T20-15-00…", "bytes": len(SECRETS["token"])},
        {"name": "……", "bytes": 0},
    ]
    assert "2026-11-21T20:15:04+0100 systemd: tallybone.service: Watchdog" in members["log.txt"]
    assert "PIN …" in members["log.txt"]
    assert json.loads(members["health.json"])["reasons"] == ["camera: … gives no pictures"]
    assert "tallybone_viewers 3\n" in members["metrics.txt"]


def test_a_missing_source_only_affects_its_file(tmp_path: Path) -> None:
    def silent(url: str) -> str:
        raise ConnectionRefusedError(SECRETS["host"])

    sources = replace(table_with_secrets(tmp_path), ask=silent, table=TableFile(), config=None)
    with zipfile.ZipFile(BytesIO(examine.packed(examine.bundle_texts(sources)))) as archive:
        assert archive.read("health.json") == b"could not be had: ConnectionRefusedError\n"
        assert json.loads(archive.read("about.json"))["tallybone"]


def test_a_bundle_is_private_and_overwrites_no_file(tmp_path: Path) -> None:
    path = tmp_path / "help.zip"
    examine.write_bundle(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        examine.write_bundle(path, {})


def test_the_command_writes_a_bundle_after_the_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, path = tmp_path / "table.toml", tmp_path / "help.zip"
    config.write_text('[camera]\nurl = "simulated"\n')
    assert examine.doctor(config, probes=FakeProbes(), folder=tmp_path / "sessions", bundle=path) == 0
    assert set(zipfile.ZipFile(path).namelist()) >= {"README.txt", "doctor.json", "config.json", "log.txt"}
    assert examine.doctor(config, probes=FakeProbes(), folder=tmp_path / "sessions", bundle=path) == 1
    assert "there is a file of that name" in capsys.readouterr().err


def test_only_words_of_the_program_are_kept() -> None:
    own = examine.OwnWords(examine.words_of_program())
    assert own.kept("the camera gives no pictures: unplugged?") == "the camera gives no pictures: unplugged?"
    assert own.kept("xkcdhorse123 1234567") == "… …"
