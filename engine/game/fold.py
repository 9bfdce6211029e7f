"""Apply events to a match. A match is a fold over its log, so undo, corrections and recovery all use one replay."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from engine.game.judge import problems_with
from engine.game.seating import exchanged
from engine.game.steps import step
from engine.game.turns import turn
from engine.rules.rules import Policy
from engine.state.events import (
    Action,
    Amend,
    Confirmed,
    Event,
    Inferred,
    Insert,
    ItStands,
    MatchStart,
    Play,
    Remove,
    Revision,
    Seat,
    Seq,
    Undo,
)
from engine.state.match import Game, State
from engine.state.outcomes import Irregular, Outcome, Revised, Swapped
from engine.state.problems import Problem, ProblemKind, Weight
from engine.value import value

_MARKS = (Inferred, Confirmed)
_REVISIONS = (Undo, Amend, Insert, Remove, ItStands, *_MARKS)


@value
class Entry:
    """An action in force.

    Attributes:
        seq: Index in the log. An amended action keeps its index.
        action: The action, with amendments applied.
        accepted: Whether the players accepted it despite a problem.
        inferred: Whether it was inferred and has not been confirmed, accepted or amended since.
    """

    seq: Seq
    action: Action
    accepted: bool = False
    inferred: bool = False


@value
class ActionResult:
    """An action in force and its outcomes."""

    entry: Entry
    outcomes: tuple[Outcome, ...]


def apply(state: State, event: Event) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after *event*, and the outcomes to display.

    Mistakes of players raise no exception. A rejected event is added to the log and reported as `Irregular`, and
    changes nothing else.
    """
    log = state.log
    if not isinstance(event, Play) and isinstance(event, _REVISIONS):
        return _revise(state, event)
    problems = problems_with(state.game, event)
    if not problems:
        game, outcomes = step(state.game, Seq(len(log)), event)
        return State((*log, event), state.irregular, game, state.start, state.inferred), outcomes
    seq = state.next_seq
    game_after, outcomes = _step_with_problems(state.game, Entry(seq, event), problems)
    return State((*log, event), (*state.irregular, seq), game_after, state.start, state.inferred), outcomes


def problem_with(state: State, event: Event) -> Problem | None:
    """Return the most severe problem with *event*, or None. Its weight determines whether the event would count.

    `Inferred` and `Confirmed` never have a problem. Other revisions have one only if their action is not in force.
    """
    if not isinstance(event, _REVISIONS):
        return next(iter(problems_with(state.game, event)), None)
    if isinstance(event, _MARKS) or any(entry.seq == event.seq for entry in entries(state)):
        return None
    return Problem(ProblemKind.NO_SUCH_ACTION, Weight.IMPOSSIBLE, f"there is no action {event.seq} to change")


def replay(events: Iterable[Event]) -> State:
    """Return the state after *events*, starting without a match."""
    state = State()
    for event in events:
        state, _ = apply(state, event)
    return state


def entries(state: State) -> tuple[Entry, ...]:
    """Return the actions in force, in order, with all revisions in the log applied."""
    found: list[Entry] = []
    for at, event in enumerate(state.log):
        if isinstance(event, _REVISIONS):
            found = _revised(found, event, Seq(at))
        else:
            found.append(Entry(Seq(at), event))
    return tuple(found)


def history(state: State) -> tuple[ActionResult, ...]:
    """Return each action in force with its outcomes in a replay of the corrected log."""
    return replayed(state.start, entries(state))[1]


def replayed(game: Game | None, kept: Iterable[Entry]) -> tuple[Game | None, tuple[ActionResult, ...]]:
    """Return the match *game* after the actions *kept*, and each action with its outcomes."""
    results: list[ActionResult] = []
    for entry in kept:
        game, outcomes = _take(game, entry)
        results.append(ActionResult(entry, outcomes))
    return game, tuple(results)


def last_seats(results: Sequence[ActionResult], players: int) -> tuple[tuple[Seat, ...], ...]:
    """Return for each action, and each seat at that time, the seat of the same person at the end of *results*."""
    seats = tuple(Seat(seat) for seat in range(players))
    found: list[tuple[Seat, ...]] = []
    for result in reversed(results):
        found.append(seats)
        for outcome in result.outcomes:
            if isinstance(outcome, Swapped):
                seats = exchanged(seats, outcome.seat, outcome.other)
    return tuple(reversed(found))


def _take(game: Game | None, entry: Entry) -> tuple[Game | None, tuple[Outcome, ...]]:
    """Return the match after one action, which may be rejected, and the outcomes."""
    problems = problems_with(game, entry.action)
    return _step_with_problems(game, entry, problems) if problems else step(game, entry.seq, entry.action)


def _step_with_problems(
    game: Game | None, entry: Entry, problems: tuple[Problem, ...]
) -> tuple[Game | None, tuple[Outcome, ...]]:
    """Return the match and the outcomes after an action with *problems*, most severe first.

    If the most severe one is not tolerated, the action has no effect.
    """
    stands = problems[0].weight in tolerated(game, entry)
    irregular: tuple[Outcome, ...] = ()
    if not entry.accepted or not stands:
        irregular = tuple(Irregular(entry.seq, problem, stands) for problem in problems)
    if not stands:
        return game, irregular
    after, outcomes = step(game, entry.seq, entry.action)
    return after, (*irregular, *outcomes)


def tolerated(game: Game | None, entry: Entry) -> tuple[Weight, ...]:
    """Return the weights of problems despite which the action counts."""
    if entry.accepted:
        return (Weight.NOTED, Weight.ILLEGAL, Weight.DOUBTFUL)
    rules = entry.action.rules if isinstance(entry.action, MatchStart) else None if game is None else game.rules
    if rules is not None and rules.policy is Policy.WARN:
        return (Weight.NOTED, Weight.ILLEGAL)
    return (Weight.NOTED,)


def _revise(state: State, event: Revision) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after a revision and a replay of the log, and the outcomes to display."""
    log = (*state.log, event)
    problem = problem_with(state, event)
    if problem is not None:
        return replace(state, log=log), (Irregular(state.next_seq, problem, stands=False),)
    kept = entries(State(log))
    inferred = tuple(entry.seq for entry in kept if entry.inferred)
    if isinstance(event, _MARKS):  # Marks change no score, so no replay is needed.
        return replace(state, log=log, inferred=inferred), ()
    since = next((at for at, entry in enumerate(kept) if entry.seq in (event.seq, state.next_seq)), len(kept))
    game, irregular, reported = _refold(state.start, kept, since)
    before = () if state.game is None else state.game.totals
    after = () if game is None else game.totals
    next_turn = None if game is None else turn(game)
    outcomes = (Revised(before, after), *reported, *(() if next_turn is None else (next_turn,)))
    return State(log, irregular, game, state.start, inferred), outcomes


def _revised(found: list[Entry], event: Revision, seq: Seq) -> list[Entry]:
    """Return the entries *found* after the revision *event* at *seq*. Revising an unknown action has no effect."""
    if isinstance(event, _MARKS):
        is_inferred = isinstance(event, Inferred)
        return [replace(entry, inferred=is_inferred) if entry.seq in event.seqs else entry for entry in found]
    kept: list[Entry] = []
    for entry in found:
        if entry.seq != event.seq:
            kept.append(entry)
            continue
        match event:
            case Undo():
                return kept
            case Remove():
                pass
            case Amend(action=action):
                kept.append(Entry(entry.seq, action))
            case Insert(action=action):
                kept += (Entry(seq, action), entry)
            case ItStands():
                kept.append(replace(entry, accepted=True, inferred=False))
            case _:
                assert_never(event)
    return kept


def _refold(
    game: Game | None, kept: tuple[Entry, ...], since: int
) -> tuple[Game | None, tuple[Seq, ...], tuple[Irregular, ...]]:
    """Replay the entries *kept*.

    Returns:
        The game, the seqs of all irregular actions, and the irregularities of the entries from index *since* on.
    """
    game, results = replayed(game, kept)
    faults = [[outcome for outcome in result.outcomes if isinstance(outcome, Irregular)] for result in results]
    irregular = tuple(entry.seq for entry, found in zip(kept, faults, strict=True) if found)
    return game, irregular, tuple(fault for found in faults[since:] for fault in found)
