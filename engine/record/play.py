"""Play a game record by the rules, with a line for every move, its score and its problems.

Recorded results, such as `=10` or `+20`, are compared with the score.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Self, assert_never

from engine.game.fold import apply, apply_trusting
from engine.record import values as dgr
from engine.record.moves import move_from
from engine.record.opening import Opening, deal_of, opening_of
from engine.record.text import move_text
from engine.record.values import STANDS, NoteMove, Record, RecordError, RecordHand, action_of
from engine.state import events
from engine.state.counting import Count
from engine.state.events import Action, Adjust, Event, Seat, Swap
from engine.state.match import Game, Phase, State
from engine.state.outcomes import Forfeited, HandOver, Irregular, MatchOver, Outcome, Reason, Scored, Swapped
from engine.state.problems import Weight
from engine.state.words import describe

# Limits on the time and memory that a record can take.
MAX_MOVES = 20_000  # A long match of fifty hands of Super has 15,000.
MAX_ON_TABLE = 400  # Two double-eighteen sets have 380 tiles.
# Open ends, summed over all plays. Each takes up to 1 us. 20,000 plays with two double-eighteen sets and every double
# branching reach 800,000.
MAX_ENDS = 1_000_000
MAX_GIVEN = 2_000  # Bonuses and adjustments. Each later `Game` holds all earlier scores.
_TIE = ": its tie is decided by tiles of which only the pips are known"
_SHOWN = (Weight.DOUBTFUL, Weight.ILLEGAL)  # Tolerated for the end of a hand, because players have shown their tiles.


@dataclass(frozen=True, slots=True)
class Line:
    """A move of a record and its result.

    Attributes:
        hand: Number of the hand, as in the record.
        seat: Letter of the seat.
        seat_at: Index of the seat.
        place: Place of the move in the record. Line 0 if it was not parsed from a text.
        action: The move in canonical form.
        summed: Count after the move. None before the first tile.
        points: Points that the seat scored by the move, negative for a loss.
        totals: Points of each seat after the move.
        problem: All problems with the move, as text for players. None if there are none.
        outcomes: Outcomes of the move.
        game: Match after the move.
    """

    hand: int
    seat: str
    seat_at: Seat
    place: dgr.Place
    action: str
    summed: Count | None
    points: int
    totals: tuple[int, ...]
    problem: str | None
    outcomes: tuple[Outcome, ...]
    game: Game

    @property
    def count(self) -> int | None:
        """Total of the open ends after the move. None before the first tile."""
        return None if self.summed is None else self.summed.total


@dataclass(frozen=True, slots=True)
class RecordResult:
    """State of the match at the end of a record.

    Attributes:
        hands: Number of hands in the record.
        totals: Points of each seat.
        winner: Letter of the winner. None if there is none.
        over: Whether the match is over.
        problems: Number of moves with a problem, plus 1 if a problem was found after the last move.
        reason: Description of the state of the match.
    """

    hands: int
    totals: tuple[int, ...]
    winner: str | None
    over: bool
    problems: int
    reason: str


@dataclass(frozen=True, slots=True)
class PlayedRecord:
    """A played record.

    Attributes:
        opening: Rules and players.
        lines: A line for each move, in order. Notes without an effect have no line.
        result: State of the match at the end.
        log: Events of the match, for `engine.game.fold.replay`.
    """

    opening: Opening
    lines: tuple[Line, ...]
    result: RecordResult
    log: tuple[Event, ...]


def play_record(record: Record, *, strict: bool = False) -> PlayedRecord:
    """Play a record by the rules that it names.

    Mistakes of players are reported in the lines and raise no exception.

    Args:
        record: The record.
        strict: Whether to reject illegal moves. Otherwise they count and are reported.

    Raises:
        RecordError: If the record is inconsistent (an unknown game or option, a seat without a player), or has too many
            moves, bonuses, tiles on the table or open ends.
    """
    playing = _Playing(opening_of(record, strict=strict))
    playing._apply(events.MatchStart(playing.opening.rules, playing.opening.players))
    for at, hand in enumerate(record.hands):
        playing.play_hand(hand, is_last=at + 1 == len(record.hands))
    return playing.result(len(record.hands))


@dataclass(frozen=True, slots=True)
class MadeMove:
    """A move of a hand, as written. *at* is its index in the hand, *place* that of its turn in the record.

    *is_accepted* is True if a note accepts the move despite its problems.
    """

    at: int
    seat: Seat
    place: dgr.Place
    move: dgr.Move
    is_accepted: bool = False

    @property
    def action(self) -> Action | None:
        """The action that a note stands for. None for any other move."""
        return action_of(self.move, self.seat) if isinstance(self.move, NoteMove) else None


@dataclass(frozen=True, slots=True)
class HandMoves:
    """Moves of a hand in order, with look-ahead.

    Attributes:
        made: All moves except notes without an effect.
        last_shows: For each seat, index of the last move that shows its tiles or pips. -1 for none.
        last_bonuses: For each seat, index of the last move that gives it points for the hand. -1 for none.
        lead_stands: Whether a note before all moves accepts the lead.
    """

    made: tuple[MadeMove, ...]
    last_shows: tuple[int, ...]
    last_bonuses: tuple[int, ...]
    lead_stands: bool = False

    @classmethod
    def of(cls, hand: dgr.RecordHand, opening: Opening) -> Self:
        """Return the moves of a hand, or raise RecordError if a turn names a seat without a player."""
        found: list[MadeMove] = []
        lead_stands = False
        for turn in hand.turns:
            seat = opening.seat(turn.seat, turn.place)
            for move in turn.moves:
                if move == STANDS and found:
                    found[-1] = replace(found[-1], is_accepted=True)
                elif move == STANDS:
                    lead_stands = True
                elif not isinstance(move, NoteMove) or action_of(move, seat) is not None:
                    found.append(MadeMove(len(found), seat, turn.place, move))
        shows, bonuses = [-1] * len(opening.players), [-1] * len(opening.players)
        for made in found:
            if isinstance(made.move, dgr.ShowMove | dgr.ShowPipsMove):
                shows[made.seat] = made.at
            elif isinstance(made.move, dgr.BonusMove):
                bonuses[made.seat] = made.at
        return cls(tuple(found), tuple(shows), tuple(bonuses), lead_stands)

    @property
    def before_lead(self) -> int:
        """Number of moves before the lead: the notes up to the last swap of places, if only notes precede it."""
        notes = takewhile(lambda made: isinstance(made.move, NoteMove), self.made)
        return max((made.at + 1 for made in notes if isinstance(made.action, Swap)), default=0)

    def shows_follow(self, made: MadeMove) -> bool:
        """Return True if any player shows tiles or pips after *made*."""
        return max(self.last_shows) > made.at


@dataclass(frozen=True, slots=True)
class HandFacts:
    """Latest results in a hand, which later moves of a record may repeat.

    Attributes:
        player: Seat that laid the last tile.
        paid: Points that *player* scored, and a victim lost, with the tile.
        lost: Seat that forfeited points because of the last tile, and the points. None if nobody did.
        bonus: Winner of the hand and the points won. None until the hand is counted.
        held: Winner and points of a counted hand, left out of the lines' totals until the record states them.
        promised: Seats, and points for the hand, that the record states before the hand is counted.
        is_sheet: Whether the record has points for the hand, but no plays.
    """

    player: Seat | None = None
    paid: tuple[Scored, ...] = ()
    lost: tuple[Seat, int] | None = None
    bonus: tuple[Seat | None, int] | None = None
    held: tuple[Seat, int] | None = None
    promised: tuple[tuple[Seat, int], ...] = ()
    is_sheet: bool = False

    def after(self, outcomes: tuple[Outcome, ...], made: MadeMove, moves: HandMoves) -> Self:
        """Return the facts after a move with these outcomes."""
        facts = self
        for outcome in outcomes:
            match outcome:
                case Scored(seat=seat, points=points, reason=Reason.PLAY | Reason.STEAL):
                    if seat == facts.player or points < 0:
                        facts = replace(facts, paid=(*facts.paid, outcome))
                    elif facts.lost == (seat, points):
                        facts = replace(facts, lost=None)  # the players accepted a late call
                case Forfeited(seat=seat, points=points):
                    facts = replace(facts, lost=(seat, points))
                case HandOver(result=result):
                    facts = replace(facts, bonus=(result.winner, result.points))
                case Scored(seat=seat, points=points, reason=Reason.BONUS) if moves.last_bonuses[seat] > made.at:
                    facts = replace(facts, held=(seat, points))
                case _:
                    pass
        return facts

    def shown(self, totals: tuple[int, ...]) -> tuple[int, ...]:
        """Return *totals* for a line. Points for the hand are included only from the move that states them."""
        if self.held is None:
            return totals
        winner, points = self.held
        return tuple(total - points if seat == winner else total for seat, total in enumerate(totals))

    def wrong_promises(self, outcomes: tuple[Outcome, ...], players: tuple[str, ...]) -> tuple[str, ...]:
        """Return the problems with points for the hand that the record stated before *outcomes* counted it."""
        if not self.promised or not any(isinstance(outcome, HandOver) for outcome in outcomes):
            return ()
        problems = (self.bonus_problem(seat, points, players) for seat, points in self.promised)
        return tuple(filter(None, problems))

    def _paid_to(self, seat: Seat) -> int:
        return next((paid.points for paid in reversed(self.paid) if paid.seat == seat), 0)

    def called_problem(self, seat: Seat, points: int) -> str | None:
        """Return the problem with `=points` in a game without calls, or None."""
        scored = self._paid_to(seat) if seat == self.player else 0
        return None if points == scored else f"={points} is written, but the play scores {scored}"

    def forfeited_problem(self, game: Game, seat: Seat, points: int) -> str | None:
        """Return the problem with `~points`, or None.

        A record may have `~points` before or after the tile that ends the time to call.
        """
        if not game.rules.call_required:
            return f"~{points} is written, but points count by themselves in this game"
        chance = None if game.hand is None else game.hand.chance
        lost = self.lost
        if chance is not None and not chance.called and chance.seat == seat:
            lost = (seat, chance.points)
        if lost is None or lost[0] != seat:
            return f"~{points} is written, but {game.players[seat]} forfeits nothing"
        return None if lost[1] == points else f"~{points} is written, but {lost[1]} are forfeited"

    def taken_problem(self, game: Game, seat: Seat, victim: Seat, move: dgr.TakenMove) -> str | None:
        """Return the problem with `xC10`, or None. *seat* took the points from *victim*."""
        loss = max(0, -self._paid_to(victim)) if self.player == seat else 0
        chance = None if game.hand is None else game.hand.chance
        if chance is not None and not chance.called and chance.seat == seat and chance.victim == victim:
            loss = chance.loss
        if move.points == loss:
            return None
        name = game.players[victim]
        paid = f"nothing was taken from {name}" if loss == 0 else f"{loss} were taken from {name}"
        return f"x{move.seat}{move.points} is written, but {paid}"

    def bonus_problem(self, seat: Seat, points: int, players: tuple[str, ...]) -> str | None:
        """Return the problem with `+points` for *seat* in a counted hand, or None."""
        assert self.bonus is not None  # the hand is counted
        winner, paid = self.bonus
        if winner == seat:
            return None if points == paid else f"+{points} is written, but the hand pays {paid}"
        return f"+{points} is written, but {'nobody' if winner is None else players[winner]} wins the hand"


@dataclass(slots=True)
class _Playing:
    """State while a record is played.

    Attributes:
        undoable: Number of actions in force and latest results, before each move of the hand that `u` can undo.
        pending: Problems to report in the next line.
        number: Number of the hand.
        given: Number of moves that give points without a play.
        ends: Number of open ends, summed over all plays.
        lead: Seat that leads the hand, if the record names it.
    """

    opening: Opening
    state: State = field(default_factory=State)
    facts: HandFacts = field(default_factory=HandFacts)
    moves: HandMoves = field(default_factory=lambda: HandMoves((), (), ()))
    lines: list[Line] = field(default_factory=list)
    undoable: list[tuple[int, HandFacts]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    number: int = 0
    given: int = 0
    ends: int = 0
    lead: Seat | None = None

    @property
    def game(self) -> Game:
        """The match."""
        assert self.state.game is not None  # the opening was validated, so the match has started
        return self.state.game

    @property
    def _needs_tiles(self) -> bool:
        """True if the hand has a tie that is decided by tiles of which only the pips are known."""
        return self.game.phase is Phase.REVEAL and self.game.hand is not None and None not in self.game.hand.holdings

    def play_hand(self, hand: RecordHand, *, is_last: bool) -> None:
        """Play a hand."""
        dealt, lead = deal_of(self.opening, hand), hand.key("lead")
        self.lead = None if lead is None else self.opening.seat(lead, hand.place)
        self.moves = HandMoves.of(hand, self.opening)
        if len(self.lines) + len(self.moves.made) > MAX_MOVES:
            raise RecordError(hand.place, f"expected at most {MAX_MOVES} moves in a record, found more")
        given = (isinstance(made.move, dgr.BonusMove) or isinstance(made.action, Adjust) for made in self.moves.made)
        self.given += sum(given)
        if self.given > MAX_GIVEN:
            raise RecordError(hand.place, f"expected points to be given at most {MAX_GIVEN} times, found more")
        self._leave_hand()
        if hand.number != self.number + 1:
            self.pending.append(f"hand {self.number + 1} is expected here, this is called hand {hand.number}")
        self.number, self.facts = hand.number, HandFacts()
        self.undoable.clear()
        self._apply(dealt)
        early = self.moves.before_lead
        for made in self.moves.made[:early]:
            self._line(made)
        self._say_lead()
        for made in self.moves.made[early:]:
            self._line(made)
        if hand.closed and self.facts.is_sheet:
            self._leave_hand()
        elif hand.closed and is_last and self._needs_tiles:
            self.pending.append(f"hand {self.number} is not counted{_TIE}")

    def result(self, hands: int) -> PlayedRecord:
        """Return the played record."""
        game = self.game
        over = game.phase is Phase.MATCH_OVER
        winner = None if game.winner is None else self.opening.letters[game.winner]
        problems = sum(line.problem is not None for line in self.lines) + bool(self.pending)
        reason = "; ".join((_standing(game, self.number), *self.pending))
        result = RecordResult(hands, game.totals, winner, over, problems, reason)
        return PlayedRecord(self.opening, tuple(self.lines), result, tuple(self.state.log))

    def _line(self, made: MadeMove) -> None:
        """Play a move and add its line."""
        game_before, facts_before = self.game, self.facts
        if not isinstance(made.move, dgr.UndoMove):
            self.undoable.append((len(self.state.steps), facts_before))
        outcomes = self._move(made)
        self.facts = self.facts.after(outcomes, made, self.moves)
        totals, totals_before = self.facts.shown(self.game.totals), facts_before.shown(game_before.totals)
        self.pending += self.facts.wrong_promises(outcomes, self.game.players)
        is_swap = any(isinstance(outcome, Swapped) for outcome in outcomes)
        self.lines.append(
            Line(
                self.number,
                self.opening.letters[made.seat],
                made.seat,
                made.move.place,
                move_text(made.move),
                self.game.count if self.game.layout.nodes else None,
                0 if is_swap else totals[made.seat] - totals_before[made.seat],
                totals,
                "; ".join(dict.fromkeys(self.pending)) or None,
                outcomes,
                self.game,
            )
        )
        self.pending.clear()

    def _move(self, made: MadeMove) -> tuple[Outcome, ...]:
        """Play a move, and return its outcomes. Its problems are added to those of the next line."""
        seat, move = made.seat, made.move
        match move:
            case dgr.TileMove() | dgr.StackMove():
                return self._lay(made, move)
            case dgr.DrawMove() | dgr.KnockMove() | dgr.DeclineMove():
                return self._take(made, move_from(self.game.layout, self.game.rules, move, seat)[0])
            case dgr.CalledMove(points=points) if self.game.rules.call_required:
                return self._take(made, events.Call(seat, points))
            case dgr.CalledMove(points=points):
                return self._report(self.facts.called_problem(seat, points))
            case dgr.ForfeitedMove(points=points):
                return self._report(self.facts.forfeited_problem(self.game, seat, points))
            case dgr.TakenMove():
                victim = self.opening.seat(move.seat, move.place)
                return self._report(self.facts.taken_problem(self.game, seat, victim, move))
            case dgr.ShowMove(tiles=tiles):
                return self._lay_open(made, events.Reveal(seat, tuple(tile.tile for tile in tiles)))
            case dgr.ShowPipsMove(pips=pips):
                return self._lay_open(made, events.RevealPips(seat, pips))
            case dgr.BonusMove(points=points):
                return self._take_bonus(made, points)
            case dgr.RedealMove():
                outcomes = self._take(made, events.Redeal(events.RedealReason.MISDEAL))
                if outcomes:  # it counts
                    self._say_lead()
                return outcomes
            case dgr.UndoMove(count=count):
                return self._undo(count)
            case NoteMove():
                action = action_of(move, seat, self.opening.letters)
                return () if action is None else self._take(made, action)
            case _:
                assert_never(move)

    def _take(self, made: MadeMove, action: Action) -> tuple[Outcome, ...]:
        return self._apply(action, is_accepted=made.is_accepted)

    def _apply(
        self, action: Action, *, is_accepted: bool = False, trusted: tuple[Weight, ...] = ()
    ) -> tuple[Outcome, ...]:
        """Report the problems of an action and return its other outcomes. Takes the arguments of `apply_trusting`."""
        self.state, outcomes = apply_trusting(self.state, action, is_accepted=is_accepted, trusted=trusted)
        self.pending += (outcome.problem.words for outcome in outcomes if isinstance(outcome, Irregular))
        return tuple(outcome for outcome in outcomes if not isinstance(outcome, Irregular))

    def _report(self, problem: str | None) -> tuple[Outcome, ...]:
        """Report the problem with a move that only repeats a result, if any. Such a move has no outcomes."""
        self.pending += () if problem is None else (problem,)
        return ()

    def _lay(self, made: MadeMove, move: dgr.TileMove | dgr.StackMove) -> tuple[Outcome, ...]:
        """Lay or stack a tile."""
        rules, layout = self.game.rules, self.game.layout
        self.ends += len(layout.ends)
        if len(layout.nodes) >= MAX_ON_TABLE:
            raise RecordError(made.place, f"expected at most {MAX_ON_TABLE} tiles on the table, found more")
        if self.ends > MAX_ENDS:
            raise RecordError(made.place, f"expected fewer open ends on the table: {MAX_ENDS} in all plays together")
        if move.second and rules.copies == 1:
            self._report(f"{move.tile_text} is written, but there is only one set")
        action, remark = move_from(layout, rules, move, made.seat)
        self._report(remark)
        self.facts = replace(self.facts, player=made.seat, paid=(), lost=None)
        return self._take(made, action)

    def _lay_open(self, made: MadeMove, action: events.Reveal | events.RevealPips) -> tuple[Outcome, ...]:
        """Show a player's tiles.

        Showing tiles ends a hand that is still in play. If exactly one player shows nothing in this or a later move,
        that player is out.
        """
        game, hand = self.game, self.game.hand
        ended: tuple[Outcome, ...] = ()
        if hand is not None and game.phase is Phase.PLAY:
            hidden = [Seat(seat) for seat, last in enumerate(self.moves.last_shows) if last < made.at]
            ended = self._apply(events.Domino(hidden[0]) if len(hidden) == 1 else events.HandEnd(), trusted=_SHOWN)
        elif hand is not None and hand.out == action.seat and not _shows_something(action):
            return ()  # A player who is out may show an empty hand.
        return (*ended, *self._take(made, action))

    def _take_bonus(self, made: MadeMove, points: int) -> tuple[Outcome, ...]:
        """Compare `+20` with the points for the hand. If the hand cannot be counted, score the points as written.

        If tiles are shown later in the record, the comparison is made when the hand is counted.
        """
        seat = made.seat
        outcomes: tuple[Outcome, ...] = ()
        if self.facts.bonus is None and not self.moves.shows_follow(made):
            outcomes = self._lay_open_empty_hands()
            self.facts = self.facts.after(outcomes, made, self.moves)
        if self.facts.held is not None and self.facts.held[0] == seat:
            self.facts = replace(self.facts, held=None)
        if self.facts.bonus is not None:
            self._report(self.facts.bonus_problem(seat, points, self.game.players))
            return outcomes
        is_sheet = self.game.phase is Phase.LEAD or self.facts.is_sheet  # a score sheet without plays
        if self.game.phase not in (Phase.PLAY, Phase.REVEAL) and not is_sheet:
            return self._report(f"+{points} is written, but the match is over")
        self.facts = replace(self.facts, is_sheet=is_sheet)
        if self.moves.shows_follow(made):
            self.facts = replace(self.facts, promised=(*self.facts.promised, (seat, points)))
            return ()
        self._report(f"+{points} is taken as written: the hand cannot be counted from what is shown")
        return (*outcomes, *self._apply(events.Adjust(seat, points, "points of the hand, as written")))

    def _lay_open_empty_hands(self) -> tuple[Outcome, ...]:
        """Show the empty hands once a hand is over. Returns the outcomes of the last one."""
        hand = self.game.hand
        outcomes: tuple[Outcome, ...] = ()
        if hand is None or self.game.phase is not Phase.REVEAL:
            return outcomes
        for seat, (holding, size) in enumerate(zip(hand.holdings, hand.sizes, strict=True)):
            if holding is None and size == 0:
                self.state, outcomes = apply(self.state, events.Reveal(Seat(seat), ()))
        return tuple(outcome for outcome in outcomes if not isinstance(outcome, Irregular))

    def _say_lead(self) -> None:
        """Apply the lead that the record names, if any."""
        if self.lead is not None:
            self._apply(events.Lead(self.lead), is_accepted=self.moves.lead_stands)

    def _undo(self, count: int) -> tuple[Outcome, ...]:
        """Undo the last *count* moves of the hand."""
        made = len(self.undoable)
        undone = min(count, made)
        if undone:
            steps, self.facts = self.undoable[made - undone]
            if len(self.state.steps) > steps:
                self.state, _ = apply(self.state, events.Undo(self.state.steps[steps].entry.seq))
            del self.undoable[made - undone :]
        return self._report(None if undone == count else f"{count} moves to undo, but this hand has only {made}")

    def _leave_hand(self) -> None:
        """Abandon a hand that was not counted before the next deal. Its plays keep their points."""
        game = self.game
        if game.hand is None or not game.rules.refereed:
            return
        if game.phase in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
            is_tie = self._needs_tiles
            self._apply(events.Abandon())
            if not self.facts.is_sheet:
                self.pending.append(f"hand {self.number} was not finished{_TIE if is_tie else ''}")


def _shows_something(action: events.Reveal | events.RevealPips) -> bool:
    """Return True if *action* shows a tile or pips."""
    return action.pips > 0 if isinstance(action, events.RevealPips) else bool(action.tiles)


def _standing(game: Game, number: int) -> str:
    """Describe the state of a match."""
    if game.phase is Phase.MATCH_OVER:
        partners = [seat for side in game.sides if game.winner in side for seat in side if seat != game.winner]
        return describe(MatchOver(game.winner, game.totals, partners[0] if partners else None), game.players)
    if game.hand is None:
        return "no hand has been dealt"
    match game.phase:
        case Phase.DEAL:
            return f"hand {number} is counted, the match goes on"
        case Phase.REVEAL:
            hidden = [name for name, shown in zip(game.players, game.hand.holdings, strict=True) if shown is None]
            return f"hand {number} is over but not counted, not shown: {', '.join(hidden) or 'the tiles of a tie'}"
        case _:
            return f"hand {number} is being played" if game.layout.nodes else f"hand {number} has not begun"
