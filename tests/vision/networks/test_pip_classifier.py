"""Tests of the pip classifier: storage format, outputs, and errors that name the file."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.training.encoding import save_pip_classifier
from vision import ModelError
from vision.networks.network import FEATURES, PipClassifier, load_pip_classifier

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def classifier(sharpness: float = 0.75) -> PipClassifier:
    rng, sizes = np.random.default_rng(5), (8, 5, 4, 19)

    def values(*shape: int) -> NDArray[np.float32]:
        return rng.normal(0, 1, shape).astype(np.float32)

    return PipClassifier(
        values(sizes[0]),
        rng.uniform(0.5, 2, sizes[0]).astype(np.float32),
        tuple(values(a, b) for a, b in itertools.pairwise(sizes)),
        tuple(values(size) for size in sizes[1:]),
        sharpness,
        misread=0.01,
        notes={"seed": 3, "note": "größer"},
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "new" / "pips.npz"
    save_pip_classifier(path, classifier())
    return path


def test_outputs_of_a_small_network() -> None:
    small = PipClassifier(
        np.array([1, 0], np.float32),
        np.array([2, 1], np.float32),
        (np.array([[1, -1], [1, 0]], np.float32), np.array([[1, 2], [3, 4]], np.float32)),
        (np.array([0, 0.5], np.float32), np.array([0.25, 0], np.float32)),
        sharpness=2.0,
    )
    # (5, 1) standardises to (2, 1). The hidden layer is (3, -1.5), which ReLU turns into (3, 0).
    assert small.outputs(np.array([[5, 1]], np.float32)).tolist() == [[3.25, 6.0]]
    expected = 1 / (1 + np.exp(2.0 * 2.75))
    assert small.probabilities(np.array([[5, 1]], np.float32))[0] == pytest.approx([expected, 1 - expected])


def test_probabilities_sum_to_one_do_not_overflow_and_may_be_none() -> None:
    probabilities = classifier().probabilities(np.full((3, 8), 1e4, np.float32))
    assert np.isfinite(probabilities).all()
    assert probabilities.sum(axis=1) == pytest.approx([1, 1, 1])
    assert classifier().probabilities(np.empty((0, 8), np.float32)).shape == (0, 19)


def test_confidence_is_capped_by_the_misreading_rate_and_sharpness_keeps_the_order() -> None:
    small = replace(classifier(), misread=0.19)
    chances = small.chances(np.eye(19, dtype=np.float32)[:1] * 1e3)
    assert chances[0] == pytest.approx([0.82, *[0.01] * 18])
    small = replace(classifier(), misread=0.0)
    rows = np.random.default_rng(2).normal(0, 1, (20, 8)).astype(np.float32)
    blunt, sharp = (replace(small, sharpness=s).probabilities(rows) for s in (0.3, 3.0))
    assert (blunt.argmax(axis=1) == sharp.argmax(axis=1)).all()
    assert (blunt.max(axis=1) < sharp.max(axis=1)).all()


def test_a_saved_classifier_is_arrays_and_a_json_header_and_loads(stored: Path) -> None:
    saved, loaded = classifier(), load_pip_classifier(stored)
    assert (loaded.sharpness, loaded.misread, loaded.notes) == (saved.sharpness, saved.misread, saved.notes)
    for field in fields(PipClassifier)[:4]:
        old, new = getattr(saved, field.name), getattr(loaded, field.name)
        for a, b in zip(old, new, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)  # stored as float16
            assert b.dtype == np.float32
    rows = np.random.default_rng(1).normal(0, 1, (5, 8)).astype(np.float32)
    np.testing.assert_allclose(saved.outputs(rows), loaded.outputs(rows), rtol=0.02, atol=0.02)
    with np.load(stored, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        assert (header["format"], header["version"]) == ("tallybone-head", 4)
        assert header["head"] == {"layers": 3, "sharpness": 0.75, "misread": 0.01}
        assert {file[name].dtype for name in file.files if name != "header"} == {np.dtype(np.float16)}


def with_header(change: Callable[[dict[str, object]], object]) -> Callable[[bytes, Path], bytes]:
    """Return a function that changes the header of a file."""

    def changed(original: bytes, folder: Path) -> bytes:
        source, target = folder / "source.npz", folder / "target.npz"
        source.write_bytes(original)
        with np.load(source) as file:
            arrays = {name: file[name] for name in file.files}
        header = change(json.loads(arrays["header"].tobytes()))
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez(target, allow_pickle=False, **arrays)
        return target.read_bytes()

    return changed


def flipped(original: bytes, _: Path) -> bytes:
    """Change a byte in the middle of the largest array. A zip file has bytes elsewhere that are never read."""
    data = bytearray(original)
    with zipfile.ZipFile(io.BytesIO(original)) as file:
        largest = max(file.infolist(), key=lambda member: member.compress_size)
    data[largest.header_offset + len(largest.filename) + 50 + largest.compress_size // 2] ^= 0xFF
    return bytes(data)


def npz_of(**arrays: NDArray[np.generic]) -> Callable[[bytes, Path], bytes]:
    def build(_: bytes, folder: Path) -> bytes:
        np.savez(folder / "other.npz", **arrays)  # type: ignore[arg-type]  # the stub takes the arrays for allow_pickle
        return (folder / "other.npz").read_bytes()

    return build


def zip_of_text(_: bytes, folder: Path) -> bytes:
    with zipfile.ZipFile(folder / "other.zip", "w") as file:
        file.writestr("notes.txt", "no head")
    return (folder / "other.zip").read_bytes()


WRONG: dict[str, Callable[[bytes, Path], bytes]] = {
    "empty": lambda original, folder: b"",
    "text": lambda original, folder: b"this is no head\n",
    "cut to a half": lambda original, folder: original[: len(original) // 2],
    "cut to its first bytes": lambda original, folder: original[:10],
    "a byte changed": flipped,
    "another zip": zip_of_text,
    "other arrays": npz_of(a=np.zeros(3)),
    "a header that is no JSON": npz_of(header=np.zeros(3, np.uint8)),
    "a header that is a list": with_header(lambda header: [header]),
    "a header without a head": with_header(lambda header: {k: v for k, v in header.items() if k != "head"}),
    "more layers than there are": with_header(
        lambda header: header | {"head": {"layers": 9, "sharpness": 1.0, "misread": 0.0}}
    ),
    "a head without its layers": with_header(lambda header: header | {"head": {"sharpness": 1.0, "misread": 0.0}}),
}


@pytest.mark.parametrize("kind", WRONG)
def test_the_error_names_an_invalid_file(stored: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "wrong.npz"
    path.write_bytes(WRONG[kind](stored.read_bytes(), tmp_path))
    with pytest.raises(ModelError) as caught:
        load_pip_classifier(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_the_error_names_a_missing_file_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.npz", tmp_path):
        with pytest.raises(ModelError) as caught:
            load_pip_classifier(path)
        assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("change", "actual"),
    [({"version": 5}, "tallybone-head version 5"), ({"format": "tallybone-heads"}, "tallybone-heads version 4")],
    ids=["version", "format"],
)
def test_the_error_reports_another_version(
    stored: Path, tmp_path: Path, change: dict[str, object], actual: str
) -> None:
    path = tmp_path / "later.npz"
    path.write_bytes(with_header(lambda header: header | change)(stored.read_bytes(), tmp_path))
    with pytest.raises(ModelError) as caught:
        load_pip_classifier(path)
    assert str(caught.value) == f"{path}: expected tallybone-head version 4, got {actual}"


def test_the_built_in_classifier_is_small_and_fits_the_pip_features() -> None:
    built_in = load_pip_classifier()
    assert built_in.outputs(np.zeros((2, FEATURES), np.float32)).shape == (2, 19)
    arrays = (built_in.mean, built_in.scale, *built_in.weights, *built_in.biases)
    assert all(np.isfinite(values).all() for values in arrays)
    assert (built_in.scale > 0).all()
    assert built_in.notes
    assert (ROOT / "vision" / "models" / "pips.npz").stat().st_size < 100_000


def test_reading_does_not_import_scikit_learn() -> None:
    code = "import sys; from vision.reader.reader import load_reader; load_reader(6); print('sklearn' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
