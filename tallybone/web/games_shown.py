"""Offer the games and their options to a page, and check the options of a game. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from engine.errors import EngineError
from engine.phrases import Phrase, listed
from engine.rules.option_values import Choice, Deal, Number, Players, SetSize, YesNo, allowed_text, seats_that_can_play
from engine.rules.options import (
    OPTIONS,
    PRESETS,
    Option,
    OptionsError,
    changed_options,
    matters,
    option_named,
    value_text,
    with_options,
)
from engine.rules.profiles import PROFILES, WORDS, profile
from engine.rules.rules import Rules, deal_problems

_KINDS: dict[type, str] = {
    Choice: "choice",
    Number: "number",
    YesNo: "yes_no",
    SetSize: "set",
    Players: "players",
    Deal: "deal",
}
PLAYERS = "players"
"""The field that a number of players belongs to."""


@dataclass(frozen=True, slots=True)
class OptionChoiceShown:
    """One of the values of an option, and what it means."""

    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class OptionShown:
    """Something that can be agreed on.

    *kind* is choice, number, yes_no, set, players or deal; *allowed* says in words what it can be; a number is at least
    *least*, and *none* is what no number means, null where there has to be one.
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
    """What an option is in a game; one that does not matter there says nothing."""

    key: str
    value: str
    matters: bool


@dataclass(frozen=True, slots=True)
class VariationShown:
    """A name for several options at once: *key* and *value* are given like those of an option."""

    key: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class GameShown:
    """A game: what it is, for how many (*seats*, each number that can play), and what holds in it."""

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
    """All games, and all that can be agreed on in any of them."""

    games: tuple[GameShown, ...]
    options: tuple[OptionShown, ...]


@dataclass(frozen=True, slots=True)
class FaultShown:
    """What is wrong with a field: the key of an option, "players", or "" for the whole."""

    field: str
    words: str


@dataclass(frozen=True, slots=True)
class CheckedShown:
    """What holds in a game with some options: nothing where *faults* are in the way; *changed* is how it is written."""

    values: tuple[ValueShown, ...]
    changed: tuple[tuple[str, str], ...]
    seats: tuple[int, ...]
    target: int | None
    faults: tuple[FaultShown, ...]


@cache
def games_shown() -> GamesShown:
    """Return the games and options that a page offers."""
    return GamesShown(
        tuple(_game(rules) for rules in PROFILES if rules.refereed), tuple(_option(one) for one in OPTIONS)
    )


def rule_of_play(rules: Rules, *, is_stack: bool) -> Phrase:
    """Return the rule by which a play scores, in the words of the options of its game.

    >>> rule_of_play(profile("bones"), is_stack=False)
    'a play scores when its count is a multiple of this: 5'
    """
    values = [option_named("unit"), *([option_named("play_divisor")] if rules.play_divisor != 1 else [])]
    words = [listed((Phrase(one.meaning), value_text(rules, one)), ": ") for one in values]
    others = {"call_required": rules.call_required, "cutthroat": is_stack}
    words += [Phrase(option_named(key).meaning) for key, matters_here in others.items() if matters_here]
    return listed(words, "; ")


def checked(game: str, options: Mapping[str, str], players: int | None = None) -> CheckedShown:
    """Return the values that hold in a game, or its faults.

    Args:
        game: Its name.
        options: The options that differ from its own.
        players: The number of players; None where that is not known yet.
    """
    try:
        rules = with_options(_refereed(game), options)
    except EngineError as error:
        return CheckedShown((), (), (), None, faults_of(error))
    seats = seats_that_can_play(rules)
    numbers = (*(() if players is None else (players,)), *(() if seats else (rules.seats_min,)))
    faults = tuple(FaultShown(PLAYERS, words) for number in numbers for words in deal_problems(rules, number))
    return CheckedShown(_values(rules), tuple(changed_options(rules).items()), seats, rules.target, faults)


def faults_of(error: EngineError) -> tuple[FaultShown, ...]:
    """Return the faults, each with its field."""
    said: Sequence[str] = error.faults if isinstance(error, OptionsError) else (str(error),)
    return tuple(_fault(words) for words in said)


def _refereed(game: str) -> Rules:
    rules = profile(game)
    if not rules.refereed:
        raise EngineError(f"{game} is no game to keep the score of")
    return rules


def _fault(words: str) -> FaultShown:
    key, colon, rest = words.partition(": ")
    is_key = bool(colon) and key in {option.key for option in OPTIONS}
    return FaultShown(key, rest) if is_key else FaultShown("", words)


def _game(rules: Rules) -> GameShown:
    words = WORDS[rules.name]
    variations = tuple(
        VariationShown(one.key, one.value, one.meaning)
        for one in PRESETS
        if one.options and (not one.games or rules.name in one.games) and _fits(rules, one.key, one.value)
    )
    seats = seats_that_can_play(rules)
    return GameShown(
        rules.name, words.elsewhere, words.what, rules.max_pips, rules.target, seats, _values(rules), variations
    )


def _fits(rules: Rules, key: str, value: str) -> bool:
    """Return whether a variation changes anything in a game, and only options that matter there."""
    try:
        other = with_options(rules, {key: value})
    except EngineError:
        return False
    changed = changed_options(other)
    return bool(changed) and all(matters(other, one) for one in OPTIONS if one.key in changed)


def _values(rules: Rules) -> tuple[ValueShown, ...]:
    return tuple(ValueShown(one.key, value_text(rules, one), matters(rules, one)) for one in OPTIONS)


def _option(option: Option) -> OptionShown:
    values = option.values
    meanings = values.meanings if isinstance(values, Choice) else ()
    choices = tuple(OptionChoiceShown(str(value), meaning) for value, meaning in meanings)
    least, most, none = (values.least, values.most, values.none) if isinstance(values, Number) else (None, None, None)
    return OptionShown(
        option.key,
        option.group.value,
        option.meaning,
        _KINDS[type(values)],
        allowed_text(option),
        choices,
        least,
        most,
        none,
    )
