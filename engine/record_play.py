"""Plays a game record by the rules: a line for every move, with what it scored and what is wrong with it."""

from dataclasses import dataclass, field, replace

from engine.counting import Count
from engine.events import (
    Action,
    Call,
    Decline,
    Draw,
    Event,
    Knock,
    Lead,
    Play,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Seat,
    Stack,
)
from engine.outcomes import MatchOver, Outcome
from engine.record import (
    CalledMove,
    DeclineMove,
    DrawMove,
    ForfeitedMove,
    KnockMove,
    NoteMove,
    Record,
    RecordError,
    RecordHand,
    RedealMove,
    ShowMove,
    ShowPipsMove,
    StackMove,
    TakenMove,
    TileMove,
    UndoMove,
    action_of,
    find_spot,
    find_stacked,
)
from engine.record_checks import Facts, called_problem, forfeited_problem, taken_problem, told
from engine.record_ends import finish_hand, lay_open, leave_hand, take_bonus
from engine.record_steps import Step, Steps, steps_of
from engine.record_table import SHOWN, Mark, RecordTable, Taken
from engine.record_text import Opening, deal_of, format_move, lead_of, opening_of
from engine.state import Game, Phase
from engine.tiles import Tile
from engine.words import describe

MAX_MOVES = 20_000  # a long match of fifty hands of super is 15 000; every move is judged against all of its hand


@dataclass(frozen=True, slots=True)
class Line:
    """One move of a record and what it led to.

    Attributes:
        hand: Number of the hand, as the record calls it.
        seat: Letter of the seat.
        seat_at: The seat as the game counts it.
        action: The move in its canonical form.
        summed: The open ends and their sum after it; None before the first tile.
        points: What its seat got by it, below zero for what it lost.
        totals: The points of each seat after it.
        problem: All that is wrong with it, in the players' words; None for nothing.
        outcomes: What followed from it.
        game: The match after it.
    """

    hand: int
    seat: str
    seat_at: Seat
    action: str
    summed: Count | None
    points: int
    totals: tuple[int, ...]
    problem: str | None
    outcomes: tuple[Outcome, ...]
    game: Game

    @property
    def count(self) -> int | None:
        """The sum of the open ends after the move; None before the first tile."""
        return None if self.summed is None else self.summed.total


@dataclass(frozen=True, slots=True)
class RecordResult:
    """How a record leaves the match.

    Attributes:
        hands: How many hands it has.
        totals: The points of each seat.
        winner: Letter of the winner; None while there is none.
        over: Whether the match is over.
        problems: How many moves have a problem.
        reason: Where the match stands, in words.
    """

    hands: int
    totals: tuple[int, ...]
    winner: str | None
    over: bool
    problems: int
    reason: str


@dataclass(frozen=True, slots=True)
class PlayedRecord:
    """A record that has been played.

    Attributes:
        opening: Its game and its players.
        lines: One for each move, in order; a note only has one when it does something.
        result: How it leaves the match.
        log: What happened as events, for `engine.fold.replay`.
    """

    opening: Opening
    lines: tuple[Line, ...]
    result: RecordResult
    log: tuple[Event, ...]


def play_record(record: Record, *, strict: bool = False) -> PlayedRecord:
    """Play a record by the rules that it names.

    What players did wrong is part of the lines, never an exception.

    Args:
        record: What was written.
        strict: Refuse what is against the rules, so that it changes nothing; else it is reported and stands.

    Raises:
        RecordError: If the record makes no sense by itself: an unknown game or option, a seat where nobody sits, too
            many moves.
    """
    playing = _Playing(opening_of(record, strict=strict))
    playing.table.take(playing.opening.start)
    for at, hand in enumerate(record.hands):
        playing.play_hand(hand, is_last=at + 1 == len(record.hands))
    return playing.result(len(record.hands))


@dataclass(slots=True)
class _Playing:
    """A record while it is played; *marks* are those of the moves of the hand that `u` can take back."""

    opening: Opening
    table: RecordTable = field(default_factory=RecordTable)
    facts: Facts = field(default_factory=Facts)
    lines: list[Line] = field(default_factory=list)
    marks: list[tuple[Mark, Facts]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    number: int = 0
    lead: Seat | None = None

    @property
    def game(self) -> Game:
        """The match, which has started."""
        assert self.table.game is not None  # the opening can be dealt, so the start stands
        return self.table.game

    def play_hand(self, hand: RecordHand, *, is_last: bool) -> None:
        """Play one hand."""
        dealt, self.lead = deal_of(self.opening, hand), lead_of(self.opening, hand)
        steps = steps_of(self.opening, hand)
        if len(self.lines) + len(steps.moves) > MAX_MOVES:
            raise RecordError(hand.place, f"expected at most {MAX_MOVES} moves in a record, found more")
        self.pending += leave_hand(self.table, self.number)
        if hand.number != self.number + 1:
            self.pending.append(f"hand {self.number + 1} is expected here, this is called hand {hand.number}")
        self.number, self.facts = hand.number, Facts()
        self.marks.clear()
        self.pending += self.table.take(dealt).problems
        self.pending += self._say_lead().problems
        for step in steps.moves:
            self._line(step, steps)
        if hand.closed or not is_last:
            finish_hand(self.table)

    def result(self, hands: int) -> PlayedRecord:
        """Return all that was played."""
        game = self.game
        over = game.phase is Phase.MATCH_OVER
        winner = None if game.winner is None else self.opening.letters[game.winner]
        problems = sum(line.problem is not None for line in self.lines) + bool(self.pending)
        reason = "; ".join((_standing(game, self.number), *self.pending))
        result = RecordResult(hands, game.totals, winner, over, problems, reason)
        return PlayedRecord(self.opening, tuple(self.lines), result, tuple(self.table.log))

    def _line(self, step: Step, steps: Steps) -> None:
        """Play one move and add its line."""
        before, mark = self.facts.shown(self.game.totals), (self.table.mark(), self.facts)
        if isinstance(step.move, UndoMove):
            taken = self._undo(step.move.count)
        else:
            self.marks.append(mark)
            taken = self._move(step, steps)
            self.facts = self.facts.after(taken.outcomes, step, steps)
        totals = self.facts.shown(self.game.totals)
        wrong = self.facts.wrong_promises(taken.outcomes, self.game.players)
        problems = dict.fromkeys((*self.pending, *taken.problems, *wrong))
        self.pending.clear()
        self.lines.append(
            Line(
                self.number,
                step.letter,
                step.seat,
                format_move(step.move),
                self.game.count if self.game.layout.nodes else None,
                totals[step.seat] - before[step.seat],
                totals,
                "; ".join(problems) or None,
                taken.outcomes,
                self.game,
            )
        )

    def _move(self, step: Step, steps: Steps) -> Taken:
        """Do what a move says."""
        seat, move = step.seat, step.move
        match move:
            case TileMove() | StackMove():
                return self._lay(step, move)
            case DrawMove(count=count, forced=forced, tiles=tiles):
                faces = tuple(Tile.of(tile.inner, tile.outer) for tile in tiles or ())
                return self._take(step, Draw(seat, count, forced, faces if len(faces) == count else ()))
            case KnockMove():
                return self._take(step, Knock(seat))
            case DeclineMove():
                return self._take(step, Decline(seat))
            case CalledMove(points=points):
                if self.game.rules.call_required:
                    return self._take(step, Call(seat, points))
                return told(called_problem(self.facts, seat, points))
            case ForfeitedMove(points=points):
                return told(forfeited_problem(self.game, seat, points))
            case TakenMove(seat=victim, points=points):
                return told(taken_problem(self.game, self.facts, (seat, self.opening.seat(victim, move.place)), move))
            case _:
                return self._end_move(step, steps)

    def _end_move(self, step: Step, steps: Steps) -> Taken:
        """Do what a move says that ends a hand, or is a note."""
        seat, move = step.seat, step.move
        match move:
            case ShowMove(tiles=tiles):
                shown = tuple(Tile.of(tile.inner, tile.outer) for tile in tiles)
                return lay_open(self.table, Reveal(seat, shown), step, steps)
            case ShowPipsMove(pips=pips):
                return lay_open(self.table, RevealPips(seat, pips), step, steps)
            case RedealMove():
                taken = self._take(step, Redeal(RedealReason.MISDEAL))
                lead = self._say_lead() if taken.stands else Taken()
                return replace(taken, problems=(*taken.problems, *lead.problems))
            case NoteMove():
                action = action_of(move, seat)
                return Taken() if action is None else self._take(step, action)
            case _:
                self.facts, taken = take_bonus(self.table, self.facts, step, steps)
                return taken

    def _lay(self, step: Step, move: TileMove | StackMove) -> Taken:
        """Lay a tile, and remember what it scored."""
        tile, rules, layout = Tile.of(move.inner, move.outer), self.game.rules, self.game.layout
        remarks = []
        if move.second and rules.copies == 1:
            remarks.append(f"{move.tile_text} is written, but there is only one set")
        action: Action
        if isinstance(move, StackMove):
            action = Stack(step.seat, tile, find_stacked(layout, move))
        else:
            found = find_spot(layout, rules, move)
            remarks += [] if found.remark is None else [found.remark]
            action = Play(step.seat, tile, found.spot, move.inner)
        taken = self._take(step, action)
        self.facts = self.facts.with_play(step.seat)
        return replace(taken, problems=(*remarks, *taken.problems))

    def _take(self, step: Step, action: Action) -> Taken:
        return self.table.take(action, is_accepted=step.is_accepted)

    def _say_lead(self) -> Taken:
        """Say who leads, where that is written."""
        return Taken() if self.lead is None else self.table.take(Lead(self.lead), trusted=SHOWN)

    def _undo(self, count: int) -> Taken:
        """Take back the last moves of the hand."""
        made = len(self.marks)
        undone = min(count, made)
        if undone:
            mark, self.facts = self.marks[made - undone]
            self.table.undo(mark)
            del self.marks[made - undone :]
        return told(None if undone == count else f"{count} moves to undo, but this hand has only {made}")


def _standing(game: Game, number: int) -> str:
    """Return where a match stands, in words."""
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
