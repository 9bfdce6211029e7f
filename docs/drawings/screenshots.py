"""Take the pictures of the README from the running program: python -m docs.drawings.screenshots.

A simulated match is played in real time, so this takes about two minutes. It needs the development tools and Chromium.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from vision.arrays import Image

IMAGES = Path(__file__).parent.parent / "images"
_TALLYBONE = str(Path(sys.executable).with_name("tallybone"))
_PHONE, _TELEVISION = ViewportSize(width=390, height=690), ViewportSize(width=1280, height=720)
_FRAMES, _FRAME_MS, _PAUSE_MS = 11, 1200, 6000
_TERMINAL = """<body style="margin:0;background:#1d1d1f"><pre style="display:inline-block;margin:0;padding:16px 20px;
color:#f2f2f2;font:14px/1.35 'DejaVu Sans Mono',monospace">$ tallybone demo\n{text}</pre></body>"""


def main() -> None:
    """Write all pictures to docs/images."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        _take_terminal(browser)
        with _table() as url:
            _take_page(browser, url)
        browser.close()


@contextmanager
def _table() -> Iterator[str]:
    """Yield the address of the page of a simulated match in progress."""
    command = (_TALLYBONE, "play", "--camera", "simulated", "--serve", "127.0.0.1:0", "--record", "none", "--json")
    process = subprocess.Popen(
        (*command, "--players", "Ann,Ben"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := re.search(r"http://\S+", line)))
        yield found[0]
    finally:
        process.terminate()
        process.communicate()


def _take_page(browser: Browser, url: str) -> None:
    """Take an animation of the page on a phone, and a picture of the longest layout on a television."""
    phone, television = (
        browser.new_page(viewport=_PHONE),
        browser.new_page(viewport=_TELEVISION, reduced_motion="reduce"),
    )
    phone.goto(url)
    television.goto(f"{url}/?display")
    phone.wait_for_selector("#felt g *", timeout=120_000)
    frames, longest = [], 0
    for _ in range(_FRAMES):
        frames.append(_screenshot(phone))
        length = television.locator("[data-phase=play] #tiles .tile").count()
        if length > longest:
            television.screenshot(path=IMAGES / "television.png")
            longest = length
        time.sleep(_PAUSE_MS / 1000)  # noqa: TID251 - people need this long to play, and so does the simulated table
    animation = cv2.Animation()
    animation.frames = frames
    animation.durations = [_FRAME_MS] * len(frames)
    cv2.imwriteanimation(str(IMAGES / "page.gif"), animation)


def _take_terminal(browser: Browser) -> None:
    """Take a picture of the output of `tallybone demo`."""
    done = subprocess.run((_TALLYBONE, "demo"), capture_output=True, text=True, check=True, env={"COLUMNS": "100"})
    # The end names the path of the program, and the layout has empty lines below it.
    text = re.sub(r"(?:\n *(?=\n)){2,}", "\n", done.stdout.partition("\n\nTry it with")[0])
    page = browser.new_page()
    page.set_content(_TERMINAL.format(text=html.escape(text)))
    page.locator("pre").screenshot(path=IMAGES / "terminal.png")


def _screenshot(page: Page) -> Image:
    image = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None  # the browser has encoded it
    return image.astype(np.uint8, copy=False)


if __name__ == "__main__":
    main()
