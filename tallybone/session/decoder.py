"""Decode a match from observations: keep its likeliest courses, and revise their past if a look contradicts it.

A course is a sequence of actions, grouped by the look before which they happened. Its weight, in log odds, is the sum
over its actions and over what it leaves unexplained at each look: pips and touch of every tile, problems with the
rules, the sides of the hands, sounds, presses, the boneyard's count, and the tiles shown at the end. A look extends
every course by the actions that the turn allows, until the look is explained, or what is left has a cost. The likeliest
courses are kept, one of each position.

Nothing hidden is a fact. A draw, a pass or the leader may have been missed, so after a costly look, the likeliest
courses are changed in one place of the hand's past, played again from there, and extended by the look. The turn decides
who made each repeated action, so one pass more moves all later plays by a seat.

So far only `benchmarks/bench_decoder.py` uses it, and compares it with the referee (docs/experiments/gaps.md).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine import (
    Abandon,
    Action,
    Call,
    Decline,
    Draw,
    Drawing,
    Game,
    Hand,
    HandEnd,
    Knock,
    Layout,
    Lead,
    NewHand,
    NodeId,
    Phase,
    Play,
    Problem,
    ProblemKind,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Seat,
    Seq,
    Stack,
    Tile,
    Weight,
)
from engine.game.judge import problems_with
from engine.game.questions import copies_left
from engine.game.steps import step
from tallybone.session.inputs import BY_SEAT, Button, KnockHeard, Press
from tallybone.session.observations import Observation, Piece
from tallybone.session.referee.belief import log_chances, log_fault, log_side, plausible
from tallybone.session.referee.observing import turned_like
from tallybone.session.referee.open_hands import hand_tiles
from tallybone.session.referee.plays import SEEN_EARLIER, is_earlier
from tallybone.session.touching import Joint, Laid, halves_of, joints_at, leading, turns

# Costs in log odds of what a course leaves unexplained: a new piece; a sound or press; a tile of the boneyard more or
# less than counted, and one that is detected again; tiles shown by a player who is out or has shown fewer; open tiles
# that are not counted.
_LEFT_OUT, _UNEXPLAINED, _MISCOUNTED, _FOUND, _OUT_SHOWS, _NOT_SHOWN = 12.0, 5.0, 3.0, 0.5, 8.0, 2.0
# Costs of actions: a pass, a draw, a draw without a hand over the table, a hand that ended unseen, a hand ended by its
# open tiles.
_PASS, _DRAW, _NO_HAND, _UNSEEN_END, _SHOWN_END = 2.5, 1.0, 2.0, 6.0, 1.0
# Costs of a tile put down with and without a sound. Both are common.
_SLAMMED, _QUIET = 0.7, 0.4
# Costs of an action whose sound or press is missing, and what is left of it if the press comes within _LATE_NS.
_UNPRESSED, _LATE, _LATE_NS = 3.0, 0.7, 6_000_000_000
# Maximum number of courses kept, and of ways to play a piece; log odds to the best course below which one is dropped.
_BEAM, _WAYS, _NEGLIGIBLE = 24, 3, 9.0
# Cost of a look above which another past is looked for, by how much it may be worse, and number of changes at one look.
_TROUBLE, _MOST_WORSE, _ROUNDS = 2.5, 14.0, 4
# Maximum number of looks that are played again for all changes at a look. It bounds the time.
_MOST_REPEATED = 1_500
# Numbers of tiles by which a draw is changed at once.
_TILES = (1, 2, 4)
# Maximum distance between the middles of tiles that may touch, in sides of a half; log weight of a way to be followed.
_IN_REACH, _LEAST_WAY = 3.5, -14.0
# Share of the layout that is gone when a table is swept, and of the boneyard that shows a new deal.
_SWEPT, _DETECTED = 0.8, 0.5
_MAX_ACTIONS = 60


@dataclass(frozen=True, slots=True)
class PieceWay:
    """A possible joint of a piece with the tile that it then is, and the log weight of pips and touch."""

    tile: Tile
    joint: Joint
    log_weight: float


@dataclass(frozen=True, slots=True)
class MatchCourse:
    """A possible course of the match up to a look, or while the actions before a look are added.

    Attributes:
        game: The match.
        laid: Names and places of the layout's tiles.
        left: Pieces that are not explained.
        sounds, presses: Sounds and presses of the look that are not explained.
        missing: Number of tiles of the boneyard that are not detected. None before the first count of a hand.
        own, other: Number of hands that came from their player's side, and from another.
        log_weight: Log weight.
        actions: Actions since the look before, in order.
        before: The course at the look before.
        is_swept: The layout of a finished hand is gone from the table.
        awaited: Presses that are still missing after their actions, each with its seat and time.
    """

    game: Game
    laid: tuple[Laid, ...] = ()
    left: tuple[Piece, ...] = ()
    sounds: tuple[KnockHeard, ...] = ()
    presses: tuple[Press, ...] = ()
    missing: int | None = None
    own: int = 0
    other: int = 0
    log_weight: float = 0.0
    actions: tuple[Action, ...] = ()
    before: MatchCourse | None = None
    is_swept: bool = False
    awaited: tuple[tuple[Button, Seat, int], ...] = ()

    @property
    def key(self) -> Hashable:
        """Everything on which later actions depend. Of two courses with the same key, the likelier is followed."""
        game, hand = self.game, self.game.hand
        if hand is None:
            return (game.phase, self.left, self.sounds, self.presses)
        return (
            game.totals,
            game.phase,
            hand.turn,
            hand.sizes,
            hand.boneyard,
            hand.out,
            hand.chance,
            hand.course,
            frozenset(node.id for node in game.layout.nodes),
            tuple(node.tile for node in game.layout.nodes[:1]),
            self.left,
            self.sounds,
            self.presses,
            self.awaited,
            hand.claims,
        )

    def path(self) -> list[tuple[Action, ...]]:
        """Return the actions before each look."""
        found, at = list[tuple[Action, ...]](), self
        while at.before is not None:
            found.append(at.actions)
            at = at.before
        return found[::-1]


class Decoder:
    """Keeps the likeliest courses of a match, likeliest first.

    Attributes:
        beam: The courses. The first is the best.
    """

    def __init__(self, game: Game) -> None:
        """Start from *game*, before a deal."""
        self.beam = [MatchCourse(game)]
        self._looks: list[Observation] = []
        self._pieces: dict[NodeId, Piece] = {}
        self._known_joints: dict[Hashable, tuple[Joint, ...]] = {}

    def add(self, look: Observation) -> None:
        """Extend the courses by a look."""
        for piece in (*look.pieces, *look.moved):
            self._pieces[piece.name] = piece
        self._looks.append(look)
        before = self.beam
        after = self._explained(before, look)
        rounds = 0
        while rounds < _ROUNDS and after[0].log_weight < before[0].log_weight - _TROUBLE and len(self._looks) > 1:
            rounds, best = rounds + 1, after[0].log_weight
            others = self._other_pasts([each for each in before if each.before is not None])
            if not others:
                break
            after = _best([*after, *self._explained(others, look)])
            if after[0].log_weight <= best:
                break
            before = [after[0].before] if after[0].before is not None else before
        self.beam = after

    # ---- forwards ----

    def _explained(self, beam: Sequence[MatchCourse], look: Observation) -> list[MatchCourse]:
        """Return the courses after a look."""
        ended: list[MatchCourse] = []
        todo = [self._begun(course, look) for course in beam]
        while todo:
            longer: list[MatchCourse] = []
            for course in todo:
                ended.append(self._ended(course, look))
                longer += self._next(course, look)
            worst = max((course.log_weight for course in ended), default=-math.inf) - _NEGLIGIBLE
            todo = [course for course in _best(longer) if course.log_weight > worst]
        return _best(ended)

    def _begun(self, course: MatchCourse, look: Observation) -> MatchCourse:
        """Return a course at the beginning of a look, with what is to be explained."""
        places = {piece.name: piece for piece in look.moved}
        left = tuple(places.get(piece.name, piece) for piece in course.left if piece.name not in look.gone)
        laid = course.laid
        gone = sum(each.node in look.gone for each in laid)
        is_swept = course.is_swept or (gone > 0 and gone >= _SWEPT * len(laid))
        laid = tuple(
            Laid(each.node, turned_like(each.place, places[each.node].tile)) if each.node in places else each
            for each in laid
            if each.node not in look.gone
        )
        if is_swept:  # Tiles left there may belong to the next hand, because the same double may lead both.
            left, laid = (*left, *(Piece(each.node, self._pieces[each.node].tile) for each in laid)), ()
        return replace(
            course,
            laid=laid,
            left=(*left, *look.pieces),
            sounds=look.sounds,
            presses=look.presses,
            before=course,
            actions=(),
            is_swept=is_swept,
            awaited=tuple(press for press in course.awaited if look.t_ns - press[2] < _LATE_NS),
        )

    def _ended(self, course: MatchCourse, look: Observation) -> MatchCourse:
        """Return the course with the costs of everything that the look leaves unexplained."""
        cost, missing = self._yard_cost(course, look)
        cost += _LEFT_OUT * len([piece for piece in course.left if piece in look.pieces])
        cost += _UNEXPLAINED * len(course.presses)
        if course.game.phase in (Phase.LEAD, Phase.PLAY):
            cost += _UNEXPLAINED * sum(sound.confidence for sound in course.sounds)
        elif course.game.hand is not None and not course.is_swept:
            cost += self._shown_cost(course.game, course.game.hand, look)
        if course.game.phase is Phase.PLAY and look.shown:
            showing = sum(bool(tiles) for tiles in look.shown)
            cost += _OUT_SHOWS * (showing >= len(course.game.players) - 1)
        return replace(course, log_weight=course.log_weight - cost, missing=missing)

    def _shown_cost(self, game: Game, hand: Hand, look: Observation) -> float:
        """Return the cost of open tiles after a hand that are not counted, and of those that nobody should have."""
        cost = 0.0
        last = self._looks[-2].shown if len(self._looks) > 1 else ()
        for at, tiles in enumerate(look.shown):
            held, is_new = hand.holdings[at], len(tiles) != (len(last[at]) if at < len(last) else 0)
            if tiles and at == hand.out:
                cost += _OUT_SHOWS * is_new
            elif game.phase is Phase.REVEAL and held is None and (len(tiles) >= hand.sizes[at] or not is_new):
                cost += _NOT_SHOWN * bool(tiles)
            elif held is not None and held.tiles is not None and is_new:
                cost += _OUT_SHOWS * (len(tiles) > len(held.tiles))
        return cost

    def _yard_cost(self, course: MatchCourse, look: Observation) -> tuple[float, int | None]:
        """Return the cost of the boneyard's count, and the number of its tiles that are not detected now."""
        game, hand = course.game, course.game.hand
        if look.yard is None or hand is None or game.rules.draw is Drawing.NONE or course.is_swept:
            return 0.0, course.missing
        if (game.phase is Phase.LEAD and not hand.course.drawn) or course.missing is None:
            return 0.0, hand.boneyard - look.yard
        if game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
            return 0.0, None
        missing, owed = hand.boneyard - look.yard, sum(hand.course.owed)
        if -owed <= missing - course.missing <= 0 and owed:
            return 0.0, course.missing  # forced draws that were not taken yet
        each = _MISCOUNTED if abs(missing) > abs(course.missing) else _FOUND
        return each * abs(missing - course.missing), missing

    def _next(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course extended by each possible next action."""
        game, hand = course.game, course.game.hand
        if len(course.actions) > _MAX_ACTIONS:
            return
        if course.presses:
            yield from self._with_press(course, look)
        if course.is_swept or hand is None or game.phase is Phase.DEAL:
            yield from self._dealt(course, look)
            return
        if game.phase is Phase.MATCH_OVER:
            return
        if game.phase is Phase.REVEAL:
            yield from self._revealed(course, look)
            return
        assert hand is not None
        if hand.turn is None:
            if course.left:
                for at in range(len(hand.sizes)):
                    yield from self._with(course, Lead(Seat(at)), math.log(len(hand.sizes)))
            return
        for piece in course.left:
            yield from self._with_play(course, piece)
        chance = hand.chance
        if chance is not None and not chance.called:
            yield from self._unpressed(course, Call(chance.seat), Button.CALL, 0.1, look)
        if look.yard is None and game.rules.draw is not Drawing.NONE and (course.left or look.presses):
            yield from self._unpressed(course, Draw(hand.turn), Button.DRAW, _DRAW, look)
        if look.yard is not None and not (course.actions and isinstance(course.actions[-1], Draw)):
            gone = hand.boneyard - look.yard - (course.missing or 0)
            for tiles in range(1, gone + 1):
                yield from self._drawn(course, Draw(hand.turn, tiles), look)
        yield from self._passed(course, look)
        if look.shown and sum(bool(tiles) for tiles in look.shown) >= len(hand.sizes) - 1:
            yield from self._with(course, HandEnd(), _SHOWN_END)

    def _drawn(self, course: MatchCourse, draw: Draw, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after a draw, with the side of the hand that took it."""
        cost = _DRAW + (0.0 if look.is_by_hand else _NO_HAND)
        if look.came_from and not look.pieces and not draw.forced:
            cost -= log_side(course.own, course.other, is_own=draw.seat in look.came_from)
        yield from self._with(course, draw, cost)

    def _passed(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course with a pass of the player to move, with a sound or without."""
        assert course.game.hand is not None
        turn = course.game.hand.turn
        assert turn is not None
        for at, sound in enumerate(course.sounds):
            if sound.seat in (None, turn):
                rest = course.sounds[at + 1 :]
                skipped = sum(other.confidence for other in course.sounds[:at])
                cost = _UNEXPLAINED * skipped - math.log(max(0.01, sound.confidence))
                yield from self._with(replace(course, sounds=rest), Knock(turn), cost)
                break
        yield from self._unpressed(course, Knock(turn), Button.KNOCK, _PASS, look)

    def _unpressed(
        self, course: MatchCourse, action: Knock | Call | Draw | Decline, button: Button, cost: float, look: Observation
    ) -> Iterator[MatchCourse]:
        """Yield the course after an action whose press was not recorded, or comes later."""
        if look.is_deaf:
            yield from self._with(course, action, cost)
            return
        awaited = (*course.awaited, (button, action.seat, look.t_ns))
        yield from self._with(replace(course, awaited=awaited), action, cost + _UNPRESSED)

    def _with(self, course: MatchCourse, action: Action, cost: float) -> Iterator[MatchCourse]:
        """Yield the course after an action, if it is possible."""
        problems = problems_with(course.game, action)
        if problems and problems[0].weight in (Weight.IMPOSSIBLE, Weight.DOUBTFUL):
            return
        log_weight = course.log_weight - cost + _log_faults(problems)
        game, _ = step(course.game, Seq(0), action)
        yield replace(course, game=game, actions=(*course.actions, action), log_weight=log_weight)

    def _with_press(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after its next press."""
        press, game = course.presses[0], course.game
        rest = replace(course, presses=course.presses[1:])
        for at, (button, seat, _) in enumerate(course.awaited):
            if button is press.button and press.seat in (None, seat):
                awaited = (*course.awaited[:at], *course.awaited[at + 1 :])
                yield replace(rest, awaited=awaited, log_weight=course.log_weight + _UNPRESSED - _LATE)
                break
        hand = game.hand
        if hand is None:
            return
        chance, who = hand.chance or hand.lapsed, hand.turn if press.seat is None else press.seat
        match press.button:
            case Button.STACK:
                touched = {piece.name for piece in look.moved}
                for host in dict.fromkeys(end.spot.host for end in hand.layout.ends):
                    node = hand.layout.find(host)
                    if hand.turn is not None and node is not None:
                        cost = 0.0 if host in touched else _UNPRESSED
                        yield from self._with(rest, Stack(hand.turn, node.tile, host), cost)
            case Button.REDEAL:
                yield from self._with(rest, Redeal(RedealReason.MISDEAL), 0.0)
            case Button.HAND_END:
                yield from self._with(rest, HandEnd(), 0.0)
            case Button.CALL if chance is not None:
                yield from self._with(rest, Call(chance.seat if press.seat is None else press.seat), 0.0)
            case Button.KNOCK | Button.DRAW | Button.DONE if who is not None:
                yield from self._with(rest, BY_SEAT[press.button](who), 0.0)
            case _:
                pass

    def _with_play(self, course: MatchCourse, piece: Piece) -> Iterator[MatchCourse]:
        """Yield the course extended by each of the likeliest plays of a piece."""
        game, hand = course.game, course.game.hand
        assert hand is not None
        assert hand.turn is not None
        left = tuple(other for other in course.left if other is not piece)
        earlier = sum(is_earlier(other.since_ns, piece.since_ns) for other in left)
        found = []
        for way in self._ways(course, piece):
            play = Play(hand.turn, way.tile, way.joint.spot, way.joint.number)
            problems = problems_with(game, play)
            if problems and problems[0].weight is Weight.IMPOSSIBLE:
                continue
            copies = 0.0 if problems else math.log(max(1, copies_left(game, way.tile)) / game.rules.copies)
            found.append((way.log_weight + _log_faults(problems) + copies, play, way))
        found.sort(key=lambda each: -each[0])
        sound_cost, sounds = _QUIET, course.sounds
        for at, sound in enumerate(course.sounds):
            if sound.seat in (None, hand.turn):
                sound_cost, sounds = _SLAMMED, (*course.sounds[:at], *course.sounds[at + 1 :])
                break
        for weight, play, way in found[:_WAYS]:
            after, _ = step(game, Seq(piece.name), play)
            own, other, side = course.own, course.other, 0.0
            if piece.came_from:
                is_own = play.seat in piece.came_from
                side = log_side(own, other, is_own=is_own)
                own, other = own + is_own, other + (not is_own)
            yield replace(
                course,
                game=after,
                laid=(*course.laid, Laid(piece.name, way.joint.place)),
                left=left,
                sounds=sounds,
                own=own,
                other=other,
                actions=(*course.actions, play),
                log_weight=course.log_weight + weight + side - sound_cost - SEEN_EARLIER * earlier,
            )

    def _ways(self, course: MatchCourse, piece: Piece) -> Iterator[PieceWay]:
        """Yield the ways to join a piece: likely numbers at every port in reach."""
        rules, layout = course.game.rules, course.game.layout
        chances = [log_chances(half, rules.max_pips) for half in halves_of(piece.tile)]
        likely = [plausible(half) for half in chances]
        for is_double in (False, True):
            for joint in self._joints(layout, course.laid, piece, is_double=is_double):
                needed = frozenset(() if joint.number is None else (joint.number,))
                if is_double:
                    pairs = {(number, number) for number in likely[0] | likely[1] | needed}
                else:
                    firsts, seconds = (likely[at] | needed if at == joint.inner_half else likely[at] for at in (0, 1))
                    pairs = {(a, b) for a in firsts for b in seconds if a != b}
                for first, second in sorted(pairs):
                    weight = chances[0][first] + chances[1][second] - joint.misfit
                    if weight > _LEAST_WAY:
                        at_port = replace(joint, number=(first, second)[joint.inner_half])
                        yield PieceWay(Tile.of(first, second), at_port, weight)

    def _joints(self, layout: Layout, laid: Sequence[Laid], piece: Piece, *, is_double: bool) -> Iterator[Joint]:
        """Yield the joints of a piece at the tiles near to it."""
        if not layout.nodes:
            yield leading(piece.tile, is_double=is_double)
            return
        middle = piece.tile.center_px
        for host in laid:
            if math.dist(host.place.center, middle) > _IN_REACH * host.place.side:
                continue
            node = layout.find(host.node)
            if node is None:
                continue
            key = (piece.name, middle, is_double, node, host.place, covered := layout.covered(node))
            if (found := self._known_joints.get(key)) is None:
                ways = tuple(turns(piece.tile, is_double=is_double))
                found = joints_at(node, host.place, covered, ways, is_double=is_double)
                self._known_joints[key] = found
            yield from found

    def _revealed(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after the next open hand is counted."""
        hand = course.game.hand
        assert hand is not None
        for at, tiles in enumerate(look.shown):
            if tiles and hand.holdings[at] is None and at != hand.out:
                read = tuple(best.tiles[0] for best in hand_tiles(course.game, Seat(at), tiles))
                if len(read) < hand.sizes[at] and self._looks[-1] is look and not _is_stable(self._looks, at):
                    continue
                more = max(0, abs(len(read) - hand.sizes[at]) - 1)  # the first is in the weight of the problem
                yield from self._with(course, Reveal(Seat(at), read), _MISCOUNTED * more)
                return

    def _dealt(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after a new deal, if the look shows one."""
        game, hand = course.game, course.game.hand
        if hand is not None and not course.is_swept:
            return
        whole = game.rules.tiles - game.rules.dealt(len(game.players)) * len(game.players)
        is_laid_out = look.yard is not None and whole > 0 and _DETECTED * whole <= look.yard <= whole
        is_bare = look.lying == 0 and not any(look.shown)
        if game.phase is Phase.LEAD or not (course.left or (is_laid_out and is_bare)):
            return
        cost, events = 0.0, list[Action]()
        if hand is not None and game.phase in (Phase.PLAY, Phase.REVEAL):
            cost = _UNSEEN_END
            unknown = [Seat(at) for at, held in enumerate(hand.holdings) if held is None and at != hand.out]
            events = [Abandon()] if hand.out is None else [RevealPips(seat, 0) for seat in unknown]
        events.append(NewHand())
        after = game
        for event in events:
            problems = problems_with(after, event)
            if problems and problems[0].weight is Weight.IMPOSSIBLE:
                return
            after, _ = step(after, Seq(0), event)
        yield replace(
            course,
            game=after,
            laid=(),
            missing=None,
            is_swept=False,
            actions=(*course.actions, *events),
            log_weight=course.log_weight - cost,
        )

    # ---- backwards ----

    def _other_pasts(self, beam: Sequence[MatchCourse]) -> list[MatchCourse]:
        """Return the likeliest courses changed in one place of their past, in the same hand."""
        found: list[MatchCourse] = []
        budget = _MOST_REPEATED
        for course in beam[:2]:
            chain = [course]
            while chain[-1].before is not None:
                chain.append(chain[-1].before)
                if any(isinstance(action, NewHand) for action in chain[-2].actions):
                    break
            chain.reverse()  # chain[0] is before the hand; chain[i].actions belong to look i
            looks = self._looks[len(self._looks) - len(chain) :]
            for at in range(len(chain) - 1, 0, -1):
                for changed in _changes(chain[at]) if budget > 0 else ():
                    again = self._again(chain[at - 1], changed, looks[at - 1])
                    later = at + 1
                    while again is not None and later < len(chain):
                        if again.log_weight < chain[later - 1].log_weight - _MOST_WORSE:
                            again = None
                            break
                        again = self._again(again, chain[later].actions, looks[later - 1])
                        later, budget = later + 1, budget - 1
                    if again is not None and again.log_weight > beam[0].log_weight - _MOST_WORSE:
                        found.append(again)
        return _best(found)

    def _again(self, before: MatchCourse, actions: Sequence[Action], look: Observation) -> MatchCourse | None:
        """Return a course after a look with given actions, each by the seat to move then."""
        course = self._begun(before, look)
        for action in actions:
            after = self._repeat(course, action, look)
            if after is None:
                return None
            course = after
        return self._ended(course, look)

    def _repeat(self, course: MatchCourse, action: Action, look: Observation) -> MatchCourse | None:
        """Return the likeliest course after an action like *action*, by the seat to move. None if there is none."""
        hand = course.game.hand
        turn = None if hand is None else hand.turn
        options: Iterator[MatchCourse]
        match action:
            case Play(tile=tile, at=at):
                if turn is None or course.game.phase not in (Phase.LEAD, Phase.PLAY):
                    return None
                options = (
                    after
                    for piece in course.left
                    for after in self._with_play(course, piece)
                    if isinstance(after.actions[-1], Play)
                    and (after.actions[-1].tile, after.actions[-1].at) == (tile, at)
                )
            case Knock() if turn is not None:
                options = self._passed(course, look)
            case Draw(tiles=tiles, forced=forced):
                if turn is None:
                    return None
                options = self._drawn(course, Draw(turn, tiles, forced), look)
            case NewHand() | Abandon() | RevealPips():
                options = self._dealt(course, look) if isinstance(action, NewHand) else iter((course,))
            case Reveal(seat=seat) if course.game.phase is Phase.REVEAL:
                shown = Reveal(seat, action.tiles)
                options = (after for after in self._revealed(course, look) if after.actions[-1] == shown)
            case Lead() | HandEnd():
                options = self._with(course, action, 0.0)
            case _:
                options = self._with_press(course, look) if course.presses else self._with(course, action, 0.0)
        return max(options, key=lambda each: each.log_weight, default=None)


def _changes(course: MatchCourse) -> Iterator[list[Action]]:
    """Yield changed actions of a look: a draw, pass or reveal more or less, or another leader."""
    kept, hand = list(course.actions), course.game.hand
    for at, action in enumerate(kept):
        if isinstance(action, Play | Knock):
            for tiles in _TILES:
                yield [*kept[:at], Draw(Seat(0), tiles), *kept[at:]]
            if isinstance(action, Play):
                yield [*kept[:at], Knock(Seat(0)), *kept[at:]]
        if isinstance(action, Knock):
            yield [*kept[:at], *kept[at + 1 :]]
        if isinstance(action, Draw | Reveal):
            yield [*kept[:at], *kept[at + 1 :]]
        if isinstance(action, Draw):
            for tiles in range(1, action.tiles):
                yield [*kept[:at], replace(action, tiles=tiles), *kept[at + 1 :]]
        if isinstance(action, Lead) and hand is not None:
            yield from (
                [*kept[:at], Lead(Seat(other)), *kept[at + 1 :]]
                for other in range(len(hand.sizes))
                if other != action.seat
            )


def _is_stable(looks: Sequence[Observation], seat: int) -> bool:
    """Return True if the last two looks show the same number of open tiles in front of a seat."""
    last = [len(look.shown[seat]) if seat < len(look.shown) else 0 for look in looks[-2:]]
    return len(last) == 2 and last[0] == last[1]


def _log_faults(problems: Sequence[Problem]) -> float:
    """Return the log odds of problems. A wrong number of shown tiles says that a draw was missed."""
    size = ProblemKind.WRONG_HAND_SIZE
    return sum(-_MISCOUNTED if each.kind is size else log_fault(each.kind, each.weight) for each in problems)


def _best(courses: Sequence[MatchCourse]) -> list[MatchCourse]:
    """Return the likeliest courses, one of each key."""
    found: list[MatchCourse] = []
    keys = set[Hashable]()
    for course in sorted(courses, key=lambda each: -each.log_weight):
        if found and course.log_weight < found[0].log_weight - _NEGLIGIBLE:
            break
        key = course.key
        if key not in keys:
            keys.add(key)
            found.append(course)
        if len(found) == _BEAM:
            break
    return found
