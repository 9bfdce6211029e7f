"""Fixtures for browser tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of the Node.js bundled with Playwright."""
    pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
    program = str(files("playwright") / "driver" / "node")
    if subprocess.run([program, "--version"], capture_output=True).returncode != 0:
        pytest.skip("the node of Playwright does not start: sudo apt install libatomic1")
    return program


@pytest.fixture(scope="module")
def browser(node: str) -> Iterator[Browser]:
    """Yield a headless browser. Tests are skipped without Playwright or Chromium."""
    from tests.tallybone.web.browsers import chromium

    with chromium() as opened:
        yield opened
