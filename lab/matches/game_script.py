"""Script a realistic game, event by event, with the positions of its tiles.

Only this script knows the hands. A camera can see the plays. Leads, draws, knocks, calls, stacks, the end of a hand
and shown tiles are entered with buttons, as at a table without boneyard and seat zones.

`resting_place` returns the position of the next tile in millimetres. Tiles do not overlap, and a tile keeps enough
distance from the open ends that it does not join.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np

import engine
from engine import Event
from lab.render.paint import STRAIGHT, Bump, Moment
from lab.render.scene import PlacedTile
from tallybone.session.inputs import Answer
from tallybone.session.places import Edge, Footprint, Laid, Quad, bends_of, distance, edges_at, overlap
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand
from vision.reading import SeenTile
from vision.tracking.watch import Frame

# Items of a simulated sitting: frames, inputs and ground truth.


class Zone(StrEnum):
    """Part of the table that a tile belongs to."""

    BONEYARD = "boneyard"
    LAYOUT = "layout"
    SEAT = "seat"


@dataclass(frozen=True, slots=True)
class ZonedTile:
    """A tile on the table, and its zone."""

    placed: PlacedTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class FramePlan:
    """A frame that is not rendered yet."""

    t_ns: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class SimulatedInput:
    """A button press, a knock or a correction."""

    t_ns: int
    value: ByHand


@dataclass(frozen=True, slots=True)
class TilesPlan:
    """Positions of the tiles and the camera from the next frame on."""

    t_ns: int
    tiles: tuple[ZonedTile, ...]
    bump: Bump


@dataclass(frozen=True, slots=True)
class TrueTable:
    """Properties of the table, reported once at the start.

    Attributes:
        t_ns: Time, before the first frame.
        look: Name of its look, a key of `room.LOOKS`.
    """

    t_ns: int
    look: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class TrueTile:
    """Exact reading of a tile, even if it is hidden, and its zone."""

    tile: SeenTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class TrueTiles:
    """True positions of the tiles in the picture, and of the camera, from the next frame on."""

    t_ns: int
    tiles: tuple[TrueTile, ...]
    bump: Bump = STRAIGHT


@dataclass(frozen=True, slots=True)
class TrueEvent:
    """A completed event of the match.

    Attributes:
        t_ns: Time after the event, between two frames.
        points: Sum of the points that the event gives to all seats.
        totals: Total of each seat after the event.
        ended_ns: Time of the last frame with motion before *t_ns*.
    """

    t_ns: int
    event: Event
    points: int
    totals: tuple[int, ...]
    ended_ns: int


@dataclass(frozen=True, slots=True)
class TrueRecord:
    """Game record of the whole match, reported at the end."""

    t_ns: int
    dgr: str


TruthItem: TypeAlias = TrueEvent | TrueRecord
Planned: TypeAlias = FramePlan | SimulatedInput | TilesPlan | TruthItem
"""An item of a script, in table coordinates."""

SimulatedItem: TypeAlias = Frame | SimulatedInput | TrueTable | TrueTiles | TruthItem
"""An item of a simulated sitting, in picture coordinates."""


# Probability that a player chooses among the plays with the most points. Otherwise the play is random.
_LIKES_TO_SCORE = 0.8
# Probabilities that players call their points in time, and that they steal if they can.
_CALLS = 0.9
_STEALS = 0.8
_DRAWS = (engine.Must.PLAY_OR_DRAW, engine.Must.BREAK_OR_DRAW, engine.Must.START_ARM_OR_DRAW, engine.Must.DRAW_A_DOUBLE)
# All lengths are in sides of a half. Minimum distance between tiles that are not joined, and between a tile and open
# ends that it does not join.
_CLEAR = 0.3
_CLEAR_OF_ENDS = 0.65
# Tiles whose centres are farther apart than this keep the minimum distance in any orientation.
_FAR = 2 * math.hypot(1.0, 0.5) + _CLEAR_OF_ENDS
# The same minimum distances for the first tiles of neighbouring arms of a starter.
_CLEAR_ARMS = 0.05
_CLEAR_OF_ARM_ENDS = 0.45
# Angle between an arm at a corner of the starter and the one at the middle of its side. It leaves room for all six
# arms.
_ARM_LEAN_RAD = math.radians(55)
# Maximum initial gap, and standard deviations of slip and skew, when a hand pushes a tile against its neighbour, in
# sides. The gap grows in steps while the tiles overlap, up to the last gap.
_LARGEST_GAP = 0.07
_SLIP = 0.04
_SKEW_RAD = math.radians(1.2)
_GAP_STEP = 0.02
_LAST_GAP = 0.3
# Lengths of free strips to test ahead of a tile. A line prefers to continue straight if at least _STRAIGHT_ON is free.
_ROOM_AHEAD = (1.2, 2.2, 3.6, 5.0)
_STRAIGHT_ON = 2.2


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A step of the game.

    Attributes:
        state: State of the match after the event.
        laid: Positions of the layout's tiles after the event, in millimetres.
    """

    event: engine.Event
    state: engine.State
    laid: tuple[Laid, ...]

    @property
    def is_seen(self) -> bool:
        """True if the camera can see the event. All other events are entered with a button."""
        return isinstance(self.event, engine.Play)


def play_out(
    rng: np.random.Generator, *, rules: engine.Rules, players: tuple[str, ...], table: PlayArea, hands: int = 1
) -> Iterator[ScriptStep]:
    """Yield the steps of a match of up to *hands* hands. The match ends earlier if it is won."""
    match = _Match(rng, table)
    yield match.step(engine.MatchStart(rules, players))
    for _ in range(hands):
        yield from _hand(match, rules, len(players))
        if match.game.phase is engine.Phase.MATCH_OVER:
            return


@dataclass(slots=True)
class _Match:
    """A match in progress, with its hidden hands and boneyard."""

    rng: np.random.Generator
    table: PlayArea
    state: engine.State = field(default_factory=engine.State)
    laid: tuple[Laid, ...] = ()
    hands: list[list[engine.Tile]] = field(default_factory=list)
    boneyard: list[engine.Tile] = field(default_factory=list)
    outcomes: tuple[engine.Outcome, ...] = ()

    @property
    def game(self) -> engine.Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> engine.Hand:
        assert self.game.hand is not None
        return self.game.hand

    def step(self, event: engine.Event) -> ScriptStep:
        self.state, self.outcomes = engine.apply(self.state, event)
        for outcome in self.outcomes:
            if isinstance(outcome, engine.ForcedDraw):
                self.draw(outcome.seat, outcome.tiles)
        return ScriptStep(event, self.state, self.laid)

    def draw(self, seat: engine.Seat, tiles: int) -> None:
        for _ in range(tiles):
            self.hands[seat].append(self.boneyard.pop())

    def deal(self, rules: engine.Rules, seats: int) -> None:
        tiles = engine.full_set(rules.max_pips) * rules.copies
        shuffled = [tiles[at] for at in self.rng.permutation(len(tiles))]
        dealt = rules.dealt(seats)
        self.hands = [shuffled[dealt * seat : dealt * (seat + 1)] for seat in range(seats)]
        self.boneyard = shuffled[dealt * seats :]
        self.laid = ()


def _hand(match: _Match, rules: engine.Rules, seats: int) -> Iterator[ScriptStep]:
    """Yield the steps of a hand, from the deal to the reveal of the players' tiles, if any."""
    match.deal(rules, seats)
    yield match.step(engine.NewHand())
    while (reason := _redeal_reason(match, rules)) is not None:
        match.deal(rules, seats)
        yield match.step(engine.Redeal(reason))
    yield match.step(engine.Lead(_leader(match)))
    while match.game.phase in (engine.Phase.LEAD, engine.Phase.PLAY):
        yield from _turn(match)
    while match.game.phase is engine.Phase.REVEAL:
        seat = next(engine.Seat(at) for at, holding in enumerate(match.hand.holdings) if holding is None)
        yield match.step(engine.Reveal(seat, tuple(match.hands[seat])))


def _redeal_reason(match: _Match, rules: engine.Rules) -> engine.RedealReason | None:
    """Return the reason to deal again, or None."""
    doubles = [sum(tile.is_double for tile in hand) for hand in match.hands]
    if rules.redeal_if_doubles_over is not None and max(doubles) > rules.redeal_if_doubles_over:
        return engine.RedealReason.TOO_MANY_DOUBLES
    is_called = match.hand.lead in (engine.LeadTile.HIGHEST_DOUBLE, engine.LeadTile.RACE)
    if is_called and rules.no_double is engine.NoDouble.REDEAL and not any(doubles):
        return engine.RedealReason.NO_DOUBLE
    return None


def _leader(match: _Match) -> engine.Seat:
    """Return the leader: by the rules, else at random if any tile or double may lead, else by the highest double."""
    if match.hand.turn is not None:
        return match.hand.turn
    if match.hand.lead in (engine.LeadTile.ANY, engine.LeadTile.ANY_DOUBLE):
        return engine.Seat(int(match.rng.integers(len(match.hands))))
    highest = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in match.hands]
    return engine.Seat(highest.index(max(highest)))


def _turn(match: _Match) -> Iterator[ScriptStep]:
    """Yield the steps of a turn: the player steals, plays, draws, passes, or ends a blocked hand."""
    seat = match.hand.turn
    assert seat is not None  # the leader is known
    stacks = engine.legal_stacks(match.state, match.hands[seat])
    if stacks and match.rng.random() < _STEALS:
        stack = stacks[int(match.rng.integers(len(stacks)))]
        match.hands[seat].remove(stack.tile)
        yield match.step(stack)
    elif (choice := _choose(match, tuple(match.hands[seat]))) is not None:
        play, place = choice
        match.hands[seat].remove(play.tile)
        match.laid = (*match.laid, Laid(engine.NodeId(match.state.next_seq), place))
        yield match.step(play)
    else:
        yield match.step(_instead_of_playing(match, seat))
        return
    for outcome in match.outcomes:
        if isinstance(outcome, engine.ForcedDraw):
            yield match.step(engine.Draw(outcome.seat, outcome.tiles, forced=True))
        elif isinstance(outcome, engine.Claimable) and match.rng.random() < _CALLS:
            yield match.step(engine.Call(outcome.seat))


def _instead_of_playing(match: _Match, seat: engine.Seat) -> engine.Event:
    """Return the event of a player who cannot play."""
    current = engine.turn(match.game)
    assert current is not None  # the hand is in progress
    if match.hand.locked:
        return engine.HandEnd()
    if engine.legal_plays(match.state, match.hands[seat]):
        return engine.Abandon()  # the table is full
    if current.must is engine.Must.PLAY_AGAIN:
        return engine.Decline(seat)
    # During the search for a leading double, a player who drew a tile and still has no double knocks.
    if current.must in _DRAWS and match.boneyard and not (match.game.phase is engine.Phase.LEAD and current.extra):
        tiles = 1
        if match.game.rules.draw is engine.Drawing.TWO and match.game.phase is engine.Phase.PLAY:
            tiles = min(2 - match.hand.course.drawn, len(match.boneyard))
        match.draw(seat, tiles)
        return engine.Draw(seat, tiles)
    return engine.Knock(seat)


def _choose(match: _Match, tiles: tuple[engine.Tile, ...]) -> tuple[engine.Play, Footprint] | None:
    """Return a random legal play and its position, usually one with the most points."""
    # None if no play fits on the table.
    plays = engine.legal_plays(match.state, tiles)
    order = [plays[at] for at in match.rng.permutation(len(plays))]
    if match.rng.random() < _LIKES_TO_SCORE:
        order.sort(key=lambda play: -_points(match.state, play))
    for play in order:
        place = resting_place(match.game.layout, match.laid, play, match.table, match.rng)
        if place is not None:
            return play, place
    return None


def _points(state: engine.State, play: engine.Play) -> int:
    """Return the points that a play scores at once."""
    _, outcomes = engine.apply(state, play)
    return sum(outcome.points for outcome in outcomes if isinstance(outcome, engine.Scored))


@dataclass(frozen=True, slots=True)
class PlayArea:
    """Area of the table for the layout, centred on (0, 0), and the size of tiles."""

    width_mm: float
    height_mm: float
    side_mm: float
    closed: tuple[Quad, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """A candidate position of a tile.

    Attributes:
        is_straight: True if the line continues straight.
        is_usual: False for positions that players choose only if there is no other room.
    """

    place: Footprint
    is_straight: bool
    is_usual: bool = True


def resting_place(
    layout: engine.Layout, laid: Sequence[Laid], play: engine.Play, table: PlayArea, rng: np.random.Generator
) -> Footprint | None:
    """Return the position of the tile of *play*, or None if there is no room.

    Of the possible positions, the one with the most room to continue is chosen.

    Args:
        layout: Layout before the play.
        laid: Positions of the tiles of *layout*, in millimetres.
        rng: Random generator for the inaccuracy of the hand.
    """
    if play.at is None:
        center = (rng.normal(0, 0.4) * table.side_mm, rng.normal(0, 0.3) * table.side_mm)
        return Footprint.square(center, rng.normal(0, 0.03), table.side_mm, lies_along=not play.tile.is_double)
    host = layout.find(play.at.host)
    places = {tile.node: tile.place for tile in laid}
    if host is None or host.id not in places:
        return None
    around = _Around(layout, places, table)
    covered = layout.covered(host)
    ways = [way for way in _ways(places[host.id], host, covered, play, rng) if around.admits(way.place, host, play.at)]
    ranked = [(around.room(way), way) for way in ways]
    return max(ranked, key=lambda pair: pair[0])[1].place if ranked else None


def _ways(
    host_place: Footprint,
    host: engine.Node,
    covered: Sequence[engine.Port],
    play: engine.Play,
    rng: np.random.Generator,
) -> list[_Way]:
    """Return all candidate positions of a tile at a port, straight ones first."""
    assert play.at is not None
    shake = _Shake(rng.uniform(0, _LARGEST_GAP), rng.normal(0, _SLIP), rng.normal(0, _SKEW_RAD))
    if host.is_starter:
        # All candidate positions of the first tile of an arm, at the middles of the long sides and the corners.
        a, c = host_place.reach
        cos, sin = math.cos(_ARM_LEAN_RAD), math.sin(_ARM_LEAN_RAD)
        sides = [Edge((a * x, 0.0), (x, 0.0), is_front=True) for x in (-1.0, 1.0)]
        corners = [Edge((a * x, c * y), (x * cos, y * sin), is_front=True) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
        inline = [
            _Way(_meet(host_place, edge, shake), is_straight=False, is_usual=not play.tile.is_double)
            for edge in sides + corners
        ]
        across = [
            _Way(_meet(host_place, edge, shake, across=True), is_straight=False)
            for edge in sides
            if play.tile.is_double
        ]
        return across + inline
    bends = () if host.branches else bends_of(play.at.port, covered)
    edges = edges_at(host_place, play.at.port, is_double=host.tile.is_double, bends=bends)
    if play.tile.is_double:
        # Doubles are crosswise to the line. Other orientations are a fallback.
        usual_edges = edges if host.tile.is_double else edges[:1]
        across = [_Way(_meet(host_place, edge, shake, across=True), edge.is_front) for edge in usual_edges]
        return across + [_Way(_meet(host_place, edge, shake), is_straight=False, is_usual=False) for edge in edges]
    ways = [_Way(_meet(host_place, edge, shake), edge.is_front) for edge in edges]
    if not host.tile.is_double:
        ways += [_Way(_meet(host_place, edges[0], shake, turn=turn), is_straight=False) for turn in (-1, 1)]
    return ways


@dataclass(frozen=True, slots=True)
class _Shake:
    """Inaccuracy with which a tile is placed. Lengths are in sides of a half."""

    gap: float
    slip: float
    skew_rad: float


def _meet(host: Footprint, edge: Edge, shake: _Shake, *, turn: int = 0, across: bool = False) -> Footprint:
    """Return the position of a tile at an edge of its host.

    The gap grows until the two do not overlap, or up to a limit.

    Args:
        turn: -1 or 1 for an elbow to the left or right, else 0.
        across: True if the tile's long edge touches the host, as for a crosswise double.
    """
    while True:
        # The position of a tile at an edge, with exactly the gap of *shake*.
        (out_a, out_c), side = edge.outward, host.side
        # Middle of the touching half, or of a crosswise double.
        beyond = shake.gap + 0.5
        near = (edge.middle[0] + beyond * out_a, edge.middle[1] + beyond * out_c)
        touching = host.at(near[0] - shake.slip * out_c, near[1] + shake.slip * out_a)
        heading_rad = host.heading_rad + math.atan2(out_c, out_a) + turn * math.pi / 2 + shake.skew_rad
        if across:
            place = Footprint.square(touching, heading_rad, side, lies_along=False)
        else:
            center = (
                touching[0] + 0.5 * side * math.cos(heading_rad),
                touching[1] + 0.5 * side * math.sin(heading_rad),
            )
            place = Footprint.square(center, heading_rad, side)
        if shake.gap > _LAST_GAP or not overlap(place.outline(), host.outline()):
            return place
        shake = replace(shake, gap=shake.gap + _GAP_STEP)


@dataclass(frozen=True, slots=True)
class _Around:
    """Existing tiles and the table, which restrict the position of a new tile."""

    layout: engine.Layout
    places: dict[engine.NodeId, Footprint]
    table: PlayArea

    def admits(self, place: Footprint, host: engine.Node, at: engine.Spot) -> bool:
        """Return True if *place* is on the table, and clear of all tiles and of all open ends except the joined one."""
        outline, side = place.outline(), self.table.side_mm
        if not self._holds(outline) or overlap(outline, self.places[host.id].outline()):
            return False
        for node in self.layout.nodes:
            other = self.places[node.id]
            if math.dist(place.center, other.center) > _FAR * side:
                continue
            is_sibling = host.is_starter and node.joins is not None and node.joins.host == host.id
            clear, clear_of_end = (_CLEAR_ARMS, _CLEAR_OF_ARM_ENDS) if is_sibling else (_CLEAR, _CLEAR_OF_ENDS)
            if node.id != host.id and distance(outline, other.outline()) < clear * side:
                return False
            for port in _open_ports(self.layout, node):
                own = node.id == host.id and (port is at.port or node.tile.is_double)
                if not own and distance(outline, _end_outline(other, node, port)) < clear_of_end * side:
                    return False
        return True

    def room(self, way: _Way) -> tuple[bool, bool, bool, float]:
        """Return a rank of a position by the room to continue: greater is better.

        Going straight ranks first if there is room.
        """
        ahead = self._room_ahead(way.place)
        can_turn = any(self._room_ahead(self._turned(way.place, turn)) > 0 for turn in (-1, 1))
        return (way.is_usual, ahead > 0 or can_turn, way.is_straight and ahead >= _STRAIGHT_ON, ahead)

    def _turned(self, place: Footprint, turn: int) -> Footprint:
        """Return the first half of a next tile around the corner, as a position to look ahead from."""
        corner = place.at(place.reach[0] + 0.5, 0.0)
        heading_rad = place.heading_rad + turn * math.pi / 2
        return Footprint.square(corner, heading_rad, self.table.side_mm, lies_along=False)

    def _room_ahead(self, place: Footprint) -> float:
        """Return the length of the longest free strip of `_ROOM_AHEAD` ahead of a tile, or 0."""
        free, reach_mm = 0.0, (_ROOM_AHEAD[-1] + _FAR) * self.table.side_mm
        near = [other for other in self.places.values() if math.dist(other.center, place.center) < reach_mm]
        for length in _ROOM_AHEAD:
            start, half_width = place.reach[0] + 0.02, 0.5 + _CLEAR
            strip = (
                place.at(start, -half_width),
                place.at(start + length, -half_width),
                place.at(start + length, half_width),
                place.at(start, half_width),
            )
            if not self._holds(strip) or any(overlap(strip, other.outline()) for other in near):
                break
            free = length
        return free

    def _holds(self, outline: Quad) -> bool:
        """Return True if an outline is completely on the table and outside the closed areas."""
        half_width, half_height = self.table.width_mm / 2, self.table.height_mm / 2
        if not all(abs(x) <= half_width and abs(y) <= half_height for x, y in outline):
            return False
        return not any(overlap(outline, area) for area in self.table.closed)


def _open_ports(layout: engine.Layout, node: engine.Node) -> tuple[engine.Port, ...]:
    """Return the ports of a tile that have no neighbour. Empty for a covered tile, even if it has free tips."""
    covered = layout.covered(node)
    if len(covered) >= 2 and not node.branches:
        return ()
    return tuple(port for port in node.ports if port not in covered)


def _end_outline(place: Footprint, node: engine.Node, port: engine.Port) -> Quad:
    """Return the outline of the part that shows the open end's number: a half, or a whole double."""
    if node.tile.is_double:
        return place.outline()
    start = 0.0 if port is engine.Port.E else -1.0
    return (place.at(start, -0.5), place.at(start + 1, -0.5), place.at(start + 1, 0.5), place.at(start, 0.5))


# Answer questions like the players of a simulated game, who know how they played and read only the choices.


Path = tuple[str, ...]
# Answers of players who have undone a play by mistake, or want no change.
_AGAIN = "count it again"
_OTHER = "something else"


class TruthfulPlayers:
    """Players who know the true match.

    They consider unchanged questions again only after another event of the match.
    """

    def __init__(self) -> None:
        self.truth = engine.State()
        self._considered: tuple[object, ...] = ()

    def observe(self, event: engine.Event) -> None:
        """Apply an event to the true match."""
        self.truth, _ = engine.apply(self.truth, event)

    def answer(self, session: Session) -> Answer | None:
        """Return the players' answer, or None if there is no new question or no right answer."""
        situation = (session.questions, len(self.truth.log))
        if not session.questions or situation == self._considered:
            return None
        self._considered = situation
        return answer_of(session, self.truth)


def answer_of(session: Session, truth: engine.State) -> Answer | None:
    """Return the players' answer to the first question that they can answer by its words, or None.

    Args:
        truth: The true match, including at least everything that *session* has seen.
    """
    game = truth.game
    if game is None:
        return None
    true = dict(zip(game.players, game.totals, strict=True))
    for question in reversed(session.questions):
        choices = question.ambiguity.choices
        scores = [_scores_in(text, game.players) for text in choices]
        right = [at for at, each in enumerate(scores) if each and all(true[name] == total for name, total in each)]
        right += [at for at, text in enumerate(choices) if text == _AGAIN]
        right += [at for at, text in enumerate(choices) if text == _OTHER and any(scores)]
        if right:
            return Answer(right[0], question.ambiguity.topic)
    return None


def _scores_in(text: str, players: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the names and totals at the beginning of a choice, such as "Ann 30, Ben 10, if Ben drew 2 tiles"."""
    found: list[tuple[str, int]] = []
    for part in text.split(", "):
        name, _, total = part.rpartition(" ")
        if name in players and total.lstrip("-").isdigit():
            found.append((name, int(total)))
    return found


def port_name(port: engine.Port) -> str:
    """Return a name of a port that does not depend on the order of plays. All arms of a starter share a name."""
    return "arm" if port.isdigit() else port.value


def paths_of(state: engine.State) -> dict[engine.NodeId, Path]:
    """Return the path from the first tile to each tile. Equal layouts have equal paths, even if node ids differ."""
    paths: dict[engine.NodeId, Path] = {}
    for node in () if state.game is None else state.game.layout.nodes:
        own = f"{node.tile} {node.inner} inside"
        before = () if node.joins is None else paths.get(node.joins.host, ())
        paths[node.id] = (*before, own if node.joins is None else f"{port_name(node.joins.port)} {own}")
    return paths
