"""Tests of `tallybone train`: files and output. Training itself is tested beside it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from hardware.knock.classifier import Classifier, load_classifier
from lab.sounds.signals import require_library
from lab.training import command as training
from lab.training.command import TRAININGS, Trained, Training, TrainingDevice
from vision.networks.network import PipClassifier, load_pip_classifier, load_pip_features, write_checksum


def classifier(**notes: object) -> PipClassifier:
    none, unit = np.zeros(2, np.float32), np.ones(2, np.float32)
    return PipClassifier(none, unit, (np.eye(2, dtype=np.float32),), (none,), notes=dict(notes))


def quick(*, progress: Callable[[str, float], None], **options: object) -> PipClassifier:
    progress("rendering", 0.5)
    progress("rendering", 1.0)
    return classifier(**options)


def train_quickly(*, progress: Callable[[str, float], None], **options: object) -> Classifier:
    progress("rendering", 1.0)
    return replace(load_classifier(), notes=dict(options))


@pytest.mark.parametrize(
    ("model", "train", "load"), [("pips", quick, load_pip_classifier), ("knock", train_quickly, load_classifier)]
)
def test_the_classifier_is_written_and_its_figures_are_printed(
    model: str,
    train: Callable[..., Trained],
    load: Callable[[Path], PipClassifier | Classifier],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "new" / f"{model}.npz"
    assert TRAININGS[model](out, seed=3, scenes=4, epochs=5, jobs=2, trained=train) == 0
    assert load(out).notes.items() >= {"seed": 3, "scenes": 4, "epochs": 5}.items()
    assert list(out.parent.iterdir()) == [out]
    printed = capsys.readouterr()
    assert "scenes: 4" in printed.out
    assert out.name in printed.out.replace("\n", "")
    assert "rendering" not in printed.out  # progress goes to stderr


def test_interrupted_training_keeps_the_old_classifier(tmp_path: Path) -> None:
    def interrupted(**_: object) -> PipClassifier:
        raise KeyboardInterrupt

    out = tmp_path / "pips.npz"
    out.write_bytes(b"the old head")
    with pytest.raises(KeyboardInterrupt):
        TRAININGS["pips"](out, seed=1, scenes=3, epochs=1, trained=interrupted)
    assert out.read_bytes() == b"the old head"


@pytest.mark.parametrize("training", TRAININGS.values(), ids=lambda training: training.model)
def test_a_missing_library_is_named_with_its_package(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("lab.training")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("torch", "sklearn", "sklearn.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    out = tmp_path / training.file.name
    assert training(out, seed=1, scenes=3) == 1
    assert f"tallybone-lab[{training.extra}]" in capsys.readouterr().err
    assert not out.exists()


def test_without_a_gpu_the_other_device_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training, "_has_cuda", lambda: False)
    out = tmp_path / "detector.onnx"
    assert TRAININGS["detector"](out, seed=1, scenes=3, steps=1, device=TrainingDevice.CUDA, trained=quick) == 1
    assert "use --device cpu" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("model", ["detector", "refiner", "pip-features", "hard-pips"])
def test_a_trained_network_is_written(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    received: dict[str, object] = {}

    def quick_network(*, progress: Callable[[str, float], None], **options: object) -> Callable[[Path], None]:
        received.update(options)
        progress("training", 1.0)

        def save(path: Path) -> None:
            path.write_bytes(b"a network")

        return save

    out = tmp_path / "new" / TRAININGS[model].file.name
    assert TRAININGS[model](out, seed=3, scenes=4, steps=5, jobs=2, trained=quick_network) == 0
    assert received == {"seed": 3, "scenes": 4, "steps": 5, "jobs": 2}
    assert out.read_bytes() == b"a network"
    assert list(out.parent.iterdir()) == [out]
    assert out.name in capsys.readouterr().out.replace("\n", "")


def test_a_network_is_replaced_together_with_its_checksum(tmp_path: Path) -> None:
    shipped = resources.files("vision") / "models" / "pip_features.onnx"

    def network(**_: object) -> Callable[[Path], None]:
        def save(path: Path) -> None:
            path.write_bytes(shipped.read_bytes())
            write_checksum(path)

        return save

    out = tmp_path / "pip_features.onnx"
    assert TRAININGS["pip-features"](out, seed=1, scenes=1, trained=network) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"pip_features.onnx", "pip_features.onnx.sha256"}
    load_pip_features(out)


@pytest.mark.parametrize("training", TRAININGS.values(), ids=lambda training: training.model)
def test_the_training_function_exists_even_if_it_cannot_be_imported(training: Training) -> None:
    module, _, name = training.fit.partition(":")
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    body = ast.parse(Path(spec.origin).read_text()).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    assert name in functions


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
