"""Random games with random options from the table of options. Unplayable combinations are redrawn."""

from __future__ import annotations

import random

from engine import PROFILES, OptionsError, Rules, deal_problems
from engine.rules.options import PRESETS, with_options
from engine.rules.rules import OPTIONS, Choice, Number, Option, ValueKind

MAX_SEATS = 6
# Values of numeric options, in addition to "none" if the option allows it.
SMALL = {"target": (5, 20, 40, 100), "unit": (1, 2, 3, 5), "boneyard_reserve": (0, 1, 2, 4), "round_to": (2, 3, 5, 10)}
SETS = ("6", "6", "6", "7", "double-nine", "12", "15", "18")
DEALS = ("1", "2", "3", "4", "5", "7", "2:3,3:2", "4,3:2")


def random_rules(rng: random.Random) -> tuple[Rules, int]:
    """Return playable rules and a matching number of seats."""
    while True:
        base = rng.choice(PROFILES)
        chosen = {
            option.key: random_text(option, rng) for option in rng.sample(OPTIONS, rng.choice((0, 0, 1, 2, 4, 8)))
        }
        if rng.random() < 0.15:
            preset = rng.choice(PRESETS)
            chosen[preset.key] = preset.value
        if rng.random() < 0.7:  # short hands end soon
            chosen["hand"] = rng.choice(("1", "2", "3", "4"))
        if base.effects is not None and rng.random() < 0.6:  # numbers that occur in play
            numbers = rng.sample(range(7), 4)
            chosen |= {key: str(number) for key, number in zip(EFFECTS, numbers, strict=True)} | {"set": "6"}
        try:
            rules = with_options(base, chosen)
        except OptionsError:
            continue
        seats = [number for number in range(1, MAX_SEATS + 1) if not deal_problems(rules, number)]
        if seats:
            return rules, rng.choice(seats)


EFFECTS = ("draw_on", "again_on", "spell_on", "reverse_on")


def random_text(option: Option, rng: random.Random) -> str:
    """Return a random value of an option as text."""
    match option.values:
        case Choice(meanings):
            return str(rng.choice(meanings)[0])
        case Number(least, most, none):
            if none is not None and rng.random() < 0.3:
                return "none"
            return str(rng.choice(SMALL.get(option.key, range(least, min(most or 6, 15) + 1))))
        case ValueKind.YES_NO:
            return rng.choice(("yes", "no"))
        case ValueKind.SET:
            return rng.choice(SETS)
        case ValueKind.PLAYERS:
            return rng.choice(("2", "2-4", "3-4", "2+", "1-6"))
        case ValueKind.DEAL:
            return rng.choice(DEALS)
