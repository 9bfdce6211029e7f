"""Run `tallybone evaluate` for labelled photos or for recordings of simulated tables."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import cv2

from tallybone.choices import TileSet
from tallybone.evaluate.labels import LabelError, PhotoLabel, load_labels
from tallybone.evaluate.mistakes import MOST_CELLS, Cell, crop_mistake, draw_sheets, mistakes_in
from tallybone.evaluate.photo_report import evaluate, print_evaluation
from tallybone.evaluate.photo_report import evaluation_json as evaluation_as_json
from tallybone.evaluate.photos import PhotoJudged, judge_photo
from tallybone.evaluate.session_report import Judge, judge_recordings, print_batch, recordings_named, session_line
from tallybone.evaluate.sessions import judge_session
from tallybone.files import reason_of
from tallybone.recording.folder import SUFFIX
from tallybone.recording.own_tiles import ReadPicture, shipped_reader
from tallybone.show.reading import reading_progress
from tallybone.terminal import Output, quiet_libraries, silent_libraries
from vision.arrays import Image
from vision.errors import VisionError
from vision.image.picture import load_picture

_SHEETS = (".jpg", ".jpeg", ".png")


class SheetError(VisionError, ValueError):
    """The path of a contact sheet is invalid."""


def evaluate_photos(
    labels: Path,
    root: Path,
    *,
    tile_set: TileSet = TileSet.AUTO,
    as_json: bool = False,
    sheet: Path | None = None,
    read_picture: ReadPicture | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Read labelled photos and print the accuracy.

    Args:
        labels: File of labels (docs/reference/labels.md).
        root: Folder that the paths in *labels* are relative to.
        tile_set: Tile set in the photos, if known.
        as_json: Print a JSON object instead of tables.
        sheet: JPEG or PNG file to draw all mistakes to, or None.
        read_picture: Function that reads a picture. None for the shipped reader.
        out: Stream for figures. None for stdout.
        err: Stream for progress and errors. None for stderr.

    Returns:
        Exit code: 0, or 1 if anything could not be read, evaluated or written.
    """
    output = Output.of("evaluate", out, err)
    run = _PhotoRun(labels, root, output)
    try:
        known = load_labels(labels)
        if not root.is_dir():
            raise LabelError(f"{root}: expected the folder of the pictures, but there is none")
        _require_sheet(sheet, [root / photo.image for photo in known.photos])
        read_picture = read_picture or shipped_reader(tile_set)
    except LabelError as error:
        run.complain(str(error))
        return 1
    except (VisionError, OSError) as error:
        return output.complain(error)
    for fault in known.faults:
        run.complain(fault)
    for index, label in enumerate(known.photos):
        with reading_progress(output.err_console, index, len(known.photos), label.image), quiet_libraries():
            problem = run.judge(label, read_picture, crops=sheet is not None)
        if problem is not None:
            run.complain(problem)
    sheets = [] if sheet is None else run.write_sheets(sheet)
    run.show(sheets, as_json=as_json, wants_sheet=sheet is not None)
    return output.exit_code


def _require_sheet(sheet: Path | None, photos: Sequence[Path]) -> None:
    """Check the path of a contact sheet, before minutes are spent on reading.

    Raises:
        SheetError: If the path does not end in .jpg, .jpeg or .png, its folder is missing, or it is one of *photos*.
    """
    if sheet is None:
        return
    if sheet.suffix.lower() not in _SHEETS:
        raise SheetError(f"--sheet: expected a file that ends in {', '.join(_SHEETS)}, got {sheet}")
    if not sheet.parent.is_dir():
        raise SheetError(f"--sheet: there is no folder {sheet.parent}")
    if sheet.resolve() in {photo.resolve() for photo in photos}:
        raise SheetError(f"--sheet: {sheet} is one of the photographs")


@dataclass(slots=True)
class _PhotoRun:
    """Evaluation of photos in progress."""

    labels: Path
    root: Path
    output: Output
    photos: list[PhotoJudged] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def complain(self, fault: str) -> None:
        """Report a problem with the labels."""
        self.output.complain(f"{self.labels}: {fault}")

    def judge(self, label: PhotoLabel, read_picture: ReadPicture, *, crops: bool) -> str | None:
        """Read and evaluate a picture, and add the results.

        Return a message if the picture or its label is invalid, else None.
        """
        try:
            image = load_picture(self.root / label.image)
            label.require_fits(image.shape[1], image.shape[0])
            start_ns = time.perf_counter_ns()
            reading = read_picture(image)
            read_ms = (time.perf_counter_ns() - start_ns) / 1e6
        except VisionError as error:
            return f"{label.image}: image: {error}"
        except LabelError as error:
            return f"{label.image}: {error}"
        photo = judge_photo(label, reading)
        self.photos.append(photo)
        self.read_ms.append(read_ms)
        if crops:
            self.cells.extend(_cells(photo, image))
        return None

    def write_sheets(self, path: Path) -> list[Path]:
        """Draw all mistakes to *path*, then to further numbered files if needed.

        Return the files that could be written.
        """
        written = []
        cells = sorted(self.cells, key=lambda cell: cell.source)
        for number, sheet in enumerate(draw_sheets(cells), start=1):
            target = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            ok, data = cv2.imencode(path.suffix.lower(), sheet)
            try:
                if not ok:
                    raise OSError(f"a picture of shape {sheet.shape} cannot be encoded")
                target.write_bytes(data.tobytes())
            except OSError as error:
                self.output.complain(f"{target}: cannot save: {reason_of(error)}")
                break
            written.append(target)
        return written

    def show(self, sheets: Sequence[Path], *, as_json: bool, wants_sheet: bool) -> None:
        """Print the figures and the paths of the contact sheets, as text or JSON."""
        evaluation = evaluate(self.photos, self.read_ms) if self.photos else None
        output = self.output
        if as_json:
            figures = {} if evaluation is None else evaluation_as_json(evaluation)
            report = {"labels": str(self.labels), "root": str(self.root), **figures}
            report |= {"sheets": [str(path) for path in sheets], "not_judged": output.complaints}
            output.write(json.dumps(report, allow_nan=False))
            return
        if evaluation is None:
            output.write("No picture was evaluated")
            return
        print_evaluation(output.console, evaluation)
        for path in sheets:
            output.say(f"Drawn: {path}")
        if len(sheets) > 1:
            output.write(f"A sheet has room for {MOST_CELLS} mistakes.")
        if wants_sheet and not self.cells:
            output.write("There are no mistakes to draw.")


def _cells(photo: PhotoJudged, image: Image) -> list[Cell]:
    source = photo.label.source
    name = photo.label.image if source == "." else photo.label.image.removeprefix(f"{source}/")
    return [Cell(source, name, mistake.words, crop_mistake(image, mistake)) for mistake in mistakes_in(photo)]


def are_sessions(paths: Sequence[Path]) -> bool:
    """Return True if the first path is a recording or a folder, not a file of labels."""
    return bool(paths) and (paths[0].suffix.lower() == SUFFIX or paths[0].is_dir())


def evaluate_sessions(
    paths: Sequence[Path],
    *,
    as_json: bool = False,
    jobs: int = 1,
    judge: Judge = judge_session,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Replay recordings of simulated tables and print the accuracy.

    Args:
        paths: Recordings, or folders of recordings.
        as_json: Print a line of JSON for each recording and one with the combined figures, instead of tables.
        jobs: Number of processes.
        judge: Function that evaluates a recording. By default, it uses the shipped reader.
        out: Stream for figures. None for stdout.
        err: Stream for progress and errors. None for stderr.

    Returns:
        Exit code: 0, or 1 if anything could not be read or evaluated.
    """
    with silent_libraries(err or sys.stderr) as shown:
        output = Output.of("evaluate", out, shown)
        try:
            batch = judge_recordings(recordings_named(paths), jobs=jobs, err=output.err_console, judge=judge)
        except (VisionError, OSError) as error:
            return output.complain(error)
        for failure in batch.failures:
            output.complain(failure)
    if as_json:
        lines = [session_line(session) for session in batch.judged]
        total = {"total": batch.total.as_json | {"not_judged": list(batch.failures)}}
        for line in (*lines, total):
            output.write(json.dumps(line, allow_nan=False))
    elif batch.judged:
        print_batch(output.console, batch)
    else:
        output.write("No recording was evaluated")
    return output.exit_code
