"""Update the tracked layout, boneyard and open hands after each look at the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from engine import Phase, Seat, Seq, State
from tallybone.session.referee.places import (
    SWEPT_UNSEEN,
    Around,
    Known,
    OpenHand,
    Places,
    Waiting,
    Yard,
    is_at,
    is_near,
    numbers_of,
    shown,
    tile_at,
)
from tallybone.session.touching import Footprint, Laid, footprint_of
from tallybone.session.zones import SortedView
from vision.reading import Face, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView


def observe(places: Places, parts: SortedView) -> Places:
    """Return the places after one more look at the table."""
    before = places
    view, places = parts.layout, replace(places, looks=places.looks + 1)
    is_single = sum(change.kind is ChangeKind.PLACED for change in view.changes) == 1
    for change in view.changes:
        match change.kind:
            case ChangeKind.PLACED | ChangeKind.STACKED:
                places = _placed(places, change, parts.came_from if is_single else ())
            case ChangeKind.MOVED | ChangeKind.TURNED:
                places = _moved(places, change)
            case ChangeKind.REMOVED:
                places = _removed(places, change.tile)
            case ChangeKind.REREAD:
                pass  # handled below, for all tiles
            case _:
                assert_never(change.kind)
    return _swept(before, _with_readings(places, [tile for tile in view.tiles if tile.face is Face.UP]))


def _swept(before: Places, places: Places) -> Places:
    """Return the places after a look. If the layout is newly gone, dismiss tiles that waited before the look."""
    if before.is_swept or not places.is_swept:
        return places
    old = tuple(waiting.tile for waiting in places.waiting if waiting.look < places.looks)
    new = tuple(waiting for waiting in places.waiting if waiting.look == places.looks)
    return replace(places, waiting=new, dismissed=(*places.dismissed, *old))


def turned_like(old: Footprint, tile: SeenTile) -> Footprint:
    """Return the place of a moved tile, with its W to E direction as close as possible to the old one."""
    seen = footprint_of(tile)
    place = seen if old.lies_along else seen.crosswise()
    is_same = place.along[0] * old.along[0] + place.along[1] * old.along[1] > 0
    return place if is_same else place.reversed()


def _placed(places: Places, change: Change, came_from: tuple[Seat, ...]) -> Places:
    """Return the places after a tile was placed.

    A tile at the place of a tile of the layout is that tile again, touched or returned. Face-down tiles are ignored.
    """
    tile = change.tile
    if tile.face is Face.DOWN:
        return places
    for known in places.known:
        if is_at(known.place, tile) and not _is_of_next_hand(places, known, tile):
            is_handled = known.is_handled or (not known.is_missing and numbers_of(known.tile) == numbers_of(tile))
            return places.with_known(replace(known, is_missing=False, is_handled=is_handled))
    places = replace(places, dismissed=tuple(_others(places.dismissed, tile)))
    new = Waiting(tile, places.looks, came_from, change.since_ns)
    return replace(places, waiting=(*places.without_waiting(tile).waiting, new))


def _is_of_next_hand(places: Places, known: Known, tile: SeenTile) -> bool:
    """Check that a tile at the place of *known* belongs to the next hand, because the table was cleared."""
    is_other = places.is_swept and numbers_of(known.tile) != numbers_of(tile)
    return known.is_missing and (is_other or places.around.is_cleared)


def _moved(places: Places, change: Change) -> Places:
    """Return the places after a tile was moved or turned. Unchanged if it is or was face down."""
    before, tile = change.before, change.tile
    if before is None or tile.face is Face.DOWN or before.face is Face.DOWN:
        return places
    for known in places.known:
        if is_at(known.place, before):
            # Combine this move with an earlier one that has not been judged yet.
            was_at = known.place if known.was_at is None else known.was_at
            laid = Laid(known.node, turned_like(known.place, tile))
            return places.with_known(replace(known, laid=laid, was_at=was_at, is_missing=False))
    if any(is_at(footprint_of(before), undone) for undone in places.undone):  # the play is repeated
        new = Waiting(tile, places.looks)
        left = tuple(_others(places.undone, before))
        return replace(places, undone=left, waiting=(*places.without_waiting(tile).waiting, new))
    if any(is_at(footprint_of(before), dismissed) for dismissed in places.dismissed):
        return replace(places, dismissed=(*_others(places.dismissed, before), tile))
    old = next((waiting for waiting in places.waiting if is_at(footprint_of(before), waiting.tile)), None)
    new = Waiting(tile, places.looks) if old is None else replace(old, tile=tile)
    return replace(places, waiting=(*places.without_waiting(before).waiting, new))


def _removed(places: Places, tile: SeenTile) -> Places:
    """Return the places after a tile was removed. Face-down tiles are ignored."""
    if tile.face is Face.DOWN:
        return places
    known = tuple(replace(old, is_missing=True) if is_at(old.place, tile) else old for old in places.known)
    dismissed, undone = (tuple(_others(tiles, tile)) for tiles in (places.dismissed, places.undone))
    return replace(places.without_waiting(tile), known=known, dismissed=dismissed, undone=undone)


def first_seen(before: Places, places: Places, view: TableView) -> Places:
    """Return the places after the first look that follows a gap. Tiles that this look does not show are gone.

    A restarted reader reports every tile as placed, and none as removed. If at least half of the layout is gone or
    replaced, the replaced tiles belong to another hand.

    Args:
        before: The places before that look.
        places: The places after it.
        view: The view of that look.
    """
    tiles = tuple((tile, tile.center_px) for tile in view.tiles if tile.face is Face.UP)
    now = {known.node: tile_at(known.place, tiles) for known in places.known}
    gone = {node for node, tile in now.items() if tile is None}
    others = {old.node for old in before.known if (tile := now[old.node]) and numbers_of(tile) != numbers_of(old.tile)}
    # If every place still has a tile, different numbers are misreadings, unless one is certainly another tile.
    removed = [change.tile for change in view.changes if change.kind is ChangeKind.REMOVED]
    is_replaced = any(_is_another(old, now[old.node], removed) for old in before.known)
    if (gone or is_replaced) and len(gone | others) >= SWEPT_UNSEEN * len(now):
        gone |= others
    layout = tuple(replace(known, is_missing=known.node in gone, is_handled=False) for known in places.known)
    left = (waiting for waiting in places.waiting if tile_at(footprint_of(waiting.tile), tiles) is not None)
    fresh = (Waiting(known.tile, places.looks) for known in layout if known.is_missing and known.node in others)
    return _swept(before, replace(places, known=layout, waiting=(*left, *fresh)))


def _is_another(known: Known, tile: SeenTile | None, removed: Iterable[SeenTile]) -> bool:
    """Return True if *tile*, in the place of *known*, shares no number with it, or differs and *known* was removed."""
    if tile is None:
        return False
    old, new = numbers_of(known.tile), numbers_of(tile)
    return set(old).isdisjoint(new) or (old != new and any(is_at(known.place, gone) for gone in removed))


def _with_readings(places: Places, tiles: Iterable[SeenTile]) -> Places:
    """Return the places with the current readings of the tiles of the layout and the waiting tiles."""
    listed = tuple((tile, tile.center_px) for tile in tiles)
    known = tuple(_reread(places, old, tile_at(old.place, listed)) for old in places.known)
    waiting = tuple(replace(old, tile=tile_at(footprint_of(old.tile), listed) or old.tile) for old in places.waiting)
    return replace(places, known=known, waiting=waiting)


def _reread(places: Places, known: Known, now: SeenTile | None) -> Known:
    """Return a tile of the layout with its current reading, if *now* is one and is not of the next hand."""
    if now is None or _is_of_next_hand(places, known, now):
        return known
    is_reread = known.is_reread or (now is not known.tile and shown(known.tile) != shown(now))
    place = turned_like(known.place, now)
    return replace(known, tile=now, laid=Laid(known.node, place), is_reread=is_reread, is_missing=False)


def _others(tiles: Iterable[SeenTile], tile: SeenTile) -> Iterator[SeenTile]:
    """Yield the tiles that are not at the place of *tile*."""
    place = footprint_of(tile)
    return (other for other in tiles if not is_at(place, other))


def after_look(around: Around, parts: SortedView, state: State, look: int) -> Around:
    """Return the evidence around the layout after look number *look*, in this *state* of the match."""
    phase = Phase.DEAL if state.game is None else state.game.phase
    is_over = phase in (Phase.DEAL, Phase.MATCH_OVER)
    in_play = phase in (Phase.LEAD, Phase.PLAY)
    lying = sum(tile.face is Face.UP for tile in parts.layout.tiles)
    is_bare = lying == 0 and not any(parts.hands)
    hands = around.hands or tuple(OpenHand() for _ in parts.hands)
    return replace(
        around,
        yard=_counted(around, parts, look, state.next_seq),
        hands=tuple(_laid_open(old, tiles, in_play=in_play) for old, tiles in zip(hands, parts.hands, strict=True)),
        lying=lying,
        strays=parts.strays,
        is_cleared=is_over and (around.is_cleared or is_bare),
        was_empty=is_over and (around.was_empty or 2 * parts.boneyard < around.yard.count or parts.boneyard == 0),
        is_seen=True,
    )


def _counted(around: Around, parts: SortedView, look: int, seq: Seq) -> Yard:
    """Return the boneyard after another count. Tiles pushed out of its zone between two looks are still counted."""
    yard = around.yard
    if yard.agreed is not None:  # tiles of the boneyard detected only now have been there since the deal
        found = min(parts.found, max(0, yard.missing))
        yard = replace(yard, agreed=yard.agreed + found, missing=yard.missing - found)
    inside, beside = parts.boneyard - (yard.count - yard.strays), parts.strays - around.strays
    pushed = min(-inside, beside) if inside < 0 < beside else 0
    strays = min(parts.strays, yard.strays + pushed)
    count = parts.boneyard + strays
    if yard.looks and count == yard.count:
        return replace(yard, looks=yard.looks + 1, strays=strays)
    return replace(
        yard,
        count=count,
        looks=1,
        looks_before=yard.looks,
        since=look,
        seq=seq,
        is_by_hand=parts.is_by_hand,
        came_from=parts.came_from,
        strays=strays,
    )


def _laid_open(old: OpenHand, tiles: tuple[SeenTile, ...], *, in_play: bool) -> OpenHand:
    """Return the open hand in front of a seat after one more look."""
    stay = [any(is_near(tile, other.center_px) for other in old.tiles) for tile in tiles]
    is_same = len(tiles) == len(old.tiles) and all(stay)
    looks = old.looks + 1 if is_same else 1
    named = tuple((middle, name) for middle, name in old.told if any(is_near(tile, middle) for tile in tiles))
    # Discard the report of the hand during play, and if none of its tiles is left.
    event, reported = (old.shown, old.said) if any(stay) and not in_play else (None, ())
    return OpenHand(tiles, looks, named, event, reported, is_whole=old.is_whole and is_same)
