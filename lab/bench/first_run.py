"""Measure the time from an empty state folder to the first scored play, on the page alone.

    python -m lab.bench.first_run

Starts `tallybone serve` with a simulated camera and no settings, opens the page in Chromium on a phone's screen, and
does what a new player does there, at the pace of a person: starts a match, types two names and the PIN from the
terminal, and waits for the first points. No file is edited. Target: 180 s.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page

from tests.tallybone.web.browsers import chromium, visiting

_TALLYBONE = Path(sys.executable).with_name("tallybone")
_NAMES = ("Maria", "Joseph")
# Time to find a control, and to type a character.
_LOOKS_MS, _TYPES_MS = 2000, 200
_PATIENCE_MS = 180_000
_HAS_POINTS = "() => [...document.querySelectorAll('.total')].some((total) => Number(total.innerText) > 0)"


def main() -> None:
    """Print the time of each step since the program was started."""
    with tempfile.TemporaryDirectory() as home:
        command = (_TALLYBONE, "serve", "--camera", "simulated", "--at", "127.0.0.1:0")
        environment = {"HOME": home, "PATH": os.environ["PATH"], "XDG_STATE_HOME": home}
        began_s = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as table:
            assert table.stdout is not None
            shown = re.search(r"page (\S+)  PIN (\d+)", table.stdout.readline())
            assert shown is not None
            try:
                with chromium() as browser, visiting(browser, shown[1], (390, 844)) as viewer:
                    for step in _steps(viewer.page, shown[2]):
                        print(f"{time.monotonic() - began_s:6.1f} s  {step}", flush=True)
            finally:
                table.terminate()


def _steps(page: Page, pin: str) -> Iterator[str]:
    """Play as a new player, and yield the name of each step that is done."""
    yield "page open"
    _tap(page.locator("#lobby a"))
    for seat, name in enumerate(_NAMES):
        _type(page.locator(".seat-row input").nth(seat), name)
    yield "players named"
    _tap(page.locator("#begin"))
    _type(page.locator("#pin"), pin)
    page.locator(".player").first.wait_for()
    yield "match begun"
    page.wait_for_function(_HAS_POINTS, timeout=_PATIENCE_MS)
    yield "first points"


def _tap(control: Locator) -> None:
    control.page.wait_for_timeout(_LOOKS_MS)
    control.click()


def _type(field: Locator, text: str) -> None:
    _tap(field)
    field.fill("")
    field.press_sequentially(text, delay=_TYPES_MS)


if __name__ == "__main__":
    main()
