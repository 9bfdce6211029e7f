"""What the doctor says, for people in 80 columns, and for programs."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TypeAlias

from tallybone.finding import Finding, Grade
from tallybone.terminal import printable

Piece: TypeAlias = tuple[str, str]
"""A piece of a line, and how it looks: a style of rich, or ""."""

_COLUMNS, _GRADE, _PART = 80, 11, 24
_STYLES = {
    Grade.OK: "green",
    Grade.WARNING: "yellow",
    Grade.PROBLEM: "bold red",
    Grade.ABSENT: "dim",
}


def lines_of(finding: Finding) -> tuple[tuple[Piece, ...], ...]:
    """Return the lines of a finding: grade, part and words, and below them how to mend it."""
    style = _STYLES[finding.grade]
    room = _COLUMNS - _GRADE - (_PART - _GRADE)
    words = _wrapped(finding.words, room)
    head: tuple[Piece, ...] = (
        (f"{finding.grade.value:<{_GRADE}}", style),
        (f"{finding.part:<{_PART - _GRADE}}", "bold" if finding.mend else ""),
        (words[0], "dim" if finding.grade is Grade.ABSENT else ""),
    )
    rest = tuple(((" " * _PART + line, ""),) for line in words[1:])
    mend = tuple(((" " * _GRADE + line, ""),) for line in _wrapped(finding.mend, _COLUMNS - _GRADE))
    commands = tuple(((" " * _GRADE + "$ ", "dim"), (command, "cyan")) for command in finding.commands)
    return (head, *rest, *(mend if finding.mend else ()), *commands)


def summary(findings: tuple[Finding, ...]) -> str:
    """Return all of it in one sentence."""
    counts = Counter(finding.grade for finding in findings)
    problems, warnings = counts[Grade.PROBLEM], counts[Grade.WARNING]
    if not problems and not warnings:
        return "All is well."
    said = [_counted(number, word) for number, word in ((problems, "problem"), (warnings, "warning")) if number]
    hint = "\nMend what is on top first: what is below may follow from it." if problems > 1 else ""
    return f"{' and '.join(said)}.{hint}"


def is_well(findings: tuple[Finding, ...]) -> bool:
    """Return whether a game can begin: no problem, whatever could be better."""
    return all(finding.grade is not Grade.PROBLEM for finding in findings)


def as_values(findings: tuple[Finding, ...]) -> dict[str, object]:
    """Return all of it as values for JSON."""
    return {
        "well": is_well(findings),
        "findings": [
            {
                "part": finding.part,
                "grade": finding.grade.value,
                "words": finding.words,
                "mend": finding.mend,
                "commands": list(finding.commands),
            }
            for finding in findings
        ],
    }


def _wrapped(words: str, columns: int) -> list[str]:
    return textwrap.wrap(printable(words), columns, break_on_hyphens=False) or [""]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
