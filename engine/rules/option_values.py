"""Declaration of an option of a game: name, allowed values, and explanations for players."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar, assert_never, cast

from engine.phrases import Phrase, either, phrase
from engine.tiles import HIGHEST_PIPS, set_name

SMALLEST_SET = 6
MOST_SEATS = 16  # Game records name seats A to P.

T = TypeVar("T")


class Explained(StrEnum):
    """Words, each with an explanation for players: one line, because they fill a column in the terminal."""

    meaning: str

    def __new__(cls, word: str, meaning: str = "") -> "Explained":
        """Return the member *word*, explained by *meaning*."""
        member = str.__new__(cls, word)
        member._value_, member.meaning = word, meaning
        return member


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words. *meanings* pairs every value of an enum with its explanation."""

    meanings: tuple[tuple[StrEnum, str], ...]

    @classmethod
    def of(cls, words: Iterable[Explained]) -> "Choice":
        """Return the choice of one of *words*."""
        return cls(tuple((word, word.meaning) for word in words))


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
    """An option of the rules. `option` declares it on a field.

    Attributes:
        group: Subject.
        meaning: Explanation for players, with the unit.
        values: Allowed values.
        key: Name in a game record and on the command line. By default the name of the field.
        field: Field of `Rules`, with a dot for a field of `HandPoints` or `Effects`. Set by `OPTIONS`.
        needs: Keys of options that must be on for this one to matter. "a|b" if either is enough.
        aliases: Alternative names.
        off: Values with which options that need this one do not matter.
        place: Place in the listing of its group, before the order of the fields.
    """

    group: Group
    meaning: str
    values: Values
    key: str = ""
    field: str = ""
    needs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    off: tuple[object, ...] = (None, False, "none")
    place: int = 0

    def value_in(self, rules: object) -> object:
        """Return the value in *rules*. None if it belongs to effects and *rules* have none."""
        for name in self.field.split("."):
            rules = None if rules is None else getattr(rules, name)
        return rules


def option(default: T, group: Group, meaning: str, values: Values | None = None, **more: Any) -> T:
    """Declare a field of the rules as an option. *more* are the other attributes of `Option`.

    Without *values*, a bool is yes or no, and an enum is a choice of all its members.
    """
    if values is None:
        values = YesNo() if isinstance(default, bool) else Choice.of(type(cast("Explained", default)))
    return field(default=default, metadata={"option": Option(group, meaning, values, **more)})


def allowed_text(option: Option) -> Phrase:
    """Return the allowed values of an option as text for an error message.

    >>> allowed_text(Option(Group.TILES, "how many of each tile", Number(1, 2)))
    '1 to 2'
    """
    match option.values:
        case Choice() | YesNo():
            return either(allowed_words(option))
        case Number(least, most, none):
            numbers = range_text(least, most)
            return numbers if none is None else phrase("{numbers}, or none", numbers=numbers)
        case SetSize():
            numbers = range_text(SMALLEST_SET, HIGHEST_PIPS)
            return phrase("{numbers}, or a name such as double-nine", numbers=numbers)
        case Players():
            return Phrase(f'2 to {MOST_SEATS}, a range such as "2-4", or "2+" for as many as the set allows')
        case Deal():
            return Phrase('1 or more, or by the number of players, such as "2:7,3:5,4:5"')
        case _:
            assert_never(option.values)


def allowed_words(option: Option) -> tuple[str, ...]:
    """Return the allowed values of an option that are words instead of numbers."""
    match option.values:
        case Choice(meanings):
            return tuple(choice.value for choice, _ in meanings)
        case YesNo():
            return "yes", "no"
        case SetSize():
            return tuple(set_name(pips) for pips in range(SMALLEST_SET, HIGHEST_PIPS + 1))
        case Number(none=str()):
            return ("none",)
        case _:
            return ()


def range_text(least: int, most: int | None) -> Phrase:
    """Return the allowed range of a number as text. If *most* is None, there is no upper limit."""
    if most is None:
        return phrase("{least} or more", least=least)
    return phrase("{least} to {most}", least=least, most=most)
