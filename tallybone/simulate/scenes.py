"""Table of the demo: its looks, and the scene to render after each event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine import Layout, Rules
from synthetic.render.layouts import visible_area
from synthetic.render.look_types import CameraLook, LightLook, TableLook, TileLook
from synthetic.render.looks import CLASSIC, COLORED, FELT, LAMP, OVERHEAD, WALNUT
from synthetic.render.scene import PlacedTile, Scene
from synthetic.render.view import view_of
from tallybone.session.touching import Laid, Point
from tallybone.simulate.game_script import PlayArea

_NIGHT = replace(
    CLASSIC,
    face_bgr=(38.0, 34.0, 32.0),
    back_bgr=(38.0, 34.0, 32.0),
    side_bgr=(30.0, 27.0, 25.0),
    base_bgr=(30.0, 27.0, 25.0),
)
_BLACK_TILES = replace(_NIGHT, pip_bgr=((230.0, 234.0, 236.0),) * len(CLASSIC.pip_bgr), bar_bgr=(190.0, 194.0, 196.0))
_LINEN = replace(
    FELT, base_bgr=(150.0, 168.0, 178.0), second_bgr=(130.0, 150.0, 162.0), third_bgr=(160.0, 175.0, 185.0)
)
LOOKS = {
    "classic-felt": (CLASSIC, FELT),
    "classic-walnut": (CLASSIC, WALNUT),
    "colored-felt": (COLORED, FELT),
    "colored-walnut": (COLORED, WALNUT),
    "black-linen": (_BLACK_TILES, _LINEN),
}
"""Looks of tiles and table, by name."""

# A 1280x720 camera sees 77 x 43 cm of a small table. Halves are 40 pixels wide.
_CAMERA = replace(OVERHEAD, width_px=1280, height_px=720, px_per_mm=1.667)
# Maximum number of tiles in the set for each camera. Two sets need a table of 120 x 67 cm, with halves of 38 pixels,
# and six arms need 154 x 86 cm, with halves of 30 pixels.
_CAMERAS = (
    (28, _CAMERA),
    (56, replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=1.6)),
    (171, replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=1.25)),
)


@dataclass(frozen=True, slots=True)
class DemoTable:
    """Looks of a demo's tiles, table, light and camera. They do not change during the demo."""

    tile: TileLook
    surface: TableLook
    light: LightLook
    camera: CameraLook

    @property
    def board(self) -> PlayArea:
        """Largest area for a layout that is completely in the picture."""
        area = visible_area(self.camera)
        return PlayArea(area.width_mm, area.height_mm, self.tile.width_mm)

    def scene(self, layout: Layout, laid: Sequence[Laid]) -> Scene:
        """Return the scene with the tiles of a layout. Nodes that are not in *laid* are skipped."""
        places = {tile.node: tile for tile in laid}
        nodes = [node for node in layout.nodes if node.id in places]
        tiles = {node.id: placed_tile(places[node.id], (node.inner, node.outer)) for node in nodes}
        # A stacked copy has the same position and pips as the tile below it.
        on_top = (replace(tiles[id_], height_mm=self.tile.thickness_mm) for id_ in tiles if id_ in layout.stacked)
        return Scene((*tiles.values(), *on_top), self.tile, self.surface, self.light, self.camera)

    def center_px(self, laid: Laid) -> Point:
        """Return the middle of a tile's face in pixels of the picture."""
        view = view_of(self.camera)
        points_px = view.distort(view.project(np.array([laid.place.center]), self.tile.thickness_mm))
        return (float(points_px[0, 0]), float(points_px[0, 1]))


def pick_table(rng: np.random.Generator, rules: Rules) -> DemoTable:
    """Return a random table with room for a game, and a slightly tilted camera."""
    tile, surface = list(LOOKS.values())[int(rng.integers(len(LOOKS)))]
    light = replace(
        LAMP,
        azimuth_rad=rng.uniform(-math.pi, math.pi),
        elevation_rad=rng.uniform(0.8, 1.3),
        shadow=rng.uniform(0.2, 0.5),
    )
    overhead = next((camera for tiles, camera in _CAMERAS if rules.tiles <= tiles), _CAMERAS[-1][1])
    camera = replace(overhead, tilt_rad=rng.uniform(0.0, 0.06), roll_rad=rng.normal(0.0, 0.015))
    return DemoTable(tile, surface, light, camera)


def placed_tile(laid: Laid, pips: tuple[int, int]) -> PlacedTile:
    """Convert a tile of the layout for the renderer.

    *pips* are those of W and E, or of N and S for a crosswise double.
    """
    turn_rad = 0.0 if laid.place.lies_along else math.pi / 2
    return PlacedTile(pips, laid.place.center, laid.place.heading_rad + turn_rad)
