"""Tests of marks on tiles and of photographed table tops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from lab.packages import MissingPackagesError, files_of
from lab.render.face_grid import grid_of, marked
from lab.render.faces import OVERHEAD_GLINT, Texture, paint_face
from lab.render.look_types import TableKind, TileLook, TileMark
from lab.render.tabletop import find_photographs, photographed, require_photographs, ruled
from tests.lab.render.flat import GREEN, RED

SCALE = 5.0
YELLOW = (0.0, 220.0, 220.0)


def painted(look: TileLook, pips: tuple[int, int] | None = (0, 0), seed: int = 1) -> Texture:
    return paint_face(grid_of(look, SCALE), look, pips, OVERHEAD_GLINT, 1.0, np.random.default_rng(seed))


def yellow_at(texture: Texture, x: float, y: float) -> bool:
    """Return True if a face is yellow at a place from -1 to 1 along and across the tile."""
    height, width = texture.shape[:2]
    row, column = round((height + y * RED.width_mm * SCALE) / 2), round((width + x * RED.length_mm * SCALE) / 2)
    return bool(texture[row, column, 1] > 150)


@pytest.mark.parametrize(("x", "y"), [(-0.5, 0.6), (0.5, -0.6), (0.8, 0.0)])
def test_a_disc_is_painted_at_its_place_only(x: float, y: float) -> None:
    face = painted(replace(RED, marks=(TileMark(x, y, 0.1, YELLOW),)))
    assert yellow_at(face, x, y)
    assert not yellow_at(face, x + 0.15, y)
    assert not yellow_at(painted(RED), x + 0.02, y + 0.1)


def test_a_ring_is_hollow_and_letters_have_ink() -> None:
    ring = painted(replace(RED, marks=(TileMark(0.5, 0.0, 0.3, YELLOW, hollow=0.7),)))
    assert not yellow_at(ring, 0.5, 0.0)
    assert yellow_at(ring, 0.5, 0.51)
    letters = painted(replace(RED, marks=(TileMark(0.5, 0.0, 0.2, YELLOW, text="MI"),)))
    assert 100 < (letters[..., 1] > 150).sum() < 0.2 * letters[..., 1].size


def test_back_marks_are_on_backs_only() -> None:
    look = replace(RED, back_marks=(TileMark(0.5, 0.0, 0.2, YELLOW),))
    assert yellow_at(painted(look, None), 0.5, 0.0)
    assert not yellow_at(painted(look), 0.5, 0.0)


@pytest.mark.parametrize("look", [replace(RED, cracks=4.0), replace(RED, blobs=4.0), replace(RED, streaks=4.0)])
def test_faults_differ_between_tiles_and_stay_on_the_tile(look: TileLook) -> None:
    first, second, plain = painted(look), painted(look, seed=2), painted(RED)
    assert (first != plain).any()
    assert (first != second).any()
    assert not first[plain[..., 3] == 0].any()


def test_a_worn_bar_has_gaps() -> None:
    def bar_px(look: TileLook) -> int:
        return int((painted(look)[..., 0] > 150).sum())

    assert 0 < bar_px(replace(RED, bar_worn=0.9)) < 0.9 * bar_px(RED)


def test_random_marks_leave_room_for_the_pips() -> None:
    looks = [marked(np.random.default_rng(seed), RED) for seed in range(60)]
    marks = [mark for look in looks for mark in look.marks]
    assert all(
        abs(mark.x) <= 1 and abs(mark.y) <= 1 for mark in (*marks, *(m for look in looks for m in look.back_marks))
    )
    assert max(mark.size for mark in marks) < 0.13
    assert sum(bool(look.marks) for look in looks) > 20
    assert sum(bool(look.back_marks) for look in looks) > 30
    assert marked(np.random.default_rng(3), RED) == looks[3]


def test_ruled_paper_has_lines_at_its_pitch() -> None:
    paper = replace(GREEN, kind=TableKind.RULED, base_bgr=(250.0, 250.0, 250.0), second_bgr=(0.0, 0.0, 0.0))
    picture = ruled(replace(paper, pattern_mm=10.0), (200, 300), 2.0, np.random.default_rng(1))
    lines = np.nonzero((picture[..., 0] < 100).mean(axis=1) > 0.9)[0]
    starts = lines[np.diff(lines, prepend=-9) > 1]
    assert np.diff(starts) == pytest.approx([20] * 9, abs=1)


def test_a_photographed_table_shows_its_photograph(tmp_path: Path) -> None:
    picture = np.zeros((90, 60, 3), np.uint8)
    picture[:] = (10, 20, 200)
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), picture)
    look = replace(GREEN, kind=TableKind.PHOTOGRAPH, photograph=path)
    table = photographed(look, (70, 110), 0.3, np.random.default_rng(1))
    assert table.shape == (70, 110, 3)
    assert (table == (10, 20, 200)).all()


def test_a_photographed_table_needs_a_readable_photograph(tmp_path: Path) -> None:
    rng, look = np.random.default_rng(1), replace(GREEN, kind=TableKind.PHOTOGRAPH)
    with pytest.raises(ValueError, match="needs one"):
        photographed(look, (70, 110), 0.3, rng)
    with pytest.raises(OSError, match="reinstall"):
        photographed(replace(look, photograph=tmp_path / "none.jpg"), (70, 110), 0.3, rng)


def test_missing_packages_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPackagesError, match="apt install mate-backgrounds redeclipse-data"):
        require_photographs(tmp_path)
    assert find_photographs(tmp_path) == ()
    folder = tmp_path / "backgrounds/mate/nature"
    folder.mkdir(parents=True)
    files_of.cache_clear()
    (folder / "b.jpg").touch()
    with pytest.raises(MissingPackagesError, match=r"apt install redeclipse-data$"):
        require_photographs(tmp_path)
