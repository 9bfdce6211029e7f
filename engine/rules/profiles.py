"""Rules of the known games, by name. See docs/reference/rules.md 2.7, and section 3 for the reason of each value."""

from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from engine.errors import EngineError
from engine.rules import rules as values
from engine.rules.rules import Effects, HandPoints, Rules

__all__ = ["ALLFIVES", "BLOCK", "BONES", "CUTTHROAT", "DRAW", "FREE", "PROFILES", "SUPER", "TWOSET", "profile"]


class GameWords(NamedTuple):
    """Description of a game: its other names (*elsewhere*) and a summary (*what*)."""

    elsewhere: str
    what: str


BONES = Rules(
    name="bones",
    redeal_if_doubles_over=3,
    spinner=values.Spinner.FIRST,
    unit=5,
    hand_points=HandPoints(round_to=5),
    target=150,
    tally=values.TallyStyle.HOUSE,
)

DRAW = Rules(name="draw", lead_first=values.LeadRule.LOT_ANY, branch_order=values.BranchOrder.ANY)

ALLFIVES = Rules(
    name="allfives",
    seats_max=4,
    hand_for=((3, 5), (4, 5)),
    lead_first=values.LeadRule.LOT_ANY,
    spinner=values.Spinner.FIRST,
    branch_order=values.BranchOrder.ANY,
    spinner_count=values.SpinnerCount.OPEN_HALVES,
    unit=5,
    hand_points=HandPoints(subtract_own=True, round_to=5, bonus_divisor=5),
)

BLOCK = Rules(
    name="block",
    seats_max=4,
    hand_for=((3, 5), (4, 5)),
    lead_next=values.LeadRule.HIGHEST_DOUBLE,
    draw=values.Drawing.NONE,
    hand_points=HandPoints(subtract_own=True),
    target_test=values.TargetTest.EXCEED,
)

SUPER = Rules(
    name="super",
    max_pips=15,
    hand=9,
    lead_first=values.LeadRule.CHOSEN_ANY_DOUBLE,
    lead_next=values.LeadRule.LEFT_OF_WINNER,
    no_double=values.NoDouble.DRAW_ONE_IN_TURN,
    spinner=values.Spinner.STARTER_SIX,
    draw=values.Drawing.TWO,
    effects=Effects(),
    hand_points=HandPoints(mode=values.HandMode.SIMPLE, tie=values.TieBreak.FEWEST_PIPS),
    target=None,
)

TWOSET = Rules(
    name="twoset",
    copies=2,
    seats_min=4,
    seats_max=6,
    lead_first=values.LeadRule.RACE_HIGHEST_DOUBLE,
    lead_next=values.LeadRule.RACE_HIGHEST_DOUBLE,
    spinner=values.Spinner.FIRST,
    unit=5,
    call_required=True,
    hand_points=HandPoints(subtract_own=True, tie_order=values.TieOrder.PIPS_THEN_HIGH),
    target=150,
    tally=values.TallyStyle.ROWS,
)

CUTTHROAT = replace(TWOSET, name="cutthroat", cutthroat=True)

FREE = Rules(
    name="free",
    seats_min=1,
    hand=1,
    spinner=values.Spinner.ALL,
    branch_order=values.BranchOrder.ANY,
    draw=values.Drawing.NONE,
    target=None,
    match_end=values.MatchEnd.END_OF_HAND,
    refereed=False,
)

PROFILES: tuple[Rules, ...] = (BONES, DRAW, ALLFIVES, BLOCK, SUPER, TWOSET, CUTTHROAT, FREE)

_TEXTS = (
    ("bones", "Fives", "Score when the open ends add up to a multiple of five. A spinner opens its sides first."),
    ("draw", "Block with buying", "Players who cannot play draw until they can. Only the end of a hand scores."),
    ("allfives", "Sniff", "Fives with a spinner that is open on all four sides and keeps counting."),
    ("block", "Block dominoes", "No drawing: players who cannot play knock. Only the end of a hand scores."),
    ("super", "Super Dominoes", "Six arms grow from a double; 15, 14, 13, 3 and doubles have special effects."),
    ("twoset", "4 man, 2 box", "Fives with two sets. Points count only when called."),
    (
        "cutthroat",
        "4 man, 2 box with stealing",
        "Two-set fives in which the next player may stack a tile to steal the points.",
    ),
    ("free", "no game", "Every tile is reported as it is placed, moved or removed."),
)
TEXTS = {name: GameWords(elsewhere, what) for name, elsewhere, what in _TEXTS}
"""Description of each game in `PROFILES`, by name."""


_VARIATIONS = {"fiveup": "five_up", "muggins": "muggins", "allthrees": "all_threes"}
"""Variations of `allfives`. `profile` rejects them and names the option, so that nobody plays plain `allfives`."""


def _key(name: str) -> str:
    """Return the letters and digits of *name*, in lower case."""
    return "".join(character for character in name.lower() if character.isalnum())


_OTHER_NAMES = {
    **{_key(text.elsewhere): name for name, text in TEXTS.items()},
    "westcoastfives": "bones",
    "allfiveswiththesidesfirst": "bones",
}
"""Other names from docs/reference/rules.md 1, normalized by `_key`, and the game of each."""


def profile(name: str) -> Rules:
    """Return the rules of the game *name*. Case, blanks and punctuation are ignored.

    >>> profile("All Fives").name, profile("fives").name, profile("4 man, 2 box").name
    ('allfives', 'bones', 'twoset')

    Raises:
        EngineError: If there is no such game, or *name* is only a variation of `allfives`. The message says what to use
            instead.
    """
    key, known = _key(name), {rules.name: rules for rules in PROFILES}
    if key in _VARIATIONS:
        raise EngineError(f'"{name}" is the game allfives with the option variation={_VARIATIONS[key]}')
    game = known.get(_OTHER_NAMES.get(key, key))
    if game is not None:
        return game
    close = get_close_matches(key, (*known, *_OTHER_NAMES, *_VARIATIONS), n=1)
    hint = f", did you mean {_OTHER_NAMES.get(close[0], close[0])}? The" if close else "; the"
    shown = name if len(name) <= 40 else f"{name[:40]}…"
    raise EngineError(f'no game is called "{shown}"{hint} games are {", ".join(known)}')
