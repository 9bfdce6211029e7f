"""Each part on its own test driver: pins, piezos and strip on SPI, microphone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hardware.knock.sensor import RATE_HZ
from tests.guest.guest import Guest
from tests.guest.table import PARTS

pytestmark = [pytest.mark.slow, pytest.mark.guest]

_PYTHON = "PYTHONPATH=/source /opt/tallybone/venv/bin/python"


@pytest.fixture
def guest(boot: Callable[[str], Guest]) -> Guest:
    guest = boot("parts")
    guest.run("systemctl stop tallybone")
    return guest


def test_pins_keep_their_contract_on_debian_13(guest: Guest, measured: Callable[[str], None]) -> None:
    tests = "-m pytest -q -rs -p no:cacheprovider -c /dev/null --rootdir /source /source/tests/hardware/test_gpiod.py"
    text = guest.run(f"cd /tmp; {_PYTHON} --version; {_PYTHON} {tests}", 120).split("\n")
    assert "skipped" not in text[-2]
    measured(f"pins by gpiod on gpio-sim, {text[0]}: {text[-2]}")


def test_the_sound_of_a_busy_machine_arrives(guest: Guest, measured: Callable[[str], None]) -> None:
    script = f"yes >/dev/null & {_PYTHON} /source/tests/lab/inside/microphone.py 60; kill $!"
    played, arrived = json.loads(guest.run(script, 120))
    measured(f"microphone beside a process that takes all it gets: {arrived / played:.2%} of 60 s of sound arrive")
    assert played >= 59 * RATE_HZ
    assert arrived / played >= 0.999


def test_piezos_and_strip_on_spi(guest: Guest) -> None:
    found = json.loads(guest.run(f"{PARTS}be_a_pi; {_PYTHON} /source/tests/lab/inside/spi.py", 60))
    assert found["seats"] == [0, 2, 3, 1]
    assert found["while hung"] == []
    assert found["after"] == [0]
    assert found["strip"].strip("0") != ""
