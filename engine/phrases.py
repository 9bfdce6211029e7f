"""English phrases that keep their key and values, for translation.

A phrase is its English, a `str` like any other, with its key, the English with {names} where values stand, and the
values beside it. Code without translations uses it as plain text. `+` and f-strings give plain English, so sentences
are put together with `phrase`, `plural` and `listed` only.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

Value = str | int
"""A value in a phrase: a phrase, translated along with it, or a name or number, kept as it is."""

_NOTHING: Mapping[str, Value] = MappingProxyType({})


class Phrase(str):
    """An English text that can be translated.

    Attributes:
        key: Its English with {names} for the values; where it depends on a number, that for many.
        values: What stands at those names.
    """

    __slots__ = ("key", "values")

    key: str
    values: Mapping[str, Value]

    def __new__(cls, english: str, key: str = "", values: Mapping[str, Value] = _NOTHING) -> "Phrase":
        """Return *english* as the phrase of *key* with *values*."""
        made = super().__new__(cls, english)
        made.key, made.values = key or english, values
        return made

    def __reduce__(self) -> tuple[type["Phrase"], tuple[str, str, dict[str, Value]]]:
        """Return the constructor and its arguments, for copy and pickle."""
        return Phrase, (str(self), self.key, dict(self.values))


def phrase(key: str, /, **values: object) -> Phrase:
    """Return *key* with its {names} filled in; values other than numbers and texts become text.

    >>> told = phrase("{name} plays {tile}", name="Ann", tile="6-4")
    >>> told, told.key, told.values["name"]
    ('Ann plays 6-4', '{name} plays {tile}', 'Ann')
    """
    kept = {name: one if isinstance(one, str | int) else str(one) for name, one in values.items()}
    return Phrase(key.format_map(kept) if kept else key, key, kept)


def plural(one: str, many: str, /, *, number: int, **values: object) -> Phrase:
    """Return the phrase for a *number*, as *one* or as *many*; its key is the latter.

    >>> plural("1 tile", "{number} tiles", number=1), plural("1 tile", "{number} tiles", number=0)
    ('1 tile', '0 tiles')
    """
    said = phrase(many, number=number, **values)
    return Phrase(one.format_map(said.values), many, said.values) if number == 1 else said


def listed(parts: Iterable[str], between: str = ", ") -> Phrase:
    """Return texts joined by *between*, which is the same in every language.

    >>> listed(["a", "b"], "; ")
    'a; b'
    """
    values = {f"part{at}": part for at, part in enumerate(parts)}
    return phrase(between.join(f"{{{name}}}" for name in values), **values)


def either(parts: Iterable[str]) -> Phrase:
    """Return texts joined by commas and "or".

    >>> either(["2", "3", "4"])
    '2, 3 or 4'
    """
    *others, last = parts
    return phrase("{others} or {last}", others=listed(others), last=last) if others else listed([last])


def both(parts: Iterable[str]) -> Phrase:
    """Return texts joined by commas and "and".

    >>> both(["Ann", "Ben"])
    'Ann and Ben'
    """
    *others, last = parts
    return phrase("{others} and {last}", others=listed(others), last=last) if others else listed([last])
