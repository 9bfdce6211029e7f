"""Build readers for the user's own tiles, from a calibration file or from a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from calibration.errors import RefusedError
from calibration.tiles.tile_set import LearnedSet, custom_reader, refitted
from tallybone.choices import TileSet
from tallybone.store.calibration_file import load_calibration
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import Reading

ReadPicture: TypeAlias = Callable[[Image], Reading]


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """The learned look of a set of tiles, without the tiles.

    Attributes:
        max_pips: Its highest number, 6 to 18.
        eye: Which network and heads the weights belong to; with others they mean nothing.
        weights: Of `vision.reader.custom_set.CustomSet`, as float16 in base64, row by row.
        believed: How far the shipped head counts beside them, 0 to 1.
    """

    max_pips: int
    eye: str
    weights: str
    believed: float


def recorded_set(kept: LearnedSet, reader: Reader) -> RecordedSet | None:
    """Return a learned set as a recording keeps it, for a reader of a known set; None where it does not help.

    Raises:
        RefusedError: If the learned set is damaged.
    """
    if reader.max_pips is None or reader.max_pips > kept.max_pips:
        return None
    now = refitted(kept, reader)
    return RecordedSet(now.max_pips, now.eye, now.weights, now.believed) if now.weights else None


def as_recorded(reader: Reader, said: RecordedSet, complain: Callable[[str], object]) -> Reader:
    """Return a reader with the set of a recording; the same reader, and a complaint, where that cannot be."""
    try:
        return custom_reader(reader, said)
    except RefusedError as error:
        complain(f"What was learned of the tiles is not used: {error}.")
        return reader


def shipped_reader(tile_set: TileSet, calibration: Path | None = None) -> ReadPicture:
    """Return the reader with the shipped classifiers, and with the user's own tiles where a calibration is given.

    Raises:
        CalibrationError: If no set was learned, or the file of the calibration is damaged.
        ModelError: If a classifier's file is absent or of another version.
        OSError: If the calibration cannot be read.
    """
    reader = load_reader(tile_set.max_pips)
    if calibration is None:
        return reader.read
    kept = load_calibration(calibration).set
    if kept is None:
        raise RefusedError(f"{calibration}: no tiles were learned; lay out the set and run `tallybone calibrate set`")
    return custom_reader(reader, refitted(kept, reader)).read
