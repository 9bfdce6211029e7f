"""Rules of a game as a frozen value; each field declares its option. `engine.rules.options` defines the known games.

See docs/reference/rules.md 2.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from engine.errors import OptionsError
from engine.phrases import Phrase, fault_of, phrase
from engine.tiles import HIGHEST_PIPS, full_set, set_name

SMALLEST_SET = 6
MAX_SEATS = 16  # Game records name seats A to P.

T = TypeVar("T")


class Explained(StrEnum):
    """Words, each with an explanation for players: one line, because they fill a column in the terminal."""

    meaning: str

    def __new__(cls, word: str, meaning: str = "") -> Explained:
        """Return the member *word*, explained by *meaning*."""
        member = str.__new__(cls, word)
        member._value_, member.meaning = word, meaning
        return member


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words. *meanings* pairs every value of an enum with its explanation."""

    meanings: tuple[tuple[StrEnum, str], ...]


@dataclass(frozen=True, slots=True)
class Number:
    """An integer from *least* to *most*, where None is no limit.

    *none* explains the value "none". If it is None, that value is not allowed.
    """

    least: int
    most: int | None = None
    none: str | None = None


class ValueKind(StrEnum):
    """Values of an option that are neither words nor a single number."""

    YES_NO = "yes_no"
    SET = "set"  # a tile set, by its highest number or its name
    PLAYERS = "players"  # a number or range of players
    DEAL = "deal"  # tiles dealt to each player: a single number, or one for each number of players


class Group(StrEnum):
    """Subject of an option, in the order in which a game is explained."""

    TILES = "tiles and players"
    LEAD = "leading a hand"
    LAYOUT = "spinners"
    PLAY = "points for plays"
    DRAW = "drawing and blocking"
    HAND = "points for a hand"
    EFFECTS = "special numbers"
    MATCH = "match and score"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the rules. `option` declares it on a field."""

    group: Group  # subject
    meaning: str  # explanation for players, with the unit
    values: Choice | Number | ValueKind  # allowed values
    key: str = ""  # name in a game record and on the command line; by default the name of the field
    field: str = ""  # field of `Rules`, with a dot for one of `HandPoints` or `Effects`; set by `OPTIONS`
    needs: tuple[str, ...] = ()  # keys of options that must be on for this one to matter; "a|b" if either is enough
    aliases: tuple[str, ...] = ()  # alternative names
    off: tuple[object, ...] = (None, False, "none")  # values with which options that need this one do not matter

    def value_in(self, rules: object) -> object:
        """Return the value in *rules*. None if it belongs to effects and *rules* have none."""
        for name in self.field.split("."):
            rules = None if rules is None else getattr(rules, name)
        return rules


def option(
    default: T,
    group: Group,
    meaning: str,
    values: Choice | Number | ValueKind | None = None,
    needs: str = "",
    **more: Any,
) -> T:
    """Declare a field of the rules as an option: by default, a choice of all members of an enum, or yes or no.

    The other arguments are attributes of `Option`, with blanks between the keys in *needs*.
    """
    if values is None and isinstance(default, Explained):
        values = Choice(tuple((word, word.meaning) for word in type(default)))
    declared = Option(group, meaning, values or ValueKind.YES_NO, needs=tuple(needs.split()), **more)
    return field(default=default, metadata={"option": declared})


def range_text(least: int, most: int | None) -> Phrase:
    """Return the allowed range of a number as text. If *most* is None, there is no upper limit."""
    if most is None:
        return phrase("{least} or more", least=least)
    return phrase("{least} to {most}", least=least, most=most)


MAX_COPIES = 2  # The game with the most tiles uses two sets: docs/reference/rules.md 3.6.

__all__ = ["BranchOrder", "Drawing", "Effects", "HandMode", "HandPoints", "LeadRule", "MatchEnd", "NoDouble"]
__all__ += ["PartnersMode", "Policy", "ProvableBlock", "Rules", "SkipOn", "SpellDeadlock", "SpellLap", "Spinner"]
__all__ += ["SpinnerCount", "StealGain", "TallyStyle", "TargetTest", "TieBreak", "TieOrder", "deal_problems"]


class Spinner(Explained):
    """Doubles that branch."""

    NONE = "none", "no double branches"
    FIRST = "first", "the first double of a hand branches"
    ALL = "all", "every double branches"
    STARTER_SIX = "starter6", "the first tile has six arms"


class BranchOrder(Explained):
    """Condition for the tips of a spinner to open."""

    SIDES_FIRST = "sides_first", "the tips open when both sides are covered"
    ANY = "any", "sides and tips are open from the start"


class SpinnerCount(Explained):
    """Value of a capped spinner in the count."""

    UNTIL_CAPPED = "until_capped", "both halves while a side is open, then nothing"
    OPEN_HALVES = "open_halves", "both halves while two edges are open, one half for the last, then nothing"


class Drawing(Explained):
    """Drawing rule for a player who cannot play."""

    NONE = "none", "knock: there is no drawing"
    UNTIL_PLAYABLE = "until_playable", "draw until a tile fits, knock when the boneyard is empty"
    TWO = "two", "draw two tiles, then play one or knock"


class LeadRule(Explained):
    """Rule for who leads a hand, and with which tile."""

    HIGHEST_DOUBLE = "highest_double", "the holder of the highest double leads it"
    RACE_HIGHEST_DOUBLE = (
        "race_highest_double",
        "the highest double leads; if two players hold it, the first one played",
    )
    SET_DOUBLE = "double_six", "the holder of the highest double of the set (6-6 in double-six) leads it"
    LOT_ANY = "lot_any", "a drawn player leads any tile"
    CHOSEN_ANY_DOUBLE = "chosen_any_double", "a chosen player leads any double; without one, the next player does"
    WINNER_ANY = "winner_any", "the winner of the last hand leads any tile"
    LEFT_OF_WINNER = (
        "left_of_winner",
        "the player to the left of the last winner leads any tile (any double with six arms)",
    )


class NoDouble(Explained):
    """Remedy if a double must lead but nobody has one."""

    REDEAL = "redeal", "all tiles go back and everybody draws a new hand"
    HIGHEST_TILE = "highest_tile", "the highest tile leads"
    DRAW_ONE_IN_TURN = "draw_one_in_turn", "the players draw one tile each in turn until one draws a double"


class ProvableBlock(Explained):
    """Treatment of a proven block (no remaining tile fits) while tiles are left to draw."""

    ANNOUNCE = "announce", "the table is asked whether to end the hand or keep drawing"
    END_NOW = "end_now", "the hand ends at once"
    LITERAL = "literal", "the boneyard is drawn to its last tile first"


class HandMode(Explained):
    """Method of calculating the points for a hand."""

    PIPS = "pips", "1 point for each pip; the lightest hand wins a block"
    SIMPLE = "simple", "1 point for each tile; the fewest tiles win a block"
    ADVANCED = "advanced", "1 point for each pip, compared with each opponent; the fewest tiles win a block"


class TieBreak(Explained):
    """Tie-break in a blocked hand."""

    LIGHTEST_TILE = "lightest_tile", "the lightest tile wins, then the next lightest"
    FEWEST_PIPS = "fewest_pips", "the fewest pips win"
    NONE = "none", "nobody wins"


class TieOrder(Explained):
    """Order in which tiles are compared for the lightest."""

    PIPS = "pips", "the one with fewer pips"
    PIPS_THEN_HIGH = "pips_then_high", "the one with fewer pips, then with the lower high half"


class PartnersMode(Explained):
    """Method by which partners win and score a blocked hand."""

    INDIVIDUAL = "individual", "the lightest hand wins, and that pair scores the other pair's pips"
    TEAM_TOTAL = "team_total", "the lighter pair wins and scores the other pair's pips"
    ALL_THREE = "all_three", "the lightest hand wins, and that pair scores the pips of the three other players"


class SkipOn(Explained):
    """Plays after which the next player loses a turn."""

    DOUBLE = "double", "a double skips the next player"
    BLANK = "blank", "a blank left open skips the next player"
    NONE = "none", "nobody is skipped"


class SpellLap(Explained):
    """Exemption of the caster from breaking their own spell."""

    CASTER_EXEMPT = "caster_exempt", "the caster never has to break their own spell"
    CASTER_ONCE = "caster_once", "the caster has to break it the first time it comes back to them, but not later"


class SpellDeadlock(Explained):
    """Result if all players pass under a spell and no tile can be drawn."""

    BLOCKED = "blocked", "the hand is blocked"
    LAPSES = "lapses", "the spell ends and play goes on"


class StealGain(Explained):
    """Points gained by a stack."""

    SCORE = "score", "the stacker scores the points and the previous player loses them; both are doubled for a double"
    SCORE_PLUS_STOLEN = (
        "score_plus_stolen",
        "the stacker scores double; the previous player loses only the points of the play",
    )


class TargetTest(Explained):
    """Test of a total against the target: reach or exceed."""

    REACH = "reach", "a total equal to the target wins"
    EXCEED = "exceed", "a total above the target wins"


class MatchEnd(Explained):
    """Time at which totals are compared with the target."""

    IMMEDIATE = "immediate", "as soon as a total reaches the target, even during a hand"
    AFTER_NEXT_PLAY = "after_next_play", "once the next player has had the chance to steal"
    END_OF_HAND = "end_of_hand", "at the end of the hand; the highest total wins"


class TallyStyle(Explained):
    """Style of the score tally."""

    NUMBERS = "numbers", "figures"
    HOUSE = "house", "houses of 50: a cross, then a circle or an X in each corner"
    ROWS = "rows50", 'rows worth 50: "/" for 5, "X" and "O" for 10'


class Policy(Explained):
    """Treatment of illegal plays: accepted and reported (WARN), or rejected (STRICT)."""

    WARN = "warn", "it counts and is reported"
    STRICT = "strict", "it is rejected"


_PIPS = Number(0, HIGHEST_PIPS)
_AFTER_A_HAND = (LeadRule.WINNER_ANY, LeadRule.LEFT_OF_WINNER)
_FIRST_LEAD = Choice(tuple((rule, rule.meaning) for rule in LeadRule if rule not in _AFTER_A_HAND))


@dataclass(frozen=True, slots=True)
class HandPoints:
    """Points for winning a hand.

    *subtract_own* applies only in mode PIPS, and not if pairs compare their totals. *signed* is ignored in mode PIPS.
    With *round_each*, the total is rounded too. Divisions round down.
    """

    subtract_own: bool = option(False, Group.HAND, "subtract the winner's own pips")
    round_to: int | None = option(
        None,
        Group.HAND,
        "the total is rounded to the nearest multiple of this number",
        Number(1, None, "the total is not rounded"),
    )
    bonus_divisor: int = option(1, Group.HAND, "the points of a hand are the total divided by this number", Number(1))
    tie: TieBreak = option(
        TieBreak.LIGHTEST_TILE,
        Group.HAND,
        "winner of a block if the best hands are equal",
        aliases=("tie_break",),
        off=(TieBreak.NONE, TieBreak.FEWEST_PIPS),
    )
    tie_order: TieOrder = option(TieOrder.PIPS, Group.HAND, "lighter of two tiles", needs="tie")
    mode: HandMode = option(
        HandMode.PIPS, Group.HAND, "points for the winner of a hand", off=(HandMode.PIPS, HandMode.SIMPLE)
    )
    signed: bool = option(
        False, Group.HAND, "a player with fewer pips than the winner reduces the points", needs="mode"
    )
    round_each: bool = option(False, Group.HAND, "round each opponent's pips before adding them", needs="round_to")


@dataclass(frozen=True, slots=True)
class Effects:
    """Numbers with an effect when a play leaves them open. See docs/reference/rules.md 3.5."""

    draw_on: int = option(15, Group.EFFECTS, "number that, if left open, makes every other player draw one tile", _PIPS)
    again_on: int = option(14, Group.EFFECTS, "number that, if left open, lets the player play again", _PIPS)
    spell_on: int = option(
        13,
        Group.EFFECTS,
        "number that, if left open, casts a spell: the next player must play it or a double there",
        _PIPS,
    )
    reverse_on: int = option(3, Group.EFFECTS, "number that, if left open, reverses the direction of play", _PIPS)
    skip_on: SkipOn = option(SkipOn.DOUBLE, Group.EFFECTS, "play that skips the next player")
    spell_lap: SpellLap = option(SpellLap.CASTER_EXEMPT, Group.EFFECTS, "casters and their own spells")
    spell_deadlock: SpellDeadlock = option(
        SpellDeadlock.BLOCKED, Group.EFFECTS, "if all pass under a spell and there is nothing to draw"
    )
    last_tile: bool = option(
        False, Group.EFFECTS, "the last tile of a hand has its effect too", key="effects_before_end"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules of a match. docs/reference/rules.md 2.7 gives the values for each game.

    The meaning of each option is in its declaration. *name* is that of the profile.
    """

    name: str
    max_pips: int = option(6, Group.TILES, "highest number on a tile: 6 for a double-six set", ValueKind.SET, key="set")
    copies: int = option(1, Group.TILES, "copies of each tile: 2 for two sets", Number(1, MAX_COPIES), off=(1,))
    seats_min: int = option(2, Group.TILES, "number of players", ValueKind.PLAYERS, key="players")
    seats_max: int | None = None  # maximum number of players; None if only the number of tiles limits it
    hand: int = option(7, Group.TILES, "tiles dealt to each player", ValueKind.DEAL)
    hand_for: tuple[tuple[int, int], ...] = ()  # exceptions to *hand*: numbers of players, and tiles dealt to each
    redeal_if_doubles_over: int | None = option(
        None, Group.TILES, "redeal if a hand has more doubles than this", Number(0, None, "no redeal")
    )
    lead_first: LeadRule = option(
        LeadRule.HIGHEST_DOUBLE, Group.LEAD, "who leads the first hand", _FIRST_LEAD, off=(LeadRule.LOT_ANY,)
    )
    lead_next: LeadRule = option(LeadRule.WINNER_ANY, Group.LEAD, "who leads later hands", off=_AFTER_A_HAND)
    no_double: NoDouble = option(
        NoDouble.REDEAL, Group.LEAD, "if a double must lead and nobody has one", needs="lead_first|lead_next"
    )
    spinner: Spinner = option(
        Spinner.NONE, Group.LAYOUT, "doubles that branch", off=(Spinner.NONE, Spinner.STARTER_SIX)
    )
    branch_order: BranchOrder = option(
        BranchOrder.SIDES_FIRST, Group.LAYOUT, "when a spinner's tips open", needs="spinner"
    )
    spinner_count: SpinnerCount = option(
        SpinnerCount.UNTIL_CAPPED, Group.LAYOUT, "count of a spinner", needs="spinner unit"
    )
    unit: int | None = option(
        None,
        Group.PLAY,
        "a play scores if its count is a multiple of this number",
        Number(1, None, "plays do not score"),
    )
    play_divisor: int = option(
        1, Group.PLAY, "the points of a play are its count divided by this number", Number(1), needs="unit"
    )
    draw: Drawing = option(Drawing.UNTIL_PLAYABLE, Group.DRAW, "if a player cannot play")
    must_play: bool = option(True, Group.DRAW, "a player who can play must play")
    voluntary_draw: bool = option(False, Group.DRAW, "a player who can play may draw instead", needs="draw")
    boneyard_reserve: int = option(0, Group.DRAW, "tiles that stay in the boneyard", Number(0), needs="draw")
    on_provable_block: ProvableBlock = option(
        ProvableBlock.ANNOUNCE, Group.DRAW, "if no tile fits but tiles are left to draw", needs="draw"
    )
    call_required: bool = option(False, Group.PLAY, "points count only if called before the next play", needs="unit")
    cutthroat: bool = option(False, Group.PLAY, "the next player may stack a tile to steal points", needs="unit copies")
    steal_gain: StealGain = option(
        StealGain.SCORE, Group.PLAY, "points for a stack", needs="cutthroat", aliases=("gain",)
    )
    partners: bool = option(False, Group.TILES, "four play as two pairs, with partners opposite each other")
    partners_mode: PartnersMode = option(PartnersMode.INDIVIDUAL, Group.HAND, "block in a pairs game", needs="partners")
    hand_points: HandPoints = HandPoints()
    effects: Effects | None = None  # None if no number has an effect
    target: int | None = option(100, Group.MATCH, "points that end the match", Number(1, None, "play a single hand"))
    target_test: TargetTest = option(TargetTest.REACH, Group.MATCH, "winning total", needs="target")
    match_end: MatchEnd = option(MatchEnd.IMMEDIATE, Group.MATCH, "end of the match", needs="target")
    tally: TallyStyle = option(TallyStyle.NUMBERS, Group.MATCH, "drawing of the score")
    policy: Policy = option(Policy.WARN, Group.MATCH, "plays against the rules")
    refereed: bool = True  # False for free play, in which tiles are only recorded

    def __post_init__(self) -> None:
        faults = [fault_of(key, text) for key, text in (*_range_faults(self), *_sense_faults(self))]
        if faults:
            raise OptionsError(faults, f"rules {self.name}: ")

    @property
    def tiles(self) -> int:
        """Total number of tiles, counting all copies."""
        return len(full_set(self.max_pips)) * self.copies

    def dealt(self, seats: int) -> int:
        """Return the number of tiles dealt to each of *seats* players."""
        return dict(self.hand_for).get(seats, self.hand)


# These options follow the others of their groups, in this order.
_ORDER = ["mode", "subtract_own", "round_to", "round_each", "bonus_divisor", "signed", "tie", "tie_order"]
_ORDER += ["partners_mode", "redeal_if_doubles_over"]


def _declared() -> Iterator[Option]:
    """Yield the options that fields declare, in the order of the fields."""
    for owner, declaring in (("", Rules), ("hand_points.", HandPoints), ("effects.", Effects)):
        for each in fields(declaring):
            if known := each.metadata.get("option"):
                yield replace(known, key=known.key or each.name, field=owner + each.name)


def _place(declared: Option) -> tuple[int, int]:
    return list(Group).index(declared.group), _ORDER.index(declared.key) if declared.key in _ORDER else -1


OPTIONS = tuple(sorted(_declared(), key=_place))
"""All options, in the order in which a game is explained."""


def deal_problems(rules: Rules, seats: int) -> tuple[str, ...]:
    """Return the reasons why *seats* players cannot play by *rules*. Empty if they can."""
    problems: list[str] = []
    least, most = rules.seats_min, MAX_SEATS if rules.seats_max is None else rules.seats_max
    if not least <= seats <= most:
        # There may not be enough tiles for every number of players that the rules allow.
        most = max((many for many in range(least, most + 1) if rules.dealt(many) * many <= rules.tiles), default=least)
        named = {"game": rules.name, "least": least, "most": most, "seats": seats}
        problems.append(phrase("{game} is for {least} to {most} players, got {seats}", **named))
    if rules.partners and seats != 4:
        problems.append(phrase("partners need 4 players, got {seats}", seats=seats))
    dealt, copies, tiles = rules.dealt(seats), rules.copies, rules.tiles
    if dealt * seats > tiles:
        needed = {"dealt": dealt, "seats": seats, "need": dealt * seats, "set": set_name(rules.max_pips), "all": tiles}
        few = phrase("{dealt} tiles x {seats} players need {need} tiles, a {set} set has {all}", **needed)
        if copies > 1:
            needed["copies"] = copies
            few = phrase("{dealt} tiles x {seats} players need {need} tiles, {copies} {set} sets have {all}", **needed)
        problems.append(few)
    return tuple(problems)


def seats_that_can_play(rules: Rules) -> tuple[int, ...]:
    """Return the numbers of players that *rules* allow and for which there are enough tiles."""
    return tuple(seats for seats in range(1, MAX_SEATS + 1) if not deal_problems(rules, seats))


def _range_faults(rules: Rules) -> Iterator[tuple[str, Phrase]]:
    """Yield the name and a message for each number in *rules* that is out of range."""
    checks: list[tuple[str, Any, int, int | None]] = []
    for each in OPTIONS:
        match each.values:
            case Number(least, most):
                checks.append((each.key, each.value_in(rules), least, most))
            case ValueKind.SET:
                checks.append((each.key, rules.max_pips, SMALLEST_SET, HIGHEST_PIPS))
            case ValueKind.PLAYERS:
                checks.append(("minimum players", rules.seats_min, 2 if rules.refereed else 1, MAX_SEATS))
                checks.append(("maximum players", rules.seats_max, rules.seats_min, MAX_SEATS))
            case ValueKind.DEAL:
                checks.append((each.key, rules.hand, 1, None))
                checks += [(f"hand of {seats}", tiles, 1, None) for seats, tiles in rules.hand_for]
            case Choice() | ValueKind.YES_NO:
                pass
    for key, value, least, most in checks:
        if value is not None and not (least <= value and (most is None or value <= most)):
            allowed = range_text(least, most)
            yield key, phrase("expected {allowed}, got {value}", allowed=allowed, value=value)


def _sense_faults(rules: Rules) -> Iterator[tuple[str, Phrase]]:
    """Yield the name and a message for each contradiction between options of *rules*."""
    points, marks = rules.hand_points, rules.effects
    fives_only = rules.unit in (None, 5) and rules.play_divisor == 1 and points.bonus_divisor == 1
    numbers = () if marks is None else (marks.draw_on, marks.again_on, marks.spell_on, marks.reverse_on)
    if rules.tally is TallyStyle.HOUSE and not (fives_only and points.round_to == 5):
        yield "tally", phrase("house marks only fives, but these rules pay other points; use numbers")
    if rules.tally is TallyStyle.ROWS and not fives_only:
        yield "tally", phrase("rows50 marks fives, but these rules pay other points; use numbers")
    if rules.lead_first in _AFTER_A_HAND:
        yield "lead_first", phrase("nobody has won before the first hand, got {value}", value=rules.lead_first)
    if rules.unit and rules.unit % (rules.play_divisor or 1):
        text = phrase("{unit} cannot be divided by {divisor}", unit=rules.unit, divisor=rules.play_divisor)
        yield "play_divisor", text
    if rules.cutthroat and rules.unit is None:
        yield "cutthroat", phrase("there is nothing to steal without a unit")
    if rules.cutthroat and rules.copies <= 1:
        yield "cutthroat", phrase("a tile is stacked on its copy, so copies must be 2")
    if rules.call_required and rules.unit is None:
        yield "call_required", phrase("there is nothing to call without a unit")
    if len(set(numbers)) < len(numbers):
        yield "effects", phrase("expected four different numbers, got {numbers}", numbers=str(numbers))
    if points.tie is TieBreak.FEWEST_PIPS and points.mode is HandMode.PIPS:
        text = phrase("fewest_pips decides between hands of as many tiles, so mode must be simple or advanced")
        yield "tie", text
