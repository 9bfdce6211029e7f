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
        (LeadRule.HIGHEST_DOUBLE, "who holds the highest double leads it"),
        (LeadRule.RACE_HIGHEST_DOUBLE, "the highest double leads, the first on the table if two hold it"),
        (LeadRule.SET_DOUBLE, "who holds the highest double of the set (6-6 of a double-six) leads it"),
        (LeadRule.LOT_ANY, "lots are drawn, and any tile may lead"),
        (LeadRule.CHOSEN_ANY_DOUBLE, "a player is chosen and leads any double; without one the next player does"),
    )
)
_NEXT_LEADS = Choice(
    (
        *_FIRST_LEADS.meanings,
        (LeadRule.WINNER_ANY, "the winner of the last hand leads any tile"),
        (LeadRule.LEFT_OF_WINNER, "the player to the left of the last winner leads any tile, with six arms any double"),
    )
)
_NO_DOUBLE = Choice(
    (
        (NoDouble.REDEAL, "everybody gives the tiles back and draws again"),
        (NoDouble.HIGHEST_TILE, "the highest tile leads"),
        (NoDouble.DRAW_ONE_IN_TURN, "everybody draws one tile in turn until somebody draws a double"),
    )
)
_SPINNER = Choice(
    (
        (Spinner.NONE, "no double branches"),
        (Spinner.FIRST, "the first double of a hand branches"),
        (Spinner.ALL, "every double branches"),
        (Spinner.STARTER_SIX, "the tile that leads has six arms"),
    )
)
_BRANCH_ORDER = Choice(
    (
        (BranchOrder.SIDES_FIRST, "the tips open when both sides are covered"),
        (BranchOrder.ANY, "sides and tips are open at once"),
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
        (StealGain.SCORE, "who stacks gets the points and the player before loses them; double for a double"),
        (StealGain.SCORE_PLUS_STOLEN, "who stacks gets twice the points and the player before loses them once"),
    )
)
_DRAWING = Choice(
    (
        (Drawing.NONE, "nobody draws: knock"),
        (Drawing.UNTIL_PLAYABLE, "draw until a tile fits, knock when the boneyard is empty"),
        (Drawing.TWO, "draw two tiles, then play one or knock"),
    )
)
_PROVABLE_BLOCK = Choice(
    (
        (ProvableBlock.ANNOUNCE, "the table is told; it ends the hand or goes on drawing"),
        (ProvableBlock.END_NOW, "the hand ends at once"),
        (ProvableBlock.LITERAL, "the boneyard is drawn to its last tile first"),
    )
)
_HAND_MODE = Choice(
    (
        (HandMode.PIPS, "1 point for each pip; the lightest hand wins a block"),
        (HandMode.SIMPLE, "1 point for each tile; the fewest tiles win a block"),
        (HandMode.ADVANCED, "1 point for each pip, player by player; the fewest tiles win a block"),
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
        (PartnersMode.INDIVIDUAL, "the lightest hand wins, and its pair gets the pips of the other pair"),
        (PartnersMode.TEAM_TOTAL, "the lighter pair wins and gets the pips of the other pair"),
        (PartnersMode.ALL_THREE, "the lightest hand wins, and its pair gets the pips of all three others"),
    )
)
_SKIP_ON = Choice(
    (
        (SkipOn.DOUBLE, "a double costs the next player their turn"),
        (SkipOn.BLANK, "a blank left open costs the next player their turn"),
        (SkipOn.NONE, "nobody loses a turn"),
    )
)
_SPELL_LAP = Choice(
    (
        (SpellLap.CASTER_EXEMPT, "who cast a spell never has to break it"),
        (SpellLap.CASTER_ONCE, "who cast a spell has to break it when it first comes round, then no more"),
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
        (TargetTest.REACH, "a total equal to the target is enough"),
        (TargetTest.EXCEED, "a total has to be higher than the target"),
    )
)
_MATCH_END = Choice(
    (
        (MatchEnd.IMMEDIATE, "as soon as somebody has enough, within a hand too"),
        (MatchEnd.AFTER_NEXT_PLAY, "when the next player has had the chance to steal"),
        (MatchEnd.END_OF_HAND, "at the end of the hand; the highest total wins"),
    )
)
_TALLY = Choice(
    (
        (TallyStyle.NUMBERS, "figures"),
        (TallyStyle.HOUSE, "houses of 50: a cross, then a circle or an X in each corner"),
        (TallyStyle.ROWS, "rows of 50 made of / for 5, X and O for 10"),
    )
)
_POLICY = Choice(
    (
        (Policy.WARN, "it stands and the table is told"),
        (Policy.STRICT, "it is refused"),
    )
)

_T, _LE, _LA, _P, _D, _H, _E, _M = Group
_YES_NO = YesNo()
_PIPS = Number(0, HIGHEST_PIPS)

OPTIONS: tuple[Option, ...] = (
    Option("set", _T, "highest number on a tile: 6 for a double-six set", SetSize(), "max_pips"),
    Option("copies", _T, "how many of each tile: 2 for two sets", Number(1, MOST_COPIES), "copies"),
    Option("players", _T, "how many can play", Players(), "seats_min"),
    Option("hand", _T, "tiles dealt to each player", Deal(), "hand"),
    Option("partners", _T, "four play as two pairs, partners across", _YES_NO, "partners"),
    Option(
        "redeal_if_doubles_over",
        _T,
        "more doubles than this in one hand: all draw again",
        Number(0, None, "nobody gives a hand back"),
        "redeal_if_doubles_over",
    ),
    Option("lead_first", _LE, "who leads the first hand, and with what", _FIRST_LEADS, "lead_first"),
    Option("lead_next", _LE, "who leads the other hands, and with what", _NEXT_LEADS, "lead_next"),
    Option(
        "no_double",
        _LE,
        "when a double has to lead and nobody has one",
        _NO_DOUBLE,
        "no_double",
        ("lead_first|lead_next",),
    ),
    Option("spinner", _LA, "which doubles branch", _SPINNER, "spinner"),
    Option("branch_order", _LA, "when the tips of a spinner open", _BRANCH_ORDER, "branch_order", ("spinner",)),
    Option(
        "spinner_count", _LA, "what a spinner adds to the count", _SPINNER_COUNT, "spinner_count", ("spinner", "unit")
    ),
    Option(
        "unit", _P, "a play scores when its count is a multiple of this", Number(1, None, "plays do not score"), "unit"
    ),
    Option(
        "play_divisor", _P, "the points of a play are its count divided by this", Number(1), "play_divisor", ("unit",)
    ),
    Option(
        "call_required", _P, "points count only if called before the next play", _YES_NO, "call_required", ("unit",)
    ),
    Option(
        "cutthroat", _P, "the next player may stack a tile to steal points", _YES_NO, "cutthroat", ("unit", "copies")
    ),
    Option("steal_gain", _P, "what a stack gains and costs", _STEAL_GAIN, "steal_gain", ("cutthroat",), ("gain",)),
    Option("draw", _D, "what a player does who cannot play", _DRAWING, "draw"),
    Option("must_play", _D, "who can play has to", _YES_NO, "must_play"),
    Option("voluntary_draw", _D, "who can play may draw instead", _YES_NO, "voluntary_draw", ("draw",)),
    Option("boneyard_reserve", _D, "tiles of the boneyard that nobody draws", Number(0), "boneyard_reserve", ("draw",)),
    Option(
        "on_provable_block",
        _D,
        "when nothing fits any more but tiles are left to draw",
        _PROVABLE_BLOCK,
        "on_provable_block",
        ("draw",),
    ),
    Option("mode", _H, "what the winner of a hand gets from the others", _HAND_MODE, "hand_points.mode"),
    Option("subtract_own", _H, "the winner's own pips are taken off", _YES_NO, "hand_points.subtract_own"),
    Option(
        "round_to",
        _H,
        "the total is rounded to the nearest multiple of this",
        Number(1, None, "the total is not rounded"),
        "hand_points.round_to",
    ),
    Option(
        "round_each",
        _H,
        "what each opponent has left is rounded, and then added",
        _YES_NO,
        "hand_points.round_each",
        ("round_to",),
    ),
    Option(
        "bonus_divisor",
        _H,
        "the points of a hand are the total divided by this",
        Number(1),
        "hand_points.bonus_divisor",
    ),
    Option(
        "signed",
        _H,
        "a player with fewer pips than the winner lowers the pay",
        _YES_NO,
        "hand_points.signed",
        ("mode",),
    ),
    Option("tie", _H, "who wins a block when the best hands are equal", _TIE, "hand_points.tie", (), ("tie_break",)),
    Option("tie_order", _H, "which tile is the lighter one", _TIE_ORDER, "hand_points.tie_order", ("tie",)),
    Option(
        "partners_mode", _H, "who wins a block for a pair, and what", _PARTNERS_MODE, "partners_mode", ("partners",)
    ),
    Option("draw_on", _E, "left open, all others draw one tile", _PIPS, "effects.draw_on"),
    Option("again_on", _E, "left open, the same player may play again", _PIPS, "effects.again_on"),
    Option("spell_on", _E, "left open, the next must play there: this or a double", _PIPS, "effects.spell_on"),
    Option("reverse_on", _E, "left open, play goes the other way round", _PIPS, "effects.reverse_on"),
    Option("skip_on", _E, "what costs the next player their turn", _SKIP_ON, "effects.skip_on"),
    Option("spell_lap", _E, "whether who cast a spell has to break it", _SPELL_LAP, "effects.spell_lap"),
    Option("spell_deadlock", _E, "all pass under a spell, nothing to draw", _SPELL_DEADLOCK, "effects.spell_deadlock"),
    Option("effects_before_end", _E, "the last tile of a hand has its effect too", _YES_NO, "effects.last_tile"),
    Option("target", _M, "points that end the match", Number(1, None, "one hand is the match"), "target"),
    Option("target_test", _M, "whether reaching the target is enough", _TARGET_TEST, "target_test", ("target",)),
    Option("match_end", _M, "when a total is compared with the target", _MATCH_END, "match_end", ("target",)),
    Option("tally", _M, "how the score is drawn", _TALLY, "tally"),
    Option("policy", _M, "what becomes of a play against the rules", _POLICY, "policy"),
)

_ANY_LEAD = (("lead_first", "lot_any"), ("lead_next", "winner_any"))
_DOUBLE_LEAD = (("lead_first", "highest_double"), ("lead_next", "highest_double"))
_SET_LEAD = (("lead_first", "double_six"), ("lead_next", "double_six"), ("no_double", "redeal"))
_FIVE_UP = (("spinner", "all"), ("branch_order", "sides_first"), ("spinner_count", "until_capped"))
_THREES = (("unit", "3"), ("round_to", "3"), ("bonus_divisor", "3"))

PRESETS: tuple[Preset, ...] = (
    Preset("scoring", "points", "points as the game pays them"),
    Preset("scoring", "cribbage", "pegged on a cribbage board", (("play_divisor", "5"), ("target", "61"))),
    Preset("variation", "all_threes", "multiples of three instead of five", _THREES, ("allfives",)),
    Preset("variation", "five_up", "every double is a spinner", _FIVE_UP),
    Preset("variation", "muggins", "no spinner", (("spinner", "none"),)),
    Preset("variation", "puremco", "five tiles for any number of players", (("hand", "5"),)),
    Preset("set_domino", "any", "any tile leads", _ANY_LEAD),
    Preset("set_domino", "highest_double", "the highest double leads", (*_DOUBLE_LEAD, ("no_double", "redeal"))),
    Preset("set_domino", "double_six", "the highest double of the set leads", _SET_LEAD),
    Preset(
        "set_domino",
        "highest_double_else_highest_single",
        "the highest double leads, else the highest tile",
        (*_DOUBLE_LEAD, ("no_double", "highest_tile")),
    ),
    Preset("confirm_after_next_play", "yes", "a win stands after the next play", (("match_end", "after_next_play"),)),
    Preset("confirm_after_next_play", "no", "a win stands at once", (("match_end", "immediate"),)),
    Preset("spell_lapses", "yes", "a spell that nobody can break ends", (("spell_deadlock", "lapses"),)),
    Preset("spell_lapses", "no", "a spell that nobody can break blocks", (("spell_deadlock", "blocked"),)),
)

CONSEQUENCES: tuple[Consequence, ...] = (
    # With open_halves, every double within a line would always count: docs/reference/rules.md A1-26.
    Consequence("spinner", "all", (("branch_order", "sides_first"), ("spinner_count", "until_capped"))),
    # The bonus of All Threes is in threes: docs/reference/rules.md A1-27.
    Consequence("unit", "3", (("round_to", "3"), ("bonus_divisor", "3")), ("allfives",)),
)
