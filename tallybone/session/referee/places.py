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
from vision.reading import PointPx, SeenTile

# Maximum distance between the centres of two sightings of the same tile, in sides of a half.
_SAME_PLACE = 0.5
# A hand is over if more tiles than players take back, and at least this share of the layout, are gone. In a gap the
# share alone counts, and is smaller, because tiles of the next hand may be in the places of old ones.
_MOST_TAKEN_BACK, _SWEPT, SWEPT_UNSEEN = 3, 0.8, 0.5
# The table is being cleared if fewer face-up tiles than this share of the layout's tiles are outside the zones.
_STILL_LIES = 0.8
# From this number of tiles laid after a tile in question, the players are assumed to ignore the question.
_PLAYED_ON = 3
# Maximum distance between the centres of two sightings of a tile in an open hand, in lengths of the tile.
_SAME_HAND_PLACE = 0.25
ByTurn: TypeAlias = Lead | Play | Call | Draw | Knock | Decline


@dataclass(frozen=True, slots=True)
class Known:
    """A tile of the layout.

    Attributes:
        laid: Its name (`NodeId`) and place.
        tile: Last reading.
        is_settled: The players have named it, so no reading changes it.
        is_reread: Its reading has changed since it was last judged.
        is_missing: It seems to have been taken away.
        is_handled: A hand touched it and left the same tile in the same place.
        was_at: Place before a move that the referee has not judged yet.
        came_from: Seats from whose side the hand that played it came, if the play is credited to another player. Empty
            once the players have confirmed the seat or play on.
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
        """Its place in the picture."""
        return self.laid.place

    @property
    def is_doubtful(self) -> bool:
        """True while its pips, its presence or its player are uncertain."""
        return self.is_reread or self.is_missing or bool(self.came_from)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open tile that is not part of the layout yet.

    Attributes:
        tile: Last reading.
        look: First look that showed it. Tiles of the same look may have been laid in any order.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
        since_ns: Time at which the tile appeared, from `Change`, or None if unknown.
    """

    tile: SeenTile
    look: int
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Yard:
    """The boneyard.

    Attributes:
        count: Number of tiles.
        looks: Consecutive looks that have shown this count, 0 before the first.
        looks_before: Consecutive looks that had shown the previous count.
        since: First look that showed this count.
        seq: Next event of the match at that look.
        is_by_hand: A hand had reached over the table before the look *since*.
        came_from: Seats at the only side from which that hand came. Empty if that is ambiguous.
        strays: Number of tiles pushed out of the zone that are still face down outside every zone. Included in *count*.
        agreed: Count that the referee has accounted for. None before the first count of a hand.
        missing: Number of its tiles that are not detected. Negative if more are detected than expected.
        caused: Events of the draws inferred from the boneyard in this hand.
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
    """The open hand before a seat.

    Attributes:
        tiles: Last readings.
        looks: Consecutive looks that have shown as many tiles in the same places.
        told: Tiles that the players have named, each with the centre at which it was seen.
        shown: Number of the event that reported the hand to the rules, or None.
        said: Tiles of that event.
        is_whole: The players have confirmed that these are all, though the rules expect another number.
    """

    tiles: tuple[SeenTile, ...] = ()
    looks: int = 0
    told: tuple[tuple[PointPx, Tile], ...] = ()
    shown: Seq | None = None
    said: tuple[Tile, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Around:
    """Evidence from the table around the layout.

    Attributes:
        yard: The boneyard.
        hands: Open hands by seat. Empty at a table without seat zones.
        lying: Number of open tiles outside every zone.
        strays: Number of face-down tiles outside every zone.
        is_cleared: The table has been seen without an open tile since the hand was counted.
        was_empty: Most or all of the boneyard has been gone at some look since then.
        goes_on: Number of open tiles before each seat when the players answered that the hand goes on.
        came_from_own: Number of actions whose hand came from the side of the player that they are credited to.
        came_from_other: Number of actions whose hand came from another side.
        lead_by_side: Number of the event whose leader is known only from the side of a hand, until a play confirms it.
        is_lead_doubted: A play came from a side that contradicts that leader.
        is_seen: At least one look has shown a table with zones.
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
        """Return the open hand in front of a seat. Without such a zone, it is empty."""
        return self.hands[seat] if seat < len(self.hands) else OpenHand()

    def with_hand(self, seat: Seat, hand: OpenHand) -> Around:
        """Return this evidence with the open hand of one seat replaced."""
        return replace(self, hands=tuple(hand if at == seat else old for at, old in enumerate(self.hands)))

    @property
    def open_counts(self) -> tuple[int, ...]:
        """Number of face-up tiles in front of each seat."""
        return tuple(len(hand.tiles) for hand in self.hands)


@dataclass(frozen=True, slots=True)
class Beginning:
    """Possible first actions of a gap.

    Attributes:
        actions: Leads, plays and passes in order. Plays have neither spots nor inner numbers.
        is_whole: Nothing else happened in the gap.
    """

    actions: tuple[ByTurn, ...]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A gap: a time in which the order of actions is unknown.

    Attributes:
        look: First look after it.
        knocks: Seats of the knocks heard in the gap, in order. None for an unknown seat.
        until: Last look whose new tiles belong to the gap, if later than *look*.
        boneyard: Number of tiles in the boneyard at the last of these looks. None until it has been counted.
        begun: First actions, confirmed by the players, in the form of `Beginning.actions`.
        not_so: Beginnings that the players have rejected.
        is_watched: The table was seen and heard throughout, but several tiles appeared in one look.
        is_deaf: Nothing was heard either, because the machine was off.
        is_hand_missed: A whole hand may have been played in the gap.
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
class UndecidedPasses:
    """Passes that may have preceded an action. The likeliest number of them has been entered.

    Attributes:
        seats: Player to move after each possible number of passes, from 0.
        since: First event after the doubt.
        knocks: Events of the entered passes, in order.
        chances: Probability of each number of passes, by the sounds and the sides of the hands since.
        players: Number of players.
    """

    seats: tuple[Seat, ...]
    since: Seq
    knocks: tuple[Seq, ...]
    chances: tuple[float, ...]
    players: int

    @property
    def shifts(self) -> tuple[int, ...]:
        """Number of seats by which the later actions move for each number of passes."""
        return tuple((seat - self.seats[len(self.knocks)]) % self.players for seat in self.seats)


@dataclass(frozen=True, slots=True)
class Pressed:
    """A press or an entered action that waits for the next look.

    Attributes:
        press: The press or action.
        t_ns: Time of the press, in nanoseconds of a monotonic clock.
        look: Number of looks before the press.
    """

    press: Press | Call | Knock | Draw | Decline
    t_ns: int
    look: int

    def meant(self, state: State) -> Call | Knock | Draw | Decline | None:
        """Return the action that the press means in this state of the match, or None."""
        event = event_of(self.press, state) if isinstance(self.press, Press) else self.press
        return event if isinstance(event, Call | Knock | Draw | Decline) else None


class Adoption(StrEnum):
    """Progress of adopting the layout from the table, by the players' last answer."""

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
        known: Tiles of the layout.
        waiting: Face-up tiles that are not part of the layout yet, in the order in which they were seen.
        dismissed: Tiles on the table that do not count: taken back, or left from the previous hand.
        undone: Tiles still on the table although their plays were undone, until the players decide about them.
        former: Tiles of this hand whose plays were in force once. Some may be in the layout again.
        asked: Topics of the open questions.
        ignored: Topics of open questions that no longer hold up the game, because the players went on.
        looks: Number of looks at the table so far.
        wants_stack: The STACK button was pressed, and the stacked tile is not known yet.
        maybe_passed: Player who may have passed, until an answer or the next action decides.
        knocked_early: Number of looks before the doubtful knock if the player had to draw first, else None.
        pass_chances: Probability of a pass for each doubtful sound, in order: the first of *maybe_passed*, the next of
            the player after.
        undecided: Earlier passes that the next action did not decide, or None.
        around: Evidence from the table around the layout, if it has zones.
        unseen: Gap that has not been explained yet, or None.
        pressed: Presses and entered actions that wait for the next look, in order.
        adoption: Progress of adopting the layout from the table, or None.
    """

    known: tuple[Known, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    dismissed: tuple[SeenTile, ...] = ()
    undone: tuple[SeenTile, ...] = ()
    former: tuple[Known, ...] = ()
    asked: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    looks: int = 0
    wants_stack: bool = False
    maybe_passed: Seat | None = None
    knocked_early: int | None = None
    pass_chances: tuple[float, ...] = ()
    undecided: UndecidedPasses | None = None
    around: Around = field(default_factory=Around)
    unseen: Unseen | None = None
    pressed: tuple[Pressed, ...] = ()
    adoption: Adoption | None = None

    @property
    def is_played_on(self) -> bool:
        """True if the players have laid _PLAYED_ON tiles since the first that waits, or are clearing the table."""
        first = min((waiting.look for waiting in self.waiting), default=0)
        return self.is_being_cleared or sum(waiting.look > first + 1 for waiting in self.waiting) >= _PLAYED_ON

    @property
    def is_being_cleared(self) -> bool:
        """True if enough of the layout is gone that the table is being cleared."""
        return self.around.is_seen and self.around.lying < _STILL_LIES * len(self.known)

    @property
    def is_swept(self) -> bool:
        """True if nearly the whole layout is gone, so its hand is over, seen or not."""
        gone = sum(known.is_missing for known in self.known)
        if self.unseen is not None:
            return gone > 0 and gone >= SWEPT_UNSEEN * len(self.known)
        return gone > _MOST_TAKEN_BACK and gone >= _SWEPT * len(self.known)

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Name and place of each tile of the layout."""
        return tuple(known.laid for known in self.known)

    def find(self, node: NodeId) -> Known | None:
        """Return the tile of the layout with the name *node*, or None if its place is unknown."""
        return next((known for known in self.known if known.node == node), None)

    def with_known(self, known: Known) -> Places:
        """Return these places with one tile of the layout updated."""
        return replace(self, known=tuple(known if old.node == known.node else old for old in self.known))

    def without_waiting(self, tile: SeenTile) -> Places:
        """Return these places without the waiting tiles at the place of *tile*."""
        place = footprint_of(tile)
        return replace(self, waiting=tuple(waiting for waiting in self.waiting if not is_at(place, waiting.tile)))


def cleared(places: Places) -> Places:
    """Return the places for a new deal. Face-up tiles on the table are dismissed as those of the previous hand."""
    left = (*places.dismissed, *(known.tile for known in places.known), *(waiting.tile for waiting in places.waiting))
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
    """Check that the centre of a tile is within half a side of the centre of *place*."""
    return math.dist(place.center, tile.center_px) < _SAME_PLACE * place.side


def tile_at(place: Footprint, tiles: Iterable[tuple[SeenTile, Point]]) -> SeenTile | None:
    """Return the first tile at *place*, or None. Each tile comes with its centre, because this runs in every frame."""
    near_px = _SAME_PLACE * place.side
    return next((tile for tile, center_px in tiles if math.dist(place.center, center_px) < near_px), None)


def shown(tile: SeenTile) -> tuple[tuple[int, float], ...]:
    """Return pips and confidence of each half, sorted, so that the direction of the tile does not matter."""
    return tuple(sorted((half.alone.pips, half.alone.confidence) for half in tile.halves))


def numbers_of(tile: SeenTile) -> tuple[int, ...]:
    """Return the pips of both halves as read, the smaller first."""
    return tuple(number for number, _ in shown(tile))


def seen_name(tile: SeenTile) -> str:
    """Return the players' name of a tile as read, such as "6-4", its larger number first."""
    return "-".join(str(number) for number in reversed(numbers_of(tile)))


def is_near(tile: SeenTile, middle: PointPx) -> bool:
    """Check that a tile of an open hand is where one with the centre *middle* was."""
    first, second = tile.half_centers_px
    return math.dist(tile.center_px, middle) < _SAME_HAND_PLACE * 2 * math.dist(first, second)
