"""Describe the result of a check: the state of a part, in one sentence, and how to repair it."""

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
    """The result of a check: *words* are a sentence; *mend* and *commands* say how to repair the part, if need be."""

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
    """Return that a part does not work, and how to repair it."""
    return Finding(part, Grade.PROBLEM, words, mend, commands)


def absent(part: str, words: str) -> Finding:
    """Return that a part is not there, and need not be."""
    return Finding(part, Grade.ABSENT, words)
