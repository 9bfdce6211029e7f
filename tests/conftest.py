"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Tests run in two processes on two cores: threads of numpy only wait for each other, up to ten times as long. Read
# when numpy is imported, and inherited by the programs that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the quick tests that `make coverage` has run, those of the files and folders in COUNTED."""
    counted = [ROOT / path for path in os.environ.get("COUNTED", "").split()]
    items[:] = [
        item
        for item in items
        if item.get_closest_marker("slow") or not any(item.path.is_relative_to(path) for path in counted)
    ]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real photos, sounds and recorded games with labels, stored next to the project."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real photographs and sounds are no part of the project: there is no ../shared/data beside it")
    return folder
