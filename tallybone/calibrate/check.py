"""Compare a picture of a table with its calibration: places of the corner blocks, sizes of the tiles."""

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
# A still block is found again within half a millimetre; a picture of a busy table may double that.
_LEAST_MOVE_MM = 2.0
# Blocks that were moved alike, to that much, were not moved: the camera was.
_ALIKE_MM = 3.0
# Of tiles as read, corners are a pixel off: 2 % of a tile. Between the tenth shortest and the tenth longest, more than
# that is the plane.
_SPREAD, _SCALE_DIFFERS = 0.10, 0.02
_LEAST_TILES = 4


def seen_marks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[BlockPose, ...]:
    """Return where corner blocks lie now by the stored table; those of which too little is seen are left out."""
    found = []
    for block in sorted({one.block for one in markers}):
        own = [one for one in markers if one.block == block]
        corners = np.concatenate([marker_corners_mm(one.place) for one in own])
        shape = corners[:, 0] + 1j * corners[:, 1]
        flat = table.to_table(np.concatenate([np.array(one.corners_px) for one in own]), lens)
        at = flat[:, 0] + 1j * flat[:, 1]
        turn = np.vdot(shape - shape.mean(), at - at.mean()) / (np.abs(shape - shape.mean()) ** 2).sum()
        middle = complex(at.mean() - turn * shape.mean())
        found.append(BlockPose(block, middle.real, middle.imag, math.atan2(turn.imag, turn.real)))
    return tuple(found)


def check_blocks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[Finding, ...]:
    """Return whether the corner blocks lie where they lay; nothing where the table was not measured by them."""
    before = {mark.block: mark for mark in table.marks}
    if not before:
        return ()
    now = {mark.block: mark for mark in seen_marks(markers, table, lens) if mark.block in before}
    if not now:
        return (problem(_TABLE, phrase("None of the corner blocks is seen that the table was measured by.")),)
    shifts = {block: _place(now[block]) - _place(before[block]) for block in now}
    hidden = [_BLOCK_NAMES[block] for block in before if block not in now]
    findings = [ok(_TABLE, phrase("Not seen: the corner block {blocks}.", blocks=listed(hidden)))] if hidden else []
    worst_mm = max(abs(shift) for shift in shifts.values())
    if worst_mm <= _LEAST_MOVE_MM:
        within = f"{max(0.1, worst_mm):.1f}"
        said = phrase("The corner blocks lie where they lay, within {within} mm.", within=within)
        return (*findings, ok(_TABLE, said))
    pushed = _pushed(before, now)
    if pushed is not None:
        return (*findings, problem(_TABLE, phrase("{pushed} Measure the table again.", pushed=pushed)))
    moved = [
        phrase("{block} by {shift} mm", block=_BLOCK_NAMES[block], shift=f"{abs(shift):.0f}")
        for block, shift in shifts.items()
        if abs(shift) > _LEAST_MOVE_MM
    ]
    said = phrase(
        "Corner blocks lie elsewhere: {moved}. Were they moved, or was the camera? If in doubt, measure the table"
        " again.",
        moved=listed(moved),
    )
    return (*findings, problem(_TABLE, said))


def check_tiles(
    tiles: Sequence[SeenTile], table: Table, lens: Lens, *, length_mm: float | None = None
) -> tuple[Finding, ...]:
    """Return whether tiles are as long everywhere, and as long as they should be where *length_mm* says that."""
    open_tiles = [tile for tile in tiles if tile.face is Face.UP]
    if len(open_tiles) < _LEAST_TILES:
        return (ok(_TABLE, _too_few(len(open_tiles))),)
    lengths = np.array([_length_mm(tile, table, lens) for tile in open_tiles])
    short, median, long = np.percentile(lengths, (10, 50, 90)).tolist()
    findings = []
    if (long - short) / median > _SPREAD:
        said = phrase(
            "Tiles seem {short} to {long} mm long, and should be alike: the table lies otherwise than it was measured,"
            " or the camera has another mode or lens.",
            short=f"{short:.1f}",
            long=f"{long:.1f}",
        )
        findings.append(problem(_TABLE, said))
    if length_mm is not None and abs(median / length_mm - 1) > _SCALE_DIFFERS:
        said = phrase(
            "Tiles seem {seem} mm long, and should be {right} mm: the scale is wrong.",
            seem=f"{median:.1f}",
            right=f"{length_mm:.1f}",
        )
        findings.append(problem(_TABLE, said))
    if findings:
        return tuple(findings)
    length, count = f"{median:.1f}", len(lengths)
    said = phrase("{tiles} tiles are {length} mm long all over the table.", tiles=count, length=length)
    return (ok(_TABLE, said),)


def _too_few(count: int) -> Phrase:
    return plural(
        "1 open tile is seen: too few to check the scale by.",
        "{number} open tiles are seen: too few to check the scale by.",
        number=count,
    )


def _length_mm(tile: SeenTile, table: Table, lens: Lens) -> float:
    a, b, c, d = table.tops_to_table(np.array(tile.corners_px), lens)
    sides = (np.linalg.norm(a - b) + np.linalg.norm(d - c), np.linalg.norm(b - c) + np.linalg.norm(a - d))
    return float(max(sides)) / 2


def _pushed(before: dict[int, BlockPose], now: dict[int, BlockPose]) -> Phrase | None:
    """Return by how much all blocks have moved alike, in words; None if each went its own way."""
    if len(now) < 2:
        return None
    old = np.array([_place(before[block]) for block in now])
    new = np.array([_place(mark) for mark in now.values()])
    turn = np.vdot(old - old.mean(), new - new.mean())
    turn /= abs(turn)
    if np.abs(new - new.mean() - turn * (old - old.mean())).max() > _ALIKE_MM:
        return None
    shift_mm, turn_deg = abs(complex(new.mean() - turn * old.mean())), abs(math.degrees(np.angle(turn)))
    return phrase(
        "The camera or the table was pushed: by {shift} mm and {turn} degrees.",
        shift=f"{shift_mm:.0f}",
        turn=f"{turn_deg:.1f}",
    )


def _place(mark: BlockPose) -> complex:
    return complex(mark.x_mm, mark.y_mm)
