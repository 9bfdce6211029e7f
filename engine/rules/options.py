"""Parse, format and explain the options of a game, and the known games. `engine.rules.rules` declares the options.

See docs/reference/rules.md 2.7, and section 3 for the reason of each value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, assert_never

from engine.errors import EngineError, OptionsError
from engine.phrases import Phrase, either, fault_of, phrase
from engine.rules import rules as values
from engine.rules.rules import (
    MAX_SEATS,
    OPTIONS,
    SMALLEST_SET,
    Choice,
    Effects,
    HandPoints,
    Number,
    Option,
    Rules,
    TallyStyle,
    ValueKind,
    range_text,
    seats_that_can_play,
)
from engine.tiles import HIGHEST_PIPS, set_name

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


_SYNONYMS = {"1": "yes", "true": "yes", "on": "yes", "0": "no", "false": "no", "off": "no", "null": "none"}
_NUMBER = re.compile(r"[0-9]{1,6}")
_SEATS = re.compile(r"([0-9]{1,2})(?:[-–]([0-9]{1,2})|(\+))?")
_DEALT = re.compile(r"([0-9]{1,2}):([0-9]{1,3})")
_SHOWN_CHARACTERS = 40  # Values quoted in a message are cut to this length.
_MIN_RESEMBLANCE = 0.7  # of a word to the value suggested instead: "none" is not meant for "no", at 0.67.


@dataclass(frozen=True, slots=True)
class Preset:
    """Options that *key*=*value* sets by default: a shorthand, or a consequence of another option."""

    key: str
    value: str
    meaning: str = ""  # explanation of a shorthand for players
    options: tuple[tuple[str, str], ...] = ()  # keys and values that it sets; explicit options take precedence
    games: tuple[str, ...] = ()  # games in which it is available; empty for all


def parse_options(text: str) -> dict[str, str]:
    """Parse the pairs of an Options tag, separated by blanks, commas or semicolons.

    After a comma, a part without "=" continues the previous value.

    >>> parse_options("target=150, hand=2:7,3:5,4:5 cutthroat=1")
    {'target': '150', 'hand': '2:7,3:5,4:5', 'cutthroat': '1'}

    Raises:
        OptionsError: If a part is not key=value, or a key is given twice.
    """
    pairs: dict[str, str] = {}
    faults = []
    single_blanks = " ".join(text.replace(";", " ").split())
    for chunk in re.sub(" ?([=,]) ?", r"\1", single_blanks).split():
        last = None
        for piece in filter(None, chunk.split(",")):
            key, equals, value = piece.partition("=")
            if not equals and last is not None:
                pairs[last] += f",{piece}"
            elif not equals or not key:
                faults.append(f"expected key=value, got {_quoted(piece)}")
            else:
                if key in pairs:
                    given = f"given twice, as {_quoted(pairs[key])} and as {_quoted(value)}"
                    faults.append(fault_of(_shown(key), given))
                last = key
                pairs.setdefault(key, value)
    if faults:
        raise OptionsError(faults)
    return pairs


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(parse_options(text).items())


_SIDES_FIRST = _pairs("branch_order=sides_first spinner_count=until_capped")
_THREES = _pairs("round_to=3 bonus_divisor=3")
_DOUBLE_LEAD = _pairs("lead_first=highest_double lead_next=highest_double")
_SET_LEAD = _pairs("lead_first=double_six lead_next=double_six no_double=redeal")

PRESETS = (
    Preset("scoring", "points", "points as the game scores them"),
    Preset("scoring", "cribbage", "pegged on a cribbage board", _pairs("play_divisor=5 target=61")),
    Preset("variation", "all_threes", "multiples of three instead of five", (("unit", "3"), *_THREES), ("allfives",)),
    Preset("variation", "five_up", "every double is a spinner", (("spinner", "all"), *_SIDES_FIRST)),
    Preset("variation", "muggins", "no spinner", _pairs("spinner=none")),
    Preset("variation", "puremco", "five tiles each for any number of players", _pairs("hand=5")),
    Preset("set_domino", "any", "any tile leads", _pairs("lead_first=lot_any lead_next=winner_any")),
    Preset("set_domino", "highest_double", "the highest double leads", (*_DOUBLE_LEAD, ("no_double", "redeal"))),
    Preset("set_domino", "double_six", "the highest double of the set leads", _SET_LEAD),
    Preset(
        "set_domino",
        "highest_double_else_highest_single",
        "the highest double leads, else the highest tile",
        (*_DOUBLE_LEAD, ("no_double", "highest_tile")),
    ),
    Preset("confirm_after_next_play", "yes", "a win counts after the next play", _pairs("match_end=after_next_play")),
    Preset("confirm_after_next_play", "no", "a win counts at once", _pairs("match_end=immediate")),
    Preset("spell_lapses", "yes", "a spell that nobody can break ends", _pairs("spell_deadlock=lapses")),
    Preset("spell_lapses", "no", "a spell that nobody can break blocks", _pairs("spell_deadlock=blocked")),
)

CONSEQUENCES = (
    # With open_halves, every double within a line would always count: docs/reference/rules.md A1-26.
    Preset("spinner", "all", options=_SIDES_FIRST),
    # The bonus of All Threes is in threes: docs/reference/rules.md A1-27.
    Preset("unit", "3", options=_THREES, games=("allfives",)),
)


def with_options(rules: Rules, values: Mapping[str, str] | str) -> Rules:
    """Return *rules* with changed options.

    Explicit options take precedence over presets, presets over consequences of other options, and those over *rules*.

    >>> with_options(profile("bones"), "target=200 hand=5").target
    200

    Args:
        rules: Rules that provide all other values.
        values: Keys and values of options (OPTIONS) and presets (PRESETS), in any case, with "-" or "_". A str is
            parsed by `parse_options`.

    Raises:
        OptionsError: If any value is invalid. The message lists every fault with its key.
    """
    faults: list[str] = []
    changes: dict[str, Any] = {}
    values = parse_options(values) if isinstance(values, str) else values
    for key, (written, text) in _choices(rules, values, faults).items():
        option = option_named(key)
        if _lacks_effects(rules, option):
            faults.append(fault_of(written, phrase("{game} has no effects", game=rules.name)))
        elif fields := _read_value(option, text, rules):
            changes |= fields
        else:
            faults.append(fault_of(written, _unexpected(allowed_text(option), text, allowed_words(option))))
    try:
        changed = _changed(rules, changes)
    except OptionsError as refused:
        raise OptionsError([*faults, *refused.faults]) from None
    if faults:
        raise OptionsError(faults)
    return changed


def changed_options(rules: Rules) -> dict[str, str]:
    """Return the options that turn the profile of *rules* into *rules*, in the format of `with_options`.

    An option with its profile's value is included if a changed option would otherwise change it.

    >>> changed_options(with_options(profile("allfives"), {"scoring": "cribbage"}))
    {'play_divisor': '5', 'target': '61'}

    Raises:
        EngineError: If there is no profile with the name of *rules*.
    """
    known = profile(rules.name)
    changed = {option.key for option in OPTIONS if _written(rules, option) != _written(known, option)}
    for consequence in CONSEQUENCES:
        if consequence.key in changed and _applies(consequence, rules, _written(rules, option_named(consequence.key))):
            changed |= {key for key, value in consequence.options if _written(rules, option_named(key)) != value}
    return {option.key: _written(rules, option) for option in OPTIONS if option.key in changed}


def allowed_text(option: Option) -> Phrase:
    """Return the allowed values of an option as text for an error message.

    >>> allowed_text(option_named("copies"))
    '1 to 2'
    """
    match option.values:
        case Choice() | ValueKind.YES_NO:
            return either(allowed_words(option))
        case Number(least, most, none):
            numbers = range_text(least, most)
            return numbers if none is None else phrase("{numbers}, or none", numbers=numbers)
        case ValueKind.SET:
            numbers = range_text(SMALLEST_SET, HIGHEST_PIPS)
            return phrase("{numbers}, or a name such as double-nine", numbers=numbers)
        case ValueKind.PLAYERS:
            return Phrase(f'2 to {MAX_SEATS}, a range such as "2-4", or "2+" for as many as the set allows')
        case ValueKind.DEAL:
            return Phrase('1 or more, or by the number of players, such as "2:7,3:5,4:5"')
        case _:
            assert_never(option.values)


def allowed_words(option: Option) -> dict[str, object]:
    """Return the allowed values of an option that are words instead of numbers, by word."""
    match option.values:
        case Choice(meanings):
            return {choice.value: choice for choice, _ in meanings}
        case ValueKind.YES_NO:
            return {"yes": True, "no": False}
        case ValueKind.SET:
            return {set_name(pips): pips for pips in range(SMALLEST_SET, HIGHEST_PIPS + 1)}
        case Number(none=str()):
            return {"none": None}
        case _:
            return {}


def value_text(rules: Rules, option: Option) -> str:
    """Return the effective value of an option in *rules*, as text. "-" if it does not apply.

    Numbers of players and deals are limited to those for which there are enough tiles.
    """
    seats = seats_that_can_play(rules) if option.values in (ValueKind.PLAYERS, ValueKind.DEAL) else ()
    if not seats:
        return _written(rules, option)
    if option.values is ValueKind.PLAYERS:
        return str(seats[0]) if len(seats) == 1 else f"{seats[0]}-{seats[-1]}"
    dealt = [rules.dealt(count) for count in seats]
    if len(set(dealt)) == 1:
        return str(dealt[0])
    return ",".join(f"{count}:{tiles}" for count, tiles in zip(seats, dealt, strict=True))


def value_meaning(rules: Rules, option: Option) -> str:
    """Return the explanation of an option's value in *rules*, or that of the option if the value has none."""
    value = option.value_in(rules)
    match option.values:
        case Choice(meanings):
            return next((meaning for choice, meaning in meanings if choice is value), option.meaning)
        case Number(none=str(none)) if value is None:
            return none
        case ValueKind.DEAL if ":" in value_text(rules, option):
            return f"{option.meaning}; 3:5 is 5 for 3 players"
        case _:
            return option.meaning


def _written(rules: Rules, option: Option) -> str:
    """Return the value of an option in *rules* in the format that `with_options` accepts. "-" if it does not apply."""
    if _lacks_effects(rules, option):
        return "-"
    match option.values:
        case ValueKind.PLAYERS:
            if rules.seats_max is None:
                return f"{rules.seats_min}+"
            return f"{rules.seats_min}" + (f"-{rules.seats_max}" if rules.seats_max != rules.seats_min else "")
        case ValueKind.DEAL:
            return ",".join((str(rules.hand), *(f"{seats}:{tiles}" for seats, tiles in rules.hand_for)))
        case ValueKind.YES_NO:
            return "yes" if option.value_in(rules) else "no"
        case _:
            value = option.value_in(rules)
            return "none" if value is None else str(value)


def _lacks_effects(rules: Rules, option: Option) -> bool:
    """Return True if an option concerns effects but *rules* have none."""
    return rules.effects is None and option.field.startswith("effects.")


def _normalized(text: str) -> str:
    """Return a word in lower case, without surrounding blanks, and with underscores for hyphens."""
    return text.strip().lower().replace("-", "_")


def matters(rules: Rules, option: Option) -> bool:
    """Return True if an option has an effect in *rules*. For example, `spinner_count` has none without spinners."""
    if not rules.refereed:
        return option.key in ("set", "copies")
    if _lacks_effects(rules, option):
        return False
    needed = ([option_named(key) for key in need.split("|")] for need in option.needs)
    return all(any(other.value_in(rules) not in other.off for other in others) for others in needed)


def option_named(key: str) -> Option:
    """Return the option with the key *key*. Aliases are not accepted.

    Raises:
        EngineError: If there is no such option.
    """
    option = _names().get(key)
    if option is None or option.key != key:
        raise EngineError(_unknown(key))
    return option


@cache
def _names() -> dict[str, Option]:
    """Return the options by name, including aliases and field names."""
    names: dict[str, Option] = {}
    for option in OPTIONS:
        owner = option.field.rpartition(".")[0]
        for name in (option.key, *option.aliases, option.field.rpartition(".")[2]):
            names.setdefault(name, option)
            if owner:
                names.setdefault(f"{owner}.{name}", option)
    names.pop("seats_min")  # `seats_min` is only one of the two fields that `players` sets.
    return names


def _choices(rules: Rules, values: Mapping[str, str], faults: list[str]) -> dict[str, tuple[str, str]]:
    """Return the chosen options by key, each with the key as it was written and the text of the value."""
    # Messages about unknown or repeated keys are added to *faults*.
    explicit: dict[str, tuple[str, str]] = {}
    preset: dict[str, tuple[str, str]] = {}
    for key, text in values.items():
        name = _normalized(key)
        option = _names().get(name)
        if option is None and any(known.key == name for known in PRESETS):
            preset |= {chosen: (name, value) for chosen, value in _preset_options(rules, name, text, faults)}
        elif option is None:
            faults.append(_unknown(key))
        elif option.key in explicit:
            faults.append(fault_of(_shown(key), f"given twice, also as {explicit[option.key][0]}"))
        else:
            explicit[option.key] = _shown(key), text
    choices = preset | explicit
    if "play_divisor" in preset or (rules.play_divisor == rules.unit != 1 and "unit" in choices):
        key, unit = choices.get("unit", ("scoring", _written(rules, option_named("unit"))))
        if unit.isdigit():  # A cribbage board is pegged in units.
            choices["play_divisor"] = explicit.get("play_divisor", (key, unit))
    for consequence in CONSEQUENCES:
        key, text = choices.get(consequence.key, ("", ""))
        if _applies(consequence, rules, text):
            choices = {implied: (key, value) for implied, value in consequence.options} | choices
    return choices


def _preset_options(rules: Rules, name: str, text: str, faults: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the keys and values that the preset *name*=*text* sets. Adds messages to *faults* if it is invalid."""
    value = _normalized(text)
    known = {preset.value: preset for preset in PRESETS if preset.key == name}
    chosen = known.get(_SYNONYMS.get(value, value))
    if chosen is None:
        faults.append(fault_of(name, _unexpected(either(known), text, known)))
    elif chosen.games and rules.name not in chosen.games:
        keys = ", ".join(dict(chosen.options))
        named = {"value": value, "games": either(chosen.games), "game": rules.name, "options": keys}
        faults.append(fault_of(name, phrase("{value} is for {games}, not for {game}; choose {options} there", **named)))
    else:
        return chosen.options
    return ()


def _applies(consequence: Preset, rules: Rules, text: str) -> bool:
    """Return True if choosing *text* has this consequence in the game of *rules*."""
    return _normalized(text) == consequence.value and (not consequence.games or rules.name in consequence.games)


def _read_value(option: Option, text: str, rules: Rules) -> dict[str, Any]:
    """Return the fields of `Rules` that the value *text* of an option sets. Empty if it is not allowed."""
    value, spellings = _normalized(text), {_normalized(word): value for word, value in allowed_words(option).items()}
    word = _SYNONYMS.get(value, value)
    if word in spellings:
        return {option.field: spellings[word]}
    match option.values:
        case Number(least, most) if _NUMBER.fullmatch(value):
            if least <= int(value) and (most is None or int(value) <= most):
                return {option.field: int(value)}
        case ValueKind.SET if value.removeprefix("double_") in map(str, range(SMALLEST_SET, HIGHEST_PIPS + 1)):
            return {option.field: int(value.removeprefix("double_"))}
        case ValueKind.PLAYERS if found := _SEATS.fullmatch(text.strip()):
            fewest, most = int(found[1]), None if found[3] else int(found[2] or found[1])
            if 1 <= fewest <= (most or MAX_SEATS) <= MAX_SEATS:
                return {"seats_min": fewest, "seats_max": most}
        case ValueKind.DEAL:
            return _read_deal(text, rules)
        case _:
            pass
    return {}


def _read_deal(text: str, rules: Rules) -> dict[str, Any]:
    """Parse a deal. Empty if it is not allowed."""
    # "7" deals 7 tiles each to any number of players, and "7,3:5" 7 each except to 3 players. "2:7,3:5" changes only
    # the deals for 2 and 3 players.
    first, *rest = re.split(r"[,/]", text.strip())
    base = int(first) if _NUMBER.fullmatch(first) else None
    found = [_DEALT.fullmatch(piece) for piece in (rest if base is not None else (first, *rest))]
    dealt = {int(pair[1]): int(pair[2]) for pair in found if pair is not None}
    if len(dealt) != len(found) or base == 0 or 0 in dealt.values() or not all(1 <= n <= MAX_SEATS for n in dealt):
        return {}
    if base is not None:
        return {"hand": base, "hand_for": tuple(dealt.items())}
    merged = {**dict(rules.hand_for), **dealt}
    return {"hand_for": tuple(sorted(pair for pair in merged.items() if pair[1] != rules.hand))}


def _changed(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return *rules* with *changes* to fields. An unsuitable tally is replaced by numbers unless it was chosen."""
    fields: dict[str, Any] = {field: value for field, value in changes.items() if "." not in field}
    for owner in ("hand_points", "effects"):
        inner = {field.rpartition(".")[2]: value for field, value in changes.items() if field.startswith(f"{owner}.")}
        if inner:
            fields[owner] = replace(getattr(rules, owner), **inner)
    try:
        return replace(rules, **fields)
    except OptionsError as refused:
        if "tally" in fields or not any(fault.startswith("tally: ") for fault in refused.faults):
            raise OptionsError(refused.faults) from None
    return _changed(rules, {**changes, "tally": TallyStyle.NUMBERS})


def _unknown(key: str) -> str:
    names = [*_names(), *(preset.key for preset in PRESETS)]
    near = get_close_matches(_normalized(_shown(key)), names, n=1)
    return f"{_shown(key)}: unknown option" + "".join(f", did you mean {name}?" for name in near)


def _unexpected(allowed: Phrase, text: str, spellings: Iterable[str]) -> Phrase:
    """Return the message that *text* is not *allowed*. It suggests the most similar of *spellings*."""
    for word in get_close_matches(_normalized(_shown(text)), tuple(spellings), n=1, cutoff=_MIN_RESEMBLANCE):
        named = {"allowed": allowed, "value": _quoted(text), "word": word}
        return phrase("expected {allowed}, got {value}, did you mean {word}?", **named)
    return phrase("expected {allowed}, got {value}", allowed=allowed, value=_quoted(text))


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _quoted(text: str) -> str:
    return f'"{_shown(text)}"'
