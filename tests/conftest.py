"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real photographs, sounds and recorded games with labels, which are kept beside the project."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real photographs and sounds are no part of the project: there is no ../shared/data beside it")
    return folder
