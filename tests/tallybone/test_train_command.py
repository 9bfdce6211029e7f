"""`tallybone train`: what it writes and says; the training itself is in tests/vision/test_training.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tallybone import train_command
from tallybone.train_command import train
from vision.heads import Head, ReaderHeads, load_heads


def heads(**notes: object) -> ReaderHeads:
    none, unit = np.zeros(2, np.float32), np.ones(2, np.float32)
    head = Head(none, unit, (np.eye(2, dtype=np.float32),), (none,))
    return ReaderHeads(head, head, head, head, dict(notes))


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(*, progress: Callable[[str, float], None], **options: object) -> ReaderHeads:
        progress("rendering", 0.5)
        progress("rendering", 1.0)
        return heads(face_error=0.01, **options)

    monkeypatch.setattr(train_command, "train_heads", fake)


@pytest.mark.usefixtures("_quick")
def test_the_heads_are_written_and_their_figures_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "reader.npz"
    assert train(out, seed=3, scenes=4, epochs=5, jobs=2) == 0
    assert load_heads(out).notes == {"face_error": 0.01, "seed": 3, "scenes": 4, "epochs": 5, "jobs": 2}
    assert list(out.parent.iterdir()) == [out]
    said = capsys.readouterr()
    assert "face_error: 0.01" in said.out
    assert "reader.npz" in said.out.replace("\n", "")
    assert "rendering" not in said.out  # progress goes to stderr


def test_training_that_is_broken_off_leaves_the_old_heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(**_: object) -> ReaderHeads:
        raise KeyboardInterrupt

    out = tmp_path / "reader.npz"
    out.write_bytes(b"the old heads")
    monkeypatch.setattr(train_command, "train_heads", broken_off)
    with pytest.raises(KeyboardInterrupt):
        train(out, seed=1, scenes=3, epochs=1)
    assert out.read_bytes() == b"the old heads"
