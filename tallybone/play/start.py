"""Set up a live game with its rules, calibration, camera, zones, parts and recording, or resume another."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np

from calibration import CalibrationError
from calibration.table.zones import ZoneInView, middle_share, show_zone
from calibration.tiles.tile_set import LearnedSet
from engine import EngineError, MatchStart, Phase, Rules, State, changed_options, profile, replay, with_options
from hardware.camera.network import ADDRESSES, require_av
from hardware.camera.open_device import CameraUrl, is_device, parse_film
from hardware.part import Clock
from tallybone.choices import TileSet
from tallybone.files import reason_of, sentence_of
from tallybone.laboratory import SIMULATED, SIMULATIONS, from_lab
from tallybone.play.counts import Counts, MeasuredSitting
from tallybone.play.recorder import FileRecorder, LastingRecorder, Recorder, RecordingQuota
from tallybone.recording.folder import SUFFIX, age_key, journals_in
from tallybone.recording.format import Pictures, RecordingError, SittingStart
from tallybone.recording.own_tiles import as_recorded, recorded_set
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.resume import CutHeadError, Left, left_in, left_with_journal, write_left
from tallybone.recording.survey import is_running
from tallybone.recording.writer import RecordingWriter
from tallybone.session.observations import Outline, SeatZone, Zones
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Sitting, UseSet, opened
from tallybone.sources.camera import Camera, DeviceCamera, open_filmed, open_plugged_in
from tallybone.sources.source import GameOverrides, Shot, match_of, source_at
from tallybone.store.calibration_file import Calibration, default_path, load_calibration, name_of_camera
from tallybone.store.learned_file import TableKnocks, TableTiles, load_table_knocks, load_tiles, tiles_path
from vision.image.picture import decode_picture
from vision.reader.reader import Reader, load_reader
from vision.tracking.perception import Perception, Start
from vision.tracking.settle import Side

log = logging.getLogger(__name__)

_NO_START = "its match data is damaged"
_MAX_NAME = 60
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to play.

    Attributes:
        start: Metadata for its recording.
        rules: Rules with all changed options.
        left: State of a resumed match, or None for a new match.
    """

    start: SittingStart
    rules: Rules
    left: Left | None = None

    @property
    def max_pips(self) -> int:
        """Highest number of pips on a half in the tile set on the table. By default that of the game."""
        return TileSet.named(self.start.tile_set).max_pips or self.rules.max_pips


def open_camera(source: str, game: MatchPlan, clock: Clock, *, speed: float = 1.0) -> tuple[Camera, MatchPlan]:
    """Open the camera over the table. Return it and the match, with zones if the table is simulated.

    Args:
        source: `pi:0`, `usb:0`, `/dev/video0`, an address, `simulated`, or the path of a video, recording or folder.
        game: The match. A simulated table plays it.
        clock: Monotonic clock for the times of live pictures, in nanoseconds.
        speed: Speed of a recorded or simulated source.

    Raises:
        OSError: If there is no such camera or file.
        VisionError: If the source has no pictures.
    """
    if source.partition(":")[0] == SIMULATED:
        open_match = from_lab(SIMULATIONS, "match", wanted="a simulated camera")
        camera, zones = open_match(source, game.rules, game.start.players, clock, speed=speed)
        return camera, replace(game, start=replace(game.start, zones=zones))
    if is_device(source):
        return open_plugged_in(source, clock), game
    return open_filmed(source, clock, speed=speed), game


def new_game(
    name: str,
    options: tuple[str, ...],
    players: tuple[str, ...],
    *,
    tile_set: TileSet,
    in_play: bool,
    began: datetime,
    software: str,
) -> MatchPlan:
    """Return a new match.

    Raises:
        EngineError: If the game, its options or the number of players are invalid.
    """
    match = match_of(GameOverrides(name, options, players), None)
    if match is None:
        raise EngineError(f"no score can be kept for {name}: try `tallybone replay --rules {name}`")
    start = SittingStart(
        started_at=began,
        players=match.players,
        rules=match.rules.name,
        options=tuple(changed_options(match.rules).items()),
        tile_set=(TileSet.to(match.rules.max_pips) if tile_set is TileSet.AUTO else tile_set).value,
        software=software,
        pictures=Pictures.MOVING,
        in_play=in_play,
    )
    return MatchPlan(start, match.rules)


def open_for_trial(source: str, clock: Clock) -> Camera:
    """Open a camera outside a match. The arguments and errors are those of `open_camera`."""
    began = datetime.fromtimestamp(0, UTC)
    game = new_game("bones", (), (), tile_set=TileSet.AUTO, in_play=False, began=began, software="")
    return open_camera(source, game, clock)[0]


def require_valid_camera(source: str) -> None:
    """Reject what `open_camera` would reject, except a device that is not plugged in. The errors are the same."""
    if not is_device(source):
        open_for_trial(source, lambda: 0).close()
    elif CameraUrl.parse(source).where.startswith(ADDRESSES):
        require_av(source)


def resumed_game(recording: Path | None, folder: Path, *, began: datetime, software: str) -> MatchPlan:
    """Return the match of a recording to resume. By default, the newest unfinished match in *folder*.

    Raises:
        RecordingError: If there is no such match, or the recording is too damaged to be resumed.
        EngineError: If this version does not have the game, or rejects one of its options.
    """
    path, left = newest_left(folder) if recording is None else (recording, left_at(recording))
    start = replace(left.start, started_at=began, software=software, pictures=Pictures.MOVING, continues=path.name)
    return MatchPlan(start, rules_of(start), left)


def sitting_of(
    game: MatchPlan, reader: Reader, *, t_ns: int, counts: Counts | None = None
) -> tuple[Sitting, tuple[Announcement, ...]]:
    """Return the sitting of a match, which updates *counts*, and its first announcements: none if resumed.

    Raises:
        EngineError: If the rules do not allow this number of players.
        PictureError: If a picture of the state to resume is damaged.
    """
    if game.left is None:
        session, announcements = opened(game.rules, game.start.players, game.start.zones)
    else:
        session, announcements = session_of(game.left, t_ns=t_ns), ()
    perception = perception_of(game.left or Left(game.start), reader)
    use = set_changer(perception, lambda text: log.warning("%s", text))
    return MeasuredSitting(perception, session, counts or Counts(), use), announcements


def set_changer(perception: Perception, complain: Callable[[str], object]) -> UseSet:
    """Return a function that changes the tile set with which *perception* reads. *complain* receives errors."""
    return lambda recorded: perception.use(as_recorded(perception.reader, recorded, complain))


def warm_reader(max_pips: int) -> Reader:
    """Load the reader for a tile set of up to *max_pips*, and read two images, because the first take twice as long.

    Raises:
        ModelError: If a model file is missing, damaged or of another version.
    """
    reader = load_reader(max_pips)
    empty = np.full((720, 1280, 3), 90, np.uint8)
    reader.read(empty)
    reader.read_again(empty, np.array([[640.0, 360.0, 40.0, 0.0, 0.0, 20.0]]))
    return reader


def recorder_of(
    game: MatchPlan, room: RecordingQuota | None, complain: Callable[[str], None], *, t_ns: int
) -> Recorder:
    """Return a recorder for a match, which starts at once or retries until it can.

    Args:
        game: The match.
        room: Folder and quota, or None to record nothing.
        complain: Receives error messages.
        t_ns: Current time, in nanoseconds of the camera's clock.
    """
    if room is None:
        return Recorder()

    def begin(start: SittingStart, head: Left | None, at_ns: int) -> FileRecorder:
        path = _new_path(room.folder, game.start)
        writer = RecordingWriter(path, start)
        try:
            settled = None if head is None else write_left(writer, head, at_ns)
        except BaseException:
            writer.abandon()
            raise
        return FileRecorder(path, writer, room, complain, settled=settled)

    left = Left(game.start) if game.left is None else replace(game.left, start=game.start)
    left = replace(left, start=replace(left.start, match=left.start.match or uuid4().hex))
    recorder = LastingRecorder(begin, room.folder, left, complain, is_resumed=game.left is not None)
    recorder.open(t_ns)
    return recorder


def _new_path(folder: Path, start: SittingStart) -> Path:
    """Return an unused path for a new recording, named by its start time and players."""
    players = "-".join(_NOT_IN_NAMES.sub("", name.lower()) for name in start.players)[:_MAX_NAME].strip("-")
    stem = "-".join(filter(None, (f"{start.started_at:%Y-%m-%dT%H-%M-%S}", players)))
    paths = [folder / f"{stem}{SUFFIX}", *(folder / f"{stem}-{number}{SUFFIX}" for number in range(2, 1000))]
    return next((path for path in paths if not path.exists()), paths[-1])


def rules_of(start: SittingStart) -> Rules:
    """Return the rules of a sitting.

    Raises:
        EngineError: If this version does not have the game, or rejects one of its options.
    """
    return with_options(profile(start.rules), dict(start.options))


def state_of(left: Left, match: MatchStart | None = None) -> State:
    """Return the match in its last state, by its own rules or by those of *match*.

    Raises:
        EngineError: If this version has no such game.
    """
    return replay((match or MatchStart(rules_of(left.start), left.start.players), *left.events))


def session_of(left: Left, match: MatchStart | None = None, *, t_ns: int) -> Session:
    """Return the session of a sitting that is resumed at *t_ns*.

    Raises:
        EngineError: If this version has no such game.
    """
    return Session.resumed(state_of(left, match), left.places, t_ns=t_ns, zones=left.start.zones)


def perception_of(left: Left, reader: Reader) -> Perception:
    """Return the perception for a new or resumed sitting. A resumed one reports what has changed in the meantime.

    A live game and a replay of its recording both start from here, and therefore give the same results.

    Raises:
        PictureError: If a picture of the state to resume is damaged.
    """
    if left.last is None:
        return Perception(reader, Start.IN_PLAY if left.start.in_play else Start.EMPTY)
    empty = None if left.empty is None else decode_picture(left.empty, "the picture of the empty table")
    last = decode_picture(left.last, "the last picture of the table")
    return Perception.resumed(reader, empty=empty, last=last, tiles=left.tiles, aim=left.aim)


def newest_left(folder: Path, *, most: int | None = None) -> tuple[Path, Left]:
    """Return the newest recording in a folder whose match is not over, and its last state.

    Recordings that are continued by another or still being written are ignored. If another recording may be newer,
    `Left.passed_over` says so.

    Args:
        folder: Folder of the recordings.
        most: Number of newest recordings to search, because reading takes long. None for no limit.

    Raises:
        RecordingError: If there is no such recording.
        OSError: If the folder cannot be read.
    """
    files, unread = _listed(folder)
    continues = {file.path.name: file.start.continues for file in files}
    done: set[str | None] = set()  # names and matches that a newer recording has continued
    for at, file in enumerate(ordered := sorted(files, key=lambda file: _age(file, continues), reverse=True)[:most]):
        if not {file.path.name, file.start.match} & done:
            try:
                left = left_with_journal(file.recording, file.journal)
            except CutHeadError:
                continue
            except OSError as error:
                unread[file.path] = _reason(file.path, error)
                continue
            game = state_of(left).game if left.start.players else None
            if game is not None and game.phase is not Phase.MATCH_OVER:
                rivals = (other for other in ordered[at + 1 :] if not {other.path.name, other.start.match} & done)
                return file.path, replace(left, passed_over=(*_newer(unread, file.path), *_ties(file, rivals)))
        done |= {file.start.continues, file.start.match or None}
    why = "".join(f"; {reason}" for reason in unread.values())
    raise RecordingError(f"{folder}: there is no recording of an unfinished match{why}")


def left_at(path: Path) -> Left:
    """Return the state at the end of a recording, or in its journal if that has more events.

    Raises:
        RecordingError: If there is no such recording, or it is too damaged.
    """
    with suppress(OSError):
        for file in _listed(path.parent)[0]:
            if file.path == path:
                return left_with_journal(file.recording, file.journal)
    return left_in(read_recording(path))


@dataclass(frozen=True, slots=True)
class _Listed:
    """A recording or its journal, or both, with the metadata of one of them. None for what cannot be read."""

    path: Path
    start: SittingStart
    recording: RecordingFile | None
    journal: RecordingFile | None


def _listed(folder: Path) -> tuple[list[_Listed], dict[Path, str]]:
    """Return the recordings in a folder that are not being written, and the reasons why others cannot be read."""
    recordings: dict[Path, RecordingFile] = {}
    journals: dict[Path, RecordingFile] = {}
    unread: dict[Path, str] = {}
    for path in (*(paths := sorted(folder.glob(f"*{SUFFIX}"))), *journals_in(folder)):
        try:
            with path.open("rb") as file:
                if is_running(file):
                    continue
            recording = read_recording(path)
        except OSError as error:
            unread[path] = _reason(path, error)
            continue
        if recording.start is None:
            unread[path] = f"{path}: {_NO_START}"
        elif path.suffix == SUFFIX:
            recordings[path] = recording
        elif (name := recording.start.continues) is None or folder / name in paths:  # else the user has deleted it
            journals[path if name is None else folder / name] = recording
    files: list[_Listed] = []
    for path in sorted({*recordings, *journals}):
        recorded, journal = recordings.get(path), journals.get(path)
        known = recorded or journal
        if known is not None and known.start is not None:
            files.append(_Listed(path, known.start, recorded, journal))
    return files, {path: reason for path, reason in unread.items() if path not in journals}


def _age(file: _Listed, continues: Mapping[str, str | None]) -> tuple[int, int, float, str]:
    """Return a key that sorts recordings by age. By older versions, a recording may have its predecessor's number."""
    depth, name = 0, file.start.continues
    while name is not None and depth < len(continues):
        depth, name = depth + 1, continues.get(name)
    number, started_s, _ = age_key(file.path, file.start)
    return number, depth, started_s, file.path.name


def _reason(path: Path, error: OSError) -> str:
    return str(error) if isinstance(error, RecordingError) else f"{path}: it cannot be read: {reason_of(error)}"


def _newer(unread: Mapping[Path, str], path: Path) -> Iterator[str]:
    """Yield a warning for each unread recording that was written after *path*."""
    for other, reason in unread.items():
        with suppress(FileNotFoundError):
            if not path.exists() or other.stat().st_mtime >= path.stat().st_mtime:
                yield f"a newer recording cannot be read, so an older match is resumed: {reason}"


def _ties(file: _Listed, rivals: Iterable[_Listed]) -> Iterator[str]:
    """Yield a warning for each recording that may be as new as *file*."""
    for rival in rivals:
        if rival.start.number == file.start.number > 0 and rival.path.name != file.start.continues:
            yield f"two matches may be the newest: {file.path.name} is resumed, not {rival.path.name}; check the score"


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
    It is *named* if given, else the stored one if the source is a camera.
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
