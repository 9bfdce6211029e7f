"""Run `tallybone evaluate` for labelled photos or recordings of simulated tables, and print figures of photos."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lab.evaluate.labels import LabelError, PhotoLabel, load_labels
from lab.evaluate.mistakes import MAX_CELLS, Cell, Mistake, crop_mistake, draw_sheets, mistakes_in
from lab.evaluate.photos import (
    Bin,
    PhotoCounts,
    PhotoJudged,
    by_group,
    by_half_px,
    claims_of,
    expected_calibration_error,
    judge_photo,
    sort_into_bins,
    total,
)
from lab.evaluate.session_report import (
    Judge,
    TableStyle,
    add_row,
    expand_folders,
    judge_recordings,
    percent,
    print_batch,
    session_line,
)
from lab.evaluate.sessions import judge_session
from lab.evaluate.shadow import print_table
from tallybone.choices import TileSet
from tallybone.files import reason_of
from tallybone.recording.folder import SUFFIX
from tallybone.recording.own_tiles import ReadPicture, shipped_reader
from tallybone.show.reading import reading_progress
from tallybone.terminal import (
    Output,
    printable,
    quiet_libraries,
    silent_libraries,
)
from vision import VisionError
from vision.image.picture import load_picture

_STYLE = TableStyle(min_name=16, max_name=24, gap=2)
_SURE = 0.99


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of an evaluation of photos.

    Attributes:
        sources, looks, kinds, scenes: Counts by these groups of the labels. Pictures without such a group are left out.
        read_ms: Median and 95th percentile of the time to read a picture.
        mistakes: Mistakes with the paths of their pictures, sorted by source, then in the order of the labels.
    """

    overall: PhotoCounts
    sources: Mapping[str, PhotoCounts]
    looks: Mapping[str, PhotoCounts]
    kinds: Mapping[str, PhotoCounts]
    scenes: Mapping[str, PhotoCounts]
    sizes: Mapping[str, PhotoCounts]
    reliability: tuple[Bin, ...]
    read_ms: tuple[float, float]
    mistakes: tuple[tuple[str, Mistake], ...]


def evaluate(photos: Sequence[PhotoJudged], read_ms: Sequence[float]) -> Evaluation:
    """Return the figures of pictures.

    Args:
        photos: Evaluated pictures, at least one.
        read_ms: Time to read each picture.
    """
    return Evaluation(
        overall=total(photos),
        sources=by_group(photos, lambda photo: photo.label.source),
        looks=by_group(photos, lambda photo: photo.label.look),
        kinds=by_group(photos, lambda photo: photo.label.kind),
        scenes=by_group(photos, lambda photo: photo.label.scene),
        sizes=by_half_px(photos),
        reliability=sort_into_bins(claims_of(photos)),
        read_ms=(statistics.median(read_ms), float(np.percentile(read_ms, 95))),
        mistakes=tuple(
            (photo.label.image, mistake)
            for photo in sorted(photos, key=lambda photo: photo.label.source)
            for mistake in mistakes_in(photo)
        ),
    )


def evaluation_json(evaluation: Evaluation) -> dict[str, object]:
    """Return all figures as a JSON object. Undefined rates are None."""
    median, late = evaluation.read_ms
    groups = {
        "sources": evaluation.sources,
        "looks": evaluation.looks,
        "kinds": evaluation.kinds,
        "scenes": evaluation.scenes,
        "half_px": evaluation.sizes,
    }
    return {
        "overall": _counts(evaluation.overall),
        **{name: {key: _counts(counts) for key, counts in group.items()} for name, group in groups.items()},
        "reliability": [
            {
                "from": each.low,
                "to": each.high,
                "halves": each.claims,
                "mean_confidence": each.mean_confidence,
                "share_right": each.share_right,
            }
            for each in evaluation.reliability
        ],
        "expected_calibration_error": expected_calibration_error(evaluation.reliability),
        "read_ms": {"median": round(median, 1), "p95": round(late, 1)},
        "mistakes": [
            {
                "image": image,
                "wrong": mistake.wrong.value,
                "text": mistake.text,
                "center_px": [round(at, 1) for at in mistake.center_px],
            }
            for image, mistake in evaluation.mistakes
        ],
    }


def _counts(counts: PhotoCounts) -> dict[str, object]:
    return {"counts": asdict(counts), **counts.shares()}


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print all figures, the most general first, then a line for each mistake."""
    overall = evaluation.overall
    sources = {**evaluation.sources, "all": overall}
    print_table(console, "Tiles by source, in per cent", _tiles(sources))
    if overall.backs or overall.backs_spare or overall.joins:
        print_table(console, "Face-down tiles and joins by source", _rest(sources))
    # The table of unreported mistakes: silently missed tiles, and halves misread with high confidence.
    table = _STYLE.table("", "missed in\nsilence", "\nin %", "unsure,\nno tile", "misread\nboldly", "\nin %")
    for name, counts in sources.items():
        share = counts.shares()
        cells = (counts.silent, share["silent"]), (counts.bold, share["bold"])
        (silent, silent_share), (bold, bold_share) = ((_some(count), percent(part)) for count, part in cells)
        add_row(table, name, silent, silent_share, _some(counts.unsure_false), bold, bold_share)
    print_table(console, "Missed, and misread with high confidence", table)
    print_table(console, "By the size of a half in pixels", _tiles(evaluation.sizes, by_picture=False))
    for title, groups in (("By look", evaluation.looks), ("By kind of picture", evaluation.kinds)):
        if groups:
            print_table(console, title, _tiles(groups))
    _print_scenes(console, evaluation.scenes)
    share = overall.shares()
    table = _STYLE.table("", "tiles right %", "half error %")
    table.add_row("with joins and set", percent(share["right"]), percent(share["half_error"]))
    table.add_row("each half alone", percent(share["alone_right"]), percent(share["alone_half_error"]))
    print_table(console, "Halves read with their joins and set, and each alone", table)
    table = _STYLE.table("said", "halves", "mean said %", "right %")
    for each in evaluation.reliability:
        confidence = f"{each.low:g} to {each.high:g}" if each.low else f"below {each.high:g}"
        table.add_row(confidence, str(each.claims), percent(each.mean_confidence), percent(each.share_right))
    print_table(console, "Calibration of confidence", table)
    for each in evaluation.reliability:
        if each.low >= _SURE and each.claims:
            console.print(f"Confidence {_SURE} or more: {percent(each.share_right)} % are right")
    error = expected_calibration_error(evaluation.reliability)
    if error is not None:
        console.print(f"Expected calibration error: {error:.4f} (a half of a spare tile counts as wrong)")
    console.print()
    median, late = evaluation.read_ms
    console.print(f"Reading a picture: median {median:.0f} ms, 95th percentile {late:.0f} ms")
    console.print()
    count = len(evaluation.mistakes)
    console.print(f"Mistakes: {count}" if count else "No mistakes", style="bold")
    for image, mistake in evaluation.mistakes:
        x, y = mistake.center_px
        console.print(Text(f"{printable(image)}: {mistake.text} at {x:.0f}, {y:.0f}"), soft_wrap=True)


def _print_scenes(console: Console, scenes: Mapping[str, PhotoCounts]) -> None:
    """Print the imperfect scenes and the number of perfect ones."""
    # There are many scenes with one or two pictures each.
    imperfect = {name: counts for name, counts in scenes.items() if counts.perfect < counts.pictures}
    if not scenes:
        return
    if imperfect:
        print_table(console, "By scene, where a tile is missed, wrong or spare", _tiles(imperfect))
    perfect = len(scenes) - len(imperfect)
    console.print(f"Scenes with every tile right and none spare: {perfect} of {len(scenes)}")
    console.print()


def _tiles(groups: Mapping[str, PhotoCounts], *, by_picture: bool = True) -> Table:
    names = ("pictures", "perfect") if by_picture else ()
    table = _STYLE.table("", *names, "tiles", "found", "precision", "right", "half\nerror")
    for name, counts in groups.items():
        share = counts.shares()
        shares = (percent(share[key]) for key in ("recall", "precision", "right", "half_error"))
        pictures = (str(counts.pictures), str(counts.perfect)) if by_picture else ()
        add_row(table, name, *pictures, str(counts.tiles), *shares)
    return table


def _rest(groups: Mapping[str, PhotoCounts]) -> Table:
    table = _STYLE.table("", "face\ndown", "\nfound", "\nspare", "\njoins", "joins\nfound %", "joins\nprecision %")
    for name, counts in groups.items():
        share = counts.shares()
        joins = (percent(share["joins_recall"]), percent(share["joins_precision"])) if counts.joins else ("", "")
        add_row(table, name, *map(_some, (counts.backs, counts.backs_found, counts.backs_spare, counts.joins)), *joins)
    return table


def _some(count: int) -> str:
    return str(count) if count else "-"


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
    """Check the path of a contact sheet, before minutes are spent on reading."""
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
            source = photo.label.source
            name = photo.label.image if source == "." else photo.label.image.removeprefix(f"{source}/")
            cells = [Cell(source, name, mistake.text, crop_mistake(image, mistake)) for mistake in mistakes_in(photo)]
            self.cells.extend(cells)
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
            figures = {} if evaluation is None else evaluation_json(evaluation)
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
            output.write(f"A sheet has room for {MAX_CELLS} mistakes.")
        if wants_sheet and not self.cells:
            output.write("There are no mistakes to draw.")


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
        as_json: Print a line of JSON for each recording and one with the combined figures, instead of tables.
        judge: Function that evaluates a recording. By default, it uses the shipped reader.
        out: Stream for figures. None for stdout.
        err: Stream for progress and errors. None for stderr.

    Returns:
        Exit code: 0, or 1 if anything could not be read or evaluated.
    """
    with silent_libraries(err or sys.stderr) as shown:
        output = Output.of("evaluate", out, shown)
        try:
            batch = judge_recordings(expand_folders(paths), jobs=jobs, err=output.err_console, judge=judge)
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
