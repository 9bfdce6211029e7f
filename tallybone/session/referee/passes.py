"""Judge doubtful passes: sounds that may have been a knock of the player to move.

A doubtful pass is a question that does not hold up the game, and the next action answers it. The number of passes
before that action follows from the sounds, the side of the hand and the rules. If they do not decide, the likeliest
number is entered and marked as inferred. The players, or the sides and rules of later plays, confirm or correct it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from engine import (
    Amend,
    Call,
    Confirmed,
    Decline,
    Draw,
    Entry,
    Event,
    Game,
    Inferred,
    Insert,
    Irregular,
    ItStands,
    Knock,
    NodeId,
    Phase,
    Play,
    ProblemKind,
    Remove,
    Seat,
    Seq,
    State,
    apply,
    entries,
    history,
    problem_with,
    replay,
)
from engine.phrases import Phrase, both, phrase
from tallybone.session.referee.belief import NEVER, SURE, log_history, log_legality, log_side, shares, ways_of
from tallybone.session.referee.open_hands import are_exposed
from tallybone.session.referee.places import Places, UndecidedPasses, Waiting
from tallybone.session.referee.questions import Ambiguity, Question, Resolution

EnteredAction: TypeAlias = Play | Call | Draw | Knock | Decline
# Probability of a pass in files of versions that did not store it.
_UNKNOWN_CHANCE = 0.5
# Minimum share of an answer for it to be offered.
_MIN_SHARE = 0.01
# Minimum probability of a pass by a doubtful sound. It keeps the question open at any confidence.
_LEAST_CHANCE = 0.01
# Probability of a pass that nobody heard or entered, before the side of the next hand is known.
_UNHEARD = 0.02
# Log odds of an entered action that is against the rules.
_IRREGULAR = math.log(0.005)
# Actions after a doubtful pass that belong to another player if there was none.
_BY_TURN = (Play, Call, Draw, Knock, Decline)


def with_doubt(places: Places, state: State, seat: Seat | None, chance: float) -> Places:
    """Return the places after a doubtful sound. They are unchanged if no pass of *seat* may have caused it.

    Args:
        places: The tracked layout.
        state: The match.
        seat: Player from whose side the sound came, or None if unknown.
        chance: Probability that it was a pass.
    """
    turn, chance = _turn(state), max(chance, _LEAST_CHANCE)
    if turn < 0 or places.knocked_early is not None:
        return places
    if places.maybe_passed is None:
        is_legal = seat in (None, turn) and problem_with(state, Knock(turn)) is None
        return replace(places, maybe_passed=turn, pass_chances=(chance,)) if is_legal else places
    chances = _chances(places)
    if seat == places.maybe_passed:
        return replace(places, pass_chances=(max(chances[0], chance), *chances[1:]))
    after = _after_passes(state, len(chances))
    is_next = len(after) > len(chances) and seat in (None, _turn(after[-1]))
    return replace(places, pass_chances=(*chances, chance)) if is_next else places


def judge_maybe_passed(places: Places, state: State, seat: Seat) -> Resolution | Question:
    """Return the question whether a player passed. Drops the doubt if a pass is irregular now.

    If the player still has to draw, the sound was probably a tile or a draw that has not been detected yet. Once the
    draw has been counted, in the look after the knock at the latest, the knock is a pass.
    """
    settled = without_doubt(places)
    game, problem, was_early = state.game, problem_with(state, Knock(seat)), places.knocked_early
    is_early = problem is not None and problem.kind is ProblemKind.KNOCK_TOO_EARLY and was_early is not None
    if game is None or (problem is not None and not is_early):
        return Resolution((), settled)
    if problem is None and was_early is not None:
        # The draw before the knock was counted a look later.
        return Resolution((Knock(seat),) if places.looks <= was_early + 1 else (), settled)
    last = _last_passes(places, state) if problem is None else ()
    if last:
        return Resolution(last, settled, is_inferred=True)
    name = game.players[seat]
    words = phrase("did {name} pass?", name=name)
    if problem is not None:
        words = phrase("{name} knocked? {problem}", name=name, problem=problem.words)
    ambiguity = Ambiguity(None, words, holds_up=False, choices=_pass_choices(name), seat=seat)
    passed = Resolution((Knock(seat),), _with_next_doubt(places, state, seat))
    return Question(ambiguity, (passed, Resolution((), settled)))


def without_doubt(places: Places) -> Places:
    """Return the places without doubtful sounds."""
    return replace(places, maybe_passed=None, knocked_early=None, pass_chances=())


def judge_unheard(places: Places, state: State, waiting: Waiting) -> Resolution | None:
    """Return passes that nobody heard before the play of a tile whose hand came from a later player's side, or None."""
    turn, around = _turn(state), places.around
    is_open = places.maybe_passed is None and places.undecided is None and around.lead_by_side is None
    if not is_open or turn < 0 or not waiting.came_from or turn in waiting.came_from or state.game is None:
        return None
    after = _after_passes(state, len(state.game.players) - 1)
    passes = next((at for at, before in enumerate(after) if _turn(before) in waiting.came_from), 0)
    doubted = replace(places, maybe_passed=turn, pass_chances=(_UNHEARD,) * passes)
    found = judge_before_tile(doubted, state, waiting) if passes else None
    return found if found is not None and (found.events or found.places.undecided is not None) else None


def judge_before_tile(places: Places, state: State, waiting: Waiting) -> Resolution | None:
    """Return the passes before the play of a tile. None if there is no doubt about them, or no possible play."""

    def weigh(after: State) -> float:
        ways = ways_of(places, after, waiting.tile)
        return ways[0].log_weight if ways else NEVER

    return _judge_before(places, state, weigh, waiting.came_from)


def judge_before_draw(places: Places, state: State, draw: Draw) -> Resolution | None:
    """Return the passes before a draw by the player to move. None if there is no doubt about them."""
    came_from = places.around.yard.came_from

    def weigh(after: State) -> float:
        return log_legality(after, replace(draw, seat=_turn(after)))

    found = _judge_before(places, state, weigh, came_from, keeps_side=True)
    if found is None:
        return None
    # Otherwise the boneyard would credit the draw to the player who passed.
    around = replace(places.around, yard=replace(places.around.yard, seq=Seq(state.next_seq + len(found.events))))
    return replace(found, places=replace(found.places, around=around))


def judge_before_entered(places: Places, state: State, action: EnteredAction, *, is_by_turn: bool) -> Resolution | None:
    """Return the passes before an action that was entered or clearly heard. None if it does not decide about them.

    Args:
        places: The tracked layout.
        state: The match before the action.
        action: The action.
        is_by_turn: The player is unknown, so it is the one to move.
    """
    if places.maybe_passed is None or places.knocked_early is not None:
        return None
    if not is_by_turn:
        after = _after_passes(state, len(_chances(places)))
        fitting = [at for at, before in enumerate(after) if problem_with(before, action) is None]
        if isinstance(action, Call) and len(fitting) != 1:
            return None  # points may be called before and after a pass
        if not isinstance(action, Call):
            fitting = [at for at, before in enumerate(after) if _turn(before) == action.seat]
        return _passed(places, state, fitting[0]) if fitting else None
    if isinstance(action, Call):
        return None

    def weigh(after: State) -> float:
        own = problem_with(after, replace(action, seat=_turn(after)))
        return 0.0 if own is None else _IRREGULAR

    return _judge_before(places, state, weigh, ())


def with_side(places: Places, play: Play, came_from: tuple[Seat, ...]) -> tuple[Places, bool]:
    """Return the places after the side of a hand as evidence of the undecided passes.

    Also returns True if another number of passes explains why the hand came from another side.
    """
    undecided = places.undecided
    if undecided is None or not came_from:
        return places, False
    own, other = places.around.came_from_own, places.around.came_from_other
    seats = [Seat((play.seat + by) % undecided.players) for by in undecided.shifts]
    sides = [log_side(own, other, is_own=seat in came_from) for seat in seats]
    logs = [_log(chance) + side for chance, side in zip(undecided.chances, sides, strict=True)]
    is_explained = play.seat not in came_from and any(seat in came_from for seat in seats)
    return replace(places, undecided=replace(undecided, chances=shares(logs))), is_explained


def judge_undecided(places: Places, state: State) -> Resolution | Question | None:
    """Return a verdict on passes that were entered although sounds, side and rules did not decide about them.

    None until the action after them is known.
    """
    undecided, game, kept = places.undecided, state.game, entries(state)
    if undecided is None or game is None:
        return None
    at = _action_after(undecided, kept)
    is_gone = not {entry.seq for entry in kept}.issuperset(undecided.knocks)
    if is_gone or (at is not None and _is_settled(undecided, state, kept[at])):
        return Resolution((), replace(places, undecided=None))
    if at is None:
        return None
    marks = (*undecided.knocks, kept[at].seq)
    if not kept[at].inferred:
        return Resolution((Inferred(marks),), places)
    numbers = [number for number, chance in enumerate(undecided.chances) if chance > 0]
    out_of_turn = _out_of_turn(state)
    answers = {number: _answer(places, state, undecided, number, out_of_turn) for number in numbers}
    logs = [_log(undecided.chances[number]) + log_history(replay(answers[number].events, state)) for number in numbers]
    other = _by_phase(places, state, undecided, answers)
    if other is not None:
        return other
    share = shares(logs)
    best = max(range(len(numbers)), key=lambda at: share[at])
    if share[best] >= SURE:
        return answers[numbers[best]]
    # The first answer is what has been entered.
    entered = len(undecided.knocks)
    likely = [number for number, part in zip(numbers, share, strict=True) if part >= _MIN_SHARE or number == entered]
    numbers = sorted(likely, key=lambda number: number != entered)
    words, choices = _words(undecided, game, kept[at], numbers)
    ambiguity = Ambiguity(None, words, holds_up=False, choices=choices, seat=undecided.seats[0])
    return Question(ambiguity, tuple(answers[number] for number in numbers))


def earlier_answer(places: Places, state: State, topic: str | None, choice: int) -> Resolution | None:
    """Return the resolution of undecided passes by an answer to the earlier question "did {name} pass?".

    The next action may come while a player answers. None if the answer is to another question.
    """
    undecided, game = places.undecided, state.game
    if undecided is None or game is None or _action_after(undecided, entries(state)) is None:
        return None
    choices = _pass_choices(game.players[undecided.seats[0]])
    if topic != Ambiguity(None, "", holds_up=False, choices=choices).topic or choice not in (0, 1):
        return None
    passed = range(1, len(undecided.chances))
    number = 0 if choice else max(passed, key=lambda number: undecided.chances[number])
    return _answer(places, state, undecided, number, _out_of_turn(state))


def undecided_action(places: Places, state: State) -> Seq | None:
    """Return the event whose player depends on undecided passes, or None."""
    kept = () if places.undecided is None else entries(state)
    at = None if places.undecided is None else _action_after(places.undecided, kept)
    return None if at is None else kept[at].seq


def _pass_choices(name: str) -> tuple[Phrase, Phrase]:
    return (phrase("{name} passed", name=name), phrase("nobody passed"))


def _judge_before(
    places: Places,
    state: State,
    weigh: Callable[[State], float],
    came_from: tuple[Seat, ...],
    *,
    keeps_side: bool = False,
) -> Resolution | None:
    """Return the passes before an action: as many as are sure, or the likeliest number, which is then undecided.

    Args:
        places: The tracked layout.
        state: The match before the action.
        weigh: Returns the log weight of the action after a number of passes.
        came_from: Seats at the only side from which the hand came.
        keeps_side: Keep this evidence. Otherwise `with_side` adds it again with the play.
    """
    if places.maybe_passed is None or places.knocked_early is not None or _turn(state) != places.maybe_passed:
        return None
    own, other = places.around.came_from_own, places.around.came_from_other
    priors = _numbers(_chances(places))
    after = _after_passes(state, len(priors) - 1)
    kept, logs = list[float](), list[float]()
    for prior, before in zip(priors, after, strict=False):
        side = log_side(own, other, is_own=_turn(before) in came_from) if came_from else 0.0
        weight = weigh(before)
        kept.append(NEVER if weight == NEVER else _log(prior) + (side if keeps_side else 0.0))
        logs.append(_log(prior) + weight + side)
    share = shares(logs)
    best = max(range(len(share)), key=lambda number: share[number])
    if share[best] == 0:
        return None
    found = _passed(places, state, best)
    if share[best] >= SURE:
        return found
    knocks = tuple(Seq(state.next_seq + at) for at in range(best))
    seats = tuple(_turn(before) for before in after)
    players = len(state.game.players) if state.game else 0
    undecided = UndecidedPasses(seats, Seq(state.next_seq), knocks, shares(kept), players)
    return replace(found, places=replace(found.places, undecided=undecided))


def _passed(places: Places, state: State, number: int) -> Resolution:
    """Return the resolution that the next *number* players have passed."""
    after = _after_passes(state, number)[:number]
    return Resolution(tuple(Knock(_turn(before)) for before in after), without_doubt(places))


def _last_passes(places: Places, state: State) -> tuple[Knock, ...]:
    """Return the doubtful passes if they end the hand and the players show their tiles, or none."""
    knocks: list[Knock] = []
    if state.game is None or not are_exposed(places, len(state.game.players)):
        return ()
    for _ in _chances(places):
        knocks.append(Knock(_turn(state)))
        if problem_with(state, knocks[-1]) is not None:
            return ()
        state, _ = apply(state, knocks[-1])
        if state.game is None or state.game.phase not in (Phase.LEAD, Phase.PLAY):
            return tuple(knocks)
    return ()


def _by_phase(
    places: Places, state: State, undecided: UndecidedPasses, answers: Mapping[int, Resolution]
) -> Resolution | None:
    """Return the likeliest passes that agree with what the players do, or None if the entered ones do.

    The players show their tiles although the hand goes on, or play on although it is over. The events stay marked as
    inferred.
    """
    game = state.game
    if game is None:
        return None
    is_in_play = game.phase is Phase.PLAY
    if is_in_play and not are_exposed(places, len(game.players)):
        return None
    if not is_in_play and (not places.waiting or places.is_swept):
        return None
    for number in sorted(answers, key=lambda number: -undecided.chances[number]):
        *events, confirmed = answers[number].events
        after = state
        for event in events:
            after, _ = apply(after, event)
        assert isinstance(confirmed, Confirmed)
        plays_on = any(ways_of(places, after, waiting.tile) for waiting in places.waiting)
        if after.game is not None and (after.game.phase is Phase.PLAY) is not is_in_play and (is_in_play or plays_on):
            return Resolution((*events, Inferred(confirmed.seqs)), answers[number].places)
    return None


def _with_next_doubt(places: Places, state: State, seat: Seat) -> Places:
    """Return the places after *seat* has passed. Another doubtful sound then belongs to the next player."""
    later = _chances(places)[1:]
    after = _after_passes(state, 1)
    if not later or places.knocked_early is not None or len(after) < 2:
        return without_doubt(places)
    return replace(places, maybe_passed=_turn(after[1]), pass_chances=later)


def _after_passes(state: State, most: int) -> list[State]:
    """Return the match after 0, 1, 2 ... legal passes, up to *most*, while the hand goes on."""
    found = [state]
    while len(found) <= most and problem_with(found[-1], Knock(_turn(found[-1]))) is None:
        after, _ = apply(found[-1], Knock(_turn(found[-1])))
        if after.game is None or after.game.phase not in (Phase.LEAD, Phase.PLAY) or _turn(after) < 0:
            break
        found.append(after)
    return found


def _turn(state: State) -> Seat:
    """Return the player to move, or -1 if there is none."""
    turn = None if state.game is None or state.game.hand is None else state.game.hand.turn
    return Seat(-1) if turn is None else turn


def _chances(places: Places) -> tuple[float, ...]:
    return places.pass_chances or (_UNKNOWN_CHANCE,)


def _numbers(chances: Sequence[float]) -> list[float]:
    """Return the probability of each number of passes.

    >>> _numbers([0.5, 0.5])
    [0.25, 0.5, 0.25]
    """
    found = [1.0]
    for chance in chances:
        found = [none * (1 - chance) + one * chance for none, one in zip((*found, 0.0), (0.0, *found), strict=True)]
    return found


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else NEVER


def _is_settled(undecided: UndecidedPasses, state: State, entry: Entry) -> bool:
    """Check whether a person or other evidence has named the player of the action after the passes.

    The last mark of the action is then that the players have confirmed it, or it has another player than entered.
    """
    seq = entry.seq
    if isinstance(entry.action, Play | Draw | Knock) and entry.action.seat != undecided.seats[len(undecided.knocks)]:
        return True
    for event in reversed(state.log):
        match event:
            case Confirmed(seqs=seqs) | Inferred(seqs=seqs) if seq in seqs:
                return isinstance(event, Confirmed)
            case ItStands(seq=accepted) if accepted == seq:
                return True
            case _:
                pass
    return False


def _action_after(undecided: UndecidedPasses, kept: Sequence[Entry]) -> int | None:
    """Return the index of the action after the passes, or None if it is unknown."""
    for at, entry in enumerate(kept):
        is_forced = isinstance(entry.action, Draw) and entry.action.forced
        is_action = isinstance(entry.action, Play | Draw | Knock) and not is_forced
        if is_action and entry.seq >= undecided.since and entry.seq not in undecided.knocks:
            return at
    return None


def _answer(
    places: Places, state: State, undecided: UndecidedPasses, number: int, out_of_turn: frozenset[Seq]
) -> Resolution:
    """Return the resolution that as many players have passed. Requires that the action after them is known.

    The actions since then that were in turn move to the players whose turn it was. Plays that now agree with the side
    of the hand are confirmed.
    """
    kept = entries(state)
    at = _action_after(undecided, kept)
    assert at is not None  # checked by the callers
    by = undecided.shifts[number]
    events: list[Event] = [Remove(knock) for knock in undecided.knocks[number:]]
    events += (Insert(kept[at].seq, Knock(seat)) for seat in undecided.seats[len(undecided.knocks) : number])
    for entry in kept[at:] if by else ():
        action = entry.action
        if isinstance(action, _BY_TURN) and entry.seq not in out_of_turn:
            events.append(Amend(entry.seq, replace(action, seat=Seat((action.seat + by) % undecided.players))))
    events.append(Confirmed((*undecided.knocks[:number], kept[at].seq)))
    then = entries(replay(events, state))
    players = {NodeId(entry.seq): entry.action.seat for entry in then if isinstance(entry.action, Play)}
    known = tuple(
        replace(tile, came_from=()) if players.get(tile.node) in tile.came_from else tile for tile in places.known
    )
    return Resolution(tuple(events), replace(places, undecided=None, known=known))


def _out_of_turn(state: State) -> frozenset[Seq]:
    """Return the actions in force that were not the player's turn."""
    faults = (outcome for step in history(state) for outcome in step.outcomes if isinstance(outcome, Irregular))
    return frozenset(fault.seq for fault in faults if fault.problem.kind is ProblemKind.WRONG_SEAT)


def _words(
    undecided: UndecidedPasses, game: Game, entry: Entry, numbers: Sequence[int]
) -> tuple[Phrase, tuple[Phrase, ...]]:
    """Return the question about undecided passes, and an answer for each of *numbers*."""
    names = [game.players[seat] for seat in undecided.seats]
    match entry.action:
        case Play(tile=tile):
            words = phrase("who played the {tile}?", tile=tile)
            done = [phrase("{name} played the {tile}", name=name, tile=tile) for name in names]
        case Draw():
            words = phrase("who drew?")
            done = [phrase("{name} drew", name=name) for name in names]
        case _:
            words = phrase("who passed?")
            return words, tuple(_passed_words(names[: number + 1]) for number in numbers)
    passed = [_passed_words(names[:number]) for number in range(len(names))]
    return words, tuple(
        phrase("{passes}, then {action}", passes=passed[number], action=done[number]) if number else done[0]
        for number in numbers
    )


def _passed_words(names: Sequence[str]) -> Phrase:
    """Return the passes of one or more players as text."""
    if len(names) == 1:
        return phrase("{name} passed", name=names[0])
    return phrase("{names} passed", names=both(names)) if names else phrase("nobody passed")
