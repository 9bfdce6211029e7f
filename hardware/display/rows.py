"""Lay out a page in rows of characters, split into several screens if necessary."""

from __future__ import annotations

import textwrap

from hardware.display.encoder import DisplayLook
from hardware.display.page import DisplayPage, ScoreLine
from hardware.display.text import reduce_text

# Time for which each of several screens is shown.
_SCREEN_NS = 2_500_000_000
_LEAST_CELL_COLUMNS = 8
_TURN = ">"
_MARK, _MARK_WITHOUT_TILDE = "~", "*"
_TOO_LARGE = "#"


def screen_at(page: DisplayPage, columns: int, rows: int, t_ns: int, permitted: frozenset[str]) -> DisplayLook:
    """Return the rows shown at time *t_ns*, each with exactly *columns* characters.

    >>> screen_at(
    ...     DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 5)), "Ann +15"),
    ...     16,
    ...     2,
    ...     0,
    ...     frozenset(map(chr, range(32, 126))),
    ... )
    ('>Ann  35 Ben   5', 'Ann +15         ')
    """
    screens = screens_of(page, columns, rows, permitted)
    return screens[t_ns // _SCREEN_NS % len(screens)]


def screens_of(page: DisplayPage, columns: int, rows: int, permitted: frozenset[str]) -> tuple[DisplayLook, ...]:
    """Return the screens of a page, at least one."""
    message = reduce_text(page.message, permitted)
    lines = _score_lines(page.scores, columns, rows - bool(message), permitted)
    if message and lines and len(lines) < rows:
        free_rows = rows - len(lines)
        wrapped = _wrapped(message, columns)
        if len(wrapped) <= free_rows:
            return (_padded([*lines, *wrapped], columns, rows),)
    chunks = [lines[begin : begin + rows] for begin in range(0, len(lines), rows)]
    wrapped = _wrapped(message, columns)
    chunks += [wrapped[begin : begin + rows] for begin in range(0, len(wrapped), rows)]
    return tuple(_padded(chunk, columns, rows) for chunk in chunks or [[]])


def points_text(points: int, columns: int) -> str:
    """Return points in at most *columns* characters, or that many "#" if they do not fit.

    >>> points_text(-5, 3), points_text(12345, 4)
    ('-5', '####')
    """
    # Checked first, because Python refuses to convert numbers with thousands of digits to text.
    text = str(points) if abs(points) < 10**columns else ""
    return text if 0 < len(text) <= columns else _TOO_LARGE * columns


def provisional_mark(score: ScoreLine, permitted: frozenset[str]) -> str:
    """Return the mark before provisional points, or "" if the points are final.

    >>> provisional_mark(ScoreLine("Ann", 35, is_provisional=True), frozenset("~"))
    '~'
    """
    if not score.is_provisional:
        return ""
    return _MARK if _MARK in permitted else _MARK_WITHOUT_TILDE


def _score_lines(scores: tuple[ScoreLine, ...], columns: int, rows: int, permitted: frozenset[str]) -> list[str]:
    """Return lines with one score each if they fit in *rows*, else with as many as fit, at 8 columns or more each."""
    per_line = 1 if len(scores) <= rows else max(1, columns // _LEAST_CELL_COLUMNS)
    width = columns // per_line
    cells = [_cell(score, width, permitted) for score in scores]
    return ["".join(cells[begin : begin + per_line]) for begin in range(0, len(cells), per_line)]


def _cell(score: ScoreLine, width: int, permitted: frozenset[str]) -> str:
    """Return a score in *width* characters: turn mark, name, and right-aligned points."""
    points = provisional_mark(score, permitted) + points_text(score.points, width // 2)
    room = width - len(_TURN) - len(points) - 1
    name = reduce_text(score.name, permitted)[:room]
    return f"{_TURN if score.is_turn else ' '}{name:<{room}} {points}"


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns)


def _padded(lines: list[str], columns: int, rows: int) -> DisplayLook:
    padded = [*lines, *[""] * (rows - len(lines))]
    return tuple(f"{line:<{columns}}"[:columns] for line in padded)
