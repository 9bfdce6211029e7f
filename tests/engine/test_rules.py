"""Tests of docs/reference/rules.md 2.7: profiles, limits, invalid rules, and options as text."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import Enum

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import engine
import engine.rules.rules
from engine import ALLFIVES, BLOCK, BONES, CUTTHROAT, DRAW, FREE, PROFILES, SUPER, TWOSET, EngineError, OptionsError
from engine.rules.options import (
    CONSEQUENCES,
    PRESETS,
    Preset,
    allowed_text,
    matters,
    option_named,
    value_meaning,
    value_text,
)
from engine.rules.rules import OPTIONS, Choice, Effects, HandPoints, Number, Option, Rules, seats_that_can_play
from engine.state.match import State


def test_an_unknown_game_is_rejected_with_a_list_of_games() -> None:
    with pytest.raises(EngineError, match='"chess"; the games are bones'):
        engine.profile("chess")
    problem = engine.problem_with(State(), engine.MatchStart(BONES, ("A", "B", "C", "D", "E")))
    assert problem is not None
    assert problem.weight is engine.Weight.IMPOSSIBLE


def test_the_tiles_and_the_players_bound_each_other() -> None:
    assert engine.deal_problems(BONES, 5) == ("7 tiles x 5 players need 35 tiles, a double-six set has 28",)
    assert engine.deal_problems(engine.with_options(BONES, "set=9"), 7) == ()
    assert engine.deal_problems(engine.with_options(BONES, "set=9"), 8) == (
        "7 tiles x 8 players need 56 tiles, a double-nine set has 55",
    )
    assert [engine.deal_problems(engine.with_options(BONES, "set=12"), seats) == () for seats in (13, 14)] == [
        True,
        False,
    ]
    two = replace(BONES, copies=2)
    assert two.tiles == 56
    assert engine.deal_problems(two, 9) == ("7 tiles x 9 players need 63 tiles, 2 double-six sets have 56",)
    players = option_named("players")
    assert value_text(BONES, players) == "2-4"
    assert value_text(engine.with_options(BONES, {"set": "9"}), players) == "2-7"
    assert value_text(engine.with_options(BLOCK, {"partners": "yes"}), players) == "4"
    assert value_text(engine.with_options(ALLFIVES, {"players": "2"}), option_named("hand")) == "7"
    five = engine.with_options(BONES, {"players": "5"})
    assert engine.deal_problems(five, 5) == ("7 tiles x 5 players need 35 tiles, a double-six set has 28",)
    assert seats_that_can_play(five) == ()
    assert seats_that_can_play(engine.with_options(five, {"set": "9"})) == (5,)


def test_the_number_of_players_is_bounded_by_the_tiles() -> None:
    assert [engine.deal_problems(BONES, seats) for seats in (2, 3, 4)] == [()] * 3
    for seats in (1, 17):
        assert engine.deal_problems(BONES, seats)[0] == f"bones is for 2 to 4 players, got {seats}"
        assert engine.deal_problems(replace(BONES, max_pips=9), seats)[0] == f"bones is for 2 to 7 players, got {seats}"


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("players=1-4", "minimum players: expected 2 to 16, got 1"),
        ("unit=3 play_divisor=5", "play_divisor: 3 cannot be divided by 5"),
        ("unit=5 play_divisor=2", "play_divisor: 5 cannot be divided by 2"),
    ],
)
def test_rules_that_lose_points_or_lack_an_opponent_are_refused(options: str, fault: str) -> None:
    with pytest.raises(OptionsError) as refused:
        engine.with_options(ALLFIVES, options)
    assert refused.value.faults == (fault,)


def test_all_faults_of_rules_are_reported_at_once() -> None:
    with pytest.raises(EngineError) as refused:
        Rules(
            name="odd",
            max_pips=5,
            copies=0,
            seats_min=0,
            seats_max=-1,
            hand=0,
            unit=0,
            play_divisor=0,
            hand_points=HandPoints(round_to=0, bonus_divisor=0),
            target=0,
        )
    for fault in (
        "rules odd: set: expected 6 to 18, got 5",
        "copies: expected 1 to 2, got 0",
        "minimum players: expected 2 to 16, got 0",
        "maximum players: expected 0 to 16, got -1",
        "hand: expected 1 or more, got 0",
        "unit: expected 1 or more, got 0",
        "play_divisor: expected 1 or more, got 0",
        "round_to: expected 1 or more, got 0",
        "bonus_divisor: expected 1 or more, got 0",
        "target: expected 1 or more, got 0",
    ):
        assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("bones", "bones"),
        ("Fives", "bones"),
        ("All Fives with the sides first", "bones"),
        ("Block with buying", "draw"),
        ("all-fives", "allfives"),
        ("SNIFF", "allfives"),
        ("Super Dominoes", "super"),
        ("4 man, 2 box", "twoset"),
        ("4 man, 2 box with stealing", "cutthroat"),
    ],
)
def test_a_game_is_found_by_the_names_of_the_rule_book(name: str, game: str) -> None:
    assert engine.profile(name).name == game


@pytest.mark.parametrize("name", ["Five-Up", "Muggins", "All Threes"])
def test_a_variation_is_not_an_alias_of_the_plain_game(name: str) -> None:
    with pytest.raises(EngineError, match="is the game allfives with the option variation=") as refused:
        engine.profile(name)
    assert engine.with_options(ALLFIVES, str(refused.value).rpartition(" ")[2]) != ALLFIVES


# docs/reference/rules.md 1, and the options without a row in the table of 2.7, which test_rule_book.py compares.
REFERENCE = {
    "bones": "set=6 copies=1 players=2-4 hand=7 redeal_if_doubles_over=3 call_required=no bonus_divisor=1 target=150 "
    "tie=lightest_tile target_test=reach tally=house",
    "draw": "set=6 players=2-4 hand=7 branch_order=any bonus_divisor=1 tie=lightest_tile target=100 target_test=reach",
    "allfives": "set=6 players=2-4 hand=2:7,3:5,4:5 bonus_divisor=5 tie=lightest_tile target=100 target_test=reach",
    "block": "set=6 players=2-4 hand=2:7,3:5,4:5 tie=lightest_tile target=100 target_test=exceed",
    "super": "set=15 players=2-15 hand=9 skip_on=double spell_lap=caster_exempt mode=simple target=none",
    "twoset": "set=6 copies=2 players=4-6 hand=7 call_required=yes tie=lightest_tile target=150 target_test=reach "
    "cutthroat=no tally=rows50",
}


def reference(name: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in REFERENCE[name].split())
    return {key: value for key, _, value in pairs}


def faults_of(rules: Rules, text: str) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as refused:
        engine.with_options(rules, engine.parse_options(text))
    assert str(refused.value) == "; ".join(refused.value.faults)
    return refused.value.faults


def chosen(rules: Rules, text: str) -> dict[str, str]:
    return engine.changed_options(engine.with_options(rules, engine.parse_options(text)))


@pytest.mark.parametrize("name", REFERENCE)
def test_profiles_are_written_as_in_the_reference(name: str) -> None:
    expected = reference(name)
    assert {key: value_text(engine.profile(name), option_named(key)) for key in expected} == expected


@pytest.mark.parametrize("name", REFERENCE)
def test_profiles_accept_their_own_values_unchanged(name: str) -> None:
    # Some games derive the number of players from the tiles. An explicit number replaces that.
    assert engine.changed_options(engine.with_options(engine.profile(name), reference(name))).keys() <= {"players"}


def test_every_field_of_the_rules_is_an_option() -> None:
    expected = {field.name for field in fields(Rules)} - {
        "name",
        "refereed",
        "hand_points",
        "effects",
        "seats_max",
        "hand_for",
    }
    expected |= {f"hand_points.{field.name}" for field in fields(HandPoints)}
    expected |= {f"effects.{field.name}" for field in fields(Effects)}
    assert sorted(option.field for option in OPTIONS) == sorted(expected)


def test_keys_are_unique_and_grouped() -> None:
    keys = [option.key for option in OPTIONS]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {preset.key for preset in PRESETS}
    groups = [option.group for option in OPTIONS]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_every_value_of_every_choice_has_a_meaning() -> None:
    explained = {
        value for option in OPTIONS if isinstance(option.values, Choice) for value, _ in option.values.meanings
    }
    declaring = {"Explained", "Group", "ValueKind"}  # of the options themselves
    values = [
        known
        for known in vars(engine.rules.rules).values()
        if isinstance(known, type) and known.__name__ not in declaring
    ]
    enums = {known for known in values if issubclass(known, Enum) and known.__module__ == "engine.rules.rules"}
    assert {type(value) for value in explained} == enums
    assert explained == {value for known in enums for value in known}
    assert all(meaning for option in OPTIONS for _, meaning in getattr(option.values, "meanings", ((0, "no choice"),)))


def test_a_value_is_explained_in_the_players_terms() -> None:
    assert value_meaning(ALLFIVES, option_named("spinner_count")) == (
        "both halves while two edges are open, one half for the last, then nothing"
    )
    assert value_meaning(DRAW, option_named("unit")) == "plays do not score"
    assert value_meaning(BLOCK, option_named("hand")) == "tiles dealt to each player; 3:5 is 5 for 3 players"
    assert value_meaning(BONES, option_named("hand")) == "tiles dealt to each player"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_option_can_be_chosen_and_is_written_back(option: Option) -> None:
    rules = replace(SUPER, copies=2, unit=5)
    texts = {"set": ["6", "18"], "players": ["2", "3-4", "2+"], "hand": ["3", "9,2:12"]}.get(option.key, [])
    match option.values:
        case Choice(meanings):
            texts = [value.value for value, _ in meanings]
        case Number(least, most, none):
            texts = [str(most or least + 4), *(["none"] if none is not None else [])]
        case _:
            texts = texts or ["yes", "no"]
    for text in texts:
        with_it = {option.key: text}
        if with_it == {"tie": "fewest_pips"}:
            with_it["mode"] = "simple"
        if with_it == {"mode": "pips"}:
            with_it["tie"] = "none"
        if with_it == {"tally": "house"}:
            with_it["round_to"] = "5"
        changed = engine.with_options(rules, with_it)
        assert {**engine.changed_options(changed), option.key: text}.get(option.key) == text
        assert engine.with_options(changed, {option.key: text}) == changed
        if value_text(rules, option) != text and option.key not in ("players", "hand"):
            assert value_text(changed, option) == text
            assert changed != rules


def changes() -> st.SearchStrategy[dict[str, object]]:
    """Return other values for some fields of the rules, set directly instead of through options."""
    small = st.integers(1, 9)
    enums = {
        field.name: st.sampled_from(type(getattr(BONES, field.name)))
        for field in fields(Rules)
        if isinstance(getattr(BONES, field.name), Enum) and field.name != "lead_first"
    }
    hand_points = st.builds(
        HandPoints,
        subtract_own=st.booleans(),
        round_to=st.none() | small,
        bonus_divisor=small,
        mode=st.sampled_from(type(HandPoints().mode)),
        tie_order=st.sampled_from(type(HandPoints().tie_order)),
        signed=st.booleans(),
    )
    numbers = {
        **dict.fromkeys(("hand", "play_divisor", "boneyard_reserve"), small),
        **dict.fromkeys(("unit", "target", "redeal_if_doubles_over"), st.none() | small),
        **dict.fromkeys(("must_play", "voluntary_draw", "partners"), st.booleans()),
        "max_pips": st.integers(6, 18),
        "copies": st.integers(1, 2),
        "seats_min": st.integers(1, 4),
        "seats_max": st.none() | st.integers(4, 16),
        "hand_for": st.dictionaries(st.integers(2, 6), small).map(lambda dealt: tuple(dealt.items())),
    }
    return st.fixed_dictionaries({}, optional={**enums, **numbers, "hand_points": hand_points})


@pytest.mark.slow
@given(rules=st.sampled_from(PROFILES), values=changes())
def test_changed_options_describe_all_changes(rules: Rules, values: dict[str, object]) -> None:
    try:
        other = replace(rules, **values)  # type: ignore[arg-type]  # any field may be among them
    except EngineError:
        assume(False)
    assert engine.with_options(engine.profile(rules.name), engine.changed_options(other)) == other
    written = " ".join(f"{key}={value}" for key, value in engine.changed_options(other).items())
    assert engine.with_options(engine.profile(rules.name), engine.parse_options(written)) == other


def test_changed_options_are_written_as_in_a_record() -> None:
    other = replace(BLOCK, max_pips=9, seats_max=None, hand=5, hand_for=((2, 7),), target=None, must_play=False)
    assert engine.changed_options(other) == {
        "set": "9",
        "players": "2+",
        "hand": "5,2:7",
        "must_play": "no",
        "target": "none",
    }
    assert engine.changed_options(BONES) == {}
    open_halves = replace(ALLFIVES, spinner=engine.rules.rules.Spinner.ALL)
    assert engine.changed_options(open_halves) == {
        "spinner": "all",
        "branch_order": "any",
        "spinner_count": "open_halves",
    }


def test_options_of_a_record_are_parsed() -> None:
    assert engine.parse_options("") == {}
    assert engine.parse_options("target=150 hand=5") == {"target": "150", "hand": "5"}
    assert engine.parse_options(" target = 150,hand=5 ;; cutthroat=1, ") == {
        "target": "150",
        "hand": "5",
        "cutthroat": "1",
    }
    assert engine.parse_options("hand=2:7,3:5,4:5,target=61") == {"hand": "2:7,3:5,4:5", "target": "61"}
    assert engine.parse_options("hand=2:7, 3:5, 4:5 target=") == {"hand": "2:7,3:5,4:5", "target": ""}
    with pytest.raises(OptionsError) as refused:
        engine.parse_options("=7 target hand=5 target=1 hand=6")
    assert refused.value.faults == (
        'expected key=value, got "=7"',
        'expected key=value, got "target"',
        'hand: given twice, as "5" and as "6"',
    )
    assert engine.with_options(BONES, "target=200, hand=2:7,3:5") == engine.with_options(
        BONES, {"target": "200", "hand": "2:7,3:5"}
    )
    assert engine.with_options(BONES, "") == BONES
    with pytest.raises(OptionsError, match="expected key=value"):
        engine.with_options(BONES, "target")
    changed = engine.with_options(SUPER, {"effects.skip_on": "blank", "last_tile": "1", "spell_lapses": "1"})
    assert engine.changed_options(changed) == {
        "skip_on": "blank",
        "spell_deadlock": "lapses",
        "effects_before_end": "yes",
    }


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("must_play=0", "must_play=no"),
        ("must_play=False", "must_play=no"),
        ("must-play=off", "must_play=no"),
        ("tie_break=none", "tie=none"),
        ("hand_points.tie_break=null", "tie=none"),
        ("hand_points.round_to=null", "round_to=none"),
        ("max_pips=9", "set=9"),
        ("set=double-nine", "set=9"),
        ("hand=2:7,3:5,4:5", "hand=7,3:5,4:5"),
        ("hand=2:7/3:5/4:5", "hand=7,3:5,4:5"),
        ("spinner=None", "spinner=none"),
        ("scoring=cribbage", "play_divisor=5 target=61"),
        ("variation=muggins", "spinner=none"),
        ("variation=puremco", "hand=5"),
        ("confirm_after_next_play=1", "match_end=after_next_play"),
        ("confirm_after_next_play=0", ""),
        ("set_domino=any", "lead_first=lot_any lead_next=winner_any"),
        ("set_domino=highest_double", "lead_next=highest_double"),
        ("set_domino=double_six", "lead_first=double_six lead_next=double_six"),
        ("set_domino=highest_double_else_highest_single", "lead_next=highest_double no_double=highest_tile"),
    ],
)
def test_aliases_have_the_same_meaning(text: str, same: str) -> None:
    assert engine.with_options(BONES, engine.parse_options(text)) == engine.with_options(
        BONES, engine.parse_options(same)
    )
    assert (engine.with_options(BONES, engine.parse_options(text)) == BONES) == (same == "")


@pytest.mark.parametrize(
    ("rules", "text", "changed"),
    [
        (CUTTHROAT, "gain=score_plus_stolen", {"steal_gain": "score_plus_stolen"}),
        (BLOCK, "hand=5", {"hand": "5"}),
        (ALLFIVES, "hand=2:6", {"hand": "7,2:6,3:5,4:5"}),
        (ALLFIVES, "scoring=cribbage target=100", {"play_divisor": "5"}),
        (ALLFIVES, "variation=all_threes", {"unit": "3", "round_to": "3", "bonus_divisor": "3"}),
        # A1-26
        (ALLFIVES, "spinner=all", {"spinner": "all", "branch_order": "sides_first", "spinner_count": "until_capped"}),
        (ALLFIVES, "variation=five_up", chosen(ALLFIVES, "spinner=all")),
        (
            ALLFIVES,
            "spinner=all branch_order=any",
            {"spinner": "all", "branch_order": "any", "spinner_count": "until_capped"},
        ),
        # A1-27
        (ALLFIVES, "unit=3", {"unit": "3", "round_to": "3", "bonus_divisor": "3"}),
        (ALLFIVES, "unit=3 bonus_divisor=1", {"unit": "3", "round_to": "3", "bonus_divisor": "1"}),
        (TWOSET, "unit=3", {"unit": "3", "tally": "numbers"}),
        (BONES, "unit=3", {"unit": "3", "tally": "numbers"}),
        (TWOSET, "cutthroat=1", {"cutthroat": "yes"}),
    ],
)
def test_some_choices_imply_others(rules: Rules, text: str, changed: dict[str, str]) -> None:
    assert chosen(rules, text) == changed


def test_all_faults_are_reported_at_once() -> None:
    text = (
        "taget=150 target=0 hand=x players=4-2 set=5 must_play=perhaps spinner=second skip_on=blank scoring=pegs "
        "unit=3 tally=house"
    )
    assert faults_of(BONES, text) == (
        "taget: unknown option, did you mean target?",
        'scoring: expected points or cribbage, got "pegs"',
        'target: expected 1 or more, or none, got "0"',
        'hand: expected 1 or more, or by the number of players, such as "2:7,3:5,4:5", got "x"',
        'players: expected 2 to 16, a range such as "2-4", or "2+" for as many as the set allows, got "4-2"',
        'set: expected 6 to 18, or a name such as double-nine, got "5"',
        'must_play: expected yes or no, got "perhaps"',
        'spinner: expected none, first, all or starter6, got "second"',
        "skip_on: bones has no effects",
        "tally: house marks only fives, but these rules pay other points; use numbers",
    )


@pytest.mark.parametrize(
    ("rules", "text", "faults"),
    [
        (BONES, "zzz=1", ["zzz: unknown option"]),
        (BONES, "seats_min=3", ["seats_min: unknown option, did you mean set_domino?"]),
        (
            BONES,
            "hand=2:7,2:6",
            ['hand: expected 1 or more, or by the number of players, such as "2:7,3:5,4:5", got "2:7,2:6"'],
        ),
        (BONES, "tie=none tie_break=none", ["tie_break: given twice, also as tie"]),
        (BONES, "spell_lapses=1", ["spell_lapses: bones has no effects"]),
        (
            BONES,
            "tie=fewest_pips",
            ["tie: fewest_pips decides between hands of as many tiles, so mode must be simple or advanced"],
        ),
        (
            BONES,
            "cutthroat=1 unit=none",
            [
                "cutthroat: there is nothing to steal without a unit",
                "cutthroat: a tile is stacked on its copy, so copies must be 2",
            ],
        ),
        (
            BONES,
            "variation=all_threes",
            ["variation: all_threes is for allfives, not for bones; choose unit, round_to, bonus_divisor there"],
        ),
        (
            BONES,
            "lead_first=winner_any",
            [
                "lead_first: expected highest_double, race_highest_double, double_six, lot_any or chosen_any_double, "
                'got "winner_any"'
            ],
        ),
        (SUPER, "draw_on=19", ['draw_on: expected 0 to 18, got "19"']),
        (SUPER, "draw_on=14", ["effects: expected four different numbers, got (14, 14, 13, 3)"]),
        (BONES, "spinner=fist", ['spinner: expected none, first, all or starter6, got "fist", did you mean first?']),
        (BONES, "must_play=yess", ['must_play: expected yes or no, got "yess", did you mean yes?']),
        (BONES, "target=non", ['target: expected 1 or more, or none, got "non", did you mean none?']),
        (
            BONES,
            "set=double-nien",
            ['set: expected 6 to 18, or a name such as double-nine, got "double-nien", did you mean double-nine?'],
        ),
        (
            ALLFIVES,
            "variation=fiv-up",
            ['variation: expected all_threes, five_up, muggins or puremco, got "fiv-up", did you mean five_up?'],
        ),
        (BONES, "target=٣", ['target: expected 1 or more, or none, got "٣"']),
        (BONES, f"target={'9' * 50}", [f'target: expected 1 or more, or none, got "{"9" * 40}..."']),
    ],
)
def test_a_fault_names_the_expected_and_actual_values(rules: Rules, text: str, faults: list[str]) -> None:
    assert list(faults_of(rules, text)) == faults


def test_effects_have_numbers_of_a_tile() -> None:
    with pytest.raises(OptionsError, match="rules super: draw_on: expected 0 to 18, got 19"):
        replace(SUPER, effects=Effects(draw_on=19))


def test_options_without_effect_are_known() -> None:
    def irrelevant(rules: Rules) -> set[str]:
        return {option.key for option in OPTIONS if not matters(rules, option)}

    effects = {option.key for option in OPTIONS if option.field.startswith("effects.")}
    assert irrelevant(BONES) == effects | {"cutthroat", "steal_gain", "signed", "partners_mode"}
    assert {"branch_order", "spinner_count", "play_divisor", "no_double"} <= irrelevant(DRAW)
    assert not effects & irrelevant(SUPER)
    assert value_text(BONES, option_named("skip_on")) == "-"
    assert "steal_gain" in irrelevant(TWOSET)
    assert "steal_gain" not in irrelevant(CUTTHROAT)
    assert irrelevant(FREE) == {option.key for option in OPTIONS} - {"set", "copies"}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: f"{preset.key}={preset.value}")
def test_presets_can_be_chosen(preset: Preset) -> None:
    rules = SUPER if preset.key == "spell_lapses" else ALLFIVES
    changed = engine.with_options(rules, {preset.key: preset.value})
    assert changed == engine.with_options(rules, dict(preset.options))


def test_the_table_of_options_is_consistent() -> None:
    keys = {option.key for option in OPTIONS}
    for option in OPTIONS:
        assert {key for need in option.needs for key in need.split("|")} <= keys
        assert allowed_text(option)
    for follows in CONSEQUENCES:
        assert {follows.key, *dict(follows.options)} <= keys
    for preset in PRESETS:
        assert set(dict(preset.options)) <= keys
    with pytest.raises(EngineError, match="did you mean spinner"):
        option_named("spiner")
