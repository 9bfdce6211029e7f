"""Tables of options, presets and consequences."""

from dataclasses import dataclass

from engine.rules.option_values import Choice, Deal, Group, Number, Option, Players, SetSize, YesNo
from engine.rules.rules import (
    MOST_COPIES,
    BranchOrder,
    Drawing,
    HandMode,
    LeadRule,
    MatchEnd,
    NoDouble,
    PartnersMode,
    Policy,
    ProvableBlock,
    SkipOn,
    SpellDeadlock,
    SpellLap,
    Spinner,
    SpinnerCount,
    StealGain,
    TallyStyle,
    TargetTest,
    TieBreak,
    TieOrder,
)
from engine.tiles import HIGHEST_PIPS


@dataclass(frozen=True, slots=True)
class Preset:
    """A shorthand for several options.

    Attributes:
        key: Text before the "=".
        value: Text after the "=".
        meaning: Explanation for players.
        options: Keys and values of the options that it sets. Explicit options take precedence.
        games: Games in which it is available. Empty for all.
    """

    key: str
    value: str
    meaning: str
    options: tuple[tuple[str, str], ...] = ()
    games: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Consequence:
    """Default values of other options that follow from choosing *value* for *key*.

    Attributes:
        key: Key of the option that was chosen.
        value: Its value.
        options: Keys and values of the options that it sets by default.
        games: Games to which it applies. Empty for all.
    """

    key: str
    value: str
    options: tuple[tuple[str, str], ...]
    games: tuple[str, ...] = ()


# Explanations for players, one line each, because they fill a column in the terminal.
_FIRST_LEADS = Choice(
    (
        (LeadRule.HIGHEST_DOUBLE, "the holder of the highest double leads it"),
        (LeadRule.RACE_HIGHEST_DOUBLE, "the highest double leads; if two players hold it, the first one played"),
        (LeadRule.SET_DOUBLE, "the holder of the highest double of the set (6-6 in double-six) leads it"),
        (LeadRule.LOT_ANY, "a drawn player leads any tile"),
        (LeadRule.CHOSEN_ANY_DOUBLE, "a chosen player leads any double; without one, the next player does"),
    )
)
_NEXT_LEADS = Choice(
    (
        *_FIRST_LEADS.meanings,
        (LeadRule.WINNER_ANY, "the winner of the last hand leads any tile"),
        (
            LeadRule.LEFT_OF_WINNER,
            "the player to the left of the last winner leads any tile (any double with six arms)",
        ),
    )
)
_NO_DOUBLE = Choice(
    (
        (NoDouble.REDEAL, "all tiles go back and everybody draws a new hand"),
        (NoDouble.HIGHEST_TILE, "the highest tile leads"),
        (NoDouble.DRAW_ONE_IN_TURN, "the players draw one tile each in turn until one draws a double"),
    )
)
_SPINNER = Choice(
    (
        (Spinner.NONE, "no double branches"),
        (Spinner.FIRST, "the first double of a hand branches"),
        (Spinner.ALL, "every double branches"),
        (Spinner.STARTER_SIX, "the first tile has six arms"),
    )
)
_BRANCH_ORDER = Choice(
    (
        (BranchOrder.SIDES_FIRST, "the tips open when both sides are covered"),
        (BranchOrder.ANY, "sides and tips are open from the start"),
    )
)
_SPINNER_COUNT = Choice(
    (
        (SpinnerCount.UNTIL_CAPPED, "both halves while a side is open, then nothing"),
        (SpinnerCount.OPEN_HALVES, "both halves while two edges are open, one half for the last, then nothing"),
    )
)
_STEAL_GAIN = Choice(
    (
        (
            StealGain.SCORE,
            "the stacker scores the points and the previous player loses them; both are doubled for a double",
        ),
        (
            StealGain.SCORE_PLUS_STOLEN,
            "the stacker scores double; the previous player loses only the points of the play",
        ),
    )
)
_DRAWING = Choice(
    (
        (Drawing.NONE, "knock: there is no drawing"),
        (Drawing.UNTIL_PLAYABLE, "draw until a tile fits, knock when the boneyard is empty"),
        (Drawing.TWO, "draw two tiles, then play one or knock"),
    )
)
_PROVABLE_BLOCK = Choice(
    (
        (ProvableBlock.ANNOUNCE, "the table is asked whether to end the hand or keep drawing"),
        (ProvableBlock.END_NOW, "the hand ends at once"),
        (ProvableBlock.LITERAL, "the boneyard is drawn to its last tile first"),
    )
)
_HAND_MODE = Choice(
    (
        (HandMode.PIPS, "1 point for each pip; the lightest hand wins a block"),
        (HandMode.SIMPLE, "1 point for each tile; the fewest tiles win a block"),
        (HandMode.ADVANCED, "1 point for each pip, compared with each opponent; the fewest tiles win a block"),
    )
)
_TIE = Choice(
    (
        (TieBreak.LIGHTEST_TILE, "the lightest tile wins, then the next lightest"),
        (TieBreak.FEWEST_PIPS, "the fewest pips win"),
        (TieBreak.NONE, "nobody wins"),
    )
)
_TIE_ORDER = Choice(
    (
        (TieOrder.PIPS, "the one with fewer pips"),
        (TieOrder.PIPS_THEN_HIGH, "the one with fewer pips, then with the lower high half"),
    )
)
_PARTNERS_MODE = Choice(
    (
        (PartnersMode.INDIVIDUAL, "the lightest hand wins, and that pair scores the other pair's pips"),
        (PartnersMode.TEAM_TOTAL, "the lighter pair wins and scores the other pair's pips"),
        (PartnersMode.ALL_THREE, "the lightest hand wins, and that pair scores the pips of the three other players"),
    )
)
_SKIP_ON = Choice(
    (
        (SkipOn.DOUBLE, "a double skips the next player"),
        (SkipOn.BLANK, "a blank left open skips the next player"),
        (SkipOn.NONE, "nobody is skipped"),
    )
)
_SPELL_LAP = Choice(
    (
        (SpellLap.CASTER_EXEMPT, "the caster never has to break their own spell"),
        (SpellLap.CASTER_ONCE, "the caster has to break it the first time it comes back to them, but not later"),
    )
)
_SPELL_DEADLOCK = Choice(
    (
        (SpellDeadlock.BLOCKED, "the hand is blocked"),
        (SpellDeadlock.LAPSES, "the spell ends and play goes on"),
    )
)
_TARGET_TEST = Choice(
    (
        (TargetTest.REACH, "a total equal to the target wins"),
        (TargetTest.EXCEED, "a total above the target wins"),
    )
)
_MATCH_END = Choice(
    (
        (MatchEnd.IMMEDIATE, "as soon as a total reaches the target, even during a hand"),
        (MatchEnd.AFTER_NEXT_PLAY, "once the next player has had the chance to steal"),
        (MatchEnd.END_OF_HAND, "at the end of the hand; the highest total wins"),
    )
)
_TALLY = Choice(
    (
        (TallyStyle.NUMBERS, "figures"),
        (TallyStyle.HOUSE, "houses of 50: a cross, then a circle or an X in each corner"),
        (TallyStyle.ROWS, 'rows worth 50: "/" for 5, "X" and "O" for 10'),
    )
)
_POLICY = Choice(
    (
        (Policy.WARN, "it counts and is reported"),
        (Policy.STRICT, "it is rejected"),
    )
)

_T, _LE, _LA, _P, _D, _H, _E, _M = Group
_YES_NO = YesNo()
_PIPS = Number(0, HIGHEST_PIPS)

OPTIONS: tuple[Option, ...] = (
    Option("set", _T, "highest number on a tile: 6 for a double-six set", SetSize(), "max_pips"),
    Option("copies", _T, "copies of each tile: 2 for two sets", Number(1, MOST_COPIES), "copies"),
    Option("players", _T, "number of players", Players(), "seats_min"),
    Option("hand", _T, "tiles dealt to each player", Deal(), "hand"),
    Option("partners", _T, "four play as two pairs, with partners opposite each other", _YES_NO, "partners"),
    Option(
        "redeal_if_doubles_over",
        _T,
        "redeal if a hand has more doubles than this",
        Number(0, None, "no redeal"),
        "redeal_if_doubles_over",
    ),
    Option("lead_first", _LE, "who leads the first hand", _FIRST_LEADS, "lead_first"),
    Option("lead_next", _LE, "who leads later hands", _NEXT_LEADS, "lead_next"),
    Option(
        "no_double",
        _LE,
        "if a double must lead and nobody has one",
        _NO_DOUBLE,
        "no_double",
        ("lead_first|lead_next",),
    ),
    Option("spinner", _LA, "doubles that branch", _SPINNER, "spinner"),
    Option("branch_order", _LA, "when a spinner's tips open", _BRANCH_ORDER, "branch_order", ("spinner",)),
    Option("spinner_count", _LA, "count of a spinner", _SPINNER_COUNT, "spinner_count", ("spinner", "unit")),
    Option(
        "unit",
        _P,
        "a play scores if its count is a multiple of this number",
        Number(1, None, "plays do not score"),
        "unit",
    ),
    Option(
        "play_divisor",
        _P,
        "the points of a play are its count divided by this number",
        Number(1),
        "play_divisor",
        ("unit",),
    ),
    Option(
        "call_required", _P, "points count only if called before the next play", _YES_NO, "call_required", ("unit",)
    ),
    Option(
        "cutthroat", _P, "the next player may stack a tile to steal points", _YES_NO, "cutthroat", ("unit", "copies")
    ),
    Option("steal_gain", _P, "points for a stack", _STEAL_GAIN, "steal_gain", ("cutthroat",), ("gain",)),
    Option("draw", _D, "if a player cannot play", _DRAWING, "draw"),
    Option("must_play", _D, "a player who can play must play", _YES_NO, "must_play"),
    Option("voluntary_draw", _D, "a player who can play may draw instead", _YES_NO, "voluntary_draw", ("draw",)),
    Option("boneyard_reserve", _D, "tiles that stay in the boneyard", Number(0), "boneyard_reserve", ("draw",)),
    Option(
        "on_provable_block",
        _D,
        "if no tile fits but tiles are left to draw",
        _PROVABLE_BLOCK,
        "on_provable_block",
        ("draw",),
    ),
    Option("mode", _H, "points for the winner of a hand", _HAND_MODE, "hand_points.mode"),
    Option("subtract_own", _H, "subtract the winner's own pips", _YES_NO, "hand_points.subtract_own"),
    Option(
        "round_to",
        _H,
        "the total is rounded to the nearest multiple of this number",
        Number(1, None, "the total is not rounded"),
        "hand_points.round_to",
    ),
    Option(
        "round_each",
        _H,
        "round each opponent's pips before adding them",
        _YES_NO,
        "hand_points.round_each",
        ("round_to",),
    ),
    Option(
        "bonus_divisor",
        _H,
        "the points of a hand are the total divided by this number",
        Number(1),
        "hand_points.bonus_divisor",
    ),
    Option(
        "signed",
        _H,
        "a player with fewer pips than the winner reduces the points",
        _YES_NO,
        "hand_points.signed",
        ("mode",),
    ),
    Option("tie", _H, "winner of a block if the best hands are equal", _TIE, "hand_points.tie", (), ("tie_break",)),
    Option("tie_order", _H, "lighter of two tiles", _TIE_ORDER, "hand_points.tie_order", ("tie",)),
    Option("partners_mode", _H, "block in a pairs game", _PARTNERS_MODE, "partners_mode", ("partners",)),
    Option(
        "draw_on", _E, "number that, if left open, makes every other player draw one tile", _PIPS, "effects.draw_on"
    ),
    Option("again_on", _E, "number that, if left open, lets the player play again", _PIPS, "effects.again_on"),
    Option(
        "spell_on",
        _E,
        "number that, if left open, casts a spell: the next player must play it or a double there",
        _PIPS,
        "effects.spell_on",
    ),
    Option("reverse_on", _E, "number that, if left open, reverses the direction of play", _PIPS, "effects.reverse_on"),
    Option("skip_on", _E, "play that skips the next player", _SKIP_ON, "effects.skip_on"),
    Option("spell_lap", _E, "casters and their own spells", _SPELL_LAP, "effects.spell_lap"),
    Option(
        "spell_deadlock",
        _E,
        "if all pass under a spell and there is nothing to draw",
        _SPELL_DEADLOCK,
        "effects.spell_deadlock",
    ),
    Option("effects_before_end", _E, "the last tile of a hand has its effect too", _YES_NO, "effects.last_tile"),
    Option("target", _M, "points that end the match", Number(1, None, "play a single hand"), "target"),
    Option("target_test", _M, "winning total", _TARGET_TEST, "target_test", ("target",)),
    Option("match_end", _M, "end of the match", _MATCH_END, "match_end", ("target",)),
    Option("tally", _M, "drawing of the score", _TALLY, "tally"),
    Option("policy", _M, "plays against the rules", _POLICY, "policy"),
)

_ANY_LEAD = (("lead_first", "lot_any"), ("lead_next", "winner_any"))
_DOUBLE_LEAD = (("lead_first", "highest_double"), ("lead_next", "highest_double"))
_SET_LEAD = (("lead_first", "double_six"), ("lead_next", "double_six"), ("no_double", "redeal"))
_FIVE_UP = (("spinner", "all"), ("branch_order", "sides_first"), ("spinner_count", "until_capped"))
_THREES = (("unit", "3"), ("round_to", "3"), ("bonus_divisor", "3"))

PRESETS: tuple[Preset, ...] = (
    Preset("scoring", "points", "points as the game scores them"),
    Preset("scoring", "cribbage", "pegged on a cribbage board", (("play_divisor", "5"), ("target", "61"))),
    Preset("variation", "all_threes", "multiples of three instead of five", _THREES, ("allfives",)),
    Preset("variation", "five_up", "every double is a spinner", _FIVE_UP),
    Preset("variation", "muggins", "no spinner", (("spinner", "none"),)),
    Preset("variation", "puremco", "five tiles each for any number of players", (("hand", "5"),)),
    Preset("set_domino", "any", "any tile leads", _ANY_LEAD),
    Preset("set_domino", "highest_double", "the highest double leads", (*_DOUBLE_LEAD, ("no_double", "redeal"))),
    Preset("set_domino", "double_six", "the highest double of the set leads", _SET_LEAD),
    Preset(
        "set_domino",
        "highest_double_else_highest_single",
        "the highest double leads, else the highest tile",
        (*_DOUBLE_LEAD, ("no_double", "highest_tile")),
    ),
    Preset("confirm_after_next_play", "yes", "a win counts after the next play", (("match_end", "after_next_play"),)),
    Preset("confirm_after_next_play", "no", "a win counts at once", (("match_end", "immediate"),)),
    Preset("spell_lapses", "yes", "a spell that nobody can break ends", (("spell_deadlock", "lapses"),)),
    Preset("spell_lapses", "no", "a spell that nobody can break blocks", (("spell_deadlock", "blocked"),)),
)

CONSEQUENCES: tuple[Consequence, ...] = (
    # With open_halves, every double within a line would always count: docs/reference/rules.md A1-26.
    Consequence("spinner", "all", (("branch_order", "sides_first"), ("spinner_count", "until_capped"))),
    # The bonus of All Threes is in threes: docs/reference/rules.md A1-27.
    Consequence("unit", "3", (("round_to", "3"), ("bonus_divisor", "3")), ("allfives",)),
)
