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
    """A custom tile set in a recording: its learned weights, without the pictures of its tiles.

    Attributes:
        max_pips: Highest number of pips on a half, 6 to 18.
        eye: Identifier of the pip features and classifiers to which the weights apply.
        weights: Weights of `vision.reader.custom_set.CustomSet` as float16 in base64, row by row.
        believed: Weight of the shipped classifier relative to *weights*, 0 to 1.
    """

    max_pips: int
    eye: str
    weights: str
    believed: float


def recorded_set(learned: LearnedSet, reader: Reader) -> RecordedSet | None:
    """Return a learned set in the form for recordings.

    None if the reader has no fixed tile set or one larger than *learned*, or if *learned* has no weights.

    Raises:
        RefusedError: If the learned set is damaged.
    """
    if reader.max_pips is None or reader.max_pips > learned.max_pips:
        return None
    updated = refitted(learned, reader)
    return RecordedSet(updated.max_pips, updated.eye, updated.weights, updated.believed) if updated.weights else None


def as_recorded(reader: Reader, recorded: RecordedSet, complain: Callable[[str], object]) -> Reader:
    """Return a reader for the custom tile set of a recording.

    If the set cannot be used, call *complain* with the reason and return *reader* unchanged.
    """
    try:
        return custom_reader(reader, recorded)
    except RefusedError as error:
        complain(f"The learned tile set is not used: {error}.")
        return reader


def shipped_reader(tile_set: TileSet, calibration: Path | None = None) -> ReadPicture:
    """Return a function that reads pictures with the shipped models, and with the custom tile set of *calibration*.

    Raises:
        CalibrationError: If no set was learned, or the calibration file or its set is damaged.
        ModelError: If a model file is missing or has another version.
        OSError: If the calibration file cannot be read.
    """
    reader = load_reader(tile_set.max_pips)
    if calibration is None:
        return reader.read
    learned = load_calibration(calibration).set
    if learned is None:
        raise RefusedError(f"{calibration}: no tiles were learned; lay out the set and run `tallybone calibrate set`")
    return custom_reader(reader, refitted(learned, reader)).read
