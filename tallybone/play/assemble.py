"""Set up a match with the calibration of its table, for `play` and `serve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.tiles.tile_set import LearnedSet
from engine import EngineError
from hardware.camera.open_device import is_device, parse_film
from tallybone.files import sentence_of
from tallybone.laboratory import SIMULATED
from tallybone.play.calibrated import Used, knocks_at, stored_for, table_path, use_of, words_of_unused
from tallybone.play.start import MatchPlan
from tallybone.recording.own_tiles import as_recorded, recorded_set
from tallybone.sources.camera import Camera, DeviceCamera
from tallybone.sources.source import Shot, source_at
from tallybone.store.learned_file import TableKnocks, TableTiles, load_tiles, tiles_path
from vision.reader.reader import Reader

_OWN_TILES = "Tiles are read with the calibrated tile set."


@dataclass(frozen=True, slots=True)
class PreparedMatch:
    """A match that is ready to play.

    Attributes:
        game: The match, with the zones and tile set of its table.
        reader: Reader for the tile set of the match.
        text: Sentences to show at the start.
        knocks: What is known about the knocks of the table, or None.
        learns: Whether the match teaches the table more knocks.
        tiles: File of the corrected tiles of the table, or None if it does not learn from corrections.
        calibrated: Calibrated tile set of the table, or None.
    """

    game: MatchPlan
    reader: Reader
    text: tuple[str, ...] = ()
    knocks: TableKnocks | None = None
    learns: bool = False
    tiles: Path | None = None
    calibrated: LearnedSet | None = None


def set_up(
    game: MatchPlan,
    camera: Camera,
    *,
    source: str,
    calibration: Path | None,
    environment: Mapping[str, str],
    home: Path,
    reader: Reader,
) -> PreparedMatch:
    """Return a match with the calibration of its table.

    Args:
        game: The match. A resumed match keeps its zones.
        camera: The camera over the table.
        source: Name of the camera, in the form for `start.open_camera`.
        calibration: Calibration file named by the user. None for the stored one, if the camera is a device.
        environment: Environment variables, for the location of stored files.
        home: The user's home folder.
        reader: Reader for the tile set of the match.

    Raises:
        EngineError: If a calibration is named for a resumed match.
        CalibrationError: If the named file is damaged or missing.
        OSError: If the named file cannot be read.
        VisionError: If a recorded source has no picture.
    """
    game, used = with_calibration(game, camera, source, calibration, environment=environment, home=home)
    table = table_path(source, calibration, environment, home)
    tiles = None if table is None else tiles_path(table, game.max_pips)
    game, reader, text = with_own_tiles(game, used, reader, tiles)
    knocks = knocks_at(source, calibration, environment, home)
    known = () if knocks is None else (*knocks.text, *knocks.problems)
    text = tuple(dict.fromkeys((*used.text, *text, *known)))
    return PreparedMatch(game, reader, text, knocks, is_device(source), tiles, used.calibration.set)


def with_calibration(
    game: MatchPlan, camera: Camera, source: str, file: Path | None, *, environment: Mapping[str, str], home: Path
) -> tuple[MatchPlan, Used]:
    """Return the match with the zones of its calibration, and the parts of the calibration that it uses.

    *file* is the calibration file named by the user, or None. The other arguments and the errors are those of `set_up`.
    """
    if game.left is not None:
        if file is not None:
            raise EngineError("a resumed match keeps its zones: omit --calibration")
        return game, Used(None, ())
    path = stored_for(source, file, environment, home)
    if path is None:
        return game, Used(None, words_of_unused(source, environment, home))
    used = use_of(path, len(game.start.players), _size_px(camera, source), is_named=file is not None)
    if used.zones is None:
        return game, used
    return replace(game, start=replace(game.start, zones=used.zones)), used


def with_own_tiles(
    game: MatchPlan, used: Used, reader: Reader, tiles: Path | None = None
) -> tuple[MatchPlan, Reader, tuple[str, ...]]:
    """Return the match with the custom tile set of its calibration, a reader for it, and sentences for the players.

    *tiles* is the file of the corrected tiles, or None. A resumed match keeps its tile set, regardless of later
    calibrations. A set that cannot be used is ignored, and a sentence tells the players.
    """
    text: list[str] = []
    custom, corrected = game.start.own_set, TableTiles()
    if game.left is None:
        try:
            corrected = corrected if tiles is None else load_tiles(tiles)
            custom = recorded_set(used.calibration.set, reader, corrected)
        except (CalibrationError, OSError) as error:
            text.append(f"The learned tile set is not used: {sentence_of(error)}.")
    if custom is not None:
        reader = as_recorded(reader, custom, text.append)
        text += () if text or not custom.weights else (_OWN_TILES,)
        text += corrected.text
    return replace(game, start=replace(game.start, own_set=custom)), reader, tuple(text)


def _size_px(camera: Camera, source: str) -> tuple[int, int] | None:
    """Return the width and height of a camera's pictures, or None if they are not known yet."""
    if isinstance(camera, DeviceCamera):
        return camera.size_px
    if source.partition(":")[0] == SIMULATED:
        return None
    shot = next((item for item in source_at(*parse_film(source)).items if isinstance(item, Shot)), None)
    if shot is None:
        return None
    height_px, width_px = shot.load().shape[:2]
    return width_px, height_px
