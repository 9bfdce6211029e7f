"""Play a game record by the rules, with a line for every move, its score and its problems.

Recorded results, such as `=10` or `+20`, are compared with the score.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import assert_never

from engine.game.fold import apply, apply_trusting
from engine.record import text as dgr
from engine.record.conversion import STANDS, Opening, Outcomes, action_of, deal_of, move_from, opening_of
from engine.record.text import NoteMove, Record, RecordError, RecordHand
from engine.state import events
from engine.state.descriptions import describe
from engine.state.events import Action, Adjust, Event, Seat, Swap
from engine.state.layout import Count
from engine.state.match import Game, Phase, State
from engine.state.outcomes import Forfeited, HandOver, Irregular, MatchOver, Reason, Scored, Swapped, Weight

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
    """A move of a record and its result. The totals, the count and the match are those after the move.

    Attributes:
        hand: Number of the hand, as in the record.
        seat: Letter of the player, and *seat_at* the seat.
        place: Place in the record; line 0 if it was not parsed from a text.
        action: The move in canonical form.
        summed: Count after the move. None before the first tile.
        points: Points that the seat scored by the move, negative for a loss.
        totals: Points of each seat.
        problem: All problems with the move, as text for players. None if there are none.
        outcomes: Outcomes of the move.
        game: The match.
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
    outcomes: Outcomes
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
        winner: Letter of the winner. None if nobody has won.
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
    """A played record, with a line for each move, except for notes without an effect.

    Attributes:
        opening: Rules and players.
        lines: A line for each move.
        result: State of the match at the end.
        log: Events of the match, for `replay`.
    """

    opening: Opening
    lines: tuple[Line, ...]
    result: RecordResult
    log: tuple[Event, ...]


def play_record(record: Record, *, strict: bool = False) -> PlayedRecord:
    """Play a record by the rules that it names.

    Mistakes of players are reported in the lines and raise no exception.

    Args:
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


@dataclass(slots=True)
class _Made:
    """A move of a hand, as written."""

    at: int  # index in the hand
    seat: Seat
    place: dgr.Place  # of its turn in the record
    move: dgr.Move
    action: Action | None  # that a note stands for; None for any other move
    is_accepted: bool = False  # whether a note accepts the move despite its problems


@dataclass(frozen=True, slots=True)
class _HandFacts:
    """Latest results in a hand, which later moves of a record may repeat."""

    player: Seat | None = None  # seat that laid the last tile
    paid: tuple[Scored, ...] = ()  # points that *player* scored, and a victim lost, with the tile
    lost: tuple[Seat, int] | None = None  # seat that forfeited points because of the last tile, and the points
    bonus: tuple[Seat | None, int] | None = None  # winner of the hand and the points won, once it is counted
    held: tuple[Seat, int] | None = None  # the same, left out of the lines' totals until the record states them
    promised: tuple[tuple[Seat, int], ...] = ()  # points for the hand that are stated before it is counted
    is_sheet: bool = False  # whether the record has points for the hand, but no plays

    def paid_to(self, seat: Seat) -> int:
        return next((paid.points for paid in reversed(self.paid) if paid.seat == seat), 0)

    def shown(self, totals: tuple[int, ...]) -> tuple[int, ...]:
        """Return *totals* for a line. Points for the hand are included only from the move that states them."""
        winner, points = self.held or (None, 0)
        return tuple(total - points if seat == winner else total for seat, total in enumerate(totals))


@dataclass(slots=True)
class _Playing:
    """State while a record is played."""

    opening: Opening
    state: State = field(default_factory=State)
    facts: _HandFacts = field(default_factory=_HandFacts)
    lines: list[Line] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)  # problems to report in the next line
    given: int = 0  # moves that give points without a play
    ends: int = 0  # open ends, summed over all plays
    number: int = 0  # number of the hand
    lead: Seat | None = None  # seat that leads the hand, if the record names it
    lead_stands: bool = False  # whether a note before all moves accepts the lead
    moves: list[_Made] = field(default_factory=list)  # of the hand, except notes without an effect
    last_shows: dict[Seat, int] = field(default_factory=dict)  # index of the last move that shows the seat's hand
    last_bonuses: dict[Seat, int] = field(default_factory=dict)  # index of the last move that gives it points for it
    # Number of actions in force and latest results, before each move of the hand that `u` can undo.
    undoable: list[tuple[int, _HandFacts]] = field(default_factory=list)

    @property
    def game(self) -> Game:
        assert self.state.game is not None  # the opening was validated, so the match has started
        return self.state.game

    @property
    def _needs_tiles(self) -> bool:
        """True if the hand has a tie that is decided by tiles of which only the pips are known."""
        return self.game.phase is Phase.REVEAL and self.game.hand is not None and None not in self.game.hand.holdings

    def play_hand(self, hand: RecordHand, *, is_last: bool) -> None:
        dealt, lead = deal_of(self.opening, hand), hand.key("lead")
        self.lead = None if lead is None else self.opening.seat(lead, hand.place)
        self._read_moves(hand)
        self._leave_hand()
        if hand.number != self.number + 1:
            self.pending.append(f"hand {self.number + 1} is expected here, this is called hand {hand.number}")
        self.number, self.facts = hand.number, _HandFacts()
        self.undoable.clear()
        self._apply(dealt)
        # Notes before the lead, up to the last swap of places, are applied before it.
        notes = takewhile(lambda made: isinstance(made.move, NoteMove), self.moves)
        early = max((made.at + 1 for made in notes if isinstance(made.action, Swap)), default=0)
        for made in self.moves[:early]:
            self._line(made)
        self._name_lead()
        for made in self.moves[early:]:
            self._line(made)
        if hand.closed and self.facts.is_sheet:
            self._leave_hand()
        elif hand.closed and is_last and self._needs_tiles:
            self.pending.append(f"hand {self.number} is not counted{_TIE}")

    def _read_moves(self, hand: RecordHand) -> None:
        """Set the moves of a hand, or raise RecordError if there are too many, or one is of a seat without a player."""
        self.moves, self.lead_stands = [], False
        for turn in hand.turns:
            seat = self.opening.seat(turn.seat, turn.place)
            for move in turn.moves:
                action = action_of(move, seat, self.opening.letters) if isinstance(move, NoteMove) else None
                if move == STANDS and self.moves:
                    self.moves[-1].is_accepted = True
                elif move == STANDS:
                    self.lead_stands = True
                elif action is not None or not isinstance(move, NoteMove):
                    self.moves.append(_Made(len(self.moves), seat, turn.place, move, action))
        shows = (made for made in self.moves if isinstance(made.move, dgr.ShowMove | dgr.ShowPipsMove))
        bonuses = [made for made in self.moves if isinstance(made.move, dgr.BonusMove)]
        self.last_shows, self.last_bonuses = ({made.seat: made.at for made in each} for each in (shows, bonuses))
        if len(self.lines) + len(self.moves) > MAX_MOVES:
            raise RecordError(hand.place, f"expected at most {MAX_MOVES} moves in a record, found more")
        self.given += len(bonuses) + sum(isinstance(made.action, Adjust) for made in self.moves)
        if self.given > MAX_GIVEN:
            raise RecordError(hand.place, f"expected points to be given at most {MAX_GIVEN} times, found more")

    def result(self, hands: int) -> PlayedRecord:
        game = self.game
        winner = None if game.winner is None else self.opening.letters[game.winner]
        problems = sum(line.problem is not None for line in self.lines) + bool(self.pending)
        reason = "; ".join((_standing(game, self.number), *self.pending))
        result = RecordResult(hands, game.totals, winner, game.phase is Phase.MATCH_OVER, problems, reason)
        return PlayedRecord(self.opening, tuple(self.lines), result, tuple(self.state.log))

    def _line(self, made: _Made) -> None:
        totals_before = self.facts.shown(self.game.totals)
        if not isinstance(made.move, dgr.UndoMove):
            self.undoable.append((len(self.state.steps), self.facts))
        outcomes = self._move(made)
        self._update_facts(made, outcomes)
        if self.facts.promised and any(isinstance(outcome, HandOver) for outcome in outcomes):
            self.pending += filter(None, (self._bonus_problem(*promised) for promised in self.facts.promised))
        is_swap = any(isinstance(outcome, Swapped) for outcome in outcomes)
        totals = self.facts.shown(self.game.totals)
        self.lines.append(
            Line(
                hand=self.number,
                seat=self.opening.letters[made.seat],
                seat_at=made.seat,
                place=made.move.place,
                action=dgr.move_text(made.move),
                summed=self.game.count if self.game.layout.nodes else None,
                points=0 if is_swap else totals[made.seat] - totals_before[made.seat],
                totals=totals,
                problem="; ".join(dict.fromkeys(self.pending)) or None,
                outcomes=outcomes,
                game=self.game,
            )
        )
        self.pending.clear()

    def _update_facts(self, made: _Made, outcomes: Outcomes) -> None:
        """Update the latest results after a move."""
        for outcome in outcomes:
            facts = self.facts
            match outcome:
                case Scored(seat=seat, points=points, reason=Reason.PLAY | Reason.STEAL):
                    if seat == facts.player or points < 0:
                        self.facts = replace(facts, paid=(*facts.paid, outcome))
                    elif facts.lost == (seat, points):
                        self.facts = replace(facts, lost=None)  # the players accepted a late call
                case Forfeited(seat=seat, points=points):
                    self.facts = replace(facts, lost=(seat, points))
                case HandOver(result=result):
                    self.facts = replace(facts, bonus=(result.winner, result.points))
                case Scored(seat=seat, points=points, reason=Reason.BONUS) if self.last_bonuses.get(seat, -1) > made.at:
                    self.facts = replace(facts, held=(seat, points))
                case _:
                    pass

    def _move(self, made: _Made) -> Outcomes:
        """Play a move, and return its outcomes. Its problems are added to those of the next line."""
        seat, move, rules = made.seat, made.move, self.game.rules
        match move:
            case dgr.TileMove() | dgr.StackMove():
                return self._lay(made, move)
            case dgr.DrawMove() | dgr.KnockMove() | dgr.DeclineMove():
                return self._take(made, move_from(self.game.layout, rules, move, seat)[0])
            case dgr.CalledMove(points=points) if rules.call_required:
                return self._take(made, events.Call(seat, points))
            case dgr.CalledMove(points=points):
                scored = self.facts.paid_to(seat) if seat == self.facts.player else 0
                return self._report(f"={points} is written, but the play scores {scored}", unless=points == scored)
            case dgr.ForfeitedMove(points=points):
                return self._check_forfeit(seat, points)
            case dgr.TakenMove():
                # Check `xC10`, points that *seat* took.
                game, victim = self.game, self.opening.seat(move.seat, move.place)
                loss = max(0, -self.facts.paid_to(victim)) if self.facts.player == seat else 0
                chance = None if game.hand is None else game.hand.chance
                if chance is not None and not chance.called and (chance.seat, chance.victim) == (seat, victim):
                    loss = chance.loss
                taken = f"{loss} were taken" if loss else "nothing was taken"
                problem = f"x{move.seat}{move.points} is written, but {taken} from {game.players[victim]}"
                return self._report(problem, unless=move.points == loss)
            case dgr.ShowMove(tiles=tiles):
                return self._lay_open(made, events.Reveal(seat, tuple(tile.tile for tile in tiles)))
            case dgr.ShowPipsMove(pips=pips):
                return self._lay_open(made, events.RevealPips(seat, pips))
            case dgr.BonusMove(points=points):
                return self._take_bonus(made, points)
            case dgr.RedealMove():
                outcomes = self._take(made, events.Redeal(events.RedealReason.MISDEAL))
                if outcomes:  # it counts
                    self._name_lead()
                return outcomes
            case dgr.UndoMove(count=count):
                return self._undo(count)
            case NoteMove():
                return () if made.action is None else self._take(made, made.action)
            case _:
                assert_never(move)

    def _take(self, made: _Made, action: Action) -> Outcomes:
        return self._apply(action, is_accepted=made.is_accepted)

    def _apply(self, action: Action, *, is_accepted: bool = False, trusted: tuple[Weight, ...] = ()) -> Outcomes:
        """Report the problems of an action and return its other outcomes. Takes the arguments of `apply_trusting`."""
        self.state, outcomes = apply_trusting(self.state, action, is_accepted=is_accepted, trusted=trusted)
        self.pending += (outcome.problem.text for outcome in outcomes if isinstance(outcome, Irregular))
        return tuple(outcome for outcome in outcomes if not isinstance(outcome, Irregular))

    def _report(self, problem: str | None, *, unless: bool = False) -> Outcomes:
        """Report the *problem*, if any, of a move that only repeats a result. Such a move has no outcomes."""
        self.pending += () if problem is None or unless else (problem,)
        return ()

    def _lay(self, made: _Made, move: dgr.TileMove | dgr.StackMove) -> Outcomes:
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

    def _check_forfeit(self, seat: Seat, points: int) -> Outcomes:
        """Check `~points`, which a record may have before or after the tile that ends the time to call."""
        game, written = self.game, f"~{points} is written, but"
        if not game.rules.call_required:
            return self._report(f"{written} points count by themselves in this game")
        chance = None if game.hand is None else game.hand.chance
        lost = self.facts.lost
        if chance is not None and not chance.called and chance.seat == seat:
            lost = (seat, chance.points)
        if lost is None or lost[0] != seat:
            return self._report(f"{written} {game.players[seat]} forfeits nothing")
        return self._report(f"{written} {lost[1]} are forfeited", unless=points == lost[1])

    def _bonus_problem(self, seat: Seat, points: int) -> str | None:
        """Return the problem with `+points` for *seat* in a counted hand, or None."""
        assert self.facts.bonus is not None  # the hand is counted
        winner, paid = self.facts.bonus
        if winner == seat:
            return None if points == paid else f"+{points} is written, but the hand pays {paid}"
        return f"+{points} is written, but {'nobody' if winner is None else self.game.players[winner]} wins the hand"

    def _lay_open(self, made: _Made, action: events.Reveal | events.RevealPips) -> Outcomes:
        """Show a player's tiles."""
        # Showing tiles ends a hand that is still in play. If exactly one player shows nothing in this or a later move,
        # that player is out.
        game, hand = self.game, self.game.hand
        shown = action.pips if isinstance(action, events.RevealPips) else action.tiles
        ended: Outcomes = ()
        if hand is not None and game.phase is Phase.PLAY:
            seats = map(Seat, range(len(game.players)))
            hidden = [seat for seat in seats if self.last_shows.get(seat, -1) < made.at]
            ended = self._apply(events.Domino(hidden[0]) if len(hidden) == 1 else events.HandEnd(), trusted=_SHOWN)
        elif hand is not None and hand.out == action.seat and not shown:
            return ()  # A player who is out may show an empty hand.
        return (*ended, *self._take(made, action))

    def _take_bonus(self, made: _Made, points: int) -> Outcomes:
        """Compare `+20` with the points for the hand. If the hand cannot be counted, score the points as written."""
        # If tiles are shown later in the record, the comparison is made when the hand is counted.
        seat = made.seat
        shows_follow = max(self.last_shows.values(), default=-1) > made.at
        outcomes: Outcomes = ()
        if self.facts.bonus is None and not shows_follow:
            outcomes = self._lay_open_empty_hands()
            self._update_facts(made, outcomes)
        if self.facts.held is not None and self.facts.held[0] == seat:
            self.facts = replace(self.facts, held=None)
        if self.facts.bonus is not None:
            self._report(self._bonus_problem(seat, points))
            return outcomes
        is_sheet = self.game.phase is Phase.LEAD or self.facts.is_sheet  # a score sheet without plays
        if self.game.phase not in (Phase.PLAY, Phase.REVEAL) and not is_sheet:
            return self._report(f"+{points} is written, but the match is over")
        self.facts = replace(self.facts, is_sheet=is_sheet)
        if shows_follow:
            self.facts = replace(self.facts, promised=(*self.facts.promised, (seat, points)))
            return ()
        self._report(f"+{points} is taken as written: the hand cannot be counted from what is shown")
        return (*outcomes, *self._apply(events.Adjust(seat, points, "points of the hand, as written")))

    def _lay_open_empty_hands(self) -> Outcomes:
        """Show the empty hands once a hand is over. Returns the outcomes of the last one."""
        hand = self.game.hand
        outcomes: Outcomes = ()
        if hand is None or self.game.phase is not Phase.REVEAL:
            return outcomes
        for seat, (holding, size) in enumerate(zip(hand.holdings, hand.sizes, strict=True)):
            if holding is None and size == 0:
                self.state, outcomes = apply(self.state, events.Reveal(Seat(seat), ()))
        return tuple(outcome for outcome in outcomes if not isinstance(outcome, Irregular))

    def _name_lead(self) -> None:
        """Apply the lead that the record names, if any."""
        if self.lead is not None:
            self._apply(events.Lead(self.lead), is_accepted=self.lead_stands)

    def _undo(self, count: int) -> Outcomes:
        made = len(self.undoable)
        undone = min(count, made)
        if undone:
            steps, self.facts = self.undoable[made - undone]
            if len(self.state.steps) > steps:
                self.state, _ = apply(self.state, events.Undo(self.state.steps[steps].entry.seq))
            del self.undoable[made - undone :]
        return self._report(f"{count} moves to undo, but this hand has only {made}", unless=undone == count)

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
