"""Tests of the knock classifier: evaluation, storage, and invalid files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from hardware.knock.classifier import (
    FEATURES,
    SOUNDS,
    Classifier,
    Correction,
    Dense,
    Layer,
    load_classifier,
)
from hardware.knock.sensor import KnockModelError, Sound
from lab.training.encoding import save_classifier

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SHIPPED = ROOT / "hardware" / "models" / "knock.npz"


def drawn(seed: int = 1) -> Classifier:
    """Return a classifier with random weights, of the shipped one's shape."""
    rng = np.random.default_rng(seed)

    def of(shape: tuple[int, ...]) -> NDArray[np.float32]:
        return rng.normal(0, 0.1, shape).astype(np.float32)

    def layers(own: tuple[Layer, ...]) -> tuple[Layer, ...]:
        return tuple(Layer(of(layer.weight.shape), of(layer.bias.shape), layer.stride) for layer in own)

    shipped = load_classifier()
    detail, context = shipped.branches
    impact, hidden, output = (
        Dense(of(layer.weight.shape), of(layer.bias.shape))
        for layer in (shipped.impact, shipped.hidden, shipped.output)
    )
    return Classifier(
        (layers(detail), layers(context)),
        impact,
        of(shipped.mean.shape),
        np.abs(of(shipped.scale.shape)) + 1,
        hidden,
        output,
        of((7, len(hidden.bias))),
        0.6,
        {"seed": 3},
    )


def sounds(count: int) -> NDArray[np.float32]:
    return np.random.default_rng(5).uniform(-4, 3, (count, FEATURES)).astype(np.float32)


def judged(classifier: Classifier, features: NDArray[np.float32]) -> NDArray[np.float32]:
    return classifier.probabilities(classifier.embed(features))


@pytest.mark.parametrize(("stride", "size"), [(2, (3, 3)), (1, (1, 4))])
def test_a_layer_is_a_convolution_as_in_opencv(stride: int, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, (9, 8)).astype(np.float32)
    weight = rng.normal(0, 1, (1, 1, *size)).astype(np.float32)
    applied = Layer(weight, np.array([0.3], np.float32), stride).apply(values[None, :, :, None])[0, :, :, 0]
    # filter2D correlates at every position; with anchor 0 the window begins at the pixel.
    edge = 1 if stride == 2 else 0
    padded = np.pad(values, edge)
    whole = cv2.filter2D(padded, -1, weight[0, 0], anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    rows, columns = padded.shape[0] - size[0] + 1, padded.shape[1] - size[1] + 1
    assert applied == pytest.approx(np.maximum(whole[:rows:stride, :columns:stride] + 0.3, 0), abs=1e-5)


def test_inputs_of_a_layer_add_up() -> None:
    rng = np.random.default_rng(3)
    values, weight = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((2, 6, 6, 3), (4, 3, 3, 3)))
    bias = np.full(4, 50.0, np.float32)
    alone = [Layer(weight[:, at : at + 1], bias, 2).apply(values[..., at : at + 1]) - 50 for at in range(3)]
    together = Layer(weight, bias, 2).apply(values) - 50
    assert together == pytest.approx(sum(alone), abs=1e-4)


def test_sounds_are_judged_independently_with_probabilities() -> None:
    features = sounds(6)
    one_by_one = np.concatenate([judged(drawn(), features[at : at + 1]) for at in range(6)])
    assert judged(drawn(), features) == pytest.approx(one_by_one, abs=1e-5)
    assert one_by_one.shape == (6, len(SOUNDS))
    assert one_by_one.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_a_correction_changes_the_odds_of_a_knock_only() -> None:
    plain = drawn()
    embeddings = plain.embed(sounds(9))
    weights = np.asarray(np.random.default_rng(4).normal(0, 0.2, embeddings.shape[1]) / embeddings.max(), np.float32)
    before, after = (
        of.probabilities(embeddings).astype(np.float64)
        for of in (plain, replace(plain, correction=Correction(weights, 0.7)))
    )
    odds = [chances[:, 0] / (1 - chances[:, 0]) for chances in (before, after)]
    assert np.log(odds[1] / odds[0]) == pytest.approx(embeddings @ weights + 0.7, rel=1e-2, abs=1e-3)
    assert after[:, 2] / after[:, 1] == pytest.approx(before[:, 2] / before[:, 1], rel=1e-3)


def test_a_knock_needs_a_minimum_probability() -> None:
    strict = replace(drawn(), min_knock=0.7)
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
    path = tmp_path / "new" / "knock.npz"
    save_classifier(path, drawn())
    return path


def test_a_classifier_round_trips_through_a_file_that_determines_its_name(stored: Path, tmp_path: Path) -> None:
    loaded = load_classifier(stored)
    assert (loaded.min_knock, loaded.notes, loaded.others.shape) == (0.6, {"seed": 3}, drawn().others.shape)
    assert judged(loaded, sounds(9)) == pytest.approx(judged(drawn(), sounds(9)), abs=0.05)  # 8 bits
    save_classifier(tmp_path / "same.npz", drawn())
    save_classifier(tmp_path / "other.npz", drawn(2))
    names = [load_classifier(path).name for path in (stored, tmp_path / "same.npz", tmp_path / "other.npz")]
    assert names[0] == names[1] != names[2]


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
    "too many layers": with_header(lambda header: header | {"strides": [[2] * 9, [2]]}),
    "layers that do not fit": with_header(lambda header: header | {"strides": [[1] * 4, [2] * 4]}),
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
    assert judged(shipped, np.zeros((2, FEATURES), np.float32)).shape == (2, len(SOUNDS))
    assert shipped.notes
    assert (ROOT / "hardware" / "models" / "knock.npz").stat().st_size < 200_000


def test_flipped_bits_never_change_the_classifier_silently(tmp_path: Path) -> None:
    content, whole, path = SHIPPED.read_bytes(), load_classifier(), tmp_path / "knock.npz"
    rng, refused = np.random.default_rng(1), 0
    for _ in range(100):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            found = load_classifier(path)
        except KnockModelError:
            refused += 1
            continue
        assert found.name == whole.name
        np.testing.assert_array_equal(judged(found, sounds(3)), judged(whole, sounds(3)))
        assert found.min_knock == whole.min_knock
    assert refused > 60


def test_detection_only_imports_numpy() -> None:
    code = "import sys, hardware.knock.detector as d; d.KnockDetector(); print({'sklearn', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
