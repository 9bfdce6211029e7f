"""What config.txt tells a Raspberry Pi to switch on, and the command line of its kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Board(StrEnum):
    """A Raspberry Pi, by the name of its section in config.txt."""

    PI3 = "pi3"
    PI4 = "pi4"
    PI5 = "pi5"
    ZERO2 = "pi02"
    OTHER = "other"


_BOARDS = (("Zero 2", Board.ZERO2), ("Pi 5", Board.PI5), ("Pi 4", Board.PI4), ("Pi 3", Board.PI3))
# Pi 400 and compute modules read the section of the Pi that they are made of.
_RELATIVES = (("Pi 400", Board.PI4), ("Pi 500", Board.PI5), ("Module 4", Board.PI4), ("Module 5", Board.PI5))
_SECTION = re.compile(r"\[(.+)\]$")
_OVERLAYS = "dtoverlay"


def board_of(model: str) -> Board:
    """Return which board calls itself so.

    >>> board_of("Raspberry Pi 5 Model B Rev 1.0")
    <Board.PI5: 'pi5'>
    """
    return next((board for name, board in (*_RELATIVES, *_BOARDS) if name in model), Board.OTHER)


@dataclass(frozen=True, slots=True)
class Boot:
    """How a Pi was started.

    Attributes:
        board: Which one.
        path: Of config.txt; "" where there is none.
        config: The text of config.txt.
        kernel_line: What the kernel was started with.
    """

    board: Board
    path: str
    config: str
    kernel_line: str

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Each key and value that counts for this board, in their order: `("dtparam", "spi=on")`."""
        return settings_of(self.config, self.board)

    @property
    def ends_elsewhere(self) -> bool:
        """Whether a line at the end of config.txt would only count for other boards."""
        return ("end", "here") not in settings_of(f"{self.config}\nend=here", self.board)

    def value(self, key: str) -> str | None:
        """Return what a key is set to last; None for nothing."""
        return next((value for name, value in reversed(self.settings) if name == key), None)

    def param(self, name: str) -> str | None:
        """Return what a parameter of the device tree is set to last, `on` where it is only named."""
        found = None
        for value in (value for key, value in self.settings if key == "dtparam"):
            for one in value.split(","):
                parameter, _, setting = one.partition("=")
                found = (setting or "on") if parameter.strip() == name else found
        return found

    def is_on(self, name: str) -> bool:
        """Return whether a parameter of the device tree is switched on."""
        return self.param(name) in ("on", "yes", "true", "1")

    def overlay(self, begin: str) -> str | None:
        """Return the last overlay whose name begins so, with its parameters; None for none."""
        named = (value for key, value in reversed(self.settings) if key == _OVERLAYS)
        return next((value for value in named if value.startswith(begin)), None)


def settings_of(config: str, board: Board) -> tuple[tuple[str, str], ...]:
    r"""Return what a text of config.txt sets for a board; sections of other boards do not count.

    >>> settings_of("dtparam=spi=on\n[pi5]\ndtparam=uart0=on", Board.PI4)
    (('dtparam', 'spi=on'),)
    """
    found: list[tuple[str, str]] = []
    counts = True
    for line in (line.partition("#")[0].strip() for line in config.splitlines()):
        section = _SECTION.match(line)
        if section:
            counts = section[1] == "all" or _is_for(section[1], board)
        elif counts and "=" in line:
            key, _, value = line.partition("=")
            found.append((key.strip(), value.strip()))
    return tuple(found)


def _is_for(section: str, board: Board) -> bool:
    """Return whether a section counts; a Zero 2 W reads that of all Zeros too."""
    return section == board or (board is Board.ZERO2 and section == "pi0")
