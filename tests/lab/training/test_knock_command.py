"""Tests of `tallybone train knock`: files and output. Training itself is tested beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hardware.knock.classifier import Classifier, load_classifier
from lab.sounds.surroundings import require_library
from lab.training.command import TRAININGS


def quick(*, progress: Callable[[str, float], None], **options: object) -> Classifier:
    progress("modelling", 1.0)
    return replace(load_classifier(), notes=dict(options))


def test_the_classifier_is_written_and_its_figures_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "knock.npz"
    assert TRAININGS["knock"](out, seed=3, scenes=4, epochs=5, trained=quick) == 0
    assert load_classifier(out).notes.items() >= {"seed": 3, "scenes": 4, "epochs": 5}.items()
    assert list(out.parent.iterdir()) == [out]
    printed = capsys.readouterr()
    assert "scenes: 4" in printed.out
    assert "knock.npz" in printed.out.replace("\n", "")
    assert "modelling" not in printed.out  # progress goes to stderr


def test_without_torch_the_package_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("lab.training")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    out = tmp_path / "knock.npz"
    assert TRAININGS["knock"](out, seed=1, scenes=3, epochs=1) == 1
    assert "tallybone-lab[finder]" in capsys.readouterr().err
    assert not out.exists()


def test_missing_sounds_are_named_with_the_command_that_installs_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_sounds(**options: object) -> Classifier:
        require_library(tmp_path)
        raise AssertionError(options)

    out = tmp_path / "knock.npz"
    assert TRAININGS["knock"](out, seed=1, scenes=3, epochs=1, trained=without_sounds) == 1
    assert "apt install asterisk-core-sounds-en-wav" in capsys.readouterr().err.replace("\n", " ")
    assert not out.exists()
