"""Tests of the modules loaded at the start of a served table, which dominate its start-up time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Not needed before a match: training, rendering, exports and clients.
LATER = (
    "sklearn", "scipy", "joblib", "threadpoolctl", "distributed", "torch", "onnx", "PIL", "av", "serial", "gpiozero",
    "sounddevice", "picamera2", "httpx", "pytest", "hypothesis", "prometheus_client", "google", "lab.render",
    "lab.training", "lab.matches", "lab.matches.room", "lab.matches.camera",
    "tallybone.doctor.examine", "tallybone.calibrate.guide.course",
    "tallybone.calibrate.lens_and_table", "lab.sounds",
    "lab.emulate",
)  # fmt: skip
# 1115 modules, 379 of them in Tallybone, since calibration on the page and MQTT were added. 1021 before.
MAX_MODULES = 1150
_SERVE = """
import json, sys
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
import tallybone.cli
from tallybone.cli.serve import serve
from tallybone.serve.options import ServeOptions, Environment
from tallybone.terminal import StopRequest
stopped = StopRequest(is_requested=True)
world = Environment(out=StringIO(), environment={}, home=Path("/nowhere"), stop=lambda: nullcontext(stopped))
assert serve(ServeOptions(at="127.0.0.1:0", camera="none", record="none"), world) == 0
print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(name="loaded", scope="module")
def loaded_modules() -> list[str]:
    done = subprocess.run((sys.executable, "-c", _SERVE), capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout)
    return modules


def test_modules_not_needed_at_the_start_are_not_loaded(loaded: list[str]) -> None:
    assert "tallybone.serve.setup" in loaded
    assert "vision.reader.reader" in loaded
    assert [
        module for module in loaded if module in LATER or module.startswith(tuple(f"{name}." for name in LATER))
    ] == []


def test_the_number_of_loaded_modules_is_bounded(loaded: list[str]) -> None:
    assert len(loaded) < MAX_MODULES
