"""Tests of all checks together: order, omitted parts, output in 80 columns, and the command."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

from hardware.table import HardwareSettings
from tallybone.doctor.boot import Library
from tallybone.doctor.examine import as_values, doctor, examine, is_well, lines_of, summary
from tallybone.doctor.parts import CameraSample, Device, PartTrial, check_opened
from tallybone.finding import Finding, Grade, ok, problem, warning
from tallybone.store.table_file import BeyondSettings, Broker, MqttSettings, TableFile, TableIdentity, Webhook
from tests.hardware.table.reading import read_hardware
from tests.tallybone.doctor.fake_table import PI, WHOLE, FakeProbes

EVERYTHING = ["camera pi:0", "LEDs single", "LEDs strip", "buttons", "microphone", "display /dev/serial0"]


def findings(probes: FakeProbes, hardware: HardwareSettings = WHOLE, camera: str | None = "pi:0") -> list[Finding]:
    return list(examine(TableFile(camera, hardware), Path("/recordings"), probes))


def problems(probes: FakeProbes) -> list[tuple[str, str]]:
    return [(finding.part, finding.text) for finding in findings(probes) if finding.grade is Grade.PROBLEM]


def test_a_table_without_faults_has_all_parts_tested() -> None:
    probes = FakeProbes()
    assert {finding.grade for finding in findings(probes)} == {Grade.OK}
    assert probes.tested == EVERYTHING


def test_only_configured_parts_and_their_machine_are_checked() -> None:
    probes = FakeProbes()
    found = findings(probes, HardwareSettings(), None)
    assert probes.tested == ["camera usb:0"]
    absent = [finding.part for finding in found if finding.grade is Grade.ABSENT]
    assert absent == ["LEDs", "buttons", "knock", "display"]
    probes = FakeProbes()
    grades = {finding.part: finding.grade for finding in findings(probes, HardwareSettings(), "none")}
    assert (grades["camera"], probes.tested) == (Grade.ABSENT, [])
    laptop = FakeProbes(given_machine=replace(PI, model=""))
    assert "SPI 0" not in {finding.part for finding in findings(laptop)}  # it has no config.txt
    virtual = read_hardware({"leds": [{"driver": "virtual"}], "buttons": {"driver": "virtual"}})
    assert {finding.grade for finding in findings(FakeProbes(), virtual)} == {Grade.OK, Grade.ABSENT}


def test_a_part_with_a_missing_device_is_reported_once_and_not_tested() -> None:
    probes = FakeProbes(devices={"/dev/gpiochip0": Device(is_there=False), "/dev/snd": Device(is_there=False)})
    assert [part for part, _ in problems(probes)] == ["LEDs", "microphone"]
    assert probes.tested == ["camera pi:0", "LEDs strip", "display /dev/serial0"]


def test_a_broken_part_does_not_hide_the_others() -> None:
    probes = FakeProbes(
        libraries={"gpiozero": Library(None, "No module named 'gpiozero'")},
        seen=CameraSample("pi:0: the camera is in use"),
        opened={"buttons": PartTrial("the button next cannot have pin 24"), "LEDs strip": PartTrial("GPIO busy")},
    )
    assert problems(probes) == [
        ("gpiozero", "missing; needed for LEDs and buttons on pins"),
        ("camera", "the camera is in use"),
        ("LEDs", "GPIO busy"),
        ("buttons", "the button next cannot have pin 24"),
    ]
    assert probes.tested == EVERYTHING


def test_held_noisy_and_busy_parts_are_explained() -> None:
    held = check_opened("buttons", PartTrial(details="9", held=("call 1", "next")))
    assert (held.grade, held.text) == (Grade.WARNING, "held down, or wired wrongly: call 1, next")
    noisy = check_opened("knock", PartTrial(details="piezo-pin", hits=8))
    assert (noisy.grade, "trimmer" in noisy.remedy) == (Grade.WARNING, True)
    assert check_opened("knock", PartTrial(details="piezo-pin", hits=1)).grade is Grade.OK
    assert check_opened("display", PartTrial(doubt="no response")).grade is Grade.WARNING
    assert "Is a game running?" in check_opened("LEDs", PartTrial("LED 0 cannot have its pin: 'GPIO busy'")).remedy


def test_lines_fit_in_80_columns_except_commands_and_escape_control_characters() -> None:
    long = problem("a part", "many words " * 20, "how to mend it in even more words " * 10, "x" * 90)
    lines = ["".join(text for text, _ in line) for line in lines_of(long)]
    assert len(lines) > 5
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[0].startswith("problem    a part       many words")
    assert lines[-1] == " " * 11 + "$ " + "x" * 90
    named = lines_of(problem("camera", "usb:\x1b[2J0: no such camera"))
    assert "usb:\\x1b[2J0" in "".join(text for line in named for text, _ in line)


def test_only_problems_make_the_result_negative() -> None:
    several = (ok("a", "b"), warning("c", "d"), warning("e", "f"))
    assert (is_well(several), summary(several)) == (True, "2 warnings.")
    assert (is_well(several[:1]), summary(several[:1])) == (True, "All checks passed.")
    worse = (*several, problem("g", "h"))
    assert (is_well(worse), summary(worse)) == (False, "1 problem and 2 warnings.")
    values = json.loads(json.dumps(as_values((problem("g", "h", "i", "j", "k"),))))
    found = {"part": "g", "grade": "problem", "text": "h", "remedy": "i", "commands": ["j", "k"]}
    assert values == {"well": False, "findings": [found]}


def test_recipients_are_tested_and_named_without_secrets() -> None:
    hook = Webhook(url="https://lights.local/hooks/sesame")
    mqtt = MqttSettings(broker=Broker(host="hub", port=1883), place=TableIdentity())
    table = TableFile("none", beyond=BeyondSettings(mqtt, (hook,)))
    probes = FakeProbes(unreached={"mqtt://hub:1883": "no broker answers at mqtt://hub:1883"})
    found = [
        finding for finding in examine(table, Path("/recordings"), probes) if finding.part in ("broker", "webhook")
    ]
    assert [(finding.part, finding.grade, finding.text) for finding in found] == [
        ("broker", Grade.PROBLEM, "no broker answers at mqtt://hub:1883"),
        ("webhook", Grade.OK, "https://lights.local"),
    ]
    assert probes.tested == ["broker mqtt://hub:1883", f"webhook {hook.url}"]


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
    code, out = run_doctor(table(tmp_path), FakeProbes(), as_json=True)
    values = json.loads(out)
    assert (code, values["well"], out.count("\n")) == (0, True, 1)
    assert {"part", "grade", "text", "remedy", "commands"} == set(values["findings"][0])


def test_a_problem_exits_with_1_and_an_explanation(tmp_path: Path) -> None:
    probes = FakeProbes(opened={"buttons": PartTrial("the button next cannot have pin 24: GPIO busy")})
    code, out = run_doctor(table(tmp_path), probes)
    assert (code, out.splitlines()[-1]) == (1, "1 problem.")
    assert "problem    buttons      the button next cannot have pin 24: GPIO busy\n" in out
    assert "Is a game running?" in out


def test_all_errors_of_the_file_are_reported_and_the_rest_is_checked(tmp_path: Path) -> None:
    wrong = table(tmp_path, '[hardware.buttons]\ndriver = "gpoi"\n[hardware.knock]\ndriver = "ear"\n')
    probes = FakeProbes()
    code, out = run_doctor(wrong, probes)
    assert code == 1
    assert out.count("table.toml") >= 2
    assert "hardware.buttons" in out
    assert "hardware.knock" in out
    assert probes.tested == ["camera usb:0"]
    code, out = run_doctor(tmp_path / "absent.toml", FakeProbes())
    assert (code, "there is no such file or folder" in " ".join(out.split())) == (1, True)  # lines are wrapped
