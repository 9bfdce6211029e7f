"""Build readers for the user's own tiles, from a calibration file or from a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from calibration import RefusedError
from calibration.tiles.tile_set import LearnedSet, custom_reader, reader_checksum, refitted
from tallybone.choices import TileSet
from tallybone.store.calibration_file import load_calibration
from tallybone.store.learned_file import TableTiles, refitted_tiles
from vision.arrays import Image
from vision.image.picture import decode_picture, read_picture_file
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader, load_reader
from vision.reading import Reading

ReadPicture: TypeAlias = Callable[[Image], Reading]


def recorded_set(learned: LearnedSet | None, reader: Reader, tiles: TableTiles | None = None) -> RecordedSet | None:
    """Return a learned set and the corrected *tiles* of a table in the form for recordings.

    None if the reader has no fixed tile set, or if there are neither corrected tiles nor weights of a set that is
    large enough for it.

    Raises:
        RefusedError: If the learned set or an image of a tile is damaged.
    """
    if reader.max_pips is None:
        return None
    own, exemplars = RecordedSet(reader.max_pips, reader_checksum(), "", 1.0), ""
    if learned is not None and learned.max_pips >= reader.max_pips:
        updated = refitted(learned, reader)
        if updated.weights:
            own = RecordedSet(updated.max_pips, updated.reader, updated.weights, updated.believed)
    if tiles is not None:
        exemplars = refitted_tiles(tiles, reader, learned if own.weights else None).exemplars
    return replace(own, exemplars=exemplars) if own.weights or exemplars else None


def as_recorded(reader: Reader, recorded: RecordedSet, complain: Callable[[str], object]) -> Reader:
    """Return a reader for the custom tile set of a recording.

    If the set cannot be used, call *complain* with the reason and return *reader* unchanged.
    """
    try:
        return custom_reader(reader, recorded)
    except RefusedError as error:
        complain(f"The learned tile set is not used: {error}.")
        return reader


def read(image: str | PathLike[str] | bytes | Image, max_pips: int | None = None) -> Reading:
    """Return the tiles in a photo of a table, as `tallybone read` reads it.

    Args:
        image: Path of an image file, its content, or an image as an array of shape (H, W, 3), uint8, BGR.
        max_pips: Highest number of the domino set, 6 to 18. None if unknown.

    Raises:
        VisionError: If it is no image, or larger than 80 megapixels.
    """
    if isinstance(image, str | PathLike):
        image = decode_picture(read_picture_file(Path(image)), str(image))
    elif isinstance(image, bytes):
        image = decode_picture(image, "the image")
    return _cached_reader(max_pips).read(image)


@cache
def _cached_reader(max_pips: int | None) -> Reader:
    """Return the shipped reader. Loading takes longer than reading."""
    return load_reader(max_pips)


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
