"""Show a reading as a table, a line of JSON or drawn over its picture, and a progress bar while reading."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain, count
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table as TextTable

from calibration.lens.lens import Lens
from calibration.table.picture import LightMeasurement, Trouble
from calibration.table.table import Table
from calibration.table.zones import TableZones, show_zone
from tallybone.files import make_folder
from tallybone.json_values import rounded
from tallybone.terminal import counted, printable
from vision.arrays import Bgr, Image
from vision.image.annotate import CASING, ORANGE, PURPLE, SKY, YELLOW
from vision.reading import Contact, Face, Guess, Half, Join, Reading, SeenTile


def print_reading(console: Console, title: str, reading: Reading, *, read_ms: float) -> None:
    """Print the reading of a picture."""
    console.print(title, style="bold", markup=False, soft_wrap=True)
    if reading.tiles:
        console.print(_table(reading))
    for join in reading.joins:
        console.print(f"  {_describe_contact(reading, join)}", markup=False, soft_wrap=True)
    for contact in reading.contacts:
        console.print(f"  {_describe_contact(reading, contact)}", markup=False, soft_wrap=True, style="dim")
    for line in _describe_changed(reading):
        console.print(f"  {line}", markup=False, soft_wrap=True)
    console.print(f"{describe_count(reading)}, {read_ms:.0f} ms", markup=False, soft_wrap=True)
    console.print()


def _table(reading: Reading) -> TextTable:
    table = TextTable()
    table.add_column("tile", justify="right")
    table.add_column("face")
    table.add_column("pips")
    table.add_column("sure", justify="right")
    table.add_column("where (x, y)", justify="right")
    for number, tile in enumerate(reading.tiles, start=1):
        least = min((half.confidence for half in tile.halves), default=None)
        is_sure = tile.face is not Face.UNSURE and all(half.is_sure for half in tile.halves)
        x, y = tile.center_px
        percent = "" if least is None else f"{100 * least:.0f} %"
        table.add_row(
            str(number),
            tile.face.value,
            format_pips(tile),
            percent,
            f"{x:.0f}, {y:.0f}",
            style=None if is_sure else "yellow",
        )
    return table


def format_pips(tile: SeenTile) -> str:
    """Return the pips of a tile in players' notation.

    An uncertain half is written as both candidates with a question mark between. An unreadable tile is only a question
    mark.

    >>> from vision.reading import Guess, Half
    >>> halves = (Half(6, 0.99, (0, 0)), Half(4, 0.5, (1, 0), Guess(5, 0.3)))
    >>> format_pips(SeenTile(Face.UP, ((0, 0), (1, 0), (1, 1), (0, 1)), halves))
    '6|4?5'
    """
    return "?" if tile.face is Face.UNSURE else "|".join(half.written for half in tile.halves)


def _describe_contact(reading: Reading, contact: Contact) -> str:
    """Describe a join, such as "the 4 of tile 1 meets the side of tile 2", or a contact that is not a join."""
    ends = ((contact.a, contact.a_half), (contact.b, contact.b_half))
    first, second = (_describe_end(reading, *end) for end in ends)
    return f"{first} meets {second}" if isinstance(contact, Join) else f"{first} touches {second}, which is not a join"


def _describe_changed(reading: Reading) -> list[str]:
    """Describe the halves whose reading changed because of their neighbours or the set."""
    return [
        f"the {half.pips} of tile {number} ({format_pips(tile)}) by itself would be read as {half.alone.pips}"
        for number, tile in enumerate(reading.tiles, start=1)
        for half in tile.halves
        if half.alone.pips != half.pips
    ]


def _describe_end(reading: Reading, index: int, half: int | None) -> str:
    tile = reading.tiles[index]
    part = "side" if half is None else str(tile.halves[half].pips)
    return f"the {part} of tile {index + 1} ({format_pips(tile)})"


def describe_count(reading: Reading) -> str:
    """Describe the numbers of tiles by face, of their pips, of joins and of other contacts.

    >>> describe_count(Reading(640, 480, (), ()))
    'No tiles seen'
    """
    if not reading.tiles:
        return "No tiles seen"
    count = Counter(tile.face for tile in reading.tiles)
    parts = [counted(count[Face.UP], "tile") + " face up"]
    if count[Face.DOWN]:
        parts.append(f"{count[Face.DOWN]} face down")
    if count[Face.UNSURE]:
        parts.append(f"{count[Face.UNSURE]} that cannot be read")
    parts.append(counted(_pips(reading), "pip"))
    parts.append(counted(len(reading.joins), "join"))
    if reading.contacts:
        parts.append(counted(len(reading.contacts), "contact"))
    return ", ".join(parts)


def _pips(reading: Reading) -> int:
    return sum(half.pips for tile in reading.tiles if tile.face is Face.UP for half in tile.halves)


def format_reading(path: str, reading: Reading, *, read_ms: float) -> str:
    """Return a reading as a line of JSON, without a line end.

    >>> format_reading("a.jpg", Reading(640, 480, (), ()), read_ms=12.345)
    '{"path": "a.jpg", "width": 640, "height": 480, "tiles": [], "pips": 0, "joins": [], "contacts": [], "ms": 12.3}'
    """
    line = {
        "path": path,
        "width": reading.width_px,
        "height": reading.height_px,
        "tiles": [_tile(tile) for tile in reading.tiles],
        "pips": _pips(reading),
        "joins": [asdict(join) for join in reading.joins],
        "contacts": [asdict(contact) for contact in reading.contacts],
        "ms": round(read_ms, 1),
    }
    return json.dumps(line, allow_nan=False)


def _tile(tile: SeenTile) -> dict[str, object]:
    values: dict[str, object] = {"face": tile.face.value, "corners_px": [rounded(corner) for corner in tile.corners_px]}
    if tile.halves:
        values["halves"] = [_half(half) for half in tile.halves]
    return values


def _half(half: Half) -> dict[str, object]:
    values: dict[str, object] = {**_guess(Guess(half.pips, half.confidence)), "center_px": rounded(half.center_px)}
    if half.second is not None:
        values["second"] = _guess(half.second)
    if half.alone.pips != half.pips:
        values["alone"] = _guess(half.alone)
    return values


def _guess(guess: Guess) -> dict[str, float]:
    return {"pips": guess.pips, "confidence": round(guess.confidence, 4)}


@contextmanager
def reading_progress(console: Console, index: int, count: int, name: str) -> Iterator[None]:
    """Show a progress bar while a picture is read, and remove it afterwards.

    Args:
        console: Console to draw on. Nothing is shown if it is not a terminal.
        index: Index of the picture, from 0.
        count: Number of pictures. Nothing is shown for a single picture.
        name: Name of the picture.
    """
    if count < 2 or not console.is_terminal:
        yield
        return
    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    # No refresh thread, because it would write while the output of libraries is suppressed.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        bar.add_task(printable(name), total=count, completed=index)
        bar.refresh()
        yield


_GRID_MM = 100
_FARTHEST_MM = 1500
_SHIFT_BITS = 4

_COLORS: dict[Trouble | None, Bgr] = {None: SKY, Trouble.GLARE: ORANGE, Trouble.DULL: PURPLE}
_MORE_PX = 6

_JPEG_SUFFIXES = frozenset({".jpg", ".jpeg"})
_JPEG_QUALITY = 92
_LARGEST_JPEG_PX = 65_500  # limit of libjpeg. A file named .jpg may be a larger picture in another format.


def draw_zones(image: Image, zones: TableZones, table: Table, lens: Lens) -> Image:
    """Return a copy of a picture with the zones, and with the table's axes in steps of 100 mm.

    Zones outside the picture are skipped.
    """
    canvas = image.copy()
    size_px = np.array([lens.width_px, lens.height_px], np.float64)
    for name, outline in zones.named():
        shares = show_zone(outline, table, lens).shares
        if not shares:
            continue
        corners = np.array(shares) * size_px - 0.5
        color = {"boneyard": ORANGE, "layout": SKY}.get(name, PURPLE)
        _outline(canvas, corners, color)
        write(canvas, name, corners.mean(axis=0), color)
    # Write the coordinates along the visible parts of the x and y axes every 100 mm, to help specify zone corners.
    steps = np.arange(-_FARTHEST_MM, _FARTHEST_MM + 1, _GRID_MM, dtype=np.float64)
    for along_x in (True, False):
        points_mm = np.column_stack([steps, 0 * steps] if along_x else [0 * steps, steps])
        points_px = table.to_picture(points_mm, lens, height_mm=table.thickness_mm)
        # Lens distortion can fold distant points, or points behind the camera, back into the picture.
        is_valid = np.linalg.norm(table.tops_to_table(points_px, lens) - points_mm, axis=1) < 1.0
        is_visible = is_valid & ((points_px >= 0) & (points_px < (lens.width_px, lens.height_px))).all(axis=1)
        for step, point in zip(steps[is_visible], points_px[is_visible], strict=True):
            write(canvas, f"{step:.0f}", point, YELLOW, scale=0.4)
    return canvas


def write(
    canvas: Image, text: str, middle: NDArray[np.float64] | tuple[float, float], color: Bgr, *, scale: float = 0.6
) -> None:
    """Write text on a dark background in place, centred on a point."""
    (width_px, height_px), below_px = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    left, bottom = round(float(middle[0]) - width_px / 2), round(float(middle[1]) + height_px / 2)
    cv2.rectangle(canvas, (left - 2, bottom - height_px - 3), (left + width_px + 2, bottom + below_px), CASING, -1)
    cv2.putText(canvas, text, (left, bottom), cv2.FONT_HERSHEY_SIMPLEX, scale, color, 1, cv2.LINE_AA)


def _outline(canvas: Image, corners: NDArray[np.float64], color: Bgr) -> None:
    points = [np.round(corners * (1 << _SHIFT_BITS)).astype(np.int32)]
    for paint, width in ((CASING, 4), (color, 2)):
        cv2.polylines(
            canvas, points, isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA, shift=_SHIFT_BITS
        )


def draw_light(image: Image, light: LightMeasurement) -> Image:
    """Return a copy of a picture, shape (H, W, 3), with outlines: good samples blue, glare orange, dull ones purple."""
    canvas = image.copy()
    for spot in light.samples:
        points, trouble = np.round(np.array(spot.corners_px)).astype(np.int32), light.trouble_at(spot)
        for paint, width in ((CASING, 5), (_COLORS[trouble], 2)):
            cv2.polylines(canvas, [points], isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA)
        if trouble is not None:
            label = "glare" if trouble is Trouble.GLARE else f"dull {spot.contrast:.0f}"
            write(
                canvas, label, (float(points[:, 0].mean()), float(points[:, 1].min()) - 2 * _MORE_PX), _COLORS[trouble]
            )
    for x_px, y_px, radius_px in light.patches:
        middle, radius = (round(x_px), round(y_px)), round(radius_px) + _MORE_PX
        for paint, width in ((CASING, 5), (ORANGE, 2)):
            cv2.circle(canvas, middle, radius, paint, width, cv2.LINE_AA)
        write(canvas, "glare", (x_px, y_px - radius - 2 * _MORE_PX), ORANGE)
    return canvas


@dataclass(slots=True)
class Album:
    """Writes annotated pictures to a folder, with unique names within a run."""

    folder: Path
    _used_stems: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        make_folder(self.folder, "--annotate")

    def add(self, photo: Path, image: Image) -> Path:
        """Write an annotated picture as PHOTO-read.jpg or .png, and return its path.

        If an earlier photo of the run has the same name, the file is PHOTO-read-2, and so on. Existing files are
        overwritten.

        Raises:
            OSError: If the picture cannot be encoded or written.
        """
        suffix = ".jpg" if photo.suffix.lower() in _JPEG_SUFFIXES and max(image.shape) <= _LARGEST_JPEG_PX else ".png"
        path = self.folder / f"{self._free_stem(photo.stem)}{suffix}"
        ok, data = cv2.imencode(suffix, image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if not ok:
            raise OSError(f"{path}: a picture of shape {image.shape} cannot be encoded")
        path.write_bytes(data.tobytes())
        return path

    def _free_stem(self, stem: str) -> str:
        names = chain((f"{stem}-read",), (f"{stem}-read-{number}" for number in count(2)))
        # Some file systems are case-insensitive.
        free = next(name for name in names if name.casefold() not in self._used_stems)
        self._used_stems.add(free.casefold())
        return free
