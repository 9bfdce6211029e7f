"""Parse and format options of a game. `engine.rules.option_table` defines the options."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from engine.errors import EngineError, OptionsError
from engine.phrases import either, fault_of, phrase
from engine.rules.option_table import CONSEQUENCES, OPTIONS, PRESETS, Consequence, Preset
from engine.rules.option_values import (
    NO,
    YES,
    Option,
    allowed_text,
    field_of,
    lacks_effects,
    normalize_word,
    read_value,
    value_text,
    written,
)
from engine.rules.profiles import profile
from engine.rules.rules import Rules, TallyStyle

__all__ = [
    "OPTIONS",
    "PRESETS",
    "Option",
    "OptionsError",
    "Preset",
    "changed_options",
    "matters",
    "option_named",
    "parse_options",
    "value_text",
    "with_options",
]

_SHOWN_CHARACTERS = 40  # Values quoted in a message are cut to this length.
# Values that disable options which need the field. For all other fields they are None, False and "none".
_OFF: dict[str, tuple[object, ...]] = {
    "spinner": ("none", "starter6"),
    "copies": (1,),
    "hand_points.mode": ("pips", "simple"),
    "hand_points.tie": ("none", "fewest_pips"),
    "lead_first": ("lot_any",),
    "lead_next": ("winner_any", "left_of_winner"),
}
_OFF_BY_DEFAULT: tuple[object, ...] = (None, False, "none")
_FREE_PLAY_OPTIONS = ("set", "copies")


@dataclass(frozen=True, slots=True)
class _ChosenValue:
    """A requested value.

    Attributes:
        option: The option.
        key: Key as it was written, for error messages.
        text: Text after the "=".
    """

    option: Option
    key: str
    text: str


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
            elif key in pairs:
                faults.append(fault_of(_shown(key), f"given twice, as {_quoted(pairs[key])} and as {_quoted(value)}"))
                last = key
            else:
                pairs[key] = value
                last = key
    if faults:
        raise OptionsError(faults)
    return pairs


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
    choices = _choices(rules, parse_options(values) if isinstance(values, str) else values, faults)
    for choice in choices.values():
        if lacks_effects(rules, choice.option):
            faults.append(fault_of(choice.key, phrase("{game} has no effects", game=rules.name)))
            continue
        try:
            changes.update(read_value(choice.option, choice.text, rules))
        except EngineError:
            allowed, value = allowed_text(choice.option), _quoted(choice.text)
            words = phrase("expected {allowed}, got {value}", allowed=allowed, value=value)
            faults.append(fault_of(choice.key, words))
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
    changed = {option.key for option in OPTIONS if written(rules, option) != written(known, option)}
    for consequence in CONSEQUENCES:
        if consequence.key in changed and _applies(consequence, rules, written(rules, option_named(consequence.key))):
            changed |= {key for key, value in consequence.options if written(rules, option_named(key)) != value}
    return {option.key: written(rules, option) for option in OPTIONS if option.key in changed}


def matters(rules: Rules, option: Option) -> bool:
    """Return True if an option has an effect in *rules*. For example, `spinner_count` has none without spinners."""
    if not rules.refereed:
        return option.key in _FREE_PLAY_OPTIONS
    if lacks_effects(rules, option):
        return False
    return all(any(_is_on(rules, key) for key in need.split("|")) for need in option.needs)


def option_named(key: str) -> Option:
    """Return the option with the key *key*. Aliases are not accepted.

    Raises:
        EngineError: If there is no such option.
    """
    for option in OPTIONS:
        if option.key == key:
            return option
    raise EngineError(_unknown(key))


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


def _choices(rules: Rules, values: Mapping[str, str], faults: list[str]) -> dict[str, _ChosenValue]:
    """Return the choice for each option, by its key. Messages about unknown or repeated keys are added to *faults*."""
    explicit: dict[str, _ChosenValue] = {}
    preset: dict[str, _ChosenValue] = {}
    for key, text in values.items():
        name = normalize_word(key)
        option = _names().get(name)
        if option is not None and option.key in explicit:
            faults.append(fault_of(_shown(key), f"given twice, also as {explicit[option.key].key}"))
        elif option is not None:
            explicit[option.key] = _ChosenValue(option, _shown(key), text)
        elif any(known.key == name for known in PRESETS):
            preset |= {choice.option.key: choice for choice in _preset_choices(rules, name, text, faults)}
        else:
            faults.append(_unknown(key))
    choices = preset | explicit
    if "play_divisor" in preset or (rules.play_divisor == rules.unit != 1 and "unit" in choices):
        chosen = choices.get("unit")
        unit, key = (written(rules, option_named("unit")), "scoring") if chosen is None else (chosen.text, chosen.key)
        if unit.isdigit():  # A cribbage board is pegged in units.
            choices["play_divisor"] = explicit.get(
                "play_divisor", _ChosenValue(option_named("play_divisor"), key, unit)
            )
    for consequence in CONSEQUENCES:
        cause = choices.get(consequence.key)
        if cause and _applies(consequence, rules, cause.text):
            implied = {key: _ChosenValue(option_named(key), cause.key, text) for key, text in consequence.options}
            choices = implied | choices
    return choices


def _preset_choices(rules: Rules, name: str, text: str, faults: list[str]) -> Iterator[_ChosenValue]:
    """Yield the choices that the preset *name*=*text* makes. Messages about invalid ones are added to *faults*."""
    value = normalize_word(text)
    known = {preset.value: preset for preset in PRESETS if preset.key == name}
    if "yes" in known:
        value = "yes" if value in YES else "no" if value in NO else value
    chosen = known.get(value)
    if chosen is None:
        allowed, value = either(known), _quoted(text)
        faults.append(fault_of(name, phrase("expected {allowed}, got {value}", allowed=allowed, value=value)))
    elif chosen.games and rules.name not in chosen.games:
        options = ", ".join(key for key, _ in chosen.options)
        words = phrase(
            "{value} is for {games}, not for {game}; choose {options} there",
            value=value,
            games=either(chosen.games),
            game=rules.name,
            options=options,
        )
        faults.append(fault_of(name, words))
    else:
        for key, wanted in chosen.options:
            yield _ChosenValue(option_named(key), name, wanted)


def _applies(consequence: Consequence, rules: Rules, text: str) -> bool:
    """Return True if choosing *text* has this consequence in the game of *rules*."""
    return normalize_word(text) == consequence.value and (not consequence.games or rules.name in consequence.games)


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
        faults = refused.faults
    if "tally" not in fields and any(fault.startswith("tally: ") for fault in faults):
        return _changed(rules, {**changes, "tally": TallyStyle.NUMBERS})
    raise OptionsError(faults)


def _is_on(rules: Rules, key: str) -> bool:
    field = option_named(key).field
    return field_of(rules, field) not in _OFF.get(field, _OFF_BY_DEFAULT)


def _unknown(key: str) -> str:
    names = [*_names(), *(preset.key for preset in PRESETS)]
    near = get_close_matches(normalize_word(_shown(key)), names, n=1)
    return f"{_shown(key)}: unknown option" + "".join(f", did you mean {name}?" for name in near)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _quoted(text: str) -> str:
    return f'"{_shown(text)}"'
