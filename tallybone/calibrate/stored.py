"""Run `tallybone calibrate check`, `show` and `restore`: check, print and restore the stored calibration."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.table.corner_marks import find_corner_marks
from engine.phrases import both, phrase
from hardware.camera.light import is_similar
from hardware.clock import Clock
from tallybone.calibrate.check import check_blocks, check_tiles
from tallybone.calibrate.known import calibrated_parts, known_words
from tallybone.calibrate.lens_and_table import ReadTiles, detect_tiles, is_on_block
from tallybone.calibrate.light import LightSeen, look_at_light, write_drawn
from tallybone.calibrate.look import open_look, wait_for_picture
from tallybone.calibrate.scenes import AskedScene
from tallybone.finding import Finding, Grade, ok, problem
from tallybone.show.over_pictures import draw_light, draw_zones
from tallybone.store.calibration_file import (
    KEPT,
    Calibration,
    CalibrationFileError,
    LightKept,
    earlier_path,
    load_calibration,
    restore_calibration,
)
from tallybone.store.learned_file import load_table_knocks
from tallybone.terminal import Output
from vision.arrays import Image
from vision.errors import VisionError

_ANNOTATED = "check.png"
_NAMES = {"lens": phrase("lens"), "table": phrase("table")}
_LIGHT = phrase("light")

WallClock = Callable[[], float]
"""Function that returns the time in seconds since 1970, as used for file timestamps."""
_STEPS = ("lens", "table", "zones", "light", "knock")
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def check(
    source: str,
    path: Path,
    *,
    tile_mm: tuple[float, float] | None = None,
    annotate: Path | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    output: Output | None = None,
) -> int:
    """Compare a picture with a calibration.

    Args:
        source: Camera or picture, as for `calibrate.look.open_look`.
        path: Calibration file.
        tile_mm: Length and width of a tile, if known.
        annotate: Folder for an annotated picture with zones and light.
        read_tiles: Detects tiles in a picture, by default with the shipped reader.
        clock: Monotonic clock in nanoseconds.
        output: Output for the findings.

    Returns:
        Exit code: 0 if there are no problems, else 1.
    """
    output = output or Output("calibrate")
    try:
        calibration = _stored(path)
        with closing(open_look(source, clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, clock)
            findings, light = compare_with_picture(image, calibration, read_tiles or detect_tiles, tile_mm)
        for finding in findings:
            output.say(finding.words if finding.grade is Grade.OK else f"Warning: {finding.words}")
        if annotate is not None:
            output.say(f"Drawn into {write_drawn(annotate, _ANNOTATED, _drawn(image, calibration, light))}")
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    is_well = all(finding.grade is Grade.OK for finding in findings)
    output.say("All checks passed." if is_well else "Some checks failed.")
    return 0 if is_well else 1


def compare_with_picture(
    image: Image, calibration: Calibration, read_tiles: ReadTiles, tile_mm: tuple[float, float] | None
) -> tuple[tuple[Finding, ...], LightSeen]:
    """Compare a picture with a calibration. Return the findings, and the light of the picture."""
    tiles = read_tiles(image)
    light = look_at_light(image, tiles, None)
    findings = [*_about_light(light, calibration.light)]
    if calibration.lens is None or calibration.table is None:
        missing = both(_NAMES[name] for name in _NAMES if getattr(calibration, name) is None)
        words = phrase("{what} not measured yet: positions cannot be checked.", what=missing)
        return (problem(_NAMES["table"], words), *findings), light
    height_px, width_px = image.shape[:2]
    try:
        lens = calibration.lens.at(width_px, height_px)
    except ValueError as error:
        words = phrase("The camera mode has changed: {why}.", why=str(error))
        return (problem(phrase("camera"), words), *findings), light
    table = calibration.table
    length_mm = None if tile_mm is None else tile_mm[0]
    blocks = check_blocks(find_corner_marks(image), table, lens)
    apart = [tile for tile in tiles if not is_on_block(tile, table, lens)]
    return (*blocks, *check_tiles(apart, table, lens, length_mm=length_mm), *findings), light


def _about_light(now: LightSeen, before: LightKept | None) -> tuple[Finding, ...]:
    findings = [problem(_LIGHT, warning) for warning in now.found.warnings]
    if before is not None and not is_similar(before.levels, now.kept.levels):
        was, is_now = (sum(levels) / 3 for levels in (before.levels, now.kept.levels))
        findings.append(
            ok(
                _LIGHT,
                phrase(
                    "The brightness has changed since calibration ({now} instead of {before}).",
                    now=f"{is_now:.0f}",
                    before=f"{was:.0f}",
                ),
            )
        )
    return tuple(findings) or (ok(_LIGHT, phrase("The light is good.")),)


def _drawn(image: Image, calibration: Calibration, light: LightSeen) -> Image:
    drawn = draw_light(image, light.found)
    if calibration.lens is None or calibration.table is None or calibration.zones is None:
        return drawn
    height_px, width_px = image.shape[:2]
    try:
        return draw_zones(drawn, calibration.zones, calibration.table, calibration.lens.at(width_px, height_px))
    except ValueError:
        return drawn


def _stored(path: Path) -> Calibration:
    if not path.exists():
        raise CalibrationFileError(f"{path}: there is no calibration; run `tallybone calibrate guide`")
    return load_calibration(path)


def _wall_clock() -> float:
    return time.time()  # noqa: TID251 - the age of a file is only displayed


def show(path: Path, *, now: WallClock = _wall_clock, output: Output | None = None) -> int:
    """Print the contents of a calibration file and its backups.

    Return exit code 0, or 1 if it is missing or damaged.
    """
    output = output or Output("calibrate")
    try:
        calibration, written_s = _stored(path), path.stat().st_mtime
    except (CalibrationError, OSError) as error:
        return output.complain(error)
    output.say(f"{path}, written {age(now() - written_s)} ago.")
    print_calibration(calibration, output)
    knocks = load_table_knocks(path)
    for words in (*knocks.words, *knocks.problems):
        output.say(words)
    for number in range(1, KEPT + 1):
        earlier = earlier_path(path, number)
        if earlier.exists():
            output.say(_about_earlier(earlier, number, now()))
    return 0


def restore(path: Path, number: int, *, output: Output | None = None) -> int:
    """Restore the calibration backup *number*. Return exit code 0, or 1 if the backup is missing or damaged."""
    output = output or Output("calibrate")
    try:
        calibration = restore_calibration(path, number)
    except (CalibrationError, OSError) as error:
        return output.complain(error)
    output.say(f"{path}: number {number} was restored. The previous calibration is now number 1.")
    print_calibration(calibration, output)
    return 0


def print_calibration(calibration: Calibration, output: Output) -> None:
    """Print the accuracy of each part, and the commands to calibrate missing parts except the tile set."""
    for words in known_words(calibration):
        output.say(words)
    missing = [name for name in _STEPS if name not in calibrated_parts(calibration)]
    if missing:
        output.say(f"Not yet calibrated: {', '.join(f'`tallybone calibrate {name}`' for name in missing)}.")


def age(passed_s: float) -> str:
    """Return a time span as text, rounded to the largest fitting unit of days, hours and minutes.

    >>> age(30), age(5400), age(200000)
    ('less than a minute', '2 hours', '2 days')
    """
    for length_s, name in ((_DAY_S, "day"), (_HOUR_S, "hour"), (_MINUTE_S, "minute")):
        if passed_s >= length_s:
            count = round(passed_s / length_s)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def _about_earlier(path: Path, number: int, now_s: float) -> str:
    written = f"{age(now_s - path.stat().st_mtime)} ago"
    try:
        calibration = load_calibration(path)
    except (CalibrationError, OSError):
        return f"Number {number}, {written}: damaged."
    return f"Number {number}, {written}: {', '.join(calibrated_parts(calibration)) or 'nothing'}."
