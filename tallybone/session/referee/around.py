"""What the referee keeps of what lies around the layout: the boneyard as it was counted, and the hands laid open."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from engine import Phase, Seat, Seq, State, Tile
from tallybone.session.zones import Parts
from vision.reading import Face, PointPx
from vision.reading import Tile as SeenTile

# Of two looks, an open tile that lies within this of where it lay is the same, in its own lengths.
_SAME_PLACE = 0.25


@dataclass(frozen=True, slots=True)
class Yard:
    """The boneyard.

    Attributes:
        count: Tiles that lie there.
        looks: How many looks in a row have shown so many; 0 before the first.
        looks_before: How many looks in a row had shown the count before.
        since: The look that showed so many first.
        seq: Which event would have been the next of the match then.
        is_by_hand: Whether a hand had come in before that.
        by: Whose hand it was, as far as its side tells.
        strays: Tiles that were pushed out of its zone and still lie face down beside the layout; they are counted.
        agreed: The count that the rules know of; None before the first in a hand.
        missing: How many tiles of the boneyard are not seen, below 0 where there are more than there should be.
        caused: The draws that were told by it in this hand.
    """

    count: int = 0
    looks: int = 0
    looks_before: int = 0
    since: int = 0
    seq: int = 0
    is_by_hand: bool = False
    by: tuple[Seat, ...] = ()
    strays: int = 0
    agreed: int | None = None
    missing: int = 0
    caused: tuple[Seq, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenHand:
    """What lies open before a seat.

    Attributes:
        tiles: As they are seen.
        looks: How many looks in a row have shown as many in the same places.
        told: Tiles of which the table has said what they are, each with its middle.
        shown: The event that told the rules; None for none.
        said: What that told.
        is_whole: Whether the table has said that these are all, though the rules expect another number.
    """

    tiles: tuple[SeenTile, ...] = ()
    looks: int = 0
    told: tuple[tuple[PointPx, Tile], ...] = ()
    shown: Seq | None = None
    said: tuple[Tile, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Around:
    """All around the layout.

    Attributes:
        yard: The boneyard.
        hands: By seat; nothing at a table without seat zones.
        lying: Open tiles in no zone.
        strays: Tiles that lie face down in no zone.
        is_cleared: Whether the table was seen without an open tile since the hand was counted.
        was_empty: Whether most of the boneyard was gone since then.
        goes_on: What lay open before the seats when the table said that the hand goes on.
        right, wrong: How often hands came from the side of the player they were thought to be of, and how often not.
        led: The event that told the leader by nothing but the side of a hand, until a play bears it out.
        is_lead_doubted: Whether a play came from where it should not if that leader is right.
        is_seen: Whether there was a look at a table with zones.
    """

    yard: Yard = field(default_factory=Yard)
    hands: tuple[OpenHand, ...] = ()
    lying: int = 0
    strays: int = 0
    is_cleared: bool = False
    was_empty: bool = False
    goes_on: tuple[int, ...] = ()
    right: int = 0
    wrong: int = 0
    led: Seq | None = None
    is_lead_doubted: bool = False
    is_seen: bool = False

    def hand(self, seat: Seat) -> OpenHand:
        """Return what lies open before a seat."""
        return self.hands[seat] if seat < len(self.hands) else OpenHand()

    def with_hand(self, seat: Seat, hand: OpenHand) -> Around:
        """Return this with another hand before a seat."""
        return replace(self, hands=tuple(hand if at == seat else old for at, old in enumerate(self.hands)))

    @property
    def open_counts(self) -> tuple[int, ...]:
        """How many tiles lie open before each seat."""
        return tuple(len(hand.tiles) for hand in self.hands)


def after_look(around: Around, parts: Parts, state: State, look: int) -> Around:
    """Return what is kept after one more look, the *look*-th, at a table that stands as *state* says."""
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


def _counted(around: Around, parts: Parts, look: int, seq: Seq) -> Yard:
    """Return the boneyard after one more count; what was pushed out of its zone in one look still belongs to it."""
    yard = around.yard
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
        by=parts.by,
        strays=strays,
    )


def _laid_open(old: OpenHand, tiles: tuple[SeenTile, ...], *, in_play: bool) -> OpenHand:
    """Return what lies open before a seat after one more look."""
    is_same = len(tiles) == len(old.tiles) and all(_lies_among(tile, old.tiles) for tile in tiles)
    looks = old.looks + 1 if is_same else 1
    told = tuple((middle, said) for middle, said in old.told if any(is_near(tile, middle) for tile in tiles))
    # While the hand is played nothing that was shown counts any more.
    shown, said = (None, ()) if in_play else (old.shown, old.said)
    return OpenHand(tiles, looks, told, shown, said, is_whole=old.is_whole and is_same)


def is_near(tile: SeenTile, middle: PointPx) -> bool:
    """Return whether a tile lies where one with that middle lay."""
    first, second = tile.half_centers_px
    return math.dist(tile.center_px, middle) < _SAME_PLACE * 2 * math.dist(first, second)


def _lies_among(tile: SeenTile, others: tuple[SeenTile, ...]) -> bool:
    return any(is_near(tile, other.center_px) for other in others)
