"""Tests of the samples of the detector: crops, labels and targets."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
import pytest

from lab.training import samples
from lab.training.tables import draw_in_processes
from tests.vision.shapes import tile_at, tiles_at
from vision.networks.detector import decode_poses
from vision.networks.network import DOWN, UP
from vision.poses import Poses, corners, empty_poses, sides_px, to_image

BLACK, GREEN, RED = (0, 0, 0), (0, 255, 0), (0, 0, 255)


def picture_of(poses: Poses, *unread: Poses, size_px: tuple[int, int] = (256, 256)) -> samples.LabelledPicture:
    """Return a black image with green tiles that are red around their centres."""
    image = np.zeros((size_px[1], size_px[0], 3), np.uint8)
    inner = np.array([(-0.2, -0.4), (0.2, -0.4), (0.2, 0.4), (-0.2, 0.4)])
    for pose in poses:
        cv2.fillConvexPoly(image, np.round(corners(pose[None])[0]).astype(np.int32), GREEN)
        cv2.fillConvexPoly(image, np.round(to_image(pose[None], inner)[0]).astype(np.int32), RED)
    outlines = tuple(corners(pose)[0] for pose in unread)
    return samples.LabelledPicture(image, poses, np.full(len(poses), UP), outlines)


def test_warped_poses_match_the_warped_pixels() -> None:
    poses = tiles_at(tile_at(100, 120, side_px=40, degrees=30), tile_at(180, 60, side_px=30, degrees=100))
    warp = np.array([[1.1, 0.3, -20], [-0.2, 0.9, 30], [4e-4, -3e-4, 1]])
    image = cv2.warpPerspective(picture_of(poses).image, warp, (256, 256))
    for pose in samples.warp_poses(poses, warp):
        inside = to_image(pose[None], np.array([(0.0, 0.0), (0.8, 0.7), (-0.8, -0.7), (0.8, -0.7), (-0.8, 0.7)]))[0]
        outside = to_image(pose[None], np.array([(1.2, 0.0), (-1.2, 0.0), (0.0, 1.3), (0.0, -1.3)]))[0]
        colours = [image[tuple(np.round(point[::-1]).astype(int))] for point in inside]
        assert colours[0][2] > 200
        assert all(colour[1] > 200 for colour in colours[1:])
        assert all(image[tuple(np.round(point[::-1]).astype(int))].max() < 60 for point in outside)


def test_every_drawn_crop_shows_its_tiles() -> None:
    poses = tiles_at(tile_at(130, 120, side_px=40, degrees=30), tile_at(60, 200, side_px=40, degrees=100))
    checked = 0
    for seed in range(30):
        crop = samples.draw_crop(np.random.default_rng(seed), picture_of(poses))
        assert crop.image.shape == (samples.CROP_PX, samples.CROP_PX, 3)
        assert crop.image.dtype == np.uint8
        for pose in crop.poses[sides_px(crop.poses) > 15]:
            around = to_image(pose[None], np.array([(0.0, 0.0), (0.6, 0.0), (-0.6, 0.0)]))[0]
            if (around > 1).all() and (around < samples.CROP_PX - 2).all():
                center, *ends = (crop.image[tuple(np.round(point[::-1]).astype(int))].astype(int) for point in around)
                assert np.abs(center - ends[0]).max() > 25
                checked += 1
    assert checked > 20


def test_equal_seeds_draw_equal_crops() -> None:
    picture = picture_of(tile_at(130, 120, side_px=40))
    first, second = (samples.draw_crop(np.random.default_rng(4), picture) for _ in range(2))
    assert (first.image == second.image).all()
    assert (first.poses == second.poses).all()


def test_an_empty_table_can_be_cropped() -> None:
    crop = samples.draw_crop(np.random.default_rng(1), picture_of(empty_poses()))
    assert (crop.poses.shape, crop.faces.shape) == ((0, 6), (0,))
    truth = samples.targets_of(crop)
    assert not truth.heat.any()
    assert not truth.shape_counts.any()
    assert truth.heat_counts.min() == 1


def test_targets_encode_the_poses_of_tiles() -> None:
    poses = tiles_at(tile_at(100, 60, side_px=24, degrees=20), tile_at(180, 160, side_px=40, degrees=75))
    picture = picture_of(poses)
    truth = samples.targets_of(samples.LabelledPicture(picture.image, poses, np.array([UP, DOWN]), ()))
    assert truth.heat.shape == (2, 64, 64)
    for face, (row, column) in enumerate(((15, 25), (40, 45))):  # (y + 0.5) // 4, (x + 0.5) // 4
        assert np.argwhere(truth.heat[face] == 1).tolist() == [[row, column]]
        assert truth.heat[face, row, column + 1] > truth.heat[face, row, column + 2] > 0
    rows, columns = np.nonzero(truth.shape_counts)
    assert len(rows) > 20
    decoded = decode_poses(truth.shapes[:, rows, columns].T.astype(np.float64), np.column_stack([columns, rows]))
    gaps = np.linalg.norm(decoded[:, None, :2] - poses[None, :, :2], axis=2).min(axis=1)
    assert gaps.max() < 0.01  # every cell with a shape target points at a centre


def test_illegible_tiles_are_excluded_from_the_targets() -> None:
    covered, cut_off, tiny = (
        tile_at(100, 60, side_px=24),
        tile_at(250, 200, side_px=24),
        tile_at(40, 200, side_px=4),
    )
    truth = samples.targets_of(picture_of(tiles_at(cut_off, tiny), covered))
    assert truth.heat.max() == 0
    for pose in (covered, cut_off, tiny):
        column, row = ((pose[0, :2] + 0.5) // 4).astype(int)
        assert truth.heat_counts[row, column] == 0
    assert truth.heat_counts[5, 5] == 1


@pytest.mark.slow
def test_tiles_too_large_for_the_scale_count_as_background() -> None:
    large, cut_off = tile_at(120, 120, side_px=90), tile_at(250, 60, side_px=90)
    truth = samples.targets_of(picture_of(tiles_at(large, cut_off)))
    assert not truth.heat.any()
    assert truth.heat_counts.all()


def test_rendered_tables_follow_from_the_seed_and_contain_their_tiles() -> None:
    (first, second) = (
        list(draw_in_processes(partial(samples.draw_picture, 3), 2, jobs, lambda _: None)) for jobs in (1, 2)
    )
    for single, parallel in zip(first, second, strict=True):
        assert (single.encoded == parallel.encoded).all()
        assert (single.poses == parallel.poses).all()
    assert (samples.draw_picture(4, 0).encoded.shape != first[0].encoded.shape) or (
        samples.draw_picture(4, 0).encoded != first[0].encoded
    ).any()
    opened = first[0].decode()
    height, width = opened.image.shape[:2]
    assert 720 <= width < 960
    assert ((opened.poses[:, :2] > 0) & (opened.poses[:, :2] < (width, height))).all()
    assert len(opened.poses) == len(opened.faces)
