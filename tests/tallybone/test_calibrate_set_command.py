import io
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.calibrate_command import Talk
from tallybone.calibrate_set_command import calibrate_set, parse_tiles
from tallybone.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.choices import TileSet
from tallybone.read_command import read_photos
from tests.vision.whole_set import draw_whole_set
from vision.render.looks import COLORED
from vision.render.paint import render


def talk() -> Talk:
    return Talk(io.StringIO(), io.StringIO())


def said_by(one: Talk) -> str:
    assert isinstance(one.out, io.StringIO)
    return one.out.getvalue()


def complaint_of(one: Talk) -> str:
    assert isinstance(one.err, io.StringIO)
    return one.err.getvalue()


@pytest.mark.slow
def test_a_picture_of_the_set_is_learned_and_used(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rendered = render(draw_whole_set(COLORED, 6, rng, left_out=(27,)), rng)
    picture, file, words = tmp_path / "set.png", tmp_path / "table.json", talk()
    cv2.imwrite(str(picture), rendered.image)
    assert calibrate_set([picture], file, tile_set=TileSet.DOUBLE_6, annotate_into=tmp_path / "drawn", talk=words) == 0
    said = said_by(words)
    assert "27 tiles of a set to double-6 are seen face up." in said
    assert "Missing: 6-6\n" in said
    assert "coloured pips, a bar" in said
    assert "kept back" in said
    assert (tmp_path / "drawn" / "set-set.png").exists()
    kept = load_calibration(file).set
    assert kept is not None
    assert sorted(tuple(sorted(tile)) for tile in kept.tiles) == sorted(
        (low, high) for low in range(7) for high in range(low, 7) if (low, high) != (6, 6)
    )
    out = io.StringIO()
    assert read_photos([picture], calibration=file, as_json=True, out=out) == 0
    read = json.loads(out.getvalue())
    assert sorted(tuple(sorted(half["pips"] for half in tile["halves"])) for tile in read["tiles"]) == sorted(
        tuple(sorted(tile)) for tile in kept.tiles
    )


def test_too_few_tiles_leave_the_file_as_it_was(tmp_path: Path) -> None:
    picture, file, words = tmp_path / "empty.png", tmp_path / "table.json", talk()
    cv2.imwrite(str(picture), np.full((480, 640, 3), 90, np.uint8))
    assert calibrate_set([picture], file, talk=words) == 1
    assert "0 tiles are seen face up, and 10 or more are needed" in complaint_of(words)
    assert not file.exists()


def test_reading_with_a_calibration_that_knows_no_tiles_says_so(tmp_path: Path) -> None:
    file, err = tmp_path / "table.json", io.StringIO()
    save_calibration(Calibration(), file)
    assert read_photos([tmp_path / "any.png"], calibration=file, out=io.StringIO(), err=err) == 1
    assert "no tiles were learned" in err.getvalue()


def test_tiles_are_said_by_number() -> None:
    assert parse_tiles("3=6-5, 12=0-0") == {3: (6, 5), 12: (0, 0)}
    assert parse_tiles("") == {}
    with pytest.raises(ValueError, match="got '6-5'"):
        parse_tiles("6-5")
