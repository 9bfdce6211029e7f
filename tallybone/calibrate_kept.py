"""`tallybone calibrate show` and `restore`: what is stored, how old and how exact it is; and the ones before it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from calibration.boards import BLOCKS
from calibration.errors import CalibrationError
from calibration.lens import Lens, LensSource
from calibration.table import Table, TableSource
from tallybone.calibrate_command import GOOD_ERROR_PX, HALF_TABLE_MM, Talk
from tallybone.calibrate_knock import about_knock
from tallybone.calibrate_zones import say_zones
from tallybone.calibration_file import (
    KEPT,
    Calibration,
    CalibrationFileError,
    LightKept,
    earlier_path,
    load_calibration,
    restore_calibration,
)

Now = Callable[[], float]
"""Says the time on the wall, in seconds since 1970, as files are stamped with it."""

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def _on_the_wall() -> float:
    return time.time()  # noqa: TID251 - a file's age is only ever shown


def show(path: Path, *, now: Now = _on_the_wall, talk: Talk | None = None) -> int:
    """Say what a calibration file holds; return the exit code: 0, or 1 if there is none, or it is damaged."""
    talk = talk or Talk()
    try:
        if not path.exists():
            raise CalibrationFileError(f"{path}: nothing is stored; `tallybone calibrate guide` leads through it")
        calibration, written_s = load_calibration(path), path.stat().st_mtime
    except (CalibrationError, OSError) as error:
        return talk.complain(str(error))
    talk.say(f"{path}, written {age(now() - written_s)} ago.")
    say_calibration(calibration, talk)
    for number in range(1, KEPT + 1):
        earlier = earlier_path(path, number)
        if earlier.exists():
            talk.say(_about_earlier(earlier, number, now()))
    return 0


def restore(path: Path, number: int, *, talk: Talk | None = None) -> int:
    """Bring back an earlier calibration; return the exit code: 0, or 1 if there is none, or it is damaged."""
    talk = talk or Talk()
    try:
        calibration = restore_calibration(path, number)
    except (CalibrationError, OSError) as error:
        return talk.complain(str(error))
    talk.say(f"{path}: number {number} is back. What was there is kept as number 1.")
    say_calibration(calibration, talk)
    return 0


def say_calibration(calibration: Calibration, talk: Talk) -> None:
    """Say what is known and how exactly, a sentence for each part."""
    talk.say(_about_lens(calibration.lens))
    talk.say(_about_table(calibration.table))
    if calibration.zones is None:
        talk.say("Zones: none. `tallybone calibrate zones` makes them.")
    else:
        say_zones(calibration, talk)
    talk.say(_about_light(calibration.light))
    if calibration.knock is None:
        talk.say("Knocks: not listened to. `tallybone calibrate knock` listens to them.")
    else:
        talk.say(about_knock(calibration.knock))


def age(passed_s: float) -> str:
    """Return how long ago something was, in words.

    >>> age(30), age(5400), age(200000)
    ('less than a minute', '2 hours', '2 days')
    """
    for length_s, name in ((_DAY_S, "day"), (_HOUR_S, "hour"), (_MINUTE_S, "minute")):
        if passed_s >= length_s:
            count = round(passed_s / length_s)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def _about_lens(lens: Lens | None) -> str:
    if lens is None:
        return "Lens: not measured, so it is guessed. `tallybone calibrate lens` measures it."
    said = (
        f"Lens: for pictures of {lens.width_px} x {lens.height_px}, {math.degrees(lens.width_rad):.1f} degrees across,"
    )
    if lens.source is LensSource.KNOWN_CAMERA:
        return f"{said} as the data sheet says; measuring is more exact."
    if lens.source is LensSource.GUESS or lens.error_px is None:
        return f"{said} a guess."
    grade = "good" if lens.error_px <= GOOD_ERROR_PX else "not good: below 0.3 px would be"
    return f"{said} measured from {lens.views} views to {lens.error_px:.2f} px ({grade})."


def _about_table(table: Table | None) -> str:
    if table is None:
        return "Table: not measured. `tallybone calibrate table` measures it."
    ways = {
        TableSource.MARKERS: f"{len(table.marks)} of {BLOCKS} corner blocks",
        TableSource.TILES: "tiles",
        TableSource.CORNERS: "its four corners",
    }
    sure_mm = max(0.1, table.doubt * HALF_TABLE_MM)
    return (
        f"Table: by {ways[table.source]}, the camera {table.height_mm:.0f} mm over it, tilted by"
        f" {math.degrees(table.tilt_rad):.1f} degrees. Places are sure to {sure_mm:.1f} mm at {HALF_TABLE_MM:.0f} mm"
        f" from the middle; tiles are {table.thickness_mm:g} mm thick."
    )


def _about_light(light: LightKept | None) -> str:
    if light is None:
        return "Light: not looked at. `tallybone calibrate light` looks at it."
    held = {True: "held by the camera", False: "not held, the camera cannot", None: "of a picture"}[light.is_held]
    contrast = "" if light.contrast is None else f", {light.contrast[0]:.0f} grey levels or more between face and pips"
    return f"Light: {held}{contrast}. {' '.join(light.warnings) or 'It is good.'}"


def _about_earlier(path: Path, number: int, now_s: float) -> str:
    written = f"{age(now_s - path.stat().st_mtime)} ago"
    try:
        calibration = load_calibration(path)
    except (CalibrationError, OSError):
        return f"Number {number}, {written}: damaged."
    has = [name for name in ("lens", "table", "zones", "light", "knock") if getattr(calibration, name) is not None]
    return f"Number {number}, {written}: {', '.join(has) or 'nothing'}."
