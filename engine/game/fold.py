"""Apply events to a match. A match is a fold over its log. See docs/reference/rules.md 2.6.

The state keeps the match before each action in force. A correction therefore applies only the actions from the
corrected one on again: an undo takes the same short time after any number of events.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from engine.game.closing import exchanged
from engine.game.judge import problems_with
from engine.game.questions import turn
from engine.game.steps import step
from engine.rules.rules import Policy
from engine.state import events
from engine.state.events import Amend, Confirmed, Event, Inferred, Insert, ItStands, Remove, Revision, Seat, Seq, Undo
from engine.state.match import Applied, Entry, Game, State
from engine.state.outcomes import Irregular, Outcome, Problem, ProblemKind, Revised, Swapped, Weight
from engine.value import changed, value

_MARKS = (Inferred, Confirmed)
_REVISIONS = (Undo, Amend, Insert, Remove, ItStands, *_MARKS)


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
    if not isinstance(event, events.Play) and isinstance(event, _REVISIONS):
        return _revise(state, event)
    return apply_trusting(state, event)


def apply_trusting(
    state: State,
    action: events.Action,
    *,
    is_accepted: bool = False,
    trusted: tuple[Weight, ...] = (),
    seq: Seq | None = None,
) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after *action*, and its outcomes, with more tolerance than `apply`.

    An action that counts only because of it is followed by `ItStands` in the log.

    Args:
        state: The state before.
        action: The action.
        is_accepted: Whether the players accepted the action. Its problems are then not reported.
        trusted: Weights of problems despite which the action counts and is reported.
        seq: Number by which later actions refer to this one. None for its index in the log.
    """
    log, game, seq = state.log.with_item(action), state.game, state.next_seq if seq is None else seq
    entry, problems = Entry(seq, action), problems_with(game, action)
    if not problems:
        after, outcomes = step(game, seq, action)
        steps = state.steps.with_item(Applied(entry, game))
        return State(log, steps, after, state.start, state.irregular, state.inferred), outcomes
    worst, is_tolerated = problems[0].weight, problems[0].weight in _tolerated(game, entry)
    if worst is not Weight.IMPOSSIBLE and (is_accepted or (worst in trusted and not is_tolerated)):
        entry, log = Entry(seq, action, accepted=True), log.with_item(ItStands(seq))
    now, outcomes = _take(game, entry, problems)
    if entry.accepted and not is_accepted:
        outcomes = (*(Irregular(seq, problem, stands=True) for problem in problems), *outcomes)
    steps = state.steps.with_item(Applied(entry, game, is_irregular=not entry.accepted))
    irregular = state.irregular if entry.accepted else (*state.irregular, seq)
    return State(log, steps, now, state.start, irregular, state.inferred), outcomes


def problem_with(state: State, event: Event) -> Problem | None:
    """Return the most severe problem with *event*, or None. Its weight determines whether the event would count.

    `Inferred` and `Confirmed` never have a problem. Other revisions have one only if their action is not in force.
    """
    if not isinstance(event, _REVISIONS):
        return next(iter(problems_with(state.game, event)), None)
    if isinstance(event, _MARKS) or _place_of(state, event.seq) is not None:
        return None
    return Problem(ProblemKind.NO_SUCH_ACTION, Weight.IMPOSSIBLE, f"there is no action {event.seq} to change")


def replay(events: Iterable[Event], state: State = State()) -> State:  # noqa: B008 - it is immutable
    """Return the state after *events*, starting from *state* or without a match."""
    for event in events:
        state, _ = apply(state, event)
    return state


def entries(state: State) -> tuple[Entry, ...]:
    """Return the actions in force, in order, with all revisions in the log applied."""
    return tuple([each.entry for each in state.steps])


def entries_in(log: Iterable[Event]) -> tuple[Entry, ...]:
    """Return the actions in force after the events of a *log*, without playing them."""
    found: list[Entry] = []
    for at, event in enumerate(log):
        if isinstance(event, _REVISIONS):
            found = _revised(found, event, Seq(at))
        else:
            found.append(Entry(Seq(at), event))
    return tuple(found)


def history(state: State) -> tuple[ActionResult, ...]:
    """Return each action in force with its outcomes."""
    return tuple([ActionResult(each.entry, _take(each.before, each.entry)[1]) for each in state.steps])


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


def _take(
    game: Game | None, entry: Entry, problems: tuple[Problem, ...] | None = None
) -> tuple[Game | None, tuple[Outcome, ...]]:
    """Return the match after an action, and the outcomes. It has no effect if its worst problem is not tolerated."""
    problems = problems_with(game, entry.action) if problems is None else problems
    stands = not problems or problems[0].weight in _tolerated(game, entry)
    irregular: tuple[Outcome, ...] = ()
    if not entry.accepted or not stands:
        irregular = tuple([Irregular(entry.seq, problem, stands) for problem in problems])
    if not stands:
        return game, irregular
    after, outcomes = step(game, entry.seq, entry.action)
    return after, (*irregular, *outcomes)


def _tolerated(game: Game | None, entry: Entry) -> tuple[Weight, ...]:
    """Return the weights of problems despite which the action counts."""
    if entry.accepted:
        return (Weight.NOTED, Weight.ILLEGAL, Weight.DOUBTFUL)
    starts = entry.action if isinstance(entry.action, events.MatchStart) else game
    is_warned = starts is not None and starts.rules.policy is Policy.WARN
    return (Weight.NOTED, Weight.ILLEGAL) if is_warned else (Weight.NOTED,)


def _revise(state: State, event: Revision) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after a revision, and the outcomes to display."""
    log, seqs = state.log.with_item(event), event.seqs if isinstance(event, _MARKS) else (event.seq,)
    places = [place for seq in seqs if (place := _place_of(state, seq)) is not None]
    if not places:
        problem = problem_with(state, event)
        missing = () if problem is None else (Irregular(state.next_seq, problem, stands=False),)
        return changed(state, log=log), missing
    since = min(places)
    old, steps, game = state.steps[since:], state.steps.until(since), state.steps[since].before
    reported: list[Outcome] = []
    for at, entry in enumerate(_revised([each.entry for each in old], event, state.next_seq)):
        if isinstance(event, _MARKS):  # Marks change no score.
            steps, game = steps.with_item(changed(old[at], entry=entry)), state.game
            continue
        before, (game, outcomes) = game, _take(game, entry)
        faults = [outcome for outcome in outcomes if isinstance(outcome, Irregular)]
        steps = steps.with_item(Applied(entry, before, is_irregular=bool(faults)))
        reported += faults
    gone, new = {each.entry.seq for each in old}, steps[since:]
    irregular = [seq for seq in state.irregular if seq not in gone]
    irregular += (each.entry.seq for each in new if each.is_irregular)
    inferred = [seq for seq in state.inferred if seq not in gone]
    inferred += (each.entry.seq for each in new if each.entry.inferred)
    after = State(log, steps, game, state.start, tuple(irregular), tuple(inferred))
    if isinstance(event, _MARKS):
        return after, ()
    totals = [() if each is None else each.totals for each in (state.game, game)]
    next_turn = None if game is None else turn(game)
    return after, (Revised(totals[0], totals[1]), *reported, *(() if next_turn is None else (next_turn,)))


def _place_of(state: State, seq: Seq) -> int | None:
    return next((at for at in reversed(range(len(state.steps))) if state.steps[at].entry.seq == seq), None)


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
