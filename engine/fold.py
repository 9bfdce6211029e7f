"""The one way in: a match is a fold over its log, so undo, a late correction and recovery are the same replay."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.events import Amend, Event, ItStands, MatchStart, Seq, Undo
from engine.judge import problems_with
from engine.outcomes import Irregular, Outcome, Revised
from engine.problems import Problem, ProblemKind, Weight
from engine.rules import Policy
from engine.state import Entry, Game, State, turn
from engine.steps import step


@dataclass(frozen=True, slots=True)
class Told:
    """One action in force and what followed from it."""

    entry: Entry
    outcomes: tuple[Outcome, ...]


def apply(state: State, event: Event) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after *event*, and everything that players have to be shown.

    Nothing that players do raises: what is refused is in the log and in the outcomes, and changes nothing else.
    """
    log = (*state.log, event)
    match event:
        case Undo() | Amend() | ItStands():
            problem = problem_with(state, event)
            if problem is not None:
                return replace(state, log=log), (Irregular(state.next_seq, problem, stands=False),)
            return _revise(state, log, event)
        case _:
            entry = Entry(state.next_seq, event)
            game, outcomes = _take(state.game, entry)
            irregular = state.irregular
            if any(isinstance(outcome, Irregular) for outcome in outcomes):
                irregular = (*irregular, entry.seq)
            return State(log, (*state.entries, entry), irregular, game), outcomes


def problem_with(state: State, event: Event) -> Problem | None:
    """Return the gravest thing that is wrong with *event*, or None; whether it would stand is its weight."""
    match event:
        case Undo(seq=seq) | Amend(seq=seq) | ItStands(seq=seq):
            if any(entry.seq == seq for entry in state.entries):
                return None
            return Problem(ProblemKind.NO_SUCH_ACTION, Weight.IMPOSSIBLE, f"there is no action {seq} to change")
        case _:
            return next(iter(problems_with(state.game, event)), None)


def replay(events: Iterable[Event]) -> State:
    """Return the state that *events* lead to."""
    state = State()
    for event in events:
        state, _ = apply(state, event)
    return state


def history(state: State) -> tuple[Told, ...]:
    """Return each action in force with what followed from it, as a replay tells it now."""
    game: Game | None = None
    told = []
    for entry in state.entries:
        game, outcomes = _take(game, entry)
        told.append(Told(entry, outcomes))
    return tuple(told)


def _take(game: Game | None, entry: Entry) -> tuple[Game | None, tuple[Outcome, ...]]:
    """Return the match after one action, which may be refused, and what to show."""
    problems = problems_with(game, entry.action)
    if not problems:
        return step(game, entry.seq, entry.action)
    stands = problems[0].weight in _standing(game, entry)
    told: tuple[Outcome, ...] = ()
    if not entry.accepted or not stands:
        told = tuple(Irregular(entry.seq, problem, stands) for problem in problems)
    if not stands:
        return game, told
    after, outcomes = step(game, entry.seq, entry.action)
    return after, (*told, *outcomes)


def _standing(game: Game | None, entry: Entry) -> tuple[Weight, ...]:
    """Return the weights of a problem with which the action stands all the same."""
    if entry.accepted:
        return (Weight.NOTED, Weight.ILLEGAL, Weight.DOUBTFUL)
    rules = entry.action.rules if isinstance(entry.action, MatchStart) else None if game is None else game.rules
    if rules is not None and rules.policy is Policy.WARN:
        return (Weight.NOTED, Weight.ILLEGAL)
    return (Weight.NOTED,)


def _revise(state: State, log: tuple[Event, ...], event: Undo | Amend | ItStands) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state with the record changed and replayed, and what has changed for the players."""
    entries: list[Entry] = []
    for entry in state.entries:
        if isinstance(event, Undo) and entry.seq >= event.seq:
            break
        entries.append(_changed(entry, event) if entry.seq == event.seq else entry)
    game, irregular, told = _refold(tuple(entries), event.seq)
    before = () if state.game is None else state.game.totals
    after = () if game is None else game.totals
    whose = None if game is None else turn(game)
    outcomes = (Revised(before, after), *told, *(() if whose is None else (whose,)))
    return State(log, tuple(entries), irregular, game), outcomes


def _changed(entry: Entry, event: Undo | Amend | ItStands) -> Entry:
    """Return *entry* as the correction has it."""
    if isinstance(event, Amend):
        return Entry(entry.seq, event.action)
    return replace(entry, accepted=True)


def _refold(entries: tuple[Entry, ...], since: Seq) -> tuple[Game | None, tuple[Seq, ...], tuple[Irregular, ...]]:
    """Return the match of *entries*, the seqs of its irregular actions, and the irregularities from *since* on."""
    game: Game | None = None
    irregular: list[Seq] = []
    told: list[Irregular] = []
    for entry in entries:
        game, outcomes = _take(game, entry)
        found = [outcome for outcome in outcomes if isinstance(outcome, Irregular)]
        if found:
            irregular.append(entry.seq)
        if entry.seq >= since:
            told.extend(found)
    return game, tuple(irregular), tuple(told)
