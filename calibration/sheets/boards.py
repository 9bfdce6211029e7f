"""Printed targets: four corner blocks of markers, and the ChArUco board for the lens."""

from __future__ import annotations

import cv2
import numpy as np
from cv2 import aruco

from calibration.sheets.sheet import BLACK, WHITE, Rectangle
from vision.arrays import Points

# A block has two by two markers, so some are detected even if a hand or a glass covers half of it.
BLOCKS = 4
MARKERS_PER_BLOCK = 4
MARKER_MM = 36.0
# White margin around each marker, required for detection: the width of one of its six cells.
QUIET_MM = MARKER_MM / 6
BLOCK_MM = 2 * MARKER_MM + 3 * QUIET_MM
# The board fits both A4 and Letter, including printer margins.
BOARD_COLUMNS, BOARD_ROWS = 9, 6
SQUARE_MM = 28.0
BOARD_MARKER_MM = 21.0
BOARD_CORNERS = (BOARD_COLUMNS - 1) * (BOARD_ROWS - 1)


def corner_dictionary() -> aruco.Dictionary:
    """Return the marker dictionary of the corner blocks."""
    return aruco.getPredefinedDictionary(aruco.DICT_4X4_50)


def lens_board() -> aruco.CharucoBoard:
    """Return the lens board. Its markers differ from those of the corner blocks."""
    dictionary = aruco.getPredefinedDictionary(aruco.DICT_5X5_50)
    return aruco.CharucoBoard((BOARD_COLUMNS, BOARD_ROWS), SQUARE_MM, BOARD_MARKER_MM, dictionary)


def marker_corners_mm(place: int) -> Points:
    """Return the corners of a marker in its block, shape (4, 2), clockwise from its top left.

    Args:
        place: Position of the marker, 0 to 3: top left, top right, bottom right, bottom left.

    Returns:
        Positions in millimetres from the centre of the block, x right, y up.
    """
    right, down = ((0, 0), (1, 0), (1, 1), (0, 1))[place]
    step = MARKER_MM + QUIET_MM
    left, top = right * step - (MARKER_MM + QUIET_MM / 2), QUIET_MM / 2 + MARKER_MM - down * step
    far, low = left + MARKER_MM, top - MARKER_MM
    return np.array([(left, top), (far, top), (far, low), (left, low)])


def marker_outward() -> Points:
    """Return the displacement of each marker corner if black areas grow by 1 on each side, shape (4, 2), y up."""
    return np.array([(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])


def block_boxes(block: int, left_mm: float, top_mm: float) -> tuple[Rectangle, ...]:
    """Return the rectangles of a corner block.

    Args:
        block: Corner of the table seen from the first seat, 0 to 3: top left, top right, bottom right, bottom left.
        left_mm, top_mm: Top left corner of its white square on the sheet.
    """
    boxes = [Rectangle(left_mm, top_mm, BLOCK_MM, BLOCK_MM, WHITE)]
    for place in range(MARKERS_PER_BLOCK):
        bits = aruco.generateImageMarker(corner_dictionary(), MARKERS_PER_BLOCK * block + place, 6)
        x_mm, y_mm = marker_corners_mm(place)[0]
        boxes += _bit_boxes(bits, left_mm + BLOCK_MM / 2 + x_mm, top_mm + BLOCK_MM / 2 - y_mm, MARKER_MM)
    return tuple(boxes)


def board_boxes(left_mm: float, top_mm: float) -> tuple[Rectangle, ...]:
    """Return the rectangles of the lens board, with its top left corner at the given position."""
    board = lens_board()
    boxes: list[Rectangle] = []
    marker = iter(np.asarray(board.getIds()).ravel().tolist())
    edge_mm = (SQUARE_MM - BOARD_MARKER_MM) / 2
    for row in range(BOARD_ROWS):
        for column in range(BOARD_COLUMNS):
            x_mm, y_mm = left_mm + column * SQUARE_MM, top_mm + row * SQUARE_MM
            if (row + column) % 2 == 0:
                boxes.append(Rectangle(x_mm, y_mm, SQUARE_MM, SQUARE_MM, BLACK))
                continue
            bits = aruco.generateImageMarker(board.getDictionary(), next(marker), 7)
            boxes += _bit_boxes(bits, x_mm + edge_mm, y_mm + edge_mm, BOARD_MARKER_MM)
    return tuple(boxes)


def _bit_boxes(bits: cv2.typing.MatLike, left_mm: float, top_mm: float, side_mm: float) -> list[Rectangle]:
    """Return the black cells of a marker. Adjacent cells of a row are merged."""
    cell_mm = side_mm / len(bits)
    boxes = []
    for row, line in enumerate(bits):
        # Alternating starts and ends of black runs.
        edges = np.flatnonzero(np.diff(np.concatenate([[0], (line == 0).astype(np.int8), [0]])))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            boxes.append(
                Rectangle(left_mm + start * cell_mm, top_mm + row * cell_mm, (end - start) * cell_mm, cell_mm, BLACK)
            )
    return boxes
