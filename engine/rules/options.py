"""Choosing options of a game by name, as text, and writing what was chosen; see `engine.rules.option_table`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from engine.errors import EngineError
from engine.phrases import either
from engine.rules.option_table import CONSEQUENCES, OPTIONS, PRESETS, Consequence, Preset
from engine.rules.option_values import (
    NO,
    YES,
    Option,
    field_of,
    lacks_effects,
    plain,
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

_SHOWN_CHARACTERS = 40  # of a value in a message; a file may hold anything
# Values with which a field switches off what needs it; elsewhere None, no and "none".
_OFF: dict[str, tuple[object, ...]] = {
    "spinner": ("none", "starter6"),
    "copies": (1,),
    "hand_points.mode": ("pips", "simple"),
    "hand_points.tie": ("none", "fewest_pips"),
    "lead_first": ("lot_any",),
    "lead_next": ("winner_any", "left_of_winner"),
}
_OFF_ELSEWHERE: tuple[object, ...] = (None, False, "none")
_WITHOUT_A_GAME = ("set", "copies")  # what matters when tiles just lie where they lie


class OptionsError(EngineError):
    """Options that no game can be played with.

    Attributes:
        faults: What is wrong, each with its key.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        """Say all *faults* at once."""
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class _Wish:
    """An option as it was given: the word for it, and the text after the "="."""

    option: Option
    said: str
    text: str


def parse_options(text: str) -> dict[str, str]:
    """Read the pairs of an Options tag; blanks, commas and semicolons stand between them.

    >>> parse_options("target=150, hand=2:7,3:5,4:5 cutthroat=1")
    {'target': '150', 'hand': '2:7,3:5,4:5', 'cutthroat': '1'}

    Raises:
        OptionsError: If something is no key=value, or a key is given twice.
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
                faults.append(f"{_shown(key)}: given twice, as {_quoted(pairs[key])} and as {_quoted(value)}")
                last = key
            else:
                pairs[key] = value
                last = key
    if faults:
        raise OptionsError(faults)
    return pairs


def with_options(rules: Rules, values: Mapping[str, str] | str) -> Rules:
    """Return *rules* with some options chosen otherwise.

    An option that is given goes before a preset, that before what follows from another option, that before *rules*.

    >>> with_options(profile("bones"), "target=200 hand=5").target
    200

    Args:
        rules: What holds for everything that is not given.
        values: Key and text of each choice, of OPTIONS and PRESETS; any case, "-" for "_". As one text they stand as
            `parse_options` reads them.

    Raises:
        OptionsError: If any of it cannot be; the message names every fault, each with its key.
    """
    faults: list[str] = []
    changes: dict[str, Any] = {}
    wishes = _wishes(rules, parse_options(values) if isinstance(values, str) else values, faults)
    for wish in wishes.values():
        if lacks_effects(rules, wish.option):
            faults.append(f"{wish.said}: {rules.name} has no effects")
            continue
        try:
            changes.update(read_value(wish.option, wish.text, rules))
        except EngineError as expected:
            faults.append(f"{wish.said}: {expected}, got {_quoted(wish.text)}")
    try:
        changed = _changed(rules, changes)
    except OptionsError as refused:
        raise OptionsError([*faults, *refused.faults]) from None
    if faults:
        raise OptionsError(faults)
    return changed


def changed_options(rules: Rules) -> dict[str, str]:
    """Return the options in which *rules* differ from their profile, as `with_options` takes them.

    >>> changed_options(with_options(profile("allfives"), {"scoring": "cribbage"}))
    {'play_divisor': '5', 'target': '61'}

    Raises:
        EngineError: If no profile is called so.
    """
    known = profile(rules.name)
    changed = {option.key for option in OPTIONS if written(rules, option) != written(known, option)}
    for follows in CONSEQUENCES:
        if follows.key in changed and _follows(follows, rules, written(rules, option_named(follows.key))):
            changed |= {key for key, value in follows.options if written(rules, option_named(key)) != value}
    return {option.key: written(rules, option) for option in OPTIONS if option.key in changed}


def matters(rules: Rules, option: Option) -> bool:
    """Return True if an option makes a difference in *rules*; the count of a spinner makes none without spinners."""
    if not rules.refereed:
        return option.key in _WITHOUT_A_GAME
    if lacks_effects(rules, option):
        return False
    return all(any(_is_on(rules, key) for key in need.split("|")) for need in option.needs)


def option_named(key: str) -> Option:
    """Return the option with exactly this key.

    Raises:
        EngineError: If there is none.
    """
    for option in OPTIONS:
        if option.key == key:
            return option
    raise EngineError(_unknown(key))


@cache
def _names() -> dict[str, Option]:
    """Return every name by which an option is accepted."""
    names: dict[str, Option] = {}
    for option in OPTIONS:
        owner = option.field.rpartition(".")[0]
        for name in (option.key, *option.aliases, option.field.rpartition(".")[2]):
            names.setdefault(name, option)
            if owner:
                names.setdefault(f"{owner}.{name}", option)
    names.pop("seats_min")  # one of two fields that `players` sets
    return names


def _wishes(rules: Rules, values: Mapping[str, str], faults: list[str]) -> dict[str, _Wish]:
    """Return the wish for each option, by its key; texts that cannot be understood are added to *faults*."""
    given: dict[str, _Wish] = {}
    preset: dict[str, _Wish] = {}
    for said, text in values.items():
        name = plain(said)
        option = _names().get(name)
        if option is not None and option.key in given:
            faults.append(f"{_shown(said)}: given twice, also as {given[option.key].said}")
        elif option is not None:
            given[option.key] = _Wish(option, _shown(said), text)
        elif any(known.key == name for known in PRESETS):
            preset |= {wish.option.key: wish for wish in _preset_wishes(rules, name, text, faults)}
        else:
            faults.append(_unknown(said))
    wishes = preset | given
    for follows in CONSEQUENCES:
        cause = wishes.get(follows.key)
        if cause and _follows(follows, rules, cause.text):
            wishes = {key: _Wish(option_named(key), cause.said, text) for key, text in follows.options} | wishes
    return wishes


def _preset_wishes(rules: Rules, name: str, text: str, faults: list[str]) -> Iterator[_Wish]:
    """Yield the options of the preset *name*=*text*."""
    value = plain(text)
    known = {preset.value: preset for preset in PRESETS if preset.key == name}
    if "yes" in known:
        value = "yes" if value in YES else "no" if value in NO else value
    chosen = known.get(value)
    if chosen is None:
        faults.append(f"{name}: expected {either(known)}, got {_quoted(text)}")
    elif chosen.games and rules.name not in chosen.games:
        options = ", ".join(key for key, _ in chosen.options)
        faults.append(f"{name}: {value} is for {either(chosen.games)}, not for {rules.name}; choose {options} there")
    else:
        for key, wanted in chosen.options:
            yield _Wish(option_named(key), name, wanted)


def _follows(follows: Consequence, rules: Rules, text: str) -> bool:
    """Return True if choosing *text* has this consequence in the game of *rules*."""
    return plain(text) == follows.value and (not follows.games or rules.name in follows.games)


def _changed(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return *rules* with other values in some fields; a tally that does not fit gives way unless it is chosen."""
    fields: dict[str, Any] = {field: value for field, value in changes.items() if "." not in field}
    for owner in ("hand_points", "effects"):
        inner = {field.rpartition(".")[2]: value for field, value in changes.items() if field.startswith(f"{owner}.")}
        if inner:
            fields[owner] = replace(getattr(rules, owner), **inner)
    try:
        return replace(rules, **fields)
    except EngineError as refused:
        # Every fault begins with its key; "; use numbers" does not.
        words = str(refused).removeprefix(f"rules {rules.name}: ")
        faults = re.split(r"; (?=[a-z_0-9 ,]+: )", words)
    if "tally" not in fields and any(fault.startswith("tally: ") for fault in faults):
        return _changed(rules, {**changes, "tally": TallyStyle.NUMBERS})
    raise OptionsError(faults)


def _is_on(rules: Rules, key: str) -> bool:
    field = option_named(key).field
    return field_of(rules, field) not in _OFF.get(field, _OFF_ELSEWHERE)


def _unknown(said: str) -> str:
    names = [*_names(), *(preset.key for preset in PRESETS)]
    near = get_close_matches(plain(_shown(said)), names, n=1)
    return f"{_shown(said)}: unknown option" + "".join(f", did you mean {name}?" for name in near)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _quoted(text: str) -> str:
    return f'"{_shown(text)}"'
