"""Tests of the built-in detector: recall on rendered tables, image sizes, and focus regions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from lab.render.looks import COLORED, WALNUT
from lab.render.paint import RenderedPicture
from lab.render.scene import PlacedTile
from lab.training.tables import corner_errors, truth_poses
from tests.vision.shapes import blank
from tests.vision.tables import CAMERA, Looks, lay, table_with
from vision import ModelError
from vision.arrays import Image
from vision.image.picture import build_pyramid
from vision.networks.detector import Detector, Focus, Proposals, load_detector

TILES = (lay(3, 5, -60, -30, 20), lay(0, 0, 70, 40, 130), lay(6, 6, 0, 80, 90), PlacedTile(None, (110, -70), 1.0))


@cache
def detector() -> Detector:
    return load_detector()


@cache
def shown(looks: str) -> RenderedPicture:
    return table_with(TILES, {"felt": Looks(), "walnut": Looks(COLORED, WALNUT)}[looks])


def errors(image: Image, rendered: RenderedPicture, scale: float = 1.0) -> list[float]:
    """Return the error, in sides, of the best likely proposal for each tile in a scaled image."""
    truth = truth_poses(rendered.truth)[0] * scale
    found = detector().find(build_pyramid(image))
    likely = found.poses[found.likely > 0.3]
    return [float(corner_errors(likely, pose[None])[0].min(initial=np.inf)) for pose in truth]


@pytest.mark.parametrize("looks", ["felt", "walnut"])
def test_every_tile_is_proposed_near_its_place(looks: str) -> None:
    assert len(shown(looks).truth.tiles) == 4
    assert max(errors(shown(looks).image, shown(looks))) < 0.5


@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_finds_tiles_in_small_and_large_images(scale: float) -> None:
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    image = np.asarray(cv2.resize(shown("felt").image, None, fx=scale, fy=scale, interpolation=interpolation), np.uint8)
    assert max(errors(image, shown("felt"), scale)) < 0.6


def test_finds_large_tiles() -> None:
    rendered = shown("felt")
    x, y = (int(value) for value in rendered.truth.tiles[0].center_px)
    cut = rendered.image[max(0, y - 45) : y + 45, max(0, x - 60) : x + 60]
    large = np.asarray(cv2.resize(cut, None, fx=6, fy=6, interpolation=cv2.INTER_CUBIC), np.uint8)
    found = detector().find(build_pyramid(large))
    centre = (np.array([x - max(0, x - 60), y - max(0, y - 45)]) + 0.5) * 6
    near = np.linalg.norm(found.poses[:, :2] - centre, axis=1) < 60
    assert found.likely[near].max(initial=0) > 0.3


@pytest.mark.parametrize("size_px", [(400, 300), (1, 1), (1, 3000), (33, 31)])
def test_finds_nothing_in_a_plain_image(size_px: tuple[int, int]) -> None:
    assert (detector().find(build_pyramid(blank(*size_px))).likely < 0.3).all()


def test_rejects_a_file_that_is_no_network(tmp_path: Path) -> None:
    path = tmp_path / "detector.onnx"
    with pytest.raises(ModelError, match=r"detector\.onnx: not a readable network"):
        load_detector(path)
    path.write_bytes(b"no network at all")
    with pytest.raises(ModelError, match=r"detector\.onnx: not a readable network"):
        load_detector(path)


@cache
def line_of_small_tiles() -> tuple[Image, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Five tiles end to end with sides of 10 px at 640 px, and their poses."""
    row = tuple(lay(6, 6 - i, -100 + 50.5 * i, 40) for i in range(5))
    camera = replace(CAMERA, width_px=1280, height_px=960, px_per_mm=0.8)
    rendered = table_with(row, Looks(COLORED, WALNUT, camera=camera))
    return rendered.image, truth_poses(rendered.truth)[0]


@pytest.mark.slow
@pytest.mark.parametrize("side_px", [20.0, None])
def test_a_focus_improves_the_poses_of_small_tiles(side_px: float | None) -> None:
    image, truth = line_of_small_tiles()
    levels, target = build_pyramid(image), truth[-1]
    x, y = target[:2].tolist()
    focus = Focus((x - 25, y - 12, x + 25, y + 12), side_px)
    found, plain = detector().find(levels, focus), detector().find(levels)

    def best(of: Proposals) -> tuple[float, float]:
        off = corner_errors(of.poses, target[None])[0]
        near = off < 0.3
        return float(off.min()), float(of.likely[near].max(initial=0))

    assert best(found)[0] < 0.2
    assert best(found)[1] > 0.65
    assert best(found)[1] >= best(plain)[1]
    far = np.hypot(*(found.poses[:, :2] - (x, y)).T) > 8 * 20
    again = np.hypot(*(plain.poses[:, :2] - (x, y)).T) > 8 * 20
    assert np.allclose(np.sort(found.poses[far], axis=0), np.sort(plain.poses[again], axis=0))


@pytest.mark.slow
def test_ignores_a_focus_with_large_tiles_or_a_large_box_and_accepts_one_at_the_corner() -> None:
    image, _ = line_of_small_tiles()
    levels = build_pyramid(image)
    plain = detector().find(levels)
    for focus in (Focus((600.0, 400.0, 650.0, 450.0), 40.0), Focus((0.0, 0.0, 1280.0, 960.0), 20.0)):
        assert (detector().find(levels, focus).poses == plain.poses).all()
    for box in ((0.0, 0.0, 3.0, 3.0), (1277.0, 957.0, 1282.0, 962.0)):
        detector().find(levels, Focus(box, 20.0))
