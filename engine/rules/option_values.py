"""Values of an option: parse them, format them and explain them in the players' words."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from engine.errors import EngineError
from engine.phrases import either
from engine.rules.rules import MOST_SEATS, SMALLEST_SET, Rules, deal_problems
from engine.tiles import HIGHEST_PIPS, set_name

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})
_NOTHING = frozenset({"none", "null"})
_NUMBER = re.compile(r"[0-9]{1,6}")
_SEATS = re.compile(r"([0-9]{1,2})(?:[-–]([0-9]{1,2})|(\+))?")
_DEALT = re.compile(r"([0-9]{1,2}):([0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words; *meanings* has every value of one enum, each with what it means."""

    meanings: tuple[tuple[StrEnum, str], ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number from *least* to *most*, None for no limit; *none* is what "none" means, None if it is no value."""

    least: int
    most: int | None = None
    none: str | None = None


@dataclass(frozen=True, slots=True)
class YesNo:
    """Yes or no."""


@dataclass(frozen=True, slots=True)
class SetSize:
    """A set by the highest number on its tiles, or by its name."""


@dataclass(frozen=True, slots=True)
class Players:
    """A number of players, or from how many to how many."""


@dataclass(frozen=True, slots=True)
class Deal:
    """Tiles dealt to each player: one number, or one for each number of players."""


Values = Choice | Number | YesNo | SetSize | Players | Deal


class Group(StrEnum):
    """Subject of an option, in the order of a game."""

    TILES = "tiles and players"
    LEAD = "leading a hand"
    LAYOUT = "spinners"
    PLAY = "points for plays"
    DRAW = "drawing and blocking"
    HAND = "points for a hand"
    EFFECTS = "numbers that do something"
    MATCH = "match and score"


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a table can choose.

    Attributes:
        key: What it is called in a record and on the command line.
        group: What it is about.
        meaning: What it is, in the players' words and with its unit.
        values: What can be chosen.
        field: Where `Rules` keeps it, with a dot into `HandPoints` and `Effects`.
        needs: Keys of options that have to be on, or it says nothing; "a|b" for one of two.
        aliases: Other names by which it is accepted.
    """

    key: str
    group: Group
    meaning: str
    values: Values
    field: str
    needs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def read_value(option: Option, text: str, rules: Rules) -> dict[str, Any]:
    """Return the fields that an option with this text sets.

    Raises:
        EngineError: If it cannot have that value; the message is what was expected.
    """
    value = plain(text)
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
                if value in (str(pips), f"double_{pips}", plain(set_name(pips))):
                    return {option.field: pips}
        case Players():
            return _read_players(option, text)
        case Deal():
            return _read_deal(option, text, rules)
        case _:
            assert_never(option.values)
    raise EngineError(f"expected {allowed_text(option)}")


def value_text(rules: Rules, option: Option) -> str:
    """Return the value that an option has in *rules*, as it holds at the table; "-" if there is no such thing there."""
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
    """Return the meaning of an option's value in *rules*, in the players' words."""
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


def allowed_text(option: Option) -> str:
    """Return the allowed values of an option, in words.

    >>> allowed_text(Option("copies", Group.TILES, "how many of each tile", Number(1, 2), "copies"))
    '1 to 2'
    """
    match option.values:
        case Choice(meanings):
            return either(choice.value for choice, _ in meanings)
        case Number(least, most, none):
            numbers = f"{least} or more" if most is None else f"{least} to {most}"
            return numbers if none is None else f"{numbers}, or none"
        case YesNo():
            return "yes or no"
        case SetSize():
            return f"{SMALLEST_SET} to {HIGHEST_PIPS}, or a name such as double-nine"
        case Players():
            return f'1 to {MOST_SEATS}, a range such as "2-4", or "2+" for as many as there are tiles for'
        case Deal():
            return '1 or more, or by the number of players, such as "2:7,3:5,4:5"'
        case _:
            assert_never(option.values)


def seats_that_can_play(rules: Rules) -> tuple[int, ...]:
    """Return the numbers of players that *rules* allow and that the tiles suffice for."""
    return tuple(seats for seats in range(1, MOST_SEATS + 1) if not deal_problems(rules, seats))


def written(rules: Rules, option: Option) -> str:
    """Return the value that an option has in *rules*, as `with_options` takes it."""
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
    """Return the value of a field of *rules*, with a dot for a nested one; None if its owner is None."""
    value: object = rules
    for name in field.split("."):
        value = None if value is None else getattr(value, name)
    return value


def lacks_effects(rules: Rules, option: Option) -> bool:
    """Return True if an option is about effects, and *rules* have none."""
    return rules.effects is None and option.field.startswith("effects.")


def plain(text: str) -> str:
    """Return a word as the table has it: lower case, with low lines.

    >>> plain(" Double-Six ")
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
    """Return the deal; "7" is for any number of players, "2:7,3:5" for these, and "7,3:5" for any but these."""
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
