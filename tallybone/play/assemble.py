"""Set a match up with what the calibration of its table knows, the same way for `play` and for `serve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import RefusedError
from engine import EngineError
from hardware.knock.classifier import Classifier
from tallybone.play.calibrated import Used, stored_for, use_of, words_of_unused
from tallybone.play.start import MatchPlan
from tallybone.recording.own_tiles import as_recorded, recorded_set
from tallybone.sources.camera import SIMULATED, Camera
from tallybone.sources.device import DeviceCamera
from tallybone.sources.shots import Shot
from tallybone.sources.source import source_at
from vision.reader.reader import Reader

_OWN_TILES = "Tiles are read as they were shown in the calibration."


@dataclass(frozen=True, slots=True)
class PreparedMatch:
    """A match that is ready to be played.

    Attributes:
        game: The match, with the zones and tiles of its table.
        reader: Reads these tiles.
        words: Sentences for the players at the beginning.
        knocks: Tells the knocks of its table; None for the classifier that is shipped.
    """

    game: MatchPlan
    reader: Reader
    words: tuple[str, ...] = ()
    knocks: Classifier | None = None


def set_up(
    game: MatchPlan,
    camera: Camera,
    *,
    source: str,
    calibration: Path | None,
    environment: Mapping[str, str],
    home: Path,
    load: Callable[[int], Reader],
) -> PreparedMatch:
    """Return a match with all that is known of its table.

    Args:
        game: The match. One that goes on keeps the zones that it has.
        camera: The camera over the table.
        source: Its name, as `start.open_camera` takes it.
        calibration: The file that somebody names; otherwise that of a camera that is plugged in, if it is stored.
        environment: Says where state is kept.
        home: The user's folder.
        load: Loads the reader of a set, given its highest double.

    Raises:
        EngineError: If a calibration is named for a match that goes on.
        CalibrationError: If it is named and damaged.
        OSError: If it is named and cannot be read.
        VisionError: If a film has no picture, or the reader cannot be loaded.
    """
    game, used = with_calibration(game, camera, source, calibration, environment=environment, home=home)
    game, reader, words = with_own_tiles(game, used, load(game.max_pips))
    knock = used.calibration.knock
    return PreparedMatch(game, reader, (*used.words, *words), None if knock is None else knock.classifier())


def with_calibration(
    game: MatchPlan, camera: Camera, source: str, file: Path | None, *, environment: Mapping[str, str], home: Path
) -> tuple[MatchPlan, Used]:
    """Return the game with the zones of a calibration, that in *file* if it is named, and all that is used of it.

    Arguments and errors are otherwise those of `set_up`.
    """
    if game.left is not None:
        if file is not None:
            raise EngineError("a match that goes on keeps its zones: leave --calibration away")
        return game, Used(None, ())
    path = stored_for(source, file, environment, home)
    if path is None:
        return game, Used(None, words_of_unused(source, environment, home))
    used = use_of(path, len(game.start.players), _size_px(camera, source), is_said=file is not None)
    if used.zones is None:
        return game, used
    return replace(game, start=replace(game.start, zones=used.zones)), used


def with_own_tiles(game: MatchPlan, used: Used, reader: Reader) -> tuple[MatchPlan, Reader, tuple[str, ...]]:
    """Return the game with the tiles that a calibration has learned, their reader, and sentences for the players.

    A match that goes on reads its tiles as it began, whatever was learned since.
    """
    words: list[str] = []
    own, kept = game.start.own_set, used.calibration.set
    if game.left is None and kept is not None:
        try:
            own = recorded_set(kept, reader)
        except RefusedError as error:
            words.append(f"What was learned of the tiles is not used: {error}.")
    if own is not None:
        reader = as_recorded(reader, own, words.append)
        words += () if words else (_OWN_TILES,)
    return replace(game, start=replace(game.start, own_set=own)), reader, tuple(words)


def _size_px(camera: Camera, source: str) -> tuple[int, int] | None:
    """Return width and height of a camera's pictures; None where nobody knows them yet."""
    if isinstance(camera, DeviceCamera):
        return camera.size_px
    if source.partition(":")[0] == SIMULATED:
        return None
    shot = next((one for one in source_at(Path(source)).items if isinstance(one, Shot)), None)
    if shot is None:
        return None
    height_px, width_px = shot.load().shape[:2]
    return width_px, height_px
