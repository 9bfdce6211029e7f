"""Start a live game with its rules, camera, zones and recording, or resume another."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from engine import EngineError, MatchStart, Phase, Rules, State, changed_options, profile, replay, with_options
from hardware.camera.open_device import is_device
from hardware.clock import Clock
from tallybone.choices import TileSet
from tallybone.play.counts import Counts, MeasuredSitting
from tallybone.play.recorder import FileRecorder, LastingRecorder, Recorder, RecordingQuota
from tallybone.recording.folder import SUFFIX, age_key, next_number
from tallybone.recording.format import Damage, Pictures, RecordingError, SittingStart
from tallybone.recording.own_tiles import as_recorded
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.resume import Left, left_in, write_left
from tallybone.recording.survey import is_running
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Sitting, UseSet, opened
from tallybone.sources.camera import SIMULATED, Camera, open_filmed
from tallybone.sources.device import open_plugged_in
from tallybone.sources.source import GameOverrides, match_of
from vision.image.picture import decode_picture
from vision.reader.reader import Reader, load_reader
from vision.tracking.perception import Perception, Start

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
        source: `pi:0`, `usb:0`, `/dev/video0`, `simulated`, or the path of a video, a recording or a folder.
        game: The match. A simulated table plays it.
        clock: Monotonic clock for the times of live pictures, in nanoseconds.
        speed: Speed of a recorded or simulated source.

    Raises:
        OSError: If there is no such camera or file.
        VisionError: If the source has no pictures.
    """
    if source.partition(":")[0] == SIMULATED:
        # Imported late, because real tables do not need the renderer.
        from tallybone.sources.simulated import open_simulated, simulation_of

        simulation = simulation_of(source, game.rules, game.start.players)
        start = replace(game.start, zones=simulation.room.zones)
        return open_simulated(simulation, clock, speed=speed), replace(game, start=start)
    if is_device(source):
        return open_plugged_in(source, clock), game
    return open_filmed(Path(source), clock, speed=speed), game


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


def resumed_game(recording: Path | None, folder: Path, *, began: datetime, software: str) -> MatchPlan:
    """Return the match of a recording to resume. By default, the newest unfinished match in *folder*.

    Raises:
        RecordingError: If there is no such match, or the recording is too damaged to be resumed.
        EngineError: If this version does not have the game, or rejects one of its options.
    """
    path, left = newest_left(folder) if recording is None else (recording, left_in(read_recording(recording)))
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
    use = set_changer(perception, lambda words: log.warning("%s", words))
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

    def begin(left: Left | None, continues: str | None, at_ns: int) -> FileRecorder:
        room.folder.mkdir(parents=True, exist_ok=True)
        path = _new_path(room.folder, game.start)
        begun = game.start if left is None else left.start
        start = replace(begun, continues=continues, number=next_number(room.folder))
        writer = RecordingWriter(path, start)
        try:
            settled = None if left is None else write_left(writer, left, at_ns)
        except BaseException:
            writer.abandon()
            raise
        return FileRecorder(path, writer, room, complain, settled=settled)

    left = Left(game.start) if game.left is None else replace(game.left, start=game.start)
    recorder = LastingRecorder(begin, room.folder, left, complain, goes_on=game.left is not None)
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

    Recordings that are continued by another or still being written are ignored. Newer recordings that cannot be read
    are listed in `Left.passed_over`.

    Args:
        folder: Folder of the recordings.
        most: Number of newest recordings to search, because reading takes long. None for no limit.

    Raises:
        RecordingError: If there is no such recording.
        OSError: If the folder cannot be read.
    """
    recordings: list[RecordingFile] = []
    unread: dict[Path, str] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            recordings += _idle(path)
        except OSError as error:
            unread[path] = str(error)
    unread |= {old.path: f"{old.path}: {_NO_START}" for old in recordings if old.start is None}
    continued: set[str | None] = set()
    for recording in sorted(recordings, key=lambda old: age_key(old.path, old.start), reverse=True)[:most]:
        if recording.path.name not in continued:
            try:
                left = left_in(recording)
            except RecordingError as error:
                # If this recording was only cut off too early, the recording that it continues has the same content.
                if any(isinstance(piece, Damage) and not piece.is_cut for piece in recording):
                    unread[recording.path] = str(error)
                continue
            game = state_of(left).game if left.start.players else None
            if game is not None and game.phase is not Phase.MATCH_OVER:
                left_s = recording.path.stat().st_mtime
                newer = (why for path, why in unread.items() if path.exists() and path.stat().st_mtime >= left_s)
                return recording.path, replace(left, passed_over=tuple(newer))
        if recording.start is not None:
            continued.add(recording.start.continues)
    raise RecordingError(f"{folder}: there is no recording of an unfinished match")


def _idle(path: Path) -> list[RecordingFile]:
    """Return the recording at *path* in a list. Empty if it is still being written."""
    with path.open("rb") as file:
        return [] if is_running(file) else [read_recording(path)]
