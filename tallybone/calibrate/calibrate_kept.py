"""`tallybone calibrate show` and `restore`: what is stored, how old and how exact it is; and the ones before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from calibration.errors import CalibrationError
from tallybone.calibrate.lens_and_table import Talk, known_words, parts_of
from tallybone.store.calibration_file import (
    KEPT,
    Calibration,
    CalibrationFileError,
    earlier_path,
    load_calibration,
    restore_calibration,
)

Now = Callable[[], float]
"""Says the time on the wall, in seconds since 1970, as files are stamped with it."""

_STEPS = ("lens", "table", "zones", "light", "knock")
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
    """Say what is known and how exactly, a sentence for each part, and what finds out the rest."""
    for words in known_words(calibration):
        talk.say(words)
    lacking = [name for name in _STEPS if name not in parts_of(calibration)]
    if lacking:
        talk.say(f"Not done yet: {', '.join(f'`tallybone calibrate {name}`' for name in lacking)}.")


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


def _about_earlier(path: Path, number: int, now_s: float) -> str:
    written = f"{age(now_s - path.stat().st_mtime)} ago"
    try:
        calibration = load_calibration(path)
    except (CalibrationError, OSError):
        return f"Number {number}, {written}: damaged."
    return f"Number {number}, {written}: {', '.join(parts_of(calibration)) or 'nothing'}."
