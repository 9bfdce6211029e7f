"""Tests of a served table on a computer that gets into trouble: the page names the cause within ten seconds."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from tests.tallybone.serve.served import at_served_table
from tests.waiting import until

WITHIN_S = 10.0
FILES = {
    "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.5",
    "sys/class/hwmon/hwmon0/name": "rpi_volt",
    "sys/class/hwmon/hwmon0/in0_lcrit_alarm": "0",
    "sys/fs/ext4/mmcblk0p2/errors_count": "0",
    "sys/bus/usb/devices/1-0:1.0/usb1-port2/over_current_count": "0",
}


@pytest.mark.parametrize(
    ("name", "value", "reason", "metric"),
    [
        (
            "sys/class/hwmon/hwmon0/in0_lcrit_alarm",
            "1",
            "power: the supply voltage is too low",
            'tallybone_troubles_last_hour{trouble="undervoltage"} 1.0',
        ),
        pytest.param(
            "sys/fs/ext4/mmcblk0p2/errors_count",
            "3",
            "card: 3 errors in the file system of mmcblk0p2",
            'tallybone_filesystem_errors{disk="mmcblk0p2"} 3.0',
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sys/bus/usb/devices/1-0:1.0/usb1-port2/over_current_count",
            "1",
            "USB: a device drew too much current",
            'tallybone_troubles_last_hour{trouble="usb_over_current"} 1.0',
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_cause_is_named_within_ten_seconds(tmp_path: Path, name: str, value: str, reason: str, metric: str) -> None:
    root = tmp_path / "root"
    for file, text in FILES.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"{text}\n")
    with at_served_table(tmp_path, root=root) as table:

        def reasons() -> str:
            return "; ".join(httpx.get(f"{table.url}/health", timeout=20).json()["reasons"])

        # The state before is read as soon as the table is there; its thread is the last that begins.
        until(lambda: any(thread.name == "health" for thread in threading.enumerate()))
        assert reason not in reasons()
        threading.Event().wait(1.5)
        (root / name).write_text(f"{value}\n")
        until(lambda: reason in reasons(), WITHIN_S)
        assert metric in httpx.get(f"{table.url}/metrics", timeout=20).text
