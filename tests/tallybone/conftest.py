"""A browser for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; the tests that use it say so where Playwright or Chromium is missing."""
    from tests.tallybone.web.browsers import chromium

    with chromium() as opened:
        yield opened
