"""Tests of the scripted game of the demo: legal, complete, and reproducible by seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest

import engine
from lab.matches.game_script import PlayArea, TruthfulPlayers, answer_of, paths_of, play_out, resting_place
from lab.matches.room import pick_table
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.places import Footprint, Laid, Quad, distance, overlap
from tests.tallybone.in_question import CHOICES, asked
from tests.tallybone.session.test_referee import line, seen, table
from tests.tallybone.truth_eye import PLAYERS_OF, game, game_of, hand_of, script

# 34 ends blocked, proven by knocks. 51 ends by the button.
SEEDS = (*range(28), 51, 105)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_is_legal_to_its_end_and_every_tile_exists_once(seed: int) -> None:
    state = engine.State()
    for step in game(seed)[1]:
        assert engine.problem_with(state, step.event) is None
        state, _ = engine.apply(state, step.event)
        assert state == step.state
        assert step.is_seen == isinstance(step.event, engine.Play)
    end, hand = game_of(state), hand_of(state)
    assert end.phase in (engine.Phase.DEAL, engine.Phase.MATCH_OVER)
    held = [tile for holding in hand.holdings if holding is not None for tile in holding.tiles or ()]
    seen = [*end.layout.tiles, *held]
    assert len(seen) == len(set(seen)) == 28 - hand.boneyard
    assert set(seen) <= set(engine.full_set(6))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_scene_shows_the_layout_after_every_step(seed: int) -> None:
    table, steps = game(seed)
    for step in steps:
        layout = game_of(step.state).layout
        assert [tile.node for tile in step.laid] == [node.id for node in layout.nodes]
        scene = table.scene(layout, step.laid)
        assert [engine.Tile.of(*placed.pips) for placed in scene.tiles if placed.pips is not None] == list(layout.tiles)


def test_hands_have_every_kind_of_event_and_end() -> None:
    kinds = {type(step.event) for seed in SEEDS for step in game(seed)[1]}
    assert {
        engine.MatchStart,
        engine.NewHand,
        engine.Lead,
        engine.Play,
        engine.Draw,
        engine.Knock,
        engine.Reveal,
    } <= kinds
    assert {None, 0, 1} <= {hand_of(game(seed)[1][-1].state).out for seed in SEEDS}


@pytest.mark.parametrize(
    ("seed", "reason"), [(3, engine.RedealReason.TOO_MANY_DOUBLES), (798, engine.RedealReason.NO_DOUBLE)]
)
def test_a_deal_with_too_many_doubles_or_none_is_repeated(seed: int, reason: engine.RedealReason) -> None:
    _, steps = script(seed)
    assert [next(steps).event for _ in range(3)][1:] == [engine.NewHand(), engine.Redeal(reason)]


def test_equal_seeds_play_equal_games() -> None:
    assert tuple(script(3)[1]) == tuple(script(3)[1])
    assert [step.event for step in script(3)[1]] != [step.event for step in script(4)[1]]


def test_the_winner_of_a_hand_leads_the_next() -> None:
    steps = list(script(1, hands=2)[1])
    (second,) = [index for index, step in enumerate(steps) if isinstance(step.event, engine.NewHand)][1:]
    winner = game_of(steps[second].state).hand_winner
    assert winner is not None
    assert steps[second + 1].event == engine.Lead(winner)
    assert steps[second].laid == ()


def test_a_blocked_hand_with_a_boneyard_is_ended_by_the_button() -> None:
    (index,) = [index for index, step in enumerate(game(51)[1]) if isinstance(step.event, engine.HandEnd)]
    assert hand_of(game(51)[1][index - 1].state).locked
    assert game_of(game(51)[1][index].state).phase is engine.Phase.REVEAL


@pytest.mark.parametrize("name", ["draw", "allfives", "block", "super", "twoset", "cutthroat"])
def test_every_game_follows_its_rules(name: str) -> None:
    for seed in (1, 2):
        rng, rules, state = np.random.default_rng(seed), engine.profile(name), engine.State()
        steps = list(play_out(rng, rules=rules, players=PLAYERS_OF[name], table=pick_table(rng, rules).board))
        for step in steps:
            assert engine.problem_with(state, step.event) is None
            state = step.state
        assert game_of(state).phase in (engine.Phase.DEAL, engine.Phase.MATCH_OVER)
        assert hand_of(state).ending is not None
        outlines = [tile.place.outline() for tile in steps[-1].laid]
        assert not any(overlap(a, b) for a, b in combinations(outlines, 2))


def test_stealing_stacks_a_copy_and_places_nothing_beside() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pick_table(rng, engine.CUTTHROAT)
        steps = list(play_out(rng, rules=engine.CUTTHROAT, players=PLAYERS_OF["cutthroat"], table=table.board))
        index = next((i for i, step in enumerate(steps) if isinstance(step.event, engine.Stack)), None)
        if index is not None:
            break
    assert index is not None
    before, after = steps[index - 1], steps[index]
    assert before.laid == after.laid
    old, new = (table.scene(game_of(step.state).layout, step.laid).tiles for step in (before, after))
    assert len(new) == len(old) + 1
    assert new[-1].height_mm == table.tile.thickness_mm


# Tests of placing tiles: realistic, without overlap, and never ambiguous.


SIDE_MM = 24.0
WIDE = PlayArea(2000, 2000, SIDE_MM)


def chain(*plays: tuple[str, engine.Port | None]) -> engine.Layout:
    """Return a line of tiles, each attached to the previous one at a port."""
    layout = engine.Layout()
    for index, (tile, port) in enumerate(plays):
        spot = None if port is None else engine.Spot(engine.NodeId(index - 1), port)
        inner = int(tile.split("-")[0]) if port is None else None
        layout = engine.attach(
            layout, engine.Tile.parse(tile), spot, node=engine.NodeId(index), rules=engine.BONES, inner=inner
        )
    return layout


def in_sides(place: Footprint) -> tuple[float, float]:
    return (place.center[0] / SIDE_MM, place.center[1] / SIDE_MM)


def flat(heading_rad: float = 0.0, *, lies_along: bool = True) -> Footprint:
    return Footprint.square((0.0, 0.0), heading_rad, SIDE_MM, lies_along=lies_along)


def rest(
    layout: engine.Layout, places: Sequence[Footprint], tile: str, port: engine.Port, area: PlayArea = WIDE
) -> Footprint | None:
    """Return the place of a tile at a port of the first tile."""
    laid = tuple(Laid(node.id, place) for node, place in zip(layout.nodes, places, strict=True))
    play = engine.Play(engine.Seat(0), engine.Tile.parse(tile), engine.Spot(engine.NodeId(0), port))
    return resting_place(layout, laid, play, area, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("tile", "port", "along", "turn_rad"),
    [
        *(("5-4", engine.Port.E, 2.0, turn_rad) for turn_rad in (0.0, math.pi / 2, math.pi)),
        ("6-4", engine.Port.W, -2.0, 0.0),
        ("5-5", engine.Port.E, 1.5, 0.0),
    ],
)
def test_a_tile_continues_straight_and_a_double_lies_across(
    tile: str, port: engine.Port, along: float, turn_rad: float
) -> None:
    place = rest(chain(("6-5", None)), [flat(turn_rad)], tile, port)
    assert place is not None
    assert place.lies_along == (tile != "5-5")
    assert in_sides(place) == pytest.approx((along * math.cos(turn_rad), along * math.sin(turn_rad)), abs=0.25)
    assert math.cos(place.heading_rad - turn_rad) * along > 0.99


@pytest.mark.parametrize(("port", "down"), [(engine.Port.N, -1.0), (engine.Port.S, 1.0)])
def test_the_tips_of_the_spinner_are_at_right_angles_to_the_line(port: engine.Port, down: float) -> None:
    layout = chain(("5-5", None), ("5-4", engine.Port.E))
    place = rest(layout, [flat(lies_along=False), Footprint.square((1.5 * SIDE_MM, 0.0), 0.0, SIDE_MM)], "5-1", port)
    assert place is not None
    assert in_sides(place) == pytest.approx((0.0, down * 2.0), abs=0.25)
    assert math.sin(place.heading_rad) * down > 0.99


def test_the_line_turns_at_the_edge_of_the_table_and_needs_room() -> None:
    narrow = PlayArea(2 * 2.4 * SIDE_MM, 20 * SIDE_MM, SIDE_MM)
    place = rest(chain(("6-5", None)), [flat()], "5-4", engine.Port.E, narrow)
    assert place is not None
    assert abs(math.sin(place.heading_rad)) > 0.99
    assert max(abs(x) for x, _ in place.outline()) <= narrow.width_mm / 2
    tiny = PlayArea(2.2 * SIDE_MM, 1.4 * SIDE_MM, SIDE_MM)
    assert rest(chain(("6-5", None)), [flat()], "5-4", engine.Port.E, tiny) is None


def test_the_line_turns_away_from_an_end_beside_it() -> None:
    layout = chain(("6-5", None), ("6-4", engine.Port.W))
    for beside, heading_rad in ((1.4, -math.pi / 2), (-1.4, math.pi / 2)):
        other = Footprint.square((2.0 * SIDE_MM, beside * SIDE_MM), 0.0, SIDE_MM)
        place = rest(layout, [flat(), other], "5-4", engine.Port.E)
        assert place is not None
        assert math.cos(place.heading_rad - heading_rad) > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_joined_tiles_touch_and_others_have_clearance_on_the_table(seed: int) -> None:
    table, steps = game(seed)
    outlines = np.array([tile.place.outline() for tile in steps[-1].laid])
    assert (np.abs(outlines) <= (table.board.width_mm / 2, table.board.height_mm / 2)).all()
    assert len({round(math.degrees(tile.place.heading_rad) % 90, 3) for tile in steps[-1].laid}) == len(outlines)
    nodes = {node.id: node for node in game_of(steps[-1].state).layout.nodes}
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
        layout = game_of(before.state).layout
        assert isinstance(step.event, engine.Play)
        assert step.event.at is not None
        new, places = step.laid[-1].place.outline(), {tile.node: tile.place for tile in before.laid}
        for node in layout.nodes:
            for end in open_halves(layout, node, places[node.id]):
                near = math.dist(step.laid[-1].place.center, places[node.id].center) < 4 * SIDE_MM
                if node.id != step.event.at.host and near:
                    assert distance(new, end) / SIDE_MM > 0.6


def open_halves(layout: engine.Layout, node: engine.Node, place: Footprint) -> list[Quad]:
    """Return the outlines of all open ends, independently of the tested code."""
    if node.tile.is_double:
        return [place.outline()] if node.branches or len(layout.covered(node)) < 2 else []
    halves = []
    for port in (engine.Port.W, engine.Port.E):
        if port not in layout.covered(node):
            half = Footprint(place.half_center(port), place.along, place.across)
            a, b, c, d = (half.at(x, y) for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
            halves.append((a, b, c, d))
    return halves


def test_some_lines_turn_corners() -> None:
    turn_count = 0
    for seed in SEEDS:
        _, steps = game(seed)
        places = {tile.node: tile.place for tile in steps[-1].laid}
        for node in game_of(steps[-1].state).layout.nodes:
            if node.joins is not None and node.joins.port is engine.Port.E:
                skew = math.cos(places[node.id].heading_rad - places[node.joins.host].heading_rad)
                turn_count += abs(skew) < 0.5
    assert 20 < turn_count < 60


# Tests of simulated players: they answer truthfully, or not at all.


def truth(tile: str, inner: int) -> engine.State:
    first = engine.Play(engine.Seat(0), engine.Tile.parse("5-3"), None, 3)
    return engine.replay(
        (
            *table().state.log,
            first,
            engine.Play(engine.Seat(1), engine.Tile.parse(tile), engine.Spot(engine.NodeId(3), engine.Port.E), inner),
        )
    )


def test_players_answer_with_the_true_totals() -> None:
    session = asked()
    assert session.open_question is not None
    topic = session.open_question.topic
    assert answer_of(line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0))), truth("5-4", 5)) is None, "nothing is asked"
    assert answer_of(session, truth("5-4", 5)) == Answer(0, topic)
    assert answer_of(session, truth("5-2", 5)) == Answer(1, topic)
    other = engine.replay((*truth("5-4", 5).log, engine.Adjust(engine.Seat(1), 10, "given")))
    assert answer_of(session, other) == Answer(CHOICES.index("something else"), topic)


def test_players_count_a_tile_that_was_undone_by_mistake() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    session, _ = feed(session, Press(Button.UNDO))
    assert isinstance(session.state.log[-1], engine.Undo)
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) == Answer(0, session.open_question.topic)
    session, _ = feed(line(seen((3, 5), (0, 0))), Press(Button.TABLE))
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) is None, "players cannot tell which hand is on the table"


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
    players.observe(engine.Adjust(engine.Seat(0), 5, "given"))
    assert players.answer(asked()) == Answer(0, asked().questions[0].ambiguity.topic)
