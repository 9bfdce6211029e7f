"""The file for whoever helps: it says how the table is, and none of the secrets that lie all around it."""

from __future__ import annotations

import json
import stat
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from tallybone.doctor.bundle import BundleSources, OwnWords, bundle_texts, packed, words_of_program, write_bundle
from tallybone.doctor.command import doctor
from tallybone.finding import ok, problem
from tallybone.store.calibration_file import Calibration, LightKept, format_calibration
from tallybone.store.table_file import TableFile, load_table
from tests.tallybone.doctor.fake_table import PI, FakeProbes

# Each is marked, so that a piece of it is found as well.
MARK = "zq"
SECRETS = {name: f"{MARK}{name}{MARK}7" for name in ("password", "user", "player", "host", "cookie", "token", "wifi")}
OF_OWN_WORDS = "camera-table-display"
"""A pass phrase of words that the program says too."""
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
2026-11-21T20:15:03+0100 {SECRETS["host"]} tallybone[812]: tallybone_session={SECRETS["cookie"]}; {OF_OWN_WORDS}
2026-11-21T20:15:04+0100 {SECRETS["host"]} systemd[1]: tallybone.service: Watchdog timeout
{SECRETS["token"]} and no line of the journal
"""


def place(folder: Path) -> BundleSources:
    """A table with secrets in every corner of it."""
    sessions, config = folder / SECRETS["user"] / "tallybone" / "sessions", folder / "table.toml"
    sessions.mkdir(parents=True)
    (sessions / f"2026-11-21T20-15-00-{SECRETS['player']}.mcap").write_bytes(SECRETS["token"].encode())
    (sessions / f"{SECRETS['player']}.mcap").write_bytes(b"")
    (sessions.parent / "owner.json").write_text(json.dumps({"hash": SECRETS["password"], "note": OF_OWN_WORDS}))
    (sessions.parent / "house.json").write_text(json.dumps({"last": {"players": [SECRETS["player"]]}}))
    (sessions.parent / "calibration").mkdir()
    kept = Calibration(light=LightKept((1.0, 2.0, 3.0), warnings=(f"too dark for {SECRETS['player']}",)))
    (sessions.parent / "calibration" / "table.json").write_text(format_calibration(kept))
    config.write_text(TOML)
    home = folder / SECRETS["user"]
    return BundleSources(
        table=replace(load_table(config), camera="usb:0"),
        config=config,
        folder=sessions,
        findings=(
            ok("camera", "usb:0, 1280 x 720"),
            problem("table.toml", f"{home}/table.toml: [mqtt] password: got '{SECRETS['password']}'", "", "mend it"),
            problem("display", f"{OF_OWN_WORDS} does not answer"),
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
    with zipfile.ZipFile(BytesIO(packed(bundle_texts(place(tmp_path))))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_no_secret_is_anywhere_in_it(members: dict[str, str]) -> None:
    for name, text in members.items():
        assert MARK not in name + text, name
        assert PIN not in text, name
        assert OF_OWN_WORDS not in text, name


def test_the_secrets_would_be_found(tmp_path: Path) -> None:
    asked = replace(place(tmp_path), findings=(ok("camera", SECRETS["password"]),))
    assert MARK in "".join(one.words for one in asked.findings)
    assert MARK in asked.run(("journalctl",))
    assert MARK in asked.ask("/health")
    assert MARK in asked.folder.parent.joinpath("owner.json").read_text()


def test_it_still_says_what_helps(members: dict[str, str]) -> None:
    assert json.loads(members["about.json"])["system"]["model"] == "Raspberry Pi 4 Model B Rev 1.5"
    assert "numpy" in json.loads(members["about.json"])["packages"]
    found = json.loads(members["doctor.json"])["findings"]
    assert [one["part"] for one in found] == ["camera", "table.toml", "display"]
    assert found[0]["words"] == "usb:0, 1280 x 720"
    assert "password: got '…'" in found[1]["words"]
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


def test_what_cannot_be_had_costs_only_itself(tmp_path: Path) -> None:
    def silent(url: str) -> str:
        raise ConnectionRefusedError(SECRETS["host"])

    asked = replace(place(tmp_path), ask=silent, table=TableFile(), config=None)
    with zipfile.ZipFile(BytesIO(packed(bundle_texts(asked)))) as archive:
        assert archive.read("health.json") == b"could not be had: ConnectionRefusedError\n"
        assert json.loads(archive.read("about.json"))["tallybone"]


def test_only_its_owner_can_read_it_and_no_file_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "help.zip"
    write_bundle(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_bundle(path, {})


def test_the_command_writes_it_after_the_examination(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, path = tmp_path / "table.toml", tmp_path / "help.zip"
    config.write_text('[camera]\nurl = "simulated"\n')
    assert doctor(config, probes=FakeProbes(), folder=tmp_path / "sessions", bundle=path) == 0
    assert set(zipfile.ZipFile(path).namelist()) >= {"README.txt", "doctor.json", "config.json", "log.txt"}
    assert doctor(config, probes=FakeProbes(), folder=tmp_path / "sessions", bundle=path) == 1
    assert "there is a file of that name" in capsys.readouterr().err


def test_words_that_the_program_says_stay_and_all_others_go() -> None:
    own = OwnWords(words_of_program())
    assert own.kept("the camera gives no pictures: unplugged?") == "the camera gives no pictures: unplugged?"
    assert own.kept("xkcdhorse123 1234567") == "… …"
