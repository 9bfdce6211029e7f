"""An eye that cannot tell one tile, so that the table is asked."""

from __future__ import annotations

from dataclasses import replace

from tallybone.session.touching import halves_of
from vision.reading import SeenTile
from vision.tracking.table_view import TableView

ASKED_AFTER = 6
"""A game of bones of seed 1 asks after so many things, where its third tile is in doubt."""


def doubtful(view: TableView, nth: int = 3) -> TableView:
    """Return what is seen, the *nth* tile of the game as one that may be another."""
    if len(view.tiles) < nth:
        return view
    tile = view.tiles[nth - 1]
    unsure = _unsure(tile)
    tiles = tuple(unsure if one == tile else one for one in view.tiles)
    changes = tuple(replace(one, tile=unsure) if one.tile == tile else one for one in view.changes)
    return replace(view, tiles=tiles, changes=changes)


def _unsure(tile: SeenTile) -> SeenTile:
    first, second = halves_of(tile)
    return replace(tile, halves=(replace(first, confidence=0.5), replace(second, confidence=0.5)))
