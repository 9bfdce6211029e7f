"""Rendered tables for training, with poses and legible pips of their tiles, and distances of other poses from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.packages import LIBRARY
from lab.render import looks
from lab.render.faces import marked, pip_places_mm
from lab.render.layouts import draw_bare_scene, draw_foreign_scene, random_scene
from lab.render.paint import RenderedPicture, render
from lab.render.scene import Scene, TableKind, TableLook
from lab.render.tabletop import find_photographs
from lab.render.view import View, view_of
from vision.arrays import Image, Points
from vision.networks.network import DOWN, UP
from vision.poses import Poses, corners, sides_px, swap_halves
from vision.reading import Face, Reading, SeenTile

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


# Draw samples in parallel processes, in a fixed order.


_CHUNK = 8
T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")


def draw_in_processes(
    draw: Callable[[int], T], count: int, jobs: int, progress: Callable[[float], None]
) -> Iterator[T]:
    """Yield the results of *draw* for 0 to *count* - 1, in order.

    Args:
        draw: Picklable function: a module-level function or a `partial` of one.
    """
    if jobs == 1:
        for index in range(count):
            yield draw(index)
            progress((index + 1) / count)
        return
    # Spawn instead of fork, because OpenCV's threads do not survive a fork and the child would hang. Use a single
    # OpenCV thread per process, because the processes already share the cores.
    with ProcessPoolExecutor(jobs, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        for done, drawn in enumerate(pool.map(draw, range(count), chunksize=_CHUNK)):
            yield drawn
            progress((done + 1) / count)


def concatenated(parts: Sequence[D]) -> D:
    """Concatenate dataclasses of arrays, field by field. *parts* must not be empty."""
    arrays = {field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(parts[0])}
    return replace(parts[0], **arrays)


def true_pips(truth: Reading) -> NDArray[np.int64]:
    """Return the pips of both halves of the face-up tiles, shape (N, 2)."""
    return np.array([[half.pips for half in tile.halves] for tile in truth.tiles if tile.halves], np.int64).reshape(
        -1, 2
    )


def truth_poses(truth: Reading) -> tuple[Poses, NDArray[np.int64]]:
    """Return the poses, shape (N, 6), and classes, shape (N,), of true tiles. Half 0 is towards -u."""
    rows = [_pose_of(tile) for tile in truth.tiles]
    faces = [UP if tile.face is Face.UP else DOWN for tile in truth.tiles]
    return np.array(rows, np.float64).reshape(-1, 6), np.array(faces, np.int64)


def _pose_of(tile: SeenTile) -> NDArray[np.float64]:
    """Return the affine pose through the edge middles of a tile's outline, whose first edge is a long one."""
    # The longer edge in the picture need not be a long one: a tile that points away from a low camera looks wider than
    # long.
    outline = np.array(tile.corners_px)
    u, v = outline[[1, 2]].mean(axis=0) - outline.mean(axis=0), outline[[2, 3]].mean(axis=0) - outline.mean(axis=0)
    if tile.halves and np.dot(u, np.subtract(tile.halves[1].center_px, tile.halves[0].center_px)) < 0:
        u, v = -u, -v
    return np.concatenate([outline.mean(axis=0), u, v])


def corner_errors(poses: Poses, truth: Poses) -> tuple[NDArray[np.float64], NDArray[np.intp], Poses]:
    """Compare poses with the nearest true tiles.

    Returns:
        For each pose: the largest distance of corresponding corners in sides of the true tile, the index of the true
        tile, and its pose in the orientation that matches better. Without true tiles, errors are infinite and the
        poses themselves are returned.
    """
    if not len(truth):
        return np.full(len(poses), np.inf), np.zeros(len(poses), np.intp), poses.copy()
    turned = swap_halves(truth)
    both = np.concatenate([truth, turned])
    gaps = np.linalg.norm(corners(poses)[:, None] - corners(both)[None], axis=-1).max(axis=-1) / sides_px(both)
    nearest = gaps.argmin(axis=1)
    return gaps[np.arange(len(poses)), nearest], nearest % len(truth), both[nearest]


def with_half_0_first(poses: Poses, target: Poses, truth: Poses) -> Poses:
    """Return poses, shape (N, 6), rotated by half a turn where needed to match half 0 of the true tile.

    Args:
        target: True tiles in the orientation of *poses*, from `corner_errors`.
        truth: True tiles.
    """
    same = (target[:, 2:4] * truth[:, 2:4]).sum(axis=1) > 0
    return np.where(same[:, None], poses, swap_halves(poses))


def near_any(poses: Poses, outlines_px: Iterable[Points]) -> NDArray[np.bool_]:
    """Return a mask of the poses on or next to any of the outlines, shape (N,)."""
    near = np.zeros(len(poses), bool)
    for outline in outlines_px:
        middle = outline.mean(axis=0)
        radius = np.linalg.norm(outline - middle, axis=1).max()
        near |= np.linalg.norm(poses[:, :2] - middle, axis=1) < radius + sides_px(poses)
    return near


# Just noticeable difference in CIE76 (Mahy, Van Eycken and Oosterlinck, Color Research and Application 19, 1994).
_JUST_NOTICEABLE = 2.3
# Radii of the sampled circles inside a pip and on the face around it, in pip radii, and points per circle. The median
# over the outer points ignores the few that neighbouring pips cover.
_MIDDLE = 0.4
_AROUND = 1.35
_PLACES = 8


def legible_halves(scene: Scene, rendered: RenderedPicture) -> NDArray[np.bool_]:
    """Return a mask of the legible halves of the face-up true tiles, shape (N, 2).

    A half is legible if a person could distinguish every pip from the face around it. Blanks and numerals always count
    as legible.
    """
    lab = np.asarray(cv2.cvtColor(rendered.image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), np.float32)
    view = view_of(scene.camera)
    return np.array(
        [
            [_is_legible(lab, scene, view, index, half) for half in (0, 1)]
            for index, tile in zip(rendered.tile_index, rendered.truth.tiles, strict=True)
            if tile.halves
        ],
        np.bool_,
    ).reshape(-1, 2)


def _is_legible(lab: NDArray[np.float32], scene: Scene, view: View, index: int, half: int) -> bool:
    placed = scene.tiles[index]
    look = scene.look_of(placed)
    if placed.pips is None or placed.pips[half] == 0 or look.numerals is not None:
        return True
    centers_mm, radii_mm = pip_places_mm(look, placed.pips[half], half)
    ring = np.arange(_PLACES) / _PLACES * 2 * np.pi
    circles_mm = radii_mm[:, None, None] * np.column_stack([np.cos(ring), np.sin(ring)])
    height_mm = placed.height_mm + look.thickness_mm

    def colors(around: Points) -> NDArray[np.float32]:
        spots_mm = (centers_mm[:, None] + around).reshape(-1, 2)
        points_px = view.distort(view.project(placed.to_table(spots_mm), height_mm))
        return _at(lab, points_px).reshape(len(centers_mm), -1, 3)

    inside = colors(_MIDDLE * circles_mm).mean(axis=1, keepdims=True)
    differences = np.linalg.norm(colors(_AROUND * circles_mm) - inside, axis=-1)
    return bool((np.median(differences, axis=1) >= _JUST_NOTICEABLE).all())


def _at(picture: NDArray[np.float32], points_px: Points) -> NDArray[np.float32]:
    """Return the interpolated values of a picture at points of shape (N, 2)."""
    x, y = points_px.astype(np.float32).T
    values = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(values, np.float32).reshape(-1, 3)


# Probability of each highest number. Most people have small sets.
SETS_DRAWN = {6: 0.4, 9: 0.15, 12: 0.25, 15: 0.12, 18: 0.08}
_FOREIGN = 0.55
# Shares of tables whose tiles have marks, on photographed surfaces, and on ruled paper.
_MARKED = 0.4
_PHOTOGRAPHED = 0.15
_RULED = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LearningTable:
    """A rendered table and its labels.

    Attributes:
        image: BGR, shape (H, W, 3).
        poses: Poses of the readable tiles, shape (N, 6). Half 0 is towards -u.
        faces: `vision.networks.network.UP` or `DOWN` for each pose, shape (N,).
        pips: Numbers of the face-up tiles in order, shape (M, 2).
        legible: True for halves whose pips a person could count, shape (M, 2).
        unread_px: Outlines of tiles that are cut off, covered, on edge, overexposed or too dark. Training ignores
            these areas.
    """

    image: Image
    poses: Poses
    faces: NDArray[np.int64]
    pips: NDArray[np.int64]
    legible: NDArray[np.bool_]
    unread_px: tuple[Points, ...]


def draw_max_pips(rng: np.random.Generator) -> int:
    """Return a random highest number of the set."""
    return int(rng.choice(list(SETS_DRAWN), p=list(SETS_DRAWN.values())))


def draw_learning_table(
    rng: np.random.Generator,
    *,
    max_pips: int,
    size_px: tuple[int, int],
    tile_side_px: tuple[float, float],
    only_legible: bool = True,
    bare: float = 0.0,
) -> LearningTable:
    """Return a random rendered table. See `lab.render.layouts.draw_foreign_scene` and `table_of`.

    Args:
        tile_side_px: Range of the short side of a tile.
        only_legible: Whether tiles with illegible pips become unread areas.
        bare: Share of tables with many objects, but without tiles.
    """
    if rng.random() < bare:
        scene = draw_bare_scene(rng, size_px=size_px, tile_side_px=tile_side_px)
    else:
        draw = draw_foreign_scene if rng.random() < _FOREIGN else random_scene
        scene = draw(rng, max_pips=max_pips, size_px=size_px, tile_side_px=tile_side_px)
    if rng.random() < _MARKED:
        looks = [marked(rng, look) for look in (scene.tile, *scene.more_looks)]
        scene = replace(scene, tile=looks[0], more_looks=tuple(looks[1:]))
    scene = replace(scene, table=_draw_other_table(rng, scene.table))
    return table_of(scene, rng, only_legible=only_legible)


def _draw_other_table(rng: np.random.Generator, look: TableLook) -> TableLook:
    """Return the look on another surface in some cases: photographed, if installed, or ruled paper."""
    kind, photographs = rng.random(), find_photographs(LIBRARY)
    if kind < _PHOTOGRAPHED and photographs:
        path = photographs[int(rng.integers(len(photographs)))]
        return replace(look, kind=TableKind.PHOTOGRAPH, photograph=path, folds=0.0)
    if _PHOTOGRAPHED < kind < _PHOTOGRAPHED + _RULED:
        paper = looks.from_hsv(rng.uniform(0, 1), rng.uniform(0, 0.15), rng.uniform(0.75, 1.0))
        ink = looks.mixed(paper, looks.any_color(rng), rng.uniform(0.2, 0.9))
        return replace(look, kind=TableKind.RULED, base_bgr=paper, second_bgr=ink, pattern_mm=rng.uniform(4, 12))
    return look


def table_of(scene: Scene, rng: np.random.Generator, *, only_legible: bool = True) -> LearningTable:
    """Render a scene. By default, tiles with illegible pips become unread areas."""
    rendered = render(scene, rng)
    poses, faces = truth_poses(rendered.truth)
    unread = [np.array(outline) for outline in rendered.unread_px]
    shown, pips = np.ones(len(poses), bool), true_pips(rendered.truth)
    # The exact positions of jittered pips are not stored, so legibility cannot be measured.
    legible = np.ones(pips.shape, bool) if scene.tile.pip_jitter > 0 else legible_halves(scene, rendered)
    if only_legible:
        shown[faces == UP] = is_legible = legible.all(axis=1)
        pips, legible = pips[is_legible], legible[is_legible]
        unread += list(corners(poses[~shown]))
    return LearningTable(rendered.image, poses[shown], faces[shown], pips, legible, tuple(unread))
