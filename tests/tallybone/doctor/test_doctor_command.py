"""Tests of `tallybone doctor`: exit codes, JSON, and an invalid table.toml."""

from __future__ import annotations

import io
import json
from pathlib import Path

from tallybone.doctor.examine import doctor
from tallybone.doctor.parts import PartTrial
from tests.tallybone.doctor.fake_table import FakeProbes

TABLE = """
[camera]
url = "simulated:seed=3"
[hardware.buttons]
driver = "gpio"
next = 24
"""


def run_doctor(path: Path | None, probes: FakeProbes, *, as_json: bool = False) -> tuple[int, str]:
    out = io.StringIO()
    return doctor(path, as_json=as_json, probes=probes, folder=Path("/recordings"), out=out), out.getvalue()


def table(folder: Path, text: str = TABLE) -> Path:
    path = folder / "table.toml"
    path.write_text(text)
    return path


def test_a_table_without_faults_exits_with_0(tmp_path: Path) -> None:
    probes = FakeProbes()
    code, out = run_doctor(table(tmp_path), probes)
    assert (code, out.splitlines()[-1]) == (0, "All checks passed.")
    assert probes.tested == ["camera simulated:seed=3", "buttons"]


def test_a_problem_exits_with_1_and_an_explanation(tmp_path: Path) -> None:
    probes = FakeProbes(opened={"buttons": PartTrial("the button next cannot have pin 24: GPIO busy")})
    code, out = run_doctor(table(tmp_path), probes)
    assert (code, out.splitlines()[-1]) == (1, "1 problem.")
    assert "problem    buttons      the button next cannot have pin 24: GPIO busy\n" in out
    assert "Is a game running?" in out


def test_json_is_a_single_object(tmp_path: Path) -> None:
    code, out = run_doctor(table(tmp_path), FakeProbes(), as_json=True)
    values = json.loads(out)
    assert (code, values["well"], out.count("\n")) == (0, True, 1)
    assert {"part", "grade", "text", "remedy", "commands"} == set(values["findings"][0])


def test_all_errors_of_the_file_are_reported_and_the_rest_is_checked(tmp_path: Path) -> None:
    wrong = table(tmp_path, '[hardware.buttons]\ndriver = "gpoi"\n[hardware.knock]\ndriver = "ear"\n')
    probes = FakeProbes()
    code, out = run_doctor(wrong, probes)
    assert code == 1
    assert out.count("table.toml") >= 2
    assert "hardware.buttons" in out
    assert "hardware.knock" in out
    assert probes.tested == ["camera usb:0"]


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    code, out = run_doctor(tmp_path / "absent.toml", FakeProbes())
    assert code == 1
    assert "there is no such file or folder" in " ".join(out.split())  # lines are wrapped
