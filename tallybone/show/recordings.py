"""List recordings as a table or JSON, and delete the oldest to free space."""

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
_WIDTH_CHARACTERS = 200  # never truncate names, because other commands need them


def format_size(size_bytes: int) -> str:
    """Return a size with a decimal unit.

    >>> format_size(999), format_size(1_234_567), format_size(20_000_000_000)
    ('999 B', '1.2 MB', '20.0 GB')
    """
    unit = next((name for name in "TGMK" if size_bytes >= _UNITS[name]), "")
    return f"{size_bytes / _UNITS[unit]:.1f} {unit}B" if unit else f"{size_bytes} B"


def recording_quota(environment: Mapping[str, str], home: Path) -> int:
    """Return the maximum total size of a table's recordings in bytes, as set on its page, or else the default.

    Raises:
        ValueError: If the settings cannot be read. Callers should not delete anything then.
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
    """Print the recordings in a folder, oldest first, after deleting some if *keep_bytes* is given.

    Args:
        folder: Folder of recordings. None for the user's own (docs/reference/recording.md).
        as_json: Print a line of JSON for each recording and one with the result, instead of a table.
        keep_bytes: Delete the oldest recordings until the rest use at most this size. None deletes nothing.
        out: Stream for the list. None for stdout.
        err: Stream for errors. None for stderr.

    Returns:
        Exit code: 0, or 1 if the folder or a recording in it could not be read.
    """
    output = Output.of("sessions", out, err)
    place = default_folder(os.environ, Path.home()) if folder is None else folder
    try:
        if folder is None:
            place.mkdir(parents=True, exist_ok=True)
        deleted = () if keep_bytes is None else prune(place, keep_bytes=keep_bytes)
        surveys, problems = recordings_in(place)
    except OSError as error:
        return output.complain(error)
    for problem in problems:
        output.complain(str(problem))
    if as_json:
        for survey in surveys:
            output.write(format_survey(survey))
        size_bytes = sum(survey.size_bytes for survey in surveys)
        result = {"recordings": len(surveys), "size_bytes": size_bytes, "deleted": [path.name for path in deleted]}
        output.write(json.dumps({"result": result}))
    else:
        _print(output.console, place, surveys, deleted)
    return output.exit_code


def format_survey(survey: Survey) -> str:
    """Return a recording as a line of JSON, without a line end."""
    start = survey.start
    values = {
        "path": str(survey.path),
        "started_at": None if start is None else start.started_at.isoformat(),
        "players": None if start is None else survey.players,
        "rules": None if start is None else start.rules,
        "totals": survey.facts.totals,
        "frames": survey.facts.frames,
        "length_s": round(survey.facts.length_ns / 1e9, 3),
        "size_bytes": survey.size_bytes,
        "running": survey.is_running,
        "damage": [str(damage) for damage in survey.facts.damage],
    }
    return json.dumps(values)


def _print(console: Console, place: Path, surveys: list[Survey], deleted: tuple[Path, ...]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("began", "players", "rules", "result", "length", "pictures", "size", "recording"):
        table.add_column(heading, no_wrap=True)
    for survey in surveys:
        table.add_row(*(Text(printable(cell)) for cell in _cells(survey)))
    if surveys:
        Console(file=console.file, width=_WIDTH_CHARACTERS, highlight=False).print(table, crop=False)
    finished = (survey for survey in surveys if not survey.is_running)
    notes = [f"{survey.path.name}: {damage}" for survey in finished for damage in survey.facts.damage]
    for note in (*notes, *(f"{path.name}: deleted" for path in deleted)):
        console.print(Text(printable(note)), soft_wrap=True)
    size = format_size(sum(survey.size_bytes for survey in surveys))
    console.print(Text(f"{counted(len(surveys), 'recording')}, {size}, in {printable(str(place))}"), soft_wrap=True)


def _cells(survey: Survey) -> tuple[str, ...]:
    start, facts = survey.start, survey.facts
    seconds = facts.length_ns // 10**9
    began = "?" if start is None else f"{start.started_at:%Y-%m-%d %H:%M}"
    players, rules = ("?", "?") if start is None else (", ".join(survey.players) or "-", start.rules)
    totals = "-" if facts.totals is None else " : ".join(str(points) for points in facts.totals)
    length = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    name = survey.path.name + (" (running)" if survey.is_running else "")
    return (began, players, rules, totals, length, str(facts.frames), format_size(survey.size_bytes), name)
