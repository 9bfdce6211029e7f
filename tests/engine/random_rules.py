"""Any game with any options: values are drawn from the table of options, what no table can play is drawn again."""

from __future__ import annotations

import random

from engine import PROFILES, Rules, deal_problems
from engine.rules.option_table import PRESETS
from engine.rules.option_values import Choice, Deal, Number, Option, Players, SetSize, YesNo
from engine.rules.options import OPTIONS, OptionsError, with_options

MOST_SEATS = 6
# What a number may be where any would do; "none" where that means something.
SMALL = {"target": (5, 20, 40, 100), "unit": (1, 2, 3, 5), "boneyard_reserve": (0, 1, 2, 4), "round_to": (2, 3, 5, 10)}
SETS = ("6", "6", "6", "7", "double-nine", "12", "15", "18")
DEALS = ("1", "2", "3", "4", "5", "7", "2:3,3:2", "4,3:2")


def random_rules(rng: random.Random) -> tuple[Rules, int]:
    """Return rules that can be played, and a number of seats for them."""
    while True:
        base = rng.choice(PROFILES)
        wishes = {
            option.key: random_text(option, rng) for option in rng.sample(OPTIONS, rng.choice((0, 0, 1, 2, 4, 8)))
        }
        if rng.random() < 0.15:
            preset = rng.choice(PRESETS)
            wishes[preset.key] = preset.value
        if rng.random() < 0.7:  # short hands end
            wishes["hand"] = rng.choice(("1", "2", "3", "4"))
        if base.effects is not None and rng.random() < 0.6:  # numbers that come
            numbers = rng.sample(range(7), 4)
            wishes |= {key: str(number) for key, number in zip(EFFECTS, numbers, strict=True)} | {"set": "6"}
        try:
            rules = with_options(base, wishes)
        except OptionsError:
            continue
        seats = [number for number in range(1, MOST_SEATS + 1) if not deal_problems(rules, number)]
        if seats:
            return rules, rng.choice(seats)


EFFECTS = ("draw_on", "again_on", "spell_on", "reverse_on")


def random_text(option: Option, rng: random.Random) -> str:
    """Return one of the values that an option can have, as it is written."""
    match option.values:
        case Choice(meanings):
            return str(rng.choice(meanings)[0])
        case Number(least, most, none):
            if none is not None and rng.random() < 0.3:
                return "none"
            return str(rng.choice(SMALL.get(option.key, range(least, min(most or 6, 15) + 1))))
        case YesNo():
            return rng.choice(("yes", "no"))
        case SetSize():
            return rng.choice(SETS)
        case Players():
            return rng.choice(("2", "2-4", "3-4", "2+", "1-6"))
        case Deal():
            return rng.choice(DEALS)
