"""Test of the memory of a served table while it gets large photos."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench.photo_memory import measure

pytestmark = pytest.mark.slow

MAX_MB = 400


def test_large_photos_take_little_memory(tmp_path: Path) -> None:
    lines = list[str]()
    assert measure(tmp_path, 1, lines.append) <= MAX_MB, lines
