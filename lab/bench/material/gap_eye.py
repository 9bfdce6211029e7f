"""Readers of the pictures of a stream: a perfect one, which reports changes like the real one."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from lab.bench.material.gap_streams import Item
from tests.tallybone.session.zoned_table import SIZE_PX
from vision.reading import SeenTile
from vision.tracking.table_view import Change, TableView, came_and_went, kept
from vision.tracking.tracks import KeptTile, Track, in_place_of


class TableEye(Protocol):
    """Reads the pictures of a stream."""

    def resumed(self) -> TableEye:
        """Return the state after a restart of the table."""

    def view(self, item: Item) -> TableView:
        """Return the table after a picture."""


class PerfectEye:
    """Perfect reader that reports changes like the real one: by position, since the last settled picture."""

    def __init__(self) -> None:
        self._tracks: tuple[tuple[SeenTile, Track], ...] = ()  # with the true tile of each
        self._true_tiles: tuple[SeenTile, ...] | None = None
        self._tiles: tuple[SeenTile, ...] = ()
        self._first_ns: dict[int, tuple[SeenTile, int]] = {}

    def resumed(self) -> PerfectEye:
        """Return a reader with the same tiles, but without their observation counts."""
        again = PerfectEye()
        again._tracks = tuple((true, Track(track.tile)) for true, track in self._tracks)
        again._tiles = self._tiles
        return again

    def view(self, item: Item) -> TableView:
        """Return the view of a picture."""
        if not item.is_hidden:
            for tile in item.tiles:
                self._first_ns.setdefault(id(tile), (tile, item.t_ns))
        changes = self._changes(item.tiles) if item.is_settled and item.tiles is not self._true_tiles else ()
        dated = tuple(
            replace(change, since_ns=self._since(change.tile)) if change.kind.value == "placed" else change
            for change in changes
        )
        return TableView(self._tiles, (), dated, item.is_settled, item.moved_ns, item.entered, size_px=SIZE_PX)

    def _since(self, tile: SeenTile) -> int | None:
        first = self._first_ns.get(id(tile))
        return None if first is None else first[1]

    def _changes(self, tiles: tuple[SeenTile, ...]) -> tuple[Change, ...]:
        now = {id(tile) for tile in tiles}
        left = [tile for tile in tiles if id(tile) not in {id(old) for old, _ in self._tracks}]
        stayed: list[tuple[SeenTile, Track]] = []
        changes: list[Change] = []
        gone: list[SeenTile] = []
        for old, track in self._tracks:
            place = None if id(old) in now else in_place_of(track.tile, left)
            if id(old) in now:
                stayed.append((old, track))
            elif place is None or left[place].face is not old.face:
                gone.append(track.tile)
            else:
                new = left.pop(place)
                after, more = kept(KeptTile(track, new, differs=True))
                stayed.append((new, after))
                changes += more
        self._tracks = (*stayed, *((tile, Track(tile)) for tile in left))
        self._true_tiles, self._tiles = tiles, tuple(track.tile for _, track in self._tracks)
        return (*changes, *came_and_went(tuple(gone), tuple(left)))
