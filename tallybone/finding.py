"""Result of a check: the state of a part in one sentence, and how to repair it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """Grade of a part."""

    OK = "ok"
    WARNING = "warning"
    """The part works, with limitations."""
    PROBLEM = "problem"
    ABSENT = "not there"
    """The part is not configured, or this machine has no such part."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a check. *text* is a sentence. *remedy* and *commands* explain how to repair the part, if needed."""

    part: str
    grade: Grade
    text: str
    remedy: str = ""
    commands: tuple[str, ...] = ()


def ok(part: str, text: str) -> Finding:
    """Return a finding of grade OK."""
    return Finding(part, Grade.OK, text)


def warning(part: str, text: str, remedy: str = "", *commands: str) -> Finding:
    """Return a finding of grade WARNING, with a remedy."""
    return Finding(part, Grade.WARNING, text, remedy, commands)


def problem(part: str, text: str, remedy: str = "", *commands: str) -> Finding:
    """Return a finding of grade PROBLEM, with a remedy."""
    return Finding(part, Grade.PROBLEM, text, remedy, commands)


def absent(part: str, text: str) -> Finding:
    """Return a finding of grade ABSENT."""
    return Finding(part, Grade.ABSENT, text)
