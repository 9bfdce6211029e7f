"""Files of the sounds that a table has learned in its matches, beside its calibration: JSON with a version."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.knock.correction import TableExamples, improvement, learned
from engine.phrases import Phrase, phrase
from hardware.knock.classifier import Classifier, load_classifier
from tallybone.files import sentence_of, write_durably
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.store.calibration_file import CalibrationFileError, load_calibration

VERSION = 1
# Maximum number of examples that are stored.
MOST_KNOCKS, MOST_OTHERS = 60, 120


@dataclass(frozen=True, slots=True)
class TableKnocks:
    """What is known about the knocks of a table.

    Attributes:
        path: File of the sounds learned in matches.
        seed: Sounds of the calibration.
        learned: Sounds learned in matches.
        problems: Sentences on files that cannot be used.
    """

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
    def words(self) -> tuple[Phrase, ...]:
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
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise JsonValueError("not a file of learned knocks, or of another version")
        found: TableExamples = from_json(data.get("learned"), TableExamples, "learned")
    except FileNotFoundError:
        return TableExamples(shipped.name)
    except (ValueError, RecursionError) as error:
        raise CalibrationFileError(f"{path}: {error}") from None
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
    data = {"version": VERSION, "learned": to_json(learned, TableExamples)}
    write_durably(path, json.dumps(data) + "\n")


def merge_learned(newer: TableExamples, older: TableExamples) -> TableExamples:
    """Return the examples of both, newest first, up to the maximum numbers. Those of another classifier are omitted."""
    if older.model != newer.model:
        older = TableExamples(newer.model)
    # A match that is resumed may bring the same sounds again.
    knocks, others = (
        tuple(dict.fromkeys((*new, *old))) for new, old in ((newer.knocks, older.knocks), (newer.others, older.others))
    )
    return TableExamples(newer.model, knocks[:MOST_KNOCKS], others[:MOST_OTHERS])
