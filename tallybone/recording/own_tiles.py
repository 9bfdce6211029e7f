"""A reader that knows the user's own tiles: from a calibration file, or as a recording says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from calibration.errors import RefusedError
from calibration.tile_set import TileSet, own_reader, with_shipped_eye
from tallybone.recording.own_set import RecordedSet
from tallybone.store.calibration_file import load_calibration
from vision.reader import Reader


def reader_with_set(reader: Reader, calibration: Path) -> Reader:
    """Return a reader that reads the tiles of a calibration; the same one where another set is told.

    Raises:
        CalibrationError: If no set was learned, or the file is damaged.
        OSError: If it cannot be read.
    """
    kept = load_calibration(calibration).set
    if kept is None:
        raise RefusedError(f"{calibration}: no tiles were learned; lay out the set and run `tallybone calibrate set`")
    return own_reader(reader, with_shipped_eye(kept, reader))


def recorded_set(kept: TileSet, reader: Reader) -> RecordedSet | None:
    """Return what a recording says of a set, for a reader that is told which set it reads; None where it does not help.

    Raises:
        RefusedError: If what is kept is damaged.
    """
    if reader.max_pips is None or reader.max_pips > kept.max_pips:
        return None
    now = with_shipped_eye(kept, reader)
    return RecordedSet(now.max_pips, now.eye, now.weights, now.believed) if now.weights else None


def as_recorded(reader: Reader, said: RecordedSet, complain: Callable[[str], None]) -> Reader:
    """Return a reader that reads as a recording says; the same one where that cannot be, which *complain* is told."""
    try:
        return own_reader(reader, said)
    except RefusedError as error:
        complain(f"What was learned of the tiles is not used: {error}.")
        return reader
