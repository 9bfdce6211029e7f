"""One table of a configuration, read key by key: what is wrong is noted, and reading goes on."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from hardware.colour import Rgb
from hardware.config.config import SpiPort

T = TypeVar("T", bound=StrEnum)

NONE = "none"
# Pins 0 and 1 belong to the memory of boards that are put on top.
LOWEST_PIN, HIGHEST_PIN = 2, 27
_MOST_SHADE = 255
_CHANNELS = 8


class Fields:
    """A table that is being read. Each method takes a key and returns its value; a bad one is noted and left out."""

    def __init__(self, table: Mapping[str, object], where: str, problems: list[str]) -> None:
        """Read *table*, which people know as *where*, and add what is wrong to *problems*."""
        self._table, self.where, self._problems = table, where, problems
        self._seen: set[str] = set()

    def problem(self, key: str, words: str) -> None:
        """Note what is wrong with a key."""
        self._problems.append(f"[{self.where}] {key}: {words}")

    @property
    def whole_table(self) -> Mapping[str, object]:
        """All that is said."""
        return self._table

    def has(self, key: str) -> bool:
        """Return whether something is said about a key."""
        return key in self._table

    def value(self, key: str) -> object:
        """Return what is said, whatever it is; None for nothing."""
        self._seen.add(key)
        return self._table.get(key)

    def driver(self, kinds: type[T]) -> T | None:
        """Return which driver is wanted; None for `none`, or where it is wrong."""
        said = self.value("driver")
        if said is None:
            self.problem("driver", f"expected {_listed((*kinds, NONE))}, but nothing is said")
            return None
        if said == NONE:
            return None
        return self._one_of("driver", said, kinds, (*kinds, NONE))

    def choice(self, key: str, kinds: type[T], usual: T) -> T:
        """Return one of several words."""
        said = self.value(key)
        chosen = None if said is None else self._one_of(key, said, kinds, tuple(kinds))
        return usual if chosen is None else chosen

    def whole(self, key: str, lowest: int, highest: int) -> int | None:
        """Return a whole number in a range; None where nothing, or nothing useful, is said."""
        said = self.value(key)
        if said is None:
            return None
        if isinstance(said, bool) or not isinstance(said, int) or not lowest <= said <= highest:
            self.problem(key, f"expected {lowest} to {highest}, but got {_shown(said)}")
            return None
        return said

    def text(self, key: str) -> str | None:
        """Return a text that is not empty."""
        said = self.value(key)
        if said is None:
            return None
        if not isinstance(said, str) or not said:
            self.problem(key, f"expected a text, but got {_shown(said)}")
            return None
        return said

    def pin(self, key: str) -> int | None:
        """Return the number of a pin (BCM)."""
        said = self.value(key)
        if said is None:
            return None
        (pin,) = self.pins(key, (said,))
        return pin

    def pins(self, key: str, said: object, *, length: int | None = None) -> tuple[int | None, ...]:
        """Return the numbers of some pins, None for each that is none; *length* is how many there have to be."""
        if not isinstance(said, list | tuple) or length not in (None, len(said)):
            wanted = "a list of pins" if length is None else f"{length} pins"
            self.problem(key, f"expected {wanted}, but got {_shown(said)}")
            return ()
        found: list[int | None] = []
        for one in said:
            is_pin = isinstance(one, int) and not isinstance(one, bool) and LOWEST_PIN <= one <= HIGHEST_PIN
            if not is_pin:
                self.problem(key, f"expected BCM pins {LOWEST_PIN} to {HIGHEST_PIN}, but got {_shown(one)}")
            found.append(one if is_pin else None)
        return tuple(found)

    def channels(self, key: str, said: object) -> tuple[int | None, ...]:
        """Return channels of an MCP3008, None for each that is none; each may be said once."""
        if not isinstance(said, list) or not 1 <= len(said) <= _CHANNELS:
            self.problem(key, f"expected a list of 1 to {_CHANNELS} channels, but got {_shown(said)}")
            return ()
        found: list[int | None] = []
        for one in said:
            is_new = type(one) is int and 0 <= one < _CHANNELS and one not in found
            if not is_new:
                self.problem(key, f"expected channels 0 to {_CHANNELS - 1}, each once, but got {_shown(one)}")
            found.append(one if is_new else None)
        return tuple(found)

    def spi(self, key: str) -> SpiPort:
        """Return an SPI, 0.0 where nothing is said."""
        said = self.value(key)
        if said is None:
            return SpiPort()
        try:
            return SpiPort.parse(str(said))
        except ValueError as error:
            self.problem(key, str(error))
            return SpiPort()

    def colour(self, key: str) -> Rgb | None:
        """Return a colour, said as red, green and blue."""
        said = self.value(key)
        if said is None:
            return None
        shades = said if isinstance(said, list) and len(said) == 3 else []
        if not shades or not all(type(one) is int and 0 <= one <= _MOST_SHADE for one in shades):
            self.problem(key, f"expected red, green and blue of 0 to {_MOST_SHADE}, but got {_shown(said)}")
            return None
        return Rgb(*shades)

    def tables(self, key: str, where: str) -> tuple[Fields, ...]:
        """Return the tables of a list of tables."""
        said = self.value(key)
        if said is None:
            return ()
        if not isinstance(said, list) or not all(isinstance(one, Mapping) for one in said):
            self.problem(key, f"expected [[{where}]], with two brackets, for each of them")
            return ()
        names = [where] if len(said) == 1 else [f"{where} {number}" for number in range(1, len(said) + 1)]
        return tuple(Fields(table, name, self._problems) for table, name in zip(said, names, strict=True))

    def table(self, key: str, where: str) -> Fields | None:
        """Return a table."""
        said = self.value(key)
        if said is None:
            return None
        if not isinstance(said, Mapping):
            self.problem(key, f"expected one table [{where}], with one bracket")
            return None
        return Fields(said, where, self._problems)

    def done(self, known: tuple[str, ...] = (), *, driver: str = "") -> None:
        """Note every key that was not read: of *known* ones that they are not for the *driver*, with `none` nothing."""
        for key in self._table:
            if key in self._seen:
                continue
            if key in known:
                if driver != NONE:
                    self.problem(key, f"has no meaning with the driver {driver}")
                continue
            near = get_close_matches(key, sorted({*known, *self._seen}), 1)
            hint = f"did you mean {near[0]}?" if near else f"expected {_listed(sorted({*known, *self._seen}))}"
            self.problem(key, f"is not known; {hint}")

    def _one_of(self, key: str, said: object, kinds: type[T], named: tuple[str, ...]) -> T | None:
        if isinstance(said, str) and said in set(kinds):
            return kinds(said)
        near = get_close_matches(said, named, 1) if isinstance(said, str) else []
        hint = f"; did you mean {near[0]}?" if near else ""
        self.problem(key, f"expected {_listed(named)}, but got {_shown(said)}{hint}")
        return None


def _listed(words: tuple[str, ...] | list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _shown(said: object) -> str:
    """Return a value as people wrote it, not too long."""
    if isinstance(said, bool):
        text = str(said).lower()
    else:
        text = f'"{said}"' if isinstance(said, str) else str(said)
    return text if len(text) <= 60 else f"{text[:57]}..."
