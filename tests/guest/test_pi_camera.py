"""`pi:0` through the real picamera2 and libcamera, with libcamera's simulated cameras.

picamera2 is patched in three places (picamera2.patch): it shows nothing on a screen, and accepts a camera without raw
pictures, whose planes are apart.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.guest.guest import Guest
from tests.guest.table import PARTS

pytestmark = [pytest.mark.slow, pytest.mark.guest]

_PYTHON = "PYTHONPATH=/source /opt/tallybone/venv/bin/python"
_CAMERA = f"{_PYTHON} /source/tests/lab/inside/pi_camera.py"
# Bars from white to black, as digits of blue (4), green (2) and red (1).
_BARS = "73625140"
_CONFIGURED = "configuring streams"
_SERVE = "printf '[camera]\\nurl = \"pi:0\"\\n' >/etc/tallybone/table.toml; systemctl restart tallybone\n"


@pytest.fixture
def guest(boot: Callable[[str], Guest], lab: Path) -> Guest:
    guest = boot("camera")
    shutil.copytree(lab / "picamera2", guest.share / "picamera2", copy_function=os.link)
    guest.run(f"{PARTS}systemctl stop tallybone; pi_camera_install")
    return guest


def seen(guest: Guest, script: str, name: str = "seen") -> dict[str, Any]:
    """Return what pi_camera.py prints to the file *name* in the shared folder. It must print no traceback."""
    guest.run(f"{PARTS}{script}", 180)
    assert "Traceback" not in (guest.share / f"{name}.err").read_text()
    found: dict[str, Any] = json.loads((guest.share / name).read_text())
    return found


def look(arguments: str, name: str = "seen") -> str:
    """Return the command that opens the camera. What it prints is in the file *name* in the shared folder."""
    return f"{_CAMERA} {arguments} >/lab/{name} 2>/lab/{name}.err"


def check_pictures(found: dict[str, Any]) -> None:
    """Check times and colours of 200 pictures."""
    assert (found["mode"]["width_px"], found["mode"]["height_px"]) == (1280, 720)
    assert len(found["times"]) == 200
    assert all(before < after for before, after in pairwise(found["times"]))
    assert found["times"][-1] < found["now"]
    assert found["colours"] == [_BARS]
    assert found["states"] == [None]


def health(guest: Guest, wanted: str, seconds: float) -> None:
    """Wait until the health of the table contains *wanted*."""
    script = f"until curl -s localhost:8080/health | tee /dev/stderr | grep -q '{wanted}'; do sleep 0.5; done"
    guest.run(script, seconds)


def test_a_camera_with_two_streams(guest: Guest, measured: Callable[[str], None]) -> None:
    """It has neither exposure, white balance nor a lens to be locked."""
    found = seen(guest, f"pi_camera_unplug; virtual_camera_plug 'test_pattern: bars'; {look('200 hold')}")
    check_pictures(found)
    assert found["mode"]["coding"] == "NV12"
    assert found["sizes"] == [[[720, 1280, 3], [720, 1280]]], "this camera does not scale its second stream"
    measured(f"pi:0 with two streams: 200 pictures as {found['mode']['coding']}, no traceback")


def test_a_camera_with_one_stream(guest: Guest, measured: Callable[[str], None]) -> None:
    found = seen(guest, look("200 hold"))
    check_pictures(found)
    assert found["mode"]["coding"] == "RGB888"
    assert found["sizes"] == [[[720, 1280, 3], [180, 320]]]
    measured(f"pi:0 with one stream: 200 pictures as {found['mode']['coding']}, no traceback")


def test_a_camera_of_another_program_is_named_and_a_missing_one_too(guest: Guest) -> None:
    holds = "import picamera2, sys; camera = picamera2.Picamera2(0); print(1, flush=True); sys.stdin.read()"
    held = f"mkfifo /tmp/end; {_PYTHON} -c '{holds}' </tmp/end >/tmp/held 2>&1 & exec 7>/tmp/end\n"
    held += f"until grep -qx 1 /tmp/held; do sleep 0.2; done; {look('1')}; exec 7>&-; wait"
    assert seen(guest, held) == {"error": "pi:0: it is in use by another program (rpicam-hello, another tallybone?)"}
    streams = f"{look('100', 'first')} & until grep -q '{_CONFIGURED}' /lab/first.err; do sleep 0.2; done; sleep 1; "
    assert "or another program is using it: close" in seen(guest, f"{streams}{look('1')}; wait")["error"]
    assert "there is no camera on this Pi" in seen(guest, f"pi_camera_unplug; {look('1')}")["error"]


def test_a_camera_that_hangs_is_reported_and_returns(guest: Guest) -> None:
    """The driver's thread gets hardly any time beside a busy process."""
    hang = f"""{look("150")} &
until thread=$(pgrep -f vimc-streamer); do sleep 0.2; done
sleep 4
thread=$(pgrep -f vimc-streamer)
chrt --idle -p 0 "$thread"
timeout 15 yes >/dev/null || true
chrt --other -p 0 "$(pgrep -f vimc-streamer)" || true
wait"""
    found = seen(guest, hang)
    assert found["states"] == [None, "pi:0 sends no pictures: check its cable. The game goes on when it is back", None]
    assert len(found["times"]) == 150


def test_the_service_survives_the_loss_of_the_driver(guest: Guest, measured: Callable[[str], None]) -> None:
    """libcamera 0.4 ends the process, and systemd starts it again."""
    guest.run(_SERVE)
    health(guest, '"ok":true', 60)
    guest.run(f"{PARTS}sleep 5; pi_camera_unplug")
    health(guest, "there is no camera", 60)
    guest.run(f"{PARTS}pi_camera_plug")
    health(guest, '"ok":true', 30)
    restarts = guest.run("systemctl show -p NRestarts --value tallybone").strip()
    assert int(restarts) <= 1
    measured(f"pi:0 whose driver is removed is reported, and returns; restarts of the service: {restarts}")


def test_a_match_is_begun_on_it(guest: Guest) -> None:
    guest.run(_SERVE)
    health(guest, '"ok":true', 60)
    pin = "journalctl -u tallybone -b -o cat | grep -oP 'PIN \\K\\d+' | tail -1"
    script = f"{_PYTHON} /source/tests/lab/inside/pi_match.py $({pin}) 15"
    state = json.loads(guest.run(script, 120))
    assert state["match"]["phase"] == "deal"
    assert state["reader"]["lost"] is None
    assert re.match(r"\d+ per second", state["reader"]["text"])
    assert state["layout"]["picture_px"] == [1280, 720]
    assert guest.run("systemctl show -p NRestarts --value tallybone").strip() == "0"
