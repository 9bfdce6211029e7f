"""Tables as other people photograph them: oblique, light on light, with an end, and the same for the same seed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from synthetic.render.foreign import draw_foreign_scene
from synthetic.render.layouts import random_scene
from synthetic.render.paint import render
from synthetic.render.placements import outline_mm
from synthetic.render.prints import PRINTS
from synthetic.render.scene import Scene

COUNT = 120


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT))


def share(which: list[bool]) -> float:
    return sum(which) / len(which)


def is_alike(scene: Scene) -> bool:
    """Whether the table has nearly the colour of the faces."""
    return bool(np.abs(np.subtract(scene.table.base_bgr, scene.tile.face_bgr)).max() < 60)


def is_light(scene: Scene) -> bool:
    return min(scene.tile.face_bgr) > 140


def test_the_same_seed_draws_the_same_scene() -> None:
    again = [draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(5)]
    assert again == list(scenes()[:5])
    assert len({scene.camera.tilt_rad for scene in scenes()}) == COUNT


@pytest.mark.parametrize("tilt_rad", [(0.0, 0.3), (0.2, 0.6), (0.6, 0.9), (1.0, 1.135)])
def test_the_camera_is_tilted_as_it_is_asked(tilt_rad: tuple[float, float]) -> None:
    tilts = [draw_foreign_scene(np.random.default_rng(seed), tilt_rad=tilt_rad).camera.tilt_rad for seed in range(30)]
    assert tilt_rad[0] <= min(tilts)
    assert max(tilts) <= tilt_rad[1]
    assert max(tilts) > sum(tilt_rad) / 2


def test_most_cameras_look_from_the_side_and_some_from_above() -> None:
    from_the_side = share([scene.camera.tilt_rad > 0.44 for scene in scenes()])
    assert 0.75 < from_the_side < 1.0
    assert max(scene.camera.tilt_rad for scene in scenes()) > 1.0


def test_tiles_are_as_large_as_it_is_asked() -> None:
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


def test_some_tables_end_and_every_tile_lies_on_its_table() -> None:
    ending = [scene for scene in scenes() if scene.floor is not None]
    assert 0.2 < len(ending) / COUNT < 0.5
    for scene in ending:
        assert scene.floor is not None
        for placed in scene.tiles:
            margins_mm = [scene.floor.margin_mm((x, y)) for x, y in outline_mm(placed, scene.tile).tolist()]
            assert min(margins_mm) > 0
        assert all(scene.floor.margin_mm(thing.center_mm) > 0 for thing in scene.clutter)


def test_light_tiles_lie_on_light_tables_and_dark_ones_on_dark_far_more_often_than_usual() -> None:
    usual = [random_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT)]
    for light in (True, False):
        here, there = (sum(is_alike(one) and is_light(one) is light for one in drawn) for drawn in (scenes(), usual))
        assert here > COUNT * 0.15
        assert here > 1.4 * there


def is_painted(scene: Scene) -> bool:
    return bool(scene.tiles) and all(scene.look_of(placed).placed_pips for placed in scene.tiles)


def test_what_makes_tables_foreign_happens_now_and_then_and_not_always() -> None:
    happens = {
        "off their places": [scene.tile.pip_jitter > 0 for scene in scenes()],
        "painted by hand": [bool(scene.more_looks) and is_painted(scene) for scene in scenes()],
        "on paper": [scene.tile.thickness_mm <= 1.5 for scene in scenes()],
        "prints": [any(thing.kind in PRINTS for thing in scene.clutter) for scene in scenes()],
        "hardly a shadow": [scene.light.shadow < 0.25 for scene in scenes()],
        "far too bright or too dim": [not 0.5 <= scene.light.exposure <= 1.5 for scene in scenes()],
    }
    shares = {name: share(which) for name, which in happens.items()}
    assert {name for name, seen in shares.items() if not 0.02 < seen < 0.8} == set()
    assert all(scene.tile.numerals is None for scene in scenes() if scene.tile.pip_jitter > 0)


def test_pips_painted_by_hand_are_as_many_as_the_tile_says_apart_and_on_no_two_tiles_alike() -> None:
    painted = [scene for scene in scenes() if is_painted(scene)]
    for scene in painted:
        sixes = set()
        for placed in scene.tiles:
            look = scene.look_of(placed)
            assert look.numerals is None
            assert [len(pips) for pips in look.placed_pips] == list(range(10))
            sixes.add(look.placed_pips[6])
            for pips in look.placed_pips:
                for at, one in enumerate(pips):
                    assert max(abs(one.x), abs(one.y)) + one.radius <= 0.931
                    gaps = [np.hypot(one.x - other.x, one.y - other.y) for other in pips[:at]]
                    assert all(gap > one.radius + other.radius for gap, other in zip(gaps, pips[:at], strict=True))
        assert len(sixes) == len(scene.tiles)


@pytest.mark.slow
def test_foreign_scenes_can_be_rendered_and_the_same_seed_gives_the_same_picture() -> None:
    seen = 0
    for seed in range(12):
        scene = draw_foreign_scene(np.random.default_rng(seed), size_px=(320, 240), tile_side_px=(12.0, 30.0))
        rendered = render(scene, np.random.default_rng(seed))
        assert rendered.image.shape == (240, 320, 3)
        assert (render(scene, np.random.default_rng(seed)).image == rendered.image).all()
        for tile in rendered.truth.tiles:
            assert 0 <= tile.center_px[0] < 320
            assert 0 <= tile.center_px[1] < 240
            seen += 1
    assert seen > 60
