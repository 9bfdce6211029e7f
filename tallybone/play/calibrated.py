"""Take from a calibration what a live game uses: the file of its camera, and the zones as the picture shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.table.zone_view import ZoneInView, middle_share, show_zone
from hardware.camera.open_device import is_device
from tallybone.session.zones import Outline, SeatZone, Zones
from tallybone.sources.camera import SIMULATED
from tallybone.store.calibration_file import Calibration, default_path, load_calibration, name_of_camera
from vision.tracking.settle import Side

USUAL = "table"
"""The name of a table's calibration where nobody names a camera."""

# In a zone of which the picture shows less than this share, tiles may be overlooked.
_ENOUGH = 0.7
_FOR_TRYING = (
    "What was calibrated with the simulated camera is not used: each simulated match has another table, other tiles and"
    " another camera, and its zones are known. With a camera that is plugged in a calibration is used by its matches."
)
_KNOCKS = "Knocks are told from tiles as they were calibrated at this table."


@dataclass(frozen=True, slots=True)
class Used:
    """The part of a calibration that a game uses.

    Attributes:
        zones: Where boneyard and open hands lie in the picture; None where the calibration does not say.
        words: Sentences for the players.
        calibration: All of it; empty where nothing is used.
    """

    zones: Zones | None
    words: tuple[str, ...]
    calibration: Calibration = field(default_factory=Calibration)


def stored_for(source: str, said: Path | None, environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the calibration file for a game; None where there is none.

    Args:
        source: The camera, as `tallybone play --camera` takes it.
        said: The file that somebody names; otherwise it is the stored one of a camera that is plugged in.
        environment: Says where state is kept.
        home: The user's folder.
    """
    if said is not None:
        return said
    if not is_device(source):
        return None
    paths = (default_path(environment, home, name) for name in (name_of_camera(source), USUAL))
    return next((path for path in paths if path.exists()), None)


def words_of_unused(source: str, environment: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Return why a calibration that is stored under the name of a simulated camera does not count for its matches.

    Of another camera there is nothing to say. Arguments are as of `stored_for`.
    """
    if source.partition(":")[0] != SIMULATED or not default_path(environment, home, SIMULATED).exists():
        return ()
    return (_FOR_TRYING,)


def use_of(path: Path, players: int, size_px: tuple[int, int] | None, *, is_said: bool) -> Used:
    """Return the part of a calibration file that a game uses.

    Args:
        path: The file.
        players: How many play.
        size_px: Width and height of the camera's pictures; None where that is not known yet.
        is_said: Whether somebody named the file. Otherwise one that cannot be used is reported, and the game goes on.

    Raises:
        CalibrationError: If it was named and is damaged.
        OSError: If it was named and cannot be read.
    """
    try:
        if not path.exists():
            raise CalibrationError(f"{path}: there is no such file")
        calibration = load_calibration(path)
    except (CalibrationError, OSError) as error:
        if is_said:
            raise
        return Used(None, (f"The calibration is not used: {error}",))
    used = _use(calibration, path, players, size_px)
    said = () if calibration.knock is None else (_KNOCKS,)
    return replace(used, words=(*used.words, *said), calibration=calibration)


def zones_in_picture(calibration: Calibration, players: int) -> tuple[Zones, tuple[str, ...]] | None:
    """Return where the zones are in the picture, and which of them it shows too little of, in words.

    None where lens, table or zones are not known.
    """
    lens, table, zones = calibration.lens, calibration.table, calibration.zones
    if lens is None or table is None or zones is None:
        return None
    outlines = zones.playing(players)
    shown = [show_zone(outline, table, lens) for outline in outlines]
    middles = [middle_share(outline, table, lens) for outline in outlines]
    center = tuple(sum(axis) / len(middles) for axis in zip(*middles, strict=True)) if middles else (0.5, 0.5)
    seats = tuple(_seat(one, middle, center) for one, middle in zip(shown, middles, strict=True))
    yard = None if zones.boneyard is None else show_zone(zones.boneyard, table, lens)
    hidden = [f"seat {at + 1}" for at, one in enumerate(shown) if one.visible < _ENOUGH]
    hidden += ["the boneyard"] if yard is not None and yard.visible < _ENOUGH else []
    words = () if not hidden else (f"The picture shows only a part of the zone of {', '.join(hidden)}.",)
    return Zones(seats, (yard.shares or None) if yard is not None else None), words


def _use(calibration: Calibration, path: Path, players: int, size_px: tuple[int, int] | None) -> Used:
    lens = calibration.lens
    if lens is not None and size_px is not None:
        try:
            lens.at(*size_px)
        except ValueError as error:
            return Used(None, (f"The calibration {path} is not used: {error}.",))
    found = zones_in_picture(calibration, players)
    if found is None:
        lacking = [name for name in ("lens", "table", "zones") if getattr(calibration, name) is None]
        return Used(None, (f"The calibration {path} says nothing of {' and '.join(lacking)}: no zones are used.",))
    zones, hidden = found
    what = [f"the zones of {len(zones.seats)} seats"] if zones.seats else []
    what += ["the boneyard"] if zones.boneyard is not None else []
    words = [f"The calibration {path} is used: {' and '.join(what) or 'it has no zone in the picture'}."]
    if calibration.zones is not None and calibration.zones.seats and not zones.seats:
        words.append(f"It is for {len(calibration.zones.seats)} seats, and {players} play: their zones are not used.")
    return Used(zones, (*words, *hidden))


def _seat(shown: ZoneInView, middle: tuple[float, ...], center: tuple[float, ...]) -> SeatZone:
    """Return the zone of a seat; one that the picture does not show has its side, and no area."""
    across, down = middle[0] - center[0], middle[1] - center[1]
    if abs(across) > abs(down):
        side = Side.RIGHT if across > 0 else Side.LEFT
    else:
        side = Side.BOTTOM if down > 0 else Side.TOP
    point = tuple(min(1.0, max(0.0, share)) for share in middle)
    nothing: Outline = ((point[0], point[1]),) * 3
    return SeatZone(side, shown.shares or nothing)
