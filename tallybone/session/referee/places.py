"""Tracked layout: tiles, evidence and pending input that the referee keeps between looks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from engine import Call, Decline, Draw, Knock, Lead, NodeId, Play, Seat, Seq, State, Tile
from tallybone.session.inputs import Press, event_of
from tallybone.session.touching import Footprint, Laid, Point, footprint_of
from vision.reading import Face, PointPx, SeenTile

# A tile within this of another is the same one, in sides of a half.
_SAME_PLACE = 0.5
# Share of a layout whose removal ends the hand, if more tiles are gone than players take back. Unseen, it is smaller:
# tiles of the next hand may lie where some of the last lay.
_MOST_TAKEN_BACK, _SWEPT, SWEPT_UNSEEN = 3, 0.8, 0.5
# While so much of the layout still lies there, nobody has begun to clear the table.
_STILL_LIES = 0.8
# Players who have laid so many tiles since they were asked do not answer.
_PLAYED_ON = 3
# Of two looks, an open tile that lies within this of where it lay is the same, in its own lengths.
_SAME_HAND_PLACE = 0.25
ByTurn: TypeAlias = Lead | Play | Call | Draw | Knock | Decline


@dataclass(frozen=True, slots=True)
class Known:
    """A tile of the layout.

    Attributes:
        laid: Its name and where it lies.
        tile: As it was seen last.
        is_settled: Whether the table has said what it is, so that no reading changes that.
        is_reread: Whether it is read otherwise than when it was judged last.
        is_missing: Whether it was taken away, as far as one sees.
        is_handled: Whether a hand was at it and left the same tile in the same place.
        was_at: Where it lay before it was moved, until it is judged what that means.
        came_from: The seats its hand came from, where another player is said to have laid it, until the table says who
            did, or plays on.
    """

    laid: Laid
    tile: SeenTile
    is_settled: bool = False
    is_reread: bool = False
    is_missing: bool = False
    is_handled: bool = False
    was_at: Footprint | None = None
    came_from: tuple[Seat, ...] = ()

    @property
    def node(self) -> NodeId:
        """Its name in the layout."""
        return self.laid.node

    @property
    def place(self) -> Footprint:
        """Where it lies."""
        return self.laid.place

    @property
    def is_doubtful(self) -> bool:
        """Whether it is not clear what it is, whether it is there, or who laid it."""
        return self.is_reread or self.is_missing or bool(self.came_from)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A tile that lies open on the table and is not part of the layout yet.

    Attributes:
        tile: As it was seen last.
        look: Which look at the table showed it first; those of one look may have been laid in any order.
        came_from: The seats at the side from which alone hands came then; none where that is not clear.
        since_ns: Since when it has lain there, as `Change` says it.
    """

    tile: SeenTile
    look: int
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None


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
        came_from: The seats at the side from which alone that hand came; none where that is not clear.
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
    came_from: tuple[Seat, ...] = ()
    strays: int = 0
    agreed: int | None = None
    missing: int = 0
    caused: tuple[Seq, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenHand:
    """The tiles that lie open before a seat.

    Attributes:
        tiles: As they are seen.
        looks: How many looks in a row have shown as many in the same places.
        told: Tiles that the table has named, each with its middle.
        shown: The event that told the rules; None for none.
        said: The tiles that it named.
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
        goes_on: How many tiles lay open before each seat when the table said that the hand goes on.
        came_from_own: How often hands came from the side of the player who is said to have acted.
        came_from_other: How often they came from another side.
        lead_by_side: The event whose leader only the side of a hand tells, until a play bears it out.
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
    came_from_own: int = 0
    came_from_other: int = 0
    lead_by_side: Seq | None = None
    is_lead_doubted: bool = False
    is_seen: bool = False

    def hand(self, seat: Seat) -> OpenHand:
        """Return the open hand before a seat."""
        return self.hands[seat] if seat < len(self.hands) else OpenHand()

    def with_hand(self, seat: Seat, hand: OpenHand) -> Around:
        """Return this with another hand before a seat."""
        return replace(self, hands=tuple(hand if at == seat else old for at, old in enumerate(self.hands)))

    @property
    def open_counts(self) -> tuple[int, ...]:
        """How many tiles lie open before each seat."""
        return tuple(len(hand.tiles) for hand in self.hands)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What may have happened first while nobody saw the table.

    Attributes:
        actions: Leads, plays and passes, in their order; plays without their places.
        is_whole: Whether nothing more happened.
    """

    actions: tuple[ByTurn, ...]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A time of which nobody knows what happened when.

    Attributes:
        look: The first look after it.
        knocks: The knocks that were heard in it, each with its seat if that is known.
        until: The last look whose tiles belong to it, where that is a later one.
        boneyard: Tiles of the boneyard in the last look of both; None before that.
        begun: What happened first, as the table has said, like the actions of a `Beginning`.
        not_so: Beginnings that the table has rejected.
        is_watched: Whether the table was seen and heard all the time, and only several tiles came in one look.
        is_deaf: Whether nothing could be heard either, as the machine was off.
        is_hand_missed: Whether a whole hand may have been played in it.
    """

    look: int
    knocks: tuple[Seat | None, ...] = ()
    until: int = 0
    boneyard: int | None = None
    begun: tuple[ByTurn, ...] = ()
    not_so: tuple[Beginning, ...] = ()
    is_watched: bool = False
    is_deaf: bool = False
    is_hand_missed: bool = False


@dataclass(frozen=True, slots=True)
class Pressed:
    """A player's button, or what a player entered, that waits for the next look.

    Attributes:
        press: What it was.
        t_ns: When, in nanoseconds of a monotonic clock.
        look: How many looks at the table there had been.
    """

    press: Press | Call | Knock | Draw | Decline
    t_ns: int
    look: int

    def meant(self, state: State) -> Call | Knock | Draw | Decline | None:
        """Return what it means in a match that stands so; None for nothing."""
        event = event_of(self.press, state) if isinstance(self.press, Press) else self.press
        return event if isinstance(event, Call | Knock | Draw | Decline) else None


class Adoption(StrEnum):
    """What is left of adopting the layout as it lies, by what the table has said about it."""

    ASKED = "asked"
    SAME_HAND = "same_hand"
    HAND_BEFORE = "hand_before"
    DEALT_EARLY = "dealt_early"
    NEW_HAND = "new_hand"
    HAND_OVER = "hand_over"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Places:
    """The referee's memory between pictures.

    Attributes:
        known: The tiles of the layout.
        waiting: Tiles that are not part of it yet, in the order in which they were seen.
        dismissed: Tiles that lie on the table and count for nothing: taken back, or of the hand before.
        undone: Tiles that still lie there though their plays were undone, until the table says what is to be done.
        asked: Topics of the questions that the table has been asked and has not answered.
        ignored: Topics of those that hold up the game no more, because the players went on without an answer.
        looks: How many looks at the table there have been.
        wants_stack: Whether the button said that a tile was laid on its copy, and it is not known yet which.
        maybe_passed: The player who may have knocked, until the table says whether they did.
        knocked_early: After how many looks that was, where they had to draw first; None where they had not.
        around: The table around the layout, where it has zones.
        unseen: The time that nobody saw and that has not been explained yet; None for none.
        pressed: What players pressed that waits for the next look, in order.
        adoption: What is to be done to adopt the layout as it lies; None for nothing.
    """

    known: tuple[Known, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    dismissed: tuple[SeenTile, ...] = ()
    undone: tuple[SeenTile, ...] = ()
    asked: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    looks: int = 0
    wants_stack: bool = False
    maybe_passed: Seat | None = None
    knocked_early: int | None = None
    around: Around = field(default_factory=Around)
    unseen: Unseen | None = None
    pressed: tuple[Pressed, ...] = ()
    adoption: Adoption | None = None

    @property
    def is_played_on(self) -> bool:
        """Whether the players have laid several tiles since the first that waits, or clear the table."""
        first = min((one.look for one in self.waiting), default=0)
        return self.is_being_cleared or sum(one.look > first + 1 for one in self.waiting) >= _PLAYED_ON

    @property
    def is_being_cleared(self) -> bool:
        """Whether so much of the layout is gone that the table is being cleared."""
        return self.around.is_seen and self.around.lying < _STILL_LIES * len(self.known)

    @property
    def is_swept(self) -> bool:
        """Whether nearly the whole layout is gone: its hand is over, seen or not."""
        gone = sum(one.is_missing for one in self.known)
        if self.unseen is not None:
            return gone > 0 and gone >= SWEPT_UNSEEN * len(self.known)
        return gone > _MOST_TAKEN_BACK and gone >= _SWEPT * len(self.known)

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Where each tile of the layout lies."""
        return tuple(one.laid for one in self.known)

    def find(self, node: NodeId) -> Known | None:
        """Return the tile of the layout with that name, or None when nobody knows where it lies."""
        return next((one for one in self.known if one.node == node), None)

    def with_known(self, known: Known) -> Places:
        """Return these places with what is known of one tile of the layout changed."""
        return replace(self, known=tuple(known if one.node == known.node else one for one in self.known))

    def without_waiting(self, tile: SeenTile) -> Places:
        """Return these places without a tile that waits."""
        if tile.face is Face.DOWN:
            return self
        return replace(self, waiting=tuple(one for one in self.waiting if not is_at(footprint_of(tile), one.tile)))


def cleared(places: Places) -> Places:
    """Return the places for a new deal: what still lies open is of the hand before."""
    left = (*places.dismissed, *(one.tile for one in places.known), *(one.tile for one in places.waiting))
    around = Around(
        yard=replace(places.around.yard, agreed=None, missing=0, caused=()),
        hands=tuple(OpenHand(hand.tiles, hand.looks) for hand in places.around.hands),
        lying=places.around.lying,
        strays=places.around.strays,
        came_from_own=places.around.came_from_own,
        came_from_other=places.around.came_from_other,
        is_seen=places.around.is_seen,
    )
    return Places(dismissed=left, looks=places.looks, around=around)


def is_at(place: Footprint, tile: SeenTile) -> bool:
    """Return whether a tile lies where *place* is."""
    return math.dist(place.center, tile.center_px) < _SAME_PLACE * place.side


def tile_at(place: Footprint, tiles: Iterable[tuple[SeenTile, Point]]) -> SeenTile | None:
    """Return the first tile at *place*, or None; each tile comes with its centre, because every frame asks for all."""
    near_px = _SAME_PLACE * place.side
    return next((tile for tile, center_px in tiles if math.dist(place.center, center_px) < near_px), None)


def shown(tile: SeenTile) -> tuple[tuple[int, float], ...]:
    """Return the readings of both halves, alike for the same reading from either end."""
    return tuple(sorted((half.alone.pips, half.alone.confidence) for half in tile.halves))


def numbers_of(tile: SeenTile) -> tuple[int, ...]:
    """Return the numbers that the halves are read as, the smaller first."""
    return tuple(number for number, _ in shown(tile))


def seen_name(tile: SeenTile) -> str:
    """Return the players' name of a tile as it is read, its larger number first."""
    return "-".join(str(number) for number in reversed(numbers_of(tile)))


def is_near(tile: SeenTile, middle: PointPx) -> bool:
    """Return whether a tile lies where one with that middle lay."""
    first, second = tile.half_centers_px
    return math.dist(tile.center_px, middle) < _SAME_HAND_PLACE * 2 * math.dist(first, second)
