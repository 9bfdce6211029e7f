"""How a served table starts: what is loaded until it is ready, because that is most of the time it takes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Not needed before a match: training, rendering, exports of others, other programs' clients.
LATER = (
    "sklearn", "scipy", "joblib", "threadpoolctl", "distributed", "torch", "onnx", "PIL", "av", "serial", "gpiozero",
    "sounddevice", "picamera2", "httpx", "pytest", "hypothesis", "prometheus_client", "google", "synthetic.render",
    "synthetic.training", "tallybone.simulate", "tallybone.simulate.scenes", "tallybone.sources.simulated",
    "tallybone.maintain.update", "tallybone.doctor.bundle", "tallybone.calibrate.guide.course",
    "tallybone.calibrate.lens_and_table", "calibration.lens.fit", "synthetic.sounds",
    "hardware.display.emulation", "tallybone.replay.video",
)  # fmt: skip
# 1021 when this was written; 1115, 379 of them of Tallybone, since it can be calibrated on its page and tells brokers.
MOST_MODULES = 1150
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
def what_is_loaded() -> list[str]:
    done = subprocess.run((sys.executable, "-c", _SERVE), capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout)
    return modules


def test_nothing_is_loaded_that_a_table_does_not_need_to_start(loaded: list[str]) -> None:
    assert "tallybone.serve.setup" in loaded
    assert "vision.reader.reader" in loaded
    assert [one for one in loaded if one in LATER or one.startswith(tuple(f"{name}." for name in LATER))] == []


def test_no_more_is_loaded_than_when_this_was_measured(loaded: list[str]) -> None:
    assert len(loaded) < MOST_MODULES
