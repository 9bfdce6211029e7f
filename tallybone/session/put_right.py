"""Make the match agree with the table, from any state ("Put it right"). Pure.

The players choose the hand on the table and the player to move. Plays of missing tiles are removed. New tiles are
played by the likeliest course that leads to this turn, and all other doubts are dropped.
"""

from __future__ import annotations

from dataclasses import replace

from engine import (
    Abandon,
    Amend,
    Domino,
    Event,
    Game,
    HandEnd,
    Inferred,
    ItStands,
    NewHand,
    NodeId,
    Phase,
    Play,
    Remove,
    Seat,
    Seq,
    State,
    Undo,
    apply,
    entries,
    problem_with,
    replay,
)
from engine.phrases import phrase
from tallybone.session.course import unseen_end
from tallybone.session.observations import numbers_of
from tallybone.session.places import Places
from tallybone.session.questions import Adoption, Ambiguity, Meaning, Question


def ask_about_hand(state: State, adoption: Adoption) -> Question:
    """Return the next question, with the choices that are possible in this state of the match."""
    game = state.game
    assert game is not None
    if adoption is Adoption.HAND_OVER:
        return _ask_how_it_ended(game)
    number = 0 if game.hand is None else game.hand.number
    choices: dict[str, Meaning] = {}
    going = [number] if number else []
    if number > 1 and (game.phase is Phase.LEAD or _was_abandoned(state)):
        going.append(number - 1)
    for hand in going:
        adopted = Adoption.SAME_HAND if hand == number else Adoption.HAND_BEFORE
        for at, name in enumerate(game.players):
            text = phrase("hand {number} goes on: it is {name}'s turn", number=hand, name=name)
            choices[text] = Meaning(adoption=adopted, turn=Seat(at))
    if game.phase is Phase.PLAY:
        choices[phrase("hand {number} is over", number=number)] = Meaning(adoption=Adoption.HAND_OVER)
    if game.phase is Phase.LEAD and number > 1:
        choices[phrase("hand {number} is over", number=number - 1)] = Meaning(adoption=Adoption.BEFORE_OVER)
    if game.phase is not Phase.LEAD and problem_with(replay(unseen_end(game), state), NewHand()) is None:
        choices[phrase("hand {number} has been dealt", number=number + 1)] = Meaning(adoption=Adoption.NEW_HAND)
    choices[phrase("leave everything unchanged")] = Meaning(adoption=Adoption.NOTHING)
    return Question(Ambiguity(None, phrase("which hand is on the table?"), tuple(choices)), tuple(choices.values()))


def _was_abandoned(state: State) -> bool:
    """Return True if the hand before the last deal was abandoned, perhaps by a wrong answer."""
    kept = entries(state)
    dealt = max(at for at, entry in enumerate(kept) if isinstance(entry.action, NewHand))
    return isinstance(kept[dealt - 1].action, Abandon)


def _ask_how_it_ended(game: Game) -> Question:
    """Return a question about the end of the hand in play. Players with the fewest tiles come first."""
    assert game.hand is not None  # checked by the caller
    sizes = game.hand.sizes
    choices = {
        phrase("{name} is out", name=game.players[seat]): Meaning(adoption=Adoption.ENDED, turn=Seat(seat))
        for seat in sorted(range(len(sizes)), key=lambda seat: sizes[seat])
    }
    choices[phrase("nobody can play")] = Meaning(adoption=Adoption.BLOCKED)
    choices[phrase("it does not count")] = Meaning(adoption=Adoption.VOID)
    return Question(Ambiguity(None, phrase("how did the hand end?"), tuple(choices)), tuple(choices.values()))


def adopting_events(state: State, places: Places, meaning: Meaning) -> tuple[Event, ...]:
    """Return the events that prepare the match for an answer about the hand on the table."""
    match meaning.adoption:
        case Adoption.NEW_HAND:
            end = () if state.game is None else unseen_end(state.game)
            guessed = tuple(Seq(state.next_seq + at) for at, each in enumerate(end) if not isinstance(each, Abandon))
            return (*end, *((Inferred(guessed),) if guessed else ()), NewHand())
        case Adoption.ENDED:
            assert meaning.turn is not None
            return _end(state, Domino(meaning.turn))
        case Adoption.BLOCKED:
            return _end(state, HandEnd())
        case Adoption.VOID:
            return _end(state, Abandon())
        case Adoption.BEFORE_OVER:
            return _without_deal(state)
        case Adoption.SAME_HAND | Adoption.HAND_BEFORE | Adoption.HAND_OVER:
            events = _without_deal(state) if meaning.adoption is Adoption.HAND_BEFORE else ()
            now = replay(events, state)
            if now.game is not None and now.game.phase not in (Phase.LEAD, Phase.PLAY):
                events = (*events, *_reopened(now))
            return (*events, *_removals(replay(events, state), places))
        case _:
            return ()


def _without_deal(state: State) -> tuple[Event, ...]:
    """Return events that undo the last deal."""
    return (Undo(max(entry.seq for entry in entries(state) if isinstance(entry.action, NewHand))),)


def _end(state: State, end: Domino | HandEnd | Abandon) -> tuple[Event, ...]:
    """Return an end of the hand. The players overrule the tile count, so one that contradicts it is accepted."""
    return (end, *((ItStands(state.next_seq),) if problem_with(state, end) else ()))


def _reopened(state: State) -> tuple[Event, ...]:
    """Return events that undo the end of the last hand. Empty if no hand has ended.

    If the hand ended because its last play went out, the play is kept and its player gets one more dealt tile, provided
    that the hand is then in play.
    """
    done, later = entries(state), tuple[Event, ...]()
    for last in reversed(done):
        if _is_in_play(apply(state, Undo(last.seq))[0]):
            break
        later = (Undo(last.seq),)
    else:
        return ()
    game, action = state.game, last.action
    deals = (each for each in reversed(done) if each.seq < last.seq and isinstance(each.action, NewHand))
    dealt = next(deals, None)
    if game is not None and isinstance(action, Play) and dealt is not None and isinstance(dealt.action, NewHand):
        sizes = list(dealt.action.dealt or (game.rules.dealt(len(game.players)),) * len(game.players))
        sizes[action.seat] += 1
        events = (*later, Amend(dealt.seq, replace(dealt.action, dealt=tuple(sizes))))
        if _is_in_play(replay(events, state)):
            return events
    return (Undo(last.seq),)


def _is_in_play(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.PLAY


def _removals(state: State, places: Places) -> tuple[Event, ...]:
    """Return events that take back the plays of missing tiles and of all tiles joined to them.

    A tile with the same numbers elsewhere on the table is the same one. If the removal would make other plays
    irregular, return an undo of the first of these plays and everything after it.
    """
    present = {known.node for known in places.known if not known.is_missing}
    others = [numbers_of(tile) for tile in (*(waiting.tile for waiting in places.waiting), *places.dismissed)]
    gone: list[NodeId] = []
    for node in () if state.game is None else state.game.layout.nodes:
        is_there = node.id in present or others.count((node.tile.low, node.tile.high)) == 1
        if not is_there or (node.joins is not None and node.joins.host in gone):
            gone.append(node.id)
    if not gone:
        return ()
    removals = tuple(Remove(Seq(node)) for node in reversed(gone))
    return removals if len(replay(removals, state).irregular) <= len(state.irregular) else (Undo(Seq(gone[0])),)
