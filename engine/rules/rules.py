"""Rules of a game as one frozen value; the known games are in `engine.rules.profiles`. See docs/rules.md 2.7."""

from dataclasses import dataclass
from enum import StrEnum

from engine.errors import EngineError
from engine.phrases import phrase
from engine.tiles import HIGHEST_PIPS, full_set, set_name

SMALLEST_SET = 6
MOST_SEATS = 16  # a record names them A to P
MOST_COPIES = 2  # the game with the most, docs/rules.md 3.6, has two sets


class Spinner(StrEnum):
    """Doubles that may branch."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"
    STARTER_SIX = "starter6"


class BranchOrder(StrEnum):
    """Time from which the tips of a spinner may be played on."""

    SIDES_FIRST = "sides_first"
    ANY = "any"


class SpinnerCount(StrEnum):
    """Contribution of a capped spinner to the count."""

    UNTIL_CAPPED = "until_capped"
    OPEN_HALVES = "open_halves"


class Drawing(StrEnum):
    """Draws of a player who cannot play."""

    NONE = "none"
    UNTIL_PLAYABLE = "until_playable"
    TWO = "two"


class LeadRule(StrEnum):
    """Leader of a hand, and the kind of tile to lead."""

    HIGHEST_DOUBLE = "highest_double"
    RACE_HIGHEST_DOUBLE = "race_highest_double"
    SET_DOUBLE = "double_six"
    LOT_ANY = "lot_any"
    CHOSEN_ANY_DOUBLE = "chosen_any_double"
    WINNER_ANY = "winner_any"
    LEFT_OF_WINNER = "left_of_winner"


class NoDouble(StrEnum):
    """Remedy when nobody was dealt a double that could lead."""

    REDEAL = "redeal"
    HIGHEST_TILE = "highest_tile"
    DRAW_ONE_IN_TURN = "draw_one_in_turn"


class ProvableBlock(StrEnum):
    """Treatment of a proven block (nothing can ever be played again) while tiles are left to draw."""

    ANNOUNCE = "announce"
    END_NOW = "end_now"
    LITERAL = "literal"


class HandMode(StrEnum):
    """Basis of the winner's pay for a hand."""

    PIPS = "pips"
    SIMPLE = "simple"
    ADVANCED = "advanced"


class TieBreak(StrEnum):
    """Tie-break of a blocked hand when the best hands are equal."""

    LIGHTEST_TILE = "lightest_tile"
    FEWEST_PIPS = "fewest_pips"
    NONE = "none"


class TieOrder(StrEnum):
    """Order by which one of two tiles is the lighter one."""

    PIPS = "pips"
    PIPS_THEN_HIGH = "pips_then_high"


class PartnersMode(StrEnum):
    """Winner of a block between pairs, and the hands that pay."""

    INDIVIDUAL = "individual"
    TEAM_TOTAL = "team_total"
    ALL_THREE = "all_three"


class SkipOn(StrEnum):
    """Plays that cost the next player their turn."""

    DOUBLE = "double"
    BLANK = "blank"
    NONE = "none"


class SpellLap(StrEnum):
    """Exemption of the caster from breaking their own spell."""

    CASTER_EXEMPT = "caster_exempt"
    CASTER_ONCE = "caster_once"


class SpellDeadlock(StrEnum):
    """Effect of a lap of passes under a spell when nothing is left to draw."""

    BLOCKED = "blocked"
    LAPSES = "lapses"


class StealGain(StrEnum):
    """Gain and cost of a stack."""

    SCORE = "score"
    SCORE_PLUS_STOLEN = "score_plus_stolen"


class TargetTest(StrEnum):
    """Test of a total against the target: reach it or exceed it."""

    REACH = "reach"
    EXCEED = "exceed"


class MatchEnd(StrEnum):
    """Time at which totals are compared with the target."""

    IMMEDIATE = "immediate"
    AFTER_NEXT_PLAY = "after_next_play"
    END_OF_HAND = "end_of_hand"


class TallyStyle(StrEnum):
    """Style in which the score is drawn."""

    NUMBERS = "numbers"
    HOUSE = "house"
    ROWS = "rows50"


class Policy(StrEnum):
    """Treatment of an illegal play: it stands and is reported, or it is refused."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class HandPoints:
    """Payment of the winner of a hand.

    Attributes:
        subtract_own: Take the winner's own pips off the opponents'.
        round_to: Round the one total to the nearest multiple of this; None pays it as it is.
        round_each: Round what each opponent has left, and then add, instead of rounding the one total.
        bonus_divisor: Divide the rounded total by this, downwards.
        tie: Who wins when the best hands are equal.
        tie_order: Which tile is the lighter one, for that.
        mode: Pips of all, 1 per tile, or pips player by player; in the last two the fewest tiles win a blocked hand.
        signed: Whether a player with less than the winner lowers what the winner is paid.
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
    """Effects of the numbers that a play leaves open. docs/rules.md 3.5.

    Attributes:
        draw_on: All others take one tile.
        again_on: The same player may play again.
        spell_on: The next player has to play there, with this number or a double; doubles fit on it at any time.
        reverse_on: The direction of play turns round.
        skip_on: What costs the next player their turn.
        spell_lap: When the caster need not break their own spell.
        spell_deadlock: What a lap of passes under a spell does when nothing is left to draw.
        last_tile: Whether the last tile of a hand still makes the others draw.
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
    """One game as agreed at the table.

    Attributes:
        name: Profile the game is called by.
        max_pips: Highest number of the set, 6 for a double-six.
        copies: How many of each tile are on the table.
        seats_min: Fewest players.
        seats_max: Most players; None for as many as the tiles are enough for.
        hand: Tiles dealt to each seat.
        hand_for: Numbers of players with another deal, each with it.
        redeal_if_doubles_over: A dealt hand with more doubles than this calls for a redeal; None for never.
        lead_first: Lead of the first hand, and of a hand after a dead tie.
        lead_next: Lead of every other hand.
        no_double: What happens when a double has to lead and nobody has one.
        spinner: Which doubles branch.
        branch_order: When their tips open.
        spinner_count: What they count once capped.
        unit: A count that is a multiple of this scores; None for games without scores for plays.
        play_divisor: Points of a play are its count divided by this.
        draw: What a player does who cannot play.
        must_play: Whether a player who can play has to.
        voluntary_draw: Whether a player who can play may draw.
        boneyard_reserve: Tiles of the boneyard that nobody draws.
        on_provable_block: What happens when nothing fits any more but tiles are left to draw.
        call_required: Whether points of a play count only when they are called before the next one.
        cutthroat: Whether the next player may stack to steal points.
        steal_gain: What a stack gains and costs.
        partners: Whether four play as two pairs, partners across.
        partners_mode: Who wins for a pair, and what.
        hand_points: How the winner of a hand is paid.
        effects: What numbers do that a play leaves open; None for nothing.
        target: Points that end the match; None for a match of one hand.
        target_test: Whether reaching the target is enough.
        match_end: Whether a match can end within a hand.
        tally: How the score is drawn.
        policy: What happens to an illegal play.
        refereed: False for no game at all: tiles just lie where they lie.
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
        """Refuse rules that no table can play, naming every fault at once."""
        faults = (*_range_faults(self), *_sense_faults(self))
        if faults:
            raise EngineError(f"rules {self.name}: " + "; ".join(faults))

    @property
    def tiles(self) -> int:
        """The number of tiles, all copies together."""
        return len(full_set(self.max_pips)) * self.copies

    def dealt(self, seats: int) -> int:
        """Return the number of tiles that each of *seats* players is dealt."""
        return dict(self.hand_for).get(seats, self.hand)


def deal_problems(rules: Rules, seats: int) -> tuple[str, ...]:
    """Return the reasons why *seats* players cannot play these rules, in the players' words; empty if they can."""
    problems: list[str] = []
    most = MOST_SEATS if rules.seats_max is None else rules.seats_max
    if not rules.seats_min <= seats <= most:
        least = rules.seats_min
        # The tiles are not enough for every number that the rules allow.
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


def _range_faults(rules: Rules) -> tuple[str, ...]:
    """Return a text for each number of *rules* that is out of range."""
    points = rules.hand_points
    checks = (
        ("set", rules.max_pips, SMALLEST_SET, HIGHEST_PIPS),
        ("copies", rules.copies, 1, MOST_COPIES),
        ("players, fewest", rules.seats_min, 1, MOST_SEATS),
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
        f"{key}: expected {least} " + ("or more" if most is None else f"to {most}") + f", got {value}"
        for key, value, least, most in checks
        if value is not None and not (least <= value and (most is None or value <= most))
    )


def _sense_faults(rules: Rules) -> tuple[str, ...]:
    """Return a text for each contradiction between options of *rules*."""
    points = rules.hand_points
    fives_only = rules.unit in (None, 5) and rules.play_divisor == 1 and points.bonus_divisor == 1
    numbers = () if rules.effects is None else _effect_numbers(rules.effects)
    checks = (
        (
            rules.tally is not TallyStyle.HOUSE or (fives_only and points.round_to == 5),
            "tally: house marks only fives, but these rules pay other points; use numbers",
        ),
        (
            rules.tally is not TallyStyle.ROWS or fives_only,
            "tally: rows50 marks fives, but these rules pay other points; use numbers",
        ),
        (
            rules.lead_first not in (LeadRule.WINNER_ANY, LeadRule.LEFT_OF_WINNER),
            f"lead_first: nobody has won before the first hand, got {rules.lead_first}",
        ),
        (rules.unit is not None or not rules.cutthroat, "cutthroat: there is nothing to steal without a unit"),
        (rules.copies > 1 or not rules.cutthroat, "cutthroat: a tile is stacked on its copy, so copies must be 2"),
        (rules.unit is not None or not rules.call_required, "call_required: there is nothing to call without a unit"),
        (len(set(numbers)) == len(numbers), f"effects: expected four different numbers, got {numbers}"),
        (
            points.tie is not TieBreak.FEWEST_PIPS or points.mode is not HandMode.PIPS,
            "tie: fewest_pips decides between hands of as many tiles, so mode must be simple or advanced",
        ),
    )
    return tuple(words for holds, words in checks if not holds)


def _effect_numbers(effects: Effects) -> tuple[int, ...]:
    """Return the numbers that do something."""
    return (effects.draw_on, effects.again_on, effects.spell_on, effects.reverse_on)
