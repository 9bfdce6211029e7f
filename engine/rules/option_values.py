"""Parse, format and explain the values of options."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from engine.errors import EngineError
from engine.phrases import Phrase, either, phrase
from engine.rules.rules import MOST_SEATS, SMALLEST_SET, Rules, deal_problems, range_text
from engine.tiles import HIGHEST_PIPS, set_name

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})
_NOTHING = frozenset({"none", "null"})
_NUMBER = re.compile(r"[0-9]{1,6}")
_SEATS = re.compile(r"([0-9]{1,2})(?:[-–]([0-9]{1,2})|(\+))?")
_DEALT = re.compile(r"([0-9]{1,2}):([0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words. *meanings* pairs every value of an enum with its explanation."""

    meanings: tuple[tuple[StrEnum, str], ...]


@dataclass(frozen=True, slots=True)
class Number:
    """An integer from *least* to *most*, where None is no limit.

    *none* explains the value "none". If it is None, that value is not allowed.
    """

    least: int
    most: int | None = None
    none: str | None = None


@dataclass(frozen=True, slots=True)
class YesNo:
    """Yes or no."""


@dataclass(frozen=True, slots=True)
class SetSize:
    """A tile set, by its highest number or its name."""


@dataclass(frozen=True, slots=True)
class Players:
    """A number or range of players."""


@dataclass(frozen=True, slots=True)
class Deal:
    """Tiles dealt to each player: a single number, or one for each number of players."""


Values = Choice | Number | YesNo | SetSize | Players | Deal


class Group(StrEnum):
    """Subject of an option, in the order in which a game is explained."""

    TILES = "tiles and players"
    LEAD = "leading a hand"
    LAYOUT = "spinners"
    PLAY = "points for plays"
    DRAW = "drawing and blocking"
    HAND = "points for a hand"
    EFFECTS = "special numbers"
    MATCH = "match and score"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the rules.

    Attributes:
        key: Name in a game record and on the command line.
        group: Subject.
        meaning: Explanation for players, with the unit.
        values: Allowed values.
        field: Field of `Rules`, with a dot for a field of `HandPoints` or `Effects`.
        needs: Keys of options that must be on for this one to matter. "a|b" if either is enough.
        aliases: Alternative names.
    """

    key: str
    group: Group
    meaning: str
    values: Values
    field: str
    needs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def read_value(option: Option, text: str, rules: Rules) -> dict[str, Any]:
    """Parse the value of an option. Returns the fields of `Rules` that the value sets.

    Raises:
        EngineError: If the value is not allowed. The message states what was expected.
    """
    value = normalize_word(text)
    match option.values:
        case Choice(meanings):
            for choice, _ in meanings:
                if value == choice.value or (value in _NOTHING and choice.value in _NOTHING):
                    return {option.field: choice}
        case Number(least, most, none):
            if none is not None and value in _NOTHING:
                return {option.field: None}
            if _NUMBER.fullmatch(value) and least <= int(value) and (most is None or int(value) <= most):
                return {option.field: int(value)}
        case YesNo():
            if value in YES | NO:
                return {option.field: value in YES}
        case SetSize():
            for pips in range(SMALLEST_SET, HIGHEST_PIPS + 1):
                if value in (str(pips), f"double_{pips}", normalize_word(set_name(pips))):
                    return {option.field: pips}
        case Players():
            return _read_players(option, text)
        case Deal():
            return _read_deal(option, text, rules)
        case _:
            assert_never(option.values)
    raise EngineError(f"expected {allowed_text(option)}")


def value_text(rules: Rules, option: Option) -> str:
    """Return the effective value of an option in *rules*, as text. "-" if it does not apply.

    Unlike `written`, numbers of players and deals are limited to those for which there are enough tiles.
    """
    if not isinstance(option.values, Players | Deal):
        return written(rules, option)
    seats = seats_that_can_play(rules)
    if not seats:
        return written(rules, option)
    if isinstance(option.values, Players):
        return str(seats[0]) if len(seats) == 1 else f"{seats[0]}-{seats[-1]}"
    dealt = [rules.dealt(count) for count in seats]
    if len(set(dealt)) == 1:
        return str(dealt[0])
    return ",".join(f"{count}:{tiles}" for count, tiles in zip(seats, dealt, strict=True))


def value_meaning(rules: Rules, option: Option) -> str:
    """Return the explanation of an option's value in *rules*, or that of the option if the value has none."""
    value = field_of(rules, option.field)
    match option.values:
        case Choice(meanings):
            return next((meaning for choice, meaning in meanings if choice is value), option.meaning)
        case Number(none=str(none)) if value is None:
            return none
        case Deal() if ":" in value_text(rules, option):
            return f"{option.meaning}; 3:5 is 5 for 3 players"
        case _:
            return option.meaning


def allowed_text(option: Option) -> Phrase:
    """Return the allowed values of an option as text for an error message.

    >>> allowed_text(Option("copies", Group.TILES, "how many of each tile", Number(1, 2), "copies"))
    '1 to 2'
    """
    match option.values:
        case Choice(meanings):
            return either(choice.value for choice, _ in meanings)
        case Number(least, most, none):
            numbers = range_text(least, most)
            return numbers if none is None else phrase("{numbers}, or none", numbers=numbers)
        case YesNo():
            return either(("yes", "no"))
        case SetSize():
            numbers = range_text(SMALLEST_SET, HIGHEST_PIPS)
            return phrase("{numbers}, or a name such as double-nine", numbers=numbers)
        case Players():
            return Phrase(f'2 to {MOST_SEATS}, a range such as "2-4", or "2+" for as many as the set allows')
        case Deal():
            return Phrase('1 or more, or by the number of players, such as "2:7,3:5,4:5"')
        case _:
            assert_never(option.values)


def seats_that_can_play(rules: Rules) -> tuple[int, ...]:
    """Return the numbers of players that *rules* allow and for which there are enough tiles."""
    return tuple(seats for seats in range(1, MOST_SEATS + 1) if not deal_problems(rules, seats))


def written(rules: Rules, option: Option) -> str:
    """Return the value of an option in *rules* in the format that `with_options` accepts. "-" if it does not apply."""
    if lacks_effects(rules, option):
        return "-"
    match option.values:
        case Players():
            if rules.seats_max is None:
                return f"{rules.seats_min}+"
            return f"{rules.seats_min}" + (f"-{rules.seats_max}" if rules.seats_max != rules.seats_min else "")
        case Deal():
            return ",".join((str(rules.hand), *(f"{seats}:{tiles}" for seats, tiles in rules.hand_for)))
        case YesNo():
            return "yes" if field_of(rules, option.field) else "no"
        case _:
            value = field_of(rules, option.field)
            return "none" if value is None else str(value)


def field_of(rules: Rules, field: str) -> object:
    """Return a field of *rules*. A dot selects a nested field, which is None if its owner is None."""
    value: object = rules
    for name in field.split("."):
        value = None if value is None else getattr(value, name)
    return value


def lacks_effects(rules: Rules, option: Option) -> bool:
    """Return True if an option concerns effects but *rules* have none."""
    return rules.effects is None and option.field.startswith("effects.")


def normalize_word(text: str) -> str:
    """Normalize a word: lower case, without surrounding blanks, and with underscores for hyphens.

    >>> normalize_word(" Double-Six ")
    'double_six'
    """
    return text.strip().lower().replace("-", "_")


def _read_players(option: Option, text: str) -> dict[str, Any]:
    found = _SEATS.fullmatch(text.strip())
    if found is not None:
        fewest = int(found[1])
        most = None if found[3] else int(found[2] or found[1])
        if 1 <= fewest <= (MOST_SEATS if most is None else most) <= MOST_SEATS:
            return {"seats_min": fewest, "seats_max": most}
    raise EngineError(f"expected {allowed_text(option)}")


def _read_deal(option: Option, text: str, rules: Rules) -> dict[str, Any]:
    """Parse a deal.

    "7" deals 7 tiles each to any number of players, and "7,3:5" 7 each except to 3 players. "2:7,3:5" changes only the
    deals for 2 and 3 players.
    """
    first, *rest = re.split(r"[,/]", text.strip())
    base = int(first) if _NUMBER.fullmatch(first) else None
    found = [_DEALT.fullmatch(piece) for piece in (rest if base is not None else (first, *rest))]
    dealt = [(int(pair[1]), int(pair[2])) for pair in found if pair is not None]
    seats = [count for count, _ in dealt]
    fits = len(dealt) == len(found) and len(set(seats)) == len(seats) and all(1 <= n <= MOST_SEATS for n in seats)
    if not fits or base == 0 or any(tiles == 0 for _, tiles in dealt):
        raise EngineError(f"expected {allowed_text(option)}")
    if base is not None:
        return {"hand": base, "hand_for": tuple(dealt)}
    merged = {**dict(rules.hand_for), **dict(dealt)}
    return {"hand_for": tuple(sorted(pair for pair in merged.items() if pair[1] != rules.hand))}
