"""Find the calibration for a live game, and project its zones into the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.table.zones import ZoneInView, middle_share, show_zone
from hardware.camera.open_device import is_device
from tallybone.laboratory import SIMULATED
from tallybone.session.zones import Outline, SeatZone, Zones
from tallybone.store.calibration_file import Calibration, default_path, load_calibration, name_of_camera
from tallybone.store.learned_file import TableKnocks, load_table_knocks
from vision.tracking.settle import Side

USUAL = "table"
"""Name of a table's calibration if no camera is named."""

# Minimum share of a zone in the picture. Below it, tiles may be missed, so the players are warned.
_ENOUGH = 0.7
_FOR_TRYING = (
    "The calibration of the simulated camera is not used: each simulated match has its own table, tiles, camera and"
    " zones. Matches with a real camera use their calibration."
)
_KNOCKS = "Knocks are distinguished from tiles as calibrated at this table."
_OUTDATED = (
    "The calibration of knocks is of another version of Tallybone and is not used: run `tallybone calibrate knock`."
)


@dataclass(frozen=True, slots=True)
class Used:
    """The parts of a calibration that a game uses.

    Attributes:
        zones: Zones in the picture, or None if the calibration has no usable zones.
        text: Sentences for the players.
        calibration: The whole calibration. Empty if it is not used.
    """

    zones: Zones | None
    text: tuple[str, ...]
    calibration: Calibration = field(default_factory=Calibration)


def stored_for(source: str, named: Path | None, environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the path of the calibration file for a game, or None.

    A named file need not exist. Otherwise the file of the camera is preferred to that of the table.

    Args:
        source: The camera, in the form for `tallybone play --camera`.
        named: File named by the user. None for the stored one, if the camera is a device.
        environment: Environment variables, for the location of stored files.
        home: The user's home folder.
    """
    if named is not None:
        return named
    if not is_device(source):
        return None
    paths = (default_path(environment, home, name) for name in (name_of_camera(source), USUAL))
    return next((path for path in paths if path.exists()), None)


def table_path(source: str, named: Path | None, environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the path of a table's calibration file, which may be missing, or None without one and a device.

    The arguments are those of `stored_for`.
    """
    path = stored_for(source, named, environment, home)
    return default_path(environment, home, name_of_camera(source)) if path is None and is_device(source) else path


def knocks_at(source: str, named: Path | None, environment: Mapping[str, str], home: Path) -> TableKnocks | None:
    """Return the known knocks of a table, or None without a calibration or device.

    The arguments are those of `stored_for`.
    """
    path = table_path(source, named, environment, home)
    return None if path is None else load_table_knocks(path)


def words_of_unused(source: str, environment: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Explain why a simulated match does not use the stored calibration. Empty for other cameras, and without a file.

    The arguments are those of `stored_for`.
    """
    if source.partition(":")[0] != SIMULATED or not default_path(environment, home, SIMULATED).exists():
        return ()
    return (_FOR_TRYING,)


def use_of(path: Path, players: int, size_px: tuple[int, int] | None, *, is_named: bool) -> Used:
    """Return the parts of a calibration file that a game uses.

    Args:
        path: The file.
        players: Number of players.
        size_px: Width and height of the camera's pictures, or None if not known yet.
        is_named: Whether the user named the file. If not, `Used.text` reports an unusable file instead of an error.

    Raises:
        CalibrationError: If the named file is damaged or missing.
        OSError: If the named file cannot be read.
    """
    try:
        if not path.exists():
            raise CalibrationError(f"{path}: there is no such file")
        calibration = load_calibration(path)
    except (CalibrationError, OSError) as error:
        if is_named:
            raise
        return Used(None, (f"The calibration is not used: {error}",))
    used = _use(calibration, path, players, size_px)
    knock = calibration.knock
    text = () if knock is None else (_OUTDATED if knock.is_outdated else _KNOCKS,)
    return replace(used, text=(*used.text, *text), calibration=calibration)


def zones_in_picture(calibration: Calibration, players: int) -> tuple[Zones, tuple[str, ...]] | None:
    """Return the zones in the picture, and up to one sentence that warns of zones that are only partly visible.

    None if the calibration lacks the lens, the table or the zones.
    """
    lens, table, zones = calibration.lens, calibration.table, calibration.zones
    if lens is None or table is None or zones is None:
        return None
    outlines = zones.playing(players)
    shown = [show_zone(outline, table, lens) for outline in outlines]
    middles = [middle_share(outline, table, lens) for outline in outlines]
    center = tuple(sum(axis) / len(middles) for axis in zip(*middles, strict=True)) if middles else (0.5, 0.5)
    seats = tuple(_seat(zone, middle, center) for zone, middle in zip(shown, middles, strict=True))
    yard = None if zones.boneyard is None else show_zone(zones.boneyard, table, lens)
    hidden = [f"seat {at + 1}" for at, zone in enumerate(shown) if zone.visible < _ENOUGH]
    hidden += ["the boneyard"] if yard is not None and yard.visible < _ENOUGH else []
    text = () if not hidden else (f"The picture shows only part of the zone of {', '.join(hidden)}.",)
    return Zones(seats, (yard.shares or None) if yard is not None else None), text


def _use(calibration: Calibration, path: Path, players: int, size_px: tuple[int, int] | None) -> Used:
    lens = calibration.lens
    if lens is not None and size_px is not None:
        try:
            lens.at(*size_px)
        except ValueError as error:
            return Used(None, (f"The calibration {path} is not used: {error}.",))
    projected = zones_in_picture(calibration, players)
    if projected is None:
        lacking = [name for name in ("lens", "table", "zones") if getattr(calibration, name) is None]
        return Used(None, (f"The calibration {path} has no {' and '.join(lacking)}: no zones are used.",))
    zones, hidden = projected
    parts = [f"the zones of {len(zones.seats)} seats"] if zones.seats else []
    parts += ["the boneyard"] if zones.boneyard is not None else []
    text = [f"Using the calibration {path}: {' and '.join(parts) or 'no zone is in the picture'}."]
    if calibration.zones is not None and calibration.zones.seats and not zones.seats:
        text.append(
            f"It has {len(calibration.zones.seats)} seats for {players} players: the zones of seats are not used."
        )
    return Used(zones, (*text, *hidden))


def _seat(shown: ZoneInView, middle: tuple[float, ...], center: tuple[float, ...]) -> SeatZone:
    """Return the zone of a seat. If it is outside the picture, the zone has a side but no area."""
    across, down = middle[0] - center[0], middle[1] - center[1]
    if abs(across) > abs(down):
        side = Side.RIGHT if across > 0 else Side.LEFT
    else:
        side = Side.BOTTOM if down > 0 else Side.TOP
    point = tuple(min(1.0, max(0.0, share)) for share in middle)
    nothing: Outline = ((point[0], point[1]),) * 3
    return SeatZone(side, shown.shares or nothing)
