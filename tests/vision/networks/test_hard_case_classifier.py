"""Tests of the hard-case classifier: probabilities, batch independence, and when the reader uses it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.paint import render
from lab.training.pips import draw_usual_scene
from lab.training.tables import true_pips, truth_poses
from tests.vision.tables import Looks, lay, reader, table_with
from vision.image.picture import Level, build_pyramid
from vision.networks.network import (
    UP,
    HardCaseClassifier,
    load_hard_case_classifier,
    load_pip_classifier,
    load_pip_features,
)
from vision.poses import Poses, empty_poses, jittered


def table() -> tuple[tuple[Level, ...], Poses, list[int]]:
    """Return an image with the tiles 0-6, 5-1 and 6-6, their poses, and the pips of their halves in that order."""
    rendered = table_with([lay(0, 6, -80, -30, 20), lay(5, 1, 60, 30, 130), lay(6, 6, 0, -70, 75)], Looks(seed=3))
    return build_pyramid(rendered.image), truth_poses(rendered.truth)[0], true_pips(rendered.truth).ravel().tolist()


def test_reads_clear_pips_on_the_requested_half() -> None:
    levels, poses, pips = table()
    logs = load_hard_case_classifier().logs(levels, np.repeat(poses, 2, axis=0), np.tile([0, 1], len(poses)))
    assert logs.argmax(axis=1).tolist() == pips
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)


def test_the_result_for_a_half_does_not_depend_on_the_batch() -> None:
    levels, poses, _ = table()
    second = load_hard_case_classifier()
    halves = np.array([0, 1, 0])
    together = second.logs(levels, poses, halves)
    for index in range(len(poses)):
        alone = second.logs(levels, poses[[index]], halves[[index]])
        np.testing.assert_allclose(alone, together[[index]], atol=1e-3)
    assert second.logs(levels, empty_poses(), halves[:0]).shape == (0, 19)


def test_corrects_most_misreadings_of_the_first_classifier() -> None:
    first, head, second = load_pip_features(), load_pip_classifier(), load_hard_case_classifier()
    misread, still_misread = 0, 0
    for seed in (32, 36, 57):  # of sixty scenes, those with most misreadings
        rng = np.random.default_rng([15, seed])
        rendered = render(draw_usual_scene(rng), rng)
        levels, (poses, faces) = build_pyramid(rendered.image), truth_poses(rendered.truth)
        seen, pips = jittered(rng, poses[faces == UP], 0.03), true_pips(rendered.truth).T.ravel()
        wrong = head.probabilities(first.describe(levels, seen)).argmax(axis=1) != pips
        misread += wrong.sum()
        again = second.logs(levels, np.concatenate([seen, seen]), np.repeat([0, 1], len(seen)))
        still_misread += (wrong & (again.argmax(axis=1) != pips)).sum()
    assert misread > 20
    assert still_misread < 0.6 * misread


class CountingClassifier(HardCaseClassifier):
    """Classifier that reads every half as three pips, and records the number of halves in each call."""

    def __init__(self) -> None:
        self.counts = list[int]()

    def logs(self, levels: tuple[Level, ...], poses: Poses, halves: NDArray[np.intp]) -> NDArray[np.float64]:
        self.counts.append(len(poses))
        return np.log(np.where(np.arange(19) == 3, 0.999, 1e-6))[None].repeat(len(poses), axis=0)


@pytest.mark.parametrize(("blur_px", "is_used"), [(0.5, False), (3.5, True)])
def test_only_uncertain_halves_get_the_second_classifier(blur_px: float, is_used: bool) -> None:
    tiles = [lay(1, 6, -80, -30, 20), lay(5, 1, 60, 30, 130), lay(6, 6, 0, -70, 75), lay(2, 4, 90, -60, 50)]
    picture = np.asarray(cv2.GaussianBlur(table_with(tiles, Looks(seed=3)).image, (0, 0), blur_px), np.uint8)
    counting = CountingClassifier()
    reading = replace(reader(), hard_cases=counting, max_pips=6).read(picture)
    halves = [half for tile in reading.tiles for half in tile.halves]
    rechecked, shifted = counting.counts
    assert (rechecked > 0) == is_used
    assert sum(half.alone.pips == 3 for half in halves) == rechecked < len(halves)
    assert shifted % 4 == 0
    assert shifted <= 4 * rechecked
