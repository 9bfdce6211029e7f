"""Compare a picture of a table with its calibration: positions of corner blocks, and sizes of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from calibration.lens.model import Lens
from calibration.sheets.boards import marker_corners_mm
from calibration.table.corner_marks import SeenMarker
from calibration.table.table import BlockPose, Table
from engine.phrases import Phrase, listed, phrase, plural
from tallybone.finding import Finding, ok, problem
from vision.reading import Face, SeenTile

_TABLE = phrase("table")
_BLOCK_NAMES = (phrase("top left"), phrase("top right"), phrase("bottom right"), phrase("bottom left"))
# A corner block has moved if its position changed by more than this. Measured positions repeat within 0.5 mm, or 1 mm
# on a busy table.
_LEAST_MOVE_MM = 2.0
# The camera or the table was moved if one common motion explains the new positions of all blocks within this distance.
_ALIKE_MM = 3.0
# Maximum range of tile lengths between the 10th and 90th percentile, relative to the median, and maximum error of the
# scale. The reader's corners are off by a pixel, 2 % of a tile. A wider range means that the plane is wrong.
_SPREAD, _SCALE_DIFFERS = 0.10, 0.02
_LEAST_TILES = 4


def seen_marks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[BlockPose, ...]:
    """Return the current pose on the stored table of each corner block with at least one detected marker."""
    poses = []
    for block in sorted({marker.block for marker in markers}):
        own = [marker for marker in markers if marker.block == block]
        corners = np.concatenate([marker_corners_mm(marker.place) for marker in own])
        shape = corners[:, 0] + 1j * corners[:, 1]
        flat = table.to_table(np.concatenate([np.array(marker.corners_px) for marker in own]), lens)
        at = flat[:, 0] + 1j * flat[:, 1]
        turn = np.vdot(shape - shape.mean(), at - at.mean()) / (np.abs(shape - shape.mean()) ** 2).sum()
        middle = complex(at.mean() - turn * shape.mean())
        poses.append(BlockPose(block, middle.real, middle.imag, math.atan2(turn.imag, turn.real)))
    return tuple(poses)


def check_blocks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[Finding, ...]:
    """Check that the corner blocks have not moved since calibration.

    Empty if the table was calibrated without blocks.
    """
    before = {mark.block: mark for mark in table.marks}
    if not before:
        return ()
    now = {mark.block: mark for mark in seen_marks(markers, table, lens) if mark.block in before}
    if not now:
        return (problem(_TABLE, phrase("None of the corner blocks that the table was measured with is visible.")),)
    shifts = {block: _position(now[block]) - _position(before[block]) for block in now}
    hidden = [_BLOCK_NAMES[block] for block in before if block not in now]
    findings = [ok(_TABLE, phrase("Not visible: corner block {blocks}.", blocks=listed(hidden)))] if hidden else []
    worst_mm = max(abs(shift) for shift in shifts.values())
    if worst_mm <= _LEAST_MOVE_MM:
        within = f"{max(0.1, worst_mm):.1f}"
        unmoved = phrase("The corner blocks have not moved, within {within} mm.", within=within)
        return (*findings, ok(_TABLE, unmoved))
    pushed = _common_motion(before, now)
    if pushed is not None:
        return (*findings, problem(_TABLE, phrase("{pushed} Measure the table again.", pushed=pushed)))
    moved = [
        phrase("{block} by {shift} mm", block=_BLOCK_NAMES[block], shift=f"{abs(shift):.0f}")
        for block, shift in shifts.items()
        if abs(shift) > _LEAST_MOVE_MM
    ]
    words = phrase(
        "Corner blocks have moved: {moved}. Check whether the blocks or the camera moved. If in doubt, measure"
        " the table again.",
        moved=listed(moved),
    )
    return (*findings, problem(_TABLE, words))


def check_tiles(
    tiles: Sequence[SeenTile], table: Table, lens: Lens, *, length_mm: float | None = None
) -> tuple[Finding, ...]:
    """Check that tile lengths are uniform and, if given, match *length_mm*.

    With fewer than _LEAST_TILES tiles, only report that they are too few.
    """
    open_tiles = [tile for tile in tiles if tile.face is Face.UP]
    if len(open_tiles) < _LEAST_TILES:
        return (ok(_TABLE, _too_few(len(open_tiles))),)
    lengths = np.array([_length_mm(tile, table, lens) for tile in open_tiles])
    short, median, long = np.percentile(lengths, (10, 50, 90)).tolist()
    findings = []
    if (long - short) / median > _SPREAD:
        uneven = phrase(
            "Tiles measure {short} to {long} mm but should be equal: the table moved since it was measured, or"
            " the camera has another mode or lens.",
            short=f"{short:.1f}",
            long=f"{long:.1f}",
        )
        findings.append(problem(_TABLE, uneven))
    if length_mm is not None and abs(median / length_mm - 1) > _SCALE_DIFFERS:
        scale = phrase(
            "Tiles measure {seem} mm but should measure {right} mm: the scale is wrong.",
            seem=f"{median:.1f}",
            right=f"{length_mm:.1f}",
        )
        findings.append(problem(_TABLE, scale))
    if findings:
        return tuple(findings)
    length, count = f"{median:.1f}", len(lengths)
    words = phrase("{tiles} tiles measure {length} mm all over the table.", tiles=count, length=length)
    return (ok(_TABLE, words),)


def _too_few(count: int) -> Phrase:
    return plural(
        "1 tile is visible face up: too few to check the scale.",
        "{number} tiles are visible face up: too few to check the scale.",
        number=count,
    )


def _length_mm(tile: SeenTile, table: Table, lens: Lens) -> float:
    a, b, c, d = table.tops_to_table(np.array(tile.corners_px), lens)
    sides = (np.linalg.norm(a - b) + np.linalg.norm(d - c), np.linalg.norm(b - c) + np.linalg.norm(a - d))
    return float(max(sides)) / 2


def _common_motion(before: dict[int, BlockPose], now: dict[int, BlockPose]) -> Phrase | None:
    """Return the common motion of all visible blocks as text.

    None if they moved differently, or only one is visible.
    """
    if len(now) < 2:
        return None
    old = np.array([_position(before[block]) for block in now])
    new = np.array([_position(mark) for mark in now.values()])
    turn = np.vdot(old - old.mean(), new - new.mean())
    turn /= abs(turn)
    if np.abs(new - new.mean() - turn * (old - old.mean())).max() > _ALIKE_MM:
        return None
    shift_mm, turn_deg = abs(complex(new.mean() - turn * old.mean())), abs(math.degrees(np.angle(turn)))
    return phrase(
        "The camera or the table moved by {shift} mm and {turn} degrees.",
        shift=f"{shift_mm:.0f}",
        turn=f"{turn_deg:.1f}",
    )


def _position(mark: BlockPose) -> complex:
    return complex(mark.x_mm, mark.y_mm)
