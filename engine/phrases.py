"""English phrases that keep their key and values, so that they can be translated later.

A `Phrase` is a `str` with the English text. It also stores its key, the English template with {names} as placeholders,
and the values for them. Code without translations uses it as plain text. `+` and f-strings lose the key, so build
sentences only with `phrase`, `plural` and `listed`.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

Value = str | int
"""Value of a placeholder: a nested phrase, which is translated too, or a name or number, which is not."""

_NO_VALUES: Mapping[str, Value] = MappingProxyType({})


class Phrase(str):
    """English text that can be translated.

    Attributes:
        key: English template with {names} as placeholders. The plural form, if the text depends on a number.
        values: Values by placeholder name.
    """

    __slots__ = ("key", "values")

    key: str
    values: Mapping[str, Value]

    def __new__(cls, english: str, key: str = "", values: Mapping[str, Value] = _NO_VALUES) -> "Phrase":
        """Return *english* as a phrase with *key* and *values*. Without a key, *english* is the key."""
        new = super().__new__(cls, english)
        new.key, new.values = key or english, values
        return new

    def __reduce__(self) -> tuple[type["Phrase"], tuple[str, str, dict[str, Value]]]:
        """Support copy and pickle."""
        return Phrase, (str(self), self.key, dict(self.values))


def phrase(key: str, /, **values: object) -> Phrase:
    """Return the phrase for the template *key*. Values that are neither str nor int are converted to str.

    >>> play = phrase("{name} plays {tile}", name="Ann", tile="6-4")
    >>> play, play.key, play.values["name"]
    ('Ann plays 6-4', '{name} plays {tile}', 'Ann')
    """
    kept = {name: each if isinstance(each, str | int) else str(each) for name, each in values.items()}
    return Phrase(key.format_map(kept) if kept else key, key, kept)


def plural(one: str, many: str, /, *, number: int, **values: object) -> Phrase:
    """Return the phrase *one* if *number* is 1, else *many*. The key is *many* in both cases.

    >>> plural("1 tile", "{number} tiles", number=1), plural("1 tile", "{number} tiles", number=0)
    ('1 tile', '0 tiles')
    """
    text = phrase(many, number=number, **values)
    return Phrase(one.format_map(text.values), many, text.values) if number == 1 else text


def listed(parts: Iterable[str], between: str = ", ") -> Phrase:
    """Join texts with *between*, which is not translated.

    >>> listed(["a", "b"], "; ")
    'a; b'
    """
    values = {f"part{at}": part for at, part in enumerate(parts)}
    return phrase(between.join(f"{{{name}}}" for name in values), **values)


def fault_of(key: str, text: str) -> Phrase:
    """Return the message for a fault of an option. `in_language` translates *text* if it is a phrase.

    >>> fault_of("hand", "expected 1 or more, got 0")
    'hand: expected 1 or more, got 0'
    """
    return listed((key, text), ": ")


def either(parts: Iterable[str]) -> Phrase:
    """Join texts with commas and "or". At least one text is required.

    >>> either(["2", "3", "4"])
    '2, 3 or 4'
    """
    *others, last = parts
    return phrase("{others} or {last}", others=listed(others), last=last) if others else listed([last])


def both(parts: Iterable[str]) -> Phrase:
    """Join texts with commas and "and". At least one text is required.

    >>> both(["Ann", "Ben"])
    'Ann and Ben'
    """
    *others, last = parts
    return phrase("{others} and {last}", others=listed(others), last=last) if others else listed([last])
