"""Marks on doubtful actions, the question about the likeliest totals, and "Put it right". Pure.

The question names where the courses disagree. "Put it right" makes the match agree with the table, from any state: the
players choose the hand on the table and the player to move. Plays of missing tiles are removed. New tiles are played by
the likeliest course that leads to this turn, and all other doubts are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

import engine
from engine.phrases import Phrase, both, listed, phrase
from engine.state.outcomes import tiles_text
from tallybone.session.belief import SURE, shares
from tallybone.session.course import MatchCourse, Named, unseen_end
from tallybone.session.observations import Observation, Piece, SaidTotals, numbers_of
from tallybone.session.places import Places
from vision.reading import SeenTile

# Minimum share of the totals for them not to be provisional.
CERTAIN = 0.98
# Minimum share of totals to be offered, and maximum number of totals to offer beside "something else".
_MIN_SHARE = 0.02
_MAX_CHOICES = 3
# Number of tiles at one look above which their order was not watched. Most of the many courses are then not followed to
# the end, so their log weights are too sure by this factor.
_GAP = 3
_TRUST = 0.5
Totals = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """An open point, as a question to the players.

    Attributes:
        tile: Tile in question, as read. None if the question is not about one tile.
        choices: Texts of the answers.
        about: Subject of the question if it stays the same while its choices change. "" otherwise.
    """

    tile: SeenTile | None
    text: str
    choices: tuple[str, ...] = ()
    about: str = ""

    @property
    def topic(self) -> str:
        """Subject of the question, to recognise it: its choices, sorted, or its text if it has none."""
        return self.about or (" / ".join(sorted(self.choices)) if self.choices else self.text)


class Adoption(StrEnum):
    """Statement of the players about the hand on the table, to put the score right."""

    ASKED = "asked"
    SAME_HAND = "same_hand"
    HAND_BEFORE = "hand_before"
    HAND_OVER = "hand_over"
    BEFORE_OVER = "before_over"
    NEW_HAND = "new_hand"
    ENDED = "ended"
    BLOCKED = "blocked"
    VOID = "void"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Meaning:
    """Content of an answer.

    Attributes:
        confirmed: Totals of some seats.
        denied: Totals of these seats, each list of which is wrong.
        counts: Whether tiles whose plays were undone count again, or None if the answer is not about them.
        adoption: Next step of putting the score right, or None.
        turn: Player whose turn it is, or who is out, or None.
    """

    confirmed: SaidTotals = ()
    denied: tuple[SaidTotals, ...] = ()
    counts: bool | None = None
    adoption: Adoption | None = None
    turn: engine.Seat | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the meaning of each of its choices, in the same order."""

    ambiguity: Ambiguity
    answers: tuple[Meaning, ...] = ()

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.ambiguity.choices):
            raise ValueError(f"expected {len(self.ambiguity.choices)} answers, got {len(self.answers)}")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Certainty of the best course of a beam.

    Attributes:
        by_totals: The likeliest course with each totals, the best course first, each with the share of the totals.
        is_odd: Something on the table is not explained.
    """

    by_totals: tuple[tuple[MatchCourse, float], ...]
    is_odd: bool

    @classmethod
    def of(cls, beam: Sequence[MatchCourse]) -> Doubt:
        """Return the doubt about the first course of a beam, whose totals come first."""
        weights: dict[Totals, float] = defaultdict(float)
        best: dict[Totals, MatchCourse] = {}
        if beam[0].game.phase is not engine.Phase.REVEAL and not _is_short(beam[0].game):
            # A course that still waits for a reveal has no totals to compare.
            beam = [course for course in beam if course.game.phase is not engine.Phase.REVEAL]
        trust = _TRUST if _has_gap(beam[0]) else 1.0
        for course, share in zip(beam, shares(trust * course.log_weight for course in beam), strict=True):
            weights[course.game.totals] += share
            best.setdefault(course.game.totals, course)
        first = beam[0].game.totals
        ranked = sorted(best, key=lambda totals: (totals != first, -weights[totals]))
        return cls(tuple((best[totals], weights[totals]) for totals in ranked), beam[0].is_odd)

    @property
    def is_certain(self) -> bool:
        """True if the totals need no mark."""
        return self.by_totals[0][1] >= CERTAIN and not self.is_odd

    @property
    def is_asked(self) -> bool:
        """True if the players are asked about the totals."""
        return len(self.by_totals) > 1 and self.by_totals[0][1] < SURE


def _is_short(game: engine.Game) -> bool:
    """Return True if a player has shown another number of tiles than the rules expect."""
    hand = game.hand
    return hand is not None and any(
        held is not None and held.tiles is not None and len(held.tiles) != size
        for held, size in zip(hand.holdings, hand.sizes, strict=True)
    )


def _has_gap(course: MatchCourse) -> bool:
    """Return True if many tiles of this hand appeared at one look."""
    return any(sum(bool(named.name) for named in each.actions) > _GAP for each in course.chain())


def doubtful_actions(doubt: Doubt, guessed: Set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the actions on which doubtful totals depend, each as the number of looks back and the index there."""
    best = doubt.by_totals[0][0]
    found = set(guessed)
    for other, share in doubt.by_totals[1:]:
        if share >= 1.0 - CERTAIN:
            found |= {where for where, _ in _differences(best, other)[0]}
    return found


def guesses(best: MatchCourse, looks: Sequence[Observation]) -> set[tuple[int, int]]:
    """Return the actions that are guesses about what was neither seen nor entered, as in `doubtful_actions`."""
    return {
        (back, at)
        for back, (course, look) in enumerate(zip(best.chain()[:0:-1], reversed(looks), strict=False))
        for at, (action, _) in enumerate(course.actions)
        if isinstance(action, engine.RevealPips | engine.Abandon) and action not in look.presses
    }


def ask_about_totals(doubt: Doubt, pieces: Mapping[engine.NodeId, Piece]) -> Question:
    """Return the question which of the likeliest totals are right, with the first difference of their courses.

    If that is a play, the question shows its tile. After a gap or something odd, it states all totals, because those on
    which the courses agree may also be wrong.
    """
    likely = [course for course, share in doubt.by_totals if share >= _MIN_SHARE]
    offered, best = likely[:_MAX_CHOICES], likely[0]
    seats = [
        at
        for at in range(len(best.game.totals))
        if _has_gap(best) or best.is_odd or len({course.game.totals[at] for course in likely}) > 1
    ]
    reasons = [_reason(course, best if course is not best else offered[-1]) for course in offered]
    choices = [_option(course, seats, reason) for course, reason in zip(offered, reasons, strict=True)]
    about = " / ".join(choice if reason is None else reason for choice, reason in zip(choices, reasons, strict=True))
    choices.append(phrase("something else"))
    offers = [tuple((engine.Seat(at), course.game.totals[at]) for at in seats) for course in offered]
    answers = (*(Meaning(confirmed=totals) for totals in offers), Meaning(denied=tuple(offers)))
    named = [named.name for course in offered[1:] for _, named in _differences(best, course)[0][:1] if named.name]
    piece = pieces.get(engine.NodeId(named[0])) if named else None
    tile = None if piece is None else piece.tile
    return Question(Ambiguity(tile, phrase("what is the score?"), tuple(choices), about), answers)


def _reason(course: MatchCourse, other: MatchCourse) -> Phrase | None:
    """Return the actions in *course* that are not in *other*, or the other way round. None without any."""
    own, others = _differences(course, other)
    if own:
        return phrase("if {what}", what=_as_text(course.game, [named for _, named in own[:2]]))
    if others:
        return phrase("if not: {what}", what=_as_text(course.game, [named for _, named in others[:2]]))
    return None


def _option(course: MatchCourse, seats: Sequence[int], reason: Phrase | None) -> Phrase:
    """Return totals as text, with the reason for them."""
    game = course.game
    totals = listed(phrase("{name} {total}", name=game.players[at], total=game.totals[at]) for at in seats)
    return totals if reason is None else listed((totals, reason))


def _path(course: MatchCourse) -> list[MatchCourse]:
    """Return a course and all courses before it, the last first."""
    path = [course]
    while path[-1].before is not None:
        path.append(path[-1].before)
    return path


_CourseAction = tuple[tuple[int, int], Named]


def _differences(course: MatchCourse, other: MatchCourse) -> tuple[list[_CourseAction], list[_CourseAction]]:
    """Return the actions that only *course* has, and those that only *other* has."""
    mine, theirs = (
        [each for each in side if not isinstance(each[1].action, engine.NewHand)]
        for side in _since_common(course, other)
    )
    keys = [[_key(named) for _, named in each] for each in (mine, theirs)]
    own, others = list[_CourseAction](), list[_CourseAction]()
    for tag, a, a_end, b, b_end in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if tag != "equal":
            own += mine[a:a_end]
            others += theirs[b:b_end]
    return own, others


def _since_common(course: MatchCourse, other: MatchCourse) -> tuple[list[_CourseAction], list[_CourseAction]]:
    """Return the actions of two courses since the last look up to which they are the same."""
    mine, theirs = _path(course), _path(other)
    shared = {id(step) for step in theirs}
    common = next((id(step) for step in mine if id(step) in shared), None)
    return _actions(mine, common), _actions(theirs, common)


def _actions(path: Sequence[MatchCourse], until: int | None) -> list[_CourseAction]:
    """Return the actions of a path from its end, in order, each with the number of looks back and its index there."""
    found: list[_CourseAction] = []
    for back, course in enumerate(path):
        if id(course) == until:
            break
        found[:0] = [((back, at), named) for at, named in enumerate(course.actions)]
    return found


def _key(named: Named) -> tuple[object, ...]:
    action = named.action
    if isinstance(action, engine.Play):
        return (named.name, action.seat, action.tile, None if action.at is None else action.at.host)
    details = (getattr(action, field, None) for field in ("seat", "tiles", "tile"))
    return (type(action), *details)


def _as_text(game: engine.Game, actions: Sequence[Named]) -> Phrase:
    shown = []
    for action, _ in actions:
        name = game.players[getattr(action, "seat", 0)]
        match action:
            case engine.Play():
                shown.append(phrase("{name} played the {tile}", name=name, tile=action.tile))
            case engine.Stack():
                shown.append(phrase("{name} stacked a second {tile}", name=name, tile=action.tile))
            case engine.Draw():
                shown.append(phrase("{name} drew {tiles}", name=name, tiles=tiles_text(action.tiles)))
            case engine.Knock():
                shown.append(phrase("{name} passed", name=name))
            case engine.Call():
                shown.append(phrase("{name} called the points", name=name))
            case engine.Lead():
                shown.append(phrase("{name} led", name=name))
            case engine.Reveal():
                pips = sum(tile.pips for tile in action.tiles)
                shown.append(phrase("{name} had {pips} pips left", name=name, pips=pips))
            case engine.RevealPips():
                shown.append(phrase("{name} had {pips} pips left", name=name, pips=action.pips))
            case engine.HandEnd() | engine.Abandon():
                shown.append(phrase("the hand ended"))
            case _:
                shown.append(phrase("{name} acted", name=name))
    return both(shown)


def ask_about_hand(state: engine.State, adoption: Adoption) -> Question:
    """Return the next question, with the choices that are possible in this state of the match."""
    game = state.game
    assert game is not None
    if adoption is Adoption.HAND_OVER:
        return _ask_how_it_ended(game)
    number = 0 if game.hand is None else game.hand.number
    choices: dict[str, Meaning] = {}
    going = [number] if number else []
    if number > 1 and (game.phase is engine.Phase.LEAD or _was_abandoned(state)):
        going.append(number - 1)
    for hand in going:
        adopted = Adoption.SAME_HAND if hand == number else Adoption.HAND_BEFORE
        for at, name in enumerate(game.players):
            text = phrase("hand {number} goes on: it is {name}'s turn", number=hand, name=name)
            choices[text] = Meaning(adoption=adopted, turn=engine.Seat(at))
    if game.phase is engine.Phase.PLAY:
        choices[phrase("hand {number} is over", number=number)] = Meaning(adoption=Adoption.HAND_OVER)
    if game.phase is engine.Phase.LEAD and number > 1:
        choices[phrase("hand {number} is over", number=number - 1)] = Meaning(adoption=Adoption.BEFORE_OVER)
    if (
        game.phase is not engine.Phase.LEAD
        and engine.problem_with(engine.replay(unseen_end(game), state), engine.NewHand()) is None
    ):
        choices[phrase("hand {number} has been dealt", number=number + 1)] = Meaning(adoption=Adoption.NEW_HAND)
    choices[phrase("leave everything unchanged")] = Meaning(adoption=Adoption.NOTHING)
    return Question(Ambiguity(None, phrase("which hand is on the table?"), tuple(choices)), tuple(choices.values()))


def _was_abandoned(state: engine.State) -> bool:
    """Return True if the hand before the last deal was abandoned, perhaps by a wrong answer."""
    kept = engine.entries(state)
    dealt = max(at for at, entry in enumerate(kept) if isinstance(entry.action, engine.NewHand))
    return isinstance(kept[dealt - 1].action, engine.Abandon)


def _ask_how_it_ended(game: engine.Game) -> Question:
    """Return a question about the end of the hand in play. Players with the fewest tiles come first."""
    assert game.hand is not None  # checked by the caller
    sizes = game.hand.sizes
    choices = {
        phrase("{name} is out", name=game.players[seat]): Meaning(adoption=Adoption.ENDED, turn=engine.Seat(seat))
        for seat in sorted(range(len(sizes)), key=lambda seat: sizes[seat])
    }
    choices[phrase("nobody can play")] = Meaning(adoption=Adoption.BLOCKED)
    choices[phrase("it does not count")] = Meaning(adoption=Adoption.VOID)
    return Question(Ambiguity(None, phrase("how did the hand end?"), tuple(choices)), tuple(choices.values()))


def adopting_events(state: engine.State, places: Places, meaning: Meaning) -> tuple[engine.Event, ...]:
    """Return the events that prepare the match for an answer about the hand on the table."""
    match meaning.adoption:
        case Adoption.NEW_HAND:
            end = () if state.game is None else unseen_end(state.game)
            guessed = tuple(
                engine.Seq(state.next_seq + at) for at, each in enumerate(end) if not isinstance(each, engine.Abandon)
            )
            return (*end, *((engine.Inferred(guessed),) if guessed else ()), engine.NewHand())
        case Adoption.ENDED:
            assert meaning.turn is not None
            return _end(state, engine.Domino(meaning.turn))
        case Adoption.BLOCKED:
            return _end(state, engine.HandEnd())
        case Adoption.VOID:
            return _end(state, engine.Abandon())
        case Adoption.BEFORE_OVER:
            return _without_deal(state)
        case Adoption.SAME_HAND | Adoption.HAND_BEFORE | Adoption.HAND_OVER:
            events = _without_deal(state) if meaning.adoption is Adoption.HAND_BEFORE else ()
            now = engine.replay(events, state)
            if now.game is not None and now.game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY):
                events = (*events, *_reopened(now))
            return (*events, *_removals(engine.replay(events, state), places))
        case _:
            return ()


def _without_deal(state: engine.State) -> tuple[engine.Event, ...]:
    return (engine.Undo(max(entry.seq for entry in engine.entries(state) if isinstance(entry.action, engine.NewHand))),)


def _end(state: engine.State, end: engine.Domino | engine.HandEnd | engine.Abandon) -> tuple[engine.Event, ...]:
    """Return an end of the hand. The players overrule the tile count, so one that contradicts it is accepted."""
    return (end, *((engine.ItStands(state.next_seq),) if engine.problem_with(state, end) else ()))


def _reopened(state: engine.State) -> tuple[engine.Event, ...]:
    """Return events that undo the end of the last hand. Empty if no hand has ended."""
    # If the hand ended because its last play went out, the play is kept and its player gets one more dealt tile,
    # provided that the hand is then in play.
    done, later = engine.entries(state), tuple[engine.Event, ...]()
    for last in reversed(done):
        if _is_in_play(engine.apply(state, engine.Undo(last.seq))[0]):
            break
        later = (engine.Undo(last.seq),)
    else:
        return ()
    game, action = state.game, last.action
    deals = (each for each in reversed(done) if each.seq < last.seq and isinstance(each.action, engine.NewHand))
    dealt = next(deals, None)
    if (
        game is not None
        and isinstance(action, engine.Play)
        and dealt is not None
        and isinstance(dealt.action, engine.NewHand)
    ):
        sizes = list(dealt.action.dealt or (game.rules.dealt(len(game.players)),) * len(game.players))
        sizes[action.seat] += 1
        events = (*later, engine.Amend(dealt.seq, replace(dealt.action, dealt=tuple(sizes))))
        if _is_in_play(engine.replay(events, state)):
            return events
    return (engine.Undo(last.seq),)


def _is_in_play(state: engine.State) -> bool:
    return state.game is not None and state.game.phase is engine.Phase.PLAY


def _removals(state: engine.State, places: Places) -> tuple[engine.Event, ...]:
    """Return events that take back the plays of missing tiles and of all tiles joined to them."""
    # A tile with the same numbers elsewhere on the table is the same one. If the removal would make other plays
    # irregular, return an undo of the first of these plays and everything after it.
    present = {known.node for known in places.known if not known.is_missing}
    others = [numbers_of(tile) for tile in (*(waiting.tile for waiting in places.waiting), *places.dismissed)]
    gone: list[engine.NodeId] = []
    for node in () if state.game is None else state.game.layout.nodes:
        is_there = node.id in present or others.count((node.tile.low, node.tile.high)) == 1
        if not is_there or (node.joins is not None and node.joins.host in gone):
            gone.append(node.id)
    if not gone:
        return ()
    removals = tuple(engine.Remove(engine.Seq(node)) for node in reversed(gone))
    return (
        removals
        if len(engine.replay(removals, state).irregular) <= len(state.irregular)
        else (engine.Undo(engine.Seq(gone[0])),)
    )
