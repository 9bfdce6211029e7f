"""Tests of the knock classifier: evaluation as in scikit-learn, storage, and invalid files."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from hardware.knock.classifier import SOUNDS, Classifier, load_classifier, save_classifier
from hardware.knock.errors import KnockModelError
from hardware.knock.features import FEATURES
from hardware.knock.heard import Sound
from synthetic.training.knock.fit import as_classifier

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SHIPPED = ROOT / "hardware" / "models" / "knock.npz"


def fitted(labels: NDArray[np.int64]) -> tuple[MLPClassifier, NDArray[np.float32]]:
    rows = np.random.default_rng(1).normal(0, 1, (len(labels), FEATURES)).astype(np.float32)
    network = MLPClassifier(hidden_layer_sizes=(9, 7), max_iter=20, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # accuracy does not matter here
        return network.fit(rows, labels), rows


def plain(network: MLPClassifier) -> Classifier:
    return as_classifier(network, np.zeros(FEATURES, np.float32), np.ones(FEATURES, np.float32))


def test_the_result_matches_scikit_learn() -> None:
    network, rows = fitted(np.arange(200) % len(SOUNDS))
    assert plain(network).probabilities(rows) == pytest.approx(network.predict_proba(rows), abs=1e-5)


def test_untrained_sounds_are_never_likely() -> None:
    network, rows = fitted(np.arange(200) % 3 + 4)
    chances = plain(network).probabilities(rows)
    assert chances[:, 4:7] == pytest.approx(network.predict_proba(rows), abs=1e-5)
    assert chances[:, :4].max() < 1e-4


def test_a_knock_needs_a_minimum_probability() -> None:
    network, _ = fitted(np.arange(100) % len(SOUNDS))
    strict = replace(plain(network), least_knock=0.7)
    chances = np.full(len(SOUNDS), 0.3 / (len(SOUNDS) - 1), np.float32)
    chances[0] = 0.7
    kind, confidence = strict.decide(chances)
    assert kind is Sound.KNOCK
    assert confidence == pytest.approx(0.7)
    chances[:2] = 0.69, 0.1
    kind, confidence = strict.decide(chances)
    assert kind is Sound.FINGER
    assert confidence == pytest.approx(0.1)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    network, _ = fitted(np.arange(100) % len(SOUNDS))
    path = tmp_path / "new" / "knock.npz"
    save_classifier(path, replace(plain(network), least_knock=0.6, notes={"seed": 3}))
    return path


def test_a_classifier_round_trips_through_a_file(stored: Path) -> None:
    network, rows = fitted(np.arange(100) % len(SOUNDS))
    loaded = load_classifier(stored)
    assert (loaded.least_knock, loaded.notes) == (0.6, {"seed": 3})
    assert loaded.probabilities(rows) == pytest.approx(network.predict_proba(rows), abs=0.02)  # float16


def with_header(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def changed(path: Path) -> None:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        header = change(json.loads(arrays["header"].tobytes()))
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez(path, allow_pickle=False, **arrays)

    return changed


WRONG: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"no classifier"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "absent": lambda path: path.unlink(),
    "another version": with_header(lambda header: header | {"version": 9}),
    "other sounds": with_header(lambda header: header | {"sounds": ["knock", "bell"]}),
    "too many layers": with_header(lambda header: header | {"layers": 9}),
    "a list": with_header(lambda header: [header]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_invalid_file_is_reported_by_name(kind: str, stored: Path) -> None:
    WRONG[kind](stored)
    with pytest.raises(KnockModelError) as caught:
        load_classifier(stored)
    assert str(caught.value).startswith(f"{stored}: ")


def test_the_shipped_classifier_is_small_and_fits() -> None:
    shipped = load_classifier()
    assert shipped.probabilities(np.zeros((2, FEATURES), np.float32)).shape == (2, len(SOUNDS))
    assert shipped.notes
    assert (ROOT / "hardware" / "models" / "knock.npz").stat().st_size < 100_000


def test_flipped_bits_never_change_the_classifier_silently(tmp_path: Path) -> None:
    content, whole, path = SHIPPED.read_bytes(), load_classifier(), tmp_path / "knock.npz"
    rng, refused = np.random.default_rng(1), 0
    for _ in range(300):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            found = load_classifier(path)
        except KnockModelError:
            refused += 1
            continue
        for loaded, original in zip((*found.weights, *found.biases), (*whole.weights, *whole.biases), strict=True):
            np.testing.assert_array_equal(loaded, original)
        assert found.least_knock == whole.least_knock
    assert refused > 200


def test_detection_does_not_import_scikit_learn() -> None:
    code = "import sys, hardware.knock.detector as d; d.KnockDetector(); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
