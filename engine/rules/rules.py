"""Rules of a game as a frozen value. `engine.rules.profiles` defines the known games.

See docs/reference/rules.md 2.7.
"""

from dataclasses import dataclass
from enum import StrEnum

from engine.errors import OptionsError
from engine.phrases import Phrase, fault_of, phrase
from engine.tiles import HIGHEST_PIPS, full_set, set_name

SMALLEST_SET = 6
MOST_SEATS = 16  # Game records name seats A to P.
MOST_COPIES = 2  # The game with the most tiles uses two sets: docs/reference/rules.md 3.6.


class Spinner(StrEnum):
    """Doubles that branch."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"
    STARTER_SIX = "starter6"


class BranchOrder(StrEnum):
    """Condition for the tips of a spinner to open."""

    SIDES_FIRST = "sides_first"
    ANY = "any"


class SpinnerCount(StrEnum):
    """Value of a capped spinner in the count."""

    UNTIL_CAPPED = "until_capped"
    OPEN_HALVES = "open_halves"


class Drawing(StrEnum):
    """Drawing rule for a player who cannot play."""

    NONE = "none"
    UNTIL_PLAYABLE = "until_playable"
    TWO = "two"


class LeadRule(StrEnum):
    """Rule for who leads a hand, and with which tile."""

    HIGHEST_DOUBLE = "highest_double"
    RACE_HIGHEST_DOUBLE = "race_highest_double"
    SET_DOUBLE = "double_six"
    LOT_ANY = "lot_any"
    CHOSEN_ANY_DOUBLE = "chosen_any_double"
    WINNER_ANY = "winner_any"
    LEFT_OF_WINNER = "left_of_winner"


class NoDouble(StrEnum):
    """Remedy if a double must lead but nobody has one."""

    REDEAL = "redeal"
    HIGHEST_TILE = "highest_tile"
    DRAW_ONE_IN_TURN = "draw_one_in_turn"


class ProvableBlock(StrEnum):
    """Treatment of a proven block (no remaining tile fits) while tiles are left to draw."""

    ANNOUNCE = "announce"
    END_NOW = "end_now"
    LITERAL = "literal"


class HandMode(StrEnum):
    """Method of calculating the points for a hand."""

    PIPS = "pips"
    SIMPLE = "simple"
    ADVANCED = "advanced"


class TieBreak(StrEnum):
    """Tie-break in a blocked hand."""

    LIGHTEST_TILE = "lightest_tile"
    FEWEST_PIPS = "fewest_pips"
    NONE = "none"


class TieOrder(StrEnum):
    """Order in which tiles are compared for the lightest."""

    PIPS = "pips"
    PIPS_THEN_HIGH = "pips_then_high"


class PartnersMode(StrEnum):
    """Method by which partners win and score a blocked hand."""

    INDIVIDUAL = "individual"
    TEAM_TOTAL = "team_total"
    ALL_THREE = "all_three"


class SkipOn(StrEnum):
    """Plays after which the next player loses a turn."""

    DOUBLE = "double"
    BLANK = "blank"
    NONE = "none"


class SpellLap(StrEnum):
    """Exemption of the caster from breaking their own spell."""

    CASTER_EXEMPT = "caster_exempt"
    CASTER_ONCE = "caster_once"


class SpellDeadlock(StrEnum):
    """Result if all players pass under a spell and no tile can be drawn."""

    BLOCKED = "blocked"
    LAPSES = "lapses"


class StealGain(StrEnum):
    """Points gained by a stack."""

    SCORE = "score"
    SCORE_PLUS_STOLEN = "score_plus_stolen"


class TargetTest(StrEnum):
    """Test of a total against the target: reach or exceed."""

    REACH = "reach"
    EXCEED = "exceed"


class MatchEnd(StrEnum):
    """Time at which totals are compared with the target."""

    IMMEDIATE = "immediate"
    AFTER_NEXT_PLAY = "after_next_play"
    END_OF_HAND = "end_of_hand"


class TallyStyle(StrEnum):
    """Style of the score tally."""

    NUMBERS = "numbers"
    HOUSE = "house"
    ROWS = "rows50"


class Policy(StrEnum):
    """Treatment of illegal plays: accepted and reported (WARN), or rejected (STRICT)."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class HandPoints:
    """Points for winning a hand.

    Attributes:
        subtract_own: Subtract the winner's own pips from the opponents' total. Only in mode PIPS, and not if pairs
            compare their totals.
        round_to: Round the total to the nearest multiple of this. None for no rounding.
        round_each: Round each opponent's pips before adding them. The total is rounded too.
        bonus_divisor: Divide the rounded total by this, rounding down.
        tie: Tie-break in a blocked hand.
        tie_order: Order of tiles for the tie-break by the lightest tile.
        mode: PIPS: the pips of all opponents. SIMPLE: 1 point per tile. ADVANCED: pips, compared player by player. In
            the last two, the player with the fewest tiles wins a blocked hand.
        signed: Whether an opponent with fewer pips or tiles than the winner reduces the points. Ignored in mode PIPS.
    """

    subtract_own: bool = False
    round_to: int | None = None
    bonus_divisor: int = 1
    tie: TieBreak = TieBreak.LIGHTEST_TILE
    tie_order: TieOrder = TieOrder.PIPS
    mode: HandMode = HandMode.PIPS
    signed: bool = False
    round_each: bool = False


@dataclass(frozen=True, slots=True)
class Effects:
    """Numbers with an effect when a play leaves them open. See docs/reference/rules.md 3.5.

    Attributes:
        draw_on: Number on which all other players draw one tile.
        again_on: Number on which the same player may play again.
        spell_on: Number that casts a spell. The next player must play on it, with a matching tile or a double. Doubles
            always fit on it.
        reverse_on: Number that reverses the direction of play.
        skip_on: Plays after which the next player loses a turn.
        spell_lap: Whether the caster is exempt from breaking their own spell.
        spell_deadlock: Result if all players pass under a spell and no tile can be drawn.
        last_tile: Whether the last tile of a hand still forces the others to draw.
    """

    draw_on: int = 15
    again_on: int = 14
    spell_on: int = 13
    reverse_on: int = 3
    skip_on: SkipOn = SkipOn.DOUBLE
    spell_lap: SpellLap = SpellLap.CASTER_EXEMPT
    spell_deadlock: SpellDeadlock = SpellDeadlock.BLOCKED
    last_tile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules of a match. docs/reference/rules.md 2.7 gives the values for each game.

    Attributes:
        name: Name of the profile.
        max_pips: Highest number in the set, such as 6 for a double-six.
        copies: Number of copies of each tile.
        seats_min: Minimum number of players.
        seats_max: Maximum number of players. None if only the number of tiles limits it.
        hand: Tiles dealt to each player.
        hand_for: Exceptions to *hand*, as pairs of a number of players and the tiles dealt to each.
        redeal_if_doubles_over: A hand dealt with more doubles than this requires a redeal. None for never.
        lead_first: Lead rule for the first hand, and for a hand after an unbroken tie.
        lead_next: Lead rule for all other hands.
        no_double: Remedy if a double must lead but nobody has one.
        spinner: Doubles that branch.
        branch_order: When the tips of a spinner open.
        spinner_count: Value of a capped spinner in the count.
        unit: A play scores if the count is a multiple of this. None if plays do not score.
        play_divisor: The points of a play are the count divided by this.
        draw: Drawing rule for a player who cannot play.
        must_play: Whether a player who can play must do so.
        voluntary_draw: Whether a player who can play may draw instead.
        boneyard_reserve: Number of boneyard tiles that are never drawn.
        on_provable_block: Treatment of a proven block while tiles are left to draw.
        call_required: Whether the points of a play count only if called before the next play.
        cutthroat: Whether the next player may stack a tile to steal points.
        steal_gain: Points gained by a stack.
        partners: Whether four players form two pairs who sit opposite.
        partners_mode: How partners win a blocked hand, and which hands they score.
        hand_points: Points for winning a hand.
        effects: Numbers with an effect. None if there are none.
        target: Points that end the match. None if the match is a single hand.
        target_test: Whether a total must reach or exceed the target.
        match_end: When totals are compared with the target.
        tally: Style of the score tally.
        policy: Treatment of illegal plays.
        refereed: False for free play, in which tiles are only recorded.
    """

    name: str
    max_pips: int = 6
    copies: int = 1
    seats_min: int = 2
    seats_max: int | None = None
    hand: int = 7
    hand_for: tuple[tuple[int, int], ...] = ()
    redeal_if_doubles_over: int | None = None
    lead_first: LeadRule = LeadRule.HIGHEST_DOUBLE
    lead_next: LeadRule = LeadRule.WINNER_ANY
    no_double: NoDouble = NoDouble.REDEAL
    spinner: Spinner = Spinner.NONE
    branch_order: BranchOrder = BranchOrder.SIDES_FIRST
    spinner_count: SpinnerCount = SpinnerCount.UNTIL_CAPPED
    unit: int | None = None
    play_divisor: int = 1
    draw: Drawing = Drawing.UNTIL_PLAYABLE
    must_play: bool = True
    voluntary_draw: bool = False
    boneyard_reserve: int = 0
    on_provable_block: ProvableBlock = ProvableBlock.ANNOUNCE
    call_required: bool = False
    cutthroat: bool = False
    steal_gain: StealGain = StealGain.SCORE
    partners: bool = False
    partners_mode: PartnersMode = PartnersMode.INDIVIDUAL
    hand_points: HandPoints = HandPoints()
    effects: Effects | None = None
    target: int | None = 100
    target_test: TargetTest = TargetTest.REACH
    match_end: MatchEnd = MatchEnd.IMMEDIATE
    tally: TallyStyle = TallyStyle.NUMBERS
    policy: Policy = Policy.WARN
    refereed: bool = True

    def __post_init__(self) -> None:
        """Reject invalid rules. The error lists every fault."""
        faults = (*_range_faults(self), *_sense_faults(self))
        if faults:
            raise OptionsError(faults, f"rules {self.name}: ")

    @property
    def tiles(self) -> int:
        """Total number of tiles, counting all copies."""
        return len(full_set(self.max_pips)) * self.copies

    def dealt(self, seats: int) -> int:
        """Return the number of tiles dealt to each of *seats* players."""
        return dict(self.hand_for).get(seats, self.hand)


def deal_problems(rules: Rules, seats: int) -> tuple[str, ...]:
    """Return the reasons why *seats* players cannot play by *rules*. Empty if they can."""
    problems: list[str] = []
    most = MOST_SEATS if rules.seats_max is None else rules.seats_max
    if not rules.seats_min <= seats <= most:
        least = rules.seats_min
        # There may not be enough tiles for every number of players that the rules allow.
        dealable = [many for many in range(least, most + 1) if rules.dealt(many) * many <= rules.tiles]
        words = phrase(
            "{game} is for {least} to {most} players, got {seats}",
            game=rules.name,
            least=least,
            most=max(dealable, default=least),
            seats=seats,
        )
        problems.append(words)
    if rules.partners and seats != 4:
        problems.append(phrase("partners need 4 players, got {seats}", seats=seats))
    dealt = rules.dealt(seats)
    if dealt * seats > rules.tiles:
        needed = {"dealt": dealt, "seats": seats, "need": dealt * seats, "all": rules.tiles}
        words = phrase(
            "{dealt} tiles x {seats} players need {need} tiles, a {set} set has {all}",
            set=set_name(rules.max_pips),
            **needed,
        )
        if rules.copies > 1:
            words = phrase(
                "{dealt} tiles x {seats} players need {need} tiles, {copies} {set} sets have {all}",
                copies=rules.copies,
                set=set_name(rules.max_pips),
                **needed,
            )
        problems.append(words)
    return tuple(problems)


def range_text(least: int, most: int | None) -> Phrase:
    """Return the allowed range of a number as text. If *most* is None, there is no upper limit."""
    if most is None:
        return phrase("{least} or more", least=least)
    return phrase("{least} to {most}", least=least, most=most)


def _range_faults(rules: Rules) -> tuple[str, ...]:
    """Return a message for each number in *rules* that is out of range."""
    points = rules.hand_points
    checks = (
        ("set", rules.max_pips, SMALLEST_SET, HIGHEST_PIPS),
        ("copies", rules.copies, 1, MOST_COPIES),
        ("players, fewest", rules.seats_min, 2 if rules.refereed else 1, MOST_SEATS),
        ("players, most", rules.seats_max, rules.seats_min, MOST_SEATS),
        ("hand", rules.hand, 1, None),
        *((f"hand of {seats}", tiles, 1, None) for seats, tiles in rules.hand_for),
        ("redeal_if_doubles_over", rules.redeal_if_doubles_over, 0, None),
        ("unit", rules.unit, 1, None),
        ("play_divisor", rules.play_divisor, 1, None),
        ("boneyard_reserve", rules.boneyard_reserve, 0, None),
        ("round_to", points.round_to, 1, None),
        ("bonus_divisor", points.bonus_divisor, 1, None),
        ("target", rules.target, 1, None),
    )
    return tuple(
        fault_of(key, phrase("expected {allowed}, got {value}", allowed=range_text(least, most), value=value))
        for key, value, least, most in checks
        if value is not None and not (least <= value and (most is None or value <= most))
    )


def _sense_faults(rules: Rules) -> tuple[str, ...]:
    """Return a message for each contradiction between options of *rules*."""
    points = rules.hand_points
    fives_only = rules.unit in (None, 5) and rules.play_divisor == 1 and points.bonus_divisor == 1
    numbers = () if rules.effects is None else _effect_numbers(rules.effects)
    remainder = phrase("{unit} cannot be divided by {divisor}", unit=rules.unit, divisor=rules.play_divisor)
    checks = (
        (
            rules.tally is not TallyStyle.HOUSE or (fives_only and points.round_to == 5),
            "tally",
            phrase("house marks only fives, but these rules pay other points; use numbers"),
        ),
        (
            rules.tally is not TallyStyle.ROWS or fives_only,
            "tally",
            phrase("rows50 marks fives, but these rules pay other points; use numbers"),
        ),
        (
            rules.lead_first not in (LeadRule.WINNER_ANY, LeadRule.LEFT_OF_WINNER),
            "lead_first",
            phrase("nobody has won before the first hand, got {value}", value=rules.lead_first),
        ),
        (not rules.unit or rules.unit % (rules.play_divisor or 1) == 0, "play_divisor", remainder),
        (
            rules.unit is not None or not rules.cutthroat,
            "cutthroat",
            phrase("there is nothing to steal without a unit"),
        ),
        (
            rules.copies > 1 or not rules.cutthroat,
            "cutthroat",
            phrase("a tile is stacked on its copy, so copies must be 2"),
        ),
        (
            rules.unit is not None or not rules.call_required,
            "call_required",
            phrase("there is nothing to call without a unit"),
        ),
        (
            len(set(numbers)) == len(numbers),
            "effects",
            phrase("expected four different numbers, got {numbers}", numbers=str(numbers)),
        ),
        (
            points.tie is not TieBreak.FEWEST_PIPS or points.mode is not HandMode.PIPS,
            "tie",
            phrase("fewest_pips decides between hands of as many tiles, so mode must be simple or advanced"),
        ),
    )
    return tuple(fault_of(key, words) for holds, key, words in checks if not holds)


def _effect_numbers(effects: Effects) -> tuple[int, ...]:
    """Return the numbers with an effect."""
    return (effects.draw_on, effects.again_on, effects.spell_on, effects.reverse_on)
