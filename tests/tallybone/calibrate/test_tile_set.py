import io
import json
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.tiles import learning
from lab.render.looks import COLORED
from lab.render.paint import render
from tallybone.calibrate.tile_set import calibrate_set, parse_tiles
from tallybone.choices import TileSet
from tallybone.cli.photographs import ReadOptions, read_photos
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.terminal import Output
from tests.vision.sign_set import SHAPES, VIEWS, examine, named_doubles, true_tiles
from tests.vision.whole_set import draw_whole_set
from vision.reader.custom_set import look
from vision.reader.reader import load_reader

WHOLE_SET = [(low, high) for low in range(7) for high in range(low, 7)]


def read_pips(picture: Path, calibration: Path) -> list[tuple[int, ...]]:
    out = io.StringIO()
    assert read_photos(ReadOptions(photos=[picture], calibration=calibration, as_json=True), out=out) == 0
    return sorted(
        tuple(sorted(half["pips"] for half in tile["halves"])) for tile in json.loads(out.getvalue())["tiles"]
    )


def captured_output() -> Output:
    return Output("calibrate", io.StringIO(), io.StringIO())


def output_text(output: Output) -> str:
    assert isinstance(output.out, io.StringIO)
    return output.out.getvalue()


def error_text(output: Output) -> str:
    assert isinstance(output.err, io.StringIO)
    return output.err.getvalue()


@pytest.mark.slow
def test_a_set_is_learned_and_used(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rendered = render(draw_whole_set(COLORED, 6, rng, left_out=(27,)), rng)
    picture, file, message = tmp_path / "set.png", tmp_path / "table.json", captured_output()
    cv2.imwrite(str(picture), rendered.image)
    assert (
        calibrate_set([picture], file, tile_set=TileSet.DOUBLE_6, annotate_into=tmp_path / "drawn", output=message) == 0
    )
    text = output_text(message)
    assert "27 tiles of a set to double-6 are visible face up." in text
    assert "Missing: 6-6\n" in text
    assert "coloured pips, a bar" in text
    assert "held-out tiles" in text
    assert (tmp_path / "drawn" / "set-set.png").exists()
    kept = load_calibration(file).set
    assert kept is not None
    assert sorted(tuple(sorted(tile)) for tile in kept.tiles) == WHOLE_SET[:-1]
    assert read_pips(picture, file) == WHOLE_SET[:-1]


@pytest.mark.slow
def test_a_set_of_signs_needs_labelled_doubles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "look", partial(look, views=VIEWS))
    rng = np.random.default_rng(12)
    rendered = render(draw_whole_set(SHAPES, 6, rng), rng)
    picture, file, before, after = tmp_path / "set.png", tmp_path / "table.json", captured_output(), captured_output()
    cv2.imwrite(str(picture), rendered.image)
    assert calibrate_set([picture], file, tile_set=TileSet.DOUBLE_6, output=before) == 0
    assert "enter the value of each double" in output_text(before)
    assert read_pips(picture, file) != WHOLE_SET
    true = true_tiles(examine(rendered, load_reader()).seen[0], rendered)
    labels = {at + 1: pips for at, pips in named_doubles(true).items()}
    assert calibrate_set([picture], file, hand_labels=labels, output=after) == 0
    assert "28 tiles of a set to double-6" in output_text(after)
    assert "In doubt" not in output_text(after)
    assert read_pips(picture, file) == WHOLE_SET
    assert calibrate_set([picture], file, hand_labels={29: (1, 1)}, output=after) == 1
    assert "there is no tile 29" in error_text(after)


def test_too_few_tiles_write_no_file_and_none_cannot_be_read(tmp_path: Path) -> None:
    picture, file, message = tmp_path / "empty.png", tmp_path / "table.json", captured_output()
    cv2.imwrite(str(picture), np.full((480, 640, 3), 90, np.uint8))
    assert calibrate_set([picture], file, output=message) == 1
    assert "0 tiles are visible face up, but at least 10 are needed" in error_text(message)
    assert not file.exists()
    save_calibration(Calibration(), file)
    err = io.StringIO()
    assert read_photos(ReadOptions(photos=[tmp_path / "any.png"], calibration=file), out=io.StringIO(), err=err) == 1
    assert "no tiles were learned" in err.getvalue()


def test_labels_are_parsed_by_number() -> None:
    assert parse_tiles("3=6-5, 12=0-0") == {3: (6, 5), 12: (0, 0)}
    assert parse_tiles("") == {}
    with pytest.raises(ValueError, match="got '6-5'"):
        parse_tiles("6-5")
