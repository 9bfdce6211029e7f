"""Tests of the scripted game of the demo: legal, complete, and reproducible by seed."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from engine import (
    BONES,
    CUTTHROAT,
    Adjust,
    Draw,
    HandEnd,
    Knock,
    Layout,
    Lead,
    MatchStart,
    NewHand,
    Node,
    NodeId,
    Phase,
    Play,
    Port,
    Redeal,
    RedealReason,
    Reveal,
    Seat,
    Spot,
    Stack,
    State,
    Tile,
    Undo,
    apply,
    attach,
    full_set,
    problem_with,
    profile,
    replay,
)
from lab.matches.game_script import PlayArea, TruthfulPlayers, answer_of, paths_of, play_out, resting_place
from lab.matches.room import pick_table
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.places import Footprint, Laid, Quad, distance, edges_at, overlap
from tests.tallybone.in_question import CHOICES, asked
from tests.tallybone.session.test_referee import line, seen, table
from tests.tallybone.truth_eye import PLAYERS_OF, game, script

# 34 ends blocked, proven by knocks. 51 ends by the button.
SEEDS = (*range(28), 51, 105)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_event_breaks_the_rules(seed: int) -> None:
    state = State()
    for step in game(seed)[1]:
        assert problem_with(state, step.event) is None
        state, _ = apply(state, step.event)
        assert state == step.state


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_is_played_to_its_end_and_every_tile_exists_once(seed: int) -> None:
    steps = game(seed)[1]
    end = steps[-1].state.game
    assert end is not None
    assert end.hand is not None
    assert end.phase in (Phase.DEAL, Phase.MATCH_OVER)
    held = [tile for holding in end.hand.holdings if holding is not None for tile in holding.tiles or ()]
    seen: list[Tile] = [*end.layout.tiles, *held]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(full_set(6))
    assert len(seen) + end.hand.boneyard == 28


@pytest.mark.parametrize("seed", SEEDS)
def test_the_scene_shows_the_layout_after_every_step(seed: int) -> None:
    table, steps = game(seed)
    for step in steps:
        layout = step.state.game.layout if step.state.game is not None else None
        assert layout is not None
        assert [tile.node for tile in step.laid] == [node.id for node in layout.nodes]
        scene = table.scene(layout, step.laid)
        assert [Tile.of(*placed.pips) for placed in scene.tiles if placed.pips is not None] == list(layout.tiles)


def test_plays_are_seen_and_other_events_come_from_buttons() -> None:
    kinds = Counter(type(step.event) for seed in SEEDS for step in game(seed)[1])
    assert {MatchStart, NewHand, Lead, Play, Draw, Knock, Reveal} <= set(kinds)
    assert all(step.is_seen == isinstance(step.event, Play) for seed in SEEDS for step in game(seed)[1])


def test_hands_end_in_every_possible_way() -> None:
    hands = [game(seed)[1][-1].state.game for seed in SEEDS]
    outs = [game.hand.out for game in hands if game is not None and game.hand is not None]
    assert None in outs
    assert {0, 1} <= set(outs)


@pytest.mark.parametrize(("seed", "reason"), [(3, RedealReason.TOO_MANY_DOUBLES), (798, RedealReason.NO_DOUBLE)])
def test_a_deal_with_too_many_doubles_or_none_is_repeated(seed: int, reason: RedealReason) -> None:
    _, steps = script(seed)
    assert [next(steps).event for _ in range(3)][1:] == [NewHand(), Redeal(reason)]


def test_equal_seeds_play_equal_games() -> None:
    assert tuple(script(3)[1]) == tuple(script(3)[1])
    assert [step.event for step in script(3)[1]] != [step.event for step in script(4)[1]]


def test_the_winner_of_a_hand_leads_the_next() -> None:
    steps = list(script(1, hands=2)[1])
    (second,) = [index for index, step in enumerate(steps) if isinstance(step.event, NewHand)][1:]
    winner = steps[second].state.game
    assert winner is not None
    assert steps[second + 1].event == Lead(winner.hand_winner)  # type: ignore[arg-type]  # a hand of seed 1 has a winner
    assert steps[second].laid == ()


def test_a_blocked_hand_with_a_boneyard_is_ended_by_the_button() -> None:
    (index,) = [index for index, step in enumerate(game(51)[1]) if isinstance(step.event, HandEnd)]
    before, after = game(51)[1][index - 1].state.game, game(51)[1][index].state.game
    assert before is not None
    assert after is not None
    assert before.hand is not None
    assert before.hand.locked
    assert after.phase is Phase.REVEAL


@pytest.mark.parametrize("name", ["draw", "allfives", "block", "super", "twoset", "cutthroat"])
def test_every_game_follows_its_rules(name: str) -> None:
    for seed in (1, 2):
        rng, rules, state = np.random.default_rng(seed), profile(name), State()
        steps = list(play_out(rng, rules=rules, players=PLAYERS_OF[name], table=pick_table(rng, rules).board))
        for step in steps:
            assert problem_with(state, step.event) is None
            state = step.state
        assert state.game is not None
        assert state.game.hand is not None
        assert state.game.phase in (Phase.DEAL, Phase.MATCH_OVER)
        assert state.game.hand.ending is not None
        outlines = [tile.place.outline() for tile in steps[-1].laid]
        assert not any(overlap(a, b) for a, b in combinations(outlines, 2))


def test_stealing_stacks_a_copy_and_places_nothing_beside() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pick_table(rng, CUTTHROAT)
        steps = list(play_out(rng, rules=CUTTHROAT, players=PLAYERS_OF["cutthroat"], table=table.board))
        index = next((i for i, step in enumerate(steps) if isinstance(step.event, Stack)), None)
        if index is not None:
            break
    assert index is not None
    before, after = steps[index - 1], steps[index]
    assert before.laid == after.laid
    assert before.state.game is not None
    assert after.state.game is not None
    scene = table.scene(after.state.game.layout, after.laid)
    assert len(scene.tiles) == len(table.scene(before.state.game.layout, before.laid).tiles) + 1
    assert scene.tiles[-1].height_mm == table.tile.thickness_mm


# Tests of placing tiles: realistic, without overlap, and never ambiguous.


SIDE_MM = 24.0
WIDE = PlayArea(2000, 2000, SIDE_MM)


def chain(*plays: tuple[str, Port | None]) -> Layout:
    """Return a line of tiles, each attached to the previous one at a port."""
    layout = Layout()
    for index, (tile, port) in enumerate(plays):
        spot = None if port is None else Spot(NodeId(index - 1), port)
        inner = int(tile.split("-")[0]) if port is None else None
        layout = attach(layout, Tile.parse(tile), spot, node=NodeId(index), rules=BONES, inner=inner)
    return layout


def laid_on(layout: Layout, *places: Footprint) -> tuple[Laid, ...]:
    return tuple(Laid(node.id, place) for node, place in zip(layout.nodes, places, strict=True))


def in_sides(place: Footprint) -> tuple[float, float]:
    return (place.center[0] / SIDE_MM, place.center[1] / SIDE_MM)


def flat(heading_rad: float = 0.0, *, lies_along: bool = True) -> Footprint:
    return Footprint.square((0.0, 0.0), heading_rad, SIDE_MM, lies_along=lies_along)


@pytest.mark.parametrize(
    ("heading_rad", "expected"), [(0.0, (2.0, 0.0)), (math.pi / 2, (0.0, 2.0)), (math.pi, (-2.0, 0.0))]
)
def test_a_tile_continues_straight(heading_rad: float, expected: tuple[float, float]) -> None:
    layout = chain(("6-5", None))
    play = Play(Seat(0), Tile.parse("5-4"), Spot(NodeId(0), Port.E))
    place = resting_place(layout, laid_on(layout, flat(heading_rad)), play, WIDE, np.random.default_rng(1))
    assert place is not None
    assert place.lies_along
    assert in_sides(place) == pytest.approx(expected, abs=0.25)
    assert math.cos(place.heading_rad - heading_rad) > 0.99


def test_the_west_end_of_the_first_tile_continues_to_the_west() -> None:
    layout = chain(("6-5", None))
    play = Play(Seat(0), Tile.parse("6-4"), Spot(NodeId(0), Port.W))
    place = resting_place(layout, laid_on(layout, flat()), play, WIDE, np.random.default_rng(1))
    assert place is not None
    assert in_sides(place) == pytest.approx((-2.0, 0.0), abs=0.25)
    assert math.cos(place.heading_rad) < -0.99


def test_a_double_is_placed_across_the_line() -> None:
    layout = chain(("6-5", None))
    play = Play(Seat(0), Tile.parse("5-5"), Spot(NodeId(0), Port.E))
    place = resting_place(layout, laid_on(layout, flat()), play, WIDE, np.random.default_rng(1))
    assert place is not None
    assert not place.lies_along
    assert in_sides(place) == pytest.approx((1.5, 0.0), abs=0.2)


def test_the_tips_of_the_spinner_are_at_right_angles_to_the_line() -> None:
    layout = chain(("5-5", None), ("5-4", Port.E))
    places = laid_on(layout, flat(lies_along=False), Footprint.square((1.5 * SIDE_MM, 0.0), 0.0, SIDE_MM))
    for port, down in ((Port.N, -1.0), (Port.S, 1.0)):
        play = Play(Seat(0), Tile.parse("5-1"), Spot(NodeId(0), port))
        place = resting_place(layout, places, play, WIDE, np.random.default_rng(1))
        assert place is not None
        assert in_sides(place) == pytest.approx((0.0, down * 2.0), abs=0.25)
        assert math.sin(place.heading_rad) * down > 0.99


def test_the_line_turns_at_the_edge_of_the_table() -> None:
    layout = chain(("6-5", None))
    play = Play(Seat(0), Tile.parse("5-4"), Spot(NodeId(0), Port.E))
    narrow = PlayArea(2 * 2.4 * SIDE_MM, 20 * SIDE_MM, SIDE_MM)
    place = resting_place(layout, laid_on(layout, flat()), play, narrow, np.random.default_rng(1))
    assert place is not None
    assert abs(math.sin(place.heading_rad)) > 0.99
    assert max(abs(x) for x, _ in place.outline()) <= narrow.width_mm / 2


def test_the_line_turns_away_from_an_end_beside_it() -> None:
    layout = chain(("6-5", None), ("6-4", Port.W))
    play = Play(Seat(0), Tile.parse("5-4"), Spot(NodeId(0), Port.E))
    for beside, heading_rad in ((1.4, -math.pi / 2), (-1.4, math.pi / 2)):
        other = Footprint.square((2.0 * SIDE_MM, beside * SIDE_MM), 0.0, SIDE_MM)
        place = resting_place(layout, laid_on(layout, flat(), other), play, WIDE, np.random.default_rng(1))
        assert place is not None
        assert math.cos(place.heading_rad - heading_rad) > 0.99


def test_a_table_without_room_has_no_place() -> None:
    layout = chain(("6-5", None))
    play = Play(Seat(0), Tile.parse("5-4"), Spot(NodeId(0), Port.E))
    tiny = PlayArea(2.2 * SIDE_MM, 1.4 * SIDE_MM, SIDE_MM)
    assert resting_place(layout, laid_on(layout, flat()), play, tiny, np.random.default_rng(1)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_tiles_neither_overlap_nor_leave_the_table(seed: int) -> None:
    table, steps = game(seed)
    outlines = [tile.place.outline() for tile in steps[-1].laid]
    assert not any(overlap(a, b) for a, b in combinations(outlines, 2))
    for outline in outlines:
        assert all(abs(x) <= table.board.width_mm / 2 for x, _ in outline)
        assert all(abs(y) <= table.board.height_mm / 2 for _, y in outline)


@pytest.mark.parametrize("seed", SEEDS)
def test_joined_tiles_touch_and_others_have_clearance(seed: int) -> None:
    _, steps = game(seed)
    state = steps[-1].state
    assert state.game is not None
    nodes = {node.id: node for node in state.game.layout.nodes}
    places = {tile.node: tile.place for tile in steps[-1].laid}
    for node_a, node_b in combinations(nodes.values(), 2):
        if math.dist(places[node_a.id].center, places[node_b.id].center) > 4 * SIDE_MM:
            assert node_a.id not in (node.joins.host for node in (node_b,) if node.joins is not None)
            continue
        gap = distance(places[node_a.id].outline(), places[node_b.id].outline()) / SIDE_MM
        joined = any(b.joins is not None and b.joins.host == a.id for a, b in ((node_a, node_b), (node_b, node_a)))
        assert gap < 0.12 if joined else gap > 0.29


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tile_is_near_an_end_it_does_not_join(seed: int) -> None:
    _, steps = game(seed)
    for before, step in pairwise(steps):
        if not step.is_seen or not before.laid:
            continue
        assert before.state.game is not None
        assert isinstance(step.event, Play)
        assert step.event.at is not None
        new, places = step.laid[-1].place.outline(), {tile.node: tile.place for tile in before.laid}
        for node in before.state.game.layout.nodes:
            for end in open_halves(before.state.game.layout, node, places[node.id]):
                near = math.dist(step.laid[-1].place.center, places[node.id].center) < 4 * SIDE_MM
                if node.id != step.event.at.host and near:
                    assert distance(new, end) / SIDE_MM > 0.6


def open_halves(layout: Layout, node: Node, place: Footprint) -> list[Quad]:
    """Return the outlines of all open ends, independently of the tested code."""
    if node.tile.is_double:
        return [place.outline()] if node.branches or len(layout.covered(node)) < 2 else []
    halves = []
    for port in (Port.W, Port.E):
        if port not in layout.covered(node):
            half = Footprint(place.half_center(port), place.along, place.across)
            a, b, c, d = (half.at(x, y) for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
            halves.append((a, b, c, d))
    return halves


def test_lines_are_slightly_irregular_and_vary() -> None:
    first, second = (game(seed)[1][-1].laid for seed in (1, 2))
    headings = {round(math.degrees(tile.place.heading_rad) % 90, 3) for tile in first}
    assert len(headings) == len(first)
    assert first != second


def test_some_lines_turn_corners() -> None:
    turn_count = 0
    for seed in SEEDS:
        _, steps = game(seed)
        places = {tile.node: tile.place for tile in steps[-1].laid}
        assert steps[-1].state.game is not None
        for node in steps[-1].state.game.layout.nodes:
            if node.joins is not None and node.joins.port is Port.E:
                skew = math.cos(places[node.id].heading_rad - places[node.joins.host].heading_rad)
                turn_count += abs(skew) < 0.5
    assert 20 < turn_count < 60


def test_footprint_sides_and_halves() -> None:
    place = Footprint.square((100.0, 50.0), 0.0, 10.0)
    assert place.outline() == ((90.0, 45.0), (110.0, 45.0), (110.0, 55.0), (90.0, 55.0))
    assert place.half_center(Port.E) == (105.0, 50.0)
    assert place.inside((105.0, 60.0)) == pytest.approx((0.5, 1.0))
    assert place.reversed().half_center(Port.E) == (95.0, 50.0)
    across = place.crosswise()
    assert {(round(x), round(y)) for x, y in across.outline()} == {(90, 45), (110, 45), (110, 55), (90, 55)}
    assert across.half_center(Port.S) == (95.0, 50.0)
    front, left, right = edges_at(place, Port.E, is_double=False)
    assert [place.at(*edge.middle) for edge in (front, left, right)] == [(110.0, 50.0), (105.0, 45.0), (105.0, 55.0)]


# Tests of simulated players: they answer truthfully, or not at all.


def truth(tile: str, inner: int) -> State:
    first = Play(Seat(0), Tile.parse("5-3"), None, 3)
    return replay((*table().state.log, first, Play(Seat(1), Tile.parse(tile), Spot(NodeId(3), Port.E), inner)))


def test_players_answer_with_the_true_totals() -> None:
    session = asked()
    assert session.open_question is not None
    topic = session.open_question.topic
    assert answer_of(session, truth("5-4", 5)) == Answer(0, topic)
    assert answer_of(session, truth("5-2", 5)) == Answer(1, topic)
    other = replay((*truth("5-4", 5).log, Adjust(Seat(1), 10, "given")))
    assert answer_of(session, other) == Answer(CHOICES.index("something else"), topic)


def test_players_answer_nothing_without_a_question() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert answer_of(session, truth("5-4", 5)) is None


def test_players_count_a_tile_that_was_undone_by_mistake() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    session, _ = feed(session, Press(Button.UNDO))
    assert isinstance(session.state.log[-1], Undo)
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) == Answer(0, session.open_question.topic)


def test_players_cannot_tell_which_hand_is_on_the_table() -> None:
    session, _ = feed(line(seen((3, 5), (0, 0))), Press(Button.TABLE))
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) is None


def test_paths_identify_tiles_independently_of_their_pips() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert tuple(paths_of(session.state).values()) == (
        ("5-3 3 inside",),
        ("5-3 3 inside", "E 5-4 5 inside"),
    )


def test_a_question_is_considered_once_per_event() -> None:
    players = TruthfulPlayers()
    assert players.answer(asked()) is None, "no match is known yet"
    for event in truth("5-4", 5).log:
        players.observe(event)
    assert players.answer(asked()) == Answer(0, asked().questions[0].ambiguity.topic)
    assert players.answer(asked()) is None
    players.observe(Adjust(Seat(0), 5, "given"))
    assert players.answer(asked()) == Answer(0, asked().questions[0].ambiguity.topic)
