"""A reader that knows the tiles of a calibration file."""

from __future__ import annotations

from pathlib import Path

from calibration.errors import RefusedError
from calibration.tile_set import own_reader
from tallybone.calibration_file import load_calibration
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
    return own_reader(reader, kept)
