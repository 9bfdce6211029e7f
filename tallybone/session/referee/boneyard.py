"""Infer draws from the number of tiles in the boneyard, and the next deal from a cleared table.

The rules count forced draws at once, and draws by button when it is pressed. The boneyard only confirms them. Other
draws are credited to the player whose turn it is, unless the hand clearly came from another side. Draws in a gap are
guessed, and corrected by later evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from engine import (
    Abandon,
    ActionResult,
    Amend,
    Draw,
    Drawing,
    Entry,
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
    entries,
    replay,
    replayed,
    turn,
)
from engine import problem_with as problem_of
from engine.phrases import phrase
from engine.state.problems import tiles_text
from tallybone.session.referee.belief import log_weights, ways_of
from tallybone.session.referee.places import Places, Unseen, Waiting, Yard, cleared, numbers_of
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.referee.seats import who_acted

# Maximum number of tiles drawn at once that a single look proves. For more, two looks must agree.
_MAX_AT_ONCE = 2
# Share of the layout below which the table is being cleared, so a smaller boneyard is not a draw.
_CLEARED = 0.5
# Minimum number of face-up tiles between two hands for the players to be asked about a new hand.
_NEW_HAND_TILES = 2
# Above this number of face-down tiles outside the boneyard, no deal is recognised, because players are still shuffling
# or dealing.
_MAX_STRAYS = 2
# Share of the boneyard that must be detected to recognise a deal on an otherwise empty table. Adjacent backs are easily
# missed, up to 2 of 7 in simulated rows. An early deal is harmless: draws count only from the first tile.
_DETECTED = 0.5

# Maximum loss in log weight when a guessed draw is credited to another player. It excludes illegal corrections.
_MAX_LOSS = 4.0
# Number of corrections of guessed draws that are weighed in a look, the latest draws first: 20 take up to 50 ms.
_MAX_TRANSFERS = 20


def judge_yard(places: Places, state: State) -> Resolution | Question | None:
    """Return a verdict on the boneyard, or None if it shows nothing new yet."""
    game, yard = state.game, places.around.yard
    if game is None or game.hand is None or game.rules.draw is Drawing.NONE or not yard.looks:
        return None
    current = turn(game)
    is_drawing = game.phase is Phase.PLAY or (current is not None and current.must is Must.DRAW_A_DOUBLE)
    if not is_drawing or yard.agreed is None:
        start = replace(yard, agreed=yard.count, missing=game.hand.boneyard - yard.count, caused=())
        return None if start == yard else Resolution((), _with(places, start))
    if places.around.lying < _CLEARED * len(places.known):
        return None
    if yard.count < yard.agreed:
        return _taken(places, state, game.hand, yard, yard.agreed)
    return _put_back(places, state, game.hand, yard, yard.agreed) if yard.count > yard.agreed else None


def drawn(places: Places, state: State) -> Draw | None:
    """Return the draw that the boneyard shows now and the rules have not counted yet, or None."""
    verdict = judge_yard(places, state)
    events = verdict.events if isinstance(verdict, Resolution) else ()
    return next((event for event in events if isinstance(event, Draw) and not event.forced), None)


def _taken(places: Places, state: State, hand: Hand, yard: Yard, agreed: int) -> Resolution | None:
    """Return draws for the tiles gone from the boneyard, or None until their number is certain.

    One look is enough for up to _MAX_AT_ONCE tiles if a hand had come in before it. Otherwise two looks must agree.
    """
    gone = agreed - yard.count
    if hand.turn is None or (yard.looks < 2 and not (yard.is_by_hand and gone <= _MAX_AT_ONCE)):
        return None
    counted = max(0, agreed - (hand.boneyard - yard.missing))
    if yard.came_from == (hand.turn,) and not _owed(hand, hand.turn):
        # Other players may not have taken their forced draws yet, but tiles drawn by button have been taken.
        pressed = max(0, counted - sum(hand.course.owed))
        # Largest number of the other tiles that the player to move may have drawn voluntarily.
        own = (tiles for tiles in range(gone - pressed, 0, -1) if problem_of(state, Draw(hand.turn, tiles)) is None)
        counted = max(pressed, counted - next(own, 0))
    events: list[Event] = [*_confirmed(hand, yard, min(gone, counted))]
    caused = yard.caused
    if gone > counted:
        caused = (*caused, Seq(state.next_seq + len(events)))
        events.append(_drawn(places, state, Draw(hand.turn, gone - counted)))
    return Resolution(tuple(events), _with(places, replace(yard, agreed=yard.count, caused=caused)))


def _drawn(places: Places, state: State, draw: Draw) -> Draw | Insert:
    """Return the event for a draw, credited to the likeliest player.

    If a knock came before the draw was certain, the draw is inserted before the knock and credited to its player.
    """
    yard = places.around.yard
    later = next((entry for entry in entries(state) if entry.seq >= yard.seq), None)
    if later is not None and isinstance(later.action, Knock):
        return Insert(later.seq, replace(draw, seat=later.action.seat))
    seat, _ = who_acted(places, state, draw, yard.came_from)
    return replace(draw, seat=seat)


def _confirmed(hand: Hand, yard: Yard, tiles: int) -> tuple[Draw, ...]:
    """Return forced draws of up to *tiles* tiles, first by the seats that the hand came from, then in order of turn."""
    seats = len(hand.sizes)
    first = 0 if hand.turn is None else hand.turn
    around = [Seat((first + away * hand.course.direction) % seats) for away in range(seats)]
    draws: list[Draw] = []
    for seat in sorted(around, key=lambda candidate: candidate not in yard.came_from):
        drawn = min(tiles, _owed(hand, seat))
        if drawn:
            draws.append(Draw(seat, drawn, forced=True))
            tiles -= drawn
    return tuple(draws)


def _owed(hand: Hand, seat: Seat) -> int:
    return hand.course.owed[seat] if hand.course.owed else 0


def _put_back(places: Places, state: State, hand: Hand, yard: Yard, agreed: int) -> Resolution | Question | None:
    """Return a verdict on a boneyard that has grown.

    The cause is an undone draw, a tile that was not detected before, or a draw inferred by mistake. Otherwise the
    players are told that the count is wrong.
    """
    more = yard.count - agreed
    expected = hand.boneyard - yard.missing
    undone = min(more, max(0, expected - agreed))
    if undone:
        return Resolution((), _with(places, replace(yard, agreed=agreed + undone)))
    if yard.missing > 0:  # detected only now
        detected = min(more, yard.missing)
        return Resolution((), _with(places, replace(yard, agreed=agreed + detected, missing=yard.missing - detected)))
    last = next((entry for entry in reversed(entries(state)) if entry.seq in yard.caused), None)
    if last is not None and isinstance(last.action, Draw):
        return _drawn_less(places, state, yard, (last.seq, last.action), more)
    if yard.looks < 2 and not yard.is_by_hand:
        return None
    words = phrase("the boneyard holds {tiles}, but should hold {due}", tiles=tiles_text(yard.count), due=expected)
    return Question(Ambiguity(None, words, holds_up=False))


def _drawn_less(
    places: Places, state: State, yard: Yard, drawn: tuple[Seq, Draw], more: int
) -> Resolution | Question | None:
    """Remove the last inferred draw, or reduce it by *more* tiles.

    If two looks had shown the smaller boneyard, returns None until the larger one is as certain, and then a question if
    the game has gone on since the draw.
    """
    (seq, draw), agreed = drawn, yard.agreed
    assert agreed is not None  # set before any draw is inferred
    was_sure = yard.looks_before > 1
    if was_sure and yard.looks < 2 and not yard.is_by_hand:
        return None
    back = min(more, draw.tiles)
    left = draw.tiles - back
    event: Event = Amend(seq, replace(draw, tiles=left, faces=())) if left else Remove(seq)
    caused = yard.caused if left else tuple(other for other in yard.caused if other != seq)
    without = Resolution((event,), _with(places, replace(yard, agreed=agreed + back, caused=caused)))
    if not was_sure or entries(state)[-1].seq == seq:
        return without
    assert state.game is not None  # a draw is in force
    name = state.game.players[draw.seat]
    words = phrase(
        "the boneyard has {tiles} again: did {name} put back the drawn tiles?",
        tiles=tiles_text(yard.count),
        name=name,
    )
    choices = (phrase("{name} put the tiles back", name=name), phrase("no, {name} drew the tiles", name=name))
    counts = Resolution((), _with(places, replace(yard, agreed=agreed + back, missing=yard.missing - back)))
    return Question(Ambiguity(None, words, holds_up=False, choices=choices), (without, counts))


def judge_guessed(places: Places, state: State) -> Resolution | None:
    """Credit tiles of a guessed draw to a player who has more tiles than recorded, or return None.

    This player shows more tiles than the rules expect, or plays on although they should be out.
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
    # If this player plays on, the one whose draw is reduced keeps at least one tile: only one player can be out.
    least = int(shown[short] <= sizes[short])
    kept, transfers = entries(state), list[tuple[Event, ...]]()
    for seq, draw in reversed(_guessed(state, around.yard.caused)):
        spare = 0 if draw.seat == short else min(draw.tiles, sizes[draw.seat] - max(shown[draw.seat], least))
        numbers = range(1, spare + 1) if least else range(min(spare, shown[short] - sizes[short]), 0, -1)
        if len(transfers) < _MAX_TRANSFERS:
            transfers = [*_transfers(kept, seq, draw, numbers, short), *transfers]
    if not transfers:
        return None
    # The match before each action. A correction is weighed by a replay from its first change.
    games, results = [state.start], list[ActionResult]()
    for entry in kept:
        game_after, now = replayed(games[-1], (entry,))
        games.append(game_after)
        results += now
    weights = tuple(log_weights(state, results))
    weighed: list[tuple[float, tuple[Event, ...]]] = []
    for events in transfers[-_MAX_TRANSFERS:]:
        changed = entries(replay(events, state))
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, changed, strict=False)))
        later = log_weights(state, replayed(games[same], changed[same:])[1])
        weighed.append((sum(weights[:same]) + sum(later), events))
    for log_weight, events in sorted(weighed, key=lambda option: -option[0]):
        if log_weight < sum(weights) - _MAX_LOSS:
            break
        if not least or _may_be_laid(places, replay(events, state)):
            return Resolution(events, places)
    return None


def _guessed(state: State, seen: tuple[Seq, ...]) -> list[tuple[Seq, Draw]]:
    """Return the unforced draws since the first inferred action of the hand, inferred ones first.

    Includes draws inferred from the boneyard, in *seen*, but none entered by hand.
    """
    marked = {seq for event in state.log if isinstance(event, Inferred) for seq in event.seqs}
    draws: list[tuple[Seq, Draw]] = []
    is_since = False
    for entry in entries(state):
        is_since = (is_since and not isinstance(entry.action, NewHand)) or entry.seq in marked
        if not is_since:
            draws = []
        elif isinstance(entry.action, Draw) and not entry.action.forced and (entry.seq in marked or entry.seq in seen):
            draws.append((entry.seq, entry.action))
    return sorted(draws, key=lambda draw: draw[0] not in marked)


def _transfers(
    in_force: tuple[Entry, ...], seq: Seq, draw: Draw, numbers: Iterable[int], to: Seat
) -> Iterator[tuple[Event, ...]]:
    """Yield corrections that move a number of tiles of the draw at *seq* to the player *to*, for each of *numbers*.

    For each number there is a correction for each of the two plays of *to* that are nearest to the draw: the new draw
    is inserted before that play.
    """
    place = next(at for at, entry in enumerate(in_force) if entry.seq == seq)
    nearest = sorted(enumerate(in_force), key=lambda pair: abs(pair[0] - place))
    plays = [entry.seq for _, entry in nearest if isinstance(entry.action, Play) and entry.action.seat == to][:2]
    for number in numbers:
        left = draw.tiles - number
        reduced = Amend(seq, Draw(draw.seat, left)) if left else Remove(seq)
        yield from ((reduced, Insert(play, Draw(to, number))) for play in plays)


def _may_be_laid(places: Places, state: State) -> bool:
    """Return True if any waiting tile can be played legally."""
    ways = [way for waiting in places.waiting for way in ways_of(places, state, waiting.tile)]
    return any(problem_of(state, way.play) is None for way in ways)


def _with(places: Places, yard: Yard) -> Places:
    return replace(places, around=replace(places.around, yard=yard))


def judge_deal(places: Places, state: State) -> Resolution | Question | None:
    """Return the deal of a new hand, a question about it, or None if there is no sign of a deal.

    If the layout is gone and other tiles are on the table, the current hand has ended unseen.
    """
    game, around = state.game, places.around
    if game is None or not around.is_seen or any(around.open_counts) or around.strays > _MAX_STRAYS:
        return None
    dealt = _dealt(places, state, game)
    if dealt is not None or game.phase not in (Phase.DEAL, Phase.REVEAL) or len(places.waiting) < _NEW_HAND_TILES:
        return dealt
    ended = () if game.phase is Phase.DEAL else ended_unseen(state)
    if ended is None:
        return None
    dealt = Resolution((*ended, NewHand()), _fresh(places), is_inferred=bool(ended))
    idle = (*places.dismissed, *(waiting.tile for waiting in places.waiting))
    words = phrase("{tiles} are on the table: was a new hand dealt?", tiles=tiles_text(len(places.waiting)))
    ambiguity = Ambiguity(None, words, holds_up=False, choices=(phrase("a new hand"), phrase("no, not yet")))
    return Question(ambiguity, (dealt, Resolution((), replace(places, waiting=(), dismissed=idle))))


def _dealt(places: Places, state: State, game: Game) -> Resolution | None:
    """Return the deal that the table shows without doubt, or None.

    If the end of the current hand was not seen, it is added before the deal.
    """
    around = places.around
    # Without a target score, every hand is a match.
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
    # Earlier tiles disappeared when the table was cleared.
    fresh = fresh if is_first and places.waiting else replace(fresh, dismissed=())
    is_missed = places.unseen is not None and places.unseen.is_hand_missed
    deal = Resolution((*ended, NewHand()), fresh, is_inferred=not is_over or is_missed)
    return deal if places.unseen is None else _in_a_gap(deal, places.unseen, state)


def _is_moved(places: Places) -> bool:
    """Return True if more than half of the layout's tiles wait elsewhere, so the layout was pushed rather than cleared.

    The leading tile is ignored, because the same double may lead every hand.
    """
    layout = Counter(numbers_of(known.tile) for known in places.known[1:])
    waiting = Counter(numbers_of(waiting.tile) for waiting in places.waiting)
    return 2 * (waiting & layout).total() > len(places.known)


def _fresh(places: Places) -> Places:
    """Return the places for a new hand whose first tiles are already on the table."""
    return replace(cleared(replace(places, waiting=())), waiting=_of_new_hand(places))


def _of_new_hand(places: Places) -> tuple[Waiting, ...]:
    """Return the tiles of the new hand: those that wait, and those in the exact places of the previous hand's tiles."""
    if not places.is_swept or places.around.is_cleared:
        return places.waiting
    look = min((waiting.look for waiting in places.waiting), default=places.looks)
    return (*places.waiting, *(Waiting(known.tile, look) for known in places.known if not known.is_missing))


def ended_unseen(state: State) -> tuple[Event, ...] | None:
    """Return events that close the current hand, whose end was not seen. None if they would end the match.

    If a player is out, the hands that have not been shown count 0. Otherwise the hand is abandoned.
    """
    game = state.game
    assert game is not None  # checked by the callers
    events: tuple[Event, ...] = (Abandon(),)
    if game.phase is Phase.REVEAL and game.hand is not None and game.hand.out is not None:
        unknown = (Seat(at) for at, held in enumerate(game.hand.holdings) if held is None and at != game.hand.out)
        shown = tuple(RevealPips(seat, 0) for seat in unknown)
        events = shown if _waits_for_deal(replay(shown, state)) else events
    return events if _waits_for_deal(replay(events, state)) else None


def _waits_for_deal(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.DEAL


def _in_a_gap(deal: Resolution, unseen: Unseen, state: State) -> Resolution:
    """Return a deal inside a gap: tiles missing from its full boneyard count as drawn.

    Knocks and presses of the gap are dropped.
    """
    game, yard = replay(deal.events, state).game, deal.places.around.yard
    if game is not None and game.hand is not None and yard.looks:
        yard = replace(yard, agreed=game.hand.boneyard)
    fresh = replace(unseen, knocks=(), boneyard=None, begun=(), not_so=())
    places = replace(_with(deal.places, yard), pressed=(), unseen=fresh)
    return replace(deal, places=places)


def _is_laid_out(places: Places, game: Game, *, is_first: bool) -> bool:
    """Return True if a new boneyard of plausible size lies on a table without tiles outside the zones."""
    around, seats = places.around, len(game.players)
    whole = game.rules.tiles - game.rules.dealt(seats) * seats
    is_new = is_first or around.was_empty
    is_whole = whole > 0 and _DETECTED * whole <= around.yard.count <= whole
    return is_new and is_whole and not (around.lying or around.strays)
