"""The moves of a written hand in the order in which they are played, and what can be seen ahead of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.events import Seat
from engine.record import STANDS, BonusMove, Move, NoteMove, RecordHand, ShowMove, ShowPipsMove, action_of
from engine.record_text import Opening


@dataclass(frozen=True, slots=True)
class Step:
    """One move.

    Attributes:
        at: Its place among the moves of the hand.
        seat: Who made it.
        letter: The letter of that seat.
        move: What was written.
        is_accepted: Whether a note says that it stands.
    """

    at: int
    seat: Seat
    letter: str
    move: Move
    is_accepted: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """The moves of one hand.

    Attributes:
        moves: Without notes that do nothing.
        seats: How many play.
        last_shows: For each seat the last move that shows its tiles or pips, -1 for none.
        last_bonuses: For each seat the last move that gives it points of the hand, -1 for none.
    """

    moves: tuple[Step, ...]
    seats: int
    last_shows: tuple[int, ...]
    last_bonuses: tuple[int, ...]

    def shown_from(self, step: Step) -> tuple[Seat, ...]:
        """Return the seats that show their tiles in *step* or after it."""
        return tuple(Seat(seat) for seat, last in enumerate(self.last_shows) if last >= step.at)

    def shows_follow(self, step: Step) -> bool:
        """Return whether somebody shows his tiles after *step*."""
        return max(self.last_shows) > step.at

    def bonus_follows(self, step: Step, seat: Seat) -> bool:
        """Return whether points of the hand are written for *seat* after *step*."""
        return self.last_bonuses[seat] > step.at


def steps_of(opening: Opening, hand: RecordHand) -> Steps:
    """Return the moves of a hand.

    Raises:
        RecordError: If one is made from a seat where nobody sits.
    """
    moves: list[Step] = []
    for turn in hand.turns:
        seat = opening.seat(turn.seat, turn.place)
        for move in turn.moves:
            if move == STANDS and moves:
                moves[-1] = replace(moves[-1], is_accepted=True)
            elif not isinstance(move, NoteMove) or action_of(move, seat) is not None:
                moves.append(Step(len(moves), seat, turn.seat, move))
    seats = len(opening.players)
    shows = tuple(max(_places(moves, seat, (ShowMove, ShowPipsMove)), default=-1) for seat in range(seats))
    bonuses = tuple(max(_places(moves, seat, (BonusMove,)), default=-1) for seat in range(seats))
    return Steps(tuple(moves), seats, shows, bonuses)


def _places(moves: list[Step], seat: int, kinds: tuple[type[Move], ...]) -> Iterator[int]:
    return (step.at for step in moves if step.seat == seat and isinstance(step.move, kinds))
