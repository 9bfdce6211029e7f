"""Files of what a table has learned in its matches, beside its calibration: JSON with a version."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from calibration import CalibrationError
from calibration.knock import TableExamples, improvement, learned
from calibration.tiles import tile_set
from engine.phrases import Phrase, phrase
from hardware.knock.classifier import Classifier, load_classifier
from tallybone.files import sentence_of, write_durably
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.store.calibration_file import CalibrationFileError, load_calibration
from vision.reader.reader import Reader

VERSION = 1
# Maximum number of examples that are stored.
MAX_KNOCKS = 60
MAX_OTHERS = 120


@dataclass(frozen=True, slots=True)
class TableKnocks:
    """What is known about the knocks of a table."""

    path: Path
    seed: TableExamples
    learned: TableExamples
    problems: tuple[str, ...] = ()

    def classifier(self) -> Classifier:
        """Return the classifier of the table."""
        shipped = load_classifier()
        return self.improvement(shipped, self.learned) or learned(shipped, self.seed)

    def improvement(self, shipped: Classifier, learned: TableExamples) -> Classifier | None:
        """Return the classifier that knows the calibration and *learned*, or None if it would be worse than shipped."""
        own = [examples for examples in (self.seed, learned) if examples.model == shipped.name]
        knocks = tuple(row for examples in own for row in examples.knocks)
        others = tuple(row for examples in own for row in examples.others)
        return improvement(shipped, TableExamples(shipped.name, knocks, others))

    def forgotten(self) -> TableKnocks:
        """Return only what is known from the calibration."""
        return replace(self, learned=TableExamples(self.learned.model))

    @property
    def text(self) -> tuple[Phrase, ...]:
        """A sentence on what was learned in matches. Empty if nothing was."""
        counts = {"knocks": len(self.learned.knocks), "tiles": len(self.learned.others)}
        return (
            (phrase("Learned at this table: passes {knocks}, tiles {tiles}.", **counts),)
            if any(counts.values())
            else ()
        )


def load_table_knocks(calibration: Path) -> TableKnocks:
    """Load what is known about the knocks of the table with a calibration file, which may be missing."""
    shipped = load_classifier()
    seed = found = TableExamples(shipped.name)
    path, problems = learned_path(calibration), list[str]()
    try:
        knock = load_calibration(calibration).knock
        seed = seed if knock is None else knock.examples
    except (CalibrationError, OSError) as error:
        problems.append(f"The calibration is not used: {sentence_of(error)}")
    try:
        found = load_learned(path, shipped)
    except (CalibrationError, OSError) as error:
        problems.append(f"What was learned about knocks is not used: {sentence_of(error)}")
    return TableKnocks(path, seed, found, tuple(problems))


def learned_path(calibration: Path) -> Path:
    """Return the path of the learned sounds that belong to a calibration file.

    >>> learned_path(Path("usb-0.json")).name
    'usb-0.knocks.json'
    """
    return calibration.with_name(f"{calibration.stem}.knocks.json")


def load_learned(path: Path, shipped: Classifier) -> TableExamples:
    """Load the sounds that a table has learned. There are none without a file.

    Raises:
        CalibrationFileError: If the file is damaged, of another version, or of another classifier than *shipped*.
        OSError: If it cannot be read.
    """
    found = _load(path, TableExamples(shipped.name))
    if found.model != shipped.name:
        raise CalibrationFileError(f"{path}: it was learned with another version of Tallybone")
    size = shipped.others.shape[1]
    if not all(len(row) == size and all(map(math.isfinite, row)) for row in (*found.knocks, *found.others)):
        raise CalibrationFileError(f"{path}: it is damaged")
    return found


def save_learned(path: Path, learned: TableExamples) -> None:
    """Write the sounds that a table has learned durably and atomically.

    Raises:
        OSError: If the file cannot be written.
    """
    _save(path, learned)


def merge_learned(newer: TableExamples, older: TableExamples) -> TableExamples:
    """Return the examples of both, newest first, up to the maximum numbers. Those of another classifier are omitted."""
    if older.model != newer.model:
        older = TableExamples(newer.model)
    # A match that is resumed may bring the same sounds again.
    knocks, others = (
        tuple(dict.fromkeys((*new, *old))) for new, old in ((newer.knocks, older.knocks), (newer.others, older.others))
    )
    return TableExamples(newer.model, knocks[:MAX_KNOCKS], others[:MAX_OTHERS])


@dataclass(frozen=True, slots=True)
class TableTiles:
    """Tiles of a table whose looks it has learned.

    Attributes:
        tiles: Corrected tiles and others that were read with confidence, oldest first.
        reader: Checksum of the models for which the exemplars are valid.
        exemplars: Exemplars of the misread halves, as text. "" if there are none.
    """

    tiles: tuple[tile_set.ExampleTile, ...] = ()
    reader: str = ""
    exemplars: str = ""

    @property
    def text(self) -> tuple[Phrase, ...]:
        """A sentence on what was learned. Empty if nothing was."""
        count = sum(tile.is_corrected for tile in self.tiles)
        return (phrase("Learned from corrections of tiles: {count}.", count=count),) if count else ()


def tiles_path(calibration: Path, max_pips: int) -> Path:
    """Return the path of the corrected tiles of a set that belong to a calibration file.

    >>> tiles_path(Path("usb-0.json"), 6).name
    'usb-0.double-6.json'
    """
    return calibration.with_name(f"{calibration.stem}.double-{max_pips}.json")


def tiles_to_store(lessons: tile_set.Lessons) -> TableTiles:
    """Convert what a table has learned to the form in which it is stored."""
    exemplars = "" if lessons.exemplars is None else lessons.exemplars.format()
    return TableTiles(tuple(example.tile for example in lessons.examples), tile_set.reader_checksum(), exemplars)


def refitted_tiles(tiles: TableTiles, reader: Reader, learned: tile_set.LearnedSet | None) -> TableTiles:
    """Return the tiles with exemplars for the shipped models. The calibrated set, if any, limits their effect.

    Raises:
        RefusedError: If an image is damaged.
    """
    is_current = tiles.reader == tile_set.reader_checksum() or not tiles.tiles
    if is_current:
        return tiles
    calibrated = () if learned is None else tile_set.calibrated_examples(learned, reader)
    return tiles_to_store(tile_set.lessons_of(tile_set.examples_from(tiles.tiles, reader), calibrated))


def load_tiles(path: Path) -> TableTiles:
    """Load what a table has learned about its tiles. Nothing without a file.

    Raises:
        CalibrationFileError: If the file is damaged or of another version.
        OSError: If it cannot be read.
    """
    return _load(path, TableTiles())


def save_tiles(path: Path, tiles: TableTiles) -> None:
    """Write what a table has learned about its tiles durably and atomically.

    Raises:
        OSError: If the file cannot be written.
    """
    _save(path, tiles)


_Learned = TypeVar("_Learned", TableExamples, TableTiles)


def _load(path: Path, without_file: _Learned) -> _Learned:
    """Load a file of the type of *without_file*, which is returned if there is no file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise JsonValueError("not a file of what a table has learned, or of another version")
        return from_json(data.get("learned"), type(without_file), "learned")
    except FileNotFoundError:
        return without_file
    except (ValueError, RecursionError) as error:
        raise CalibrationFileError(f"{path}: {error}") from None


def _save(path: Path, learned: TableExamples | TableTiles) -> None:
    data = {"version": VERSION, "learned": to_json(learned, type(learned))}
    write_durably(path, json.dumps(data) + "\n")
