"""Tests of the naive implementation with worked examples and positions counted by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.engine.naive import DECLINE, DRAW, KNOCK, Action, Layout, NaiveBones, Pair, whole_set
from tests.engine.naive_game import (
    PROFILES,
    LineGame,
    Position,
    actions,
    after,
    count,
    deal,
    hand_result,
    perft,
    play_score,
    round_nearest,
    scores,
    settle,
    start,
)
from tests.engine.naive_super import SuperGame, super_locked
from tests.engine.worked_examples import Example, as_parameters, each, examples, is_accepted, leader_of, setup_of

SAME = {side: side for side in "WENS"}
MIRROR = {"W": "E", "E": "W", "N": "S", "S": "N"}


def pair(text: str) -> Pair:
    first, second = text.rstrip("'").split("-")
    return int(first), int(second)


def pairs(text: str) -> list[Pair]:
    return [pair(word) for word in text.split()]


def low_first(tile: Pair) -> Pair:
    return min(tile), max(tile)


# ---- worked examples ----


def path_of(layout: Layout, at: str, names: dict[str, str]) -> str:
    """Return the path of an example's place: the end of an arm, or a side of a tile."""
    if ":" in at:
        tile, side = at.split(":")
        host = next(path_of for path_of, laid in layout.laid.items() if sorted(laid) == sorted(pair(tile)))
        return host + names[side]
    if at == "start":
        return ""
    side = names[at]
    host = next((path_of for path_of in layout.laid if layout.branches(path_of)), "") if side in "NS" else ""
    place = host + side
    while place in layout.laid:
        place += "+"
    return place


def lay(example: Example, names: dict[str, str]) -> Layout:
    rules = example["rules"]
    layout = Layout(rules["spinner"], rules["branch_order"], rules["spinner_count"])
    left = whole_set({"set": 6, "copies": rules.get("copies", 1)})
    for step in example["plays"]:
        tile = pair(step["tile"])
        place = path_of(layout, step["at"], names)
        if layout.laid:
            legal = low_first(tile) in left and Action("play", tile, place) in layout.plays([tile])
            assert legal is step.get("legal", True)
        elif names is MIRROR:
            tile = tile[::-1]
        if not is_accepted(example, step):
            continue
        left.remove(low_first(tile))
        layout.play(tile, place)
        if not step.get("legal", True):
            layout.laid[place] = tile  # the first number is the inner half even if it does not match
        assert layout.count() == step.get("count", layout.count())
        scores = rules["unit"] is not None and layout.count() % rules["unit"] == 0
        score = layout.count() // rules.get("play_divisor", 1) if scores else 0
        assert score == step.get("score", score)
    return layout


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
@pytest.mark.parametrize("example", each("layout"))
def test_layout(example: Example, names: dict[str, str]) -> None:
    lay(example, names)


# The naive game has no calls: all points count.
CALLED = [
    example for example in examples("event") if example.get("called", True) and example["stack"].get("called", True)
]


@pytest.mark.parametrize("example", as_parameters(CALLED))
def test_stack(example: Example) -> None:
    layout, expect = lay(setup_of(example), SAME), example["expect"]
    worth = layout.count() if layout.count() % 5 == 0 else 0
    tiles = [low_first(pair(text)) for text in [*example.get("before", []), example["stack"]["tile"]]]
    rules = {**PROFILES["twoset"], "cutthroat": True, **example.get("options", {})}
    hands = [[(1, 1)], *([tile, (1, 1)] for tile in tiles)]
    points = [worth] + [0] * len(tiles)
    then: Position = LineGame(rules, hands, [(1, 3)], turn=1, layout=layout, points=points, scorer=0, worth=worth)
    before = scores(then)
    for step, tile in enumerate(tiles, 1):
        # The naive game does not check for a third copy of a tile.
        assert isinstance(then, LineGame)
        copies = [*map(low_first, then.layout.laid.values()), *then.layout.stacked].count(tile)
        stacks = [action for action in actions(then) if action.kind == "stack" and copies < 2]
        if step == len(tiles) and expect.get("legal") is False:
            assert stacks == []
            return
        assert [stack.tile for stack in stacks] == [tile]
        before, then = scores(then), after(then, stacks[0])
    assert count(then) == expect["count"]
    assert scores(then)[-2] - before[-2] == -expect["previous_loss"]
    assert scores(then)[-1] == play_score(then) == expect["stacker_gain"]


@pytest.mark.parametrize("example", each("round"))
def test_round(example: Example) -> None:
    assert round_nearest(example["value"], example["unit"]) == example["expect"]


@pytest.mark.parametrize("example", each("hand_end"))
def test_hand_end(example: Example) -> None:
    params, expect, out = dict(example["params"]), example["expect"], example["went_out"]
    partners = params.pop("partners", None)
    points = {"tie": "lightest_tile", "bonus_divisor": params.pop("divisor", 1), **params}
    rules = {"hand_points": points, "partners": partners is not None, "partners_mode": partners}
    hands = [[pair(tile) for tile in hand] for hand in example.get("hands", [])]
    hands = hands or [[(0, pips)] for pips in example["hand_pips"]]
    if "mode" in points:
        winner, paid = hand_result(SuperGame(rules, hands, [], 0, over=True, out=out))
    else:
        winner, paid = settle(rules, hands, out)
    assert paid == expect["points"]
    if "pair" in expect:
        assert (winner is None) if expect["pair"] is None else (winner in expect["pair"])
    else:
        assert winner == expect["winner"]


FILLER = (1, 2)


@pytest.mark.parametrize("example", each("super"))
def test_super(example: Example) -> None:
    players, expect, seat = example["players"], example["expect"], example["players"].index(example["mover"])
    options = {key: int(text) if text.isdigit() else text for key, text in example.get("options", {}).items()}
    yard = [(4, 5)] * (136 - 9 * len(players))
    now = SuperGame({**PROFILES["super"], **options}, [[FILLER] for _ in players], yard, turn=leader_of(example))
    for text in example["layout_before"]:
        now = after_six(now, handed(now, *text.split()))
    assert now.turn == seat
    action = handed(now, example["play"]["tile"], example["play"]["at"])
    # The naive game does not check for a tile that is already on the table.
    on_table = [(now.starter, now.starter), *(low_first(tile) for arm in now.arms for tile in arm)]
    assert (action in actions(now) and action.tile not in on_table) is expect.get("legal", True)
    if expect.get("legal") is False:
        return
    before = [len(hand) for hand in now.hands]
    then = after_six(now, action)
    drawn = {name: len(then.hands[at]) - before[at] for at, name in enumerate(players) if at != seat}
    assert {name: number for name, number in drawn.items() if number} == expect.get("draws", {})
    assert len(then.hands[seat]) == before[seat] - 1
    assert players[then.turn] == expect["next"]
    assert then.direction == expect.get("direction", 1)
    assert (DECLINE in actions(then)) is expect.get("may_decline", False)
    if "may_decline" in expect:
        assert players[after_six(then, DECLINE).turn] == "B"
    spell = expect.get("spell", "")
    assert then.spell == (spell.replace(" ", "") if spell.startswith("arm") else "new" if spell else "")
    if "caster_exempt" in expect:
        for _ in players[1:]:
            then = after_six(after_six(then, DRAW), KNOCK)
        assert then.turn == seat
        assert actions(then) == [KNOCK if expect["caster_exempt"] else DRAW]


def handed(now: SuperGame, tile: str, at: str) -> Action:
    """Give the seat to move a tile, and return the action that plays it."""
    now.hands[now.turn].append(low_first(pair(tile)))
    begun = at == "start" or int(at.removeprefix("arm").replace("new", "7")) <= len(now.arms)
    return Action("play", low_first(pair(tile)), "" if at == "start" else at if begun else "new")


def after_six(now: SuperGame, action: Action) -> SuperGame:
    assert action in actions(now)
    then = after(now, action)
    assert isinstance(then, SuperGame)
    return then


# ---- positions calculated by hand, in the notation of docs/reference/rules.md 6.2 ----

TEXTS = {"d": DRAW, "k": KNOCK, "n": DECLINE}


def done(now: Position, steps: str) -> Position:
    """Return the position after legal actions. `^` is a stack."""
    for word in steps.split():
        tile, sign, place = word.replace("^", "@").partition("@")
        action = TEXTS.get(word) or Action("stack" if "^" in word else "play", pair(tile), place if sign else "")
        assert action in actions(now), (word, actions(now))
        now = after(now, action)
    return now


def can(now: Position) -> str:
    """Return the seat to move and its actions, in the notation of `done`."""
    names = {action: word for word, action in TEXTS.items()}
    signs = {"play": "@", "stack": "^"}
    text = [names.get(act) or f"{act.tile[0]}-{act.tile[1]}{signs[act.kind]}{act.place}" for act in actions(now)]
    return " ".join([f"{now.turn}:", *text])


def game(profile: str, hands: str, boneyard: str = "", leader: int = 0, **changes: Any) -> Position:
    held = [pairs(hand) for hand in hands.split("|")]
    return start({**PROFILES[profile], **changes}, held, pairs(boneyard), leader)


def six(hands: str, boneyard: str = "", arms: str = "", **changes: Any) -> SuperGame:
    """Return a super position with 7-7 and *arms* on the table, and seat 0 to move."""
    now = SuperGame({**PROFILES["super"], **changes}, [pairs(hand) for hand in hands.split("|")], pairs(boneyard), 0)
    now.starter, now.arms = 7, [[tile] for tile in pairs(arms)]
    return now


ANY: dict[str, Any] = {"lead_first": "any"}
CUT: dict[str, Any] = {**ANY, "cutthroat": True}
GAMES = {
    "lone double": (game("draw", "5-5 0-0|3-5 3-5 3-4"), "5-5", "1: 3-5@W 3-5@E"),
    "lone spinner, sides first": (game("bones", "5-5 0-0|3-5 3-4"), "5-5", "1: 3-5@W 3-5@E"),
    "lone spinner": (game("allfives", "5-5 0-0|3-5 3-4"), "5-5", "1: 3-5@W 3-5@E 3-5@N 3-5@S"),
    "lone single": (game("twoset", "2-4 0-0|2-4", **ANY), "2-4", "1: 2-4@W 2-4@E"),
    "double has one free side": (game("draw", "2-4 3-4|4-4 0-1"), "2-4 4-4@E", "0: 3-4@E+"),
    "later double is the spinner": (game("allfives", "2-4 3-4|4-4 2-2"), "2-4 4-4@E", "0: 3-4@E+ 3-4@EN 3-4@ES"),
    "highest double": (game("twoset", "5-5 1-2|6-6 2-3|6-6"), "", "1: 6-6@"),
    "any": (game("draw", "1-2|2-2 1-3", leader=1), "", "1: 2-2@ 1-3@"),
    "highest single": (game("draw", "0-6 1-2|1-5", lead_first="highest_double_else_highest_single"), "", "0: 0-6@"),
    "draw all": (game("draw", "0-1 2-2|3-4", "4-4 3-3"), "0-1 d d k", "0: k"),
    "all knocked": (game("draw", "0-1 2-2|3-4", "4-4 3-3"), "0-1 d d k k", "1:"),
    "a play between": (game("draw", "0-1 2-2|3-4|5-6 1-6 5-5"), "0-1 k 1-6@E k k", "2: 5-6@E+"),
    "block": (game("block", "6-6 0-1|3-4", "1-6"), "6-6", "1: k"),
    "stacks": (game("twoset", "5-5 0-5|5-5|0-5", "3-3", **CUT), "5-5", "1: 5-5@W 5-5@E 5-5^"),
    "no stack": (game("twoset", "6-6 0-5|6-6", "3-3", **CUT), "6-6", "1: 6-6@W 6-6@E"),
    "own score": (game("twoset", "5-5 5-5|1-1|2-2", **CUT), "5-5 k k", "0: 5-5@W 5-5@E"),
    "score is over": (game("twoset", "5-5 0-5|4-5 6-6|5-5 1-1", **CUT), "5-5 4-5@W", "2: 5-5@E"),
    "arms": (six("7-9 9-9 1-2|3-4", arms="7-9 7-13"), "", "0: 7-9@new 7-9@arm1 9-9@arm1 9-9@arm2"),
    "next leads": (game("super", "1-2|3-4|5-5 2-2 1-5"), "", "2: 5-5@ 2-2@"),
    "draw to lead": (game("super", "1-2|3-4", "0-1 8-8 0-2", leader=1), "d d", "0: 8-8@"),
    "draw two": (six("1-2|7-8", "0-0 7-9 1-3"), "d", "0: 7-9@new"),
    "draw two once": (six("1-2|7-8", "0-0 1-4 1-3"), "d", "0: k"),
    "spell": (six("7-13 1-1|7-9 7-10", "0-1 0-3 5-13 0-5", "7-4"), "7-13@new d", "1: 5-13@arm2"),
    "caster": (six("7-13 1-1|7-9", "0-1 0-2 0-3"), "7-13@new d k", "0: 1-1@arm1 k"),
    "caster once": (six("7-13 1-1|7-9", "0-1 0-2 0-3", spell_lap="caster_once"), "7-13@new d k", "0: 1-1@arm1"),
    "second lap": (
        six("7-13 7-8|7-9", " ".join(f"0-{pips}" for pips in range(8)), spell_lap="caster_once"),
        "7-13@new d k d k d k",
        "0: k",
    ),
    "new caster": (six("7-13 7-8|13-13 1-1|0-1 2-2"), "7-13@new 13-13@arm1 2-2@arm1", "1: k"),
    "new caster knocks": (six("7-13 0-1|13-13 1-1", "0-2 0-3 0-4"), "7-13@new 13-13@arm1 d k", "1: 1-1@arm1 k"),
    "nothing to draw for": (six("7-13 0-1|13-13 1-1"), "7-13@new 13-13@arm1 k", "1: 1-1@arm1"),
    "starter spell": (
        game("super", "13-13 1-13 2-13 3-13 1-5|4-4 6-13 13-14 1-6", "0-1 0-2 0-3 0-4"),
        "13-13 4-4@new 13-14@new n 1-13@new 6-13@new 2-13@new d k",
        "0: 3-13@new",
    ),
    "starter spell lifted": (
        game("super", "13-13 1-13 2-13 3-13 1-5|4-4 6-13 13-14 1-6", "0-1 0-2 0-3 0-4"),
        "13-13 4-4@new 13-14@new n 1-13@new 6-13@new 2-13@new d k 3-13@new",
        "1: 1-6@arm3 1-6@arm4 0-4@arm1 0-3@arm6",
    ),
    "nobody is exempt": (game("super", "13-13 1-2|1-13 1-3", "0-1 0-2"), "13-13 1-13@new", "0: d"),
    "extra": (six("14-14 7-13 1-1|7-8|7-9", arms="7-14"), "14-14@arm1", "0: 7-13@new n"),
    "skip after extra": (six("14-14 7-13 1-1|7-8|7-9 2-2", arms="7-14"), "14-14@arm1 7-13@new", "2: 2-2@arm2"),
    "nothing for extra": (six("7-14 1-2|7-8", "0-1"), "7-14@new", "0: n"),
    "reversal before skip": (six("3-3 1-2|7-8|7-9|7-10", arms="7-3"), "3-3@arm1", "2: 7-9@new"),
    "last tile": (six("7-15|7-8", "0-1"), "7-15@new", "0:"),
    "yard left": (six("1-2|1-3", "0-1 0-2 0-3 0-4 0-5"), "d k d k", "0: d"),
    "no yard left": (six("1-2|1-3", "0-1 0-2 0-3"), "d k d k", "0:"),
    "six play between": (six("7-9 1-4|1-3 1-1|2-9 5-5"), "7-9@new k 2-9@arm1 k k", "2: k"),
}


@pytest.mark.parametrize(("now", "steps", "expected"), GAMES.values(), ids=GAMES.keys())
def test_actions(now: Position, steps: str, expected: str) -> None:
    assert can(done(now, steps)) == expected


def test_perft_of_a_small_draw_game() -> None:
    # There are two possible hands. 1-2, 2-2, draw 1-1, play it, draw 0-0, knock, knock: seven actions.
    # 3-4, draw 1-1, draw 0-0, knock, knock: five.
    now = game("draw", "1-2 3-4|2-2 5-6", "0-0 1-1")
    assert [perft(now, depth) for depth in range(9)] == [1, 2, 2, 2, 2, 2, 1, 1, 0]


def test_the_count_of_an_open_spinner_with_each_neighbour() -> None:
    now = game("allfives", "2-4 4-6 1-4 0-0|4-4 4-5 3-3")
    counts = [count(now := done(now, step)) for step in ("2-4", "4-4@E", "4-6@E+", "4-5@EN", "1-4@ES")]
    assert scores(done(game("allfives", "5-5 0-0|1-1", play_divisor=5), "5-5")) == [2, 0]
    assert counts == [6, 2 + 8, 2 + 8 + 6, 2 + 4 + 6 + 5, 2 + 6 + 5 + 1]


def test_with_all_spinners_each_double_branches_once_its_sides_are_covered() -> None:
    layout = Layout("all", "sides_first")
    for tile, place in zip(pairs("2-4 4-4 4-1 2-2 2-3 4-6"), ["", "E", "E+", "W", "W+", "EN"], strict=True):
        assert place in ["", *layout.open_places()]
        layout.play(tile, place)
    assert sorted(layout.open_places()) == ["E++", "EN+", "ES", "W++", "WN", "WS"]
    assert (layout.count(), layout.number("EN+")) == (1 + 3 + 6, 6)


def test_a_stack_needs_a_free_side_and_uses_the_tile() -> None:
    layout = Layout("first", "any", laid={"": (2, 2), "E": (2, 4), "E+": (4, 4)})
    assert [stack.place for stack in layout.stacks([(2, 2), (4, 4), (2, 4)])] == ["", "E+"]
    layout.play((3, 4), "E++")
    assert [stack.place for stack in layout.stacks([(2, 2), (4, 4), (2, 4)])] == [""]
    blanks = Layout(laid={"": (0, 0)})
    assert not blanks.locked({"set": 0, "copies": 2})
    blanks.stacked.append((0, 0))
    assert blanks.locked({"set": 0, "copies": 2})


def test_a_stack_steals_points_and_can_be_stolen_from() -> None:
    now = game("twoset", "5-5 0-5 1-1|5-5 6-6|0-5 2-2", "3-3", **CUT)
    results = [(count(now := done(now, step)), scores(now)) for step in ("5-5", "5-5^", "0-5@W", "0-5^W")]
    assert results == [(10, [10, 0, 0]), (10, [-10, 20, 0]), (10, [-10, 20, 10]), (10, [0, 20, 0])]


def test_a_blocked_line_ends_the_hand_once_nothing_can_be_drawn() -> None:
    layout, place = Layout(), ""
    for tile in pairs("6-0 0-1 1-6 6-6 6-2 2-3 3-6 6-4 4-5"):
        layout.play(tile, place)
        place = place + "+" if place else "E"
    for profile, boneyard, expected in (("draw", "", "1:"), ("draw", "4-4", "1: d"), ("block", "4-4", "1:")):
        hands = [pairs("5-6 1-1"), pairs("2-2 3-3")]
        now = LineGame(PROFILES[profile], hands, pairs(boneyard), 0, layout=layout, points=[0, 0])
        assert can(now) == f"0: 5-6@W 5-6@{place}"
        assert can(done(now, f"5-6@{place}")) == expected


def test_super_is_blocked_when_every_arm_and_the_starter_are_dead() -> None:
    now = six("1-2|1-3")
    now.arms = [[(number, 6) for number in part] for part in ((0,), (1,), (2,), (3,), (4,), range(5, 16))]
    assert super_locked(now)
    now.arms[:2] = [[(0, 6), (1, 6)]]
    assert not super_locked(now)
    now.arms = [[(7, number), (number, 13)] for number in range(5)] + [[(number, 13) for number in range(5, 16)]]
    assert not super_locked(now)
    now.arms[0] = [(number, number) for number in range(16) if number not in (7, 13)] + now.arms[0]
    assert super_locked(now)


def test_a_fifteen_makes_the_others_draw_in_turn_order_until_none_is_left() -> None:
    now = six("7-15 1-2|7-8|7-9", "0-1")
    now.direction = -1
    assert [len(hand) for hand in done(now, "7-15@new").hands] == [1, 1, 2]


PLAIN = {"subtract_own": True, "tie": "lightest_tile"}
PAIRS = {"partners": True, "hand_points": PLAIN}


@pytest.mark.parametrize(
    ("rules", "hands", "result"),
    [
        ({"hand_points": {"mode": "simple"}}, "1-2 15-15|1-1 2-2 0-0|3-4 1-3 0-9", (0, 2)),
        ({"hand_points": {"mode": "advanced"}}, "1-2 15-15|1-1 2-2 0-0|3-4 14-14 13-13", (0, 61 - 33)),
        ({"hand_points": {"mode": "simple"}}, "1-2 5-5|1-1 2-2|0-1 1-3 1-4", (1, 1)),
        ({"hand_points": {"mode": "advanced"}}, "1-2 1-2|1-1 2-2|0-1 1-3 1-4", (None, 0)),
        ({"hand_points": PLAIN | {"tie": "none"}}, "1-2 2-4 3-5|5-5 3-4", (None, 0)),
        ({"hand_points": PLAIN}, "1-2 2-4 3-5|5-5 3-4", (0, 0)),
        ({"hand_points": PLAIN}, "0-3|1-2", (None, 0)),
        ({"hand_points": PLAIN | {"tie_order": "pips_then_high"}}, "0-3|1-2", (1, 0)),
        ({"hand_points": PLAIN}, "1-2|1-2", (None, 0)),
        ({**PAIRS, "partners_mode": "individual"}, "1-1|0-3|1-3|0-6", (0, 9 - 2)),
        ({**PAIRS, "partners_mode": "team_total"}, "1-1|0-3|1-3|0-6", (0, 9)),
        ({**PAIRS, "partners_mode": "all_three"}, "1-1|0-3|1-3|0-6", (0, 13 - 2)),
    ],
)
def test_a_blocked_hand(rules: dict[str, Any], hands: str, result: tuple[int | None, int]) -> None:
    held = [pairs(hand) for hand in hands.split("|")]
    if "mode" in rules["hand_points"]:
        assert hand_result(SuperGame(rules, held, [], 0, over=True)) == result
    else:
        assert settle(rules, held, None) == result


# ---- whole hands ----


def test_bones_equals_a_line_with_two_branches() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        now, line = deal(PROFILES["bones"], 2 + seed % 3, rng), NaiveBones()
        while not now.over:
            assert isinstance(now, LineGame)
            if line.line:
                plays = [action for action in actions(now) if action.kind == "play"]
                assert len(line.moves(now.hands[now.turn])) == len(plays)
            action = rng.choice(actions(now))
            if action.kind == "play":
                branch = action.place.strip("WE+")
                line.play(action.tile, branch or action.place[:1])
            now = after(now, action)
            assert count(now) == line.count()


@pytest.mark.parametrize("order", ["any", "sides_first"])
def test_with_one_double_spinner_all_equals_first(order: str) -> None:
    hands = "0-1 2-3 4-5 3-3 3-5 2-5|1-2 3-4 5-6 1-3 0-3 1-4"
    first, every = (game("allfives", hands, spinner=spinner, branch_order=order) for spinner in ("first", "all"))
    assert perft(first, 4) == perft(every, 4) > 100


@pytest.mark.parametrize("profile", [*PROFILES, "cutthroat"])
def test_random_hands_end_and_conserve_tiles(profile: str) -> None:
    rules = PROFILES.get(profile, {**PROFILES["twoset"], "cutthroat": True})
    for seed in range(20):
        rng = random.Random(seed)
        now = deal(rules, 4 if rules.get("copies") == 2 else 2 + seed % 3, rng)
        while not now.over:
            now = after(now, rng.choice(actions(now)))
        if isinstance(now, LineGame):
            on_table = len(now.layout.laid) + len(now.layout.stacked)
        else:
            on_table = 1 + sum(map(len, now.arms))
        assert on_table + sum(map(len, now.hands)) + len(now.boneyard) == len(whole_set(rules))
        winner, points = hand_result(now)
        assert points >= 0
        assert now.out is None or winner == now.out
