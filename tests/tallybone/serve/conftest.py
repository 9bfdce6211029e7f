"""Fixtures for tests of a served table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallybone.store.house import set_password
from tests.tallybone.serve.served import Served, at_served_table

PASSWORD = "correct horse"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Served]:
    """Yield a table with an owner and virtual parts."""
    set_password(PASSWORD, tmp_path / "tallybone" / "owner.json")
    with at_served_table(tmp_path, panel=True) as table:
        yield table
