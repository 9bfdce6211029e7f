"""Contact sheets of the page: `python -m tests.tallybone.web.looks FOLDER [--lang fr]`.

Writes a sheet for each view or dialog of the page and each language, as `FOLDER/PLACE-LANGUAGE-PLAYERS.png`: a column
for each size, dark above light. The players have names of 16 letters, and a sheet shows two or four of them. Prints
every text that is cut off, broken inside a word or overlaps another, and their number. All sheets take half an hour.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np

from tallybone.texts import LANGUAGES
from tests.tallybone.web.browsers import Browser, Viewer, chromium, visiting
from tests.tallybone.web.every_place import PLACES, Place, every_table, walk
from vision.arrays import Image

PLAYERS = ("Maximiliana Voss", "Wolfgang Amadeus", "Bartholomew Finn", "Christopher Kent")
SIZES = ((360, 740), (740, 360), (820, 1180), (1366, 768), (1920, 1080))
DISPLAY_SIZES = ((1280, 720), (1920, 1080), (3840, 2160), (1080, 1920))
FAULTS = Path(__file__).with_name("text_faults.js").read_text()
_COLUMN_PX, _GAP_PX = 480, 12
_HIGHEST = 2.4


def main() -> None:
    """Write the contact sheets, and print the faulty texts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lang", choices=LANGUAGES, action="append", help="only this language; may be repeated")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    faults = 0
    with tempfile.TemporaryDirectory() as state, chromium() as browser:
        for players in (PLAYERS[:2], PLAYERS):
            with every_table(Path(state, str(len(players))), players) as addresses:
                for language in options.lang or LANGUAGES:
                    for address, places, name in zip(addresses, PLACES, ("playing", "ended", "resting"), strict=True):
                        end = f"{language}-{len(players)}.png"
                        faults += _show(browser, f"{address}/?lang={language}", places, options.folder, end)
                        path = options.folder / f"television-{name}-{end}"
                        faults += _show_display(browser, f"{address}/?display&lang={language}", path)
    sys.stdout.write(f"{faults} faults\n")


def _show(browser: Browser, address: str, places: tuple[Place, ...], folder: Path, end: str) -> int:
    """Write the sheets of *places*, and return the number of faults."""
    columns: dict[str, list[Image]] = {place.name: [] for place in places}
    faults = 0
    for size in SIZES:
        with visiting(browser, address, size) as viewer:
            for place in walk(viewer, places):
                faults += _print_faults(viewer, f"{place.name}-{end} {size[0]}x{size[1]}")
                columns[place.name].append(_column(_pictures(viewer)))
    for name, pictures in columns.items():
        _write(folder / f"{name}-{end}", pictures)
    return faults


def _show_display(browser: Browser, address: str, path: Path) -> int:
    """Write the sheet of the television view, and return the number of faults."""
    columns, faults = list[Image](), 0
    for size in DISPLAY_SIZES:
        with visiting(browser, address, size) as viewer:
            viewer.page.locator("#layout-view").wait_for()
            faults += _print_faults(viewer, f"{path.name} {size[0]}x{size[1]}")
            columns.append(_column(_pictures(viewer)))
    _write(path, columns)
    return faults


def _print_faults(viewer: Viewer, where: str) -> int:
    viewer.page.wait_for_timeout(200)
    found = [str(fault) for fault in viewer.page.evaluate(FAULTS)]
    for fault in found:
        sys.stdout.write(f"{where}: {fault}\n")
    return len(found)


def _pictures(viewer: Viewer) -> Iterator[Image]:
    """Yield what is shown in light and in dark."""
    for scheme in ("dark", "light"):
        viewer.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        viewer.page.wait_for_timeout(100)
        is_sheet = viewer.page.locator("dialog[open]").count() > 0
        png = np.frombuffer(viewer.page.screenshot(full_page=not is_sheet), np.uint8)
        image = cv2.imdecode(png, cv2.IMREAD_COLOR)
        assert image is not None  # the browser has encoded it
        yield image.astype(np.uint8, copy=False)


def _column(pictures: Iterable[Image]) -> Image:
    """Return pictures below each other, of the width of a column. Very long ones are cut off."""
    cells = []
    for picture in pictures:
        width = picture.shape[1]
        cut = picture[: int(_HIGHEST * width)]
        size = (_COLUMN_PX, max(1, round(len(cut) * _COLUMN_PX / width)))
        cell = cv2.resize(cut, size, interpolation=cv2.INTER_AREA)
        cells.append(cv2.copyMakeBorder(cell, 0, _GAP_PX, 0, _GAP_PX, cv2.BORDER_CONSTANT, value=(128, 128, 128)))
    return np.concatenate(cells).astype(np.uint8, copy=False)


def _write(path: Path, columns: list[Image]) -> None:
    height = max(len(column) for column in columns)
    padded = (np.pad(column, ((0, height - len(column)), (0, 0), (0, 0)), constant_values=128) for column in columns)
    cv2.imwrite(str(path), np.concatenate(list(padded), axis=1))


if __name__ == "__main__":
    main()
