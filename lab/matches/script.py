"""Script a match in front of a camera, with hands, sounds, button presses and disturbances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import engine
from lab.matches.game_script import ScriptStep
from lab.matches.items import Planned, TrueEvent, TrueRecord, Zone
from lab.matches.stage import CameraPush, LayoutPositions, PushTime, TableStage, slide
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.places import Point

# Time with an empty table before the first hand, and after the last hand with its tiles still on the table.
_BEFORE_S, _AFTER_S = 1.5, 2.5
# Pause after a knock. A tile played sooner could explain the knock (session.feeding.KNOCK_WAITS_NS).
_AFTER_KNOCK_S = (2.3, 3.2)
# Pause before a knock or press, in which the player looks at the table.
_LOOKS_S = (0.7, 1.2)
# Pause after the boneyard is laid out.
_COUNTED_S = (1.3, 2.0)
_HURRIED_S = 0.1
# Duration of a gesture with many tiles, and number of gestures to lay out the boneyard and to clear the table.
_MANY_S, _LAYING_GESTURES, _SWEEPS = (1.2, 1.8), 2, 3
# Probability that the sensor reports the seat of a knock, and that the knocking hand is visible.
_KNOWS_SIDE, _KNOCKS_IN_SIGHT = 0.8, 0.6

# Duration of an idle gesture and of its stay at the destination, then of a hand's rest and of the gesture that brings
# it.
_IDLE_S, _STAYS_S = (0.7, 1.6), 0.3
_REST_S, _TO_REST_S = (1.5, 4.0), 1.0
_PUSH_S = 0.3
_MAX_PUSHED = 2
# Distance from the border of the picture at which a hand touches the player's own side of the table.
_OWN_SIDE_MM = 45.0


def script(steps: Iterator[ScriptStep], stage: TableStage, pushes: tuple[CameraPush, ...]) -> Iterator[Planned]:
    """Yield the items of a match in order of time, with *pushes* of the camera."""
    yield from stage.still(_BEFORE_S)
    director = _Director(stage, pushes)
    state = engine.State()
    for step in steps:
        yield from director.act(step, state)
        yield director.truth_of(step.event, state, step.state)
        yield from director.pause(step.event)
        state = step.state
    yield from stage.still(_AFTER_S)
    yield TrueRecord(stage.between_ns, engine.format_record(engine.record_of(state)))


@dataclass(slots=True)
class _Director:
    """Converts the steps of a game to the players' actions.

    Attributes:
        stage: The table.
        pushes: Pushes of the camera.
        plays: Number of plays so far.
        positions: Positions of the tiles of the layout.
        has_boneyard: True if the boneyard of this hand is on the table.
    """

    stage: TableStage
    pushes: tuple[CameraPush, ...]
    plays: int = 0
    positions: LayoutPositions = field(default_factory=LayoutPositions)
    has_boneyard: bool = False

    def act(self, step: ScriptStep, before: engine.State) -> Iterator[Planned]:
        """Yield the players' actions in a step."""
        event, rng = step.event, self.stage.rng
        match event:
            case engine.NewHand():
                yield from self._begin_hand(_game(step.state))
            case engine.Lead(seat=seat):
                yield from self._lead(_game(before), seat)
            case engine.Play():
                yield from disturb(self.stage, self.positions, _game(before))
                yield from self._play(event, step)
            case engine.Stack(seat=seat, on=on):
                yield from self._press(Press(Button.STACK))
                yield from self._stack(seat, on)
            case engine.Draw():
                yield from self._draw(event)
            case engine.Knock(seat=seat):
                yield from self._knock(seat)
            case engine.Call(seat=seat):
                yield from self._press(Press(Button.CALL, seat))
            case engine.Decline(seat=seat):
                yield from self._press(Press(Button.DONE, seat))
            case engine.HandEnd():
                yield from self._press(Press(Button.HAND_END))
            case engine.Redeal():
                yield from self._press(Press(Button.REDEAL))
            case engine.Reveal(seat=seat, tiles=tiles):
                pips = tuple((tile.high, tile.low) if rng.random() < 0.5 else (tile.low, tile.high) for tile in tiles)
                yield from self._reveal(seat, pips)
            case engine.Abandon():
                yield self.stage.enter(event)
            case _:
                assert isinstance(event, engine.MatchStart)  # scripts have no other events

    def truth_of(self, event: engine.Event, before: engine.State, after: engine.State) -> TrueEvent:
        """Return the ground truth of a completed step. *before* and *after* are the states of the match around it."""
        totals = _game(after).totals
        was = 0 if before.game is None else sum(before.game.totals)
        return TrueEvent(self.stage.between_ns, event, sum(totals) - was, totals, self.stage.last_motion_ns)

    def pause(self, event: engine.Event) -> Iterator[Planned]:
        """Yield the pause after a step, if its event needs one."""
        stage, manners = self.stage, self.stage.manners
        match event:
            case engine.Knock():
                yield from stage.still(stage.drawn(_AFTER_KNOCK_S))
            case engine.Play() if stage.happens(manners.hurry):
                yield from stage.still(_HURRIED_S)
            case engine.Play() | engine.Draw() | engine.Stack() | engine.Reveal():
                yield from stage.still(stage.drawn(manners.pause_s))
            case _:
                pass

    def _begin_hand(self, game: engine.Game) -> Iterator[Planned]:
        """Yield clearing the table and laying out the boneyard for a new hand."""
        stage, rng = self.stage, self.stage.rng
        seats = len(game.players)
        if any(stage.outside.values()):
            yield from self._clear(seats)
            yield from stage.still(stage.drawn(_LOOKS_S))
        self.positions = LayoutPositions()
        assert game.hand is not None  # a hand has begun
        boneyard = stage.room.boneyard(game.hand.boneyard, rng) if game.hand.boneyard else None
        self.has_boneyard = boneyard is not None
        if boneyard is not None:
            seat = int(rng.integers(seats))
            middle = (len(boneyard) + 1) // _LAYING_GESTURES
            for part in (boneyard[:middle], boneyard[middle:]):
                if part:
                    yield from stage.put(seat, part, Zone.BONEYARD, seconds=stage.drawn(_MANY_S), is_lifting=False)
            yield from stage.still(stage.drawn(_COUNTED_S))

    def _clear(self, seats: int) -> Iterator[Planned]:
        """Yield the clearing of the table in up to three sweeps, from left to right."""
        stage = self.stage
        tiles = [tile for zone_tiles in stage.outside.values() for tile in zone_tiles]
        tiles.sort(key=lambda tile: tile.center_mm[0])
        count = -(-len(tiles) // _SWEEPS)
        for first in range(0, len(tiles), count):
            seat = int(stage.rng.integers(seats))
            part = tiles[first : first + count]
            yield from stage.take(seat, part, seconds=stage.drawn(_MANY_S), is_lifting=False)

    def _lead(self, game: engine.Game, seat: engine.Seat) -> Iterator[Planned]:
        """Yield a look at the table, then the leader as input from the page, unless the rules determine the leader.

        The button is not used: it steps through the seats, and its effect depends on whether the new hand was already
        detected, which a script cannot know.
        """
        assert game.hand is not None  # a hand has begun
        if game.hand.turn != seat:
            yield from self.stage.still(self.stage.drawn(_LOOKS_S))
            yield self.stage.enter(engine.Lead(seat))

    def _press(self, press: Press) -> Iterator[Planned]:
        """Yield a look at the table, then a button press."""
        yield from self.stage.still(self.stage.drawn(_LOOKS_S))
        yield self.stage.enter(press)

    def _play(self, play: engine.Play, step: ScriptStep) -> Iterator[Planned]:
        """Yield the play of a tile, sometimes with an audible slam."""
        stage = self.stage
        layout, laid = _game(step.state).layout, step.laid[-1]
        node = layout.find(laid.node)
        assert node is not None  # just played
        tile = self.positions.place(node, laid)
        self.plays += 1
        slam = self._heard(play.seat) if stage.happens(stage.manners.slam) else None
        seconds = stage.drawn(stage.manners.gesture_s)
        for push in self.pushes:
            if push.play == self.plays:
                stage.push_as(push, seconds)
                if push.when is PushTime.BEFORE:
                    yield from stage.still(stage.drawn(stage.manners.pause_s))
        yield from stage.put(play.seat, (tile,), Zone.LAYOUT, seconds=seconds, heard=slam)

    def _stack(self, seat: engine.Seat, on: engine.NodeId) -> Iterator[Planned]:
        """Yield a tile that is stacked on its copy."""
        stage = self.stage
        tile = replace(self.positions.tiles[on], height_mm=stage.look.thickness_mm)
        yield from stage.put(seat, (tile,), Zone.LAYOUT, seconds=stage.drawn(stage.manners.gesture_s))

    def _draw(self, draw: engine.Draw) -> Iterator[Planned]:
        """Yield tiles drawn from the boneyard.

        Without a visible boneyard, yield a button press for each unforced one.
        """
        stage = self.stage
        for _ in range(draw.tiles):
            if self.has_boneyard:
                (*_, last) = stage.outside[Zone.BONEYARD]
                yield from stage.take(draw.seat, (last,), seconds=stage.drawn(stage.manners.gesture_s))
            elif not draw.forced:  # the rules count forced draws
                yield from self._press(Press(Button.DRAW, draw.seat))

    def _knock(self, seat: engine.Seat) -> Iterator[Planned]:
        """Yield a knock, sometimes with a hand at the player's own side of the table."""
        stage = self.stage
        yield from stage.still(stage.drawn(_LOOKS_S))
        if not stage.happens(_KNOCKS_IN_SIGHT):
            yield stage.enter(self._heard(seat))
            return
        gesture = stage.gesture(seat, own_side(stage, seat), seconds=stage.manners.gesture_s[0], stay=1)
        yield from stage.show(gesture.come)
        yield stage.enter(self._heard(seat))
        yield from stage.show((*gesture.stay, *gesture.go))

    def _heard(self, seat: engine.Seat) -> KnockHeard:
        return KnockHeard(seat if self.stage.happens(_KNOWS_SIDE) else None)

    def _reveal(self, seat: engine.Seat, pips: tuple[tuple[int, int], ...]) -> Iterator[Planned]:
        """Yield a hand that is shown. If its zone has no room, yield the sum of its pips as an input instead."""
        stage = self.stage
        if not pips:
            return
        tiles = stage.room.opened(seat, pips, stage.rng)
        if tiles is None:
            yield from stage.still(stage.drawn(_LOOKS_S))
            yield stage.enter(engine.RevealPips(seat, sum(map(sum, pips))))
        else:
            yield from stage.put(seat, tiles, Zone.SEAT, seconds=stage.drawn(_MANY_S), is_lifting=False)


def _game(state: engine.State) -> engine.Game:
    assert state.game is not None  # a match has begun
    return state.game


def disturb(stage: TableStage, positions: LayoutPositions, game: engine.Game) -> Iterator[Planned]:
    """Yield random disturbances before a play, if any."""
    manners = stage.manners
    seat = int(stage.rng.integers(len(game.players)))
    if stage.happens(manners.steps):
        stage.expose()
    if stage.happens(manners.bump):
        yield stage.push_camera()
        yield from stage.still(stage.drawn(manners.pause_s))
    if stage.happens(manners.idle):
        yield from _idle(stage, seat)
    if stage.happens(manners.rest):
        rests = stage.frames(stage.drawn(_REST_S))
        gesture = stage.gesture(seat, own_side(stage, seat), seconds=_TO_REST_S, stay=rests)
        stage.rest_beside((*gesture.come, *gesture.stay, *gesture.go))
    if stage.happens(manners.nudge):
        for _ in range(int(stage.rng.integers(1, _MAX_PUSHED + 1))):
            yield from _push(stage, positions, game, seat)
        yield from stage.still(stage.drawn(manners.pause_s))


def own_side(stage: TableStage, seat: int) -> Point:
    """Return a point on the table in front of a seat, slightly inside the picture."""
    seen, (x, y) = stage.room.seen.grown(-_OWN_SIDE_MM), stage.room.body_mm(seat, 0.0)
    return (min(max(x, seen.left), seen.right), min(max(y, seen.top), seen.bottom))


def _idle(stage: TableStage, seat: int) -> Iterator[Planned]:
    """Yield a hand that reaches for a random point and does nothing."""
    half_width, half_height = stage.room.board.width_mm / 2, stage.room.board.height_mm / 2
    at_mm = (stage.drawn((-half_width, half_width)), stage.drawn((-half_height, half_height)))
    gesture = stage.gesture(seat, at_mm, seconds=stage.drawn(_IDLE_S), stay=stage.frames(_STAYS_S))
    yield from stage.show((*gesture.come, *gesture.stay, *gesture.go))
    yield from stage.still(stage.drawn(stage.manners.pause_s))


def _push(stage: TableStage, positions: LayoutPositions, game: engine.Game, seat: int) -> Iterator[Planned]:
    """Yield a hand that pushes a tile of the layout slightly, if any tile can be pushed."""
    pushed = positions.push(game.layout, stage.look, stage.rng)
    if pushed is None:
        return
    before, after = pushed
    gesture = stage.gesture(seat, before.center_mm, seconds=stage.drawn(stage.manners.gesture_s))
    yield from stage.show((*gesture.come, *gesture.stay))
    rest = tuple(tile for tile in stage.outside[Zone.LAYOUT] if tile != before)
    stage.outside[Zone.LAYOUT] = rest
    yield from stage.show(slide(gesture, before, after, stage.frames(_PUSH_S)))
    yield stage.set_tiles(Zone.LAYOUT, (*rest, after))
    yield from stage.show(gesture.go)
