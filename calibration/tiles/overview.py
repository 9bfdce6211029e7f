"""Draw the learned tiles with their numbers and labels."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.tiles.learning import LearningResult
from vision.networks.tile_sheet import cut_cells

_LARGER, _PER_ROW, _CAPTION_PX = 2, 6, 26
_PAPER, _INK, _DOUBT = (245, 245, 245), (30, 30, 30), (0, 90, 215)


def draw_tiles(learned: LearningResult) -> NDArray[np.uint8]:
    """Return a BGR picture of shape (H, W, 3). Doubtful tiles have a question mark and another colour."""
    cells = [
        _captioned(cell, at, learned.pips[at].tolist(), is_doubtful=at in learned.doubtful)
        for at, cell in enumerate(cut_cells(learned.sheet))
    ]
    cells += [np.full_like(cells[0], _PAPER[0])] * (-len(cells) % _PER_ROW)
    rows = [np.hstack(cells[start : start + _PER_ROW]) for start in range(0, len(cells), _PER_ROW)]
    return np.asarray(np.vstack(rows), np.uint8)


def _captioned(cell: NDArray[np.uint8], at: int, pips: list[int], *, is_doubtful: bool) -> NDArray[np.uint8]:
    large = cv2.resize(cell, None, fx=_LARGER, fy=_LARGER, interpolation=cv2.INTER_CUBIC)
    caption = np.full((_CAPTION_PX, large.shape[1], 3), _PAPER, np.uint8)
    text = f"{at + 1}: {pips[0]}-{pips[1]}" + (" ?" if is_doubtful else "")
    cv2.putText(caption, text, (8, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.6, _DOUBT if is_doubtful else _INK, 1, cv2.LINE_AA)
    return np.asarray(np.vstack([caption, large]), np.uint8)
