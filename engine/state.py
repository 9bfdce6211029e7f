"""Where a match stands: frozen values, and the questions that players and camera ask of them."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from engine.counting import Count, count
from engine.events import Action, Event, Play, Seat, Seq
from engine.layout import Layout, OpenEnd, open_ends, playable_numbers
from engine.outcomes import Ending, Must, Turn
from engine.problems import ProblemKind
from engine.rules import Drawing, Rules, TallyStyle
from engine.settle import Holding
from engine.tally import HouseTally
from engine.tiles import Tile, full_set


class Phase(StrEnum):
    """What the table waits for."""

    DEAL = "deal"
    LEAD = "lead"
    PLAY = "play"
    REVEAL = "reveal"
    MATCH_OVER = "match_over"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a player has said about his hand by knocking, drawing or not leading.

    Attributes:
        denied: Tiles that he cannot have held then.
        drawn_since: How many of them he may have got since.
        broken: What it is called when he shows one more.
        words: How he said it.
    """

    denied: frozenset[Tile]
    drawn_since: int
    broken: ProblemKind
    words: str


@dataclass(frozen=True, slots=True)
class Hand:
    """One deal.

    Attributes:
        number: Counts from 1.
        layout: What lies on the table.
        sizes: Tiles that each seat holds.
        boneyard: Tiles left to draw.
        turn: Whose turn it is; None while nobody knows who leads, and when the hand is over.
        roll_call: Whether the highest double has to lead.
        passes: Knocks since the last play or draw.
        locked: Whether no tile outside the layout fits.
        claims: What each seat has said about its tiles.
        ending: Why the hand is over; None while it is played.
        out: Who played his last tile.
        holdings: What each seat has shown at the end; None where it has not.
        scores_before: Scores of each seat when the hand was dealt.
    """

    number: int
    layout: Layout
    sizes: tuple[int, ...]
    boneyard: int
    turn: Seat | None
    roll_call: bool
    scores_before: tuple[tuple[int, ...], ...]
    claims: tuple[tuple[Claim, ...], ...]
    holdings: tuple[Holding | None, ...]
    passes: int = 0
    locked: bool = False
    ending: Ending | None = None
    out: Seat | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """One match.

    Attributes:
        rules: What was agreed.
        players: Names by seat, clockwise.
        phase: What the table waits for.
        scores: For each seat what it was paid, in the order of payment.
        hand: The hand that is played, or was played last; None before the first.
        hand_winner: Winner of the last hand that was counted; None before it and after a dead tie.
        winner: Winner of the match.
    """

    rules: Rules
    players: tuple[str, ...]
    phase: Phase
    scores: tuple[tuple[int, ...], ...]
    hand: Hand | None = None
    hand_winner: Seat | None = None
    winner: Seat | None = None

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat."""
        return tuple(sum(scores) for scores in self.scores)

    @property
    def layout(self) -> Layout:
        """What lies on the table."""
        return Layout() if self.hand is None else self.hand.layout

    @property
    def count(self) -> Count:
        """The open ends and their sum."""
        return count(self.layout, self.rules.spinner_count)

    def tally(self, seat: Seat) -> HouseTally | None:
        """Return the marks of *seat*, or None when these rules keep the score in numbers."""
        match self.rules.tally:
            case TallyStyle.HOUSE:
                return HouseTally.of(self.scores[seat])
            case TallyStyle.NUMBERS:
                return None
            case _:
                assert_never(self.rules.tally)


@dataclass(frozen=True, slots=True)
class Entry:
    """One action that is in force.

    Attributes:
        seq: Its place in the log, which it keeps when it is amended.
        action: What happened.
        accepted: Whether the table said that it stands.
    """

    seq: Seq
    action: Action
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """All that has happened, and where it leaves the match.

    Attributes:
        log: Every event as it came in.
        entries: The actions in force after undo, amend and "it stands".
        irregular: Actions in force that have a problem which the table has not accepted.
        game: The match; None before the first start.
    """

    log: tuple[Event, ...] = ()
    entries: tuple[Entry, ...] = ()
    irregular: tuple[Seq, ...] = ()
    game: Game | None = None

    @property
    def next_seq(self) -> Seq:
        """The place in the log, and with a play the name on the table, that the next event gets."""
        return Seq(len(self.log))


def ends(state: State) -> tuple[OpenEnd, ...]:
    """Return where tiles can go, closed tips of the spinner included; nothing before the first tile."""
    game = state.game
    return () if game is None else open_ends(game.layout, game.rules.branch_order)


def legal_plays(state: State, tiles: tuple[Tile, ...], *, seat: Seat | None = None) -> tuple[Play, ...]:
    """Return every legal play of *tiles*, tile by tile, in the order of the open ends.

    Args:
        state: Where the match stands.
        tiles: What a player holds, or the one tile that the camera sees; in a roll call only the highest double of
            them may lead.
        seat: Who plays; None for whose turn it is, or for everybody while nobody knows who leads.
    """
    game = state.game
    if game is None or game.hand is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        return ()
    if seat is None:
        seat = game.hand.turn
    elif game.hand.turn is not None and seat != game.hand.turn:
        return ()
    seats = tuple(Seat(at) for at in range(len(game.players))) if seat is None else (seat,)
    at_hand = [tile for tile in dict.fromkeys(tiles) if copies_left(game, tile) > 0]
    if not game.hand.layout.nodes:
        if game.hand.roll_call:
            at_hand = sorted((tile for tile in at_hand if tile.is_double), key=lambda tile: tile.high)[-1:]
        return tuple(Play(who, tile, inner=tile.low) for tile in at_hand for who in seats)
    playable = [end for end in open_ends(game.layout, game.rules.branch_order) if end.playable]
    return tuple(
        Play(who, tile, end.spot, end.number)
        for tile in at_hand
        for end in playable
        if tile.has(end.number)
        for who in seats
    )


def copies_left(game: Game, tile: Tile) -> int:
    """Return how often *tile* is not on the table; 0 or less when it is not in the set or used up."""
    if tile.high > game.rules.max_pips:
        return 0
    return game.rules.copies - game.layout.tiles.count(tile)


def unseen(game: Game) -> tuple[Tile, ...]:
    """Return the tiles in hands and boneyard, each as often as it is out, from 0-0 upwards."""
    used = Counter(game.layout.tiles)
    return tuple(tile for tile in full_set(game.rules.max_pips) for _ in range(max(0, game.rules.copies - used[tile])))


def is_locked(layout: Layout, rules: Rules) -> bool:
    """Return whether it is proved that nobody can play: no tile outside *layout* fits an end."""
    used = Counter(layout.tiles)
    return all(
        used[Tile.of(number, other)] >= rules.copies
        for number in playable_numbers(layout, rules.branch_order)
        for other in range(rules.max_pips + 1)
    )


def turn(game: Game) -> Turn | None:
    """Return whose turn it is and what he has to do; None when nobody has to play."""
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        return None
    if game.phase is Phase.LEAD:
        return Turn(hand.turn, Must.LEAD_HIGHEST_DOUBLE if hand.roll_call else Must.LEAD_ANY)
    if hand.boneyard == 0 or game.rules.draw is Drawing.NONE:
        return Turn(hand.turn, Must.PLAY_OR_KNOCK)
    return Turn(hand.turn, Must.DRAW_OR_END if hand.locked else Must.PLAY_OR_DRAW)
