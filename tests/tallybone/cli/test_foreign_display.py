"""A display of another distribution: named in table.toml, opened, checked and described without an edit here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import jsonschema_rs
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
DRIVER = '''
    """An OLED whose frames are files: portable bitmaps of 128x64."""

    from pathlib import Path
    from typing import Annotated, Literal

    import cv2
    import numpy as np
    from pydantic import Field

    from hardware.part_state import PartState
    from hardware.display.driver import DisplayDriver, DriverLibrary
    from hardware.display.rows import screen_at
    from hardware.display.text import TERMINAL_CHARACTERS


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
            cv2.imwrite(str(self._path), frame)

        def close(self):
            pass


    class FrameDriver(DisplayDriver):
        """An OLED whose frames are files."""

        driver: Literal["oled-frames"]
        file: Annotated[str, Field(min_length=1, description="the newest frame")]
        contrast: Annotated[int, Field(ge=1, le=255, description="brightness")] = 128

        libraries = (DriverLibrary("tallybone_frames", "tallybone-frames", probe="FrameDriver"),)

        def open(self, clock):
            return Frames(Path(self.file), self.contrast)

        def doubt(self, wait):
            return "it is a file" if self.contrast == 1 else ""
'''
SHOWN = """
    import sys, time
    from pathlib import Path
    from hardware.display.page import DisplayPage, ScoreLine
    from hardware.leds.patterns import TableState
    from hardware.open_parts import PartOpener
    from hardware.parts import Parts
    from hardware.virtual.panel import VirtualPanel
    from tallybone.store.table_file import load_table

    hardware = load_table(Path(sys.argv[1])).hardware
    parts = Parts(hardware, PartOpener(hardware.pins, VirtualPanel(()), time.monotonic_ns), clock=time.monotonic_ns)
    parts.show(TableState(2), DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 128))))
    began = time.monotonic()
    while not Path(sys.argv[2]).exists() and time.monotonic() - began < 20:
        parts.problems
    parts.close()
"""


@pytest.fixture(name="site")
def site_packages(tmp_path: Path) -> Path:
    """Return a folder with the distribution, as pip would install it."""
    site = tmp_path / "site"
    about = site / "tallybone_frames-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tallybone-frames\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[tallybone.displays]\noled-frames = tallybone_frames:FrameDriver\n")
    (site / "tallybone_frames.py").write_text(dedent(DRIVER))
    return site


@pytest.fixture(name="table")
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(
        '[camera]\nurl = "simulated:seed=1"\n[[hardware.displays]]\n'
        f'driver = "oled-frames"\nfile = "{tmp_path / "frame.png"}"\n'
    )
    return path


def run(site: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the distribution on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", dedent(code), *arguments]
    return subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, timeout=120)


def tallybone(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(site, "from tallybone.cli import main; main()", *arguments)


def test_it_is_in_the_schema_and_its_bounds_hold(site: Path, table: Path) -> None:
    schema = json.loads(tallybone(site, "config", "--schema").stdout)
    check = jsonschema_rs.validator_for(schema)
    part = {"driver": "oled-frames", "file": "frame.png"}
    assert check.is_valid({"hardware": {"displays": [part]}})
    assert not check.is_valid({"hardware": {"displays": [{**part, "contrast": 256}]}})
    assert "contrast = 128" in tallybone(site, "config", "--config", str(table)).stdout
    table.write_text(table.read_text() + "contrast = 256\nurl = 1\n")
    found = tallybone(site, "config", "--config", str(table))
    assert found.returncode == 1
    assert "[hardware.displays] contrast: expected 1 to 255, but got 256" in found.stderr
    assert "[hardware.displays] url: has no meaning with the driver oled-frames" in found.stderr


def test_it_is_opened_and_shows_a_score(site: Path, table: Path, tmp_path: Path) -> None:
    frame = tmp_path / "frame.png"
    shown = run(site, SHOWN, str(table), str(frame))
    assert shown.stderr == ""
    assert (tmp_path / "frame.0.txt").read_text().split() == [">Ann", "35"]
    assert (tmp_path / "frame.1.txt").read_text().split() == ["Ben", "128"]
    assert frame.read_bytes().startswith(b"\x89PNG")


def test_the_doctor_checks_it_and_its_library(site: Path, table: Path, tmp_path: Path) -> None:
    table.write_text(table.read_text() + "contrast = 1\n")
    findings = json.loads(tallybone(site, "doctor", "--json", "--config", str(table)).stdout)["findings"]
    by_part = {one["part"]: one["words"] for one in findings}
    assert by_part["tallybone-frames"] == "1.0, for score displays"
    assert by_part["display"].startswith("it is a file")
    assert (tmp_path / "frame.png").exists()


def test_one_that_cannot_be_loaded_costs_only_itself(site: Path, table: Path) -> None:
    (site / "tallybone_frames.py").write_text("import no_such_module\n")
    found = tallybone(site, "config", "--config", str(table))
    assert found.returncode == 1
    assert "tallybone_frames:FrameDriver cannot be loaded: No module named 'no_such_module'" in found.stderr
    assert "[hardware.displays] driver: expected nextion, segment, serlcd-16x2, serlcd-20x4, terminal" in found.stderr
