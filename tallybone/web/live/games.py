"""Games and options for the page, and checks of options. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from engine.errors import EngineError, OptionsError
from engine.phrases import Phrase, listed
from engine.rules.options import (
    PRESETS,
    PROFILES,
    TEXTS,
    allowed_text,
    changed_options,
    matters,
    option_named,
    profile,
    value_text,
    with_options,
)
from engine.rules.rules import OPTIONS, Choice, Number, Option, Rules, deal_problems, seats_that_can_play

PLAYERS = "players"
"""Name of the field for problems with the number of players."""


@dataclass(frozen=True, slots=True)
class OptionChoiceShown:
    """A value of an option, and its explanation."""

    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class OptionShown:
    """An option.

    *kind* is choice, number, yes_no, set, players or deal. *allowed* describes the allowed values. A number is from
    *least* to *most*. *none* explains the value none, and is null if that is not allowed.
    """

    key: str
    group: str
    meaning: str
    kind: str
    allowed: str
    choices: tuple[OptionChoiceShown, ...]
    least: int | None
    most: int | None
    none: str | None


@dataclass(frozen=True, slots=True)
class ValueShown:
    """Value of an option in a game, and whether it has an effect there."""

    key: str
    value: str
    matters: bool


@dataclass(frozen=True, slots=True)
class VariationShown:
    """A preset for several options. *key* and *value* are used like those of an option."""

    key: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class GameShown:
    """A game, its possible numbers of players (*seats*), and the values of its options."""

    game: str
    elsewhere: str
    what: str
    set: int
    target: int | None
    seats: tuple[int, ...]
    values: tuple[ValueShown, ...]
    variations: tuple[VariationShown, ...]


@dataclass(frozen=True, slots=True)
class GamesShown:
    """All games and all options."""

    games: tuple[GameShown, ...]
    options: tuple[OptionShown, ...]


@dataclass(frozen=True, slots=True)
class FaultShown:
    """A problem with a field: the key of an option, "players", or "" for the whole request."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckedShown:
    """Values of a game with changed options. Empty if there are *faults*. *changed* lists the options to write."""

    values: tuple[ValueShown, ...]
    changed: tuple[tuple[str, str], ...]
    seats: tuple[int, ...]
    target: int | None
    faults: tuple[FaultShown, ...]


@cache
def games_shown() -> GamesShown:
    """Return all games and options for the page."""
    return GamesShown(
        tuple(_game(rules) for rules in PROFILES if rules.refereed), tuple(_option(option) for option in OPTIONS)
    )


def rule_of_play(rules: Rules, *, is_stack: bool) -> Phrase:
    """Return the rule by which a play scores, from the explanations of the options.

    >>> rule_of_play(profile("bones"), is_stack=False)
    'a play scores if its count is a multiple of this number: 5'
    """
    values = [option_named("unit"), *([option_named("play_divisor")] if rules.play_divisor != 1 else [])]
    text = [listed((Phrase(option.meaning), value_text(rules, option)), ": ") for option in values]
    others = {"call_required": rules.call_required, "cutthroat": is_stack}
    text += [Phrase(option_named(key).meaning) for key, matters_here in others.items() if matters_here]
    return listed(text, "; ")


def checked(game: str, options: Mapping[str, str], players: int | None = None) -> CheckedShown:
    """Return the values of a game with changed options, and the problems. With invalid options, only the problems."""
    try:
        rules = with_options(_refereed(game), options)
    except EngineError as error:
        return CheckedShown((), (), (), None, faults_of(error))
    seats = seats_that_can_play(rules)
    numbers = (*(() if players is None else (players,)), *(() if seats else (rules.seats_min,)))
    faults = tuple(FaultShown(PLAYERS, text) for number in numbers for text in deal_problems(rules, number))
    return CheckedShown(_values(rules), tuple(changed_options(rules).items()), seats, rules.target, faults)


def faults_of(error: EngineError) -> tuple[FaultShown, ...]:
    """Return the problems in an error, each with the option that it concerns, or "" for no option."""
    faults: Sequence[str] = error.faults if isinstance(error, OptionsError) else (str(error),)
    return tuple(_fault(text) for text in faults)


def _refereed(game: str) -> Rules:
    rules = profile(game)
    if not rules.refereed:
        raise EngineError(f"{game} is not a game with a score")
    return rules


def _fault(text: str) -> FaultShown:
    keys = {option.key for option in OPTIONS}
    match text:
        case Phrase(values={"part0": str(key), "part1": str(fault)}) if key in keys:  # of `fault_of`
            return FaultShown(key, fault)
        case _:
            return FaultShown("", text)


def _game(rules: Rules) -> GameShown:
    text = TEXTS[rules.name]
    variations = tuple(
        VariationShown(preset.key, preset.value, preset.meaning)
        for preset in PRESETS
        if preset.options
        and (not preset.games or rules.name in preset.games)
        and _fits(rules, preset.key, preset.value)
    )
    seats = seats_that_can_play(rules)
    return GameShown(
        rules.name, text.elsewhere, text.what, rules.max_pips, rules.target, seats, _values(rules), variations
    )


def _fits(rules: Rules, key: str, value: str) -> bool:
    """Return True if a preset changes a game, and all options that it changes have an effect in the game."""
    try:
        other = with_options(rules, {key: value})
    except EngineError:
        return False
    changed = changed_options(other)
    return bool(changed) and all(matters(other, option) for option in OPTIONS if option.key in changed)


def _values(rules: Rules) -> tuple[ValueShown, ...]:
    return tuple(ValueShown(option.key, value_text(rules, option), matters(rules, option)) for option in OPTIONS)


def _option(option: Option) -> OptionShown:
    values = option.values
    kind = "choice" if isinstance(values, Choice) else "number" if isinstance(values, Number) else values.value
    meanings = values.meanings if isinstance(values, Choice) else ()
    choices = tuple(OptionChoiceShown(str(value), meaning) for value, meaning in meanings)
    least, most, none = (values.least, values.most, values.none) if isinstance(values, Number) else (None, None, None)
    return OptionShown(
        option.key,
        option.group.value,
        option.meaning,
        kind,
        allowed_text(option),
        choices,
        least,
        most,
        none,
    )
