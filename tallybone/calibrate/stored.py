"""Run `tallybone calibrate check`, `show`, `restore` and `zones`: check, print, restore and edit what is stored.

A check compares a picture of the table with the calibration: positions of corner blocks, and sizes of tiles.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from calibration import CalibrationError, RefusedError
from calibration.lens.lens import Lens
from calibration.sheets.prints import marker_corners_mm
from calibration.table.picture import SeenMarker, find_corner_marks
from calibration.table.table import BlockPose, Table, TableSource
from calibration.table.zones import OutlineMm, TableZones, ZoneSource, zones_of_size, zones_on
from engine.phrases import Phrase, both, listed, phrase, plural
from hardware.camera.watched import is_similar
from hardware.part import Clock
from tallybone.calibrate.known import calibrated_parts, calibration_texts, zone_text
from tallybone.calibrate.lens_and_table import (
    LightSeen,
    ReadTiles,
    detect_tiles,
    is_on_block,
    lens_for,
    load_image,
    look_at_light,
    write_drawn,
)
from tallybone.calibrate.look import AskedScene, open_look, wait_for_picture
from tallybone.finding import Finding, Grade, ok, problem
from tallybone.show.reading import draw_light, draw_zones
from tallybone.store import calibration_file
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.store.learned_file import load_table_knocks
from tallybone.terminal import Output
from vision import VisionError
from vision.arrays import Image
from vision.reading import Face, SeenTile

_TABLE = phrase("table")
_BLOCK_NAMES = (phrase("top left"), phrase("top right"), phrase("bottom right"), phrase("bottom left"))
# A corner block has moved if its position changed by more than this. Measured positions repeat within 0.5 mm, or 1 mm
# on a busy table.
_MIN_MOVE_MM = 2.0
# The camera or the table was moved if one common motion explains the new positions of all blocks within this distance.
_ALIKE_MM = 3.0
# Maximum range of tile lengths between the 10th and 90th percentile, relative to the median, and maximum error of the
# scale. The reader's corners are off by a pixel, 2 % of a tile. A wider range means that the plane is wrong.
_SPREAD = 0.10
_SCALE_DIFFERS = 0.02
_MIN_TILES = 4


def seen_marks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[BlockPose, ...]:
    """Return the current pose on the stored table of each corner block with at least one detected marker."""
    poses = []
    for block in sorted({marker.block for marker in markers}):
        own = [marker for marker in markers if marker.block == block]
        corners = np.concatenate([marker_corners_mm(marker.place) for marker in own])
        shape = corners[:, 0] + 1j * corners[:, 1]
        flat = table.to_table(np.concatenate([np.array(marker.corners_px) for marker in own]), lens)
        at = flat[:, 0] + 1j * flat[:, 1]
        turn = np.vdot(shape - shape.mean(), at - at.mean()) / (np.abs(shape - shape.mean()) ** 2).sum()
        middle = complex(at.mean() - turn * shape.mean())
        poses.append(BlockPose(block, middle.real, middle.imag, math.atan2(turn.imag, turn.real)))
    return tuple(poses)


def check_blocks(markers: Sequence[SeenMarker], table: Table, lens: Lens) -> tuple[Finding, ...]:
    """Check that the corner blocks have not moved since calibration.

    Empty if the table was calibrated without blocks.
    """
    before = {mark.block: mark for mark in table.marks}
    if not before:
        return ()
    now = {mark.block: mark for mark in seen_marks(markers, table, lens) if mark.block in before}
    if not now:
        return (problem(_TABLE, phrase("None of the corner blocks that the table was measured with is visible.")),)
    shifts = {block: _position(now[block]) - _position(before[block]) for block in now}
    hidden = [_BLOCK_NAMES[block] for block in before if block not in now]
    findings = [ok(_TABLE, phrase("Not visible: corner block {blocks}.", blocks=listed(hidden)))] if hidden else []
    worst_mm = max(abs(shift) for shift in shifts.values())
    if worst_mm <= _MIN_MOVE_MM:
        within = f"{max(0.1, worst_mm):.1f}"
        unmoved = phrase("The corner blocks have not moved, within {within} mm.", within=within)
        return (*findings, ok(_TABLE, unmoved))
    pushed = _common_motion(before, now)
    if pushed is not None:
        return (*findings, problem(_TABLE, phrase("{pushed} Measure the table again.", pushed=pushed)))
    moved = [
        phrase("{block} by {shift} mm", block=_BLOCK_NAMES[block], shift=f"{abs(shift):.0f}")
        for block, shift in shifts.items()
        if abs(shift) > _MIN_MOVE_MM
    ]
    text = phrase(
        "Corner blocks have moved: {moved}. Check whether the blocks or the camera moved. If in doubt, measure"
        " the table again.",
        moved=listed(moved),
    )
    return (*findings, problem(_TABLE, text))


def check_tiles(
    tiles: Sequence[SeenTile], table: Table, lens: Lens, *, length_mm: float | None = None
) -> tuple[Finding, ...]:
    """Check that tile lengths are uniform and, if given, match *length_mm*.

    With fewer than _MIN_TILES tiles, only report that they are too few.
    """
    open_tiles = [tile for tile in tiles if tile.face is Face.UP]
    if len(open_tiles) < _MIN_TILES:
        too_few = plural(
            "1 tile is visible face up: too few to check the scale.",
            "{number} tiles are visible face up: too few to check the scale.",
            number=len(open_tiles),
        )
        return (ok(_TABLE, too_few),)
    lengths = np.array([_length_mm(tile, table, lens) for tile in open_tiles])
    short, median, long = np.percentile(lengths, (10, 50, 90)).tolist()
    findings = []
    if (long - short) / median > _SPREAD:
        uneven = phrase(
            "Tiles measure {short} to {long} mm but should be equal: the table moved since it was measured, or"
            " the camera has another mode or lens.",
            short=f"{short:.1f}",
            long=f"{long:.1f}",
        )
        findings.append(problem(_TABLE, uneven))
    if length_mm is not None and abs(median / length_mm - 1) > _SCALE_DIFFERS:
        scale = phrase(
            "Tiles measure {seem} mm but should measure {right} mm: the scale is wrong.",
            seem=f"{median:.1f}",
            right=f"{length_mm:.1f}",
        )
        findings.append(problem(_TABLE, scale))
    if findings:
        return tuple(findings)
    length, count = f"{median:.1f}", len(lengths)
    text = phrase("{tiles} tiles measure {length} mm all over the table.", tiles=count, length=length)
    return (ok(_TABLE, text),)


def _length_mm(tile: SeenTile, table: Table, lens: Lens) -> float:
    a, b, c, d = table.tops_to_table(np.array(tile.corners_px), lens)
    sides = (np.linalg.norm(a - b) + np.linalg.norm(d - c), np.linalg.norm(b - c) + np.linalg.norm(a - d))
    return float(max(sides)) / 2


def _common_motion(before: dict[int, BlockPose], now: dict[int, BlockPose]) -> Phrase | None:
    """Return the common motion of all visible blocks as text."""
    # None if they moved differently, or only one is visible.
    if len(now) < 2:
        return None
    old = np.array([_position(before[block]) for block in now])
    new = np.array([_position(mark) for mark in now.values()])
    turn = np.vdot(old - old.mean(), new - new.mean())
    turn /= abs(turn)
    if np.abs(new - new.mean() - turn * (old - old.mean())).max() > _ALIKE_MM:
        return None
    shift_mm, turn_deg = abs(complex(new.mean() - turn * old.mean())), abs(math.degrees(np.angle(turn)))
    return phrase(
        "The camera or the table moved by {shift} mm and {turn} degrees.",
        shift=f"{shift_mm:.0f}",
        turn=f"{turn_deg:.1f}",
    )


def _position(mark: BlockPose) -> complex:
    return complex(mark.x_mm, mark.y_mm)


_ANNOTATED = "check.png"
_NAMES = {"lens": phrase("lens"), "table": phrase("table")}
_LIGHT = phrase("light")

WallClock = Callable[[], float]
"""Function that returns the time in seconds since 1970, as used for file timestamps."""
_STEPS = ("lens", "table", "zones", "light", "knock")
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400


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
    """Compare a picture with a calibration. The exit code is 0 if there are no problems, else 1.

    Args:
        source: Camera or picture, as for `calibrate.look.open_look`.
        path: Calibration file.
        tile_mm: Length and width of a tile, if known.
        annotate: Folder for an annotated picture with zones and light.
        read_tiles: Detects tiles in a picture, by default with the shipped reader.
        clock: Monotonic clock in nanoseconds.
        output: Output for the findings.
    """
    output = output or Output("calibrate")
    try:
        calibration = _stored(path)
        with closing(open_look(source, clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, clock)
            findings, light = compare_with_picture(image, calibration, read_tiles or detect_tiles, tile_mm)
        for finding in findings:
            output.say(finding.text if finding.grade is Grade.OK else f"Warning: {finding.text}")
        if annotate is not None:
            output.say(f"Drawn into {write_drawn(annotate, _ANNOTATED, _drawn(image, calibration, light))}")
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    is_well = all(finding.grade is Grade.OK for finding in findings)
    output.say("All checks passed." if is_well else "Some checks failed.")
    return 0 if is_well else 1


def compare_with_picture(
    image: Image,
    calibration: calibration_file.Calibration,
    read_tiles: ReadTiles,
    tile_mm: tuple[float, float] | None,
) -> tuple[tuple[Finding, ...], LightSeen]:
    """Compare a picture with a calibration. Return the findings, and the light of the picture."""
    tiles = read_tiles(image)
    light = look_at_light(image, tiles, None)
    findings = [*_about_light(light, calibration.light)]
    if calibration.lens is None or calibration.table is None:
        missing = both(_NAMES[name] for name in _NAMES if getattr(calibration, name) is None)
        text = phrase("{what} not measured yet: positions cannot be checked.", what=missing)
        return (problem(_NAMES["table"], text), *findings), light
    height_px, width_px = image.shape[:2]
    try:
        lens = calibration.lens.at(width_px, height_px)
    except ValueError as error:
        text = phrase("The camera mode has changed: {why}.", why=str(error))
        return (problem(phrase("camera"), text), *findings), light
    table = calibration.table
    length_mm = None if tile_mm is None else tile_mm[0]
    blocks = check_blocks(find_corner_marks(image), table, lens)
    apart = [tile for tile in tiles if not is_on_block(tile, table, lens)]
    return (*blocks, *check_tiles(apart, table, lens, length_mm=length_mm), *findings), light


def _about_light(now: LightSeen, before: calibration_file.LightKept | None) -> tuple[Finding, ...]:
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


def _drawn(image: Image, calibration: calibration_file.Calibration, light: LightSeen) -> Image:
    drawn = draw_light(image, light.found)
    if calibration.lens is None or calibration.table is None or calibration.zones is None:
        return drawn
    height_px, width_px = image.shape[:2]
    try:
        return draw_zones(drawn, calibration.zones, calibration.table, calibration.lens.at(width_px, height_px))
    except ValueError:
        return drawn


def _stored(path: Path) -> calibration_file.Calibration:
    if not path.exists():
        raise calibration_file.CalibrationFileError(f"{path}: there is no calibration; run `tallybone calibrate guide`")
    return calibration_file.load_calibration(path)


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
    for text in (*knocks.text, *knocks.problems):
        output.say(text)
    for number in range(1, calibration_file.KEPT + 1):
        earlier = calibration_file.earlier_path(path, number)
        if earlier.exists():
            output.say(_describe_earlier(earlier, number, now()))
    return 0


def restore(path: Path, number: int, *, output: Output | None = None) -> int:
    """Restore the calibration backup *number*. Return exit code 0, or 1 if the backup is missing or damaged."""
    output = output or Output("calibrate")
    try:
        calibration = calibration_file.restore_calibration(path, number)
    except (CalibrationError, OSError) as error:
        return output.complain(error)
    output.say(f"{path}: number {number} was restored. The previous calibration is now number 1.")
    print_calibration(calibration, output)
    return 0


def print_calibration(calibration: calibration_file.Calibration, output: Output) -> None:
    """Print the accuracy of each part, and the commands to calibrate missing parts except the tile set."""
    for text in calibration_texts(calibration):
        output.say(text)
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


def _describe_earlier(path: Path, number: int, now_s: float) -> str:
    written = f"{age(now_s - path.stat().st_mtime)} ago"
    try:
        calibration = calibration_file.load_calibration(path)
    except (CalibrationError, OSError):
        return f"Number {number}, {written}: damaged."
    return f"Number {number}, {written}: {', '.join(calibrated_parts(calibration)) or 'nothing'}."


_ZONES_PICTURE = "zones.png"


@dataclass(frozen=True, slots=True)
class ZonesGiven:
    """Options for zones.

    Attributes:
        seats: Number of seats, 2 to 4. None for the previous number, or 4.
        size_mm: Width and depth of the table, if given, from which the zones are derived even if there are blocks.
        boneyard, layout: Outlines in millimetres from the centre of the table.
        seat_outlines: Outlines that replace or follow the derived ones of seats, each with the seat's number from 0.
    """

    seats: int | None = None
    size_mm: tuple[float, float] | None = None
    boneyard: OutlineMm | None = None
    layout: OutlineMm | None = None
    seat_outlines: tuple[tuple[int, OutlineMm], ...] = ()


def calibrate_zones(
    into: Path,
    given: ZonesGiven,
    *,
    picture: Path | None = None,
    annotate: Path | None = None,
    output: Output | None = None,
) -> int:
    """Derive the zones of a measured table, and store them. They are drawn if *picture* and *annotate* are given.

    Returns:
        Exit code: 0, or 1 if there are no zones, or they cannot be written.
    """
    output = output or Output("calibrate")
    try:
        before = load_calibration(into)
        if before.table is None:
            raise RefusedError(f"{into}: measure the table first: `tallybone calibrate table PICTURE`")
        zones = _with_given(_derived(before, before.table, given), given)
        after = replace(before, zones=zones)
        save_calibration(after, into)
        for text in zone_text(after):
            output.say(text)
        if picture is not None and annotate is not None:
            image = load_image(picture)
            drawn = draw_zones(image, zones, before.table, lens_for(before.lens, image))
            output.say(f"Drawn into {write_drawn(annotate, _ZONES_PICTURE, drawn)}")
    except (CalibrationError, VisionError, OSError, ValueError) as error:
        return output.complain(error)
    output.say(f"Written to {into}")
    return 0


def _derived(before: Calibration, table: Table, given: ZonesGiven) -> TableZones:
    seats = given.seats or (len(before.zones.seats) if before.zones is not None else 0) or 4
    if given.size_mm is not None:
        return zones_of_size(*given.size_mm, seats)
    if table.source is TableSource.MARKERS:
        return zones_on(table.marks, seats)
    if before.zones is not None and given.seats is None:
        return before.zones
    if given.boneyard is not None or given.layout is not None or given.seat_outlines:
        return TableZones(ZoneSource.GIVEN)
    raise RefusedError(
        "the table was measured without corner blocks, so its size is unknown: give it, such as --size 800x600, or give"
        " the zones"
    )


def _with_given(zones: TableZones, given: ZonesGiven) -> TableZones:
    if given.boneyard is None and given.layout is None and not given.seat_outlines:
        return zones
    seats = list(zones.seats)
    for seat, outline in sorted(given.seat_outlines, key=lambda numbered: numbered[0]):
        if not 0 <= seat <= len(seats):
            raise RefusedError(f"seat {seat + 1}: there are {len(seats)} seats; define the others first")
        seats[seat : seat + 1] = [outline]
    return TableZones(ZoneSource.GIVEN, tuple(seats), given.boneyard or zones.boneyard, given.layout or zones.layout)
