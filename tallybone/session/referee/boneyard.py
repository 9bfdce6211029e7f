"""Infer draws from the tiles left in the boneyard, and the next deal from a cleared table.

Draws that a play has forced are counted by the rules at once, and those of a button when it is pressed: tiles that go
after that only confirm them. The turn says who drew, unless a hand came clearly from another's side. Draws in a gap are
guessed, and corrected by what the table shows later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine import (
    Abandon,
    Amend,
    Draw,
    Drawing,
    Event,
    Game,
    Hand,
    Inferred,
    Insert,
    Knock,
    Must,
    NewHand,
    Phase,
    Play,
    Remove,
    RevealPips,
    Seat,
    Seq,
    State,
    apply,
    entries,
    turn,
)
from engine import problem_with as problem_of
from engine.phrases import phrase
from engine.state.problems import tiles_text
from tallybone.session.referee.belief import NEVER, log_history, ways_of
from tallybone.session.referee.places import Places, Unseen, Waiting, Yard, cleared, numbers_of
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.referee.seats import who_acted

# More tiles than these are seldom taken in one go: they have to be missed twice.
_IN_ONE_GO = 2
# Where less than this share of the layout lies open the table is being cleared, and nobody draws.
_CLEARED = 0.5
# So many tiles lie on the table between two hands only by mistake.
_MANY = 2
# More tiles than these lie face down beside the boneyard only while they are being shuffled and dealt.
_STRAYS = 2
# Of backs that lie close together the eye overlooks some, in simulated rows up to 2 of 7. On an otherwise empty table a
# boneyard of which it sees this share is laid out; a deal told a little early does no harm, because draws are counted
# only once the first tile lies.
_SEEN = 0.5

# A draw is another player's where the rules speak no more than this against it, in log odds: not where they forbid it.
_MOST_AGAINST = 4.0


def judge_yard(places: Places, state: State) -> Decided | Question | None:
    """Return the verdict on the boneyard; None where it shows nothing new yet."""
    game, yard = state.game, places.around.yard
    if game is None or game.hand is None or game.rules.draw is Drawing.NONE or not yard.looks:
        return None
    whose = turn(game)
    is_drawing = game.phase is Phase.PLAY or (whose is not None and whose.must is Must.DRAW_A_DOUBLE)
    if not is_drawing or yard.agreed is None:
        begun = replace(yard, agreed=yard.count, missing=game.hand.boneyard - yard.count, caused=())
        return None if begun == yard else Decided((), _with(places, begun))
    if places.around.lying < _CLEARED * len(places.known):
        return None
    if yard.count < yard.agreed:
        return _taken(places, state, game.hand, yard, yard.agreed)
    return _put_back(places, state, game.hand, yard, yard.agreed) if yard.count > yard.agreed else None


def _taken(places: Places, state: State, hand: Hand, yard: Yard, agreed: int) -> Decided | None:
    """Return the draws of the tiles that are gone, once they are sure."""
    gone = agreed - yard.count
    if hand.turn is None or (yard.looks < 2 and not (yard.is_by_hand and gone <= _IN_ONE_GO)):
        return None
    counted = max(0, agreed - (hand.boneyard - yard.missing))
    if yard.came_from == (hand.turn,) and not _owed(hand, hand.turn):
        # What others were made to draw may lie there still; what a button has told is gone.
        pressed = max(0, counted - sum(hand.course.owed))
        # So many of them the player in turn may have drawn without being forced to.
        own = (tiles for tiles in range(gone - pressed, 0, -1) if problem_of(state, Draw(hand.turn, tiles)) is None)
        counted = max(pressed, counted - next(own, 0))
    events: list[Event] = [*_confirmed(hand, yard, min(gone, counted))]
    caused = yard.caused
    if gone > counted:
        caused = (*caused, Seq(state.next_seq + len(events)))
        events.append(_drawn(places, state, Draw(hand.turn, gone - counted)))
    return Decided(tuple(events), _with(places, replace(yard, agreed=yard.count, caused=caused)))


def _drawn(places: Places, state: State, draw: Draw) -> Draw | Insert:
    """Return the draw as the rules need it: before the knock that came while it was not sure yet."""
    yard = places.around.yard
    later = next((one for one in entries(state) if one.seq >= yard.seq), None)
    if later is not None and isinstance(later.action, Knock):
        return Insert(later.seq, replace(draw, seat=later.action.seat))
    seat, _ = who_acted(places, state, draw, yard.came_from)
    return replace(draw, seat=seat)


def _confirmed(hand: Hand, yard: Yard, tiles: int) -> tuple[Draw, ...]:
    """Return the forced draws that are seen now: those of the side of the hand first, then as the turn goes round."""
    seats = len(hand.sizes)
    first = 0 if hand.turn is None else hand.turn
    around = [Seat((first + away * hand.course.direction) % seats) for away in range(seats)]
    draws: list[Draw] = []
    for seat in sorted(around, key=lambda one: one not in yard.came_from):
        taken = min(tiles, _owed(hand, seat))
        if taken:
            draws.append(Draw(seat, taken, forced=True))
            tiles -= taken
    return tuple(draws)


def _owed(hand: Hand, seat: Seat) -> int:
    return hand.course.owed[seat] if hand.course.owed else 0


def _put_back(places: Places, state: State, hand: Hand, yard: Yard, agreed: int) -> Decided | Question | None:
    """Return the verdict on more tiles in the boneyard than before."""
    more = yard.count - agreed
    expected = hand.boneyard - yard.missing
    undone = min(more, max(0, expected - agreed))
    if undone:
        return Decided((), _with(places, replace(yard, agreed=agreed + undone)))
    if yard.missing > 0:  # they were there all the time, and are found only now
        found = min(more, yard.missing)
        return Decided((), _with(places, replace(yard, agreed=agreed + found, missing=yard.missing - found)))
    last = next((one for one in reversed(entries(state)) if one.seq in yard.caused), None)
    if last is not None and isinstance(last.action, Draw):
        return _drawn_less(places, state, yard, (last.seq, last.action), more)
    if yard.looks < 2 and not yard.is_by_hand:
        return None
    words = phrase("{tiles} lie in the boneyard, but only {due} should", tiles=tiles_text(yard.count), due=expected)
    return Question(Unclear(None, words, holds_up=False))


def _drawn_less(
    places: Places, state: State, yard: Yard, drawn: tuple[Seq, Draw], more: int
) -> Decided | Question | None:
    """Return that the last draw did not happen, or of fewer tiles; a question where the game went on after it."""
    (seq, draw), agreed = drawn, yard.agreed
    assert agreed is not None  # a draw was told by it
    was_sure = yard.looks_before > 1
    if was_sure and yard.looks < 2 and not yard.is_by_hand:
        return None
    back = min(more, draw.tiles)
    left = draw.tiles - back
    event: Event = Amend(seq, replace(draw, tiles=left, faces=())) if left else Remove(seq)
    caused = yard.caused if left else tuple(one for one in yard.caused if one != seq)
    without = Decided((event,), _with(places, replace(yard, agreed=agreed + back, caused=caused)))
    if not was_sure or entries(state)[-1].seq == seq:
        return without
    assert state.game is not None  # a draw is in force
    name = state.game.players[draw.seat]
    words = phrase(
        "{tiles} lie in the boneyard again: has {name} put back what was drawn?",
        tiles=tiles_text(yard.count),
        name=name,
    )
    choices = (phrase("{name} has put it back", name=name), phrase("no, {name} has drawn it", name=name))
    counts = Decided((), _with(places, replace(yard, agreed=agreed + back, missing=yard.missing - back)))
    return Question(Unclear(None, words, holds_up=False, choices=choices), (without, counts))


def judge_guessed(places: Places, state: State) -> Decided | None:
    """Return that a tile drawn in a gap is another player's, where one has more tiles than it was guessed.

    They lay more tiles open than they should have, or somebody plays on after they should be out.
    """
    game, around = state.game, places.around
    if game is None or game.hand is None or game.phase not in (Phase.PLAY, Phase.REVEAL):
        return None
    sizes = game.hand.sizes
    shown = [len(hand.tiles) if hand.looks > 1 else 0 for hand in around.hands] or [0] * len(sizes)
    plays_on = game.hand.out if places.waiting and not places.is_swept else None
    short = next((Seat(at) for at, size in enumerate(sizes) if shown[at] > size), plays_on)
    if short is None:
        return None
    # Nobody else can be out while somebody plays on.
    least = int(shown[short] <= sizes[short])
    found: list[tuple[float, tuple[Event, ...]]] = []
    for taken, draw in _guessed(state, around.yard.caused):
        spare = 0 if draw.seat == short else min(draw.tiles, sizes[draw.seat] - max(shown[draw.seat], least))
        numbers = range(1, spare + 1) if least else range(min(spare, shown[short] - sizes[short]), 0, -1)
        for events in _handed_over(state, taken, draw, numbers, short):
            then = after(state, events)
            if not least or _may_be_laid(places, then):
                found.append((log_history(then), events))
    log_weight, events = max(found, key=lambda one: one[0], default=(NEVER, ()))
    return Decided(events, places) if log_weight >= log_history(state) - _MOST_AGAINST else None


def _guessed(state: State, seen: tuple[Seq, ...]) -> list[tuple[Seq, Draw]]:
    """Return the draws of this hand since the first gap in it, those that nobody saw first, none entered by hand."""
    marked = {seq for event in state.log if isinstance(event, Inferred) for seq in event.seqs}
    found: list[tuple[Seq, Draw]] = []
    is_since = False
    for one in entries(state):
        is_since = (is_since and not isinstance(one.action, NewHand)) or one.seq in marked
        if not is_since:
            found = []
        elif isinstance(one.action, Draw) and not one.action.forced and (one.seq in marked or one.seq in seen):
            found.append((one.seq, one.action))
    return sorted(found, key=lambda one: one[0] not in marked)


def _handed_over(state: State, taken: Seq, draw: Draw, numbers: Iterable[int], to: Seat) -> Iterator[tuple[Event, ...]]:
    """Yield the corrections that give each number of tiles of a draw to a player, who drew before they played."""
    in_force = entries(state)
    place = next(at for at, one in enumerate(in_force) if one.seq == taken)
    nearest = sorted(enumerate(in_force), key=lambda one: abs(one[0] - place))
    plays = [one.seq for _, one in nearest if isinstance(one.action, Play) and one.action.seat == to][:2]
    for many in numbers:
        left = draw.tiles - many
        less = Amend(taken, Draw(draw.seat, left)) if left else Remove(taken)
        yield from ((less, Insert(play, Draw(to, many))) for play in plays)


def _may_be_laid(places: Places, state: State) -> bool:
    """Return whether the rules allow a tile that waits to be played now."""
    ways = [way for one in places.waiting for way in ways_of(places, state, one.tile)]
    return any(problem_of(state, way.play) is None for way in ways)


def _with(places: Places, yard: Yard) -> Places:
    return replace(places, around=replace(places.around, yard=yard))


def judge_deal(places: Places, state: State) -> Decided | Question | None:
    """Return that a new hand was dealt, where the table shows it, or the question whether it was; None for no deal.

    A hand that is not known to be over has ended unseen where its tiles are gone and others lie there.
    """
    game, around = state.game, places.around
    if game is None or not around.is_seen or any(around.open_counts) or around.strays > _STRAYS:
        return None
    dealt = _dealt(places, state, game)
    if dealt is not None or game.phase not in (Phase.DEAL, Phase.REVEAL) or len(places.waiting) < _MANY:
        return dealt
    ended = () if game.phase is Phase.DEAL else ended_unseen(state)
    if ended is None:
        return None
    dealt = Decided((*ended, NewHand()), _fresh(places), is_inferred=bool(ended))
    idle = (*places.dismissed, *(one.tile for one in places.waiting))
    words = phrase("{tiles} lie on the table: was a new hand dealt?", tiles=tiles_text(len(places.waiting)))
    unclear = Unclear(None, words, holds_up=False, choices=(phrase("a new hand"), phrase("no, not yet")))
    return Question(unclear, (dealt, Decided((), replace(places, waiting=(), dismissed=idle))))


def _dealt(places: Places, state: State, game: Game) -> Decided | None:
    """Return the deal that the table shows; None where it shows none."""
    around = places.around
    # In a game without a target every hand is a match.
    is_over = game.phase is Phase.DEAL or (game.phase is Phase.MATCH_OVER and game.rules.target is None)
    is_first = game.hand is None
    is_swept = places.is_swept and not _is_moved(places)
    if not (is_swept or (is_over and (is_first or around.is_cleared))) or game.phase is Phase.LEAD:
        return None
    if not places.waiting and not _is_laid_out(places, game, is_first=is_first):
        return None
    ended = () if is_over else ended_unseen(state)
    if ended is None:
        return None
    fresh = _fresh(places)
    # What lay on the table when it was cleared is gone.
    fresh = fresh if is_first and places.waiting else replace(fresh, dismissed=())
    is_missed = places.unseen is not None and places.unseen.is_hand_missed
    decided = Decided((*ended, NewHand()), fresh, is_inferred=not is_over or is_missed)
    return decided if places.unseen is None else _in_a_gap(decided, places.unseen, state)


def _is_moved(places: Places) -> bool:
    """Return whether the tiles that lie there are mostly those of the layout: then it was pushed, not cleared.

    The tile that led says nothing, because the same double may lead every hand.
    """
    names = Counter(numbers_of(one.tile) for one in places.known[1:])
    return 2 * (Counter(numbers_of(one.tile) for one in places.waiting) & names).total() > len(places.known)


def _fresh(places: Places) -> Places:
    """Return the places for a new hand whose first tiles lie there."""
    return replace(cleared(replace(places, waiting=())), waiting=_of_new_hand(places))


def _of_new_hand(places: Places) -> tuple[Waiting, ...]:
    """Return the tiles of the new hand: those that wait, and those that lie where one lay of the hand before."""
    if not places.is_swept or places.around.is_cleared:
        return places.waiting
    look = min((one.look for one in places.waiting), default=places.looks)
    return (*places.waiting, *(Waiting(one.tile, look) for one in places.known if not one.is_missing))


def ended_unseen(state: State) -> tuple[Event, ...] | None:
    """Return how a hand may be closed whose end nobody saw; None where the match would be over."""
    game = state.game
    assert game is not None  # the caller has looked
    events: tuple[Event, ...] = (Abandon(),)
    if game.phase is Phase.REVEAL and game.hand is not None and game.hand.out is not None:
        unknown = (Seat(at) for at, one in enumerate(game.hand.holdings) if one is None and at != game.hand.out)
        shown = tuple(RevealPips(seat, 0) for seat in unknown)
        events = shown if _waits_for_deal(after(state, shown)) else events
    return events if _waits_for_deal(after(state, events)) else None


def _waits_for_deal(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.DEAL


def after(state: State, events: Iterable[Event]) -> State:
    """Return the match after some events."""
    for event in events:
        state, _ = apply(state, event)
    return state


def _in_a_gap(decided: Decided, unseen: Unseen, state: State) -> Decided:
    """Return a deal that nobody saw: what was drawn since is missing in the boneyard, what was heard says nothing."""
    game, yard = after(state, decided.events).game, decided.places.around.yard
    if game is not None and game.hand is not None and yard.looks:
        yard = replace(yard, agreed=game.hand.boneyard)
    fresh = replace(unseen, knocks=(), boneyard=None, begun=(), not_so=())
    places = replace(_with(decided.places, yard), pressed=(), unseen=fresh)
    return replace(decided, places=places)


def _is_laid_out(places: Places, game: Game, *, is_first: bool) -> bool:
    """Return whether a whole boneyard lies on an otherwise empty table, where there was none."""
    around, seats = places.around, len(game.players)
    whole = game.rules.tiles - game.rules.dealt(seats) * seats
    is_new = is_first or around.was_empty
    is_whole = whole > 0 and _SEEN * whole <= around.yard.count <= whole
    return is_new and is_whole and not (around.lying or around.strays)
