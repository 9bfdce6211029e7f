"""A reader that is unsure of one tile, which raises a question."""

from __future__ import annotations

from dataclasses import replace

from tallybone.session.touching import halves_of
from vision.reading import SeenTile
from vision.tracking.table_view import TableView

ASKED_AFTER = 6
"""Number of items of the bones game with seed 1 until the question about its third tile."""


def doubtful(view: TableView, nth: int = 3) -> TableView:
    """Return *view* with low confidence in the *nth* tile of the game."""
    if len(view.tiles) < nth:
        return view
    tile = view.tiles[nth - 1]
    unsure = _unsure(tile)
    tiles = tuple(unsure if seen == tile else seen for seen in view.tiles)
    changes = tuple(replace(change, tile=unsure) if change.tile == tile else change for change in view.changes)
    return replace(view, tiles=tiles, changes=changes)


def _unsure(tile: SeenTile) -> SeenTile:
    first, second = halves_of(tile)
    return replace(tile, halves=(replace(first, confidence=0.5), replace(second, confidence=0.5)))
