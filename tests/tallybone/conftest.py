"""A browser for the tests of pages."""

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
    """The node that Playwright brings, and drives browsers with."""
    pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
    program = str(files("playwright") / "driver" / "node")
    if subprocess.run([program, "--version"], capture_output=True).returncode != 0:
        pytest.skip("the node of Playwright does not start: sudo apt install libatomic1")
    return program


@pytest.fixture(scope="module")
def browser(node: str) -> Iterator[Browser]:
    """A browser without a window; the tests that use it say so where Playwright or Chromium is missing."""
    from tests.tallybone.web.browsers import chromium

    with chromium() as opened:
        yield opened
