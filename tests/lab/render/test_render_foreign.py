"""Tests of scenes like other people's photographs: oblique views, light on light, table edges, seeds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from lab.render.foreign import draw_foreign_scene
from lab.render.layouts import random_scene
from lab.render.paint import render
from lab.render.placements import outline_mm
from lab.render.prints import PRINTS
from lab.render.scene import Scene

COUNT = 120


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT))


def share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


def is_alike(scene: Scene) -> bool:
    """Check that the table has nearly the colour of the faces."""
    return bool(np.abs(np.subtract(scene.table.base_bgr, scene.tile.face_bgr)).max() < 60)


def is_light(scene: Scene) -> bool:
    return min(scene.tile.face_bgr) > 140


def test_the_same_seed_draws_the_same_scene() -> None:
    repeated = [draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(5)]
    assert repeated == list(scenes()[:5])
    assert len({scene.camera.tilt_rad for scene in scenes()}) == COUNT


@pytest.mark.parametrize("tilt_rad", [(0.0, 0.3), (0.2, 0.6), (0.6, 0.9), (1.0, 1.135)])
def test_the_camera_tilt_is_in_the_requested_range(tilt_rad: tuple[float, float]) -> None:
    tilts = [draw_foreign_scene(np.random.default_rng(seed), tilt_rad=tilt_rad).camera.tilt_rad for seed in range(30)]
    assert tilt_rad[0] <= min(tilts)
    assert max(tilts) <= tilt_rad[1]
    assert max(tilts) > sum(tilt_rad) / 2


def test_most_cameras_are_oblique_and_some_overhead() -> None:
    oblique = share([scene.camera.tilt_rad > 0.44 for scene in scenes()])
    assert 0.75 < oblique < 1.0
    assert max(scene.camera.tilt_rad for scene in scenes()) > 1.0


def test_tile_sizes_are_in_the_requested_range() -> None:
    drawn = [draw_foreign_scene(np.random.default_rng(seed), tile_side_px=(20.0, 40.0)) for seed in range(30)]
    sides_px = [scene.camera.px_per_mm * scene.tile.width_mm for scene in drawn]
    assert min(sides_px) >= 20.0
    assert max(sides_px) <= 40.0
    assert max(sides_px) > 1.5 * min(sides_px)


@pytest.mark.parametrize("max_pips", [6, 12, 18])
def test_scenes_use_their_set(max_pips: int) -> None:
    rng = np.random.default_rng(max_pips)
    drawn = [draw_foreign_scene(rng, max_pips=max_pips) for _ in range(10)]
    pips = [pip for scene in drawn for placed in scene.tiles if placed.pips for pip in placed.pips]
    assert 0.7 * max_pips < max(pips) <= max_pips


def test_some_tables_have_an_edge_and_all_tiles_are_on_the_table() -> None:
    with_edge = [scene for scene in scenes() if scene.floor is not None]
    assert 0.2 < len(with_edge) / COUNT < 0.5
    for scene in with_edge:
        assert scene.floor is not None
        for placed in scene.tiles:
            margins_mm = [scene.floor.margin_mm((x, y)) for x, y in outline_mm(placed, scene.tile).tolist()]
            assert min(margins_mm) > 0
        assert all(scene.floor.margin_mm(thing.center_mm) > 0 for thing in scene.clutter)


def test_low_contrast_tables_are_much_more_frequent_than_usual() -> None:
    usual = [random_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT)]
    for light in (True, False):
        count, usual_count = (
            sum(is_alike(scene) and is_light(scene) is light for scene in drawn) for drawn in (scenes(), usual)
        )
        assert count > COUNT * 0.15
        assert count > 1.4 * usual_count


def is_painted(scene: Scene) -> bool:
    return bool(scene.tiles) and all(scene.look_of(placed).placed_pips for placed in scene.tiles)


def test_every_unusual_feature_occurs_sometimes_but_not_always() -> None:
    features = {
        "off their places": [scene.tile.pip_jitter > 0 for scene in scenes()],
        "painted by hand": [bool(scene.more_looks) and is_painted(scene) for scene in scenes()],
        "on paper": [scene.tile.thickness_mm <= 1.5 for scene in scenes()],
        "prints": [any(item.kind in PRINTS for item in scene.clutter) for scene in scenes()],
        "hardly a shadow": [scene.light.shadow < 0.25 for scene in scenes()],
        "far too bright or too dim": [not 0.5 <= scene.light.exposure <= 1.5 for scene in scenes()],
    }
    shares = {name: share(flags) for name, flags in features.items()}
    assert {name for name, rate in shares.items() if not 0.02 < rate < 0.8} == set()
    assert all(scene.tile.numerals is None for scene in scenes() if scene.tile.pip_jitter > 0)


def test_handpainted_pips_have_the_right_count_without_overlap_and_vary() -> None:
    painted = [scene for scene in scenes() if is_painted(scene)]
    for scene in painted:
        sixes = set()
        for placed in scene.tiles:
            look = scene.look_of(placed)
            assert look.numerals is None
            assert [len(pips) for pips in look.placed_pips] == list(range(10))
            sixes.add(look.placed_pips[6])
            for pips in look.placed_pips:
                for index, pip in enumerate(pips):
                    assert max(abs(pip.x), abs(pip.y)) + pip.radius <= 0.931
                    gaps = [np.hypot(pip.x - other.x, pip.y - other.y) for other in pips[:index]]
                    assert all(gap > pip.radius + other.radius for gap, other in zip(gaps, pips[:index], strict=True))
        assert len(sixes) == len(scene.tiles)


@pytest.mark.slow
def test_foreign_scenes_can_be_rendered_and_follow_from_the_seed() -> None:
    tile_count = 0
    for seed in range(12):
        scene = draw_foreign_scene(np.random.default_rng(seed), size_px=(320, 240), tile_side_px=(12.0, 30.0))
        rendered = render(scene, np.random.default_rng(seed))
        assert rendered.image.shape == (240, 320, 3)
        assert (render(scene, np.random.default_rng(seed)).image == rendered.image).all()
        for tile in rendered.truth.tiles:
            assert 0 <= tile.center_px[0] < 320
            assert 0 <= tile.center_px[1] < 240
            tile_count += 1
    assert tile_count > 60
