"""List recordings as a table or as JSON; delete the oldest first where room is short."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tallybone.recording.folder import KEEP_BYTES, default_folder, prune, recordings_in
from tallybone.recording.survey import Survey
from tallybone.store.house import HOUSE_NAME, load_house
from tallybone.terminal import Output, counted, printable

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_WIDTH_CHARACTERS = 200  # a name is never cut: it is what the other commands are told


def format_size(size_bytes: int) -> str:
    """Return a size as people say it.

    >>> format_size(999), format_size(1_234_567), format_size(20_000_000_000)
    ('999 B', '1.2 MB', '20.0 GB')
    """
    unit = next((name for name in "TGMK" if size_bytes >= _UNITS[name]), "")
    return f"{size_bytes / _UNITS[unit]:.1f} {unit}B" if unit else f"{size_bytes} B"


def room_of_table(environment: Mapping[str, str], home: Path) -> int:
    """Return the bytes that the recordings of a table may take together, as was set on its page.

    Raises:
        ValueError: If what was set cannot be read: then nothing should be deleted by it.
    """
    house, problem = load_house(default_folder(environment, home).parent / HOUSE_NAME)
    if problem is not None:
        raise ValueError(problem)
    return house.keep_bytes or KEEP_BYTES


def print_recordings(
    folder: Path | None = None,
    *,
    as_json: bool = False,
    keep_bytes: int | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Print the recordings in a folder, oldest first.

    Args:
        folder: Where they are; None for the user's own (docs/recording.md).
        as_json: Print a line of JSON per recording and one with the result, instead of a table.
        keep_bytes: Delete the oldest first, until the rest take no more than this; None deletes nothing.
        out: Where the list goes, by default stdout.
        err: Where errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if the folder, or a file that is called a recording, could not be read.
    """
    output = Output.of("sessions", out, err)
    place = default_folder(os.environ, Path.home()) if folder is None else folder
    try:
        if folder is None:
            place.mkdir(parents=True, exist_ok=True)
        gone = () if keep_bytes is None else prune(place, keep_bytes=keep_bytes)
        found, others = recordings_in(place)
    except OSError as error:
        return output.complain(error)
    for problem in others:
        output.complain(str(problem))
    if as_json:
        for one in found:
            output.write(format_survey(one))
        size_bytes = sum(one.size_bytes for one in found)
        result = {"recordings": len(found), "size_bytes": size_bytes, "deleted": [path.name for path in gone]}
        output.write(json.dumps({"result": result}))
    else:
        _print(output.console, place, found, gone)
    return output.exit_code


def format_survey(one: Survey) -> str:
    """Return a recording as one line of JSON, without a line end."""
    start = one.start
    said = {
        "path": str(one.path),
        "started_at": None if start is None else start.started_at.isoformat(),
        "players": None if start is None else start.players,
        "rules": None if start is None else start.rules,
        "totals": one.facts.totals,
        "frames": one.facts.frames,
        "length_s": round(one.facts.length_ns / 1e9, 3),
        "size_bytes": one.size_bytes,
        "running": one.is_running,
        "damage": [str(damage) for damage in one.facts.damage],
    }
    return json.dumps(said)


def _print(console: Console, place: Path, found: list[Survey], gone: tuple[Path, ...]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("began", "players", "rules", "result", "length", "pictures", "size", "recording"):
        table.add_column(heading, no_wrap=True)
    for one in found:
        table.add_row(*(Text(printable(cell)) for cell in _cells(one)))
    if found:
        Console(file=console.file, width=_WIDTH_CHARACTERS, highlight=False).print(table, crop=False)
    notes = [f"{one.path.name}: {damage}" for one in found for damage in one.facts.damage if not one.is_running]
    for note in (*notes, *(f"{path.name}: deleted" for path in gone)):
        console.print(Text(printable(note)), soft_wrap=True)
    size = format_size(sum(one.size_bytes for one in found))
    console.print(Text(f"{counted(len(found), 'recording')}, {size}, in {printable(str(place))}"), soft_wrap=True)


def _cells(one: Survey) -> tuple[str, ...]:
    start, facts = one.start, one.facts
    seconds = facts.length_ns // 10**9
    began = "?" if start is None else f"{start.started_at:%Y-%m-%d %H:%M}"
    players, rules = ("?", "?") if start is None else (", ".join(start.players) or "-", start.rules)
    totals = "-" if facts.totals is None else " : ".join(str(points) for points in facts.totals)
    length = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    name = one.path.name + (" (running)" if one.is_running else "")
    return (began, players, rules, totals, length, str(facts.frames), format_size(one.size_bytes), name)
