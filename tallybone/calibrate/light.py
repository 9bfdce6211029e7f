"""Run `tallybone calibrate light`: lock the camera's light, and check that pips are visible."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import cv2

from calibration.errors import CalibrationError
from calibration.table.corner_marks import find_corner_marks
from calibration.table.light import MIN_CONTRAST, LightMeasurement, examine_light, outlines_of
from hardware.camera.device import Light
from hardware.camera.light import levels_of
from hardware.clock import Clock
from tallybone.calibrate.lens_and_table import ReadTiles, detect_tiles
from tallybone.calibrate.look import CalibrationCamera, open_look, wait_for_picture
from tallybone.calibrate.scenes import AskedScene
from tallybone.show.over_pictures import draw_light
from tallybone.store.calibration_file import LightKept, load_calibration, save_calibration
from tallybone.terminal import Output
from vision.arrays import Image
from vision.errors import VisionError
from vision.reading import SeenTile

_ANNOTATED = "light.png"


@dataclass(frozen=True, slots=True)
class LightSeen:
    """Light of a picture.

    Attributes:
        found: Measurement of the light.
        kept: The part of the measurement that is stored.
    """

    found: LightMeasurement
    kept: LightKept


def calibrate_light(
    source: str,
    into: Path,
    *,
    annotate: Path | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    output: Output | None = None,
) -> int:
    """Measure the light of a table and store it.

    Args:
        source: Camera or picture, as for `calibrate.look.open_look`.
        into: Calibration file.
        annotate: Folder for an annotated picture. By default, a picture is written next to the file only if there are
            warnings.
        read_tiles: Detects tiles in a picture, by default with the shipped reader.
        clock: Monotonic clock in nanoseconds.
        output: Output for the result.

    Returns:
        Exit code: 0, or 1 if there are warnings, or the measurement failed.
    """
    output = output or Output("calibrate")
    try:
        before = load_calibration(into)
        with closing(open_look(source, clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, clock)
            seen = look_at_light(image, (read_tiles or detect_tiles)(image), look)
        save_calibration(replace(before, light=seen.kept), into)
        print_light(seen, output)
        if annotate is not None or seen.found.warnings:
            output.say(
                f"Drawn into {write_drawn(annotate or into.with_suffix(''), _ANNOTATED, draw_light(image, seen.found))}"
            )
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    output.say(f"Written to {into}")
    return 1 if seen.found.warnings else 0


def look_at_light(image: Image, tiles: Sequence[SeenTile], look: CalibrationCamera | None) -> LightSeen:
    """Measure the light of a picture. *look* is the camera that took it, or None."""
    found = examine_light(image, outlines_of(tiles, find_corner_marks(image)))
    light = Light.FREE if look is None else look.light
    is_held = {Light.HELD: True, Light.CANNOT_BE_HELD: False}.get(light)
    return LightSeen(found, LightKept(levels_of(image), found.contrast, is_held, found.warnings))


def print_light(seen: LightSeen, output: Output) -> None:
    """Print the state of the light, and its warnings."""
    if seen.kept.is_held is not None:
        output.say(
            "Exposure and white balance are locked; a game locks them in the same way."
            if seen.kept.is_held
            else "This camera cannot lock exposure and white balance: a hand over the table changes its colours."
        )
    if seen.kept.contrast is not None:
        low, high = seen.kept.contrast
        output.say(
            f"{len(seen.found.samples)} tiles and markers: {low:.0f} to {high:.0f} grey levels between dark and bright"
            f" ({MIN_CONTRAST:.0f} are needed)."
        )
    else:
        output.say("No tiles or markers are visible: lay tiles face up all over the table to check their contrast.")
    if seen.found.is_bright:
        output.say(
            "Most tiles are partly overexposed. They can be read, but less light or exposure would reveal glare."
        )
    for warning in seen.found.warnings:
        output.say(f"Warning: {warning}")
    if not seen.found.warnings:
        output.say("The light is good.")


def write_drawn(folder: Path, name: str, image: Image) -> Path:
    """Write a picture as PNG, and return its path.

    Raises:
        OSError: If the picture cannot be encoded or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    done, data = cv2.imencode(".png", image)
    if not done:
        raise OSError(f"{path}: it cannot be encoded")
    path.write_bytes(data.tobytes())
    return path
