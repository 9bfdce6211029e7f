"""A reader that is unsure of one tile, so that the totals are in question."""

from __future__ import annotations

from dataclasses import replace

from tallybone.session.places import halves_of
from tests.tallybone.web.true_table import TrueTable
from vision.reading import SeenTile
from vision.tracking.table_view import TableView

_MAX_ITEMS = 40
ASKED_AFTER = 16
"""Number of items of the bones game with seed 1 until the question about its seventh tile."""


def doubtful(view: TableView, nth: int = 7) -> TableView:
    """Return *view* with low confidence in the *nth* tile of the game."""
    if len(view.tiles) < nth:
        return view
    tile = view.tiles[nth - 1]
    unsure = _unsure(tile)
    tiles = tuple(unsure if seen == tile else seen for seen in view.tiles)
    changes = tuple(replace(change, tile=unsure) if change.tile == tile else change for change in view.changes)
    return replace(view, tiles=tiles, changes=changes)


def play_until_asked(table: TrueTable) -> None:
    """Play until a question is open."""
    for _ in range(_MAX_ITEMS):
        table.play(1)
        if table.live.session.open_question is not None:
            return
    raise AssertionError("no question is asked")


def _unsure(tile: SeenTile) -> SeenTile:
    first, second = halves_of(tile)
    return replace(tile, halves=(replace(first, confidence=0.5), replace(second, confidence=0.5)))
