"""Tests of drivers from another distribution: configured, opened, checked and described without changes here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import jsonschema_rs
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SCREEN = '''
    """An OLED whose frames are files: portable bitmaps of 128x64."""

    from pathlib import Path
    from typing import Annotated, Literal

    import cv2
    import numpy as np
    from pydantic import Field

    from hardware.part import NeededLibrary
    from hardware.display.drivers import DisplayDriver
    from hardware.display.page import TERMINAL_CHARACTERS, screen_at
    from hardware.part import PartState


    class Frames:
        """The display."""

        def __init__(self, path, contrast):
            self._path, self._contrast = path, contrast
            self.state = PartState()

        def show(self, page):
            frame = np.zeros((64, 128), np.uint8)
            for row, text in enumerate(screen_at(page, 16, 4, 0, TERMINAL_CHARACTERS)):
                cv2.putText(frame, text, (0, 12 + 16 * row), cv2.FONT_HERSHEY_PLAIN, 0.7, self._contrast)
                self._path.with_suffix(f".{row}.txt").write_text(text)
            cv2.imwrite(str(self._path.with_suffix(".png")), frame)

        def close(self):
            pass


    class Foreign(DisplayDriver):
        """An OLED whose frames are files."""

        driver: Literal["oled-frames"]
        file: Annotated[str, Field(min_length=1, description="the newest frame")]
        contrast: Annotated[int, Field(ge=1, le=255, description="brightness")] = 128

        libraries = (NeededLibrary("tallybone_foreign.display", "tallybone-display", "the screen", probe="Foreign"),)

        def open(self, clock):
            return Frames(Path(self.file), self.contrast)

        def doubt(self, wait):
            return "it is a file" if self.contrast == 1 else ""
'''
BELL = '''
    """A bell: its file is there once somebody has struck it."""

    from pathlib import Path
    from typing import Annotated, Literal

    from pydantic import Field

    from hardware.part import NeededLibrary
    from hardware.knock.drivers import KnockDriver
    from hardware.knock.sensor import ClassifiedSound
    from hardware.part import PartState


    class Bell:
        """The sensor."""

        def __init__(self, path, clock, contrast):
            self._path, self._clock, self._strength = path, clock, contrast / 255
            self.state = PartState()

        def start(self):
            self._path.write_text("")

        def read(self):
            if not self._path.exists():
                return ()
            self._path.unlink()
            return (ClassifiedSound(self._clock(), 1, self._strength, 1.0),)

        def close(self):
            pass


    class Foreign(KnockDriver):
        """A bell."""

        driver: Literal["bell"]
        file: Annotated[str, Field(min_length=1, description="a file that is there when it rings")]
        contrast: Annotated[int, Field(ge=1, le=255, description="loudness")] = 128

        libraries = (NeededLibrary("tallybone_foreign.knock", "tallybone-knock", "the bell", probe="Foreign"),)

        def open(self, pins, clock, detector):
            return Bell(Path(self.file), clock, self.contrast)

        def doubt(self, wait):
            return "it is a file" if self.contrast == 1 else ""
'''
PLAYED = """
    import sys, time
    from pathlib import Path
    from hardware.display.page import DisplayPage, ScoreLine
    from hardware.leds.lamps import TableState
    from hardware.table import PartOpener, Parts, VirtualPanel
    from tallybone.store.table_file import load_table

    hardware = load_table(Path(sys.argv[1])).hardware
    parts = Parts(hardware, PartOpener(hardware.pins, VirtualPanel(()), time.monotonic_ns), clock=time.monotonic_ns)
    parts.show(TableState(2), DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 128))))
    came, began = (), time.monotonic()
    while not (came and Path(sys.argv[2]).exists()) and time.monotonic() - began < 20:
        came += parts.read()
    parts.close()
    print([(one.kind.value, one.seat, round(one.strength, 2)) for one in came])
"""


@dataclass(frozen=True)
class Kind:
    """A kind of part, with a foreign driver for it. *own* are the built-in drivers, and *other* a key of theirs."""

    part: str
    group: str
    table: str
    code: str
    driver: str
    why: str
    own: str
    other: str

    def in_hardware(self, part: Mapping[str, object]) -> dict[str, object]:
        key = self.table.strip("[]").removeprefix("hardware.")
        return {"hardware": {key: [part] if self.table.startswith("[[") else part}}


DISPLAY = Kind(
    "display", "tallybone.displays", "[[hardware.displays]]", SCREEN, "oled-frames", "the screen",
    "nextion, segment, serlcd-16x2, serlcd-20x4, terminal", "url",
)  # fmt: skip
KNOCK = Kind(
    "knock", "tallybone.knocks", "[hardware.knock]", BELL, "bell", "the bell",
    "microphone, piezo-pin, piezo-spi, wav, virtual", "pin",
)  # fmt: skip


KINDS = (DISPLAY, KNOCK)


@pytest.fixture(name="site")
def site_packages(tmp_path: Path) -> Path:
    """Return a folder with a distribution for each kind, as installed by pip."""
    site = tmp_path / "site"
    (site / "tallybone_foreign").mkdir(parents=True)
    for kind in KINDS:
        about = site / f"tallybone_{kind.part}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tallybone-{kind.part}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{kind.group}]\nforeign = tallybone_foreign.{kind.part}:Foreign\n")
        (site / "tallybone_foreign" / f"{kind.part}.py").write_text(dedent(kind.code))
    return site


@pytest.fixture(name="table")
def table_file(tmp_path: Path) -> Path:
    return write_table(tmp_path)


def write_table(folder: Path, more: Callable[[Kind], str] = lambda kind: "") -> Path:
    """Write a configuration with both parts, and *more* lines for each."""
    path = folder / "table.toml"
    parts = (f'{kind.table}\ndriver = "{kind.driver}"\nfile = "{folder / kind.part}"\n{more(kind)}' for kind in KINDS)
    path.write_text('[camera]\nurl = "simulated:seed=1"\n' + "".join(parts))
    return path


def run(site: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the distribution on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", dedent(code), *arguments]
    return subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, timeout=120)


def tallybone(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(site, "from tallybone.cli import main; main()", *arguments)


def test_drivers_are_in_the_schema_and_validated(site: Path, table: Path, tmp_path: Path) -> None:
    schema = json.loads(tallybone(site, "config", "--schema").stdout)
    check = jsonschema_rs.validator_for(schema)
    for kind in KINDS:
        part = {"driver": kind.driver, "file": "frame.png"}
        assert check.is_valid(kind.in_hardware(part))
        assert not check.is_valid(kind.in_hardware({**part, "contrast": 256}))
    assert tallybone(site, "config", "--config", str(table)).stdout.count("contrast = 128") == 2
    write_table(tmp_path, lambda kind: f"contrast = 256\n{kind.other} = 1\n")
    found = tallybone(site, "config", "--config", str(table))
    assert found.returncode == 1
    for kind in KINDS:
        name = kind.table.strip("[]")
        assert f"[{name}] contrast: expected 1 to 255, but got 256" in found.stderr
        assert f"[{name}] {kind.other}: has no meaning with the driver {kind.driver}" in found.stderr


def test_a_display_shows_a_score_and_a_sensor_hears_a_knock(site: Path, table: Path, tmp_path: Path) -> None:
    done = run(site, PLAYED, str(table), str(tmp_path / "display.png"))
    assert (done.stderr, done.stdout) == ("", "[('knock', 1, 0.5)]\n")
    assert (tmp_path / "display.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "display.0.txt").read_text().split() == [">Ann", "35"]
    assert (tmp_path / "display.1.txt").read_text().split() == ["Ben", "128"]


def test_the_doctor_checks_drivers_and_their_libraries(site: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, lambda kind: "contrast = 1\n")
    findings = json.loads(tallybone(site, "doctor", "--json", "--config", str(table)).stdout)["findings"]
    by_part = {finding["part"]: finding["text"] for finding in findings}
    for kind in KINDS:
        assert by_part[f"tallybone-{kind.part}"] == f"1.0, for {kind.why}"
        assert by_part[kind.part].startswith("it is a file")


def test_a_driver_that_cannot_be_loaded_is_reported(site: Path, table: Path) -> None:
    for kind in KINDS:
        (site / "tallybone_foreign" / f"{kind.part}.py").write_text("import no_such_module\n")
    found = tallybone(site, "config", "--config", str(table))
    assert found.returncode == 1
    for kind in KINDS:
        text = f"{kind.part} driver tallybone_foreign.{kind.part}:Foreign cannot be loaded: No module named"
        assert text in found.stderr
        assert f"[{kind.table.strip('[]')}] driver: expected {kind.own}" in found.stderr
