"""Calibration files: JSON with a version and a checksum, written atomically, with five backups."""

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

from calibration import CalibrationError
from calibration.knock import KnockCalibration
from calibration.lens.lens import Lens
from calibration.table.table import Table
from calibration.table.zones import TableZones
from calibration.tiles.tile_set import LearnedSet
from hardware.camera.network import without_user
from tallybone.files import write_durably
from tallybone.json_values import JsonValueError, from_json, to_json

VERSION = 1
KEPT = 5
# Number of significant digits that are stored. At the scale of a table, this is a nanometre.
_DIGITS = 10
_NOT_IN_NAMES = re.compile(r"[^\w-]+", re.ASCII)
_MAX_NAME = 40


class CalibrationFileError(CalibrationError, ValueError):
    """A calibration file cannot be used. The message contains its name and the reason."""


@dataclass(frozen=True, slots=True)
class LightKept:
    """Light at the time of the calibration.

    Attributes:
        levels: Median of blue, green and red in the image, 0 to 255.
        contrast: Lowest and highest contrast of tiles and markers, in grey levels. None if none were visible.
        is_held: Whether the camera had locked exposure and white balance. None for an image file, or if still unknown.
        warnings: Problems, as text.
    """

    levels: tuple[float, float, float]
    contrast: tuple[float, float] | None = None
    is_held: bool | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of a camera, its table and its tiles. None for parts that were not calibrated."""

    lens: Lens | None = None
    table: Table | None = None
    zones: TableZones | None = None
    light: LightKept | None = None
    knock: KnockCalibration | None = None
    set: LearnedSet | None = None


def default_path(environment: Mapping[str, str], home: Path, camera: str) -> Path:
    """Return the default path of a camera's calibration file. *camera* is a name from `name_of_camera`.

    >>> default_path({"XDG_STATE_HOME": "/var/lib/anna"}, Path("/anna"), "table").as_posix()
    '/var/lib/anna/tallybone/calibration/table.json'
    """
    state = environment.get("XDG_STATE_HOME", "")
    folder = Path(state) if Path(state).is_absolute() else home / ".local" / "state"
    return folder / "tallybone" / "calibration" / f"{camera}.json"


def name_of_camera(source: str) -> str:
    """Return the calibration name for a camera. *source* is a value for `tallybone play --camera`.

    >>> name_of_camera("pi:0,size=1920x1080"), name_of_camera("/dev/v4l/by-id/usb-Cam_12-index0")
    ('pi-0', 'dev-v4l-by-id-usb-Cam_12-index0')
    """
    return _NOT_IN_NAMES.sub("-", without_user(source.partition(",")[0])).strip("-")[-_MAX_NAME:].strip("-")


def load_calibration(path: Path) -> Calibration:
    """Load a calibration file. Return an empty calibration if the file does not exist.

    Raises:
        CalibrationFileError: If it is damaged, or of another version.
        OSError: If it cannot be read.
    """
    try:
        return parse_calibration(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Calibration()
    except UnicodeDecodeError:
        raise CalibrationFileError(f"{path}: not a calibration, or damaged") from None
    except (ValueError, RecursionError) as error:
        raise CalibrationFileError(f"{path}: {error}") from None


def parse_calibration(text: str) -> Calibration:
    """Parse a calibration written by `format_calibration`.

    Raises:
        ValueError: If the text is damaged, or of another version.
    """
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("calibration"), dict):
        raise JsonValueError("not a calibration")
    if data.get("version") != VERSION:
        raise JsonValueError(f"expected version {VERSION}, got {data.get('version')!r}; calibrate again")
    if data.get("sha256") != _checksum(data["calibration"]):
        raise JsonValueError("its checksum is wrong: it was damaged or edited by hand; calibrate again")
    return from_json(data["calibration"], Calibration, "calibration")


def format_calibration(calibration: Calibration) -> str:
    """Return a calibration as JSON.

    >>> parse_calibration(format_calibration(Calibration())) == Calibration()
    True
    """
    data = _rounded(to_json(calibration, Calibration))
    return json.dumps({"version": VERSION, "sha256": _checksum(data), "calibration": data}, indent=1) + "\n"


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration file atomically. The five previous ones are kept as NAME.1.json (newest) to NAME.5.json.

    Raises:
        OSError: If it cannot be written.
    """
    write_durably(path, format_calibration(calibration), before=lambda: _keep(path))


def earlier_path(path: Path, number: int) -> Path:
    """Return the path of backup *number*, 1 for the newest.

    >>> earlier_path(Path("table.json"), 2).name
    'table.2.json'
    """
    return path.with_name(f"{path.stem}.{number}{path.suffix}")


def restore_calibration(path: Path, number: int) -> Calibration:
    """Restore backup *number*, including its date, and return it. The current file becomes backup 1.

    Raises:
        CalibrationFileError: If there is no such backup, or it is damaged. Nothing has changed then.
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
    """Copy the file, if it exists, to backup 1, and renumber the others. The oldest of five is overwritten."""
    if not path.exists():
        return
    copied = path.with_name(path.name + ".old")
    try:
        # Keep the modification time, which shows the age of the backup. Copy first, in case the disk is full.
        shutil.copy2(path, copied)
    except OSError:
        copied.unlink(missing_ok=True)
        raise
    for number in range(KEPT, 1, -1):
        before = earlier_path(path, number - 1)
        if before.exists():
            before.replace(earlier_path(path, number))
    copied.replace(earlier_path(path, 1))


def _checksum(data: Any) -> str:  # JSON
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _rounded(data: Any) -> Any:  # JSON
    if isinstance(data, float):
        return float(f"{data:.{_DIGITS}g}")
    if isinstance(data, list):
        return [_rounded(item) for item in data]
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    return data
