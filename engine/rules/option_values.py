"""Declaration of an option of a game: name, allowed values, and explanations for players."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from engine.phrases import Phrase, phrase

SMALLEST_SET = 6
MAX_SEATS = 16  # Game records name seats A to P.

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


@dataclass(frozen=True, slots=True)
class Number:
    """An integer from *least* to *most*, where None is no limit.

    *none* explains the value "none". If it is None, that value is not allowed.
    """

    least: int
    most: int | None = None
    none: str | None = None


class ValueKind(StrEnum):
    """Values of an option that are neither words nor a single number."""

    YES_NO = "yes_no"
    SET = "set"  # a tile set, by its highest number or its name
    PLAYERS = "players"  # a number or range of players
    DEAL = "deal"  # tiles dealt to each player: a single number, or one for each number of players


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
    """An option of the rules. `option` declares it on a field."""

    group: Group  # subject
    meaning: str  # explanation for players, with the unit
    values: Choice | Number | ValueKind  # allowed values
    key: str = ""  # name in a game record and on the command line; by default the name of the field
    field: str = ""  # field of `Rules`, with a dot for one of `HandPoints` or `Effects`; set by `OPTIONS`
    needs: tuple[str, ...] = ()  # keys of options that must be on for this one to matter; "a|b" if either is enough
    aliases: tuple[str, ...] = ()  # alternative names
    off: tuple[object, ...] = (None, False, "none")  # values with which options that need this one do not matter

    def value_in(self, rules: object) -> object:
        """Return the value in *rules*. None if it belongs to effects and *rules* have none."""
        for name in self.field.split("."):
            rules = None if rules is None else getattr(rules, name)
        return rules


def option(
    default: T,
    group: Group,
    meaning: str,
    values: Choice | Number | ValueKind | None = None,
    needs: str = "",
    **more: Any,
) -> T:
    """Declare a field of the rules as an option: by default, a choice of all members of an enum, or yes or no.

    The other arguments are attributes of `Option`, with blanks between the keys in *needs*.
    """
    if values is None and isinstance(default, Explained):
        values = Choice(tuple((word, word.meaning) for word in type(default)))
    declared = Option(group, meaning, values or ValueKind.YES_NO, needs=tuple(needs.split()), **more)
    return field(default=default, metadata={"option": declared})


def range_text(least: int, most: int | None) -> Phrase:
    """Return the allowed range of a number as text. If *most* is None, there is no upper limit."""
    if most is None:
        return phrase("{least} or more", least=least)
    return phrase("{least} to {most}", least=least, most=most)
