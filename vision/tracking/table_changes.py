"""Derive placed, moved, turned, removed and stacked tiles from two states of the table."""

from __future__ import annotations

from dataclasses import replace

from vision.reading import SeenTile
from vision.tracking.matching import KeptTile
from vision.tracking.table_view import Change, ChangeKind
from vision.tracking.tracks import Track, corner_distance, has_same_pips, is_another, is_turned, looked_at

# Maximum distance, in sides of a half, at which an equal tile counts as moved instead of removed and placed.
_MOVED_AT_MOST = 6.0


def kept(kept_tile: KeptTile) -> tuple[Track, tuple[Change, ...]]:
    """Return the updated track of a tile that stayed in place, and its change, if any.

    The tile may have been turned, reread, removed from a stack, or covered by a stacked one.
    """
    old, seen = kept_tile.track, kept_tile.seen
    if seen is None:
        return old, ()
    is_suspect = kept_tile.differs and bool(seen.halves) and old.looks > 0
    if is_suspect and is_turned(old.tile, seen):
        return replace(old, tile=seen, looks=1), (Change(ChangeKind.TURNED, seen, old.tile),)
    if not is_suspect or not is_another(old.tile, seen):
        track = looked_at(old, seen)
        return track, reread(old.tile, track.tile)
    if old.beneath and not is_another(old.beneath[-1], seen):
        return Track(seen, beneath=old.beneath[:-1]), (Change(ChangeKind.REMOVED, old.tile),)
    return Track(seen, beneath=(*old.beneath, old.tile)), (Change(ChangeKind.STACKED, seen, old.tile),)


def reread(before: SeenTile, now: SeenTile) -> tuple[Change, ...]:
    """Return a `REREAD` change if the pips of a tile differ from those reported before."""
    return () if has_same_pips(before, now) else (Change(ChangeKind.REREAD, now, before),)


def came_and_went(gone: tuple[SeenTile, ...], fresh: tuple[SeenTile, ...]) -> tuple[Change, ...]:
    """Return the changes for tiles that disappeared and appeared. An equal pair close together was moved."""
    changes: list[Change] = []
    left = list(gone)
    for tile in fresh:
        before = next(
            (old for old in left if has_same_pips(old, tile) and corner_distance(old, tile) < _MOVED_AT_MOST), None
        )
        if before is None:
            changes.append(Change(ChangeKind.PLACED, tile))
        else:
            left.remove(before)
            changes.append(Change(ChangeKind.MOVED, tile, before))
    return (*changes, *(Change(ChangeKind.REMOVED, tile) for tile in left))
