"""What is agreed before the first tile: one value per game, and the known games as data."""

from dataclasses import dataclass
from enum import StrEnum

from engine.errors import EngineError
from engine.tiles import HIGHEST_PIPS, full_set, set_name

SMALLEST_SET = 6


class Spinner(StrEnum):
    """Which doubles may branch."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"


class BranchOrder(StrEnum):
    """When the tips of a spinner may be played on."""

    SIDES_FIRST = "sides_first"
    ANY = "any"


class SpinnerCount(StrEnum):
    """What a spinner adds to the count once it is capped."""

    UNTIL_CAPPED = "until_capped"
    OPEN_HALVES = "open_halves"


class Drawing(StrEnum):
    """What a player does who cannot play."""

    NONE = "none"
    UNTIL_PLAYABLE = "until_playable"


class LeadFirst(StrEnum):
    """Who leads, and with what, when no winner of an earlier hand is known."""

    HIGHEST_DOUBLE = "highest_double"
    LOT_ANY = "lot_any"


class LeadNext(StrEnum):
    """Who leads, and with what, in the hands that follow."""

    HIGHEST_DOUBLE = "highest_double"
    WINNER_ANY = "winner_any"


class TieBreak(StrEnum):
    """Who wins a blocked hand when the lightest hands weigh the same."""

    LIGHTEST_TILE = "lightest_tile"
    NONE = "none"


class TargetTest(StrEnum):
    """Whether a total equal to the target is enough."""

    REACH = "reach"
    EXCEED = "exceed"


class MatchEnd(StrEnum):
    """When the target is looked at."""

    IMMEDIATE = "immediate"
    END_OF_HAND = "end_of_hand"


class TallyStyle(StrEnum):
    """How the score is drawn."""

    NUMBERS = "numbers"
    HOUSE = "house"


class Policy(StrEnum):
    """What happens to an illegal play: it stands and is reported, or it is refused."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class HandPoints:
    """How the winner of a hand is paid.

    Attributes:
        subtract_own: Take the winner's own pips off the opponents'.
        round_to: Round the one total to the nearest multiple of this; None pays it as it is.
        bonus_divisor: Divide the rounded total by this, downwards.
        tie: Who wins when the lightest hands weigh the same.
    """

    subtract_own: bool = False
    round_to: int | None = None
    bonus_divisor: int = 1
    tie: TieBreak = TieBreak.LIGHTEST_TILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One game as agreed at the table.

    Attributes:
        name: Profile the game is called by.
        max_pips: Highest number of the set, 6 for a double-six.
        copies: How many of each tile are on the table.
        seats_min: Fewest players.
        seats_max: Most players.
        hand: Tiles dealt to each seat.
        redeal_if_doubles_over: A dealt hand with more doubles than this calls for a redeal; None for never.
        lead_first: Lead of the first hand, and of a hand after a dead tie.
        lead_next: Lead of every other hand.
        spinner: Which doubles branch.
        branch_order: When their tips open.
        spinner_count: What they count once capped.
        unit: A count that is a multiple of this scores; None for games without scores for plays.
        play_divisor: Points of a play are its count divided by this.
        draw: What a player does who cannot play.
        hand_points: How the winner of a hand is paid.
        target: Points that end the match.
        target_test: Whether reaching the target is enough.
        match_end: Whether a match can end within a hand.
        tally: How the score is drawn.
        policy: What happens to an illegal play.
    """

    name: str
    max_pips: int = 6
    copies: int = 1
    seats_min: int = 2
    seats_max: int = 4
    hand: int = 7
    redeal_if_doubles_over: int | None = None
    lead_first: LeadFirst = LeadFirst.HIGHEST_DOUBLE
    lead_next: LeadNext = LeadNext.WINNER_ANY
    spinner: Spinner = Spinner.NONE
    branch_order: BranchOrder = BranchOrder.SIDES_FIRST
    spinner_count: SpinnerCount = SpinnerCount.UNTIL_CAPPED
    unit: int | None = None
    play_divisor: int = 1
    draw: Drawing = Drawing.UNTIL_PLAYABLE
    hand_points: HandPoints = HandPoints()
    target: int = 100
    target_test: TargetTest = TargetTest.REACH
    match_end: MatchEnd = MatchEnd.IMMEDIATE
    tally: TallyStyle = TallyStyle.NUMBERS
    policy: Policy = Policy.WARN

    def __post_init__(self) -> None:
        """Refuse rules that no table can play, naming every fault at once."""
        faults = (*_range_faults(self), *_tally_faults(self))
        if faults:
            raise EngineError(f"rules {self.name}: " + "; ".join(faults))

    @property
    def tiles(self) -> int:
        """How many tiles there are, all copies together."""
        return len(full_set(self.max_pips)) * self.copies


def _range_faults(rules: Rules) -> tuple[str, ...]:
    """Return what is wrong with the numbers of *rules*."""
    checks = (
        (
            SMALLEST_SET <= rules.max_pips <= HIGHEST_PIPS,
            f"max_pips: expected {SMALLEST_SET} to {HIGHEST_PIPS}, got {rules.max_pips}",
        ),
        (rules.copies >= 1, f"copies: expected 1 or more, got {rules.copies}"),
        (rules.seats_min >= 2, f"seats_min: expected 2 or more, got {rules.seats_min}"),
        (
            rules.seats_max >= rules.seats_min,
            f"seats_max: expected {rules.seats_min} or more, got {rules.seats_max}",
        ),
        (rules.hand >= 1, f"hand: expected 1 tile or more, got {rules.hand}"),
        (rules.unit is None or rules.unit >= 1, f"unit: expected 1 or more, got {rules.unit}"),
        (rules.play_divisor >= 1, f"play_divisor: expected 1 or more, got {rules.play_divisor}"),
        (
            rules.hand_points.round_to is None or rules.hand_points.round_to >= 1,
            f"round_to: expected 1 or more, got {rules.hand_points.round_to}",
        ),
        (
            rules.hand_points.bonus_divisor >= 1,
            f"bonus_divisor: expected 1 or more, got {rules.hand_points.bonus_divisor}",
        ),
        (rules.target >= 1, f"target: expected 1 point or more, got {rules.target}"),
    )
    return tuple(fault for holds, fault in checks if not holds)


def _tally_faults(rules: Rules) -> tuple[str, ...]:
    """Return why the house tally, which only knows fives and tens, could not draw these scores."""
    points = rules.hand_points
    fives_only = (
        rules.unit in (None, 5) and rules.play_divisor == 1 and points.round_to == 5 and points.bonus_divisor == 1
    )
    if rules.tally is TallyStyle.HOUSE and not fives_only:
        return ("tally: house marks only fives, but these rules pay other points; use numbers",)
    return ()


def deal_problems(rules: Rules, seats: int) -> tuple[str, ...]:
    """Return every reason why *seats* players cannot be dealt this game, in words for the table."""
    problems = []
    if not rules.seats_min <= seats <= rules.seats_max:
        problems.append(f"{rules.name} is for {rules.seats_min} to {rules.seats_max} players, not {seats}")
    if rules.hand * seats > rules.tiles:
        sets = f"a {set_name(rules.max_pips)} set has"
        if rules.copies > 1:
            sets = f"{rules.copies} {set_name(rules.max_pips)} sets have"
        problems.append(f"{rules.hand} tiles x {seats} players need {rules.hand * seats} tiles, {sets} {rules.tiles}")
    return tuple(problems)


BONES = Rules(
    name="bones",
    redeal_if_doubles_over=3,
    spinner=Spinner.FIRST,
    unit=5,
    hand_points=HandPoints(round_to=5),
    target=150,
    tally=TallyStyle.HOUSE,
)

PROFILES: tuple[Rules, ...] = (BONES,)


def profile(name: str) -> Rules:
    """Return the game that is called *name*.

    Raises:
        EngineError: If no game is called that; the message lists those that are.
    """
    for rules in PROFILES:
        if rules.name == name:
            return rules
    raise EngineError(f'no game is called "{name}"; known: ' + ", ".join(rules.name for rules in PROFILES))
