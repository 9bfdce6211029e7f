"""Decode a match from observations: keep its likeliest courses, and revise their past if a look contradicts it.

A course is a sequence of actions, grouped by the look before which they happened. Its weight, in log odds, is the sum
over its actions and over what it leaves unexplained at each look: pips and touch of every tile, problems with the
rules, the sides of the hands, sounds, presses, the boneyard's count, and the tiles shown at the end. A look extends
every course by the actions that the turn allows, until the look is explained, or what is left has a cost. The likeliest
courses are kept, one of each position.

Nothing hidden is a fact. A draw, a pass or the leader may have been missed, so after a costly look, the likeliest
courses are changed in one place of the hand's past, played again from there, and extended by the look. The turn decides
who made each repeated action, so one pass more moves all later plays by a seat.

`tallybone.session` describes the theory, with all weights.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product

import engine
from engine.state.match import Applied, Entry
from engine.value import changed
from tallybone.session.belief import NEVER, log_chances
from tallybone.session.course import MatchCourse, Named
from tallybone.session.inputs import BY_SEAT, Press
from tallybone.session.observations import Observation, Piece, numbers_of
from tallybone.session.places import Laid, footprint_of, halves_of
from tallybone.session.steps import MANY_PIECES, KnownWays, Steps

# Maximum number of courses kept; log odds to the best course below which one is dropped.
_BEAM = 24
_NEGLIGIBLE = 9.0
# Cost of a look above which another past is looked for, by how much it may be worse, and number of changes at one look.
_TROUBLE = 2.5
_MAX_WORSE = 14.0
_ROUNDS = 3
# Number of looks that are kept from before the hand.
_MORE_LOOKS = 2
# Maximum number of looks that are played again for all changes at a look. It bounds the time.
_MAX_REPEATED = 1_000
# Numbers of tiles by which a draw is changed at once.
_TILES = (1, 2, 4)
# Number of tiles of the next hand after which a hand is no longer in question.
_FROZEN_AFTER = 4
# Log odds above which a new reading contradicts the tile that was played.
_CONTRADICTS = 1.0
# Difference of log weights below which two courses to the same state are the same course.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Decoder:
    """The likeliest courses of a match, likeliest first, and what they are based on.

    Attributes:
        beam: The courses. The first is the best.
        looks: The looks since the start, or the last ones.
        pieces: All pieces by name, as they are now or were last.
    """

    beam: tuple[MatchCourse, ...]
    looks: tuple[Observation, ...] = ()
    pieces: Mapping[engine.NodeId, Piece] = field(default_factory=dict)
    _known: KnownWays = field(default_factory=KnownWays, compare=False, repr=False)

    @classmethod
    def of_log(
        cls, start: MatchCourse, steps: Sequence[Applied], end: engine.Game, pieces: Mapping[engine.NodeId, Piece]
    ) -> Decoder:
        """Return the decoder of a hand that goes on from the log, as if each of its actions had been a look.

        The piece of a play is named by its number in the log.
        """
        course, looks = start, list[Observation]()
        search = _Search((Observation(0),), pieces, known := KnownWays())
        search.is_exact = True
        for each, after in zip(steps, (*(later.before for later in steps[1:]), end), strict=False):
            action, name = each.entry.action, engine.NodeId(each.entry.seq)
            look = _look_of(each.entry, pieces.get(name))
            again = search._again(course, [Named(action, name if isinstance(action, engine.Play) else 0)], look)
            if again is not None and again.game == after:
                looks.append(look)
            else:  # What happened before can no longer be in question.
                laid = course.laid
                if isinstance(action, engine.Play) and name in pieces:
                    laid = (*laid, Laid(name, footprint_of(pieces[name].tile)))
                if after is None:  # before the match
                    continue
                again, looks = MatchCourse(after, laid, own=start.own, other=start.other), []
            course = changed(again, missing=start.missing, missing_first=start.missing_first, surprise=0.0)
        return cls((course,), tuple(looks), pieces, known)

    def added(self, look: Observation) -> Decoder:
        """Return the decoder after a look."""
        pieces = {**self.pieces, **{piece.name: piece for piece in (*look.pieces, *look.moved)}}
        search = _Search((*self.looks, look), pieces, self._known)
        beam = tuple(_frozen(search.extended(self.beam, look)))
        depth = max(len(course.chain()) for course in beam[:2])
        return replace(self, beam=beam, looks=search.looks[-depth - _MORE_LOOKS :], pieces=pieces)


class _Search(Steps):
    """Extends courses by a look, and changes their past."""

    def extended(self, before: Sequence[MatchCourse], look: Observation) -> list[MatchCourse]:
        """Return the likeliest courses after a look."""
        reread = [piece for piece in look.moved if self._is_contradicted(before[0], piece)]
        for piece in reread:
            before = self._decoded_again(before, piece)
        after = self._explained(before, look)
        if look.pieces and after[0].log_weight < before[0].log_weight - _TROUBLE:
            after = _best([*after, *self._played_on(before, look)])
        is_short = len(self.looks) > 1 and len(look.pieces) <= MANY_PIECES
        is_short = (
            is_short and before[0].game.phase is not engine.Phase.DEAL
        )  # nothing of the hand before is in doubt now
        attempts = list[MatchCourse]()
        while is_short and len(attempts) < _ROUNDS and after[0].log_weight < before[0].log_weight - _TROUBLE:
            attempts.append(before[0])
            others = self._other_pasts([each for each in before if each.before is not None])
            after = _best([*after, *self._explained(others, look)]) if others else after
            # A second change may be needed before the first pays.
            bases = (each for each in (after[0].before, *others) if not any(each is one for one in attempts))
            before = [each for each in bases if each is not None][:1]
            if not before:
                break
        return after

    def _is_contradicted(self, best: MatchCourse, piece: Piece) -> bool:
        """Return True if the present and the first reading together contradict the tile that was played."""
        node = best.game.layout.find(piece.name)
        first = next((old for look in self.looks for old in look.pieces if old.name == piece.name), None)
        if node is None or first is None or node.tile == engine.Tile.of(*numbers_of(piece.tile)):
            return False
        rules, weights = best.game.rules, dict[engine.Tile, float]()
        both = [[log_chances(half, rules.max_pips) for half in halves_of(tile)] for tile in (first.tile, piece.tile)]
        turned = math.dist(first.tile.half_centers_px[0], piece.tile.half_centers_px[0]) > math.dist(
            first.tile.half_centers_px[0], piece.tile.half_centers_px[1]
        )
        one, other = both[0], both[1][::-1] if turned else both[1]
        for a, b in product(range(rules.max_pips + 1), repeat=2):
            weight = one[0][a] + other[0][a] + one[1][b] + other[1][b]
            weights[engine.Tile.of(a, b)] = max(weights.get(engine.Tile.of(a, b), NEVER), weight)
        return max(weights.values()) - weights.get(node.tile, NEVER) > _CONTRADICTS

    def _decoded_again(self, beam: Sequence[MatchCourse], piece: Piece) -> list[MatchCourse]:
        """Return the courses before the last look, decoded again since *piece* appeared, with its present reading."""
        at = next(at for at, look in enumerate(self.looks) if any(old.name == piece.name for old in look.pieces))
        looks = list(self.looks)
        pieces = tuple(replace(old, tile=piece.tile) if old.name == piece.name else old for old in looks[at].pieces)
        looks[at] = replace(looks[at], pieces=pieces)
        since = len(looks) - 1 - at
        before: dict[int, MatchCourse] = {}
        for course in beam:
            step: MatchCourse | None = course
            for _ in range(since):
                step = None if step is None else step.before
            if step is not None:
                before[id(step)] = step
        if not before:
            return list(beam)
        self.looks = tuple(looks)
        again = list(before.values())
        for look in looks[at:-1]:
            again = self._explained(again, look)
        return again

    def _played_on(self, beam: Sequence[MatchCourse], look: Observation) -> list[MatchCourse]:
        """Return the courses after *look* if open tiles did not end the hand, though they seemed to."""
        chain = beam[0].chain()
        ends = [
            at
            for at in range(1, len(chain))
            if any(isinstance(one.action, engine.HandEnd) for one in chain[at].actions)
        ]
        if not ends or beam[0].is_swept or beam[0].game.phase in (engine.Phase.LEAD, engine.Phase.PLAY):
            return []
        if len(chain) > len(self.looks):
            return []
        looks = self.looks[len(self.looks) - len(chain) :]
        again = [chain[ends[0] - 1]]
        for each in looks[ends[0] - 1 : -1]:
            again = self._explained(again, replace(each, continues=True))
        return self._explained(again, look)

    # ---- forwards ----

    def _explained(self, beam: Sequence[MatchCourse], look: Observation) -> list[MatchCourse]:
        """Return the courses after a look."""
        ended: list[MatchCourse] = []
        todo = [self._started(course, look) for course in beam]
        while todo:
            longer: list[MatchCourse] = []
            for course in todo:
                ended.append(self._ended(course, look))
                longer += self._next(course, look)
            worst = max((course.log_weight for course in ended), default=-math.inf) - _NEGLIGIBLE
            most = _BEAM if len(longer) == 0 or len(longer[0].left) <= MANY_PIECES else _BEAM // 3
            todo = [course for course in _best(longer)[:most] if course.log_weight > worst]
        return _best(ended)

    # ---- backwards ----

    def _other_pasts(self, beam: Sequence[MatchCourse]) -> list[MatchCourse]:
        """Return the likeliest courses changed in one place of their past, in the same hand."""
        found: list[MatchCourse] = []
        budget = _MAX_REPEATED
        for course in beam[:2]:
            path = course.chain()[-len(self.looks) :]  # path[i].actions belong to the look before looks[i]
            looks = self.looks[len(self.looks) - len(path) :]
            for at in range(len(path) - 1, 0, -1):
                for revised in self._changes(path[at]) if budget > 0 else ():
                    again = self._again(path[at - 1], revised, looks[at - 1])
                    later, budget = at + 1, budget - len(revised)
                    while again is not None and later < len(path):
                        if again.log_weight < path[later - 1].log_weight - _MAX_WORSE:
                            again = None
                            break
                        again = self._again(again, path[later].actions, looks[later - 1])
                        later, budget = later + 1, budget - 1 - len(path[later].actions)
                    if again is not None and again.log_weight > beam[0].log_weight - _MAX_WORSE:
                        found.append(again)
        return _best(found)

    def _again(self, before: MatchCourse, actions: Sequence[Named], look: Observation) -> MatchCourse | None:
        """Return a course after a look with given actions, each by the seat to move then."""
        course = self._started(before, look)
        for action in actions:
            after = self._repeat(course, action, look)
            if after is None:
                return None
            course = after
        while course.presses and (later := next(self._with_awaited(course), None)) is not None:
            course = later
        return self._ended(course, look)

    def _repeat(self, course: MatchCourse, named: Named, look: Observation) -> MatchCourse | None:
        """Return the likeliest course after an action like *named*, by the seat to move. None if there is none."""
        hand, action = course.game.hand, named.action
        turn = None if hand is None else hand.turn
        options: Iterator[MatchCourse]
        pressed = (
            after
            for after in (self._with_press(course, look) if course.presses else ())
            if len(after.actions) > len(course.actions) and type(after.actions[-1].action) is type(action)
        )
        match action:
            case engine.Play():
                if turn is None or course.game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY):
                    return None
                options = self._played_again(course, named)
            case engine.Knock() if turn is not None:
                options = chain(pressed, self._passed(course, look))
            case engine.Draw(tiles=tiles, forced=forced):
                if turn is None:
                    return None
                options = chain(pressed, self._drawn(course, engine.Draw(turn, tiles, forced), look))
            case engine.NewHand() | engine.Abandon() | engine.RevealPips():
                options = (
                    chain(pressed, self._dealt(course, look)) if isinstance(action, engine.NewHand) else iter((course,))
                )
            case engine.Reveal(seat=seat) if course.game.phase is engine.Phase.REVEAL:
                shown = engine.Reveal(seat, action.tiles)
                options = (after for after in self._revealed(course, look) if after.actions[-1].action == shown)
            case _:
                options = chain(pressed, self._with(course, action, 0.0))
        return max(options, key=lambda each: each.log_weight, default=None)

    def _changes(self, course: MatchCourse) -> Iterator[list[Named]]:
        """Yield changed actions of a look: a draw, pass or reveal more or less, another leader, a tile taken back."""
        kept, hand = list(course.actions), course.game.hand
        for at, (action, name) in enumerate(kept):
            rest = [*kept[:at], *kept[at + 1 :]]
            match action:
                case engine.Play():
                    yield from ([*kept[:at], Named(engine.Draw(engine.Seat(0), tiles)), *kept[at:]] for tiles in _TILES)
                    yield [*kept[:at], Named(engine.Knock(engine.Seat(0))), *kept[at:]]
                    if name in self._taken:
                        yield rest
                case engine.Knock():
                    yield from ([*kept[:at], Named(engine.Draw(engine.Seat(0), tiles)), *kept[at:]] for tiles in _TILES)
                    yield rest
                case engine.Draw(tiles=tiles):
                    yield rest
                    for other in (*range(1, tiles), tiles + 1):
                        yield [*kept[:at], Named(replace(action, tiles=other)), *kept[at + 1 :]]
                case engine.Reveal():
                    yield rest
                case engine.Lead(seat=seat) if hand is not None:
                    for other in range(len(hand.sizes)):
                        if other != seat:
                            yield [*kept[:at], Named(engine.Lead(engine.Seat(other))), *kept[at + 1 :]]
                case _:
                    pass


def _look_of(entry: Entry, piece: Piece | None) -> Observation:
    """Return an observation of an action that is in the log."""
    action, seat = entry.action, getattr(entry.action, "seat", None)
    if isinstance(action, engine.Play):
        return Observation(0, pieces=() if piece is None else (piece,))
    if entry.inferred:
        return Observation(0, is_deaf=True)
    button = next((each for each in BY_SEAT if seat is not None and BY_SEAT[each](seat) == action), None)
    return Observation(0, presses=(action if button is None else Press(button, seat),))


def _frozen(beam: list[MatchCourse]) -> list[MatchCourse]:
    """Return the courses without those that differ in an earlier hand, once the present hand has gone on."""
    hand = beam[0].game.hand
    if hand is None or len(hand.layout.nodes) < _FROZEN_AFTER:
        return beam
    return [each for each in beam if each.game.hand is not None and each.game.hand.scores_before == hand.scores_before]


def _best(courses: Sequence[MatchCourse]) -> list[MatchCourse]:
    """Return the likeliest courses, one of each key, with the weights of all that led to the same key."""
    found: dict[Hashable, MatchCourse] = {}
    ranked = sorted(courses, key=lambda each: -each.log_weight)
    for course in ranked:
        if course.log_weight < ranked[0].log_weight - _NEGLIGIBLE:
            break
        key = course.key
        best = found.get(key)
        if best is None:
            if len(found) < _BEAM:
                found[key] = course
        elif best.log_weight - course.log_weight > _SAME:
            total = best.log_weight + math.log1p(math.exp(course.log_weight - best.log_weight))
            found[key] = changed(best, log_weight=total)
    return sorted(found.values(), key=lambda each: -each.log_weight)
