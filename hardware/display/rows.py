"""A page laid out in rows of characters, and in several screens where it does not fit on one."""

from __future__ import annotations

import textwrap

from hardware.display.encoder import DisplayLook
from hardware.display.page import DisplayPage, ScoreLine
from hardware.display.text import reduce_text

# So long each screen is shown where there are several.
_SCREEN_NS = 2_500_000_000
_LEAST_CELL_COLUMNS = 8
_TURN = ">"
_MARK, _MARK_WITHOUT_TILDE = "~", "*"
_TOO_LARGE = "#"


def screen_at(page: DisplayPage, columns: int, rows: int, t_ns: int, permitted: frozenset[str]) -> DisplayLook:
    """Return the rows shown at a time, each of exactly *columns* characters.

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
    """Return all screens of a page, at least one."""
    message = reduce_text(page.message, permitted)
    lines = _score_lines(page.scores, columns, rows - bool(message), permitted)
    if message and lines and len(lines) < rows:
        rest = rows - len(lines)
        wrapped = _wrapped(message, columns)
        if len(wrapped) <= rest:
            return (_filled([*lines, *wrapped], columns, rows),)
    chunks = [lines[begin : begin + rows] for begin in range(0, len(lines), rows)]
    wrapped = _wrapped(message, columns)
    chunks += [wrapped[begin : begin + rows] for begin in range(0, len(wrapped), rows)]
    return tuple(_filled(chunk, columns, rows) for chunk in chunks or [[]])


def points_text(points: int, columns: int) -> str:
    """Return points in at most *columns* characters; signs of excess where they do not fit.

    >>> points_text(-5, 3), points_text(12345, 4)
    ('-5', '####')
    """
    # A number of more digits than Python turns into text cannot be shown either.
    text = str(points) if abs(points) < 10**columns else ""
    return text if 0 < len(text) <= columns else _TOO_LARGE * columns


def provisional_mark(score: ScoreLine, permitted: frozenset[str]) -> str:
    """Return the sign before provisional points; "" for final ones.

    >>> provisional_mark(ScoreLine("Ann", 35, is_provisional=True), frozenset("~"))
    '~'
    """
    if not score.is_provisional:
        return ""
    return _MARK if _MARK in permitted else _MARK_WITHOUT_TILDE


def _score_lines(scores: tuple[ScoreLine, ...], columns: int, rows: int, permitted: frozenset[str]) -> list[str]:
    """Return the scores, one on a row where there is room, otherwise beside each other."""
    beside = 1 if len(scores) <= rows else max(1, columns // _LEAST_CELL_COLUMNS)
    width = columns // beside
    cells = [_cell(score, width, permitted) for score in scores]
    return ["".join(cells[begin : begin + beside]) for begin in range(0, len(cells), beside)]


def _cell(score: ScoreLine, width: int, permitted: frozenset[str]) -> str:
    """Return a score in *width* characters: a sign for the turn, the name, and the points on the right."""
    points = provisional_mark(score, permitted) + points_text(score.points, width // 2)
    room = width - len(_TURN) - len(points) - 1
    name = reduce_text(score.name, permitted)[:room]
    return f"{_TURN if score.is_turn else ' '}{name:<{room}} {points}"


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns)


def _filled(lines: list[str], columns: int, rows: int) -> DisplayLook:
    full = [*lines, *[""] * (rows - len(lines))]
    return tuple(f"{line:<{columns}}"[:columns] for line in full)
