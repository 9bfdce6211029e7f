"""Tests of `tallybone evaluate` on photographs: figures, mistakes, the contact sheet and errors."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from lab.evaluate.command import evaluate_photos
from tallybone.choices import TileSet
from tallybone.recording.own_tiles import shipped_reader
from tallybone.show.reading import format_reading
from tests.vision.tables import lay, reader, table_with
from vision.reading import Join, Reading

TALLYBONE = Path(sys.executable).with_name("tallybone")
CHAIN = (lay(2, 5, -60, 0), lay(5, 3, -9.5, 0), lay(6, 1, 40, 70, 30))
LOOSE = (lay(0, 4, -50, 20, 15), lay(6, 6, 60, -30, 80))


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@dataclass
class Album:
    """Two rendered tables with labels that tests can change, and the output of the command."""

    root: Path
    labels: list[dict[str, Any]]
    out: str = ""
    err: str = ""

    def evaluate(self, **options: Any) -> int:
        path = self.root / "labels.json"
        path.write_text(json.dumps(self.labels))
        out, err = io.StringIO(), io.StringIO()
        code = evaluate_photos(path, self.root, read_picture=reader().read, out=out, err=err, **options)
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def figures(self, **options: Any) -> dict[str, Any]:
        assert self.evaluate(as_json=True, **options) == 0, self.err
        figures: dict[str, Any] = json.loads(self.out)
        return figures


def label_of(truth: Reading) -> dict[str, Any]:
    halves = [[{"c": list(half.center_px), "pips": half.pips} for half in tile.halves] for tile in truth.tiles]
    joins = [[[join.a, join.a_half], [join.b, join.b_half]] for join in truth.joins]
    return {"tiles": [{"face": "up", "halves": pair} for pair in halves], "joins": joins}


@pytest.fixture
def album(tmp_path: Path) -> Album:
    tables = {
        "felt/chain.png": table_with(CHAIN, joins=(Join(0, 1, 1, 0),)),
        "loose.png": table_with(LOOSE),
    }
    labels = []
    for image, rendered in tables.items():
        (tmp_path / image).parent.mkdir(exist_ok=True)
        assert cv2.imwrite(str(tmp_path / image), rendered.image)
        labels.append({"image": image, "kind": Path(image).stem, **label_of(rendered.truth)})
    return Album(tmp_path, labels)


def test_calm_tables_are_all_correct(album: Album) -> None:
    figures = album.figures()
    overall = figures["overall"]
    assert overall["counts"]["pictures"] == overall["counts"]["perfect"] == 2
    assert overall["counts"]["tiles"] == overall["counts"]["right"] == 5
    assert (overall["recall"], overall["precision"], overall["half_error"]) == (1.0, 1.0, 0.0)
    assert (overall["joins_recall"], overall["joins_precision"]) == (1.0, 1.0)
    assert overall["down_found"] is None
    assert {name: group["counts"]["tiles"] for name, group in figures["sources"].items()} == {".": 2, "felt": 3}
    assert {name: group["counts"]["tiles"] for name, group in figures["kinds"].items()} == {"chain": 3, "loose": 2}
    assert sum(level["halves"] for level in figures["reliability"]) == 10
    assert figures["mistakes"] == figures["not_judged"] == []
    assert 0 < figures["read_ms"]["median"] <= figures["read_ms"]["p95"]


def test_a_wrong_label_gives_one_mistake_and_one_crop(album: Album, tmp_path: Path) -> None:
    half = album.labels[1]["tiles"][0]["halves"][0]
    original, half["pips"] = half["pips"], 3
    sheet = tmp_path / "sheet.png"
    figures = album.figures(sheet=sheet)
    (mistake,) = figures["mistakes"]
    assert (mistake["image"], mistake["wrong"]) == ("loose.png", "wrong pips")
    assert mistake["text"].startswith("3-")
    assert f" read as {original}-" in mistake["text"]
    assert figures["sheets"] == [str(sheet)]
    drawn = cv2.imread(str(sheet))
    assert drawn is not None
    # A row has seven cells, and all but the first are blank.
    crops = [drawn[44:276, 12 + 244 * column : 244 + 244 * column] for column in range(7)]
    assert [bool((crop != 250).any()) for crop in crops] == [True] + [False] * 6
    assert drawn.shape[0] == 44 + 232 + 44 + 12 + 12


def test_tables_fit_eighty_columns_and_mistakes_are_listed(album: Album) -> None:
    del album.labels[0]["tiles"][2]
    assert album.evaluate() == 0
    assert "spare 6-1" in album.out or "spare 1-6" in album.out
    *tables, _ = album.out.split("Mistakes: 1")
    assert max(map(len, tables[0].splitlines())) <= 80
    for title in ("Tiles by source", "By the size of a half", "By kind", "alone", "Confidence", "median"):
        assert title in album.out
    assert album.err == ""


def test_no_sheet_is_written_without_mistakes(album: Album, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jpg"
    assert album.evaluate(sheet=sheet) == 0
    assert not sheet.exists()
    assert "no mistakes to draw" in album.out


def invalid_labels(album: Album) -> Iterator[str]:
    """Invalidate the first label in several ways, and yield the expected error."""
    first = album.labels[0]
    valid = dict(first)
    first["image"] = "felt/gone.png"
    yield f"labels.json: felt/gone.png: image: {album.root / 'felt' / 'gone.png'}: there is no such file"
    first.update(valid)
    first["tiles"] = "none"
    yield 'labels.json: felt/chain.png: tiles: expected a list, got "none"'
    first.update(valid)
    first["tiles"] = [*valid["tiles"], {"face": "down", "c": [9000, 5]}]
    yield "labels.json: felt/chain.png: tiles[3]: expected a place in the picture of 640 x 480 px, got 9000, 5"


def test_an_invalid_label_is_named_and_the_others_are_judged(album: Album) -> None:
    for error in invalid_labels(album):
        assert album.evaluate(as_json=True) == 1
        assert error in album.err
        figures = json.loads(album.out)
        assert figures["overall"]["counts"]["pictures"] == 1
        assert len(figures["not_judged"]) == 1


@pytest.mark.parametrize("name", ["sheet.gif", "absent/sheet.png", "loose.png"])
def test_rejects_an_invalid_sheet_before_reading(album: Album, name: str) -> None:
    assert album.evaluate(sheet=album.root / name) == 1
    assert album.err.startswith("tallybone evaluate: --sheet: ")
    assert album.out == ""


def test_names_a_missing_root_or_file(album: Album, tmp_path: Path) -> None:
    for labels, root in ((tmp_path / "none.json", tmp_path), (tmp_path / "labels.json", tmp_path / "none")):
        (tmp_path / "labels.json").write_text("[]")
        err = io.StringIO()
        assert evaluate_photos(labels, root, read_picture=reader().read, out=io.StringIO(), err=err) == 1
        assert "none" in err.getvalue()


@pytest.mark.slow
def test_the_program_evaluates(album: Album) -> None:
    if not TALLYBONE.is_file():
        pytest.skip("the command `tallybone` is not installed beside this Python")
    album.evaluate()
    command = [
        str(TALLYBONE),
        "evaluate",
        str(album.root / "labels.json"),
        str(album.root),
        "--json",
        "--set",
        "double-6",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["overall"]["right"] == 1.0
    assert result.stderr == ""


@pytest.mark.slow
def test_the_figures_of_photographs_agree_with_an_independent_scorer(shared_data: Path, tmp_path: Path) -> None:
    tool = shared_data.parent / "tools" / "score_read.py"
    if not tool.is_file():
        pytest.skip("the independent scorer of readings is not available")
    labels, root, read, lines = shared_data / "photos.json", shared_data / "photos", shipped_reader(TileSet.AUTO), []
    images = iter([label["image"] for label in json.loads(labels.read_text())])

    def recording_read(image: np.ndarray) -> Reading:
        reading = read(image)
        lines.append(format_reading(str(root / next(images)), reading, read_ms=1))
        return reading

    out = io.StringIO()
    assert evaluate_photos(labels, root, as_json=True, read_picture=recording_read, out=out) == 0
    command = [sys.executable, str(tool), str(labels), str(root), "--json"]
    result = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    overall = json.loads(out.getvalue())["overall"]
    ours = {**overall["counts"], **overall, "down_false": overall["counts"]["backs_spare"]}
    theirs = json.loads(result.stdout)
    assert {name: ours[name] for name in theirs} == theirs
