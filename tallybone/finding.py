"""What a check says: how it is, in one sentence, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How a part is."""

    OK = "ok"
    WARNING = "warning"
    """It works, but not as well as it could."""
    PROBLEM = "problem"
    ABSENT = "not there"
    """Nobody asked for it, or this machine has no such thing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        part: What was checked, in one or two words.
        grade: How it is.
        words: What was found.
        mend: How to mend it, in words; "" where there is nothing to mend.
        commands: What to type for that, in this order.
    """

    part: str
    grade: Grade
    words: str
    mend: str = ""
    commands: tuple[str, ...] = ()


def ok(part: str, words: str) -> Finding:
    """Return that a part is as it should be."""
    return Finding(part, Grade.OK, words)


def warning(part: str, words: str, mend: str = "", *commands: str) -> Finding:
    """Return that a part could be better, and how."""
    return Finding(part, Grade.WARNING, words, mend, commands)


def problem(part: str, words: str, mend: str = "", *commands: str) -> Finding:
    """Return that a part does not work, and how to mend it."""
    return Finding(part, Grade.PROBLEM, words, mend, commands)


def absent(part: str, words: str) -> Finding:
    """Return that a part is not there, and need not be."""
    return Finding(part, Grade.ABSENT, words)
