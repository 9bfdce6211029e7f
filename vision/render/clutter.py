"""Paint things that lie on tables beside tiles: coins, pens, paper, printed dominoes."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.face_grid import grid_of
from vision.render.faces import paint_face
from vision.render.lighting import Solid, to_lamp
from vision.render.patterns import Points
from vision.render.scene import Clutter, ClutterKind, PlacedTile, Scene
from vision.render.solids import corners_of, paint_texture, paint_walls, rounded_outline, top_warp
from vision.render.view import View

Picture = NDArray[np.uint8]

_FLAT = (ClutterKind.PAPER, ClutterKind.PRINTED_TILE)
_ROUND = (ClutterKind.COIN, ClutterKind.GLASS)


def _outline(thing: Clutter) -> Points:
    """Return the outline of *thing* on the table, shape (N, 2)."""
    width_mm = thing.length_mm if thing.kind in _ROUND else thing.width_mm
    radius_mm = min(thing.length_mm, width_mm) / 2
    if thing.kind not in (*_ROUND, ClutterKind.PEN):
        radius_mm *= 0.12
    frame = PlacedTile(None, thing.center_mm, thing.theta_rad)
    return frame.to_table(rounded_outline(thing.length_mm, width_mm, radius_mm))


def clutter_solids(scene: Scene) -> list[Solid]:
    """Return the bodies that throw shadows."""
    return [Solid(_outline(thing), 0.0, thing.height_mm) for thing in scene.clutter if thing.kind not in _FLAT]


def _fill(picture: Picture, points_px: Points, bgr: tuple[float, float, float]) -> None:
    cv2.fillPoly(picture, [np.round(points_px * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)


def _spot(thing: Clutter, view: View, points_mm: Points) -> Points:
    """Return where points of the frame of *thing*, on its top, appear."""
    frame = PlacedTile(None, thing.center_mm, thing.theta_rad)
    return view.project(frame.to_table(points_mm), thing.height_mm)


def _shaded(bgr: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    return (min(255.0, bgr[0] * factor), min(255.0, bgr[1] * factor), min(255.0, bgr[2] * factor))


def paint_flat_clutter(picture: Picture, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint paper and printed dominoes in place, before any shadow falls on them."""
    for thing in scene.clutter:
        if thing.kind is ClutterKind.PAPER:
            _fill(picture, view.project(_outline(thing), 0.0), thing.bgr)
            for row in np.arange(-0.42, 0.43, 0.09):
                ends = np.array([[-0.4, row], [rng.uniform(-0.1, 0.42), row]]) * (thing.length_mm, thing.width_mm)
                line = np.round(_spot(thing, view, ends)).astype(int)
                cv2.line(picture, _pair(line[0]), _pair(line[1]), _shaded(thing.bgr, 0.4), 1, cv2.LINE_AA)
        elif thing.kind is ClutterKind.PRINTED_TILE:
            _paint_printed(picture, thing, scene, view, rng)


def _pair(point: NDArray[np.int64]) -> tuple[int, int]:
    return (int(point[0]), int(point[1]))


def _paint_printed(picture: Picture, thing: Clutter, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint a domino that is only printed: no thickness, no shadow, no rounded edge."""
    grid = grid_of(scene.tile, scene.camera.px_per_mm)
    pips = (int(rng.integers(0, 7)), int(rng.integers(0, 7)))
    texture = paint_face(grid, scene.tile, pips, np.array([0.0, 0.0, 1.0]), 1.0, rng)
    on_table = PlacedTile(pips, thing.center_mm, thing.theta_rad, -scene.tile.thickness_mm)
    size = thing.length_mm / scene.tile.length_mm
    warp = top_warp(on_table, scene.tile, grid, view)
    middle = np.array([(texture.shape[1] - 1) / 2, (texture.shape[0] - 1) / 2])
    shrink = np.array([[size, 0, middle[0] * (1 - size)], [0, size, middle[1] * (1 - size)], [0, 0, 1.0]])
    paint_texture(picture, texture, warp @ shrink, None, 0.0)


def paint_solid_clutter(picture: Picture, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint everything that has a height in place, farther things first."""
    lamp = to_lamp(scene.light)
    for thing in sorted(scene.clutter, key=lambda item: item.center_mm[1]):
        if thing.kind in _FLAT:
            continue
        outline = _outline(thing)
        paint_walls(picture, outline, (0.0, thing.height_mm), thing.bgr, scene.light, view)
        top = view.project(outline, thing.height_mm)
        if thing.kind is ClutterKind.GLASS:
            _paint_glass(picture, top, thing)
            continue
        if thing.kind is ClutterKind.STANDING_TILE:
            _fill(picture, top, thing.bgr)
            _paint_standing(picture, thing, scene, view, rng)
            continue
        _fill(picture, top, thing.bgr)
        _decorate(picture, thing, view, lamp, rng)


def _paint_glass(picture: Picture, rim_px: Points, thing: Clutter) -> None:
    rim = np.round(rim_px * 16).astype(np.int32)
    cv2.polylines(picture, [rim], isClosed=True, color=(235, 235, 235), thickness=2, lineType=cv2.LINE_AA, shift=4)
    inner = rim_px.mean(axis=0) + (rim_px - rim_px.mean(axis=0)) * 0.85
    _fill(picture, inner, _shaded(thing.bgr, 0.6))


def _paint_standing(picture: Picture, thing: Clutter, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint the side of a tile on its edge that the camera sees: its face or its back."""
    look, frame = scene.tile, PlacedTile(None, thing.center_mm, thing.theta_rad)
    half = np.array([thing.length_mm, thing.width_mm]) / 2
    edges = [np.array([[-half[0], half[1]], [half[0], half[1]]]), np.array([[half[0], -half[1]], [-half[0], -half[1]]])]
    near = max(edges, key=lambda edge: float(frame.to_table(edge)[:, 1].mean()))
    low, high = (view.project(frame.to_table(near), height_mm) for height_mm in (0.0, thing.height_mm))
    seen = np.array([high[0], high[1], low[1], low[0]])
    if cv2.contourArea(seen.astype(np.float32), oriented=True) <= 4.0:
        return
    pips = (int(rng.integers(0, 7)), int(rng.integers(0, 7))) if rng.random() < 0.5 else None
    grid = grid_of(look, scene.camera.px_per_mm)
    texture = paint_face(grid, look, pips, np.array([0.0, 0.3, 0.95]), scene.light.ambient, rng)
    dimmed = cv2.multiply(texture, np.array([0.8, 0.8, 0.8, 1.0])).astype(np.uint8, copy=False)
    to_tile, corners = grid.to_tile(), corners_of(look)
    source = (corners - to_tile[:2, 2]) / to_tile[0, 0]
    warp = cv2.getPerspectiveTransform(source.astype(np.float32), seen.astype(np.float32))
    paint_texture(picture, dimmed, np.asarray(warp, dtype=np.float64), None, 0.0)


def _decorate(picture: Picture, thing: Clutter, view: View, lamp: Points, rng: np.random.Generator) -> None:
    """Add what makes a thing itself: the rim of a coin, the screen of a phone, the dots of a die."""
    half = np.array([thing.length_mm, thing.width_mm]) / 2
    match thing.kind:
        case ClutterKind.COIN:
            ring = rounded_outline(thing.length_mm * 0.84, thing.length_mm * 0.84, thing.length_mm)
            _fill(picture, _spot(thing, view, ring), _shaded(thing.bgr, 0.88))
            spots = np.round(_spot(thing, view, rng.normal(0, 0.12 * thing.length_mm, (6, 2)))).astype(int)
            relief = _shaded(thing.bgr, 1.25)
            cv2.polylines(picture, [spots.astype(np.int32)], isClosed=False, color=relief, lineType=cv2.LINE_AA)
        case ClutterKind.PEN:
            stripe = np.array(
                [[-half[0] * 0.8, -0.3], [half[0] * 0.9, -0.3], [half[0] * 0.9, 0.3], [-half[0] * 0.8, 0.3]]
            )
            stripe[:, 1] *= half[1]
            _fill(picture, _spot(thing, view, stripe - lamp[:2] * 0.2), _shaded(thing.bgr, 1.6))
        case ClutterKind.PHONE:
            screen = rounded_outline(thing.length_mm * 0.93, thing.width_mm * 0.88, 2.0)
            _fill(picture, _spot(thing, view, screen), _shaded(thing.bgr, float(rng.uniform(0.3, 2.5))))
        case ClutterKind.CARD:
            inner = rounded_outline(thing.length_mm * 0.85, thing.width_mm * 0.8, 2.0)
            _fill(picture, _spot(thing, view, inner), _shaded(thing.bgr, float(rng.uniform(0.4, 0.9))))
        case ClutterKind.DIE:
            for place in rng.permutation(np.array([(x, y) for x in (-0.5, 0, 0.5) for y in (-0.5, 0, 0.5)]))[
                : rng.integers(1, 7)
            ]:
                dot = rounded_outline(0.3, 0.3, 0.15) + place
                _fill(picture, _spot(thing, view, dot * half), (20.0, 20.0, 20.0))
        case _:
            angle = rng.uniform(0, math.pi)
            line = np.array([[-math.cos(angle), -math.sin(angle)], [math.cos(angle), math.sin(angle)]]) * half * 0.8
            ends = np.round(_spot(thing, view, line)).astype(int)
            cv2.line(picture, _pair(ends[0]), _pair(ends[1]), _shaded(thing.bgr, 0.7), 1, cv2.LINE_AA)
