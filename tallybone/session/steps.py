"""Steps of a course: possible next actions with their weights, and costs of unexplained observations."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import engine
from engine.game.judge import problems_with
from engine.game.questions import copies_left
from engine.game.steps import step
from engine.value import changed
from tallybone.session.belief import NEVER, hand_tiles, log_chances, log_fault, log_side, plausible
from tallybone.session.course import SURPRISING, MatchCourse, Named, unseen_end
from tallybone.session.inputs import BY_SEAT, Button, Press
from tallybone.session.observations import Observation, Piece, turned_like
from tallybone.session.places import Footprint, Joint, Laid, halves_of, joints_at, leading, turns

# Costs in log odds of unexplained observations: a new piece; a sound or press; the press of a call; a tile of
# the boneyard more or less than counted, and one that is detected again.
_LEFT_OUT = 12.0
_UNEXPLAINED = 5.0
_UNEXPLAINED_CALL = 7.0
_MISCOUNTED = 3.0
_FOUND = 0.5
# Costs of tiles shown by a player who is out or has shown fewer; of open tiles that are not counted.
_OUT_SHOWS = 8.0
_NOT_SHOWN = 2.0
# Costs of a tile of the boneyard that is still not detected at the next look, and of one that does not exist.
_STILL_MISCOUNTED = 0.7
_SPURIOUS = 4.0
# Costs of a tile that was played and is gone, or was laid and taken away; of totals that the players contradict.
_TAKEN = 3.0
_CONTRADICTED = 8.0
# Costs of an earlier piece that is still not explained, or of a played tile that is still gone, when another is laid.
_STILL_LEFT = 1.5
_STILL_GONE = 4.0
# Maximum number of tiles that players take back. With more, the table is being cleared.
_MAX_TAKEN = 3
# Costs of actions: a pass, a draw, a draw without a hand over the table, a hand that ended unseen, a hand ended by its
# open tiles.
_PASS = 2.5
_DRAW = 1.0
_NO_HAND = 2.0
_UNSEEN_END = 6.0
_SHOWN_END = 1.0
# Cost of a pass with a sound: more than of a tile put down hard, so a single sound before a tile is that tile's.
_HEARD_PASS = 1.0
# Cost of a deal that only presses show, and number of strays above which the tiles are being shuffled.
_UNSEEN_DEAL = 4.0
_MAX_STRAYS = 3
# Costs of a tile put down with and without a sound. Both are common.
_SLAMMED = 0.7
_QUIET = 0.4
# Cost of a sound after the one that is taken for the tile's.
_LATER_SOUND = 1.5
# Cost of an action without its sound or press, and the rest of that cost if the press comes within _LATE_NS.
_UNPRESSED = 3.0
_LATE = 0.7
_LATE_NS = 8_000_000_000
# Buttons of presses on which points or turns depend.
_SCORING = (Button.CALL, Button.KNOCK, Button.DRAW)
# Bonus of "Hand is over" pressed against the rules, because the player may know better.
_DELIBERATE = 1.0
# Cost of a call after the next tile: the press is more often late than the call.
_LAPSED = 1.5
# Additional cost of a call that was not pressed. Without a call, the rules forfeit the points.
_UNCALLED = 4.0
# Costs of a call, and of points that were not called, while the machine was off.
_HEARD_CALL = 0.2
_UNHEARD_CALL = 1.6
# Maximum number of ways to play a piece.
_WAYS = 3
# Maximum distance between the middles of tiles that may touch, in sides of a half; log weight of a way to be followed.
_IN_REACH = 3.5
_MIN_WAY = -14.0
# Share of the layout that is gone when a table is swept, and of the boneyard that shows a new deal.
_SWEPT = 0.8
_DETECTED = 0.5
_MAX_ACTIONS = 60
# Number of pieces in a look above which fewer courses are followed, no other past is looked for, and the hand is
# provisional: most orders are not followed.
MANY_PIECES = 6
# Maximum number of readings of a tile at each place, and smallest share of one.
_READINGS = 8
_MIN_SHARE = 0.001
# Cost of playing a tile before another that was visible at least this much earlier. Frames come faster than this, and
# people take longer to play two tiles.
_SEEN_EARLIER = 4.0
_EARLIER_NS = 200_000_000


@dataclass(frozen=True, slots=True)
class KnownWays:
    """Ways that were found before, because finding them costs most of the time.

    Attributes:
        near: Whether a piece is in reach of a place, by their identities.
        ways: Ways to join a piece to a tile.
        played: Last way in which each play was followed.
        kept: Objects whose identities are in use: an identity is unique only as long as its object exists.
    """

    near: dict[Hashable, bool] = field(default_factory=dict)
    ways: dict[Hashable, tuple[PieceWay, ...]] = field(default_factory=dict)
    played: dict[Hashable, PieceWay] = field(default_factory=dict)
    kept: list[object] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PieceWay:
    """A possible joint of a piece with the tile that it then is, and the log weight of pips and touch."""

    tile: engine.Tile
    joint: Joint
    log_weight: float


class Steps:
    """Possible next actions of a course, and costs of unexplained observations."""

    def __init__(self, looks: tuple[Observation, ...], pieces: Mapping[engine.NodeId, Piece], known: KnownWays) -> None:
        self.looks, self._pieces, self._known, self.is_exact = looks, pieces, known, False
        self._now, absent = looks[-1], looks[-1].absent
        self._taken = absent if len(absent) <= _MAX_TAKEN else frozenset[engine.NodeId]()

    def _started(self, course: MatchCourse, look: Observation) -> MatchCourse:
        """Return a course at the beginning of a look, with the observations to explain."""
        self._now = look
        places, laid, left = {piece.name: piece for piece in look.moved}, course.laid, course.left
        if look.gone:
            left = tuple(piece for piece in left if piece.name not in look.gone)
        if places:
            left = tuple(places.get(piece.name, piece) for piece in left)
            laid = tuple(
                Laid(each.node, turned_like(each.place, places[each.node].tile)) if each.node in places else each
                for each in laid
            )
        if look.back:
            names = {each.node for each in laid}
            left = (*left, *(piece for piece in look.back if piece.name not in names))
        absent = sum(each.node in look.absent for each in laid) if look.absent else 0
        is_swept = course.is_swept or (absent > 0 and absent >= _SWEPT * len(laid))
        if is_swept and laid:  # Tiles left there may belong to the next hand, because the same double may lead both.
            still = (Piece(each.node, self._pieces[each.node].tile) for each in laid if each.node not in look.absent)
            left, laid = (*left, *still), ()
        return changed(
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
        game = course.game
        cost, missing = self._yard_cost(course, look)
        waiting = self._waiting_cost(course, look)
        for press in course.presses:  # A wrong "hand is over" changes no score, so it is no surprise.
            if isinstance(press, Press) and press.button not in _SCORING:
                waiting += _UNEXPLAINED
            else:
                # The cost of a press that nothing explains.
                cost_of_press = (
                    _LEFT_OUT
                    if not isinstance(press, Press)
                    else _UNEXPLAINED_CALL
                    if press.button is Button.CALL
                    else _UNEXPLAINED
                )
                cost += cost_of_press
        cost += _CONTRADICTED * any(game.totals[seat] != total for seat, total in look.confirmed)
        for totals in look.denied:
            cost += _CONTRADICTED * all(game.totals[seat] == total for seat, total in totals)
        cost += _CONTRADICTED * (look.continues and game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY))
        if look.turn is not None and (game.hand is None or game.hand.turn != look.turn):
            cost += 2 * _CONTRADICTED
        if game.phase in (engine.Phase.LEAD, engine.Phase.PLAY):
            cost += _UNEXPLAINED * sum(sound.confidence for sound in course.sounds)
        elif game.hand is not None and not course.is_swept:
            cost += self._shown_cost(game, game.hand, look)
        if game.phase is engine.Phase.PLAY and look.shown:
            showing = sum(bool(tiles) for tiles in look.shown)
            cost += _OUT_SHOWS * (showing >= len(game.players) - 1)
        is_new = any(isinstance(each.action, engine.NewHand) for each in course.actions)
        is_first = course.missing_first is None or is_new or game.phase is engine.Phase.LEAD
        first = missing if is_first else course.missing_first
        if not (is_first or look.taken or missing is None or course.missing is None or first is None):
            first = max(0, first - max(0, course.missing - missing))  # overlooked at the first count
        weight = course.log_weight - cost
        surprise = (weight if course.before is None else course.before.log_weight) - weight - len(course.actions)
        if sum(bool(named.name) for named in course.actions) > MANY_PIECES:
            surprise += SURPRISING
        weight -= waiting
        return changed(
            course,
            log_weight=weight,
            missing=missing,
            missing_first=first,
            refused=len(course.presses) + (0 if is_new else course.refused),
            surprise=0.0 if is_new else max(course.surprise, surprise),
            is_showing=self._is_showing(course, look),
        )

    def _waiting_cost(self, course: MatchCourse, look: Observation) -> float:
        """Return the cost of pieces that are not explained yet, or were played and are gone."""
        is_in_play = course.game.phase in (engine.Phase.LEAD, engine.Phase.PLAY)
        fresh = (piece for piece in course.left if piece in look.pieces or piece in look.back)
        cost = sum(_TAKEN if piece.name in self._taken else _LEFT_OUT for piece in fresh)
        if look.pieces and course.game.phase is engine.Phase.PLAY:
            cost += _STILL_LEFT * sum(piece not in look.pieces for piece in course.left)
            missing = look.absent.difference(look.gone)
            cost += _STILL_GONE * sum(each.node in missing for each in course.laid) if missing else 0.0
        if look.gone and not course.is_swept and is_in_play:
            cost += _TAKEN * sum(each.node in look.gone for each in course.laid)
        if look.back and course.laid:
            names = {each.node for each in course.laid}
            cost -= (_TAKEN - _FOUND) * sum(piece.name in names for piece in look.back)
        return cost

    def _is_showing(self, course: MatchCourse, look: Observation) -> bool:
        """Return True if open tiles lie in front of a player who should not show any."""
        hand = course.game.hand
        if hand is None or course.is_swept:
            return False
        if course.game.phase is engine.Phase.PLAY:
            return any(look.shown)
        return hand.out is not None and hand.out < len(look.shown) and bool(look.shown[hand.out])

    def _shown_cost(self, game: engine.Game, hand: engine.Hand, look: Observation) -> float:
        """Return the cost of open tiles after a hand that are not counted, and of those that nobody should have."""
        cost = 0.0
        last = self.looks[-2].shown if len(self.looks) > 1 else ()
        for at, tiles in enumerate(look.shown):
            held, is_new = hand.holdings[at], len(tiles) != (len(last[at]) if at < len(last) else 0)
            if tiles and at == hand.out:
                cost += _OUT_SHOWS * is_new
            elif game.phase is engine.Phase.REVEAL and held is None and (len(tiles) >= hand.sizes[at] or not is_new):
                cost += _NOT_SHOWN * bool(tiles)
            elif held is not None and held.tiles is not None and is_new:
                cost += _OUT_SHOWS * (len(tiles) > len(held.tiles))
        return cost

    def _yard_cost(self, course: MatchCourse, look: Observation) -> tuple[float, int | None]:
        """Return the cost of the boneyard's count, and the number of its tiles that are not detected now."""
        game, hand = course.game, course.game.hand
        if look.yard is None or hand is None or game.rules.draw is engine.Drawing.NONE or course.is_swept:
            return 0.0, course.missing
        if (game.phase is engine.Phase.LEAD and not hand.course.drawn) or course.missing is None:
            return 0.0, hand.boneyard - look.yard
        if game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY, engine.Phase.REVEAL):
            return 0.0, None
        missing, owed = hand.boneyard - look.yard, sum(hand.course.owed)
        if look.t_ns - course.untaken[1] < _LATE_NS:
            owed += course.untaken[0]
        if -owed <= missing - course.missing <= 0 and owed:
            return 0.0, course.missing  # forced draws that were not taken yet
        if missing == course.missing:
            earlier = None if course.before is None else course.before.before
            is_again = earlier is not None and earlier.missing is not None and abs(missing) > abs(earlier.missing)
            return _STILL_MISCOUNTED * is_again, missing
        wrong = _SPURIOUS if missing < course.missing and missing < 0 else _MISCOUNTED
        return (wrong if abs(missing) > abs(course.missing) else _FOUND) * abs(missing - course.missing), missing

    def _next(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course extended by each possible next action."""
        game, hand = course.game, course.game.hand
        if len(course.actions) > _MAX_ACTIONS:
            return
        if course.presses:
            yield from self._with_press(course, look)
        if course.is_swept or hand is None or game.phase is engine.Phase.DEAL:
            yield from self._dealt(course, look)
            return
        if game.phase is engine.Phase.MATCH_OVER:
            return
        if game.phase is engine.Phase.REVEAL:
            yield from self._revealed(course, look)
            return
        assert hand is not None
        if hand.turn is None:
            if course.left:
                for at in range(len(hand.sizes)):
                    yield from self._with(course, engine.Lead(engine.Seat(at)), math.log(len(hand.sizes)))
            return
        for piece in course.left:
            yield from self._with_play(course, piece)
        chance = hand.chance
        if chance is not None and not chance.called:
            cost = _HEARD_CALL if look.is_deaf else _UNCALLED
            yield from self._unpressed(course, engine.Call(chance.seat), Button.CALL, cost, look)
        if look.yard is None and game.rules.draw is not engine.Drawing.NONE and (course.left or look.presses):
            yield from self._unpressed(course, engine.Draw(hand.turn), Button.DRAW, _DRAW, look)
        if look.yard is not None and not (course.actions and isinstance(course.actions[-1].action, engine.Draw)):
            gone = hand.boneyard - look.yard - (course.missing or 0)
            for tiles in range(1, gone + 1):
                yield from self._drawn(course, engine.Draw(hand.turn, tiles), look)
        yield from self._passed(course, look)
        is_seen_twice = self.looks[-1] is not look or all(_is_stable(self.looks, at) for at in range(len(look.shown)))
        if look.shown and sum(bool(tiles) for tiles in look.shown) >= len(hand.sizes) - 1 and is_seen_twice:
            yield from self._with(course, engine.HandEnd(), _SHOWN_END)

    def _drawn(self, course: MatchCourse, draw: engine.Draw, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after a draw, with the side of the hand that took it."""
        cost = _DRAW + (0.0 if look.is_by_hand else _NO_HAND)
        if look.came_from and not draw.forced:
            cost -= log_side(course.own, course.other, is_own=draw.seat in look.came_from)
        for after in self._with(course, draw, cost):  # Its press may follow.
            yield changed(after, awaited=(*after.awaited, (Button.DRAW, draw.seat, look.t_ns, 0.0)))

    def _passed(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course with a pass of the player to move, with a sound or without."""
        assert course.game.hand is not None
        turn = course.game.hand.turn
        assert turn is not None
        for at, sound in enumerate(course.sounds):
            if sound.seat in (None, turn):
                rest = course.sounds[at + 1 :]
                skipped = sum(other.confidence for other in course.sounds[:at])
                cost = _HEARD_PASS + _UNEXPLAINED * skipped - math.log(max(0.01, sound.confidence))
                yield from self._with(changed(course, sounds=rest), engine.Knock(turn), cost)
                break
        yield from self._unpressed(course, engine.Knock(turn), Button.KNOCK, _PASS, look)

    def _unpressed(
        self,
        course: MatchCourse,
        action: engine.Knock | engine.Call | engine.Draw | engine.Decline,
        button: Button,
        cost: float,
        look: Observation,
    ) -> Iterator[MatchCourse]:
        """Yield the course after an action whose press was not recorded, or comes later."""
        if look.is_deaf:
            yield from self._with(course, action, cost)
            return
        awaited = (*course.awaited, (button, action.seat, look.t_ns, cost + _UNPRESSED - _LATE))
        yield from self._with(changed(course, awaited=awaited), action, cost + _UNPRESSED)

    def _with(self, course: MatchCourse, action: engine.Action, cost: float) -> Iterator[MatchCourse]:
        """Yield the course after an action, if it is possible."""
        problems = problems_with(course.game, action)
        if problems and problems[0].weight in (engine.Weight.IMPOSSIBLE, engine.Weight.DOUBTFUL):
            return
        log_weight = course.log_weight - cost + _log_faults(problems)
        game, _ = step(course.game, engine.Seq(0), action)
        if isinstance(action, engine.NewHand | engine.Redeal):  # All other tiles belong to the previous hand.
            left = tuple(piece for piece in course.left if piece in self._now.pieces)
            course = changed(course, laid=(), left=left, missing=None, missing_first=None, is_swept=False)
        yield changed(course, game=game, actions=(*course.actions, Named(action)), log_weight=log_weight)

    def _with_press(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        press, game = course.presses[0], course.game
        rest = changed(course, presses=course.presses[1:])
        if not isinstance(press, Press):
            if isinstance(press, engine.Lead) and press.seat == _leader(course):
                yield rest
            yield from self._with_entered(rest, press)
            return
        yield from self._with_awaited(course)
        hand = game.hand
        if hand is None:
            return
        chance, who = hand.chance or hand.lapsed, hand.turn if press.seat is None else press.seat
        lapsed = 0.0 if hand.chance is not None else _LAPSED
        match press.button:
            case Button.STACK:
                for host in dict.fromkeys(end.spot.host for end in hand.layout.ends):
                    node = hand.layout.find(host)
                    if hand.turn is not None and node is not None:
                        cost = 0.0 if host in look.touched else _UNPRESSED
                        yield from self._with(rest, engine.Stack(hand.turn, node.tile, host), cost)
            case Button.REDEAL:
                yield from self._with(rest, engine.Redeal(engine.RedealReason.MISDEAL), 0.0)
            case Button.HAND_END:
                yield from self._with(rest, engine.HandEnd(), -_DELIBERATE)
            case Button.CALL if chance is not None:
                yield from self._with(rest, engine.Call(chance.seat if press.seat is None else press.seat), lapsed)
            case Button.KNOCK | Button.DRAW | Button.DONE if who is not None:
                yield from self._with_entered(rest, BY_SEAT[press.button](who))
            case _:
                pass

    def _with_entered(self, course: MatchCourse, action: engine.Action) -> Iterator[MatchCourse]:
        """Yield the course after an entered action. The tiles of a draw may be taken before or after it."""
        for after in self._with(course, action, 0.0):
            tiles = action.tiles if isinstance(action, engine.Draw) else 0
            yield changed(after, untaken=(after.untaken[0] + tiles, self._now.t_ns)) if tiles else after

    def _with_awaited(self, course: MatchCourse) -> Iterator[MatchCourse]:
        """Yield the course if its next press belongs to an action before it."""
        press = course.presses[0]
        for at, (button, seat, _, gain) in enumerate(course.awaited):
            if isinstance(press, Press) and button is press.button and press.seat in (None, seat):
                awaited = (*course.awaited[:at], *course.awaited[at + 1 :])
                log_weight = course.log_weight + gain
                yield changed(course, presses=course.presses[1:], awaited=awaited, log_weight=log_weight)
                return

    def _with_play(self, course: MatchCourse, piece: Piece) -> Iterator[MatchCourse]:
        """Yield the course extended by each of the likeliest plays of a piece."""
        hand = course.game.hand
        assert hand is not None
        assert hand.turn is not None
        seats = [hand.turn]
        if hand.course.extra:  # The next player's tile ends an extra turn.
            seats.append(engine.Seat((hand.turn + hand.course.direction) % len(hand.sizes)))
        if len(piece.came_from) == 1 and piece.came_from[0] not in seats:
            seats += piece.came_from
        found = []
        for way in self._ways(course, piece):
            for seat in seats:
                play = engine.Play(seat, way.tile, way.joint.spot, way.joint.number)
                weight = self._play_weight(course.game, play, way)
                if weight > NEVER:
                    found.append((weight, play, way))
        found.sort(key=lambda each: -each[0])
        for weight, play, way in found[:_WAYS]:
            self._known.played[piece.name, play.tile, play.at] = way
            yield self._played(course, piece, play, way, weight)

    def _play_weight(self, game: engine.Game, play: engine.Play, way: PieceWay) -> float:
        """Return the log weight of a play: pips, touch, rules, and the share of copies that are left."""
        problems = problems_with(game, play)
        if problems:
            return NEVER if problems[0].weight is engine.Weight.IMPOSSIBLE else way.log_weight + _log_faults(problems)
        return way.log_weight + math.log(max(1, copies_left(game, way.tile)) / game.rules.copies)

    def _played(
        self, course: MatchCourse, piece: Piece, play: engine.Play, way: PieceWay, weight: float
    ) -> MatchCourse:
        """Return the course after a play, with the side of its hand, its sound, and the time at which it appeared."""
        left = tuple([other for other in course.left if other is not piece])
        if piece.since_ns is not None:
            weight -= _SEEN_EARLIER * sum([_is_earlier(other.since_ns, piece.since_ns) for other in left])
        own, other, sounds, cost = course.own, course.other, course.sounds, _QUIET
        for at, sound in enumerate(sounds):
            if sound.seat in (None, play.seat):  # The last sound before a tile is that tile's.
                cost = _SLAMMED + _LATER_SOUND * (len(sounds) - 1 - at)
                sounds = (*sounds[:at], *sounds[at + 1 :])
                break
        if piece.came_from:
            is_own = play.seat in piece.came_from
            weight += log_side(own, other, is_own=is_own)
            own, other = own + is_own, other + (not is_own)
        hand = course.game.hand
        if self._now.is_deaf and hand is not None and hand.chance is not None and not hand.chance.called:
            cost += _UNHEARD_CALL
        return changed(
            course,
            game=step(course.game, engine.Seq(piece.name), play)[0],
            laid=(*course.laid, Laid(piece.name, way.joint.place)),
            left=left,
            sounds=sounds,
            own=own,
            other=other,
            actions=(*course.actions, Named(play, piece.name)),
            log_weight=course.log_weight + weight - cost,
        )

    def _played_again(self, course: MatchCourse, named: Named) -> Iterator[MatchCourse]:
        """Yield the course after a play that another course has, by the seat to move now."""
        play, hand = named.action, course.game.hand
        piece = next((piece for piece in course.left if piece.name == named.name), None)
        if piece is None or hand is None or hand.turn is None or not isinstance(play, engine.Play):
            return
        way = self._known.played.get((piece.name, play.tile, play.at))
        fitting = (each for each in self._ways(course, piece) if (each.tile, each.joint.spot) == (play.tile, play.at))
        way = max(fitting, key=lambda each: each.log_weight, default=None) if way is None else way
        if way is None:
            return
        play = play if self.is_exact else changed(play, seat=hand.turn)
        weight = self._play_weight(course.game, play, way)
        if weight > NEVER:
            yield self._played(course, piece, play, way, weight)

    def _ways(self, course: MatchCourse, piece: Piece) -> Iterator[PieceWay]:
        """Yield the ways to join a piece: likely numbers at every port in reach."""
        layout = course.game.layout
        if not layout.nodes:
            for is_double in (False, True):
                joint = leading(piece.tile, is_double=is_double)
                yield from _likely_ways(piece, (joint,), course.game.rules, is_double=is_double)
            return
        for host in course.laid:
            near = (id(piece), id(host.place))
            if (is_near := self._known.near.get(near)) is None:
                is_near = math.dist(host.place.center, piece.tile.center_px) <= _IN_REACH * host.place.side
                self._known.near[near] = is_near
                self._known.kept.extend((piece, host.place))
            node = layout.find(host.node) if is_near else None
            if node is None:
                continue
            covered = layout.covered(node)
            key = (*near, node.id, node.tile.bit, node.inner, node.branches, covered)
            if (ways := self._known.ways.get(key)) is None:
                ways = tuple(_ways_at(piece, node, host.place, covered, course.game.rules))
                self._known.ways[key] = ways
            yield from ways

    def _revealed(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after the next open hand is counted."""
        hand = course.game.hand
        assert hand is not None
        for at, tiles in enumerate(look.shown):
            if tiles and hand.holdings[at] is None and at != hand.out:
                read = list(hand_tiles(course.game, engine.Seat(at), tiles))
                if len(read) < hand.sizes[at] and self.looks[-1] is look and not _is_stable(self.looks, at):
                    continue
                more = max(0, abs(len(read) - hand.sizes[at]) - 1)  # the first is in the weight of the problem
                best = [each.tiles[0] for each in read]
                yield from self._with(course, engine.Reveal(engine.Seat(at), tuple(best)), _MISCOUNTED * more)
                for place, each in enumerate(read):  # another reading of one uncertain tile
                    for tile, share in list(zip(each.tiles, each.by_share, strict=True))[1:_READINGS]:
                        shown = (*best[:place], tile, *best[place + 1 :])
                        cost = _MISCOUNTED * more + math.log(each.by_share[0] / max(share, _MIN_SHARE))
                        yield from self._with(course, engine.Reveal(engine.Seat(at), shown), cost)
                return

    def _dealt(self, course: MatchCourse, look: Observation) -> Iterator[MatchCourse]:
        """Yield the course after a new deal, if the look shows one."""
        game, hand = course.game, course.game.hand
        is_entered = bool(course.presses) and isinstance(course.presses[0], engine.Lead | engine.Draw)
        if hand is not None and not course.is_swept and not is_entered:
            return
        whole = game.rules.tiles - game.rules.dealt(len(game.players)) * len(game.players)
        is_laid_out = look.yard is not None and whole > 0 and _DETECTED * whole <= look.yard <= whole
        is_bare = look.outside == 0 and not any(look.shown)
        is_shown = (course.left and (look.yard is None or look.strays <= _MAX_STRAYS)) or (is_laid_out and is_bare)
        if game.phase is engine.Phase.LEAD or not (is_shown or course.presses):
            return
        cost = 0.0 if is_shown or is_entered else _UNSEEN_DEAL
        if hand is not None and game.phase in (engine.Phase.PLAY, engine.Phase.REVEAL):
            cost += _UNSEEN_END
        events = (*unseen_end(game), engine.NewHand())
        after = game
        for event in events:
            problems = problems_with(after, event)
            if problems and problems[0].weight is engine.Weight.IMPOSSIBLE:
                return
            after, _ = step(after, engine.Seq(0), event)
        yield changed(
            course,
            game=after,
            laid=(),
            missing=None,
            missing_first=None,
            is_swept=False,
            actions=(*course.actions, *map(Named, events)),
            log_weight=course.log_weight - cost,
        )


def _ways_at(
    piece: Piece, node: engine.Node, place: Footprint, covered: Sequence[engine.Port], rules: engine.Rules
) -> Iterator[PieceWay]:
    """Yield the ways to join a piece to a tile, with any likely numbers."""
    for is_double in (False, True):
        joints = joints_at(node, place, covered, tuple(turns(piece.tile, is_double=is_double)), is_double=is_double)
        yield from _likely_ways(piece, joints, rules, is_double=is_double)


def _likely_ways(piece: Piece, joints: Iterable[Joint], rules: engine.Rules, *, is_double: bool) -> Iterator[PieceWay]:
    """Yield the likely numbers of a piece at each joint."""
    chances = [log_chances(half, rules.max_pips) for half in halves_of(piece.tile)]
    likely = [plausible(half) for half in chances]
    for joint in joints:
        needed = frozenset(() if joint.number is None else (joint.number,))
        if is_double:
            pairs = {(number, number) for number in likely[0] | likely[1] | needed}
        else:
            firsts, seconds = (likely[at] | needed if at == joint.inner_half else likely[at] for at in (0, 1))
            pairs = {(a, b) for a in firsts for b in seconds if a != b}
        weighed = [(chances[0][first] + chances[1][second] - joint.misfit, first, second) for first, second in pairs]
        weighed.sort(reverse=True)
        fitting = [each for each in weighed if joint.number in (None, each[1 + joint.inner_half])]
        for weight, first, second in dict.fromkeys((*weighed[:_READINGS], *fitting[:_READINGS])):
            if weight > _MIN_WAY:
                at_port = replace(joint, number=(first, second)[joint.inner_half])
                yield PieceWay(engine.Tile.of(first, second), at_port, weight)


def _leader(course: MatchCourse) -> engine.Seat | None:
    """Return the seat that made the first play of the hand, or None before it."""
    plays = (named.action for each in course.chain()[1:] for named in each.actions)
    return next((action.seat for action in plays if isinstance(action, engine.Play)), None)


def _is_earlier(since_ns: int | None, other_ns: int | None) -> bool:
    """Return True if a tile was visible clearly earlier than another. False if either time is unknown."""
    return since_ns is not None and other_ns is not None and since_ns + _EARLIER_NS <= other_ns


def _is_stable(looks: Sequence[Observation], seat: int) -> bool:
    """Return True if the last two looks show the same number of open tiles in front of a seat."""
    last = [len(look.shown[seat]) if seat < len(look.shown) else 0 for look in looks[-2:]]
    return len(last) == 2 and last[0] == last[1]


def _log_faults(problems: Sequence[engine.Problem]) -> float:
    """Return the log odds of problems. A wrong number of shown tiles is evidence of a missed draw."""
    size = engine.ProblemKind.WRONG_HAND_SIZE
    return sum(-_MISCOUNTED if each.kind is size else log_fault(each.kind, each.weight) for each in problems)
