"""The file of a calibration: JSON with a version and a checksum, written whole or not at all, the last five kept."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.errors import CalibrationError
from calibration.knock.fit import KnockCalibration
from calibration.lens.model import Lens
from calibration.table.table import Table
from calibration.table.zones import TableZones
from calibration.tiles.tile_set import LearnedSet
from tallybone.files import write_durably
from tallybone.json_values import JsonValueError, from_json, to_json

VERSION = 1
KEPT = 5
# So many digits are a nanometre over a table, and can still be read by people.
_DIGITS = 10
_NOT_IN_NAMES = re.compile(r"[^\w-]+", re.ASCII)
_MOST_NAME = 40


class CalibrationFileError(CalibrationError, ValueError):
    """A file cannot be used; the message names it and the reason."""


@dataclass(frozen=True, slots=True)
class LightKept:
    """How the light was when it was looked at.

    Attributes:
        levels: Median of blue, green and red in the picture, 0 to 255.
        contrast: The lowest and the highest contrast of tiles and markers, in grey levels.
        is_held: Whether the camera could hold exposure and white balance; None for a picture.
        warnings: The faults, in words.
    """

    levels: tuple[float, float, float]
    contrast: tuple[float, float] | None = None
    is_held: bool | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measurements of a camera, its table and the tiles on it; None for those that were not made."""

    lens: Lens | None = None
    table: Table | None = None
    zones: TableZones | None = None
    light: LightKept | None = None
    knock: KnockCalibration | None = None
    set: LearnedSet | None = None


def default_path(environment: Mapping[str, str], home: Path, camera: str) -> Path:
    """Return the usual path of the calibration of a camera.

    >>> default_path({"XDG_STATE_HOME": "/var/lib/anna"}, Path("/anna"), "table").as_posix()
    '/var/lib/anna/tallybone/calibration/table.json'
    """
    state = environment.get("XDG_STATE_HOME", "")
    folder = Path(state) if Path(state).is_absolute() else home / ".local" / "state"
    return folder / "tallybone" / "calibration" / f"{camera}.json"


def name_of_camera(source: str) -> str:
    """Return the name of the calibration of a camera; *source* is as `tallybone play --camera` takes it.

    >>> name_of_camera("pi:0,size=1920x1080"), name_of_camera("/dev/v4l/by-id/usb-Cam_12-index0")
    ('pi-0', 'dev-v4l-by-id-usb-Cam_12-index0')
    """
    return _NOT_IN_NAMES.sub("-", source.partition(",")[0]).strip("-")[-_MOST_NAME:].strip("-")


def load_calibration(path: Path) -> Calibration:
    """Return the calibration in a file; an empty one where there is no file.

    Raises:
        CalibrationFileError: If it is damaged, or of another version.
        OSError: If it cannot be read.
    """
    try:
        return parse_calibration(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Calibration()
    except UnicodeDecodeError:
        raise CalibrationFileError(f"{path}: this is no calibration, or it is damaged") from None
    except (ValueError, RecursionError) as error:
        raise CalibrationFileError(f"{path}: {error}") from None


def parse_calibration(text: str) -> Calibration:
    """Read a calibration that `format_calibration` has written.

    Raises:
        ValueError: If it is damaged, or of another version.
    """
    said = json.loads(text)
    if not isinstance(said, dict) or not isinstance(said.get("calibration"), dict):
        raise JsonValueError("this is no calibration")
    if said.get("version") != VERSION:
        raise JsonValueError(f"expected version {VERSION}, got {said.get('version')!r}; calibrate anew")
    if said.get("sha256") != _checksum(said["calibration"]):
        raise JsonValueError("its checksum is wrong: it was damaged or changed by hand; calibrate anew")
    return from_json(said["calibration"], Calibration, "calibration")


def format_calibration(calibration: Calibration) -> str:
    """Return a calibration as JSON.

    >>> parse_calibration(format_calibration(Calibration())) == Calibration()
    True
    """
    said = _rounded(to_json(calibration, Calibration))
    return json.dumps({"version": VERSION, "sha256": _checksum(said), "calibration": said}, indent=1) + "\n"


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Write a file; the one before is kept as NAME.1.json, up to NAME.5.json for the oldest.

    After a power cut there is the file as it was, or the new one.

    Raises:
        OSError: If it cannot be written.
    """
    write_durably(path, format_calibration(calibration), before=lambda: _keep(path))


def earlier_path(path: Path, number: int) -> Path:
    """Return where the calibration is that was replaced so many times ago.

    >>> earlier_path(Path("table.json"), 2).name
    'table.2.json'
    """
    return path.with_name(f"{path.stem}.{number}{path.suffix}")


def restore_calibration(path: Path, number: int) -> Calibration:
    """Bring back the calibration that was replaced so many times ago, with its date.

    The present one becomes the newest of those that are kept.

    Raises:
        CalibrationFileError: If there is none, or it is damaged; then nothing has changed.
        OSError: If it cannot be read or written.
    """
    earlier = earlier_path(path, number)
    if not earlier.exists():
        raise CalibrationFileError(f"{earlier}: there is no such file: no more than {number - 1} are kept of it yet")
    calibration, times = load_calibration(earlier), earlier.stat()
    save_calibration(calibration, path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return calibration


def _keep(path: Path) -> None:
    """Give each kept file a number more; the file itself stays until it is replaced."""
    if not path.exists():
        return
    copied = path.with_name(path.name + ".old")
    try:
        # With its time, which shows its age. First of all, because later there may be no room.
        shutil.copy2(path, copied)
    except OSError:
        copied.unlink(missing_ok=True)
        raise
    for number in range(KEPT, 1, -1):
        before = earlier_path(path, number - 1)
        if before.exists():
            before.replace(earlier_path(path, number))
    copied.replace(earlier_path(path, 1))


def _checksum(said: Any) -> str:  # JSON
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _rounded(said: Any) -> Any:  # JSON
    if isinstance(said, float):
        return float(f"{said:.{_DIGITS}g}")
    if isinstance(said, list):
        return [_rounded(one) for one in said]
    if isinstance(said, dict):
        return {name: _rounded(one) for name, one in said.items()}
    return said
