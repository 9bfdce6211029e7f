"""`tallybone read`: photographs in, one line of JSON or one table per picture out."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import cv2
from rich.console import Console

from calibration.errors import CalibrationError
from tallybone.choices import TileSet
from tallybone.recording.own_tiles import Image, ReadPicture, shipped_reader
from tallybone.show.reading import format_reading, print_reading, reading_progress
from tallybone.terminal import printable, quiet_libraries
from vision.annotate import annotate
from vision.errors import VisionError
from vision.picture import load_picture
from vision.reading import Reading

_JPEG_SUFFIXES = frozenset({".jpg", ".jpeg"})
_JPEG_QUALITY = 92
_LARGEST_JPEG_PX = 65_500  # of libjpeg; what is called JPEG may be another format and longer


def read_photos(
    photos: Sequence[Path],
    *,
    tile_set: TileSet = TileSet.AUTO,
    as_json: bool = False,
    annotate_into: Path | None = None,
    calibration: Path | None = None,
    read_picture: ReadPicture | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Read photographs and print what was seen.

    Args:
        photos: Files, in the order of the output.
        tile_set: The set on the table, where it is known.
        as_json: Print a line of JSON per picture instead of a table.
        annotate_into: Folder for pictures with what was read drawn over them; made if need be.
        calibration: The file with what was learned of the tiles, if any was.
        read_picture: What reads a picture; by default the shipped reader.
        out: Where results go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if any picture could not be read or written.
    """
    run = _Run(out=Console(file=out or sys.stdout, highlight=False), err=Console(file=err or sys.stderr, stderr=True))
    try:
        album = None if annotate_into is None else Album(annotate_into)
        read_picture = read_picture or shipped_reader(tile_set, calibration)
    except (CalibrationError, VisionError, OSError) as error:
        run.complain(str(error))
        return 1
    for index, photo in enumerate(photos):
        try:
            with reading_progress(run.err, index, len(photos), photo.name), quiet_libraries():
                image = load_picture(photo)
                start_ns = time.perf_counter_ns()
                reading = read_picture(image)
                read_ms = (time.perf_counter_ns() - start_ns) / 1e6
                written = None if album is None else album.add(photo, annotate(image, reading))
        except (VisionError, OSError) as error:
            run.complain(str(error))
            continue
        run.show(photo, reading, read_ms=read_ms, as_json=as_json, written=written)
    return run.exit_code


@dataclass(slots=True)
class _Run:
    """Where output goes, and how it went."""

    out: Console
    err: Console
    exit_code: int = 0

    def complain(self, message: str) -> None:
        self.err.print(f"tallybone read: {printable(message)}", markup=False, highlight=False, soft_wrap=True)
        self.exit_code = 1

    def show(self, photo: Path, reading: Reading, *, read_ms: float, as_json: bool, written: Path | None) -> None:
        if as_json:
            # Not through rich, which would wrap and colour. Flushed, so that a reader of the pipe sees each at once.
            self.out.file.write(format_reading(str(photo), reading, read_ms=read_ms) + "\n")
            self.out.file.flush()
            return
        print_reading(self.out, printable(str(photo)), reading, read_ms=read_ms)
        if written is not None:
            self.out.print(f"Drawn over the picture: {printable(str(written))}\n", markup=False, soft_wrap=True)


@dataclass(slots=True)
class Album:
    """A folder of annotated pictures, none of which takes the place of another of this run, nor of a photograph.

    Attributes:
        folder: Where they go; made if need be.
    """

    folder: Path
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, photo: Path, image: Image) -> Path:
        """Write an annotated picture as PHOTO-read.jpg or .png, or PHOTO-read-2 if another photo has the same name.

        Raises:
            OSError: If it cannot be written.
        """
        suffix = ".jpg" if photo.suffix.lower() in _JPEG_SUFFIXES and max(image.shape) <= _LARGEST_JPEG_PX else ".png"
        path = self.folder / f"{self._free_stem(photo.stem)}{suffix}"
        ok, data = cv2.imencode(suffix, image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if not ok:
            raise OSError(f"{path}: a picture of shape {image.shape} cannot be encoded")
        path.write_bytes(data.tobytes())
        return path

    def _free_stem(self, stem: str) -> str:
        wanted, number = f"{stem}-read", 1
        # Some file systems do not tell A from a.
        while wanted.casefold() in self._taken:
            number += 1
            wanted = f"{stem}-read-{number}"
        self._taken.add(wanted.casefold())
        return wanted
