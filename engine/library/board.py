"""A hand with all tiles known, changed in place by `push` and restored by `pop`: for searches, bots and decoding.

It plays a hand on plain integers. A set of tiles is a bit mask (`Tile.bit`), in which the second copies of a game with
two sets follow the first ones. Two lists describe the open ends: the tiles that can be laid at each, as a bit mask, and
what the layout needs to know about it. `push` changes copies of them, so that `pop` finds the old ones. A move is an
int: the bit of the tile, with the index of the open end above the bits of all tiles, or `DRAW`, `KNOCK` or `DECLINE`.

The rules are those of `engine.game`, from the same `Rules`, without what only a referee needs: illegal moves, claims,
outcomes and words. As at a `Table`, points are called and players without a double to lead pass without a move, and a
hand that is over is counted. tests/engine/test_board.py plays both side by side.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.errors import EngineError
from engine.game.closing import partners_mode
from engine.game.questions import TILES_PER_DRAW, can_draw, drawable, is_exempt, passed, tiles_to_draw
from engine.game.steps import EffectTile, course_after
from engine.rules import rules as values
from engine.rules.rules import Drawing, MatchEnd, Rules, Spinner
from engine.state.events import Decline, Draw, Holding, Knock, Play, Seat, Stack, round_nearest, settle
from engine.state.layout import ARMS, DOUBLE_PORTS, LINE, TIPS, Layout, Port, Spot, count, points_for
from engine.state.match import NO_COURSE, Game, LeadTile, Phase
from engine.tiles import Tile, full_set
from engine.value import changed

DRAW = -1
KNOCK = -2
DECLINE = -3
_E = Port.E
_STACKED = 1024  # added to the place of the tile below, where a move has the index of an end

_End = tuple[int, int, int, Port, Port, int, int]
"""Number, weight in the count (-1 if it depends on the neighbours of a double), place of the tile in the order of play,
port, arm, `OpenEnd.ways` and bit of the tile. A plain tuple, because one is made at every play."""


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """Tables that follow from the rules, so that a move only looks things up.

    Attributes:
        width: Number of tiles, counting copies.
        tiles: Tile of each bit.
        copies: Bit mask of all copies of the tile of each bit.
        first: Bit mask of the first copies.
        doubles: Bit mask of the doubles.
        fits: Bit mask of the tiles that can be laid on each number.
        laid: For each number and the bit of a tile laid on it, the outer number, its weight in the count, the tiles
            that can be laid on it, and 2 for a double, else 0.
        is_forced: Whether a player who can play has no choice but to play, in a game without a `Course`.
        halves: By number of ways, the halves of a double that count with so many neighbours.
        pays: Points of each count. Empty if plays do not score.
    """

    width: int
    tiles: dict[int, Tile]
    copies: dict[int, int]
    first: int
    doubles: int
    fits: tuple[int, ...]
    laid: tuple[dict[int, tuple[int, int, int, int]], ...]
    is_forced: bool
    halves: dict[int, tuple[int, ...]]
    pays: tuple[int, ...]


@cache
def _facts(rules: Rules) -> _Facts:
    """Return the tables of a game."""
    one_set, numbers, effects = full_set(rules.max_pips), range(rules.max_pips + 1), rules.effects
    size = len(one_set)
    tiles = {tile.bit << (size * copy): tile for copy in range(rules.copies) for tile in one_set}
    doubles = sum(bit for bit, tile in tiles.items() if tile.is_double)
    copies = {bit: sum(other for other, same in tiles.items() if same == tile) for bit, tile in tiles.items()}
    fits = [sum(bit for bit, tile in tiles.items() if tile.has(number)) for number in numbers]
    if effects is not None and effects.spell_on in numbers:
        fits[effects.spell_on] |= doubles
    laid = tuple(
        {
            bit: (tile.low, 2 * tile.low, fits[tile.low], 2)
            if tile.is_double
            else (tile.other(number), tile.other(number), fits[tile.other(number)], 0)
            for bit, tile in tiles.items()
            if bit & fits[number]
        }
        for number in numbers
    )
    is_forced = rules.must_play and not rules.voluntary_draw
    capped = (2, 1, 0) if rules.spinner_count is values.SpinnerCount.OPEN_HALVES else (0, 0, 0)
    halves = {2: (2, 2, 0), 4: (2, 2, *capped), 6: (2, 2, 0, 0, 0, 0, 0)}
    pays = tuple(points_for(total, rules) for total in range(2 * rules.max_pips * (size + 1))) if rules.unit else ()
    return _Facts(len(tiles), tiles, copies, (1 << size) - 1, doubles, tuple(fits), laid, is_forced, halves, pays)


class HandBoard:
    """A hand with all tiles known.

    Attributes:
        rules: Rules of the match.
        turn: Seat to move.
        hands: Bit mask of each seat's tiles. `tiles` returns the tiles of a mask.
        totals: Points of each seat in the match.
        boneyard: Number of tiles in the boneyard.
        course: Turn state that only some games use.
        is_over: Whether the hand is over: counted, ended by the end of the match, or without a tile that can lead.
        out: Seat that played its last tile. None if nobody did.
    """

    __slots__ = (
        *("rules", "turn", "hands", "totals", "boneyard", "course", "is_over", "out", "_facts", "_partners", "_lead"),
        *("_pile", "_past", "_fits", "_ends", "_count", "_laid", "_plays", "_has_spinner", "_stacked", "_paid"),
        *("_passes", "_is_watched", "_next"),
    )

    def __init__(self, game: Game, hands: Sequence[Sequence[Tile]], boneyard: Sequence[Tile] = ()) -> None:
        """Start from a match in which a seat is to move.

        Args:
            game: The match, in the phase LEAD or PLAY. Points must be called.
            hands: Tiles of each seat.
            boneyard: Tiles left to draw, drawn from the end.

        Raises:
            EngineError: If no seat is to move, points wait to be called, or the rules combine stacking with effects.
        """
        hand, rules = game.hand, game.rules
        if hand is None or hand.turn is None or game.phase not in (Phase.LEAD, Phase.PLAY) or not rules.refereed:
            raise EngineError("a board needs a hand in which somebody is to move")
        if hand.chance is not None and not hand.chance.called:
            raise EngineError("a board needs a hand without points to call: call or forfeit them first")
        if rules.cutthroat and rules.effects is not None:
            raise EngineError("a board does not play stacking together with effects: use a Table")
        self.rules, self._facts, self._partners = rules, _facts(rules), partners_mode(game)
        self.turn, self.totals, self.is_over = hand.turn, game.totals, False
        self.out: Seat | None = None
        used: Counter[Tile] = Counter()
        self._laid = self._bits(hand.layout.tiles, used)
        self.hands = [self._bits(tiles, used) for tiles in hands]
        self._pile = [self._bits((tile,), used) for tile in boneyard]
        self.boneyard, self._passes, self._lead = len(boneyard), hand.passes, hand.lead
        self._paid = -1 if hand.chance is None else hand.chance.seat
        self.course = NO_COURSE if hand.course == NO_COURSE else changed(hand.course, owed=())
        self._next = tuple(Seat((seat + 1) % len(hands)) for seat in range(len(hands)))
        self._is_watched = rules.match_end is MatchEnd.AFTER_NEXT_PLAY
        self._past: list[tuple[Any, ...]] = []
        self._read(hand.layout)
        self._pass_without_a_lead()

    def _bits(self, tiles: Sequence[Tile], used: Counter[Tile]) -> int:
        """Return the bit mask of *tiles*, of which *used* counts the copies."""
        bits, size = 0, self._facts.first.bit_length()
        for tile in tiles:
            bits |= tile.bit << (size * used[tile])
            used[tile] += 1
        return bits

    def _read(self, layout: Layout) -> None:
        places = {node.id: place for place, node in enumerate(layout.nodes)}
        ends: list[_End] = []
        fits, has_arm = [], False
        for end in layout.ends:
            place = places[end.spot.host]
            weight = end.number if not end.ways else 2 * end.number if end.ways == len(LINE) and place else -1
            tile = layout.nodes[place].tile.bit
            ends.append((end.number, weight, place, end.spot.port, end.arm, end.ways, tile))
            is_arm = self.rules.effects is not None and layout.nodes[place].is_starter
            fits.append(self._facts.fits[end.number] if end.playable and not (is_arm and has_arm) else 0)
            has_arm |= is_arm
        self._ends, self._fits, self._plays = ends, fits, len(places)
        self._count = count(layout, self.rules.spinner_count).total
        self._has_spinner = layout.spinner is not None
        self._stacked = frozenset(places[node] for node in layout.stacked)

    # ---- moves ----

    def moves(self) -> list[int]:
        """Return the legal moves of the seat to move. Empty if the hand is over."""
        if self.is_over:
            return []
        if not self._plays:
            return self._leads()
        rules, facts, course, hand, fits = self.rules, self._facts, self.course, self.hands[self.turn], self._fits
        if course is not NO_COURSE:
            fits = self._fits_now()
        found: list[int] = []
        at, step, has_copies = 0, 1 << facts.width, rules.copies > 1
        for fit in fits:
            tiles = hand & fit
            if has_copies:
                tiles = tiles & facts.first | tiles >> facts.first.bit_length()
            while tiles:
                bit = tiles & -tiles
                found.append(at + bit)
                tiles ^= bit
            at += step
        if self._paid >= 0 and rules.cutthroat and fits and self._paid != self.turn:
            found += self._stacks(hand)
        if found and course is NO_COURSE and facts.is_forced:
            return found
        if course.extra:
            return [*found, DECLINE]
        if can_draw(rules, self):
            return found if found and not rules.voluntary_draw else [*found, DRAW]
        return found if found and rules.must_play and not is_exempt(rules, self) else [*found, KNOCK]

    def _fits_now(self) -> list[int]:
        """Return the tiles that can be laid at each end after a draw or under a spell."""
        if tiles_to_draw(self.rules, self):
            return []
        spell = self.course.spell
        if spell is None:
            return self._fits
        return [
            fit if (place == 0 if spell.arm is None else arm is spell.arm and place != 0) else 0
            for fit, (_, _, place, _, arm, _, _) in zip(self._fits, self._ends, strict=True)
        ]

    def _leads(self) -> list[int]:
        facts, hand, lead = self._facts, self.hands[self.turn], self._lead
        held = [bit for bit in facts.tiles if hand & facts.copies[bit] and bit <= facts.first]
        doubles = [bit for bit in held if bit & facts.doubles]
        if lead is LeadTile.ANY:
            return held
        if lead is LeadTile.SET_DOUBLE:
            return [bit for bit in doubles if facts.tiles[bit].low == self.rules.max_pips]
        if lead is not LeadTile.ANY_DOUBLE:
            if not doubles and held and self.rules.no_double is values.NoDouble.HIGHEST_TILE:
                return [max(held, key=lambda bit: (facts.tiles[bit].pips, bit))]
            return doubles[-1:]
        if doubles:
            return doubles
        in_turn = self.rules.no_double is values.NoDouble.DRAW_ONE_IN_TURN
        if in_turn and self.course.without_double >= len(self.hands) and not self.course.drawn:
            return [DRAW] if drawable(self.rules, self) else []
        return [KNOCK]

    def _stacks(self, hand: int) -> Iterator[int]:
        for place, bit in {end[2]: end[6] for end in self._ends}.items():
            if hand & self._facts.copies[bit] and place not in self._stacked:
                yield (_STACKED + place << self._facts.width) + bit

    # ---- steps ----

    def push(self, move: int) -> None:
        """Make a move, which must be one of `moves`."""
        self._past.append(
            (
                (self.turn, self.hands, self.totals, self.is_over, self.out, self._fits, self._ends, self._count),
                (self._laid, self._plays, self._has_spinner, self._stacked, self._paid, self._passes),
                (self.boneyard, self.course),
            )
        )
        if move >= 0:
            self._lay(move)
        elif move == DRAW:
            # Draw tiles. If no tile fits and none is left to draw, the hand ends.
            rules, number = self.rules, self._drawn()
            self._take([self.turn] * number)
            if rules.draw is Drawing.TWO or not self._plays:
                self.course = changed(self.course, drawn=self.course.drawn + number)
            if self._plays and self.boneyard <= rules.boneyard_reserve and not any(f & ~self._laid for f in self._fits):
                self._end(None)
        elif move == KNOCK:
            self._knock()
        else:
            self._pass_turn()
        if not self._plays:
            self._pass_without_a_lead()

    def pop(self) -> None:
        """Take back the last move.

        Raises:
            IndexError: If there is none.
        """
        hand, layout, turn = self._past.pop()
        self.turn, self.hands, self.totals, self.is_over, self.out, self._fits, self._ends, self._count = hand
        self._laid, self._plays, self._has_spinner, self._stacked, self._paid, self._passes = layout
        self.boneyard, self.course = turn

    def _lay(self, move: int) -> None:
        facts, rules, seat = self._facts, self.rules, self.turn
        slot = move >> facts.width
        tile = move ^ (slot << facts.width)
        self.hands = hands = self.hands.copy()
        bit = tile if rules.copies == 1 else hands[seat] & facts.copies[tile]
        bit &= -bit  # Of two copies, the first.
        hands[seat] = rest = hands[seat] ^ bit
        self._laid |= bit
        self._passes = 0
        is_won = self._is_watched and slot < _STACKED and self._is_won()
        if slot >= _STACKED:
            self._stacked |= {slot - _STACKED}
        elif self._plays:
            self._attach(tile, slot)
        else:
            self._attach_first(tile)
        if is_won:
            self.is_over = True
            return
        if facts.pays:
            points = facts.pays[self._count]
            if points:
                self._score(seat, points, tile if slot >= _STACKED else 0)
                if self.is_over:
                    return
            self._paid = seat if points else -1
        if not rest:
            effects = rules.effects
            if effects is not None and effects.last_tile and self._ends[slot][0] == effects.draw_on:
                self._force_draws()
            self._end(seat)
            return
        if rules.effects is not None:
            self._take_effect(self._ends[slot], rules.effects)
        else:
            self.course, self.turn = NO_COURSE, self._next[seat]
        outside = ~self._laid
        for fit in self._fits:
            if fit & outside:
                return
        if rules.on_provable_block is values.ProvableBlock.END_NOW or not drawable(rules, self):
            self._end(None)

    def _attach(self, tile: int, slot: int) -> None:
        """Put a tile on the layout. The end that continues its arm takes the index of the one that it covers."""
        facts, rules, place = self._facts, self.rules, self._plays
        number, weight, host, _, arm, ways, _ = self._ends[slot]
        outer, gain, fit, is_double = facts.laid[number][tile]
        if weight < 0:
            halves, free = facts.halves[ways], sum(end[2] == host for end in self._ends)
            weight = number * (halves[ways - free] - halves[ways - free + 1])
        self._count += gain - weight
        self._plays = place + 1
        self._ends, self._fits = ends, fits = self._ends.copy(), self._fits.copy()
        ends[slot] = (outer, gain, place, _E, arm, is_double, tile)
        fits[slot] = fit
        if is_double and self._branches():
            self._has_spinner = True
            ends[slot] = (outer, -1, place, _E, arm, len(DOUBLE_PORTS), tile)
            ends += [(outer, -1, place, tip, tip, len(DOUBLE_PORTS), tile) for tip in TIPS]
            fits += [fit if rules.branch_order is values.BranchOrder.ANY else 0] * len(TIPS)
        if ways > 2:
            # Open the next arm of a starter, or the tips of a spinner if both its sides are covered.
            mine = [at for at, end in enumerate(self._ends) if end[2] == host]
            if ways == len(ARMS):
                mine = mine[:1]
            elif any(self._ends[at][3] in LINE for at in mine):
                return
            for at in mine:
                self._fits[at] = self._facts.fits[number]

    def _branches(self) -> bool:
        """Return True if a double laid now is a spinner."""
        match self.rules.spinner:
            case Spinner.NONE:
                return False
            case Spinner.FIRST:
                return not self._has_spinner
            case Spinner.ALL:
                return True
            case Spinner.STARTER_SIX:
                return not self._plays

    def _attach_first(self, tile: int) -> None:
        facts, rules, low, high = self._facts, self.rules, self._facts.tiles[tile].low, self._facts.tiles[tile].high
        is_double = low == high
        branches = is_double and self._branches()
        is_starter = branches and rules.spinner is Spinner.STARTER_SIX
        ports: tuple[Port, ...] = ARMS if is_starter else DOUBLE_PORTS if branches else LINE
        ways = len(ports) if is_double else 0
        numbers = [low if port is Port.W else high for port in ports]
        self._ends = [
            (number, -1 if is_double else number, 0, port, port, ways, tile)
            for number, port in zip(numbers, ports, strict=True)
        ]
        self._fits = [facts.fits[number] for number in numbers]
        if is_starter and rules.effects is not None:  # Of equal arms, only the first is offered.
            self._fits[1:] = [0] * (len(ARMS) - 1)
        elif branches and not is_starter and rules.branch_order is values.BranchOrder.SIDES_FIRST:
            self._fits = [0 if port in TIPS else fit for port, fit in zip(ports, self._fits, strict=True)]
        self._count, self._plays, self._has_spinner = low + high, 1, branches

    # ---- points ----

    def _score(self, seat: int, points: int, stacked: int) -> None:
        """Pay the points of a tile, at another player's cost if it was *stacked*."""
        totals = list(self.totals)
        if stacked:
            worth = points * 2 if stacked & self._facts.doubles else points
            totals[self._paid] -= worth
            points = 2 * worth if self.rules.steal_gain is values.StealGain.SCORE_PLUS_STOLEN else worth
        totals[seat] += points
        self.totals = tuple(totals)
        self.is_over = self.rules.match_end is MatchEnd.IMMEDIATE and self._is_won()

    def _is_won(self) -> bool:
        """Return True if one side is ahead and meets the target."""
        target, totals = self.rules.target, self.totals
        if target is None:
            return False
        if self.rules.partners:
            totals = (totals[0] + totals[2], totals[1] + totals[3])
        best = max(totals)
        is_met = best >= target if self.rules.target_test is values.TargetTest.REACH else best > target
        return is_met and totals.count(best) == 1

    def _end(self, out: Seat | None) -> None:
        """Count the hand, which *out* ended by the last tile, or nobody."""
        self.is_over, self.out, rule = True, out, self.rules.hand_points
        held = [self.tiles(bits) for bits in self.hands]
        pips = [sum(tile.pips for tile in tiles) for tiles in held]
        best = pips.index(min(pips)) if out is None else out
        winner: Seat | None = Seat(best)
        if rule.mode is not values.HandMode.PIPS or rule.round_each or self._partners or pips.count(pips[best]) > 1:
            result = settle([Holding.of(tiles) for tiles in held], out, rule, self._partners)
            winner, points = result.winner, result.points
        else:  # Nearly every hand. To settle it with its arithmetic takes ten times as long.
            points = sum(pips) - pips[best] * (2 if rule.subtract_own else 1)
            points = (points if rule.round_to is None else round_nearest(points, rule.round_to)) // rule.bonus_divisor
        if winner is not None:
            self.totals = tuple([total + points if at == winner else total for at, total in enumerate(self.totals)])

    def tiles(self, bits: int) -> tuple[Tile, ...]:
        """Return the tiles of a bit mask such as one of `hands`."""
        found = []
        while bits:
            bit = bits & -bits
            found.append(self._facts.tiles[bit])
            bits ^= bit
        return tuple(found)

    # ---- turns ----

    def _drawn(self) -> int:
        """Return the number of tiles that the seat to move draws at once: one, or what is left of two."""
        is_two = self.rules.draw is Drawing.TWO and self._plays
        return min(TILES_PER_DRAW - self.course.drawn, drawable(self.rules, self)) if is_two else 1

    def _take(self, seats: Sequence[int]) -> None:
        """Let each of *seats* take a tile from the end of the boneyard."""
        self.hands = self.hands.copy()
        for seat in seats:
            self.boneyard -= 1
            self.hands[seat] |= self._pile[self.boneyard]

    def _knock(self) -> None:
        """Pass. If all have passed in succession, the hand ends or a spell lapses."""
        rules, effects, has_drawn = self.rules, self.rules.effects, self.course.drawn > 0
        self._pass_turn()
        if not self._plays:
            self.course = changed(self.course, without_double=self.course.without_double + (not has_drawn))
            return
        self._passes += 1
        if self._passes < len(self.hands) or (rules.draw is Drawing.TWO and drawable(rules, self)):
            return
        if self.course.spell is not None and effects and effects.spell_deadlock is values.SpellDeadlock.LAPSES:
            self._passes, self.course = 0, changed(self.course, spell=None)
        else:
            self._end(None)

    def _pass_turn(self) -> None:
        if self.course is NO_COURSE:
            self.turn = self._next[self.turn]
        else:
            self.course, self.turn = passed(self.course, self.turn, len(self.hands))

    def _take_effect(self, end: _End, effects: values.Effects) -> None:
        """Apply the effects of a tile that left *end* open, and pass the turn."""
        number, _, place, _, arm, ways, _ = end
        if ways or place:  # A first tile that is no double has two ends, and no effect.
            laid = EffectTile(number, arm if place else None, ways > 0)
            if number == effects.draw_on:
                self._force_draws()
            has_room = any(other[2] == 0 for other in self._ends)
            self.course = course_after(self.course, self.turn, laid, effects, len(self.hands), has_room=has_room)
        if not self.course.extra:
            self._pass_turn()

    def _force_draws(self) -> None:
        """Let all others draw a tile, in turn order, as long as there are some."""
        seats, left = len(self.hands), self.boneyard - self.rules.boneyard_reserve
        self._take([(self.turn + away * self.course.direction) % seats for away in range(1, min(seats, left + 1))])

    def _pass_without_a_lead(self) -> None:
        """Pass for players who have no double to lead. The hand is over if nobody can get one."""
        while not self.is_over and not self._plays and self._leads() == [KNOCK]:
            self.is_over = not (any(bits & self._facts.doubles for bits in self.hands) or drawable(self.rules, self))
            self._knock()

    # ---- the same move as an event ----

    def event(self, move: int, layout: Layout) -> Play | Stack | Draw | Knock | Decline:
        """Return a legal move as an event for `apply`. *layout* is that of the same position."""
        seat, slot = Seat(self.turn), move >> self._facts.width
        if move == KNOCK:
            return Knock(seat)
        if move == DECLINE:
            return Decline(seat)
        if move == DRAW:
            return Draw(seat, self._drawn())
        tile = self._facts.tiles[move ^ (slot << self._facts.width)]
        if slot >= _STACKED:
            return Stack(seat, tile, layout.nodes[slot - _STACKED].id)
        if not layout.nodes:
            return Play(seat, tile, None, tile.low)
        number, _, host, port, *_ = self._ends[slot]
        return Play(seat, tile, Spot(layout.nodes[host].id, port), tile.high if tile.high == number else tile.low)
