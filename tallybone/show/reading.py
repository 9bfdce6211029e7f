"""Show a reading as a table or a line of JSON, and a progress bar while reading."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from tallybone.json_values import rounded
from tallybone.terminal import counted, printable
from vision.reading import Contact, Face, Guess, Half, Join, Reading, SeenTile


def print_reading(console: Console, title: str, reading: Reading, *, read_ms: float) -> None:
    """Print the reading of a picture.

    Args:
        console: Console to print to.
        title: Name of the picture, safe to print.
        reading: The reading.
        read_ms: Time to read the picture.
    """
    console.print(title, style="bold", markup=False, soft_wrap=True)
    if reading.tiles:
        console.print(_table(reading))
    for join in reading.joins:
        console.print(f"  {_describe_contact(reading, join)}", markup=False, soft_wrap=True)
    for contact in reading.contacts:
        console.print(f"  {_describe_contact(reading, contact)}", markup=False, soft_wrap=True, style="dim")
    for line in _describe_changed(reading):
        console.print(f"  {line}", markup=False, soft_wrap=True)
    console.print(f"{describe_count(reading)}, {read_ms:.0f} ms", markup=False, soft_wrap=True)
    console.print()


def _table(reading: Reading) -> Table:
    table = Table()
    table.add_column("tile", justify="right")
    table.add_column("face")
    table.add_column("pips")
    table.add_column("sure", justify="right")
    table.add_column("where (x, y)", justify="right")
    for number, tile in enumerate(reading.tiles, start=1):
        least = min((half.confidence for half in tile.halves), default=None)
        is_sure = tile.face is not Face.UNSURE and all(half.is_sure for half in tile.halves)
        x, y = tile.center_px
        percent = "" if least is None else f"{100 * least:.0f} %"
        table.add_row(
            str(number),
            tile.face.value,
            format_pips(tile),
            percent,
            f"{x:.0f}, {y:.0f}",
            style=None if is_sure else "yellow",
        )
    return table


def format_pips(tile: SeenTile) -> str:
    """Return the pips of a tile in players' notation.

    An uncertain half is written as both candidates with a question mark between. An unreadable tile is only a question
    mark.

    >>> from vision.reading import Guess, Half
    >>> halves = (Half(6, 0.99, (0, 0)), Half(4, 0.5, (1, 0), Guess(5, 0.3)))
    >>> format_pips(SeenTile(Face.UP, ((0, 0), (1, 0), (1, 1), (0, 1)), halves))
    '6|4?5'
    """
    return "?" if tile.face is Face.UNSURE else "|".join(half.written for half in tile.halves)


def _describe_contact(reading: Reading, contact: Contact) -> str:
    """Describe a join, such as "the 4 of tile 1 meets the side of tile 2", or a contact that is not a join."""
    ends = ((contact.a, contact.a_half), (contact.b, contact.b_half))
    first, second = (_describe_end(reading, *end) for end in ends)
    return f"{first} meets {second}" if isinstance(contact, Join) else f"{first} touches {second}, which is not a join"


def _describe_changed(reading: Reading) -> list[str]:
    """Describe the halves whose reading changed because of their neighbours or the set."""
    return [
        f"the {half.pips} of tile {number} ({format_pips(tile)}) by itself would be read as {half.alone.pips}"
        for number, tile in enumerate(reading.tiles, start=1)
        for half in tile.halves
        if half.alone.pips != half.pips
    ]


def _describe_end(reading: Reading, index: int, half: int | None) -> str:
    tile = reading.tiles[index]
    part = "side" if half is None else str(tile.halves[half].pips)
    return f"the {part} of tile {index + 1} ({format_pips(tile)})"


def describe_count(reading: Reading) -> str:
    """Describe the numbers of tiles by face, of their pips, of joins and of other contacts.

    >>> describe_count(Reading(640, 480, (), ()))
    'No tiles seen'
    """
    if not reading.tiles:
        return "No tiles seen"
    count = Counter(tile.face for tile in reading.tiles)
    parts = [counted(count[Face.UP], "tile") + " face up"]
    if count[Face.DOWN]:
        parts.append(f"{count[Face.DOWN]} face down")
    if count[Face.UNSURE]:
        parts.append(f"{count[Face.UNSURE]} that cannot be read")
    parts.append(counted(_pips(reading), "pip"))
    parts.append(counted(len(reading.joins), "join"))
    if reading.contacts:
        parts.append(counted(len(reading.contacts), "contact"))
    return ", ".join(parts)


def _pips(reading: Reading) -> int:
    return sum(half.pips for tile in reading.tiles if tile.face is Face.UP for half in tile.halves)


def format_reading(path: str, reading: Reading, *, read_ms: float) -> str:
    """Return a reading as a line of JSON, without a line end.

    Args:
        path: Path of the picture as given to the command.
        reading: The reading.
        read_ms: Time to read the picture.

    >>> format_reading("a.jpg", Reading(640, 480, (), ()), read_ms=12.345)
    '{"path": "a.jpg", "width": 640, "height": 480, "tiles": [], "pips": 0, "joins": [], "contacts": [], "ms": 12.3}'
    """
    line = {
        "path": path,
        "width": reading.width_px,
        "height": reading.height_px,
        "tiles": [_tile(tile) for tile in reading.tiles],
        "pips": _pips(reading),
        "joins": [asdict(join) for join in reading.joins],
        "contacts": [asdict(contact) for contact in reading.contacts],
        "ms": round(read_ms, 1),
    }
    return json.dumps(line, allow_nan=False)


def _tile(tile: SeenTile) -> dict[str, object]:
    values: dict[str, object] = {"face": tile.face.value, "corners_px": [rounded(corner) for corner in tile.corners_px]}
    if tile.halves:
        values["halves"] = [_half(half) for half in tile.halves]
    return values


def _half(half: Half) -> dict[str, object]:
    values: dict[str, object] = {**_guess(Guess(half.pips, half.confidence)), "center_px": rounded(half.center_px)}
    if half.second is not None:
        values["second"] = _guess(half.second)
    if half.alone.pips != half.pips:
        values["alone"] = _guess(half.alone)
    return values


def _guess(guess: Guess) -> dict[str, float]:
    return {"pips": guess.pips, "confidence": round(guess.confidence, 4)}


@contextmanager
def reading_progress(console: Console, index: int, count: int, name: str) -> Iterator[None]:
    """Show a progress bar while a picture is read, and remove it afterwards.

    Args:
        console: Console to draw on. Nothing is shown if it is not a terminal.
        index: Index of the picture, from 0.
        count: Number of pictures. Nothing is shown for a single picture.
        name: Name of the picture.
    """
    if count < 2 or not console.is_terminal:
        yield
        return
    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    # No refresh thread, because it would write while the output of libraries is suppressed.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        bar.add_task(printable(name), total=count, completed=index)
        bar.refresh()
        yield
